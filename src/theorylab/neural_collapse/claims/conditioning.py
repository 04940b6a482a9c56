"""Claims on good conditioning: near minimisers, and solutions stable under a large step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Finding
from theorylab.neural_collapse.certificates import Bound
from theorylab.neural_collapse.claims.sources import PAPER, no_finer
from theorylab.neural_collapse.data import Images, digits, one_hot
from theorylab.neural_collapse.descent import descended
from theorylab.neural_collapse.heads import balanced_head
from theorylab.neural_collapse.large_step import LargeStep, escapes, large_lr_bounds, ntk
from theorylab.neural_collapse.metrics import condition_number
from theorylab.neural_collapse.near_optimal import (
    FitTask,
    NearOptimal,
    best_fit,
    fit_task,
    near_optimal,
)
from theorylab.neural_collapse.networks import MLP, forward, relu
from theorylab.run import Run

Array = NDArray[np.float64]

# --- near-optimal -----------------------------------------------------------------------------


def trained_fits(run: Run, depths: tuple[int, ...]) -> list[NearOptimal]:
    """Random starts, a short descent together, and the best of them taken to rest."""
    task, steps = _fit(run), run.pick(ci=800, paper=5000)
    count = run.pick(ci=2, paper=6)
    seeds = {L2: run.seed_sequence(f"starts {L2}").generate_state(count).tolist() for L2 in depths}
    return [best_fit(task, L2, seeds[L2], steps) for L2 in depths]


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
            "head is balanced": AtMost(no_finer([f.imbalance for f in found], 5e-6), 1e-5),
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


def _escapes(run: Run, relative_rates: tuple[float, ...]) -> list[LargeStep]:
    steps = run.pick(ci=20_000, paper=200_000)
    return escapes(run.rng("perturbation"), relative_rates, steps)


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
    below = _escapes(run, (0.5, 0.9, 0.99))
    above = _escapes(run, (1.02, 1.1, 1.3, 1.6))
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
    return _better_conditioned(_escapes(run, (0.5, 0.9, 0.99)), SKEW)


@large_lr.control("a hundredth of the kernel's norm in the bound")
def _(run: Run) -> Finding:
    return _tails(edge_nets(run, kernel_factor=0.01))
