"""The chapter's pictures; every function returns a figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from theorylab.gated_linear import theory
from theorylab.gated_linear.census import (
    gate_census,
    gate_clusters,
    layer_censuses,
    unit_mass,
)
from theorylab.gated_linear.curves import curve_deviation, first_passage
from theorylab.gated_linear.data import zoo_task
from theorylab.gated_linear.descent import ReLUNet, Trajectory, train
from theorylab.gated_linear.modes import task_modes
from theorylab.gated_linear.reductions import reduced_curve, reduced_descent
from theorylab.gated_linear.tasks import Task, identical_task, main_task, xor_task
from theorylab.plotting import COLOURS, PALETTE, figure, picture

Floats = NDArray[np.float64]
RATE = 1e-3
EVERY = 10
NARROW = (150, 1.4e-5)
"""Width and initial standard deviation whose effective start is that of 300 units at 1e-5."""


def _relu(task: Task, steps: int, seeds: int = 1, std: float = NARROW[1]) -> Trajectory:
    return train(
        ReLUNet((NARROW[0],), std),
        task.in_own_outputs(),
        RATE,
        steps,
        seeds=range(seeds),
        every=EVERY,
    )


def _start(std: float = NARROW[1]) -> float:
    return theory.effective_start(NARROW[0], std, "relu")


def _loss_axes(ax: Axes, title: str = "") -> None:
    ax.set(xlabel="step", ylabel="loss", title=title)
    ax.set_ylim(bottom=0)


@picture
def task_matrices() -> Figure:
    """Inputs and targets of the identical-block task and of the paper's main task."""
    fig, axes = figure(8.0, 4.6, ncols=3, gridspec_kw={"width_ratios": [1, 1, 1]})
    same, main = identical_task(3), main_task()
    shown = (
        (axes[0], same.X, "inputs: object, context"),
        (axes[1], same.Y, "targets, identical blocks"),
        (axes[2], main.Y, "targets, main experiment"),
    )
    for ax, table, title in shown:
        ax.imshow(table, aspect="auto", cmap="Blues", interpolation="nearest")
        ax.grid(False)
        for edge in (7.5, 15.5):
            ax.axvline(edge, color=COLOURS["measured"], lw=1)
        ax.set(xlabel="sample (context, object)", title=title)
        ax.title.set_fontsize(10)
    axes[0].set_ylabel("row")
    return fig


@picture
def imitation(contexts: int = 3, alpha: str = "1", seeds: int = 3, steps: int = 7000) -> Figure:
    """Loss of ReLU networks and the unfitted predictions for all families of pathways."""
    task = identical_task(contexts, alpha=alpha)
    runs = _relu(task, steps, seeds)
    fig, ax = figure(7.5, 4.2)
    low, high = runs.losses.min(axis=0), runs.losses.max(axis=0)
    ax.fill_between(
        runs.steps, low, high, color=COLOURS["measured"], alpha=0.6, label=f"ReLU, {seeds} seeds"
    )
    colours = {contexts - 1: COLOURS["prediction"], 1: COLOURS["control"]}
    for k in range(contexts - 1, 0, -1):
        curve = reduced_descent(task, k, _start(), "even-split", RATE, steps, EVERY)
        name = {contexts - 1: "mixed: C − 1 contexts", 1: "modular: one context"}.get(k, f"k = {k}")
        colour = colours.get(k, COLOURS["muted"])
        ax.plot(runs.steps, curve, "--", color=colour, label=f"predicted, {name}")
    _loss_axes(ax, f"{contexts} contexts, 8 objects; nothing fitted")
    ax.legend()
    return fig


@picture
def frozen_gates(steps: int = 3000) -> Figure:
    """A ReLU run, its replay, and two runs whose gates are constant."""
    task, net = identical_task(3), ReLUNet((60,), 2e-5)
    runs = train(net, task, RATE, steps, seeds=[0], every=1, record=("losses", "gates"))
    fig, ax = figure(7.5, 4.0)
    ax.plot(runs.losses[0], color=COLOURS["measured"], lw=4, alpha=0.5, label="ReLU network")
    kinds = (
        (runs.gates, "--", COLOURS["prediction"], "gated, its recorded gates"),
        (runs.gates[0], "-", COLOURS["control"], "gated, first gates for good"),
        (runs.gates[-1], "-.", COLOURS["accent"], "gated, last gates for good"),
    )
    for gates, line, colour, label in kinds:
        copy = train(
            net, task, RATE, steps, seeds=[0], mode="replay", replay=gates, start=runs.start
        )
        ax.plot(copy.steps, copy.losses[0], line, color=colour, label=label)
    _loss_axes(ax, "60 hidden units, 3 contexts")
    ax.legend()
    return fig


@picture
def linear_modes(contexts: int = 3, A0: float = 1e-9) -> Figure:
    """Strength of every mode of a linear network, and the exact levels of its loss."""
    task = identical_task(contexts)
    times = np.linspace(0, 5, 800)
    fig, (left, right) = figure(9.0, 4.0, ncols=2)
    total = np.full(times.shape, task.initial_loss)
    names = {"joint": "joint", "context": "contexts", "object": "objects, h² = {:.0f}"}
    for mode, colour in zip(task_modes(task), PALETTE, strict=False):
        A = theory.sigmoid_mode(times, mode.S, mode.D, A0)
        total = total + mode.mult * (0.5 * mode.D * A**2 - mode.S * A)
        square = mode.S**2 / (contexts * (contexts + 1))
        label = names[mode.kind].format(square)
        left.plot(times / RATE, A * mode.D / mode.S, color=colour, label=label)
    for level in theory.linear_staircase(task.P, contexts):
        right.axhline(float(level), color=COLOURS["bound"], lw=0.8)
        right.text(5050, float(level), f"{float(level):g}", va="center", fontsize=9)
    right.plot(times / RATE, total, color=COLOURS["prediction"])
    left.set(xlabel="step", ylabel="strength / final strength", title="sigmoids of the modes")
    left.legend(fontsize=9)
    _loss_axes(right, "loss, and its exact levels")
    return fig


@picture
def identification(steps: int = 6000) -> Figure:
    """Misfit of every family against the start that its context pathways are given."""
    fig, axes = figure(9.0, 3.8, ncols=2, sharey=True)
    factors = np.geomspace(0.1, 1e4, 11)
    for ax, (contexts, alpha) in zip(axes, ((3, "1"), (4, "11/10")), strict=True):
        task = identical_task(contexts, alpha=alpha)
        runs = _relu(task, steps)
        for k, colour in zip(range(contexts - 1, 0, -1), PALETTE, strict=False):
            gaps = [
                curve_deviation(
                    runs.losses[0],
                    reduced_curve(task, k, _start(), f * _start(), runs.steps * RATE),
                ).mean
                for f in factors
            ]
            ax.loglog(factors, gaps, "o-", color=colour, label=f"k = {k}")
        ax.axhline(0.008, color=COLOURS["bound"], ls="--", lw=1)
        ax.set(xlabel="start of context over common pathways", title=f"{contexts} contexts")
        ax.legend()
    axes[0].set_ylabel("mean deviation / L(0)")
    return fig


@picture
def race_diagram(largest: int = 8) -> Figure:
    """Race constants of all families; the winner serves all contexts but one."""
    fig, (left, right) = figure(9.0, 4.0, ncols=2)
    for contexts, colour in zip(range(3, largest + 1), PALETTE, strict=False):
        ks = np.arange(1, contexts)
        taus = [theory.race_constant(contexts, int(k)) for k in ks]
        left.plot(ks, taus, "o-", color=colour, label=f"C = {contexts}")
        left.plot(ks[-1], taus[-1], "s", ms=10, mfc="none", mec="black")
    left.set(xlabel="contexts per pathway k", ylabel="race constant τ", title="□ the winner")
    left.legend(fontsize=9, ncols=2)
    many = np.arange(3, 41)
    ratios = [
        theory.race_constant(int(C), 1) / theory.race_constant(int(C), int(C) - 1) for C in many
    ]
    right.plot(many, ratios, color=COLOURS["prediction"], label="modular over mixed time")
    right.plot(many, many / 2, "--", color=COLOURS["muted"], label="C / 2")
    right.set(xlabel="contexts C", ylabel="ratio of times", title="advantage of mixing")
    right.legend()
    return fig


@picture
def small_starts(stds: Sequence[float] = (1e-5, 1e-7, 1e-9), width: int = 60) -> Figure:
    """ReLU networks and their predictions from smaller and smaller starts."""
    task = identical_task(3)
    fig, (left, right) = figure(9.5, 4.2, ncols=2)
    levels = {"ReLU": [], "ReLN": []}
    for std, colour in zip(stds, PALETTE, strict=False):
        steps = int(round(4500 + 1000 * -np.log10(std), -2))
        runs = train(
            ReLUNet((width,), std), task.in_own_outputs(), RATE, steps, seeds=range(2), every=EVERY
        )
        long = np.arange(0, 14_501, EVERY)
        A0 = theory.effective_start(width, std)
        curve = reduced_curve(task, 2, A0, A0, long * RATE)
        left.plot(runs.steps, runs.mean_loss, color=colour, label=f"ReLU, s = {std:g}")
        left.plot(long, curve, "--", color=colour)
        levels["ReLU"].append(np.mean([_passage(one) for one in runs.losses]))
        levels["ReLN"].append(_passage(curve))
    left.set_xlim(0, 12_000)
    _loss_axes(left, "solid: ReLU; dashed: gated, k = 2")
    left.legend()
    efolds = np.log(1 / np.array(stds))
    for (name, steps), colour in zip(
        levels.items(), (COLOURS["measured"], COLOURS["prediction"]), strict=True
    ):
        slope = np.polyfit(efolds, steps, 1)[0]
        right.plot(efolds, steps, "o-", color=colour, label=f"{name}: {slope:.0f} per e-fold")
    right.set(xlabel="ln(1/s)", ylabel="step", title="first passage of 5 % of L(0)")
    right.legend()
    return fig


def _passage(losses: Floats) -> float:
    return float(first_passage(losses, [0.05 * losses[0]], EVERY)[0])


@picture
def gate_raster(shown: Sequence[int] = (0, 400, 1000, 2000, 7000), units: int = 150) -> Figure:
    """Which unit is on for which sample, at a few steps; units sorted by their final cluster."""
    task, every = identical_task(3), 100
    runs = train(
        ReLUNet((units,), NARROW[1]),
        task,
        RATE,
        max(shown),
        seeds=[0],
        every=every,
        record=("losses", "gates"),
    )
    W1, W2 = runs.weights[0][0], runs.weights[1][0]
    clusters = gate_clusters(W1, W2, task, 4)
    alive = unit_mass(W1, W2) > 1e-3
    order = [u for u in np.lexsort((-unit_mass(W1, W2), clusters.labels)) if alive[u]]
    fig, axes = figure(9.0, 4.2, ncols=len(shown), sharey=True)
    for ax, step in zip(axes, shown, strict=True):
        ax.imshow(
            runs.gates[step // every, 0][order], aspect="auto", cmap="Blues", vmin=0, vmax=1.3
        )
        ax.grid(False)
        for edge in (7.5, 15.5):
            ax.axvline(edge, color=COLOURS["measured"], lw=1.2)
        ax.set(title=f"step {step}", xticks=(4, 12, 20), xticklabels=("1", "2", "3"))
    axes[0].set_ylabel("unit")
    axes[len(shown) // 2].set_xlabel("context")
    return fig


@picture
def census_bars(steps: int = 5500) -> Figure:
    """Share of mass by number of contexts served, for several tasks."""
    cases = ((2, "1"), (3, "1"), (4, "11/10"), (5, "1"), (5, "27/20"))
    fig, axes = figure(9.5, 3.4, ncols=len(cases), sharey=True)
    for ax, (contexts, alpha) in zip(axes, cases, strict=True):
        task = identical_task(contexts, alpha=alpha)
        runs = _relu(task, steps)
        shares = gate_census(runs.weights[0][0], runs.weights[1][0], task).shares
        colours = [COLOURS["muted"]] * (contexts + 1)
        colours[1], colours[contexts - 1] = COLOURS["control"], COLOURS["prediction"]
        ax.bar(range(contexts + 1), shares, color=colours)
        ax.set(title=f"C = {contexts}, α = {float(task.alpha):g}", xticks=range(contexts + 1))
    axes[0].set_ylabel("share of mass")
    axes[len(cases) // 2].set_xlabel("contexts served (blue: C − 1; pink: one)")
    return fig


@picture
def deep_staircase(steps: int = 36_000) -> Figure:
    """Loss of a network with two hidden layers and its exact levels; census of each layer."""
    task = identical_task(3)
    deep = train(
        ReLUNet((100, 100), 1.23e-3),
        task.in_own_outputs(),
        RATE,
        steps,
        seeds=[0],
        every=20,
        dtype="float32",
    )
    shallow = _relu(task, 7000)
    fig, (left, right) = figure(9.5, 4.2, ncols=2, gridspec_kw={"width_ratios": [3, 2]})
    for level in theory.whole_level_staircase(8, 3)[:-1]:
        left.axhline(float(level), color=COLOURS["bound"], lw=0.8)
    left.semilogx(
        deep.steps[1:], deep.losses[0][1:], color=COLOURS["measured"], label="two hidden layers"
    )
    left.semilogx(
        shallow.steps[1:],
        shallow.losses[0][1:],
        "--",
        color=COLOURS["muted"],
        label="one hidden layer",
    )
    left.set_xlim(100, steps)
    _loss_axes(left, "levels 96, 66, 51, 30, 12")
    left.legend(loc="lower left", frameon=True, framealpha=1, edgecolor="white")
    layers = layer_censuses([W[0] for W in deep.weights], task)
    one = layer_censuses([W[0] for W in shallow.weights], task)
    names = ("one hidden", "two: first", "two: second")
    for place, found in enumerate([*one, *layers]):
        right.bar(
            np.arange(4) + 0.27 * (place - 1),
            found.shares,
            0.25,
            label=names[place],
            color=PALETTE[place],
        )
    right.set(xlabel="contexts served", ylabel="share of mass", xticks=range(4))
    right.legend(fontsize=9)
    return fig


@picture
def xor_loss(width: int = 1024) -> Figure:
    """XOR: the four-pathway curve lies on the ReLU loss; the two-pathway curve is closed to it."""
    fig, axes = figure(9.0, 3.8, ncols=2, sharey=True)
    for ax, (std, steps) in zip(axes, ((1e-3, 1500), (1e-5, 2500)), strict=True):
        runs = train(ReLUNet((width,), std), xor_task(), 5e-3, steps, seeds=range(3), every=5)
        ax.plot(runs.steps, runs.losses.T, color=COLOURS["measured"], lw=4, alpha=0.4)
        times, A0 = runs.steps * 5e-3, theory.effective_start(width, std, "xor")
        for pathways, colour in ((4, COLOURS["prediction"]), (2, COLOURS["control"])):
            curve = theory.xor_curve(times, A0, pathways, 5e-3)
            ax.plot(runs.steps, curve, "--", color=colour, label=f"{pathways} pathways")
        ax.plot([], [], color=COLOURS["measured"], lw=4, alpha=0.4, label="ReLU, 3 seeds")
        _loss_axes(ax, f"s = {std:g}")
        ax.legend()
    return fig


@picture
def zoo_loss(steps: int = 6000, lr: float = 2e-3) -> Figure:
    """Animals: the ReLU loss beside the predictions, and who serves how many contexts."""
    task = zoo_task()
    runs = train(ReLUNet((NARROW[0],), NARROW[1]), task, lr, steps, seeds=range(2), every=EVERY)
    fig, (left, right) = figure(9.0, 4.0, ncols=2, gridspec_kw={"width_ratios": [3, 2]})
    left.plot(runs.steps, runs.losses.T, color=COLOURS["measured"], lw=3, alpha=0.6)
    left.plot([], [], color=COLOURS["measured"], label="ReLU, 2 seeds")
    for k, colour in ((2, COLOURS["prediction"]), (1, COLOURS["control"])):
        curve = reduced_descent(task, k, _start(), "even-split", lr, steps, EVERY)
        left.plot(runs.steps, curve, "--", color=colour, label=f"predicted, k = {k}")
    _loss_axes(left, "21 animals, three groups of properties")
    left.legend()
    shares = np.mean(
        [gate_census(a, b, task).shares for a, b in zip(*runs.weights, strict=True)], axis=0
    )
    right.bar(range(4), shares, color=COLOURS["measured"])
    right.set(xlabel="contexts served", ylabel="share of mass", xticks=range(4))
    return fig
