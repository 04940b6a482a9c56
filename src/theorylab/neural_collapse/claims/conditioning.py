"""Claims on good conditioning: near minimisers, and solutions stable under a large step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Finding
from theorylab.neural_collapse.balance import head_imbalance
from theorylab.neural_collapse.certificates import Bound
from theorylab.neural_collapse.claims.sources import PAPER
from theorylab.neural_collapse.data import Images, digits, one_hot
from theorylab.neural_collapse.descent import Schedule, descended, polish, train
from theorylab.neural_collapse.heads import balanced_head
from theorylab.neural_collapse.large_step import large_lr_bounds, ntk, skewed_interpolator
from theorylab.neural_collapse.metrics import condition_number
from theorylab.neural_collapse.networks import MLP, forward, loss_and_grads, relu
from theorylab.neural_collapse.theory import NearOptimalBounds, near_optimal_bounds
from theorylab.run import Run

Array = NDArray[np.float64]

# --- near-optimal -----------------------------------------------------------------------------


@dataclass(frozen=True)
class FitTask:
    """Data that one rectified layer fits, with the squared norm of that fit.

    Attributes
    ----------
    X, Y : array
    fit : array, shape (K, d)
        First layer with :math:`\\sigma(W_1X) = Y`.
    lam : float
    """

    X: Array
    Y: Array
    fit: Array
    lam: float

    @property
    def c(self) -> float:
        """Squared norm of the fit."""
        return float((self.fit**2).sum())


def fit_task(rng: np.random.Generator, K: int = 3, N: int = 9, lam: float = 0.003) -> FitTask:
    """Inputs with singular values from 0.7 to 1.3 and K equal classes."""
    Q = np.linalg.qr(rng.standard_normal((N, N)))[0]
    X = Q * np.linspace(0.7, 1.3, N)
    Y = one_hot(np.repeat(np.arange(K), N // K), K)
    return FitTask(X, Y, Y @ np.linalg.inv(X), lam)


@dataclass(frozen=True)
class NearOptimal:
    """A trained network beside the bounds on its last layer.

    Attributes
    ----------
    loss : float
        Regularised.
    bounds : NearOptimalBounds
    kappa, kappa_product : float
        Condition numbers of the last layer and of the whole linear part.
    eps1 : float
    imbalance : float
        0 for a single linear layer.
    """

    loss: float
    bounds: NearOptimalBounds
    kappa: float
    kappa_product: float
    eps1: float
    imbalance: float


def near_optimal(task: FitTask, net: MLP, c: float) -> NearOptimal:
    """Measure a network against the bounds that a fit of squared norm c gives."""
    seen = forward(net, task.X)
    eps1 = float(np.linalg.norm(seen.features[-1] - task.Y))
    K, N = task.Y.shape
    bounds = near_optimal_bounds(
        c,
        K,
        1,
        net.L2,
        float(np.linalg.norm(task.X, 2)),
        float(np.linalg.norm(seen.features[1], 2)),
        float(np.sqrt(N / K)),
        eps1,
        float((net.weights[0] ** 2).sum()),
        task.lam,
    )
    product = net.head[0]
    for W in net.head[1:]:
        product = W @ product
    return NearOptimal(
        float(loss_and_grads(net, task.X, task.Y, task.lam)[0]),
        bounds,
        condition_number(net.weights[-1]),
        condition_number(product),
        eps1,
        head_imbalance(net.head) if net.L2 > 1 else 0.0,
    )


def trained_fits(run: Run, depths: tuple[int, ...]) -> list[NearOptimal]:
    """Random starts, a short descent together, and the best of them taken to rest."""
    task, found = _fit(run), []
    N = task.X.shape[1]
    for L2 in depths:
        net = MLP((N, *[N] * L2, len(task.Y)), 1, relu())
        seeds = run.seed_sequence(f"starts {L2}").generate_state(run.pick(ci=2, paper=6)).tolist()
        steps = run.pick(ci=800, paper=5000)
        rough = train(net, task.X, task.Y, task.lam, Schedule(0.02, steps), seeds).final
        losses = [float(loss_and_grads(n, task.X, task.Y, task.lam)[0]) for n in rough]
        best = polish(rough[int(np.argmin(losses))], task.X, task.Y, task.lam, 1e-9)
        found.append(near_optimal(task, best, task.c))
    return found


def _fit(run: Run) -> FitTask:
    return fit_task(run.rng("inputs"), run.pick(ci=3, paper=10), run.pick(ci=9, paper=40))


def _depths(run: Run) -> tuple[int, ...]:
    return run.pick(ci=(1, 2, 3, 4, 6, 8), paper=(1, 2, 3, 4, 6, 8, 12, 32))


def _sublevel(
    found: list[NearOptimal], task: FitTask, c: float, depths: tuple[int, ...]
) -> Finding:
    """Reached losses against those at which the bounds may be evaluated."""
    allowed = [task.lam / 2 * (c + len(task.Y) * L2) for L2 in depths]
    return AtMost([f.loss for f in found], allowed)


@claim(
    "neural_collapse.near-optimal",
    statement=r"""If nonlinear weights of squared norm $c$ give $Z_{L_1} = Y$, then every balanced
head with $C_\lambda(\theta) \le \frac\lambda2(c + KL_2)$, minimisers among them, has
$\varepsilon_1^2 \le \lambda(c+KL_2)$ and, with $a = \|\theta_{\mathrm{nonlin}}\|^2$ and $\beta =
(\sqrt{N/K}-\varepsilon_1)/\|Z_{L_1}\|$,
$\kappa(W_L)^2 \le \frac{K + (c-a)/L_2 - (K-1)\beta^{2/L_2}}{\beta^{2/L_2}} \le
\big[e^{(c-a)/(2L_2)}\beta^{-K/L_2}\big]^2 \le \big[e^{(c - L_1K + L_1K\log K)/(2L_2)}
\big(\tfrac{\|X\|}{\sqrt{N/K}-\varepsilon_1}\big)^{K/L_2}\big]^2$, which tends to 1 with the number
of linear layers.""",
    source=Source(PAPER, "Theorem 5.2; constants derived in the chapter"),
    evidence="certified",
)
def near_optimal_claim(run: Run) -> Finding:
    task, depths = _fit(run), _depths(run)
    found = trained_fits(run, depths)
    kappas = [f.kappa for f in found]
    tiers = [(f.bounds.direct, f.bounds.posterior, f.bounds.prior) for f in found]
    return AllHold(
        {
            "loss is low enough": _sublevel(found, task, task.c, depths),
            "head is balanced": AtMost([f.imbalance for f in found], 1e-5),
            "training error": AtMost(
                [f.eps1**2 for f in found], [2 * f.bounds.admissible_loss for f in found]
            ),
            "condition number": AtMost(kappas, [t[0] for t in tiers], tolerance=1e-5),
            "order of the bounds": AtMost(
                [v for t in tiers for v in t[:2]], [v for t in tiers for v in t[1:]], tolerance=1e-9
            ),
            "condition number falls with depth": AtMost(kappas[1:], kappas[:-1]),
        },
        sizes={"largest L2": max(depths)},
    )


@near_optimal_claim.control("an interpolator with an ill-conditioned head costs too much")
def _(run: Run) -> Finding:
    task, L2 = fit_task(run.rng("inputs")), 3
    layer = np.diag([10**0.5, 1.0, 10**-0.5])
    fit = np.linalg.matrix_power(np.linalg.inv(layer), L2) @ task.fit
    made = MLP((9, *[3] * (L2 + 1)), 1, relu(), [fit, *[layer] * L2])
    return _sublevel([near_optimal(task, made, task.c)], task, task.c, (L2,))


@near_optimal_claim.control("half the squared norm of the fit")
def _(run: Run) -> Finding:
    task = _fit(run)
    return _sublevel(trained_fits(run, (3,)), task, task.c / 2, (3,))


# --- large-lr ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class LargeStep:
    """Where descent with one step size ends from near an exact interpolator.

    Attributes
    ----------
    relative_rate : float
        Step size over the largest stable one at the start.
    kappa : float
        Condition number of the linear part at the end.
    sharpness : float
        Largest eigenvalue of the kernel times half the step size, at the end.
    """

    relative_rate: float
    kappa: float
    sharpness: float


def escapes(run: Run, relative_rates: tuple[float, ...]) -> list[LargeStep]:
    """Perturb the skewed interpolator and descend without decay at several step sizes."""
    start, X = skewed_interpolator(), np.eye(2)
    stable = 2 / float(np.linalg.eigvalsh(ntk(start, X))[-1])
    noise = run.rng("perturbation")
    weights = [W + 1e-3 * noise.standard_normal(W.shape) for W in start.weights]
    rates = stable * np.array(relative_rates)
    stacked = start.with_weights([np.stack([W] * len(rates)) for W in weights])
    steps = run.pick(ci=20_000, paper=200_000)
    end = descended(stacked, X, X, 0.0, rates[:, None, None], steps)
    found = []
    for place, rate in enumerate(rates):
        net = start.with_weights([W[place] for W in end.weights])
        kappa = condition_number(net.weights[2] @ net.weights[1])
        top = float(np.linalg.eigvalsh(ntk(net, X))[-1])
        found.append(LargeStep(relative_rates[place], kappa, top * rate / 2))
    return found


@dataclass(frozen=True)
class EdgeNet:
    """A network trained on digits without decay at one step size.

    Attributes
    ----------
    rate : float
    kappa : float
        Condition number of the linear part.
    sharpness : float
    tails : tuple of Bound
    """

    rate: float
    kappa: float
    sharpness: float
    tails: tuple[Bound, ...]


RATES = (0.02, 0.03, 0.04, 0.06)


def edge_nets(run: Run, kernel_factor: float = 1.0) -> list[EdgeNet]:
    """One start on digits, descended at several step sizes to the edge of stability."""
    images = digits(5)
    net = MLP((65, 24, 24, 24, 10), 1, relu()).initialised(run.rng("digits"), 1.3)
    stacked = net.with_weights([np.stack([W] * len(RATES)) for W in net.weights])
    rates = np.array(RATES)[:, None, None]
    steps = run.pick(ci=4000, paper=40_000)
    end = descended(stacked, images.X, images.Y, 0.0, rates, steps)
    nets = [net.with_weights([W[place] for W in end.weights]) for place in range(len(RATES))]
    return [_edge(n, images, rate, kernel_factor) for n, rate in zip(nets, RATES, strict=True)]


def _edge(net: MLP, images: Images, rate: float, kernel_factor: float) -> EdgeNet:
    Z_in = forward(net, images.X).features[1]
    bounds = large_lr_bounds(Z_in, net.head, images.labels, kernel_factor)
    kappa = condition_number(np.linalg.multi_dot(net.head[::-1]))
    top = float(np.linalg.eigvalsh(ntk(net, images.X))[-1])
    return EdgeNet(rate, kappa, top * rate / 2, bounds.tails)


def _tails(nets: list[EdgeNet]) -> Finding:
    bounds = [bound for net in nets for bound in net.tails]
    return AtMost([b.value for b in bounds], [b.bound for b in bounds])


def _balanced_heads(run: Run) -> Finding:
    """Random balanced interpolators against the least kernel norm of their condition number."""
    rng, values, least = run.rng("balanced heads"), [], []
    for _ in range(run.pick(ci=500, paper=5000)):
        K, L2 = int(rng.integers(2, 5)), int(rng.integers(2, 6))
        layers = balanced_head(rng, K, K + int(rng.integers(0, 3)), L2, 3.0)
        labels = np.repeat(np.arange(K), int(rng.integers(1, 4)))
        product = np.linalg.multi_dot(layers[::-1])
        Z_in = np.linalg.pinv(product) @ one_hot(labels, K)
        bound = large_lr_bounds(Z_in, layers, labels).balanced
        values.append(bound.value)
        least.append(bound.bound)
    return AtLeast(values, [b * (1 - 1e-9) for b in least])


def _better_conditioned(found: list[LargeStep], start: float) -> Finding:
    return AtMost([step.kappa for step in found], 0.99 * start)


SKEW = 1.6**4


@claim(
    "neural_collapse.large-lr",
    statement=r"""For every linear layer, $\kappa(W_{L:\ell+1}) \le
\|W_\ell\|\sqrt{\|\Theta_{\mathrm{lin}}\|}/(\sqrt{N/K}-\varepsilon_1)$ with the tangent kernel
$\Theta_{\mathrm{lin}}$ of the linear part; with exact balance
$\|\Theta_{\mathrm{lin}}\| \ge \frac{(\sqrt{N/K}-\varepsilon_1)^2}{s_K(W_L)^2}
\sum_{j<L_2}\kappa(W_L)^{2j}$. An interpolator at which descent with step $\eta$ is stable has
$\|\Theta\| \le 2/\eta$: from near an exact interpolator with $\kappa(\Pi) = 6.55$ descent keeps
$\kappa(\Pi)$ below the stable step size and lowers it above, the more the larger the step; on
digits it ends at the edge of stability, better conditioned for larger steps.""",
    source=Source(PAPER, "Proposition 5.3; form derived in the chapter"),
    evidence="certified",
)
def large_lr(run: Run) -> Finding:
    below = escapes(run, (0.5, 0.9, 0.99))
    above = escapes(run, (1.02, 1.1, 1.3, 1.6))
    nets = edge_nets(run)
    kappas = [step.kappa for step in above]
    return AllHold(
        {
            "balanced heads": _balanced_heads(run),
            "kept below the stable step": Close([s.kappa for s in below], SKEW, rtol=0.01),
            "lowered above it": _better_conditioned(above, SKEW),
            "more for larger steps": AtMost(kappas[1:], kappas[:-1]),
            "stable at the end": AtMost([s.sharpness for s in above], 1.0, tolerance=1e-3),
            "layers of the networks on digits": _tails(nets),
            "edge of stability on digits": Close([n.sharpness for n in nets], 1.0, atol=0.05),
            "conditioning on digits": AtMost(
                [n.kappa for n in nets[1:]], [n.kappa for n in nets[:-1]]
            ),
        }
    )


@large_lr.control("steps below the stable one")
def _(run: Run) -> Finding:
    return _better_conditioned(escapes(run, (0.5, 0.9, 0.99)), SKEW)


@large_lr.control("a hundredth of the kernel's norm in the bound")
def _(run: Run) -> Finding:
    return _tails(edge_nets(run, kernel_factor=0.01))
