"""Walls and ridges of a complex, and the checks that their input must pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from theorylab.exact import (
    IntVector,
    Rational,
    Scalar,
    Vector,
    primitive,
    rational,
    rational_vector,
)

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


def signed_cycle(
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


def canonical_hyperplane(vector: Sequence[Rational], offset: Rational) -> Hyperplane:
    """Return ``a.x = b`` with primitive integer normal whose first nonzero entry is positive."""
    normal, scale = primitive(vector)
    if next(entry for entry in normal if entry) < 0:
        normal, scale = tuple(-entry for entry in normal), -scale
    return normal, Fraction(offset) / scale


def check_dimension(n: object) -> None:
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"the dimension n must be an int, got {n!r}")
    if n < 1:
        raise ValueError(f"the dimension n must be at least 1, got {n}")


def checked_form(
    form: object, n: int, name: str, rationalise: bool | int
) -> tuple[Vector, Fraction]:
    if not isinstance(form, Sequence) or isinstance(form, str) or len(form) != 2:
        raise TypeError(f"{name} must be a pair (vector, scalar), got {form!r}")
    vector = rational_vector(form[0], n, name, rationalise=rationalise)
    return vector, rational(form[1], name, rationalise=rationalise)
