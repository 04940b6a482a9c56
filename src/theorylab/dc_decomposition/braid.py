"""The braid fan by permutations: cells are orders, walls swap two neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from theorylab.exact import IntVector, Polyhedron

from .walls import BraidWall, Ridge, signed_cycle


def _unit_difference(n: int, plus: int, minus: int) -> IntVector:
    return tuple(int(k == plus) - int(k == minus) for k in range(n))


def braid_cell(order: tuple[int, ...]) -> Polyhedron:
    n = len(order)
    return Polyhedron.from_inequalities(
        n, [(_unit_difference(n, a, b), 0) for a, b in pairwise(order)]
    )


def braid_walls(
    orders: Sequence[tuple[int, ...]], number: dict[tuple[int, ...], int]
) -> tuple[list[BraidWall], dict[tuple[int, int], int]]:
    walls, wall_of = [], {}
    for order in orders:
        for place, (i, j) in enumerate(pairwise(order)):
            if i < j:
                swapped = (*order[:place], j, i, *order[place + 2 :])
                ends = number[swapped], number[order]
                wall_of[ends] = len(walls)
                eta = _unit_difference(len(order), i, j)
                walls.append(BraidWall(*ends, eta, Fraction(0), frozenset(order[:place]), (i, j)))
    return walls, wall_of


def braid_ridges(
    orders: Sequence[tuple[int, ...]],
    number: dict[tuple[int, ...], int],
    walls: Sequence[BraidWall],
    wall_of: dict[tuple[int, int], int],
) -> list[Ridge]:
    """Two swaps of neighbours: four cells if they are apart, six if they overlap."""
    n = len(orders[0])
    ridges = []
    for order in orders:
        for first, second in combinations(range(n - 1), 2):
            period = (first, second) * (3 if second == first + 1 else 2)
            walk = [order]
            for place in period[:-1]:
                here = walk[-1]
                walk.append((*here[:place], here[place + 1], here[place], *here[place + 2 :]))
            if order == min(walk):
                ridges.append(Ridge(signed_cycle([number[step] for step in walk], wall_of)))
    return ridges
