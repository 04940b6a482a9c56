"""Complete polyhedral complexes: maximal cells, walls between them, cycles around ridges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, cmp_to_key
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from theorylab.exact import (
    IntVector,
    Polyhedron,
    Rational,
    Scalar,
    Vector,
    primitive,
    rank,
    rational,
    rational_vector,
    rref,
)

if TYPE_CHECKING:
    from .functions import CPWL
    from .networks import ReLUNet
    from .weight_space import WeightSpace

Affine = tuple[Sequence[Scalar], Scalar]
Hyperplane = tuple[IntVector, Fraction]


@dataclass(frozen=True)
class Wall:
    r"""A facet shared by the cells ``P`` and ``Q``, inside :math:`\{\eta x=\beta\}`.

    Attributes
    ----------
    P, Q : int
        Indices of the two cells.
    eta : tuple of int
        Primitive integer normal, pointing from ``P`` to ``Q``.
    beta : Fraction
        Offset of the hyperplane.
    """

    P: int
    Q: int
    eta: IntVector
    beta: Fraction


@dataclass(frozen=True)
class BraidWall(Wall):
    """A wall of the braid fan: the coordinates in ``S`` are the largest, then ``pair`` tie."""

    S: frozenset[int]
    pair: tuple[int, int]


@dataclass(frozen=True)
class Ridge:
    """A face of codimension two, as the closed walk around it.

    Attributes
    ----------
    cycle : tuple of (int, int)
        Pairs (wall index, sign) in walking order; +1 when the wall is crossed from its ``P``
        to its ``Q``.
    """

    cycle: tuple[tuple[int, int], ...]


class Complex:
    """A complete polyhedral complex in n-space, by maximal cells, walls and ridges.

    Use one of the constructors ``from_arrangement``, ``from_fan2d``, ``from_cells``, ``braid``,
    ``product`` and ``from_network``.

    Attributes
    ----------
    n : int
        Dimension of the space.
    cells : list of Polyhedron
        The maximal cells.
    walls : list of Wall
        One per pair of adjacent cells.
    ridges : list of Ridge
        One closed walk per face of codimension two.
    """

    def __init__(
        self,
        n: int,
        cells: Sequence[Polyhedron],
        walls: Sequence[Wall],
        ridges: Sequence[Ridge],
    ) -> None:
        self.n = n
        self.cells = list(cells)
        self.walls = list(walls)
        self.ridges = list(ridges)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n={self.n}, {len(self.cells)} cells, "
            f"{len(self.walls)} walls, {len(self.ridges)} ridges)"
        )

    @cached_property
    def spanning_tree(self) -> list[tuple[int, int, int]]:
        """Breadth-first tree of the dual graph: (wall, parent cell, child cell) in order."""
        neighbours: list[list[tuple[int, int]]] = [[] for _ in self.cells]
        for number, wall in enumerate(self.walls):
            neighbours[wall.P].append((number, wall.Q))
            neighbours[wall.Q].append((number, wall.P))
        seen, queue, tree = {0}, [0], []
        for cell in queue:
            for number, other in neighbours[cell]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
                    tree.append((number, cell, other))
        return tree

    @cached_property
    def interior_points(self) -> list[Vector]:
        """One interior point per cell."""
        return [cell.interior_point() for cell in self.cells]

    @cached_property
    def weight_space(self) -> WeightSpace:
        """The space of balanced weights, computed once."""
        from .weight_space import weight_space

        return weight_space(self)

    def wall_polyhedron(self, index: int) -> Polyhedron:
        """Return the wall as a polyhedron of dimension n - 1."""
        wall = self.walls[index]
        return self.cells[wall.P].face((wall.eta, -wall.beta))

    @staticmethod
    def from_arrangement(
        hyperplanes: Sequence[tuple[Sequence[Scalar], Scalar]],
        n: int | None = None,
        *,
        rationalise: bool | int = False,
    ) -> ArrangementComplex:
        """Cells of the arrangement of the hyperplanes ``a.x = b``.

        Cells are split one hyperplane at a time, a cell only if the exact range of the linear
        form on it is two-sided.

        Raises
        ------
        ValueError
            For a zero normal, a repeated hyperplane, an empty list without ``n``, wrong lengths.
        TypeError
            For floats unless ``rationalise`` is given.
        """
        planes, n = _checked_hyperplanes(hyperplanes, n, rationalise)
        cells = _arrangement_cells(n, planes)
        signs = list(cells)
        walls = _arrangement_walls(signs, planes)
        ridges = _arrangement_ridges(signs, walls, planes, n)
        return ArrangementComplex(n, list(cells.values()), walls, ridges, planes)

    @staticmethod
    def from_fan2d(
        rays: Sequence[Sequence[Scalar]], *, rationalise: bool | int = False
    ) -> PlaneFan:
        """Complete fan in the plane with these rays (any order; made primitive, sorted ccw).

        Raises
        ------
        ValueError
            For a zero or repeated ray, and if two neighbouring rays span an angle of 180 degrees
            or more (the cells must be strictly convex cones).
        TypeError
            For floats unless ``rationalise`` is given.
        """
        ordered = _checked_rays(rays, rationalise)
        count = len(ordered)
        cells = [
            Polyhedron.from_generators(2, [(0, 0)], [ordered[k], ordered[(k + 1) % count]])
            for k in range(count)
        ]
        walls = [
            Wall((k - 1) % count, k, (-ray[1], ray[0]), Fraction(0))
            for k, ray in enumerate(ordered)
        ]
        ridge = Ridge(tuple((k, 1) for k in range(count)))
        return PlaneFan(2, cells, walls, [ridge], ordered)

    @staticmethod
    def from_cells(
        n: int,
        hreps: Sequence[Sequence[tuple[Sequence[Scalar], Scalar]]],
        *,
        rationalise: bool | int = False,
    ) -> Complex:
        """Complex with the given maximal cells, each a list of inequalities ``a.x + b >= 0``.

        Raises
        ------
        ValueError
            If a cell is not full-dimensional, if cells overlap, do not cover the space, or do
            not meet face to face.
        TypeError
            For floats unless ``rationalise`` is given.
        """
        _check_dimension(n)
        if not hreps:
            raise ValueError("a complex needs at least one cell, got none")
        cells = []
        for number, hrep in enumerate(hreps):
            name = f"inequality of cell {number}"
            forms = [_checked_form(form, n, name, rationalise) for form in hrep]
            cells.append(Polyhedron.from_inequalities(n, forms))
        return glue(n, cells)

    @staticmethod
    def braid(n: int) -> BraidComplex:
        """Braid fan: one cell per order of the n coordinates, walls where two neighbours tie.

        Raises
        ------
        ValueError
            For ``n < 2``.
        """
        if n < 2:
            raise ValueError(f"the braid fan needs n >= 2, got {n}")
        orders = list(permutations(range(n)))
        number = {order: k for k, order in enumerate(orders)}
        walls, wall_of = _braid_walls(orders, number)
        ridges = _braid_ridges(orders, number, walls, wall_of)
        cells = [_braid_cell(order) for order in orders]
        return BraidComplex(n, cells, walls, ridges, orders)

    @staticmethod
    def product(left: Complex, right: Complex) -> ProductComplex:
        """Product complex: cells are products of cells; left coordinates come first."""
        return _product(left, right)

    @staticmethod
    def from_network(net: ReLUNet) -> tuple[Complex, CPWL]:
        """Activation complex of a ReLU network with one output, and the function it computes."""
        from .activation import activation_complex

        return activation_complex(net)


class ArrangementComplex(Complex):
    """Cells of a hyperplane arrangement; ``hyperplanes`` lists (primitive normal, offset)."""

    def __init__(
        self,
        n: int,
        cells: Sequence[Polyhedron],
        walls: Sequence[Wall],
        ridges: Sequence[Ridge],
        hyperplanes: Sequence[Hyperplane],
    ) -> None:
        super().__init__(n, cells, walls, ridges)
        self.hyperplanes = list(hyperplanes)


class PlaneFan(Complex):
    """Complete fan in the plane; ``rays[k]`` (ccw order) spans wall ``k``."""

    def __init__(
        self,
        n: int,
        cells: Sequence[Polyhedron],
        walls: Sequence[Wall],
        ridges: Sequence[Ridge],
        rays: Sequence[IntVector],
    ) -> None:
        super().__init__(n, cells, walls, ridges)
        self.rays = list(rays)


class BraidComplex(Complex):
    """Braid fan; ``orders[k]`` lists the coordinates of cell ``k`` from largest to smallest."""

    walls: list[BraidWall]  # type: ignore[assignment]

    def __init__(
        self,
        n: int,
        cells: Sequence[Polyhedron],
        walls: Sequence[BraidWall],
        ridges: Sequence[Ridge],
        orders: Sequence[tuple[int, ...]],
    ) -> None:
        super().__init__(n, cells, walls, ridges)
        self.orders = list(orders)


class ProductComplex(Complex):
    """Product of ``left`` and ``right``.

    Cell ``(p, q)`` has index ``p * len(right.cells) + q``. Walls come as all
    (wall of ``left``, cell of ``right``), then all (cell of ``left``, wall of ``right``).
    """

    def __init__(
        self,
        n: int,
        cells: Sequence[Polyhedron],
        walls: Sequence[Wall],
        ridges: Sequence[Ridge],
        left: Complex,
        right: Complex,
    ) -> None:
        super().__init__(n, cells, walls, ridges)
        self.left = left
        self.right = right


def _check_dimension(n: object) -> None:
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"the dimension n must be an int, got {n!r}")
    if n < 1:
        raise ValueError(f"the dimension n must be at least 1, got {n}")


def _checked_form(
    form: object, n: int, name: str, rationalise: bool | int
) -> tuple[Vector, Fraction]:
    if not isinstance(form, Sequence) or isinstance(form, str) or len(form) != 2:
        raise TypeError(f"{name} must be a pair (vector, scalar), got {form!r}")
    vector = rational_vector(form[0], n, name, rationalise=rationalise)
    return vector, rational(form[1], name, rationalise=rationalise)


# --- arrangements ---------------------------------------------------------------------------


def _checked_hyperplanes(
    hyperplanes: Sequence[tuple[Sequence[Scalar], Scalar]], n: int | None, rationalise: bool | int
) -> tuple[list[Hyperplane], int]:
    entries = list(hyperplanes)
    if n is None:
        if not entries:
            raise ValueError("an empty arrangement needs the dimension n")
        n = len(list(entries[0][0]))
    _check_dimension(n)
    planes: list[Hyperplane] = []
    for number, entry in enumerate(entries):
        vector, offset = _checked_form(entry, n, f"hyperplane {number}", rationalise)
        if not any(vector):
            raise ValueError(f"hyperplane {number} has the zero normal")
        plane = canonical_hyperplane(vector, offset)
        if plane in planes:
            raise ValueError(
                f"hyperplane {number} repeats hyperplane {planes.index(plane)}; pass each once"
            )
        planes.append(plane)
    return planes, n


def canonical_hyperplane(vector: Sequence[Rational], offset: Rational) -> Hyperplane:
    """Return ``a.x = b`` with primitive integer normal whose first nonzero entry is positive."""
    normal, scale = primitive(vector)
    if next(entry for entry in normal if entry) < 0:
        normal, scale = tuple(-entry for entry in normal), -scale
    return normal, Fraction(offset) / scale


def _arrangement_cells(n: int, planes: Sequence[Hyperplane]) -> dict[int, Polyhedron]:
    """Cells by sign vector, a bit mask: bit k is set where ``a_k.x >= b_k``."""
    cells = {0: Polyhedron.universe(n)}
    for k, (normal, offset) in enumerate(planes):
        positive, negative = (normal, -offset), (tuple(-a for a in normal), offset)
        refined = {}
        for signs, cell in cells.items():
            side = cell.side(positive)
            if side >= 0:
                refined[signs | 1 << k] = cell if side else cell.cut(positive)
            if side <= 0:
                refined[signs] = cell if side else cell.cut(negative)
        cells = refined
    return cells


def _arrangement_walls(signs: Sequence[int], planes: Sequence[Hyperplane]) -> list[Wall]:
    """Two cells are adjacent exactly if their sign vectors differ in one place."""
    number = {mask: k for k, mask in enumerate(signs)}
    walls = []
    for k, (normal, offset) in enumerate(planes):
        for mask in signs:
            if not mask >> k & 1 and mask | 1 << k in number:
                walls.append(Wall(number[mask], number[mask | 1 << k], normal, offset))
    return walls


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


def _arrangement_ridges(
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
                ridges.append(Ridge(_signed_cycle(cycle, wall_between)))
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


def _signed_cycle(
    cells: Sequence[int], wall_between: dict[tuple[int, int], int]
) -> tuple[tuple[int, int], ...]:
    """Turn a closed walk of cells into (wall, sign) pairs."""
    cycle = []
    for here, there in zip(cells, (*cells[1:], cells[0]), strict=True):
        if (here, there) in wall_between:
            cycle.append((wall_between[here, there], 1))
        else:
            cycle.append((wall_between[there, here], -1))
    return tuple(cycle)


# --- plane fans -----------------------------------------------------------------------------


def _checked_rays(rays: Sequence[Sequence[Scalar]], rationalise: bool | int) -> list[IntVector]:
    directions = []
    for number, ray in enumerate(rays):
        vector = rational_vector(ray, 2, f"ray {number}", rationalise=rationalise)
        if not any(vector):
            raise ValueError(f"ray {number} is the zero vector")
        direction = primitive(vector)[0]
        if direction in directions:
            raise ValueError(f"ray {number} repeats ray {directions.index(direction)}")
        directions.append(direction)
    ordered = sorted(directions, key=cmp_to_key(_counterclockwise))
    if len(ordered) < 3:
        raise ValueError(f"a complete fan with strictly convex cones needs 3 rays, got {len(rays)}")
    for first, second in zip(ordered, (*ordered[1:], ordered[0]), strict=True):
        if _cross(first, second) <= 0:
            raise ValueError(
                f"incomplete fan: the cone from {first} to {second} is not strictly convex"
            )
    return ordered


def _cross(left: Sequence[int], right: Sequence[int]) -> int:
    return left[0] * right[1] - left[1] * right[0]


def _counterclockwise(left: IntVector, right: IntVector) -> int:
    """Compare directions by angle in [0, 2 pi)."""
    halves = [int(y < 0 or (y == 0 and x < 0)) for x, y in (left, right)]
    if halves[0] != halves[1]:
        return halves[0] - halves[1]
    return -_cross(left, right)


# --- braid fan ------------------------------------------------------------------------------


def _unit_difference(n: int, plus: int, minus: int) -> IntVector:
    return tuple(int(k == plus) - int(k == minus) for k in range(n))


def _braid_cell(order: tuple[int, ...]) -> Polyhedron:
    n = len(order)
    return Polyhedron.from_inequalities(
        n, [(_unit_difference(n, a, b), 0) for a, b in zip(order, order[1:], strict=False)]
    )


def _braid_walls(
    orders: Sequence[tuple[int, ...]], number: dict[tuple[int, ...], int]
) -> tuple[list[BraidWall], dict[tuple[int, int], int]]:
    walls, wall_of = [], {}
    for order in orders:
        for place, (i, j) in enumerate(zip(order, order[1:], strict=False)):
            if i < j:
                swapped = (*order[:place], j, i, *order[place + 2 :])
                ends = number[swapped], number[order]
                wall_of[ends] = len(walls)
                eta = _unit_difference(len(order), i, j)
                walls.append(BraidWall(*ends, eta, Fraction(0), frozenset(order[:place]), (i, j)))
    return walls, wall_of


def _braid_ridges(
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
                ridges.append(Ridge(_signed_cycle([number[step] for step in walk], wall_of)))
    return ridges


# --- products -------------------------------------------------------------------------------


def _product(left: Complex, right: Complex) -> ProductComplex:
    n, width = left.n + right.n, len(right.cells)
    pad_left, pad_right = (0,) * left.n, (0,) * right.n
    cells = [_product_cell(p, q, left.n, right.n) for p in left.cells for q in right.cells]
    walls = [
        Wall(wall.P * width + q, wall.Q * width + q, wall.eta + pad_right, wall.beta)
        for wall in left.walls
        for q in range(width)
    ]
    offset = len(walls)
    walls += [
        Wall(p * width + wall.P, p * width + wall.Q, pad_left + wall.eta, wall.beta)
        for p in range(len(left.cells))
        for wall in right.walls
    ]

    def left_wall(index: int, q: int) -> int:
        return index * width + q

    def right_wall(p: int, index: int) -> int:
        return offset + p * len(right.walls) + index

    ridges = [
        Ridge(tuple((left_wall(index, q), sign) for index, sign in ridge.cycle))
        for ridge in left.ridges
        for q in range(width)
    ]
    ridges += [
        Ridge(tuple((right_wall(p, index), sign) for index, sign in ridge.cycle))
        for p in range(len(left.cells))
        for ridge in right.ridges
    ]
    for i, a in enumerate(left.walls):
        for j, b in enumerate(right.walls):
            cycle = (
                (left_wall(i, b.P), 1),
                (right_wall(a.Q, j), 1),
                (left_wall(i, b.Q), -1),
                (right_wall(a.P, j), -1),
            )
            ridges.append(Ridge(cycle))
    return ProductComplex(n, cells, walls, ridges, left, right)


def _product_cell(left: Polyhedron, right: Polyhedron, m: int, n: int) -> Polyhedron:
    forms = [(a + (0,) * n, b) for a, b in left.inequalities]
    forms += [((0,) * m + a, b) for a, b in right.inequalities]
    return Polyhedron.from_inequalities(m + n, forms)


# --- complexes from a list of cells -----------------------------------------------------------


def glue(n: int, cells: Sequence[Polyhedron]) -> Complex:
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
    _check_multiplicity(cells)
    return Complex(n, cells, walls, _glued_ridges(facets, slots, walls))


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
        if len(ends) > 2:
            raise ValueError(f"cells {[c for c, _ in ends]} overlap: they share one facet")
        c, k = ends[0]
        normal, constant = self.forms[c][k]
        _check_multiplicity(self.cells)
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


def _check_multiplicity(cells: Sequence[Polyhedron]) -> None:
    """Check that no other cell meets the interior of cell 0.

    Cells glued facet to facet cover every generic point equally often, so one point decides.
    """
    centre = cells[0].interior_point()
    for number, cell in enumerate(cells[1:], start=1):
        if cell.contains(centre) and cell.intersection(cells[0]).dimension == cells[0].n:
            raise ValueError(f"cells 0 and {number} overlap")


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
    ridges = []
    for around in corners.values():
        ridges.append(Ridge(_walk_ridge(around, slots, walls)))
    return ridges


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
        cycle.append((entered, 1 if walls[entered].P == cell else -1))
        cell = following
        if cell == start:
            return tuple(cycle)
