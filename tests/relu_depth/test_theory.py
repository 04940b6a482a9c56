"""Predictions: logarithms, primes, bounds and divisors against known values and brute force."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial, gcd, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.relu_depth import theory
from theorylab.relu_depth.claims.bounds import least_primes


@given(st.integers(2, 50), st.integers(1, 10**30))
def test_ceil_log_is_the_least_exponent(base, value):
    t = theory.ceil_log(base, value)
    assert base**t >= value
    assert t == 0 or base ** (t - 1) < value


@pytest.mark.parametrize(("base", "value"), [(1, 5), (0, 5), (2, 0), (2, -1), (2.0, 4), (True, 4)])
def test_ceil_log_refuses_what_has_no_logarithm(base, value):
    with pytest.raises(ValueError, match="got"):
        theory.ceil_log(base, value)


def test_primes_begin_as_they_do():
    found = [p for _, p in zip(range(10), theory.primes(), strict=False)]
    assert found == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    assert [n for n in range(30) if theory.is_prime(n)] == found


@given(st.integers(1, 10**6))
def test_the_least_prime_does_not_divide_and_all_smaller_ones_do(N):
    p = theory.smallest_prime_not_dividing(N)
    assert theory.is_prime(p)
    assert N % p
    assert all(N % q == 0 for q in range(2, p) if theory.is_prime(q))


def test_the_sieve_agrees_one_by_one():
    values = least_primes(3000).tolist()
    assert values[1:] == [theory.smallest_prime_not_dividing(N) for N in range(1, 3001)]


@pytest.mark.parametrize("N", [0, -3, 2.5, True, "10"])
def test_a_base_that_is_none_is_refused(N):
    with pytest.raises(ValueError, match="N must be a positive integer"):
        theory.smallest_prime_not_dividing(N)


@pytest.mark.parametrize(
    ("m", "N", "lower", "upper"),
    [
        (2, 2, 1, 1),
        (3, 2, 2, 2),
        (5, 2, 2, 2),
        (5, 1, 3, 3),
        (9, 10, 2, 3),
        (10, 10, 3, 3),
        (11, 2, 3, 3),
        (12, 2, 3, 4),
        (10, None, 2, 2),
        (10, 1, 4, 4),
        (17, 6, 2, 4),
    ],
)
def test_depths_that_are_known(m, N, lower, upper):
    found = theory.depth_bounds(m - 1, N)
    assert (found.lower, found.upper) == (lower, upper)
    assert found.is_exact == (lower == upper)


@given(st.integers(1, 300), st.integers(1, 300))
def test_lower_bounds_never_exceed_upper_ones(n, N):
    found = theory.depth_bounds(n, N)
    assert found.theorem2 <= found.lower <= found.upper


@pytest.mark.parametrize(("n", "N"), [(0, 2), (-1, 2), (3, 0), (2.0, 2)])
def test_bounds_refuse_nonsense(n, N):
    with pytest.raises(ValueError, match="must be a positive integer"):
        theory.depth_bounds(n, N)


def test_forced_primes_are_those_whose_power_fits():
    assert theory.forced_primes(4, 2) == [2]
    assert theory.forced_primes(9, 2) == [2, 3]
    assert theory.forced_primes(3, 2) == []
    assert len(theory.forced_primes(10**4, 2)) == 25


@pytest.mark.parametrize("d", range(2, 40))
def test_gcd_of_binomials_sees_prime_powers(d):
    power = theory.prime_power(d)
    assert theory.binomial_gcd(d) == gcd(*(comb(d, i) for i in range(1, d)))
    assert theory.binomial_gcd(d) == (power[0] if power else 1)


def test_prime_powers():
    assert [d for d in range(1, 33) if theory.prime_power(d)] == [
        *(2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32)
    ]
    assert theory.prime_power(27) == (3, 3)


@pytest.mark.parametrize("d", range(1, 15))
def test_the_join_divisor_divides_every_product_of_factorials(d):
    divisor = theory.join_divisor(d)
    assert all(factorial(i) * factorial(d - 1 - i) % divisor == 0 for i in range(d))
    assert divisor == theory.join_divisor_by_faces(d)


def test_the_mean_is_the_sum_of_its_series():
    assert float(theory.mean_smallest_prime()) == pytest.approx(2.920050977316, abs=1e-12)
    assert theory.mean_smallest_prime(2) == Fraction(1) + Fraction(2, 2)


def test_the_ratio_is_sharp_at_three():
    assert theory.depth_ratio(3) == theory.SHARP_CONSTANT == log(log(3)) / log(2)
    assert min(theory.depth_ratio(N) for N in range(4, 2000)) == theory.depth_ratio(4)
    with pytest.raises(ValueError, match="N >= 3"):
        theory.depth_ratio(2)
