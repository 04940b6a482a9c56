"""A picture that a reader moves: students in the plane of two teachers, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.plotting import PALETTE, Interactive
from theorylab.teacher_students.descent import (
    Course,
    descend,
    draw_starts,
    orthonormal_teachers,
    record_steps,
)
from theorylab.teacher_students.theory import relu_loss

Floats = NDArray[np.float64]
ETA, STEPS, FRAMES = 0.05, 4000, 41
COUNTS = (1, 2, 3, 4, 6)


def _courses() -> dict[int, Course]:
    V = orthonormal_teachers(2, 2)
    record = record_steps(STEPS, FRAMES)
    rng = np.random.default_rng(4)
    starts = {m: draw_starts(rng, V, m, 1, 0.02) for m in COUNTS}
    return {m: descend(W0, V, ETA, record) for m, W0 in starts.items()}


def _arrows(W: Floats, name: str) -> dict[str, Any]:
    """Segments from the origin to every student, as one broken line."""
    ends = np.zeros((len(W), 3, 2))
    ends[:, 1] = W.round(4)
    points = ends.reshape(-1, 2).tolist()
    x, y = ([None if i % 3 == 2 else p[axis] for i, p in enumerate(points)] for axis in (0, 1))
    marks = {"size": [9 if i % 3 == 1 else 0 for i in range(len(points))], "color": PALETTE[1]}
    line = {"color": PALETTE[1], "width": 2}
    return {"x": x, "y": y, "mode": "lines+markers", "marker": marks, "line": line, "name": name}


def _loss_curve(course: Course, place: int) -> list[dict[str, Any]]:
    """The whole loss, and where the students are on it."""
    losses = np.maximum(relu_loss(course.W, course.V)[0], 1e-16)
    time = course.time.round(3).tolist()
    axes = {"xaxis": "x2", "yaxis": "y2", "type": "scatter"}
    curve = {"x": time[1:], "y": losses[1:].tolist(), "line": {"color": PALETTE[0]}, **axes}
    dot = {"x": [max(time[place], ETA)], "y": [float(losses[place])], "mode": "markers", **axes}
    return [{**curve, "name": "loss"}, {**dot, "name": "now", "marker": {"color": "black"}}]


def _traces(course: Course, place: int) -> list[dict[str, Any]]:
    teachers = _arrows(course.V, "teachers")
    teachers["line"] = {"color": "black", "width": 5}
    teachers["marker"] = {**teachers["marker"], "color": "black"}
    students = {**_arrows(course.W[0, place], "students"), "type": "scatter"}
    return [{**teachers, "type": "scatter"}, students, *_loss_curve(course, place)]


def _slider(course: Course) -> dict[str, Any]:
    """Moves the students and the point on the loss; teachers and the curve stay."""
    steps = []
    for place, step in enumerate(course.steps.tolist()):
        moving = [_traces(course, place)[trace] for trace in (1, 3)]
        data = {axis: [trace[axis] for trace in moving] for axis in ("x", "y")}
        steps.append({"label": str(step), "method": "restyle", "args": [data, [1, 3]]})
    return {"active": 0, "currentvalue": {"prefix": "step "}, "pad": {"t": 45}, "steps": steps}


def students_on_the_way(height: int = 520) -> Interactive:
    """Students of two teachers: choose how many, and move through the steps of the descent."""
    import plotly.graph_objects as go

    courses, first = _courses(), 4
    buttons = [
        {
            "label": f"{m} student" + "s" * (m > 1),
            "method": "update",
            "args": [_whole(course), {"sliders": [_slider(course)]}],
        }
        for m, course in courses.items()
    ]
    figure = go.Figure(_traces(courses[first], 0))
    figure.update_layout(
        showlegend=False,
        xaxis={"domain": [0, 0.42], "range": [-0.2, 1.6], "title": "first weight"},
        yaxis={"range": [-0.2, 1.6], "title": "second weight"},
        xaxis2={"domain": [0.6, 1], "type": "log", "title": "time", "anchor": "y2"},
        yaxis2={"type": "log", "title": "loss", "anchor": "x2", "range": [-12, 0.5]},
        sliders=[_slider(courses[first])],
        updatemenus=[
            {
                "buttons": buttons,
                "active": COUNTS.index(first),
                "x": 0,
                "xanchor": "left",
                "y": 1.02,
                "yanchor": "bottom",
            }
        ],
    )
    return Interactive(figure, height)


def _whole(course: Course) -> dict[str, Any]:
    """All traces at the start, in the form in which a button replaces them."""
    traces = _traces(course, 0)
    data: dict[str, Any] = {axis: [trace[axis] for trace in traces] for axis in ("x", "y")}
    return {**data, "marker": [trace.get("marker", {}) for trace in traces]}
