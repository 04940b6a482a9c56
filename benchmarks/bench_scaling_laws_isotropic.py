"""Isotropic order parameters and descent beside pyscm, the authors of the isotropic theory's tool.

``python benchmarks/bench_scaling_laws_isotropic.py CHECKOUT`` needs a checkout of ``sgoldt/pyscm``
built in place (``python setup.py build_ext --inplace``, with Cython). It prints a table and writes
``benchmarks/results/scaling_laws_isotropic.json``. The flow of erf committees is followed to
alpha = 20: the peer by its own Euler steps of 0.01, ours with error control; both errors are stated
against a run at tolerance 1e-11. Descent: one step of one run at N = 1024; ours draws 16 runs.
"""

from __future__ import annotations

import contextlib
import io
import sys

import numpy as np
from pairing import Result, compared, report, skip

from theorylab.committee import Committee, Spectrum
from theorylab.scaling_laws import simulate_sgd

ALPHA, STEP, RATE = 20.0, 0.01, 0.5


def start(K: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlaps of small students with orthonormal teachers."""
    rng = np.random.default_rng(K)
    J = 0.4 * rng.standard_normal((K, 40))
    return J[:, :K] / np.sqrt(40), J @ J.T / 40


def flow(K: int, peer) -> object:
    """One row: the flow of K students and K teachers, output weights 1."""
    R, Q = start(K)
    committee = Committee(Spectrum.isotropic(), np.eye(K), K, RATE, 1.0, 1.0).starting_at(R, Q)
    exact = committee.integrate([ALPHA], 1e-11, 1e-13, "DOP853")

    def euler() -> tuple:
        return peer.propagate(
            ALPHA, STEP, 2 * K, 0, Q.copy(), R.copy(), np.eye(K), RATE, 0.0, 0.0, 0
        )

    def ours():
        return committee.integrate([ALPHA], 1e-6, 1e-8, "DOP853")

    peer_error = np.abs(np.asarray(euler()[1]) - exact.Q[0, 0]).max()
    return compared(
        f"flow to alpha = 20, K = M = {K}",
        ours,
        euler,
        rounds=3,
        least=5.0 if K == 4 else None,
        error=float(np.abs(ours().Q[0, 0] - exact.Q[0, 0]).max()),
        peer_error=float(peer_error),
    )


def descent(peer, steps: int = 2000, runs: int = 16, N: int = 1024) -> object:
    """One row: seconds of one step of one run."""
    rng = np.random.default_rng(0)
    J, B = 0.4 * rng.standard_normal((2, N)), rng.standard_normal((2, N))

    def ours() -> None:
        simulate_sgd(J, B, np.ones(N), RATE, steps // runs, [steps // runs], seeds=range(runs))

    def theirs() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            peer.learn(B, J.copy(), RATE, 0, steps / N, quiet=True, steps_to_print=[steps / N])

    return compared(f"{steps} steps of descent, N = {N}, K = M = 2", ours, theirs, rounds=3)


def main(checkout: str) -> None:
    """Run both comparisons."""
    sys.path.insert(0, checkout)
    try:
        from scm import scm
        from scm.ode import scm_ode_erf
    except ImportError:
        skip("pyscm", "build a checkout of sgoldt/pyscm in place and name its folder")
    rows = (flow(2, scm_ode_erf), flow(4, scm_ode_erf), descent(scm))
    report(
        "scaling_laws_isotropic",
        Result(
            "Isotropic committees: order parameters and descent",
            "pyscm",
            "0.1",
            rows,  # type: ignore[arg-type]
            "the flow of K = 4 at least 5 times faster",
        ),
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        skip("pyscm", "name the folder of a built checkout of sgoldt/pyscm")
    main(sys.argv[1])
