"""Networks near the least regularised loss, beside the bounds on their last layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theorylab.neural_collapse.balance import head_imbalance
from theorylab.neural_collapse.data import one_hot
from theorylab.neural_collapse.descent import Schedule, polish, train
from theorylab.neural_collapse.metrics import condition_number
from theorylab.neural_collapse.networks import MLP, forward, loss_and_grads, relu
from theorylab.neural_collapse.theory import NearOptimalBounds, near_optimal_bounds

Array = NDArray[np.float64]


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


def best_fit(task: FitTask, L2: int, seeds: list[int], steps: int) -> NearOptimal:
    """Random starts, a short descent together, and the best of them taken to rest.

    Parameters
    ----------
    task : FitTask
    L2 : int
        Linear layers after the one nonlinear layer; all widths are the number of samples.
    seeds : list of int
    steps : int
    """
    N = task.X.shape[1]
    net = MLP((N, *[N] * L2, len(task.Y)), 1, relu())
    rough = train(net, task.X, task.Y, task.lam, Schedule(0.02, steps), seeds).final
    losses = [float(loss_and_grads(n, task.X, task.Y, task.lam)[0]) for n in rough]
    best = polish(rough[int(np.argmin(losses))], task.X, task.Y, task.lam, 1e-9)
    return near_optimal(task, best, task.c)
