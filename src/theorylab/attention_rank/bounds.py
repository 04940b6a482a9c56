r"""Lower bounds on the error of one attention layer, evaluated with certified arithmetic.

Any layer of H heads of rank r errs on two orthonormal keys by at least

.. math:: \mathrm{LB} = \tfrac12 \sum_\ell \eta_\ell(d')^2\,(1 - H m_\ell/N(d',\ell))_+ ,

where :math:`m_\ell` counts the harmonics of degree :math:`\ell` that one head can reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from theorylab.attention_rank.arguments import check_increasing, cosines, finite, whole
from theorylab.attention_rank.harmonics import dim_harm, energies, hom

KINDS = ("scalar", "matrix", "generalised")
DEGREES = 1001
UNDECIDED = 1e-6
"""By how much, relatively, the certified interval may exceed eps at the heads found."""
"""Odd degrees that are kept; what lies beyond enters through the tail."""


@dataclass(frozen=True)
class Interval:
    """A real number between two floats.

    Attributes
    ----------
    lo, hi : float
    """

    lo: float
    hi: float

    @property
    def width(self) -> float:
        """``hi - lo``."""
        return self.hi - self.lo


@dataclass(frozen=True)
class _Rows:
    """Degrees with what decides their term: energies, and integers m and N of m/N per head."""

    energies: np.ndarray
    tail: float
    error: float
    per_head: tuple[int, ...]
    dimensions: tuple[int, ...]
    shared: tuple[int, ...]


def _kind(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    return kind


def per_head(r: int, l: int, kind: str = "matrix") -> int:  # noqa: E741
    r"""How many harmonics of degree l one head of rank r reaches.

    :math:`h_r(\ell)` with scalar values, :math:`h_r(\ell-2)+h_r(\ell)+h_r(\ell+2)` with a value
    matrix.
    """
    if _kind(kind) == "scalar":
        return hom(r, l)
    return hom(r, l - 2) + hom(r, l) + hom(r, l + 2)


def _needed(dimensions: Sequence[int], per_head: Sequence[int]) -> bool:
    """Whether the last degree is so rich that no number of heads below 1e40 dents it."""
    return dimensions[-1] > 10**60 * per_head[-1]


@lru_cache(maxsize=64)
def _sign_rows(d: int, r: int, kind: str) -> _Rows:
    sphere = d - 1 if kind == "generalised" else d
    reached, dimensions = [], []
    for degree in range(1, 2 * DEGREES, 2):
        reached.append(per_head(r, degree, kind))
        dimensions.append(dim_harm(sphere, degree))
        if _needed(dimensions, reached):
            break
    found = energies(sphere, DEGREES)
    count = len(reached)
    shared = [int(kind == "generalised" and i == 0) for i in range(count)]
    return _Rows(
        found.energies[:count],
        float(found.tails[count - 1]),
        2 * found.error,
        tuple(reached),
        tuple(dimensions),
        tuple(shared),
    )


def _profile_rows(d: int, r: int, kind: str, profile: ArrayLike) -> _Rows:
    energy = finite(profile, "profile")
    if energy.ndim != 1 or (energy < 0).any() or energy.sum() > 1 + 1e-9:
        raise ValueError(
            "profile must list non-negative energies by degree with a sum of at most 1"
        )
    sphere = d - 1 if kind == "generalised" else d
    degrees = range(len(energy))
    return _Rows(
        energy,
        max(0.0, 1.0 - float(energy.sum())),
        1e-12,
        tuple(per_head(r, degree, kind) for degree in degrees),
        tuple(dim_harm(sphere, degree) for degree in degrees),
        tuple(int(kind == "generalised" and degree == 1) for degree in degrees),
    )


def _left(reached: int, dimension: int) -> float:
    """Fraction of a degree that stays out of reach; integers, then one rounding."""
    return max(dimension - reached, 0) / dimension


def _evaluate(rows: _Rows, H: int) -> Interval:
    left = np.array(
        [
            _left(H * m + s, n)
            for m, n, s in zip(rows.per_head, rows.dimensions, rows.shared, strict=True)
        ]
    )
    head = 0.5 * float(rows.energies @ left)
    slack = rows.error + 1e-15
    low = head + 0.5 * rows.tail * float(left[-1]) - slack
    return Interval(max(low, 0.0), head + 0.5 * rows.tail + slack)


def lower_bound(
    d: int, r: int, H: int, kind: str = "matrix", profile: str | ArrayLike = "sign"
) -> Interval:
    r"""Least error of any layer of H heads of rank r on two orthonormal keys in d dimensions.

    .. math:: \mathrm{MSE} \ge \tfrac12 \sum_{\ell} \eta_\ell(d')^2
        \max\Bigl(0, 1-\frac{D_\ell}{N(d',\ell)}\Bigr)

    - ``"scalar"``: dot-product heads with scalar values; d' = d, :math:`D_\ell = H h_r(\ell)`.
    - ``"matrix"``: with value matrices; d' = d,
      :math:`D_\ell = H(h_r(\ell-2)+h_r(\ell)+h_r(\ell+2))`.
    - ``"generalised"``: weights are any function of K'X and y, value matrices; d' = d - 1, the
      same :math:`D_\ell`, and 1 more at degree 1.

    Parameters
    ----------
    d : int
        Dimension, at least 2.
    r : int
        Rank of every head; from d' on the bound is 0.
    H : int
        Number of heads; any size.
    kind : {"matrix", "scalar", "generalised"}
    profile : "sign" or array, shape (degrees + 1,)
        Energies by degree of the target's dependence on :math:`\langle w,y\rangle`; those of the
        sign (the nearest key), or a list from degree 0 on, for example from ``biased_profile``.
        The whole energy is 1; what the list lacks lies in higher degrees.

    Returns
    -------
    Interval
        Of the bound itself: the error of every layer is at least ``lo``.
    """
    d, r, H = whole(d, "d", 2), whole(r, "r", 1), whole(H, "H", 1)
    sphere = d - 1 if _kind(kind) == "generalised" else d
    if r >= sphere:
        return Interval(0.0, 0.0)
    if kind == "generalised" and not isinstance(profile, str):
        raise ValueError(
            "heads that see all keys are bounded for the sign only; leave profile out, or take "
            "kind 'matrix' or 'scalar'"
        )
    if isinstance(profile, str):
        if profile != "sign":
            raise ValueError(f"profile must be 'sign' or a list of energies, got {profile!r}")
        return _evaluate(_sign_rows(d, r, kind), H)
    return _evaluate(_profile_rows(d, r, kind, profile), H)


def degree_terms(d: int, r: int, H: int, kind: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Energies of the first odd degrees and the fraction of each that the heads can fill."""
    rows = _sign_rows(whole(d, "d", 3), whole(r, "r", 1), _kind(kind))
    count = min(count, len(rows.per_head))
    reach = zip(rows.per_head, rows.dimensions, rows.shared, strict=True)
    left = np.array([_left(H * m + s, n) for m, n, s in reach][:count])
    return rows.energies[:count], 1 - left


def heads_needed(d: int, r: int, eps: float, kind: str = "matrix") -> int:
    """Least H at which the lower bound does not exceed ``eps``: fewer heads must err by more.

    Parameters
    ----------
    d, r : int
    eps : float
        Positive; from 1/2 on, one head is enough.
    kind : {"matrix", "scalar", "generalised"}

    Returns
    -------
    int
        Found by bisection in integers, with the certified lower end of the bound.

    Raises
    ------
    ValueError
        If eps is not positive, or so small that the degrees that are summed do not decide.
    """
    if not (isinstance(eps, (int, float, Fraction)) and 0 < eps < math.inf):
        raise ValueError(f"eps must be a positive number, got {eps!r}")

    def above(H: int) -> bool:
        return lower_bound(d, r, H, kind).lo > eps

    high = 1
    while above(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if above(middle) else (low, middle)
    if lower_bound(d, r, high, kind).hi > eps * (1 + UNDECIDED):
        raise ValueError(
            f"eps={eps} is too small for d={d}, r={r}: the bound is summed to degree "
            f"{2 * DEGREES} and to {high:.1e} heads, and does not decide there"
        )
    return high


def generic_span_dim(d: int, r: int, H: int, l: int) -> int:  # noqa: E741
    r"""Dimension in degree l of what H generic subspaces of dimension r reach together.

    :math:`\min(N, H h_r(\ell))` for :math:`2r \le d`. For two subspaces of any rank their
    intersection, of dimension :math:`2r-d`, counts once:
    :math:`\min(N, 2h_r(\ell)-h_{2r-d}(\ell))`.

    Raises
    ------
    ValueError
        If more than two subspaces intersect: no formula is claimed there.
    """
    d, r, H, l = whole(d, "d", 2), whole(r, "r", 1), whole(H, "H", 1), whole(l, "l", 0)  # noqa: E741
    if r > d:
        raise ValueError(f"r must be at most d={d}, got {r}")
    total = dim_harm(d, l)
    if r == d or H == 1:
        return min(total, hom(r, l))
    if 2 * r <= d:
        return min(total, H * hom(r, l))
    if H == 2:
        return min(total, 2 * hom(r, l) - hom(2 * r - d, l))
    raise ValueError(
        f"no formula for H={H} subspaces of dimension r={r} in d={d}: they intersect (2r > d); "
        "use at most 2 heads or measure the rank"
    )


def density_at_zero(d: int) -> float:
    r"""Density :math:`c_d = \Gamma(d/2)/(\sqrt\pi\,\Gamma((d-1)/2))` of a coordinate at 0."""
    d = whole(d, "d", 2)
    return math.exp(math.lgamma(d / 2) - math.lgamma((d - 1) / 2)) / math.sqrt(math.pi)


def biased_profile(d: int, tau: ArrayLike, degrees: int = 200) -> np.ndarray:
    r"""Energies by degree of :math:`F(t) = \prod_i \mathrm{sgn}(t-\tau_i)`.

    From :math:`\int_{-1}^t P_\ell\,d\mu = -c_d(1-t^2)^{(d-1)/2}P^{(d+2)}_{\ell-1}(t)/(d-1)`, with
    jumps of F by 2 at each point.

    Parameters
    ----------
    d : int
        At least 3.
    tau : array, shape (L,)
        Increasing, inside (-1, 1).
    degrees : int
        Largest degree.

    Returns
    -------
    array, shape (degrees + 1,)
    """
    d, tau = whole(d, "d", 3), cosines(tau, "tau")
    check_increasing(tau)
    signs = (-1.0) ** (len(tau) - 1 - np.arange(len(tau)))
    weight = 2 * signs * density_at_zero(d) * (1 - tau**2) ** ((d - 1) / 2) / (d - 1)
    moments = np.zeros(degrees + 1)
    moments[0] = 1 - 2 * signs @ _cdf(d, tau)
    moments[1:] = _polynomials(d + 2, tau, degrees) @ weight
    dimensions = [float(dim_harm(d, degree)) for degree in range(degrees + 1)]
    return np.array(dimensions) * moments**2


def _cdf(d: int, t: np.ndarray) -> np.ndarray:
    from scipy.special import betainc

    half = 0.5 * betainc(0.5, (d - 1) / 2, t**2)
    return 0.5 + np.sign(t) * half


def _polynomials(d: int, t: np.ndarray, count: int) -> np.ndarray:
    """P_0, ..., P_{count-1} at t, shape (count, len(t))."""
    rows = [np.ones_like(t), t]
    for degree in range(1, count - 1):
        rows.append(((2 * degree + d - 2) * t * rows[-1] - degree * rows[-2]) / (degree + d - 2))
    return np.array(rows[:count])
