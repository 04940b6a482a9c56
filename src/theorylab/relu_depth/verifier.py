r"""Checks a certificate of :math:`\max_n`; shares nothing with the solver that found it.

A certificate says :math:`\sum_T c_T \sum_{\sigma\in S_n} \Phi_T\circ\sigma = \max_n`, with blocks
:math:`\Phi_T(x) = \max\bigl(\sum_{(i,j)\in L}\max(x_i,x_j), \sum_{(i,j)\in R}\max(x_i,x_j)\bigr)`.
Both sides are invariant under permutations, so the chamber :math:`x_1\le\dots\le x_n` decides.
There a block is linear plus a hinge; hinges with different kernels are independent modulo linear
functions, so the identity holds if and only if every hinge cancels and the linear part is
:math:`x_n`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Side = Sequence[Sequence[int]]


class BlockLike(Protocol):
    """Two sides of pairs of indices from 0."""

    @property
    def left(self) -> Side: ...
    @property
    def right(self) -> Side: ...


class CertificateLike(Protocol):
    """n and terms (coefficient, block)."""

    @property
    def n(self) -> int: ...
    @property
    def terms(self) -> Iterable[tuple[Fraction, BlockLike]]: ...


@dataclass(frozen=True)
class Verification:
    """What was found; true if the certificate is valid.

    Attributes
    ----------
    hinges : dict of tuple of int to Fraction
        Hinges over the gaps of the sorted coordinates that do not cancel.
    linear : tuple of Fraction
        Coefficients of the sorted coordinates; valid: zeros and a last one.
    """

    hinges: Mapping[tuple[int, ...], Fraction]
    linear: tuple[Fraction, ...]

    def __bool__(self) -> bool:
        return not self.hinges and self.linear == (*(0,) * (len(self.linear) - 1), 1)


def verify_certificate(certificate: CertificateLike | Mapping[str, Any]) -> Verification:
    """Check a certificate on the chamber of sorted coordinates.

    Parameters
    ----------
    certificate : Certificate, or the JSON object of one
        As JSON: ``{"n": ..., "terms": [{"coefficient": "1/720", "left": ..., "right": ...}]}``,
        sides being lists of pairs of indices from 0.

    Raises
    ------
    ValueError
        If an index is out of range or the two sides of a block differ in size.
    """
    n, terms = _read(certificate)
    hinges: Counter[tuple[int, ...]] = Counter()
    linear = [Fraction(0)] * n
    for coefficient, left, right in terms:
        found, part = _on_the_chamber(_sides(left, right, n), n)
        for hinge, count in found.items():
            hinges[hinge] += coefficient * count  # type: ignore[assignment]
        linear = [value + coefficient * p for value, p in zip(linear, part, strict=True)]
    left_over = {hinge: Fraction(value) for hinge, value in hinges.items() if value}
    return Verification(left_over, tuple(linear))


def _read(
    certificate: CertificateLike | Mapping[str, Any],
) -> tuple[int, list[tuple[Fraction, Side, Side]]]:
    if isinstance(certificate, Mapping):
        terms = [(Fraction(t["coefficient"]), t["left"], t["right"]) for t in certificate["terms"]]
        return int(certificate["n"]), terms
    return certificate.n, [(c, block.left, block.right) for c, block in certificate.terms]


def _sides(left: Side, right: Side, n: int) -> list[NDArray[np.int64]]:
    if len(left) != len(right) or not left:
        raise ValueError(f"both sides need the same number of pairs, got {left} and {right}")
    sides = [np.array(side, dtype=np.int64).reshape(-1, 2) for side in (left, right)]
    if min(side.min() for side in sides) < 0 or max(side.max() for side in sides) >= n:
        raise ValueError(f"indices must lie in 0..{n - 1}, got {left} and {right}")
    return sides


def _on_the_chamber(
    sides: list[NDArray[np.int64]], n: int
) -> tuple[dict[tuple[int, ...], int], list[int]]:
    """Hinges and linear part of a block summed over all relabellings."""
    both = np.concatenate(sides)
    labels = np.unique(both)
    relabelled = np.searchsorted(labels, both)
    places = np.array(list(permutations(range(n), len(labels))), dtype=np.int64)
    weight = factorial(n - len(labels))
    winners = places[:, relabelled].max(axis=2)
    half = len(sides[0])
    low, high = (_counts(part, n) for part in (winners[:, :half], winners[:, half:]))
    suffixes = np.cumsum((low - high)[:, :0:-1], axis=1)[:, ::-1]
    rises, falls = np.any(suffixes > 0, axis=1), np.any(suffixes < 0, axis=1)
    hinged = np.logical_and(rises, falls)
    only_falls = np.logical_and(falls, np.logical_not(rises))
    linear = np.where(np.expand_dims(only_falls, 1), high, low)
    return _collected(suffixes[hinged], low[hinged], high[hinged], linear[~hinged], weight)


def _counts(winners: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """How often each position wins, shape (placements, n)."""
    counts = np.zeros((len(winners), n), dtype=np.int64)
    rows = np.arange(len(winners))
    for column in winners.T:
        counts[rows, column] += 1
    return counts


def _collected(
    suffixes: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    linear: NDArray[np.int64],
    weight: int,
) -> tuple[dict[tuple[int, ...], int], list[int]]:
    """max(low, high) = high + hinge(low - high), oriented so that the first entry is positive."""
    first = np.take_along_axis(suffixes, (suffixes != 0).argmax(axis=1)[:, None], axis=1)
    upward = first > 0
    content = np.gcd.reduce(suffixes, axis=1)
    directions = np.where(upward, suffixes, -suffixes) // content[:, None]
    totals: Counter[tuple[int, ...]] = Counter()
    for kind, number, count in _distinct(directions, content):
        totals[kind] += weight * number * count
    rest = linear.sum(axis=0) + np.where(upward, high, low).sum(axis=0)
    return dict(totals), (weight * rest).tolist()


def _distinct(
    directions: NDArray[np.int64], content: NDArray[np.int64]
) -> Iterable[tuple[tuple[int, ...], int, int]]:
    """Distinct (direction, content) with how often they occur, told apart by one number each."""
    table = np.column_stack([directions, content])
    base = 1 + 2 * int(np.abs(table).max(initial=0))
    codes = (table + base // 2) @ base ** np.arange(table.shape[1], dtype=np.int64)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    for row, count in zip(table[first].tolist(), counts.tolist(), strict=True):
        yield tuple(row[:-1]), row[-1], count
