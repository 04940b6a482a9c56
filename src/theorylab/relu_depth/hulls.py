"""Convex hulls and volumes of integer points, by a placing triangulation without determinants.

Points are added one at a time. The boundary is kept as lattice simplices; each carries its
primitive hyperplane ``H`` (an integer affine form, negative inside) and its multiplicity ``m``,
the normalised volume in the lattice of its own affine hull. A point at height ``H(v) > 0`` above
a simplex adds ``m H(v)`` to the volume. Over a horizon ridge between a visible simplex ``H1``
and a hidden one ``H2``, the new hyperplane is ``H1(v) H2 - H2(v) H1`` divided by its content,
and the new multiplicity follows from writing one simplex as a pyramid in two ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from flint import fmpz_mat

from theorylab.exact import independent_rows

Ridge = tuple[int, ...]
_SAFE = 2**62


@dataclass(frozen=True)
class Hull:
    """Hull of integer points that span their space.

    Attributes
    ----------
    volume : int
        Normalised: the unit simplex has volume 1.
    facets : list of tuple of int
        Primitive forms ``(a_1, ..., a_d, b)`` with ``a.x + b <= 0`` on the hull, sorted.
    """

    volume: int
    facets: list[tuple[int, ...]]


def lattice_coordinates(points: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Coordinates of the points in the lattice of integer points of their affine hull.

    Parameters
    ----------
    points : list of tuple of int
        Non-empty.

    Returns
    -------
    list of tuple of int
        Of length d, the dimension of the affine hull; a unimodular change of coordinates, the
        identity up to translation if the points span the space.
    """
    origin = points[0]
    columns = [[p[i] - origin[i] for p in points] for i in range(len(origin))]
    matrix = fmpz_mat(columns)
    dimension = matrix.rank()
    if dimension < len(origin):
        columns = _reduced_rows(matrix, dimension)
    return [tuple(int(column[j]) for column in columns) for j in range(len(points))]


def _reduced_rows(matrix: fmpz_mat, dimension: int) -> list[list[Any]]:
    """Rows of the Hermite form, then reduced: both are unimodular operations on coordinates."""
    if dimension == 0:
        return []
    rows = matrix.hnf().tolist()[:dimension]
    return fmpz_mat(rows).lll().tolist()


def convex_hull(points: list[tuple[int, ...]]) -> Hull:
    """Hull of distinct integer points of full dimension d >= 1, exact at any coordinate size.

    Raises
    ------
    ValueError
        If the points do not span the space.
    """
    homogeneous = [(*point, 1) for point in points]
    start = independent_rows(homogeneous, len(homogeneous[0]))
    if len(start) < len(homogeneous[0]):
        raise ValueError(f"{len(points)} points do not span dimension {len(points[0])}")
    boundary = _Boundary(homogeneous, start)
    for index in _outermost_first(points, set(start)):
        boundary.add(index)
    return Hull(boundary.volume, boundary.facets())


def _outermost_first(points: list[tuple[int, ...]], done: set[int]) -> list[int]:
    """Indices by decreasing distance from the centroid: fewer simplices have to be replaced."""
    count = len(points)
    centre = [sum(column) for column in zip(*points, strict=True)]
    distance = [
        sum((count * x - c) ** 2 for x, c in zip(point, centre, strict=True)) for point in points
    ]
    order = sorted(range(count), key=lambda i: -distance[i])
    return [index for index in order if index not in done]


def _primitive(form: list[int]) -> list[int]:
    content = gcd(*form)
    return [entry // content for entry in form]


class _Boundary:
    """The triangulated boundary while points are added."""

    def __init__(self, homogeneous: list[tuple[int, ...]], start: list[int]) -> None:
        self._points = homogeneous
        self._largest = max(abs(x) for point in homogeneous for x in point)
        self._dimension = len(start) - 1
        forms, multiplicities, self.volume = _simplex([homogeneous[i] for i in start])
        self._forms = self._array(forms)
        self._multiplicities = multiplicities
        self._corners = [tuple(sorted({*start} - {i})) for i in start]
        self._ridges: dict[Ridge, list[int]] = {}
        self._alive = list(range(len(start)))
        for simplex in self._alive:
            self._enter(simplex)

    def facets(self) -> list[tuple[int, ...]]:
        """Distinct hyperplanes of the boundary."""
        return sorted({tuple(int(x) for x in self._forms[i]) for i in self._alive})

    def _array(self, forms: list[list[int]]) -> np.ndarray:
        """Machine integers while a product with a point and a combination surely fit in them."""
        largest = max(abs(x) for form in forms for x in form)
        height = largest * self._largest * (self._dimension + 1)
        return np.array(forms, dtype=np.int64 if 2 * height * largest < _SAFE else object)

    def _enter(self, simplex: int) -> None:
        for ridge, _ in self._ridges_of(simplex):
            self._ridges.setdefault(ridge, []).append(simplex)

    def _leave(self, simplex: int) -> None:
        for ridge, _ in self._ridges_of(simplex):
            beside = self._ridges[ridge]
            beside.remove(simplex)
            if not beside:
                del self._ridges[ridge]

    def _ridges_of(self, simplex: int) -> list[tuple[Ridge, int]]:
        corners = self._corners[simplex]
        return [(corners[:j] + corners[j + 1 :], corner) for j, corner in enumerate(corners)]

    def add(self, index: int) -> None:
        """Extend the hull by one point; a point inside or on the boundary changes nothing."""
        alive = np.array(self._alive)
        point = np.array(self._points[index], dtype=self._forms.dtype)
        heights = self._forms[alive] @ point
        if not (heights > 0).any():
            return
        height = dict(zip(self._alive, heights.tolist(), strict=True))
        visible = [simplex for simplex in self._alive if height[simplex] > 0]
        self.volume += sum(self._multiplicities[s] * height[s] for s in visible)
        horizon = self._horizon(visible, height)
        for simplex in visible:
            self._leave(simplex)
        self._alive = [simplex for simplex in self._alive if height[simplex] <= 0]
        self._cap(index, horizon, height)

    def _horizon(
        self, visible: list[int], height: dict[int, int]
    ) -> list[tuple[Ridge, int, int, int]]:
        """Ridges between visible and hidden, with both simplices and the corner cut off."""
        found = []
        for simplex in visible:
            for ridge, corner in self._ridges_of(simplex):
                one, other = self._ridges[ridge]
                hidden = other if one == simplex else one
                if height[hidden] <= 0:
                    found.append((ridge, simplex, hidden, corner))
        return found

    def _cap(
        self, index: int, horizon: list[tuple[Ridge, int, int, int]], height: dict[int, int]
    ) -> None:
        """Join the new point to every horizon ridge."""
        visible = [simplex for _, simplex, _, _ in horizon]
        hidden = [simplex for _, _, simplex, _ in horizon]
        above = np.array([height[s] for s in visible], dtype=self._forms.dtype)[:, None]
        below = np.array([height[s] for s in hidden], dtype=self._forms.dtype)[:, None]
        forms = above * self._forms[hidden] - below * self._forms[visible]
        forms = forms // np.gcd.reduce(forms, axis=1)[:, None]
        corners = np.array([self._points[corner] for *_, corner in horizon], dtype=forms.dtype)
        depths = (forms * corners).sum(axis=1).tolist()
        first = len(self._corners)
        for (ridge, simplex, _, _), depth in zip(horizon, depths, strict=True):
            self._corners.append(tuple(sorted((*ridge, index))))
            volume = self._multiplicities[simplex] * height[simplex]
            self._multiplicities.append(volume // -depth)
        self._forms = self._stacked(forms)
        new = range(first, len(self._corners))
        self._alive += new
        for simplex in new:
            self._enter(simplex)

    def _stacked(self, forms: np.ndarray) -> np.ndarray:
        """All forms, moved to big integers once the new ones are too large for machine ones."""
        if self._forms.dtype == object:
            return np.concatenate([self._forms, forms])
        largest = int(max(np.abs(forms).max(), np.abs(self._forms).max()))
        height = largest * self._largest * (self._dimension + 1)
        fits = 2 * height * largest < _SAFE
        both = np.concatenate([self._forms, forms])
        return both if fits else both.astype(object)


def _simplex(corners: list[tuple[int, ...]]) -> tuple[list[list[int]], list[int], int]:
    """Facet forms, multiplicities and volume of a simplex given by homogeneous corners."""
    matrix = fmpz_mat([list(corner) for corner in corners])
    determinant = int(matrix.det())
    inverse = matrix.inv().tolist()
    forms, multiplicities = [], []
    for j in range(len(corners)):
        form = _primitive([int(row[j] * determinant) for row in inverse])
        height = sum(a * x for a, x in zip(form, corners[j], strict=True))
        forms.append([-entry for entry in form] if height > 0 else form)
        multiplicities.append(abs(determinant) // abs(height))
    return forms, multiplicities, abs(determinant)
