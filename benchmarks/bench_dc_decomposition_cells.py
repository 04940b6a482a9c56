"""Cells of hyperplane arrangements, beside polymake.

``python benchmarks/bench_dc_decomposition_cells.py`` prints a table and writes
``benchmarks/results/dc_decomposition_cells.json``. Both sides enumerate the cells of random
central planes in 3-space in exact arithmetic and must find the same number. polymake's time is
taken inside its script, after start-up, around the one call that computes the chamber
decomposition; ours includes walls and ridges. Our time also is fitted against the number of
(hyperplane, cell) pairs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from pairing import Growth, Result, Row, compared_clocks, grown, growth_line, report, seconds, skip

from theorylab.dc_decomposition import Complex
from theorylab.dc_decomposition.examples import random_arrangement

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
    first_line = (answer.stdout or answer.stderr).strip().split("\n", 1)[0]
    return first_line.removeprefix("polymake version ")


def row(count: int, least: float | None) -> Row:
    complex = random_arrangement(np.random.default_rng(count), count, 3, central=True)
    planes = [normal for normal, _ in complex.hyperplanes]

    def peer() -> float:
        cells, took = polymake(planes)
        if cells != len(complex.cells):
            raise SystemExit(f"polymake finds {cells} cells, we find {len(complex.cells)}")
        return took

    return compared_clocks(
        f"{count} central planes in 3-space: {len(complex.cells)} cells",
        lambda: seconds(lambda: Complex.from_arrangement(complex.hyperplanes)),
        peer,
        rounds=5,
        least=least,
    )


def growth() -> Growth:
    """Seconds against (number of planes) x (number of cells)."""
    cases = []
    for count in (6, 9, 13, 18, 25):
        complex = random_arrangement(np.random.default_rng(count), count, 3, size=20)
        cells = len(complex.cells)
        enumerate_cells = partial(Complex.from_arrangement, complex.hyperplanes)
        cases.append((f"{count} planes, {cells} cells", count * cells, enumerate_cells))
    return grown("time in planes x cells", cases, rounds=3, window=0, most=1.3)


def main() -> None:
    growths = (growth(),)
    if shutil.which("polymake") is None:
        print(growth_line(growths[0]))
        skip("polymake", "Debian: apt-get install polymake")
    report(
        "dc_decomposition_cells",
        Result(
            "Decomposition polyhedra: cells of an arrangement",
            "polymake, chamber decomposition",
            polymake_version(),
            tuple(row(*case) for case in ((6, None), (9, None), (12, 20.0))),
            "ratio at least 20 for 12 planes; exponent in planes x cells at most 1.3",
            growths,
        ),
    )


if __name__ == "__main__":
    main()
