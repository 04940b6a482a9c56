"""One figure style for the whole book: quiet, colour-blind safe, legible on a phone."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import Any, ParamSpec

import matplotlib as mpl
from matplotlib.figure import Figure

Arguments = ParamSpec("Arguments")

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B5B5B")
"""Okabe and Ito's colours, dark enough for lines on white."""

COLOURS = {
    "prediction": PALETTE[0],
    "measured": PALETTE[1],
    "bound": PALETTE[2],
    "control": PALETTE[3],
    "accent": PALETTE[4],
    "muted": "#8A8A8A",
}

STYLE: Any = {
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "figure.facecolor": "white",
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "axes.prop_cycle": mpl.cycler(color=PALETTE),
}


class BookFigure(Figure):
    """A figure that notebooks display and that pyplot knows nothing of."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with mpl.rc_context(STYLE):
            self.savefig(buffer, format="png")
        return buffer.getvalue()


def figure(
    width: float = 7.0, height: float = 3.8, nrows: int = 1, ncols: int = 1, **kwargs: Any
) -> tuple[Figure, Any]:
    """A figure in the book's style; call it inside a function decorated with ``picture``.

    Parameters
    ----------
    width, height : float
        Inches.
    nrows, ncols : int
        Grid of axes.
    **kwargs
        Passed on to ``Figure.subplots`` (``sharex``, ``sharey``, ``subplot_kw``,
        ``gridspec_kw``, ...).

    Returns
    -------
    figure : matplotlib Figure
        Not registered with pyplot: nothing is shown twice and nothing has to be closed.
    axes : Axes or array of Axes
    """
    with mpl.rc_context(STYLE):
        made = BookFigure(figsize=(width, height), layout="constrained")
        axes = made.subplots(nrows, ncols, **kwargs)
    return made, axes


def picture(draw: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Decorator: the whole function draws in the book's style, legends and labels included."""

    @functools.wraps(draw)
    def styled(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Figure:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return styled
