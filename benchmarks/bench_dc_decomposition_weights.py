"""The space of balanced weights, beside the null space of all cycle equations.

``python benchmarks/bench_dc_decomposition_weights.py`` prints three tables and writes
``benchmarks/results/dc_decomposition_weights.json``. The peer is python-flint's null space of the
matrix with one vector equation per independent cycle of cells, matrix building not counted. Ours
merges opposite walls at simple crossings first. The other tables are growth: our time against
the number of walls, and the time to count pieces.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from theorylab.dc_decomposition import Complex, weight_space
from theorylab.dc_decomposition.balancing import cycle_rows
from theorylab.dc_decomposition.examples import moment_arrangement
from theorylab.dc_decomposition.functions import count_regions
from theorylab.exact import null_space

RESULT = Path(__file__).parent / "results" / "dc_decomposition_weights.json"


def seconds(task: Callable[[], object]) -> float:
    start = perf_counter()
    task()
    return perf_counter() - start


def row(name: str, complex: Complex) -> dict[str, object]:
    walls = len(complex.walls)
    equations = cycle_rows(complex)
    dim = weight_space(complex).dim
    if len(null_space(equations, walls)) != dim:
        raise SystemExit(f"{name}: the dimensions differ")
    own = median(seconds(lambda: weight_space(complex)) for _ in range(5))
    other = median(seconds(lambda: null_space(equations, walls)) for _ in range(3))
    case = f"{name}: {walls} walls, dimension {dim}"
    return {"case": case, "ours_s": own, "peer_s": other, "ratio": other / own}


def scaling() -> tuple[list[dict[str, object]], dict[str, float]]:
    rows = []
    for planes in (6, 8, 11, 15, 20):
        complex = moment_arrangement(planes, 3)
        kinks = [k % 3 for k in range(len(complex.walls))]
        space = median(seconds(lambda c=complex: weight_space(c)) for _ in range(5))
        pieces = median(seconds(lambda c=complex, k=kinks: count_regions(c, k)) for _ in range(5))
        rows.append(
            {"walls": len(complex.walls), "weight_space_s": space, "count_pieces_s": pieces}
        )
    logs = {key: np.log([r[key] for r in rows]) for key in rows[0]}
    return rows, {
        key: float(np.polyfit(logs["walls"], logs[key], 1)[0])
        for key in ("weight_space_s", "count_pieces_s")
    }


def main() -> None:
    cases = {
        "braid fan of 5": Complex.braid(5),
        "8 planes in 3-space": moment_arrangement(8, 3),
        "12 planes in 3-space": moment_arrangement(12, 3),
    }
    rows = []
    print(f"{'case':48} {'ours':>9} {'plain':>9} {'ratio':>8}")
    for name, complex in cases.items():
        rows.append(found := row(name, complex))
        print("{case:48} {ours_s:9.2e} {peer_s:9.2e} {ratio:8.1f}".format(**found))
    curve, exponents = scaling()
    for r in curve:
        print("{walls:6d} walls: {weight_space_s:9.2e} s, {count_pieces_s:9.2e} s".format(**r))
    print(f"exponents in the number of walls: {exponents}")
    report = {
        "title": "Decomposition polyhedra: the space of balanced weights",
        "peer": "python-flint, null space of the full cycle matrix",
        "peer_version": version("python-flint"),
        "rows": rows,
        "scaling": curve,
        "exponents": exponents,
        "target": "12 planes in 3-space: ratio at least 50; both exponents at most 1.2",
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
