"""The claim on training: more linear layers, better conditioned class means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import page_trend_test

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, Finding, Rejected
from theorylab.neural_collapse.claims.sources import PAPER
from theorylab.neural_collapse.data import Images, digits
from theorylab.neural_collapse.descent import Schedule, train
from theorylab.neural_collapse.metrics import nc1, nc2, nc3
from theorylab.neural_collapse.networks import MLP, forward, relu
from theorylab.run import Run
from theorylab.training import checkpoints

Array = NDArray[np.float64]
LEVEL = 1e-4
POWER = 1 - 1e-6
"""Neighbouring depths differ by more than four standard deviations of a seed, so an inversion has
probability below 1e-4 per seed and pair; the test rejects at ``LEVEL`` with up to five of them."""


@dataclass(frozen=True)
class DepthStudy:
    """Metrics of the last hidden features, by seed and number of linear layers.

    Attributes
    ----------
    depths : tuple of int
    kappa, nc1, nc3 : array, shape (seeds, depths)
    first_kappa : array, shape (seeds, depths)
        NC2 of the input of the first linear layer.
    """

    depths: tuple[int, ...]
    kappa: Array
    nc1: Array
    nc3: Array
    first_kappa: Array


@dataclass(frozen=True)
class _Plan:
    images: Images
    depths: tuple[int, ...]
    L1: int
    width: int
    lam: float
    schedule: Schedule


def _plan(run: Run) -> _Plan:
    return run.pick(
        ci=lambda: _Plan(digits(5), (1, 2, 3, 5), 2, 24, 0.03, Schedule(0.03, 3000, last=0.2)),
        paper=lambda: _Plan(
            digits(20), (1, 2, 3, 4, 5, 6), 2, 48, 0.03, Schedule(0.01, 20_000, last=0.2)
        ),
    )()


@lru_cache(maxsize=1)
def depth_study(run: Run) -> DepthStudy:
    """Train five seeds at every depth together and measure them."""
    plan = _plan(run)
    images, rows = plan.images, []
    with checkpoints(run, "depths") as saved:
        for L2 in plan.depths:
            dims = (len(images.X), *[plan.width] * (plan.L1 + L2 - 1), len(images.Y))
            seeds = run.seed_sequence(f"{L2} linear layers").generate_state(5).tolist()
            nets = train(
                MLP(dims, plan.L1, relu()),
                images.X,
                images.Y,
                plan.lam,
                plan.schedule,
                seeds,
                keep=[plan.schedule.steps],
                device=run.device,
                checkpoint=saved(f"{L2} layers"),
            ).final
            rows.append([_measures(net, images) for net in nets])
    table = np.array(rows).transpose(2, 1, 0)
    return DepthStudy(plan.depths, *table)


def _measures(net: MLP, images: Images) -> tuple[float, float, float, float]:
    features = forward(net, images.X).features
    H, first = features[-2].T, features[net.L1].T
    W = net.weights[-1]
    y = images.labels
    return nc2(H, y), nc1(H, y), nc3(H, y, W), nc2(first, y)


def _trend(table: Array, name: str) -> Finding:
    """Page's test that the columns increase within the rows."""
    p = float(page_trend_test(table, method="exact").pvalue)
    return Rejected(p, LEVEL, POWER, f"{name} has no trend in the number of linear layers")


def _trends(study: DepthStudy, order: list[int] | None = None) -> Finding:
    columns = order or list(range(len(study.depths)))
    return AllHold(
        {
            "NC2 falls": _trend(-study.kappa[:, columns], "NC2"),
            "NC1 falls": _trend(-study.nc1[:, columns], "NC1"),
            "NC3 rises": _trend(study.nc3[:, columns], "NC3"),
        },
        sizes={"seeds": len(study.kappa), "depths": len(columns)},
    )


@claim(
    "neural_collapse.depth-and-layers",
    statement=r"""Trained on digits with weight decay, the condition number of the class means
(NC2) and NC1 of the last features fall, and NC3 rises, with the number of linear layers, in five
seeds for each of the depths 1, 2, 3 and 5; Page's trend test at level $10^{-4}$.""",
    source=Source(PAPER, "Figures 1 to 3, our sizes"),
    evidence="statistical",
    uses=["neural_collapse.head-conditioning"],
)
def depth_and_layers(run: Run) -> Finding:
    return _trends(depth_study(run))


@depth_and_layers.control("depth labels permuted")
def _(run: Run) -> Finding:
    order = run.pick(ci=[2, 0, 3, 1], paper=[2, 4, 0, 5, 1, 3])
    return _trends(depth_study(run), order)
