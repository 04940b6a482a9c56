"""Linear estimators: known coefficients, conversions, conditioning, errors."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.missing_mass import (
    Fingerprint,
    Linear,
    chebyshev,
    exact_moments,
    good_turing,
    minimal_bias,
    moments,
    theory,
    uniform,
    with_residue,
    zipf,
)
from theorylab.missing_mass.enumeration import expectation, mass, outcomes
from theorylab.missing_mass.linear import hypergeometric, monic_chebyshev

THREE = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))


def test_good_turing_by_hand() -> None:
    fp = Fingerprint.from_counts([1, 1, 1, 2, 5])
    assert good_turing(10).estimate(fp) == pytest.approx(0.3)
    assert good_turing(10).exact_estimate(fp) == Fraction(3, 10)
    assert good_turing(10, k=1).exact_estimate(fp) == Fraction(2, 10)
    assert good_turing(10, k=4).c == (0, 0, 0, 0, Fraction(1, 2))


def test_minimal_bias_by_hand() -> None:
    assert minimal_bias(4).c == (
        Fraction(1, 4),
        Fraction(-1, 6),
        Fraction(1, 4),
        Fraction(-1),
    )
    assert minimal_bias(4, K=2).c == (Fraction(1, 4), Fraction(-1, 6))
    assert minimal_bias(5, k=2).c == (0, 0, 1, -2, 10)
    assert minimal_bias(7, K=1) == good_turing(7)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_estimators_meet_their_predicted_bias(n: int) -> None:
    exact = exact_moments(THREE, n, n)
    for K in range(1, n + 1):
        assert minimal_bias(n, K).bias(exact) == theory.truncated_bias(THREE, n, K)
    assert chebyshev(n).bias(exact) == theory.chebyshev_bias(THREE, n)
    assert good_turing(n).bias(exact) == theory.good_turing_bias(THREE, n)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_estimators_of_the_mass_seen_k_times(k: int) -> None:
    n = 5
    for estimator, bias in (
        (good_turing(n, k), theory.good_turing_bias(THREE, n, k)),
        (minimal_bias(n, k=k), theory.minimal_bias_bias(THREE, n, k)),
    ):
        exact = exact_moments(THREE, n, n)
        assert estimator.expectation(exact) - theory.expected_mass(THREE, n, k) == bias


def test_chebyshev_coefficients() -> None:
    known = [0.1249962, -0.0355824, 0.0167994, -0.0099483]
    np.testing.assert_allclose(chebyshev(8).coefficients[:4], known, atol=5e-8)
    assert chebyshev(8).c[-1] == Fraction(-1, 2**15)
    assert monic_chebyshev(1) == [Fraction(-1, 2), 1]
    assert monic_chebyshev(2) == [Fraction(1, 8), -1, 1]


@pytest.mark.parametrize("n", [1, 3, 8])
def test_the_monomial_gives_the_minimal_bias_estimator(n: int) -> None:
    assert with_residue(n, [Fraction(0)] * n + [Fraction(1)]) == minimal_bias(n)


@given(st.integers(1, 8), st.data())
def test_the_residue_is_the_bias(n: int, data: st.DataObject) -> None:
    lower = data.draw(st.lists(st.fractions(-3, 3), min_size=n, max_size=n))
    polynomial = [*lower, Fraction(1)]
    bias = with_residue(n, polynomial).bias(exact_moments(THREE, n, n))
    predicted = sum(u * sum(c * u**i for i, c in enumerate(polynomial)) for u in THREE)
    assert bias == -((-1) ** n) * predicted


def test_mean_squared_errors_by_enumeration() -> None:
    n, estimator = 4, Linear([Fraction(1, 3), Fraction(-1, 7), 0, 2], Fraction(1, 11))
    exact = exact_moments(THREE, n, n)

    def error(counts: tuple[int, ...]) -> Fraction:
        fp = Fingerprint.from_counts(counts)
        return estimator.exact_estimate(fp) - mass(THREE, counts)

    assert estimator.mse(exact) == expectation(outcomes(THREE, n), lambda c: error(c) ** 2)
    assert estimator.bias(exact) == expectation(outcomes(THREE, n), error)
    in_floats = estimator.floats().mse(moments(THREE, n, n))
    assert in_floats == pytest.approx(float(estimator.mse(exact)))
    without = moments(THREE, n, n, intercept=False)
    assert estimator.mse(without) == pytest.approx(in_floats)


def test_the_two_mean_squared_errors_differ() -> None:
    exact = exact_moments(THREE, 5, 5)
    estimator = good_turing(5)
    about_mean = estimator.mse_about_mean(exact)
    assert about_mean == estimator.bias(exact) ** 2 + estimator.variance(exact)
    mass_variance = exact.EM2 - exact.EM**2
    covariance = exact.cross[0] / 5 - estimator.expectation(exact) * exact.EM
    assert estimator.mse(exact) == about_mean + mass_variance - 2 * covariance


def test_moving_a_formula_to_another_size() -> None:
    moved = minimal_bias(4, K=2).to_size(4, 10)
    assert moved.c == (Fraction(1, 10), Fraction(-1, 45))
    assert Linear([0.25, 0.5]).to_size(4, 10).c == pytest.approx((0.1, 0.5 * 6 / 45))
    assert moved.to_size(10, 4) == minimal_bias(4, K=2)
    with pytest.raises(ValueError, match="Phi_3"):
        minimal_bias(4, K=3).to_size(4, 2)


@given(st.text("abcd", min_size=2, max_size=8), st.data())
def test_conditioning_averages_over_all_prefixes(sample: str, data: st.DataObject) -> None:
    n = len(sample)
    prefix = data.draw(st.integers(1, n))
    k = data.draw(st.integers(1, prefix))
    formula = Linear([Fraction(0)] * (k - 1) + [Fraction(1)])
    subsets = [Fingerprint.from_sample(s).phi(k) for s in combinations(sample, prefix)]
    conditioned = formula.rao_blackwell(prefix, n)
    expected = Fraction(sum(subsets), len(subsets))
    assert conditioned.exact_estimate(Fingerprint.from_sample(sample)) == expected


def test_conditioning_without_prefix_changes_nothing() -> None:
    assert good_turing(5).rao_blackwell() == good_turing(5)
    assert good_turing(5).rao_blackwell(5, 5).c[:1] == good_turing(5).c
    with pytest.raises(ValueError, match="neither"):
        good_turing(5).rao_blackwell(3)
    with pytest.raises(ValueError, match="prefix=6"):
        good_turing(5).rao_blackwell(6, 5)


def test_hypergeometric_weights_are_a_distribution() -> None:
    assert sum(hypergeometric(4, k, 9, 5) for k in range(5)) == 1
    assert hypergeometric(4, 4, 5, 3) == 0
    assert hypergeometric(1, 1, 9, 5) == Fraction(5, 9)
    assert hypergeometric(2, 2, 9, 5) == Fraction(comb(7, 3), comb(9, 5))


def test_a_single_class_shows_the_raw_value_unclamped() -> None:
    assert minimal_bias(4).estimate(Fingerprint.from_counts([4])) == -1
    assert minimal_bias(5).estimate(Fingerprint.from_counts([5])) == 1


def test_number_types_are_kept_or_refused() -> None:
    floats = Linear([0.5, 1])
    assert not floats.exact
    with pytest.raises(TypeError, match="Fraction"):
        floats.exact_estimate(Fingerprint.from_counts([1]))
    with pytest.raises(TypeError, match="Fraction"):
        floats.mse(exact_moments(THREE, 2, 2))
    assert isinstance(good_turing(3).mse(exact_moments(THREE, 3, 3)), Fraction)
    assert Linear(np.array([1, 2])).exact


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Linear([]), "empty"),
        (lambda: Linear([float("nan")]), "finite"),
        (lambda: Linear([1], float("inf")), "finite"),
        (lambda: good_turing(0), "n must be"),
        (lambda: good_turing(3, 3), "between 0 and n-1=2"),
        (lambda: minimal_bias(3, 4), "K must be"),
        (lambda: minimal_bias(3, 0), "K must be"),
        (lambda: minimal_bias(3, k=-1), "between 0"),
        (lambda: chebyshev(0), "n must be"),
        (lambda: with_residue(0, [Fraction(1)]), "n must be"),
        (lambda: with_residue(2, [Fraction(0), Fraction(1)]), "monic"),
        (lambda: with_residue(1, [Fraction(0), Fraction(2)]), "monic"),
        (lambda: monic_chebyshev(0), "n must be"),
    ],
)
def test_refusals(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_moments_must_cover_the_coefficients() -> None:
    with pytest.raises(ValueError, match="Phi_4"):
        minimal_bias(6, 4).mse(moments(uniform(3), 6, 3))
    padded = Linear([Fraction(1, 6), 0, 0, 0, 0, 0])
    found = moments(zipf(4), 6, 2)
    assert padded.mse(found) == good_turing(6).mse(found)


@pytest.mark.parametrize("rule", [good_turing(4), minimal_bias(4), chebyshev(4)])
def test_the_parts_of_a_risk_add_up_to_it(rule: Linear) -> None:
    mom = exact_moments((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), 4, 4)
    assert rule.risk_parts(mom).mse == rule.mse(mom)
