from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.dc_decomposition import (
    CPWL,
    Complex,
    DecompositionPolyhedron,
    SubmodularDecompositions,
    base_vertices,
    count_base_vertices,
    entropy_pair,
    is_submodular,
    mutual_information,
    set_function,
    strict_baseline,
)
from theorylab.dc_decomposition.submodular import (
    SubmodularPair,
    difference,
    exchange_weight,
    exchanges,
    subsets,
    weights_on_walls,
)

values_on_three = st.lists(st.integers(-4, 4), min_size=7, max_size=7).map(
    lambda row: dict(zip(subsets(3), [0, *row], strict=True))
)


def cut(n, edges):
    return {s: sum((i in s) != (j in s) for i, j in edges) for s in subsets(n)}


def submodular_by_definition(n, F):
    """F(A) + F(B) >= F(A | B) + F(A & B) for all pairs of sets."""
    return all(F[a] + F[b] >= F[a | b] + F[a & b] for a in subsets(n) for b in subsets(n))


@given(values=values_on_three)
@settings(max_examples=100, deadline=None)
def test_exchange_test_is_the_lattice_definition(values) -> None:
    assert is_submodular(3, values) == submodular_by_definition(3, values)


@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 6), (4, 24), (5, 80)])
def test_number_of_exchanges(n, count) -> None:
    assert len(exchanges(n)) == count


@pytest.mark.parametrize(("n", "rays"), [(2, 1), (3, 5), (4, 37)])
def test_rays_of_the_submodular_cone(n, rays) -> None:
    zero = SubmodularDecompositions(n, dict.fromkeys(subsets(n), 0))
    assert zero.ray_count() == rays
    assert [v.counts for v in zero.vertices()] == [(1, 1)]


@given(values=values_on_three)
@settings(max_examples=40, deadline=None)
def test_vertices_are_those_over_the_braid_fan(values) -> None:
    fan = Complex.braid(3)
    cells = DecompositionPolyhedron(fan, CPWL.from_set_function(3, values, complex=fan)).vertices()
    pairs = SubmodularDecompositions(3, values).vertices()
    assert {weights_on_walls(p, fan.walls): p.counts for p in pairs} == {
        v.w_g: v.counts for v in cells
    }
    for pair in pairs:
        assert difference(pair) == values
        assert submodular_by_definition(3, pair.G)
        assert submodular_by_definition(3, pair.H)


def test_base_polytope_of_a_matroid_rank_function() -> None:
    """Uniform matroid U(2, 4): the bases are the six pairs."""
    rank = {s: min(len(s), 2) for s in subsets(4)}
    expected = {tuple(int(i in b) for i in range(4)) for b in combinations(range(4), 2)}
    assert base_vertices(4, rank) == expected
    assert count_base_vertices(4, rank) == 6


def test_base_polytope_of_a_cut_counts_acyclic_orientations() -> None:
    """A 4-cycle has 14 acyclic orientations, the complete graph on four nodes 24."""
    assert count_base_vertices(4, cut(4, [(0, 1), (1, 2), (2, 3), (0, 3)])) == 14
    assert count_base_vertices(4, cut(4, list(combinations(range(4), 2)))) == 24
    assert count_base_vertices(4, cut(4, [])) == 1


def test_base_polytope_needs_submodularity() -> None:
    with pytest.raises(ValueError, match="submodular"):
        count_base_vertices(3, {s: len(s) ** 2 for s in subsets(3)})


def test_membership() -> None:
    F = {s: int(len(s) >= 2) for s in subsets(3)}
    polyhedron = SubmodularDecompositions(3, F)
    top_two = {s: min(len(s), 2) for s in subsets(3)}
    assert polyhedron.is_member(top_two)
    assert not polyhedron.is_member({**top_two, frozenset({0, 1, 2}): 3})
    assert not polyhedron.is_member(dict.fromkeys(subsets(3), 0))


@given(values=values_on_three)
@settings(max_examples=40, deadline=None)
def test_baseline_is_a_decomposition(values) -> None:
    pair = strict_baseline(3, values)
    assert difference(pair) == values
    assert is_submodular(3, pair.G)
    assert is_submodular(3, pair.H)


def test_entropy_of_two_coins_and_their_parity() -> None:
    """X0, X1 fair coins, Y their parity: single features tell nothing, both tell one bit."""
    table = np.array([(a, b) for a in (0, 1) for b in (0, 1)])
    pair = entropy_pair(table, table.sum(axis=1) % 2)
    assert {s: len(s) for s in subsets(2)} == pair.G
    information = difference(pair)
    assert [information[s] for s in subsets(2)] == [0, 0, 0, 1]


def test_entropy_by_hand() -> None:
    pair = entropy_pair(np.array([[0], [0], [1]]), np.array([0, 1, 1]))
    marginal = log2(3) - 2 / 3
    assert pair.G[frozenset({0})] == Fraction(round(marginal * 10**6), 10**6)
    conditional = log2(3) - marginal
    assert pair.H[frozenset({0})] == Fraction(round(conditional * 10**6), 10**6)


@pytest.mark.parametrize(
    ("table", "vertices", "least", "front"),
    [
        ("iris", 201, 27, {(13, 16), (14, 14), (15, 12), (16, 11), (17, 10), (19, 9)}),
        ("wine", 338, 29, None),
        ("digits", 126, 26, None),
    ],
)
def test_mutual_information_of_real_tables(table, vertices, least, front) -> None:
    pair = mutual_information(table)
    assert pair.counts == (24, 24)
    assert is_submodular(4, pair.G)
    assert is_submodular(4, pair.H)
    found = SubmodularDecompositions(4, difference(pair)).vertices()
    assert len(found) == vertices
    counts = {v.counts for v in found}
    assert min(map(sum, counts)) == least
    if front is not None:
        undominated = {
            c for c in counts if not any(d != c and d[0] <= c[0] and d[1] <= c[1] for d in counts)
        }
        assert undominated == front


def test_reduction_of_the_textbook_pair_of_wine_need_not_be_a_vertex() -> None:
    """Irreducible by certificate; every irreducible pair has fewer pieces than the textbook."""
    pair = mutual_information("wine")
    fan = Complex.braid(4)
    polyhedron = DecompositionPolyhedron(
        fan, CPWL.from_set_function(4, difference(pair), complex=fan)
    )
    textbook = CPWL.from_set_function(4, pair.G, complex=fan)
    reducible, certificate = polyhedron.is_irreducible(textbook)
    assert not reducible
    assert certificate.kind == "reducible"
    vertex = polyhedron.reduce(textbook)
    assert polyhedron.is_irreducible(vertex)[0]
    assert all(a < 24 for a in vertex.counts)


def test_exchange_weights_are_the_kinks_of_the_lovasz_extension() -> None:
    rng = np.random.default_rng(2)
    values = dict(zip(subsets(4), [0, *map(int, rng.integers(-9, 10, 15))], strict=True))
    fan = Complex.braid(4)
    f = CPWL.from_set_function(4, values, complex=fan)
    table = set_function(4, values)
    expected = [exchange_weight(table, (wall.S, wall.pair)) for wall in fan.walls]
    assert f.weights == expected
    assert sorted(set(SubmodularPair(4, table, table).weights)) == sorted(set(expected))


@pytest.mark.parametrize(
    ("n", "values", "error", "message"),
    [
        (2, {frozenset(): 0, frozenset({0}): 1}, ValueError, "misses 2 subsets"),
        (1, {frozenset(): 1, frozenset({0}): 1}, ValueError, "empty set"),
        (1, {frozenset(): 0, frozenset({0}): 0, frozenset({5}): 1}, ValueError, "no subset"),
        (1, {frozenset(): 0, frozenset({0}): 0.5}, TypeError, "float"),
        (1, {frozenset(): 0, frozenset({0}): float("nan")}, ValueError, "finite"),
        (0, {frozenset(): 0}, ValueError, "n >= 1"),
    ],
)
def test_bad_set_functions(n, values, error, message) -> None:
    with pytest.raises(error, match=message):
        set_function(n, values)


def test_floats_on_request() -> None:
    values = {frozenset(): 0, frozenset({0}): 0.1}
    assert set_function(1, values, rationalise=10)[frozenset({0})] == Fraction(1, 10)


def test_single_element_has_no_polyhedron() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        SubmodularDecompositions(1, {frozenset(): 0, frozenset({0}): 1})


@pytest.mark.parametrize(
    ("features", "labels"),
    [(np.zeros((3, 2)), np.zeros(2)), (np.zeros(3), np.zeros(3)), (np.zeros((0, 2)), np.zeros(0))],
)
def test_bad_tables(features, labels) -> None:
    with pytest.raises(ValueError, match="shapes"):
        entropy_pair(features, labels)


def test_unknown_table() -> None:
    with pytest.raises(ValueError, match="iris, wine, digits"):
        mutual_information("titanic")
