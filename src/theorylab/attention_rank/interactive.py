"""Error against the number of heads, for a dimension and a rank that the reader chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from theorylab.attention_rank.bounds import lower_bound
from theorylab.attention_rank.theory import fallback_mse, vote_mse
from theorylab.plotting import PALETTE, Interactive

SETTINGS = ((4, 1), (8, 1), (16, 1), (32, 1), (64, 1), (16, 4), (32, 8), (64, 16), (64, 32))
"""Dimensions and ranks of the slider's positions."""


def heads_view() -> Interactive:
    """Lower bounds, the linear fallback and two voting layers; a slider moves d and r."""
    heads = np.unique(np.geomspace(1, 2**24, 49).round().astype(int))
    groups = [_curves(d, r, heads) for d, r in SETTINGS]
    for trace in (trace for group in groups[1:] for trace in group):
        trace.visible = False
    made = go.Figure([trace for group in groups for trace in group])
    made.update_layout(
        sliders=[{"steps": _steps(groups), "currentvalue": {"prefix": "d, r = "}}],
        legend={"orientation": "h", "y": 1.16},
    )
    made.update_xaxes(type="log", title="heads H", dtick=2)
    made.update_yaxes(title="mean squared error", range=[0, 0.55])
    return Interactive(made, height=500)


def _curves(d: int, r: int, heads: np.ndarray) -> list[go.Scatter]:
    bounds = {
        kind: [round(lower_bound(d, r, int(h), kind).lo, 5) for h in heads]
        for kind in ("scalar", "matrix", "generalised")
    }
    names = {"scalar": "bound, scalar", "matrix": "bound, matrix", "generalised": "bound, any head"}
    traces = [
        go.Scatter(x=heads.tolist(), y=y, name=names[kind], line={"color": colour})
        for (kind, y), colour in zip(bounds.items(), PALETTE[2:5], strict=True)
    ]
    enough = [h for h in heads.tolist() if h * r >= d and h > 1]
    level = [round(fallback_mse(d), 5)] * len(enough)
    odd = [int(h) | 1 for h in heads if h <= 2**16]
    votes = [round(vote_mse(d, h), 5) for h in odd]
    traces.append(go.Scatter(x=enough, y=level, name="soft, linear", line={"color": PALETTE[1]}))
    traces.append(
        go.Scatter(
            x=odd,
            y=votes,
            name="two layers, rank 1",
            line={"color": PALETTE[0]},
        )
    )
    return traces


def _steps(groups: list[list[go.Scatter]]) -> list[dict[str, Any]]:
    per_group, count = len(groups[0]), len(groups)
    steps = []
    for i, (d, r) in enumerate(SETTINGS):
        shown = [place // per_group == i for place in range(per_group * count)]
        steps.append({"method": "restyle", "args": ["visible", shown], "label": f"{d}, {r}"})
    return steps
