"""The chapter's pictures."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from theorylab.plotting import COLOURS, PALETTE, figure, picture
from theorylab.teacher_students.descent import (
    Course,
    descend,
    draw_starts,
    orthonormal_teachers,
    record_steps,
)
from theorylab.teacher_students.groups import grouping
from theorylab.teacher_students.samples import descend_on_samples, whitened_digits
from theorylab.teacher_students.theory import (
    erf_split_coefficient,
    lone_student_floor,
    pair_prefactor,
    population_loss,
    relu_loss,
    relu_split_coefficient,
    smooth_pair,
    smooth_prefactor,
    split_pair,
)

Floats = NDArray[np.float64]
ETA, D = 0.2, 10
HALVES = [0.5, 0.5]
FLOOR = 1e-15
"""Losses below it are rounding errors of the sum over pairs when there are several teachers."""


def _course(
    m: int, k: int, steps: int, starts: int = 1, size: float = 0.1, alignment: float = 2.0
) -> Course:
    V = orthonormal_teachers(k, D)
    W0 = draw_starts(np.random.default_rng(7), V, m, starts, size, alignment)
    return descend(W0, V, ETA, record_steps(steps, 141))


def _positive(ax: Axes, time: Floats, loss: Floats, **style: Any) -> None:
    """A curve on logarithmic axes, cut where the loss is rounding error."""
    shown = (time > 0) & (loss > FLOOR)
    ax.loglog(time[shown], loss[shown], **style)


def _guide(ax: Axes, times: Floats, values: Floats, text: str) -> None:
    ax.loglog(times, values, ":", color="black", lw=1.2)
    ax.annotate(
        text,
        (times[0], values[0]),
        xytext=(4, 4),
        textcoords="offset points",
        ha="left",
        fontsize=10,
    )


@picture
def students_find_teachers(steps: int = 400) -> Figure:
    """Paths of six students in the plane of two teachers, and their loss."""
    V = orthonormal_teachers(2, 2)
    W0 = draw_starts(np.random.default_rng(4), V, 6, 1, 0.02)
    found = descend(W0, V, 0.05, np.arange(steps * 4))
    fig, (left, right) = figure(8.5, 4.0, ncols=2)
    for student, colour in zip(range(6), PALETTE, strict=False):
        path = found.W[0, :, student]
        left.plot(*path.T, color=colour, lw=1.6)
        left.plot(*path[-1], "o", color=colour, ms=6)
    for v in V:
        left.annotate("", v, (0, 0), arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 1.8})
    left.text(1.02, 0.05, "teacher 1", ha="right")
    left.text(0.05, 1.02, "teacher 2")
    left.set(xlim=(-0.15, 1.1), ylim=(-0.15, 1.15), aspect="equal", title="six students on the way")
    left.set(xlabel="first weight", ylabel="second weight")
    _positive(right, found.time, relu_loss(found.W, V)[0], color=COLOURS["measured"])
    right.set(xlabel="time t = step size × steps", ylabel="loss", title="their loss")
    return fig


@picture
def third_power(steps: int = 100_000) -> Figure:
    """Losses of groups with a partner and without, and the local exponents."""
    fig, (left, right) = figure(9.0, 4.2, ncols=2)
    cases = (((2, 1), 0), ((4, 2), 1), ((6, 2), 2), ((3, 2), 4))
    for (m, k), colour in cases:
        found = _course(m, k, steps)
        loss, time = relu_loss(found.W, found.V)[0], found.time
        style = {"color": PALETTE[colour], "label": f"{m} students, {k} teacher{'s' * (k > 1)}"}
        _positive(left, time, loss, **style)
        late = (time > 1) & (loss > 1e-13)
        slopes = np.gradient(np.log(loss[late]), np.log(time[late]))
        right.semilogx(time[late], slopes, **style)
    for m in (1, 2, 3):
        found = _course(m, m, 1000)
        loss = relu_loss(found.W, found.V)[0]
        label = "m = k = 1, 2, 3" if m == 1 else None
        _positive(left, found.time, loss, color=COLOURS["muted"], ls="--", label=label)
    times = np.array([300.0, 20_000.0])
    _guide(left, times, 30 * times**-3, "slope −3")
    left.set(xlabel="time t", ylabel="loss", ylim=(FLOOR, 2))
    left.legend(loc="lower left", fontsize=9)
    right.axhline(-3, color="black", ls=":", lw=1.2)
    right.set(xlabel="time t", ylabel="local exponent", ylim=(-6, 0))
    return fig


@picture
def level_off(steps: int = 300_000) -> Figure:
    """t^3 L of pairs with unequal shares, with their predicted levels."""
    fig, ax = figure(7.5, 4.2)
    for share, colour in zip((0.5, 0.3, 0.15), PALETTE, strict=False):
        start = split_pair(np.array(0.1), share)[0]
        found = descend(start[None], np.array([[1.0, 0.0]]), ETA, record_steps(steps, 121))
        norms = grouping(found.W[0, -1], found.V).norms
        held = found.time**3 * relu_loss(found.W, found.V)[0]
        label = f"shares {share:g} and {1 - share:g}"
        ax.semilogx(found.time[1:], held[1:], color=colour, label=label)
        level = float(pair_prefactor(norms[0] / norms.sum()))
        ax.axhline(level, color=colour, ls="--", lw=1.2)
    ax.set(xlabel="time t", ylabel="t³ × loss", ylim=(0, None), xlim=(10, None))
    ax.legend(title="dashed: 8π²/3 · (a₁a₂)²")
    return fig


@picture
def angles_and_norms(steps: int = 100_000) -> Figure:
    """Angles to the nearest teacher, and norms, of the students of two teachers."""
    found = _course(4, 2, steps)
    groups = grouping(found.W[0], found.V)
    fig, (left, right) = figure(9.0, 4.0, ncols=2)
    for student in range(4):
        style = {"color": PALETTE[student], "label": f"student {student + 1}"}
        left.loglog(found.time[1:], groups.angle[1:, student], **style)
        right.semilogx(found.time[1:], groups.norms[1:, student], **style)
    times = np.array([30.0, 20_000.0])
    _guide(left, times, pi / times, "π / t")
    left.set(xlabel="time t", ylabel="angle to nearest teacher (radians)")
    right.axhline(0.5, color="black", ls=":", lw=1.2)
    right.set(xlabel="time t", ylabel="norm", ylim=(0, 0.75))
    right.legend(loc="lower right")
    return fig


@picture
def balance_and_start(starts: int = 40) -> Figure:
    """Largest over smallest norm against the size of the start, one teacher and two."""
    fig, ax = figure(7.5, 4.0)
    sizes = np.geomspace(1e-4, 0.3, 8)
    cases = ((4, 2, ETA, "two teachers, step 0.2"), (2, 1, ETA, "one teacher, step 0.2"))
    for place, (m, k, eta, label) in enumerate(cases):
        _imbalance_line(ax, sizes, m, k, starts, np.full(len(sizes), eta), label, place)
    shrinking = np.geomspace(3e-3, 0.3, 6)
    label = "one teacher, step = size of the start"
    _imbalance_line(ax, shrinking, 2, 1, starts, shrinking, label, 2)
    ax.set(xlabel="size of the start", ylabel="largest / smallest norm − 1")
    ax.set(xscale="log", yscale="log")
    ax.legend()
    return fig


def _imbalance_line(
    ax: Axes, sizes: Floats, m: int, k: int, starts: int, etas: Floats, label: str, place: int
) -> None:
    V, medians = orthonormal_teachers(k, D), []
    for size, eta in zip(sizes, etas, strict=True):
        W0 = draw_starts(np.random.default_rng(7), V, m, starts, size, 2.0)
        last = descend(W0, V, float(eta), [round(300 / eta)]).W[:, 0]
        medians.append(float(np.median(grouping(last, V).imbalance)) - 1)
    ax.plot(sizes, medians, "o-", color=PALETTE[place], label=label)


@picture
def cost_of_splitting() -> Figure:
    """Cost of a split against its distance, and what time makes of it."""
    fig, (left, right) = figure(9.0, 4.2, ncols=2)
    distances = np.geomspace(1e-3, 0.5, 40)
    relu = relu_loss(*split_pair(distances))
    erf = population_loss(*smooth_pair(distances), act="erf", cs=HALVES)
    left.loglog(distances, relu, color=COLOURS["measured"], label="ReLU, a kink")
    left.loglog(distances, erf, color=COLOURS["prediction"], label="erf, smooth")
    left.loglog(distances, relu_split_coefficient() * distances**3, "k:", lw=1.2)
    left.loglog(distances, erf_split_coefficient() * distances**4, "k:", lw=1.2)
    left.set(xlabel="distance d", ylabel="loss of the split pair", ylim=(1e-13, 1))
    left.legend(loc="upper left", title="dotted: d³ and d⁴")
    teacher = np.array([[1.0, 0.0]])
    record = record_steps(100_000, 101)
    kink = descend(split_pair(np.array(0.3))[0][None], teacher, ETA, record)
    smooth = descend(smooth_pair(np.array(0.3))[0][None], teacher, 1.0, record, "erf", HALVES)
    _positive(right, kink.time, relu_loss(kink.W, teacher)[0], color=COLOURS["measured"])
    erf = population_loss(smooth.W, teacher, "erf", HALVES)[0]
    _positive(right, smooth.time, erf, color=COLOURS["prediction"])
    times = np.geomspace(100, 20_000, 2)
    right.loglog(times, pair_prefactor(0.5) * times**-3, "k:", lw=1.2)
    right.loglog(times * 5, smooth_prefactor() * (times * 5) ** -2, "k:", lw=1.2)
    right.set(xlabel="time t", ylabel="loss", title="dotted: π²/6 · t⁻³ and 3π√3/8 · t⁻²")
    return fig


@picture
def lone_student(steps: int = 300) -> Figure:
    """One student of two teachers against two students of two teachers."""
    fig, ax = figure(7.0, 3.6)
    for m, colour, label in (
        (1, "control", "one student"),
        (2, "prediction", "two students"),
        (4, "measured", "four students"),
    ):
        found = _course(m, 2, steps, alignment=2.0)
        loss = relu_loss(found.W, found.V)[0]
        _positive(ax, found.time, loss, color=COLOURS[colour], label=label)
    ax.axhline(lone_student_floor(), color="black", ls=":", lw=1.2)
    ax.set(xlabel="time t", ylabel="loss", title="two teachers; dotted: 0.0885", ylim=(1e-8, 2))
    ax.legend(loc="lower left")
    return fig


@picture
def finite_samples(steps: int = 30_000) -> Figure:
    """Empirical losses of few and many inputs beside the population's."""
    rng, V = np.random.default_rng(11), orthonormal_teachers(1, D)
    W0, record = draw_starts(rng, V, 2, 1, 0.3, 1.0)[0], record_steps(steps, 91)
    digits = whitened_digits(D)
    cases = (
        ("50 normal inputs", rng.standard_normal((50, D)), PALETTE[1], "-"),
        ("50 whitened digits", digits[rng.permutation(len(digits))[:50]], PALETTE[3], "-"),
        ("1797 normal inputs", rng.standard_normal((1797, D)), PALETTE[1], "--"),
        ("1797 whitened digits", digits, PALETTE[3], "--"),
    )
    fig, ax = figure(7.5, 4.4)
    population = descend(W0[None], V, ETA, record)
    loss = relu_loss(population.W, V)[0]
    ax.loglog(population.time[1:], loss[1:], color="black", lw=2.4, label="population")
    for label, X, colour, line in cases:
        found = descend_on_samples(X, W0, V, ETA, record)
        shown = found.losses[1:] > 1e-24
        ax.loglog(found.time[1:][shown], found.losses[1:][shown], line, color=colour, label=label)
    ax.set(xlabel="time t", ylabel="loss on the inputs", ylim=(1e-22, 1))
    ax.legend(loc="lower left")
    return fig
