"""Closed forms against sums, simulations of the same equations, and values known by hand."""

from __future__ import annotations

from fractions import Fraction
from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.committee import Committee, Spectrum
from theorylab.scaling_laws import (
    escape_time,
    eta_c_mean_square,
    eta_c_ode,
    feature_floor,
    fit_exponent,
    linear_mean_finite,
    linear_ode,
    plateau_height,
    power_law_bracket,
    theory,
)


@given(
    st.floats(0.1, 3),
    st.sampled_from([1, 2, 7, 100]),
    st.floats(0.01, 1),
    st.floats(-3, 6),
)
def test_the_bracket_holds_everywhere(beta, L, eta, log_alpha):
    alpha = [10.0**log_alpha]
    low, high = power_law_bracket(beta, L, eta, alpha, sigma_J=0.4)
    F = theory.power_law_sum(beta, L, eta, alpha, sigma_J=0.4)
    assert low[0] - 1e-13 <= F[0] <= high[0] + 1e-13


def test_the_linear_flow_equals_the_committee():
    spectrum = Spectrum.power_law(6, 1.0)
    committee = Committee(spectrum, np.eye(1), 1, 0.7, act="linear", sigma2=0.2)
    start = committee.starting_at(np.zeros((1, 1)), np.full((1, 1), 0.25))
    alpha = np.array([0.5, 3.0, 20.0])
    found = linear_ode(spectrum, 1.25, 0.7, alpha, sigma2=0.2)
    np.testing.assert_allclose(start.integrate(alpha, 1e-9, 1e-11).eps_g, found, rtol=1e-6)


def test_finite_means_tend_to_the_flow_at_first_order():
    spectrum, gaps = Spectrum.power_law(16, 1.0), []
    for copies in (8, 16):
        N = 16 * copies
        mean = linear_mean_finite(np.repeat(spectrum.lam, copies), np.ones(N), 0.5, 2 * N)[-1]
        gaps.append(N * (mean / linear_ode(spectrum, 1.0, 0.5, [2.0])[0] - 1))
    assert gaps[1] == pytest.approx(1.35, abs=0.1)
    assert gaps[0] == pytest.approx(gaps[1], rel=0.1)


def test_exact_and_floating_means_agree():
    lam, v2 = [Fraction(1, 2), Fraction(3, 2), 1], [1, 2, Fraction(1, 3)]
    exact = linear_mean_finite(lam, v2, Fraction(1, 4), 6, exact=True, sigma2=1)
    floats = linear_mean_finite([float(x) for x in lam], [1.0, 2.0, 1 / 3], 0.25, 6, sigma2=1.0)
    assert exact[0] == Fraction(1, 6) * (Fraction(1, 2) + 3 + Fraction(1, 3))
    np.testing.assert_allclose([float(x) for x in exact], floats, rtol=1e-13)


@pytest.mark.parametrize(
    ("beta", "value"),
    [(0.1, 1.9413), (0.3, 1.6405), (0.5, 1.3644), (1.0, 1.00503), (2.0, 0.78185), (4.0, 0.68838)],
)
def test_limits_of_the_mean_square_threshold(beta, value):
    assert theory.limit_threshold(beta) == pytest.approx(value, abs=6e-5)


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=12))
def test_the_mean_square_threshold_solves_its_equation(lam):
    lam = np.array(lam)
    share = lam / lam.size
    eta = eta_c_mean_square(lam)
    assert 0 < eta < 1 / share.max()
    assert eta <= eta_c_ode(lam)
    assert eta / 2 * np.sum(share / (1 - eta * share)) == pytest.approx(1, rel=1e-6)


def test_isotropic_threshold():
    assert eta_c_mean_square(np.ones(10)) == pytest.approx(20 / 12)


def test_feature_floor_known_values():
    lam = Spectrum.power_law(256, 1.0).lam
    assert feature_floor(lam, 8, 0.5) == pytest.approx(0.0497010721581982, rel=1e-12)
    assert feature_floor(lam, 8, 0.5, exact=False) == pytest.approx(0.0451, abs=5e-5)
    assert feature_floor([1, 1], 0, Fraction(1, 3)) == Fraction(1, 2)
    assert feature_floor([1, 1], 2, Fraction(1, 3)) == 0


@pytest.mark.parametrize(("M", "height"), [(2, 0.00580542), (3, 0.00676553), (4, 0.00709432)])
def test_plateau_heights(M, height):
    assert plateau_height(M, 1 / sqrt(M)) == pytest.approx(height, abs=5e-9)


@pytest.mark.parametrize(
    ("M", "L", "time"),
    [(2, 1, 30.4183), (2, 4, 14.2869), (2, 16, 4.4095), (2, 64, 1.1659), (2, 256, 0.2956),
     (5, 1, 171.92), (5, 4, 80.75), (5, 16, 24.92), (5, 64, 6.590), (5, 256, 1.671)],
)  # fmt: skip
def test_escape_times(M, L, time):
    found = escape_time(M, 1 / sqrt(M), 1.0, Spectrum.power_law(L, 1.0))
    assert found == pytest.approx(time, rel=5e-4)


@pytest.mark.parametrize(
    ("M", "value"), [(1, pi * sqrt(5 / 3)), (2, 2.306828), (3, 1.620675), (4, 1.249393),
                     (6, 0.856663), (10, 0.525824)]
)  # fmt: skip
def test_specialised_thresholds(M, value):
    assert theory.specialised_threshold(M, 1.0) == pytest.approx(value, abs=1e-6)
    assert theory.specialised_threshold(M, 0.5) == pytest.approx(4 * value, rel=1e-5)


def test_fits_recover_a_power_and_its_tail():
    alpha = np.geomspace(1, 100, 20)
    found = fit_exponent(alpha, 3 * alpha**-0.4 - 0.01, tail=0.01)
    assert found.slope == pytest.approx(-0.4)
    assert found.ci[0] <= found.slope <= found.ci[1]
    assert found.window == (1.0, 100.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_law_bracket(0.0, 5, 1.0, [1.0]), "beta"),
        (lambda: power_law_bracket(1.0, 0, 1.0, [1.0]), "L must"),
        (lambda: power_law_bracket(1.0, 5, 1.0, [0.0]), "positive"),
        (lambda: power_law_bracket(1.0, 5, 0.0, [1.0]), "eta"),
        (lambda: eta_c_mean_square([]), "non-empty"),
        (lambda: eta_c_mean_square([-1.0, 1.0]), "non-negative"),
        (lambda: linear_mean_finite([1.0], [1.0, 2.0], 0.5, 1), "same length"),
        (lambda: linear_mean_finite([1.0], [1.0], 0.5, -1), "steps"),
        (lambda: linear_ode(Spectrum.isotropic(), 1.0, 0.5, [-1.0]), "alpha"),
        (lambda: feature_floor([1.0], 2, 0.5), "trained"),
        (lambda: feature_floor([1.0, 1.0], 2, 2.5), "threshold"),
        (lambda: feature_floor([1.0, 1.0], 2, 1.5), "mean-square"),
        (lambda: escape_time(1, 1.0, 1.0, Spectrum.isotropic()), "at least 2"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_exact_means_refuse_floats():
    with pytest.raises(TypeError, match="Fractions"):
        linear_mean_finite([0.5], [1], 1, 1, exact=True)
