"""One learning curve of the order-parameter flow: our solver beside scipy's BDF and LSODA.

``python benchmarks/bench_scaling_laws_solver.py`` prints tables and writes
``benchmarks/results/scaling_laws_solver.json`` (BDF) and ``scaling_laws_solver_lsoda.json``. All
sides evaluate the same compiled velocity, to the same tolerances; scipy's methods build their
Jacobians by differences, as they do for any user. The error column is the largest relative distance
of the structured solver's curve from one at a hundredth of the tolerance.
"""

from __future__ import annotations

import numpy as np
import scipy
from pairing import Result, compared, grown, report

from theorylab.committee import Committee, Spectrum

ALPHA = np.geomspace(0.1, 1e3, 9)
RTOL, ATOL = 1e-5, 1e-8


def drawn(L: int) -> Committee:
    """Two students and two teachers with 16 directions per eigenvalue."""
    rng, N = np.random.default_rng(L), 16 * L
    J, B = 0.1 * rng.standard_normal((2, N)), rng.standard_normal((2, N))
    committee = Committee(Spectrum.power_law(L, 1.0), np.eye(2), 2, 0.5)
    return committee.from_weights(J, B, np.repeat(np.arange(L), 16))


def accuracy(committee: Committee) -> float:
    """Largest relative error of the structured solver."""
    fine = committee.integrate(ALPHA, RTOL / 100, ATOL / 100).eps_g
    return float(np.abs(committee.integrate(ALPHA, RTOL, ATOL).eps_g / fine - 1).max())


def beside(method: str, sizes: tuple[int, ...]) -> tuple:
    """Rows against one of scipy's methods."""
    return tuple(
        compared(
            f"L = {L}",
            lambda committee=committee: committee.integrate(ALPHA, RTOL, ATOL),
            lambda committee=committee: committee.integrate(ALPHA, RTOL, ATOL, method),
            rounds=3,
            error=accuracy(committee),
        )
        for L in sizes
        for committee in [drawn(L)]
    )


def main() -> None:
    """Run both comparisons and the growth in L."""
    target = "at least 4 times faster than BDF at L = 128, time at most L^1.1"
    growth = grown(
        "structured solver, power of L",
        [
            (f"L = {L}", L, lambda c=committee: c.integrate(ALPHA, RTOL, ATOL))
            for L in (64, 256, 1024, 4096)
            for committee in [drawn(L)]
        ],
        rounds=1,
        most=1.1,
    )
    for name, method in (("scaling_laws_solver", "BDF"), ("scaling_laws_solver_lsoda", "LSODA")):
        report(
            name,
            Result(
                f"Order-parameter flow, structured solver and scipy's {method}",
                f"scipy {method}",
                scipy.__version__,
                beside(method, (16, 64, 128)),
                target,
                (growth,) if method == "BDF" else (),
            ),
        )


if __name__ == "__main__":
    main()
