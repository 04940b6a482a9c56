r"""Proofs that a ReLU network equals a piecewise linear function, and where it does not.

``prove_equal`` cuts the cells of the function into the linear regions of the network and compares
affine maps. ``prove_by_algebra`` never looks at regions: it rewrites the network as a combination
of maxima of sets of affine maps, by rules such as
:math:`(\max_S-\max_T)^+=\max_{S\cup T}-\max_T`, and compares normal forms; it is meant for large
networks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import fmpz_mat

from theorylab.exact import (
    IntVector,
    Polyhedron,
    Rational,
    ReLUNet,
    Vector,
    clear_denominators,
    primitive,
)

from .simplices import Affine, AffineLike, dependence_recursion, rational_maps

if TYPE_CHECKING:
    from .functions import CPWL

Row = tuple[Fraction, ...]
MOST_ROWS = 400
"""Sums of maxima with more affine maps than this are not multiplied out."""

Mismatch = tuple[Vector, Affine, Affine]


@dataclass(frozen=True)
class Proof:
    """Outcome of the comparison of a network with a function on all linear regions.

    Attributes
    ----------
    regions : int
        Number of full-dimensional regions that were compared.
    mismatches : list of (point, got, expected)
        An interior point of each region where the affine maps differ, with the map of the
        network and the map of the function. Empty: they are equal everywhere.
    """

    regions: int
    mismatches: list[Mismatch]

    @property
    def holds(self) -> bool:
        """Tell whether network and function are equal."""
        return not self.mismatches


def prove_equal(net: ReLUNet, f: CPWL) -> Proof:
    """Compare the network with the function on every cell of the function's complex.

    Parameters
    ----------
    net : ReLUNet
    f : CPWL

    Raises
    ------
    ValueError
        If the numbers of variables differ.
    """
    return prove_on_cells(net, f.complex.cells, f.pieces_on_cells)


def prove_maximum(net: ReLUNet, affines: Iterable[AffineLike]) -> Proof:
    """Compare the network with the maximum of the affine maps, on the cells where one map wins."""
    maps = rational_maps(affines, net.n)
    cells, pieces = [], []
    for winner in maps:
        forms = [_difference(winner, other) for other in maps if other != winner]
        cell = Polyhedron.from_inequalities(net.n, forms)
        if cell.dimension == net.n:
            cells.append(cell)
            pieces.append(winner)
    return prove_on_cells(net, cells, pieces)


def prove_on_cells(
    net: ReLUNet, cells: Sequence[Polyhedron], pieces: Sequence[AffineLike]
) -> Proof:
    """Compare the network with one affine map per cell.

    Each cell is cut, layer by layer, wherever the exact range of a neuron's input on it has both
    signs. Nothing is claimed outside the cells.

    Raises
    ------
    ValueError
        If there are not as many maps as cells, no cell at all, or a cell is not in the input
        space.
    """
    if len(cells) != len(pieces) or not cells:
        raise ValueError(f"need one affine map per cell, got {len(pieces)} for {len(cells)} cells")
    expected = rational_maps(pieces, net.n)
    integral = _IntegralNet.of(net)
    regions, mismatches = 0, []
    for number, (cell, affine) in enumerate(zip(cells, expected, strict=True)):
        if cell.n != net.n:
            raise ValueError(
                f"cell {number} lies in {cell.n}-space, the network has {net.n} inputs"
            )
        for region, got in _linear_regions(integral, cell):
            regions += 1
            if got != affine:
                mismatches.append((region.interior_point(), got, affine))
    return Proof(regions, mismatches)


def _difference(left: Affine, right: Affine) -> Affine:
    return tuple(a - c for a, c in zip(left[0], right[0], strict=True)), left[1] - right[1]


@dataclass(frozen=True)
class _IntegralNet:
    """The network with integer hidden rows ``(weights, bias)``; the output keeps a denominator.

    A positive factor passes through a rectifier, so every hidden row can be made integral.
    """

    hidden: list[fmpz_mat]
    output: fmpz_mat
    denominator: int

    @classmethod
    def of(cls, net: ReLUNet) -> _IntegralNet:
        factors: Sequence[Fraction] = [Fraction(1)] * net.n
        layers: list[fmpz_mat] = []
        scales: list[int] = []
        for matrix, bias in net.layers:
            rows, scales = [], []
            for row, constant in zip(matrix, bias, strict=True):
                scaled = [w * f for w, f in zip(row, factors, strict=True)]
                integers, common = clear_denominators((*scaled, constant))
                rows.append(integers)
                scales.append(common)
            layers.append(fmpz_mat([list(row) for row in rows]))
            factors = [Fraction(1, common) for common in scales]
        return cls(layers[:-1], layers[-1], scales[0])


def _apply(weights: fmpz_mat, inputs: Sequence[IntVector]) -> list[IntVector]:
    """Affine maps of x of the neurons' inputs: weights times (inputs as maps of x, and 1)."""
    width = len(inputs[0])
    constant = (0,) * (width - 1) + (1,)
    entries = [entry for row in (*inputs, constant) for entry in row]
    product = weights * fmpz_mat(len(inputs) + 1, width, entries)
    return [tuple(int(entry) for entry in row) for row in product.tolist()]


@dataclass(frozen=True)
class _Part:
    """A polyhedron with its generators in homogeneous integer coordinates."""

    body: Polyhedron
    generators: tuple[IntVector, ...]
    lines: tuple[IntVector, ...]

    @classmethod
    def of(cls, body: Polyhedron) -> _Part:
        points = [clear_denominators(point) for point in body.points]
        rows = [(*entries, denominator) for entries, denominator in points]
        rows += [(*ray, 0) for ray in body.rays]
        return cls(body, tuple(rows), tuple((*line, 0) for line in body.lines))

    def side(self, form: IntVector) -> int:
        """+1 or -1 if the form has this sign on the whole part (zero counts as +1), else 0."""
        if any(_dot(form, line) for line in self.lines):
            return 0
        values = [_dot(form, generator) for generator in self.generators]
        if min(values) >= 0:
            return 1
        return -1 if max(values) <= 0 else 0

    def halves(self, form: IntVector) -> tuple[_Part, _Part]:
        """The parts where the form is nonnegative and where it is nonpositive."""
        *vector, constant = form
        opposite = [-entry for entry in vector]
        return (
            _Part.of(self.body.cut((vector, constant))),
            _Part.of(self.body.cut((opposite, -constant))),
        )


def _dot(left: IntVector, right: IntVector) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _linear_regions(net: _IntegralNet, cell: Polyhedron) -> Iterator[tuple[Polyhedron, Affine]]:
    """Full-dimensional parts of the cell with the affine map of the network on each."""
    identity = [tuple(int(j == k) for j in range(cell.n + 1)) for k in range(cell.n)]
    zero = (0,) * (cell.n + 1)
    waiting = [(_Part.of(cell), 0, identity)]
    while waiting:
        region, level, inputs = waiting.pop()
        if level == len(net.hidden):
            (row,) = _apply(net.output, inputs)
            scaled = tuple(Fraction(entry, net.denominator) for entry in row)
            yield region.body, (scaled[:-1], scaled[-1])
            continue
        forms = _apply(net.hidden[level], inputs)
        for part, active in _split(region, forms):
            rectified = [f if on else zero for f, on in zip(forms, active, strict=True)]
            waiting.append((part, level + 1, rectified))


def _split(region: _Part, forms: Sequence[IntVector]) -> list[tuple[_Part, tuple[bool, ...]]]:
    """Parts of the region on which every form has one sign, and which forms are nonnegative."""
    parts: list[tuple[_Part, tuple[bool, ...]]] = [(region, ())]
    for form in forms:
        refined = []
        for part, active in parts:
            side = part.side(form)
            if side:
                refined.append((part, (*active, side > 0)))
            else:
                above, below = part.halves(form)
                refined += [(above, (*active, True)), (below, (*active, False))]
        parts = refined
    return parts


# --- proof by algebra -------------------------------------------------------------------------


@dataclass(frozen=True)
class AlgebraicProof:
    """Outcome of the comparison of normal forms.

    Attributes
    ----------
    neurons : int
        Number of neurons that were rewritten.
    remainder : int
        Number of maxima left in (network minus function). Zero proves equality; a nonzero
        remainder proves nothing, the two may still be equal.
    """

    neurons: int
    remainder: int

    @property
    def holds(self) -> bool:
        """Tell whether equality was proved."""
        return self.remainder == 0


@dataclass(frozen=True)
class _Maximum:
    """Maximum of affine maps; the least of them (as a tuple) is zero, all are jointly primitive."""

    rows: frozenset[Row]


@dataclass(frozen=True)
class _Rectified:
    """Positive part of a combination that no rule rewrites, in primitive form."""

    row: Row
    terms: frozenset[tuple[_Maximum | _Rectified, Fraction]]


_Atom = _Maximum | _Rectified


@dataclass(frozen=True)
class _Combination:
    """An affine map plus a combination of atoms."""

    row: Row
    terms: Mapping[_Atom, Fraction]

    def plus(self, other: _Combination, factor: Rational = 1) -> _Combination:
        row = tuple(a + factor * b for a, b in zip(self.row, other.row, strict=True))
        terms = dict(self.terms)
        for atom, weight in other.terms.items():
            terms[atom] = terms.get(atom, Fraction(0)) + factor * weight
        return _Combination(row, {atom: weight for atom, weight in terms.items() if weight})

    def times(self, factor: Rational) -> _Combination:
        return _Combination((Fraction(0),) * len(self.row), {}).plus(self, factor)


def _scaled(rows: Iterable[Row], factor: Rational) -> frozenset[Row]:
    return frozenset(tuple(factor * entry for entry in row) for row in rows)


def _shifted(rows: Iterable[Row], shift: Row, sign: int = 1) -> frozenset[Row]:
    return frozenset(tuple(a + sign * b for a, b in zip(row, shift, strict=True)) for row in rows)


def _maximum(rows: Iterable[Row]) -> _Combination:
    """The maximum of the affine maps in normal form."""
    distinct = frozenset(rows)
    least = min(distinct)
    if len(distinct) == 1:
        return _Combination(least, {})
    moved = _shifted(distinct, least, -1)
    factor = primitive([entry for row in moved for entry in row])[1]
    return _Combination(least, {_Maximum(_scaled(moved, 1 / factor)): factor})


class _Rewriter:
    """Positive parts of combinations in normal form, given identities between maxima."""

    def __init__(self, width: int, groups: Iterable[Sequence[Affine]]) -> None:
        self.zero = _Combination((Fraction(0),) * width, {})
        self.kept: set[_Rectified] = set()
        self.identities: list[tuple[_Atom, _Combination]] = []
        for group in groups:
            self._learn(group)

    def _learn(self, maps: Sequence[Affine]) -> None:
        """Solve the identity of the group for one of its maxima over simplices."""
        rows = [(*a, b) for a, b in maps]
        whole, identity = _maximum(rows), self.zero
        for simplex, sign in dependence_recursion(maps, len(maps[0][0])).items():
            identity = identity.plus(_maximum(rows[index] for index in simplex), sign)
        identity = self.reduce(identity.plus(whole, -1))
        simplices = [atom for atom in identity.terms if atom not in whole.terms]
        if simplices:
            # Sums over the largest simplices are formed last, so one of them is free to go.
            lead = max(simplices, key=_row_count)
            weight = identity.terms[lead]
            rest = _Combination(
                identity.row, {atom: w for atom, w in identity.terms.items() if atom != lead}
            )
            self.identities.append((lead, rest.times(-1 / weight)))

    def reduce(self, value: _Combination) -> _Combination:
        """Apply the identities, in the order in which they were learnt."""
        for lead, replacement in self.identities:
            weight = value.terms.get(lead)
            if weight:
                removed = _Combination(self.zero.row, {lead: Fraction(1)})
                value = value.plus(removed, -weight).plus(replacement, weight)
        return value

    def positive_part(self, value: _Combination) -> _Combination:
        """Rewrite the rectifier of a combination.

        A difference of sums of maxima, (G - H)^+, is the maximum of the union of the maps of G
        and of H, minus H. A positive part that occurs alone is its own positive part. Anything
        else is kept as it is.
        """
        value = self.reduce(value)
        above = {atom: weight for atom, weight in value.terms.items() if weight > 0}
        below = {atom: -weight for atom, weight in value.terms.items() if weight < 0}
        maxima = all(isinstance(atom, _Maximum) for atom in value.terms)
        if maxima and max(_rows_of_sum(above), _rows_of_sum(below)) <= MOST_ROWS:
            left, right = self._sum_of_maxima(above), self._sum_of_maxima(below)
            joined = _maximum(_shifted(left, value.row) | right)
            return joined.plus(_Combination(self.zero.row, below), -1)
        if not below and len(above) == 1 and not maxima and not any(value.row):
            return value
        return self._keep(value)

    def _sum_of_maxima(self, terms: Mapping[_Atom, Fraction]) -> frozenset[Row]:
        """Affine maps whose maximum is the weighted sum of the maxima."""
        rows = frozenset([self.zero.row])
        for atom, weight in terms.items():
            scaled = _scaled(atom.rows, weight) if isinstance(atom, _Maximum) else frozenset()
            rows = frozenset().union(*(_shifted(rows, shift) for shift in scaled))
        return rows

    def _keep(self, value: _Combination) -> _Combination:
        """An atom for the positive part; of L and -L the first seen: (L)^+ = L + (-L)^+."""
        scale = primitive([*value.row, *value.terms.values()])[1]
        key, mirror = _rectified(value.times(1 / scale)), _rectified(value.times(-1 / scale))
        if mirror in self.kept:
            return value.plus(_Combination(self.zero.row, {mirror: scale}))
        self.kept.add(key)
        return _Combination(self.zero.row, {key: scale})


def _row_count(atom: _Atom) -> int:
    return len(atom.rows) if isinstance(atom, _Maximum) else 1


def _rows_of_sum(terms: Mapping[_Atom, Fraction]) -> int:
    return math.prod(_row_count(atom) for atom in terms)


def _rectified(value: _Combination) -> _Rectified:
    return _Rectified(value.row, frozenset(value.terms.items()))


def prove_by_algebra(
    net: ReLUNet,
    g: Iterable[AffineLike],
    h: Iterable[AffineLike] | None = None,
    groups: Iterable[Iterable[AffineLike]] = (),
) -> AlgebraicProof:
    r"""Try to prove that the network computes :math:`\max g-\max h` by rewriting it.

    The rules are :math:`(\max_S+\ell-\max_T)^+=\max_{(S+\ell)\cup T}-\max_T` and
    :math:`(L)^+=L+(-L)^+`; for each group of maps the identity of ``dependence_recursion`` may
    be used besides. The cost grows with the number of weights, not with the number of regions.

    Parameters
    ----------
    net : ReLUNet
    g : sequence of (vector, scalar)
        Affine maps of the convex part.
    h : sequence of (vector, scalar), optional
        Affine maps of the concave part; zero if omitted.
    groups : sequence of sequences of (vector, scalar)
        The groups of ``grouped_max``, for networks built from signed simplices.

    Returns
    -------
    AlgebraicProof
        It holds if the difference rewrites to zero; otherwise nothing is proved either way.
    """
    convex = rational_maps(g, net.n)
    concave = [((Fraction(0),) * net.n, Fraction(0))] if h is None else rational_maps(h, net.n)
    rewriter = _Rewriter(net.n + 1, [rational_maps(group, net.n) for group in groups])
    values = [_coordinate(k, net.n) for k in range(net.n)]
    for matrix, bias in net.layers[:-1]:
        values = [rewriter.positive_part(value) for value in _combine(matrix, bias, values)]
    (output,) = _combine(*net.layers[-1], values)
    target = _maximum((*a, b) for a, b in convex).plus(_maximum((*a, b) for a, b in concave), -1)
    remainder = rewriter.reduce(output.plus(target, -1))
    return AlgebraicProof(net.size, len(remainder.terms) + any(remainder.row))


def _coordinate(k: int, n: int) -> _Combination:
    return _Combination(tuple(Fraction(int(j == k)) for j in range(n + 1)), {})


def _combine(
    matrix: Sequence[Vector], bias: Vector, values: Sequence[_Combination]
) -> Iterator[_Combination]:
    for weights, constant in zip(matrix, bias, strict=True):
        width = len(values[0].row)
        total = _Combination((Fraction(0),) * (width - 1) + (constant,), {})
        for weight, value in zip(weights, values, strict=True):
            if weight:
                total = total.plus(value, weight)
        yield total
