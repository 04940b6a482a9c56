"""A predicted loss curve beside the training it replaces.

``python benchmarks/bench_gated_linear_prediction.py`` prints a table and writes
``benchmarks/results/gated_linear_prediction.json``. The peer is the training of a gated network
with 1600 units per pathway, here in PyTorch (8000 steps, timed on some of them): what one runs
without the reduction. The other figures show that a prediction costs the same for every width, and
grows with the number of different singular values only.
"""

from __future__ import annotations

from statistics import median

import numpy as np
import torch
from pairing import (
    Growth,
    Measure,
    Result,
    Row,
    Task,
    compared_clocks,
    grown,
    in_turn,
    report,
    seconds,
)

from theorylab.gated_linear import effective_start, identical_task, reduced_curve, reln, train

RATE, STEPS, TIMED, WIDTH, STD = 1e-3, 8000, 60, 1600, 1e-5
CASES = ((3, 2), (4, 3))
ROUNDS = 3


def prediction(contexts: int, k: int, objects: int = 8, width: int = WIDTH) -> Task:
    task, A0 = identical_task(contexts, objects), effective_start(width, STD)
    times = np.arange(0, STEPS + 1, 10) * RATE
    return lambda: reduced_curve(task, k, A0, A0, times=times)


def simulate(contexts: int, k: int) -> float:
    """Seconds of all steps, from those of some."""
    task = identical_task(contexts)
    net = reln(task, k, WIDTH, STD)
    return seconds(lambda: train(net, task, RATE, TIMED, seeds=[0])) * STEPS / TIMED


def row(contexts: int, k: int) -> Row:
    ours = prediction(contexts, k)
    return compared_clocks(
        f"C = {contexts}, k = {k}, 1600 units per pathway",
        lambda: seconds(ours),
        lambda: simulate(contexts, k),
        rounds=ROUNDS,
        least=50.0,
    )


def growth() -> Growth:
    """Seconds against the number of objects, which is that of different singular values."""
    cases = [(f"P = {P}, h = 100", P, prediction(3, 2, P, 100)) for P in (8, 32, 128)]
    return grown("time in the number of objects", cases, rounds=ROUNDS, window=0)


def width_measure() -> Measure:
    narrow, wide = (prediction(3, 2, 8, width) for width in (100, 10_000))
    times = in_turn(lambda: seconds(narrow), lambda: seconds(wide), rounds=ROUNDS)
    thin, broad = (median(side) for side in times)
    return Measure("time for 10000 units over time for 100", broad / thin)


def main() -> None:
    torch.set_num_threads(1)
    report(
        "gated_linear_prediction",
        Result(
            "Gated networks: a predicted curve beside a simulated one",
            "training the network with 1600 units per pathway (PyTorch)",
            torch.__version__,
            tuple(row(*case) for case in CASES),
            "50 times",
            (growth(),),
            (width_measure(),),
        ),
    )


if __name__ == "__main__":
    main()
