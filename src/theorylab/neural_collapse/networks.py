"""Bias-free networks that end in linear layers: forward pass and gradients for any kind of number.

The same few lines serve exact fractions (object arrays), floats, and stacks of networks in
PyTorch: they use only ``@``, ``swapaxes`` and arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Activation:
    """A scalar nonlinearity and its derivative, applied entry by entry.

    Parameters
    ----------
    name : str
    value, slope : callable
        Function and derivative; at a kink, the derivative that descent uses.
    gain : float
        Variance of a Gaussian initial weight times fan-in, for a layer fed by this activation.
    """

    name: str
    value: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    gain: float


def relu() -> Activation:
    r""":math:`\max(x, 0)`, with derivative 0 at 0."""
    return Activation("relu", lambda x: x * (x > 0), lambda x: x > 0, 2.0)


def smooth_leaky(gamma: float) -> Activation:
    r"""A smooth leaky rectifier that vanishes at 0, with derivative in (gamma, 1).

    .. math:: \sigma(x) = \gamma x + (1-\gamma)\,\frac{\sqrt{x^2+1} + x - 1}{2}

    Parameters
    ----------
    gamma : float
        In (0, 1).
    """
    if not 0 < gamma < 1:
        raise ValueError(f"gamma must lie in (0, 1), got {gamma}; use relu() for 0")

    def value(x: Any) -> Any:
        return gamma * x + (1 - gamma) / 2 * ((x * x + 1) ** 0.5 + x - 1)

    def slope(x: Any) -> Any:
        return gamma + (1 - gamma) / 2 * (x / (x * x + 1) ** 0.5 + 1)

    return Activation(f"smooth leaky {gamma:g}", value, slope, 1.0)


@dataclass(frozen=True)
class MLP:
    r"""A network :math:`Z_\ell = \sigma(W_\ell Z_{\ell-1})` for the first L1 layers, then linear.

    Parameters
    ----------
    dims : sequence of int
        Widths from the input to the output; one more than there are layers.
    L1 : int
        Number of nonlinear layers, at least 0 and less than the number of layers.
    activation : Activation
    weights : sequence of array, shape (out, in), optional
        One matrix per layer; in a stack of networks with a leading axis.

    Raises
    ------
    ValueError
        If widths are not positive, L1 leaves no linear layer, or weights do not fit.
    """

    dims: Sequence[int]
    L1: int
    activation: Activation
    weights: Sequence[Any] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "dims", tuple(int(width) for width in self.dims))
        object.__setattr__(self, "weights", tuple(self.weights))
        if len(self.dims) < 2 or min(self.dims) < 1:
            raise ValueError(f"dims needs at least two positive widths, got {self.dims}")
        if not 0 <= self.L1 < self.layers:
            raise ValueError(
                f"L1 must be at least 0 and leave a linear layer of {self.layers}, got {self.L1}"
            )
        shapes = [tuple(W.shape[-2:]) for W in self.weights]
        if shapes and shapes != self.shapes:
            raise ValueError(f"weights have shapes {shapes}, dims ask for {self.shapes}")

    @property
    def layers(self) -> int:
        """Number L of weight matrices."""
        return len(self.dims) - 1

    @property
    def L2(self) -> int:
        """Number of linear layers at the end."""
        return self.layers - self.L1

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shape (out, in) of every weight matrix."""
        return [(out, into) for into, out in pairwise(self.dims)]

    @property
    def head(self) -> tuple[Any, ...]:
        """The linear layers, first to last."""
        return tuple(self._set_weights()[self.L1 :])

    @property
    def squared_norm(self) -> float:
        """Sum of the squares of all weights."""
        return float(sum((W * W).sum() for W in self._set_weights()))

    def with_weights(self, weights: Sequence[Any]) -> MLP:
        """The same architecture with these weights."""
        return replace(self, weights=tuple(weights))

    def initialised(self, rng: np.random.Generator, scale: float = 1.0) -> MLP:
        r"""Gaussian weights of variance ``gain / fan_in``; ``gain`` is 1 after a linear layer.

        Parameters
        ----------
        rng : numpy Generator
        scale : float
            Factor of all weights.
        """
        weights = []
        for place, (out, into) in enumerate(self.shapes):
            gain = self.activation.gain if 1 <= place <= self.L1 else 1.0
            weights.append(scale * np.sqrt(gain / into) * rng.standard_normal((out, into)))
        return self.with_weights(weights)

    def _set_weights(self) -> Sequence[Any]:
        if not self.weights:
            raise ValueError("this network has no weights: use initialised or with_weights")
        return self.weights


@dataclass(frozen=True)
class Pass:
    """What a forward pass computes.

    Attributes
    ----------
    preactivations : list of array, shape (width, N)
        :math:`P_1, \\dots, P_L`.
    features : list of array, shape (width, N)
        :math:`Z_0 = X, Z_1, \\dots, Z_L`.
    """

    preactivations: list[Any]
    features: list[Any]


def forward(net: MLP, X: Any) -> Pass:
    """All preactivations and features.

    Parameters
    ----------
    net : MLP
        With weights.
    X : array, shape (d, N)
        Samples in columns.
    """
    features, preactivations = [X], []
    for place, W in enumerate(net._set_weights()):
        P = W @ features[-1]
        preactivations.append(P)
        features.append(net.activation.value(P) if place < net.L1 else P)
    return Pass(preactivations, features)


def backpropagate(net: MLP, seen: Pass, error: Any) -> list[Any]:
    r"""Gradients in all layers of a loss whose derivative in the outputs is ``error``.

    Parameters
    ----------
    net : MLP
    seen : Pass
        Of ``forward``.
    error : array, shape (K, N)
    """
    gradients = []
    for place in reversed(range(net.layers)):
        if place < net.L1:
            error = error * net.activation.slope(seen.preactivations[place])
        gradients.append(error @ seen.features[place].swapaxes(-1, -2))
        if place:
            error = net.weights[place].swapaxes(-1, -2) @ error
    return gradients[::-1]


def data_gradients(net: MLP, seen: Pass, Y: Any) -> list[Any]:
    r"""Gradients of :math:`\tfrac12\|Z_L - Y\|_F^2` in all layers."""
    return backpropagate(net, seen, seen.features[-1] - Y)


def loss_and_grads(net: MLP, X: Array, Y: Array, lam: Any = 0) -> tuple[Any, list[Any]]:
    r"""Regularised loss and its gradients.

    .. math:: C_\lambda = \tfrac12\|Z_L - Y\|_F^2 + \tfrac\lambda2\sum_\ell\|W_\ell\|_F^2

    Parameters
    ----------
    net : MLP
        One network, of floats or of exact numbers in object arrays.
    X : array, shape (d, N)
    Y : array, shape (K, N)
    lam : number
        Non-negative weight decay, in the convention of a sum over samples.

    Returns
    -------
    loss : number
    gradients : list of array, one per layer

    Raises
    ------
    ValueError
        If ``lam`` is negative, or the numbers of samples differ.
    """
    if lam < 0:
        raise ValueError(f"lam must be non-negative, got {lam}")
    if X.shape[-1] != Y.shape[-1]:
        raise ValueError(f"X has {X.shape[-1]} samples in columns, Y has {Y.shape[-1]}")
    seen = forward(net, X)
    R = seen.features[-1] - Y
    decay = sum((W * W).sum() for W in net.weights)
    loss = ((R * R).sum() + lam * decay) / 2
    gradients = data_gradients(net, seen, Y)
    return loss, [G + lam * W for G, W in zip(gradients, net.weights, strict=True)]


def decay_from_pytorch(decay: float, N: int, K: int, reduction: str = "mean") -> float:
    r"""The weight decay of this chapter that equals a PyTorch optimiser's ``weight_decay``.

    With ``MSELoss(reduction="mean")``, a mean over all N K entries without the factor one half,
    :math:`\lambda = \tfrac{NK}{2}\,\mathrm{decay}`; with ``"sum"``,
    :math:`\lambda = \tfrac12\,\mathrm{decay}`; with ``"samples"`` (half the squared error,
    averaged over samples), :math:`\lambda = N\,\mathrm{decay}`.

    Parameters
    ----------
    decay : float
        Non-negative.
    N, K : int
        Samples and outputs.
    reduction : {"mean", "sum", "samples"}
    """
    factors = {"mean": N * K / 2, "sum": 0.5, "samples": float(N)}
    if reduction not in factors:
        raise ValueError(f"reduction must be one of {', '.join(factors)}; got {reduction!r}")
    if not decay >= 0:
        raise ValueError(f"decay must be non-negative, got {decay}")
    if N < 1 or K < 1:
        raise ValueError(f"N and K must be positive, got {N} and {K}")
    return factors[reduction] * decay
