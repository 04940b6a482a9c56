"""From distances to partition functions, cuts and independent sets; and how errors travel."""

from __future__ import annotations

from fractions import Fraction as F

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.total_variation import (
    EliminationOracle,
    EnumerationOracle,
    PerturbedOracle,
    RationalIsing,
    antiferromagnet,
    cut_spectrum_from_tv,
    gap_instance,
    ising_tv_exact,
    max_cut_from_tv,
    partition_function_from_tv,
    tilt_factor,
    tv_chain,
)
from theorylab.total_variation.ising_instances import (
    random_graph,
    random_model,
    small_graphs,
    strip_model,
)
from theorylab.total_variation.ising_oracles import ADVERSARIES
from theorylab.total_variation.ising_reduction import exact_step, strong_step
from theorylab.total_variation.theory_ising import (
    additive_envelope,
    additive_step_error,
    coarse_envelope,
    cut_counts,
    gap_bound,
    independence_number,
    odds_from_distances,
    relative_envelope,
    separating_base,
    tilted_distance,
)

from .test_ising import models


@given(models(largest=4))
@settings(max_examples=40)
def test_two_distances_per_spin_give_the_partition_function(model: RationalIsing) -> None:
    oracle = EnumerationOracle()
    assert partition_function_from_tv(model, oracle) == model.Z()
    assert oracle.queries == 2 * model.n


@given(
    st.fractions(F(1, 50), F(49, 50), max_denominator=50),
    st.fractions(F(10, 9), 50, max_denominator=9),
)
def test_odds_are_the_inverse_of_the_two_distances(p: F, r: F) -> None:
    up, down = tilted_distance(p, r), tilted_distance(p, 1 / r)
    assert odds_from_distances(up, down, r) == p / (1 - p)


def test_every_query_is_a_tilt_of_one_field() -> None:
    """The pairs share graph and couplings, as the theorem says."""
    model = random_model(np.random.default_rng(0), 5)
    seen = []

    def spy(P: RationalIsing, Q: RationalIsing) -> F:
        assert P.b == Q.b
        seen.append(sum(x != y for x, y in zip(P.a, Q.a, strict=True)))
        return ising_tv_exact(P, Q)

    assert partition_function_from_tv(model, spy) == model.Z()
    assert seen == [1] * 10


def test_the_chain_records_its_steps() -> None:
    model = random_model(np.random.default_rng(1), 4)
    chain = tv_chain(model, EnumerationOracle(), exact_step)
    assert [step.marginal >= F(1, 2) for step in chain.steps] == [True] * 4
    assert chain.steps[0].marginal in (model.marginal(3), 1 - model.marginal(3))
    assert chain.value == model.Z()


def test_a_narrow_strip_of_forty_spins() -> None:
    model = strip_model(np.random.default_rng(2), 4, 10)
    assert partition_function_from_tv(model, EliminationOracle()) == model.Z()


def test_both_oracles_agree() -> None:
    model = random_model(np.random.default_rng(3), 6)
    tilted = model.tilt(2, F(7, 3))
    assert EliminationOracle()(model, tilted) == EnumerationOracle()(model, tilted)
    assert EliminationOracle()(model, model) == 0


@pytest.mark.parametrize("delta", [F(1, 2), F(1, 100)])
def test_strong_tilts_lose_at_most_delta(delta: F) -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        model = random_model(rng, int(rng.integers(1, 6)))
        for v in range(model.n):
            p, r = model.marginal(v), tilt_factor(model, v, delta)
            assert (1 - delta) * (1 - p) <= ising_tv_exact(model, model.tilt(v, r)) <= 1 - p
            assert (1 - delta) * p <= ising_tv_exact(model, model.tilt(v, 1 / r)) <= p


def test_the_tilt_factor_by_hand() -> None:
    """a = 2, b = 3: odds between 2/3 and 6, so r = 1 + (1 + 6) / (1/2)."""
    assert tilt_factor(RationalIsing([2, 1], {(0, 1): 3}), 0, F(1, 2)) == 15


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_relative_errors_stay_in_their_envelope(adversary: str) -> None:
    rng, eps = np.random.default_rng(5), F(1, 5)
    for _ in range(8):
        model = random_model(rng, int(rng.integers(1, 6)))
        size = eps / (4 * model.n)
        oracle = PerturbedOracle("relative", size, adversary, rng=rng)
        ratio = partition_function_from_tv(model, oracle, "approx", eps) / model.Z()
        low, high = relative_envelope(model.n, size, size)
        assert 1 - eps <= low <= ratio <= high <= 1 + eps


@given(st.integers(1, 200), st.fractions(F(1, 1000), 1))
def test_the_relative_envelope_lies_within_epsilon(n: int, eps: F) -> None:
    low, high = relative_envelope(n, eps / (4 * n), eps / (4 * n))
    assert 1 - eps <= low <= 1 <= high <= 1 + eps


def test_the_additive_step_error_by_hand() -> None:
    """delta = 1/10, eta = 1/20: 1/10 + (1/20) / (9/20 - 1/10)."""
    assert additive_step_error(F(1, 20), F(1, 10)) == F(1, 10) + F(1, 7)
    assert additive_envelope(2, F(1, 20), F(1, 10)) == (F(70, 87) ** 2, F(70, 53) ** 2)
    with pytest.raises(ValueError, match="bounds nothing"):
        additive_step_error(F(1, 4), F(1, 10))


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_additive_errors_stay_in_their_envelope_although_the_wrong_side_may_be_kept(
    adversary: str,
) -> None:
    """The chain follows the larger answer; a twentieth may turn the order of two answers."""
    rng, eta, delta = np.random.default_rng(7), F(1, 20), F(1, 40)
    for _ in range(8):
        model = random_model(rng, int(rng.integers(1, 5)))
        oracle = PerturbedOracle("additive", eta, adversary, rng=rng)
        estimate = partition_function_from_tv(model, oracle, "approx", 4 * model.n * delta)
        low, high = additive_envelope(model.n, eta, delta)
        assert low <= estimate / model.Z() <= high


def test_the_larger_answer_decides_which_side_is_kept() -> None:
    """A spin with p = 9/10, then one with p = 1/10."""
    for odds, side in ((F(9), 1), (F(1, 9), 0)):
        step = strong_step(RationalIsing([odds]), EnumerationOracle(), delta=F(1, 100))
        assert step.spin == side
        assert F(99, 100) * F(9, 10) <= step.marginal <= F(9, 10)


def test_coarse_answers_keep_z_within_its_coarse_envelope() -> None:
    rng = np.random.default_rng(6)
    model = random_model(rng, 4)
    for factor in (1, 3, 10):
        for adversary in ADVERSARIES:
            oracle = PerturbedOracle("factor", factor, adversary, rng=rng)
            estimate = partition_function_from_tv(model, oracle, "approx", 1)
            low, high = coarse_envelope(4, F(factor))
            assert low <= estimate / model.Z() <= high


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_cut_spectra_and_maximum_cuts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(1, 7)))
    spectrum = cut_spectrum_from_tv(graph, EnumerationOracle())
    assert spectrum == cut_counts(graph)
    assert sum(spectrum) == 2 ** graph.number_of_nodes()
    for factor in (1, F(7, 2), 10):
        oracle = PerturbedOracle("factor", factor, "random", rng=rng)
        assert max_cut_from_tv(graph, oracle, factor) == len(spectrum) - 1


def test_the_triangle_by_hand() -> None:
    """Two cuts of size 0, six of size 2; vertices may have any names."""
    triangle = nx.relabel_nodes(nx.complete_graph(3), {0: "a", 1: "b", 2: "c"})
    assert cut_spectrum_from_tv(triangle, EnumerationOracle()) == (2, 0, 6)
    model = antiferromagnet(triangle, 9)
    assert model.Z() * 9**3 == 2 + 6 * 81


def test_a_bipartite_graph_cuts_all_its_edges() -> None:
    assert len(cut_spectrum_from_tv(nx.complete_bipartite_graph(2, 3), EnumerationOracle())) == 7


def test_digits_carry_when_the_base_is_too_small() -> None:
    assert cut_spectrum_from_tv(nx.cycle_graph(4), EnumerationOracle(), base=2) != cut_counts(
        nx.cycle_graph(4)
    )


def test_the_separating_base_separates() -> None:
    """Sum of N_c t^c times the largest error stays below the next power of t."""
    for n in range(1, 8):
        for factor in (F(1), F(5, 2), F(10)):
            assert 2**n * (2 * factor) ** (2 * n) < separating_base(n, factor)


@pytest.mark.parametrize("c", [2, 3])
def test_two_triangles(c: int) -> None:
    """Values of the dossier: 6.8e-6 for c = 2, 0.99986 for c = 3."""
    graph = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3))
    instance = gap_instance(graph, c)
    expected = {2: 6.781638e-6, 3: 0.99986269}[c]
    assert float(instance.model.marginal(instance.vertex)) == pytest.approx(expected, rel=1e-6)


def gap_weight(graph: nx.Graph, c: int, chosen: set[int]) -> F:
    """Weight of a set of vertices of the gadget, from its description."""
    n, spins = graph.number_of_nodes(), graph.number_of_nodes() + c - 1
    mu = F(4) ** spins
    edges = [*graph.edges, *((i, j) for i in range(n) for j in range(n, spins))]
    conflicts = sum(i in chosen and j in chosen for i, j in edges)
    return mu ** (2 * len(chosen) + (spins - 1 in chosen) - 4 * conflicts)


def test_the_gadget_has_the_weights_of_its_description() -> None:
    graph = nx.path_graph(3)
    instance = gap_instance(graph, 3)
    table, scale = instance.model.weights()
    for k, w in enumerate(table):
        chosen = {i for i in range(instance.spins) if k >> i & 1}
        assert scale * w == gap_weight(graph, 3, chosen)


def test_the_gap_on_all_graphs_with_up_to_four_vertices() -> None:
    for graph in small_graphs(4):
        for c in range(2, 5):
            instance = gap_instance(graph, c)
            distance = ising_tv_exact(*instance.pair())
            if independence_number(graph) >= c:
                assert distance <= gap_bound(instance.spins)
            else:
                assert distance >= F(9, 10) * (1 - gap_bound(instance.spins))


def test_independence_numbers_of_known_graphs() -> None:
    known = {
        3: nx.path_graph(5),
        2: nx.cycle_graph(5),
        1: nx.complete_graph(4),
        4: nx.empty_graph(4),
    }
    for alpha, graph in known.items():
        assert independence_number(graph) == alpha
    assert independence_number(nx.petersen_graph()) == 4
    assert independence_number(nx.Graph()) == 0


def test_small_graphs_are_all_of_them() -> None:
    assert len(list(small_graphs(5))) == 1 + 2 + 4 + 11 + 34


# --- oracles and errors -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "size", "expected"),
    [
        ("relative", F(1, 10), (F(11, 40), F(9, 40), F(11, 40))),
        ("additive", F(1, 100), (F(26, 100), F(24, 100), F(26, 100))),
        ("factor", 2, (F(1, 2), F(1, 8), F(1, 2))),
    ],
)
def test_adversaries_move_answers_as_they_say(kind: str, size, expected) -> None:
    """The truth is 1/4."""
    model = RationalIsing([1])
    pair = model, model.tilt(0, 3)
    answers = tuple(
        PerturbedOracle(kind, size, adversary)(*pair) for adversary in ("up", "down", "alternate")
    )
    assert answers == expected


def test_alternating_answers_take_turns_and_queries_are_counted() -> None:
    model = RationalIsing([1])
    oracle = PerturbedOracle("additive", F(1, 100), "alternate")
    answers = [oracle(model, model.tilt(0, 3)) for _ in range(4)]
    assert answers == [F(26, 100), F(24, 100)] * 2
    assert (oracle.queries, oracle.base.queries) == (4, 4)


@pytest.mark.parametrize(("kind", "size"), [("relative", F(1, 7)), ("additive", F(1, 9))])
def test_random_errors_respect_their_size(kind: str, size: F) -> None:
    model = RationalIsing([1])
    oracle = PerturbedOracle(kind, size, "random", rng=np.random.default_rng(0))
    answers = {oracle(model, model.tilt(0, 3)) for _ in range(50)}
    allowed = size / 4 if kind == "relative" else size
    assert all(abs(answer - F(1, 4)) <= allowed for answer in answers)
    assert len(answers) > 10


@pytest.mark.parametrize(
    ("kind", "size", "adversary", "error", "message"),
    [
        ("absolute", F(1, 2), "up", ValueError, "kind must be one of"),
        ("relative", F(1, 2), "left", ValueError, "adversary must be one of"),
        ("relative", F(1, 2), "random", ValueError, "needs rng"),
        ("relative", F(1), "up", ValueError, "below 1 if relative"),
        ("additive", F(-1, 2), "up", ValueError, "at least 0"),
        ("factor", F(1, 2), "up", ValueError, "at least 1"),
        ("relative", 0.5, "up", TypeError, "float"),
    ],
)
def test_bad_oracles_are_refused(kind, size, adversary, error, message: str) -> None:
    with pytest.raises(error, match=message):
        PerturbedOracle(kind, size, adversary)


def test_the_elimination_oracle_knows_its_limits() -> None:
    model = RationalIsing([1, 1], {(0, 1): 2})
    with pytest.raises(ValueError, match=r"fields of spins \[0, 1\] differ"):
        EliminationOracle()(model, model.tilt(0, 2).tilt(1, 2))
    with pytest.raises(ValueError, match="share graph and couplings"):
        EliminationOracle()(model, RationalIsing([1, 1], {(0, 1): 3}))


def test_modes_and_targets_are_checked() -> None:
    model, oracle = RationalIsing([1]), EnumerationOracle()
    for call, message in (
        (lambda: partition_function_from_tv(model, oracle, "guess"), "mode must be"),
        (lambda: partition_function_from_tv(model, oracle, "approx"), "needs eps"),
        (lambda: partition_function_from_tv(model, oracle, "approx", 0), r"\(0, 1\]"),
        (lambda: partition_function_from_tv(model, oracle, "approx", 2), r"\(0, 1\]"),
        (lambda: partition_function_from_tv(model, oracle, "exact", F(1, 2)), "no error"),
        (lambda: tilt_factor(model, 0, 0), r"delta must lie in \(0, 1\)"),
        (lambda: tilt_factor(model, 0, 1), r"delta must lie in \(0, 1\)"),
        (lambda: tilt_factor(model, 3, F(1, 2)), "no spin 3"),
        (lambda: max_cut_from_tv(nx.path_graph(2), oracle, F(1, 2)), "at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="float"):
        partition_function_from_tv(model, oracle, "approx", 0.5)


def test_bad_graphs_and_bases_are_refused() -> None:
    oracle = EnumerationOracle()
    loop = nx.Graph([(0, 0)])
    for call, message in (
        (lambda: cut_spectrum_from_tv(loop, oracle), "self-loop"),
        (lambda: gap_instance(loop, 2), "self-loop"),
        (lambda: gap_instance(nx.path_graph(2), 1), "c must be at least 2"),
        (lambda: antiferromagnet(nx.DiGraph([(0, 1)]), 3), "simple undirected"),
        (lambda: antiferromagnet(nx.MultiGraph([(0, 1)]), 3), "simple undirected"),
        (lambda: cut_spectrum_from_tv(nx.path_graph(2), oracle, base=1), "base must be"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_inexact_answers_are_noticed_by_the_digits() -> None:
    oracle = PerturbedOracle("relative", F(1, 1000), "alternate")
    with pytest.raises(ValueError, match="oracle was not exact"):
        cut_spectrum_from_tv(nx.path_graph(3), oracle)


def test_answers_of_zero_are_noticed() -> None:
    with pytest.raises(ValueError, match="one of them must be positive"):
        partition_function_from_tv(RationalIsing([1]), lambda P, Q: F(0), "approx", F(1, 2))
