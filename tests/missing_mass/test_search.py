"""Formulas on prefixes, and the genetic search over them."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from theorylab.missing_mass import (
    Fingerprint,
    Formula,
    Population,
    PrefixMoments,
    ga,
    good_turing,
    moments,
    natural_good_turing,
    optimal,
)
from theorylab.missing_mass.enumeration import sequences
from theorylab.missing_mass.exact_prefixes import exact_prefix_mass_moment, exact_prefix_moment
from theorylab.missing_mass.theory import expected_frequency

P = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
SAMPLE = Fingerprint.from_phi({1: 20, 2: 9, 3: 4, 5: 2})


def test_prefix_moments_are_the_exact_ones() -> None:
    population, n = Population(P), 6
    found = PrefixMoments(population, n)
    for n1, k1, n2, k2 in [(6, 1, 6, 1), (6, 2, 4, 1), (3, 1, 6, 3), (5, 2, 5, 1), (4, 4, 2, 2)]:
        exact = exact_prefix_moment(P, n1, k1, n2, k2)
        assert found.second(n1, k1, n2, k2) == pytest.approx(float(exact), abs=1e-14)
    for prefix, k in [(6, 1), (4, 2), (2, 1), (5, 5)]:
        exact = exact_prefix_mass_moment(P, n, prefix, k)
        assert found.cross(prefix, k) == pytest.approx(float(exact), abs=1e-14)


def test_on_the_whole_sample_they_are_the_ordinary_ones() -> None:
    population, n = Population.from_weights(np.arange(1.0, 31.0)), 120
    mom, found = moments(population, n, 2, intercept=False), PrefixMoments(population, n)
    assert found.second(n, 1, n, 2) == pytest.approx(mom.A[0, 1], rel=1e-11)
    assert found.cross(n, 2) == pytest.approx(mom.b[1], rel=1e-11)
    assert found.mean_square == pytest.approx(float(mom.EM2), rel=1e-11)
    plain = Formula(((1 / n, n, 1),))
    assert found.mse(plain) == pytest.approx(float(good_turing(n).mse(mom)), rel=1e-9)


def test_error_of_a_formula_by_enumerating_all_samples() -> None:
    n, formula = 4, Formula(((0.3, 4, 1), (-0.2, 3, 2), (0.1, 2, 1)))
    error = sum(
        float(weight)
        * (formula.estimate(draws) - float(sum(p for x, p in enumerate(P) if x not in draws))) ** 2
        for draws, weight in sequences(P, n)
    )
    assert PrefixMoments(Population(P), n).mse(formula) == pytest.approx(error, rel=1e-12)


def test_conditioning_is_the_mean_over_all_orders() -> None:
    formula = Formula(((0.5, 3, 1), (-0.25, 2, 2)))
    draws = ["a", "a", "b", "c", "b"]
    orders = [formula.estimate(order) for order in permutations(draws)]
    conditioned = formula.conditioned(5).estimate(Fingerprint.from_sample(draws))
    assert conditioned == pytest.approx(np.mean(orders))
    assert max(orders) > min(orders)


@pytest.mark.parametrize("row", [(1.0, 2, 3), (1.0, 0, 0), (1.0, 3, 0)])
def test_impossible_rows_are_refused(row: tuple[float, int, int]) -> None:
    with pytest.raises(ValueError, match="1 <= k <= prefix"):
        Formula((row,))


def test_rows_must_not_read_beyond_the_sample() -> None:
    with pytest.raises(ValueError, match="reads 5 draws, the sample has 3"):
        Formula(((1.0, 5, 1),)).estimate("abc")
    with pytest.raises(ValueError, match="more than the 3 draws"):
        PrefixMoments(Population(P), 3).mse(Formula(((1.0, 5, 1),)))
    with pytest.raises(ValueError, match="n must be at least 1"):
        PrefixMoments(Population(P), 0)


def expectation(terms: ga.Terms, population: Population) -> float:
    return sum(c * float(expected_frequency(population, m, k)) for (m, k), c in terms.items())


def chain(mutate: ga.Mutation, seed: int, n: int = 12) -> list[ga.Terms]:
    rng, terms = np.random.default_rng(seed), [ga.start(n)]
    for _ in range(5):
        terms.append(mutate(terms[-1], n, rng) or ga.start(n))
    return terms


@pytest.mark.parametrize("seed", range(20))
def test_a_mutation_keeps_the_expectation(seed: int) -> None:
    population = Population.from_weights([1, 2, 3, 4])
    values = [expectation(terms, population) for terms in chain(ga.mutation, seed)]
    # up to three dropped terms per step, each at most 1e-4 times at most 4 classes
    assert np.abs(np.diff(values)).max() <= 3 * 4 * ga.SMALLEST_COEFFICIENT


def test_the_released_mutation_does_not() -> None:
    population = Population.from_weights([1, 2, 3, 4])
    values = [expectation(terms, population) for s in range(20) for terms in chain_(s)]
    assert np.ptp(values) > 0.1 * max(values)


def chain_(seed: int) -> list[ga.Terms]:
    return chain(ga.released_mutation, seed)


def test_released_mutations_add_a_term_for_nothing() -> None:
    terms, n = {(5, 1): 1.0}, 10
    seen = [ga.released_mutation(terms, n, np.random.default_rng(s)) for s in range(200)]
    added = [t for t in seen if (6, 2) in t]
    # all that n' = 5 had is still there, and g_2(6) on top
    assert added
    assert all(t[5, 1] == pytest.approx(1.0) for t in added)


def test_the_start_is_a_fraction_of_good_turing() -> None:
    found = ga.search(SAMPLE, natural_good_turing, generations=1, cap=1, seed=0)
    n = SAMPLE.n
    exact = PrefixMoments(natural_good_turing(SAMPLE), n)
    assert found.history[0] == pytest.approx(exact.mse(Formula(((1 / (n + 1), n, 1),))))


@pytest.mark.parametrize("mutate", [ga.mutation, ga.released_mutation])
def test_a_search_improves_and_reports_what_it_found(mutate: ga.Mutation) -> None:
    found = ga.search(SAMPLE, natural_good_turing, 30, seed=5, cap=30, mutate=mutate)
    exact = PrefixMoments(natural_good_turing(SAMPLE), SAMPLE.n)
    assert found.generations == 30
    assert list(found.history) == sorted(found.history, reverse=True)
    assert found.mse == pytest.approx(exact.mse(found.formula), rel=1e-12)
    assert found.mse == found.history[-1] < found.history[0]
    assert len(found.formula.rows) <= ga.LARGEST_FORMULA
    assert all(prefix <= SAMPLE.n for _, prefix, _ in found.formula.rows)


def test_a_search_is_never_better_than_the_optimum() -> None:
    found = ga.search(SAMPLE, natural_good_turing, 60, seed=1, cap=60, mutate=ga.released_mutation)
    best = optimal(moments(natural_good_turing(SAMPLE), SAMPLE.n, 8), 8).value
    assert found.mse >= best


def test_a_search_is_reproducible() -> None:
    first, second = (ga.search(SAMPLE, natural_good_turing, 10, 7, cap=10) for _ in range(2))
    assert first == second


def test_blocks_follow_while_there_is_progress_or_none_at_all() -> None:
    # with the identities kept ten generations gain less than 1 %, so that further blocks follow
    found = ga.search(SAMPLE, natural_good_turing, generations=10, seed=0, cap=40)
    assert found.generations == 40
    assert ga._goes_on(1.0, 1.0, 0.9)
    assert ga._goes_on(1.0, 1.0, 0.995)
    assert not ga._goes_on(1.0, 0.9, 0.88)


@pytest.mark.parametrize(("generations", "cap"), [(0, 10), (10, 0)])
def test_a_search_needs_generations(generations: int, cap: int) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        ga.search(SAMPLE, natural_good_turing, generations, cap=cap)
