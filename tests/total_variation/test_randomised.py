"""The randomised test: never wrong on equal pairs, rarely on others, refuses bad primes."""

from fractions import Fraction as F

import numpy as np
import pytest

from theorylab.total_variation import ProductMixture, identity_test, moment_pair, tv_exact_mixture
from theorylab.total_variation.mixture_suite import mixture_suite
from theorylab.total_variation.randomised import MERSENNE_61, polynomial_values

HALF = F(1, 2)


def test_agrees_with_enumeration_modulo_a_large_prime():
    rng = np.random.default_rng(0)
    for pair in mixture_suite(rng, 90):
        different = identity_test(pair.P, pair.Q, rng=rng).different
        assert different == (tv_exact_mixture(pair.P, pair.Q) > 0)


def test_the_polynomial_by_hand():
    """n = 1: the value is the difference of two linear forms."""
    P = ProductMixture((1,), (((F(1, 3), F(2, 3)),),))
    Q = ProductMixture((1,), (((HALF, HALF),),))
    z = np.array([[5, 9], [1, 1]])
    inverse = pow(6, -1, 101)
    expected = [(-1 * 5 + 1 * 9) * inverse % 101, 0]
    assert polynomial_values(P, Q, 101, [z], 2).tolist() == expected


def test_machine_and_python_integers_agree():
    P, Q = moment_pair(4)
    rng = np.random.default_rng(1)
    points = [rng.integers(2**31 - 1, size=(50, 2)) for _ in range(4)]
    small = polynomial_values(P, Q, 2**31 - 1, points, 50)
    big = polynomial_values(P, Q, 2**31 - 1, [z.astype(object) for z in points], 50)
    assert small.tolist() == [int(value) for value in big]


def test_rounds_and_bound():
    found = identity_test(*moment_pair(8), p=101, rounds=2, rng=np.random.default_rng(0))
    assert found.rounds == 2
    assert found.error_bound == pytest.approx((8 / 101) ** 2)
    assert found.different == (found.zeros < 2)


def test_points_stay_below_the_mersenne_prime():
    found = identity_test(*moment_pair(30), p=MERSENNE_61, rounds=3, rng=np.random.default_rng(0))
    assert found.zeros == 0


@pytest.mark.parametrize(
    ("p", "rounds", "message"),
    [
        (100, 1, "not prime"),
        (2, 1, "divides the denominator"),
        (101, 0, "rounds is 0"),
        (2**89 - 1, 1, "below 2"),
    ],
)
def test_refusals(p, rounds, message):
    with pytest.raises(ValueError, match=message):
        identity_test(*moment_pair(4), p=p, rounds=rounds, rng=np.random.default_rng(0))


def test_a_generator_is_needed():
    with pytest.raises(TypeError, match="rng must be a NumPy Generator"):
        identity_test(*moment_pair(4))
