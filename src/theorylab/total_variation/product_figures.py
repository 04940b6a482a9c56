"""Pictures of the product half: the bracket closing, rare events, bounds side by side."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theorylab.plotting import COLOURS, PALETTE, figure, picture
from theorylab.total_variation.product_bounds import tv_product_bounds
from theorylab.total_variation.product_bracket import tv_product_bracket
from theorylab.total_variation.product_instances import (
    Rows,
    near_coins,
    rare_coins,
    shifted_fair_coins,
)
from theorylab.total_variation.product_sampling import plain_monte_carlo, tv_product_fpras
from theorylab.total_variation.products import tv_product_exact

EPS, DELTA = 0.1, 0.05
CELLS = (4, 8, 16, 32, 64, 128, 256, 512)
BOUND_NAMES = {
    "coupling": "coupling",
    "sum_of_marginals": "sum of marginals",
    "hellinger_upper": "Hellinger",
    "pinsker": "Pinsker",
    "bretagnolle_huber": "Bretagnolle–Huber",
    "largest_marginal": "largest marginal",
    "hellinger_lower": "Hellinger",
    "euclidean": "Euclidean",
    "fourier": "Fourier",
}
RARITY = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


@picture
def bracket_figure(sizes: Sequence[int] = (20, 200, 1000), seed: int = 0) -> Figure:
    """The bracket against the number of cells beside sampling, and the same for rare events.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of coordinates.
    seed : int
        Of the coins and of the samplers.
    """
    rng = np.random.default_rng(seed)
    made, axes = figure(9.0, 4.0, 1, 2)
    for k, (n, colour) in enumerate(zip(sizes, PALETTE, strict=False)):
        beside = CELLS[-1] * 2 ** (0.6 + 0.4 * k)
        _draw_closing(axes[0], near_coins(rng, n), f"n = {n}", colour, beside, rng)
    axes[0].set_xscale("log", base=2)
    axes[0].set(xlabel="cells per side", ylabel="value / distance", ylim=(0.7, 1.6))
    axes[0].axhline(1.0, color=COLOURS["muted"], linewidth=1)
    axes[0].set_title("Bracket, sampler (●, ±10 %), plain (×)")
    axes[0].legend()
    _draw_rare(axes[1], 50, rng)
    return made


def _draw_closing(
    axis: Axes,
    pair: tuple[Rows, Rows],
    label: str,
    colour: str,
    beside: float,
    rng: np.random.Generator,
) -> None:
    """Both ends against the cells; the two samplers at the abscissa ``beside``."""
    P, Q = pair
    best = tv_product_bracket(P, Q, rtol=2e-3)
    middle = 0.5 * (best.lower + best.upper)
    found = [tv_product_bracket(P, Q, cells=cells) for cells in CELLS]
    axis.plot(CELLS, [b.lower / middle for b in found], color=colour, label=label)
    axis.plot(CELLS, [b.upper / middle for b in found], color=colour)
    sampled = tv_product_fpras(P, Q, EPS, DELTA, rng, at_least=best.lower)
    plain = plain_monte_carlo(P, Q, sampled.draws, rng)
    axis.errorbar(beside, sampled.value / middle, yerr=EPS, fmt="o", color=colour, capsize=3)
    axis.plot(beside, plain / middle, "x", color=colour)


def _draw_rare(axis: Axes, n: int, rng: np.random.Generator) -> None:
    pairs = [rare_coins(n, Fraction(rarity).limit_denominator(10**9) / n) for rarity in RARITY]
    brackets = [tv_product_bracket(P, Q, cells=200) for P, Q in pairs]
    truths = [0.5 * (b.lower + b.upper) for b in brackets]
    axis.fill_between(
        RARITY,
        [b.lower / t for b, t in zip(brackets, truths, strict=True)],
        [b.upper / t for b, t in zip(brackets, truths, strict=True)],
        color=COLOURS["bound"],
        label="bracket (thinner than the line)",
        linewidth=2,
    )
    sampled = [tv_product_fpras(P, Q, EPS, DELTA, rng).value for P, Q in pairs]
    plain = [plain_monte_carlo(P, Q, 20_000, rng) for P, Q in pairs]
    axis.plot(RARITY, np.divide(sampled, truths), "o", color=COLOURS["measured"], label="sampler")
    axis.plot(
        RARITY, np.divide(plain, truths), "x", color=COLOURS["control"], label="plain, 20 000"
    )
    axis.set_xscale("log")
    axis.set(xlabel="chance of any success", ylim=(-0.1, 1.6))
    axis.set_title(f"Rare events, n = {n}")
    axis.legend()


@picture
def bounds_figure(n: int = 100) -> Figure:
    r"""Every closed-form bound beside the exact distance, as n fair coins are shifted further.

    Parameters
    ----------
    n : int
        Number of coins.
    """
    shifts = [Fraction(k, 400) for k in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96)]
    pairs = [shifted_fair_coins(n, shift) for shift in shifts]
    found = [tv_product_bounds(P, Q) for P, Q in pairs]
    strength = [float(shift) * n**0.5 for shift in shifts]
    made, axis = figure(8.4, 4.4)
    exact = [float(tv_product_exact(P, Q).value) for P, Q in pairs]
    axis.plot(strength, exact, color="black", linewidth=2.6, label="exact")
    for name, colour in zip(found[0].upper_bounds, PALETTE, strict=False):
        values = [min(1.0, b.upper_bounds[name]) for b in found]
        axis.plot(strength, values, "--", color=colour, label=f"≤ {BOUND_NAMES[name]}")
    for name, colour in zip(found[0].lower_bounds, PALETTE, strict=False):
        values = [b.lower_bounds[name] for b in found]
        axis.plot(strength, values, color=colour, label=f"≥ {BOUND_NAMES[name]}")
    axis.set_xscale("log")
    axis.set(
        xlabel=r"$\|\delta\|_2$ = shift · $\sqrt{n}$", ylabel="total variation", ylim=(0, 1.05)
    )
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made
