r"""Exact law of the local rule on random pairs of stars in three dimensions.

:math:`f=\varphi(u_1x,v_1x)\pm\varphi(u_2x,v_2x)` with independent standard normal u, v has four
decompositions, the rule or its alternative at each of two axes. Their piece counts depend only on
the sectors in which two independent uniform angles lie, so probabilities are sums over 36 pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Direction = tuple[int, int]
Counts = tuple[int, int]

CONVEX: tuple[Direction, ...] = ((1, 1), (-1, 0), (0, -1))
CONCAVE: tuple[Direction, ...] = ((1, 0), (0, 1))
COMPLETION: Direction = (-1, -1)

SECTORS: tuple[tuple[Direction, Fraction], ...] = (
    ((2, 1), Fraction(1, 8)),
    ((1, 2), Fraction(1, 8)),
    ((-1, 1), Fraction(1, 4)),
    ((-2, -1), Fraction(1, 8)),
    ((-1, -2), Fraction(1, 8)),
    ((1, -1), Fraction(1, 4)),
)
"""One direction inside each sector between the six rays, and the sector's share of the circle."""


@dataclass(frozen=True)
class Star:
    """The kinks of one part at one axis: half-planes, by their directions."""

    g: tuple[Direction, ...]
    h: tuple[Direction, ...]

    @property
    def mirrored(self) -> Star:
        """The same for the negative of the function."""
        return Star(self.h, self.g)


LOCAL = Star((*CONVEX, COMPLETION), (*CONCAVE, COMPLETION))
ALTERNATIVE = Star(CONVEX, (*CONCAVE, (-1, 0), (0, -1)))


@dataclass(frozen=True)
class FlagLaw:
    """Probabilities that the local rule is beaten.

    Attributes
    ----------
    dominated : Fraction
        Some other vertex has no more pieces in either part and fewer in one.
    strictly : Fraction
        Some other vertex has fewer pieces in both parts.
    total : Fraction
        Some other vertex has fewer pieces in total.
    """

    dominated: Fraction
    strictly: Fraction
    total: Fraction


def pieces(first: int, second: int, crossings: int) -> int:
    r"""Pieces of a function that kinks on half-planes at two axes, by Euler's formula.

    .. math:: |A|+|B|+X-3+c,\qquad c=1\text{ if }X>0\text{ else }2
    """
    return first + second + crossings - (2 if crossings else 1)


def vertex_counts(
    cross: Callable[[Direction, Direction], bool], sign: int
) -> dict[tuple[str, str], Counts]:
    """Piece counts of the four decompositions, keyed by the choice at each axis.

    Parameters
    ----------
    cross : callable
        Whether the half-plane in the first direction at axis 1 crosses that in the second
        direction at axis 2.
    sign : {1, -1}
        Sign between the two stars.
    """
    choices = {"local": LOCAL, "alternative": ALTERNATIVE}
    counts = {}
    for (first, a), (second, star) in product(choices.items(), choices.items()):
        b = star if sign > 0 else star.mirrored
        counts[first, second] = (_pieces(a.g, b.g, cross), _pieces(a.h, b.h, cross))
    return counts


def _pieces(
    first: Sequence[Direction],
    second: Sequence[Direction],
    cross: Callable[[Direction, Direction], bool],
) -> int:
    crossings = sum(cross(a, b) for a, b in product(first, second))
    return pieces(len(first), len(second), crossings)


def sector_crossing(first: Direction, second: Direction) -> Callable[[Direction, Direction], bool]:
    r"""Crossings when the axes lie in the given directions.

    With :math:`k_i=u_i\times v_i`, ``first`` is :math:`(u_1k_2,v_1k_2)` and ``second`` is
    :math:`(u_2k_1,v_2k_1)`. The half-plane of direction (a, b) at axis i has normal
    :math:`bu_i-av_i` and lies on the side :math:`au_i+bv_i\ge0`; two of them meet if and only if
    :math:`b_1p_1-a_1q_1` and :math:`b_2p_2-a_2q_2` have opposite signs.
    """

    def cross(a: Direction, b: Direction) -> bool:
        at_first = a[1] * first[0] - a[0] * first[1]
        at_second = b[1] * second[0] - b[0] * second[1]
        return at_first * at_second < 0

    return cross


def sector_pairs() -> Iterator[tuple[Direction, Direction, Fraction]]:
    """The 36 pairs of sectors with their probabilities."""
    for (first, p), (second, q) in product(SECTORS, SECTORS):
        yield first, second, p * q


def flag_law(sign: int) -> FlagLaw:
    r"""Return the exact probabilities that the local rule is beaten on a random flag.

    Parameters
    ----------
    sign : {1, -1}
        Sign in :math:`\varphi(u_1x,v_1x)\pm\varphi(u_2x,v_2x)`.

    Raises
    ------
    ValueError
        For another sign.
    """
    check_sign(sign)
    dominated = strictly = total = Fraction(0)
    for first, second, probability in sector_pairs():
        counts = vertex_counts(sector_crossing(first, second), sign)
        g, h = counts.pop(("local", "local"))
        others = list(counts.values())
        dominated += probability * any(a <= g and b <= h and (a, b) != (g, h) for a, b in others)
        strictly += probability * any(a < g and b < h for a, b in others)
        total += probability * any(a + b < g + h for a, b in others)
    return FlagLaw(dominated, strictly, total)


def check_sign(sign: int) -> None:
    """Raise ``ValueError`` unless the sign is 1 or -1."""
    if sign not in (1, -1):
        raise ValueError(f"sign must be 1 or -1, got {sign!r}")


def representative(
    first: Direction, second: Direction
) -> tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]:
    r"""Return integer :math:`u_1,v_1,u_2,v_2` whose axes lie in the given directions.

    Every generic flag is equivalent to one of these by a linear change of coordinates.
    """
    (p, q), (r, s) = first, second
    return (0, p, -q), (0, q, p), (r, 0, s), (s, 0, -r)
