"""Checks of arguments at the public boundary."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def whole(value: object, name: str, least: int) -> int:
    """``value`` as an int of at least ``least``.

    Raises
    ------
    TypeError
        If it is no integer, or a boolean.
    ValueError
        If it is too small.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def finite(values: ArrayLike, name: str) -> np.ndarray:
    """``values`` as a float array.

    Raises
    ------
    ValueError
        If it is empty, or holds NaN or infinities.
    """
    array = np.asarray(values, dtype=float)
    if array.size == 0:
        raise ValueError(f"{name} is empty: give at least one value")
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise ValueError(f"{name} holds {bad} values that are NaN or infinite; remove their cause")
    return array


def cosines(values: ArrayLike, name: str) -> np.ndarray:
    """``values`` as cosines, clipped to [-1, 1] where rounding left it.

    Raises
    ------
    ValueError
        If one lies outside by more than 1e-12.
    """
    array = finite(values, name)
    if (np.abs(array) > 1 + 1e-12).any():
        raise ValueError(
            f"{name} must lie in [-1, 1], got {array.flat[np.abs(array).argmax()]}; "
            "it is the inner product of unit vectors"
        )
    return np.clip(array, -1.0, 1.0)


def check_increasing(tau: np.ndarray) -> None:
    """Refuse points that do not increase strictly inside (-1, 1)."""
    if tau.ndim != 1 or (np.diff(tau) <= 0).any() or np.abs(tau).max() >= 1:
        raise ValueError(f"tau must increase strictly inside (-1, 1), got {tau.tolist()}")
