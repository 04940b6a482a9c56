r"""Exact total variation of two product distributions, three ways.

.. math:: d_{TV}(P, Q) = \sum_x \max(0, P(x) - Q(x)),

a sum over :math:`\prod_j |\Sigma_j|` points. Enumeration takes them one by one; the grouped
method keeps one state per value of the likelihood ratio; meeting in the middle sorts the two
halves by their ratios and needs the square root of the number of points. All three work on
integers: within coordinate j both rows are written over one common denominator.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import comb, factorial, inf, prod
from operator import mul
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from theorylab.total_variation.product_pairs import ProductPair, exact_pair

POINT_LIMIT = 1 << 22
"""States that a method may visit before it refuses."""

Atom = tuple[int, int]
"""Weights of one point, or of all points of one ratio, under P and Q over a common denominator."""

Points = tuple[list[int], list[int]]
"""Weights of many points under P and under Q."""

Letters = TypeVar("Letters", bound=Sized)

FEW_POINTS = 1 << 12
RATIO_COST = 20
TIE = 1e-15
TIES_PER_POINT = 8
SMALLEST_QUOTIENT = 1e-300


@dataclass(frozen=True, eq=False)
class LikelihoodRatioEvent:
    r"""The event :math:`S = \{x : P(x) > Q(x)\}`, which attains :math:`\max_S P(S) - Q(S)`."""

    pair: ProductPair

    def __call__(self, x: Sequence[int]) -> bool:
        """Whether the point with letters ``x`` (0-based, one per coordinate) lies in the event.

        Raises
        ------
        ValueError
            If ``x`` is no point of the space.
        """
        sizes = self.pair.alphabet_sizes
        if len(x) != len(sizes) or not all(0 <= a < s for a, s in zip(x, sizes, strict=True)):
            raise ValueError(f"{tuple(x)!r} is no point of the space with alphabets {sizes}")
        p = prod((row[a] for row, a in zip(self.pair.p, x, strict=True)), start=Fraction(1))
        q = prod((row[a] for row, a in zip(self.pair.q, x, strict=True)), start=Fraction(1))
        return p > q


class ExactDistance(NamedTuple):
    """Total variation distance and an event that attains it."""

    value: Fraction
    event: LikelihoodRatioEvent


def tv_product_exact(P: Any, Q: Any, method: str = "auto") -> ExactDistance:
    r"""Total variation distance of two product distributions, as a fraction.

    Parameters
    ----------
    P, Q : sequence of rows
        Row j holds the probabilities of the letters of coordinate j, exactly (no floats).
    method : {"auto", "enumeration", "grouped", "meet"}
        ``"enumeration"``: all points. ``"grouped"``: equal coordinates are counted together and
        points of equal likelihood ratio merged; polynomial when few coordinates differ from each
        other. ``"meet"``: :math:`O(n |\Omega|^{1/2})` operations on integers.

    Returns
    -------
    ExactDistance
        ``value``, a Fraction in [0, 1], and ``event``, the predicate :math:`P(x) > Q(x)`.

    Raises
    ------
    TypeError
        For floats.
    ValueError
        For rows that are no probabilities, different spaces, an unknown method, and for inputs
        that would need more than ``POINT_LIMIT`` states.

    Notes
    -----
    Exact computation is #P-complete in general (Bhattacharyya et al., IJCAI 2023), so some inputs
    must be refused; ``tv_product_bracket`` takes them.
    """
    pair = exact_pair(P, Q)
    if method != "auto" and method not in _METHODS:
        raise ValueError(f"method must be auto, {', '.join(_METHODS)}; got {method!r}")
    chosen = _cheapest(pair) if method == "auto" else method
    numerator, denominator = _METHODS[chosen](pair)
    return ExactDistance(Fraction(numerator, denominator), LikelihoodRatioEvent(pair))


def _cheapest(pair: ProductPair) -> str:
    """Grouped if its ratios, each dearer than a half-point, are fewer than the half-points."""
    points = _half_points(pair)
    if points > FEW_POINTS and RATIO_COST * _grouped_states(pair) < points:
        return "grouped"
    return "meet"


def _half_points(pair: ProductPair) -> int:
    left, right = _halves(pair.p)
    return prod(map(len, left)) + prod(map(len, right))


def _refuse(states: int, method: str) -> None:
    if states > POINT_LIMIT:
        raise ValueError(
            f"method {method!r} would visit {states} states, more than {POINT_LIMIT}; use "
            "tv_product_bracket for a certified interval"
        )


def _integer_rows(pair: ProductPair) -> tuple[list[list[Atom]], int]:
    """Letters of each coordinate that P may show, and the product of the denominators.

    A point with P(x) = 0 adds nothing to ``max(0, P - Q)``.
    """
    rows = [[(a, b) for a, b in zip(p, q, strict=True) if a] for p, q, _ in pair.integers]
    return rows, prod(common for _, _, common in pair.integers)


def _points(rows: Sequence[Sequence[Atom]]) -> Points:
    """Weights of all points of a product space under P and under Q."""
    return (
        _products([[a for a, _ in row] for row in rows]),
        _products([[b for _, b in row] for row in rows]),
    )


def _products(factors: Sequence[list[int]]) -> list[int]:
    """All products of one entry from each list, halves first: few long multiplications."""
    if len(factors) < 2:
        return factors[0] if factors else [1]
    middle = len(factors) // 2
    left, right = _products(factors[:middle]), _products(factors[middle:])
    return [a * b for a in left for b in right]


def _excess(atoms: Iterable[Atom]) -> int:
    return sum(a - b for a, b in atoms if a > b)


def _enumerate(pair: ProductPair) -> tuple[int, int]:
    _refuse(prod(pair.alphabet_sizes), "enumeration")
    rows, denominator = _integer_rows(pair)
    return _excess(zip(*_points(rows), strict=True)), denominator


def _grouped_states(pair: ProductPair) -> int:
    """Upper bound on the number of ratios: compositions, multiplied over groups."""
    groups = Counter(pair.integers)
    return prod(comb(m + len(p) - 1, len(p) - 1) for (p, _, _), m in groups.items())


def _grouped(pair: ProductPair) -> tuple[int, int]:
    _refuse(_grouped_states(pair), "grouped")
    rows, denominator = _integer_rows(pair)
    law: dict[Fraction, Atom] = {Fraction(1): (1, 1)}
    for row, multiplicity in Counter(tuple(row) for row in rows).items():
        law = _convolve(law, _power_law(row, multiplicity))
    return _excess(law.values()), denominator


def _convolve(left: dict[Fraction, Atom], right: list[tuple[Fraction, Atom]]) -> dict:
    law: dict[Fraction, Atom] = {}
    for ratio, (a, b) in left.items():
        for other, (c, d) in right:
            key = ratio * other
            so_far = law.get(key, (0, 0))
            law[key] = (so_far[0] + a * c, so_far[1] + b * d)
    return law


def _power_law(row: Sequence[Atom], multiplicity: int) -> list[tuple[Fraction, Atom]]:
    """Law of the likelihood ratio of ``multiplicity`` equal coordinates."""
    letters: dict[Fraction, Atom] = {}
    for a, b in row:
        so_far = letters.get(Fraction(b, a), (0, 0))
        letters[Fraction(b, a)] = (so_far[0] + a, so_far[1] + b)
    ratios, atoms = list(letters), list(letters.values())
    law = []
    for counts in _compositions(multiplicity, len(atoms)):
        ways = factorial(multiplicity) // prod(factorial(k) for k in counts)
        a = ways * prod(atom[0] ** k for atom, k in zip(atoms, counts, strict=True))
        b = ways * prod(atom[1] ** k for atom, k in zip(atoms, counts, strict=True))
        law.append((prod(r**k for r, k in zip(ratios, counts, strict=True)), (a, b)))
    return law


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All tuples of ``parts`` non-negative integers with the given sum."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def _meet(pair: ProductPair) -> tuple[int, int]:
    r"""Sum :math:`\max(0, aa' - bb')` over pairs of half-points, sorted by likelihood ratio.

    Given the left half-point (a, b), the right ones that count are those with
    :math:`b'/a' < a/b`: a prefix of the right half in order of its ratio, of which only the sums
    of a' and b' matter.
    """
    rows, denominator = _integer_rows(pair)
    left_rows, right_rows = _halves(rows)
    _refuse(max(prod(map(len, left_rows)), prod(map(len, right_rows))), "meet")
    left, right = _points(left_rows), _points(right_rows)
    total = _meet_by_doubles(left, right)
    return _meet_by_integers(left, right) if total is None else total, denominator


def _meet_by_doubles(left: Points, right: Points) -> int | None:
    """The sum with the ratios sorted as doubles, exact because near ties are settled apart.

    A quotient of integers is rounded correctly, so quotients further apart than ``TIE``, relative
    to their size, are in their true order. None if sorting integers is quicker or safer.
    """
    thresholds, ratios = _quotients(*left), _quotients(*reversed(right))
    if thresholds is None or ratios is None:
        return None
    order = np.argsort(ratios)
    ratios = ratios[order]
    certain = np.searchsorted(ratios, thresholds * (1.0 - TIE), side="left")
    possible = np.searchsorted(ratios, thresholds * (1.0 + TIE), side="right")
    if (possible - certain).sum() > TIES_PER_POINT * len(thresholds):
        return None
    p, q = ([weights[k] for k in order.tolist()] for weights in right)
    total = _sum_of_prefixes(left, (p, q), certain.tolist())
    for k in np.flatnonzero(possible > certain).tolist():
        near = range(certain[k], possible[k])
        total += _excess((left[0][k] * p[j], left[1][k] * q[j]) for j in near)
    return total


def _quotients(numerators: list[int], denominators: list[int]) -> NDArray[np.float64] | None:
    """Correctly rounded quotients, x/0 = inf; None if one leaves the range of normal doubles."""
    try:
        found = [a / b if b else inf for a, b in zip(numerators, denominators, strict=True)]
    except OverflowError:
        return None
    quotients = np.array(found)
    vanishing = np.flatnonzero(quotients < SMALLEST_QUOTIENT).tolist()
    return None if any(numerators[k] for k in vanishing) else quotients


def _meet_by_integers(left: Points, right: Points) -> int:
    """The sum with the ratios sorted as integers.

    Two different fractions with denominators b, b' differ by at least 1/(b b'), so after scaling
    by a larger power of two their floors differ too.
    """
    shift = 2 * max(max(left[1]), max(right[0])).bit_length()
    ordered = sorted([((b << shift) // a, a, b) for a, b in zip(*right, strict=True)])
    keys, p, q = map(list, zip(*ordered, strict=True))
    counts = [
        bisect_left(keys, (a << shift) // b) if b else len(keys) for a, b in zip(*left, strict=True)
    ]
    return _sum_of_prefixes(left, (p, q), counts)


def _sum_of_prefixes(left: Points, right: Points, counts: list[int]) -> int:
    """Sum over left points of aP - bQ with P, Q the sums of the first ``count`` right weights."""
    p_sums, q_sums = ([0, *accumulate(weights)] for weights in right)
    gain = sum(map(mul, left[0], map(p_sums.__getitem__, counts)))
    return gain - sum(map(mul, left[1], map(q_sums.__getitem__, counts)))


def _halves(rows: Sequence[Letters]) -> tuple[list[Letters], list[Letters]]:
    """Coordinates in two groups with about equally many points, larger alphabets first."""
    groups: tuple[list[Letters], list[Letters]] = ([], [])
    sizes = [1, 1]
    for row in sorted(rows, key=len, reverse=True):
        smaller = int(sizes[1] < sizes[0])
        groups[smaller].append(row)
        sizes[smaller] *= len(row)
    return groups


_METHODS: dict[str, Callable[[ProductPair], tuple[int, int]]] = {
    "enumeration": _enumerate,
    "grouped": _grouped,
    "meet": _meet,
}
