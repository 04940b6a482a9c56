"""Pictures of the mixture half: staircases, failures of floating point, gaps, costs, digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from theorylab.plotting import COLOURS, PALETTE, Interactive, figure, picture
from theorylab.total_variation.baselines import (
    agree_as_automata,
    agree_by_svd,
    agree_pointwise,
    naive_multiplications,
)
from theorylab.total_variation.data import binary_digits, expanded, naive_bayes
from theorylab.total_variation.distances import (
    tv_exact_mixture,
    tv_mixture_lower,
    tv_mixture_mc,
    tv_mixture_upper,
)
from theorylab.total_variation.equivalence import check_equivalence
from theorylab.total_variation.generators import (
    Pair,
    moment_pair,
    nudge,
    padded_moment_pair,
    random_mixture,
    split_pair,
)
from theorylab.total_variation.mixtures import ProductMixture
from theorylab.total_variation.theory import (
    cubic_operation_bound,
    moment_gap,
    quadratic_operation_bound,
)

Decide = Callable[[ProductMixture, ProductMixture], bool]
METHODS: dict[str, Decide] = {
    "exact layers": lambda P, Q: check_equivalence(P, Q).equal,
    "SVD, tolerance 1e-6": lambda P, Q: agree_by_svd(P, Q, 1e-6),
    "SVD, tolerance 1e-9": lambda P, Q: agree_by_svd(P, Q, 1e-9),
    "SVD, tolerance 1e-12": lambda P, Q: agree_by_svd(P, Q, 1e-12),
    "float automata, allclose": agree_as_automata,
    "pointwise within 1e-8": agree_pointwise,
}


@picture
def staircase_figure(places: Sequence[tuple[int, int]], seed: int = 0) -> Figure:
    """Ranks of the layer spaces against the coordinates read, for four kinds of pairs.

    Parameters
    ----------
    places : sequence of (component, pixel)
        Where the digits model is expanded.
    seed : int
        Of the random pairs.
    """
    rng = np.random.default_rng(seed)
    pixels, labels = binary_digits()
    digits = naive_bayes(pixels, labels, 2)
    different = random_mixture(rng, 6, (2,) * 40), random_mixture(rng, 6, (2,) * 40)
    pairs = {
        "moment pair, n = 24": moment_pair(24),
        "split pair": split_pair(rng, 6, 8, 40, 3),
        "digits, expanded": (digits, expanded(digits, places)),
        "unrelated pair": different,
    }
    made, axis = figure(7.5, 4.2)
    for (name, (P, Q)), colour in zip(pairs.items(), PALETTE, strict=False):
        ranks = check_equivalence(P, Q, stop_early=False).ranks
        label = f"{name}, K = {P.n_components + Q.n_components}"
        axis.step(range(len(ranks)), ranks, where="post", color=colour, label=label)
        result = check_equivalence(P, Q)
        if not result.equal:
            stop = len(result.ranks) - 1
            axis.plot(stop, ranks[stop], "X", color=colour, markersize=11, markeredgecolor="white")
    axis.set(xlabel="coordinates read", ylabel="rank of the layer space")
    axis.set_title("Rank staircases; ✖ marks the first layer that sees a difference")
    axis.legend(loc="lower right")
    return made


@picture
def failure_map_figure(exponents: Sequence[int] = range(21)) -> Figure:
    """Which methods err on moment pairs of order 3 whose components are 10**-k apart.

    Parameters
    ----------
    exponents : sequence of int
        The k.
    """
    pairs = [moment_pair(3, Fraction(1, 10**k)) for k in exponents]
    shortened = [(P.marginal((0, 1)), Q.marginal((0, 1))) for P, Q in pairs]
    made, axes = figure(9.5, 3.6, 1, 2, sharey=True)
    panels = (
        ("different pairs called equal", pairs, True),
        ("equal pairs called different", shortened, False),
    )
    for axis, (title, shown, wrong_answer) in zip(axes, panels, strict=True):
        grid = [[decide(P, Q) == wrong_answer for P, Q in shown] for decide in METHODS.values()]
        axis.pcolormesh(
            np.arange(len(pairs) + 1) - 0.5,
            np.arange(len(METHODS) + 1) - 0.5,
            np.array(grid, dtype=float),
            cmap=ListedColormap(["#DCEFE6", COLOURS["measured"]]),
            vmin=0,
            vmax=1,
            edgecolors="white",
            linewidth=1.2,
        )
        axis.set_title(title)
        axis.set(xlabel=r"$k$, for a perturbation of $10^{-k}$", yticks=range(len(METHODS)))
        axis.set_yticklabels(METHODS)
        axis.set_xticks(range(0, len(pairs), 4), [str(k) for k in exponents[::4]])
        axis.grid(visible=False)
    axes[0].invert_yaxis()
    return made


@picture
def moment_gap_figure(orders: Sequence[int] = range(2, 41)) -> Figure:
    """The distance of moment pairs, what double precision resolves, and a float method's flip.

    Parameters
    ----------
    orders : sequence of int
        The n.
    """
    measured = {n: _gap_at_witness(n) for n in orders}
    verdicts = {n: agree_as_automata(*moment_pair(n)) for n in orders}
    made, axis = figure(7.0, 4.0)
    axis.plot(orders, [float(moment_gap(n)) for n in orders], label="$n!/n^n$")
    for wrong, label, marker in (
        (False, "exact, float automata agree", "o"),
        (True, "exact, float automata say equal", "X"),
    ):
        shown = [n for n in orders if verdicts[n] is wrong]
        colour = COLOURS["control"] if wrong else COLOURS["measured"]
        axis.plot(shown, [measured[n] for n in shown], marker, color=colour, label=label)
    axis.axhline(2.0**-53, color=COLOURS["muted"], linestyle="--")
    axis.text(orders[0], 2.0**-53 * 1.6, "spacing of doubles below 1", color=COLOURS["muted"])
    axis.set_yscale("log")
    axis.set(xlabel="number of coordinates $n$", ylabel="total variation distance")
    axis.legend()
    return made


def _gap_at_witness(n: int) -> float:
    """The distance from one exact difference, which is the same at all 2**n points."""
    result = check_equivalence(*moment_pair(n))
    difference = (result.p_value_at_witness or 0) - (result.q_value_at_witness or 0)
    return float(abs(difference) * 2 ** (n - 1))


@picture
def cost_figure(stacked: Sequence[int] = (6, 10, 18, 34)) -> Figure:
    """Multiplications against n, K and the alphabet, and the bits of the numbers.

    Parameters
    ----------
    stacked : sequence of int
        The K.
    """
    made, axes = figure(9.5, 6.6, 2, 2)
    lengths, alphabets, n = (12, 24, 48, 96), (2, 4, 8, 16, 32), 2 * stacked[-1]
    _draw_counts(axes[0, 0], "coordinates $n$", lengths, [(9, length, 3) for length in lengths], 1)
    axes[0, 0].legend(fontsize=9)
    _draw_counts(
        axes[0, 1], "components $K$ of both mixtures", stacked, [(K - 1, n, 3) for K in stacked], 2
    )
    letters = [q - 1 for q in alphabets]
    _draw_counts(axes[1, 0], r"letters $|\Sigma|-1$", letters, [(9, 24, q) for q in alphabets], 1)
    all_active = [_multiplications(K - 1, K - 2, 2) for K in stacked]
    axes[0, 1].plot(
        stacked, all_active, "s", color=COLOURS["accent"], label="counted, $n=K-2$, binary"
    )
    naive = [naive_multiplications(*padded_moment_pair(K - 1, n, 3)) for K in stacked[:2]]
    axes[0, 1].plot(
        stacked[:2], naive, "^", color=COLOURS["control"], label="counted, from scratch"
    )
    handles, names = axes[0, 1].get_legend_handles_labels()
    own = [names.index("slope 2"), len(names) - 2, len(names) - 1]
    axes[0, 1].legend(
        [handles[k] for k in own], [names[k] for k in own], fontsize=9, loc="lower right"
    )
    _draw_bits(axes[1, 1])
    return made


def _multiplications(order: int, n: int, alphabet: int) -> int:
    pair = padded_moment_pair(order, n, alphabet)
    return check_equivalence(*pair, engine="fraction").field_operations or 0


def _draw_counts(
    axis: Axes,
    label: str,
    sizes: Sequence[int],
    families: Sequence[tuple[int, int, int]],
    slope: int,
) -> None:
    counts = [_multiplications(*family) for family in families]
    bounds = [(n, order + 1, q) for order, n, q in families]
    axis.plot(sizes, counts, "o", color=COLOURS["measured"], label="counted")
    guide = counts[-1] * (np.array(sizes) / sizes[-1]) ** slope
    axis.plot(sizes, guide, color=COLOURS["prediction"], label=f"slope {slope}")
    axis.plot(
        sizes,
        [quadratic_operation_bound(*b) for b in bounds],
        "--",
        color=COLOURS["bound"],
        label=r"$|\Sigma|K^2(2n+K)$",
    )
    axis.plot(
        sizes,
        [cubic_operation_bound(*b) for b in bounds],
        ":",
        color=COLOURS["bound"],
        label=r"$n|\Sigma|K^3$",
    )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks(sizes, [str(size) for size in sizes])
    axis.minorticks_off()
    axis.set(xlabel=label, ylabel="multiplications")


def _draw_bits(axis: Axes) -> None:
    orders = (10, 20, 30, 40, 50, 60)
    reduced = [check_equivalence(*_shortened(moment_pair(n))).max_bits or 0 for n in orders]
    axis.plot(orders, reduced, "o-", color=COLOURS["measured"], label="reduced echelon rows")
    axis.plot(
        orders,
        [_raw_bits(moment_pair(n)) for n in orders],
        "s-",
        color=COLOURS["control"],
        label="raw prefix vectors",
    )
    axis.set(xlabel="order $n$ of a moment pair", ylabel="longest integer, bits")
    axis.legend(fontsize=9)


def _shortened(pair: Pair) -> Pair:
    P, Q = pair
    return P.marginal(range(P.n_coordinates - 1)), Q.marginal(range(P.n_coordinates - 1))


def _raw_bits(pair: Pair) -> int:
    """Longest denominator among the probabilities of one string under the components."""
    P, Q = pair
    components = [ProductMixture((Fraction(1),), (rows,)) for rows in (*P.rows, *Q.rows)]
    string = [j % 2 for j in range(P.n_coordinates)]
    return max(part.probability(string).denominator.bit_length() for part in components)


@picture
def digits_figure(
    places: Sequence[tuple[int, int]], samples: int = 10_000, seed: int = 0
) -> Figure:
    """The pixels that decide an equality, and brackets between fitted digit models.

    Parameters
    ----------
    places : sequence of (component, pixel)
        Where the model is expanded.
    samples : int
        Monte Carlo samples per pair.
    seed : int
    """
    pixels, labels = binary_digits()
    model = naive_bayes(pixels, labels, 2)
    active = check_equivalence(model, expanded(model, places)).active
    made, axes = figure(9.5, 4.6, 1, 2, gridspec_kw={"width_ratios": (1, 1.45)})
    axes[0].imshow(pixels.mean(axis=0).reshape(8, 8), cmap="Greys", vmin=0, vmax=1.4)
    rows, columns = np.divmod(np.array(active), 8)
    axes[0].scatter(
        columns, rows, s=190, facecolors="none", edgecolors=COLOURS["measured"], linewidths=2.5
    )
    axes[0].set(xticks=[], yticks=[])
    axes[0].grid(visible=False)
    axes[0].set_title(f"{len(active)} of 64 pixels decide equality")
    shuffled = np.random.default_rng(seed).permutation(labels)
    models = {
        "all rows": model,
        "even rows": naive_bayes(pixels[::2], labels[::2], 2),
        "odd rows": naive_bayes(pixels[1::2], labels[1::2], 2),
        "shuffled": naive_bayes(pixels, shuffled, 2),
        "one class": naive_bayes(pixels, np.zeros_like(labels), 2),
    }
    _draw_brackets(axes[1], models, samples, np.random.default_rng(seed))
    return made


def _draw_brackets(
    axis: Axes, models: dict[str, ProductMixture], samples: int, rng: np.random.Generator
) -> None:
    names = list(models)
    values = np.zeros((len(names), len(names)))
    for i, left in enumerate(names):
        for k, right in enumerate(names[:i]):
            P, Q = models[left], models[right]
            estimate = tv_mixture_mc(P, Q, samples, rng).estimate
            low, high = tv_mixture_lower(P, Q), tv_mixture_upper(P, Q)
            values[i, k] = values[k, i] = estimate
            colour = "white" if estimate > 0.55 else "black"
            text = f"{estimate:.2f}\n[{float(low):.2f}, {float(high):.2f}]"
            axis.text(k, i, text, ha="center", va="center", fontsize=8.5, color=colour)
    shown = np.ma.masked_where(np.triu(np.ones_like(values)) > 0, values)
    axis.imshow(shown, cmap="Blues", vmin=0, vmax=1)
    axis.set_xticks(range(len(names) - 1), names[:-1])
    axis.set_yticks(range(1, len(names)), names[1:])
    axis.set(xlim=(-0.5, len(names) - 1.5), ylim=(len(names) - 0.5, 0.5))
    axis.grid(visible=False)
    axis.set_title("distance: estimate and certified bracket")


def moving_node_picture(order: int = 5, steps: int = 25) -> Interactive:
    """Interactive: one component of an equal pair is moved; ranks and exact distance follow.

    The pair is the moment pair of order n on n - 1 coordinates. The slider moves the success
    probability of the last component of P by t; the last positions move it by 10**-k only.

    Parameters
    ----------
    order : int
        n.
    steps : int
        Positions of the slider.
    """
    import plotly.graph_objects as go

    P, Q = _shortened(moment_pair(order))
    size = P.rows[-1][0][0] / 2 or P.rows[-1][0][1] / 2
    coarse = [size * Fraction(i, steps // 2) for i in range(steps // 2, -1, -1)]
    moves = coarse + [Fraction(1, 10**k) for k in range(2, 2 + steps - len(coarse))]
    letters = (0, 1) if P.rows[-1][0][1] else (1, 0)
    built = go.Figure()
    labels = []
    for number, move in enumerate(moves):
        moved = P
        for j in range(P.n_coordinates):
            moved = nudge(moved, P.n_components - 1, j, move, letters)
        distance = tv_exact_mixture(moved, Q)
        result = check_equivalence(moved, Q, stop_early=False)
        labels.append(f"t = {float(move):.3g}")
        built.add_scatter(
            x=list(range(len(result.ranks))),
            y=list(result.ranks),
            line={"shape": "hv"},
            visible=number == 0,
            name=f"{'equal' if result.equal else 'different'}, distance {float(distance):.2g}",
            showlegend=True,
        )
    built.update_layout(
        xaxis_title="coordinates read",
        yaxis_title="rank of the layer space",
        sliders=[{"steps": _slider_steps(labels), "pad": {"t": 45}}],
    )
    return Interactive(built)


def _slider_steps(labels: Sequence[str]) -> list[dict]:
    return [
        {
            "label": label,
            "method": "update",
            "args": [{"visible": [other == number for other in range(len(labels))]}],
        }
        for number, label in enumerate(labels)
    ]
