r"""Gaussian expectations of two-layer networks in closed form, for erf, ReLU and linear units.

Fields z are jointly normal with mean zero and covariance C. With g the activation,

.. math:: I_{2,ab} = E[g(z_a) g(z_b)],\quad G_{ab} = E[g'(z_a) g'(z_b)],\quad
    H_{ab} = E[g''(z_a) g(z_b)].

The error function is scaled as :math:`g(x) = \mathrm{erf}(x/\sqrt 2)`. Everything that is compiled
here works on one covariance; the public functions take stacks of them.
"""

from __future__ import annotations

from math import atan2, pi, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

LINEAR, ERF, RELU = 0, 1, 2
ACTIVATIONS = {"linear": LINEAR, "erf": ERF, "relu": RELU}


class Kernels(NamedTuple):
    """The three kernels, each of shape (..., P, P)."""

    I2: np.ndarray
    G: np.ndarray
    H: np.ndarray


def activation_code(act: str) -> int:
    """Number of an activation in compiled code.

    Raises
    ------
    ValueError
        If the activation has no closed form here.
    """
    if act not in ACTIVATIONS:
        raise ValueError(f"act must be one of {', '.join(ACTIVATIONS)}; got {act!r}")
    return ACTIVATIONS[act]


@njit(cache=True)
def _difference_of_products(a, b, c, d):
    """a b - c d with the rounding errors of both products put back (Dekker's splitting)."""
    first, second = a * b, c * d
    return (first - second) + (_product_error(a, b, first) - _product_error(c, d, second))


@njit(cache=True)
def _product_error(a, b, rounded):
    big_a, big_b = 134217729.0 * a, 134217729.0 * b
    high_a, high_b = big_a - (big_a - a), big_b - (big_b - b)
    low_a, low_b = a - high_a, b - high_b
    return ((high_a * high_b - rounded) + high_a * low_b + low_a * high_b) + low_a * low_b


@njit(cache=True)
def _determinant(C, a, b):
    """Determinant of the covariance of two fields; rounding can make it slightly negative."""
    return _difference_of_products(C[a, a], C[b, b], C[a, b], C[a, b])


@njit(cache=True)
def _tilted_determinant(C, a, b):
    """(1 + C_aa)(1 + C_bb) - C_ab^2, also for a = b."""
    if a == b:
        return 1.0 + 2.0 * C[a, a]
    return 1.0 + C[a, a] + C[b, b] + _determinant(C, a, b)


@njit(cache=True)
def fill_kernels(C, activation, I2, G, H):
    """Write the kernels of one covariance C, shape (P, P), into I2, G and H."""
    for a in range(len(C)):
        for b in range(len(C)):
            if activation == ERF:
                D = _tilted_determinant(C, a, b)
                I2[a, b] = 2 / pi * atan2(C[a, b], sqrt(D))
                G[a, b] = 2 / (pi * sqrt(D))
                H[a, b] = -2 / pi * C[a, b] / ((1 + C[a, a]) * sqrt(D))
            elif activation == RELU:
                sine = sqrt(max(_determinant(C, a, b), 0.0)) if a != b else 0.0
                angle = atan2(sine, C[a, b])
                I2[a, b] = (sine + (pi - angle) * C[a, b]) / (2 * pi)
                G[a, b] = (pi - angle) / (2 * pi)
                H[a, b] = sine / (2 * pi * C[a, a]) if C[a, a] > 0 else 0.0
            else:
                I2[a, b], G[a, b], H[a, b] = C[a, b], 1.0, 0.0


@njit(cache=True)
def _tilted(C, i, j, a, b, D):
    """Entry (a, b) of the covariance after the weight exp(-(z_i^2 + z_j^2) / 2).

    Rows i and j are written out: their general form cancels for large variances.
    """
    if a != i and a != j:
        a, b = b, a
    if i == j:
        if a == i:
            return C[i, b] / D
        return C[a, b] - 2 * C[i, a] * C[i, b] / D
    if a == j:
        i, j = j, i
    if a == i:
        if b == i:
            return (C[i, i] + _determinant(C, i, j)) / D
        if b == j:
            return C[i, j] / D
        return (C[i, b] + _difference_of_products(C[j, j], C[i, b], C[i, j], C[j, b])) / D
    along_i = (1 + C[j, j]) * C[i, a] - C[i, j] * C[j, a]
    along_j = (1 + C[i, i]) * C[j, a] - C[i, j] * C[i, a]
    return C[a, b] - (along_i * C[i, b] + along_j * C[j, b]) / D


@njit(cache=True)
def tilted_i2(C, i, j, a, b, D):
    """E[g(z_a) g(z_b)] for erf after the weight exp(-(z_i^2 + z_j^2) / 2)."""
    aa = _tilted(C, i, j, a, a, D)
    if a == b:
        return 2 / pi * atan2(aa, sqrt(1 + 2 * aa))
    bb, ab = _tilted(C, i, j, b, b, D), _tilted(C, i, j, a, b, D)
    return 2 / pi * atan2(ab, sqrt(1 + aa + bb + aa * bb - ab * ab))


@njit(cache=True)
def fill_fourth_moment(C, w, activation, noise, V):
    """Write E[(delta^2 + noise) g'(z_i) g'(z_j)] of one covariance into V, shape (K, K)."""
    P, K = len(C), len(V)
    for i in range(K):
        for j in range(i + 1):
            total = 0.0
            D = _tilted_determinant(C, i, j)
            for a in range(P):
                for b in range(a + 1):
                    term = tilted_i2(C, i, j, a, b, D) if activation == ERF else C[a, b]
                    total += (1 if a == b else 2) * w[a] * w[b] * term
            weight = 2 / (pi * sqrt(D)) if activation == ERF else 1.0
            V[i, j] = V[j, i] = weight * (total + noise) * w[i] * w[j]


def _covariances(C: ArrayLike, K: int) -> np.ndarray:
    """The stack as contiguous floats, after all checks."""
    stack = np.ascontiguousarray(C, dtype=float)
    if stack.ndim < 2 or stack.shape[-1] != stack.shape[-2] or stack.size == 0:
        raise ValueError(f"C must be a non-empty stack of square matrices; got shape {stack.shape}")
    if not np.isfinite(stack).all():
        raise ValueError("C holds NaN or infinite entries; remove their cause")
    if not 1 <= K <= stack.shape[-1]:
        raise ValueError(f"K must lie between 1 and the {stack.shape[-1]} fields of C; got {K}")
    scale = np.abs(stack).max(axis=(-1, -2), keepdims=True)
    if (np.abs(stack - np.swapaxes(stack, -1, -2)) > 1e-12 * scale).any():
        raise ValueError("C must be symmetric; symmetrise it as (C + C.T) / 2")
    least = np.linalg.eigvalsh(stack)[..., 0]
    if (least < -1e-10 * scale[..., 0, 0]).any():
        raise ValueError(f"C must be positive semidefinite; least eigenvalue {least.min():.3g}")
    return stack


def kernels(C: ArrayLike, K: int, act: str = "erf") -> Kernels:
    r"""Closed forms of the kernels of Gaussian fields.

    For the error function, with :math:`d_a = 1 + C_{aa}` and :math:`D_{ab} = d_a d_b - C_{ab}^2`
    (:math:`1 + 2 C_{aa}` for :math:`a = b`),

    .. math:: I_2 = \tfrac2\pi\arctan\frac{C_{ab}}{\sqrt{D_{ab}}},\quad
        G = \frac{2}{\pi\sqrt{D_{ab}}},\quad H = -\frac2\pi\frac{C_{ab}}{d_a\sqrt{D_{ab}}}.

    For ReLU, with :math:`\theta` the angle between the fields,

    .. math:: I_2 = \frac{\sqrt{C_{aa}C_{bb}}}{2\pi}(\sin\theta + (\pi-\theta)\cos\theta),\quad
        G = \frac{\pi-\theta}{2\pi},\quad H = \frac{\sin\theta}{2\pi}\sqrt{C_{bb}/C_{aa}}.

    Parameters
    ----------
    C : array, shape (..., P, P)
        Covariances of the fields, students first.
    K : int
        Number of students: the fields whose derivatives are meant to be used.
    act : {"erf", "relu", "linear"}

    Returns
    -------
    Kernels
        I2, G and H, each of the shape of C. For ReLU, rows of H that belong to a teacher of
        variance zero are zero.

    Raises
    ------
    ValueError
        If C is not finite, symmetric and positive semidefinite, K out of range, the activation
        unknown, or a ReLU student has variance zero (its derivative has no expectation).
    """
    code, stack = activation_code(act), _covariances(C, K)
    variances = np.diagonal(stack, axis1=-2, axis2=-1)
    if code == RELU and (variances[..., :K] <= 0).any():
        raise ValueError("a ReLU student has variance 0; start it at a non-zero vector")
    found = Kernels(*(np.empty_like(stack) for _ in range(3)))
    size = stack.shape[-1]
    flat = [array.reshape(-1, size, size) for array in (stack, *found)]
    for one, I2, G, H in zip(*flat, strict=True):
        fill_kernels(one, code, I2, G, H)
    return found


def fourth_moment(
    C: ArrayLike, K: int, w: ArrayLike, act: str = "erf", sigma2: float = 0.0
) -> np.ndarray:
    r"""Second moment of the gradient noise of a committee.

    .. math:: V_{ij} = w_i w_j E[(\delta^2 + \sigma^2)\, g'(z_i) g'(z_j)],\qquad
        \delta = \sum_a w_a g(z_a),\quad i, j \le K.

    For the error function the weight :math:`g'(z_i) g'(z_j)` is a Gaussian factor; it changes the
    covariance, and what remains is :math:`I_2`.

    Parameters
    ----------
    C : array, shape (..., P, P)
        Covariances of the fields, students first.
    K : int
        Number of students.
    w : array, shape (P,)
        Output weights: minus those of the students, then those of the teachers.
    act : {"erf", "linear"}
    sigma2 : float
        Variance of the label noise.

    Returns
    -------
    array, shape (..., K, K)

    Raises
    ------
    ValueError
        As ``kernels``; also for ReLU, whose moment is an orthant integral in four dimensions
        without an elementary form: use the gradient flow, which does not need it.
    """
    code, stack = activation_code(act), _covariances(C, K)
    if code == RELU:
        raise ValueError("no closed form of the fourth moment for relu; use the gradient flow")
    weights = np.ascontiguousarray(w, dtype=float)
    if weights.shape != stack.shape[-1:] or not np.isfinite(weights).all():
        raise ValueError(f"w must hold {stack.shape[-1]} finite weights; got {w!r}")
    if not (np.isfinite(sigma2) and sigma2 >= 0):
        raise ValueError(f"sigma2 must be finite and non-negative; got {sigma2}")
    moments = np.empty((*stack.shape[:-2], K, K))
    size = stack.shape[-1]
    for one, V in zip(stack.reshape(-1, size, size), moments.reshape(-1, K, K), strict=True):
        fill_fourth_moment(one, weights, code, float(sigma2), V)
    return moments
