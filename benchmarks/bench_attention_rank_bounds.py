"""Series, bounds and least squares of the attention chapter beside their peers.

``python benchmarks/bench_attention_rank_bounds.py`` prints two tables and writes
``benchmarks/results/attention_rank_series.json`` and ``..._least_squares.json``.

The series peer is the usual way to an expansion in Gegenbauer polynomials, that of the authors'
code: each coefficient by ``scipy.integrate.quad``, each polynomial by ``scipy.special``, 50 terms.
Least squares over H heads is set beside one Cholesky factorisation of that size, which it must
contain.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import scipy
from scipy.integrate import quad
from scipy.linalg import cho_factor
from scipy.special import eval_gegenbauer, gammaln

from theorylab.attention_rank import heads_needed, lower_bound
from theorylab.attention_rank.bounds import _sign_rows
from theorylab.attention_rank.harmonics import energies, head_target
from theorylab.attention_rank.heads import tilted_heads

RESULTS = Path(__file__).parent / "results"
TERMS = 50
ANGLES = 4096


def seconds(task: Callable[[], object], least: float = 0.05) -> float:
    start, calls = perf_counter(), 0
    while calls == 0 or perf_counter() - start < least:
        task()
        calls += 1
    return (perf_counter() - start) / calls


def alternating(ours: Callable, peer: Callable, rounds: int) -> tuple[float, float]:
    times = [(seconds(ours), seconds(peer)) for _ in range(rounds + 1)][1:]
    return median(own for own, _ in times), median(other for _, other in times)


def quadrature_series(c: np.ndarray, d: int) -> np.ndarray:
    """b(c) with every eigenvalue by adaptive quadrature and every polynomial evaluated anew."""
    order = (d - 2) / 2
    density = math.exp(math.lgamma(d / 2) - math.lgamma((d - 1) / 2)) / math.sqrt(math.pi)
    total = np.zeros_like(c)
    for degree in range(1, 2 * TERMS, 2):
        at_one = eval_gegenbauer(degree, order, 1.0)

        def integrand(t: float, degree: int = degree, at_one: float = at_one) -> float:
            return eval_gegenbauer(degree, order, t) / at_one * (1 - t * t) ** ((d - 3) / 2)

        value = 2 * density * quad(integrand, 0, 1, limit=200)[0]
        log_dimension = gammaln(degree + d - 2) - gammaln(d - 1) - gammaln(degree + 1)
        dimension = (2 * degree + d - 2) * math.exp(log_dimension)
        total += dimension * value**3 * eval_gegenbauer(degree, order, c) / at_one
    return total


def ours_cold(c: np.ndarray, d: int) -> np.ndarray:
    energies.cache_clear()
    return head_target(c, d, 1e-8)[0]


def series_row(d: int) -> dict[str, object]:
    c = np.linspace(-1, 1, ANGLES)
    gap = float(np.abs(ours_cold(c, d) - quadrature_series(c, d)).max())
    own, other = alternating(lambda: ours_cold(c, d), lambda: quadrature_series(c, d), 5)
    case = f"d={d}, {ANGLES} angles, largest difference {gap:.1e}"
    return {"case": case, "ours_s": own, "peer_s": other, "ratio": other / own}


def least_squares_row(H: int) -> dict[str, object]:
    heads = tilted_heads(8, H, np.random.default_rng(0))
    matrix = heads.gram() + 1.0
    heads.target()
    own, other = alternating(
        heads.optimal_values, lambda: cho_factor(matrix, lower=True, check_finite=False), 3
    )
    return {"case": f"d=8, H={H}", "ours_s": own, "peer_s": other, "ratio": other / own}


def bound_times() -> None:
    print("\nBounds, cold and warm")
    for d, r, kind in ((8, 4, "generalised"), (64, 16, "matrix"), (1024, 1, "matrix")):
        _sign_rows.cache_clear()
        energies.cache_clear()
        start = perf_counter()
        lower_bound(d, r, 100, kind)
        cold = perf_counter() - start
        warm = seconds(lambda d=d, r=r, kind=kind: lower_bound(d, r, 100, kind))
        needed = seconds(lambda d=d, r=r, kind=kind: heads_needed(d, r, 0.15, kind))
        print(
            f"  d={d}, r={r}, {kind}: cold {1e3 * cold:.2f} ms, warm {1e3 * warm:.3f} ms, "
            f"heads needed {1e3 * needed:.2f} ms"
        )


def report(file: str, title: str, peer: str, rows: list[dict], target: str) -> None:
    print(f"\n{title}, beside {peer} {scipy.__version__}")
    for r in rows:
        print(
            f"  {r['case']:<54} {1e3 * r['ours_s']:9.2f} ms {1e3 * r['peer_s']:9.2f} ms "
            f"{r['ratio']:7.2f}x"
        )
    text = {"title": title, "peer": peer, "peer_version": scipy.__version__, "rows": rows}
    path = RESULTS / f"{file}.json"
    path.write_text(json.dumps({**text, "target": target}, indent=2) + "\n", encoding="utf8")


def main() -> None:
    bound_times()
    report(
        "attention_rank_series",
        "Correlation of rank-1 heads with the target",
        "scipy.integrate.quad and scipy.special.eval_gegenbauer",
        [series_row(d) for d in (8, 16, 64)],
        "at least 30, with certified error",
    )
    report(
        "attention_rank_least_squares",
        "Best values of H random heads",
        "scipy.linalg.cho_factor alone",
        [least_squares_row(H) for H in (1024, 2048, 4096)],
        "at least 0.5 at H = 4096",
    )


if __name__ == "__main__":
    main()
