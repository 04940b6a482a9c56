"""The target, its inputs, and targets that are harder still: sums of biased nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from theorylab.attention_rank.arguments import check_increasing, cosines, finite, whole
from theorylab.attention_rank.harmonics import legendre

Rational = int | Fraction
Scaled = tuple[list[int], int]


# --- the nearest key --------------------------------------------------------------------------


def nearest(X: Any, y: Any, exact: bool = False) -> list[int]:
    """Indices of the keys nearest to the query, all of them on a tie.

    On keys of equal norm these are the keys with the largest inner product, where one hard
    attention head with Q = K = I puts its weight.

    Parameters
    ----------
    X : array, shape (N, d), or sequence of sequences of Fraction
        Keys, in rows, all of one norm.
    y : array, shape (d,), or sequence of Fraction
        Query.
    exact : bool
        Compare rationals without rounding; floats are refused.

    Raises
    ------
    TypeError
        If ``exact`` and a number is no int or Fraction.
    ValueError
        If there is no key, shapes do not fit, norms differ, or a number is not finite.
    """
    scores = inner_products(X, y, exact)
    best = max(scores)
    return [i for i, score in enumerate(scores) if score == best]


def inner_products(X: Any, y: Any, exact: bool = False) -> list[Any]:
    """Inner products of the keys with the query, after the checks of ``nearest``."""
    if exact:
        keys, query = [_integers(row, "X") for row in X], _integers(y, "y")
        _check_rows(keys, query)
        norms = [Fraction(sum(v * v for v in row), bottom**2) for row, bottom in keys]
        _check_norms(len(set(norms)) > 1)
        return [_inner(key, query) for key in keys]
    keys, query = finite(X, "X"), finite(y, "y")
    if keys.ndim != 2 or query.shape != keys.shape[1:]:
        raise ValueError(f"X must have shape (N, d) and y (d,), got {keys.shape} and {query.shape}")
    squares = np.einsum("nd,nd->n", keys, keys)
    _check_norms(float(np.ptp(squares)) > 1e-9 * float(squares.max()))
    return (keys @ query).tolist()


def attended(X: Sequence[Sequence[Rational]], y: Sequence[Rational]) -> list[int]:
    """Keys on which one hard head with Q = K = I puts its weight; any norms, exactly."""
    query = _integers(y, "y")
    scores = [_inner(_integers(row, "X"), query) for row in X]
    best = max(scores)
    return [i for i, score in enumerate(scores) if score == best]


def closest(X: Sequence[Sequence[Rational]], y: Sequence[Rational]) -> list[int]:
    """Keys at the least distance from the query; any norms, exactly."""
    top, bottom = _integers(y, "y")
    distances = []
    for row in X:
        numerators, denominator = _integers(row, "X")
        gaps = (a * bottom - b * denominator for a, b in zip(numerators, top, strict=True))
        distances.append(Fraction(sum(gap * gap for gap in gaps), (denominator * bottom) ** 2))
    least = min(distances)
    return [i for i, distance in enumerate(distances) if distance == least]


def _integers(row: Sequence[Any], name: str) -> Scaled:
    """A rational vector as integers over one denominator."""
    wrong = [v for v in row if isinstance(v, bool) or not isinstance(v, (int, Fraction))]
    if wrong:
        raise TypeError(
            f"{name} must hold int or Fraction in exact mode, got {wrong[0]!r} of type "
            f"{type(wrong[0]).__name__}; pass exact=False for floats"
        )
    bottom = lcm(*(v.denominator for v in row))
    return [v.numerator * (bottom // v.denominator) for v in row], bottom


def _inner(a: Scaled, b: Scaled) -> Fraction:
    return Fraction(sum(map(mul, a[0], b[0])), a[1] * b[1])


def _check_rows(keys: list[Scaled], query: Scaled) -> None:
    if not keys:
        raise ValueError("X is empty: there is no nearest of no keys")
    if {len(row) for row, _ in keys} != {len(query[0])}:
        raise ValueError(f"every key must have the {len(query[0])} coordinates of y")


def _check_norms(differ: bool) -> None:
    if differ:
        raise ValueError(
            "the keys have unequal norms: the largest inner product need not be the nearest key; "
            "normalise them"
        )


def rational_sphere_point(u: Sequence[int]) -> list[Fraction]:
    r"""Rational point of the unit sphere, by stereographic projection of an integer point.

    .. math:: x = \frac{(2u, |u|^2-1)}{|u|^2+1}, \qquad u \in \mathbb{Z}^{d-1}.
    """
    whole_numbers = [whole(v, "u", -(2**62)) for v in u]
    if not whole_numbers:
        raise ValueError("u is empty: give d - 1 >= 1 integers")
    square = sum(v * v for v in whole_numbers)
    return [*(Fraction(2 * v, square + 1) for v in whole_numbers), Fraction(square - 1, square + 1)]


def sphere(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """n independent uniform points of the unit sphere, shape (n, d)."""
    points = rng.standard_normal((whole(n, "n", 1), whole(d, "d", 1)))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@dataclass(frozen=True)
class Pairs:
    """Two orthonormal keys and a query, n times.

    Attributes
    ----------
    x1, x2, y : array, shape (n, d)
    """

    x1: np.ndarray
    x2: np.ndarray
    y: np.ndarray

    @property
    def w(self) -> np.ndarray:
        r"""Direction :math:`(x_1-x_2)/\sqrt2` that decides."""
        return (self.x1 - self.x2) / np.sqrt(2)

    @property
    def target(self) -> np.ndarray:
        """The nearer key, shape (n, d)."""
        first = np.einsum("nd,nd->n", self.w, self.y) >= 0
        return np.where(first[:, None], self.x1, self.x2)


def orthonormal_pair(d: int, n: int, rng: np.random.Generator) -> Pairs:
    """n draws of a uniform orthonormal pair of keys and an independent uniform query.

    Parameters
    ----------
    d : int
        At least 2.
    n : int
    rng : numpy Generator
    """
    d = whole(d, "d", 2)
    x1, other, y = (sphere(n, d, rng) for _ in range(3))
    x2 = other - np.einsum("nd,nd->n", x1, other)[:, None] * x1
    return Pairs(x1, x2 / np.linalg.norm(x2, axis=1, keepdims=True), y)


# --- biased targets ---------------------------------------------------------------------------


def sign_moments(d: int, tau: np.ndarray, count: int) -> np.ndarray:
    r"""Moments of :math:`F=\prod_i\mathrm{sgn}(t-\tau_i)` against :math:`P_1, P_3, \dots`.

    ``tau`` lists the positive points of a symmetric set with 0, an odd number in all; even
    moments vanish. The weight is :math:`(1-t^2)^{(d-3)/2}`, without its constant.
    """
    points = np.concatenate([[0.0], tau])
    signs = (-1.0) ** (len(tau) - np.arange(len(points)))
    share = np.where(points == 0, 1.0, 2.0) * signs * (1 - points**2) ** ((d - 1) / 2)
    rows = [legendre(d + 2, np.eye(2 * count - 1)[2 * i], points) @ share for i in range(count)]
    return np.array(rows)


def hobby_rice(d: int, L: int) -> tuple[np.ndarray, float]:
    r"""Points at which a sign may change L times and be orthogonal to all degrees below L.

    :math:`F(t)=\prod_i\mathrm{sgn}(t-\tau_i)` then has no energy in degrees below L under the
    weight :math:`(1-t^2)^{(d-3)/2}` of a coordinate of the sphere.

    Parameters
    ----------
    d : int
        At least 3.
    L : int
        Odd, so that the point 0 is one of them and F is odd.

    Returns
    -------
    tau : array, shape (L,)
        Increasing and symmetric.
    residual : float
        Largest moment of degree below L that is left.

    Notes
    -----
    Least squares in the logarithms of the angle increments, which keeps the points sorted and
    inside (-1, 1), from zeros of a Gegenbauer polynomial; for d = 3 the points are
    :math:`\cos(k\pi/(L+1))`.
    """
    from scipy.optimize import least_squares

    d, L = whole(d, "d", 3), whole(L, "L", 1)
    if L % 2 == 0:
        raise ValueError(f"L must be odd, so that the points are symmetric about 0; got {L}")
    half = (L - 1) // 2
    if half == 0:
        return np.zeros(1), 0.0

    def points(free: np.ndarray) -> np.ndarray:
        share = np.exp(free - free.max())
        share = share / (share.sum() + np.exp(-free.max()))
        return np.sin(np.cumsum(share) * np.pi / 2)

    scale = _moment_scale(d, half)

    def moments(free: np.ndarray) -> np.ndarray:
        return sign_moments(d, points(free), half) * scale

    start = _first_angles(d, half)
    gaps = np.diff(np.concatenate([[0.0], start, [np.pi / 2]]))
    free = np.log(gaps[:-1] / gaps[-1])
    found = least_squares(moments, free, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=400)
    positive = points(found.x)
    tau = np.concatenate([-positive[::-1], [0.0], positive])
    return tau, float(np.abs(sign_moments(d, positive, half)).max())


def _moment_scale(d: int, half: int) -> np.ndarray:
    from theorylab.attention_rank.harmonics import dim_harm

    return np.array([float(dim_harm(d, 2 * i + 1)) ** 0.5 for i in range(half)])


def _first_angles(d: int, half: int) -> np.ndarray:
    """Angles of the positive zeros of a Gegenbauer polynomial of degree L, exact for d = 3."""
    from scipy.special import roots_gegenbauer

    L = 2 * half + 1
    zeros = roots_gegenbauer(L, max((d - 1) / 2, 0.5))[0]
    return np.arcsin(zeros[half + 1 :])


@dataclass(frozen=True)
class BiasedHeads:
    r"""Full-rank hard heads with biases whose sum is a harder target.

    Head i compares :math:`\langle w,y\rangle` with a threshold and puts weight 1 on one key, with
    the scalar value of its sign; together, on two orthonormal keys, they return
    :math:`(s + F(\langle w,y\rangle)\,w)/\sqrt2`.

    Attributes
    ----------
    tau : array, shape (L,)
        Thresholds.
    signs : array, shape (L,)
        Values, +1 and -1 in turn, with the last one +1.
    """

    tau: np.ndarray
    signs: np.ndarray

    def __call__(self, pairs: Pairs) -> np.ndarray:
        """Output of the layer, shape (n, d)."""
        t = np.einsum("nd,nd->n", pairs.w, pairs.y)
        picks = t[:, None] >= self.tau
        weight = (picks @ self.signs)[:, None]
        rest = (~picks @ self.signs)[:, None]
        return weight * pairs.x1 + rest * pairs.x2

    def target(self, pairs: Pairs) -> np.ndarray:
        r"""The harder target :math:`(s+F(\langle w,y\rangle)w)/\sqrt2`, shape (n, d)."""
        t = np.einsum("nd,nd->n", pairs.w, pairs.y)
        F = np.prod(np.where(t[:, None] >= self.tau, 1.0, -1.0), axis=1)
        return np.where(F[:, None] > 0, pairs.x1, pairs.x2)


def biased_heads(tau: ArrayLike) -> BiasedHeads:
    r"""The layer that represents :math:`F=\prod_i\mathrm{sgn}(t-\tau_i)` with one head per point.

    Parameters
    ----------
    tau : array, shape (L,)
        An odd number of points, increasing, inside (-1, 1): then
        :math:`F = \sum_i (-1)^{L-i}\mathrm{sgn}(t-\tau_i)` without a constant.
    """
    points = cosines(tau, "tau")
    check_increasing(points)
    if len(points) % 2 == 0:
        raise ValueError(
            f"the number of points must be odd, got {len(points)}: an even one needs a constant"
        )
    return BiasedHeads(points, (-1.0) ** (len(points) - 1 - np.arange(len(points))))
