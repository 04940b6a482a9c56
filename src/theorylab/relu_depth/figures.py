"""The chapter's pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb, lcm

import numpy as np
from matplotlib.figure import Figure

from theorylab.plotting import COLOURS, PALETTE, Interactive, figure, picture

from .ansatz import templates
from .constructions import max5_network
from .hulls import convex_hull
from .polytopes import LatticePolytope, minkowski, normalized_volume, unit_simplex
from .published import SIZES, from_json, published_certificate
from .rounding import BITS, corners, error_bounds, sup_errors
from .samples import block_polytope
from .su import su_random
from .theory import ceil_log, depth_bounds, forced_primes, primes, smallest_prime_not_dividing

FORMATS: dict[str, int | None] = {
    "integers": 1,
    "binary or decimal fractions": 10,
    "base 6": 6,
    "base 30": 30,
    "all rationals": None,
}
MOST_NUMBERS = 81
SLIDER_BASES = (1, 2, 3, 4, 6, 10, 12, 15, 30, 60, 210, 2310)


@picture
def depth_staircase(most: int = MOST_NUMBERS) -> Figure:
    """Lower and upper bounds on the hidden layers of a maximum, by what the weights may be."""
    fig, axes = figure(8.0, 4.6, 1, 2, sharey=True)
    m = np.arange(2, most + 1)
    conjecture = [ceil_log(2, int(k)) for k in m]
    for ax, which in zip(axes, ("lower", "upper"), strict=True):
        for colour, (name, N) in zip(PALETTE, FORMATS.items(), strict=False):
            values = [getattr(depth_bounds(int(k) - 1, N), which) for k in m]
            offset = 0.035 * (list(FORMATS).index(name) - 2)
            ax.step(m, np.array(values) + offset, where="post", color=colour, label=name)
        ax.step(
            m, conjecture, where="post", ls=":", color="black", lw=1, label="conjecture of 2021"
        )
        ax.set_xscale("log", base=3)
        ax.set_xticks([2, 3, 5, 9, 27, 81], labels=["2", "3", "5", "9", "27", "81"])
        ax.set_xlabel("numbers to compare")
        ax.set_title(f"{which} bounds")
    axes[0].set_ylabel("hidden layers")
    axes[0].set_yticks(range(1, 8))
    axes[0].legend(loc="upper left", fontsize=8)
    return fig


def _ring(polygon: LatticePolytope) -> np.ndarray:
    """Vertices in cyclic order."""
    points = np.array(polygon.vertices, dtype=float)
    centre = points.mean(axis=0)
    angles = np.arctan2(points[:, 1] - centre[1], points[:, 0] - centre[0])
    return points[np.argsort(angles)]


@picture
def mixed_area() -> Figure:
    """A rectangle, a triangle, and their sum with the mixed area shaded."""
    rectangle = LatticePolytope([(2, 0), (5, 0), (2, 1), (5, 1)])
    triangle = unit_simplex(2).translated((0, 2))
    total = minkowski(rectangle, triangle)
    fig, ax = figure(6.4, 3.6)
    corner = np.array(rectangle.translated((0, 2)).vertices, dtype=float)
    shapes = (
        (_ring(total), COLOURS["accent"], 0.35, "mixed area, 8 = 2 · 4"),
        (_ring(LatticePolytope(corner.astype(int).tolist())), PALETTE[0], 0.85, "copy of P, 6"),
        (_ring(LatticePolytope([(5, 3), (6, 3), (5, 4)])), PALETTE[2], 0.85, "copy of Q, 1"),
    )
    for ring, colour, alpha, label in shapes:
        ax.fill(*ring.T, color=colour, alpha=alpha, label=label, lw=0)
    for polygon, name in ((rectangle, "P, volume 6"), (triangle, "Q, volume 1")):
        ring = _ring(polygon)
        ax.fill(*ring.T, facecolor="none", edgecolor="black", lw=1.4)
        left, low = ring.min(axis=0)
        ax.text(left + 0.05, low - 0.28, name, fontsize=9)
    ax.text(2.2, 4.12, "P + Q, volume 15", fontsize=9)
    ax.set_aspect("equal")
    ax.set_xlim(-0.7, 9.6)
    ax.set_ylim(-0.45, 4.6)
    ax.legend(loc="upper right", fontsize=9)
    return fig


def _volumes(level: int, count: int) -> list[int]:
    rng = np.random.default_rng(level)
    found = (su_random(level, 4, rng).polytope for _ in range(count))
    return [normalized_volume(P, 4) for P in found if P.dim == 4]


@picture
def parity_wall(count: int = 40) -> Figure:
    """Volumes modulo 8 of polytopes in dimension 4 that two and three hidden layers make."""
    blocks = [P.volume() for t in templates(5, 2) if (P := block_polytope(t, 5)).dim == 4]
    families = {
        "two layers: all blocks": blocks,
        "two layers: random": _volumes(2, count),
        "three layers: random": _volumes(3, count),
    }
    fig, axes = figure(8.0, 3.2, 1, 3, sharey=True)
    for ax, (name, volumes) in zip(axes, families.items(), strict=True):
        share = Counter(v % 8 for v in volumes)
        heights = [share[r] / len(volumes) for r in range(8)]
        colours = [COLOURS["control"] if r % 2 else COLOURS["measured"] for r in range(8)]
        ax.bar(range(8), heights, color=colours)
        ax.axvline(1, color="black", ls=":", lw=1)
        ax.set_title(name)
        ax.set_xlabel("volume modulo 8")
        ax.set_xticks(range(8))
    axes[0].set_ylabel("share of polytopes")
    axes[1].text(1.15, 0.92 * axes[1].get_ylim()[1], "the simplex", fontsize=9)
    return fig


@picture
def max5_weights() -> Figure:
    """The three weight matrices of the two-hidden-layer network for the maximum of five."""
    net = max5_network()
    sizes = [len(bias) for _, bias in net.layers]
    ratios = {"width_ratios": [9, net.hidden[0], net.hidden[1]]}
    fig, axes = figure(9.0, 4.2, 1, 3, gridspec_kw=ratios)
    names = ("layer 1", "layer 2", "output")
    for ax, (matrix, _), name, size in zip(axes, net.layers, names, sizes, strict=True):
        table = np.array([[float(w) for w in row] for row in matrix])
        shown = ax.imshow(table, cmap="RdBu_r", vmin=-2, vmax=2, aspect="auto")
        ax.set_title(f"{name}\n{size} × {table.shape[1]}")
        ax.set_xlabel("inputs" if ax is axes[0] else "neurons below")
        ax.set_yticks(range(0, size, 5 if size > 1 else 1))
        ax.set_xticks(range(0, table.shape[1], 5 if table.shape[1] > 4 else 1))
        ax.grid(visible=False)
    axes[0].set_ylabel("neurons")
    fig.colorbar(shown, ax=axes, label="weight", ticks=[-2, -1, -0.5, 0, 0.5, 1, 2])
    return fig


@picture
def additivity_map(largest: int = 16) -> Figure:
    """For which dimension and modulus volumes add up: where all binomials vanish."""
    moduli = [p for _, p in zip(range(6), primes(), strict=False)]
    table = np.array(
        [
            [sum(comb(d, i) % p > 0 for i in range(1, d)) for d in range(2, largest + 1)]
            for p in moduli
        ]
    )
    fig, ax = figure(7.6, 3.4)
    ax.imshow(table > 0, cmap="Greys", vmin=0, vmax=2.5, aspect="auto")
    for row, column in zip(*np.nonzero(table == 0), strict=True):
        ax.text(column, row, "adds\nup", ha="center", va="center", fontsize=8, color=PALETTE[0])
    for row, column in zip(*np.nonzero(table), strict=True):
        ax.text(column, row, int(table[row, column]), ha="center", va="center", fontsize=8)
    ax.set_xticks(range(largest - 1), labels=[str(d) for d in range(2, largest + 1)])
    ax.set_yticks(range(len(moduli)), labels=[str(p) for p in moduli])
    ax.set_xlabel("dimension d")
    ax.set_ylabel("modulus p")
    ax.grid(visible=False)
    return fig


@picture
def denominator_barcode() -> Figure:
    """Primes that must divide every denominator, and those of the solutions that we found."""
    shown = (2, 3, 5, 7)
    fig, ax = figure(7.0, 3.4)
    for row, m in enumerate(SIZES):
        certificate = from_json(published_certificate(m))
        found = lcm(*(c.denominator for c, _ in certificate.terms))
        forced = forced_primes(m - 1, 2)
        for column, p in enumerate(shown):
            if found % p == 0:
                ax.barh(row, 0.8, left=column - 0.4, height=0.5, color=COLOURS["muted"])
            if p in forced:
                ax.barh(row, 0.8, left=column - 0.4, height=0.2, color=COLOURS["prediction"])
    ax.barh(1, 0.8, left=0.6, height=0.2, color=COLOURS["control"])
    ax.set_xticks(range(len(shown)), labels=[f"prime {p}" for p in shown])
    ax.set_yticks(range(len(SIZES)), labels=[f"maximum of {m}" for m in SIZES])
    ax.invert_yaxis()
    ax.grid(visible=False)
    handles = [
        ("in the published, averaged solution", COLOURS["muted"]),
        ("forced by the lower bound", COLOURS["prediction"]),
        ("forced among blocks of two pairs", COLOURS["control"]),
    ]
    for name, colour in handles:
        ax.barh([0], [0], color=colour, label=name)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, fontsize=8)
    return fig


@picture
def error_against_bits(bits: Sequence[int] = BITS) -> Figure:
    """Largest error on the cube of the certificate for six numbers with rounded coefficients."""
    fig, ax = figure(6.4, 3.8)
    errors = sup_errors(bits, corners())
    ax.semilogy(bits, errors, "o", color=COLOURS["measured"], label="largest error found")
    ax.semilogy(bits, error_bounds(bits), color=COLOURS["bound"], label="bound")
    ax.set_xlabel("binary places of the coefficients")
    ax.set_ylabel("error on the cube")
    ax.legend()
    return fig


def staircase_slider(most: int = MOST_NUMBERS) -> Interactive:
    """Depth against the number of inputs; a slider chooses the base of the fractions."""
    import plotly.graph_objects as go

    m = list(range(2, most + 1))
    made = go.Figure()
    for place, N in enumerate(SLIDER_BASES):
        for which, colour in (("upper", COLOURS["bound"]), ("lower", COLOURS["prediction"])):
            made.add_trace(
                go.Scatter(
                    x=m,
                    y=[getattr(depth_bounds(k - 1, N), which) for k in m],
                    visible=place == 0,
                    name=f"{which} bound",
                    line={"shape": "hv", "color": colour, "width": 3},
                )
            )
    steps = [
        {
            "label": f"N={N}, p={smallest_prime_not_dividing(N)}",
            "method": "restyle",
            "args": ["visible", [place == k // 2 for k in range(2 * len(SLIDER_BASES))]],
        }
        for place, N in enumerate(SLIDER_BASES)
    ]
    made.update_layout(
        xaxis_title="numbers to compare",
        xaxis_type="log",
        yaxis_title="hidden layers",
        yaxis_range=[0.5, 7.5],
        legend={"orientation": "h", "y": 1.12},
        sliders=[{"active": 0, "steps": steps, "currentvalue": {"prefix": "weights z/N^t with "}}],
    )
    return Interactive(made, height=480)


@picture
def hull_growth(dimensions: Sequence[int] = (2, 3, 4, 5, 6), most: int = 48) -> Figure:
    """Facets of hulls of random points: what the time of an exact volume is spent on."""
    fig, ax = figure(6.4, 3.8)
    counts = [count for count in (8, 12, 16, 24, 32, 48) if count <= most]
    for colour, d in zip(PALETTE, dimensions, strict=False):
        rng = np.random.default_rng(d)
        clouds = [rng.integers(-50, 51, (count, d)).tolist() for count in counts]
        facets = [len(convex_hull([tuple(p) for p in cloud]).facets) for cloud in clouds]
        ax.loglog(counts, facets, "o-", color=colour, label=f"dimension {d}")
    ax.set_xticks(counts, labels=[str(count) for count in counts])
    ax.minorticks_off()
    ax.set_xlabel("random points")
    ax.set_ylabel("facets of their hull")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return fig
