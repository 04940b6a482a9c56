"""Exact linear algebra over the rationals, through python-flint.

Matrices are sequences of rows with ``int`` or ``Fraction`` entries; results are tuples of
``Fraction`` (or of ``int`` where a basis can be chosen integral).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpz_mat

from .rationals import IntVector, Rational, Vector, clear_denominators, primitive

Rows = Sequence[Sequence[Rational]]


def integer_matrix(rows: Rows, columns: int) -> fmpz_mat:
    """Return the matrix with every row scaled to integers (same row space)."""
    scaled = [clear_denominators(row)[0] for row in rows]
    _check_widths(scaled, columns)
    return fmpz_mat(len(scaled), columns, [entry for row in scaled for entry in row])


def rational_matrix(rows: Rows, columns: int) -> fmpq_mat:
    """Return the rows as a flint matrix over the rationals."""
    _check_widths(rows, columns)
    entries = [fmpq(entry.numerator, entry.denominator) for row in rows for entry in row]
    return fmpq_mat(len(rows), columns, entries)


def _check_widths(rows: Rows, columns: int) -> None:
    for number, row in enumerate(rows):
        if len(row) != columns:
            raise ValueError(f"row {number} has {len(row)} entries, {columns} are needed")


def rank(rows: Rows, columns: int | None = None) -> int:
    """Return the rank of the matrix with these rows."""
    if not rows:
        return 0
    return integer_matrix(rows, len(rows[0]) if columns is None else columns).rank()


def rref(rows: Rows, columns: int) -> tuple[list[Vector], list[int]]:
    """Return the nonzero rows of the reduced row echelon form and the pivot columns."""
    if not rows:
        return [], []
    reduced, denominator, count = integer_matrix(rows, columns).rref()
    common = int(denominator)
    table = [[int(entry) for entry in row] for row in reduced.tolist()[:count]]
    pivots = [next(k for k, entry in enumerate(row) if entry) for row in table]
    return [tuple(Fraction(entry, common) for entry in row) for row in table], pivots


def null_space(rows: Rows, columns: int) -> list[IntVector]:
    r"""Return a basis of :math:`\{x: Ax=0\}` of primitive integer vectors.

    One basis vector per free column of the echelon form: it is positive there and zero at the
    other free columns, so coordinates of a null vector can be read off.
    """
    return null_space_with_free_columns(rows, columns)[0]


def null_space_with_free_columns(rows: Rows, columns: int) -> tuple[list[IntVector], list[int]]:
    """Return the basis of ``null_space`` and the free column that belongs to each vector."""
    if not rows:
        return [tuple(int(j == k) for j in range(columns)) for k in range(columns)], list(
            range(columns)
        )
    reduced, denominator, count = integer_matrix(rows, columns).rref()
    common = int(denominator)
    table = [[int(entry) for entry in row] for row in reduced.tolist()[:count]]
    pivots = [next(k for k, entry in enumerate(row) if entry) for row in table]
    free = sorted(set(range(columns)) - set(pivots))
    basis = []
    for column in free:
        vector = [0] * columns
        vector[column] = common
        for row, pivot in zip(table, pivots, strict=True):
            vector[pivot] = -row[column]
        reduced_vector = primitive(vector)[0]
        basis.append(reduced_vector if common > 0 else tuple(-entry for entry in reduced_vector))
    return basis, free


def solve(rows: Rows, right: Sequence[Rational], columns: int) -> Vector | None:
    """Return one solution of ``A x = b`` (free variables set to zero), or None if there is none."""
    if len(rows) != len(right):
        raise ValueError(f"{len(rows)} rows but {len(right)} right-hand sides")
    augmented = [(*row, value) for row, value in zip(rows, right, strict=True)]
    reduced, pivots = rref(augmented, columns + 1)
    if columns in pivots:
        return None
    solution = [Fraction(0)] * columns
    for row, pivot in zip(reduced, pivots, strict=True):
        solution[pivot] = row[columns]
    return tuple(solution)


def independent_rows(rows: Rows, columns: int) -> list[int]:
    """Return the indices of the first rows that form a basis of the row space."""
    if not rows:
        return []
    transposed = [[row[j] for row in rows] for j in range(columns)]
    return rref(transposed, len(rows))[1]
