"""Real inputs that ship with scikit-learn: digits, and patches of two photographs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class RealInputs:
    """Samples along their principal axes, scaled to a mean variance of 1.

    Attributes
    ----------
    X : array, shape (samples, N)
        Centred; columns in order of falling variance.
    lam : array, shape (N,)
        Variances of the columns.
    """

    X: np.ndarray
    lam: np.ndarray

    @property
    def kurtosis(self) -> float:
        r""":math:`E|\xi|^4/(E|\xi|^2)^2`; for Gaussian inputs see ``gaussian_kurtosis``."""
        squares = (self.X**2).sum(axis=1)
        return float((squares**2).mean() / squares.mean() ** 2)

    @property
    def gaussian_kurtosis(self) -> float:
        r"""The same of Gaussian inputs, :math:`1+2\sum\lambda^2/(\sum\lambda)^2`."""
        return float(1 + 2 * (self.lam**2).sum() / self.lam.sum() ** 2)


def _principal(samples: np.ndarray) -> RealInputs:
    centred = samples - samples.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = np.flatnonzero(variances > 1e-10 * variances[-1])[::-1]
    scale = variances[kept].mean()
    return RealInputs(centred @ axes[:, kept] / np.sqrt(scale), variances[kept] / scale)


@lru_cache(maxsize=4)
def digits() -> RealInputs:
    """The 1797 handwritten digits of 8 x 8 pixels (UCI)."""
    from sklearn.datasets import load_digits

    found: Any = load_digits()
    return _principal(found.data.astype(float))


@lru_cache(maxsize=8)
def patches(photograph: str = "flower", size: int = 12, stride: int = 2) -> RealInputs:
    """Grey patches of a photograph, each with its own mean removed.

    Parameters
    ----------
    photograph : {"flower", "china"}
    size, stride : int
        Pixels.
    """
    from sklearn.datasets import load_sample_image

    if photograph not in ("flower", "china"):
        raise ValueError(f"photograph must be 'flower' or 'china', got {photograph!r}")
    grey = load_sample_image(f"{photograph}.jpg").mean(axis=2)
    windows = np.lib.stride_tricks.sliding_window_view(grey, (size, size))[::stride, ::stride]
    flat = windows.reshape(-1, size * size)
    return _principal(flat - flat.mean(axis=1, keepdims=True))
