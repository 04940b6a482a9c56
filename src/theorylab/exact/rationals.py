"""Rational numbers at the boundary: what is let in, and how floats are refused."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from fractions import Fraction

from flint import fmpq, fmpz

Rational = int | Fraction
Scalar = int | Fraction | str
Vector = tuple[Fraction, ...]
IntVector = tuple[int, ...]


def rational(value: object, name: str = "value", *, rationalise: bool | int = False) -> Fraction:
    """Return ``value`` as an exact fraction; floats are refused unless asked for.

    Parameters
    ----------
    value : int, Fraction, str, flint integer or rational
        Strings are read as ``"3/7"`` or ``"0.25"`` (decimal, exactly).
    name : str
        What to call the value in an error message.
    rationalise : bool or int
        ``True`` reads a float as the dyadic rational it stores; a positive integer takes the
        nearest fraction with at most that denominator.

    Raises
    ------
    TypeError
        For a float without ``rationalise``, for a boolean and for anything not a number.
    ValueError
        For NaN, infinity, and strings that are no number.
    """
    if type(value) is Fraction:
        return value
    if type(value) is int:
        return Fraction(value)
    if isinstance(value, bool):
        raise TypeError(f"{name} is the boolean {value!r}; pass an int or a Fraction")
    if isinstance(value, fmpz):
        return Fraction(int(value))
    if isinstance(value, fmpq):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, str):
        return _from_string(value, name)
    if isinstance(value, numbers.Real):
        return _from_float(float(value), name, rationalise)
    raise TypeError(f"{name} must be an int, a Fraction or a string, got {value!r}")


def _from_string(value: str, name: str) -> Fraction:
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"{name} is {value!r}, which is not a rational number") from error


def _from_float(value: float, name: str, rationalise: bool | int) -> Fraction:
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value}; only finite numbers are allowed")
    if rationalise is False:
        raise TypeError(
            f"{name} is the float {value!r}, exact rationals are needed: pass an int, a Fraction "
            "or a string, or state rationalise=True (exact dyadic value) or a largest denominator"
        )
    if rationalise is True:
        return Fraction(value)
    if rationalise < 1:
        raise ValueError(f"rationalise must be a positive denominator bound, got {rationalise}")
    return Fraction(value).limit_denominator(rationalise)


def rational_vector(
    values: object,
    length: int | None = None,
    name: str = "vector",
    *,
    rationalise: bool | int = False,
) -> Vector:
    """Return the entries of ``values`` as fractions and check their number.

    Raises
    ------
    TypeError
        If ``values`` is not a sequence, or as in ``rational`` for an entry.
    ValueError
        If the length is not ``length``, or as in ``rational`` for an entry.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of rationals, got {values!r}")
    entries = list(values)
    if length is not None and len(entries) != length:
        raise ValueError(f"{name} has {len(entries)} entries, {length} are needed")
    return tuple(rational(entry, name, rationalise=rationalise) for entry in entries)


def clear_denominators(vector: Sequence[Rational]) -> tuple[IntVector, int]:
    """Return integers ``m`` and the least ``d > 0`` with ``vector = m / d``."""
    common = math.lcm(*(entry.denominator for entry in vector))
    return tuple(entry.numerator * (common // entry.denominator) for entry in vector), common


def primitive(vector: Sequence[Rational]) -> tuple[IntVector, Fraction]:
    r"""Return the primitive integer vector ``p`` and ``s > 0`` with ``vector = s p``.

    Raises
    ------
    ValueError
        For the zero vector.
    """
    integers, common = clear_denominators(vector)
    divisor = math.gcd(*integers)
    if divisor == 0:
        raise ValueError("the zero vector has no primitive multiple")
    return tuple(entry // divisor for entry in integers), Fraction(divisor, common)
