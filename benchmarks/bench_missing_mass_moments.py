"""Joint moments of fingerprint and missing mass: grouped atoms beside the plain double sum.

``python benchmarks/bench_missing_mass_moments.py`` prints two tables and writes
``benchmarks/results/missing_mass_moments.json``. Populations are natural Good-Turing plug-ins of
Zipf samples, so that D, the number of different probabilities, grows like the square root of n.
The peer evaluates the formulas over all pairs of classes with NumPy, no classes grouped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import comb
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from theorylab.missing_mass import Population, draw, moments, zipf
from theorylab.missing_mass.plugins import natural_good_turing

RESULT = Path(__file__).parent / "results" / "missing_mass_moments.json"
WINDOW = 0.02
ROUNDS = 9
TARGET_MS = {2: 1.0, 10: 10.0}


def seconds(task: Callable[[], object]) -> float:
    """Seconds of one call, averaged over as many as fit into ``WINDOW``."""
    start, calls = perf_counter(), 0
    while calls == 0 or perf_counter() - start < WINDOW:
        task()
        calls += 1
    return (perf_counter() - start) / calls


def medians(*tasks: Callable[[], object]) -> list[float]:
    """Median seconds of each task, run in turn; the first round is thrown away."""
    rounds = [[seconds(task) for task in tasks] for _ in range(ROUNDS + 1)][1:]
    return [median(times) for times in zip(*rounds, strict=True)]


def plug_in(n: int) -> Population:
    rng = np.random.default_rng(n)
    return natural_good_turing(draw(zipf(min(n, 5000)), n, rng).fingerprint)


def plain_second_moments(population: Population, n: int, K: int) -> np.ndarray:
    """E Phi_j Phi_k by the double sum over classes."""
    p = population.probabilities()
    pairs = np.log1p(-np.minimum(p[:, None] + p, 1 - 1e-16))
    found = np.empty((K, K))
    for j in range(1, K + 1):
        for k in range(1, K + 1):
            rest = np.exp((n - j - k) * pairs)
            np.fill_diagonal(rest, 0.0)
            ways = comb(n, j) * comb(n - j, k)
            found[j - 1, k - 1] = ways * float(p**j @ rest @ p**k)
    k = np.arange(1, K + 1)[:, None]
    ways = np.array([float(comb(n, order)) for order in k[:, 0]])
    found[np.diag_indices(K)] += ways * (p**k * (1 - p) ** (n - k)).sum(axis=1)
    return found


def comparison_rows() -> list[dict[str, object]]:
    rows = []
    for n, K in ((100, 2), (100, 10), (1000, 2), (1000, 10)):
        population = plug_in(n)
        found = moments(population, n, K, intercept=False).A
        np.testing.assert_allclose(found, plain_second_moments(population, n, K), rtol=1e-8)
        own, other = medians(
            lambda p=population, n=n, K=K: moments(p, n, K),
            lambda p=population, n=n, K=K: plain_second_moments(p, n, K),
        )
        case = f"n = {n}, K = {K}, D = {population.values.size}, S = {population.size:.0f}"
        rows.append({"case": case, "ours_s": own, "peer_s": other, "ratio": other / own})
    return rows


def scaling(K: int) -> tuple[list[dict[str, object]], float]:
    """Seconds against n, and their exponent."""
    rows = []
    for n in (2500, 5000, 10_000, 20_000, 40_000, 80_000):
        population = plug_in(n)
        (own,) = medians(lambda p=population, n=n: moments(p, n, K))
        rows.append({"n": n, "K": K, "D": int(population.values.size), "ours_s": own})
    logs = np.log([[row["n"], row["ours_s"]] for row in rows])
    return rows, float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def main() -> None:
    found = comparison_rows()
    print(f"{'case':36} {'ours':>10} {'plain':>10} {'ratio':>8}")
    for r in found:
        print(f"{r['case']:36} {r['ours_s']:10.2e} {r['peer_s']:10.2e} {r['ratio']:8.1f}")
    curves, slopes = [], {}
    for K in TARGET_MS:
        rows, slopes[K] = scaling(K)
        curves += rows
        for r in rows:
            print(f"n = {r['n']:6d}  K = {K:2d}  D = {r['D']:4d}  {1e3 * r['ours_s']:8.3f} ms")
        print(f"exponent of the time in n at K = {K}: {slopes[K]:.2f} (target: at most 1.2)")
    report = {
        "title": "Missing mass: joint moments",
        "peer": "double sum over classes in NumPy",
        "peer_version": np.__version__,
        "rows": found,
        "scaling": curves,
        "exponents": {str(K): slope for K, slope in slopes.items()},
        "target": "n = 20 000: K = 2 within 1 ms, K = 10 within 10 ms; exponent in n at most 1.2",
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
