"""Every picture is drawn; the interactive one stays small."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from theorylab.attention_rank import figures


@pytest.mark.parametrize(
    "name", [n for n in figures.__all__ if n not in {"arms_figure", "arms_of", "heads_view"}]
)
def test_pictures(name):
    assert isinstance(getattr(figures, name)(), Figure)


def test_arms():
    made = figures.arms_figure({"one": {"1": [0.1, 0.2], "split/full": [0.4, 0.5]}})
    assert made.axes[0].get_title(loc="left") == "one"


def test_the_interactive_picture():
    bundle = figures.heads_view()._repr_mimebundle_()
    assert len(bundle["text/html"]) < 2**20
    steps = bundle["application/vnd.plotly.v1+json"]["layout"]["sliders"][0]["steps"]
    assert [sum(step["args"][1]) for step in steps] == [5] * len(steps)
