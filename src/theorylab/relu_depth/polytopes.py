"""Lattice polytopes: vertices, faces, normalised and mixed volumes, Minkowski sums; all exact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import factorial
from numbers import Integral
from typing import Any

import numpy as np
from flint import fmpz_mat

from .hulls import Hull, convex_hull, lattice_coordinates

Point = tuple[int, ...]


def _point(coordinates: Any, number: int) -> Point:
    if isinstance(coordinates, (str, bytes)) or not hasattr(coordinates, "__iter__"):
        raise TypeError(f"point {number} must be a sequence of integers, got {coordinates!r}")
    return tuple(_integer(value, number) for value in coordinates)


def _integer(value: Any, number: int) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"point {number} holds the boolean {value}; give integers")
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    kind = "ValueError" if isinstance(value, Fraction) else "TypeError"
    message = (
        f"point {number} holds {value!r}, which is no integer; multiply the polytope by a common "
        "denominator first"
    )
    raise {"ValueError": ValueError, "TypeError": TypeError}[kind](message)


class LatticePolytope:
    """Convex hull of integer points.

    Parameters
    ----------
    points : integer array of shape (m, n), or sequence of integer sequences
        At least one; repeated and interior points are allowed.

    Raises
    ------
    TypeError
        For floats, booleans and other non-integers.
    ValueError
        For no points, ragged points, or fractions with a denominator.
    """

    def __init__(self, points: Iterable[Sequence[int]] | np.ndarray) -> None:
        listed = points.tolist() if isinstance(points, np.ndarray) else list(points)
        found = [_point(point, number) for number, point in enumerate(listed)]
        if not found:
            raise ValueError("a polytope needs at least one point, got none")
        widths = sorted({len(point) for point in found})
        if len(widths) > 1:
            raise ValueError(f"points have different numbers of coordinates: {widths}")
        self._points = sorted(set(found))
        self.ambient_dim: int = widths[0]

    @cached_property
    def _coordinates(self) -> list[Point]:
        return lattice_coordinates(self._points)

    @property
    def dim(self) -> int:
        """Dimension of the affine hull."""
        return len(self._coordinates[0])

    @cached_property
    def _hull(self) -> Hull:
        return convex_hull(self._coordinates)

    @cached_property
    def _incidences(self) -> list[frozenset[int]]:
        """For each facet the indices of the points on it."""
        homogeneous = [(*point, 1) for point in self._coordinates]
        return [
            frozenset(
                i
                for i, point in enumerate(homogeneous)
                if not sum(a * x for a, x in zip(form, point, strict=True))
            )
            for form in self._hull.facets
        ]

    @cached_property
    def _vertex_indices(self) -> tuple[int, ...]:
        """Points that are alone on the facets through them."""
        if self.dim == 0:
            return (0,)
        found = []
        for i in range(len(self._points)):
            through = [facet for facet in self._incidences if i in facet]
            if through and frozenset.intersection(*through) == {i}:
                found.append(i)
        return tuple(found)

    @cached_property
    def vertices(self) -> tuple[Point, ...]:
        """The vertices, sorted."""
        return tuple(self._points[i] for i in self._vertex_indices)

    @cached_property
    def facets(self) -> tuple[LatticePolytope, ...]:
        """The facets as polytopes; a point has none."""
        return self.faces(self.dim - 1) if self.dim else ()

    @cached_property
    def _face_sets(self) -> frozenset[frozenset[int]]:
        """Vertex sets of all non-empty proper faces: intersections of facets."""
        vertices = frozenset(self._vertex_indices)
        if self.dim == 0:
            return frozenset()
        facets = {facet & vertices for facet in self._incidences}
        found, fresh = set(facets), set(facets)
        while fresh:
            fresh = {face & facet for face in fresh for facet in facets} - found - {frozenset()}
            found |= fresh
        return frozenset(found)

    def faces(self, k: int) -> tuple[LatticePolytope, ...]:
        """The faces of dimension k, the polytope itself included if k is its dimension.

        Parameters
        ----------
        k : int
            0 <= k <= dim.

        Raises
        ------
        ValueError
            If k is out of range.
        """
        if not 0 <= k <= self.dim:
            raise ValueError(f"k must be between 0 and the dimension {self.dim}, got {k}")
        if k == self.dim:
            return (self,)
        found = (
            sorted(self._points[i] for i in face)
            for face in self._face_sets
            if len(face) > k and self._rank(face) == k
        )
        return tuple(LatticePolytope(points) for points in sorted(found))

    def _rank(self, face: frozenset[int]) -> int:
        first, *others = face
        origin = self._coordinates[first]
        rows = [[x - o for x, o in zip(self._coordinates[i], origin, strict=True)] for i in others]
        return fmpz_mat(rows).rank() if rows else 0

    def volume(self) -> int:
        """Volume in the lattice of the affine hull, the unit simplex having volume 1."""
        return self._hull.volume if self.dim else 1

    def translated(self, shift: Sequence[int]) -> LatticePolytope:
        """The polytope moved by an integer vector of length n."""
        moved = _point(shift, 0)
        if len(moved) != self.ambient_dim:
            raise ValueError(f"shift needs {self.ambient_dim} entries, got {len(moved)}")
        return LatticePolytope([_sum(point, moved) for point in self.vertices])

    def __eq__(self, other: object) -> bool:
        """Whether both are the same set of points."""
        return isinstance(other, LatticePolytope) and self.vertices == other.vertices

    def __hash__(self) -> int:
        return hash(self.vertices)

    def __repr__(self) -> str:
        return (
            f"LatticePolytope of dimension {self.dim} with {len(self.vertices)} vertices "
            f"in Z^{self.ambient_dim}"
        )


def _sum(left: Point, right: Point) -> Point:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _same_space(polytopes: Sequence[LatticePolytope]) -> None:
    dimensions = sorted({polytope.ambient_dim for polytope in polytopes})
    if len(dimensions) != 1:
        raise ValueError(f"polytopes must live in one space, got dimensions {dimensions}")


def normalized_volume(polytope: LatticePolytope, d: int | None = None) -> int:
    r""":math:`\mathrm{Vol}_d(P)`, normalised so that the unit simplex has volume 1.

    Parameters
    ----------
    polytope : LatticePolytope
    d : int, optional
        The dimension in which to measure; that of the polytope if omitted.

    Returns
    -------
    int
        0 if the dimension of the polytope is less than d.

    Raises
    ------
    ValueError
        If the dimension is larger than d.
    """
    if d is None or d == polytope.dim:
        return polytope.volume()
    if polytope.dim > d:
        raise ValueError(f"a polytope of dimension {polytope.dim} has no volume in dimension {d}")
    return 0


def minkowski(*polytopes: LatticePolytope) -> LatticePolytope:
    r"""The Minkowski sum :math:`\{\sum_i x_i : x_i \in P_i\}` of one or more polytopes."""
    if not polytopes:
        raise ValueError("the sum of no polytopes has no space to live in")
    _same_space(polytopes)
    total = polytopes[0]
    for polytope in polytopes[1:]:
        total = LatticePolytope([_sum(a, b) for a in total.vertices for b in polytope.vertices])
    return total


def hull_union(*polytopes: LatticePolytope) -> LatticePolytope:
    """The convex hull of the union of one or more polytopes."""
    if not polytopes:
        raise ValueError("the hull of no polytopes is empty")
    _same_space(polytopes)
    return LatticePolytope([vertex for polytope in polytopes for vertex in polytope.vertices])


def dilate(polytope: LatticePolytope, factor: int) -> LatticePolytope:
    """The dilate by a non-negative integer factor."""
    if isinstance(factor, bool) or not isinstance(factor, Integral) or factor < 0:
        raise ValueError(f"factor must be a non-negative integer, got {factor!r}")
    scale = int(factor)
    return LatticePolytope([tuple(scale * x for x in point) for point in polytope.vertices])


def support(polytope: LatticePolytope, x: Sequence[int | Fraction]) -> int | Fraction:
    r"""Support function :math:`h_P(x) = \max_{y \in P} x^\top y`, exact.

    Parameters
    ----------
    polytope : LatticePolytope
    x : sequence of int or Fraction
        Of length n; floats are refused.
    """
    if any(isinstance(value, (float, np.floating)) for value in x):
        raise TypeError(f"x must be exact (int or Fraction), got {x!r}")
    if len(x) != polytope.ambient_dim:
        raise ValueError(f"x needs {polytope.ambient_dim} entries, got {len(x)}")
    return max(sum(a * b for a, b in zip(x, y, strict=True)) for y in polytope.vertices)


def mixed_volume(polytopes: Sequence[LatticePolytope]) -> int:
    r"""Mixed volume, normalised by :math:`V(P, \dots, P) = \mathrm{Vol}_n(P)`.

    .. math:: V(P_1, \dots, P_n) = \frac{1}{n!} \sum_{\emptyset \ne S}
        (-1)^{n - |S|}\, \mathrm{Vol}_n\Bigl(\sum_{i \in S} P_i\Bigr)

    Parameters
    ----------
    polytopes : sequence of LatticePolytope
        As many as the space has dimensions.

    Raises
    ------
    ValueError
        If their number is not the dimension of the space.
    ArithmeticError
        If the sum is not divisible by n!, which would contradict the theory.
    """
    _same_space(polytopes)
    n = polytopes[0].ambient_dim
    if len(polytopes) != n:
        raise ValueError(
            f"in dimension {n} a mixed volume takes {n} polytopes, got {len(polytopes)}"
        )
    total = sum(
        (-1) ** (n - size) * normalized_volume(minkowski(*chosen), n)
        for size in range(1, n + 1)
        for chosen in combinations(polytopes, size)
    )
    value, rest = divmod(total, factorial(n))
    if rest:
        raise ArithmeticError(f"alternating sum {total} is not divisible by {n}!")
    return value


def unit_simplex(n: int) -> LatticePolytope:
    r""":math:`\Delta_n = \mathrm{conv}(0, e_1, \dots, e_n)`."""
    if n < 1:
        raise ValueError(f"n must be positive, got {n}")
    corners = [[int(i == j) for j in range(n)] for i in range(n)]
    return LatticePolytope([[0] * n, *corners])
