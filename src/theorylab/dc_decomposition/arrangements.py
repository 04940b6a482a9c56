"""Hyperplane arrangements: cells by sign vectors, walls and ridges by combinatorics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations

from theorylab.exact import Polyhedron, Rational, Scalar, rank

from .walls import (
    Hyperplane,
    Ridge,
    Wall,
    canonical_hyperplane,
    check_dimension,
    checked_form,
    signed_cycle,
)


def checked_hyperplanes(
    hyperplanes: Sequence[tuple[Sequence[Scalar], Scalar]], n: int | None, rationalise: bool | int
) -> tuple[list[Hyperplane], int]:
    entries = list(hyperplanes)
    if n is None:
        if not entries:
            raise ValueError("an empty arrangement needs the dimension n")
        n = len(list(entries[0][0]))
    check_dimension(n)
    planes: list[Hyperplane] = []
    for number, entry in enumerate(entries):
        vector, offset = checked_form(entry, n, f"hyperplane {number}", rationalise)
        if not any(vector):
            raise ValueError(f"hyperplane {number} has the zero normal")
        plane = canonical_hyperplane(vector, offset)
        if plane in planes:
            raise ValueError(
                f"hyperplane {number} repeats hyperplane {planes.index(plane)}; pass each once"
            )
        planes.append(plane)
    return planes, n


def arrangement_cells(n: int, planes: Sequence[Hyperplane]) -> dict[int, Polyhedron]:
    """Cells by sign vector, a bit mask: bit k is set where ``a_k.x >= b_k``."""
    cells = {0: Polyhedron.universe(n)}
    for k, (normal, offset) in enumerate(planes):
        positive, negative = (normal, -offset), (tuple(-a for a in normal), offset)
        refined = {}
        for signs, cell in cells.items():
            side = cell.side(positive)
            if side <= 0:
                refined[signs] = cell if side else cell.cut(negative)
            if side >= 0:
                refined[signs | 1 << k] = cell if side else cell.cut(positive)
        cells = refined
    return cells


def arrangement_walls(signs: Sequence[int], planes: Sequence[Hyperplane]) -> list[Wall]:
    """Two cells are adjacent exactly if their sign vectors differ in one place."""
    number = {mask: k for k, mask in enumerate(signs)}
    return [
        Wall(number[mask], number[mask | 1 << k], normal, offset)
        for k, (normal, offset) in enumerate(planes)
        for mask in signs
        if not mask >> k & 1 and mask | 1 << k in number
    ]


def _codimension_two_flats(planes: Sequence[Hyperplane], n: int) -> list[list[int]]:
    """Sets of hyperplanes through a common flat of codimension two (maximal, at least two)."""
    flats: list[list[int]] = []
    covered: set[tuple[int, int]] = set()
    for i, j in combinations(range(len(planes)), 2):
        if (i, j) in covered:
            continue
        pencil = [(*planes[k][0], planes[k][1]) for k in (i, j)]
        if rank([row[:n] for row in pencil]) < 2:
            continue
        inside = _membership_in_pencil(pencil[0], pencil[1])
        flat = [k for k, plane in enumerate(planes) if inside((*plane[0], plane[1]))]
        covered.update(combinations(flat, 2))
        flats.append(flat)
    return flats


def _membership_in_pencil(
    first: Sequence[Rational], second: Sequence[Rational]
) -> Callable[[Sequence[Rational]], bool]:
    """Test whether a vector is a combination of two independent ones."""
    p, q = next(
        (p, q)
        for p, q in combinations(range(len(first)), 2)
        if first[p] * second[q] != first[q] * second[p]
    )
    minor = first[p] * second[q] - first[q] * second[p]

    def inside(row: Sequence[Rational]) -> bool:
        alpha = row[p] * second[q] - row[q] * second[p]
        beta = first[p] * row[q] - first[q] * row[p]
        return all(
            minor * entry == alpha * a + beta * b
            for entry, a, b in zip(row, first, second, strict=True)
        )

    return inside


def arrangement_ridges(
    signs: Sequence[int], walls: Sequence[Wall], planes: Sequence[Hyperplane], n: int
) -> list[Ridge]:
    """Closed walks around ridges.

    The cells with given signs off a flat's m hyperplanes are the sectors that a convex region
    meets; it meets all 2m of them if it contains a piece of the flat, else at most m + 1.
    """
    number = {mask: k for k, mask in enumerate(signs)}
    wall_between = {(wall.P, wall.Q): index for index, wall in enumerate(walls)}
    ridges = []
    for flat in _codimension_two_flats(planes, n):
        bits = [1 << k for k in flat]
        outside = ~sum(bits)
        sectors: dict[int, list[int]] = defaultdict(list)
        for mask in signs:
            sectors[mask & outside].append(mask)
        for group in sectors.values():
            if len(group) == 2 * len(flat):
                cycle = [number[mask] for mask in _walk_sectors(group, bits)]
                ridges.append(Ridge(signed_cycle(cycle, wall_between)))
    return ridges


def _walk_sectors(group: Sequence[int], bits: Sequence[int]) -> list[int]:
    """Order the sign vectors around a flat so that neighbours differ in one sign."""
    members, walk, previous = set(group), [group[0]], None
    while True:
        steps = [walk[-1] ^ bit for bit in bits if walk[-1] ^ bit in members]
        following = next(mask for mask in steps if mask != previous)
        if following == walk[0]:
            return walk
        previous = walk[-1]
        walk.append(following)
