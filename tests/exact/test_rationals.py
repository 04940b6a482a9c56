from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st

from theorylab.exact import clear_denominators, primitive, rational, rational_vector

fractions = st.fractions(min_value=-50, max_value=50, max_denominator=40)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (Fraction(-2, 6), Fraction(-1, 3)),
        ("3/7", Fraction(3, 7)),
        ("-0.25", Fraction(-1, 4)),
        (np.int64(5), Fraction(5)),
        (fmpz(7), Fraction(7)),
        (fmpq(-3, 9), Fraction(-1, 3)),
    ],
)
def test_exact_input_is_accepted(value: object, expected: Fraction) -> None:
    assert rational(value) == expected
    assert type(rational(value)) is Fraction


@pytest.mark.parametrize("value", [0.5, np.float64(2), 1.0])
def test_floats_are_refused_with_the_remedy(value: float) -> None:
    with pytest.raises(TypeError, match="rationalise"):
        rational(value, "weight")


@pytest.mark.parametrize("value", [True, False, None, [1], Decimal("0.5"), 1j])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="weight"):
        rational(value, "weight")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("rationalise", [False, True, 100])
def test_non_finite_numbers_are_refused_always(value: float, rationalise: bool | int) -> None:
    with pytest.raises(ValueError, match="finite"):
        rational(value, rationalise=rationalise)


@pytest.mark.parametrize("value", ["", "1/0", "x", "nan"])
def test_strings_that_are_no_rationals_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match="not a rational"):
        rational(value)


def test_rationalise_true_keeps_the_stored_value_and_a_bound_rounds() -> None:
    assert rational(0.1, rationalise=True) == Fraction(3602879701896397, 2**55)
    assert rational(0.1, rationalise=100) == Fraction(1, 10)
    with pytest.raises(ValueError, match="positive"):
        rational(0.1, rationalise=-3)


def test_vectors_check_length_and_kind() -> None:
    assert rational_vector([1, "1/2"]) == (1, Fraction(1, 2))
    with pytest.raises(ValueError, match="3 are needed"):
        rational_vector([1, 2], 3)
    with pytest.raises(TypeError, match="sequence"):
        rational_vector(5)
    with pytest.raises(TypeError, match="sequence"):
        rational_vector("12")


@given(st.lists(fractions, min_size=1, max_size=5))
def test_cleared_denominators_are_least(vector: list[Fraction]) -> None:
    integers, common = clear_denominators(vector)
    assert [Fraction(entry, common) for entry in integers] == vector
    assert math.gcd(common, *integers) == 1


@given(st.lists(fractions, min_size=1, max_size=5).filter(any))
def test_primitive_vectors_are_positive_multiples(vector: list[Fraction]) -> None:
    direction, scale = primitive(vector)
    assert scale > 0
    assert math.gcd(*direction) == 1
    assert [scale * entry for entry in direction] == vector


def test_the_zero_vector_has_no_direction() -> None:
    with pytest.raises(ValueError, match="zero vector"):
        primitive([0, 0])
