"""Rays of plane fans in counterclockwise order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from theorylab.exact import IntVector, Scalar, primitive, rational_vector


def checked_rays(rays: Sequence[Sequence[Scalar]], rationalise: bool | int) -> list[IntVector]:
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
        if cross(first, second) <= 0:
            raise ValueError(
                f"incomplete fan: the cone from {first} to {second} is not strictly convex"
            )
    return ordered


def cross(left: Sequence[int], right: Sequence[int]) -> int:
    return left[0] * right[1] - left[1] * right[0]


def _counterclockwise(left: IntVector, right: IntVector) -> int:
    """Compare directions by angle in [0, 2 pi)."""
    halves = [int(y < 0 or (y == 0 and x < 0)) for x, y in (left, right)]
    if halves[0] != halves[1]:
        return halves[0] - halves[1]
    return -cross(left, right)
