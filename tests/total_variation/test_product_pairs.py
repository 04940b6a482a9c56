"""The boundary where rows of probabilities are checked and made exact."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from theorylab.total_variation import ProductMixture
from theorylab.total_variation.product_instances import random_pair
from theorylab.total_variation.product_pairs import exact_pair, rounded_pair

HALF = (F(1, 2), F(1, 2))


def test_exact_input_may_be_integers_fractions_and_strings() -> None:
    pair = exact_pair([(1, 0), ("1/3", "2/3"), ["0.25", F(3, 4)]], [HALF, HALF, HALF])
    assert pair.p == ((F(1), F(0)), (F(1, 3), F(2, 3)), (F(1, 4), F(3, 4)))
    assert pair.marginal_distances == (F(1, 2), F(1, 6), F(1, 4))


def test_a_mixture_of_one_component_is_a_product() -> None:
    mixture = ProductMixture((1,), ((HALF, (F(1, 5), F(4, 5))),))
    assert exact_pair(mixture, [HALF, HALF]).p == mixture.rows[0]


def test_a_mixture_of_two_components_is_refused() -> None:
    mixture = ProductMixture(HALF, ((HALF,), (HALF,)))
    with pytest.raises(ValueError, match="P is a mixture of 2 components"):
        exact_pair(mixture, [HALF])


def test_floats_are_refused_where_exactness_is_promised() -> None:
    with pytest.raises(TypeError, match=r"P\[0\].*float"):
        exact_pair([(0.5, 0.5)], [HALF])


def test_doubles_are_read_as_dyadic_rationals_and_the_last_letter_takes_the_rest() -> None:
    pair = rounded_pair([(0.3, 0.7)], np.array([[0.1, 0.9]]))
    assert pair.p == ((F(0.3), 1 - F(0.3)),)
    assert pair.q == ((F(0.1), 1 - F(0.1)),)
    assert F(0.1) + F(0.9) != 1


def test_differences_are_subtracted_before_rounding() -> None:
    tiny = F(1, 10**30)
    pair = exact_pair([HALF], [(F(1, 2) - tiny, F(1, 2) + tiny)])
    assert pair.floats.difference.tolist() == [[-1e-30, 1e-30]]
    assert pair.floats.distances.tolist() == [1e-30]


def test_short_alphabets_are_filled_up_with_letters_of_probability_zero() -> None:
    pair = exact_pair([(1,), (F(1, 2), F(1, 4), F(1, 4))], [(1,), (F(1, 4), F(1, 4), F(1, 2))])
    assert pair.floats.p.tolist() == [[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]]


def test_random_pairs_always_differ() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        P, Q = random_pair(rng, 1, letters=2)
        assert exact_pair(P, Q).marginal_distances[0] > 0
    for n, letters in ((0, 3), (3, 1)):
        with pytest.raises(ValueError, match="different laws need"):
            random_pair(rng, n, letters)


def test_the_empty_space_is_legal() -> None:
    assert exact_pair([], []).marginal_distances == ()


@pytest.mark.parametrize(
    ("P", "Q", "message"),
    [
        ([(F(1, 2), F(1, 3))], [HALF], r"P\[0\] sums to 5/6"),
        ([HALF], [(F(3, 2), F(-1, 2))], r"Q\[0\]\[1\] is -1/2.*negative"),
        ([()], [()], r"P\[0\] is empty"),
        ([HALF], [HALF, HALF], "P has 1 coordinates, Q has 2"),
        ([HALF], [(1,)], "coordinate 0 has 2 letters under P and 1 under Q"),
    ],
)
@pytest.mark.parametrize("build", [exact_pair, rounded_pair])
def test_bad_rows_are_named(build, P, Q, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(P, Q)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((float("nan"), 0.5), "finite"),
        ((float("inf"), 0.5), "finite"),
        ((0.5, 0.4), "sums to"),
        ((-0.5, 1.5), "negative"),
        ((1.5, -0.5), "negative"),
        ((0.2, 0.4, 0.4, 0.0), "largest letter last"),
    ],
)
def test_bad_doubles_are_refused(row: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rounded_pair([row], [row])


@pytest.mark.parametrize("law", [3, "0.5", None])
def test_something_that_is_no_sequence_of_rows_is_a_type_error(law) -> None:
    with pytest.raises(TypeError, match="P must be a sequence of rows"):
        exact_pair(law, [HALF])
