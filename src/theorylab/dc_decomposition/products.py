"""Product complexes: (wall, cell) and (cell, wall) pairs, and the ridges between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theorylab.exact import Polyhedron

from .walls import Ridge, Wall

if TYPE_CHECKING:
    from .complexes import Complex


def product_cells(left: Complex, right: Complex) -> list[Polyhedron]:
    """Products of cells, those with the same left factor together."""
    return [_product_cell(p, q) for p in left.cells for q in right.cells]


def _product_cell(left: Polyhedron, right: Polyhedron) -> Polyhedron:
    forms = [(a + (0,) * right.n, b) for a, b in left.inequalities]
    forms += [((0,) * left.n + a, b) for a, b in right.inequalities]
    return Polyhedron.from_inequalities(left.n + right.n, forms)


def product_walls(left: Complex, right: Complex) -> list[Wall]:
    """All (wall, cell), then all (cell, wall)."""
    width = len(right.cells)
    across = [
        Wall(wall.P * width + q, wall.Q * width + q, wall.eta + (0,) * right.n, wall.beta)
        for wall in left.walls
        for q in range(width)
    ]
    along = [
        Wall(p * width + wall.P, p * width + wall.Q, (0,) * left.n + wall.eta, wall.beta)
        for p in range(len(left.cells))
        for wall in right.walls
    ]
    return across + along


def product_ridges(left: Complex, right: Complex) -> list[Ridge]:
    """(ridge, cell), (cell, ridge), and one simple crossing per pair of walls."""
    width, offset = len(right.cells), len(left.walls) * len(right.cells)

    def across(index: int, q: int) -> int:
        return index * width + q

    def along(p: int, index: int) -> int:
        return offset + p * len(right.walls) + index

    ridges = [
        Ridge(tuple((across(index, q), sign) for index, sign in ridge.cycle))
        for ridge in left.ridges
        for q in range(width)
    ]
    ridges += [
        Ridge(tuple((along(p, index), sign) for index, sign in ridge.cycle))
        for p in range(len(left.cells))
        for ridge in right.ridges
    ]
    ridges += [
        Ridge(((across(i, b.P), 1), (along(a.Q, j), 1), (across(i, b.Q), -1), (along(a.P, j), -1)))
        for i, a in enumerate(left.walls)
        for j, b in enumerate(right.walls)
    ]
    return ridges
