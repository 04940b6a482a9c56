"""The certified bracket: containment is checked in exact arithmetic, always."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.total_variation import tv_product_bracket, tv_product_exact
from theorylab.total_variation.product_bracket import (
    _Letters,
    merging_pass,
    ratio_grid,
    splitting_pass,
)
from theorylab.total_variation.product_instances import (
    near_coins,
    random_pair,
    rare_coins,
    shifted_fair_coins,
)
from theorylab.total_variation.product_pairs import exact_pair
from theorylab.total_variation.theory_products import identical_coins_tv

from .test_products import pairs


def contained(bracket, truth: F) -> bool:
    return F(bracket.lower) <= truth <= F(bracket.upper)


@given(pairs(), st.sampled_from([1, 2, 3, 7, 40]))
@settings(max_examples=300)
def test_it_contains_the_exact_distance(pair, cells: int) -> None:
    assert contained(tv_product_bracket(*pair, cells=cells), tv_product_exact(*pair).value)


@pytest.mark.parametrize("power", [0, 3, 10, 16, 40, 250])
def test_containment_and_relative_width_do_not_depend_on_how_small_the_distance_is(
    power: int,
) -> None:
    rng = np.random.default_rng(power)
    for _ in range(20):
        P, Q = random_pair(rng, 6, nearness=F(1, 10**power))
        found = tv_product_bracket(P, Q, cells=400)
        assert contained(found, tv_product_exact(P, Q).value)
        assert found.relative_width < 1e-3
        assert found.rounding < 1e-12 * found.upper


def test_distances_below_the_range_of_doubles_are_still_bracketed() -> None:
    tiny = F(1, 10**320)
    P, Q = [(F(1, 2), F(1, 2))] * 3, [(F(1, 2) - tiny, F(1, 2) + tiny)] * 3
    found = tv_product_bracket(P, Q, cells=10)
    assert contained(found, tv_product_exact(P, Q).value)
    assert found.upper < 1e-300


def test_extreme_ratios_are_cut_safely() -> None:
    tiny = F(1, 10**350)
    P = [(tiny, 1 - tiny), (F(1, 3), F(2, 3)), (F(0), F(1))]
    Q = [(F(1, 2), F(1, 2)), (F(2, 3), F(1, 3)), (F(1, 7), F(6, 7))]
    for pair in ((P, Q), (Q, P)):
        assert contained(tv_product_bracket(*pair, cells=50), tv_product_exact(*pair).value)


@pytest.mark.parametrize("n", [200, 1000])
def test_it_contains_the_binomial_sum(n: int) -> None:
    truth = identical_coins_tv(n, F(1, 2), F(53, 100))
    found = tv_product_bracket(*shifted_fair_coins(n, F(3, 100)), cells=1000)
    assert contained(found, truth)
    assert found.lower == pytest.approx(float(truth), rel=1e-9)
    assert found.relative_width < 2e-3


def letters_and_grid(P, Q, cells: int):
    pair = exact_pair(P, Q)
    return _Letters.of(pair), ratio_grid(0.1 * float(max(pair.marginal_distances)), cells)


def test_the_rounding_margin_is_needed_and_suffices() -> None:
    """On a fine grid nothing is merged: the lower pass is off by rounding alone."""
    above = 0
    for seed in range(60):
        P, Q = random_pair(np.random.default_rng(seed), 5, nearness=F(1, 10 ** (seed % 12)))
        truth = tv_product_exact(P, Q).value
        low, margin = merging_pass(*letters_and_grid(P, Q, 20_000))
        if abs(F(low) - truth) > F(margin):
            assert F(low) < truth, "only merging may explain what the margin does not cover"
        above += F(low) > truth
    assert above > 5


def test_the_passes_are_ordered_like_the_grids() -> None:
    """On a fine grid both passes close in on the distance from their own side."""
    P, Q = near_coins(np.random.default_rng(3), 12)
    truth = float(tv_product_exact(P, Q).value)
    lows, highs = [], []
    for cells in (10, 40, 160, 640):
        letters, grid = letters_and_grid(P, Q, cells)
        lows.append(merging_pass(letters, grid)[0])
        highs.append(splitting_pass(letters, grid)[0])
    assert max(lows) <= truth * (1 + 1e-12) <= min(highs) * (1 + 2e-12)
    assert highs == sorted(highs, reverse=True)
    assert highs[-1] - truth < 0.01 * (highs[0] - truth)


def test_the_grid_holds_ratio_zero_and_one_and_rises() -> None:
    grid = ratio_grid(1e-3, 50)
    assert grid[0] == -1.0
    assert 0.0 in grid
    assert (np.diff(grid) > 0).all()


def test_doubles_are_certified_as_the_dyadic_numbers_they_are() -> None:
    P, Q = [[0.1, 0.9], [0.3, 0.7]], [[0.2, 0.8], [0.3, 0.7]]
    exact = tv_product_exact([(F(0.1), 1 - F(0.1))], [(F(0.2), 1 - F(0.2))]).value
    assert contained(tv_product_bracket(P, Q, cells=50), exact)


def test_equal_laws_are_at_distance_exactly_zero() -> None:
    P = [(F(1, 3), F(2, 3))] * 4
    found = tv_product_bracket(P, P)
    assert (found.lower, found.upper, found.relative_width) == (0.0, 0.0, 0.0)
    assert tv_product_bracket([], []).upper == 0.0


def test_disjoint_supports_are_at_distance_one() -> None:
    found = tv_product_bracket([(1, 0)], [(0, 1)], cells=5)
    assert found.lower > 1 - 1e-12
    assert found.upper == 1.0


@pytest.mark.parametrize("rtol", [0.1, 0.01, 1e-3])
def test_refinement_reaches_the_tolerance(rtol: float) -> None:
    P, Q = near_coins(np.random.default_rng(0), 100)
    assert tv_product_bracket(P, Q, rtol=rtol).relative_width <= rtol


def test_one_percent_is_the_default() -> None:
    P, Q = near_coins(np.random.default_rng(1), 30)
    assert tv_product_bracket(P, Q).relative_width <= 0.01


def test_rare_events_are_no_harder() -> None:
    found = tv_product_bracket(*rare_coins(200, F(1, 10**12)), cells=500)
    assert found.relative_width < 1e-6


def test_wrong_options_are_refused() -> None:
    P, Q = near_coins(np.random.default_rng(2), 10)
    with pytest.raises(ValueError, match="rtol or cells, not both"):
        tv_product_bracket(P, Q, rtol=0.1, cells=10)
    with pytest.raises(ValueError, match="cells must be at least 1, got 0"):
        tv_product_bracket(P, Q, cells=0)
    for rtol in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="rtol must be positive"):
            tv_product_bracket(P, Q, rtol=rtol)
    with pytest.raises(ValueError, match="out of reach"):
        tv_product_bracket(P, Q, rtol=1e-14)
