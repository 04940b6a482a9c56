"""Random integer networks and lattice polytopes for the chapter's checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from theorylab.exact import ReLUNet

from .hinges import Block
from .polytopes import LatticePolytope, hull_union, minkowski


def random_network(rng: np.random.Generator, widths: Sequence[int], size: int = 2) -> ReLUNet:
    """Integer weights in -size..size, no biases; widths from the inputs to the one output."""
    layers: list[Any] = [
        (rng.integers(-size, size + 1, (after, before)).tolist(), [0] * after)
        for before, after in pairwise(widths)
    ]
    return ReLUNet(layers)


def random_points(rng: np.random.Generator, count: int, n: int, size: int) -> list[list[int]]:
    """Integer points in -size..size."""
    return rng.integers(-size, size + 1, (count, n)).tolist()


def random_polytope(rng: np.random.Generator, d: int, size: int = 2) -> LatticePolytope:
    """Hull of d + 2 random points of dimension d."""
    return LatticePolytope(random_points(rng, d + 2, d, size))


def zonotope(generators: Sequence[Sequence[int]]) -> LatticePolytope:
    """Sum of the segments from the origin to the generators, vertices pruned at every step."""
    origin = [0] * len(generators[0])
    return minkowski(*(LatticePolytope([origin, generator]) for generator in generators))


def random_zonotope(
    rng: np.random.Generator, n: int, generators: int, size: int = 2
) -> LatticePolytope:
    """Lattice zonotope with that many random generators, moved by a random vector."""
    shift = rng.integers(-size, size + 1, n).tolist()
    return zonotope(random_points(rng, generators, n, size)).translated(shift)


def block_polytope(block: Block, n: int) -> LatticePolytope:
    """The polytope in n dimensions whose support function a block is."""
    units = [[int(i == j) for j in range(n)] for i in range(n)]
    sides = (
        minkowski(*(LatticePolytope([units[i], units[j]]) for i, j in side))
        for side in (block.left, block.right)
    )
    return hull_union(*sides)


def unimodular_embedding(
    rng: np.random.Generator, polytope: LatticePolytope, n: int
) -> LatticePolytope:
    """The polytope in n dimensions after a random change of lattice basis."""
    matrix = np.eye(n, dtype=object)
    for _ in range(2 * n):
        i, j = rng.choice(n, 2, replace=False)
        matrix[i] = matrix[i] + int(rng.integers(-2, 3)) * matrix[j]
    points = [[*v, *[0] * (n - len(v))] for v in polytope.vertices]
    return LatticePolytope([[int(x) for x in matrix @ np.array(p, dtype=object)] for p in points])
