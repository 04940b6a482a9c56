"""Figures: one style, no global state, and interactive pictures that need no network."""

from __future__ import annotations

import json
import subprocess
import sys

import matplotlib as mpl
import plotly.graph_objects as go
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from theorylab.plotting import COLOURS, PALETTE, PLOTLY_SCRIPT, STYLE, Interactive, figure, picture


@picture
def drawn(label: str = "x") -> Figure:
    """A docstring."""
    made, axes = figure(width=5, height=3)
    axes.plot([0, 1], [0, 1], label=label)
    axes.legend()
    return made


def test_a_figure_has_the_books_style_and_leaves_no_trace():
    before = dict(mpl.rcParams)
    made = drawn()
    (axes,) = made.axes
    assert tuple(made.get_size_inches()) == (5, 3)
    assert axes.lines[0].get_color() == PALETTE[0]
    assert axes.lines[0].get_linewidth() == STYLE["lines.linewidth"]
    assert not axes.spines["top"].get_visible()
    assert not axes.get_legend().get_frame_on()
    assert dict(mpl.rcParams) == before


def test_a_figure_is_unknown_to_pyplot():
    program = (
        "import sys; from theorylab.plotting import figure; figure(); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.strip() == "False"


def test_a_notebook_shows_the_figure_as_png():
    assert drawn()._repr_png_().startswith(b"\x89PNG")


def test_a_grid_shares_what_it_is_told_to():
    _, axes = figure(nrows=2, ncols=3, sharex=True)
    assert axes.shape == (2, 3)
    axes[1, 0].set_xlim(2, 3)
    assert axes[0, 0].get_xlim() == (2, 3)


def test_a_picture_keeps_name_documentation_and_arguments():
    assert (drawn.__name__, drawn.__doc__) == ("drawn", "A docstring.")
    assert drawn(label="named").axes[0].lines[0].get_label() == "named"


def test_the_style_is_restored_when_drawing_fails():
    before = dict(mpl.rcParams)

    @picture
    def failing() -> Figure:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert dict(mpl.rcParams) == before


def test_named_colours_are_colours_and_differ():
    assert {"prediction", "measured", "control", "bound", "accent", "muted"} <= set(COLOURS)
    assert len({to_rgb(colour) for colour in COLOURS.values()}) == len(COLOURS)


def test_an_interactive_picture_loads_nothing_from_elsewhere():
    shown = Interactive(go.Figure(go.Scatter(x=[1], y=[2], text="</script>")))._repr_mimebundle_()
    page = shown["text/html"]
    assert "http" not in page.replace("http://www.w3.org", "")
    assert PLOTLY_SCRIPT in page
    assert page.count("</script>") == 1
    json.dumps(shown)


def test_an_interactive_picture_is_the_same_on_every_run():
    one, two = (
        Interactive(go.Figure(go.Scatter(x=[1, 2], y=[3, 4])))._repr_mimebundle_() for _ in range(2)
    )
    assert one == two
    other = Interactive(go.Figure(go.Scatter(x=[1, 2], y=[3, 5])))._repr_mimebundle_()
    assert other["text/html"] != one["text/html"]
