"""NC1 (pinv): theorylab beside rhubarbwu/neural-collapse, the most complete public implementation.

``python benchmarks/bench_neural_collapse_metrics.py`` prints a table and writes
``benchmarks/results/neural_collapse_metrics.json``. The peer is not on PyPI:
``pip install git+https://github.com/rhubarbwu/neural-collapse``. It runs in single precision, its
default; we in double. Relative errors are against long double arithmetic on the same input.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from pairing import Growth, Result, Row, compared, grown, report, skip

from theorylab.neural_collapse import nc1

try:
    from neural_collapse.accumulate import CovarAccumulator, MeanAccumulator
    from neural_collapse.measure import covariance_ratio
except ImportError:
    CovarAccumulator = None

CASES = ((10_000, 512, 10, 5, 5.0), (10_000, 2048, 100, 1, 12.0))
"""Samples, dimension, classes, rounds and the ratio to reach."""
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


def row(N: int, d: int, K: int, rounds: int, least: float) -> Row:
    """Median seconds of both, run in turn, with their relative errors."""
    H, labels = features(N, d, K)
    T, y = torch.from_numpy(H), torch.from_numpy(labels)
    ours, peer = partial(nc1, T, y, K, kind="pinv"), partial(peer_nc1, T, y, K)
    case = f"N = {N}, d = {d}, K = {K}"
    found = compared(case, ours, peer, rounds=rounds, window=0, least=least)
    if d > 1000:
        return found
    truth = reference(H, labels, K)
    errors = {"ours_error": abs(ours() / truth - 1), "peer_error": abs(peer() / truth - 1)}
    return replace(found, details=errors)


def growth(name: str, shapes: list[tuple[int, int]]) -> Growth:
    """Exponent of our time in N or in d, for ten classes."""
    cases = []
    for N, d in shapes:
        H, labels = features(N, d, 10)
        size = N if name == "N" else d
        cases.append((f"N = {N}, d = {d}", size, partial(nc1, H, labels, 10, kind="pinv")))
    return grown(f"time in {name}", cases, rounds=3, window=0, most=1.15)


def main() -> None:
    if CovarAccumulator is None:
        skip("rhubarbwu/neural-collapse", "not on PyPI; see the head of this script")
    torch.set_num_threads(1)
    report(
        "neural_collapse_metrics",
        Result(
            "Neural collapse: NC1 by pseudoinverse",
            "rhubarbwu/neural-collapse",
            "commit c05a0b80",
            tuple(row(*case) for case in CASES),
            "ratio at least 5 at d = 512 and 12 at d = 2048; exponents at most 1.15",
            (
                growth("N", [(10_000, 64), (100_000, 64), (1_000_000, 64)]),
                growth("d", [(20_000, 64), (20_000, 256), (20_000, 1024), (20_000, 2048)]),
            ),
        ),
    )


if __name__ == "__main__":
    main()
