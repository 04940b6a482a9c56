"""The failing alternatives fail where the page says they do; generators and predictions."""

from fractions import Fraction as F
from math import factorial

import numpy as np
import pytest

from theorylab.total_variation import (
    ProductMixture,
    check_equivalence,
    moment_pair,
    padded_moment_pair,
    parity_pair,
    split_pair,
    theory,
    tv_exact_mixture,
)
from theorylab.total_variation.baselines import (
    agree_as_automata,
    agree_by_svd,
    agree_on_marginals,
    agree_pointwise,
    naive_multiplications,
)
from theorylab.total_variation.generators import nudge, random_law
from theorylab.total_variation.mixture_suite import mixture_suite


def shortened(pair):
    return [side.marginal(range(side.n_coordinates - 1)) for side in pair]


def coins(p, n: int) -> ProductMixture:
    return ProductMixture((1,), (((1 - F(p), F(p)),) * n,))


def test_float_automata_lose_moment_pairs_from_thirteen_coordinates_on():
    assert [agree_as_automata(*moment_pair(n)) for n in range(8, 18)] == [False] * 5 + [True] * 5
    assert not any(check_equivalence(*moment_pair(n)).equal for n in (13, 14, 16))


@pytest.mark.parametrize("n", [30, 40, 60])
def test_float_automata_call_clearly_different_coins_equal(n):
    P, Q = coins(F(1, 2), n), coins(F(11, 20), n)
    assert agree_as_automata(P, Q)
    assert not check_equivalence(P, Q).equal


def test_float_automata_are_right_on_easy_pairs():
    for pair in mixture_suite(np.random.default_rng(0), 60):
        if pair.kind == "random":
            truth = tv_exact_mixture(pair.P, pair.Q) == 0
            assert agree_as_automata(pair.P, pair.Q) == truth


def test_float_automata_decide_as_the_named_package_does():
    grammar = pytest.importorskip("genlm.grammar.wfsa.field_wfsa", reason="genlm-grammar absent")
    for P, Q in [moment_pair(n) for n in (6, 12, 13, 14)] + [shortened(moment_pair(9))]:
        automata = []
        for side in (P, Q):
            states = side.n_components * (side.n_coordinates + 1)
            arcs = {a: np.zeros((states, states)) for a in range(2)}
            start, stop = np.zeros(states), np.zeros(states)
            for i, rows in enumerate(side.rows):
                first = i * (len(rows) + 1)
                start[first], stop[first + len(rows)] = float(side.weights[i]), 1.0
                for j, row in enumerate(rows):
                    for a, value in enumerate(row):
                        arcs[a][first + j, first + j + 1] = float(value)
            automata.append(grammar.Simple(start, arcs, stop))
        assert (automata[0].counterexample(automata[1]) is None) == agree_as_automata(P, Q)


def test_no_svd_tolerance_works_throughout():
    near, nearer = moment_pair(3, F(1, 10**7)), moment_pair(3, F(1, 10**10))
    assert agree_by_svd(*near, 1e-6)
    assert agree_by_svd(*nearer, 1e-9)
    for tolerance in (1e-6, 1e-9, 1e-12):
        assert agree_by_svd(*moment_pair(3, F(1, 10**17)), tolerance)
    assert all(not agree_by_svd(*moment_pair(n), 1e-9) for n in range(2, 20))
    assert all(agree_by_svd(*shortened(moment_pair(n)), 1e-9) for n in range(3, 20))


def test_tolerance_and_marginals_mislead():
    assert agree_pointwise(*moment_pair(13))
    assert not agree_pointwise(*moment_pair(12))
    assert agree_on_marginals(*parity_pair(4), 3)
    assert not agree_on_marginals(*parity_pair(4), 4)
    assert tv_exact_mixture(*parity_pair(4)) == 1


def test_elimination_from_scratch_costs_more_than_the_cubic_bound():
    P, Q = padded_moment_pair(8, 24, 3)
    count = naive_multiplications(P, Q)
    assert theory.cubic_operation_bound(24, 9, 3) == 52_488
    assert 52_488 < count < theory.paper_operation_bound(24, 5, 3)


@pytest.mark.parametrize(
    ("order", "alphabet", "prototype"), [(8, 3, 6_543), (16, 3, 23_579), (16, 4, 34_340)]
)
def test_incremental_counts_match_an_independent_prototype(order, alphabet, prototype):
    """The prototype left out one inner product of K multiplications per basis vector."""
    P, Q = padded_moment_pair(order, 24, alphabet)
    count = check_equivalence(P, Q, engine="fraction").field_operations
    assert count == prototype + (order - 1) * (order + 1)


def test_counts_stay_within_the_bound_for_reduced_bases():
    rng = np.random.default_rng(0)
    for pair in [split_pair(rng, k, k, 10, 3) for k in (1, 2, 4)] + [padded_moment_pair(9, 8, 2)]:
        P, Q = pair
        count = check_equivalence(P, Q, engine="fraction", stop_early=False).field_operations
        stacked = P.n_components + Q.n_components
        alphabet = max(P.alphabet_sizes)
        assert count <= theory.quadratic_operation_bound(P.n_coordinates, stacked, alphabet)


def test_closed_forms():
    assert theory.moment_gap(5) == F(24, 625)
    assert float(theory.moment_gap(14)) == pytest.approx(7.8e-6, rel=0.01)
    assert float(theory.moment_gap(40)) == pytest.approx(6.7e-17, rel=0.05)
    assert theory.moment_gap(3, F(1, 2)) == F(1, 8) * F(factorial(3), 27)
    assert theory.false_zero_bound(8, 101) == F(8, 101)
    assert theory.false_zero_bound(8, 5) == 1
    assert theory.moment_false_zero_rate(1, 7) == F(1, 7)
    assert theory.moment_false_zero_rate(2, 7) == F(13, 49)
    assert theory.disjoint_terms_models(3, [1, 1]) == 6


def test_the_suite_has_its_three_kinds():
    suite = mixture_suite(np.random.default_rng(0), 90)
    equal = [pair for pair in suite if pair.kind == "equal"]
    assert all(tv_exact_mixture(pair.P, pair.Q) == 0 for pair in equal)
    assert sum(pair.P.canonical() != pair.Q.canonical() for pair in equal) >= 27
    nearly = [pair for pair in suite if pair.kind == "nearly"]
    assert all(tv_exact_mixture(pair.P, pair.Q) > 0 for pair in nearly)
    assert any(1 in pair.P.alphabet_sizes for pair in suite)
    assert any(0 in pair.P.weights for pair in suite)


def test_split_pairs_are_equal_and_not_by_relabelling():
    P, Q = split_pair(np.random.default_rng(0), 3, 3, 4, 3)
    assert P.n_components == 6
    assert tv_exact_mixture(P, Q) == 0
    assert P.canonical() != Q.canonical()


def test_random_laws_sum_to_one():
    rng = np.random.default_rng(0)
    assert all(sum(random_law(rng, size)) == 1 for size in range(1, 6))


def test_nudge_moves_probability():
    moved = nudge(coins(F(1, 2), 2), 0, 1, F(1, 10), (0, 1))
    assert moved.rows[0][1] == (F(6, 10), F(4, 10))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: moment_pair(0), "n >= 1"),
        (lambda: moment_pair(3, 2), "scale <= 1"),
        (lambda: moment_pair(3, 0), "0 < scale"),
        (lambda: padded_moment_pair(5, 3), "n >= order - 1"),
        (lambda: padded_moment_pair(5, 5, 1), "alphabet >= 2"),
        (lambda: parity_pair(0), "n >= 1"),
    ],
)
def test_generators_refuse(call, message):
    with pytest.raises(ValueError, match=message):
        call()
