"""The chapter's pictures; each function returns a matplotlib figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theorylab.attention_rank.bounds import biased_profile, degree_terms, heads_needed, lower_bound
from theorylab.attention_rank.depth import pick_probabilities_3d
from theorylab.attention_rank.heads import tilted_heads
from theorylab.attention_rank.interactive import heads_view
from theorylab.attention_rank.real import (
    digits,
    gaussian_spectrum,
    retrieval_curve,
    stored_spectra,
    stored_token_curve,
    whitened,
)
from theorylab.attention_rank.targets import hobby_rice, sphere
from theorylab.attention_rank.theory import block_budget, fallback_mse, tied_floor, vote_mse
from theorylab.plotting import COLOURS, PALETTE, figure, picture

__all__ = [
    "arms_figure",
    "arms_of",
    "biased_figure",
    "budget_figure",
    "error_figure",
    "filling_figure",
    "growth_figure",
    "heads_view",
    "question_figure",
    "real_figure",
    "splitting_figure",
]


@picture
def question_figure() -> Figure:
    """One query and two keys: all directions seen, and one direction seen."""
    fig, axes = figure(7.0, 3.5, ncols=2)
    angles = np.radians([75, 20, 160])
    query, near, far = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    seen = np.array([np.cos(np.radians(-40)), np.sin(np.radians(-40))])
    for ax, title in zip(axes, ("full rank", "rank 1: one direction"), strict=True):
        ax.add_patch(_circle())
        ax.set(xlim=(-1.65, 1.35), ylim=(-1.1, 1.35), aspect="equal", title=title)
        ax.axis("off")
        for point, name, colour, side in (
            (query, "query", "black", "center"),
            (near, "nearest key", COLOURS["prediction"], "center"),
            (far, "other key", COLOURS["measured"], "right"),
        ):
            ax.plot([0, point[0]], [0, point[1]], color=colour)
            ax.plot(*point, "o", color=colour)
            ax.annotate(name, point * 1.08, ha=side, va="bottom", color=colour)
    axes[1].plot(*np.stack([-1.2 * seen, 1.2 * seen], axis=1), color=COLOURS["muted"], ls="--")
    for point, colour in (
        (query, "black"),
        (near, COLOURS["prediction"]),
        (far, COLOURS["measured"]),
    ):
        shadow = (point @ seen) * seen
        axes[1].plot(*np.stack([point, shadow], axis=1), color=colour, ls=":")
        axes[1].plot(*shadow, "s", color=colour, ms=6)
    return fig


def _circle() -> Any:
    from matplotlib.patches import Circle

    return Circle((0, 0), 1, fill=False, color=COLOURS["muted"])


@picture
def error_figure(d: int = 32, most: int = 1024) -> Figure:
    """Error against the number of rank-1 heads: bounds, random heads, fallback, two layers."""
    fig, ax = figure(7.0, 4.4)
    H = np.unique(np.geomspace(1, 2**22, 60).round().astype(int))
    for kind, style in (("scalar", "-"), ("generalised", "--")):
        low = [lower_bound(d, 1, int(h), kind).lo for h in H]
        name = {"scalar": "scalar values", "generalised": "heads of any kind"}[kind]
        ax.plot(H, low, style, color=COLOURS["bound"], label=f"lower bound, {name}")
    few = [h for h in (1, 4, 16, 64, 256, 1024, 4096) if h <= most]
    found = [tilted_heads(d, h, np.random.default_rng(h)).optimal_values().mse for h in few]
    ax.plot(few, found, "o", color=COLOURS["measured"], label="random hard heads, best values")
    soft = [fallback_mse(d)] * 2
    ax.plot([d, H[-1]], soft, color=COLOURS["accent"], lw=1.2, label="soft heads, linear")
    ax.axhline(tied_floor(d), color=COLOURS["control"], lw=1.2, ls="-.", label="floor, tied heads")
    odd = [int(h) | 1 for h in H if h <= 2**17]
    votes = [vote_mse(d, h) for h in odd]
    ax.plot(odd, votes, color=COLOURS["prediction"], label="two layers that vote")
    ax.set(xscale="log", ylim=(0, 0.75), xlabel="rank-1 heads H", ylabel="mean squared error")
    ax.set_title(f"two orthonormal keys in {d} dimensions")
    ax.legend(loc="upper right", fontsize=8.5, ncols=2)
    return fig


@picture
def filling_figure(d: int = 8, r: int = 1, heads: Sequence[int] = (1, 8, 64)) -> Figure:
    """Energy of the target by degree, and how much of it the heads can reach."""
    fig, axes = figure(7.0, 3.2, ncols=len(heads), sharey=True)
    for ax, H in zip(axes, heads, strict=True):
        energy, filled = degree_terms(d, r, H, "scalar", 6)
        degree = [str(1 + 2 * i) for i in range(len(energy))]
        ax.bar(degree, energy, color="white", edgecolor=COLOURS["muted"], label="out of reach")
        ax.bar(degree, energy * filled, color=COLOURS["prediction"], label="in reach")
        ax.set(title=f"H = {H}", xlabel="degree", ylim=(0, 0.75))
        ax.grid(axis="x", visible=False)
    axes[0].set_ylabel("energy")
    axes[-1].legend(loc="upper right")
    return fig


@picture
def growth_figure() -> Figure:
    """Heads needed against dimension: powers at a fixed error, exponentials at a shrinking one."""
    fig, axes = figure(7.0, 3.9, ncols=2)
    d = np.unique(np.geomspace(32, 1024, 12).round().astype(int))
    for i, eps in enumerate((0.15, 0.115, 0.0975)):
        needed = [float(heads_needed(int(n), 1, eps)) for n in d]
        axes[0].plot(d, needed, "o-", color=PALETTE[i], label=f"error {eps}", ms=3.5)
        axes[0].annotate(
            f"slope {3 + 2 * i}", (d[-1], needed[-1]), xytext=(-8, 4), ha="right",
            textcoords="offset points", color=PALETTE[i], fontsize=9,
        )  # fmt: skip
    axes[0].set(xscale="log", yscale="log", xlabel="dimension d", ylabel="heads needed")
    axes[0].set_title("fixed error, rank 1")
    small = range(8, 65, 4)
    for i, (name, share) in enumerate((("1", 0.0), ("d/4", 0.25), ("d/2", 0.5), ("3d/4", 0.75))):
        needed = [float(heads_needed(n, max(int(share * n), 1), 0.15 / n**0.5)) for n in small]
        axes[1].plot(small, needed, color=PALETTE[i], label=f"rank {name}")
    axes[1].set(yscale="log", xlabel="dimension d", title="error 0.15/√d")
    for ax in axes:
        ax.legend(loc="upper left")
    return fig


@picture
def budget_figure(d: int = 64) -> Figure:
    """The fixed budget H r = d: hard heads in blocks, the linear fallback, the lower bounds."""
    fig, ax = figure(7.0, 3.9)
    H = [2**k for k in range(int(np.log2(d)) + 1)]
    hard = [block_budget(d, h) for h in H]
    low = [lower_bound(d, d // h, h, "scalar").lo for h in H]
    lower = [lower_bound(d, d // h, h, "matrix").lo for h in H]
    soft = [0.0, *([fallback_mse(d)] * (len(H) - 1))]
    ax.plot(H, hard, "o-", color=COLOURS["measured"], label="hard heads on blocks")
    ax.plot(H, soft, "s-", color=COLOURS["accent"], label="soft heads, linear")
    ax.plot(H, low, "-", color=COLOURS["bound"], label="lower bound, scalar values")
    ax.plot(H, lower, "--", color=COLOURS["bound"], label="lower bound, value matrices")
    ax.set(xscale="log", xlabel="heads H, each of rank d/H", ylabel="mean squared error")
    ax.set_xticks(H, [str(h) for h in H])
    ax.minorticks_off()
    ax.set_title(f"two orthonormal keys in {d} dimensions")
    ax.legend(loc="upper left")
    return fig


@picture
def biased_figure(d: int = 8, L: int = 9) -> Figure:
    """A sign that changes L times and has no energy below degree L."""
    tau, _ = hobby_rice(d, L)
    fig, axes = figure(7.0, 3.4, ncols=2)
    t = np.linspace(-1, 1, 4001)
    F = np.prod(np.sign(t[:, None] - tau), axis=1)
    axes[0].plot(t, F, color=COLOURS["prediction"], lw=1.3)
    weight = (1 - t**2) ** ((d - 3) / 2)
    axes[0].fill_between(t, weight, color=COLOURS["muted"], alpha=0.25, lw=0)
    axes[0].set(xlabel="t = ⟨w, y⟩", ylabel="F(t)", title=f"d = {d}: {L} sign changes")
    energy = biased_profile(d, tau, 31)
    degrees = np.arange(1, 32, 2)
    axes[1].bar(degrees, energy[1::2], width=1.4, color=COLOURS["prediction"])
    axes[1].axvline(L - 1, color=COLOURS["control"], ls="--")
    axes[1].set(xlabel="degree", ylabel="energy", title=f"none below degree {L}")
    return fig


@picture
def arms_figure(arms: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Errors of every seed, by arm.

    Parameters
    ----------
    arms : mapping of title to mapping of arm to errors
        One panel per title.
    """
    fig, axes = figure(7.0, 3.8, ncols=len(arms), sharey=True, squeeze=False)
    for ax, (title, errors) in zip(axes[0], arms.items(), strict=True):
        for place, (name, values) in enumerate(errors.items()):
            spread = np.linspace(-0.18, 0.18, len(values))
            colour = COLOURS["measured"] if "split/" in name[:6] else COLOURS["prediction"]
            ax.plot(place + spread, sorted(values), "o", color=colour, ms=4, alpha=0.85)
        ax.set_xticks(range(len(errors)), [name.replace("/", "\n") for name in errors])
        ax.set(title=title, xlim=(-0.6, len(errors) - 0.4))
        ax.grid(axis="x", visible=False)
    axes[0][0].set(ylabel="mean squared error", ylim=(0, None))
    return fig


def arms_of(record: Any) -> dict[str, tuple[float, ...]]:
    """Errors by arm that a record of a training claim keeps among its sizes."""
    return {
        name.removeprefix("errors "): value
        for name, value in record.finding.sizes.items()
        if name.startswith("errors ")
    }


@picture
def splitting_figure() -> Figure:
    """Which of three keys a random direction picks, over half the sphere."""
    keys = np.array([[1, 0.5, 0.02], [1, 0.5, -0.02], [1, -0.7, 0.0]])
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    query = np.array([1.0, 0.0, 0.0])
    fig, ax = figure(7.0, 3.8)
    _draw_picks(ax, keys, query)
    share = pick_probabilities_3d(keys, query)
    for i, (name, x, y) in enumerate((("near", 0.5, 0.22), ("near", 0.5, -0.28), ("far", -1.2, 0))):
        ax.text(x, y, f"{name} key\npicked {share[i]:.3f}", ha="left", va="center", fontsize=10)
    return fig


def _draw_picks(ax: Axes, keys: np.ndarray, query: np.ndarray) -> None:
    """The half sphere about the query in an area-preserving map, coloured by the pick."""
    from matplotlib.colors import ListedColormap

    grid = np.linspace(-np.sqrt(2), np.sqrt(2), 601)
    a, b = np.meshgrid(grid, grid)
    square = a**2 + b**2
    lift = np.sqrt(np.maximum(1 - square / 4, 0))
    points = np.stack([1 - square / 2, a * lift, b * lift], axis=-1)
    pick = (points @ keys.T).argmax(axis=-1).astype(float)
    pick[square > 2] = np.nan
    colours = ListedColormap(["#9ec9e8", "#5aa0d0", "#f0a878"])
    ax.imshow(pick, extent=(grid[0], grid[-1], grid[0], grid[-1]), origin="lower", cmap=colours)
    ax.axis("off")
    ax.set_title("directions, coloured by the key that they pick")
    ax.plot(0, 0, "k+", ms=9)
    ax.annotate("query", (0, 0), xytext=(5, 5), textcoords="offset points", fontsize=9)


@picture
def real_figure(trials: int = 4000) -> Figure:
    """Spectra of the 72 heads of a language model; retrieval against rank on real keys."""
    fig, axes = figure(7.0, 3.9, ncols=2)
    spectra = stored_spectra()
    for row in spectra:
        axes[0].plot(np.arange(1, 33), row / row[0], color=COLOURS["prediction"], lw=0.4, alpha=0.6)
    gauss = gaussian_spectrum(384, 32, np.random.default_rng(0))
    axes[0].plot(np.arange(1, 33), gauss / gauss[0], color=COLOURS["control"], label="Gaussian")
    axes[0].axvline(32, color=COLOURS["muted"], ls="--", lw=1)
    axes[0].set(xlabel="direction", ylabel="singular value / largest", ylim=(0, 1.02))
    axes[0].set_title("72 heads of MiniLM, rank 32")
    axes[0].legend(loc="upper right")
    ranks = [1, 2, 4, 8, 16, 32, 64]
    named = (("digits", digits()), ("isotropic", sphere(2000, 64, np.random.default_rng(1))))
    for (name, X), colour in zip(named, PALETTE, strict=False):
        curve = retrieval_curve(X, ranks, 16, np.random.default_rng(2), trials)
        axes[1].plot(np.array(ranks) / 64, curve.accuracy, "o-", color=colour, label=name)
    white = whitened(digits())
    few = [1, 2, 4, 8, 16, 32, white.shape[1]]
    curve = retrieval_curve(white, few, 16, np.random.default_rng(2), trials)
    axes[1].plot(
        np.array(few) / white.shape[1],
        curve.accuracy,
        "--",
        color=PALETTE[3],
        label="digits, white",
    )
    tokens = stored_token_curve()
    axes[1].plot(
        np.array(tokens["ranks"]) / 384, tokens["accuracy"], "s-", color=PALETTE[2], label="tokens"
    )
    axes[1].set(
        xscale="log", xlabel="rank / dimension", ylabel="nearest of 16 found", ylim=(0, 1.02)
    )
    axes[1].set_xticks([1 / 64, 1 / 16, 1 / 4, 1], ["1/64", "1/16", "1/4", "1"])
    axes[1].minorticks_off()
    axes[1].legend(loc="upper left")
    return fig
