"""Random flags: piece counts of the four decompositions from the geometry of half-planes.

Works on NumPy arrays and on PyTorch tensors alike; the first axis of a vector is its coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import or_
from typing import Any

from .flags import ALTERNATIVE, LOCAL, Direction, Star, check_sign

Array = Any
Components = tuple[Array, Array, Array]


@dataclass(frozen=True)
class FlagSample:
    """Boolean arrays, one entry per flag: is the local rule beaten by another vertex?

    Attributes
    ----------
    dominated : array
        No more pieces in either part and fewer in one.
    strictly : array
        Fewer pieces in both parts.
    total : array
        Fewer pieces in total.
    """

    dominated: Array
    strictly: Array
    total: Array


def _cross(left: Components, right: Components) -> Components:
    (a, b, c), (d, e, f) = left, right
    return b * f - c * e, c * d - a * f, a * e - b * d


def _dot(left: Components, right: Components) -> Array:
    return left[0] * right[0] + left[1] * right[1] + left[2] * right[2]


def _combination(a: int, u: Components, b: int, v: Components) -> Components:
    return a * u[0] + b * v[0], a * u[1] + b * v[1], a * u[2] + b * v[2]


@dataclass(frozen=True)
class _HalfPlane:
    """Half-plane of the points x with (u.x, v.x) in a given direction."""

    normal: Components
    side: Components

    @classmethod
    def of(cls, direction: Direction, u: Components, v: Components) -> _HalfPlane:
        a, b = direction
        return cls(_combination(b, u, -a, v), _combination(a, u, b, v))

    def crosses(self, other: _HalfPlane) -> Array:
        """Whether the two planes meet in a line of which one half lies in both half-planes."""
        line = _cross(self.normal, other.normal)
        return (_dot(self.side, line) > 0) == (_dot(other.side, line) > 0)


def _pieces(
    first: Sequence[Direction], second: Sequence[Direction], crossing: dict[Any, Array]
) -> Array:
    """Vertices, edges and components of the arcs on the sphere give the regions."""
    vertices = sum(1 * crossing[pair] for pair in product(first, second))
    edges = len(first) + len(second) + 2 * vertices
    components = 2 - 1 * (vertices > 0)
    return 1 + components + edges - (vertices + 4)


def sample_flags(vectors: Array, sign: int) -> FlagSample:
    r"""Compare the local rule with the other three vertices on many flags.

    Parameters
    ----------
    vectors : sequence of 4 arrays of shape (3, N)
        :math:`u_1,v_1,u_2,v_2` of :math:`\varphi(u_1x,v_1x)\pm\varphi(u_2x,v_2x)`, N flags.
    sign : {1, -1}
        Sign between the two functions.

    Raises
    ------
    ValueError
        For another sign, another number of vectors or another dimension.
    """
    check_sign(sign)
    if len(vectors) != 4 or any(len(vector) != 3 for vector in vectors):
        shapes = [tuple(getattr(vector, "shape", ())) for vector in vectors]
        raise ValueError(f"need four arrays of shape (3, N), got shapes {shapes}")
    u1, v1, u2, v2 = (tuple(vector) for vector in vectors)
    directions = sorted({*LOCAL.g, *LOCAL.h, *ALTERNATIVE.g, *ALTERNATIVE.h})
    first = {d: _HalfPlane.of(d, u1, v1) for d in directions}
    second = {d: _HalfPlane.of(d, u2, v2) for d in directions}
    crossing = {(a, b): first[a].crosses(second[b]) for a, b in product(directions, directions)}
    (g, h), *others = [
        _vertex(star, other if sign > 0 else other.mirrored, crossing)
        for star, other in product((LOCAL, ALTERNATIVE), repeat=2)
    ]
    return FlagSample(
        dominated=_any((a <= g) & (b <= h) & (a + b < g + h) for a, b in others),
        strictly=_any((a < g) & (b < h) for a, b in others),
        total=_any(a + b < g + h for a, b in others),
    )


def _vertex(first: Star, second: Star, crossing: dict[Any, Array]) -> tuple[Array, Array]:
    return _pieces(first.g, second.g, crossing), _pieces(first.h, second.h, crossing)


def _any(conditions: Any) -> Array:
    return reduce(or_, conditions)
