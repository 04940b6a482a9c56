"""Exact linear programming with certificates.

A floating-point simplex (HiGHS) proposes the tight rows of larger programs; they are solved
exactly by python-flint, and feasibility and optimality are checked exactly through the dual.
Small programs, and proposals that fail the check, go to the exact simplex of the Parma Polyhedra
Library. Every optimum comes with its dual solution, every infeasibility with a Farkas vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import ppl
from flint import fmpz_mat
from flint.flint_base.flint_base import flint_mat
from scipy.optimize import linprog

from .matrices import Rows, independent_rows, null_space
from .rationals import IntVector, Rational, Vector, clear_denominators

_TIGHT = 1e-7
_SMALL = 200


@dataclass(frozen=True)
class Optimum:
    """A minimiser, its value, and the proof: ``y >= 0``, ``y A = c``, ``y.b = value``."""

    x: Vector
    value: Fraction
    multipliers: Vector


@dataclass(frozen=True)
class Infeasible:
    """No solution, with the Farkas proof ``y >= 0``, ``y A = 0``, ``y.b > 0``."""

    multipliers: Vector


@dataclass(frozen=True)
class Unbounded:
    """A feasible point and a direction ``A z >= 0`` along which the cost falls."""

    x: Vector
    direction: Vector


class InequalitySystem:
    r"""The polyhedron :math:`\{x\in\mathbb Q^d: Ax\ge b\}`, for linear programs over it.

    Parameters
    ----------
    rows : sequence of rational vectors
        The rows of A.
    bounds : sequence of rationals
        The entries of b.
    columns : int
        The number d of variables.

    Raises
    ------
    ValueError
        If the lengths do not fit.
    """

    def __init__(self, rows: Rows, bounds: Sequence[Rational], columns: int) -> None:
        if len(rows) != len(bounds):
            raise ValueError(f"{len(rows)} rows but {len(bounds)} bounds")
        scaled = [clear_denominators((*row, b)) for row, b in zip(rows, bounds, strict=True)]
        if any(len(row) != columns + 1 for row, _ in scaled):
            raise ValueError(f"every row needs {columns} entries")
        self.columns = columns
        self.rows: list[IntVector] = [row[:-1] for row, _ in scaled]
        self.bounds: list[int] = [row[-1] for row, _ in scaled]
        self._scales = [scale for _, scale in scaled]

    @cached_property
    def _matrix(self) -> fmpz_mat:
        entries = [entry for row in self.rows for entry in row]
        return fmpz_mat(len(self.rows), self.columns, entries)

    @cached_property
    def _floats(self) -> tuple[np.ndarray, np.ndarray]:
        """A and b in floating point, rows scaled to size one."""
        matrix = np.array(self.rows, dtype=float).reshape(len(self.rows), self.columns)
        size = np.maximum(np.abs(matrix).max(axis=1, initial=0.0), 1.0)
        return matrix / size[:, None], np.array(self.bounds, dtype=float) / size

    def slacks(self, x: Sequence[Rational]) -> list[Fraction]:
        """Return ``A x - b``, row by row (rows scaled to integers)."""
        integers, denominator = clear_denominators(x)
        values = self._matrix * fmpz_mat(self.columns, 1, integers)
        return [
            Fraction(int(value) - bound * denominator, denominator)
            for (value,), bound in zip(values.tolist(), self.bounds, strict=True)
        ]

    def tight(self, x: Sequence[Rational]) -> list[int]:
        """Return the rows that hold with equality."""
        return [k for k, slack in enumerate(self.slacks(x)) if slack == 0]

    def is_feasible(self, x: Sequence[Rational]) -> bool:
        """Tell whether ``A x >= b``."""
        return all(slack >= 0 for slack in self.slacks(x))

    def minimise(self, cost: Sequence[Rational]) -> Optimum | Infeasible | Unbounded:
        """Minimise ``cost . x`` exactly."""
        objective, scale = clear_denominators(cost)
        if len(objective) != self.columns:
            raise ValueError(f"the cost needs {self.columns} entries, got {len(objective)}")
        found = None
        if len(self.rows) * self.columns > _SMALL:
            found = self._from_float_basis(objective)
        if found is None:
            found = self._from_exact_simplex(objective)
        if found is None:
            return self._without_optimum(objective)
        x, multipliers = found
        value = sum((c * v for c, v in zip(objective, x, strict=True)), Fraction(0)) / scale
        unscaled = tuple(y * s / scale for y, s in zip(multipliers, self._scales, strict=True))
        return Optimum(x, value, unscaled)

    def _without_optimum(self, objective: IntVector) -> Infeasible | Unbounded:
        point = self.feasible_point()
        if isinstance(point, Infeasible):
            return point
        cone = InequalitySystem([*self.rows, objective], [0] * len(self.rows) + [-1], self.columns)
        falling = cone.minimise(objective)
        if not isinstance(falling, Optimum) or falling.value != -1:
            raise ArithmeticError("the linear program has neither an optimum nor a falling ray")
        return Unbounded(point, falling.x)

    def feasible_point(self) -> Vector | Infeasible:
        """Return a solution of ``A x >= b``, or the proof that there is none."""
        relaxed = InequalitySystem(
            [*((*row, 1) for row in self.rows), (0,) * self.columns + (1,)],
            [*self.bounds, 0],
            self.columns + 1,
        )
        answer = relaxed.minimise((0,) * self.columns + (1,))
        if not isinstance(answer, Optimum):
            raise ArithmeticError("the relaxed program must have an optimum")
        if answer.value == 0:
            return answer.x[:-1]
        multipliers = answer.multipliers[:-1]
        return Infeasible(tuple(y * s for y, s in zip(multipliers, self._scales, strict=True)))

    def to_vertex(self, x: Sequence[Rational], cost: Sequence[Rational] | None = None) -> Vector:
        """Walk from a feasible point to a vertex without raising the cost.

        Raises
        ------
        ValueError
            If the point is not feasible, the polyhedron contains a line, or the cost falls
            without bound on the way.
        """
        if not self.is_feasible(x):
            raise ValueError("the starting point violates an inequality")
        objective = [0] * self.columns if cost is None else list(cost)
        point = tuple(map(Fraction, x))
        while True:
            directions = null_space([self.rows[k] for k in self.tight(point)], self.columns)
            if not directions:
                return point
            point = self._step(point, directions[0], objective)

    def _step(self, point: Vector, direction: IntVector, objective: Sequence[Rational]) -> Vector:
        """Move along ``+-direction`` until the first new row is tight."""
        slope = sum(c * z for c, z in zip(objective, direction, strict=True))
        signs = (-1,) if slope > 0 else (1,) if slope < 0 else (1, -1)
        for sign in signs:
            toward = [sign * z for z in direction]
            lengths = [
                slack / -fall
                for slack, fall in zip(self.slacks(point), self._speeds(toward), strict=True)
                if fall < 0
            ]
            if lengths:
                step = min(lengths)
                return tuple(p + step * z for p, z in zip(point, toward, strict=True))
        if slope:
            raise ValueError("the cost falls without bound")
        raise ValueError("the polyhedron contains a line and has no vertex")

    def _speeds(self, direction: Sequence[int]) -> list[int]:
        values = self._matrix * fmpz_mat(self.columns, 1, list(direction))
        return [int(value) for (value,) in values.tolist()]

    def _from_float_basis(self, objective: IntVector) -> tuple[Vector, Vector] | None:
        """Solve exactly at the vertex that a floating-point simplex stops at, and check."""
        order = _rows_by_importance(self._floats, objective)
        if order is None:
            return None
        chosen = [order[k] for k in independent_rows([self.rows[k] for k in order], self.columns)]
        if not chosen or len(chosen) < self.columns:
            return None
        square = fmpz_mat([list(self.rows[k]) for k in chosen])
        right = fmpz_mat(self.columns, 1, [self.bounds[k] for k in chosen])
        cost = fmpz_mat(self.columns, 1, list(objective))
        x = _spread(square.solve(right), range(self.columns), self.columns)
        y = _spread(square.transpose().solve(cost), chosen, len(self.rows))
        return (x, y) if self._is_optimal(objective, x, y) else None

    def _is_optimal(self, objective: IntVector, x: Vector, y: Vector) -> bool:
        if any(entry < 0 for entry in y):
            return False
        slacks = self.slacks(x)
        if any(slack < 0 for slack in slacks):
            return False
        if any(slack and entry for slack, entry in zip(slacks, y, strict=True)):
            return False
        return self._combination(y) == tuple(objective)

    def _combination(self, y: Vector) -> Vector:
        integers, denominator = clear_denominators(y)
        row = fmpz_mat(1, len(y), integers) * self._matrix
        return tuple(Fraction(int(entry), denominator) for entry in row.tolist()[0])

    def _from_exact_simplex(self, objective: IntVector) -> tuple[Vector, Vector] | None:
        constraints = ppl.Constraint_System()
        for row, bound in zip(self.rows, self.bounds, strict=True):
            constraints.insert(ppl.Linear_Expression(row, -bound) >= 0)
        x = _ppl_minimiser(self.columns, constraints, objective)
        if x is None:
            return None
        tight = self.tight(x)
        dual = ppl.Constraint_System()
        for j in range(self.columns):
            column = [self.rows[k][j] for k in tight]
            dual.insert(ppl.Linear_Expression(column, -objective[j]) == 0)
        for k in range(len(tight)):
            dual.insert(ppl.Variable(k) >= 0)
        y_tight = _ppl_minimiser(len(tight), dual, (0,) * len(tight))
        if y_tight is None:
            raise ArithmeticError("the exact simplex returned a point that is not optimal")
        y = [Fraction(0)] * len(self.rows)
        for k, entry in zip(tight, y_tight, strict=True):
            y[k] = entry
        return x, tuple(y)


def _spread(solution: flint_mat, places: Sequence[int], length: int) -> Vector:
    vector = [Fraction(0)] * length
    for place, (entry,) in zip(places, solution.tolist(), strict=True):
        vector[place] = Fraction(int(entry.p), int(entry.q))
    return tuple(vector)


def _rows_by_importance(
    floats: tuple[np.ndarray, np.ndarray], objective: IntVector
) -> list[int] | None:
    """Rows that look tight at a floating-point optimum, those with a multiplier first."""
    matrix, bounds = floats
    answer = linprog(
        np.array(objective, dtype=float),
        A_ub=-matrix,
        b_ub=-bounds,
        bounds=(None, None),
        method="highs-ds",
    )
    if answer.status != 0:
        return None
    multipliers, slacks = -answer.ineqlin.marginals, answer.slack
    tight = np.flatnonzero(slacks <= _TIGHT * (1 + np.abs(bounds)))
    return sorted(tight.tolist(), key=lambda k: -multipliers[k])


def _ppl_minimiser(
    columns: int, constraints: ppl.Constraint_System, objective: Sequence[int]
) -> Vector | None:
    if columns == 0:
        return () if ppl.C_Polyhedron(constraints).is_empty() is False else None
    problem = ppl.MIP_Problem(columns, constraints, ppl.Linear_Expression(objective, 0))
    problem.set_optimization_mode("minimization")
    if problem.solve()["status"] != "optimized":
        return None
    point = problem.optimizing_point()
    entries = [int(entry) for entry in point.coefficients()]
    entries += [0] * (columns - len(entries))
    divisor = int(point.divisor())
    return tuple(Fraction(entry, divisor) for entry in entries)
