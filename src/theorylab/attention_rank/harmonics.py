r"""Spherical harmonics of the sign function: exact eigenvalues, energies, tails and their series.

On the sphere in :math:`\mathbb{R}^d`, with :math:`P_\ell` the Legendre polynomial of that
dimension, :math:`\lambda_\ell = E[\mathrm{sgn}(t) P_\ell(t)]` is the Funk-Hecke eigenvalue of the
sign, and :math:`\eta_\ell^2 = N(d,\ell)\lambda_\ell^2` is the part of :math:`\mathrm{sgn}` that
lives in degree :math:`\ell`. Both are rational for odd d; for even d, lambda is a rational over
pi.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from theorylab.attention_rank.arguments import cosines, finite, whole

MOST_DEGREES = 40_001


def dim_harm(d: int, l: int) -> int:  # noqa: E741 - the degree is written so in the field
    r"""Dimension of the harmonics of one degree on the sphere in d dimensions.

    .. math:: N(d,\ell) = \binom{\ell+d-1}{\ell} - \binom{\ell+d-3}{\ell-2}.

    Parameters
    ----------
    d : int
        At least 2.
    l : int
        Degree, at least 0.
    """
    d, l = whole(d, "d", 2), whole(l, "l", 0)  # noqa: E741
    return math.comb(l + d - 1, l) - (math.comb(l + d - 3, l - 2) if l >= 2 else 0)


def hom(r: int, k: int) -> int:
    r"""Dimension :math:`h_r(k) = \binom{k+r-1}{r-1}` of the forms of degree k in r variables.

    It is 0 for negative k. Also the number of harmonics of degree k on any larger sphere that
    are functions of r coordinates only.
    """
    r = whole(r, "r", 1)
    k = whole(k, "k", -(2**62))
    return math.comb(k + r - 1, r - 1) if k >= 0 else 0


@dataclass(frozen=True)
class ExactPi:
    r"""The number :math:`q\,\pi^{-p}`.

    Parameters
    ----------
    fraction : Fraction
        q.
    power : int
        p; zero if q is zero.
    """

    fraction: Fraction
    power: int

    def __post_init__(self) -> None:
        if self.fraction == 0:
            object.__setattr__(self, "power", 0)

    def __float__(self) -> float:
        return float(self.fraction) / math.pi**self.power

    def __mul__(self, other: ExactPi | Fraction | int) -> ExactPi:
        if isinstance(other, ExactPi):
            return ExactPi(self.fraction * other.fraction, self.power + other.power)
        return ExactPi(self.fraction * other, self.power)

    __rmul__ = __mul__


@lru_cache(maxsize=512)
def _mean_modulus(d: int) -> ExactPi:
    """E|t|, that is lambda_1: 2/pi for d = 2, 1/2 for d = 3, then in steps of two."""
    value = Fraction(2) if d % 2 == 0 else Fraction(1, 2)
    for e in range(4 if d % 2 == 0 else 5, d + 1, 2):
        value *= Fraction(e - 2, e - 1)
    return ExactPi(value, 1 - d % 2)


def lam(d: int, l: int) -> ExactPi:  # noqa: E741
    r"""Funk-Hecke eigenvalue of the sign, exactly.

    .. math:: \lambda_\ell = E[\mathrm{sgn}(t) P_\ell(t)], \qquad
        \lambda_\ell = -\lambda_{\ell-2}\,\frac{\ell-2}{\ell+d-2},
        \qquad \lambda_{2k} = 0.

    Parameters
    ----------
    d : int
        At least 2.
    l : int
        Degree, at least 0.

    Returns
    -------
    ExactPi
    """
    d, l = whole(d, "d", 2), whole(l, "l", 0)  # noqa: E741
    if l % 2 == 0:
        return ExactPi(Fraction(0), 0)
    first = _mean_modulus(d)
    top = math.prod(range(1, l - 1, 2))
    bottom = math.prod(range(d + 1, l + d - 1, 2))
    sign = -1 if (l - 1) // 2 % 2 else 1
    return ExactPi(first.fraction * Fraction(sign * top, bottom), first.power)


def eta2(d: int, l: int) -> ExactPi:  # noqa: E741
    r"""Energy :math:`\eta_\ell^2 = N(d,\ell)\,\lambda_\ell^2` of the sign in a degree, exactly."""
    value = lam(d, l)
    return dim_harm(d, l) * (value * value)


def tail(d: int, L: int) -> tuple[Fraction, ExactPi]:
    r"""Energy beyond degree L, exactly: a rational minus an ``ExactPi``.

    .. math:: \sum_{\ell > L} \eta_\ell^2 = 1 - \sum_{\ell \le L} \eta_\ell^2.

    Returns
    -------
    one : Fraction
        The energy of the sign, 1.
    partial : ExactPi
        The sum up to L, to be taken from it.
    """
    d, L = whole(d, "d", 2), whole(L, "L", 0)
    parts = [eta2(d, degree) for degree in range(1, L + 1, 2)]
    power = 2 * (1 - d % 2)
    return Fraction(1), ExactPi(sum((p.fraction for p in parts), start=Fraction(0)), power)


def tail_value(d: int, L: int) -> float:
    """The exact ``tail`` as a float, its two parts subtracted with 50 digits."""
    import mpmath

    one, part = tail(d, L)
    with mpmath.workdps(50):
        done = mpmath.mpf(part.fraction.numerator) / part.fraction.denominator
        return float(mpmath.mpf(one.numerator) - done / mpmath.pi**part.power)


@dataclass(frozen=True)
class Energies:
    """Odd-degree energies and eigenvalues of the sign as floats, with a bound on their errors.

    Attributes
    ----------
    degrees, energies, eigenvalues : array, shape (n,)
        Degrees 1, 3, ..., the energies in them and the eigenvalues.
    tails : array, shape (n,)
        Energy beyond each degree.
    error : float
        Certified bound on the error of every energy and every tail.
    """

    degrees: np.ndarray
    energies: np.ndarray
    eigenvalues: np.ndarray
    tails: np.ndarray
    error: float


@lru_cache(maxsize=256)
def energies(d: int, count: int = 1001) -> Energies:
    r"""The first ``count`` odd degrees by the ratio of neighbouring energies.

    .. math:: \frac{\eta_\ell^2}{\eta_{\ell-2}^2} = \frac{2\ell+d-2}{2\ell+d-6}
        \cdot\frac{(\ell+d-3)(\ell+d-4)}{\ell(\ell-1)}\Bigl(\frac{\ell-2}{\ell+d-2}\Bigr)^2 .

    Notes
    -----
    The first eigenvalue comes from at most d roundings, each further energy from at most twelve;
    a product of n factors with relative errors below u errs by less than 1.01 n u, and the
    energies sum to 1.
    """
    d, count = whole(d, "d", 2), whole(count, "count", 1)
    degree = 2.0 * np.arange(count) + 1
    first = float(_mean_modulus(d))
    later = degree[1:]
    growth = (2 * later + d - 2) / (2 * later + d - 6)
    growth = growth * ((later + d - 3) * (later + d - 4) / (later * (later - 1)))
    shrink = (later - 2) / (later + d - 2)
    energy = d * first**2 * np.concatenate([[1.0], np.cumprod(growth * shrink**2)])
    eigenvalue = first * np.concatenate([[1.0], np.cumprod(-shrink)])
    error = 1.01 * (2 * d + 13 * count) * 2.0**-53
    tails = np.maximum(1.0 - np.cumsum(energy), 0.0)
    return Energies(degree.astype(int), energy, eigenvalue, tails, 2 * error)


def legendre(d: int, coef: ArrayLike, t: ArrayLike) -> np.ndarray:
    r"""Sum :math:`\sum_\ell c_\ell P_\ell(t)` of Legendre polynomials in d dimensions (Clenshaw).

    .. math:: P_{\ell+1} = \frac{(2\ell+d-2)\,t\,P_\ell - \ell P_{\ell-1}}{\ell+d-2},
        \qquad P_0 = 1,\; P_1 = t .

    Parameters
    ----------
    d : int
        At least 2 (then they are the Chebyshev polynomials).
    coef : array, shape (L + 1,)
    t : array
        In [-1, 1].

    Returns
    -------
    array of the shape of ``t``
    """
    d, t = whole(d, "d", 2), cosines(t, "t")
    coef = finite(coef, "coef")
    if coef.ndim != 1:
        raise ValueError(f"coef must be one-dimensional, got shape {coef.shape}")
    ahead = further = np.zeros_like(t)
    for degree in range(len(coef) - 1, 0, -1):
        step = (2 * degree + d - 2) / (degree + d - 2) * t
        back = (degree + 1) / (degree + d - 1)
        ahead, further = coef[degree] + step * ahead - back * further, ahead
    return coef[0] + t * ahead - further / (d - 1)


def _odd_series(d: int, weights: np.ndarray, t: ArrayLike) -> np.ndarray:
    coef = np.zeros(2 * len(weights))
    coef[1::2] = weights
    return legendre(d, coef, t)


def _terms_within(d: int, tol: float, bounds: str) -> tuple[Energies, int, float]:
    """Energies, how many of them reach ``tol``, and the truncation error then left."""
    count = 64
    while True:
        found = energies(d, count + 1)
        left = found.tails[:-1] + found.error
        if bounds == "head":
            left = np.abs(found.eigenvalues[1:]) * left
        enough = np.flatnonzero(left <= tol)
        if enough.size:
            return found, int(enough[0]) + 1, float(left[enough[0]])
        if 2 * count > MOST_DEGREES:
            raise ValueError(
                f"tol={tol:g} needs more than {MOST_DEGREES} degrees at d={d}; the series reaches "
                f"{left[-1]:.2g} there: use a larger tol"
            )
        count *= 2


def arcsine(t: ArrayLike, d: int, tol: float = 1e-3) -> tuple[np.ndarray, float]:
    r"""Series of :math:`(2/\pi)\arcsin t = \sum_\ell \eta_\ell^2 P_\ell(t)`, with an error bound.

    Parameters
    ----------
    t : array
        Cosines.
    d : int
    tol : float
        Largest truncation error; it falls only like the square root of the degree.
    """
    found, terms, left = _terms_within(whole(d, "d", 2), _tolerance(tol), "plain")
    value = _odd_series(d, found.energies[:terms], t)
    return value, left + 4 * found.error


def head_target(c: ArrayLike, d: int, tol: float = 1e-10) -> tuple[np.ndarray, float]:
    r"""Correlation of a rank-1 hard head with the target, by its exact series.

    .. math:: b(c) = E[\mathrm{sgn}(\langle q,y\rangle\langle k,w\rangle)\,
        \mathrm{sgn}\langle w,y\rangle]
        = \sum_{\ell\ \mathrm{odd}} \eta_\ell^2 \lambda_\ell P_\ell(c),
        \qquad c = \langle q,k\rangle,

    for unit q and k and independent uniform w and y.

    Parameters
    ----------
    c : array
        Cosines, in [-1, 1].
    d : int
        At least 2.
    tol : float
        The series is cut once :math:`|\lambda_{L+2}|(1-\sum_{\ell\le L}\eta_\ell^2)` is below it.

    Returns
    -------
    value : array
    bound : float
        Certified bound on the error of every value.

    Raises
    ------
    ValueError
        If c is no cosine, or ``tol`` needs more than 40 001 degrees.
    """
    found, terms, left = _terms_within(whole(d, "d", 2), _tolerance(tol), "head")
    value = _odd_series(d, (found.energies * found.eigenvalues)[:terms], c)
    return value, left + 4 * found.error


def _tolerance(tol: float) -> float:
    if not 0 < tol < math.inf:
        raise ValueError(f"tol must be positive and finite, got {tol}")
    return float(tol)
