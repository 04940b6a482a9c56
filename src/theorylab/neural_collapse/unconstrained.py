"""Unconstrained features: the model in which the last features are free, and its exact optima."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

Array = NDArray[Any]


@dataclass(frozen=True)
class Optimum:
    r"""Global minimum of the unconstrained-features model, class by class.

    Attributes
    ----------
    sigma : array, shape (K,)
        Singular values of the product of the factors.
    objective : float
    threshold : array, shape (K,)
        Mean decay at which the class dies in the global minimum.
    spinodal : array, shape (K,)
        Mean decay above which it has no nonzero stationary point.
    phase : tuple of str
        ``"alive"``, ``"metastable"`` (dead in the global minimum, alive in a local one) or
        ``"dead"``.
    decay : float
        :math:`\bar\lambda`, the geometric mean of the decays.
    """

    sigma: Array
    objective: float
    threshold: Array
    spinodal: Array
    phase: tuple[str, ...]
    decay: float


def ufm_optimum(counts: Sequence[int], factors: int, lam: float | Sequence[float]) -> Optimum:
    r"""Minimise over q factors, the first of them free features of all samples:

    .. math:: \tfrac12\|F_q\cdots F_1 - Y\|_F^2 + \tfrac12\sum_j\lambda_j\|F_j\|_F^2 .

    The problem splits into :math:`\min_x \tfrac12(x^q-s)^2 + \tfrac{q\bar\lambda}{2}x^2` with
    :math:`s=\sqrt{n_c}`, :math:`\sigma=x^q` and :math:`\bar\lambda = (\prod\lambda_j)^{1/q}`. For
    q at least 3 the optimum jumps from :math:`\sigma = s\frac{q-2}{q-1}` to 0.

    Parameters
    ----------
    counts : sequence of int, length K
        Samples per class, positive.
    factors : int
        q, at least 2.
    lam : float or sequence of float, length q
        Non-negative decays.

    Raises
    ------
    ValueError
        If ``factors`` is below 2, a count is not positive, a decay is negative, or their number
        is wrong.
    """
    decay = _mean_decay(factors, lam)
    sizes = np.asarray(counts)
    if sizes.ndim != 1 or len(sizes) == 0 or (sizes <= 0).any():
        raise ValueError(f"counts must be positive numbers of samples, got {list(counts)}")
    roots = np.sqrt(sizes.astype(float))
    thresholds = np.array([threshold(s, factors) for s in roots])
    spinodals = np.array([spinodal(s, factors) for s in roots])
    x = np.array(
        [
            largest_stationary(float(s), factors, decay) if decay < limit else 0.0
            for s, limit in zip(roots, thresholds, strict=True)
        ]
    )
    phases = tuple(
        "alive" if decay < low else "metastable" if decay < high else "dead"
        for low, high in zip(thresholds, spinodals, strict=True)
    )
    return Optimum(
        x**factors, objective(x, roots, factors, decay), thresholds, spinodals, phases, decay
    )


def _mean_decay(factors: int, lam: float | Sequence[float]) -> float:
    if factors < 2:
        raise ValueError(f"factors must be at least 2, got {factors}")
    decays = (
        np.broadcast_to(np.asarray(lam, dtype=float), (factors,))
        if np.ndim(lam) == 0
        else (np.asarray(lam, dtype=float))
    )
    if decays.shape != (factors,):
        raise ValueError(f"lam must be one decay or {factors}, got {decays.shape[0]}")
    if not np.isfinite(decays).all() or (decays < 0).any():
        raise ValueError(f"decays must be finite and non-negative, got {decays.tolist()}")
    return 0.0 if (decays == 0).any() else float(np.exp(np.log(decays).mean()))


def objective(x: Array, s: Array, q: int, decay: float) -> float:
    r"""Sum over classes of :math:`\tfrac12(x^q-s)^2 + \tfrac{q\bar\lambda}2x^2`."""
    return float(((x**q - s) ** 2 / 2 + q * decay / 2 * x**2).sum())


def threshold(s: float, q: int) -> float:
    r"""Decay at which zero becomes optimal.

    .. math:: x_*^{q-2}\frac{s}{q-1}, \qquad x_*^q = s\,\frac{q-2}{q-1}
    """
    return float((s * (q - 2) / (q - 1)) ** ((q - 2) / q) * s / (q - 1))


def spinodal(s: float, q: int) -> float:
    r"""Decay of the last nonzero stationary point, at :math:`x^q=s\frac{q-2}{2(q-1)}`."""
    power = s * (q - 2) / (2 * (q - 1))
    return float(power ** ((q - 2) / q) * (s - power))


def largest_stationary(s: float, q: int, decay: float) -> float:
    r"""Largest root x of :math:`x^{q-2}(s-x^q)=\bar\lambda`; 0 if there is none."""
    if decay > spinodal(s, q):
        return 0.0
    if q == 2:
        return math.sqrt(max(s - decay, 0.0))
    low, high = (s * (q - 2) / (2 * (q - 1))) ** (1 / q), s ** (1 / q)
    excess = [x ** (q - 2) * (s - x**q) - decay for x in (low, high)]
    if excess[0] <= 0 or excess[1] >= 0:
        return low if excess[0] <= 0 else high
    root: Any = brentq(lambda x: x ** (q - 2) * (s - x**q) - decay, low, high, xtol=1e-15)
    return float(root)


def certified_root(x: float, s: Fraction, q: int, decay: Fraction) -> tuple[float, float]:
    """An interval around x that contains exactly one stationary point, by interval Newton.

    Parameters
    ----------
    x : float
        Approximation.
    s, decay : Fraction
    q : int

    Returns
    -------
    low, high : float

    Raises
    ------
    ArithmeticError
        If Newton's map does not send the interval into itself: there is no proof.
    """
    from mpmath import iv as intervals

    iv: Any = intervals

    width = 1e-12 * max(abs(x), 1.0)
    box = iv.mpf([x - width, x + width])
    middle = iv.mpf(x)
    exact_s, exact_decay = (iv.mpf(v.numerator) / v.denominator for v in (s, decay))
    value = middle ** (q - 2) * (exact_s - middle**q) - exact_decay
    lower = (q - 2) * box ** (q - 3) * exact_s if q > 2 else iv.mpf(0)
    slope = lower - (2 * q - 2) * box ** (2 * q - 3)
    image = middle - value / slope
    if not (float(image.a) > float(box.a) and float(image.b) < float(box.b)):
        raise ArithmeticError(f"no proof of a root near {x}: Newton's image {image} is too wide")
    return float(image.a), float(image.b)


@dataclass(frozen=True)
class Factors:
    """A stationary point found by descent.

    Attributes
    ----------
    matrices : tuple of array
        F_1 (the features, one column per sample) to F_q.
    bias : array, shape (K,)
        Zero where none was allowed.
    objective : float
    """

    matrices: tuple[Array, ...]
    bias: Array
    objective: float

    @property
    def singular_values(self) -> Array:
        """Of the product of all factors, K of them."""
        product = self.matrices[0]
        for F in self.matrices[1:]:
            product = F @ product
        return np.linalg.svd(product, compute_uv=False)[: len(self.bias)]


def descend_factors(
    counts: Sequence[int],
    factors: int,
    lam: float,
    rng: np.random.Generator,
    width: int = 8,
    bias: bool = False,
) -> Factors:
    """A minimum of the model by L-BFGS from a Gaussian start; knows nothing of the closed form.

    Parameters
    ----------
    counts : sequence of int
    factors : int
    lam : float
        Decay of every factor.
    rng : numpy Generator
    width : int
        Of all hidden spaces.
    bias : bool
        Allow a bias of the output, without decay.
    """
    K, N = len(counts), sum(counts)
    Y = np.eye(K)[:, np.repeat(np.arange(K), counts)]
    shapes = [(width, N), *[(width, width)] * (factors - 2), (K, width), (K, 1)]
    ends = np.cumsum([a * b for a, b in shapes])[:-1]

    def unflatten(theta: Array) -> list[Array]:
        return [p.reshape(s) for p, s in zip(np.split(theta, ends), shapes, strict=True)]

    def value(theta: Array) -> tuple[float, Array]:
        *matrices, b = unflatten(theta)
        outputs = [matrices[0]]
        for F in matrices[1:]:
            outputs.append(F @ outputs[-1])
        delta = outputs[-1] + bias * b - Y
        loss = (delta**2).sum() / 2 + lam / 2 * sum((F**2).sum() for F in matrices)
        gradients = [bias * delta.sum(axis=1, keepdims=True)]
        for place in range(factors - 1, 0, -1):
            gradients.append(delta @ outputs[place - 1].T + lam * matrices[place])
            delta = matrices[place].T @ delta
        gradients.append(delta + lam * matrices[0])
        return float(loss), np.concatenate([G.ravel() for G in gradients[::-1]])

    start = np.concatenate([rng.standard_normal(a * b) / math.sqrt(width) for a, b in shapes])
    options = {"maxcor": 30, "maxiter": 5000, "maxfun": 10_000, "gtol": 1e-9, "ftol": 0.0}
    found = minimize(value, start, jac=True, method="L-BFGS-B", options=options)
    *matrices, b = unflatten(found.x)
    return Factors(tuple(matrices), bias * b[:, 0], float(found.fun))
