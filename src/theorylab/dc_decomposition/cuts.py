r"""Signed cut functions: :math:`\sum_{i<j}c_{ij}|x_i-x_j|` on the braid fan, from graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from theorylab.exact import Rational

from .complexes import BraidComplex
from .functions import CPWL

if TYPE_CHECKING:
    import networkx as nx

PairWeights = Mapping[tuple[int, int], Rational]


def modularity_weights(graph: nx.Graph, nodes: Sequence[int]) -> dict[tuple[int, int], Fraction]:
    r"""Modularity :math:`A_{ij}-k_ik_j/2m` between the chosen nodes, by their position.

    Parameters
    ----------
    graph : networkx Graph
        Read without edge weights.
    nodes : sequence
        Distinct nodes of the graph.
    """
    missing = [node for node in nodes if node not in graph]
    if missing or len(set(nodes)) != len(nodes):
        raise ValueError(f"need distinct nodes of the graph, got {list(nodes)}")
    degree = dict(graph.degree(weight=None))
    total = 2 * graph.number_of_edges()
    return {
        (i, j): int(graph.has_edge(nodes[i], nodes[j]))
        - Fraction(degree[nodes[i]] * degree[nodes[j]], total)
        for i, j in combinations(range(len(nodes)), 2)
    }


def cut_function(n: int, weights: PairWeights) -> dict[frozenset[int], Fraction]:
    """Total weight of the pairs that a set separates, for every subset of ``{0, ..., n-1}``."""
    for i, j in weights:
        if not 0 <= i < j < n:
            raise ValueError(f"a pair must satisfy 0 <= i < j < {n}, got {(i, j)}")
    return {
        frozenset(s): sum(
            (Fraction(c) for (i, j), c in weights.items() if (i in s) != (j in s)), Fraction(0)
        )
        for k in range(n + 1)
        for s in combinations(range(n), k)
    }


def cut_extension(n: int, weights: PairWeights, complex: BraidComplex | None = None) -> CPWL:
    r"""The Lovász extension :math:`\sum_{i<j}c_{ij}|x_i-x_j|` of the cut function."""
    return CPWL.from_set_function(n, cut_function(n, weights), complex=complex)
