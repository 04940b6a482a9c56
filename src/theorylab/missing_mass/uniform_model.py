r"""The estimator of someone who is told that all classes are equally likely, but not how many."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

NEWTON_STEPS = 60


def uniform_mle(distinct: ArrayLike, n: int) -> NDArray[np.float64]:
    r"""Maximum-likelihood missing mass under a uniform population of unknown size.

    The number D of distinct classes is sufficient; with x = n/S,

    .. math:: \frac{1-e^{-x}}x = \frac Dn, \qquad \hat M = e^{-x} .

    Parameters
    ----------
    distinct : int array
        Numbers of distinct classes among n draws, each in 1..n.
    n : int
        Sample size.

    Returns
    -------
    float array, shape of ``distinct``
        1 where no class was seen twice: then no size is large enough.

    Raises
    ------
    ValueError
        If a number of distinct classes is not in 1..n.
    """
    seen = np.asarray(distinct)
    if seen.size and not (seen.min() >= 1 and seen.max() <= n):
        raise ValueError(f"distinct must lie in 1..n={n}, got {seen.min()} to {seen.max()}")
    share = seen / n
    x = np.where(share < 1, 1 / share, 0.0)
    # (1 - e^-x) - share x is concave with roots 0 and x*; from 1/share > x* Newton descends to x*.
    for _ in range(NEWTON_STEPS):
        slope = np.exp(-x) - share
        step = np.divide(-np.expm1(-x) - share * x, slope, out=np.zeros_like(x), where=slope != 0)
        x = np.maximum(x - step, 0.0)
    return np.exp(-x)


def uniform_samples(
    classes: int, n: int, samples: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct classes and singletons of samples from a uniform population.

    Parameters
    ----------
    classes, n, samples : int
        Population size, sample size, number of samples; all positive.
    rng : numpy.random.Generator

    Returns
    -------
    distinct, singletons : int arrays, shape (samples,)

    Raises
    ------
    ValueError
        If a size is not positive.
    """
    if min(classes, n, samples) < 1:
        raise ValueError(f"sizes must be positive, got {classes}, {n} and {samples}")
    distinct, singletons = np.empty(samples, dtype=np.int64), np.empty(samples, dtype=np.int64)
    for i in range(samples):
        counts = np.bincount(rng.integers(classes, size=n), minlength=classes)
        distinct[i], singletons[i] = np.count_nonzero(counts), np.count_nonzero(counts == 1)
    return distinct, singletons
