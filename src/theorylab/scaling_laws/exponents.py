"""Exponents of learning curves, with the variance that a finite spectrum lacks put back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theorylab.stats import fit_exponent as straight_line


class Exponent(NamedTuple):
    """A fitted slope on logarithmic axes, its confidence interval and the window of the fit."""

    slope: float
    ci: tuple[float, float]
    window: tuple[float, float]


def fit_exponent(alpha: ArrayLike, eps: ArrayLike, tail: float | None = None) -> Exponent:
    r"""Least-squares exponent of a learning curve.

    A spectrum cut at L eigenvalues bends the curve downwards long before its end, and a plain fit
    is biased. With ``tail`` the missing variance is added first: the corrected curve is straight.

    Parameters
    ----------
    alpha, eps : array, shape (n,)
        Positive; all points are used, so pass the window that is meant.
    tail : float, optional
        Constant added to ``eps``; for the power law ``theory.corrected_constant``.
    """
    times, errors = np.asarray(alpha, dtype=float), np.asarray(eps, dtype=float)
    found = straight_line(times, errors if tail is None else errors + float(tail))
    return Exponent(found.slope, (found.low, found.high), (float(times[0]), float(times[-1])))
