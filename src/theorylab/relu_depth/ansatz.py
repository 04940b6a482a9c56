r"""The maximum of n numbers from symmetrised two-layer blocks, by exact linear algebra.

For a template :math:`\Phi_{A,B}` (see ``hinges``), :math:`F_{A,B} = \sum_{\sigma\in S_n}
\Phi_{A,B}\circ\sigma` is invariant under permutations, so one chamber says everything: a
combination of the :math:`F_{A,B}` is :math:`\max_n` if and only if on
:math:`x_1\le\dots\le x_n` its hinges cancel and its linear part is :math:`x_n`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations
from math import factorial

import numpy as np
from flint import fmpz_mat, nmod_mat
from numba import njit
from numpy.typing import NDArray

from .hinges import Block, Hinge, Pair

PRIME = 4611686018427387847
"""The largest prime below 2**62: where pivots are found before the exact solution."""


@dataclass(frozen=True)
class Column:
    """A symmetrised block on the chamber :math:`x_1\\le\\dots\\le x_n`.

    Attributes
    ----------
    hinges : dict of hinge to int
        Hinges over the gaps, as in ``hinges.NormalForm``, with coefficients that are not 0.
    linear : tuple of int
        Coefficients of the sorted coordinates.
    """

    hinges: dict[Hinge, int]
    linear: tuple[int, ...]


def _check_size(n: int, k: int) -> None:
    if n < 2 or k < 1:
        raise ValueError(f"need n >= 2 numbers and k >= 1 pairs a side, got n={n}, k={k}")


def templates(n: int, k: int) -> list[Block]:
    """One block of each orbit of relabelling n numbers, both sides of k pairs.

    Parameters
    ----------
    n : int
        Numbers, at least 2.
    k : int
        Pairs a side, at least 1; loops (i, i) count as pairs.

    Returns
    -------
    list of Block
        In a fixed order.
    """
    _check_size(n, k)
    pairs = list(combinations_with_replacement(range(n), 2))
    sides = list(combinations_with_replacement(range(len(pairs)), k))
    action = _Action(n, pairs, sides)
    types = action.orbit_representatives()
    found = []
    for order, first in enumerate(types):
        images = action.images_under_stabiliser(first)
        smallest = images.min(axis=0)
        for second in np.flatnonzero(smallest == np.arange(len(sides))).tolist():
            kind = action.type_of(second)
            if kind > order or (kind == order and _is_first(action, first, second, smallest)):
                found.append(_block(pairs, sides[first], sides[second]))
    return found


def _block(pairs: list[Pair], left: Sequence[int], right: Sequence[int]) -> Block:
    return Block(tuple(pairs[i] for i in left), tuple(pairs[i] for i in right))


def _is_first(action: _Action, first: int, second: int, smallest: NDArray[np.int64]) -> bool:
    """Whether (first, second) comes before what swapping the two sides turns it into."""
    back = action.carrier(second, first)
    return second <= int(smallest[action.image(first, back)])


class _Action:
    """Permutations of n numbers acting on the sides of blocks."""

    def __init__(self, n: int, pairs: list[Pair], sides: list[tuple[int, ...]]) -> None:
        self._group = np.array(list(permutations(range(n))), dtype=np.int64)
        self._sides = np.array(sides, dtype=np.int64)
        self._pair_number = np.zeros((n, n), dtype=np.int64)
        for number, (i, j) in enumerate(pairs):
            self._pair_number[i, j] = self._pair_number[j, i] = number
        self._pairs = np.array(pairs, dtype=np.int64)
        self._base = len(pairs) ** np.arange(self._sides.shape[1], dtype=np.int64)
        self._codes = self._code(self._sides)
        self._sorter = np.argsort(self._codes)
        self._types: list[int] = []
        self._type_of = np.full(len(sides), -1, dtype=np.int64)

    def _code(self, sides: NDArray[np.int64]) -> NDArray[np.int64]:
        return sides @ self._base

    def _numbers(self, sides: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of sides given by their pairs in any order."""
        codes = self._code(np.sort(sides, axis=-1))
        return self._sorter[np.searchsorted(self._codes, codes, sorter=self._sorter)]

    def _moved_pairs(self, elements: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each group element, where it sends each pair."""
        return self._pair_number[elements[:, self._pairs[:, 0]], elements[:, self._pairs[:, 1]]]

    def orbit_representatives(self) -> list[int]:
        """Sides up to relabelling; also labels every side with its type."""
        moved = self._moved_pairs(self._group)
        for side in range(len(self._sides)):
            if self._type_of[side] < 0:
                orbit = np.unique(self._numbers(moved[:, self._sides[side]]))
                self._type_of[orbit] = len(self._types)
                self._types.append(side)
        return self._types

    def type_of(self, side: int) -> int:
        return int(self._type_of[side])

    def images_under_stabiliser(self, side: int) -> NDArray[np.int64]:
        """Images of all sides under the elements that fix one, shape (elements, sides)."""
        images = self._numbers(self._moved_pairs(self._group)[:, self._sides[side]])
        fixing = self._group[images == side]
        return np.stack([self._numbers(row[self._sides]) for row in self._moved_pairs(fixing)])

    def carrier(self, start: int, goal: int) -> NDArray[np.int64]:
        """A permutation that sends one side to another."""
        images = self._numbers(self._moved_pairs(self._group)[:, self._sides[start]])
        return self._group[int(np.flatnonzero(images == goal)[0])]

    def image(self, side: int, element: NDArray[np.int64]) -> int:
        moved = self._moved_pairs(element[None, :])[0]
        return int(self._numbers(moved[self._sides[side]][None, :])[0])


@cache
def _placements(n: int, used: int) -> NDArray[np.int64]:
    """All ways to place ``used`` labels at different positions."""
    return np.array(list(permutations(range(n), used)), dtype=np.int64)


@njit(cache=True)
def _suffixes(counts, n, out):  # pragma: no cover - compiled
    total = 0
    for position in range(n - 1, 0, -1):
        total += counts[position]
        out[position - 1] = total


@njit(cache=True)
def _gcd(a, b):  # pragma: no cover - compiled
    while b:
        a, b = b, a % b
    return a


@njit(cache=True)
def _histogram(left, right, placements, n, weight):  # pragma: no cover - compiled
    """Codes of the hinges met, their total coefficients, and the linear part."""
    k = left.shape[0]
    base = 2 * k + 1
    size = base ** (n - 1)
    found = np.zeros(size, dtype=np.int64)
    touched = np.zeros(size, dtype=np.bool_)
    codes = []
    linear = np.zeros(n, dtype=np.int64)
    difference = np.zeros(n, dtype=np.int64)
    high = np.zeros(n, dtype=np.int64)
    low = np.zeros(n, dtype=np.int64)
    suffixes = np.zeros(n - 1, dtype=np.int64)
    for row in range(placements.shape[0]):
        place = placements[row]
        low[:] = 0
        high[:] = 0
        for edge in range(k):
            low[max(place[left[edge, 0]], place[left[edge, 1]])] += 1
            high[max(place[right[edge, 0]], place[right[edge, 1]])] += 1
        for position in range(n):
            difference[position] = low[position] - high[position]
        _suffixes(difference, n, suffixes)
        content, leading, positive, negative = 0, 0, False, False
        for value in suffixes:
            if value and not leading:
                leading = value
            content = _gcd(abs(value), content)
            positive = positive or value > 0
            negative = negative or value < 0
        if positive and negative:
            sign = 1 if leading > 0 else -1
            code = 0
            for value in suffixes:
                code = code * base + sign * value // content + k
            if not touched[code]:
                touched[code] = True
                codes.append(code)
            found[code] += content * weight
            chosen = high if leading > 0 else low
        else:
            chosen = high if negative else low
        for position in range(n):
            linear[position] += weight * chosen[position]
    result = np.zeros((len(codes), 2), dtype=np.int64)
    for number, code in enumerate(codes):
        result[number, 0] = code
        result[number, 1] = found[code]
    return result, linear


def symmetrised_column(template: Block, n: int) -> Column:
    """Normal form of the sum over all n! relabellings of a block.

    Parameters
    ----------
    template : Block
        With indices below n.
    n : int

    Notes
    -----
    Only the labels that the block uses are placed, in n!/(n-m)! ways for m labels; each stands
    for (n-m)! permutations.
    """
    _check_size(n, len(template.left))
    if template.inputs > n:
        raise ValueError(f"the block needs {template.inputs} numbers, n is {n}")
    labels = sorted({i for side in (template.left, template.right) for p in side for i in p})
    number = {label: position for position, label in enumerate(labels)}
    sides = [
        np.array([[number[i], number[j]] for i, j in side], dtype=np.int64)
        for side in (template.left, template.right)
    ]
    weight = factorial(n - len(labels))
    left, right = sides
    rows, linear = _histogram(left, right, _placements(n, len(labels)), n, weight)
    k = len(template.left)
    hinges = {_decoded(code, k, n): value for code, value in sorted(rows.tolist())}
    return Column(hinges, tuple(linear.tolist()))


def _decoded(code: int, k: int, n: int) -> Hinge:
    digits = []
    for _ in range(n - 1):
        code, digit = divmod(code, 2 * k + 1)
        digits.append(digit - k)
    return tuple(reversed(digits))


@dataclass(frozen=True)
class System:
    """Linear system whose solutions write the maximum of n numbers in symmetrised blocks.

    Attributes
    ----------
    n : int
    templates : list of Block
        One per column.
    matrix : fmpz_mat
        Rows: the hinges, which must cancel, then the coefficients of the linear part.
    right : list of int
        Zeros, and a one for the largest coordinate.
    """

    n: int
    templates: list[Block]
    matrix: fmpz_mat
    right: list[int]


def system(n: int, k: int) -> System:
    """The system of all templates with k pairs a side."""
    chosen = templates(n, k)
    columns = [symmetrised_column(template, n) for template in chosen]
    hinges = sorted({hinge for column in columns for hinge in column.hinges})
    rows = [[column.hinges.get(hinge, 0) for column in columns] for hinge in hinges]
    rows += [[column.linear[position] for column in columns] for position in range(n)]
    return System(n, chosen, fmpz_mat(rows), [0] * (len(hinges) + n - 1) + [1])


@dataclass(frozen=True)
class Certificate:
    r"""Coefficients with :math:`\sum_T c_T F_T = \max_n`.

    Attributes
    ----------
    n : int
    terms : tuple of (Fraction, Block)
        Coefficients are not 0.
    """

    n: int
    terms: tuple[tuple[Fraction, Block], ...]

    @property
    def denominator(self) -> int:
        """Least common denominator of the coefficients of single blocks (not of orbits)."""
        return int(np.lcm.reduce([c.denominator for c, _ in self.terms], dtype=object))


class NoRepresentation(ArithmeticError):
    """The ansatz cannot write the maximum; says nothing about networks in general.

    Attributes
    ----------
    dual : list of Fraction
        y with y A = 0 and y b = 1.
    """

    def __init__(self, n: int, k: int, dual: list[Fraction]) -> None:
        super().__init__(
            f"the maximum of {n} numbers is not in the span of symmetrised blocks with {k} pairs "
            "a side; `dual` holds the certificate"
        )
        self.dual = dual


def solve_max(n: int, k: int | None = None) -> Certificate:
    r"""Write the maximum of n numbers with two hidden layers, exactly.

    Pivot columns are found modulo a prime; the solution is exact and checked against every row.

    Parameters
    ----------
    n : int
    k : int, optional
        Pairs a side; :math:`\lfloor (n-1)/2\rfloor` if omitted, the least that can work.

    Raises
    ------
    NoRepresentation
        With a dual certificate if there is no solution.
    """
    pairs = (n - 1) // 2 if k is None else k
    equations = system(n, pairs)
    rows, columns = _pivots(equations.matrix)
    table = equations.matrix.tolist()
    square = fmpz_mat([[table[i][j] for j in columns] for i in rows])
    right = fmpz_mat([[equations.right[i]] for i in rows])
    solution = square.solve(right)
    values = [Fraction(int(entry[0].p), int(entry[0].q)) for entry in solution.tolist()]
    for row, goal in zip(table, equations.right, strict=True):
        if sum(int(row[j]) * v for j, v in zip(columns, values, strict=True)) != goal:
            raise NoRepresentation(n, pairs, _dual(equations))
    terms = [
        (value, equations.templates[j]) for j, value in zip(columns, values, strict=True) if value
    ]
    return Certificate(n, tuple(terms))


def _pivots(matrix: fmpz_mat) -> tuple[list[int], list[int]]:
    """Rows and columns of a largest minor that is not 0 modulo the prime, hence not 0."""
    columns = _pivot_columns(nmod_mat(matrix, PRIME))
    rows = _pivot_columns(nmod_mat(matrix.transpose(), PRIME))
    return rows, columns


def _pivot_columns(matrix: nmod_mat) -> list[int]:
    reduced, rank = matrix.rref()
    table = reduced.tolist()[:rank]
    return [next(j for j, entry in enumerate(row) if int(entry)) for row in table]


def _dual(equations: System) -> list[Fraction]:
    """y with y A = 0 and y b = 1: b has its only one in the last row."""
    transposed = equations.matrix.transpose()
    kernel, rank = transposed.nullspace()
    for vector in kernel.transpose().tolist()[:rank]:
        last = int(vector[-1])
        if last:
            return [Fraction(int(entry), last) for entry in vector]
    raise ArithmeticError("the system is solvable over the rationals but its pivots are not")
