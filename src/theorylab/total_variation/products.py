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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import comb, factorial, inf, lcm, prod
from typing import Any, NamedTuple

from theorylab.total_variation.product_pairs import ProductPair, exact_pair

POINT_LIMIT = 1 << 22
"""States that a method may visit before it refuses."""

SMALL_SPACE = 1 << 10
FEW_RATIOS = 1 << 14

Atom = tuple[int, int]
"""Weights of one point (or of all points of one ratio) under P and Q, over a common denominator."""


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
    if prod(pair.alphabet_sizes) <= SMALL_SPACE:
        return "enumeration"
    return "grouped" if _grouped_states(pair) <= FEW_RATIOS else "meet"


def _refuse(states: int, method: str) -> None:
    if states > POINT_LIMIT:
        raise ValueError(
            f"method {method!r} would visit {states} states, more than {POINT_LIMIT}; use "
            "tv_product_bracket for a certified interval"
        )


def _integer_rows(pair: ProductPair) -> tuple[list[list[Atom]], int]:
    """Letters of each coordinate as integer atoms, and the product of the denominators."""
    rows, denominator = [], 1
    for p_row, q_row in zip(pair.p, pair.q, strict=True):
        common = lcm(*(entry.denominator for entry in (*p_row, *q_row)))
        rows.append([(int(a * common), int(b * common)) for a, b in zip(p_row, q_row, strict=True)])
        denominator *= common
    return rows, denominator


def _points(rows: Sequence[Sequence[Atom]]) -> list[Atom]:
    """Atoms of all points of a product space."""
    atoms = [(1, 1)]
    for row in rows:
        atoms = [(a * c, b * d) for a, b in atoms for c, d in row]
    return atoms


def _excess(atoms: Sequence[Atom]) -> int:
    return sum(a - b for a, b in atoms if a > b)


def _enumerate(pair: ProductPair) -> tuple[int, int]:
    _refuse(prod(pair.alphabet_sizes), "enumeration")
    rows, denominator = _integer_rows(pair)
    return _excess(_points(rows)), denominator


def _grouped_states(pair: ProductPair) -> int:
    """Upper bound on the number of ratios: compositions, multiplied over groups."""
    groups = Counter(zip(pair.p, pair.q, strict=True))
    return prod(comb(m + len(p) - 1, len(p) - 1) for (p, _), m in groups.items())


def _grouped(pair: ProductPair) -> tuple[int, int]:
    _refuse(_grouped_states(pair), "grouped")
    rows, denominator = _integer_rows(pair)
    law: dict[Fraction, Atom] = {Fraction(1): (1, 1)}
    for row, multiplicity in Counter(tuple(row) for row in rows).items():
        law = _convolve(law, _power_law(row, multiplicity))
    return _excess(list(law.values())), denominator


def _convolve(left: dict[Fraction, Atom], right: list[tuple[Fraction, Atom]]) -> dict:
    law: dict[Fraction, Atom] = {}
    for ratio, (a, b) in left.items():
        for other, (c, d) in right:
            key = ratio * other
            so_far = law.get(key, (0, 0))
            law[key] = (so_far[0] + a * c, so_far[1] + b * d)
    return law


def _power_law(row: Sequence[Atom], multiplicity: int) -> list[tuple[Fraction, Atom]]:
    """Law of the likelihood ratio of ``multiplicity`` equal coordinates.

    Letters that P never shows are left out: they add nothing to ``max(0, P - Q)``.
    """
    letters: dict[Fraction, Atom] = {}
    for a, b in row:
        if a:
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
    size = max(prod(map(len, left_rows)), prod(map(len, right_rows)))
    _refuse(size, "meet")
    left, right = _points(left_rows), [atom for atom in _points(right_rows) if atom[0]]
    key = _order_key(max(b for _, b in left), max(a for a, _ in right))
    right.sort(key=lambda atom: key(atom[1], atom[0]))
    keys = [key(b, a) for a, b in right]
    p_sums = [0, *accumulate(a for a, _ in right)]
    q_sums = [0, *accumulate(b for _, b in right)]
    total = 0
    for a, b in left:
        count = bisect_left(keys, key(a, b))
        total += a * p_sums[count] - b * q_sums[count]
    return total, denominator


def _order_key(*largest_denominators: int) -> Callable[[int, int], float | int]:
    """Integer keys that order fractions exactly.

    Two different fractions with denominators b, b' differ by at least 1/(b b'), so after scaling
    by a larger power of two their floors differ too.
    """
    shift = 2 * max(largest_denominators).bit_length()

    def key(numerator: int, denominator: int) -> float | int:
        return (numerator << shift) // denominator if denominator else inf

    return key


def _halves(rows: Sequence[list[Atom]]) -> tuple[list[list[Atom]], list[list[Atom]]]:
    """Coordinates in two groups with about equally many points, larger alphabets first."""
    groups: tuple[list, list] = ([], [])
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
