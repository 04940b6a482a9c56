"""Claims on balancedness: its exact law, its decay, and what is left of it at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import linregress

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtMost, Equal, ExponentEquals, Finding
from theorylab.neural_collapse.balance import balance_identity_residual, balancedness
from theorylab.neural_collapse.balance_paths import BalancePath, balance_paths
from theorylab.neural_collapse.claims.sources import PAPER, no_finer
from theorylab.neural_collapse.data import Images, digits
from theorylab.neural_collapse.descent import (
    Schedule,
    descent_path,
    gradient_norm,
    polish,
    train,
)
from theorylab.neural_collapse.networks import (
    MLP,
    Activation,
    backpropagate,
    forward,
    relu,
    smooth_leaky,
)
from theorylab.run import Run

Array = NDArray[Any]


def _norm(matrix: Array) -> float:
    return float(np.linalg.norm(matrix, 2))


# --- balance-identity -------------------------------------------------------------------------


def _integers(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.object_]:
    draws = rng.integers(-8, 9, shape)
    return np.vectorize(lambda n: Fraction(int(n), 8), otypes=[object])(draws)


@dataclass(frozen=True)
class _ExactTask:
    net: MLP
    X: NDArray[np.object_]
    Y: NDArray[np.object_]
    lam: Fraction = Fraction(1, 10)
    eta: Fraction = Fraction(1, 20)


def _exact_tasks(run: Run, L1: int = 1) -> list[_ExactTask]:
    """Rational networks 3-4-4-4-2 with six samples of two classes."""
    rng, tasks = run.rng("rational networks"), []
    for _ in range(run.pick(ci=5, paper=10)):
        net = MLP((3, 4, 4, 4, 2), L1, relu())
        weights = [_integers(rng, shape) for shape in net.shapes]
        Y = np.repeat(np.eye(2, dtype=int), 3, axis=1).astype(object)
        tasks.append(_ExactTask(net.with_weights(weights), _integers(rng, (3, 6)), Y))
    return tasks


def _size(residual: NDArray[np.object_]) -> Fraction:
    return Fraction(abs(residual).sum())


def _law(sides: Sequence[Sequence[Array]], place: int, lam: Any, eta: Any, power: int = 2) -> Array:
    """Residual of the law for layers place and place + 1: before a step, gradients, after it."""
    before, gradient, after = (side[place : place + 2] for side in sides)
    return balance_identity_residual(before, gradient, after, lam, eta, power=power)


def _residuals(task: _ExactTask, places: list[int], power: int = 2) -> list[NDArray[np.object_]]:
    """Residuals of the law for pairs (place, place + 1) along three steps of exact descent."""
    found = []
    for before, G, after in descent_path(task.net, task.X, task.Y, task.lam, task.eta, 3):
        for p in places:
            sides = (before.weights, G, after.weights)
            found.append(_law(sides, p, task.lam, task.eta, power))
    return found


def _exactly_zero(residuals: list[NDArray[np.object_]]) -> Finding:
    return Equal([_size(matrix) for matrix in residuals], [Fraction(0)] * len(residuals))


def _linear_pairs(run: Run, power: int = 2) -> Finding:
    return _exactly_zero(
        [matrix for task in _exact_tasks(run) for matrix in _residuals(task, [1, 2], power)]
    )


def _with_bias(run: Run, forgotten: bool) -> Finding:
    """A linear network whose inputs end in a row of ones: the last column is a bias."""
    found = []
    for task in _exact_tasks(run, L1=0):
        X = task.X.copy()
        X[-1] = Fraction(1)
        for before, G, after in descent_path(task.net, X, task.Y, task.lam, task.eta, 3):
            old, gradient, new = [
                (side[0][:, :-1], side[1])
                if forgotten
                else (side[0][:, :-1], side[1], side[0][:, -1])
                for side in (before.weights, G, after.weights)
            ]
            found.append(balance_identity_residual(old, gradient, new, task.lam, task.eta))
    return _exactly_zero(found)


def _relative_residuals(run: Run, images: Images, cross_entropy: bool) -> float:
    """Largest relative residual of the law in floating point, over 200 steps on digits."""
    rng = run.rng("minibatches")
    net = MLP((65, 24, 24, 24, 10), 1, relu()).initialised(run.rng("digits"))
    lam, eta, worst = 0.03, 0.02, 0.0
    for _ in range(run.pick(ci=200, paper=2000)):
        batch = rng.choice(images.X.shape[1], 25) if cross_entropy else slice(None)
        seen = forward(net, images.X[:, batch])
        outputs, Y = seen.features[-1], images.Y[:, batch]
        error = softmax(outputs, axis=0) - Y if cross_entropy else outputs - Y
        G = backpropagate(net, seen, error)
        after = [(1 - eta * lam) * W - eta * g for W, g in zip(net.weights, G, strict=True)]
        for p in (1, 2):
            sides = (net.weights, G, after)
            residual = _law(sides, p, lam, eta)
            worst = max(worst, _norm(residual) / _norm(net.weights[p]) ** 2)
        net = net.with_weights(after)
    return worst


@claim(
    "neural_collapse.balance-identity",
    statement=r"""Descend any differentiable loss on any batch by $W \leftarrow
(1-\eta\lambda)W - \eta G$. For neighbouring layers of which the lower one is linear,
$D_\ell = W_{\ell+1}^\top W_{\ell+1} - W_\ell W_\ell^\top$ obeys exactly
$D_\ell^{k+1} = (1-\eta\lambda)^2 D_\ell^k + \eta^2\big(G_{\ell+1}^\top G_{\ell+1} - G_\ell
G_\ell^\top\big)$. Across a ReLU the diagonal of this identity survives; with a bias in the lower
layer $D_\ell - b_\ell b_\ell^\top$ takes the place of $D_\ell$.""",
    source=Source(PAPER, "mechanism of Section 4; identity derived in the chapter"),
    evidence="exact",
)
def balance_identity(run: Run) -> Finding:
    images = digits(5)
    diagonal = [
        np.diag(np.diag(matrix)) for task in _exact_tasks(run) for matrix in _residuals(task, [0])
    ]
    return AllHold(
        {
            "rational networks": _linear_pairs(run),
            "diagonal across a ReLU": _exactly_zero(diagonal),
            "with a bias": _with_bias(run, forgotten=False),
            "floats, full batches": AtMost(
                no_finer(_relative_residuals(run, images, False), 2e-14), 1e-13
            ),
            "floats, cross-entropy on minibatches": AtMost(
                no_finer(_relative_residuals(run, images, True), 2e-14), 1e-13
            ),
        },
        sizes={"rational networks": run.pick(ci=5, paper=10), "steps": 3},
    )


@balance_identity.control("a ReLU between the two matrices")
def _(run: Run) -> Finding:
    return _exactly_zero([m for task in _exact_tasks(run) for m in _residuals(task, [0])])


@balance_identity.control("the factor 1 − ηλ is not squared")
def _(run: Run) -> Finding:
    return _linear_pairs(run, power=1)


@balance_identity.control("the bias is forgotten")
def _(run: Run) -> Finding:
    return _with_bias(run, forgotten=True)


@balance_identity.control("heavy-ball momentum, from the second step on")
def _(run: Run) -> Finding:
    found = []
    for task in _exact_tasks(run):
        weights, velocity = list(task.net.weights), [Fraction(0) * W for W in task.net.weights]
        for step in range(2):
            net = task.net.with_weights(weights)
            G = backpropagate(net, seen := forward(net, task.X), seen.features[-1] - task.Y)
            velocity = [
                Fraction(9, 10) * v + g + task.lam * W
                for v, g, W in zip(velocity, G, weights, strict=True)
            ]
            after = [W - task.eta * v for W, v in zip(weights, velocity, strict=True)]
            if step == 1:
                sides = (weights, G, after)
                found.append(_law(sides, 1, task.lam, task.eta))
            weights = after
    return _exactly_zero(found)


@balance_identity.control("the diagonal across a smooth, non-homogeneous activation")
def _(run: Run) -> Finding:
    def doubled(x: NDArray[np.object_]) -> NDArray[np.object_]:
        return x + x * x

    quadratic = Activation("quadratic", doubled, lambda x: 1 + 2 * x, 1.0)
    found = []
    for task in _exact_tasks(run):
        net = MLP(task.net.dims, 1, quadratic, task.net.weights)
        step = next(descent_path(net, task.X, task.Y, task.lam, task.eta, 1))
        sides = (step[0].weights, step[1], step[2].weights)
        found.append(np.diag(np.diag(_law(sides, 0, task.lam, task.eta))))
    return _exactly_zero(found)


# --- balance-decay ----------------------------------------------------------------------------

DECAY = 0.1
TIME = 20.0


def _rates(run: Run) -> tuple[float, ...]:
    return run.pick(ci=(0.02, 0.01, 0.005), paper=(0.02, 0.005, 0.00125))


def _slope(path: BalancePath, predicted: float) -> Finding:
    kept = path.imbalance > 0
    fit: Any = linregress(path.times[kept], np.log(path.imbalance[kept]))
    half = 2.6 * float(fit.stderr)
    slope = float(fit.slope)
    return ExponentEquals(slope, slope - half, slope + half, predicted, 0.02 * DECAY)


def _decay_start(run: Run) -> MLP:
    width = run.pick(ci=24, paper=128)
    return MLP((65, width, width, width, 10), 1, relu()).initialised(run.rng("start"))


@claim(
    "neural_collapse.balance-decay",
    statement=r"""Along descent with step $\eta$ and time $t = k\eta$,
$\|D_\ell(t)\| \le (1-\eta\lambda)^{2k}\|D_\ell(0)\| + \eta^2\sum_j(1-\eta\lambda)^{2(k-1-j)}
\max(\|G_{\ell+1}^j\|^2, \|G_\ell^j\|^2)$ for linear pairs. As $\eta \to 0$ the flow has
$D_\ell(t) = e^{-2\lambda t}D_\ell(0)$: on digits, with $\lambda = 0.1$ up to $t = 20$, the rate of
$\log\|D_\ell\|$ is $-2\lambda$ within one per cent, and $\|D(t)\|e^{2\lambda t}/\|D(0)\|$ comes
nearer to 1 as $\eta$ falls.""",
    source=Source(PAPER, "mechanism of Section 4, Figure 1; constants derived in the chapter"),
    evidence="trend",
    uses=["neural_collapse.balance-identity"],
)
def balance_decay(run: Run) -> Finding:
    images, start = digits(5), _decay_start(run)
    parts: dict[str, Finding] = {}
    departures = []
    for rate in _rates(run):
        linear = balance_paths(start, images, DECAY, rate, TIME)[1:]
        for place, path in enumerate(linear, start=2):
            parts[f"rate of D_{place}, η = {rate:g}"] = _slope(path, -2 * DECAY)
            parts[f"envelope of D_{place}, η = {rate:g}"] = AtMost(
                path.imbalance, path.envelope * (1 + 1e-9)
            )
        ends = [p.imbalance[-1] / p.imbalance[0] * np.exp(2 * DECAY * p.times[-1]) for p in linear]
        departures.append(max(abs(end - 1) for end in ends))
    parts["departure from the flow falls with η"] = AtMost(departures[1:], departures[:-1])
    return AllHold(parts, sizes={"samples": 50, "time": TIME})


def _one_pair(run: Run, pair: int, lam: float) -> Finding:
    path = balance_paths(_decay_start(run), digits(5), lam, 0.02, TIME)[pair]
    return _slope(path, -2 * DECAY)


@balance_decay.control("no weight decay: D is conserved")
def _(run: Run) -> Finding:
    return _one_pair(run, 1, 0.0)


@balance_decay.control("the pair across the rectifier")
def _(run: Run) -> Finding:
    return _one_pair(run, 0, DECAY)


@balance_decay.control("AdamW, whose decay is decoupled from the gradient")
def _(run: Run) -> Finding:
    images, rate, time = digits(5), 2e-3, 4.0
    steps = round(time / rate)
    found = train(
        _decay_start(run),
        images.X,
        images.Y,
        0.0,
        Schedule(rate, steps),
        keep=range(0, steps + 1, 50),
        optimizer=partial(torch.optim.AdamW, lr=rate, weight_decay=DECAY),
    )
    D = [_norm(balancedness(net.weights[2], net.weights[1])) for (net,) in found.kept]
    times = rate * np.array(found.steps)
    return _slope(BalancePath(times, np.array(D), np.array(D)), -2 * DECAY)


# --- stationary-balance -----------------------------------------------------------------------


@dataclass(frozen=True)
class AtRest:
    """How far a network is from what rest implies.

    Attributes
    ----------
    gradient : float
    imbalance, imbalance_bound : list of float
        Of all linear pairs.
    ridge : float
        Distance of the last layer from ridge regression on its features.
    norm_identity : float
        Largest relative error of the norms of the linear layers.
    """

    gradient: float
    imbalance: list[float]
    imbalance_bound: list[float]
    ridge: float
    norm_identity: float


def at_rest(net: MLP, images: Images, lam: float) -> AtRest:
    r"""Measure the three consequences of a vanishing gradient.

    Parameters
    ----------
    net : MLP
    images : Images
    lam : float
    """
    seen = forward(net, images.X)
    H, Z = seen.features[-2], seen.features[-1]
    tau = gradient_norm(net, images.X, images.Y, lam)
    pairs = list(pairwise(net.head))
    ridge = np.linalg.solve(H @ H.T + lam * np.eye(len(H)), H @ images.Y.T).T
    product = float(((images.Y - Z) * Z).sum())
    return AtRest(
        tau,
        [float(np.linalg.norm(balancedness(b, a))) for a, b in pairs],
        [tau / lam * (_norm(b) + _norm(a)) for a, b in pairs],
        float(np.linalg.norm(net.weights[-1] - ridge)),
        max(abs(lam * float((W**2).sum()) / product - 1) for W in net.head),
    )


def rest_nets(run: Run, decays: tuple[float, ...], L2: int = 2) -> list[MLP]:
    """Stationary networks on four classes of digits, continued from each decay to the next."""
    images, width = _rest_images(run), run.pick(ci=16, paper=64)
    architecture = MLP((65, *[width] * (1 + L2), len(images.Y)), 2, smooth_leaky(0.3))
    start = architecture.initialised(run.rng("start"))
    steps = run.pick(ci=1500, paper=3000)
    net = train(start, images.X, images.Y, decays[0], Schedule(0.02, steps)).final[0]
    found = []
    for lam in decays:
        net = polish(net, images.X, images.Y, lam)
        found.append(net)
    return found


def _rest_images(run: Run) -> Images:
    return digits(run.pick(ci=5, paper=20), run.pick(ci=4, paper=10))


def _rest_finding(found: list[AtRest]) -> Finding:
    measured = [value for rest in found for value in rest.imbalance]
    shares = [
        v / b for rest in found for v, b in zip(rest.imbalance, rest.imbalance_bound, strict=True)
    ]
    return AllHold(
        {
            "gradient": AtMost(no_finer([rest.gradient for rest in found], 1e-7), 5e-7),
            "imbalance": AtMost(no_finer(measured, 5e-7), 1e-6),
            "imbalance over its bound": AtMost(no_finer(shares, 0.5), 1.0),
            "last layer against ridge regression": AtMost(
                no_finer([rest.ridge for rest in found], 1e-6), 5e-6
            ),
            "norms of the linear layers": AtMost(
                no_finer([rest.norm_identity for rest in found], 2e-6), 1e-5
            ),
        },
        note="values below a fifth to a half of the bound are shown as that share",
    )


@claim(
    "neural_collapse.stationary-balance",
    statement=r"""At any point with $\|\nabla C_\lambda\|_F \le \tau$ the linear pairs have
$\|D_\ell\|_F \le \frac\tau\lambda(\|W_{\ell+1}\| + \|W_\ell\|)$. At a stationary point,
moreover, the last layer is the ridge regression $W_L = YH^\top(HH^\top + \lambda I)^{-1}$ and all
linear layers have the same norm, $\lambda\|W_\ell\|_F^2 = \langle Y - Z_L, Z_L\rangle$.""",
    source=Source("theorylab", "derived in the chapter, a consequence of Section 4 of the paper"),
    evidence="certified",
)
def stationary_balance(run: Run) -> Finding:
    images, decays = _rest_images(run), (0.05, 0.02, 0.005, 0.001)
    nets = rest_nets(run, decays)
    return _rest_finding([at_rest(n, images, lam) for n, lam in zip(nets, decays, strict=True)])


@stationary_balance.control("the largest entry of a linear layer moved by 0.001")
def _(run: Run) -> Finding:
    images, decays = _rest_images(run), (0.05, 0.02)
    net = rest_nets(run, decays)[-1]
    moved = [W.copy() for W in net.weights]
    moved[-2].flat[np.abs(moved[-2]).argmax()] += 1e-3
    rest = at_rest(net.with_weights(moved), images, decays[-1])
    return AllHold(
        {
            "imbalance": AtMost(rest.imbalance, 1e-6),
            "last layer against ridge regression": AtMost(rest.ridge, 5e-6),
            "norms of the linear layers": AtMost(rest.norm_identity, 1e-5),
        }
    )
