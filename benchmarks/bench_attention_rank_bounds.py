"""Series, bounds and least squares of the attention chapter beside their peers.

``python benchmarks/bench_attention_rank_bounds.py`` prints two tables and writes
``benchmarks/results/attention_rank_series.json`` and ``..._least_squares.json``.

The series peer is the usual way to an expansion in Gegenbauer polynomials, that of the authors'
code: each coefficient by ``scipy.integrate.quad``, each polynomial by ``scipy.special``, 50 terms.
Least squares over H heads is set beside one Cholesky factorisation of that size, which it must
contain.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import scipy
from pairing import Result, Row, compared, duration, report, seconds
from scipy.integrate import quad
from scipy.linalg import cho_factor
from scipy.special import eval_gegenbauer, gammaln

from theorylab.attention_rank import heads_needed, lower_bound
from theorylab.attention_rank.bounds import _sign_rows
from theorylab.attention_rank.harmonics import energies, head_target
from theorylab.attention_rank.heads import tilted_heads

TERMS = 50
ANGLES = 4096
WINDOW = 0.05


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


def series_row(d: int) -> Row:
    c = np.linspace(-1, 1, ANGLES)
    gap = float(np.abs(ours_cold(c, d) - quadrature_series(c, d)).max())
    return compared(
        f"d={d}, {ANGLES} angles, largest difference {gap:.1e}",
        lambda: ours_cold(c, d),
        lambda: quadrature_series(c, d),
        rounds=5,
        window=WINDOW,
        least=30.0,
    )


def least_squares_row(H: int, least: float | None) -> Row:
    heads = tilted_heads(8, H, np.random.default_rng(0))
    matrix = heads.gram() + 1.0
    heads.target()
    return compared(
        f"d=8, H={H}",
        heads.optimal_values,
        lambda: cho_factor(matrix, lower=True, check_finite=False),
        rounds=3,
        window=WINDOW,
        least=least,
    )


def bound_times() -> None:
    print("\nBounds, cold and warm")
    for d, r, kind in ((8, 4, "generalised"), (64, 16, "matrix"), (1024, 1, "matrix")):
        _sign_rows.cache_clear()
        energies.cache_clear()
        bound = partial(lower_bound, d, r, 100, kind)
        cold, warm = seconds(bound), seconds(bound, WINDOW)
        needed = seconds(partial(heads_needed, d, r, 0.15, kind), WINDOW)
        print(
            f"  d={d}, r={r}, {kind}: cold {duration(cold)}, warm {duration(warm)}, "
            f"heads needed {duration(needed)}"
        )


def main() -> None:
    bound_times()
    report(
        "attention_rank_series",
        Result(
            "Correlation of rank-1 heads with the target",
            "scipy.integrate.quad and scipy.special.eval_gegenbauer",
            scipy.__version__,
            tuple(series_row(d) for d in (8, 16, 64)),
            "at least 30, with certified error",
        ),
    )
    report(
        "attention_rank_least_squares",
        Result(
            "Best values of H random heads",
            "scipy.linalg.cho_factor alone",
            scipy.__version__,
            tuple(least_squares_row(*case) for case in ((1024, None), (2048, None), (4096, 0.5))),
            "at least 0.5 at H = 4096",
        ),
    )


if __name__ == "__main__":
    main()
