"""The space of balanced weight vectors of a complex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd

from flint import fmpz_mat

from theorylab.exact import IntVector, Rational, clear_denominators, null_space, primitive
from theorylab.exact.matrices import null_space_with_free_columns

from .complexes import Complex
from .merging import classes, count_classes
from .walls import Ridge

RowNumbers = tuple[IntVector, int]


@dataclass(frozen=True)
class Row:
    r"""A direction of kinking: on its walls every balanced vector is ``scale`` times one number.

    Attributes
    ----------
    form : tuple of int
        Primitive integer form a; the number is :math:`a\cdot t` in the coordinates t.
    walls : tuple of int
        The walls of the row.
    scales : tuple of int
        Positive factors: :math:`w(\sigma)=\text{scale}_\sigma\,a\cdot t`.
    """

    form: IntVector
    walls: tuple[int, ...]
    scales: tuple[int, ...]


@dataclass(frozen=True)
class WeightSpace:
    r"""A basis of :math:`W_{\mathcal P}`, with walls that must carry equal weights merged.

    Attributes
    ----------
    complex : Complex
    classes : tuple of tuple of int
        Walls that carry equal weight because they are opposite at some simple crossing.
    class_of : tuple of int
        The class of every wall.
    class_basis : tuple of tuple of int
        d primitive integer vectors over the classes.
    free_classes : tuple of int
        Class k where basis vector k is positive and all others vanish.
    """

    complex: Complex
    classes: tuple[tuple[int, ...], ...]
    class_of: tuple[int, ...]
    class_basis: tuple[IntVector, ...]
    free_classes: tuple[int, ...]

    @property
    def dim(self) -> int:
        r"""Dimension :math:`d` of the space."""
        return len(self.class_basis)

    @cached_property
    def basis(self) -> list[list[Fraction]]:
        """The basis as d rows over all walls."""
        return [[Fraction(row[c]) for c in self.class_of] for row in self.class_basis]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Walls grouped by equal rows of the basis matrix, up to a positive factor."""
        groups: dict[IntVector, list[tuple[int, int]]] = {}
        for c, walls in enumerate(self.classes):
            column = [vector[c] for vector in self.class_basis]
            if any(column):
                form, scale = primitive(column)
                groups.setdefault(form, []).extend((wall, int(scale)) for wall in walls)
        return tuple(
            Row(form, tuple(wall for wall, _ in members), tuple(scale for _, scale in members))
            for form, members in groups.items()
        )

    def row_values(self, w: Sequence[Rational]) -> list[Fraction]:
        """Return the number of every row for a balanced weight vector."""
        return [Fraction(w[row.walls[0]]) / row.scales[0] for row in self.rows]

    def from_row_values(self, values: Sequence[Rational]) -> list[Fraction]:
        """Return the weight vector over all walls with these numbers on the rows."""
        w = [Fraction(0)] * len(self.class_of)
        for row, value in zip(self.rows, values, strict=True):
            if value:
                for wall, scale in zip(row.walls, row.scales, strict=True):
                    w[wall] = Fraction(value) * scale
        return w

    def numbers_at(self, points: Sequence[Sequence[Rational]]) -> list[RowNumbers]:
        """Return the row numbers at many points t, as reduced integers over a denominator."""
        if not points:
            return []
        cleared = [clear_denominators(point) for point in points]
        left = fmpz_mat([list(entries) for entries, _ in cleared])
        product = (left * self._transposed_forms).tolist()
        return [
            _reduced([int(entry) for entry in entries], denominator)
            for entries, (_, denominator) in zip(product, cleared, strict=True)
        ]

    def form_of_rows(self, factors: Sequence[int]) -> list[int]:
        """Return the form t -> sum of factor times row number, in the coordinates t."""
        combined = self._transposed_forms * fmpz_mat(len(self.rows), 1, list(factors))
        return [int(entry) for (entry,) in combined.tolist()]

    @cached_property
    def _transposed_forms(self) -> fmpz_mat:
        return fmpz_mat([list(row.form) for row in self.rows]).transpose()

    def count_regions(self, kinks: Sequence[object]) -> int:
        """Return the number of regions if exactly the rows with a true entry kink."""
        pairs = list(self._ends_off_rows)
        for ends, kink in zip(self._ends_by_row, kinks, strict=True):
            if not kink:
                pairs += ends
        return count_classes(len(self.complex.cells), pairs)

    @cached_property
    def _ends_by_row(self) -> list[list[tuple[int, int]]]:
        """Per row, the cells on the two sides of its walls."""
        walls = self.complex.walls
        return [[(walls[w].P, walls[w].Q) for w in row.walls] for row in self.rows]

    @cached_property
    def _ends_off_rows(self) -> list[tuple[int, int]]:
        """The cells on the two sides of the walls that never kink."""
        alive = {wall for row in self.rows for wall in row.walls}
        return [(w.P, w.Q) for k, w in enumerate(self.complex.walls) if k not in alive]

    def weights_at(self, point: Sequence[Rational]) -> list[Fraction]:
        """Return the weight vector with coordinates t, by rows."""
        if not self.rows:
            return [Fraction(0)] * len(self.class_of)
        entries, denominator = self.numbers_at([point])[0]
        return self.from_row_values([Fraction(entry, denominator) for entry in entries])

    def is_annihilator(self, v: Sequence[Rational]) -> bool:
        """Tell whether ``sum v_s w_s = 0`` for every balanced vector w."""
        totals = [Fraction(0)] * self.dim
        for row in self.rows:
            factor = sum(
                (v[wall] * scale for wall, scale in zip(row.walls, row.scales, strict=True)),
                Fraction(0),
            )
            if factor:
                totals = [t + factor * a for t, a in zip(totals, row.form, strict=True)]
        return not any(totals)

    def coordinates(self, w: Sequence[Rational]) -> list[Fraction] | None:
        """Return t with ``w = sum t_k basis[k]``, or None if the weights are not balanced."""
        t = [
            Fraction(w[self.classes[c][0]]) / row[c]
            for row, c in zip(self.class_basis, self.free_classes, strict=True)
        ]
        return t if self.weights_at(t) == list(map(Fraction, w)) else None


def weight_space(complex: Complex) -> WeightSpace:
    """Return the space of balanced weights.

    At a simple crossing (four walls in two hyperplanes) opposite walls have equal weights; these
    walls are merged first, so that only the other ridges enter a linear system.
    """
    simple = [is_simple_crossing(complex, ridge) for ridge in complex.ridges]
    class_of, merged_walls = _merge(complex, simple)
    rows: set[IntVector] = set()
    for ridge, merged in zip(complex.ridges, simple, strict=True):
        if not merged:
            rows.update(_balance_rows(complex, ridge, class_of, len(merged_walls)))
    basis, free = null_space_with_free_columns(sorted(rows), len(merged_walls))
    return WeightSpace(complex, merged_walls, class_of, tuple(basis), tuple(free))


def is_simple_crossing(complex: Complex, ridge: Ridge) -> bool:
    """Tell whether exactly two hyperplanes cross at the ridge."""
    if len(ridge.cycle) != 4:
        return False
    (a, _), (b, _), (c, _), (d, _) = ridge.cycle
    return _same_plane(complex, a, c) and _same_plane(complex, b, d)


def _same_plane(complex: Complex, left: int, right: int) -> bool:
    a, b = complex.walls[left].eta, complex.walls[right].eta
    return a == b or a == tuple(-entry for entry in b)


def _merge(
    complex: Complex, simple: Sequence[bool]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    pairs: list[tuple[int, int]] = []
    for ridge, merged in zip(complex.ridges, simple, strict=True):
        if merged:
            (a, _), (b, _), (c, _), (d, _) = ridge.cycle
            pairs += [(a, c), (b, d)]
    found = tuple(map(tuple, classes(len(complex.walls), pairs)))
    class_of = {wall: c for c, walls in enumerate(found) for wall in walls}
    return tuple(class_of[wall] for wall in range(len(class_of))), found


def _balance_rows(
    complex: Complex, ridge: Ridge, class_of: Sequence[int], count: int
) -> list[IntVector]:
    """Two independent equations: normals around a ridge span a plane."""
    normals = [complex.walls[index].eta for index, _ in ridge.cycle]
    i, j = _independent_coordinates(normals)
    rows = []
    for coordinate in (i, j):
        row = [0] * count
        for index, sign in ridge.cycle:
            row[class_of[index]] += sign * complex.walls[index].eta[coordinate]
        rows.append(tuple(row))
    return [row for row in rows if any(row)]


def _independent_coordinates(normals: Sequence[IntVector]) -> tuple[int, int]:
    first = normals[0]
    second = next(
        normal
        for normal in normals
        if any(
            first[p] * normal[q] != first[q] * normal[p]
            for p in range(len(first))
            for q in range(p)
        )
    )
    return next(
        (p, q)
        for p in range(len(first))
        for q in range(p)
        if first[p] * second[q] != first[q] * second[p]
    )


def _reduced(entries: Sequence[int], denominator: int) -> RowNumbers:
    divisor = gcd(denominator, *entries)
    return tuple(entry // divisor for entry in entries), denominator // divisor


def cycle_rows(complex: Complex) -> list[list[int]]:
    """Equations over all walls: going around any cycle of cells must return the affine map.

    One vector equation in (n+1)-space per wall outside a spanning tree of the dual graph; slow,
    an independent check of ``weight_space``.
    """
    paths: list[dict[int, int]] = [{} for _ in complex.cells]
    in_tree = set()
    for index, parent, child in complex.spanning_tree:
        sign = 1 if parent == complex.walls[index].P else -1
        paths[child] = {**paths[parent], index: sign}
        in_tree.add(index)
    rows = []
    for index, wall in enumerate(complex.walls):
        if index in in_tree:
            continue
        coefficients = {index: 1}
        for path, sign in ((paths[wall.P], 1), (paths[wall.Q], -1)):
            for step, direction in path.items():
                coefficients[step] = coefficients.get(step, 0) + sign * direction
        rows += _vector_equation(complex, coefficients)
    return rows


def ridge_rows(complex: Complex) -> list[list[int]]:
    """Equations over all walls: balancing at every ridge, one vector equation in n-space each."""
    rows = []
    for ridge in complex.ridges:
        for coordinate in range(complex.n):
            row = [0] * len(complex.walls)
            for index, sign in ridge.cycle:
                row[index] += sign * complex.walls[index].eta[coordinate]
            rows.append(row)
    return rows


def _vector_equation(complex: Complex, coefficients: dict[int, int]) -> list[list[int]]:
    """Write sum of c * w * (eta, beta) = 0 over the walls as n + 1 integer rows."""
    scale = 1
    for index in coefficients:
        scale = scale * complex.walls[index].beta.denominator
    rows = []
    for coordinate in range(complex.n + 1):
        row = [0] * len(complex.walls)
        for index, factor in coefficients.items():
            wall = complex.walls[index]
            entry = wall.eta[coordinate] if coordinate < complex.n else int(wall.beta * scale)
            row[index] = factor * entry
        rows.append(row)
    return rows


def plain_null_space(complex: Complex) -> list[IntVector]:
    """Null space of the full cycle matrix, without merging walls."""
    return null_space(cycle_rows(complex), len(complex.walls))
