"""Trainings that a claim shares with its controls; cached, as functions of their arguments."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from theorylab.gated_linear.curves import curve_deviation
from theorylab.gated_linear.descent import ReLUNet, Trajectory, train
from theorylab.gated_linear.reductions import EVEN_SPLIT, reduced_descent
from theorylab.gated_linear.tasks import Task, identical_task, main_task
from theorylab.gated_linear.theory import effective_start
from theorylab.run import Run

Floats = NDArray[np.float64]
RATE = 1e-3
EVERY = 10


def rounded_down(value: float | np.floating, unit: float) -> float:
    """Value in whole units, against a lower bound: what all machines agree on.

    Units at the boundary of their gates make trained shares differ a little between machines.
    """
    return round(math.floor(value / unit) * unit, 6)


def rounded_up(value: float | np.floating, unit: float) -> float:
    """Value in whole units, against an upper bound."""
    return round(math.ceil(value / unit) * unit, 6)


def seeds_of(run: Run, name: str, count: int) -> tuple[int, ...]:
    """Seeds of as many models, from one named stream of the run."""
    return tuple(int(s) for s in run.seed_sequence(name).generate_state(count))


@lru_cache(maxsize=8)
def named_task(contexts: int, alpha: Fraction | str = Fraction(1), objects: int = 8) -> Task:
    """Identical blocks; with 0 contexts, the data set of the paper's main experiment."""
    return main_task() if contexts == 0 else identical_task(contexts, objects, alpha)


@lru_cache(maxsize=12)
def relu_runs(
    contexts: int,
    alpha: Fraction | str,
    width: int,
    std: float,
    steps: int,
    seeds: tuple[int, ...],
    device: str = "cpu",
) -> Trajectory:
    """ReLU networks with one hidden layer on a task of identical blocks, one per seed."""
    task = named_task(contexts, alpha).in_own_outputs()
    net = ReLUNet((width,), std)
    return train(net, task, RATE, steps, seeds=seeds, every=EVERY, device=device)


def deviations(
    runs: Trajectory, task: Task, k: int, A0: float, A0_context: float | str = EVEN_SPLIT
) -> tuple[Floats, Floats]:
    """Mean and maximal deviation of every run from the unfitted prediction."""
    predicted = reduced_descent(task, k, A0, A0_context, RATE, int(runs.steps[-1]), EVERY)
    found = [curve_deviation(losses, predicted) for losses in runs.losses]
    mean, largest = [d.mean for d in found], [d.max for d in found]
    return np.round(mean, 4), np.round(largest, 3)


def relu_start(width: int, std: float) -> float:
    """Effective start of a ReLU network's common pathway."""
    return effective_start(width, std, "relu")
