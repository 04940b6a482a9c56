"""Exact and floating-point numbers: conversion with checks, storage as JSON, display."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

Exact = int | Fraction
Number = int | Fraction | float


class NotANumberError(ValueError):
    """A NaN, an infinity or a non-number stands where a finite number is due."""


def _from_rational_library(value: Any) -> Exact | None:
    """Integers and rationals of sympy, python-flint and gmpy2, recognised by their parts."""
    numerator, denominator = getattr(value, "p", None), getattr(value, "q", None)
    if numerator is None or denominator is None or callable(numerator):
        return None
    return Fraction(int(numerator), int(denominator))


def _from_integer_library(value: Any) -> int | None:
    return int(value) if type(value).__name__ in {"fmpz", "mpz"} else None


def exact(value: Any, name: str = "value") -> Exact:
    """``value`` as ``int`` or ``Fraction``.

    Parameters
    ----------
    value : int, Fraction or the like
        Integers and rationals of Python, NumPy, sympy, python-flint and gmpy2.
    name : str
        What to call the value in an error message.

    Raises
    ------
    TypeError
        For booleans, floats and everything else that is not an exact number.
    """
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a number, not the bare boolean {value!r}; count instead")
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    found = _from_integer_library(value)
    if found is None:
        found = _from_rational_library(value)
    if found is not None:
        return int(found) if found == int(found) else found
    raise TypeError(
        f"{name} must be exact (int or Fraction), got {value!r} of type {type(value).__name__}; "
        "compare floating-point numbers with Close, AtMost or AtLeast"
    )


def number(value: Any, name: str = "value") -> Number:
    """``value`` as ``int``, ``Fraction`` or a finite ``float``.

    Raises
    ------
    NotANumberError
        If the value is NaN or infinite.
    TypeError
        If it is a boolean or not a number at all.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if type(value).__module__.startswith("torch") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    try:
        return exact(value, name)
    except TypeError:
        if isinstance(value, (bool, np.bool_, str, bytes)) or not isinstance(value, Real):
            raise TypeError(f"{name} must be a real number, got {value!r}") from None
    as_float = float(value)
    if not math.isfinite(as_float):
        raise NotANumberError(f"{name} is {as_float}, where a finite number is due")
    return as_float


def numbers(values: Any, name: str = "values") -> Number | tuple:
    """A scalar through ``number``; an array or (nested) sequence as (nested) tuple of numbers."""
    if hasattr(values, "detach") or (isinstance(values, np.ndarray) and values.ndim):
        values = values.tolist()
    if isinstance(values, Sequence) and not isinstance(values, (str, bytes)):
        return tuple(numbers(item, name) for item in values)
    return number(values, name)


def flatten(values: Any) -> list[Any]:
    """The scalars of a nested tuple, depth first."""
    if isinstance(values, tuple):
        return [scalar for item in values for scalar in flatten(item)]
    return [values]


def is_exact(values: Any) -> bool:
    """Whether every scalar in a nested tuple is an ``int``, a ``Fraction`` or a string."""
    return all(isinstance(scalar, (int, Fraction, str)) for scalar in flatten(values))


def encode(value: Any) -> Any:
    """``value`` as JSON; ``decode`` is its inverse.

    Integers beyond 53 bits and fractions are written in hexadecimal, since other readers of JSON
    round them and Python refuses to print very long decimal numbers.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"int": hex(value)}
    if isinstance(value, Fraction):
        return {"fraction": [hex(value.numerator), hex(value.denominator)]}
    if isinstance(value, float):
        return {"float": value.hex(), "approximately": value}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {"mapping": {key: encode(item) for key, item in value.items()}}
    raise TypeError(f"cannot store {value!r} of type {type(value).__name__} in a record")


def decode(value: Any) -> Any:
    """The value that ``encode`` wrote."""
    if isinstance(value, list):
        return tuple(decode(item) for item in value)
    if not isinstance(value, Mapping):
        return value
    if "int" in value:
        return int(value["int"], 16)
    if "fraction" in value:
        numerator, denominator = value["fraction"]
        return Fraction(int(numerator, 16), int(denominator, 16))
    if "float" in value:
        return float.fromhex(value["float"])
    return {key: decode(item) for key, item in value["mapping"].items()}


def _log10(value: Exact) -> float:
    numerator, denominator = abs(value.numerator), value.denominator
    return _log10_of_integer(numerator) - _log10_of_integer(denominator)


def _log10_of_integer(value: int) -> float:
    shift = max(value.bit_length() - 64, 0)
    return math.log10(value >> shift) + shift * math.log10(2)


def _huge(value: Exact, digits: int) -> str:
    power = math.floor(_log10(value))
    places = min(digits, 6) - 1
    mantissa = round(10 ** (_log10(value) - power), places)
    if mantissa >= 10:
        mantissa, power = mantissa / 10, power + 1
    sign = "-" if value < 0 else ""
    return f"{sign}{mantissa:.{places}f}e{power:+03d}"


def show(value: Any, digits: int = 4) -> str:
    """A number as a person reads it, rounded to ``digits`` significant digits.

    Integers up to twelve digits and short fractions are written out; longer ones are rounded
    and marked with "≈".
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        shown = ", ".join(show(item, digits) for item in value[:4])
        return f"({shown}, … {len(value)} in all)" if len(value) > 4 else f"({shown})"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**12 else "≈ " + _huge(value, digits)
    if isinstance(value, Fraction):
        if max(abs(value.numerator), value.denominator) < 10**8:
            return str(value)
        tiny_or_huge = not -4 < _log10(value) < 8
        return "≈ " + (_huge(value, digits) if tiny_or_huge else f"{float(value):.{digits}g}")
    return f"{value + 0.0:.{digits}g}"
