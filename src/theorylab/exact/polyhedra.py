"""Convex polyhedra with rational data, in both descriptions, through the Parma Polyhedra Library.

The library keeps inequalities and generators side by side and converts by an exact double
description; nothing of that is redone here. Linear forms are pairs ``(a, b)`` read as
``a.x + b``; an inequality is ``a.x + b >= 0``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import ppl

from .rationals import IntVector, Rational, Vector, clear_denominators

AffineForm = tuple[Sequence[Rational], Rational]
IntegerForm = tuple[IntVector, int]


def expression(form: AffineForm) -> ppl.Linear_Expression:
    """Return a positive multiple of the affine form as a PPL expression with integer entries."""
    vector, constant = form
    integers, _ = clear_denominators((*vector, constant))
    return ppl.Linear_Expression(integers[:-1], integers[-1])


class Polyhedron:
    """A closed convex polyhedron in rational space, possibly unbounded or with lineality.

    Compare with ``==``: generator lists are not canonical, sets are.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, native: ppl.C_Polyhedron) -> None:
        self._native = native

    @classmethod
    def from_inequalities(
        cls, n: int, inequalities: Sequence[AffineForm], equations: Sequence[AffineForm] = ()
    ) -> Polyhedron:
        """Return the set of x in n-space with ``a.x + b >= 0`` (and ``= 0`` for equations)."""
        system = ppl.Constraint_System()
        for form in inequalities:
            system.insert(expression(form) >= 0)
        for form in equations:
            system.insert(expression(form) == 0)
        native = ppl.C_Polyhedron(n, "universe")
        native.add_constraints(system)
        return cls(native)

    @classmethod
    def from_generators(
        cls,
        n: int,
        points: Sequence[Sequence[Rational]],
        rays: Sequence[Sequence[Rational]] = (),
        lines: Sequence[Sequence[Rational]] = (),
    ) -> Polyhedron:
        """Return the convex hull of the points plus the cone of the rays plus the lines' span."""
        if not points:
            return cls(ppl.C_Polyhedron(n, "empty"))
        system = ppl.Generator_System()
        for point in points:
            integers, denominator = clear_denominators(point)
            system.insert(ppl.point(ppl.Linear_Expression(integers, 0), denominator))
        for kind, directions in ((ppl.ray, rays), (ppl.line, lines)):
            for direction in directions:
                integers, _ = clear_denominators(direction)
                if any(integers):
                    system.insert(kind(ppl.Linear_Expression(integers, 0)))
        native = ppl.C_Polyhedron(n, "empty")
        native.add_generators(system)
        return cls(native)

    @classmethod
    def universe(cls, n: int) -> Polyhedron:
        """Return the whole n-space."""
        return cls(ppl.C_Polyhedron(n, "universe"))

    @property
    def n(self) -> int:
        """Dimension of the ambient space."""
        return int(self._native.space_dimension())

    @property
    def dimension(self) -> int:
        """Dimension of the affine hull; -1 for the empty set."""
        return -1 if self.is_empty() else int(self._native.affine_dimension())

    def is_empty(self) -> bool:
        """Tell whether no point satisfies all inequalities."""
        return bool(self._native.is_empty())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Polyhedron):
            return NotImplemented
        return bool(self._native == other._native)

    def __repr__(self) -> str:
        return f"Polyhedron(n={self.n}, {self._native.minimized_constraints()})"

    @cached_property
    def inequalities(self) -> tuple[IntegerForm, ...]:
        """Facet-defining inequalities ``a.x + b >= 0`` with integer entries."""
        rows = self._native.minimized_constraints()
        return tuple(_form(row, self.n) for row in rows if row.is_inequality())

    @cached_property
    def equations(self) -> tuple[IntegerForm, ...]:
        """Equations ``a.x + b = 0`` of the affine hull."""
        rows = self._native.minimized_constraints()
        return tuple(_form(row, self.n) for row in rows if row.is_equality())

    @cached_property
    def _generators(
        self,
    ) -> tuple[tuple[Vector, ...], tuple[IntVector, ...], tuple[IntVector, ...]]:
        points, rays, lines = [], [], []
        for generator in self._native.minimized_generators():
            entries = tuple(int(entry) for entry in generator.coefficients())
            entries += (0,) * (self.n - len(entries))
            if generator.is_point():
                divisor = int(generator.divisor())
                points.append(tuple(Fraction(entry, divisor) for entry in entries))
            else:
                (rays if generator.is_ray() else lines).append(entries)
        return tuple(points), tuple(rays), tuple(lines)

    @property
    def points(self) -> tuple[Vector, ...]:
        """Vertices (if there is lineality: one point per minimal face)."""
        return self._generators[0]

    @property
    def rays(self) -> tuple[IntVector, ...]:
        """Extreme rays (modulo lineality), as integer vectors."""
        return self._generators[1]

    @property
    def lines(self) -> tuple[IntVector, ...]:
        """A basis of the lineality space."""
        return self._generators[2]

    def range(self, form: AffineForm) -> tuple[Fraction | None, Fraction | None]:
        """Return the exact infimum and supremum of the form; None means unbounded.

        Raises
        ------
        ValueError
            For the empty polyhedron.
        """
        if self.is_empty():
            raise ValueError("the range of a linear form on the empty polyhedron is undefined")
        vector, constant = form
        integers, common = clear_denominators((*vector, constant))
        target = ppl.Linear_Expression(integers[:-1], integers[-1])
        low, high = self._native.minimize(target), self._native.maximize(target)
        return _bound(low, "inf", common), _bound(high, "sup", common)

    def side(self, form: AffineForm) -> int:
        """Return +1 if the form is nonnegative on the set, -1 if nonpositive, 0 if it is split.

        A form that vanishes on the whole set counts as +1.
        """
        target = expression(form)
        if self._native.relation_with(target < 0).implies(ppl.Poly_Con_Relation.is_disjoint()):
            return 1
        if self._native.relation_with(target > 0).implies(ppl.Poly_Con_Relation.is_disjoint()):
            return -1
        return 0

    def cut(self, inequality: AffineForm) -> Polyhedron:
        """Return the part with ``a.x + b >= 0``."""
        native = ppl.C_Polyhedron(self._native)
        native.add_constraint(expression(inequality) >= 0)
        return Polyhedron(native)

    def face(self, equation: AffineForm) -> Polyhedron:
        """Return the part with ``a.x + b = 0``."""
        native = ppl.C_Polyhedron(self._native)
        native.add_constraint(expression(equation) == 0)
        return Polyhedron(native)

    def intersection(self, other: Polyhedron) -> Polyhedron:
        """Return the points in both sets."""
        native = ppl.C_Polyhedron(self._native)
        native.intersection_assign(other._native)
        return Polyhedron(native)

    def translate(self, shift: Sequence[Rational]) -> Polyhedron:
        """Return the set moved by ``shift``."""
        moved = [tuple(x + s for x, s in zip(point, shift, strict=True)) for point in self.points]
        return Polyhedron.from_generators(self.n, moved, self.rays, self.lines)

    def contains(self, point: Sequence[Rational]) -> bool:
        """Tell whether the point satisfies every inequality and equation."""
        return all(_value(form, point) >= 0 for form in self.inequalities) and all(
            _value(form, point) == 0 for form in self.equations
        )

    def includes(self, other: Polyhedron) -> bool:
        """Tell whether ``other`` is a subset."""
        return bool(self._native.contains(other._native))

    def interior_point(self) -> Vector:
        """Return a point in the relative interior: mean of the points plus the sum of the rays.

        Raises
        ------
        ValueError
            For the empty polyhedron.
        """
        if self.is_empty():
            raise ValueError("the empty polyhedron has no interior point")
        count = len(self.points)
        centre = [sum(entries, Fraction(0)) / count for entries in zip(*self.points, strict=True)]
        for ray in self.rays:
            centre = [x + r for x, r in zip(centre, ray, strict=True)]
        return tuple(centre)

    @cached_property
    def homogeneous_generators(self) -> tuple[IntVector, ...]:
        """Integer rows: ``(d p, d)`` for points, ``(r, 0)`` for rays, both signs of lines.

        A form ``a.x + b`` is nonnegative on the set exactly if ``(a, b)`` is on all rows.
        """
        rows = []
        for point in self.points:
            entries, denominator = clear_denominators(point)
            rows.append((*entries, denominator))
        rows += [(*ray, 0) for ray in self.rays]
        for line in self.lines:
            rows += [(*line, 0), (*(-entry for entry in line), 0)]
        return tuple(rows)

    def is_nonnegative(self, form: AffineForm) -> bool:
        """Tell whether ``a.x + b >= 0`` holds on the whole set, from the generators."""
        coefficients = (*form[0], form[1])
        return all(_dot(coefficients, row) >= 0 for row in self.homogeneous_generators)


def _form(row: ppl.Constraint, n: int) -> IntegerForm:
    entries = tuple(int(entry) for entry in row.coefficients())
    return entries + (0,) * (n - len(entries)), int(row.inhomogeneous_term())


def _bound(answer: dict, side: str, common: int) -> Fraction | None:
    if not answer["bounded"]:
        return None
    return Fraction(int(answer[f"{side}_n"]), int(answer[f"{side}_d"]) * common)


def _dot(left: Sequence[Rational], right: Sequence[Rational]) -> Rational:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _value(form: AffineForm, point: Sequence[Rational]) -> Rational:
    return _dot(form[0], point) + form[1]
