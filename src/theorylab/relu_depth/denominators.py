r"""Which denominators an ansatz needs, prime by prime, by elimination over :math:`\mathbb Z_{(q)}`.

All blocks (see ``hinges``) with k pairs a side on n numbers span a module. The least
:math:`\lambda` with :math:`\lambda\max_n` in its integer span is found one prime q at a time.
Averaging over a group is free where its order is a unit modulo q: so a group of odd order serves
q = 2 and a 2-group all odd primes. Averaging over all permutations is wrong for q up to n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

import numpy as np
from flint import fmpz_mat, nmod_mat
from numba import njit
from numpy.typing import NDArray

from .ansatz import PRIME
from .theory import is_prime

Permutation = tuple[int, ...]
_LARGEST_MODULUS = 2**24
"""Products of two residues are exact in floating point, where reduction is fast."""


def generated(generators: Sequence[Sequence[int]]) -> list[Permutation]:
    """All elements of the permutation group with these generators (images of 0..n-1)."""
    if not generators:
        raise ValueError("give at least one generator; the identity generates the trivial group")
    n = len(generators[0])
    for generator in generators:
        if sorted(generator) != list(range(n)):
            raise ValueError(f"{tuple(generator)} is no permutation of 0..{n - 1}")
    found = {tuple(range(n))}
    fresh = set(found)
    while fresh:
        fresh = {tuple(g[h[i]] for i in range(n)) for g in generators for h in fresh} - found
        found |= fresh
    return sorted(found)


@dataclass(frozen=True)
class OrbitSystem:
    """Blocks summed over the orbits of a group, on one chamber of each orbit of chambers.

    Attributes
    ----------
    matrix : integer array (rows, columns)
        Hinges, then the linear part, of every chamber; one column an orbit of blocks.
    right : integer array (rows,)
        The maximum: its hinges are 0, its linear part is the largest coordinate.
    group_order : int
    """

    matrix: NDArray[np.int64]
    right: NDArray[np.int64]
    group_order: int


def orbit_system(n: int, k: int, generators: Sequence[Sequence[int]]) -> OrbitSystem:
    """The system of all blocks with k pairs a side, invariant under a group.

    Parameters
    ----------
    n, k : int
    generators : sequence of permutations of 0..n-1
    """
    group = generated(generators)
    if len(group[0]) != n:
        raise ValueError(f"the group moves {len(group[0])} numbers, n is {n}")
    pairs = list(combinations_with_replacement(range(n), 2))
    sides = np.array(list(combinations_with_replacement(range(len(pairs)), k)), dtype=np.int64)
    first, second = np.triu_indices(len(sides))
    column = _orbits(np.array(group), np.array(pairs), sides, first, second)
    parts = [
        _chamber_rows(np.array(rank), np.array(pairs), sides, first, second, column)
        for rank in _chambers(group, n)
    ]
    right = [_right(part.shape[0], n) for part in parts]
    return OrbitSystem(np.concatenate(parts), np.concatenate(right), len(group))


def _right(rows: int, n: int) -> NDArray[np.int64]:
    right = np.zeros(rows, dtype=np.int64)
    right[-1] = 1
    return right


def _chambers(group: list[Permutation], n: int) -> list[Permutation]:
    """One ranking of the numbers of each orbit."""
    seen: set[Permutation] = set()
    found = []
    for rank in permutations(range(n)):
        if rank not in seen:
            found.append(rank)
            seen.update(tuple(rank[g[i]] for i in range(n)) for g in group)
    return found


def _orbits(
    group: NDArray, pairs: NDArray, sides: NDArray, first: NDArray, second: NDArray
) -> NDArray[np.int64]:
    """Number of the orbit of every block."""
    n, k = group.shape[1], sides.shape[1]
    place = np.zeros((n, n), dtype=np.int64)
    place[pairs[:, 0], pairs[:, 1]] = place[pairs[:, 1], pairs[:, 0]] = np.arange(len(pairs))
    base = len(pairs) ** np.arange(k, dtype=np.int64)
    codes = sides @ base
    order = np.argsort(codes)
    least = np.full(len(first), np.iinfo(np.int64).max)
    for element in group:
        moved = place[element[pairs[:, 0]], element[pairs[:, 1]]]
        images = order[np.searchsorted(codes, np.sort(moved[sides], axis=1) @ base, sorter=order)]
        one, two = images[first], images[second]
        least = np.minimum(least, np.minimum(one, two) * len(sides) + np.maximum(one, two))
    return np.unique(least, return_inverse=True)[1]


def _chamber_rows(
    rank: NDArray, pairs: NDArray, sides: NDArray, first: NDArray, second: NDArray, column: NDArray
) -> NDArray[np.int64]:
    """Hinges and linear part of all orbits on one chamber."""
    n, k = len(rank), sides.shape[1]
    winners = np.maximum(rank[pairs[:, 0]], rank[pairs[:, 1]])
    counts = np.zeros((len(sides), n), dtype=np.int64)
    for place in range(k):
        np.add.at(counts, (np.arange(len(sides)), winners[sides[:, place]]), 1)
    difference = counts[first] - counts[second]
    suffixes = np.cumsum(difference[:, :0:-1], axis=1)[:, ::-1]
    hinged = (suffixes > 0).any(axis=1) & (suffixes < 0).any(axis=1)
    leading = np.take_along_axis(suffixes, (suffixes != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    takes_second = np.where(hinged, leading > 0, (suffixes < 0).any(axis=1))
    columns = int(column.max()) + 1
    linear = np.zeros((n, columns), dtype=np.int64)
    chosen = np.where(takes_second[:, None], counts[second], counts[first])
    for position in range(n):
        np.add.at(linear[position], column, chosen[:, position])
    content = np.gcd.reduce(suffixes[hinged], axis=1)
    sign = np.sign(leading[hinged])
    primitive = suffixes[hinged] * sign[:, None] // content[:, None]
    kinds, row = np.unique(primitive, axis=0, return_inverse=True)
    hinges = np.zeros((len(kinds), columns), dtype=np.int64)
    np.add.at(hinges, (row.ravel(), column[hinged]), content)
    return np.concatenate([hinges, linear])


@njit(cache=True)
def _valuation(value, q, precision):  # pragma: no cover - compiled
    if value == 0:
        return precision
    found = 0
    while value % q == 0:
        value //= q
        found += 1
    return found


@njit(cache=True)
def _inverse(value, modulus):  # pragma: no cover - compiled
    old, new, s, t = value % modulus, modulus, 1, 0
    while new:
        quotient = old // new
        old, new = new, old - quotient * new
        s, t = t, s - quotient * t
    return s % modulus


@njit(cache=True)
def _least_pivot(
    columns, free_row, free_column, q, precision, least
):  # pragma: no cover - compiled
    """An entry of least valuation in the free rows and columns; the search stops at ``least``."""
    found, at_row, at_column = precision, -1, -1
    for j in range(columns.shape[0] - 1):
        if free_column[j]:
            for i in range(columns.shape[1]):
                if free_row[i] and columns[j, i]:
                    v = _valuation(int(columns[j, i]), q, precision)
                    if v < found:
                        found, at_row, at_column = v, i, j
                        if found == least:
                            return found, at_row, at_column
    return found, at_row, at_column


@njit(cache=True)
def _reduced(value, modulus, inverse):  # pragma: no cover - compiled
    """Residue of an integer below 2^50; the rounded quotient is off by one at most."""
    rest = value - modulus * np.floor(value * inverse)
    if rest < 0:
        rest += modulus
    elif rest >= modulus:
        rest -= modulus
    return rest


@njit(cache=True)
def _clear_row(columns, free_column, row, pivot, power, modulus):  # pragma: no cover - compiled
    """Subtract multiples of the pivot column, which has a power of q as pivot, from the others."""
    inverse = 1.0 / modulus
    last = columns.shape[0] - 1
    for j in range(last + 1):
        if (free_column[j] or j == last) and columns[j, row]:
            factor = columns[j, row] / power
            alive = False
            for i in range(columns.shape[1]):
                value = _reduced(columns[j, i] - factor * columns[pivot, i], modulus, inverse)
                columns[j, i] = value
                alive |= value != 0
            free_column[j] &= alive


@njit(cache=True)
def _eliminate(columns, q, precision):  # pragma: no cover - compiled
    """Column operations over Z/q^precision, pivots of least valuation; one column a line.

    The last column is the right side: it is reduced but never a pivot. Returns the valuations of
    the pivots, the power of q by which b had to be multiplied, and whether b was reduced to 0.
    """
    modulus = q**precision
    free_row = np.ones(columns.shape[1], dtype=np.bool_)
    free_column = np.ones(columns.shape[0], dtype=np.bool_)
    free_column[-1] = False
    pivots = []
    needed, least = 0, 0
    while True:
        least, row, pivot = _least_pivot(columns, free_row, free_column, q, precision, least)
        if row < 0:
            break
        pivots.append(least)
        power = q**least
        unit = _inverse(int(columns[pivot, row]) // power, modulus)
        missing = least - _valuation(int(columns[-1, row]), q, precision)
        for i in range(columns.shape[1]):
            columns[pivot, i] = _reduced(columns[pivot, i] * unit, modulus, 1.0 / modulus)
        if missing > 0:
            needed += missing
            for i in range(columns.shape[1]):
                columns[-1, i] = _reduced(columns[-1, i] * q**missing, modulus, 1.0 / modulus)
        free_row[row] = False
        free_column[pivot] = False
        _clear_row(columns, free_column, row, pivot, power, modulus)
    return pivots, needed, not columns[-1].any()


def _distinct_lines(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct rows."""
    lines = np.ascontiguousarray(table)
    return lines[list({line.tobytes(): i for i, line in enumerate(lines)}.values())]


def _rank(table: NDArray[np.int64]) -> int:
    return nmod_mat(fmpz_mat(table.tolist()), PRIME).rank()


def q_denominator(
    A: NDArray[np.int64], b: NDArray[np.int64], q: int
) -> tuple[int, tuple[int, ...]]:
    r"""Least e with :math:`q^e b \in A\,\mathbb Z_{(q)}^c`, and the q-valuations of A.

    Parameters
    ----------
    A : integer array (r, c)
    b : integer array (r,)
    q : int
        A prime.

    Returns
    -------
    e : int
    valuations : tuple of int
        Of the elementary divisors of A that are not 0, in increasing order.

    Raises
    ------
    ValueError
        If q is no prime, or b is not in the rational span of A.
    ArithmeticError
        If the precision, q**K below 2**24, does not suffice.
    """
    if not is_prime(q):
        raise ValueError(f"q must be a prime, got {q}")
    rows = _distinct_lines(np.column_stack([np.asarray(A), np.asarray(b)]).astype(np.int64))
    table = np.column_stack([_distinct_lines(rows[:, :-1].T).T, rows[:, -1]])
    precision = 1
    while q ** (precision + 1) < _LARGEST_MODULUS:
        precision += 1
    columns = np.ascontiguousarray((table % q**precision).T.astype(float))
    pivots, needed, solved = _eliminate(columns, q, precision)
    rank = _rank(table)
    if _rank(table[:, :-1]) < rank:
        raise ValueError("b is not in the rational span of A; see NoRepresentation.dual")
    if len(pivots) < rank or not solved:
        raise ArithmeticError(
            f"{q}-adic precision {precision} does not suffice: {len(pivots)} pivots of {rank}"
        )
    return needed, tuple(sorted(pivots))


def forced_prime_certificate(
    A: NDArray[np.int64], b: NDArray[np.int64], q: int
) -> list[int] | None:
    r"""y with :math:`y^\top A\equiv0` and :math:`y^\top b\not\equiv0` modulo q, or None.

    With such a y no combination of the columns with denominators prime to q is b.
    """
    right = np.asarray(b)
    kernel, nullity = nmod_mat(fmpz_mat(np.asarray(A).T.tolist()), q).nullspace()
    support = np.flatnonzero(right).tolist()
    for column in range(nullity):
        if sum(int(kernel[i, column]) * int(right[i]) for i in support) % q:
            return [int(kernel[i, column]) for i in range(len(right))]
    return None


def proves_forced(y: Sequence[int], A: NDArray[np.int64], b: NDArray[np.int64], q: int) -> bool:
    """Whether y is such a certificate, by multiplications only."""
    vector = np.array(y, dtype=object)
    return not (vector @ A.astype(object) % q).any() and bool(int(vector @ b.astype(object)) % q)
