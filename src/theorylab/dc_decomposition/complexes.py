"""Complete polyhedral complexes: maximal cells, walls between them, cycles around ridges."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

from theorylab.exact import IntVector, Polyhedron, Scalar, Vector

from .arrangements import (
    arrangement_cells,
    arrangement_ridges,
    arrangement_walls,
    checked_hyperplanes,
)
from .braid import braid_cell, braid_ridges, braid_walls
from .gluing import walls_and_ridges
from .products import product_cells, product_ridges, product_walls
from .ray_order import checked_rays
from .walls import BraidWall, Hyperplane, Ridge, Wall, check_dimension, checked_form

if TYPE_CHECKING:
    from theorylab.exact import ReLUNet

    from .balancing import WeightSpace
    from .functions import CPWL


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
        from .balancing import weight_space

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
        planes, n = checked_hyperplanes(hyperplanes, n, rationalise)
        cells = arrangement_cells(n, planes)
        signs = list(cells)
        walls = arrangement_walls(signs, planes)
        ridges = arrangement_ridges(signs, walls, planes, n)
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
        ordered = checked_rays(rays, rationalise)
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
        check_dimension(n)
        if not hreps:
            raise ValueError("a complex needs at least one cell, got none")
        cells = []
        for number, hrep in enumerate(hreps):
            name = f"inequality of cell {number}"
            forms = [checked_form(form, n, name, rationalise) for form in hrep]
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
        walls, wall_of = braid_walls(orders, number)
        ridges = braid_ridges(orders, number, walls, wall_of)
        cells = [braid_cell(order) for order in orders]
        return BraidComplex(n, cells, walls, ridges, orders)

    @staticmethod
    def product(left: Complex, right: Complex) -> ProductComplex:
        """Product complex: cells are products of cells; left coordinates come first."""
        n = left.n + right.n
        cells = product_cells(left, right)
        return ProductComplex(
            n, cells, product_walls(left, right), product_ridges(left, right), left, right
        )

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


def glue(n: int, cells: Sequence[Polyhedron]) -> Complex:
    """Return the complex with these maximal cells.

    Raises
    ------
    ValueError
        If a cell is not full-dimensional, if cells overlap, do not cover the space, or do not
        meet face to face.
    """
    walls, ridges = walls_and_ridges(n, cells)
    return Complex(n, cells, walls, ridges)
