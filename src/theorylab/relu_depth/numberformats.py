"""The weights of stored networks as the exact fractions they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import isfinite, lcm
from numbers import Rational
from typing import Any

import numpy as np


def exact_weights(weights: Any) -> Iterator[Fraction]:
    """All numbers in an array, a tensor of any float type, a mapping, or a nesting of these.

    Raises
    ------
    ValueError
        For infinities and NaN.
    TypeError
        For anything that is no number.
    """
    if isinstance(weights, Mapping):
        for value in weights.values():
            yield from exact_weights(value)
    elif hasattr(weights, "detach"):
        yield from exact_weights(weights.detach().cpu().double().numpy())
    elif isinstance(weights, np.ndarray) and weights.dtype != object:
        yield from map(_exact, weights.ravel().tolist())
    elif isinstance(weights, Iterable) and not isinstance(weights, str | bytes):
        for value in weights:
            yield from exact_weights(value)
    else:
        yield _exact(weights)


def _exact(value: Any) -> Fraction:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        raise TypeError(f"weights must be numbers, got the boolean {value}")
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError(f"weights must be finite, got {value}")
        return Fraction(*value.as_integer_ratio())
    raise TypeError(f"weights must be numbers, got {value!r}")


def common_denominator(weights: Any) -> int:
    """Least M such that every weight is an integer over M; floats count as what they store.

    Parameters
    ----------
    weights : array, tensor, mapping (as of ``state_dict``), or nesting of numbers
        NumPy and PyTorch float types, ``bfloat16`` and ``float8`` included, are exact.

    Raises
    ------
    ValueError
        For infinities and NaN, or no weight at all.
    TypeError
        For anything that is no number.
    """
    denominators = {value.denominator for value in exact_weights(weights)}
    if not denominators:
        raise ValueError("there is no weight to take the denominator of")
    return lcm(*denominators)


def stored_network(model: Any, dtype: Any = None) -> list[tuple[Any, Any]]:
    """Weights and biases of the linear layers of a PyTorch network, as stored in a float type.

    Parameters
    ----------
    model : torch.nn.Sequential
        Linear layers with rectifiers between them.
    dtype : torch.dtype, optional
        What weights are rounded to; their own type if omitted.
    """
    layers = [layer for layer in model if hasattr(layer, "weight")]
    return [tuple(_stored(part, dtype) for part in (la.weight, la.bias)) for la in layers]  # type: ignore[misc]


def _stored(tensor: Any, dtype: Any) -> list[Any]:
    values = tensor.detach() if dtype is None else tensor.detach().to(dtype)
    return values.double().tolist()
