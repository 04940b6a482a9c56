"""The parts of a decomposition as surfaces that the reader can turn and move."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from theorylab.plotting import PALETTE, Interactive

from .complex_figures import Box, Corner, clipped_corners
from .complexes import Complex
from .decomposition import Decomposition
from .functions import CPWL, AffineMap

Polyline = tuple[list[float | None], list[float | None], list[float | None]]


def edge_view(
    first: Decomposition, second: Decomposition, *, half_width: int = 3, steps: int = 10
) -> Interactive:
    """f, g and h over a plane complex; a slider moves g from one vertex to the other.

    Blue lines are convex kinks, vermilion ones concave. On the way every pair of parts adds up to
    f, but only the ends have few pieces.

    Parameters
    ----------
    first, second : Decomposition
        Two decompositions of one function on one plane complex.
    half_width : int
        The surfaces are drawn over the square ``[-half_width, half_width]^2``.
    steps : int
        Number of positions of the slider, minus one.

    Raises
    ------
    ValueError
        If the decompositions are not of one function, or the complex is not plane.
    """
    if first.f is not second.f:
        raise ValueError("the two decompositions must be of one and the same function")
    if first.f.complex.n != 2:
        raise ValueError(f"only plane complexes can be drawn, got n = {first.f.complex.n}")
    if steps < 1:
        raise ValueError(f"the slider needs at least one step, got {steps}")
    box = (-half_width, half_width, -half_width, half_width)
    stages = [_between(first, second, Fraction(k, steps)) for k in range(steps + 1)]
    made = make_subplots(
        cols=3, rows=1, specs=[[{"type": "scene"}] * 3], subplot_titles=["f", "g", "h"]
    )
    for column, part in enumerate(_level_parts(stages[0]), start=1):
        made.add_trace(_surface(part, box), row=1, col=column)
        for trace in _kink_lines(part, box):
            made.add_trace(trace, row=1, col=column)
    made.update_layout(sliders=[_slider(stages, box)], showlegend=False)
    made.update_scenes(
        camera={"eye": {"x": 1.5, "y": -1.5, "z": 0.9}}, aspectratio={"x": 1, "y": 1, "z": 0.8}
    )
    return Interactive(made, height=480)


def _between(first: Decomposition, second: Decomposition, s: Fraction) -> Decomposition:
    w_g = [(1 - s) * a + s * b for a, b in zip(first.w_g, second.w_g, strict=True)]
    return Decomposition(first.f, w_g)


def _level_parts(dec: Decomposition) -> tuple[CPWL, CPWL, CPWL]:
    """f, g, h, with the mean slope of h removed from both parts so that no picture is tilted."""
    complex = dec.f.complex
    pieces = dec.h.pieces_on_cells
    mean: AffineMap = (
        tuple(sum(c, Fraction(0)) / len(pieces) for c in zip(*(a for a, _ in pieces), strict=True)),
        Fraction(0),
    )
    tilt = CPWL(complex, [mean] * len(pieces))
    return dec.f, dec.g - tilt, dec.h - tilt


def _height(piece: AffineMap, corner: Corner) -> float:
    slope, constant = piece
    return float(slope[0]) * corner[0] + float(slope[1]) * corner[1] + float(constant)


def _surface_points(part: CPWL, box: Box) -> Polyline:
    """Corners of all cells, each with its own, so that kinks stay sharp."""
    points = [
        (*corner, round(_height(piece, corner), 6))
        for cell, piece in zip(part.complex.cells, part.pieces_on_cells, strict=True)
        for corner in clipped_corners(cell, box)
    ]
    xs, ys, zs = zip(*points, strict=True)
    return list(xs), list(ys), list(zs)


def _surface(part: CPWL, box: Box) -> go.Mesh3d:
    """Every cell as a fan of triangles."""
    start, triangles = 0, []
    for cell in part.complex.cells:
        size = len(clipped_corners(cell, box))
        triangles += [(start, start + k, start + k + 1) for k in range(1, size - 1)]
        start += size
    x, y, z = _surface_points(part, box)
    i, j, k = zip(*triangles, strict=True)
    return go.Mesh3d(
        x=x, y=y, z=z, i=i, j=j, k=k,
        color="#C9D6E2", opacity=0.85, flatshading=True, hoverinfo="skip",
    )  # fmt: skip


def _wall_corners(complex: Complex, number: int, box: Box) -> list[Corner]:
    return clipped_corners(complex.wall_polyhedron(number), box)


def _kink_points(part: CPWL, box: Box, sign: int) -> Polyline:
    """Polyline through the kinks of one sign; None lifts the pen."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    zs: list[float | None] = []
    for number, weight in enumerate(part.weights):
        if weight * sign <= 0:
            continue
        piece = part.pieces_on_cells[part.complex.walls[number].P]
        for corner in _wall_corners(part.complex, number, box):
            xs.append(corner[0])
            ys.append(corner[1])
            zs.append(round(_height(piece, corner), 6))
        for line in (xs, ys, zs):
            line.append(None)
    return xs, ys, zs


def _kink_lines(part: CPWL, box: Box) -> list[go.Scatter3d]:
    """One line per sign."""
    lines = []
    for sign, colour in ((1, PALETTE[0]), (-1, PALETTE[1])):
        x, y, z = _kink_points(part, box, sign)
        lines.append(
            go.Scatter3d(
                x=x, y=y, z=z, mode="lines", line={"color": colour, "width": 6}, hoverinfo="skip"
            )
        )
    return lines


def _slider(stages: Sequence[Decomposition], box: Box) -> dict[str, Any]:
    return {
        "steps": [_slider_step(dec, k, len(stages) - 1, box) for k, dec in enumerate(stages)],
        "currentvalue": {"prefix": "pieces of g + h: "},
        "pad": {"t": 10},
        "len": 0.86,
        "x": 0.07,
    }


def _slider_step(dec: Decomposition, number: int, last: int, box: Box) -> dict[str, Any]:
    """New heights and kinks of all nine traces."""
    traces: list[Polyline] = []
    for part in _level_parts(dec):
        traces.append(_surface_points(part, box))
        traces += [_kink_points(part, box, sign) for sign in (1, -1)]
    x, y, z = (list(entries) for entries in zip(*traces, strict=True))
    q_g, q_h = dec.counts
    place = " (vertex)" if number in (0, last) else ""
    return {
        "method": "restyle",
        "label": f"{q_g} + {q_h}{place}",
        "args": [{"x": x, "y": y, "z": z}],
    }
