"""Bounds: against exact distances, and against high-precision evaluations of the textbook forms."""

from __future__ import annotations

from fractions import Fraction as F
from math import inf, isinf, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given

from theorylab.total_variation import tv_product_bounds, tv_product_exact
from theorylab.total_variation.product_bounds import (
    hellinger_gap,
    kl_divergence,
    symmetric_shifts,
)
from theorylab.total_variation.product_instances import random_pair, shifted_fair_coins
from theorylab.total_variation.product_pairs import exact_pair
from theorylab.total_variation.theory_products import (
    EUCLIDEAN_CEILING,
    EUCLIDEAN_CONSTANT,
    fourier_lower_bound,
)

from .test_products import pairs


@given(pairs())
def test_every_bound_holds(pair) -> None:
    truth = float(tv_product_exact(*pair).value)
    found = tv_product_bounds(*pair)
    for value in found.lower_bounds.values():
        assert value <= truth * (1 + 1e-12)
    for value in found.upper_bounds.values():
        assert value >= truth * (1 - 1e-12)
    assert found.lower == max(found.lower_bounds.values())
    assert found.upper <= 1.0


def to_mpf(x: F) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize("power", [0, 1, 3, 6, 9, 12, 60])
def test_affinity_and_divergence_lose_no_digits(power: int) -> None:
    """The textbook forms at 200 digits are the reference."""
    rng = np.random.default_rng(power)
    for _ in range(10):
        P, Q = random_pair(rng, 6, nearness=F(1, 10**power))
        Q = [
            tuple((x + y) / 2 for x, y in zip(*rows, strict=True))
            for rows in zip(P, Q, strict=True)
        ]
        with mpmath.workdps(250):
            affinity, divergence = mpmath.mpf(1), mpmath.mpf(0)
            for p_row, q_row in zip(P, Q, strict=True):
                affinity *= sum(
                    mpmath.sqrt(to_mpf(p) * to_mpf(q)) for p, q in zip(p_row, q_row, strict=True)
                )
                divergence += sum(
                    to_mpf(p) * mpmath.log(to_mpf(p / q))
                    for p, q in zip(p_row, q_row, strict=True)
                    if p
                )
            tables = exact_pair(P, Q).floats
            assert hellinger_gap(tables) == pytest.approx(float(1 - affinity), rel=1e-13)
            assert kl_divergence(tables) == pytest.approx(float(divergence), rel=1e-13)


def test_a_letter_that_only_p_has_makes_the_divergence_infinite() -> None:
    found = tv_product_bounds([(F(1, 2), F(1, 2))], [(1, 0)])
    assert isinf(found.pinsker)
    assert found.bretagnolle_huber == 1.0
    assert found.upper == pytest.approx(0.5)


def test_a_letter_that_only_q_has_does_not() -> None:
    found = tv_product_bounds([(1, 0)], [(F(1, 2), F(1, 2))])
    assert found.pinsker == pytest.approx(sqrt(np.log(2) / 2))


def test_hellinger_by_hand() -> None:
    """1/2 against (1/4, 3/4), twice."""
    found = tv_product_bounds([(F(1, 2), F(1, 2))] * 2, [(F(1, 4), F(3, 4))] * 2)
    affinity = ((1 + sqrt(3)) / sqrt(8)) ** 2
    assert found.hellinger_lower == pytest.approx(1 - affinity, rel=1e-14)
    assert found.hellinger_upper == pytest.approx(sqrt(1 - affinity**2), rel=1e-14)
    assert found.coupling == pytest.approx(7 / 16, rel=1e-15)
    assert found.sum_of_marginals == 0.5
    assert found.largest_marginal == 0.25


def test_equal_laws_have_all_bounds_zero() -> None:
    found = tv_product_bounds([(F(1, 3), F(2, 3))] * 2, [(F(1, 3), F(2, 3))] * 2)
    assert set(found.lower_bounds.values()) | set(found.upper_bounds.values()) == {0.0}
    assert tv_product_bounds([], []).upper == 0.0


def test_disjoint_supports_give_one() -> None:
    found = tv_product_bounds([(1, 0)] * 2, [(1, 0), (0, 1)])
    assert found.lower == found.upper == 1.0


def test_the_fourier_bound_is_sharp_for_one_coin_around_one_half() -> None:
    shift = np.array([0.3])
    assert fourier_lower_bound(shift, np.array([1e8])) == pytest.approx(0.3, rel=1e-9)


def test_the_fourier_bound_is_the_sine_of_the_definition() -> None:
    """Im prod (cos t + i a sin t) with tan t = kappa a, evaluated directly."""
    shifts, scale = np.array([0.2, 0.5, 0.35]), 1.3
    t = np.arctan(scale / np.linalg.norm(shifts) * shifts)
    direct = np.prod(np.cos(t) + 1j * shifts * np.sin(t)).imag
    assert fourier_lower_bound(shifts, np.array([scale])) == pytest.approx(direct, rel=1e-14)


def test_the_degraded_coins_keep_at_least_half_of_every_shift() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        tables = exact_pair(*random_pair(rng, 5)).floats
        shifts = symmetric_shifts(tables)
        assert (shifts >= tables.distances / 2 * (1 - 1e-15)).all()
        assert (shifts <= tables.distances * (1 + 1e-15)).all()
        assert (shifts <= 1 + 1e-15).all()


@pytest.mark.parametrize("n", [1, 4, 25, 400])
def test_the_euclidean_constant_lies_between_its_proof_and_its_ceiling(n: int) -> None:
    P, Q = shifted_fair_coins(n, F(1, round(2 * sqrt(n))))
    norm = 0.5
    share = float(tv_product_exact(P, Q).value) / norm
    assert EUCLIDEAN_CONSTANT < EUCLIDEAN_CEILING < 0.6827
    assert share > EUCLIDEAN_CONSTANT


def test_the_ceiling_is_approached_by_coins_shifted_by_one_over_root_n() -> None:
    """The value 0.68297 of the dossier at n = 900."""
    P, Q = shifted_fair_coins(900, F(1, 30))
    assert float(tv_product_exact(P, Q).value) == pytest.approx(0.68297, abs=5e-6)
    assert pytest.approx(0.682689, abs=1e-6) == EUCLIDEAN_CEILING


def test_two_opposite_coins_defeat_the_constant_one() -> None:
    quarter = F(1, 4)
    P = [(F(1, 2), F(1, 2))] * 2
    Q = [(F(1, 2) - quarter, F(1, 2) + quarter), (F(1, 2) + quarter, F(1, 2) - quarter)]
    assert float(tv_product_exact(P, Q).value) < quarter * sqrt(2)


def test_infinite_bounds_do_not_spoil_the_best_one() -> None:
    found = tv_product_bounds([(F(1, 2), F(1, 2)), (F(1, 2), F(1, 2))], [(1, 0), (0, 1)])
    assert found.upper_bounds["pinsker"] == inf
    assert found.upper == pytest.approx(0.75)
