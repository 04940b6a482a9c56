"""Neural tangent kernels, and what stability under a large step size says of the linear head."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.neural_collapse.certificates import ROUNDING, Bound
from theorylab.neural_collapse.class_statistics import checked_labels
from theorylab.neural_collapse.descent import descended
from theorylab.neural_collapse.metrics import condition_number
from theorylab.neural_collapse.networks import MLP, forward, relu
from theorylab.neural_collapse.theory import balanced_ntk_bound

Array = NDArray[np.float64]


def ntk(net: MLP, X: Array, part: str = "full") -> Array:
    r"""Neural tangent kernel :math:`\Theta = JJ^\top` of the outputs.

    Parameters
    ----------
    net : MLP
    X : array, shape (d, N)
    part : {"full", "linear"}
        Derivatives in all weights, or only in those of the linear layers.

    Returns
    -------
    array, shape (N K, N K)
        Outputs of the first sample first.
    """
    if part not in ("full", "linear"):
        raise ValueError(f"part must be 'full' or 'linear', got {part!r}")
    seen = forward(net, X)
    N, K = X.shape[1], net.dims[-1]
    back = np.broadcast_to(np.eye(K), (N, K, K))
    kernel = np.zeros((N, K, N, K))
    for place in reversed(range(0 if part == "full" else net.L1, net.layers)):
        if place < net.L1:
            slope = net.activation.slope(seen.preactivations[place])
            back = back * slope.T[:, None, :]
        flat = back.reshape(N * K, -1)
        inputs = seen.features[place].T @ seen.features[place]
        kernel += inputs[:, None, :, None] * (flat @ flat.T).reshape(N, K, N, K)
        back = back @ net.weights[place]
    return kernel.reshape(N * K, N * K)


@dataclass(frozen=True)
class LargeStepBounds:
    r"""What the kernel of the linear part says of the layers after each layer.

    Attributes
    ----------
    kernel_norm : float
        Spectral norm of the linear part's kernel.
    tails : tuple of Bound
        Condition numbers of the products of the layers after the first, second, ... linear layer.
    balanced : Bound
        The kernel's norm against its least value for a balanced head; true only under balance.
    """

    kernel_norm: float
    tails: tuple[Bound, ...]
    balanced: Bound


def large_lr_bounds(
    Z_in: Any, head_weights: Sequence[Any], labels: Any, kernel_factor: float = 1.0
) -> LargeStepBounds:
    r"""Bound the condition of the head's blocks by its tangent kernel.

    .. math::
        \kappa(W_{L:\ell+1}) \le
        \frac{\|W_\ell\|\sqrt{\|\Theta_{\mathrm{lin}}\|}}{s_K(Y)-\varepsilon_1}

    Parameters
    ----------
    Z_in, head_weights, labels
        As for ``head_certificates``.
    kernel_factor : float
        Factor of the kernel's norm; anything below 1 is wrong.

    Raises
    ------
    ValueError
        If there are fewer than two layers or shapes do not fit.
    """
    layers = [np.asarray(W, dtype=float) for W in head_weights]
    if len(layers) < 2:
        raise ValueError(f"the bounds need at least two linear layers, got {len(layers)}")
    K = layers[-1].shape[0]
    y = checked_labels(labels, K).numpy()
    X = np.asarray(Z_in, dtype=float)
    if X.ndim != 2 or X.shape[1] != len(y):
        raise ValueError(f"Z_in must have shape (n, {len(y)}), got {X.shape}")
    net = MLP((X.shape[0], *(len(W) for W in layers)), 0, relu(), layers)
    norm = kernel_factor * float(np.linalg.eigvalsh(ntk(net, X, "linear"))[-1])
    eps1 = float(np.linalg.norm(forward(net, X).features[-1] - np.eye(K)[:, y]))
    fitted = math.sqrt(np.bincount(y, minlength=K).min()) - eps1
    tails, product = [], np.eye(K)
    for W, before in zip(layers[:0:-1], layers[-2::-1], strict=True):
        product = product @ W
        bound = math.inf
        if fitted > 0:
            bound = float(np.linalg.norm(before, 2)) * math.sqrt(norm) / fitted * (1 + ROUNDING)
        tails.append(Bound(condition_number(product), bound))
    values = np.linalg.svd(layers[-1], compute_uv=False)
    least = 0.0
    if fitted > 0 and values[K - 1] > 0:
        kappa = float(values[0] / values[K - 1])
        least = balanced_ntk_bound(kappa, float(values[K - 1]), fitted, len(layers))
    return LargeStepBounds(
        norm, tuple(tails[::-1]), Bound(norm, least * (1 - ROUNDING), upper=False)
    )


def skewed_interpolator(t: float = 1.6) -> MLP:
    r"""An exact interpolator of the identity whose head has condition number :math:`t^4`.

    Two samples, :math:`W_1 = \mathrm{diag}(t^{-2}, t^2)` under a rectifier,
    :math:`W_2 = W_3 = \mathrm{diag}(t, 1/t)`.
    """
    layers = [np.diag([t**-2, t**2]), np.diag([t, 1 / t]), np.diag([t, 1 / t])]
    return MLP((2, 2, 2, 2), 1, relu(), layers)


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


def escapes(
    rng: np.random.Generator, relative_rates: tuple[float, ...], steps: int = 20_000
) -> list[LargeStep]:
    """Perturb the skewed interpolator and descend without decay at several step sizes.

    Parameters
    ----------
    rng : numpy Generator
    relative_rates : tuple of float
        Step sizes over the largest stable one.
    steps : int
    """
    start, X = skewed_interpolator(), np.eye(2)
    stable = 2 / float(np.linalg.eigvalsh(ntk(start, X))[-1])
    weights = [W + 1e-3 * rng.standard_normal(W.shape) for W in start.weights]
    rates = stable * np.array(relative_rates)
    stacked = start.with_weights([np.stack([W] * len(rates)) for W in weights])
    end = descended(stacked, X, X, 0.0, rates[:, None, None], steps)
    found = []
    for place, rate in enumerate(rates):
        net = start.with_weights([W[place] for W in end.weights])
        kappa = condition_number(net.weights[2] @ net.weights[1])
        top = float(np.linalg.eigvalsh(ntk(net, X))[-1])
        found.append(LargeStep(relative_rates[place], kappa, top * rate / 2))
    return found
