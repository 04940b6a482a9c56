r"""Maxima of affine maps whose pieces are all essential: tangents to a paraboloid.

:math:`\ell_p(x)=2\langle p,x\rangle-|p|^2` is the strict maximum at :math:`x=p` among the maps of
distinct points.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from .simplices import Affine

if TYPE_CHECKING:
    import numpy as np

Points = Sequence[Sequence[int]]

ON_LINE = ((-7,), (-3,), (0,), (2,), (5,), (9,))
IN_PLANE = (
    *((0, 0), (3, 1), (-2, 4), (-5, -1), (1, -4)),
    *((6, -3), (5, 5), (-4, 6), (-6, -5), (2, 7)),
)
IN_SPACE = (
    *((0, 0, 0), (3, 1, -2), (-4, 2, 1), (1, -5, 2)),
    *((2, 3, 4), (-1, -2, -5), (5, -1, 3), (-3, 4, -2)),
)
THIN_QUADRILATERAL = ((0, 0), (5, 1), (6, 7), (-1, 4))
"""Its wrong diagonal gives an identity that is false only near one edge of the cells."""


def tangents(points: Points) -> list[Affine]:
    """Return the affine maps of the points.

    Raises
    ------
    ValueError
        If a point is repeated.
    """
    distinct = [tuple(point) for point in points]
    if len(set(distinct)) != len(distinct):
        raise ValueError(f"points must be distinct, got {distinct}")
    return [
        (tuple(Fraction(2 * c) for c in point), Fraction(-sum(c * c for c in point)))
        for point in distinct
    ]


def grid(side: int, n: int) -> list[tuple[int, ...]]:
    """The points of a cubic grid: every cell of their triangulation is degenerate."""
    return list(product(range(side), repeat=n))


def random_points(rng: np.random.Generator, count: int, n: int, size: int) -> list[tuple[int, ...]]:
    """Distinct integer points with entries in [-size, size]."""
    found: set[tuple[int, ...]] = set()
    while len(found) < count:
        found.add(tuple(int(c) for c in rng.integers(-size, size + 1, n)))
    return sorted(found)
