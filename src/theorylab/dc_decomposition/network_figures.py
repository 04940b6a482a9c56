"""Pictures of counts, random flags, arcs on the sphere, and networks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from theorylab.exact import IntVector, Vector
from theorylab.plotting import COLOURS, PALETTE, figure, picture
from theorylab.run import Run

from . import flags, sizes
from .complex_figures import draw_kinks
from .complexes import Complex
from .counterexamples import crossing_stars
from .data import mutual_information, two_moons_nets
from .decomposition import Decomposition
from .fans import local_rule
from .flag_sampling import sample_flags
from .functions import CPWL
from .networks import convex_net
from .paraboloids import tangents
from .polyhedron import DecompositionPolyhedron, decompose
from .splittings import hyperplane_splitting
from .submodular import SubmodularDecompositions, difference

Counts = tuple[int, int]


# --- counts of all vertices -------------------------------------------------------------------


@picture
def staircase_figure(table: str = "iris") -> Figure:
    """Pieces of g and of h for all vertices, the Pareto staircase, and the textbook pair.

    Parameters
    ----------
    table : {"iris", "wine", "digits"}
    """
    pair = mutual_information(table)
    vertices = SubmodularDecompositions(4, difference(pair)).vertices()
    counts, numbers = np.unique([v.counts for v in vertices], axis=0, return_counts=True)
    made, axes = figure(width=6.4, height=4.6)
    axes.scatter(
        counts[:, 0],
        counts[:, 1],
        s=22 + 16 * numbers,
        color=COLOURS["muted"],
        alpha=0.55,
        linewidth=0,
        label=f"{len(vertices)} vertices",
    )
    _draw_staircase(axes, [(int(g), int(h)) for g, h in counts])
    axes.plot(*pair.counts, "s", color=COLOURS["control"], markersize=8, label="textbook pair")
    axes.annotate(
        f"{pair.counts}", pair.counts, xytext=(-8, -14), textcoords="offset points", ha="right"
    )
    axes.set_xlabel("pieces of $g$")
    axes.set_ylabel("pieces of $h$")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="lower left")
    return made


def _draw_staircase(axes: Axes, counts: Sequence[Counts]) -> None:
    front = pareto_counts(counts)
    xs, ys = zip(*front, strict=True)
    axes.step(xs, ys, where="post", color=COLOURS["measured"], linewidth=1.4)
    axes.plot(xs, ys, "o", color=COLOURS["measured"], label="no vertex is better")


def pareto_counts(counts: Sequence[Counts]) -> list[Counts]:
    """The pairs that no other one improves, by the first entry."""
    front: list[Counts] = []
    for pair in sorted(set(counts)):
        if not front or pair[1] < front[-1][1]:
            front.append(pair)
    return front


# --- arcs on the sphere -----------------------------------------------------------------------

CENTRE = (-0.35, 0.25, 0.9)
"""Direction that the map of the sphere has in its middle."""


def sphere_map(points: np.ndarray) -> np.ndarray:
    """Equal-area map of unit vectors, shape (N, 3) to (N, 2); the antipode is the rim."""
    axis = np.array(CENTRE) / np.linalg.norm(CENTRE)
    side = np.cross(axis, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    frame = np.stack([side, np.cross(axis, side)])
    depth = points @ axis
    return points @ frame.T * np.sqrt(2 / np.maximum(1 + depth, 1e-9))[:, None]


def _arc(rays: Sequence[Sequence[int]]) -> np.ndarray:
    """Unit vectors along the arc between two rays."""
    first, last = (np.array(ray, dtype=float) / np.linalg.norm(ray) for ray in rays)
    angle = np.arccos(np.clip(first @ last, -1, 1))
    steps = np.linspace(0, 1, 60)[:, None]
    return (np.sin((1 - steps) * angle) * first + np.sin(steps * angle) * last) / np.sin(angle)


def crossings(complex: Complex, w: Vector) -> list[IntVector]:
    """Rays where exactly two hyperplanes of the complex meet and the function kinks on both."""
    planes: dict[IntVector, set[IntVector]] = defaultdict(set)
    kinks: dict[IntVector, int] = defaultdict(int)
    for number, wall in enumerate(complex.walls):
        for ray in complex.wall_polyhedron(number).rays:
            planes[ray].add(wall.eta)
            kinks[ray] += bool(w[number])
    return [ray for ray, normals in planes.items() if len(normals) == 2 and kinks[ray] == 4]


def _draw_sphere(axes: Axes, complex: Complex, w: Vector) -> None:
    for number in range(len(complex.walls)):
        curve = sphere_map(_arc(complex.wall_polyhedron(number).rays))
        gaps = np.linalg.norm(np.diff(curve, axis=0), axis=1) > 0.5
        curve[1:][gaps] = np.nan
        if w[number]:
            axes.plot(*curve.T, color=PALETTE[0], linewidth=1 + 0.8 * float(w[number]))
        else:
            axes.plot(*curve.T, color="#D6D6D6", linewidth=0.8)
    points = np.array([np.array(r) / np.linalg.norm(r) for r in crossings(complex, w)])
    axes.plot(*sphere_map(points).T, "o", color=COLOURS["measured"], markersize=5)
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.plot(2 * np.cos(turn), 2 * np.sin(turn), color="#B5B5B5", linewidth=1)
    axes.set_aspect("equal")
    axes.set_axis_off()


@picture
def sphere_figure() -> Figure:
    """Two decompositions of the crossing stars on a map of the sphere: the rule and a better one.

    Thick arcs are kinks, dots are crossings of two of them; the better pair has one crossing less
    in each part.
    """
    complex, f = crossing_stars()
    rule = local_rule(complex, f)
    better = next(v for v in DecompositionPolyhedron(complex, f).vertices() if v.counts == (11, 11))
    made, panels = figure(width=7.6, height=8.0, nrows=2, ncols=2)
    if not isinstance(rule, Decomposition):
        raise ArithmeticError("the local rule gives a decomposition of the crossing stars")
    for row, (name, dec) in zip(panels, {"rule": rule, "better": better}.items(), strict=True):
        for axes, part, w, count in zip(row, "gh", (dec.w_g, dec.w_h), dec.counts, strict=True):
            _draw_sphere(axes, complex, w)
            axes.set_title(
                f"{name}: ${part}$ has {count} pieces, {len(crossings(complex, w))} crossings"
            )
    return made


# --- random flags -----------------------------------------------------------------------------


@picture
def flags_figure(batches: int = 250, size: int = 1000) -> Figure:
    """Shares of random flags on which the local rule is beaten, by batches, with the exact law.

    Parameters
    ----------
    batches, size : int
        Number of batches, and flags in each.
    """
    rng = Run(claim="dc_decomposition.flags-figure").rng("flags")
    vectors = rng.standard_normal((4, 3, batches * size))
    minus, plus = sample_flags(vectors, -1), sample_flags(vectors, 1)
    made, axes = figure(width=7.2, height=3.6)
    law = flags.flag_law(-1), flags.flag_law(1)
    shown = (
        (minus.strictly, law[0].strictly, "$-$: beaten in both parts", PALETTE[0]),
        (minus.dominated, law[0].dominated, "$-$: dominated", PALETTE[1]),
        (plus.total, law[1].total, "$+$: total beaten", PALETTE[2]),
    )
    for outcomes, exact, label, colour in shown:
        shares = outcomes.reshape(batches, size).mean(axis=1)
        axes.hist(shares, bins=24, color=colour, alpha=0.55, label=label)
        axes.axvline(float(exact), color=colour, linewidth=2)
        axes.annotate(
            f"${exact.numerator}/{exact.denominator}$",
            (float(exact), 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -12),
            textcoords="offset points",
        )
    axes.set_xlabel(f"share of {size} random flags")
    axes.set_ylabel("batches")
    axes.set_xlim(0, 1)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
    return made


# --- size against depth -----------------------------------------------------------------------


def spiral(count: int) -> list[tuple[int, int]]:
    """Integer points on a spiral, distinct for up to about a hundred."""
    return [
        (round(6 * np.sqrt(k) * np.cos(2.4 * k)), round(6 * np.sqrt(k) * np.sin(2.4 * k)))
        for k in range(count)
    ]


@picture
def size_depth_figure(count: int = 32) -> Figure:
    """Neurons against hidden layers for one convex function of two variables, all group sizes.

    Parameters
    ----------
    count : int
        Number of affine pieces.
    """
    maps = tangents(spiral(count))
    nets = {group: convex_net(maps, 2, group) for group in range(1, count + 1)}
    bound = sizes.chen_bound(count, count)
    made, axes = figure(width=6.8, height=4.2)
    depths, neurons = zip(*((net.depth, net.size) for net in nets.values()), strict=True)
    axes.plot(depths, neurons, "o", color=COLOURS["muted"], alpha=0.6, label="other group sizes")
    for group, name, colour in ((1, "tree", PALETTE[0]), (count, "shallow", PALETTE[1])):
        net = nets[group]
        axes.plot(net.depth, net.size, "D", color=colour, markersize=9, label=f"{name}, s={group}")
    axes.axhline(bound.neurons, color=COLOURS["bound"], linestyle="--")
    axes.annotate(
        f"general bound: {bound.neurons} neurons, {bound.depth} layers",
        (0.98, bound.neurons),
        xycoords=("axes fraction", "data"),
        xytext=(0, 4),
        textcoords="offset points",
        ha="right",
    )
    axes.set_yscale("log")
    axes.set_xlabel("hidden layers")
    axes.set_ylabel("neurons")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="center right")
    return made


# --- a trained network ------------------------------------------------------------------------


def _moons(axes: Axes) -> None:
    from sklearn.datasets import make_moons

    points, labels = make_moons(200, noise=0.1, random_state=0)
    for label, marker in ((0, "o"), (1, "^")):
        axes.scatter(
            *points[labels == label].T, s=9, marker=marker, color=COLOURS["muted"], linewidth=0
        )


def _panel(axes: Axes, part: CPWL, title: str, box: tuple[int, int, int, int]) -> None:
    draw_kinks(axes, part, box, faint=False)
    axes.set_xlim(box[0], box[1])
    axes.set_ylim(box[2], box[3])
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title)
    for line in axes.lines:
        line.set_linewidth(1.3)


@picture
def trained_figure(index: int = 0) -> Figure:
    """A trained network: its kinks, its best decomposition, and the classical splitting.

    Parameters
    ----------
    index : int
        Which of ``two_moons_nets``.
    """
    complex, f = Complex.from_network(two_moons_nets()[index].net)
    best = min(decompose(complex, f), key=lambda dec: sum(dec.counts))
    classical = hyperplane_splitting(f)
    made, panels = figure(width=8.6, height=5.6, nrows=2, ncols=3)
    box = (-2, 3, -2, 2)
    _moons(panels[0, 0])
    _panel(panels[0, 0], f, f"$f$: {f.pieces()} pieces", box)
    for row, (name, dec) in enumerate({"best": best, "classical": classical}.items()):
        for column, part in ((1, "g"), (2, "h")):
            function, count = getattr(dec, part), dec.counts[column - 1]
            _panel(panels[row, column], function, f"{name} ${part}$: {count} pieces", box)
    _legend(panels[1, 0])
    return made


def _legend(axes: Axes) -> None:
    entries: Sequence[tuple[Any, Any, str]] = (
        (PALETTE[0], "-", "convex kink"),
        (PALETTE[1], (0, (4, 2)), "concave kink"),
    )
    for colour, style, label in entries:
        axes.plot([], [], color=colour, linestyle=style, label=label)
    axes.plot([], [], "o", color=COLOURS["muted"], label="data, first moon")
    axes.plot([], [], "^", color=COLOURS["muted"], label="data, second moon")
    axes.set_axis_off()
    axes.legend(loc="center")
