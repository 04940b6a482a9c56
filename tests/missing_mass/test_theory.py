"""Predictions against hand-computed values, limits and slow references."""

from __future__ import annotations

from fractions import Fraction
from math import e, exp, log, log10

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.missing_mass import (
    IdentityResult,
    Population,
    good_turing,
    half,
    identity,
    log10_bias,
    moments,
    theory,
    uniform,
    zipf,
)
from theorylab.missing_mass.enumeration import GeneratingFunctions

THREE = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))


@st.composite
def distributions(draw: st.DrawFn, most: int = 6) -> tuple[Fraction, ...]:
    weights = draw(st.lists(st.integers(1, 40), min_size=1, max_size=most))
    return tuple(Fraction(w, sum(weights)) for w in weights)


def test_the_worked_example() -> None:
    result = identity(THREE, 4)
    assert result.terms == tuple(Fraction(x, 648) for x in (167, -85, 59, -49))
    assert result.remainder == Fraction(23, 648)
    assert result.total == Fraction(115, 648)
    assert result.observable == Fraction(92, 648)
    f = [theory.expected_frequency(THREE, 4, k) for k in range(1, 5)]
    assert f == [Fraction(167, 162), Fraction(85, 108), Fraction(59, 162), Fraction(49, 648)]


@given(distributions(), st.integers(1, 12), st.data())
def test_the_identity_holds_for_every_order(
    p: tuple[Fraction, ...], n: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, n))
    result = identity(p, n, k)
    assert result.total == GeneratingFunctions(p, n).expected_mass(k)
    assert result.total == Fraction(k + 1, n + 1) * theory.expected_frequency(p, n + 1, k + 1)


@given(distributions(), st.integers(1, 12))
def test_expected_masses_add_up_to_one(p: tuple[Fraction, ...], n: int) -> None:
    assert sum(theory.expected_mass(p, n, k) for k in range(n + 1)) == 1


@given(distributions(), st.integers(1, 10), st.data())
def test_scaled_frequencies_obey_the_recurrence(
    p: tuple[Fraction, ...], n: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, n))
    g = theory.scaled_frequency
    assert g(p, n, k) == g(p, n + 1, k) + g(p, n + 1, k + 1)


@given(distributions(), st.integers(2, 10))
def test_bias_of_good_turing_in_its_two_forms(p: tuple[Fraction, ...], n: int) -> None:
    for k in range(n):
        frequency = theory.expected_frequency(p, n, k + 1)
        second = theory.scaled_frequency(p, n + 1, k + 2)
        combined = -Fraction(k * (k + 1), n * (n - k)) * frequency + (
            theory.expected_frequency(p, n, k) / theory.scaled_frequency(p, n, k) * second
            if theory.scaled_frequency(p, n, k)
            else 0
        )
        if theory.scaled_frequency(p, n, k):
            assert theory.good_turing_bias(p, n, k) == combined
    assert theory.good_turing_bias(p, n) == theory.scaled_frequency(p, n + 1, 2)


def test_exactness_is_kept_given_up_and_refused_on_request() -> None:
    assert isinstance(identity(THREE, 4).total, Fraction)
    in_floats = identity(THREE, 4, exact=False)
    assert isinstance(in_floats.remainder, float)
    assert in_floats.total == pytest.approx(115 / 648)
    assert isinstance(identity([0.5, 0.5], 4).remainder, float)
    with pytest.raises(TypeError, match="Fractions"):
        identity([0.5, 0.5], 4, exact=True)


@pytest.mark.parametrize(("n", "k"), [(0, 0), (3, -1), (3, 4)])
def test_sizes_out_of_range_are_refused(n: int, k: int) -> None:
    for call in (
        identity,
        theory.expected_mass,
        theory.remainder,
        theory.good_turing_bias,
        log10_bias,
        theory.scaled_frequency,
        theory.truncated_bias,
    ):
        with pytest.raises(ValueError, match="must be"):
            call(THREE, n, k)


def test_one_certain_class() -> None:
    result = identity([Fraction(1)], 3)
    assert result == IdentityResult((Fraction(0), Fraction(0), Fraction(1)), Fraction(-1))
    assert result.total == 0


def test_the_bias_of_the_skewed_example() -> None:
    p = (Fraction(9, 10), Fraction(1, 10))
    assert float(theory.good_turing_bias(p, 10)) == pytest.approx(0.00387, abs=5e-6)
    assert float(theory.minimal_bias_bias(p, 10)) == pytest.approx(-0.3138, abs=5e-5)


@given(distributions(), st.integers(1, 15), st.data())
def test_truncation_interpolates(p: tuple[Fraction, ...], n: int, data: st.DataObject) -> None:
    K = data.draw(st.integers(1, n))
    bias = theory.truncated_bias(p, n, K)
    assert abs(bias) <= theory.truncated_bias_bound(n, K)
    assert theory.truncated_bias(p, n, 1) == theory.good_turing_bias(p, n)
    assert theory.truncated_bias(p, n, n) == theory.minimal_bias_bias(p, n)


def test_truncation_bound_at_known_places() -> None:
    assert theory.truncated_bias_bound(8, 4) == Fraction(1, 2**8)
    assert theory.truncated_bias_bound(8, 8) == 1
    assert float(theory.truncated_bias_bound(1000, 1)) == pytest.approx(1 / (1000 * e), rel=1e-3)


def test_chebyshev_bias_is_extremal_at_the_end_of_the_interval() -> None:
    for n in (1, 2, 5, 9):
        assert abs(theory.chebyshev_bias([Fraction(1)], n)) == theory.chebyshev_bias_bound(n)
        assert theory.bias_lower_bound(n) < theory.chebyshev_bias_bound(n)
    assert theory.bias_lower_bound(1) == Fraction(1, 16)


def test_where_unbiased_estimation_is_impossible() -> None:
    table = {(1, 1): False, (2, 1): True, (2, 2): False, (2, 3): True, (3, 2): True, (9, 4): True}
    assert {size: theory.no_unbiased_estimator(*size) for size in table} == table
    with pytest.raises(ValueError, match="classes >= 1"):
        theory.no_unbiased_estimator(0, 1)


def test_remainder_exponent() -> None:
    assert theory.remainder_exponent(Fraction(1, 1000)) == pytest.approx(-3 * log(10))
    assert theory.remainder_exponent(0.5, 0.5) == pytest.approx(0)
    assert theory.remainder_exponent(0.9, 0.5) > 0
    with pytest.raises(ValueError, match="fraction"):
        theory.remainder_exponent(0.5, 1.5)


PUBLISHED = [
    ("uniform", 500, -3.2168, -1500.0),
    ("uniform", 5000, -5.1721, -15000.0),
    ("half", 500, -3.2011, -1412.079),
    ("half", 5000, -4.9634, -14119.67),
]


@pytest.mark.parametrize(("name", "n", "good", "minimal"), PUBLISHED)
def test_published_bias_curves(name: str, n: int, good: float, minimal: float) -> None:
    population = {"uniform": uniform, "half": half}[name](1000)
    assert log10_bias(population, n) == pytest.approx(good, abs=5e-5)
    assert log10_bias(population, n, estimator="minimal_bias") == pytest.approx(minimal, abs=5e-3)


def test_the_last_point_of_the_published_curve_over_k_is_wrong() -> None:
    right = log10_bias(uniform(1000), 2000, 2000)
    assert right == pytest.approx(-6000.0, abs=5e-3)
    assert right == pytest.approx(log10_bias(uniform(1000), 2000, 2000, "minimal_bias"))
    assert abs(right - -6002.9996) > 2


@given(distributions(), st.integers(1, 14), st.data())
def test_logarithms_of_biases_are_those_of_the_biases(
    p: tuple[Fraction, ...], n: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, n))
    for name, bias in (
        ("good_turing", theory.good_turing_bias(p, n, k)),
        ("minimal_bias", theory.minimal_bias_bias(p, n, k)),
    ):
        logarithm = log10_bias(p, n, k, name)
        if bias == 0:
            assert logarithm == -np.inf
        else:
            exact = log10(abs(bias.numerator)) - log10(bias.denominator)
            assert logarithm == pytest.approx(exact, abs=1e-8)


def test_nearly_cancelling_biases_keep_their_digits() -> None:
    n, k = 40, 3
    u = Fraction(k, n)
    share = Fraction(1, 10**9)
    p = (u + share, u - share, 1 - 2 * u)
    bias = theory.good_turing_bias(p, n, k)
    with mpmath.workdps(30):
        exact = float(mpmath.log10(abs(mpmath.mpf(bias.numerator) / bias.denominator)))
    assert log10_bias(p, n, k) == pytest.approx(exact, abs=1e-9)


def test_a_bias_of_exactly_zero_has_logarithm_minus_infinity() -> None:
    assert log10_bias([Fraction(1, 2), Fraction(1, 2)], 4, 2) == -np.inf


def test_unknown_estimator() -> None:
    with pytest.raises(ValueError, match="'minimal_bias', got 'magic'"):
        log10_bias(uniform(3), 4, estimator="magic")


def test_worst_case_risk_in_closed_form() -> None:
    y, load = theory.worst_case_load()
    assert y == pytest.approx(0.426303, abs=5e-7)
    assert load == pytest.approx(0.852606, abs=5e-7)
    assert 2 * y * exp(2 * y) == pytest.approx(2)
    assert theory.worst_case_risk() == pytest.approx(0.6080368, abs=5e-8)
    assert theory.good_turing_limit(y) == pytest.approx(theory.worst_case_risk(), abs=1e-14)
    grid = np.linspace(0.001, 0.999, 999)
    assert max(theory.good_turing_limit(float(x)) for x in grid) <= theory.worst_case_risk()
    low, high = theory.certified_worst_case_risk()
    assert low < theory.worst_case_risk() < high < low + 1e-6
    with pytest.raises(ValueError, match=r"\(0, 1\)"):
        theory.good_turing_limit(1.0)


@pytest.mark.parametrize(
    ("n", "risk", "classes"),
    [(10, 0.65238, 11), (20, 0.62929, None), (50, 0.61627, None), (100, 0.61212, 117)],
)
def test_worst_uniform_at_finite_n(n: int, risk: float, classes: int | None) -> None:
    found, size = theory.worst_uniform(n, range(1, 2 * n))
    assert float(found) == pytest.approx(risk, abs=5e-6)
    assert classes in (None, size)


def test_the_uniform_error_in_closed_form_is_that_of_the_moments() -> None:
    for n, classes in ((1, 3), (5, 1), (7, 4), (100, 100)):
        closed = float(theory.uniform_good_turing_mse(n, classes))
        found = good_turing(n).mse(moments(uniform(classes), n, 1))
        assert found == pytest.approx(closed, rel=1e-10, abs=1e-14)
    with pytest.raises(ValueError, match="classes"):
        theory.uniform_good_turing_mse(3, 0)


def test_the_uniform_floor() -> None:
    found = theory.uniform_floor([0.5, 1.0, 2.0, 3.82])
    np.testing.assert_allclose(found, [0.9605, 0.9265, 0.8788, 0.8516], atol=5e-5)
    assert theory.uniform_floor(1e-3) == pytest.approx(1, abs=1e-3)
    with pytest.raises(ValueError, match="positive"):
        theory.uniform_floor([1.0, 0.0])


def test_frozen_error_at_its_ends() -> None:
    parts = theory.RiskParts(Fraction(1, 5), Fraction(1, 7), Fraction(-1, 11), Fraction(1, 13))
    assert theory.frozen_mse(parts, 1) == parts.mse
    constant = parts.variance + parts.mass_variance + parts.bias**2
    assert theory.frozen_mse(parts, 0) == constant
    assert theory.frozen_mse(parts, Fraction(1, 2)) == (
        parts.variance / 2 + parts.mass_variance - parts.covariance + parts.bias**2
    )


def test_biases_of_large_populations_stay_finite() -> None:
    assert np.isfinite(log10_bias(zipf(500), 10_000, 3))
    assert np.isfinite(log10_bias(Population([1.0]), 10, 0, "minimal_bias"))
