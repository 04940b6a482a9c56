"""Claims on training to the end: two phases of gradient flow, and the rate of NC1 at rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Equal, ExponentEquals, Finding
from theorylab.neural_collapse.certificates import head_certificates
from theorylab.neural_collapse.claims.sources import PAPER
from theorylab.neural_collapse.data import Images, digits
from theorylab.neural_collapse.descent import polish
from theorylab.neural_collapse.heads import extreme_norm_head
from theorylab.neural_collapse.networks import MLP, smooth_leaky
from theorylab.neural_collapse.rates import DECAYS, RatePoint, continued, local_slopes
from theorylab.neural_collapse.two_phase import (
    PhaseRun,
    TwoPhase,
    dead_row,
    phase_run,
    pyramid,
    two_phase_constants,
)
from theorylab.run import Run

Array = NDArray[np.float64]
GAMMA = 0.5

# --- two-phase --------------------------------------------------------------------------------


def _hypotheses(told: TwoPhase) -> dict[str, Finding]:
    return {
        "condition on the start": AtLeast(told.condition, told.required),
        "condition on the decay": AtMost(told.decay_load, told.decay_room),
    }


def _phases(found: PhaseRun, lam: float) -> Finding:
    told, seen, first = found.constants, found.record, found.first
    fitting = seen.loss[: first + 1] > lam * told.B / 2
    balancing = slice(first, None)
    allowed = seen.imbalance[first] * np.exp(-2 * lam * (seen.times - seen.times[first]))
    value, sharp, prior = found.certified
    return AllHold(
        {
            **_hypotheses(told),
            "distance while fitting": AtMost(seen.distance[: first + 1][fitting], told.r0),
            "gradient while fitting": AtLeast(seen.pl_ratio[: first + 1][fitting], 2 * told.mu0),
            "loss at T₁": AtMost(seen.loss[first], lam * told.B),
            "training error after T₁": AtMost(2 * seen.data_loss[balancing], 2 * lam * told.B),
            "norm after T₁": AtMost(seen.squared_norm[balancing], 2 * told.B),
            "imbalance after T₁": AtMost(
                seen.imbalance[balancing], allowed[balancing] * (1 + 1e-4)
            ),
            "NC1 at the end over its sharp bound": AtMost(value / sharp, 1.0),
            "sharp bound over prior": AtMost(sharp / prior, 1.0),
            "prior bound at the end": AtMost(prior, 1.0),
        },
        sizes={"samples": 4, "times": len(seen.times)},
    )


@claim(
    "neural_collapse.two-phase",
    statement=r"""Let $\|X\| \le 1$, $\sigma' \in [\gamma, 1]$, widths pyramidal, $\lambda_F =
s_{\min}(Z_1)$, $\lambda_\ell = s_{\min}(W_\ell)$ at the start, $r_0 = \frac12\min(\lambda_F,
\min_{\ell\ge3}\lambda_\ell)$, $\mu_0 = (\lambda_F/2)^2(\lambda_{3\to L}/2^{L-2})^2
\gamma^{2(L_1-1)}$, $m = (\|\theta_0\|+r_0)^2$, $B = m(1+2\lambda/\mu_0)$. If
$2r_0\lambda_F\lambda_{3\to L} \ge 2^{L+1}\sqrt{2C_0(\theta_0)}/\gamma^{L_1-1}$ and
$\lambda\|\theta_0\|^2 \le 2C_0(\theta_0)$, then gradient flow stays within $r_0$ of its start with
$\|\nabla C_0\|^2 \ge 2\mu_0C_0$ until $C_\lambda \le \lambda B/2$; at
$T_1 = \frac1{\mu_0}\log^+\frac{C_\lambda(\theta_0)-\lambda B/2}{\lambda B/2}$ it has
$C_\lambda \le \lambda B$; and from then on $\varepsilon_1^2 \le 2\lambda B$,
$\|\theta\|^2 \le 2B$, $\|D_\ell(t)\| \le e^{-2\lambda(t-T_1)}\|D_\ell(T_1)\|$, so that the bound
on NC1 ends at $O(\lambda)$. Checked along the flow of one network inside these hypotheses.""",
    source=Source(PAPER, "Theorem 4.4; constants derived in the chapter"),
    evidence="certified",
    uses=["neural_collapse.balance-decay", "neural_collapse.nc1-bound"],
)
def two_phase(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    for instance in range(run.pick(ci=1, paper=5)):
        task = pyramid(run.rng(f"pyramid {instance}"))
        for lam in (1e-2, 1e-3, 1e-4):
            parts[f"instance {instance + 1}, λ = {lam:g}"] = _phases(phase_run(task, lam), lam)
    return AllHold(parts)


@two_phase.control("a rectifier with a dead row: the first features are singular")
def _(run: Run) -> Finding:
    task = dead_row(pyramid(run.rng("pyramid 0")))
    return AllHold(_hypotheses(two_phase_constants(task.net, task.X, task.Y, 1e-2, GAMMA)))


@two_phase.control("no weight decay in the flow: the second phase is absent")
def _(run: Run) -> Finding:
    return _phases(phase_run(pyramid(run.rng("pyramid 0")), 1e-2, flow_decay=0.0), 1e-2)


@two_phase.control("a start three times smaller: the hypothesis is false")
def _(run: Run) -> Finding:
    task = pyramid(run.rng("pyramid 0"), scale=1 / 3)
    return AllHold(_hypotheses(two_phase_constants(task.net, task.X, task.Y, 1e-2, GAMMA)))


# --- nc1-rate ---------------------------------------------------------------------------------


def rate_curve(run: Run, L2: int, start: int) -> list[RatePoint]:
    """Stationary points continued through ``DECAYS``, for one depth and one start."""
    images, width = _images(run), run.pick(ci=16, paper=64)
    net = MLP((65, *[width] * (1 + L2), len(images.Y)), 2, smooth_leaky(0.3))
    net = net.initialised(run.rng(f"start {start}, {L2} linear layers"))
    return continued(net, images, run.pick(ci=1000, paper=3000))


def _images(run: Run) -> Images:
    return digits(run.pick(ci=5, paper=20), run.pick(ci=4, paper=10))


def _last_slopes(slopes: list[float], predicted: float) -> Finding:
    return ExponentEquals(
        float(np.mean(slopes)),
        min(slopes),
        max(slopes),
        predicted,
        0.1,
        note="the interval is the range over depths and starts",
    )


@claim(
    "neural_collapse.nc1-rate",
    statement=r"""At a stationary point of $C_\lambda$ with tangent kernel $\Theta$ and balanced
linear layers, $\varepsilon_1 \le \lambda\|\theta\|/\sqrt{\lambda_{\min}(\Theta)}$ and
$\mathrm{NC1} \le \kappa(W_L)^2\varepsilon_1^2/(\sqrt{N(K-1)/K}-\varepsilon_1)^2$: as $\lambda \to
0$, NC1 falls like $\lambda^2$, one power faster than the theorem on training gives.""",
    source=Source("theorylab", "derived in the chapter, sharpens Theorem 4.4 of the paper"),
    evidence="trend",
    uses=["neural_collapse.nc1-bound", "neural_collapse.stationary-balance"],
)
def nc1_rate(run: Run) -> Finding:
    curves = [
        rate_curve(run, L2, start) for L2 in (2, 3) for start in range(run.pick(ci=1, paper=3))
    ]
    points = [p for curve in curves for p in curve]
    slopes = [local_slopes(curve) for curve in curves]
    rising = [np.diff(of_nc1) for of_nc1, _ in slopes]
    return AllHold(
        {
            "rank of the last layer": Equal(
                [p.rank for p in points], [len(_images(run).Y)] * len(points)
            ),
            "training error": AtMost([p.eps1 for p in points], [p.eps1_bound for p in points]),
            "NC1": AtMost([p.nc1 for p in points], [p.nc1_bound for p in points], tolerance=1e-12),
            "local exponents of NC1 rise": AtLeast(np.concatenate(rising), 0.0),
            "last exponent of NC1": _last_slopes([float(s[-1]) for s, _ in slopes], 2.0),
            "last exponent of the training error": _last_slopes(
                [float(s[-1]) for _, s in slopes], 1.0
            ),
        },
        sizes={"depths": 2, "decays": len(DECAYS)},
    )


@nc1_rate.control("heads whose NC1 is made proportional to λ")
def _(run: Run) -> Finding:
    made = [extreme_norm_head(2, float(np.sqrt(lam))) for lam in DECAYS]
    values = [head_certificates(h.Z_in, h.layers, h.labels).nc1.value for h in made]
    slopes = np.diff(np.log(values)) / np.diff(np.log(DECAYS))
    return _last_slopes([float(slopes[-1])], 2.0)


@nc1_rate.control("a branch on which classes have died")
def _(run: Run) -> Finding:
    images = digits(5)
    net = MLP((65, 16, 16, 16, 10), 1, smooth_leaky(0.3)).initialised(run.rng("dying"))
    net = polish(net, images.X, images.Y, 0.5)
    ranks = [int(np.linalg.matrix_rank(net.weights[-1], tol=1e-6))]
    return Equal(ranks, [10])
