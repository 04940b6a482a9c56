"""Intervals, tests with their power, and exponent fits; each test returns a finding.

The false-alarm rate of one statistical leaf is ``LEVEL``: with fewer than a thousand leaves in the
ledger, a union bound keeps the rate of any false alarm below 1 %.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from theorylab.findings import Finding, NotRejected, Rejected
from theorylab.numbers import exact, number

LEVEL = 1e-5
CONFIDENCE = 1 - LEVEL


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval."""

    estimate: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low


def _sample(values: ArrayLike, name: str = "samples", least: int = 2) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or array.size < least:
        raise ValueError(
            f"{name} must be one-dimensional with at least {least} values; got shape {array.shape}"
        )
    _check_finite(array, name)
    return array


def _check_finite(array: np.ndarray, name: str) -> None:
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise ValueError(f"{name} holds {bad} values that are NaN or infinite; remove their cause")


def _fraction_between(value: Any, name: str) -> float:
    value = float(number(value, name))
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value}")
    return value


def _positive(value: Any, name: str) -> float:
    value = float(number(value, name))
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return value


def _count(successes: ArrayLike, trials: int | None) -> tuple[int, int]:
    """Successes and trials, from a boolean array or from two integers."""
    if trials is None:
        array = np.asarray(successes)
        if array.ndim == 0:
            raise ValueError(f"trials is missing for the count of successes {successes!r}")
        if array.dtype != bool or array.size == 0:
            raise ValueError("successes must be a non-empty boolean array, or a count with trials")
        return int(array.sum()), array.size
    count, trials = int(exact(successes, "successes")), int(exact(trials, "trials"))
    if not 0 <= count <= trials or trials < 1:
        raise ValueError(f"need 0 <= successes <= trials and trials >= 1, got {count}, {trials}")
    return count, trials


def wilson(successes: ArrayLike, trials: int | None = None, confidence: float = 0.95) -> Interval:
    """Wilson score interval of a proportion.

    Parameters
    ----------
    successes : boolean array or int
        Outcomes, or their count together with ``trials``.
    trials : int, optional
    confidence : float
    """
    count, total = _count(successes, trials)
    found = stats.binomtest(count, total).proportion_ci(
        _fraction_between(confidence, "confidence"), method="wilson"
    )
    return Interval(count / total, found.low, found.high)


def clopper_pearson(
    successes: ArrayLike, trials: int | None = None, confidence: float = 0.95
) -> Interval:
    """Exact (Clopper-Pearson) interval of a proportion; parameters as ``wilson``."""
    count, total = _count(successes, trials)
    found = stats.binomtest(count, total).proportion_ci(
        _fraction_between(confidence, "confidence"), method="exact"
    )
    return Interval(count / total, found.low, found.high)


def mean_interval(samples: ArrayLike, confidence: float = 0.95) -> Interval:
    """Student interval of a mean.

    Parameters
    ----------
    samples : array, shape (n,)
        At least two independent values.
    confidence : float
    """
    values = _sample(samples)
    mean, error = values.mean(), stats.sem(values)
    half = stats.t.ppf((1 + _fraction_between(confidence, "confidence")) / 2, values.size - 1)
    return Interval(float(mean), float(mean - half * error), float(mean + half * error))


def paired_ratio(
    numerator: ArrayLike, denominator: ArrayLike, confidence: float = 0.95
) -> Interval:
    r"""Ratio of the means of paired samples, with its delta-method interval.

    .. math:: r = \bar a / \bar b, \qquad
        \mathrm{se}(r) = \mathrm{sd}(a_i - r b_i) / (\sqrt n\, |\bar b|).

    Parameters
    ----------
    numerator, denominator : array, shape (n,)
        Measured on the same n inputs.
    confidence : float

    Raises
    ------
    ValueError
        If the shapes differ or the mean of the denominator is zero.
    """
    a, b = _sample(numerator, "numerator"), _sample(denominator, "denominator")
    if a.shape != b.shape:
        raise ValueError(f"paired samples need equal shapes, got {a.shape} and {b.shape}")
    if b.mean() == 0:
        raise ValueError("the mean of the denominator is 0: the ratio is undefined")
    ratio = float(a.mean() / b.mean())
    error = float(stats.sem(a - ratio * b) / abs(b.mean()))
    half = float(stats.norm.ppf((1 + _fraction_between(confidence, "confidence")) / 2)) * error
    return Interval(ratio, ratio - half, ratio + half)


def _binomial_p(count: int, total: int, predicted: float, side: str) -> float:
    return float(stats.binomtest(count, total, predicted, alternative=side).pvalue)


def _last(holds: Callable[[int], bool], first: int, last: int) -> int:
    """The largest integer from ``first`` to ``last`` up to which ``holds`` does; by bisection."""
    low, high = first - 1, last
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


@lru_cache(maxsize=4096)
def _rejected(total: int, predicted: float, level: float, side: str) -> tuple[int, int]:
    """The exact binomial test rejects counts up to the first number and from the second one."""

    def rejects(count: int) -> bool:
        return _binomial_p(count, total, predicted, side) < level

    mode = min(int((total + 1) * predicted), total)
    below, above = -1, total + 1
    if side != "greater":
        below = _last(rejects, 0, total if side == "less" else mode)
    if side != "less":
        lowest = 0 if side == "greater" else mode
        above = total - _last(lambda missing: rejects(total - missing), 0, total - lowest)
    return below, above


def _proportion_power(total: int, predicted: float, truth: float, level: float, side: str) -> float:
    """Probability that the exact binomial test rejects ``predicted`` when ``truth`` holds."""
    below, above = _rejected(total, predicted, level, side)
    rejected = stats.binom.cdf(below, total, truth) + stats.binom.sf(above - 1, total, truth)
    return min(float(rejected), 1.0)


def _proportion_test(
    outcomes: tuple[int, int], predicted: Any, level: float, distance: float, side: str
) -> NotRejected:
    count, total = outcomes
    level, distance = _fraction_between(level, "level"), _positive(distance, "power_against")
    probability = float(number(predicted, "predicted"))
    if not 0 <= probability <= 1:
        raise ValueError(f"predicted must be a probability, got {predicted}")
    truths = {
        "two-sided": [probability - distance, probability + distance],
        "less": [probability - distance],
        "greater": [probability + distance],
    }[side]
    powers = [_proportion_power(total, probability, t, level, side) for t in truths if 0 <= t <= 1]
    return NotRejected(
        _binomial_p(count, total, probability, side),
        level,
        min(powers, default=0.0),
        against=f"a proportion off by {distance:g}",
        sizes={"trials": total},
        note=f"measured proportion {count / total:.4g}, predicted {probability:.4g}",
    )


def proportion_equals(
    successes: ArrayLike,
    predicted: Any,
    *,
    power_against: float,
    trials: int | None = None,
    level: float = LEVEL,
) -> NotRejected:
    """Exact two-sided binomial test that a proportion equals ``predicted``.

    Its p-value is the probability of all outcomes that are at most as likely as the one found.

    Parameters
    ----------
    successes : boolean array or int
        Outcomes, or their count together with ``trials``.
    predicted : number
        Probability.
    power_against : float
        The power is stated against a truth this far from ``predicted``.
    trials : int, optional
    level : float
        False-alarm rate.
    """
    return _proportion_test(_count(successes, trials), predicted, level, power_against, "two-sided")


def proportion_at_least(
    successes: ArrayLike,
    bound: Any,
    *,
    power_against: float,
    trials: int | None = None,
    level: float = LEVEL,
) -> NotRejected:
    """Exact one-sided binomial test of "the proportion is at least ``bound``".

    Parameters as ``proportion_equals``; the power is against a truth of ``bound`` minus
    ``power_against``.
    """
    return _proportion_test(_count(successes, trials), bound, level, power_against, "less")


def proportion_at_most(
    successes: ArrayLike,
    bound: Any,
    *,
    power_against: float,
    trials: int | None = None,
    level: float = LEVEL,
) -> NotRejected:
    """Exact one-sided binomial test of "the proportion is at most ``bound``"; see above."""
    return _proportion_test(_count(successes, trials), bound, level, power_against, "greater")


def _mean_test(
    samples: ArrayLike, predicted: Any, level: float, distance: float, side: str
) -> NotRejected:
    values = _sample(samples)
    level, distance = _fraction_between(level, "level"), _positive(distance, "power_against")
    target = float(number(predicted, "predicted"))
    error = float(stats.sem(values))
    if error == 0:
        raise ValueError(
            f"all {values.size} samples equal {values[0]}: a mean test needs variation; "
            "compare exactly instead"
        )
    statistic, freedom = (values.mean() - target) / error, values.size - 1
    tail = level / 2 if side == "two-sided" else level
    critical, shift = stats.t.isf(tail, freedom), distance / error
    p_value = {
        "two-sided": 2 * stats.t.sf(abs(statistic), freedom),
        "greater": stats.t.sf(statistic, freedom),
        "less": stats.t.cdf(statistic, freedom),
    }[side]
    return NotRejected(
        min(float(p_value), 1.0),
        level,
        float(stats.norm.sf(critical - shift)),
        against=f"a mean off by {distance:g}",
        sizes={"samples": values.size},
        note=f"measured mean {values.mean():.4g} ± {error:.2g}, predicted {target:.4g}",
    )


def mean_equals(
    samples: ArrayLike, predicted: Any, *, power_against: float, level: float = LEVEL
) -> NotRejected:
    """Student test that the mean equals ``predicted``.

    The false-alarm rate is exact for normal samples. For skewed ones it is not, the less so the
    smaller the level: of 100 exponential values the lower tail is reached 44 times as often as a
    level of 1e-5 says, of 1000 values 5 times. Average batches of such values first.

    Parameters
    ----------
    samples : array, shape (n,)
        Independent values.
    predicted : number
    power_against : float
        The power is stated against a mean this far off (normal approximation with the
        measured standard error).
    level : float
        False-alarm rate.

    Raises
    ------
    ValueError
        If the samples do not vary, are too few or not finite.
    """
    return _mean_test(samples, predicted, level, power_against, "two-sided")


def mean_at_most(
    samples: ArrayLike, bound: Any, *, power_against: float, level: float = LEVEL
) -> NotRejected:
    """One-sided Student test of "the mean is at most ``bound``"; parameters as ``mean_equals``."""
    return _mean_test(samples, bound, level, power_against, "greater")


def mean_at_least(
    samples: ArrayLike, bound: Any, *, power_against: float, level: float = LEVEL
) -> NotRejected:
    """One-sided Student test of "the mean is at least ``bound``"; parameters as ``mean_equals``."""
    return _mean_test(samples, bound, level, power_against, "less")


def _mean_demonstrated(samples: ArrayLike, bound: Any, level: float, sign: int) -> Rejected:
    values = _sample(samples)
    target, error = float(number(bound, "bound")), float(stats.sem(values))
    gap = sign * (values.mean() - target)
    if error == 0:
        p_value = 0.0 if gap > 0 else 1.0
    else:
        p_value = float(stats.t.sf(gap / error, values.size - 1))
    side = "at most" if sign > 0 else "at least"
    return Rejected(
        p_value,
        level,
        null=f"the mean is {side} {target:.4g}",
        sizes={"samples": values.size},
        note=f"measured mean {values.mean():.4g} ± {error:.2g}",
    )


def mean_below(samples: ArrayLike, bound: Any, *, level: float = LEVEL) -> Rejected:
    """The mean is demonstrably below ``bound``: a Student test rejects "at least ``bound``"."""
    return _mean_demonstrated(samples, bound, level, -1)


def mean_above(samples: ArrayLike, bound: Any, *, level: float = LEVEL) -> Rejected:
    """The mean is demonstrably above ``bound``: a Student test rejects "at most ``bound``"."""
    return _mean_demonstrated(samples, bound, level, 1)


@dataclass(frozen=True)
class ExponentFit:
    r"""A power law :math:`y = e^{c} x^{s}` fitted on logarithmic axes.

    Attributes
    ----------
    slope, low, high : float
        Exponent s and its confidence interval.
    intercept : float
        c.
    """

    slope: float
    low: float
    high: float
    intercept: float


def _logarithms(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    x_values, y_values = _sample(x, "x", least=3), np.asarray(y, dtype=float)
    if y_values.shape[-1:] != x_values.shape:
        raise ValueError(f"y must end in the shape of x, got {y_values.shape}, {x_values.shape}")
    _check_finite(y_values, "y")
    if np.ptp(x_values) == 0:
        raise ValueError(f"the values of x must differ, all are {x_values[0]}")
    if (x_values <= 0).any() or not (y_values > 0).all():
        raise ValueError("a power law needs positive x and y; drop or shift the other points")
    return np.log(x_values), np.log(y_values)


def fit_exponent(x: ArrayLike, y: ArrayLike, confidence: float = CONFIDENCE) -> ExponentFit:
    """Least-squares exponent of one curve, with the Student interval of its residuals.

    The interval speaks of scatter about a power law; it does not see a systematic bend. Show
    ``local_exponents`` beside it.

    Parameters
    ----------
    x, y : array, shape (n,)
        Positive; n of at least 3.
    confidence : float
    """
    log_x, log_y = _logarithms(x, y)
    if log_y.ndim != 1:
        raise ValueError(f"y must be one curve, got shape {log_y.shape}; see the replicates' fit")
    confidence = _fraction_between(confidence, "confidence")
    slope, intercept, _, _, error = map(float, stats.linregress(log_x, log_y))
    half = float(stats.t.ppf((1 + confidence) / 2, log_x.size - 2)) * error
    return ExponentFit(slope, slope - half, slope + half, intercept)


def fit_exponent_replicates(
    x: ArrayLike, y: ArrayLike, confidence: float = CONFIDENCE
) -> ExponentFit:
    """Exponent from independent replicates: mean of the replicates' slopes, Student interval.

    Parameters
    ----------
    x : array, shape (n,)
    y : array, shape (replicates, n)
        At least two replicates.
    confidence : float
    """
    log_x, log_y = _logarithms(x, y)
    if log_y.ndim != 2 or len(log_y) < 2:
        raise ValueError(f"y must hold at least two replicates in rows, got shape {log_y.shape}")
    centred = log_x - log_x.mean()
    slopes = log_y @ centred / (centred @ centred)
    found = mean_interval(slopes, confidence)
    intercept = float(log_y.mean() - found.estimate * log_x.mean())
    return ExponentFit(found.estimate, found.low, found.high, intercept)


def local_exponents(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Slopes between neighbouring points on logarithmic axes, shape (n - 1,)."""
    log_x, log_y = _logarithms(x, y)
    if (np.diff(log_x) == 0).any():
        raise ValueError("neighbouring values of x must differ, sort x and drop repetitions")
    return np.diff(log_y) / np.diff(log_x)


def false_alarm_bound(findings: list[Finding]) -> float:
    """Union bound on the probability that any of the findings fails although its claim is true."""
    return float(min(sum(finding.false_alarm for finding in findings), 1.0))
