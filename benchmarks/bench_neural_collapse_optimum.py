"""Optimum of unconstrained features: closed form beside a symbolic solver.

``python benchmarks/bench_neural_collapse_optimum.py`` prints a table and writes
``benchmarks/results/neural_collapse_optimum.json``. The peer is how the scripts of
Fsoft-AIC/Neural-Collapse-in-Deep-Linear-Networks find it: ``sympy.solve`` of a rational equation
per class, and its largest real root. The last rows compare what both call optimal with a search
on a grid, between the threshold and the last stationary point.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import sympy

from theorylab.neural_collapse import ufm_optimum

RESULT = Path(__file__).parent / "results" / "neural_collapse_optimum.json"
ROUNDS = 5


def by_solver(count: int, q: int, lam: float) -> float:
    """Singular value from the largest real root y of the stationarity condition, sigma = y^q.

    The scripts solve the same condition in another normalisation, for x with
    x^(q-1) = sigma / (s - sigma).
    """
    y = sympy.Symbol("y", real=True)
    s = float(np.sqrt(count))
    roots = sympy.solve(lam - y ** (q - 2) * (s - y**q), y, rational=False)
    real = [float(root) for root in roots if root.is_real]
    return max(max(real, default=0.0), 0.0) ** q


def seconds(task: Callable[[], object], repeat: int) -> float:
    start = perf_counter()
    for _ in range(repeat):
        task()
    return (perf_counter() - start) / repeat


def row(count: int, q: int, lam: float) -> dict[str, object]:
    """Median seconds of both, run in turn, and their objectives against a grid."""
    times = [
        (
            seconds(lambda: ufm_optimum([count], q, lam), 20),
            seconds(lambda: by_solver(count, q, lam), 1),
        )
        for _ in range(ROUNDS + 1)
    ][1:]
    ours, theirs = median(t for t, _ in times), median(t for _, t in times)
    s = np.sqrt(count)
    x = np.linspace(0, 1.05 * s ** (1 / q), 20_001)

    def objective(sigma: float) -> float:
        return float((sigma - s) ** 2 / 2 + q * lam / 2 * sigma ** (2 / q))

    best = float(((x**q - s) ** 2 / 2 + q * lam / 2 * x**2).min())
    return {
        "case": f"n = {count}, q = {q}, decay {lam:g}",
        "ours_s": ours,
        "peer_s": theirs,
        "ratio": theirs / ours,
        "ours_excess": objective(float(ufm_optimum([count], q, lam).sigma[0])) - best,
        "peer_excess": objective(by_solver(count, q, lam)) - best,
    }


def main() -> None:
    found = [row(*case) for case in ((100, 3, 1.0), (100, 4, 2.0), (100, 4, 9.5), (100, 6, 1.0))]
    print(f"{'case':28} {'ours':>9} {'sympy':>9} {'ratio':>9}  excess over a grid: ours, sympy")
    for r in found:
        seen = f"{r['case']:28} {r['ours_s']:9.1e} {r['peer_s']:9.1e} {r['ratio']:9.0f}"
        print(f"{seen}  {r['ours_excess']:9.1e} {r['peer_excess']:9.1e}")
    report = {
        "title": "Neural collapse: optimum of unconstrained features, one class",
        "peer": "sympy.solve and the largest real root",
        "peer_version": sympy.__version__,
        "rows": found,
        "target": "ratio at least 100, and never above the grid's minimum",
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
