"""A picture that a reader moves: the race, from the first step to the last."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorylab.gated_linear.census import gate_clusters, unit_mass
from theorylab.gated_linear.descent import ReLUNet, Trajectory, train
from theorylab.gated_linear.reductions import ModeReductions, mode_reductions
from theorylab.gated_linear.tasks import Task, identical_task
from theorylab.gated_linear.theory import effective_start
from theorylab.plotting import COLOURS, PALETTE, Interactive

Floats = NDArray[np.float64]
RATE, EVERY, STEPS = 1e-3, 100, 7000
WIDTH, STD, SHOWN = 150, 1.4e-5, 80
"""Units that are trained, and how many of the heaviest are shown."""


def pathway_strengths(
    reductions: ModeReductions, contexts: int, k: int, times: ArrayLike
) -> Floats:
    """Singular values of the common and of one context pathway, shape (times, 2, levels)."""
    states = reductions.modes.states(times)
    states = states.reshape(len(states), 7, -1)
    w, a0, a1, wk, p, q, r = np.moveaxis(states, 1, 0)
    common = w * np.sqrt(a0**2 + contexts * a1**2)
    context = wk * np.sqrt(p**2 + k * q**2 + (contexts - k) * r**2)
    return np.stack([common, context], axis=1)


def _trained(task: Task) -> Trajectory:
    return train(
        ReLUNet((WIDTH,), STD),
        task,
        RATE,
        STEPS,
        seeds=[0],
        every=EVERY,
        record=("losses", "gates"),
    )


def _sorted_units(runs: Trajectory, task: Task) -> list[int]:
    W1, W2 = runs.weights[0][0], runs.weights[1][0]
    mass, labels = unit_mass(W1, W2), gate_clusters(W1, W2, task, 4).labels
    heavy = set(np.argsort(-mass)[:SHOWN].tolist())
    return [u for u in np.lexsort((-mass, labels)).tolist() if u in heavy]


def _line(x: Any, y: Any, name: str, colour: str, axis: str = "", **more: Any) -> dict[str, Any]:
    line = {"color": colour, "width": 2.5, **more}
    place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": name, "line": line, **place}


def _curves(task: Task, runs: Trajectory, steps: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Loss and strengths over the whole run: what every frame shows."""
    A0, times = effective_start(WIDTH, STD, "relu"), steps * RATE
    traces = [_line(steps, np.round(runs.losses[0], 2), "ReLU network", COLOURS["measured"])]
    kinds = ((2, "two contexts each", COLOURS["prediction"]), (1, "one each", COLOURS["control"]))
    for k, name, colour in kinds:
        found = mode_reductions(task, k, A0)
        loss = np.round(found.flow(times), 2)
        traces.append(_line(steps, loss, f"gated, {name}", colour, dash="dash"))
        strengths = np.round(pathway_strengths(found, task.C, k, times)[:, :, 0], 3)
        label = f"context pathway, {name}"
        traces.append(_line(steps, strengths[:, 1], label, colour, "2"))
        if k == 2:
            traces.append(_line(steps, strengths[:, 0], "common pathway", PALETTE[2], "2"))
    return traces


def _frame(runs: Trajectory, order: list[int], place: int) -> list[dict[str, Any]]:
    """Gates at one step, and where it lies on the loss."""
    step, loss = int(runs.steps[place]), round(float(runs.losses[0, place]), 2)
    gates = runs.gates[place, 0][order].astype(int).tolist()
    dot = {"color": "black", "size": 11}
    return [
        {
            "type": "heatmap",
            "z": gates,
            "zmin": 0,
            "zmax": 1.3,
            "colorscale": "Blues",
            "showscale": False,
            "xaxis": "x3",
            "yaxis": "y3",
            "visible": place == 0,
            "hovertemplate": "sample %{x}, unit %{y}: %{z}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "markers",
            "x": [step],
            "y": [loss],
            "marker": dot,
            "showlegend": False,
            "visible": place == 0,
        },
    ]


def race_slider() -> Interactive:
    """Loss, strengths of the pathways, and gates of the ReLU network; the slider moves time."""
    import plotly.graph_objects as go

    task = identical_task(3)
    runs = _trained(task)
    places = [*range(0, 20, 2), *range(20, len(runs.steps), 5)]
    fixed = _curves(task, runs, runs.steps)
    order = _sorted_units(runs, task)
    moving = [trace for place in places for trace in _frame(runs, order, place)]
    made = go.Figure([*fixed, *moving])
    made.update_layout(
        xaxis={"domain": [0, 1], "anchor": "y", "title": "step"},
        yaxis={"domain": [0.7, 1], "title": "loss"},
        xaxis2={"domain": [0, 0.46], "anchor": "y2", "title": "step"},
        yaxis2={"domain": [0.16, 0.54], "title": "singular value, h² = 7"},
        xaxis3={
            "domain": [0.54, 1],
            "anchor": "y3",
            "title": "sample, by context",
            "tickvals": [3.5, 11.5, 19.5],
            "ticktext": ["1", "2", "3"],
        },
        yaxis3={"domain": [0.16, 0.54], "anchor": "x3", "showticklabels": False, "title": "unit"},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        sliders=[_slider(runs, places, len(fixed))],
    )
    return Interactive(made, height=720)


def _slider(runs: Trajectory, places: list[int], fixed: int) -> dict[str, Any]:
    steps = []
    for shown, place in enumerate(places):
        visible = [True] * fixed + [other == shown for other in range(len(places)) for _ in (0, 1)]
        label = str(int(runs.steps[place]))
        steps.append({"label": label, "method": "restyle", "args": ["visible", visible]})
    return {"steps": steps, "currentvalue": {"prefix": "step "}, "pad": {"t": 10}, "y": 0.06}
