"""How NC1 and the training error of stationary networks fall with the weight decay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theorylab.neural_collapse.certificates import network_certificates
from theorylab.neural_collapse.data import Images
from theorylab.neural_collapse.descent import Schedule, polish, train
from theorylab.neural_collapse.large_step import ntk
from theorylab.neural_collapse.networks import MLP
from theorylab.neural_collapse.theory import stationary_nc1_bound

Array = NDArray[np.float64]
DECAYS = (0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005)


@dataclass(frozen=True)
class RatePoint:
    """A stationary network's NC1 with its bound.

    Attributes
    ----------
    lam : float
    nc1, nc1_bound : float
    eps1, eps1_bound : float
    rank : int
        Numerical rank of the last layer.
    """

    lam: float
    nc1: float
    nc1_bound: float
    eps1: float
    eps1_bound: float
    rank: int


def rate_point(net: MLP, images: Images, lam: float) -> RatePoint:
    r"""Measure a stationary network.

    .. math:: \varepsilon_1 \le \lambda\|\theta\|/\sqrt{\lambda_{\min}(\Theta)}
    """
    found = network_certificates(net, images.X, images.labels)
    least = float(np.linalg.eigvalsh(ntk(net, images.X))[0])
    N, K = len(images.labels), len(images.Y)
    return RatePoint(
        lam,
        found.nc1.value,
        stationary_nc1_bound(found.kappa.value, found.eps1, N, K),
        found.eps1,
        lam * float(np.sqrt(net.squared_norm / least)) if least > 0 else float("inf"),
        int(np.linalg.matrix_rank(net.weights[-1], tol=1e-6)),
    )


def continued(net: MLP, images: Images, steps: int) -> list[RatePoint]:
    """Stationary points from one start, continued through ``DECAYS``.

    Parameters
    ----------
    net : MLP
        At its start.
    images : Images
    steps : int
        Of descent with the largest decay, before the first point.
    """
    net = train(net, images.X, images.Y, DECAYS[0], Schedule(0.02, steps)).final[0]
    points = []
    for lam in DECAYS:
        net = polish(net, images.X, images.Y, lam)
        points.append(rate_point(net, images, lam))
    return points


def local_slopes(points: list[RatePoint]) -> tuple[Array, Array]:
    """Slopes of log NC1 and of log training error against log decay, between neighbours."""
    steps = np.diff(np.log([p.lam for p in points]))
    values = np.log([[p.nc1, p.eps1] for p in points])
    slopes = np.diff(values, axis=0) / steps[:, None]
    return slopes[:, 0], slopes[:, 1]
