"""The statistical pictures, in small, show what their captions say."""

from __future__ import annotations

import numpy as np
import pytest

from theorylab.missing_mass import figures
from theorylab.missing_mass.data import published_search


def test_heat_maps_have_a_column_per_method_and_a_row_per_protocol() -> None:
    fig = figures.two_protocols(pilots=2, samples=4)
    assert len(fig.axes) == 6
    published = np.array([text.get_text() for text in fig.axes[0].texts], dtype=float)
    expected = [cell.frozen_ratio for cell in published_search()]
    assert sorted(published) == pytest.approx(sorted(expected), abs=6e-3)
    assert {text.get_text() for text in fig.axes[5].texts} == {"1.00"}


def test_the_frozen_score_of_good_turing_itself() -> None:
    frozen, own = figures._halfway_panels()
    assert frozen["uniform", 100, 50] == pytest.approx(0.527, abs=5e-4)
    assert frozen["uniform", 100, 200] == pytest.approx(0.708, abs=5e-4)
    fixed = [v for (name, *_), v in frozen.items() if not name.startswith("diri")]
    assert np.mean(fixed) == pytest.approx(0.609, abs=1e-3)
    assert set(own.values()) == {1.0}


def test_scale_shows_three_methods_on_two_populations() -> None:
    fig = figures.plug_in_at_scale(sizes=(50, 100), samples=5)
    assert [ax.get_title(loc="left") for ax in fig.axes] == ["zipf", "dirihalf"]
    assert len(fig.axes[0].get_legend().get_texts()) == 3


def test_measured_points_lie_on_the_floor() -> None:
    fig = figures.measured_efficiency_floor(loads=(0.5, 2.0), size=300, samples=400)
    (ax,) = fig.axes
    measured = [line for line in ax.lines if line.get_marker() == "o"]
    assert len(measured[0].get_xdata()) == 2


def test_a_campaign_is_drawn_with_its_bound_above_its_risk() -> None:
    fig = figures.fuzzing_run(executions=128, others=200)
    (ax,) = fig.axes
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in ax.lines}
    assert (lines["hold-out bound"][-1] >= lines["truth, from other runs"][-1]).all()


def test_searches_are_drawn_with_both_mutations() -> None:
    fig = figures.searches(generations=5, seeds=1, n=40)
    labels = [text.get_text() for text in fig.axes[0].get_legend().get_texts()]
    assert labels == ["identities kept", "as released", "one solve, $K=2$", "one solve, $K=10$"]
