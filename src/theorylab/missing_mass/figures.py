"""The chapter's pictures; every function returns a figure."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from theorylab.missing_mass import theory
from theorylab.missing_mass.enumeration import uniform_outcomes
from theorylab.missing_mass.fingerprint import (
    BENCHMARKS,
    Fingerprint,
    Population,
    benchmark_population,
    uniform,
)
from theorylab.missing_mass.ga import released_mutation, search
from theorylab.missing_mass.linear import Linear, chebyshev, good_turing, minimal_bias
from theorylab.missing_mass.moments import Moments, moments
from theorylab.missing_mass.optimum import optimal
from theorylab.missing_mass.plugins import natural_good_turing
from theorylab.missing_mass.sampling import draw
from theorylab.plotting import COLOURS, PALETTE, figure, picture


@picture
def bias_curves(size: int = 1000, seed: int = 0) -> Figure:
    """Bias of Good-Turing and of the minimal-bias estimator against n, six populations.

    On the right also what holds for every population (truncation at n/2, Chebyshev), and a
    population whose largest probability 1 - 1/n keeps the remainder from decaying.
    """
    rng = np.random.default_rng(seed)
    sizes = np.arange(500, 10_001, 500)
    fig, (left, right) = figure(9.0, 4.2, ncols=2)
    for name, colour in zip(BENCHMARKS, PALETTE, strict=False):
        population = benchmark_population(name, size, rng)
        for ax, estimator in ((left, "good_turing"), (right, "minimal_bias")):
            logs = [theory.log10_bias(population, int(n), 0, estimator) for n in sizes]
            ax.plot(sizes, logs, color=colour, label=name)
    right.plot(sizes, -sizes * np.log10(2), "--", color=COLOURS["bound"], label="any p: K = n/2")
    right.plot(
        sizes, (1 - 2 * sizes) * np.log10(2), ":", color=COLOURS["bound"], label="any p: Chebyshev"
    )
    moving = [_log10_remainder_of_moving(int(n)) for n in sizes]
    right.plot(sizes, moving, color=COLOURS["control"], lw=3, label="p_max = 1 - 1/n")
    left.set(title="Good–Turing", xlabel="n", ylabel="log10 |bias|")
    right.set(title="minimal bias", xlabel="n")
    left.legend(fontsize=8)
    right.legend(fontsize=8)
    return fig


def _log10_remainder_of_moving(n: int) -> float:
    population = Population([Fraction(n - 1, n), Fraction(1, n)])
    return theory.log10_bias(population, n, 0, "minimal_bias")


@picture
def coefficients(n: int = 20) -> Figure:
    """Coefficients of three nearly unbiased estimators; truncation cures the ±1 at k = n."""
    estimators = {
        "all terms": (minimal_bias(n), COLOURS["control"], "o"),
        "stopped at n/2": (minimal_bias(n, n // 2), COLOURS["bound"], "s"),
        "Chebyshev": (chebyshev(n), COLOURS["prediction"], "^"),
    }
    fig, ax = figure(7.5, 4.0)
    for offset, (label, (estimator, colour, marker)) in zip(
        (-0.2, 0.0, 0.2), estimators.items(), strict=True
    ):
        c = estimator.coefficients
        k = np.arange(1, len(c) + 1) + offset
        ax.vlines(k, 0, c, color=colour, lw=1)
        ax.plot(k, c, marker, color=colour, label=label)
    ax.set_yscale("symlog", linthresh=1e-6)
    ax.axhline(0, color=COLOURS["muted"], lw=0.8)
    ax.set(xlabel="k", ylabel="coefficient of Φ_k", title=f"n = {n}")
    ax.legend()
    return fig


@picture
def dominant_class(n: int = 20, others: int = 10) -> Figure:
    """Error of B and of its truncation, relative to Good-Turing, against p_max."""
    tops = np.linspace(1 / (others + 1), 0.99, 60)
    rows = [_relative_errors(float(top), n, others) for top in tops]
    fig, ax = figure(7.0, 3.8)
    ax.semilogy(tops, [row[0] for row in rows], color=COLOURS["control"], label="all terms")
    ax.semilogy(tops, [row[1] for row in rows], "--", color=COLOURS["bound"], label="K = n/2")
    ax.axvline(0.5, color=COLOURS["muted"], lw=1)
    ax.set(
        xlabel="largest probability",
        ylabel="MSE / MSE of Good–Turing",
        title=f"n = {n}, one class against {others} equal ones",
    )
    ax.legend()
    return fig


def _relative_errors(top: float, n: int, others: int) -> tuple[float, float]:
    population = Population.from_atoms([(1 - top) / others, top], [others, 1])
    found = moments(population, n, n)
    unit = float(good_turing(n).mse(found))
    every, half = minimal_bias(n).mse(found), minimal_bias(n, n // 2).mse(found)
    return float(every) / unit, float(half) / unit


@picture
def convex_bowl(
    n: int = 100, seed: int = 0, generations: Sequence[int] = (0, 20, 40, 60, 80, 100)
) -> Figure:
    """Plug-in error over two coefficients, with the true one drawn over it.

    Filled: what a search sees. Lines: the truth. The search walks, one solve jumps, to the bottom
    of a bowl that is not the bottom of the true one.
    """
    population = uniform(n)
    sample = draw(population, n, np.random.default_rng(seed))
    plug_in = natural_good_turing(sample.fingerprint)
    seen, truth = moments(plug_in, n, 2), moments(population, n, 2)
    path = np.array([_search_point(sample.fingerprint, g, seed) for g in generations])
    fig, ax = figure(7.2, 5.0)
    first, second = np.meshgrid(np.linspace(0.2, 1.2, 61), np.linspace(-0.6, 1.2, 61))
    levels = np.geomspace(1, 12, 12)
    filled = ax.contourf(first, second, _over_grid(seen, first, second), levels, cmap="Blues_r")
    ax.contour(
        first,
        second,
        _over_grid(truth, first, second),
        levels,
        colors=COLOURS["measured"],
        alpha=0.7,
    )
    ax.plot(*path.T, "o-", color=COLOURS["accent"], label="genetic search")
    for label, marker, point in (
        ("Good–Turing", "s", (1.0, 0.0)),
        ("optimum of the plug-in", "*", _optimum(seen)),
        ("true optimum", "D", _optimum(truth)),
    ):
        ax.plot(*point, marker, ms=10, color="white", mec="black", label=label, ls="none")
    fig.colorbar(filled, ax=ax, label="plug-in MSE / its minimum")
    ax.set(xlabel="n c₁", ylabel="n c₂", title=f"uniform, S = n = {n}")
    legend = ax.legend(loc="lower left", fontsize=9, frameon=True)
    legend.set_alpha(0.9)
    return fig


def _over_grid(mom: Moments, first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """MSE over n c_1 and n c_2, in units of its minimum."""
    lowest = optimal(mom, 2).value
    errors = [
        float(Linear([a / mom.n, b / mom.n]).mse(mom)) / lowest
        for a, b in zip(first.ravel(), second.ravel(), strict=True)
    ]
    return np.array(errors).reshape(first.shape)


def _optimum(mom: Moments) -> tuple[float, float]:
    c = optimal(mom, 2).c * mom.n
    return float(c[0]), float(c[1])


def _search_point(fp: Fingerprint, generations: int, seed: int) -> tuple[float, float]:
    """First two coefficients, times n, of the formula found, conditioned on the fingerprint."""
    if generations == 0:
        return 1.0, 0.0
    found = search(
        fp, natural_good_turing, generations, seed, cap=generations, mutate=released_mutation
    )
    c = found.formula.conditioned(fp.n).coefficients * fp.n
    return float(c[0]), float(c[1])


@picture
def efficiency_floor(
    loads: Sequence[float] = (), ratios: Sequence[float] = (), errors: Sequence[float] = ()
) -> Figure:
    """What knowing "it is uniform" can gain over Good-Turing, against n/S, with measured points."""
    lam = np.geomspace(0.02, 12, 300)
    fig, ax = figure(7.0, 3.8)
    ax.semilogx(lam, theory.uniform_floor(lam), color=COLOURS["prediction"], label="R(λ)")
    ax.axhline(1, color=COLOURS["muted"], lw=1)
    ax.axhspan(0.70, 0.72, color=COLOURS["control"], alpha=0.3, lw=0, label="published, frozen")
    if len(loads):
        ax.errorbar(loads, ratios, errors, fmt="o", color=COLOURS["measured"], label="measured")
    ax.set(xlabel="λ = n / S", ylabel="MSE / MSE of Good–Turing", title="uniform population")
    ax.legend(loc="lower left")
    return fig


@picture
def frozen_and_reported(sizes: Sequence[int] = (4, 8, 12, 16, 20)) -> Figure:
    """Frozen and reported error of the plug-in optimum over all samples, uniform with S = n."""
    rows = np.array([_two_scores(n) for n in sizes])
    fig, ax = figure(7.0, 3.8)
    ax.plot(sizes, rows[:, 0], "o-", color=COLOURS["control"], label="frozen: a fresh sample")
    ax.plot(sizes, rows[:, 1], "s-", color=COLOURS["measured"], label="reported: its own sample")
    ax.plot(sizes, rows[:, 2], "^--", color=COLOURS["accent"], label="frozen, T½ = Good–Turing")
    ax.axhline(1, color=COLOURS["muted"], lw=1)
    ax.set(xlabel="n = S", ylabel="MSE / MSE of Good–Turing", title="every sample counted, K = 2")
    ax.legend(loc="lower right", fontsize=9)
    return fig


def _two_scores(n: int) -> tuple[float, float, float]:
    truth = moments(uniform(n), n, 2)
    frozen = reported = halfway = 0.0
    for outcome in uniform_outcomes(n, n):
        fp, weight = outcome.fingerprint, float(outcome.probability)
        rule = optimal(moments(natural_good_turing(fp), n, 2), 2).linear
        frozen += weight * float(rule.mse(truth))
        reported += weight * (rule.estimate(fp) - float(outcome.missing_mass)) ** 2
        anchored = Linear([0.5 / n], 0.5 * good_turing(n).estimate(fp))
        halfway += weight * float(anchored.mse(truth))
    unit = float(good_turing(n).mse(truth))
    return frozen / unit, reported / unit, halfway / unit
