"""Distances of mixtures: the listing by hand, the bracket around it, sampling inside."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.total_variation import (
    ProductMixture,
    moment_pair,
    parity_pair,
    tv_exact_mixture,
    tv_mixture_lower,
    tv_mixture_mc,
    tv_mixture_upper,
)
from theorylab.total_variation.distances import (
    difference_table,
    log_probabilities,
    sample_mixture,
)
from theorylab.total_variation.generators import random_mixture, random_split
from theorylab.total_variation.theory import moment_gap, moment_pointwise_gap

HALF = F(1, 2)


def coins(p, n: int) -> ProductMixture:
    return ProductMixture((1,), (((1 - F(p), F(p)),) * n,))


def seeded_pair(seed: int):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, size=int(rng.integers(1, 5))).tolist()
    return random_mixture(rng, 3, sizes), random_mixture(rng, 2, sizes)


def test_known_distances():
    assert tv_exact_mixture(coins(F(1, 3), 1), coins(HALF, 1)) == F(1, 6)
    assert tv_exact_mixture(coins(F(1, 3), 2), coins(HALF, 2)) == F(7, 36)
    assert tv_exact_mixture(coins(0, 3), coins(1, 3)) == 1
    assert tv_exact_mixture(*parity_pair(4)) == 1
    assert tv_exact_mixture(*moment_pair(5)) == F(24, 625)
    assert tv_exact_mixture(ProductMixture((1,), ((),)), ProductMixture((1,), ((),))) == 0


@given(st.integers(0, 2**32))
def test_listing_is_half_the_sum_of_absolute_differences(seed):
    P, Q = seeded_pair(seed)
    points = list(np.ndindex(*P.alphabet_sizes))
    by_hand = [P.probability(x) - Q.probability(x) for x in points]
    numerators, denominator = difference_table(P, Q)
    assert [F(int(value), denominator) for value in numerators] == by_hand
    assert tv_exact_mixture(P, Q) == sum(abs(value) for value in by_hand) / 2
    assert tv_exact_mixture(P, Q) == tv_exact_mixture(Q, P)


@pytest.mark.parametrize("scale", [F(1), F(1, 3)])
@pytest.mark.parametrize("n", range(1, 9))
def test_moment_pairs_have_the_closed_form(n, scale):
    P, Q = moment_pair(n, scale)
    numerators, denominator = difference_table(P, Q)
    assert {F(abs(int(v)), denominator) for v in numerators} == {moment_pointwise_gap(n, scale)}
    assert tv_exact_mixture(P, Q) == moment_gap(n, scale)


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_bracket_contains_the_exact_distance(seed):
    P, Q = seeded_pair(seed)
    exact = tv_exact_mixture(P, Q)
    assert tv_mixture_lower(P, Q, max_points=6) <= exact <= tv_mixture_upper(P, Q) <= 1
    assert tv_mixture_lower(P, Q) == exact


def test_transport_bound_is_exact_for_relabelled_copies_and_single_components():
    P = random_mixture(np.random.default_rng(0), 4, (2, 3, 2))
    assert tv_mixture_upper(P, P.permute((2, 0, 3, 1))) == 0
    assert tv_mixture_upper(coins(F(1, 3), 1), coins(HALF, 1)) == F(1, 6)


def test_transport_bound_stays_above_tiny_distances():
    """A floating-point linear program would report zero here."""
    P = coins(HALF, 3)
    Q = ProductMixture(
        (HALF, HALF), (coins(HALF, 3).rows[0], coins(HALF + F(1, 10**40), 3).rows[0])
    )
    exact = tv_exact_mixture(P, Q)
    assert 0 < exact <= tv_mixture_upper(P, Q) < F(1, 10**39)


def test_transport_bound_uses_the_hellinger_side_too():
    """Many weak coordinates: 1 - prod(1 - d) is near 1, sqrt(1 - BC^2) is not."""
    P, Q = coins(HALF, 400), coins(F(505, 1000), 400)
    assert float(tv_mixture_upper(P, Q)) == pytest.approx(
        np.sqrt(1 - (1 - 1.25e-5) ** 800), rel=1e-2
    )


def test_lower_bound_of_a_chosen_marginal():
    P, Q = moment_pair(4)
    assert tv_mixture_lower(P, Q, coordinates=(0, 1, 2)) == 0
    assert tv_mixture_lower(P, Q, coordinates=(0, 1, 2, 3)) == F(3, 32)


def test_greedy_marginal_starts_with_a_pair_when_single_marginals_agree():
    P, Q = parity_pair(2)
    assert tv_mixture_lower(P, Q, max_points=4) == 1


def test_splits_do_not_change_distances():
    rng = np.random.default_rng(4)
    P, Q = seeded_pair(7)
    assert tv_exact_mixture(random_split(rng, P), Q) == tv_exact_mixture(P, Q)


def test_too_many_points_are_refused_with_the_alternatives():
    with pytest.raises(ValueError, match="tv_mixture_mc"):
        tv_exact_mixture(coins(HALF, 30), coins(HALF, 30))
    with pytest.raises(ValueError, match="16 points, more than max_points=8"):
        tv_exact_mixture(coins(HALF, 4), coins(HALF, 4), max_points=8)
    with pytest.raises(ValueError, match="alphabet sizes"):
        tv_mixture_upper(coins(HALF, 4), coins(HALF, 3))


def test_sampler_draws_the_mixture():
    mixture = random_mixture(np.random.default_rng(1), 3, (2, 3))
    draws = sample_mixture(mixture, 60_000, np.random.default_rng(2))
    for x in np.ndindex(2, 3):
        probability = float(mixture.probability(x))
        frequency = (draws == x).all(axis=1).mean()
        assert (
            abs(frequency - probability)
            < 6 * np.sqrt(probability * (1 - probability) / 60_000) + 1e-12
        )


def test_log_probabilities():
    mixture = random_mixture(np.random.default_rng(3), 3, (2, 3))
    points = np.array(list(np.ndindex(2, 3)))
    exact = [float(mixture.probability(tuple(x))) for x in points]
    np.testing.assert_allclose(np.exp(log_probabilities(mixture, points)), exact, rtol=1e-13)


@pytest.mark.parametrize("seed", range(8))
def test_monte_carlo_intervals_cover(seed):
    P, Q = seeded_pair(seed)
    found = tv_mixture_mc(P, Q, 20_000, np.random.default_rng(seed), confidence=1 - 1e-7)
    exact = float(tv_exact_mixture(P, Q))
    for low, high in (found.hoeffding, found.bernstein):
        assert low <= exact <= high
    assert abs(found.estimate - exact) < 0.03


def test_empirical_bernstein_is_sharper_where_the_variance_is_small():
    found = tv_mixture_mc(coins(HALF, 5), coins(F(51, 100), 5), 20_000, np.random.default_rng(0))
    assert np.ptp(found.bernstein) < np.ptp(found.hoeffding) / 3


@pytest.mark.parametrize(("N", "confidence"), [(1, 0.9), (10, 1.0), (10, 0.0)])
def test_monte_carlo_arguments(N, confidence):
    with pytest.raises(ValueError, match="need N >= 2"):
        tv_mixture_mc(coins(HALF, 1), coins(HALF, 1), N, np.random.default_rng(0), confidence)
