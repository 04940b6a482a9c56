"""What is read off loss curves: deviation, first passage, dwelling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
LEVELS = (0.5, 0.2, 0.1, 0.05, 0.02)
"""Fractions of the initial loss at which first passages are compared."""


class Deviation(NamedTuple):
    r"""How far two loss curves lie apart, in units of the initial loss.

    Attributes
    ----------
    max, mean : float
        Of :math:`|L_a(t)-L_b(t)|/L_a(0)` over the run.
    first_passage_ratio : array
        First passage of a over that of b at 50, 20, 10, 5 and 2 % of the initial loss; NaN where
        a curve does not get there.
    """

    max: float
    mean: float
    first_passage_ratio: Floats


def _curve(values: ArrayLike, name: str) -> Floats:
    curve = np.asarray(values, dtype=float)
    if curve.ndim != 1 or curve.size < 2:
        raise ValueError(f"{name} must be one curve of at least two losses, got {curve.shape}")
    if not np.isfinite(curve).all():
        raise ValueError(f"{name} holds NaN or infinite losses; report the divergence")
    return curve


def curve_deviation(La: ArrayLike, Lb: ArrayLike) -> Deviation:
    """Compare two loss curves recorded at the same evenly spaced steps."""
    a, b = _curve(La, "La"), _curve(Lb, "Lb")
    if a.shape != b.shape:
        raise ValueError(f"both curves need the same steps, got {a.size} and {b.size} losses")
    if a[0] <= 0:
        raise ValueError(f"the initial loss must be positive, got {a[0]}")
    gap = np.abs(a - b) / a[0]
    passages = [first_passage(c, np.array(LEVELS) * a[0]) for c in (a, b)]
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = passages[0] / passages[1]
    return Deviation(float(gap.max()), float(gap.mean()), ratio)


def first_passage(L: ArrayLike, levels: ArrayLike, every: float = 1.0) -> Floats:
    """Step at which a curve first falls to each level, interpolated; NaN where it never does.

    Parameters
    ----------
    L : array, shape (T,)
        Losses at steps 0, every, 2 every, ...
    levels : array
    every : float
    """
    curve = _curve(L, "L")
    found = []
    for level in np.atleast_1d(np.asarray(levels, dtype=float)):
        below = np.flatnonzero(curve <= level)
        if below.size == 0:
            found.append(np.nan)
        elif below[0] == 0:
            found.append(0.0)
        else:
            at = below[0]
            above, under = curve[at - 1], curve[at]
            found.append(at - 1 + (above - level) / (above - under))
    return every * np.array(found)


def dwell(L: ArrayLike, level: float, width: float = 0.5, until: float = 0.01) -> float:
    """Share of the time that a curve spends within ``width`` of a level.

    Parameters
    ----------
    L : array
        Losses at evenly spaced steps.
    level, width : float
    until : float
        Time counts until the loss first falls to this fraction of its start (or to the end).
    """
    curve = _curve(L, "L")
    if not width > 0:
        raise ValueError(f"width must be positive, got {width}")
    below = np.flatnonzero(curve <= until * curve[0])
    counted = curve[: below[0]] if below.size else curve
    return float((np.abs(counted - level) <= width).mean()) if counted.size else 0.0
