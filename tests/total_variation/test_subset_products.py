"""Counting subset products with three distances."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import combinations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.total_variation import subset_products_from_tv, tv_product_exact
from theorylab.total_variation.subset_products import coin, excess_from_tv
from theorylab.total_variation.theory_products import count_subset_products


def distance(P, Q) -> F:
    return tv_product_exact(P, Q).value


def brute_force(a, target: int) -> int:
    return sum(
        prod(chosen) == target for size in range(len(a) + 1) for chosen in combinations(a, size)
    )


@given(st.lists(st.integers(1, 7), max_size=5), st.integers(1, 50))
def test_three_distances_count_the_subsets(a: list[int], target: int) -> None:
    count = brute_force(a, target)
    assert subset_products_from_tv(a, target, distance) == count
    assert count_subset_products(a, target) == count


@pytest.mark.parametrize(("target", "count"), [(6, 2), (30, 2), (7, 0), (180, 1)])
def test_the_example_of_the_chapter(target: int, count: int) -> None:
    assert subset_products_from_tv((2, 3, 6, 5), target, distance) == count


@pytest.mark.parametrize(("target", "blurred"), [(6, F(5, 2)), (2, F(2))])
def test_a_step_of_two_blurs_the_count_as_computed_by_hand(target: int, blurred: F) -> None:
    assert subset_products_from_tv((2, 3, 6, 5), target, distance, 2) == blurred


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.fractions(0, 1))
def test_the_excess_is_the_sum_it_should_be(a: list[int], threshold: F) -> None:
    """Both cases, threshold below and above the uniform probability."""
    coins = [F(x, 1 + x) for x in a]
    points = [F(1)]
    for p in coins:
        points = [x * y for x in points for y in (1 - p, p)]
    truth = sum((max(F(0), x - threshold) for x in points), F(0))
    assert excess_from_tv(coins, threshold, distance) == truth


def test_a_coin_is_a_row() -> None:
    assert coin(F(1, 4)) == (F(3, 4), F(1, 4))


@pytest.mark.parametrize(
    ("a", "target", "step", "message"),
    [
        ((2, 0), 3, 1, "positive integers"),
        ((2, 3), 0, 1, "positive integers"),
        ((2, 3), 3, 0, "step must lie in"),
        ((2, 3), 3, 4, "step must lie in"),
    ],
)
def test_bad_input_is_refused(a, target, step, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        subset_products_from_tv(a, target, distance, step)
