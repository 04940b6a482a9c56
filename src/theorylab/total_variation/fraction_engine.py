"""Reference engine: one incremental echelon basis per layer in Python fractions, counted."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from fractions import Fraction

from .certificates import EchelonLayer
from .layers import Proposal, StackedPair
from .witnesses import differing_prefix

Vector = list[Fraction]


class EchelonBasis:
    """A basis in reduced row echelon form that grows by insertion and counts its work.

    Parameters
    ----------
    vector : sequence of Fraction, shape (K,)
        First basis vector; its first entry must be nonzero.

    Attributes
    ----------
    rows : list of list of Fraction
    pivots : list of int
        Increasing, one per row.
    multiplications : int
        Field multiplications so far; a row operation counts K, zeros included.
    """

    def __init__(self, vector: Sequence[Fraction]) -> None:
        self.rows: list[Vector] = [list(vector)]
        self.pivots = [0]
        self.multiplications = 0

    def insert(self, vector: Vector) -> Vector | None:
        """Add a vector; return its reduced form, or ``None`` if it was in the span already."""
        reduced = self._reduce(vector)
        pivot = next((i for i, value in enumerate(reduced) if value), None)
        if pivot is None:
            return None
        inverse = 1 / reduced[pivot]
        new = [inverse * value if value else value for value in reduced]
        self.multiplications += len(new)
        self.rows = [self._eliminate(row, new, pivot) for row in self.rows]
        place = bisect(self.pivots, pivot)
        self.rows.insert(place, new)
        self.pivots.insert(place, pivot)
        return new

    def _reduce(self, vector: Vector) -> Vector:
        for row, pivot in zip(self.rows, self.pivots, strict=True):
            vector = self._eliminate(vector, row, pivot)
        return vector

    def _eliminate(self, vector: Vector, row: Vector, pivot: int) -> Vector:
        factor = vector[pivot]
        if not factor:
            return vector
        self.multiplications += len(vector)
        return [v - factor * r if r else v for v, r in zip(vector, row, strict=True)]


def propose(pair: StackedPair, stop_early: bool) -> Iterator[Proposal]:
    r"""Compute the layer spaces :math:`U_j = \sum_a D_{j,a} U_{j-1}` one insertion at a time.

    One letter of every alphabet is left out, since :math:`\sum_a D_{j,a} = I`.

    Parameters
    ----------
    pair : StackedPair
    stop_early : bool
        Stop at the first layer that is not orthogonal to the coefficients.

    Yields
    ------
    Proposal
        One, with the number of field multiplications.
    """
    coefficients = pair.coefficients
    basis = EchelonBasis([Fraction(1)] * pair.width)
    layers, ranks, found_after = [_snapshot(basis, 0)], [1], None
    for j in range(pair.n_coordinates):
        inserted = _advance(basis, pair.diagonals(j)[:-1])
        basis.multiplications += len(inserted) * pair.width
        ranks.append(len(basis.rows))
        if inserted:
            layers.append(_snapshot(basis, j + 1))
        if found_after is None and any(_dot(coefficients, vector) for vector in inserted):
            found_after = j + 1
            if stop_early:
                break
    prefix = None if found_after is None else differing_prefix(pair, layers, found_after)
    yield Proposal(tuple(layers), tuple(ranks), prefix, basis.multiplications)


def _advance(basis: EchelonBasis, diagonals: Sequence[Sequence[Fraction]]) -> list[Vector]:
    before = list(basis.rows)
    inserted = []
    for diagonal in diagonals:
        for row in before:
            basis.multiplications += len(row)
            image = [d * y if y else y for d, y in zip(diagonal, row, strict=True)]
            inserted.append(basis.insert(image))
    return [vector for vector in inserted if vector is not None]


def _dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if b), Fraction(0))


def _snapshot(basis: EchelonBasis, start: int) -> EchelonLayer:
    return EchelonLayer(start, tuple(basis.pivots), tuple(tuple(row) for row in basis.rows))
