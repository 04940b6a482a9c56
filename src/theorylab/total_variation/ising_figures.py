"""Pictures of the Ising half: the chain from distances to cuts, its errors, the gap gadget."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log2

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theorylab.plotting import COLOURS, figure, picture
from theorylab.total_variation.ising import RationalIsing, ising_tv_exact
from theorylab.total_variation.ising_gibbs import gibbs_marginal
from theorylab.total_variation.ising_instances import random_model, small_graphs
from theorylab.total_variation.ising_oracles import EnumerationOracle, PerturbedOracle
from theorylab.total_variation.ising_reduction import (
    TVChain,
    antiferromagnet,
    cut_spectrum_from_tv,
    exact_step,
    gap_instance,
    partition_function_from_tv,
    tv_chain,
)
from theorylab.total_variation.theory_ising import (
    gap_bound,
    independence_number,
    relative_envelope,
)

ADVERSARIES = ("up", "random", "down")
MARKS = {"up": "^", "random": "o", "down": "v"}


@picture
def chain_figure(graph: nx.Graph | None = None) -> Figure:
    """A graph, the distances asked for, the marginals they give, and the cuts read off Z.

    Parameters
    ----------
    graph : networkx.Graph, optional
        At most about 10 vertices; a 5-cycle with a chord and a pendant edge if omitted.
    """
    drawn = _example_graph() if graph is None else graph
    base = 2 ** drawn.number_of_nodes() + 1
    chain = tv_chain(antiferromagnet(drawn, base), EnumerationOracle(), exact_step)
    spectrum = cut_spectrum_from_tv(drawn, EnumerationOracle())
    made, axes = figure(8.4, 5.4, 2, 2)
    _draw_graph(axes[0, 0], drawn, base)
    _draw_answers(axes[0, 1], chain)
    _draw_marginals(axes[1, 0], chain)
    _draw_spectrum(axes[1, 1], spectrum, base)
    return made


def _example_graph() -> nx.Graph:
    graph = nx.cycle_graph(5)
    graph.add_edges_from([(0, 2), (4, 5)])
    return graph


def _draw_graph(axis: Axes, graph: nx.Graph, base: int) -> None:
    place = nx.circular_layout(graph)
    nx.draw_networkx(
        graph,
        pos=place,
        ax=axis,
        node_color=COLOURS["prediction"],
        font_color="white",
        edge_color=COLOURS["muted"],
    )
    axis.set_axis_off()
    axis.set_title(f"1  Couplings $1/t$ on the edges, $t={base}$")


def _draw_answers(axis: Axes, chain: TVChain) -> None:
    steps = np.arange(1, len(chain.steps) + 1)
    up = [float(step.up) for step in chain.steps]
    down = [float(step.down) for step in chain.steps]
    axis.plot(steps, up, "^", color=COLOURS["measured"], label="tilt by 3")
    axis.plot(steps, down, "v", color=COLOURS["prediction"], label="tilt by 1/3")
    axis.set(xlabel="step: spin tilted, then pinned", ylabel="total variation", xticks=steps)
    axis.set_ylim(bottom=0)
    axis.set_title(f"2  {2 * len(chain.steps)} distances")
    axis.legend(loc="best")


def _draw_marginals(axis: Axes, chain: TVChain) -> None:
    steps = np.arange(1, len(chain.steps) + 1)
    axis.bar(steps, [float(s.marginal) for s in chain.steps], color=COLOURS["accent"], width=0.6)
    for k, step in zip(steps, chain.steps, strict=True):
        axis.annotate(f"{step.spin}", (k, 0.03), ha="center")
    axis.set(xlabel="step (side kept, in the bar)", ylabel="its conditional probability")
    axis.set(xticks=steps, ylim=(0, 1.05))
    axis.set_title(f"3  One weight over their product: $Z$ ≈ {float(chain.value):.4g}")


def _draw_spectrum(axis: Axes, spectrum: Sequence[int], base: int) -> None:
    sizes = np.arange(len(spectrum))
    bars = axis.bar(sizes, spectrum, color=COLOURS["muted"], width=0.7)
    bars[-1].set_color(COLOURS["measured"])
    for size, count in zip(sizes, spectrum, strict=True):
        axis.annotate(str(count), (size, count), ha="center", va="bottom")
    axis.set(xlabel="edges cut", ylabel="number of cuts", xticks=sizes)
    axis.margins(y=0.15)
    axis.set_title(f"4  Digits of $Z\\,t^m$ in base {base}: MAX-CUT = {len(spectrum) - 1}")


@picture
def error_figure(n: int = 5, seed: int = 0) -> Figure:
    r"""The error of Z against the error of the answers, inside its exact envelope.

    Parameters
    ----------
    n : int
        Spins of a random model.
    seed : int
        Of the model and of the random adversary.
    """
    model = random_model(np.random.default_rng(seed), n)
    sizes = [Fraction(k, 80 * n) for k in range(1, 21)]
    made, axis = figure(7.0, 3.8)
    _draw_envelope(axis, n, sizes)
    for adversary in ADVERSARIES:
        errors = [_error(model, size, adversary, seed) for size in sizes]
        axis.plot(
            [float(size) for size in sizes],
            errors,
            MARKS[adversary],
            label=f"all {adversary}" if adversary != "random" else "random",
        )
    axis.plot(
        [float(size) for size in sizes],
        [float(1 / (1 - size) ** n) for size in sizes],
        "--",
        color=COLOURS["muted"],
        label=r"least error if all are down, $(1-\eta)^{-n}$",
    )
    axis.set(xlabel=r"relative error $\eta$ of every distance", ylabel=r"$\hat Z/Z$")
    axis.legend(loc="upper left")
    return made


def _error(model: RationalIsing, size: Fraction, adversary: str, seed: int) -> float:
    """Z-hat / Z with tilts that lose as much as the answers may be off."""
    oracle = PerturbedOracle("relative", size, adversary, rng=np.random.default_rng(seed))
    estimate = partition_function_from_tv(model, oracle, "approx", 4 * model.n * size)
    return float(estimate / model.Z())


def _draw_envelope(axis: Axes, n: int, sizes: Sequence[Fraction]) -> None:
    ends = [relative_envelope(n, size, size) for size in sizes]
    axis.fill_between(
        [float(size) for size in sizes],
        [float(low) for low, _ in ends],
        [float(high) for _, high in ends],
        color=COLOURS["bound"],
        alpha=0.18,
        label="proved envelope",
    )
    axis.axhline(1.0, color=COLOURS["muted"], linewidth=1)


@picture
def gap_figure(vertices: int = 5, spins: int = 8, seed: int = 0) -> Figure:
    """Exact distances of the gap instances of all small graphs, and what Gibbs sampling says.

    Parameters
    ----------
    vertices : int
        Graphs with up to this many vertices.
    spins : int
        Instances with up to this many spins.
    seed : int
        Of the Gibbs chains.
    """
    rng = np.random.default_rng(seed)
    made, axis = figure(7.4, 4.2)
    points = _gap_points(vertices, spins, rng)
    for holds, colour, text in (
        (True, COLOURS["prediction"], r"exact, $\alpha(G)\geq c$"),
        (False, COLOURS["measured"], r"exact, $\alpha(G)<c$"),
    ):
        chosen = [(k, exact) for k, (found, exact, _) in enumerate(points) if found is holds]
        axis.plot(*zip(*chosen, strict=True), ".", color=colour, label=text)
    sampled = [estimate for _, _, estimate in points]
    axis.plot(range(len(points)), sampled, "x", color=COLOURS["control"], label="Gibbs estimate")
    axis.axhspan(
        *(log2(1 / 2), log2(2)),
        color=COLOURS["muted"],
        alpha=0.4,
        linewidth=0,
        label="between 1/3 and 2/3",
    )
    axis.set(xlabel="pair $(G,c)$, sorted", ylabel=r"$\log_2$ odds of the distance")
    axis.legend(loc="lower right")
    return made


def _gap_points(
    vertices: int, spins: int, rng: np.random.Generator
) -> list[tuple[bool, float, float]]:
    """Whether α ≥ c, exact log-odds of the distance, and those of a Gibbs estimate of it."""
    points = []
    for graph in small_graphs(vertices):
        alpha = independence_number(graph)
        for c in range(2, spins + 2 - graph.number_of_nodes()):
            instance = gap_instance(graph, c)
            distance = ising_tv_exact(*instance.pair(gap_bound(instance.spins)))
            estimate = gibbs_marginal(instance.model, instance.vertex, 20, 60, rng)
            points.append((alpha >= c, _log_odds(distance), _log_odds(_inside(estimate))))
    return sorted(points, key=lambda point: (not point[0], point[1]))


def _inside(estimate: float) -> Fraction:
    """An estimate moved off 0 and 1 by what 20 chains can resolve."""
    return Fraction(min(max(estimate, 1 / 40), 39 / 40))


def _log_odds(p: Fraction) -> float:
    return log2(p.numerator) - log2(p.denominator - p.numerator)
