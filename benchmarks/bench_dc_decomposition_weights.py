"""The space of balanced weights, beside the null space of all cycle equations.

``python benchmarks/bench_dc_decomposition_weights.py`` prints a table and writes
``benchmarks/results/dc_decomposition_weights.json``. The peer is python-flint's null space of the
matrix with one vector equation per independent cycle of cells, matrix building not counted. Ours
merges opposite walls at simple crossings first. The exponents are those of our time and
of the time to count pieces in the number of walls.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

from pairing import Growth, Result, Row, compared, grown, report

from theorylab.dc_decomposition import Complex, weight_space
from theorylab.dc_decomposition.balancing import cycle_rows
from theorylab.dc_decomposition.examples import moment_arrangement
from theorylab.dc_decomposition.functions import count_regions
from theorylab.exact import null_space


def row(name: str, complex: Complex, least: float | None) -> Row:
    walls = len(complex.walls)
    equations = cycle_rows(complex)
    dim = weight_space(complex).dim
    if len(null_space(equations, walls)) != dim:
        raise SystemExit(f"{name}: the dimensions differ")
    return compared(
        f"{name}: {walls} walls, dimension {dim}",
        lambda: weight_space(complex),
        lambda: null_space(equations, walls),
        rounds=5,
        window=0,
        least=least,
    )


def growths() -> tuple[Growth, Growth]:
    """Seconds against the number of walls: for the weight space, and to count pieces."""
    spaces, pieces = [], []
    for planes in (6, 8, 11, 15, 20):
        complex = moment_arrangement(planes, 3)
        walls = len(complex.walls)
        kinks = [k % 3 for k in range(walls)]
        spaces.append((f"{walls} walls", walls, partial(weight_space, complex)))
        pieces.append((f"{walls} walls", walls, partial(count_regions, complex, kinks)))
    return (
        grown("space of weights, time in walls", spaces, rounds=5, window=0, most=1.2),
        grown("number of pieces, time in walls", pieces, rounds=5, window=0, most=1.2),
    )


def main() -> None:
    report(
        "dc_decomposition_weights",
        Result(
            "Decomposition polyhedra: the space of balanced weights",
            "python-flint, null space of the full cycle matrix",
            version("python-flint"),
            (
                row("braid fan of 5", Complex.braid(5), None),
                row("8 planes in 3-space", moment_arrangement(8, 3), None),
                row("12 planes in 3-space", moment_arrangement(12, 3), 50.0),
            ),
            "12 planes in 3-space: ratio at least 50; both exponents at most 1.2",
            growths(),
        ),
    )


if __name__ == "__main__":
    main()
