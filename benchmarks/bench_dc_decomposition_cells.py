"""Cells of hyperplane arrangements, beside polymake.

``python benchmarks/bench_dc_decomposition_cells.py`` prints two tables and writes
``benchmarks/results/dc_decomposition_cells.json``. Both sides enumerate the cells of random
central planes in 3-space in exact arithmetic and must find the same number. polymake's time is
taken inside its script, after start-up, around the one call that computes the chamber
decomposition; ours includes walls and ridges. The second table is our time against the number of
(hyperplane, cell) pairs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from theorylab.dc_decomposition import Complex
from theorylab.dc_decomposition.examples import random_arrangement

RESULT = Path(__file__).parent / "results" / "dc_decomposition_cells.json"
SCRIPT = """use application "fan";
use Time::HiRes qw(time);
my $warm = new HyperplaneArrangement(HYPERPLANES=>new Matrix<Rational>([[1,0,0],[0,1,0]]));
$warm->CHAMBER_DECOMPOSITION->N_MAXIMAL_CONES;
my $planes = new Matrix<Rational>({rows});
my $start = time;
my $arrangement = new HyperplaneArrangement(HYPERPLANES=>$planes);
my $cells = $arrangement->CHAMBER_DECOMPOSITION->N_MAXIMAL_CONES;
print $cells, " ", time - $start, "\\n";
"""


def polymake(planes: list[tuple[int, ...]]) -> tuple[int, float]:
    """Number of chambers and seconds, from polymake."""
    with TemporaryDirectory() as folder:
        script = Path(folder) / "chambers.pl"
        script.write_text(SCRIPT.format(rows=json.dumps(planes)))
        answer = subprocess.run(
            ["polymake", "--script", str(script)], capture_output=True, text=True, check=True
        )
    cells, seconds = answer.stdout.split()
    return int(cells), float(seconds)


def polymake_version() -> str:
    answer = subprocess.run(["polymake", "--version"], capture_output=True, text=True, check=True)
    return answer.stdout.split("\n", 1)[0].removeprefix("polymake version ")


def seconds(task: Callable[[], object]) -> float:
    start = perf_counter()
    task()
    return perf_counter() - start


def row(count: int) -> dict[str, object]:
    complex = random_arrangement(np.random.default_rng(count), count, 3, central=True)
    planes = [normal for normal, _ in complex.hyperplanes]
    ours, peer = [], []
    for _ in range(5):
        cells, took = polymake(planes)
        if cells != len(complex.cells):
            raise SystemExit(f"polymake finds {cells} cells, we find {len(complex.cells)}")
        peer.append(took)
        ours.append(seconds(lambda: Complex.from_arrangement(complex.hyperplanes)))
    own, other = median(ours), median(peer)
    case = f"{count} central planes in 3-space: {len(complex.cells)} cells"
    return {"case": case, "ours_s": own, "peer_s": other, "ratio": other / own}


def scaling() -> tuple[list[dict[str, object]], float]:
    """Seconds against (number of planes) x (number of cells), and the exponent."""
    rows = []
    for count in (6, 9, 13, 18, 25):
        complex = random_arrangement(np.random.default_rng(count), count, 3, size=20)
        own = median(
            seconds(lambda c=complex: Complex.from_arrangement(c.hyperplanes)) for _ in range(3)
        )
        work = count * len(complex.cells)
        rows.append({"planes": count, "cells": len(complex.cells), "work": work, "ours_s": own})
    logs = np.log([[r["work"], r["ours_s"]] for r in rows])
    return rows, float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def main() -> None:
    rows: list[dict[str, object]] = []
    if shutil.which("polymake") is None:
        print("polymake is not installed (Debian: apt-get install polymake): no comparison")
    else:
        print(f"{'case':44} {'ours':>9} {'polymake':>9} {'ratio':>7}")
        for count in (6, 9, 12):
            rows.append(found := row(count))
            print("{case:44} {ours_s:9.2e} {peer_s:9.2e} {ratio:7.1f}".format(**found))
    curve, exponent = scaling()
    for r in curve:
        print("{planes:3d} planes, {cells:5d} cells: {ours_s:8.3f} s".format(**r))
    print(f"exponent of the time in planes x cells: {exponent:.2f}")
    if rows:
        report = {
            "title": "Decomposition polyhedra: cells of an arrangement",
            "peer": "polymake, chamber decomposition",
            "peer_version": polymake_version(),
            "rows": rows,
            "scaling": curve,
            "exponent": exponent,
            "target": "ratio at least 20 for 12 planes; exponent in planes x cells at most 1.3",
        }
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
