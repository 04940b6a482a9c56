"""NC1 (pinv): theorylab beside rhubarbwu/neural-collapse, the most complete public implementation.

``python benchmarks/bench_neural_collapse_metrics.py`` prints a table and writes
``benchmarks/results/neural_collapse_metrics.json``. The peer is not on PyPI:
``pip install git+https://github.com/rhubarbwu/neural-collapse``. It runs in single precision, its
default; we in double. Relative errors are against long double arithmetic on the same input.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray

from theorylab.neural_collapse import nc1

try:
    from neural_collapse.accumulate import CovarAccumulator, MeanAccumulator
    from neural_collapse.measure import covariance_ratio
except ImportError:
    CovarAccumulator = None

RESULT = Path(__file__).parent / "results" / "neural_collapse_metrics.json"
CASES = ((10_000, 512, 10, 5), (10_000, 2048, 100, 1))
Array = NDArray[np.float32]


def features(N: int, d: int, K: int) -> tuple[Array, NDArray[np.int64]]:
    """Balanced clusters in single precision."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(K), N // K)
    H = rng.standard_normal((K, d))[labels] + 0.1 * rng.standard_normal((N, d))
    return H.astype(np.float32), labels


def peer_nc1(H: torch.Tensor, labels: torch.Tensor, K: int) -> float:
    """As its README says: means, then the covariance, then its pseudoinverse."""
    means = MeanAccumulator(K, H.shape[1])
    means.accumulate(H, labels)
    M, centre = means.compute()
    covariance = CovarAccumulator(K, H.shape[1], M=M)
    covariance.accumulate(H, labels, M)
    return covariance_ratio(covariance.compute(), M, centre)


def reference(H: Array, labels: NDArray[np.int64], K: int) -> float:
    """The same number with long double means, residuals and normal equations."""
    wide = H.astype(np.longdouble)
    counts = np.bincount(labels)
    means = np.array([wide[labels == c].sum(axis=0) / counts[c] for c in range(K)])
    rest = wide - means[labels]
    B = (means - means.mean(axis=0))[:-1]
    gram, outer = B @ B.T, (np.eye(K - 1, dtype=np.longdouble) + 1) / K
    coefficients = _solve(gram, B @ rest.T)
    return float((coefficients * _solve(outer, coefficients)).sum() / len(labels) / K)


def _solve(matrix: NDArray, right: NDArray) -> NDArray:
    """Solve in long double: double precision, and two steps of iterative refinement."""
    inverse = np.linalg.inv(matrix.astype(float))
    found = (inverse @ right.astype(float)).astype(np.longdouble)
    for _ in range(2):
        found = found + inverse @ (right - matrix @ found).astype(float)
    return found


def seconds(task: Callable[[], float]) -> float:
    start = perf_counter()
    task()
    return perf_counter() - start


def row(N: int, d: int, K: int, rounds: int) -> dict[str, object]:
    """Median seconds of both, run in turn, with their relative errors."""
    H, labels = features(N, d, K)
    T, y = torch.from_numpy(H), torch.from_numpy(labels)
    truth = reference(H, labels, K) if d < 1000 else None
    nc1(T, y, K, kind="pinv")
    times = [
        (seconds(lambda: nc1(T, y, K, kind="pinv")), seconds(lambda: peer_nc1(T, y, K)))
        for _ in range(rounds)
    ]
    ours, theirs = median(t for t, _ in times), median(t for _, t in times)
    found = {
        "case": f"N = {N}, d = {d}, K = {K}",
        "ours_s": ours,
        "peer_s": theirs,
        "ratio": theirs / ours,
    }
    if truth is not None:
        found["ours_error"] = abs(nc1(T, y, K, kind="pinv") / truth - 1)
        found["peer_error"] = abs(peer_nc1(T, y, K) / truth - 1)
    return found


def growth() -> list[dict[str, object]]:
    """Fitted exponents of our time in N and in d."""
    rows = []
    for name, cases in (
        ("N", [(N, 64, 10) for N in (10_000, 100_000, 1_000_000)]),
        ("d", [(20_000, d, 10) for d in (64, 256, 1024, 2048)]),
    ):
        times, sizes = [], []
        for N, d, K in cases:
            task = partial(nc1, *features(N, d, K), K, kind="pinv")
            times.append(median(seconds(task) for _ in range(3)))
            sizes.append(N if name == "N" else d)
        slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        rows.append({"case": f"exponent of time in {name}", "exponent": slope})
    return rows


def main() -> None:
    if CovarAccumulator is None:
        print("rhubarbwu/neural-collapse is not installed; see the head of this file")
        return
    torch.set_num_threads(1)
    found = [row(*case) for case in CASES]
    print(f"{'case':32} {'ours':>9} {'peer':>9} {'peer/ours':>10}  errors: ours, peer")
    for r in found:
        errors = [f"{r[k]:10.1e}" if k in r else " " * 10 for k in ("ours_error", "peer_error")]
        seen = f"{r['case']:32} {r['ours_s']:9.3f} {r['peer_s']:9.3f} {r['ratio']:10.1f}"
        print(seen, *errors)
    exponents = growth()
    for r in exponents:
        print(f"{r['case']:32} {r['exponent']:9.2f}")
    report = {
        "title": "Neural collapse: NC1 by pseudoinverse",
        "peer": "rhubarbwu/neural-collapse",
        "peer_version": "commit c05a0b80",
        "rows": found,
        "growth": exponents,
        "target": "ratio at least 5 at d = 512 and 12 at d = 2048; exponents at most 1.15",
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
