"""One figure style for the whole book: quiet, colour-blind safe, legible on a phone."""

from __future__ import annotations

import functools
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

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
    "axes.prop_cycle": cycler(color=PALETTE),
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


PLOTLY_SCRIPT = "../_static/plotly.min.js"
"""Where the built site keeps the one copy of plotly.js that all pages share."""

_DRAW = """<div id="{id}" class="tl-plot" style="width:100%;height:{height}px"></div>
<script>
(function () {{
  const picture = {picture};
  const draw = () => Plotly.newPlot("{id}", picture.data, picture.layout,
    {{responsive: true, displaylogo: false}});
  if (window.Plotly) {{ draw(); return; }}
  if (window.tlPlots) {{ window.tlPlots.push(draw); return; }}
  window.tlPlots = [draw];
  const script = document.createElement("script");
  script.src = "{script}";
  script.onload = () => window.tlPlots.forEach((waiting) => waiting());
  document.head.append(script);
}})();
</script>"""


@dataclass(frozen=True)
class Interactive:
    """A plotly figure that works in the built site without a network, and in JupyterLab.

    Parameters
    ----------
    figure : plotly Figure
        Sliders and menus are the reader's controls; all data travels in the page, so keep it
        below 1 MiB.
    height : int
        Pixels.
    """

    figure: PlotlyFigure
    height: int = 460

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        self.figure.update_layout(
            template="plotly_white",
            colorway=list(PALETTE),
            height=self.height,
            margin={"l": 50, "r": 20, "t": 40, "b": 50},
            autosize=True,
        )
        text = self.figure.to_json() or ""
        identity = "tl-" + hashlib.sha256(text.encode()).hexdigest()[:12]
        page = _DRAW.format(
            id=identity,
            height=self.height,
            picture=text.replace("</", "<\\/"),
            script=PLOTLY_SCRIPT,
        )
        return {
            "application/vnd.plotly.v1+json": json.loads(text),
            "text/html": page,
            "text/plain": f"interactive picture, {len(text) // 1024} KiB",
        }
