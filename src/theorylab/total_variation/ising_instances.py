"""Random and structured Ising models and graphs for the chapter's checks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import networkx as nx
import numpy as np

from theorylab.total_variation.ising import Pair, RationalIsing

LARGEST = 9


def random_weight(rng: np.random.Generator) -> Fraction:
    """A quotient of two integers in 1..9."""
    numerator, denominator = rng.integers(1, LARGEST + 1, size=2)
    return Fraction(int(numerator), int(denominator))


def random_model(rng: np.random.Generator, n: int, density: float = 0.7) -> RationalIsing:
    """Random weights on a random graph with n spins."""
    pairs = [(i, j) for j in range(n) for i in range(j) if rng.random() < density]
    return RationalIsing(
        [random_weight(rng) for _ in range(n)], {pair: random_weight(rng) for pair in pairs}
    )


def strip_model(rng: np.random.Generator, height: int, width: int) -> RationalIsing:
    """Random weights on the height x width grid, numbered column by column."""
    pairs: list[Pair] = [
        (height * i + j, height * i + j + step)
        for i in range(width)
        for j in range(height)
        for step, inside in ((1, j + 1 < height), (height, i + 1 < width))
        if inside
    ]
    return RationalIsing(
        [random_weight(rng) for _ in range(height * width)],
        {pair: random_weight(rng) for pair in pairs},
    )


def random_graph(rng: np.random.Generator, n: int, density: float = 0.5) -> nx.Graph:
    """A graph on 0..n-1 with every edge present independently."""
    graph = nx.empty_graph(n)
    graph.add_edges_from((i, j) for j in range(n) for i in range(j) if rng.random() < density)
    return graph


def small_graphs(largest: int) -> Iterator[nx.Graph]:
    """All graphs with 1..largest vertices (at most 7), up to isomorphism."""
    for graph in nx.graph_atlas_g():
        if 1 <= graph.number_of_nodes() <= largest:
            yield graph
