"""Descent on the empirical loss of finitely many inputs, where the wedges can be empty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from theorylab.teacher_students.theory import vectors

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SampleCourse:
    """Students on the empirical loss.

    Attributes
    ----------
    steps : array of int, shape (records,)
    W : array, shape (records, m, d)
    losses : array, shape (records,)
        Empirical loss.
    disputed : array of int, shape (records,)
        Inputs that some student and the first teacher see on different sides.
    eta : float
    """

    steps: NDArray[np.int64]
    W: Floats
    losses: Floats
    disputed: NDArray[np.int64]
    eta: float

    @property
    def time(self) -> Floats:
        """Step size times steps."""
        return self.eta * self.steps.astype(float)


def whitened_digits(components: int = 10) -> Floats:
    """The digits of scikit-learn in their leading principal components, with unit covariance.

    Returns
    -------
    array, shape (1797, components)
    """
    from sklearn.datasets import load_digits

    images = np.asarray(load_digits(return_X_y=True)[0], dtype=float)
    if not 1 <= components <= 61:
        raise ValueError(f"components must lie in 1..61, the varying pixels; got {components}")
    centred = images - images.mean(axis=0)
    left, _, _ = np.linalg.svd(centred, full_matrices=False)
    return left[:, :components] * np.sqrt(len(images))


@njit(cache=True)
def _fit(X, targets, W, eta, record, found, losses):
    n, place = len(X), 0
    for step in range(record[-1] + 1):
        fields = X @ W.T
        gap = np.maximum(fields, 0.0).sum(axis=1) - targets
        if step == record[place]:
            found[place] = W
            losses[place] = 0.5 * (gap**2).mean()
            place += 1
        for i in range(len(W)):
            W[i] -= eta * ((gap * (fields[:, i] > 0)) @ X) / n


def descend_on_samples(
    X: ArrayLike, W0: ArrayLike, V: ArrayLike, eta: float, record: ArrayLike
) -> SampleCourse:
    """Full-batch gradient descent of ReLU students on given inputs.

    Parameters
    ----------
    X : array, shape (n, d)
    W0 : array, shape (m, d)
    V : array, shape (k, d)
    eta : float
    record : array of int
        Ascending steps; see ``record_steps``.

    Raises
    ------
    ValueError
        If shapes do not fit or the step is not positive.
    """
    inputs, start, teachers = vectors(X, "X"), vectors(W0, "W0"), vectors(V, "V")
    if not inputs.shape[-1] == start.shape[-1] == teachers.shape[-1]:
        raise ValueError("X, W0 and V need one input dimension")
    if not (np.isfinite(eta) and eta > 0):
        raise ValueError(f"eta must be finite and positive, got {eta}")
    steps = np.asarray(record, dtype=np.int64)
    targets = np.maximum(inputs @ teachers.T, 0).sum(axis=1)
    found, losses = np.empty((len(steps), *start.shape)), np.empty(len(steps))
    _fit(inputs.copy(), targets, start.copy(), float(eta), steps, found, losses)
    sides = (found @ inputs.T > 0) != (inputs @ teachers[0] > 0)
    return SampleCourse(steps, found, losses, sides.any(axis=1).sum(axis=1), float(eta))
