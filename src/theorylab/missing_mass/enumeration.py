"""Slow references: every outcome of a small sample, and generating functions.

Nothing here knows the formulas of ``theory`` and ``moments``; that is the point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import factorial, prod
from typing import TypeVar

from theorylab.missing_mass.fingerprint import Fingerprint

T = TypeVar("T")
Counts = tuple[int, ...]


def count_vectors(n: int, classes: int) -> Iterator[Counts]:
    """All ways to distribute n draws over the classes."""
    if classes == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for others in count_vectors(n - first, classes - 1):
            yield (first, *others)


def outcomes(p: Sequence[Fraction], n: int) -> Iterator[tuple[Counts, Fraction]]:
    """Count vectors of n independent draws from p, with their probabilities."""
    for counts in count_vectors(n, len(p)):
        ways = factorial(n) // prod(factorial(c) for c in counts)
        yield counts, ways * prod((u**c for u, c in zip(p, counts, strict=True)), start=Fraction(1))


def outcomes_without_replacement(urn: Sequence[int], n: int) -> Iterator[tuple[Counts, Fraction]]:
    """Count vectors of n draws without replacement from an urn, with their probabilities."""
    total = sum(urn)
    ways = _choose(total, n)
    for counts in count_vectors(n, len(urn)):
        yield counts, Fraction(prod(_choose(u, c) for u, c in zip(urn, counts, strict=True)), ways)


def _choose(total: int, chosen: int) -> int:
    if not 0 <= chosen <= total:
        return 0
    return factorial(total) // (factorial(chosen) * factorial(total - chosen))


def sequences(p: Sequence[Fraction], n: int) -> Iterator[tuple[Counts, Fraction]]:
    """Ordered samples of class labels, with their probabilities."""
    for labels in product(range(len(p)), repeat=n):
        yield labels, prod((p[x] for x in labels), start=Fraction(1))


def expectation(
    law: Iterator[tuple[T, Fraction]], value: Callable[[T], Fraction | int]
) -> Fraction:
    """Expected value of a function of the outcome."""
    return sum((weight * value(outcome) for outcome, weight in law), start=Fraction(0))


def frequency(counts: Counts, k: int) -> int:
    """Number of classes counted exactly k times."""
    return sum(c == k for c in counts)


def mass(p: Sequence[Fraction], counts: Counts, k: int = 0) -> Fraction:
    """Probability of the classes counted exactly k times."""
    return sum((u for u, c in zip(p, counts, strict=True) if c == k), start=Fraction(0))


class GeneratingFunctions:
    r"""Expected frequencies and masses from exponential generating functions.

    The count vectors of n draws are the terms of :math:`n!\,[z^n] \prod_y e^{p_y z}`; asking one
    class for exactly k replaces its factor by :math:`(p_x z)^k/k!`.

    Parameters
    ----------
    p : sequence of Fraction
    n : int
        Number of draws.
    """

    def __init__(self, p: Sequence[Fraction], n: int) -> None:
        self.p, self.n = tuple(p), n
        series = [_exponential(u, n) for u in self.p]
        before, after = [_one(n)], [_one(n)]
        for factor in series[:-1]:
            before.append(_multiply(before[-1], factor))
        for factor in reversed(series[1:]):
            after.append(_multiply(after[-1], factor))
        self._others = [
            _multiply(left, right) for left, right in zip(before, reversed(after), strict=True)
        ]

    def expected_frequency(self, k: int) -> Fraction:
        """E Phi_k."""
        return sum((self._probability(x, k) for x in range(len(self.p))), start=Fraction(0))

    def expected_mass(self, k: int) -> Fraction:
        """E M_k."""
        weighted = (u * self._probability(x, k) for x, u in enumerate(self.p))
        return sum(weighted, start=Fraction(0))

    def _probability(self, x: int, k: int) -> Fraction:
        """Probability that class x is counted exactly k times."""
        own = self.p[x] ** k / factorial(k)
        return factorial(self.n) * own * self._others[x][self.n - k]


def _one(n: int) -> list[Fraction]:
    return [Fraction(1)] + [Fraction(0)] * n


def _exponential(u: Fraction, n: int) -> list[Fraction]:
    return [u**i / factorial(i) for i in range(n + 1)]


def _multiply(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    n = len(a)
    return [sum((a[i] * b[j - i] for i in range(j + 1)), start=Fraction(0)) for j in range(n)]


def compositions_of_one(classes: int, denominator: int) -> Iterator[tuple[Fraction, ...]]:
    """Distributions over exactly ``classes`` classes, as partitions of the denominator."""
    for parts in _partitions(denominator, classes, denominator):
        yield tuple(Fraction(part, denominator) for part in parts)


def _partitions(total: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(min(total, largest), 0, -1):
        for rest in _partitions(total - first, parts - 1, first):
            yield (first, *rest)


@dataclass(frozen=True)
class UniformOutcome:
    """A fingerprint of n draws from a uniform population.

    Attributes
    ----------
    fingerprint : Fingerprint
    probability : Fraction
    missing_mass : Fraction
        Determined by the number of distinct classes, since all are equally likely.
    """

    fingerprint: Fingerprint
    probability: Fraction
    missing_mass: Fraction


def uniform_outcomes(n: int, classes: int) -> Iterator[UniformOutcome]:
    """All fingerprints of n draws from ``classes`` equally likely classes, one per partition."""
    for parts in _partitions_into_any(n, n):
        orders = dict(Counter(parts))
        if len(parts) > classes:
            continue
        arrangements = factorial(n) // prod(factorial(part) for part in parts)
        labellings = factorial(classes) // (
            factorial(classes - len(parts)) * prod(factorial(m) for m in orders.values())
        )
        yield UniformOutcome(
            Fingerprint.from_phi(orders),
            Fraction(arrangements * labellings, classes**n),
            Fraction(classes - len(parts), classes),
        )


def _partitions_into_any(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
        return
    for first in range(min(total, largest), 0, -1):
        for rest in _partitions_into_any(total - first, first):
            yield (first, *rest)
