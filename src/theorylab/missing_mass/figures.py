"""The chapter's pictures; every function returns a figure."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from theorylab.missing_mass import protocols, theory
from theorylab.missing_mass.bagging import bag2, shrink, shrunken_bag2, two_term
from theorylab.missing_mass.data import published_search
from theorylab.missing_mass.enumeration import uniform_outcomes
from theorylab.missing_mass.fingerprint import (
    BENCHMARKS,
    Fingerprint,
    Population,
    benchmark_population,
    uniform,
)
from theorylab.missing_mass.fuzzing import fuzz
from theorylab.missing_mass.ga import mutation, released_mutation, search
from theorylab.missing_mass.linear import Linear, chebyshev, good_turing, minimal_bias
from theorylab.missing_mass.moments import Moments, moments
from theorylab.missing_mass.monitor import Monitor
from theorylab.missing_mass.optimum import optimal
from theorylab.missing_mass.plugins import moment_matched, natural_good_turing
from theorylab.missing_mass.sampling import draw
from theorylab.missing_mass.uniform_model import uniform_mle, uniform_samples
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
    moving = [_log10_remainder_of_moving(int(n)) for n in sizes]
    for line, logs, label in (
        ("-", moving, r"$p_{\max}=1-1/n$"),
        ("--", -sizes * np.log10(2), "any $p$, stopped at $n/2$"),
        (":", (1 - 2 * sizes) * np.log10(2), "any $p$, Chebyshev"),
    ):
        right.plot(sizes, logs, line, color="black", label=label)
    left.set(title="Good–Turing", xlabel="$n$", ylabel=r"$\log_{10}$ |bias|")
    right.set(title="minimal bias", xlabel="$n$")
    left.legend(fontsize=9)
    right.legend(handles=right.lines[len(BENCHMARKS) :], fontsize=9, loc="lower left")
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
    ax.set(xlabel="$k$", ylabel=r"coefficient of $\Phi_k$", title=f"$n={n}$")
    ax.set_xticks(range(2, n + 1, 2))
    ax.legend(loc="lower center")
    return fig


@picture
def dominant_class(n: int = 20, others: int = 10) -> Figure:
    """Error of B and of its truncation, relative to Good-Turing, against p_max."""
    tops = np.linspace(1 / (others + 1), 0.99, 60)
    rows = [_relative_errors(float(top), n, others) for top in tops]
    fig, ax = figure(7.0, 3.8)
    ax.semilogy(tops, [row[0] for row in rows], color=COLOURS["control"], label="all terms")
    ax.semilogy(
        tops, [row[1] for row in rows], "--", color=COLOURS["bound"], label="stopped at $n/2$"
    )
    ax.axvline(0.5, color=COLOURS["muted"], lw=1)
    ax.set(
        xlabel=r"largest probability $p_{\max}$",
        ylabel="MSE / MSE of Good–Turing",
        title=f"$n={n}$, one class against {others} equal ones",
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
    levels = np.geomspace(1, 12, 13)
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
    ax.plot([], [], color=COLOURS["measured"], label="true MSE, same levels")
    fig.colorbar(filled, ax=ax, label="plug-in MSE / its minimum", ticks=levels[::2], format="%.1f")
    ax.set(xlabel="$n\\,c_1$", ylabel="$n\\,c_2$", title=f"uniform, $S=n={n}$")
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
    ax.semilogx(
        lam, theory.uniform_floor(lam), color=COLOURS["prediction"], label=r"floor $R(\lambda)$"
    )
    ax.axhline(1, color=COLOURS["muted"], lw=1)
    published = [cell for cell in published_search() if cell.population == "uniform"]
    ax.semilogx(
        [cell.n / cell.size for cell in published],
        [cell.frozen_ratio for cell in published],
        "x",
        color=COLOURS["control"],
        mew=2,
        label="published, frozen ($S=100,200$)",
    )
    if len(loads):
        ax.errorbar(
            loads, ratios, errors, fmt="o", color=COLOURS["measured"], label="told “uniform”"
        )
    ax.set(xlabel=r"$\lambda=n/S$", ylabel="MSE / MSE of Good–Turing", title="uniform population")
    ax.legend(loc="lower left")
    return fig


@picture
def frozen_and_reported(sizes: Sequence[int] = (4, 8, 12, 16, 20)) -> Figure:
    """Frozen and reported error of the plug-in optimum over all samples, uniform with S = n."""
    rows = np.array([_two_scores(n) for n in sizes])
    fig, ax = figure(7.0, 3.8)
    ax.plot(sizes, rows[:, 0], "o-", color=COLOURS["control"], label="frozen: a fresh sample")
    ax.plot(sizes, rows[:, 1], "s-", color=COLOURS["measured"], label="reported: its own sample")
    ax.plot(
        sizes, rows[:, 2], "^--", color=COLOURS["accent"], label=r"frozen: $T_{1/2}$, which is $G$"
    )
    ax.axhline(1, color=COLOURS["muted"], lw=1)
    ax.set(
        xlabel="$n=S$",
        ylabel="MSE / MSE of Good–Turing",
        title="uniform, every sample counted, $K=2$",
        xticks=sizes,
        ylim=(0.48, 1.02),
    )
    ax.legend(loc="center right", bbox_to_anchor=(1, 0.6), fontsize=9)
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


@picture
def two_protocols(pilots: int = 30, samples: int = 200, seed: int = 0) -> Figure:
    """MSE relative to Good-Turing in the 36 cells: on fresh samples above, on one's own below."""
    rows = [(size, n) for size in (100, 200) for n in (size // 2, size, 2 * size)]
    columns = _published_panels(), _measured_panels(pilots, samples, seed), _halfway_panels()
    titles = "genetic search (published)", "4/5 of BAG2 (ours)", r"$T_{1/2}$: Good–Turing itself"
    fig, axes = figure(9.5, 6.0, nrows=2, ncols=3, sharex=True, sharey=True)
    for column, (title, panels) in enumerate(zip(titles, columns, strict=True)):
        for ax, cells in zip(axes[:, column], panels, strict=True):
            _heat(ax, np.array([[cells[name, *row] for name in BENCHMARKS] for row in rows]))
        axes[0, column].set_title(title)
        axes[1, column].set_xticks(range(len(BENCHMARKS)), BENCHMARKS, rotation=45, ha="right")
    for ax, label in zip(axes[:, 0], ("fresh sample (frozen)", "its own sample"), strict=True):
        ax.set_yticks(range(len(rows)), [f"$S={size}$, $n={n}$" for size, n in rows])
        ax.set_ylabel(label)
    return fig


Panel = dict[tuple[str, int, int], float]
"""Ratio by population, number of classes and sample size."""


def _heat(ax: Axes, ratios: NDArray[np.float64]) -> None:
    """Blue where Good-Turing is beaten, red where it wins; the numbers are written in."""
    ax.imshow(ratios, cmap="RdBu_r", vmin=0.5, vmax=1.5, aspect="auto")
    ax.grid(visible=False)
    for (i, j), ratio in np.ndenumerate(ratios):
        ink = "white" if ratio < 0.62 else "black"
        ax.text(j, i, f"{ratio:.2f}", ha="center", va="center", fontsize=8, color=ink)


def _published_panels() -> tuple[Panel, Panel]:
    cells = published_search()
    places = [(cell.population, cell.size, cell.n) for cell in cells]
    return (
        dict(zip(places, [cell.frozen_ratio for cell in cells], strict=True)),
        dict(zip(places, [cell.own_ratio for cell in cells], strict=True)),
    )


def _measured_panels(pilots: int, samples: int, seed: int) -> tuple[Panel, Panel]:
    frozen, own = {}, {}
    for cell in published_search():
        place = cell.population, cell.size, cell.n
        source = _source(cell.population, cell.size)
        frozen[place] = protocols.frozen(_most_of_bag2, source, cell.n, pilots, seed).mean_ratio
        own[place] = protocols.same_sample(_most_of_bag2, source, cell.n, samples, seed).ratio
    return frozen, own


def _halfway_panels() -> tuple[Panel, Panel]:
    """The closed form above; below it is Good-Turing, hence 1, by definition."""
    rng = np.random.default_rng(0)
    places = [(cell.population, cell.size, cell.n) for cell in published_search()]
    frozen = {
        (name, size, n): _halfway_ratio(benchmark_population(name, size, rng), n)
        for name, size, n in places
    }
    return frozen, dict.fromkeys(places, 1.0)


def _halfway_ratio(population: Population, n: int) -> float:
    mom = moments(population, n, 1, intercept=False)
    parts = good_turing(n).risk_parts(mom)
    return float(theory.frozen_mse(parts, 0.5)) / float(parts.mse)


def _most_of_bag2(fp: Fingerprint) -> Linear:
    return shrink(bag2(fp), fp.n, 0.8)


def _source(name: str, size: int) -> protocols.PopulationSampler:
    """A benchmark population in floats; a new one for each repetition if it is random."""
    if name.startswith("diri"):
        return lambda rng: benchmark_population(name, size, rng)
    population = benchmark_population(name, size)
    return Population.from_atoms(population.floats, population.multiplicities)


@picture
def plug_in_at_scale(
    sizes: Sequence[int] = (100, 200, 400, 800, 1600), samples: int = 200, seed: int = 0
) -> Figure:
    """On heavy tails the plain plug-in gets worse with n; matched or shrunken it does not."""
    methods = {
        "two-term solve, plain plug-in": (two_term, "o-", COLOURS["control"]),
        "plug-in matched to the sample": (_matched, "s-", COLOURS["accent"]),
        "BAG2, shrunken (default)": (shrunken_bag2, "D-", COLOURS["measured"]),
    }
    fig, axes = figure(9.0, 3.8, ncols=2, sharey=True)
    for ax, name in zip(axes, ("zipf", "dirihalf"), strict=True):
        for label, (method, line, colour) in methods.items():
            scores = [
                protocols.same_sample(method, _source(name, n), n, samples, seed) for n in sizes
            ]
            errors = [2 * score.standard_error for score in scores]
            ratios = [score.ratio for score in scores]
            ax.errorbar(sizes, ratios, errors, fmt=line, color=colour, capsize=2, label=label)
        ax.axhline(1, color=COLOURS["muted"], lw=1)
        ax.set(xscale="log", title=name, xlabel="$n=S$")
        ax.set_xticks(sizes, [str(n) for n in sizes])
        ax.minorticks_off()
    axes[0].set_ylabel("MSE / MSE of Good–Turing\non its own sample")
    axes[0].legend(fontsize=9)
    return fig


def _matched(fp: Fingerprint) -> Linear:
    return optimal(moments(moment_matched(fp), fp.n, 2, intercept=False), 2).linear


@picture
def measured_efficiency_floor(
    loads: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0),
    size: int = 1000,
    samples: int = 3000,
    seed: int = 0,
) -> Figure:
    """The floor with the maximum-likelihood estimator, told "uniform", measured on it."""
    scores = [_uniform_score(load, size, samples, np.random.default_rng(seed)) for load in loads]
    ratios = [score.ratio for score in scores]
    return efficiency_floor(loads, ratios, [2 * score.standard_error for score in scores])


def _uniform_score(
    load: float, size: int, samples: int, rng: np.random.Generator
) -> protocols.Comparison:
    n = round(load * size)
    distinct, singletons = uniform_samples(size, n, samples, rng)
    mass = 1 - distinct / size
    return protocols.Comparison(
        (uniform_mle(distinct, n) - mass) ** 2, (singletons / n - mass) ** 2
    )


@picture
def fuzzing_run(executions: int = 2048, others: int = 6000, seed: int = 0) -> Figure:
    """A campaign watched: the true risk of something new, its estimate, and two kinds of bound."""
    labels = fuzz(executions + others, np.random.default_rng(seed))
    campaign, rest = labels[:executions], labels[executions:]
    doublings = 2 ** np.arange(5, executions.bit_length())
    checked = np.union1d(np.geomspace(32, executions, 40).astype(int), doublings)
    monitor, states, truth = Monitor(target=0.05), [], []
    for label_count, start in zip(checked, [0, *checked[:-1]], strict=True):
        monitor.observe_all(campaign[start:label_count].tolist())
        states.append(monitor.state())
        truth.append(np.isin(rest, campaign[:label_count], invert=True).mean())
    fig, ax = figure(7.0, 4.0)
    low, high = ([getattr(s.interval, end) for s in states] for end in ("low", "high"))
    ax.fill_between(
        checked, low, high, color=COLOURS["measured"], alpha=0.2, lw=0, label="Esty, 95 %"
    )
    ax.plot(checked, [s.estimate for s in states], color=COLOURS["measured"], label="Good–Turing")
    ax.plot(checked, truth, "--", color=COLOURS["prediction"], label="truth, from other runs")
    bounds = [s.upper for s in states]
    ax.step(checked, bounds, where="post", color=COLOURS["bound"], label="hold-out bound")
    ax.axhline(monitor.target, color="black", lw=1, ls=":", label="target")
    ax.set(xscale="log", ylim=(0, 1), xlabel="executions", ylabel="P(next behaviour is new)")
    ax.legend(fontsize=9)
    return fig


@picture
def searches(generations: int = 200, seeds: int = 5, n: int = 100) -> Figure:
    """Best plug-in error by generation: with the identities that were meant, and as released."""
    sample = draw(uniform(n), n, np.random.default_rng(0))
    mom = moments(natural_good_turing(sample.fingerprint), n, 10)
    fig, ax = figure(7.0, 3.8)
    rules = {"identities kept": mutation, "as released": released_mutation}
    colours = COLOURS["measured"], COLOURS["control"]
    for (label, rule), colour in zip(rules.items(), colours, strict=True):
        for seed in range(seeds):
            found = search(
                sample.fingerprint, natural_good_turing, generations, seed, generations, rule
            )
            errors = np.array(found.history) / found.history[0]
            ax.plot(errors, color=colour, lw=1.2, label=label if seed == 0 else None)
    for K, line in ((2, "--"), (10, ":")):
        solved = optimal(mom, K).value / found.history[0]
        ax.axhline(solved, ls=line, color=COLOURS["prediction"], label=f"one solve, $K={K}$")
    ax.set(
        xlabel="generation",
        ylabel="plug-in MSE / that of the start",
        title=f"uniform, $S=n={n}$",
        ylim=(0, 1.05),
    )
    ax.legend(loc="lower left", bbox_to_anchor=(0, 0.12), fontsize=9)
    return fig
