"""All faces of a decomposition polyhedron; exponentially many, for checking theorems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theorylab.exact import Generators, Vector, generators

from .decomposition import Decomposition
from .polyhedron import DecompositionPolyhedron


@dataclass(frozen=True)
class Face:
    """A nonempty face, by the vertices and extreme rays that span it."""

    vertices: tuple[Vector, ...]
    rays: tuple[Vector, ...]

    @property
    def is_bounded(self) -> bool:
        """Whether the face contains no ray."""
        return not self.rays

    @property
    def is_vertex(self) -> bool:
        """Whether the face is a single point."""
        return not self.rays and len(self.vertices) == 1

    def interior_point(self) -> Vector:
        """Mean of the vertices plus the sum of the rays."""
        count = len(self.vertices)
        centre = [sum(entries, Fraction(0)) / count for entries in zip(*self.vertices, strict=True)]
        for ray in self.rays:
            centre = [x + r for x, r in zip(centre, ray, strict=True)]
        return tuple(centre)


def all_faces(polyhedron: DecompositionPolyhedron) -> list[Face]:
    """Every nonempty face, in the coordinates t, by closing the sets of tight rows."""
    hrep = polyhedron.hrep()
    found = generators(hrep.rows, hrep.bounds, polyhedron.dim)
    count = len(found.vertices)
    spans = _closed_spans(_incidences(found, hrep.rows, hrep.bounds), count + len(found.rays))
    vertex_bits = (1 << count) - 1
    return [_face(found, span) for span in sorted(spans) if span & vertex_bits]


def _incidences(
    found: Generators, rows: Sequence[Sequence[int]], bounds: Sequence[Fraction]
) -> list[int]:
    """Per row, the generators on which it is tight, as a bit mask (vertices first)."""
    masks = []
    for row, bound in zip(rows, bounds, strict=True):
        values = [_dot(row, vertex) == bound for vertex in found.vertices]
        values += [_dot(row, ray) == 0 for ray in found.rays]
        masks.append(sum(1 << k for k, tight in enumerate(values) if tight))
    return masks


def _closed_spans(masks: Sequence[int], count: int) -> set[int]:
    spans = {(1 << count) - 1}
    for mask in masks:
        spans |= {span & mask for span in spans}
    return spans


def _face(found: Generators, span: int) -> Face:
    count = len(found.vertices)
    return Face(
        tuple(v for k, v in enumerate(found.vertices) if span >> k & 1),
        tuple(tuple(map(Fraction, r)) for k, r in enumerate(found.rays) if span >> (count + k) & 1),
    )


def decompositions_at(
    polyhedron: DecompositionPolyhedron, points: Sequence[Vector]
) -> list[Decomposition]:
    """The decompositions with these coordinates t."""
    return [Decomposition(polyhedron.f, polyhedron.space.weights_at(point)) for point in points]


def _dot(row: Sequence[int], vector: Sequence[Fraction | int]) -> Fraction | int:
    return sum(a * x for a, x in zip(row, vector, strict=True))
