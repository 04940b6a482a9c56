"""What enumeration in floating point does to the same inequalities: why this chapter is exact."""

from __future__ import annotations

from dataclasses import dataclass

import cdd

from .polyhedron import HRepresentation


@dataclass(frozen=True)
class FloatGenerators:
    """Generators that cddlib finds in floating point.

    In its output a vertex has first entry 1 and a ray has first entry 0.

    Attributes
    ----------
    vertices : int
        Rows whose first entry is exactly 1.
    rays : int
        Rows whose first entry is exactly 0.
    neither : int
        Rows that are neither, by rounding.
    """

    vertices: int
    rays: int
    neither: int


def float_generators(hrep: HRepresentation) -> FloatGenerators:
    """Enumerate vertices and rays with the floating-point cddlib and sort them by first entry."""
    rows = [
        [float(-bound), *map(float, row)] for row, bound in zip(hrep.rows, hrep.bounds, strict=True)
    ]
    matrix = cdd.matrix_from_array(rows, rep_type=cdd.RepType.INEQUALITY)
    found = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array
    heads = [row[0] for row in found]
    vertices, rays = heads.count(1.0), heads.count(0.0)
    return FloatGenerators(vertices, rays, len(heads) - vertices - rays)
