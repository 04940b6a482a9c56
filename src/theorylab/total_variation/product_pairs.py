"""A pair of product distributions, held as exact rationals; the boundary where rows are checked."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.exact import rational_vector

Row = tuple[Fraction, ...]
Rows = tuple[Row, ...]
IntegerRow = tuple[tuple[int, ...], tuple[int, ...], int]
"""Weights of the letters of one coordinate under P and Q, and their common denominator."""
ROW_SUM_TOLERANCE = Fraction(1, 10**9)


@dataclass(frozen=True, eq=False)
class FloatTables:
    """Rows in double precision, each number the nearest double to its exact value.

    Attributes
    ----------
    p, q, difference : numpy.ndarray, shape (n, letters)
        ``difference`` is ``q - p`` subtracted exactly and rounded once. Coordinates with fewer
        letters are filled up with letters of probability 0 under both laws.
    distances : numpy.ndarray, shape (n,)
        Total variation of each coordinate.
    """

    p: NDArray[np.float64]
    q: NDArray[np.float64]
    difference: NDArray[np.float64]
    distances: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ProductPair:
    r"""Two product distributions P, Q on :math:`\Omega = \prod_j \Sigma_j`.

    Attributes
    ----------
    p, q : tuple of tuple of Fraction
        Row j holds the probabilities of the letters of coordinate j; every row sums to 1 exactly.
    """

    p: Rows
    q: Rows

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.p)

    @cached_property
    def alphabet_sizes(self) -> tuple[int, ...]:
        """Number of letters of each coordinate."""
        return tuple(len(row) for row in self.p)

    @cached_property
    def integers(self) -> tuple[IntegerRow, ...]:
        """Both rows of each coordinate as integers over their common denominator."""
        return tuple(map(_over_one_denominator, self.p, self.q))

    @cached_property
    def differences(self) -> Rows:
        """``q - p``, letter by letter, before any rounding."""
        return tuple(
            tuple(b - a for a, b in zip(p_row, q_row, strict=True))
            for p_row, q_row in zip(self.p, self.q, strict=True)
        )

    @cached_property
    def marginal_distances(self) -> tuple[Fraction, ...]:
        r"""Total variation of each coordinate, :math:`d_i = \sum_a \max(0, p_i(a) - q_i(a))`."""
        return tuple(sum((-d for d in row if d < 0), start=Fraction(0)) for row in self.differences)

    @cached_property
    def floats(self) -> FloatTables:
        """The pair in double precision."""
        return FloatTables(
            _padded(self.p),
            _padded(self.q),
            _padded(self.differences),
            np.array([float(d) for d in self.marginal_distances]),
        )


def _over_one_denominator(p_row: Row, q_row: Row) -> IntegerRow:
    both = p_row + q_row
    denominators = [entry.denominator for entry in both]
    common = lcm(*denominators)
    scaled = [e.numerator * (common // d) for e, d in zip(both, denominators, strict=True)]
    return tuple(scaled[: len(p_row)]), tuple(scaled[len(p_row) :]), common


def _padded(rows: Rows) -> NDArray[np.float64]:
    table = np.zeros((len(rows), max(map(len, rows), default=1)))
    for j, row in enumerate(rows):
        table[j, : len(row)] = [float(entry) for entry in row]
    return table


def exact_pair(P: Any, Q: Any) -> ProductPair:
    """The pair with every probability given exactly.

    Parameters
    ----------
    P, Q : sequence of rows, or a mixture with one component
        Row j is the sequence of probabilities of coordinate j: ``int``, ``Fraction`` or strings
        such as ``"1/3"`` and ``"0.25"``.

    Raises
    ------
    TypeError
        For a float.
    ValueError
        For negative entries, rows that do not sum to 1, empty rows, or different spaces.
    """
    pair = _on_one_space(_exact_rows(P, "P"), _exact_rows(Q, "Q"))
    _check_rows(pair)
    return pair


def rounded_pair(P: Any, Q: Any) -> ProductPair:
    """The pair with floats allowed: each double is read as the dyadic rational that it is.

    Rows of doubles rarely sum to 1 exactly. The last letter of such a row is replaced by 1 minus
    the others; a row further than 1e-9 from 1 is refused. Rows without a float must sum to 1
    exactly. Distances much smaller than 1e-15 need exact input: rounding p and q apart moves them.

    Raises
    ------
    ValueError
        As ``exact_pair``; also for NaN and infinity.
    """
    pair = _on_one_space(_dyadic_rows(P, "P"), _dyadic_rows(Q, "Q"))
    _check_rows(pair)
    return pair


def _exact_rows(law: Any, name: str) -> Rows:
    return tuple(
        row if _is_exact(row) else rational_vector(row, name=f"{name}[{j}]")
        for j, row in enumerate(_rows(law, name))
    )


def _is_exact(row: Any) -> bool:
    return isinstance(row, tuple) and set(map(type, row)) == {Fraction}


def _dyadic_rows(law: Any, name: str) -> Rows:
    return tuple(_dyadic_row(row, f"{name}[{j}]") for j, row in enumerate(_rows(law, name)))


def _dyadic_row(row: Any, name: str) -> Row:
    entries = tuple(row) if isinstance(row, Iterable) else row
    found = rational_vector(entries, name=name, rationalise=True)
    if not any(_is_float(entry) for entry in entries):
        return found
    rest = 1 - sum(found[:-1], start=Fraction(0))
    if abs(rest - found[-1]) > ROW_SUM_TOLERANCE:
        raise ValueError(f"{name} sums to {float(sum(found))!r}, not to 1; normalise the row")
    if rest < 0 <= found[-1]:
        raise ValueError(
            f"{name}: the letters before the last sum to more than 1 by {float(-rest)!r}; "
            "give exact fractions, or put the largest letter last"
        )
    return (*found[:-1], rest)


def _is_float(entry: Any) -> bool:
    return isinstance(entry, numbers.Real) and not isinstance(entry, numbers.Rational)


def _rows(law: Any, name: str) -> Sequence[Any]:
    """The rows of a sequence, or of the only component of a mixture."""
    if hasattr(law, "rows") and hasattr(law, "weights"):
        if len(law.rows) != 1:
            raise ValueError(
                f"{name} is a mixture of {len(law.rows)} components, a product distribution is "
                "needed; use the functions for mixtures"
            )
        return list(law.rows[0])
    if isinstance(law, (str, bytes)) or not isinstance(law, Iterable):
        raise TypeError(f"{name} must be a sequence of rows of probabilities, got {law!r}")
    return list(law)


def _check_rows(pair: ProductPair) -> None:
    for j, (p, q, common) in enumerate(pair.integers):
        if sum(p) != common or min(p) < 0:
            _refuse_row(pair.p[j], f"P[{j}]")
        if sum(q) != common or min(q) < 0:
            _refuse_row(pair.q[j], f"Q[{j}]")


def _refuse_row(row: Row, name: str) -> None:
    if not row:
        raise ValueError(f"{name} is empty; every coordinate needs at least one letter")
    for letter, probability in enumerate(row):
        if probability < 0:
            raise ValueError(f"{name}[{letter}] is {probability}, a probability cannot be negative")
    raise ValueError(f"{name} sums to {sum(row)}, not to 1; normalise the row")


def _on_one_space(p: Rows, q: Rows) -> ProductPair:
    if len(p) != len(q):
        raise ValueError(f"P has {len(p)} coordinates, Q has {len(q)}; they must share one space")
    for j, (p_row, q_row) in enumerate(zip(p, q, strict=True)):
        if len(p_row) != len(q_row):
            raise ValueError(
                f"coordinate {j} has {len(p_row)} letters under P and {len(q_row)} under Q; "
                "give both laws on the same alphabet (a letter may have probability 0)"
            )
    return ProductPair(p, q)
