r"""The decomposition polyhedron of a function over a complex.

Coordinates: the vector t of a basis of the balanced weights. The walls of one row of the basis
carry one number, so the polyhedron is

.. math:: \mathcal D_{\mathcal P}(f)=\{t: a_k\cdot t\ge\max(\omega_k,0)\ \text{for all rows}\ k\},

with :math:`\omega_k` the number of ``f`` on row k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from theorylab.exact import (
    Generators,
    InequalitySystem,
    Infeasible,
    IntVector,
    Optimum,
    Polyhedron,
    Rational,
    Unbounded,
    Vector,
    clear_denominators,
    generators,
    primitive,
    rank,
    rational_vector,
)

from .balancing import RowNumbers
from .complexes import Complex
from .decomposition import Certificate, Decomposition, EmptyDecomposition, pareto
from .functions import CPWL, transfer, unbalanced_ridge

Candidate: TypeAlias = "CPWL | Decomposition | Sequence[Rational]"


@dataclass(frozen=True)
class HRepresentation:
    """Inequalities ``rows[k] . t >= bounds[k]``, one per row of the weight space."""

    rows: tuple[IntVector, ...]
    bounds: Vector

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return len(self.rows[0]) if self.rows else 0


class DecompositionPolyhedron:
    r"""All decompositions ``f = g - h`` into convex functions on a complex.

    Parameters
    ----------
    complex : Complex
    f : CPWL
        A function compatible with the complex (on this complex, or on another one).

    Raises
    ------
    ValueError
        If ``f`` is not compatible with the complex.
    """

    def __init__(self, complex: Complex, f: CPWL) -> None:
        self.complex = complex
        self.f = f if f.complex is complex else transfer(f, complex)
        self.space = complex.weight_space
        self._omega = self.space.row_values(self.f.weights)

    @property
    def dim(self) -> int:
        """Dimension of the space of balanced weights."""
        return self.space.dim

    @property
    def dimension(self) -> int:
        """Dimension of the polyhedron; -1 if it is empty."""
        return self.as_polyhedron().dimension

    def hrep(self) -> HRepresentation:
        r"""Return the inequalities :math:`a_k\cdot t\ge\max(\omega_k,0)`, equal rows merged."""
        return HRepresentation(
            tuple(row.form for row in self.space.rows),
            tuple(max(value, Fraction(0)) for value in self._omega),
        )

    @cached_property
    def _system(self) -> InequalitySystem:
        hrep = self.hrep()
        return InequalitySystem(hrep.rows, hrep.bounds, self.dim)

    def as_polyhedron(self) -> Polyhedron:
        """Return the polyhedron in the coordinates t."""
        hrep = self.hrep()
        return Polyhedron.from_inequalities(
            self.dim, [(row, -b) for row, b in zip(hrep.rows, hrep.bounds, strict=True)]
        )

    def _generators(self, backend: str) -> Generators:
        hrep = self.hrep()
        if not hrep.rows:
            return Generators(((),), ())
        found = generators(hrep.rows, hrep.bounds, self.dim, backend)
        if not found.vertices:
            self._raise_empty()
        return found

    def vertices(self, backend: str = "ppl") -> list[Decomposition]:
        """Enumerate the vertices.

        Parameters
        ----------
        backend : {"ppl", "cdd", "lrs"}
            The exact program that enumerates.

        Raises
        ------
        EmptyDecomposition
            If there is no decomposition on this complex.
        """
        return [
            Decomposition.unchecked(self.f, numbers)
            for numbers in self.space.numbers_at(self._generators(backend).vertices)
        ]

    def rays(self) -> list[CPWL]:
        """Return the extreme rays of the recession cone, the convex functions on the complex."""
        rows = [row.form for row in self.space.rows]
        if not rows:
            return []
        found = generators(rows, [0] * len(rows), self.dim)
        return [CPWL.unchecked(self.complex, self.space.weights_at(ray)) for ray in found.rays]

    def _weights(self, g: Candidate) -> list[Fraction] | None:
        """Return balanced weights of the candidate on this complex, or None."""
        if isinstance(g, Decomposition):
            return list(g.w_g)
        if isinstance(g, CPWL):
            return (g if g.complex is self.complex else transfer(g, self.complex)).weights
        w = list(rational_vector(g, len(self.complex.walls), "weights"))
        return w if unbalanced_ridge(self.complex, w) is None else None

    def is_member(self, g: Candidate) -> bool:
        """Tell whether ``(g, g - f)`` is a decomposition; g a function or weights of one."""
        w = self._weights(g)
        return w is not None and all(
            weight >= max(kink, 0) for weight, kink in zip(w, self.f.weights, strict=True)
        )

    def _member_values(self, g: Candidate) -> list[Fraction]:
        w = self._weights(g)
        if w is None or not self.is_member(w):
            raise ValueError("g is no member: g or g - f is not a convex function on the complex")
        return self.space.row_values(w)

    def _common(self, values: Sequence[Fraction]) -> list[Fraction]:
        """Numbers of min(w_g, w_h) on the rows."""
        return [min(g, g - f) for g, f in zip(values, self._omega, strict=True)]

    def counts(self, g: Candidate) -> tuple[int, int]:
        """Return the numbers of pieces of g and of ``g - f``."""
        return Decomposition.unchecked(self.f, clear_denominators(self._member_values(g))).counts

    def is_vertex(self, g: Candidate) -> bool:
        """Rank test: only 0 is balanced and vanishes wherever g or ``g - f`` has no kink."""
        values = self._member_values(g)
        tight = [
            row.form
            for row, common in zip(self.space.rows, self._common(values), strict=True)
            if common == 0
        ]
        return rank(tight, self.dim) == self.dim

    def is_irreducible(self, g: Candidate) -> tuple[bool, Certificate]:
        r"""Decide :math:`\max\{\sum r: r\in W,\ 0\le r\le\min(w_g,w_h)\}=0` with proof."""
        optimum = self._largest_common(self._member_values(g))
        if optimum.value == 0:
            return True, self._irreducible(optimum)
        return False, Certificate("reducible", tuple(self.space.weights_at(optimum.x)))

    def common_part(self, g: Candidate) -> CPWL:
        """Return a largest convex function that can be subtracted from g and from ``g - f``."""
        optimum = self._largest_common(self._member_values(g))
        return CPWL.unchecked(self.complex, self.space.weights_at(optimum.x))

    def _largest_common(self, values: Sequence[Fraction]) -> Optimum:
        """Maximise the common convex part; the optimum is minus the sum of its weights."""
        forms = [row.form for row in self.space.rows]
        upper = self._common(values)
        system = InequalitySystem(
            [*forms, *(tuple(-a for a in form) for form in forms)],
            [Fraction(0)] * len(forms) + [-bound for bound in upper],
            self.dim,
        )
        optimum = system.minimise([-total for total in self._objective(self._prices(None))])
        if not isinstance(optimum, Optimum):
            raise ArithmeticError("the common convex part must be bounded")
        return optimum

    def _irreducible(self, optimum: Optimum) -> Certificate:
        """Turn the dual solution into a vector over the walls that annihilates W."""
        v = [Fraction(1)] * len(self.complex.walls)
        count = len(self.space.rows)
        lower, upper = optimum.multipliers[:count], optimum.multipliers[count:]
        for row, y, z in zip(self.space.rows, lower, upper, strict=True):
            v[row.walls[0]] += (y - z) / row.scales[0]
        return Certificate("irreducible", tuple(v))

    def reduce(self, g: Candidate) -> Decomposition:
        """Return a vertex below g: both parts lose a convex function, neither gains a piece.

        The certificate of the result proves that it is irreducible.
        """
        start = self.space.coordinates(self.without_common_part(g).w_g)
        vertex = self._system.to_vertex(start or ())
        return self._irreducible_decomposition(self.space.numbers_at([vertex])[0])

    def _irreducible_decomposition(self, numbers: RowNumbers) -> Decomposition:
        irreducible, certificate = self.is_irreducible(Decomposition.unchecked(self.f, numbers))
        if not irreducible:
            raise ArithmeticError("a convex function is left after the largest was subtracted")
        return Decomposition.unchecked(self.f, numbers, certificate)

    def without_common_part(self, g: Candidate) -> Decomposition:
        """Subtract a largest common convex function: irreducible, not always a vertex."""
        values = self._member_values(g)
        common = self.space.row_values(self.common_part(g).weights)
        rest = [w - r for w, r in zip(values, common, strict=True)]
        return self._irreducible_decomposition(clear_denominators(rest))

    def unique(self) -> tuple[bool, list[Fraction]]:
        """Decide whether there is exactly one vertex.

        Returns
        -------
        unique : bool
            Whether the componentwise minima over the polyhedron are balanced.
        minima : list of Fraction
            The least weight of g on every wall; equal to the vertex if it is unique.

        Raises
        ------
        EmptyDecomposition
            If there is no decomposition on this complex.
        """
        positive = [max(weight, Fraction(0)) for weight in self.f.weights]
        if unbalanced_ridge(self.complex, positive) is None:
            return True, positive
        minima = self.space.from_row_values([self._minimum(row.form) for row in self.space.rows])
        return unbalanced_ridge(self.complex, minima) is None, minima

    def _minimum(self, form: IntVector) -> Fraction:
        answer = self._system.minimise(form)
        if isinstance(answer, Infeasible):
            raise EmptyDecomposition(self._empty(answer))
        if isinstance(answer, Unbounded):
            raise ArithmeticError("a weight of a convex function is bounded below by 0")
        return answer.value

    def pareto(self) -> list[Decomposition]:
        """Return the vertices whose pair of piece counts no other vertex improves."""
        return pareto(self.vertices())

    def lp_vertex(self, cost: Sequence[Rational] | None = None) -> Decomposition:
        """Return a vertex that minimises ``sum cost * w_g``, with its optimality certificate.

        Parameters
        ----------
        cost : sequence of rationals, optional
            One entry per wall; all ones by default.

        Raises
        ------
        EmptyDecomposition
            If there is no decomposition on this complex.
        ValueError
            If the cost is unbounded below or has the wrong length.
        """
        objective = self._objective(self._prices(cost))
        answer = self._system.minimise(objective)
        if isinstance(answer, Infeasible):
            raise EmptyDecomposition(self._empty(answer))
        if isinstance(answer, Unbounded):
            raise ValueError("the cost is unbounded below: some convex function has negative cost")
        vertex = self._system.to_vertex(answer.x, objective)
        y = self._on_walls(answer.multipliers)
        numbers = self.space.numbers_at([vertex])[0]
        return Decomposition.unchecked(self.f, numbers, Certificate("optimal", y))

    def _prices(self, cost: Sequence[Rational] | None) -> Vector:
        count = len(self.complex.walls)
        return (Fraction(1),) * count if cost is None else rational_vector(cost, count, "cost")

    def _objective(self, prices: Sequence[Rational]) -> list[Fraction]:
        """The form t -> sum of price times weight, in the coordinates t."""
        integers, denominator = clear_denominators(prices)
        row_prices = [
            sum(integers[wall] * scale for wall, scale in zip(row.walls, row.scales, strict=True))
            for row in self.space.rows
        ]
        return [Fraction(entry, denominator) for entry in self.space.form_of_rows(row_prices)]

    def _on_walls(self, multipliers: Sequence[Fraction]) -> Vector:
        """Put the multiplier of every row on its first wall."""
        y = [Fraction(0)] * len(self.complex.walls)
        for row, multiplier in zip(self.space.rows, multipliers, strict=True):
            y[row.walls[0]] = multiplier / row.scales[0]
        return tuple(y)

    def empty_certificate(self) -> Certificate | None:
        """Return the Farkas vector that proves emptiness, or None if there is a decomposition."""
        answer = self._system.feasible_point() if self.space.rows else ()
        return self._empty(answer) if isinstance(answer, Infeasible) else None

    def _empty(self, answer: Infeasible) -> Certificate:
        y = primitive(self._on_walls(answer.multipliers))[0]
        return Certificate("empty", tuple(map(Fraction, y)))

    def _raise_empty(self) -> None:
        certificate = self.empty_certificate()
        if certificate is None:
            raise ArithmeticError("a nonempty polyhedron without lines must have a vertex")
        raise EmptyDecomposition(certificate)

    def verify(self, certificate: Certificate, g: Candidate | None = None) -> bool:
        """Check a certificate from its definition, without solving anything.

        Parameters
        ----------
        certificate : Certificate
        g : CPWL, Decomposition or weights, optional
            The decomposition it speaks about (not needed for ``"empty"``).
        """
        v = certificate.vector
        if certificate.kind == "empty":
            gain = sum(y * max(w, 0) for y, w in zip(v, self.f.weights, strict=True))
            return min(v) >= 0 and gain > 0 and self.space.is_annihilator(v)
        if g is None:
            raise ValueError(f"a certificate of kind {certificate.kind!r} speaks about a g")
        common = self.space.from_row_values(self._common(self._member_values(g)))
        if certificate.kind == "irreducible":
            strict = all(entry >= 1 for entry, c in zip(v, common, strict=True) if c)
            return strict and self.space.is_annihilator(v)
        if certificate.kind == "reducible":
            inside = all(0 <= r <= c for r, c in zip(v, common, strict=True))
            return inside and any(v) and unbalanced_ridge(self.complex, v) is None
        raise ValueError(f"cannot verify a certificate of kind {certificate.kind!r} here")

    def verify_optimal(self, vertex: Decomposition, cost: Sequence[Rational] | None = None) -> bool:
        """Check the optimality certificate of ``lp_vertex(cost)``."""
        if vertex.certificate is None or vertex.certificate.kind != "optimal":
            raise ValueError("the decomposition carries no optimality certificate")
        y = vertex.certificate.vector
        prices = self._prices(cost)
        tight = all(
            w == max(kink, 0)
            for multiplier, w, kink in zip(y, vertex.w_g, self.f.weights, strict=True)
            if multiplier
        )
        rest = [c - multiplier for c, multiplier in zip(prices, y, strict=True)]
        return self.is_member(vertex) and min(y) >= 0 and tight and self.space.is_annihilator(rest)


def reduce(decomposition: Decomposition) -> tuple[Decomposition, Certificate]:
    """Subtract a largest common convex function from both parts.

    Returns
    -------
    reduced : Decomposition
        Irreducible; not always a vertex (``DecompositionPolyhedron.reduce`` goes on to one).
    certificate : Certificate
        Proof that nothing more can be subtracted.
    """
    polyhedron = DecompositionPolyhedron(decomposition.f.complex, decomposition.f)
    reduced = polyhedron.without_common_part(decomposition)
    return reduced, polyhedron.is_irreducible(reduced)[1]


def decompose(complex: Complex, f: CPWL) -> list[Decomposition]:
    """Return the decompositions with Pareto-minimal piece counts among the vertices.

    If the positive part of the weights is balanced, it is the only vertex and nothing is
    enumerated.

    Raises
    ------
    EmptyDecomposition
        If there is no decomposition on this complex.
    """
    polyhedron = DecompositionPolyhedron(complex, f)
    positive = [max(weight, Fraction(0)) for weight in polyhedron.f.weights]
    if unbalanced_ridge(complex, positive) is None:
        return [Decomposition(polyhedron.f, positive)]
    return polyhedron.pareto()
