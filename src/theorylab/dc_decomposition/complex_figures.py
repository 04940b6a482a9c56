"""Pictures of plane complexes, of their kinks, and of the polyhedron of the standard example."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import atan2
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theorylab.exact import Polyhedron
from theorylab.plotting import COLOURS, PALETTE, figure, picture

from .complexes import Complex
from .decomposition import Decomposition
from .examples import TRIANGLE_POINTS, median_of_three, standard_example, twisted_triangles
from .functions import CPWL, AffineMap, regions
from .polyhedron import DecompositionPolyhedron
from .regular import regularity

Box = tuple[int, int, int, int]
Corner = tuple[float, float]
CONVEX, CONCAVE = PALETTE[0], PALETTE[1]
_LABEL_OFFSETS = {
    "A": (4, 6),
    "B": (-14, 3),
    "C": (-6, -15),
    "a": (2, -14),
    "b": (6, 4),
    "c": (-12, 3),
}
"""Points, from the corners of the twisted triangles to where their names cross no wall."""
_TINTS = ("#E8F1F8", "#FBEFE6", "#E8F5F0", "#F8EDF4", "#FCF4E3", "#EBF5FB", "#EEEEEE")


def box_polyhedron(box: Box) -> Polyhedron:
    """The rectangle (left, right, bottom, top)."""
    left, right, bottom, top = box
    return Polyhedron.from_inequalities(
        2, [((1, 0), -left), ((-1, 0), right), ((0, 1), -bottom), ((0, -1), top)]
    )


def clipped_corners(part: Polyhedron, box: Box) -> list[Corner]:
    """Corners, counterclockwise, of a plane polyhedron inside a rectangle."""
    corners = [(float(x), float(y)) for x, y in part.intersection(box_polyhedron(box)).points]
    if not corners:
        return []
    cx, cy = _centre(corners)
    return sorted(corners, key=lambda corner: atan2(corner[1] - cy, corner[0] - cx))


def draw_kinks(axes: Axes, f: CPWL, box: Box, *, faint: bool = True) -> None:
    """Convex kinks in solid blue, concave ones in dashed vermilion, thick where strong."""
    for number, weight in enumerate(f.weights):
        corners = clipped_corners(f.complex.wall_polyhedron(number), box)
        if len(corners) < 2:
            continue
        xs, ys = zip(*corners, strict=True)
        if weight:
            axes.plot(
                xs,
                ys,
                color=CONVEX if weight > 0 else CONCAVE,
                linestyle="-" if weight > 0 else (0, (4, 2)),
                linewidth=1.2 + 1.2 * abs(float(weight)),
                solid_capstyle="round",
            )
        elif faint:
            axes.plot(xs, ys, color="#C9C9C9", linewidth=0.8)


def draw_pieces(axes: Axes, f: CPWL, box: Box, names: Sequence[str] = ("x", "y")) -> None:
    """Tint the cells by their affine map and write the map into them."""
    maps = sorted(set(f.pieces_on_cells))
    for cell, piece in zip(f.complex.cells, f.pieces_on_cells, strict=True):
        corners = clipped_corners(cell, box)
        xs, ys = zip(*corners, strict=True)
        axes.fill(xs, ys, color=_TINTS[maps.index(piece) % len(_TINTS)], linewidth=0)
    for region in regions(f.complex, f.weights):
        polygons = [clipped_corners(f.complex.cells[k], box) for k in region]
        x, y = _centre(max(polygons, key=_area))
        text = affine_text(f.pieces_on_cells[region[0]], names)
        axes.text(x, y, text, ha="center", va="center", fontsize=10)


def _centre(corners: Sequence[Corner]) -> Corner:
    xs, ys = zip(*corners, strict=True)
    return sum(xs) / len(xs), sum(ys) / len(ys)


def _area(corners: Sequence[Corner]) -> float:
    following = [*corners[1:], *corners[:1]]
    return sum(a * d - b * c for (a, b), (c, d) in zip(corners, following, strict=True)) / 2


def affine_text(piece: AffineMap, names: Sequence[str]) -> str:
    """The affine map as mathematics, for example ``$2x-y+1$``."""
    slope, constant = piece
    terms = [_signed_term(c, name) for c, name in zip(slope, names, strict=True) if c]
    if constant or not terms:
        terms.append(f"{'+' if constant > 0 else ''}{constant}")
    return "$" + "".join(terms).removeprefix("+") + "$"


def _signed_term(coefficient: Fraction, name: str) -> str:
    size = "" if abs(coefficient) == 1 else str(abs(coefficient))
    return ("+" if coefficient > 0 else "-") + size + name


def _bare(axes: Axes, box: Box) -> None:
    axes.set_xlim(box[0], box[1])
    axes.set_ylim(box[2], box[3])
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)


def anchored(dec: Decomposition, point: Sequence[int]) -> tuple[CPWL, CPWL]:
    """The two parts, moved by one affine map so that h vanishes around the point."""
    complex = dec.f.complex
    home = next(k for k, cell in enumerate(complex.cells) if cell.contains(point))
    shift = CPWL(complex, [dec.h.pieces_on_cells[home]] * len(complex.cells))
    return dec.g - shift, dec.h - shift


@picture
def median_figure() -> Figure:
    """The median of 0, x, y as g - h: six pieces against three and three."""
    complex, f = median_of_three()
    (dec,) = DecompositionPolyhedron(complex, f).vertices()
    box = (-3, 3, -3, 3)
    made, panels = figure(width=8.4, height=3.1, ncols=3)
    for axes, part, name in zip(panels, (f, *anchored(dec, (-1, -2))), "fgh", strict=True):
        draw_pieces(axes, part, box)
        draw_kinks(axes, part, box)
        _bare(axes, box)
        axes.set_title(f"${name}$: {part.pieces()} pieces")
    return made


@picture
def polyhedron_figure() -> Figure:
    r"""A plane slice of the polyhedron of the standard example: two cones and their overlap.

    The slice is spanned by the edge between the two vertices and by the weights of ``|x| + |y|``.
    """
    return _slice_figure(*standard_example())


def _slice_figure(complex: Complex, f: CPWL) -> Figure:
    first, second = DecompositionPolyhedron(complex, f).vertices()
    along = [b - a for a, b in zip(first.w_g, second.w_g, strict=True)]
    upward = [abs(ray[0]) != abs(ray[1]) for ray in complex.rays]  # type: ignore[attr-defined]
    cone = _slice(first.w_g, along, upward, [0] * len(along))
    shifted = _slice(first.w_g, along, upward, f.weights)
    box = (-4, 3, -2, 2)
    made, axes = figure(width=6.4, height=4.2)
    for part, colour, label in (
        (cone, CONVEX, r"$g$ convex"),
        (shifted, CONCAVE, r"$h=g-f$ convex"),
    ):
        xs, ys = zip(*clipped_corners(part, box), strict=True)
        axes.fill(xs, ys, color=colour, alpha=0.16, linewidth=0)
        axes.fill(xs, ys, fill=False, edgecolor=colour, linewidth=1.5, label=label)
    axes.plot([0, 1], [0, 0], color=COLOURS["accent"], linewidth=4, label="bounded edge")
    for place, dec, align in ((0, first, "right"), (1, second, "left")):
        axes.plot(place, 0, "o", color="black", zorder=5)
        label = f"  {dec.counts[0]} + {dec.counts[1]} pieces  "
        axes.text(place, -0.12, label, ha=align, va="top")
    axes.set_xlim(box[0], box[1])
    axes.set_ylim(box[2], box[3])
    axes.set_xlabel("along the edge")
    axes.set_ylabel("multiples of $|x|+|y|$ added")
    axes.legend(loc="lower left")
    return made


def _slice(
    start: Sequence[Fraction],
    along: Sequence[Fraction],
    upward: Sequence[int],
    bounds: Sequence[Fraction | int],
) -> Polyhedron:
    """The (s, r) with ``start + s * along + r * upward >= bounds``."""
    return Polyhedron.from_inequalities(
        2,
        [
            ((a, int(u)), w - bound)
            for w, a, u, bound in zip(start, along, upward, bounds, strict=True)
            if a or u
        ],
    )


@picture
def twisted_figure() -> Figure:
    """The twisted triangles; on three walls no convex function can kink."""
    complex = twisted_triangles()
    stiff = {k for k, y in enumerate(regularity(complex).certificate) if y}
    box = (-2, 6, -2, 6)
    made, axes = figure(width=4.6, height=4.4)
    for number in range(len(complex.walls)):
        corners = clipped_corners(complex.wall_polyhedron(number), box)
        xs, ys = zip(*corners, strict=True)
        style: dict[str, Any] = (
            {"color": PALETTE[1], "linewidth": 3.2}
            if number in stiff
            else {"color": COLOURS["muted"], "linewidth": 1.2}
        )
        axes.plot(xs, ys, **style)
    for name, (x, y) in TRIANGLE_POINTS.items():
        axes.plot(x, y, "o", color="black", markersize=4)
        place = _LABEL_OFFSETS[name]
        axes.annotate(f"${name}$", (x, y), xytext=place, textcoords="offset points")
    _bare(axes, box)
    axes.set_title("no convex function kinks on the three thick walls")
    return made
