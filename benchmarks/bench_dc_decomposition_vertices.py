"""All vertices and the Pareto set, from the function on, beside the bare vertex enumeration.

``python benchmarks/bench_dc_decomposition_vertices.py`` prints a table and writes
``benchmarks/results/dc_decomposition_vertices.json``. Ours runs the whole way: complex, ridges,
balanced weights, weights of the function, inequalities, vertices, numbers of pieces, Pareto set.
The peer is handed the finished inequalities and only enumerates: the Parma Polyhedra Library
through pplpy, one call in the same process. So the ratio is at most 1, and says what share of the
time is enumeration.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import ppl

from theorylab.dc_decomposition import CPWL, Complex, Decomposition, DecompositionPolyhedron
from theorylab.dc_decomposition.examples import (
    random_fan,
    random_function,
    random_set_function,
)
from theorylab.dc_decomposition.polyhedron import HRepresentation
from theorylab.exact import clear_denominators

RESULT = Path(__file__).parent / "results" / "dc_decomposition_vertices.json"
ROUNDS = 7


@dataclass(frozen=True)
class Case:
    name: str
    solve: Callable[[], list[Decomposition]]
    polyhedron: DecompositionPolyhedron


def set_function_case() -> Case:
    values = random_set_function(np.random.default_rng(0), 4)

    def solve() -> list[Decomposition]:
        fan = Complex.braid(4)
        f = CPWL.from_set_function(4, values, complex=fan)
        return DecompositionPolyhedron(fan, f).pareto()

    f = CPWL.from_set_function(4, values)
    return Case("set function on 4 elements", solve, DecompositionPolyhedron(f.complex, f))


def fan_case(rays: int, size: int) -> Case:
    fan = random_fan(np.random.default_rng(1), rays, size)
    pieces = random_function(fan, np.random.default_rng(2)).pieces_on_cells

    def solve() -> list[Decomposition]:
        complex = Complex.from_fan2d(fan.rays)
        return DecompositionPolyhedron(complex, CPWL(complex, pieces)).pareto()

    return Case(f"plane fan, {rays} rays", solve, DecompositionPolyhedron(fan, CPWL(fan, pieces)))


def bare_enumeration(hrep: HRepresentation) -> ppl.Generator_System:
    system = ppl.Constraint_System()
    for row, bound in zip(hrep.rows, hrep.bounds, strict=True):
        entries, _ = clear_denominators((*row, -bound))
        system.insert(ppl.Linear_Expression(entries[:-1], entries[-1]) >= 0)
    polyhedron = ppl.C_Polyhedron(hrep.dim, "universe")
    polyhedron.add_constraints(system)
    return polyhedron.minimized_generators()


def seconds(task: Callable[[], object]) -> float:
    start = perf_counter()
    task()
    return perf_counter() - start


def medians(*tasks: Callable[[], object]) -> list[float]:
    """Median seconds of each task, run in turn; a first round is thrown away."""
    once = sum(seconds(task) for task in tasks)
    rounds = [[seconds(task) for task in tasks] for _ in range(ROUNDS if once < 2 else 3)]
    return [median(times) for times in zip(*rounds, strict=True)]


def row(case: Case) -> dict[str, object]:
    hrep = case.polyhedron.hrep()
    points = sum(g.is_point() for g in bare_enumeration(hrep))
    if points != len(case.polyhedron.vertices()):
        raise SystemExit(f"{case.name}: the two sides disagree on the number of vertices")
    ours, peer = medians(case.solve, lambda: bare_enumeration(hrep))
    name = f"{case.name}: {points} vertices, dimension {hrep.dim}, {len(hrep.rows)} rows"
    return {"case": name, "ours_s": ours, "peer_s": peer, "ratio": peer / ours}


def main() -> None:
    cases = [set_function_case()]
    cases += [fan_case(*shape) for shape in ((16, 8), (24, 10), (36, 14), (72, 30), (96, 40))]
    rows = []
    print(f"{'case':64} {'ours':>9} {'bare':>9} {'bare/ours':>10}")
    for case in cases:
        rows.append(found := row(case))
        print("{case:64} {ours_s:9.2e} {peer_s:9.2e} {ratio:10.2f}".format(**found))
    report = {
        "title": "Decomposition polyhedra: from the function to the Pareto set",
        "peer": "pplpy, vertex enumeration alone on the same inequalities",
        "peer_version": version("pplpy"),
        "rows": rows,
        "target": "ratio at least 1/20 where the bare call is below 0.05 s, 1/3 above 1 s",
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
