"""The coupling sampler: its law by enumeration, its guarantee, its limits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from math import ceil, log, prod

import numpy as np
import pytest
from scipy import stats

from theorylab.total_variation import tv_product_exact, tv_product_fpras
from theorylab.total_variation.product_instances import (
    near_coins,
    random_pair,
    rare_coins,
    uneven_coins,
)
from theorylab.total_variation.product_pairs import exact_pair
from theorylab.total_variation.product_sampling import (
    CouplingDraws,
    CouplingSampler,
    plain_monte_carlo,
)

P3 = [(F(1, 2), F(1, 3), F(1, 6)), (F(1, 4), F(3, 4)), (F(2, 5), F(3, 5))]
Q3 = [(F(1, 6), F(1, 2), F(1, 3)), (F(1, 4), F(3, 4)), (F(3, 5), F(2, 5))]


def coupling_law(P, Q) -> dict[tuple[int, ...], F]:
    r"""P(X = x, X ≠ Y) by the definition: P(x) minus the overlap prod min(p, q)."""
    law = {}
    for x in product(*(range(len(row)) for row in P)):
        p = prod((row[a] for row, a in zip(P, x, strict=True)), start=F(1))
        overlap = prod((min(r[a], s[a]) for r, s, a in zip(P, Q, x, strict=True)), start=F(1))
        law[x] = p - overlap
    return law


def test_the_sampler_follows_the_coupling_given_a_difference() -> None:
    """Chi-square of the log-ratios, which identify the points of positive probability here."""
    sampler = CouplingSampler.of(exact_pair(P3, Q3).floats)
    law = coupling_law(P3, Q3)
    assert sampler.difference_probability == pytest.approx(float(sum(law.values())), rel=1e-14)
    draws = sampler.draw(200_000, np.random.default_rng(5))
    expected: dict[tuple[float, float], float] = {}
    for x, weight in law.items():
        logs = [log(s[a] / r[a]) for r, s, a in zip(P3, Q3, x, strict=True)]
        key = (round(sum(logs), 9), round(sum(min(0.0, v) for v in logs), 9))
        expected[key] = expected.get(key, 0.0) + float(weight / sum(law.values()))
    expected = {key: share for key, share in expected.items() if share > 0}
    keys = list(zip(draws.log_ratio.round(9), draws.log_overlap.round(9), strict=True))
    counts = np.array([keys.count(key) for key in expected])
    assert counts.sum() == len(keys)
    shares = np.array(list(expected.values()))
    assert stats.chisquare(counts, shares * len(keys)).pvalue > 1e-4


def test_the_identity_behind_the_estimate_holds_exactly() -> None:
    """sum over x of P(X = x, X ≠ Y) f(x) is the distance, in fractions."""
    total = F(0)
    for x, weight in coupling_law(P3, Q3).items():
        p = prod((row[a] for row, a in zip(P3, x, strict=True)), start=F(1))
        q = prod((row[a] for row, a in zip(Q3, x, strict=True)), start=F(1))
        if weight:
            total += weight * (1 - min(F(1), q / p)) / (weight / p)
    assert total == tv_product_exact(P3, Q3).value


def test_first_index_and_laws_are_normalised() -> None:
    sampler = CouplingSampler.of(exact_pair(P3, Q3).floats)
    assert sampler.first_index.sum() == pytest.approx(1.0, rel=1e-14)
    assert sampler.first_index[1] == 0.0
    assert sampler.before[:, -1] == pytest.approx([1.0, 1.0, 1.0], rel=1e-14)


def test_values_lie_between_zero_and_one() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        P, Q = random_pair(rng, 6)
        fractions = CouplingSampler.of(exact_pair(P, Q).floats).draw(500, rng).fractions()
        assert (fractions >= 0).all()
        assert (fractions <= 1 + 1e-12).all()


@pytest.mark.parametrize("nearness", [F(1), F(1, 10**6), F(1, 10**13)])
def test_estimates_are_close_whatever_the_size_of_the_distance(nearness: F) -> None:
    """Failure probability 1e-6 per estimate."""
    rng = np.random.default_rng(11)
    for _ in range(8):
        P, Q = random_pair(rng, 7, nearness=nearness)
        truth = float(tv_product_exact(P, Q).value)
        found = tv_product_fpras(P, Q, 0.1, 1e-6, rng)
        assert abs(found.value - truth) <= 0.1 * truth


def test_the_number_of_draws_is_the_stated_one() -> None:
    P, Q = uneven_coins()
    rng = np.random.default_rng(0)
    sampler = CouplingSampler.of(exact_pair(P, Q).floats)
    at_least = 0.1
    found = tv_product_fpras(P, Q, 0.2, 0.01, rng, at_least=at_least)
    share = at_least / sampler.difference_probability
    assert found.draws == ceil(3 * log(2 / 0.01) / (0.2**2 * share))
    assert found.draws < tv_product_fpras(P, Q, 0.1, 0.01, rng, at_least=at_least).draws


def test_no_draw_is_needed_for_equal_laws() -> None:
    P = [(F(1, 3), F(2, 3))] * 3
    found = tv_product_fpras(P, P, 0.1, 0.1, np.random.default_rng(0))
    assert (found.value, found.draws) == (0.0, 0)


def test_the_same_generator_gives_the_same_estimate() -> None:
    P, Q = near_coins(np.random.default_rng(0), 30)
    values = [tv_product_fpras(P, Q, 0.5, 0.5, np.random.default_rng(4)).value for _ in range(2)]
    assert values[0] == values[1]


def test_a_certain_difference_stops_the_coupling_there() -> None:
    P, Q = [(1, 0), (F(1, 2), F(1, 2))], [(0, 1), (F(1, 4), F(3, 4))]
    sampler = CouplingSampler.of(exact_pair(P, Q).floats)
    assert sampler.first_index.tolist() == [1.0, 0.0]
    assert tv_product_fpras(P, Q, 0.5, 0.5, np.random.default_rng(0)).value == 1.0


def test_the_uneven_coins_tell_right_from_wrong() -> None:
    """Biases of the two broken samplers of the chapter: about -62 % and -49 %."""
    P, Q = uneven_coins()
    truth = float(tv_product_exact(P, Q).value)
    rng = np.random.default_rng(2)
    sampler = CouplingSampler.of(exact_pair(P, Q).floats)
    n = len(P)
    uniform = replace(sampler, first_index=np.full(n, 1.0 / n))
    assert sampler.estimate(50_000, rng) / truth == pytest.approx(1.0, abs=0.02)
    assert uniform.estimate(50_000, rng) / truth < 0.5
    assert sampler.estimate(50_000, rng, CouplingDraws.deficits) / truth < 0.6


def test_plain_sampling_works_for_common_events_and_sees_nothing_of_rare_ones() -> None:
    rng = np.random.default_rng(1)
    P, Q = near_coins(rng, 12, spread=0.5)
    truth = float(tv_product_exact(P, Q).value)
    assert plain_monte_carlo(P, Q, 100_000, rng) == pytest.approx(truth, rel=0.05)
    assert plain_monte_carlo(*rare_coins(50, F(1, 10**10)), 10_000, rng) == 0.0


@pytest.mark.parametrize(
    ("eps", "delta", "at_least", "message"),
    [
        (0.0, 0.1, None, r"eps must lie in \(0, 1\]"),
        (1.5, 0.1, None, r"eps must lie in \(0, 1\]"),
        (float("nan"), 0.1, None, "eps"),
        (0.1, 0.0, None, r"delta must lie in \(0, 1\)"),
        (0.1, 1.0, None, r"delta must lie in \(0, 1\)"),
        (0.1, 0.1, 0.0, "at_least must lie in"),
        (0.1, 0.1, 2.0, "at_least must lie in"),
    ],
)
def test_parameters_out_of_range_are_refused(eps, delta, at_least, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tv_product_fpras(P3, Q3, eps, delta, np.random.default_rng(0), at_least=at_least)


def test_plain_sampling_needs_draws() -> None:
    with pytest.raises(ValueError, match="draws must be at least 1"):
        plain_monte_carlo(P3, Q3, 0, np.random.default_rng(0))
