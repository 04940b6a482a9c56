"""All vertices and the Pareto set, from the function on, beside the bare vertex enumeration.

``python benchmarks/bench_dc_decomposition_vertices.py`` prints a table and writes
``benchmarks/results/dc_decomposition_vertices.json``. Ours runs the whole way: complex, ridges,
balanced weights, weights of the function, inequalities, vertices, numbers of pieces, Pareto set.
The peer is handed the finished inequalities and only enumerates: the Parma Polyhedra Library
through pplpy, one call in the same process. So the ratio is at most 1, and says what share of the
time is enumeration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version

import numpy as np
import ppl
from pairing import Result, Row, compared, report

from theorylab.dc_decomposition import CPWL, Complex, Decomposition, DecompositionPolyhedron
from theorylab.dc_decomposition.examples import (
    random_fan,
    random_function,
    random_set_function,
)
from theorylab.dc_decomposition.polyhedron import HRepresentation
from theorylab.exact import clear_denominators

SHORT, LONG = 0.05, 1.0
"""Seconds of the bare call below and above which there is a target."""


@dataclass(frozen=True)
class Case:
    name: str
    solve: Callable[[], list[Decomposition]]
    polyhedron: DecompositionPolyhedron
    rounds: int = 7


def set_function_case() -> Case:
    values = random_set_function(np.random.default_rng(0), 4)

    def solve() -> list[Decomposition]:
        fan = Complex.braid(4)
        f = CPWL.from_set_function(4, values, complex=fan)
        return DecompositionPolyhedron(fan, f).pareto()

    f = CPWL.from_set_function(4, values)
    return Case("set function on 4 elements", solve, DecompositionPolyhedron(f.complex, f))


def fan_case(rays: int, size: int, rounds: int = 7) -> Case:
    fan = random_fan(np.random.default_rng(1), rays, size)
    pieces = random_function(fan, np.random.default_rng(2)).pieces_on_cells

    def solve() -> list[Decomposition]:
        complex = Complex.from_fan2d(fan.rays)
        return DecompositionPolyhedron(complex, CPWL(complex, pieces)).pareto()

    polyhedron = DecompositionPolyhedron(fan, CPWL(fan, pieces))
    return Case(f"plane fan, {rays} rays", solve, polyhedron, rounds)


def bare_enumeration(hrep: HRepresentation) -> ppl.Generator_System:
    system = ppl.Constraint_System()
    for row, bound in zip(hrep.rows, hrep.bounds, strict=True):
        entries, _ = clear_denominators((*row, -bound))
        system.insert(ppl.Linear_Expression(entries[:-1], entries[-1]) >= 0)
    polyhedron = ppl.C_Polyhedron(hrep.dim, "universe")
    polyhedron.add_constraints(system)
    return polyhedron.minimized_generators()


def least_ratio(bare_s: float) -> float | None:
    """The share of the time that enumeration is to take, where the bare call takes so long."""
    if bare_s < SHORT:
        return 1 / 20
    return 1 / 3 if bare_s > LONG else None


def row(case: Case) -> Row:
    hrep = case.polyhedron.hrep()
    points = sum(g.is_point() for g in bare_enumeration(hrep))
    if points != len(case.polyhedron.vertices()):
        raise SystemExit(f"{case.name}: the two sides disagree on the number of vertices")
    name = f"{case.name}: {points} vertices, dimension {hrep.dim}, {len(hrep.rows)} rows"
    found = compared(name, case.solve, lambda: bare_enumeration(hrep), rounds=case.rounds, window=0)
    return replace(found, least=least_ratio(found.peer_s))


def main() -> None:
    cases = [set_function_case()]
    cases += [fan_case(*shape) for shape in ((16, 8), (24, 10), (36, 14), (72, 30), (96, 40, 3))]
    report(
        "dc_decomposition_vertices",
        Result(
            "Decomposition polyhedra: from the function to the Pareto set",
            "pplpy, vertex enumeration alone on the same inequalities",
            version("pplpy"),
            tuple(row(case) for case in cases),
            "ratio at least 1/20 where the bare call is below 0.05 s, 1/3 above 1 s",
        ),
    )


if __name__ == "__main__":
    main()
