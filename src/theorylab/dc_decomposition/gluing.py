"""Walls and ridges of a complex that is given by its cells, with the checks that it is one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

from theorylab.exact import IntVector, Polyhedron, Rational, Vector, primitive, rank, rref

from .walls import Hyperplane, Ridge, Wall, canonical_hyperplane


def walls_and_ridges(n: int, cells: Sequence[Polyhedron]) -> tuple[list[Wall], list[Ridge]]:
    """Find walls and ridges of the complex with these maximal cells, and check that it is one.

    Raises
    ------
    ValueError
        If a cell is not full-dimensional, if cells overlap, do not cover the space, or do not
        meet face to face.
    """
    for number, cell in enumerate(cells):
        if cell.dimension < n:
            raise ValueError(f"cell {number} is not full-dimensional in {n}-space")
    facets = _Facets(n, cells)
    walls, slots = facets.matched_walls()
    _check_overlap(cells, [0])
    return walls, _glued_ridges(facets, slots, walls)


class _Facets:
    """Generators of all cells modulo the common lineality space, and the facets as subsets."""

    def __init__(self, n: int, cells: Sequence[Polyhedron]) -> None:
        self.n = n
        self.cells = cells
        self._check_common_lineality()
        self.sets: list[list[frozenset]] = []
        self.forms: list[list[tuple[IntVector, int]]] = []
        project = _projection_along(cells[0].lines, n)
        for cell in cells:
            points = [(project(point), point) for point in cell.points]
            rays = [(primitive(project(ray))[0], ray) for ray in cell.rays]
            self.forms.append(list(cell.inequalities))
            self.sets.append([_facet_set(form, points, rays) for form in cell.inequalities])

    def _check_common_lineality(self) -> None:
        lines = self.cells[0].lines
        for number, cell in enumerate(self.cells):
            joint = rank([*lines, *cell.lines], self.n)
            if len(cell.lines) != len(lines) or joint != len(lines):
                _check_overlap(self.cells, range(len(self.cells)))
                raise ValueError(
                    f"not face to face: cells 0 and {number} have different lineality spaces"
                )

    def matched_walls(self) -> tuple[list[Wall], dict[tuple[int, int], tuple[int, int]]]:
        """Return the walls and, per (cell, facet), the (wall index, neighbouring cell)."""
        found: dict[tuple[Hyperplane, frozenset], list[tuple[int, int]]] = defaultdict(list)
        for c, forms in enumerate(self.forms):
            for k, (normal, constant) in enumerate(forms):
                key = canonical_hyperplane(normal, -constant), self.sets[c][k]
                found[key].append((c, k))
        walls: list[Wall] = []
        slots: dict[tuple[int, int], tuple[int, int]] = {}
        for ends in found.values():
            if len(ends) != 2:
                self._explain(ends)
            (p, i), (q, j) = ends
            normal, scale = primitive(self.forms[q][j][0])
            if primitive(self.forms[p][i][0])[0] == normal:
                raise ValueError(f"cells {p} and {q} overlap: they lie on one side of a facet")
            slots[p, i], slots[q, j] = (len(walls), q), (len(walls), p)
            walls.append(Wall(p, q, normal, Fraction(-self.forms[q][j][1]) / scale))
        return walls, slots

    def _explain(self, ends: list[tuple[int, int]]) -> None:
        """Raise the error that says what is wrong with a facet that has not two cells."""
        _check_overlap(self.cells, range(len(self.cells)))
        c, k = ends[0]
        normal, constant = self.forms[c][k]
        for other, cell in enumerate(self.cells):
            if other != c:
                contact = cell.intersection(self.cells[c]).face((normal, constant))
                if contact.dimension == self.n - 1:
                    raise ValueError(
                        f"not face to face: cells {c} and {other} touch along a part of a facet"
                    )
        raise ValueError(
            f"the cells do not cover the space: nothing lies beyond the facet "
            f"{normal}.x + {constant} = 0 of cell {c}"
        )


def _projection_along(lines: Sequence[IntVector], n: int) -> Callable[[Sequence[Rational]], Vector]:
    """Return the linear map that forgets the lineality space (zero at the pivot coordinates)."""
    rows, pivots = rref(lines, n)

    def project(vector: Sequence[Rational]) -> Vector:
        entries = [Fraction(entry) for entry in vector]
        for row, pivot in zip(rows, pivots, strict=True):
            factor = entries[pivot]
            if factor:
                entries = [entry - factor * r for entry, r in zip(entries, row, strict=True)]
        return tuple(entries)

    return project


def _facet_set(
    form: tuple[IntVector, int],
    points: Sequence[tuple[Vector, Vector]],
    rays: Sequence[tuple[IntVector, IntVector]],
) -> frozenset:
    normal, constant = form
    on = [
        ("point", key)
        for key, point in points
        if sum(a * x for a, x in zip(normal, point, strict=True)) + constant == 0
    ]
    on += [
        ("ray", key)
        for key, ray in rays
        if sum(a * x for a, x in zip(normal, ray, strict=True)) == 0
    ]
    return frozenset(on)


def _check_overlap(cells: Sequence[Polyhedron], chosen: Sequence[int]) -> None:
    """Check that the interiors of the chosen cells meet no other cell.

    Cells glued facet to facet cover every generic point equally often, so that one chosen cell
    decides for all.
    """
    for number in chosen:
        for other, cell in enumerate(cells):
            if other != number and cell.intersection(cells[number]).dimension == cell.n:
                raise ValueError(f"cells {number} and {other} overlap")


def _glued_ridges(
    facets: _Facets, slots: dict[tuple[int, int], tuple[int, int]], walls: Sequence[Wall]
) -> list[Ridge]:
    """A face of a cell is a ridge if it has a point and lies in exactly two facets."""
    corners: dict[frozenset, dict[int, tuple[int, int]]] = defaultdict(dict)
    for c, sets in enumerate(facets.sets):
        for i, j in combinations(range(len(sets)), 2):
            common = sets[i] & sets[j]
            has_point = any(kind == "point" for kind, _ in common)
            if has_point and sum(common <= facet for facet in sets) == 2:
                corners[common][c] = (i, j)
    return [Ridge(_walk_ridge(around, slots, walls)) for around in corners.values()]


def _walk_ridge(
    around: dict[int, tuple[int, int]],
    slots: dict[tuple[int, int], tuple[int, int]],
    walls: Sequence[Wall],
) -> tuple[tuple[int, int], ...]:
    start = min(around)
    cell, cycle, entered = start, [], -1
    while True:
        leaving = next(k for k in around[cell] if slots[cell, k][0] != entered)
        entered, following = slots[cell, leaving]
        cycle.append((entered, 1 if cell == walls[entered].P else -1))
        cell = following
        if cell == start:
            return tuple(cycle)
