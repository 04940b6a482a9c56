"""Training of the chapter's networks: stacked over seeds and decays, and polished to a minimum."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

from theorylab import training
from theorylab.neural_collapse.networks import MLP, data_gradients, forward, loss_and_grads

if TYPE_CHECKING:
    from theorylab.training import Checkpoint, MakeOptimizer

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Schedule:
    """A learning rate, divided by ``drop`` for the last part of the steps.

    Parameters
    ----------
    rate : float
        Positive.
    steps : int
    last : float
        Fraction of the steps at the end with the smaller rate.
    drop : float
    """

    rate: float
    steps: int
    last: float = 0.0
    drop: float = 10.0

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise ValueError(f"rate must be positive, got {self.rate}")
        if not 0 <= self.last <= 1 or not self.drop >= 1:
            raise ValueError(
                f"last is a fraction of the steps and drop at least 1, got {self.last}, {self.drop}"
            )

    def factor(self, step: int) -> float:
        """Factor of the rate at a step."""
        return 1.0 if step < round((1 - self.last) * self.steps) else 1 / self.drop


@dataclass(frozen=True)
class TrainedNets:
    """Networks trained together, at the steps where they were kept.

    Attributes
    ----------
    steps : tuple of int
    kept : tuple of tuple of MLP
        ``kept[i][m]`` is model m after ``steps[i]`` updates.
    """

    steps: tuple[int, ...]
    kept: tuple[tuple[MLP, ...], ...]

    @property
    def final(self) -> tuple[MLP, ...]:
        """The models after the last update."""
        return self.kept[-1]


class _LossWithGradients(torch.autograd.Function):
    """The loss of stacked networks, with its gradient written by hand."""

    @staticmethod
    def forward(ctx: Any, net: MLP, X: Any, Y: Any, lam: Any, *weights: Any) -> Any:
        stacked = net.with_weights(weights)
        seen = forward(stacked, X)
        R = seen.features[-1] - Y
        loss = R.square().sum((-1, -2))
        if lam is None:
            ctx.gradients = data_gradients(stacked, seen, Y)
            return loss / 2
        norms = torch.stack([torch.linalg.vector_norm(W, dim=(-2, -1)) for W in weights])
        loss = loss + lam[:, 0, 0] * norms.square().sum(0)
        gradients = data_gradients(stacked, seen, Y)
        ctx.gradients = [torch.addcmul(G, lam, W) for G, W in zip(gradients, weights, strict=True)]
        return loss / 2

    @staticmethod
    def backward(ctx: Any, *outputs: Any) -> Any:
        # Descent sums the losses, so every factor is one; another use would need outputs[0].
        return (None, None, None, None, *ctx.gradients)


def stacked_loss(net: MLP, lam: Any = None) -> training.Loss:
    """Loss of stacked networks for ``theorylab.training.train``.

    Parameters
    ----------
    net : MLP
        Architecture.
    lam : tensor, shape (models, 1, 1), optional
        Weight decay of each model; none if the optimiser applies its own.
    """

    def loss(parameters: dict[str, torch.Tensor], batch: Any) -> torch.Tensor:
        weights = [parameters[name] for name in _names(net)]
        return _LossWithGradients.apply(net, *batch, lam, *weights)  # pyright: ignore

    return loss


def _names(net: MLP) -> list[str]:
    return [f"W{place + 1}" for place in range(net.layers)]


def train(
    net: MLP,
    X: Array,
    Y: Array,
    lam: float | Sequence[float],
    schedule: Schedule,
    seeds: int | Sequence[int] = 1,
    *,
    scale: float = 1.0,
    keep: Iterable[int] | None = None,
    optimizer: MakeOptimizer | None = None,
    device: str = "cpu",
    checkpoint: Checkpoint | None = None,
) -> TrainedNets:
    """Descend the regularised loss of many networks together, in double precision.

    Parameters
    ----------
    net : MLP
        With weights: the common start of all models. Without: Gaussian starts, one per seed.
    X : array, shape (d, N)
    Y : array, shape (K, N)
    lam : float or sequence of float
        Weight decays. The models are all pairs (seed, decay), seeds first.
    schedule : Schedule
    seeds : int or sequence of int
        Number of starts, or the seeds they are drawn with.
    scale : float
        Factor of the Gaussian starts.
    keep : iterable of int, optional
        Steps after which the weights are kept; first and last if omitted.
    optimizer : callable, optional
        As for ``theorylab.training.train``. If given, it applies its own decay and ``lam`` must
        be 0; plain descent on the regularised loss if omitted.
    device : str
    checkpoint : Checkpoint, optional

    Returns
    -------
    TrainedNets

    Raises
    ------
    ValueError
        If a decay is negative, or both ``lam`` and ``optimizer`` ask for decay.
    theorylab.training.DivergedError
        If a model's loss becomes infinite.
    """
    decays = [float(value) for value in np.atleast_1d(lam)]
    if min(decays) < 0:
        raise ValueError(f"lam must be non-negative, got {min(decays)}")
    if optimizer is not None and max(decays) > 0:
        raise ValueError("with an optimizer of your own, lam must be 0: let it apply the decay")
    chosen = range(seeds) if isinstance(seeds, int) else seeds
    starts = [
        net if net.weights else net.initialised(np.random.default_rng(int(seed)), scale)
        for seed in chosen
    ]
    models = [start for start in starts for _ in decays]
    to = partial(torch.as_tensor, dtype=torch.float64, device=device)
    parameters = {
        name: to(np.stack([model.weights[place] for model in models]))
        for place, name in enumerate(_names(net))
    }
    per_model = to(decays * len(starts))[:, None, None] if optimizer is None else None
    with training.single_thread():
        found = training.train(
            parameters,
            stacked_loss(net, per_model),
            training.full_batch((to(X).expand(len(models), -1, -1).contiguous(), to(Y))),
            schedule.steps,
            optimizer=optimizer or partial(torch.optim.SGD, lr=schedule.rate, foreach=True),
            schedule=schedule.factor,
            measure=lambda now: now,
            at=keep,
            checkpoint=checkpoint,
        )
    kept = tuple(
        tuple(
            net.with_weights([found.measured[name][place, m] for name in _names(net)])
            for m in range(len(models))
        )
        for place in range(len(found.steps))
    )
    return TrainedNets(found.steps, kept)


def polish(net: MLP, X: Array, Y: Array, lam: float, tolerance: float = 1e-10) -> MLP:
    """A nearby stationary point of the regularised loss, by L-BFGS.

    Parameters
    ----------
    net : MLP
        The start.
    X : array, shape (d, N)
    Y : array, shape (K, N)
    lam : float
    tolerance : float
        Largest entry of the gradient at which to stop. Rounding may end the search earlier:
        measure ``gradient_norm``.
    """
    ends = np.cumsum([out * into for out, into in net.shapes])[:-1]

    def unflatten(theta: Array) -> MLP:
        parts = np.split(theta, ends)
        return net.with_weights([p.reshape(s) for p, s in zip(parts, net.shapes, strict=True)])

    def value(theta: Array) -> tuple[float, Array]:
        loss, gradients = loss_and_grads(unflatten(theta), X, Y, lam)
        return float(loss), np.concatenate([G.ravel() for G in gradients])

    theta = np.concatenate([W.ravel() for W in net.weights])
    options = {"maxcor": 50, "maxiter": 20_000, "maxfun": 40_000, "gtol": tolerance, "ftol": 0.0}
    for _ in range(3):  # a fresh memory of curvature gets past a stalled line search
        theta = minimize(value, theta, jac=True, method="L-BFGS-B", options=options).x
        if np.abs(value(theta)[1]).max() <= tolerance:
            break
    return unflatten(theta)


def gradient_norm(net: MLP, X: Array, Y: Array, lam: float) -> float:
    """Euclidean norm of the gradient of the regularised loss over all weights."""
    _, gradients = loss_and_grads(net, X, Y, lam)
    return float(np.sqrt(sum((G**2).sum() for G in gradients)))


def descent_path(
    net: MLP, X: Any, Y: Any, lam: Any, rate: Any, steps: int
) -> Iterator[tuple[MLP, list[Any], MLP]]:
    """Plain descent step by step, in the network's own kind of number.

    Parameters
    ----------
    net : MLP
        One network, or a stack with one rate each.
    X, Y : array
    lam, rate : number or array
        Fractions keep the descent exact.
    steps : int

    Yields
    ------
    before : MLP
    gradients : list of array
        Of the data loss.
    after : MLP
    """
    for _ in range(steps):
        gradients = data_gradients(net, forward(net, X), Y)
        after = net.with_weights(
            [(1 - rate * lam) * W - rate * G for W, G in zip(net.weights, gradients, strict=True)]
        )
        yield net, gradients, after
        net = after


def descended(net: MLP, X: Any, Y: Any, lam: Any, rate: Any, steps: int) -> MLP:
    """The end of a descent path."""
    ends = deque(descent_path(net, X, Y, lam, rate, steps), maxlen=1)
    return ends[0][2] if ends else net
