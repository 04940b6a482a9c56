"""Latent class models fitted by expectation maximisation, in floating point, read off exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .mixtures import ProductMixture


@dataclass(frozen=True)
class LatentClassFit:
    """A fitted mixture of products of Bernoulli laws.

    Attributes
    ----------
    model : ProductMixture
        The doubles of the last iteration as exact dyadic rationals.
    objective : float
        Penalised log-likelihood.
    """

    model: ProductMixture
    objective: float


def fit_latent_classes(
    points: np.ndarray,
    classes: int,
    rng: np.random.Generator,
    smoothing: float = 0.5,
    iterations: int = 5000,
) -> LatentClassFit:
    r"""Maximise the log-likelihood plus a Dirichlet penalty from a random start.

    Each iteration adds ``smoothing`` pseudo-observations to the expected count of every class
    and of either value of every coordinate in every class.

    Parameters
    ----------
    points : ndarray of {0, 1}, shape (N, n)
    classes : int
        Number of components, at least 1.
    rng : Generator
        Draws the starting point.
    smoothing : float
        Positive.
    iterations : int

    Returns
    -------
    LatentClassFit
        Components sorted by weight.
    """
    if classes < 1 or smoothing <= 0:
        raise ValueError(f"need classes >= 1 and smoothing > 0, got {classes} and {smoothing}")
    patterns, counts = np.unique(points, axis=0, return_counts=True)
    weights = np.full(classes, 1 / classes)
    success = rng.uniform(0.2, 0.8, (classes, points.shape[1]))
    for _ in range(iterations):
        joint = _joint(patterns, weights, success)
        shares = counts[:, None] * joint / joint.sum(axis=1, keepdims=True)
        totals = shares.sum(axis=0)
        weights = (totals + smoothing) / (totals.sum() + classes * smoothing)
        success = (shares.T @ patterns + smoothing) / (totals[:, None] + 2 * smoothing)
    likelihood = counts @ np.log(_joint(patterns, weights, success).sum(axis=1))
    penalty = smoothing * (np.log(weights).sum() + np.log(success * (1 - success)).sum())
    order = np.argsort(weights)
    rows = np.stack([1 - success[order], success[order]], axis=-1)
    model = ProductMixture.from_floats(weights[order], rows, exact=True)
    return LatentClassFit(model, float(likelihood + penalty))


def _joint(patterns: np.ndarray, weights: np.ndarray, success: np.ndarray) -> np.ndarray:
    logs = patterns @ np.log(success).T + (1 - patterns) @ np.log1p(-success).T
    return weights * np.exp(logs)
