"""Gradient flow with weight decay in two phases: fast fitting, then exponential balancing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from theorylab.neural_collapse.balance import balancedness
from theorylab.neural_collapse.certificates import network_certificates
from theorylab.neural_collapse.networks import (
    MLP,
    Activation,
    data_gradients,
    forward,
    loss_and_grads,
    relu,
    smooth_leaky,
)
from theorylab.neural_collapse.small_networks import Labelled

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TwoPhase:
    """Constants of the two-phase theorem at one initialisation.

    Attributes
    ----------
    lambda_F : float
        Smallest singular value of the first features.
    r0 : float
        Radius of the ball in which the first phase happens.
    mu0 : float
        Constant of the Polyak-Lojasiewicz inequality there.
    m, B : float
        Bounds on the squared norm: in the ball, and of the scale of the final loss.
    T1 : float
        Time by which the regularised loss is at most ``lam * B``.
    condition, required : float
        Left and right side of the hypothesis on the initialisation.
    decay_load, decay_room : float
        Left and right side of the hypothesis on the weight decay.
    hypothesis_holds : bool
    """

    lambda_F: float
    r0: float
    mu0: float
    m: float
    B: float
    T1: float
    condition: float
    required: float
    decay_load: float
    decay_room: float
    hypothesis_holds: bool


def two_phase_constants(net: MLP, X: Array, Y: Array, lam: float, gamma: float) -> TwoPhase:
    r"""Evaluate the hypotheses and constants of the two-phase theorem.

    With :math:`r_0 = \frac12\min(\lambda_F, \min_{\ell\ge3}\lambda_\ell)` and
    :math:`\mu_0 = (\lambda_F/2)^2(\lambda_{3\to L}/2^{L-2})^2\gamma^{2(L_1-1)}`, the hypotheses are
    :math:`\lambda_F\lambda_{3\to L}\,2r_0 \ge 2^{L+1}\sqrt{2C_0}/\gamma^{L_1-1}`,
    :math:`\lambda\|\theta_0\|^2\le 2C_0` and :math:`\|X\|\le1`.

    Parameters
    ----------
    net : MLP
        At its initialisation; at least three layers.
    X : array, shape (d, N)
        Spectral norm at most 1.
    Y : array, shape (K, N)
    lam : float
        Positive.
    gamma : float
        Lower bound on the derivative of the activation, in (0, 1].

    Raises
    ------
    ValueError
        If there are fewer than three layers, ``lam`` is not positive, ``gamma`` not in (0, 1] or
        X is too large.
    """
    if net.layers < 3 or net.L1 < 1:
        raise ValueError("the theorem needs at least three layers, the first of them nonlinear")
    if not lam > 0 or not 0 < gamma <= 1:
        raise ValueError(f"need lam > 0 and gamma in (0, 1], got {lam} and {gamma}")
    if np.linalg.norm(X, 2) > 1 + 1e-12:
        raise ValueError(f"X must have spectral norm at most 1, got {np.linalg.norm(X, 2):.6g}")
    seen = forward(net, X)
    lambda_F = _smallest(seen.features[1], X.shape[1])
    tails = [_smallest(W, min(W.shape)) for W in net.weights[2:]]
    smallest, product, L = min(lambda_F, *tails), math.prod(tails), net.layers
    C0 = float(((seen.features[-1] - Y) ** 2).sum()) / 2
    norm_sq = net.squared_norm
    r0 = smallest / 2
    condition = lambda_F * product * smallest
    required = 2 ** (L + 1) * math.sqrt(2 * C0) / gamma ** (net.L1 - 1)
    mu0 = (lambda_F / 2) ** 2 * (product / 2 ** (L - 2)) ** 2 * gamma ** (2 * (net.L1 - 1))
    m = (math.sqrt(norm_sq) + r0) ** 2
    B = m * (1 + 2 * lam / mu0) if mu0 else math.inf
    loss = C0 + lam / 2 * norm_sq
    T1 = max(math.log((loss - lam * B / 2) / (lam * B / 2)), 0) / mu0 if loss > lam * B / 2 else 0.0
    return TwoPhase(
        lambda_F,
        r0,
        mu0,
        m,
        B,
        T1,
        condition,
        required,
        lam * norm_sq,
        2 * C0,
        condition >= required and lam * norm_sq <= 2 * C0,
    )


def _smallest(matrix: Array, rank: int) -> float:
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[rank - 1]) if len(values) >= rank else 0.0


def pyramid(
    rng: np.random.Generator, scale: float = 1.0, activation: Activation | None = None
) -> Labelled:
    """Four samples of two classes and a pyramidal network that meets the theorem's hypotheses.

    Widths 4, 3, 3, 2, the last two layers linear. The first layer undoes the input and
    multiplies by 4.4, the second is nearly zero, the others are 3.6 times orthogonal.

    Parameters
    ----------
    rng : numpy Generator
    scale : float
        Factor of all weights.
    activation : Activation, optional
        The smooth leaky rectifier with derivative above one half if omitted.
    """
    X = _orthogonal(rng, 4) * np.array([1.0, 0.95, 0.9, 0.85])
    weights = [
        4.4 * np.linalg.inv(X),
        1e-3 * rng.standard_normal((3, 4)),
        3.6 * _orthogonal(rng, 3),
        3.6 * _orthogonal(rng, 3)[:2],
    ]
    net = MLP((4, 4, 3, 3, 2), 2, activation or smooth_leaky(0.5))
    labels = np.array([0, 0, 1, 1])
    return Labelled(net.with_weights([scale * W for W in weights]), X, np.eye(2)[:, labels], labels)


def dead_row(task: Labelled) -> Labelled:
    """The task with a rectifier whose first hidden unit is negative on every sample."""
    weights = list(task.net.weights)
    first = weights[0] @ task.X
    first[0] = -np.abs(first[0]) - 1
    weights[0] = first @ np.linalg.inv(task.X)
    net = MLP(task.net.dims, task.net.L1, relu(), weights)
    return Labelled(net, task.X, task.Y, task.labels)


def _orthogonal(rng: np.random.Generator, n: int) -> Array:
    return np.linalg.qr(rng.standard_normal((n, n)))[0]


def flow(task: Labelled, lam: float, times: Array) -> list[MLP]:
    """Gradient flow of the regularised loss, at given times, by a stiff solver.

    Parameters
    ----------
    task : Labelled
    lam : float
    times : array
        Increasing, from 0.

    Raises
    ------
    RuntimeError
        If the solver gives up.
    """
    shapes = task.net.shapes
    ends = np.cumsum([a * b for a, b in shapes])[:-1]

    def unflatten(theta: Array) -> MLP:
        parts = np.split(theta, ends)
        return task.net.with_weights([p.reshape(s) for p, s in zip(parts, shapes, strict=True)])

    def field(_: float, theta: Array) -> Array:
        _, gradients = loss_and_grads(unflatten(theta), task.X, task.Y, lam)
        return -np.concatenate([G.ravel() for G in gradients])

    start = np.concatenate([W.ravel() for W in task.net.weights])
    found = solve_ivp(
        field, (0, times[-1]), start, method="LSODA", t_eval=times, rtol=1e-9, atol=1e-11
    )
    if not found.success:
        raise RuntimeError(f"the flow could not be integrated: {found.message}")
    return [unflatten(theta) for theta in found.y.T]


@dataclass(frozen=True)
class FlowRecord:
    """What the theorem speaks of, along a flow; every array has one entry per time.

    Attributes
    ----------
    times : array
    loss, data_loss : array
    distance : array
        From the start, over all weights.
    pl_ratio : array
        Squared gradient of the data loss over the data loss.
    squared_norm : array
    imbalance : array
        Spectral norm of D of the last two linear layers.
    """

    times: Array
    loss: Array
    data_loss: Array
    distance: Array
    pl_ratio: Array
    squared_norm: Array
    imbalance: Array


def follow(task: Labelled, nets: list[MLP], lam: float, times: Array) -> FlowRecord:
    """Measure a flow."""
    rows = []
    for net in nets:
        seen = forward(net, task.X)
        data_loss = float(((seen.features[-1] - task.Y) ** 2).sum()) / 2
        squared = sum((G**2).sum() for G in data_gradients(net, seen, task.Y))
        moved = sum(
            ((W - W0) ** 2).sum() for W, W0 in zip(net.weights, task.net.weights, strict=True)
        )
        D = balancedness(net.weights[-1], net.weights[-2])
        rows.append(
            (
                data_loss + lam / 2 * net.squared_norm,
                data_loss,
                math.sqrt(moved),
                squared / data_loss,
                net.squared_norm,
                np.linalg.norm(D, 2),
            )
        )
    return FlowRecord(times, *np.array(rows).T)


@dataclass(frozen=True)
class PhaseRun:
    """The theorem's constants beside the flow that it speaks of.

    Attributes
    ----------
    constants : TwoPhase
    record : FlowRecord
        At 40 times up to T1 and 40 after it.
    first : int
        Index of T1 among the times.
    certified : tuple of float
        NC1 at the end, its sharp bound and its prior bound.
    """

    constants: TwoPhase
    record: FlowRecord
    first: int
    certified: tuple[float, float, float]


def phase_run(
    task: Labelled, lam: float, gamma: float = 0.5, flow_decay: float | None = None
) -> PhaseRun:
    """Follow the flow of a task to ``T1 + 8 / lam``.

    Parameters
    ----------
    task : Labelled
    lam : float
        The weight decay that the theorem is told.
    gamma : float
        Least derivative of the activation.
    flow_decay : float, optional
        That of the flow, if another one.
    """
    told = two_phase_constants(task.net, task.X, task.Y, lam, gamma)
    own = lam if flow_decay is None else flow_decay
    before = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 40) * told.T1])
    times = np.concatenate([before, told.T1 + np.linspace(0, 8, 41)[1:] / lam])
    nets = flow(task, own, times)
    found = network_certificates(nets[-1], task.X, task.labels)
    certified = (found.nc1.value, found.nc1.bound, found.nc1_prior.bound)
    return PhaseRun(told, follow(task, nets, lam, times), 40, certified)
