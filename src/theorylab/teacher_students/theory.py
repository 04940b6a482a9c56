r"""Closed forms for teachers and students: losses, gradients, split costs and late laws.

A network sums its neurons, :math:`f_Z(x) = \sum_a s_a g(z_a \cdot x)`. Students carry the sign
plus and teachers the sign minus, inputs are standard normal, and the loss is

.. math:: L = \tfrac12 E\Big(\sum_i c_i g(w_i \cdot x) - \sum_j e_j g(v_j \cdot x)\Big)^2 .
"""

from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorylab.gaussian import kernels

Floats = NDArray[np.float64]
_SERIES_BELOW = 0.02
"""Angle below which the excess is summed as a series; there its terms cancel otherwise."""


def vectors(values: ArrayLike, name: str) -> Floats:
    """Neurons as floats of shape (..., count, d).

    Raises
    ------
    ValueError
        If there is no neuron, or an entry is NaN or infinite.
    """
    array = np.asarray(values, dtype=float)
    if array.ndim < 2 or array.size == 0:
        raise ValueError(f"{name} must have shape (..., neurons, d), not empty; got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinite entries; remove their cause")
    return array


def joined(W: ArrayLike, V: ArrayLike) -> Floats:
    """Students and teachers in one array, shape (..., m + k, d); teachers are repeated."""
    students, teachers = vectors(W, "W"), vectors(V, "V")
    if students.shape[-1] != teachers.shape[-1]:
        raise ValueError(
            f"W and V need one input dimension, got {students.shape[-1]} and {teachers.shape[-1]}"
        )
    lead = np.broadcast_shapes(students.shape[:-2], teachers.shape[:-2])
    parts = [np.broadcast_to(z, (*lead, *z.shape[-2:])) for z in (students, teachers)]
    return np.concatenate(parts, axis=-2)


def signed_weights(
    m: int, k: int, cs: ArrayLike | None = None, ct: ArrayLike | None = None
) -> Floats:
    """Output weights of the students, then minus those of the teachers; ones if omitted.

    Raises
    ------
    ValueError
        If a number of weights does not fit, or one is not finite.
    """
    parts = []
    for count, given, sign, name in ((m, cs, 1.0, "cs"), (k, ct, -1.0, "ct")):
        weights = np.ones(count) if given is None else np.asarray(given, dtype=float)
        if weights.shape != (count,) or not np.isfinite(weights).all():
            raise ValueError(f"{name} must hold {count} finite weights, got {given!r}")
        parts.append(sign * weights)
    return np.concatenate(parts)


def angles(Z: ArrayLike) -> Floats:
    r"""Angles between all pairs of neurons, shape (..., P, P).

    .. math:: \theta_{ab} = 2\,\mathrm{atan2}(\|\hat a - \hat b\|, \|\hat a + \hat b\|),

    accurate also for nearly parallel vectors, where an arc cosine loses half of the digits.

    Raises
    ------
    ValueError
        If a neuron is the zero vector, which has no direction.
    """
    neurons = vectors(Z, "Z")
    norms = np.linalg.norm(neurons, axis=-1, keepdims=True)
    if (norms == 0).any():
        raise ValueError("a neuron is the zero vector, which has no angle; drop it")
    units = neurons / norms
    gaps = np.linalg.norm(units[..., :, None, :] - units[..., None, :, :], axis=-1)
    sums = np.linalg.norm(units[..., :, None, :] + units[..., None, :, :], axis=-1)
    return 2 * np.arctan2(gaps, sums)


def angular_excess(theta: ArrayLike) -> Floats:
    r"""What a pair at an angle adds to the loss beyond the linear part.

    .. math:: h(\theta) = \frac{\sin\theta - \theta\cos\theta}{2\pi}
        = \frac{\theta^3}{6\pi}\Big(1 - \frac{\theta^2}{10} + \dots\Big)

    Parameters
    ----------
    theta : array
        Radians, in [0, pi].
    """
    t = np.asarray(theta, dtype=float)
    series = t**3 / 3 * (1 - t**2 / 10 * (1 - t**2 / 28))
    return np.where(t < _SERIES_BELOW, series, np.sin(t) - t * np.cos(t)) / (2 * pi)


def relu_loss(W: ArrayLike, V: ArrayLike) -> Floats:
    r"""Population loss of sums of ReLU neurons, without cancellation at small angles.

    .. math:: L = \tfrac14 \|r\|^2 + \tfrac12 \sum_{a,b} s_a s_b \|z_a\|\|z_b\|\,h(\theta_{ab}),
        \qquad r = \sum_i w_i - \sum_j v_j,

    with h the ``angular_excess``. Derived in the chapter.

    Parameters
    ----------
    W : array, shape (..., m, d)
        Students.
    V : array, shape (..., k, d) or (k, d)
        Teachers.

    Returns
    -------
    array, shape (...)
    """
    Z = joined(W, V)
    signs = signed_weights(np.asarray(W).shape[-2], np.asarray(V).shape[-2])
    residual = np.einsum("a,...ad->...d", signs, Z)
    sized = signs * np.linalg.norm(Z, axis=-1)
    excess = np.einsum("...a,...b,...ab->...", sized, sized, angular_excess(angles(Z)))
    return 0.25 * (residual**2).sum(-1) + 0.5 * excess


def population_loss(
    W: ArrayLike,
    V: ArrayLike,
    act: str = "relu",
    cs: ArrayLike | None = None,
    ct: ArrayLike | None = None,
) -> Floats:
    r"""Loss :math:`\tfrac12 s^\top I_2 s` from the Gaussian kernels; rounding error about 1e-16.

    Parameters
    ----------
    W, V : array
        As for ``relu_loss``.
    act : {"relu", "erf", "linear"}
    cs, ct : array, shape (m,) and (k,), optional
        Output weights; ones if omitted.

    Returns
    -------
    array, shape (...)
    """
    Z = joined(W, V)
    m, k = np.asarray(W).shape[-2], np.asarray(V).shape[-2]
    signs = signed_weights(m, k, cs, ct)
    found = kernels(Z @ np.swapaxes(Z, -1, -2), m, act)
    return 0.5 * np.einsum("a,...ab,b->...", signs, found.I2, signs)


def population_gradient(
    W: ArrayLike,
    V: ArrayLike,
    act: str = "relu",
    cs: ArrayLike | None = None,
    ct: ArrayLike | None = None,
) -> Floats:
    r"""Gradient of the loss in the students.

    .. math:: \nabla_{w_i} L = c_i \sum_a s_a\,(G_{ia} z_a + H_{ia} w_i),

    which for ReLU is :math:`\frac1{2\pi}\sum_a s_a (\|z_a\|\sin\theta\,\hat w_i
    + (\pi-\theta) z_a)`. Parameters as ``population_loss``.

    Returns
    -------
    array, shape (..., m, d)
    """
    Z = joined(W, V)
    m, k = np.asarray(W).shape[-2], np.asarray(V).shape[-2]
    signs = signed_weights(m, k, cs, ct)
    found = kernels(Z @ np.swapaxes(Z, -1, -2), m, act)
    along_others = (found.G[..., :m, :] * signs) @ Z
    along_itself = (found.H[..., :m, :] @ signs)[..., None] * Z[..., :m, :]
    return signs[:m, None] * (along_others + along_itself)


# --- late laws --------------------------------------------------------------------------------


def cost_order(act: str) -> int:
    """Power p of the distance that a split pair costs: 3 with a kink, 4 if smooth.

    Raises
    ------
    ValueError
        For "linear", where splitting costs nothing, and for unknown activations.
    """
    orders = {"relu": 3, "erf": 4}
    if act not in orders:
        raise ValueError(f"act must be one of {', '.join(orders)}; got {act!r}")
    return orders[act]


def late_exponent(p: float) -> float:
    r"""Power of time at which gradient flow descends a cost that is homogeneous of degree p.

    .. math:: L \asymp t^{-p/(p-2)}

    Raises
    ------
    ValueError
        If p is at most 2, where the decay is exponential.
    """
    _check_order(p)
    return p / (p - 2)


def virial_ratio(p: float) -> float:
    r"""Late value of :math:`t L / \sum_i \|u_i\|^2` with u the deviations.

    .. math:: \frac{1}{p(p-2)}

    Raises
    ------
    ValueError
        If p is at most 2.
    """
    _check_order(p)
    return 1 / (p * (p - 2))


def _check_order(p: float) -> None:
    if not p > 2:
        raise ValueError(f"p must exceed 2, got {p}; at p = 2 the decay is exponential")


def split_pair(distance: ArrayLike, share: float = 0.5) -> tuple[Floats, Floats]:
    """Two ReLU students in the plane whose sum is the teacher (1, 0), and that teacher.

    Parameters
    ----------
    distance : float or array
        Distance of both students from the teacher's axis.
    share : float
        Component of the first student along the teacher, in (0, 1).

    Returns
    -------
    W : array, shape (..., 2, 2)
    V : array, shape (1, 2)
    """
    _check_share(share)
    off = np.asarray(distance, dtype=float)
    first = np.stack([np.full_like(off, share), off], axis=-1)
    second = np.stack([np.full_like(off, 1 - share), -off], axis=-1)
    return np.stack([first, second], axis=-2), np.array([[1.0, 0.0]])


def smooth_pair(distance: ArrayLike) -> tuple[Floats, Floats]:
    """Students (1, distance) and (1, -distance), each of output weight 1/2, teacher (1, 0)."""
    off = np.asarray(distance, dtype=float)
    return _mirrored_pair(np.ones_like(off), off)


def relaxed_pair(distance: ArrayLike) -> tuple[Floats, Floats]:
    """``smooth_pair`` with both students longer by half of the squared distance."""
    off = np.asarray(distance, dtype=float)
    return _mirrored_pair(1 + off**2 / 2, off)


def _mirrored_pair(along: Floats, off: Floats) -> tuple[Floats, Floats]:
    pair = [np.stack([along, sign * off], axis=-1) for sign in (1, -1)]
    return np.stack(pair, axis=-2), np.array([[1.0, 0.0]])


def relu_split_coefficient(share: float = 0.5) -> float:
    r"""Coefficient of :math:`d^3` in the loss of ``split_pair``.

    .. math:: \frac{1}{3\pi a(1-a)}
    """
    _check_share(share)
    return 1 / (3 * pi * share * (1 - share))


def erf_split_coefficient() -> float:
    r"""Coefficient of :math:`d^4` in the loss of ``smooth_pair`` with erf: 1/(4 pi sqrt 3)."""
    return 1 / (4 * pi * sqrt(3))


def erf_relaxed_coefficient() -> float:
    r"""Coefficient of :math:`d^4` in the loss of ``relaxed_pair`` with erf.

    Both students can lengthen by :math:`d^2/2`, which cancels a third of the cost:
    :math:`y^2` becomes :math:`y^2 - 1`, and :math:`E(y^2-1)^2 = 2` where :math:`E y^4 = 3`.
    """
    return 2 / 3 * erf_split_coefficient()


def pair_prefactor(share: ArrayLike) -> Floats:
    r"""Limit of :math:`t^3 L` for a pair of ReLU students of one unit teacher.

    .. math:: \frac{8\pi^2}{3}\,(a_1 a_2)^2

    Parameters
    ----------
    share : float or array
        Share a of the teacher that the first student carries, in (0, 1).
    """
    a = _check_share(share)
    return 8 * pi**2 / 3 * (a * (1 - a)) ** 2


def smooth_prefactor() -> float:
    r"""Limit of :math:`t^2 L` for a mirrored pair of erf students: :math:`3\pi\sqrt3/8`."""
    return 1 / (16 * erf_relaxed_coefficient())


def pair_angle_rate(share: ArrayLike) -> Floats:
    r"""Limit of :math:`t\,\theta_1` for the first student of a pair: :math:`2\pi(1-a)`."""
    return 2 * pi * (1 - _check_share(share))


def _check_share(share: ArrayLike) -> Floats:
    a = np.asarray(share, dtype=float)
    if not ((a > 0) & (a < 1)).all():
        raise ValueError(f"share must lie in (0, 1), got {share!r}")
    return a


# --- as many students as teachers, or fewer ---------------------------------------------------


class Mode(NamedTuple):
    """Eigenvalues of the loss's Hessian at the teachers, ascending, with their eigenvectors."""

    values: Floats
    vectors: Floats


def hessian_at_teachers(V: ArrayLike) -> Mode:
    r"""Hessian of the ReLU loss where every student is its teacher (m = k).

    Block (i, j) is :math:`E[1\{v_i x > 0\}1\{v_j x > 0\} x x^\top] = \frac{1}{2\pi}
    \big((\pi-\theta) I + \sin\theta\,(e e^\top - f f^\top)\big)`, where e and f are the unit
    vectors of the plane along the bisector of the two teachers and across it.

    Parameters
    ----------
    V : array, shape (k, d)
        Teachers, not zero.
    """
    teachers = vectors(V, "V")
    k, d = teachers.shape
    theta = angles(teachers)
    units = teachers / np.linalg.norm(teachers, axis=1, keepdims=True)
    blocks = np.empty((k, d, k, d))
    for i in range(k):
        for j in range(k):
            blocks[i, :, j, :] = _half_spaces(units[i], units[j], theta[i, j])
    return Mode(*np.linalg.eigh(blocks.reshape(k * d, k * d)))


def _half_spaces(a: Floats, b: Floats, theta: float) -> Floats:
    """E[x x^T] over the wedge where both unit vectors see x on their positive side."""
    moment = (pi - theta) * np.eye(len(a))
    e = a + b
    if np.linalg.norm(e) > 0 and theta > 0:
        e = e / np.linalg.norm(e)
        across = a - (a @ e) * e
        across = across / np.linalg.norm(across)
        moment += np.sin(theta) * (np.outer(e, e) - np.outer(across, across))
    return moment / (2 * pi)


def contraction(V: ArrayLike, eta: float) -> float:
    r"""Factor by which one step shrinks the slowest deviation from the teachers (m = k).

    .. math:: 1 - \eta\,\lambda_{\min}

    with the smallest eigenvalue of ``hessian_at_teachers``.

    Raises
    ------
    ValueError
        If the step is not positive or too large for the stiffest direction.
    """
    values = hessian_at_teachers(V).values
    if not 0 < eta < 2 / values[-1]:
        raise ValueError(f"eta must lie in (0, {2 / values[-1]:.4g}), got {eta}")
    return float(1 - eta * values[0])


def lone_student_floor() -> float:
    r"""Loss that one ReLU student keeps on two orthonormal teachers, at their bisector.

    .. math:: \frac12 + \frac1{2\pi} - \frac{(1 + 3\pi/4)^2}{2\pi^2} = 0.0885
    """
    return 0.5 + 1 / (2 * pi) - (1 + 3 * pi / 4) ** 2 / (2 * pi**2)
