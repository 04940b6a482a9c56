"""Optimum of unconstrained features: closed form beside a symbolic solver.

``python benchmarks/bench_neural_collapse_optimum.py`` prints a table and writes
``benchmarks/results/neural_collapse_optimum.json``. The peer is how the scripts of
Fsoft-AIC/Neural-Collapse-in-Deep-Linear-Networks find it: ``sympy.solve`` of a rational equation
per class, and its largest real root. What both call optimal is compared with a search on
a grid, between the threshold and the last stationary point.
"""

from __future__ import annotations

import numpy as np
import sympy
from pairing import Measure, Result, Row, compared, report

from theorylab.neural_collapse import ufm_optimum

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


def row(count: int, q: int, lam: float) -> Row:
    """Median seconds of both, run in turn, and their objectives against a grid."""
    s = np.sqrt(count)
    x = np.linspace(0, 1.05 * s ** (1 / q), 20_001)

    def objective(sigma: float) -> float:
        return float((sigma - s) ** 2 / 2 + q * lam / 2 * sigma ** (2 / q))

    best = float(((x**q - s) ** 2 / 2 + q * lam / 2 * x**2).min())
    return compared(
        f"n = {count}, q = {q}, decay {lam:g}",
        lambda: ufm_optimum([count], q, lam),
        lambda: by_solver(count, q, lam),
        rounds=ROUNDS,
        window=0.005,
        least=100.0,
        ours_excess=objective(float(ufm_optimum([count], q, lam).sigma[0])) - best,
        peer_excess=objective(by_solver(count, q, lam)) - best,
    )


def excesses(rows: tuple[Row, ...]) -> tuple[Measure, Measure]:
    """The largest objective of each side above the minimum of the grid."""
    ours, peer = (
        max(found.details[side] for found in rows) for side in ("ours_excess", "peer_excess")
    )
    return (
        Measure("largest objective above the minimum of a grid, ours", ours, most=0.0),
        Measure("largest objective above the minimum of a grid, the peer's", peer),
    )


def main() -> None:
    rows = tuple(
        row(*case) for case in ((100, 3, 1.0), (100, 4, 2.0), (100, 4, 9.5), (100, 6, 1.0))
    )
    report(
        "neural_collapse_optimum",
        Result(
            "Neural collapse: optimum of unconstrained features, one class",
            "sympy.solve and the largest real root",
            sympy.__version__,
            rows,
            "ratio at least 100, and never above the grid's minimum",
            measures=excesses(rows),
        ),
    )


if __name__ == "__main__":
    main()
