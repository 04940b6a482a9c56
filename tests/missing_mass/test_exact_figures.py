"""Pictures of the exact half: they draw, and show what their captions say."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from theorylab.missing_mass import figures, theory


@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures.bias_curves(size=60),
        figures.coefficients,
        figures.dominant_class,
        lambda: figures.convex_bowl(n=20, generations=(0, 3)),
        figures.efficiency_floor,
        lambda: figures.efficiency_floor([0.5, 1.0], [0.97, 0.93], [0.01, 0.01]),
        lambda: figures.frozen_and_reported((4, 6)),
    ],
)
def test_pictures_are_drawn(draw) -> None:
    made = draw()
    assert isinstance(made, Figure)
    made.canvas.draw()
    assert all(ax.get_xlabel() for ax in made.axes if ax.get_label() != "<colorbar>")


def test_the_floor_curve_is_the_prediction() -> None:
    line = figures.efficiency_floor().axes[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), theory.uniform_floor(line.get_xdata()))


def test_the_moving_population_does_not_decay() -> None:
    right = figures.bias_curves(size=60).axes[1]
    moving = next(line for line in right.lines if line.get_label() == r"$p_{\max}=1-1/n$")
    assert np.ptp(np.asarray(moving.get_ydata(), dtype=float)) < 0.01
