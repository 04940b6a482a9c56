r"""Blocks of two hidden layers on pairs, and their normal form on a chamber.

A block is :math:`\Phi_{A,B} = \max\bigl(\sum_{(i,j)\in A}\max(x_i,x_j),
\sum_{(i,j)\in B}\max(x_i,x_j)\bigr)`, with A and B multisets of k pairs; a pair (i, i) stands for
:math:`x_i`. On a chamber :math:`x_{\pi(1)}\le\dots\le x_{\pi(n)}` both sums are linear, so a block
is a linear function plus one hinge :math:`\max(0, d^\top x)`. Distinct hinges whose sign changes
inside the chamber are linearly independent modulo linear functions: a sum of blocks is linear on
the chamber if and only if every hinge cancels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import gcd

Pair = tuple[int, int]
Hinge = tuple[int, ...]
Coefficient = int | Fraction


@dataclass(frozen=True, order=True)
class Block:
    """A maximum of two sums of k maxima of pairs, indices from 0.

    Parameters
    ----------
    left, right : sequence of pairs of int
        Multisets of equally many pairs; order does not matter, neither within a pair, nor of the
        pairs, nor of the two sides.

    Raises
    ------
    ValueError
        If the sides differ in size, are empty, or an index is negative.
    """

    left: tuple[Pair, ...]
    right: tuple[Pair, ...]

    def __post_init__(self) -> None:
        sides = sorted(_side(side) for side in (self.left, self.right))
        if len(sides[0]) != len(sides[1]) or not sides[0]:
            raise ValueError(
                f"both sides need the same positive number of pairs, got {len(sides[0])} and "
                f"{len(sides[1])}"
            )
        object.__setattr__(self, "left", sides[0])
        object.__setattr__(self, "right", sides[1])

    @property
    def inputs(self) -> int:
        """One more than the largest index."""
        return 1 + max(i for side in (self.left, self.right) for pair in side for i in pair)

    def __call__(self, x: Sequence[Coefficient]) -> Coefficient:
        """Value at a point."""
        return max(sum(max(x[i], x[j]) for i, j in side) for side in (self.left, self.right))

    def relabelled(self, where: Sequence[int]) -> Block:
        r"""The block with index i replaced by ``where[i]``."""
        return Block(
            tuple((where[i], where[j]) for i, j in self.left),
            tuple((where[i], where[j]) for i, j in self.right),
        )


def _side(pairs: Iterable[Sequence[int]]) -> tuple[Pair, ...]:
    found = []
    for i, j in pairs:
        if min(i, j) < 0:
            raise ValueError(f"indices start at 0, got the pair ({i}, {j})")
        found.append((min(i, j), max(i, j)))
    return tuple(sorted(found))


@dataclass(frozen=True)
class NormalForm:
    """A continuous piecewise linear function on the chamber.

    Attributes
    ----------
    hinges : mapping of hinge to coefficient
        A hinge is a primitive integer vector over the gaps, its first entry that is not 0
        positive; coefficients are not 0.
    linear : tuple
        Coefficients of the coordinates in their order on the chamber.
    """

    hinges: Mapping[Hinge, Coefficient]
    linear: tuple[Coefficient, ...]

    @property
    def is_linear(self) -> bool:
        """Whether every hinge has cancelled."""
        return not self.hinges


def chamber_counts(pairs: Iterable[Pair], rank: Sequence[int], n: int) -> list[int]:
    """How often each position of the sorted order wins among the pairs."""
    counts = [0] * n
    for i, j in pairs:
        counts[max(rank[i], rank[j])] += 1
    return counts


def block_form(block: Block, rank: Sequence[int]) -> tuple[Hinge | None, int, list[int]]:
    """Hinge (or None), its coefficient, and linear part of one block.

    Parameters
    ----------
    block : Block
    rank : sequence of int
        Position of each coordinate in increasing order.
    """
    n = len(rank)
    low, high = (chamber_counts(side, rank, n) for side in (block.left, block.right))
    suffixes = _suffix_sums([a - b for a, b in zip(low, high, strict=True)])
    if all(s >= 0 for s in suffixes):
        return None, 0, low
    if all(s <= 0 for s in suffixes):
        return None, 0, high
    content = gcd(*suffixes)
    leading = next(s for s in suffixes if s)
    hinge = tuple(s // content if leading > 0 else -s // content for s in suffixes)
    return hinge, content, high if leading > 0 else low


def _suffix_sums(differences: Sequence[int]) -> list[int]:
    """Coefficients over the gaps: d.x = sum_i (x_(i+1) - x_(i)) (d_(i+1) + ... + d_n)."""
    sums, total = [], 0
    for value in reversed(differences[1:]):
        total += value
        sums.append(total)
    return sums[::-1]


def hinge_normal_form(
    terms: Iterable[tuple[Coefficient, Block]], chamber: Sequence[int]
) -> NormalForm:
    r"""Normal form of :math:`\sum_t c_t\,\Phi_t` on a chamber.

    Parameters
    ----------
    terms : iterable of (coefficient, Block)
        Coefficients are int or Fraction.
    chamber : sequence of int
        A permutation of 0..n-1: the coordinates in increasing order.

    Returns
    -------
    NormalForm
        Linear on the chamber if and only if it has no hinge left.

    Raises
    ------
    ValueError
        If ``chamber`` is no permutation or a block uses an index outside it.
    """
    n = len(chamber)
    if sorted(chamber) != list(range(n)):
        raise ValueError(f"chamber must be a permutation of 0..{n - 1}, got {list(chamber)}")
    rank = [0] * n
    for position, coordinate in enumerate(chamber):
        rank[coordinate] = position
    hinges: Counter[Hinge] = Counter()
    linear: list[Coefficient] = [0] * n
    for coefficient, block in terms:
        if block.inputs > n:
            raise ValueError(f"block {block} needs {block.inputs} coordinates, chamber has {n}")
        hinge, weight, part = block_form(block, rank)
        if hinge is not None:
            hinges[hinge] += coefficient * weight  # type: ignore[assignment]
        linear = [value + coefficient * p for value, p in zip(linear, part, strict=True)]
    return NormalForm({h: c for h, c in hinges.items() if c}, tuple(linear))


def symmetrised(block: Block, n: int) -> list[tuple[int, Block]]:
    r"""The distinct blocks of :math:`\sum_{\sigma\in S_n} \Phi\circ\sigma` with multiplicities."""
    orbit = Counter(block.relabelled(sigma) for sigma in permutations(range(n)))
    return [(count, member) for member, count in sorted(orbit.items())]
