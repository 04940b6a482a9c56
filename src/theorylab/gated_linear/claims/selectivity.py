"""Which contexts trained units serve, and how that changes with contexts and layers."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Equal, Finding, Rejected
from theorylab.gated_linear.census import census_null, gate_census, layer_censuses
from theorylab.gated_linear.claims.experiments import (
    RATE,
    named_task,
    relu_runs,
    rounded_down,
    rounded_up,
    seeds_of,
)
from theorylab.gated_linear.curves import dwell
from theorylab.gated_linear.descent import ReLUNet, Trajectory, train
from theorylab.gated_linear.tasks import Task, identical_task
from theorylab.gated_linear.theory import whole_level_staircase
from theorylab.run import Run
from theorylab.stats import LEVEL

Floats = NDArray[np.float64]
Weights = tuple[Floats, Floats]
MODULAR = 0.1
"""Share of mass in single-context units up to which a network does not count as modular."""

LEADERS = {(3, "1"): 2, (4, "11/10"): 3, (5, "27/20"): 4, (5, "1"): 3}
"""Number of contexts with the largest share of mass, per number of contexts and strength."""


def _runs(run: Run, contexts: int, alpha: str) -> Trajectory:
    width, steps = run.pick(ci=(150, 6000), paper=(400, 8000), gpu=(8192, 8000))
    count = run.pick(ci=6 if contexts == 3 else 3, paper=6, gpu=16)
    seeds = seeds_of(run, f"census {contexts} {alpha}", count)
    std = 1e-5 * np.sqrt(300 / width)
    return relu_runs(contexts, alpha, width, std, steps, seeds, run.device)


def _weights(runs: Trajectory, trained: bool = True) -> list[Weights]:
    W1, W2 = runs.weights if trained else runs.start
    return list(zip(W1, W2, strict=True))


def _shares(weights: list[Weights], task: Task) -> Floats:
    return np.array([gate_census(W1, W2, task).shares for W1, W2 in weights])


def _permutation(run: Run, weights: list[Weights], task: Task) -> Finding:
    """All seeds together: is the share of two-context units that of shuffled gates?"""
    rng, draws, p_values = run.rng("shuffles"), 200, []
    for W1, W2 in weights:
        found = gate_census(W1, W2, task).shares[2]
        null = census_null(W1, W2, task, rng, draws)[:, 2]
        p_values.append((1 + int((null >= found).sum())) / (1 + draws))
    together = max(p_values) ** len(p_values)
    sizes = {"seeds": len(p_values), "shuffles": draws}
    null = "the gates of every unit are in random order"
    return Rejected(
        together,
        LEVEL,
        null=null,
        sizes=sizes,
        note="largest p-value, per seed, to the power of the seeds",
    )


def _mixed_at_three(run: Run, weights: list[Weights]) -> Finding:
    """Two contexts of three: most of the mass, little serves one, and more than by chance."""
    task = named_task(3, "1")
    shares = _shares(weights, task)
    return AllHold(
        {
            "serve one context": AtMost(rounded_up(shares[:, 1].mean(), 0.05), MODULAR),
            "serve two contexts": AtLeast(
                rounded_down(shares[:, 2].min(), 0.05), 0.6, note="the least of all seeds"
            ),
            "against shuffled gates": _permutation(run, weights, task),
        }
    )


def _largest(run: Run, contexts: int, alpha: str, leader: int) -> Finding:
    """Hardly any mass serves one context, and the largest share serves ``leader``."""
    weights = _weights(_runs(run, contexts, alpha))
    shares = _shares(weights, named_task(contexts, alpha)).mean(axis=0)
    return AllHold(
        {
            "serve one context": AtMost(rounded_up(shares[1], 0.05), MODULAR),
            "contexts served by most": Equal(int(shares.argmax()), leader),
        }
    )


@claim(
    "gated_linear.census",
    statement=r"The units of a trained ReLU network are mixed-selective. By the majority of "
    r"objects, and weighted by the product of a unit's weight norms, at most a tenth of the mass "
    r"serves a single context for every $C\ge3$ tried; the largest share serves $C-1$ contexts "
    r"for $(C,\alpha)=(3,1),(4,1.1),(5,1.35)$, but $C-2$ for $(5,1)$: the authors' choice of "
    r"$\alpha$ matters. At $C=3$ the share of two-context units exceeds that of shuffled gates "
    r"in every seed.",
    source=Source("jarvis2025haste", "structured mixed selectivity; the census derived here"),
    evidence="statistical",
)
def census(run: Run) -> Finding:
    parts: dict[str, Finding] = {
        f"C = {contexts}, α = {alpha}": _largest(run, contexts, alpha, leader)
        for (contexts, alpha), leader in LEADERS.items()
    }
    return AllHold({**parts, "C = 3": _mixed_at_three(run, _weights(_runs(run, 3, "1")))})


@census.control("the untrained networks")
def _(run: Run) -> Finding:
    return _mixed_at_three(run, _weights(_runs(run, 3, "1"), trained=False))


@census.control("modular networks: every trained unit is confined to one context")
def _(run: Run) -> Finding:
    task, confined = named_task(3, "1"), []
    for W1, W2 in _weights(_runs(run, 3, "1")):
        single = np.abs(W1)
        single[:, task.P :] = -1e3 * single.max()
        single[np.arange(len(W1)), task.P + np.arange(len(W1)) % task.C] = 0
        confined.append((single, W2))
    return _mixed_at_three(run, confined)


# --- contexts and depth -------------------------------------------------------------------------


def _served(run: Run, contexts: int) -> float:
    """Mean number of contexts that the mass serves, averaged over seeds."""
    width, steps, count = run.pick(ci=(100, 5500, 2), paper=(400, 8000, 6), gpu=(8192, 8000, 16))
    seeds = seeds_of(run, f"served {contexts}", count)
    std = 1e-5 * np.sqrt(300 / width)
    runs = relu_runs(contexts, "1", width, std, steps, seeds, run.device)
    task = named_task(contexts, "1")
    return float(np.mean([gate_census(W1, W2, task).mean for W1, W2 in _weights(runs)]))


@lru_cache(maxsize=2)
def _deep(width: int, std: float, steps: int, seeds: tuple[int, ...], device: str) -> Trajectory:
    net = ReLUNet((width, width), std)
    return train(
        net,
        identical_task(3).in_own_outputs(),
        RATE,
        steps,
        seeds=seeds,
        every=20,
        device=device,
        dtype="float32",
    )


def _two_hidden(run: Run) -> Trajectory:
    width, std, steps, count = run.pick(
        ci=(100, 1.23e-3, 36_000, 2), paper=(100, 1.23e-3, 36_000, 6), gpu=(420, 6e-4, 40_000, 16)
    )
    return _deep(width, std, steps, seeds_of(run, "deep", count), run.device)


def _one_hidden(run: Run) -> Trajectory:
    seeds = seeds_of(run, "shallow", run.pick(ci=2, paper=6))
    return relu_runs(3, "1", 150, 1.4e-5, 7000, seeds, run.device)


def _depth(runs: Trajectory) -> Finding:
    """The rules on first and last hidden layer, and on the steps of the staircase."""
    task, first, last = named_task(3, "1"), [], []
    for place in range(len(runs.losses)):
        layers = layer_censuses([W[place] for W in runs.weights], task)
        first.append(layers[0].shares[3])
        last.append(layers[-1].shares[1])
    levels = [float(level) for level in whole_level_staircase(8, 3)[3:5]]
    dwelling = [[dwell(losses, level) for losses in runs.losses] for level in levels]
    parts: dict[str, Finding] = {
        "first layer, all contexts": AtLeast(rounded_down(np.mean(first), 0.05), 0.5),
        "last layer, one context": AtLeast(rounded_down(np.mean(last), 0.05), 0.15),
    }
    for level, shares in zip(levels, dwelling, strict=True):
        parts[f"time within 0.5 of {level:g}"] = AtLeast(rounded_down(np.mean(shares), 0.02), 0.06)
    return AllHold(parts)


@claim(
    "gated_linear.contexts-and-depth",
    statement=r"(a) With more contexts a unit serves more of them (mean of the mass, $\alpha=1$, "
    r"$C=2,\dots,5$), but no larger fraction of them. (b) With a second hidden layer ($C=3$) the "
    r"first layer becomes more mixed, at least half of its mass serving all contexts, while the "
    r"second is more modular, at least $15\,\%$ serving one. (c) The loss then descends an "
    r"integer staircase in which whole tree levels are learned at once: it dwells at $30$ and at "
    r"$12$, each for at least $6\,\%$ of the time.",
    source=Source("jarvis2025haste", "contexts and depth; census and staircase derived here"),
    evidence="statistical",
    uses=["gated_linear.census", "gated_linear.plateaus"],
)
def contexts_and_depth(run: Run) -> Finding:
    counts = run.pick(ci=(2, 3, 4, 5), paper=(2, 3, 4, 5, 6))
    served = [_served(run, C) for C in counts]
    steps = [b - a for a, b in pairwise(served)]
    fractions = [s / C for s, C in zip(served, counts, strict=True)]
    found = _depth(_two_hidden(run))
    assert isinstance(found, AllHold)
    note = ", ".join(f"C = {C}: {s:.1f}" for C, s in zip(counts, served, strict=True))
    return AllHold(
        {
            "more contexts served": AtLeast(rounded_down(min(steps), 0.05), 0.15, note=note),
            "no larger fraction": AtMost(rounded_up(fractions[-1] / fractions[0], 0.05), 1),
            **found.parts,
        }
    )


@contexts_and_depth.control("one hidden layer")
def _(run: Run) -> Finding:
    return _depth(_one_hidden(run))
