"""Claims on what bounds the theory: one linear layer, free features, graphs, monotone layers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, Finding
from theorylab.neural_collapse.claims.sources import DERIVED, no_finer
from theorylab.neural_collapse.descent import descended
from theorylab.neural_collapse.metrics import nc1, nc2, nc3
from theorylab.neural_collapse.monotone import random_sides
from theorylab.neural_collapse.networks import forward, loss_and_grads
from theorylab.neural_collapse.small_networks import (
    Labelled,
    balanced_layers,
    collapsed_network,
    factor_loss,
    graph_network,
    perturbed,
    rational_nc1,
    uncollapsed_fixed_point,
    with_linear_layer,
)
from theorylab.neural_collapse.theory import collapse_cost, graph_beats_collapse, graph_cost
from theorylab.neural_collapse.unconstrained import (
    Factors,
    certified_root,
    descend_factors,
    largest_stationary,
    objective,
    spinodal,
    threshold,
    ufm_optimum,
)
from theorylab.run import Run

Array = NDArray[np.float64]

# --- two-linear-layers ------------------------------------------------------------------------


def _fixed_points() -> list[tuple[Labelled, Fraction, int, int]]:
    """The exact instances: (network, decay, classes, samples per class)."""
    found = []
    for v in (Fraction(4, 5), Fraction(1, 3)):
        for K, m in ((2, 2), (3, 2), (2, 4)):
            found.append((uncollapsed_fixed_point(v, K, m), 1 - v**2, K, m))
    return found


def _predicted_nc1(K: int, m: int) -> Fraction:
    return Fraction((m - 1) * K, K - 1)


def _at_rest_without_collapse() -> Finding:
    gradients, measured, predicted, imbalances, expected = [], [], [], [], []
    for made, lam, K, m in _fixed_points():
        _, G = loss_and_grads(made.net, made.X, made.Y, lam)
        gradients.append(Fraction(sum(abs(g).sum() for g in G)))
        measured.append(rational_nc1(forward(made.net, made.X).features[1], made.labels))
        predicted.append(_predicted_nc1(K, m))
        W1, W2 = made.net.weights
        D = W2.T @ W2 - W1 @ W1.T
        imbalances.append(float(np.linalg.norm(D.astype(float), 2)))
        expected.append(float((1 - lam) * max(m - 1, 1)))
    return AllHold(
        {
            "gradient": Equal(gradients, [Fraction(0)] * len(gradients)),
            "NC1": Equal(measured, predicted),
            "diagonal of D": Equal(
                [Fraction(abs(np.diag(_imbalance(made))).sum()) for made, *_ in _fixed_points()],
                [Fraction(0)] * len(gradients),
            ),
            "norm of D": Close(imbalances, expected, rtol=1e-12),
        }
    )


def _imbalance(made: Labelled) -> NDArray[np.object_]:
    W1, W2 = made.net.weights
    return W2.T @ W2 - W1 @ W1.T


def _stack(run: Run) -> Labelled:
    start = uncollapsed_fixed_point(Fraction(19, 20), 2, 2)
    return perturbed(start, run.rng("starts"), run.pick(ci=20, paper=1000))


def _descended_nc1(made: Labelled, layer: int) -> list[float]:
    end = descended(made.net, made.X, made.Y, 0.1, 0.05, 4000)
    features = forward(end, made.X).features[layer]
    return [nc1(H.T, made.labels) for H in features]


@claim(
    "neural_collapse.two-linear-layers",
    statement=r"""One linear layer is not enough. Take $N = Km$ orthonormal inputs $X = I_N$, one
ReLU layer $W_1 = vI_N$ and one linear layer $W_2 = vE$ with the class indicator $E$ and
$v^2 = 1-\lambda$. For every $\lambda \in (0, 1)$ this is stationary for descent with weight decay,
$\mathrm{diag}\,D = 0$, and yet $\mathrm{NC1} = (m-1)K/(K-1)$; $\|D\| = (1-\lambda)\max(m-1, 1)$.
It attracts an open set of starts. With one more linear layer the same starts collapse behind it,
while their ReLU layer does not.""",
    source=DERIVED,
    evidence="exact",
)
def two_linear_layers(run: Run) -> Finding:
    stack = _stack(run)
    deeper = with_linear_layer(stack, run.rng("extra layer"))
    return AllHold(
        {
            "at rest": _at_rest_without_collapse(),
            "starts nearby": Close(_descended_nc1(stack, 1), 2.0, atol=1e-6),
            "one more linear layer": AtMost(no_finer(_descended_nc1(deeper, 2), 1e-14), 1e-12),
            "its ReLU layer": AtLeast(_descended_nc1(deeper, 1), 0.5),
        },
        sizes={"starts": run.pick(ci=20, paper=1000)},
    )


@two_linear_layers.control("matrix balance imposed on the two layers")
def _(run: Run) -> Finding:
    made = balanced_layers(0.8, 2, 2)
    return Close(nc1(forward(made.net, made.X).features[1].T, made.labels), 2.0, atol=1e-6)


@two_linear_layers.control("one more linear layer before the last")
def _(run: Run) -> Finding:
    deeper = with_linear_layer(_stack(run), run.rng("extra layer"))
    return Close(_descended_nc1(deeper, 2), 2.0, atol=1e-6)


# --- ufm-optimum ------------------------------------------------------------------------------

_CASES = (
    ((5, 5, 5, 5), 2, 0.5),
    ((5, 5, 5, 5), 3, 0.3),
    ((8, 4, 2, 1), 2, 0.6),
    ((6, 3), 4, 0.2),
    ((20, 20, 5), 3, 1.0),
)


def _against_descent(run: Run) -> dict[str, Finding]:
    starts = run.pick(ci=12, paper=50)
    reached, predicted, sigmas, expected = [], [], [], []
    for counts, q, lam in _CASES:
        rng = run.rng(f"starts {counts} {q}")
        found = [descend_factors(counts, q, lam, rng) for _ in range(starts)]
        best = min(found, key=lambda f: f.objective)
        optimum = ufm_optimum(counts, q, lam)
        reached.append(best.objective)
        predicted.append(optimum.objective)
        sigmas.extend(best.singular_values.tolist())
        expected.extend(sorted(optimum.sigma.tolist(), reverse=True))
    return {
        "objective": Close(reached, predicted, rtol=1e-9, sizes={"starts": starts}),
        "singular values": Close(sigmas, expected, atol=1e-6),
    }


def _roots() -> Finding:
    """Interval Newton proves a root in a small interval that holds the closed form's value."""
    lows, highs, values = [], [], []
    for s, q, decay in ((5, 3, Fraction(39, 16)), (4, 4, Fraction(1)), (9, 2, Fraction(5, 2))):
        x = largest_stationary(float(s), q, float(decay))
        low, high = certified_root(x, Fraction(s), q, decay)
        lows.append(low)
        highs.append(high)
        values.append(x)
    return AllHold(
        {
            "above": AtLeast(values, lows, tolerance=1e-14),
            "below": AtMost(values, highs, tolerance=1e-14),
            "width": AtMost(no_finer(np.subtract(highs, lows), 1e-13), 1e-12),
        }
    )


def _geometry(found: Factors, labels: NDArray[np.int64], frame: str) -> dict[str, Finding]:
    H, W = found.matrices[-2], found.matrices[-1]
    for F in found.matrices[-3::-1]:
        H = H @ F
    parts: dict[str, Finding] = {
        "NC1": AtMost(no_finer(nc1(H.T, labels), 1e-11), 1e-10),
        f"NC2 {frame}": AtMost(no_finer(nc2(H.T, labels, kind=frame), 1e-6), 1e-5),
    }
    return {**parts, "NC3": AtLeast(nc3(H.T, labels, W), 1 - 1e-6)}


@claim(
    "neural_collapse.ufm-optimum",
    statement=r"""In the unconstrained-features model with $q$ factors,
$\min\frac12\|F_q\cdots F_1 - Y\|_F^2 + \frac12\sum_j\lambda_j\|F_j\|_F^2$, the optimum splits
into classes: with $s = \sqrt{n_c}$, $\bar\lambda = (\prod\lambda_j)^{1/q}$, $\sigma = x^q$ solves
$x^{q-2}(s-x^q) = \bar\lambda$ (largest root) while $\bar\lambda < \bar\lambda^* =
x_*^{q-2}\frac s{q-1}$, $x_*^q = s\frac{q-2}{q-1}$, and is 0 beyond: a first-order jump for $q \ge
3$. For $q = 2$, $\sigma = (s-\bar\lambda)_+$. With equal classes the optimum has NC1 $= 0$,
orthogonal class means and aligned weights; a free output bias turns the frame into a simplex.""",
    source=Source("theorylab", "derived in the chapter; known for two factors"),
    evidence="exact",
)
def ufm(run: Run) -> Finding:
    labels = np.repeat(np.arange(4), 5)
    square = descend_factors((5, 5, 5, 5), 3, 0.3, run.rng("frame"))
    biased = descend_factors((5, 5, 5, 5), 3, 0.3, run.rng("simplex"), bias=True)
    at_jump = [
        ufm_optimum([n], q, threshold(sqrt(n), q) * (1 - 1e-12)).sigma[0] / sqrt(n)
        for n in (4, 25)
        for q in (3, 4, 6)
    ]
    return AllHold(
        {
            **_against_descent(run),
            "two factors": Close(
                ufm_optimum([25, 16, 4], 2, 3.0).sigma, [2.0, 1.0, 0.0], atol=1e-14
            ),
            "three factors": Close(ufm_optimum([25], 3, 39 / 16).sigma[0], 27 / 8, rtol=1e-14),
            "interval Newton": _roots(),
            "σ/s at the jump": Close(at_jump, [1 / 2, 2 / 3, 4 / 5] * 2, rtol=1e-5),
            "orthogonal frame": AllHold(_geometry(square, labels, "orthogonal")),
            "simplex": AllHold(_geometry(biased, labels, "etf")),
            "bias": Close(biased.bias, [1 / 4] * 4, atol=1e-6),
        }
    )


@ufm.control("the largest stationary point between threshold and spinodal")
def _(run: Run) -> Finding:
    """What one published implementation returns there."""
    counts, q = (4, 4), 3
    lam = (threshold(2.0, q) + spinodal(2.0, q)) / 2
    x = np.full(2, largest_stationary(2.0, q, lam))
    wrong = objective(x, np.full(2, 2.0), q, lam)
    rng = run.rng("starts")
    found = [descend_factors(counts, q, lam, rng).objective for _ in range(12)]
    found.append(ufm_optimum(counts, q, lam).objective)
    return Close(wrong, min(found), rtol=1e-9)


@ufm.control("arithmetic instead of geometric mean of the decays")
def _(run: Run) -> Finding:
    decays = (0.2, 1.8)
    return Close(ufm_optimum([9, 4], 2, decays).sigma, [3 - 1.0, 2 - 1.0], atol=1e-6)


# --- graph-beats-collapse ---------------------------------------------------------------------


def _costs(q: int, r: int) -> tuple[float, float]:
    """Best losses of the two constructions, evaluated on the networks themselves."""
    K, n, lam = comb(r, 2), 3, 0.02
    scales = np.linspace(0.8, 1.0, 41)
    graph = min(factor_loss(graph_network(q, r, n, t), lam) for t in scales)
    collapse = min(factor_loss(collapsed_network(q, K, n, t), lam) for t in scales)
    return graph, collapse


def _graph_wins(cases: tuple[tuple[int, int], ...]) -> Finding:
    """r^(q-2) + 1 <= 2 K^(q-3) in integers, and the losses of the explicit networks."""
    sides = [(r ** (q - 2), 2 * comb(r, 2) ** (q - 3)) for q, r in cases]
    costs = [_costs(q, r) for q, r in cases]
    formulas = [
        (graph_cost(q, r, 3, 0.02), collapse_cost(q, comb(r, 2), 3, 0.02)) for q, r in cases
    ]
    return AllHold(
        {
            "integers": AtMost([a + 1 for a, _ in sides], [b for _, b in sides]),
            "losses of the networks": AtMost([g for g, _ in costs], [c for _, c in costs]),
            "losses in closed form": AtMost([g for g, _ in formulas], [c for _, c in formulas]),
            "networks against closed form": Close(
                [v for pair in costs for v in pair],
                [v for pair in formulas for v in pair],
                rtol=1e-3,
            ),
        }
    )


@claim(
    "neural_collapse.graph-beats-collapse",
    statement=r"""In the deep *rectified* unconstrained-features model with $q$ factors and $K =
\binom r2$ classes, collapse is not optimal: let classes be the edges of the complete graph $K_r$
with incidence matrix $B$, features $\propto B$, then identities, then $B^\top - \frac12 11^\top$,
whose image $B^\top B - 11^\top$ the rectifier turns into $I_K$. This costs less than collapse
whenever $r^{q-2} < 2K^{q-3}$; first at $q = 5$, $K = 6$.""",
    source=Source("sukenik2024dufm", "low-rank solutions; inequality derived in the chapter"),
    evidence="exact",
)
def graph_beats(run: Run) -> Finding:
    cases = ((5, 4), (6, 4), (6, 5), (7, 6), (8, 5))
    agreeing = [(q, r) for q in range(3, 11) for r in range(4, 12)]
    cheaper = [
        int(graph_cost(q, r, 3, 1e-3) < collapse_cost(q, comb(r, 2), 3, 1e-3)) for q, r in agreeing
    ]
    return AllHold(
        {
            "cases": _graph_wins(cases),
            "inequality decides": Equal(
                cheaper, [int(graph_beats_collapse(q, r)) for q, r in agreeing]
            ),
        }
    )


@graph_beats.control("four factors and six classes: 16 > 12")
def _(run: Run) -> Finding:
    return _graph_wins(((4, 4),))


# --- monotone-layer ---------------------------------------------------------------------------


def _monotone(run: Run, activation: Callable[[Array], Array]) -> Finding:
    """Left sides over right sides; 1e-12 is added to the latter for rounding."""
    count = run.pick(ci=2000, paper=100_000)
    sides = random_sides(run.rng("instances"), count, activation)
    shares = sides[:, :, 0] / (sides[:, :, 1] + 1e-12)
    return AllHold(
        {
            "features": AtMost(shares[:, 0], 1.0, tolerance=1e-9),
            "hidden part": AtMost(shares[:, 1], 1.0, tolerance=1e-9),
        },
        sizes={"instances": count},
    )


@claim(
    "neural_collapse.monotone-layer",
    statement=r"""Let layer $L-1$ apply any non-decreasing 1-Lipschitz $\sigma$, with $p = Vz$,
$h = \sigma(p)$, $u = (W^\top)^+p$, $q = (I-P)p$. Two samples of one class with residuals $r_1,
r_2$ satisfy $\|h_1-h_2\| \le \|q_1-q_2\| + \sqrt{\|r_1-r_2\|\,\|u_1-u_2\|}$ and $\|q_1-q_2\| \le
\sqrt{e_D}\,\|z_1-z_2\|$: full balance and interpolation collapse even a nonlinear last hidden
layer.""",
    source=DERIVED,
    evidence="certified",
)
def monotone_layer(run: Run) -> Finding:
    return AllHold(
        {
            "ReLU": _monotone(run, lambda x: np.maximum(x, 0)),
            "tanh": _monotone(run, np.tanh),
            "leaky": _monotone(run, lambda x: np.maximum(x, 0.3 * x)),
        }
    )


@monotone_layer.control("absolute value: not monotone")
def _(run: Run) -> Finding:
    return _monotone(run, np.abs)


@monotone_layer.control("cosine: not monotone")
def _(run: Run) -> Finding:
    return _monotone(run, np.cos)


@monotone_layer.control("Gaussian bump: not monotone")
def _(run: Run) -> Finding:
    return _monotone(run, lambda x: np.exp(-(x**2)))


@monotone_layer.control("slope two: not 1-Lipschitz")
def _(run: Run) -> Finding:
    return _monotone(run, lambda x: 2 * np.maximum(x, 0))
