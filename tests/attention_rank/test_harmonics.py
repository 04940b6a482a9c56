"""Energies of the sign: known values, identities, series against second ways."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from theorylab.attention_rank import (
    ExactPi,
    arcsine,
    dim_harm,
    eta2,
    head_target,
    hom,
    lam,
    legendre,
    tail,
)
from theorylab.attention_rank.bounds import density_at_zero
from theorylab.attention_rank.harmonics import energies, tail_value
from theorylab.attention_rank.quadrature import head_target_by_quadrature, sign_moment


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        (8, [0.67757, 0.11711, 0.05226, 0.03037, 0.02006]),
        (64, [0.64161, 0.10843, 0.04937, 0.02969, 0.02038]),
    ],
)
def test_energies_of_the_dossier(d, expected):
    assert [round(float(eta2(d, 2 * i + 1)), 5) for i in range(5)] == expected


def test_first_eigenvalues():
    assert lam(2, 1) == ExactPi(Fraction(2), 1)
    assert lam(3, 1) == ExactPi(Fraction(1, 2), 0)
    assert lam(3, 3) == ExactPi(Fraction(-1, 8), 0)
    assert all(lam(d, degree).fraction == 0 for d in (2, 3, 9) for degree in (0, 2, 10))


def test_dimensions_are_those_of_the_circle_and_of_the_sphere():
    assert [dim_harm(2, degree) for degree in range(4)] == [1, 2, 2, 2]
    assert [dim_harm(3, degree) for degree in range(5)] == [1, 3, 5, 7, 9]
    assert [hom(3, k) for k in (-1, 0, 1, 2)] == [0, 1, 3, 6]


@given(st.integers(2, 12), st.integers(0, 12))
def test_forms_split_into_harmonics(d, degree):
    """A form of degree k is a sum of |x|^{2j} times harmonics of degree k - 2j."""
    assert hom(d, degree) == sum(dim_harm(d, k) for k in range(degree, -1, -2))


@given(st.integers(2, 12), st.integers(0, 9))
def test_eigenvalues_are_the_symbolic_integral(d, degree):
    assert lam(d, degree) == sign_moment(d, degree)


@given(st.integers(3, 40), st.integers(1, 11))
def test_eigenvalues_are_the_numeric_integral(d, degree):
    def integrand(t):
        return float(legendre(d, np.eye(degree + 1)[degree], t)) * (1 - t * t) ** ((d - 3) / 2)

    value = 2 * density_at_zero(d) * quad(integrand, 0, 1, limit=200)[0] if degree % 2 else 0.0
    assert float(lam(d, degree)) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("d", [2, 3, 8, 17, 64, 1024])
def test_floats_stay_within_their_certified_error(d):
    found = energies(d, 30)
    exact = [float(eta2(d, int(degree))) for degree in found.degrees]
    assert np.abs(found.energies - exact).max() <= found.error
    assert abs(found.tails[-1] - tail_value(d, 59)) <= found.error
    assert np.allclose(found.eigenvalues, [float(lam(d, int(n))) for n in found.degrees])


def test_the_tail_is_exact():
    one, partial = tail(3, 5)
    assert one - partial.fraction == 1 - sum(eta2(3, n).fraction for n in (1, 3, 5))
    assert partial.power == 0
    assert tail(4, 5)[1].power == 2
    assert tail_value(8, 41) == pytest.approx(energies(8, 200).tails[20], abs=1e-12)


def test_large_dimensions_do_not_recurse():
    assert 0 < float(lam(3001, 1)) < float(lam(3, 1))


@pytest.mark.parametrize("d", [2, 3, 7])
def test_legendre_polynomials(d):
    t = np.linspace(-1, 1, 9)
    assert np.allclose(legendre(d, [1.0], t), 1)
    assert np.allclose(legendre(d, [0.0, 1.0], t), t)
    assert np.allclose(legendre(d, [0, 0, 1.0], t), (d * t * t - 1) / (d - 1))
    if d == 2:
        assert np.allclose(legendre(2, [0, 0, 0, 0, 1.0], t), np.cos(4 * np.arccos(t)))
    assert legendre(d, [0.0] * 6 + [1.0], 1.0) == pytest.approx(1)


@given(st.integers(2, 30), st.floats(-1, 1))
def test_arcsine_series_keeps_its_bound(d, c):
    value, bound = arcsine(c, d, 0.05)
    assert bound <= 0.051
    assert abs(value - 2 / math.pi * math.asin(c)) <= bound


@pytest.mark.parametrize("d", [5, 8, 16])
def test_head_against_target_is_the_double_integral(d):
    c = np.linspace(-1, 1, 11)
    value, bound = head_target(c, d, 1e-9)
    assert bound < 2e-9
    assert np.abs(value - head_target_by_quadrature(c, d)).max() < 1e-8
    assert np.allclose(value, -value[::-1])


def test_head_against_target_by_sampling():
    rng = np.random.default_rng(0)
    w, y = rng.standard_normal((2, 200_000, 3))
    q, k = np.array([1.0, 0, 0]), np.array([0.6, 0.8, 0])
    signs = np.sign(y @ q) * np.sign(w @ k) * np.sign((w * y).sum(axis=1))
    assert signs.mean() == pytest.approx(float(head_target(0.6, 3, 1e-6)[0]), abs=5 / 200_000**0.5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lam(1, 1), ValueError, "d must be at least 2, got 1"),
        (lambda: lam(3, -1), ValueError, "l must be at least 0"),
        (lambda: lam(3, 1.0), TypeError, "must be an integer, got 1.0"),
        (lambda: dim_harm(True, 1), TypeError, "got True"),
        (lambda: hom(0, 1), ValueError, "r must be at least 1"),
        (lambda: head_target(1.1, 4), ValueError, "inner product of unit vectors"),
        (lambda: head_target(float("nan"), 4), ValueError, "NaN"),
        (lambda: head_target([], 4), ValueError, "is empty"),
        (lambda: head_target(0.5, 4, 0.0), ValueError, "tol must be positive"),
        (lambda: arcsine(0.5, 4, 1e-9), ValueError, "use a larger tol"),
        (lambda: legendre(3, [[1.0]], 0.5), ValueError, "one-dimensional"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
