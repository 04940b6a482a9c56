"""Claims on linear heads: bounds on NC1, NC2 and NC3 from training error and imbalance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtMost, Close, Equal, Finding
from theorylab.neural_collapse.certificates import (
    Bound,
    HeadCertificates,
    head_certificates,
    network_certificates,
)
from theorylab.neural_collapse.claims.sources import PAPER
from theorylab.neural_collapse.data import Images, digits, mnist
from theorylab.neural_collapse.descent import Schedule, TrainedNets, train
from theorylab.neural_collapse.heads import extreme_norm_head, leaking_head, random_head
from theorylab.neural_collapse.metrics import condition_number, decisions
from theorylab.neural_collapse.networks import MLP, forward, relu
from theorylab.neural_collapse.small_networks import rational
from theorylab.neural_collapse.theory import nc1_prior_bound, nc2_bound
from theorylab.run import Run
from theorylab.training import checkpoints, log_steps


@dataclass(frozen=True)
class TrainedHeads:
    """Networks along training, with their certificates.

    Attributes
    ----------
    images : Images
    nets : TrainedNets
    certificates : list of list of HeadCertificates
        By kept step, then by model.
    """

    images: Images
    nets: TrainedNets
    certificates: list[list[HeadCertificates]]

    @property
    def everywhere(self) -> list[HeadCertificates]:
        """All certificates of all steps."""
        return [found for row in self.certificates for found in row]

    @property
    def final(self) -> list[HeadCertificates]:
        """Those after training."""
        return self.certificates[-1]


@dataclass(frozen=True)
class _Setting:
    images: Images
    net: MLP
    lam: float
    schedule: Schedule


def _setting(run: Run) -> _Setting:
    """Digits at ``ci`` scale; MNIST images with more layers and samples above."""
    return run.pick(
        ci=lambda: _Setting(
            digits(5), MLP((65, 24, 24, 24, 10), 1, relu()), 0.03, Schedule(0.02, 10_000)
        ),
        paper=lambda: _Setting(
            mnist(20), MLP((200, 48, 48, 48, 48, 10), 2, relu()), 0.05, Schedule(0.01, 16_000)
        ),
        gpu=lambda: _Setting(
            mnist(50),
            MLP((500, *[128] * 8, 10), 5, relu()),
            0.02,
            Schedule(0.01, 40_000, last=0.2),
        ),
    )()


def _shared(run: Run) -> Run:
    """One source of networks and heads for all claims of this module."""
    return run.for_claim("neural_collapse.trained-heads")


@lru_cache(maxsize=2)
def _trained(shared: Run, decaying: bool) -> TrainedHeads:
    setting = _setting(shared)
    lam = setting.lam if decaying else 0.0
    steps = setting.schedule.steps if decaying else setting.schedule.steps // 6
    schedule = Schedule(setting.schedule.rate, steps, setting.schedule.last)
    seeds = shared.seed_sequence("initialisations").generate_state(3).tolist()
    with checkpoints(shared, f"heads {lam:g}") as saved:
        nets = train(
            setting.net,
            setting.images.X,
            setting.images.Y,
            lam,
            schedule,
            seeds,
            keep=log_steps(steps, 25),
            device=shared.device,
            checkpoint=saved("nets"),
        )
    X, labels = setting.images.X, setting.images.labels
    rows = [[network_certificates(net, X, labels) for net in row] for row in nets.kept]
    return TrainedHeads(setting.images, nets, rows)


def trained_heads(run: Run, decaying: bool = True) -> TrainedHeads:
    """Three networks trained with weight decay (or briefly without), and their certificates."""
    return _trained(_shared(run), decaying)


@lru_cache(maxsize=1)
def _random(shared: Run) -> list[HeadCertificates]:
    rng = shared.rng("random heads")
    heads = [random_head(rng) for _ in range(shared.pick(ci=3000, paper=30_000))]
    return [head_certificates(head.Z_in, head.layers, head.labels) for head in heads]


def random_certificates(run: Run) -> list[HeadCertificates]:
    """Certificates of adversarial random heads."""
    return _random(_shared(run))


Part = Callable[[HeadCertificates], Bound]


def _bounded(found: Iterable[HeadCertificates], part: Part) -> Finding:
    """Values over bounds (bounds over values, from below), for all that say something."""
    bounds = [part(certificate) for certificate in found]
    telling = [bound for bound in bounds if not bound.vacuous]
    sizes = {"bounds": len(telling), "vacuous": len(bounds) - len(telling)}
    return AtMost([_share(bound) for bound in telling], 1.0, tolerance=1e-8, sizes=sizes)


def _share(bound: Bound) -> float:
    small, large = (bound.value, bound.bound) if bound.upper else (bound.bound, bound.value)
    return 0.0 if small == 0 else small / max(large, 1e-300)


def _vacuous(found: Iterable[HeadCertificates], part: Part) -> int:
    return sum(part(certificate).vacuous for certificate in found)


def _on_heads_and_nets(run: Run, part: Part) -> dict[str, Finding]:
    trained = trained_heads(run)
    return {
        "random heads": _bounded(random_certificates(run), part),
        "along training": _bounded(trained.everywhere, part),
        "vacuous after training": Equal(_vacuous(trained.final, part), 0),
    }


# --- nc1-bound --------------------------------------------------------------------------------


def _tiers(found: Iterable[HeadCertificates]) -> Finding:
    """Each tier over the next one."""
    shares = []
    for c in found:
        tiers = (c.nc1.bound, c.nc1_posterior.bound, c.nc1_prior.bound)
        shares += [_share(Bound(a, b)) for a, b in pairwise(tiers) if np.isfinite(b)]
    return AtMost(shares, 1.0, tolerance=1e-8)


def _informative(found: Iterable[HeadCertificates]) -> Finding:
    """The weakest tier after training, against 1."""
    values = [c.nc1_prior.bound for c in found]
    return AtMost([value if np.isfinite(value) else 1e300 for value in values], 1.0)


def _same_decisions(trained: TrainedHeads) -> Finding:
    """Where the margins hold, linear classifier and nearest class mean agree on every sample."""
    images, differing = trained.images, 0.0
    for net in trained.nets.final:
        H = forward(net, images.X).features[-2].T
        differing += decisions(H, images.labels, net.weights[-1]).disagreement
    return AllHold(
        {
            "distance to the class mean": AtMost(
                [c.nearest_mean.value for c in trained.final],
                [c.nearest_mean.bound for c in trained.final],
            ),
            "largest error": AtMost([c.largest_error for c in trained.final], 0.5),
            "disagreements": Equal(round(differing * len(images.labels)), 0),
        }
    )


def _power_of_r(power: int) -> Finding:
    """NC1 of the extreme instance against the bound with this power of r."""
    s, delta, K = 8, 1e-4, 2
    head = extreme_norm_head(s, delta, K)
    found = head_certificates(head.Z_in, head.layers, head.labels)
    n, N = K, len(head.labels)
    bound = nc1_prior_bound(found.r, found.eps1, found.eps2, n, N, K, power)
    return AllHold(
        {
            "NC1 in closed form": Close(found.nc1.value, delta**2 * K / (K - 1), rtol=1e-9),
            "bound": AtMost(found.nc1.value, bound),
        },
        sizes={"bound over NC1, per cent": round(100 * bound / found.nc1.value)},
    )


@claim(
    "neural_collapse.nc1-bound",
    statement=r"""Let the last two layers $W$, $V$ be linear, classes balanced, $\mathrm{rank}\,W
= K$ and $\varepsilon_1 < \min(\sqrt{N/K}, \sqrt{(K-1)N/K})$. With $P = W^+W$ and the trace $t_D$
and top eigenvalue $e_D$ of $-(I-P)D_{L-1}(I-P)$, NC1 is at most
$\frac{s_1^2[(\|RQ_\perp\|_F/s_K)^2 + \min(t_D\|AQ_\perp\|^2, e_D\|AQ_\perp\|_F^2)]}
{(\sqrt{N(K-1)/K} - \|RQ_B\|_F)^2}$, which is at most
$\frac{r^4}{N}\cdot\frac{(\varepsilon_1/(\sqrt{N/K}-\varepsilon_1))^2 + n\,\varepsilon_2}
{(\sqrt{(K-1)/K}-\varepsilon_1/\sqrt N)^2}$,
the last in the shape of the paper's theorem. The fourth power of $r$ cannot be lowered.""",
    source=Source(PAPER, "Theorem 3.1; constants derived in the chapter"),
    evidence="certified",
)
def nc1_bound(run: Run) -> Finding:
    trained = trained_heads(run)
    return AllHold(
        {
            **_on_heads_and_nets(run, lambda c: c.nc1),
            "random heads, posterior": _bounded(
                random_certificates(run), lambda c: c.nc1_posterior
            ),
            "random heads, prior": _bounded(random_certificates(run), lambda c: c.nc1_prior),
            "order of the tiers": _tiers([*random_certificates(run), *trained.everywhere]),
            "prior bound after training": _informative(trained.final),
            "decisions": _same_decisions(trained),
            "fourth power of r": _power_of_r(4),
        }
    )


@nc1_bound.control("imbalance taken for zero on an exact interpolator")
def _(run: Run) -> Finding:
    head = leaking_head(run.rng("leak"))
    zero = [np.zeros((len(W), len(W))) for W in head.layers[:-1]]
    found = head_certificates(head.Z_in, head.layers, head.labels, imbalance=zero)
    return AtMost(found.nc1.value, found.nc1.bound)


@nc1_bound.control("second power of r instead of the fourth")
def _(run: Run) -> Finding:
    return _power_of_r(2)


@nc1_bound.control("no weight decay: the bound says nothing")
def _(run: Run) -> Finding:
    return _informative(trained_heads(run, decaying=False).final)


# --- head-conditioning ------------------------------------------------------------------------


@claim(
    "neural_collapse.head-conditioning",
    statement=r"""For linear layers $W_m, \dots, W_L$ with product $\Pi$ and $L_2 = L - m + 1$,
$|s_i(W_L)^{2L_2} - s_i(\Pi)^2| \le \Delta := \sum_{j=0}^{L_2-2}(j+1)
\max(\|W_{m+j}\|, \|W_{m+j+1}\|)^{2j}\|W_{L:m+j+1}\|^2\|D_{m+j}\|$. Hence
$\kappa(W_L) \le \big(\tfrac{s_1(\Pi)^2+\Delta}{s_K(\Pi)^2-\Delta}\big)^{1/(2L_2)}$ where
$\Delta < s_K(\Pi)^2$; exact balance gives $\kappa(W_L) = \kappa(\Pi)^{1/L_2}$.""",
    source=Source(PAPER, "Theorem 3.1; constants derived in the chapter"),
    evidence="certified",
)
def head_conditioning(run: Run) -> Finding:
    return AllHold(
        {
            **_on_heads_and_nets(run, lambda c: c.kappa),
            "random heads, prior": _bounded(random_certificates(run), lambda c: c.kappa_prior),
            "slack after training": AtMost([c.kappa.slack for c in trained_heads(run).final], 0.01),
        }
    )


@head_conditioning.control("exponent 1/(2L₂ + 2) instead of 1/(2L₂)")
def _(run: Run) -> Finding:
    final, L2 = trained_heads(run).final, trained_heads(run).nets.final[0].L2
    return AtMost([c.kappa.value for c in final], [c.kappa.bound ** (L2 / (L2 + 1)) for c in final])


# --- nc2-bound --------------------------------------------------------------------------------


@claim(
    "neural_collapse.nc2-bound",
    statement=r"""With $e = \sqrt{(\varepsilon_1/s_K)^2 + \min(t_D\|A\|^2, e_D\|A\|_F^2)} \ge
\|H - W^+Y\|_F$ and $\delta = e\sqrt{K/N}$: if $\delta s_1 < 1$, the matrix $M$ of class means of
the last features has $\kappa(M) \le \frac{\kappa(W_L) + \delta s_1}{1 - \delta s_1}$.""",
    source=Source(PAPER, "Theorem 3.1; constants derived in the chapter"),
    evidence="certified",
    uses=["neural_collapse.head-conditioning"],
)
def nc2_claim(run: Run) -> Finding:
    return AllHold(_on_heads_and_nets(run, lambda c: c.nc2))


@nc2_claim.control("error and imbalance left out: δ = 0")
def _(run: Run) -> Finding:
    final = trained_heads(run).final
    bounds = [nc2_bound(c.kappa.value, 1.0, 0.0, 50, 10) for c in final]
    return AtMost([c.nc2.value for c in final], bounds)


# --- nc3-bound --------------------------------------------------------------------------------


def _kantorovich(numerator: int) -> Finding:
    """The exact instance of condition 2 whose cosine attains the bound, here 4/5."""
    W = rational([[3, 1], [1, 3]]) / Fraction(2)
    inverse = rational([[3, -1], [-1, 3]]) / Fraction(4)
    product = W @ inverse
    # Norms may be irrational, their squares are not: compare squared cosines.
    squares = [(inverse[:, i] ** 2).sum() * (W[i] ** 2).sum() for i in range(2)]
    inner = [(inverse[:, i] * W[i]).sum() for i in range(2)]
    cosines = [Fraction(value) ** 2 / square for value, square in zip(inner, squares, strict=True)]
    return AllHold(
        {
            "interpolation": Equal(product, np.eye(2, dtype=int)),
            "squared cosines": Equal(cosines, [Fraction(numerator, 5) ** 2] * 2),
            "condition number": Close(condition_number(W.astype(float)), 2.0, rtol=1e-12),
        }
    )


@claim(
    "neural_collapse.nc3-bound",
    statement=r"""With $\kappa = \kappa(W_L)$ and $a = \frac12(\kappa + 1/\kappa)$, the mean cosine
between a sample's last features and its row of $W_L$ is at least
$\frac1a\big(1 - \frac{\varepsilon_1}{\sqrt N} - \frac{s_1e}{a\sqrt N}\big)$. For exact
interpolation and balance this is $2\kappa/(\kappa^2+1)$, which is attained.""",
    source=Source(PAPER, "Theorem 3.1; constants derived in the chapter"),
    evidence="certified",
    uses=["neural_collapse.head-conditioning"],
)
def nc3_claim(run: Run) -> Finding:
    return AllHold({**_on_heads_and_nets(run, lambda c: c.nc3), "attained": _kantorovich(4)})


@nc3_claim.control("no weight decay: the certificate is negative")
def _(run: Run) -> Finding:
    final = trained_heads(run, decaying=False).final
    return Equal(_vacuous(final, lambda c: c.nc3), 0)


@nc3_claim.control("a cosine of 3/5 at condition number 2")
def _(run: Run) -> Finding:
    return _kantorovich(3)
