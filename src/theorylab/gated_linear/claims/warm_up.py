"""XOR: the task on which the imitation becomes exact, and the road that positivity closes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, Equal, Finding
from theorylab.gated_linear.claims.experiments import seeds_of
from theorylab.gated_linear.curves import curve_deviation
from theorylab.gated_linear.descent import ReLUNet, Trajectory, train
from theorylab.gated_linear.networks import GatedNetwork
from theorylab.gated_linear.tasks import xor_task
from theorylab.gated_linear.theory import effective_start, xor_curve
from theorylab.run import Run
from theorylab.stats import mean_at_most

RATE = 5e-3
STDS = (1e-3, 1e-5)


@lru_cache(maxsize=4)
def _xor_runs(width: int, std: float, seeds: tuple[int, ...], device: str) -> Trajectory:
    steps = {1e-3: 2500, 1e-5: 4000}[std]
    net = ReLUNet((width,), std)
    return train(net, xor_task(), RATE, steps, seeds=seeds, every=5, device=device)


def _follows(run: Run, std: float, pathways: int) -> Finding:
    width, count = run.pick(ci=(1024, 6), paper=(10_000, 8), gpu=(100_000, 16))
    runs = _xor_runs(width, std, seeds_of(run, f"xor {std}", count), run.device)
    curve = xor_curve(runs.steps * RATE, effective_start(width, std, "xor"), pathways, RATE)
    largest = np.array([curve_deviation(losses, curve).max for losses in runs.losses])
    return mean_at_most(largest, 0.05, power_against=0.3)


def _correlation_squares() -> Finding:
    r"""Squares of :math:`S` of a pathway in both gated networks, exactly."""
    found = []
    for gates in ([1, 0, 0, 0], [1, 0, 1, 0]):
        net = GatedNetwork({"x": 2, "h": 1, "y": 1}, [("x", "h"), ("h", "y")], 4, {"h": gates})
        X, Y = xor_task().X.astype(int), xor_task().Y.astype(int)
        driving = net.input_output_correlation(("x", "h", "y"), {"x": X}, {"y": Y})
        found.append(int((driving * driving).sum()))
    return Equal(found, (2, 4), note="one sample, and the two samples with one value of x₂")


@claim(
    "gated_linear.xor",
    statement=r"On XOR ($x\in\{\pm1\}^2$, $y=x_1x_2$) the loss of a wide ReLU network is that of "
    r"the gated network with one pathway per sample, $2(1-\sqrt2A)^2$ with $S=\sqrt2$, $D=2$, "
    r"for large and small initial scales alike: averaged over seeds, the largest deviation is at "
    r"most $0.05\,L(0)$. Two pathways, one per value of $x_2$, would have $S=2$ and be faster by "
    r"$\sqrt2$, but their activations take both signs.",
    source=Source("jarvis2025haste", "the XOR example; its coding is our reconstruction"),
    evidence="statistical",
)
def xor(run: Run) -> Finding:
    parts = {f"four pathways, s = {std:g}": _follows(run, std, 4) for std in STDS}
    return AllHold({**parts, "squared strengths": _correlation_squares()})


@xor.control("two pathways, s = 0.001")
def _(run: Run) -> Finding:
    return _follows(run, STDS[0], 2)


@xor.control("two pathways, s = 0.00001")
def _(run: Run) -> Finding:
    return _follows(run, STDS[1], 2)
