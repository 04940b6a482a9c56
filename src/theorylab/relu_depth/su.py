r"""Polytopes that k hidden layers can make, as printable nested sums of hulls of unions.

:math:`\mathrm{SU}^0` holds the lattice points, :math:`\mathrm{SU}^{k+1}` the sums
:math:`\sum_i\mathrm{conv}(A_i\cup B_i)` of members of :math:`\mathrm{SU}^k`;
:math:`\mathrm{SU}^1` are the lattice zonotopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .polytopes import LatticePolytope, Point, hull_union, minkowski


@dataclass(frozen=True)
class SUExpression:
    """A point, or a sum of hulls of unions of pairs of expressions one level down.

    Attributes
    ----------
    point : tuple of int or None
        At level 0.
    pairs : tuple of (SUExpression, SUExpression)
        At the other levels; not empty.
    """

    point: Point | None = None
    pairs: tuple[tuple[SUExpression, SUExpression], ...] = ()

    def __post_init__(self) -> None:
        if (self.point is None) == (not self.pairs):
            raise ValueError("an expression is either one point or a sum of at least one pair")
        if len({part.level for pair in self.pairs for part in pair}) > 1:
            raise ValueError("all parts of a sum must be of one level")

    @property
    def level(self) -> int:
        """k of SU^k."""
        return 0 if not self.pairs else 1 + self.pairs[0][0].level

    @cached_property
    def polytope(self) -> LatticePolytope:
        """The polytope."""
        if self.point is not None:
            return LatticePolytope([self.point])
        return minkowski(*(hull_union(left.polytope, right.polytope) for left, right in self.pairs))

    def __str__(self) -> str:
        if self.point is not None:
            return "(" + ",".join(map(str, self.point)) + ")"
        return " + ".join(f"conv[{left} ∪ {right}]" for left, right in self.pairs)


def su_expr(*parts: Sequence[int] | tuple[SUExpression, SUExpression]) -> SUExpression:
    """One point, or pairs of expressions, as an expression.

    Parameters
    ----------
    *parts
        ``su_expr((1, 2))`` is a point; ``su_expr((a, b), (c, d))`` a sum of two hulls.
    """
    if not parts:
        raise ValueError("give one point, or at least one pair of expressions")
    if all(isinstance(entry, SUExpression) for part in parts for entry in part):
        return SUExpression(pairs=tuple((left, right) for left, right in parts))  # type: ignore[misc]
    if len(parts) > 1:
        raise ValueError(f"level 0 is one point, got {len(parts)} parts")
    return SUExpression(LatticePolytope([parts[0]]).vertices[0])  # type: ignore[list-item]


def su_random(
    k: int, n: int, rng: np.random.Generator, terms: int = 2, size: int = 1
) -> SUExpression:
    """A random member of SU^k in n dimensions.

    Parameters
    ----------
    k, n : int
        Level (at least 0) and dimension (at least 1).
    rng : Generator
    terms : int
        Summands at every level.
    size : int
        Coordinates of the points lie in -size..size.
    """
    if k < 0 or n < 1 or terms < 1 or size < 1:
        raise ValueError(
            f"need k >= 0 and positive n, terms, size; got k={k}, n={n}, terms={terms}, size={size}"
        )
    if k == 0:
        return su_expr(rng.integers(-size, size + 1, n).tolist())
    made = [su_random(k - 1, n, rng, terms, size) for _ in range(2 * terms)]
    return SUExpression(pairs=tuple(zip(made[::2], made[1::2], strict=True)))
