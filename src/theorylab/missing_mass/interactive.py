"""A picture that a reader moves: the frozen score of an estimator that reports Good-Turing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theorylab.missing_mass import theory
from theorylab.missing_mass.fingerprint import FIXED_BENCHMARKS, benchmark_population
from theorylab.missing_mass.linear import good_turing
from theorylab.missing_mass.moments import moments
from theorylab.plotting import COLOURS, Interactive

WEIGHTS = np.linspace(0, 1, 41)


def frozen_ratios(name: str, size: int, n: int) -> NDArray[np.float64]:
    """Frozen error of T_w over that of Good-Turing, for all w in ``WEIGHTS``."""
    found = moments(benchmark_population(name, size), n, 1, intercept=False)
    parts = good_turing(n).risk_parts(found)
    return np.array([float(theory.frozen_mse(parts, w)) for w in WEIGHTS]) / float(parts.mse)


def frozen_slider() -> Interactive:
    """Frozen score of T_w against w in each of the 24 fixed cells, chosen by a slider."""
    import plotly.graph_objects as go

    cells = [
        (name, size, n)
        for name in FIXED_BENCHMARKS
        for size in (100, 200)
        for n in (size // 2, size, 2 * size)
    ]
    made = go.Figure()
    for number, cell in enumerate(cells):
        made.add_trace(
            go.Scatter(
                x=WEIGHTS,
                y=np.round(frozen_ratios(*cell), 4),
                visible=number == 0,
                name="frozen score of T_w",
                line={"color": COLOURS["control"], "width": 3},
            )
        )
    made.add_trace(
        go.Scatter(
            x=[0, 1],
            y=[1, 1],
            name="error of the number it reports",
            line={"color": COLOURS["measured"], "width": 3, "dash": "dash"},
        )
    )
    made.update_layout(
        xaxis_title="w",
        yaxis_title="MSE / MSE of Good–Turing",
        yaxis_range=[0.4, 1.25],
        legend={"orientation": "h", "y": 1.12},
        sliders=[_slider(cells)],
    )
    return Interactive(made, height=480)


def _slider(cells: list[tuple[str, int, int]]) -> dict[str, object]:
    """One step per cell; the last trace, the reported number, is always shown."""
    steps = [
        {
            "label": f"{name}, S={size}, n={n}",
            "method": "restyle",
            "args": ["visible", [number == shown for shown in range(len(cells))] + [True]],
        }
        for number, (name, size, n) in enumerate(cells)
    ]
    return {"steps": steps, "currentvalue": {"prefix": "population: "}, "pad": {"t": 50}}
