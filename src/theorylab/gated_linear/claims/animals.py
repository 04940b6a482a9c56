"""A real table: animals, and three sides of them to ask for."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, Finding
from theorylab.gated_linear.census import gate_census
from theorylab.gated_linear.claims.experiments import EVERY, rounded_down, seeds_of
from theorylab.gated_linear.curves import curve_deviation
from theorylab.gated_linear.data import zoo_task, zoo_whole_table
from theorylab.gated_linear.descent import ReLUNet, Trajectory, train
from theorylab.gated_linear.reductions import reduced_descent
from theorylab.gated_linear.tasks import Task, identical_task
from theorylab.gated_linear.theory import effective_start
from theorylab.run import Run

STD = 1.4e-5
MISFIT = 0.008
"""Mean deviation from which a gated network does not describe a ReLU network."""


class Table(NamedTuple):
    """A task by name, with the rate and length of its training."""

    name: str
    lr: float
    steps: int

    def task(self) -> Task:
        """The task."""
        tasks = {"zoo": zoo_task, "whole table": zoo_whole_table}
        return identical_task(3) if self.name == "hierarchy" else tasks[self.name]()


ZOO = Table("zoo", 2e-3, 5000)
WHOLE = Table("whole table", 5e-4, 7000)
HIERARCHY = Table("hierarchy", 1e-3, 7000)


@lru_cache(maxsize=4)
def _runs(table: Table, width: int, seeds: tuple[int, ...], device: str) -> Trajectory:
    net = ReLUNet((width,), STD)
    return train(
        net,
        table.task().in_own_outputs(),
        table.lr,
        table.steps,
        seeds=seeds,
        every=EVERY,
        device=device,
    )


def _trained(run: Run, table: Table) -> tuple[Trajectory, int]:
    width = run.pick(ci=150, paper=400, gpu=4096)
    seeds = seeds_of(run, table.name, run.pick(ci=2, paper=4, gpu=16))
    return _runs(table, width, seeds, run.device), width


def _misfit(run: Run, table: Table) -> Finding:
    """Mean deviation of the family that fits best, even split, nothing fitted."""
    runs, width = _trained(run, table)
    A0, least = effective_start(width, STD, "relu"), {}
    for k in (1, 2):
        curve = reduced_descent(table.task(), k, A0, "even-split", table.lr, table.steps, EVERY)
        least[k] = min(curve_deviation(losses, curve).mean for losses in runs.losses)
    note = ", ".join(f"k = {k}: {value:.3f}" for k, value in least.items())
    return AtLeast(rounded_down(min(least.values()), 0.001), MISFIT, note=note, sizes={"h": width})


def _share(run: Run, table: Table, contexts: int, least: float) -> Finding:
    runs, _ = _trained(run, table)
    task, W1, W2 = table.task(), *runs.weights
    shares = [gate_census(a, b, task).shares[contexts] for a, b in zip(W1, W2, strict=True)]
    return AtLeast(rounded_down(np.mean(shares), 0.05), least)


@claim(
    "gated_linear.real-data",
    statement=r"On a table of 21 animals with three groups of properties as contexts the units "
    r"of a trained ReLU network are modular and mixed in nearly equal parts (each at least "
    r"$0.25$ of the mass), and no rectified linear network describes its loss: the unfitted mean "
    r"deviation exceeds $0.008\,L(0)$ for $k=1$ and $k=2$. With the whole table in every context "
    r"the units are mixed again (at least $0.6$ of the mass serves two of three contexts); the "
    r"loss is still not described.",
    source=Source("theorylab", "derived in the chapter"),
    evidence="statistical",
    uses=["gated_linear.relu-follows-reln", "gated_linear.census"],
)
def real_data(run: Run) -> Finding:
    return AllHold(
        {
            "animals: misfit": _misfit(run, ZOO),
            "animals: serve one context": _share(run, ZOO, 1, 0.25),
            "animals: serve two contexts": _share(run, ZOO, 2, 0.25),
            "whole table: misfit": _misfit(run, WHOLE),
            "whole table: serve two contexts": _share(run, WHOLE, 2, 0.6),
        }
    )


@real_data.control("the hierarchy through the same code: described")
def _(run: Run) -> Finding:
    return _misfit(run, HIERARCHY)


@real_data.control("the hierarchy through the same code: hardly any unit serves one context")
def _(run: Run) -> Finding:
    return _share(run, HIERARCHY, 1, 0.25)
