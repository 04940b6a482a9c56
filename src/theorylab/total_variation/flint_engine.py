"""Engine in FLINT's rationals, with one elimination per layer that needs one.

The basis is kept fully reduced, and this decides membership without any elimination. For the row
y of pivot t the vector :math:`D_{j,a}y - p_t^{(j)}(a)\\,y` has the entries
:math:`(p_i^{(j)}(a) - p_t^{(j)}(a))\\,y_i`; it vanishes at every pivot, so it lies in the span
only if it is zero, which means: the components in the support of y share their law at j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from .certificates import EchelonLayer
from .layers import Proposal, StackedPair
from .witnesses import differing_prefix

Basis = dict[int, list[fmpq]]


def propose(pair: StackedPair, stop_early: bool) -> Iterator[Proposal]:
    """Compute the layer spaces; parameters and yield as for the other engines.

    Yields
    ------
    Proposal
        One; field operations happen inside FLINT and are not counted.
    """
    coefficients = _rationals(pair.coefficients)
    basis: Basis = {0: [fmpq(1)] * pair.width}
    layers, ranks, found_after = [_layer(basis, 0)], [1], None
    for j in range(pair.n_coordinates):
        residues = _residues(basis, pair.rows_at(j))
        new = _reduced(residues, pair.width) if residues else {}
        if new:
            basis = _joined(basis, new)
            layers.append(_layer(basis, j + 1))
        ranks.append(len(basis))
        if found_after is None and any(_dot(coefficients, row) for row in new.values()):
            found_after = j + 1
            if stop_early:
                break
    prefix = None if found_after is None else differing_prefix(pair, layers, found_after)
    yield Proposal(tuple(layers), tuple(ranks), prefix)


def _rationals(values: Sequence[Fraction]) -> list[fmpq]:
    return [fmpq(value.numerator, value.denominator) for value in values]


def _dot(left: Sequence[fmpq], right: Sequence[fmpq]) -> fmpq:
    return sum((a * b for a, b in zip(left, right, strict=True) if b), fmpq(0))


def _residues(basis: Basis, laws: Sequence[tuple[Fraction, ...]]) -> list[list[fmpq]]:
    """The nonzero vectors ``D y - p_t y`` for all rows y and all letters but the last."""
    mixed = {
        pivot: row
        for pivot, row in basis.items()
        if any(value and laws[i] != laws[pivot] for i, value in enumerate(row))
    }
    if not mixed:
        return []
    diagonals = [_rationals(diagonal) for diagonal in zip(*laws, strict=True)][:-1]
    candidates = (
        [
            (d - diagonal[pivot]) * value if value else value
            for d, value in zip(diagonal, row, strict=True)
        ]
        for diagonal in diagonals
        for pivot, row in mixed.items()
    )
    return [vector for vector in candidates if any(vector)]


def _reduced(vectors: list[list[fmpq]], width: int) -> Basis:
    matrix, rank = fmpq_mat(len(vectors), width, [v for row in vectors for v in row]).rref()
    rows = matrix.tolist()[:rank]
    return {next(i for i, value in enumerate(row) if value): row for row in rows}


def _joined(basis: Basis, new: Basis) -> Basis:
    """Both bases together; the new rows are zero at the old pivots already."""
    joined = {}
    for pivot, row in basis.items():
        for new_pivot, new_row in new.items():
            factor = row[new_pivot]
            if factor:
                row = [r - factor * s if s else r for r, s in zip(row, new_row, strict=True)]
        joined[pivot] = row
    return dict(sorted({**joined, **new}.items()))


def _layer(basis: Basis, start: int) -> EchelonLayer:
    rows = tuple(
        tuple(Fraction(int(value.p), int(value.q)) for value in row) for row in basis.values()
    )
    return EchelonLayer(start, tuple(basis), rows)
