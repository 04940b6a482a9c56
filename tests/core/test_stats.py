"""Statistics: against brute force, known values and simulation; false alarms are measured."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from theorylab.findings import Close, ExponentEquals, Judgement, NotRejected
from theorylab.run import Run
from theorylab.stats import (
    CONFIDENCE,
    LEVEL,
    clopper_pearson,
    false_alarm_bound,
    fit_exponent,
    fit_exponent_replicates,
    local_exponents,
    mean_above,
    mean_at_least,
    mean_at_most,
    mean_below,
    mean_equals,
    mean_interval,
    paired_ratio,
    proportion_at_least,
    proportion_at_most,
    proportion_equals,
    wilson,
)


def rng(name: str) -> np.random.Generator:
    return Run(claim="tests.stats").rng(name)


# Brute force for the binomial test


def mass(k: int, n: int, p: Fraction) -> Fraction:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def p_value(k: int, n: int, p: Fraction, side: str) -> Fraction:
    """Probability of what is at least as extreme; two-sided: at most as likely."""
    masses = [mass(i, n, p) for i in range(n + 1)]
    if side == "less":
        return sum(masses[: k + 1], Fraction(0))
    if side == "greater":
        return sum(masses[k:], Fraction(0))
    return sum((m for m in masses if m <= masses[k]), Fraction(0))


def power(n: int, p: Fraction, truth: Fraction, level: Fraction, side: str) -> Fraction:
    """Probability of rejection under the truth, summed over all outcomes."""
    rejected = [k for k in range(n + 1) if p_value(k, n, p, side) < level]
    return sum((mass(k, n, truth) for k in rejected), Fraction(0))


SIDES = {
    "two-sided": proportion_equals,
    "less": proportion_at_least,
    "greater": proportion_at_most,
}
LEVELS = [Fraction(1, 20), Fraction(1, 32), Fraction(1, 1000)]
NULLS = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("p", NULLS)
@pytest.mark.parametrize("n", [1, 5, 12])
def test_binomial_p_values_and_powers_are_those_of_enumeration(side, level, p, n):
    distance = Fraction(1, 20)
    truths = [t for t in _truths(p, distance, side) if 0 <= t <= 1]
    expected_power = min(power(n, p, truth, level, side) for truth in truths)
    for k in range(n + 1):
        finding = SIDES[side](k, p, trials=n, power_against=float(distance), level=float(level))
        assert finding.p_value == pytest.approx(float(p_value(k, n, p, side)), rel=1e-9)
        assert finding.power == pytest.approx(float(expected_power), rel=1e-9, abs=1e-14)


def _truths(p: Fraction, distance: Fraction, side: str) -> list[Fraction]:
    below, above = [p - distance], [p + distance]
    return {"two-sided": below + above, "less": below, "greater": above}[side]


def test_a_tie_with_the_level_does_not_reject():
    """Five heads of five have probability 1/32 exactly."""
    finding = proportion_at_most(5, Fraction(1, 2), trials=5, power_against=0.5, level=1 / 32)
    assert finding.p_value == finding.level
    assert finding.power == 0
    assert finding.judgement is Judgement.UNDECIDED


def test_a_power_at_scale_is_that_of_simulation():
    n, p, distance, level = 4000, 0.3, 0.03, 1e-3
    stated = proportion_equals(1200, p, trials=n, power_against=distance, level=level).power
    outcomes = rng("power").binomial(n, [p - distance, p + distance], size=(20_000, 2))
    counts = np.unique(outcomes)
    rejects = {k: scipy_stats.binomtest(int(k), n, p).pvalue < level for k in counts}
    simulated = np.vectorize(rejects.get)(outcomes).mean(axis=0).min()
    assert abs(stated - simulated) < 5 * math.sqrt(0.25 / 20_000)


def test_the_power_of_a_large_test_is_quick_to_compute():
    finding = proportion_equals(500_000, 0.5, trials=1_000_000, power_against=0.005)
    assert finding.judgement is Judgement.HOLDS
    assert 0.99 < finding.power <= 1


@pytest.mark.parametrize(("test", "predicted"), [(proportion_at_least, 0), (proportion_at_most, 1)])
def test_a_claim_that_cannot_fail_has_no_power(test, predicted):
    finding = test(5, predicted, trials=10, power_against=0.1)
    assert (finding.power, finding.judgement) == (0, Judgement.UNDECIDED)


def test_boolean_outcomes_are_counted():
    outcomes = rng("coins").random(2000) < 0.5
    by_count = proportion_equals(int(outcomes.sum()), 0.5, trials=2000, power_against=0.1)
    assert proportion_equals(outcomes, 0.5, power_against=0.1) == by_count
    assert by_count.sizes == {"trials": 2000}


PROPORTION_ERRORS = [
    ({"successes": 3}, "trials is missing"),
    ({"successes": 3, "trials": 2}, "0 <= successes <= trials"),
    ({"successes": -1, "trials": 2}, "0 <= successes <= trials"),
    ({"successes": 0, "trials": 0}, "trials >= 1"),
    ({"successes": np.array([0, 1])}, "non-empty boolean array"),
    ({"successes": np.array([], dtype=bool)}, "non-empty boolean array"),
    ({"successes": 1, "trials": 2, "predicted": 1.5}, "predicted must be a probability"),
    ({"successes": 1, "trials": 2, "predicted": math.nan}, "predicted is nan"),
    ({"successes": 1, "trials": 2, "power_against": 0}, "power_against must be positive"),
    ({"successes": 1, "trials": 2, "power_against": -0.1}, "power_against must be positive"),
    ({"successes": 1, "trials": 2, "power_against": math.nan}, "power_against is nan"),
    ({"successes": 1, "trials": 2, "level": 0}, r"level must lie in \(0, 1\)"),
    ({"successes": 1, "trials": 2, "level": 2}, r"level must lie in \(0, 1\)"),
]


@pytest.mark.parametrize("test", SIDES.values())
@pytest.mark.parametrize(("change", "message"), PROPORTION_ERRORS)
def test_wrong_input_of_a_proportion_test_is_told(test, change, message):
    values = {"predicted": 0.5, "power_against": 0.1, **change}
    with pytest.raises(ValueError, match=message):
        test(values.pop("successes"), values.pop("predicted"), **values)


@pytest.mark.parametrize("count", [2.5, True])
def test_a_count_is_an_integer(count):
    with pytest.raises(TypeError, match="successes must be"):
        proportion_equals(count, 0.5, trials=3, power_against=0.1)


# Intervals


def test_wilson_and_clopper_pearson_give_textbook_values():
    """Newcombe (1998), Table I: 81 of 263 and 15 of 148."""
    for count, total, low, high in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)]:
        found = wilson(count, total)
        assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    exact = clopper_pearson(81, 263)
    assert (round(exact.low, 4), round(exact.high, 4)) == (0.2527, 0.3676)


def test_the_exact_interval_of_no_success_is_the_closed_form():
    found = clopper_pearson(0, 20, confidence=0.9)
    assert (found.estimate, found.low) == (0, 0)
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 20), rel=1e-9)
    assert found.width == found.high


@given(st.integers(1, 200), st.floats(0, 1), st.floats(0.01, 0.99))
def test_intervals_of_a_proportion_are_ordered_and_nested(total, share, confidence):
    count = round(share * total)
    for interval in (wilson, clopper_pearson):
        narrow = interval(count, total, confidence=confidence)
        wide = interval(count, total, confidence=(1 + confidence) / 2)
        assert -1e-12 <= wide.low <= narrow.low <= narrow.high <= wide.high <= 1 + 1e-12
        assert narrow.low - 1e-12 <= narrow.estimate <= narrow.high + 1e-12


def test_clopper_pearson_covers_at_least_as_often_as_it_says():
    """Coverage by enumeration, with no simulation: it is exact, hence conservative."""
    n, confidence = 30, 0.9
    intervals = [clopper_pearson(k, n, confidence=confidence) for k in range(n + 1)]
    for p in np.linspace(0.01, 0.99, 99):
        weights = scipy_stats.binom.pmf(range(n + 1), n, p)
        covered = sum(w for w, i in zip(weights, intervals, strict=True) if i.low <= p <= i.high)
        assert covered >= confidence


def test_student_s_interval_of_his_own_data():
    """Student (1908), additional hours of sleep: mean 1.58, t(9) at 97.5 % is 2.262."""
    hours = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    found = mean_interval(hours)
    assert found.estimate == pytest.approx(1.58)
    half = 2.262157 * hours.std(ddof=1) / math.sqrt(10)
    assert found.high - found.estimate == pytest.approx(half, rel=1e-6)
    assert found.estimate - found.low == pytest.approx(half, rel=1e-6)


def test_mean_interval_and_paired_ratio_cover_as_often_as_they_say():
    draws = rng("coverage")
    runs, confidence, truth = 800, 0.9, 2.5
    hits = np.zeros(2)
    for _ in range(runs):
        base = draws.normal(10, 1, size=40)
        top = truth * base + draws.normal(0, 1, size=40)
        mean = mean_interval(base, confidence)
        ratio = paired_ratio(top, base, confidence)
        hits += [mean.low <= 10 <= mean.high, ratio.low <= truth <= ratio.high]
    assert abs(hits / runs - confidence).max() < 5 * math.sqrt(0.09 / runs)


def test_a_paired_ratio_uses_the_pairing():
    base = rng("pairs").uniform(1, 100, size=50)
    found = paired_ratio(3 * base, base)
    assert found.estimate == pytest.approx(3)
    assert found.width < 1e-12
    assert paired_ratio(3 * base, base[::-1]).width > 0.5


SAMPLE_ERRORS = [
    ([1.0], "at least 2 values"),
    ([], "at least 2 values"),
    ([[1.0, 2.0], [3.0, 4.0]], "one-dimensional"),
    ([1.0, math.nan, math.inf], "2 values that are NaN or infinite"),
]


@pytest.mark.parametrize(("samples", "message"), SAMPLE_ERRORS)
def test_samples_are_finite_and_enough(samples, message):
    for function in (mean_interval, lambda s: paired_ratio(s, s)):
        with pytest.raises(ValueError, match=message):
            function(samples)
    for test in (mean_equals, mean_at_most, mean_at_least):
        with pytest.raises(ValueError, match=message):
            test(samples, 0, power_against=1)
    for test in (mean_above, mean_below):
        with pytest.raises(ValueError, match=message):
            test(samples, 0)


@pytest.mark.parametrize("confidence", [0, 1, -1, 2])
def test_a_confidence_lies_between_0_and_1(confidence):
    x = [1.0, 2.0, 4.0]
    for call in (
        lambda: wilson(1, 2, confidence),
        lambda: clopper_pearson(1, 2, confidence),
        lambda: mean_interval(x, confidence),
        lambda: paired_ratio(x, x, confidence),
        lambda: fit_exponent(x, x, confidence),
        lambda: fit_exponent_replicates(x, [x, x], confidence),
    ):
        with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\)"):
            call()


def test_a_ratio_needs_pairs_and_a_denominator():
    with pytest.raises(ValueError, match="equal shapes"):
        paired_ratio([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="the ratio is undefined"):
        paired_ratio([1.0, 2.0], [-1.0, 1.0])


# Tests of a mean


@pytest.mark.parametrize(
    ("test", "alternative"),
    [(mean_equals, "two-sided"), (mean_at_most, "greater"), (mean_at_least, "less")],
)
def test_p_values_of_a_mean_are_those_of_the_student_test(test, alternative):
    samples = rng("student").normal(0.1, 1, size=30)
    expected = scipy_stats.ttest_1samp(samples, 0, alternative=alternative).pvalue
    assert test(samples, 0, power_against=1).p_value == pytest.approx(expected, rel=1e-9)


def test_demonstrations_are_the_student_test_the_other_way_round():
    samples = rng("student").normal(1, 1, size=30)
    above = scipy_stats.ttest_1samp(samples, 0, alternative="greater").pvalue
    assert mean_above(samples, 0).p_value == pytest.approx(above, rel=1e-9)
    assert mean_below(samples, 0).p_value == pytest.approx(1 - above, rel=1e-9)
    assert mean_above(samples, 0).judgement is Judgement.HOLDS
    assert mean_below(samples, 0).judgement is Judgement.FAILS


def test_samples_that_do_not_vary():
    with pytest.raises(ValueError, match="needs variation; compare exactly instead"):
        mean_equals([2.0, 2.0], 2, power_against=1)
    assert mean_above([2.0, 2.0], 1).judgement is Judgement.HOLDS
    assert mean_above([2.0, 2.0], 2).judgement is Judgement.FAILS
    assert mean_below([2.0, 2.0], 3).judgement is Judgement.HOLDS


@pytest.mark.parametrize("distance", [0, -1])
def test_the_power_of_a_mean_is_stated_against_a_distance(distance):
    with pytest.raises(ValueError, match="power_against must be positive"):
        mean_equals([1.0, 2.0], 1, power_against=distance)


@pytest.mark.parametrize("test", [mean_equals, mean_at_most])
def test_the_stated_power_of_a_mean_is_that_of_simulation(test):
    size, distance, level, runs = 200, 0.25, 1e-2, 600
    samples = rng("mean power").normal(0, 1, size=(runs, size))
    stated = [test(row, 0, power_against=distance, level=level).power for row in samples[:100]]
    rejected = [
        test(row + distance, 0, power_against=distance, level=level).p_value < level
        for row in samples
    ]
    assert abs(np.mean(stated) - np.mean(rejected)) < 5 * math.sqrt(0.25 / runs)


# False alarms


@pytest.mark.parametrize("test", [mean_equals, mean_at_most, mean_at_least])
def test_measured_false_alarms_of_a_mean_stay_below_their_level(test):
    """The claim is true in 1000 runs; rejections exceed the level by at most five deviations."""
    level, runs = 0.02, 1000
    samples = rng("false alarms").normal(5, 2, size=(runs, 30))
    failed = [
        test(row, 5, power_against=10, level=level).judgement is Judgement.FAILS for row in samples
    ]
    assert np.mean(failed) <= level + 5 * math.sqrt(level * (1 - level) / runs)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("p", [0.5, 0.3, 0.01])
def test_false_alarms_of_a_proportion_stay_below_their_level(side, p):
    """By enumeration of all outcomes, with no simulation."""
    level, n = 0.02, 60
    weights = scipy_stats.binom.pmf(range(n + 1), n, p)
    failed = [
        SIDES[side](k, p, trials=n, power_against=0.005, level=level).judgement is Judgement.FAILS
        for k in range(n + 1)
    ]
    assert weights[failed].sum() < level


def test_false_demonstrations_stay_below_their_level():
    level, runs = 0.02, 600
    samples = rng("demonstrations").normal(5, 2, size=(runs, 30))
    bound = level + 5 * math.sqrt(level * (1 - level) / runs)
    for test in (mean_above, mean_below):
        held = [test(row, 5, level=level).judgement is Judgement.HOLDS for row in samples]
        assert np.mean(held) <= bound


def test_a_thousand_leaves_at_the_default_level_stay_below_one_percent():
    leaf = NotRejected(0.5, LEVEL, 0.9)
    assert false_alarm_bound([leaf] * 999) < 0.01
    assert false_alarm_bound([leaf, Close(1, 1, atol=1)]) == LEVEL
    assert false_alarm_bound([NotRejected(0.5, 0.4, 0.9)] * 3) == 1
    assert false_alarm_bound([]) == 0
    trend = ExponentEquals(1, 1, 1, 1, 0.1, confidence=CONFIDENCE)
    assert false_alarm_bound([trend]) == pytest.approx(LEVEL)


# Exponents


def test_an_exact_power_law_is_recovered():
    x = np.array([1.0, 2.0, 5.0, 9.0])
    found = fit_exponent(x, 3 * x**-1.5)
    assert found.slope == pytest.approx(-1.5, abs=1e-12)
    assert found.intercept == pytest.approx(math.log(3), abs=1e-12)
    assert found.low == pytest.approx(-1.5, abs=1e-3)
    assert local_exponents(x, 3 * x**-1.5) == pytest.approx([-1.5] * 3)


def test_the_interval_of_an_exponent_is_the_regression_s():
    x = np.geomspace(1, 100, 12)
    y = x**2 * np.exp(rng("scatter").normal(0, 0.1, size=12))
    found = fit_exponent(x, y, confidence=0.95)
    fit = scipy_stats.linregress(np.log(x), np.log(y))
    half = scipy_stats.t.ppf(0.975, 10) * fit.stderr
    assert (found.low, found.high) == pytest.approx((fit.slope - half, fit.slope + half))


def test_intervals_of_exponents_cover_as_often_as_they_say():
    draws, confidence, runs = rng("exponents"), 0.9, 600
    x = np.geomspace(1, 64, 7)
    hits = np.zeros(2)
    for _ in range(runs):
        y = x**0.5 * np.exp(draws.normal(0, 0.2, size=(8, 7)))
        one, many = fit_exponent(x, y[0], confidence), fit_exponent_replicates(x, y, confidence)
        hits += [fit.low <= 0.5 <= fit.high for fit in (one, many)]
    assert abs(hits / runs - confidence).max() < 5 * math.sqrt(0.09 / runs)


def test_replicates_give_the_mean_of_their_slopes():
    x = np.array([1.0, 10.0, 100.0])
    found = fit_exponent_replicates(x, [x**1, x**2, x**3])
    assert found.slope == pytest.approx(2)
    assert found.low < 1
    assert found.high > 3


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, 2.0], [1.0, 2.0], "at least 3 values"),
        ([1.0, 2.0, 3.0], [1.0, 2.0], "y must end in the shape of x"),
        ([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], "positive x and y"),
        ([1.0, 2.0, 3.0], [1.0, -2.0, 3.0], "positive x and y"),
        ([1.0, 2.0, 3.0], [1.0, math.nan, 3.0], "y holds . values that are NaN or infinite"),
        ([1.0, 2.0, 3.0], [1.0, math.inf, 3.0], "y holds . values that are NaN or infinite"),
        ([2.0, 2.0, 2.0], [1.0, 2.0, 3.0], "x must differ"),
    ],
)
def test_a_power_law_needs_positive_finite_points(x, y, message):
    with pytest.raises(ValueError, match=message):
        fit_exponent(x, y)
    with pytest.raises(ValueError, match=message):
        fit_exponent_replicates(x, [y, y])
    with pytest.raises(ValueError, match=message):
        local_exponents(x, y)


def test_curves_and_replicates_are_told_apart():
    x = [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="one curve"):
        fit_exponent(x, [x, x])
    with pytest.raises(ValueError, match="at least two replicates"):
        fit_exponent_replicates(x, x)
    with pytest.raises(ValueError, match="at least two replicates"):
        fit_exponent_replicates(x, [x])
