"""Numbers: what counts as exact, what as finite, how they are stored and shown."""

from __future__ import annotations

import decimal
import json
import math
from fractions import Fraction

import flint
import gmpy2
import mpmath
import numpy as np
import pytest
import sympy
import torch
from hypothesis import given
from hypothesis import strategies as st

from theorylab.numbers import (
    NotANumberError,
    decode,
    encode,
    exact,
    flatten,
    is_exact,
    number,
    numbers,
    show,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
integers = st.integers(-(10**400), 10**400)
fractions = st.builds(Fraction, integers, st.integers(1, 10**400))
scalars = st.one_of(finite, integers, fractions, st.integers(), st.fractions())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (Fraction(6, 4), Fraction(3, 2)),
        (np.int8(-3), -3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (sympy.Integer(10**30), 10**30),
        (sympy.Rational(1, 3), Fraction(1, 3)),
        (sympy.Rational(4, 2), 2),
        (flint.fmpz(7), 7),
        (flint.fmpq(-1, 3), Fraction(-1, 3)),
        (gmpy2.mpz(5), 5),
        (gmpy2.mpq(5, 7), Fraction(5, 7)),
    ],
)
def test_exact_numbers_of_every_library_become_pythons_own(value, expected):
    found = exact(value)
    assert found == expected
    assert type(found) in (int, Fraction)


@pytest.mark.parametrize(
    "value",
    [
        *(0.5, np.float32(1), True, np.bool_(False), "3", b"3", None, 1j),
        *(sympy.sqrt(2), sympy.oo, sympy.nan, sympy.zoo, sympy.Symbol("p"), sympy.Float(2)),
        *(decimal.Decimal(1), mpmath.mpf(1), flint.arb(1), [1]),
    ],
    ids=repr,
)
def test_what_is_not_exact_is_a_type_error_that_names_argument_and_value(value):
    with pytest.raises(TypeError, match="measured must be") as caught:
        exact(value, "measured")
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(1.5), 1.5),
        (np.array(2), 2),
        (np.array(2.5), 2.5),
        (torch.tensor(2.5, requires_grad=True), 2.5),
        (torch.tensor(3), 3),
        (sympy.Float("1.5"), 1.5),
        (mpmath.mpf("1.5"), 1.5),
        (Fraction(1, 3), Fraction(1, 3)),
    ],
)
def test_real_scalars_become_int_fraction_or_float(value, expected):
    found = number(value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.nan, torch.tensor(math.nan)])
def test_nan_and_infinity_are_refused(value):
    with pytest.raises(NotANumberError, match=r"slope is .*finite"):
        number(value, "slope")


@pytest.mark.parametrize("value", [True, np.True_, "1", 1j, np.array([1.0]), decimal.Decimal(1)])
def test_what_is_no_real_number_is_a_type_error(value):
    with pytest.raises(TypeError, match="must be"):
        number(value)


def test_arrays_tensors_and_nested_sequences_become_nested_tuples():
    assert numbers(np.arange(4).reshape(2, 2)) == ((0, 1), (2, 3))
    assert numbers(torch.ones(2, dtype=torch.bfloat16)) == (1.0, 1.0)
    assert numbers([np.array([0.5]), [1, Fraction(1, 2)]]) == ((0.5,), (1, Fraction(1, 2)))
    assert numbers(torch.tensor(0.25)) == 0.25


@pytest.mark.parametrize("value", [[1.0, math.nan], np.array([[math.inf]]), [[0], [True]], ["1"]])
def test_one_bad_entry_spoils_an_array(value):
    with pytest.raises((TypeError, NotANumberError), match="measured"):
        numbers(value, "measured")


def test_flatten_goes_depth_first():
    assert flatten(((1, (2,)), 3)) == [1, 2, 3]
    assert flatten(4) == [4]


def test_exactness_is_that_of_every_entry():
    assert is_exact((1, (Fraction(1, 2), "word")))
    assert not is_exact((1, (Fraction(1, 2), 0.5)))


nested = st.recursive(
    st.one_of(scalars, st.text(), st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(nested)
def test_what_is_stored_as_json_comes_back_identical(value):
    again = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert again == value
    assert repr(again) == repr(value)  # 1 == 1.0 == True, so equality alone is too weak


def test_json_integers_stay_within_what_other_readers_keep():
    assert encode(2**53 - 1) == 2**53 - 1
    assert encode(2**53) == {"int": hex(2**53)}


def test_integers_beyond_pythons_decimal_limit_are_stored():
    huge = 7**20_000
    assert decode(json.loads(json.dumps(encode(huge)))) == huge


@pytest.mark.parametrize("value", [object(), {1, 2}, [1], 1j])
def test_what_json_cannot_hold_is_a_type_error(value):
    with pytest.raises(TypeError, match="cannot store"):
        encode(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-123456789012, "-123456789012"),
        (10**12, "≈ 1.000e+12"),
        (-(10**30), "≈ -1.000e+30"),
        (10**30 - 1, "≈ 1.000e+30"),
        (999_949_999_999_999, "≈ 9.999e+14"),
        (Fraction(-1, 3), "-1/3"),
        (Fraction(10**9, 10**9 + 1), "≈ 1"),
        (Fraction(1, 10**9), "≈ 1.000e-09"),
        (0.123456, "0.1235"),
        (-0.0, "0"),
        (1e-300, "1e-300"),
        ("word", "word"),
        ((1, 0.5), "(1, 0.5)"),
        ((1, 2, 3, 4, 5), "(1, 2, 3, 4, … 5 in all)"),
    ],
)
def test_numbers_are_shown_as_a_person_reads_them(value, text):
    assert show(value) == text


@given(scalars)
def test_shown_numbers_are_short_and_near_the_value(value):
    text = show(value)
    assert len(text) < 30
    shown = Fraction(text.removeprefix("≈ "))
    assert abs(shown - Fraction(value)) <= abs(Fraction(value)) * Fraction(1, 1000)
