from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.dc_decomposition import Complex, decompose, theory
from theorylab.dc_decomposition.cuts import cut_extension, cut_function, modularity_weights
from theorylab.dc_decomposition.examples import order_statistic, top_sum

PATH = [(0, 1), (1, 2), (2, 3)]


def orientations_by_brute_force(n: int, edges: list) -> int:
    """Orient every edge both ways and keep what has a topological order."""
    count = 0
    for flips in product((False, True), repeat=len(edges)):
        graph = nx.DiGraph([e[::-1] if flip else e for e, flip in zip(edges, flips, strict=True)])
        count += nx.is_directed_acyclic_graph(graph)
    return count


@pytest.mark.parametrize(
    ("n", "edges", "expected"),
    [
        (3, [], 1),
        (4, PATH, 8),
        (4, [*PATH, (3, 0)], 14),
        (4, list(combinations(range(4), 2)), 24),
        (5, list(combinations(range(5), 2)), 120),
    ],
)
def test_acyclic_orientations(n: int, edges: list, expected: int) -> None:
    assert theory.acyclic_orientations(n, edges) == expected
    if edges:
        assert orientations_by_brute_force(n, edges) == expected


@given(st.sets(st.sampled_from(list(combinations(range(4), 2)))))
def test_pieces_of_a_sum_of_distances_are_acyclic_orientations(edges: set) -> None:
    f = cut_extension(4, dict.fromkeys(sorted(edges), 1))
    assert f.is_convex()
    assert f.pieces() == theory.acyclic_orientations(4, edges)


@given(st.tuples(*[st.integers(-3, 3)] * 3), st.tuples(*[st.fractions(-4, 4)] * 3))
def test_cut_extensions_are_weighted_distances(weights: tuple, point: tuple) -> None:
    pairs = dict(zip(combinations(range(3), 2), weights, strict=True))
    f = cut_extension(3, pairs)
    assert f(point) == sum(c * abs(point[i] - point[j]) for (i, j), c in pairs.items())


def test_cut_functions_and_their_errors() -> None:
    values = cut_function(3, {(0, 1): 2, (1, 2): -1})
    assert values[frozenset()] == values[frozenset(range(3))] == 0
    assert values[frozenset({1})] == 1
    assert values[frozenset({0})] == values[frozenset({1, 2})] == 2
    with pytest.raises(ValueError, match="i < j"):
        cut_function(3, {(1, 0): 1})


def test_modularity_by_hand() -> None:
    """A path of four nodes: degrees 1, 2, 2, 1 and three edges."""
    weights = modularity_weights(nx.Graph(PATH), (0, 1, 3))
    assert weights == {(0, 1): Fraction(2, 3), (0, 2): Fraction(-1, 6), (1, 2): Fraction(-1, 3)}
    with pytest.raises(ValueError, match="distinct nodes"):
        modularity_weights(nx.Graph(PATH), (0, 0))
    with pytest.raises(ValueError, match="distinct nodes"):
        modularity_weights(nx.Graph(PATH), (0, 9))


def test_the_karate_club_of_four() -> None:
    weights = modularity_weights(nx.karate_club_graph(), (0, 1, 2, 3))
    f = cut_extension(4, weights)
    (only,) = decompose(f.complex, f)
    assert only.counts == (18, 2)
    assert only.w_g == tuple(max(w, 0) for w in f.weights)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_pieces_of_order_statistics_by_sorting(n: int) -> None:
    """A piece of the k-th largest is the choice of the element and of those above it."""
    fan = Complex.braid(n)
    for k in range(1, n + 1):
        regions = {(order[k - 1], frozenset(order[: k - 1])) for order in permutations(range(n))}
        assert order_statistic(n, k, fan).pieces() == len(regions)
        assert len(regions) == theory.order_statistic_pieces(n, k)
        sums = {frozenset(order[:k]) for order in permutations(range(n))}
        assert top_sum(n, k, fan).pieces() == len(sums) == theory.top_sum_pieces(n, k)


def test_zaslavsky() -> None:
    assert theory.arrangement_cells(5, 2) == 16
    assert theory.arrangement_cells(12, 3) == 299
    assert theory.arrangement_cells(12, 3, central=True) == 134
    assert theory.braid_shape(6) == (720, 1800, 57)
