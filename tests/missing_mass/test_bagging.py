"""Estimators that are learned from one sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.missing_mass import (
    Fingerprint,
    Linear,
    bag2,
    estimate,
    good_turing,
    moments,
    natural_good_turing,
    optimal,
    shrink,
    shrunken_bag2,
    two_term,
)
from theorylab.missing_mass.bagging import METHODS, shrinkage

counts = st.lists(st.integers(1, 9), min_size=1, max_size=30)
SAMPLE = Fingerprint.from_phi({1: 30, 2: 15, 3: 6, 4: 3, 7: 1})


def test_two_terms_are_the_certified_optimum_of_the_plug_in() -> None:
    mom = moments(natural_good_turing(SAMPLE), SAMPLE.n, 2, intercept=False)
    certified = optimal(mom, 2)
    assert two_term(SAMPLE).coefficients == pytest.approx(certified.c, rel=1e-9)


def test_no_resamples_means_two_terms() -> None:
    assert bag2(SAMPLE, B=0) == two_term(SAMPLE)


def test_bagging_is_reproducible_and_depends_on_the_seed() -> None:
    assert bag2(SAMPLE, seed=3) == bag2(SAMPLE, seed=3)
    assert bag2(SAMPLE, seed=3) != bag2(SAMPLE, seed=4)


def test_bagging_varies_less_with_more_resamples() -> None:
    few = [bag2(SAMPLE, B=5, seed=s).c[1] for s in range(40)]
    many = [bag2(SAMPLE, B=80, seed=s).c[1] for s in range(40)]
    assert np.std(many) < np.std(few) / 2


def test_there_is_no_constant_term() -> None:
    assert bag2(SAMPLE).c0 == 0
    assert len(bag2(SAMPLE).c) == 2


@pytest.mark.parametrize(("name", "value"), [("B", -1), ("seed", -2)])
def test_negative_arguments_are_refused(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must not be negative, got {value}"):
        bag2(SAMPLE, **{name: value})


def test_shrinking_leads_from_good_turing_to_the_formula() -> None:
    formula = Linear((0.02, 0.01), 0.3)
    assert shrink(formula, 50, 1.0) == formula
    nothing = shrink(formula, 50, 0.0)
    assert nothing.estimate(SAMPLE) == pytest.approx(SAMPLE.phi(1) / 50)
    middle = shrink(formula, 50, 0.5).estimate(SAMPLE)
    assert middle == pytest.approx((SAMPLE.phi(1) / 50 + formula.estimate(SAMPLE)) / 2)


def test_the_weight_falls_like_one_over_n() -> None:
    assert shrinkage(300) == pytest.approx(0.375)
    assert shrinkage(10**6) * 10**6 == pytest.approx(225, rel=1e-3)


def test_the_default_is_the_shrunken_one() -> None:
    weight = shrinkage(SAMPLE.n)
    plain = good_turing(SAMPLE.n).estimate(SAMPLE)
    expected = plain + weight * (bag2(SAMPLE).estimate(SAMPLE) - plain)
    assert estimate(SAMPLE) == pytest.approx(expected)
    assert shrunken_bag2(SAMPLE).estimate(SAMPLE) == pytest.approx(expected)


def test_the_default_approaches_good_turing_for_large_samples() -> None:
    fp = Fingerprint.from_phi({1: 3000, 2: 1000, 3: 500, 10: 200, 100: 30})
    assert estimate(fp) == pytest.approx(3000 / fp.n, rel=0.02)


@given(counts, st.sampled_from(sorted(METHODS)))
@settings(max_examples=60, deadline=None)
def test_estimates_are_probabilities(observed: list[int], method: str) -> None:
    assert 0 <= estimate(Fingerprint.from_counts(observed), method) <= 1


def test_order_of_the_data_does_not_matter() -> None:
    sample = list("abracadabra")
    assert bag2(Fingerprint.from_sample(sample)) == bag2(Fingerprint.from_sample(sorted(sample)))


def test_an_unknown_method_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="unknown method 'magic'; choose one of auto, good-turing"):
        estimate(SAMPLE, "magic")
