"""Linear heads made by hand: random adversarial ones, and instances that attain a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Head:
    """Linear layers with the features they are given.

    Attributes
    ----------
    Z_in : array, shape (n, N)
    layers : tuple of array
    labels : array of int, shape (N,)
    """

    Z_in: Array
    layers: tuple[Array, ...]
    labels: NDArray[np.int64]


def balanced_head(rng: np.random.Generator, K: int, n: int, L2: int, spread: float) -> list[Array]:
    """Exactly balanced layers of rank K with common singular values in [1/spread, spread].

    Parameters
    ----------
    rng : numpy Generator
    K, n, L2 : int
        Outputs, width of all other layers (at least K), and number of layers.
    spread : float
        At least 1.
    """
    frames = [_frame(rng, n, K) for _ in range(L2)]
    values = np.exp(rng.uniform(-1, 1, K) * np.log(spread))
    targets = [*frames[1:], _frame(rng, K, K)]
    return [(U * values) @ V.T for U, V in zip(targets, frames, strict=True)]


def random_head(rng: np.random.Generator) -> Head:
    """An adversarial head: imbalance, residual and hidden features over many orders of magnitude.

    Up to 4 classes of up to 5 samples, 2 to 4 layers; what the layers do not see of their input
    may be a million times what they see.
    """
    K, m, L2 = (int(rng.integers(low, 1 + high)) for low, high in ((2, 4), (1, 5), (2, 4)))
    n = K + int(rng.integers(0, 5))
    layers = balanced_head(rng, K, n, L2, 10 ** rng.uniform(0, 0.7))
    size = 10 ** rng.uniform(-8, 0)
    layers = [W + size * rng.standard_normal(W.shape) * np.abs(W).max() for W in layers]
    labels = np.repeat(np.arange(K), m)
    product = np.linalg.multi_dot(layers[::-1])
    target = np.eye(K)[:, labels] + 10 ** rng.uniform(-8, 0) * rng.standard_normal((K, K * m)) / K
    seen = np.linalg.pinv(product) @ target
    hidden = rng.standard_normal((n, K * m))
    hidden -= np.linalg.pinv(product) @ (product @ hidden)
    return Head(seen + 10 ** rng.uniform(-3, 6) * hidden, tuple(layers), labels)


def leaking_head(rng: np.random.Generator, K: int = 3, m: int = 4) -> Head:
    """A head that interpolates exactly although its features have not collapsed.

    The last layer ignores the last coordinate; the layer before it writes noise there.
    """
    labels = np.repeat(np.arange(K), m)
    W = np.eye(K, K + 1)
    V = np.eye(K + 1)
    noise = rng.standard_normal((1, K * m))
    return Head(np.vstack([np.eye(K)[:, labels], noise]), (V, W), labels)


def extreme_norm_head(s: int, delta: float, K: int = 2) -> Head:
    r"""The instance that fixes the power of r: two layers :math:`\sqrt s\,I_K`, N/K = s^2.

    Parameters
    ----------
    s : int
        Even, so that errors of both signs cancel in a class.
    delta : float
        Size of the residual on the own class.
    K : int
    """
    if s < 2 or s % 2:
        raise ValueError(f"s must be even and positive, got {s}: errors of both signs must cancel")
    labels = np.repeat(np.arange(K), s * s)
    signs = np.tile([1.0, -1.0], K * s * s // 2)
    H = np.eye(K)[:, labels] * (1 + delta * signs) / np.sqrt(s)
    layer = np.sqrt(s) * np.eye(K)
    return Head(H / np.sqrt(s), (layer, layer), labels)


def _frame(rng: np.random.Generator, n: int, K: int) -> Array:
    return np.linalg.qr(rng.standard_normal((n, K)))[0]
