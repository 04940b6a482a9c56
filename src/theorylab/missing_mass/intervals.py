r"""Intervals and upper bounds for the missing mass, from one sample."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from theorylab.missing_mass import plugins
from theorylab.missing_mass.fingerprint import Fingerprint

MCALLESTER_SCHAPIRE = 2 * sqrt(2) + sqrt(3)
MCDIARMID = 1 + sqrt(2)


@dataclass(frozen=True)
class Interval:
    """An interval of masses, inside [0, 1]."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low

    def covers(self, mass: float) -> bool:
        """Whether ``mass`` lies in the interval, ends included."""
        return self.low <= mass <= self.high


def esty(fp: Fingerprint, level: float = 0.95) -> Interval:
    r"""Esty's normal interval around Good-Turing.

    .. math:: \frac{\Phi_1}n \pm \frac zn \sqrt{\Phi_1(1-\Phi_1/n)+2\Phi_2}

    Without singletons and doubletons the formula collapses to the point 0; there
    :math:`\Phi_1+1` and :math:`\Phi_2+1` are put in the place of both under the root.

    Parameters
    ----------
    fp : Fingerprint
    level : float
        Nominal coverage, in (0, 1).

    Returns
    -------
    Interval
        Cut to [0, 1].

    Raises
    ------
    ValueError
        If ``level`` is not in (0, 1).
    """
    _check_probability("level", level)
    n, once, twice = fp.n, fp.phi(1), fp.phi(2)
    centre = once / n
    if once == twice == 0:
        once = twice = 1
    variance = once * (1 - once / n) + 2 * twice
    half = NormalDist().inv_cdf((1 + level) / 2) * sqrt(variance) / n
    return Interval(max(centre - half, 0.0), min(centre + half, 1.0))


def ewens_pitman(fp: Fingerprint, level: float = 0.95) -> Interval:
    """Equal-tailed credible interval under the two-parameter model.

    Raises
    ------
    ValueError
        If ``level`` is not in (0, 1).
    """
    _check_probability("level", level)
    posterior = plugins.ewens_pitman(fp)
    tail = (1 - level) / 2
    return Interval(posterior.quantile(tail), posterior.quantile(1 - tail))


def mcallester_schapire(fp: Fingerprint, delta: float = 0.05) -> float:
    r"""Distribution-free upper bound that fails with probability at most delta.

    .. math:: G + (2\sqrt2+\sqrt3)\sqrt{\ln(3/\delta)/n}

    Returns
    -------
    float
        Not cut at 1: a value above 1 says that the bound is vacuous.

    Raises
    ------
    ValueError
        If ``delta`` is not in (0, 1).
    """
    _check_probability("delta", delta)
    return fp.phi(1) / fp.n + MCALLESTER_SCHAPIRE * sqrt(log(3 / delta) / fp.n)


def mcdiarmid_upper(fp: Fingerprint, delta: float = 0.05) -> float:
    r"""Distribution-free upper bound, from bounded differences of Good-Turing.

    .. math:: G + (1+\sqrt2)\sqrt{\ln(2/\delta)/n}

    One draw moves :math:`\Phi_1` by at most 2, so McDiarmid gives
    :math:`P(E G-G\ge\epsilon)\le e^{-n\epsilon^2/2}`; the missing mass has
    :math:`P(M-E M\ge\epsilon)\le e^{-n\epsilon^2}`; and :math:`E M\le E G`. Each gets half of
    delta.

    Raises
    ------
    ValueError
        If ``delta`` is not in (0, 1).
    """
    _check_probability("delta", delta)
    return fp.phi(1) / fp.n + MCDIARMID * sqrt(log(2 / delta) / fp.n)


def holdout_upper(sample: Sequence[Hashable] | NDArray, delta: float = 0.05) -> float:
    r"""Exact distribution-free upper bound from the order of the draws.

    The first :math:`\lfloor n/2\rfloor` draws fix which classes count as seen; of the others, a
    binomial number is new, with success probability :math:`M_{\lfloor n/2\rfloor}`. Its
    Clopper-Pearson upper bound also holds for the missing mass of the whole sample, which is
    never larger.

    Parameters
    ----------
    sample : sequence of labels
        In the order of observation, at least two.
    delta : float
        The bound fails with at most this probability.

    Raises
    ------
    ValueError
        If ``delta`` is not in (0, 1) or there are fewer than two draws.
    """
    _check_probability("delta", delta)
    if len(sample) < 2:
        raise ValueError(f"sample must have at least 2 draws to split, got {len(sample)}")
    middle = len(sample) // 2
    return clopper_pearson_upper(*novelty(sample[:middle], sample[middle:]), delta)


def novelty(
    first: Sequence[Hashable] | NDArray, second: Sequence[Hashable] | NDArray
) -> tuple[int, int]:
    """How many draws of ``second`` show a class that ``first`` does not, and out of how many."""
    if isinstance(second, np.ndarray):
        return int(np.isin(second, np.asarray(first), invert=True).sum()), len(second)
    seen = set(first)
    return sum(label not in seen for label in second), len(second)


def clopper_pearson_upper(successes: int, trials: int, delta: float) -> float:
    """Largest probability under which so few successes have probability at least delta."""
    if successes == trials:
        return 1.0
    return float(betaincinv(successes + 1, trials - successes, 1 - delta))


def _check_probability(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value}")
