"""Closed forms against integrals, known values and the equations they solve."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from theorylab.teacher_students import theory

RNG = np.random.default_rng(20)


def test_loss_of_nothing_learnt_is_half_the_second_moment_of_the_target():
    V = np.eye(2, 4)
    tiny = np.full((1, 4), 1e-9)
    assert theory.relu_loss(tiny, V) == pytest.approx(0.5 * (1 + 1 / pi), abs=1e-8)


def test_antiparallel_pair_is_the_absolute_value():
    loss = theory.relu_loss([[-1.0, 0.0]], [[1.0, 0.0]])
    assert loss == pytest.approx(0.5)


@pytest.mark.parametrize(("m", "k"), [(1, 1), (3, 2), (2, 4)])
def test_two_forms_of_the_loss_agree(m, k):
    W, V = RNG.standard_normal((5, m, 6)), RNG.standard_normal((k, 6))
    assert np.allclose(theory.relu_loss(W, V), theory.population_loss(W, V), atol=1e-12)


@pytest.mark.parametrize(
    ("act", "cs"), [("relu", None), ("relu", [2, -1, 1]), ("erf", [0.5, 1, -2])]
)
def test_gradient_is_that_of_finite_differences(act, cs):
    W, V = RNG.standard_normal((3, 4)), RNG.standard_normal((2, 4))
    slope = theory.population_gradient(W, V, act, cs)
    found = np.empty_like(W)
    for place in np.ndindex(W.shape):
        shift = np.zeros_like(W)
        shift[place] = 1e-6
        up, down = (theory.population_loss(W + s * shift, V, act, cs) for s in (1, -1))
        found[place] = (up - down) / 2e-6
    assert np.allclose(slope, found, atol=1e-8)


def test_gradient_in_words_of_angles():
    W, V = RNG.standard_normal((1, 5)), RNG.standard_normal((1, 5))
    w, v = W[0], V[0]
    theta = theory.angles(np.stack([w, v]))[0, 1]
    unit = w / np.linalg.norm(w)
    expected = (pi * w - np.linalg.norm(v) * np.sin(theta) * unit - (pi - theta) * v) / (2 * pi)
    assert np.allclose(theory.population_gradient(W, V)[0], expected)


def test_loss_against_samples():
    W, V = np.array([[0.5, 1.0, 0.0]]), np.array([[1.0, 0.0, -1.0]])
    x = np.random.default_rng(1).standard_normal((400_000, 3))
    gap = np.maximum(x @ W.T, 0).sum(1) - np.maximum(x @ V.T, 0).sum(1)
    values = 0.5 * gap**2
    assert abs(values.mean() - theory.relu_loss(W, V)) < 5 * values.std() / sqrt(len(x))


@given(st.floats(0, pi))
def test_excess_is_the_integral_of_theta_sine(theta):
    expected = quad(lambda t: t * np.sin(t), 0, theta)[0] / (2 * pi)
    assert theory.angular_excess(theta) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_angles_of_nearly_parallel_vectors_keep_their_digits():
    Z = np.array([[1.0, 0.0], [1.0, 1e-12]])
    assert theory.angles(Z)[0, 1] == pytest.approx(1e-12, rel=1e-6)


@given(st.floats(0.05, 0.95), st.floats(-6, -3))
def test_cost_of_a_split_pair(share, exponent):
    distance = 10.0**exponent
    cost = theory.relu_loss(*theory.split_pair(distance, share))
    expected = theory.relu_split_coefficient(share) * distance**3
    assert cost == pytest.approx(expected, rel=0.05 if share in (0.05, 0.95) else 0.02)


def test_cost_of_a_smooth_pair_before_and_after_it_lengthens():
    for pair, coefficient in (
        (theory.smooth_pair, 1 / (4 * pi * sqrt(3))),
        (theory.relaxed_pair, 1 / (6 * pi * sqrt(3))),
    ):
        cost = theory.population_loss(*pair(0.01), act="erf", cs=[0.5, 0.5]) / 1e-8
        assert cost == pytest.approx(coefficient, rel=1e-3)


def test_lengthening_is_the_best_answer_to_a_split():
    W, V = theory.smooth_pair(0.05)

    def cost(longer: float) -> float:
        return float(theory.population_loss(W + np.array([longer, 0]), V, "erf", [0.5, 0.5]))

    best = 0.05**2 / 2
    assert cost(best) < min(cost(0.8 * best), cost(1.2 * best), cost(0.0))


@pytest.mark.parametrize("p", [2.5, 3, 4, 6])
def test_late_laws_solve_the_flow_of_a_homogeneous_cost(p):
    t = 7.0
    u = (1 / (p * (p - 2) * t)) ** (1 / (p - 2))  # one dimension, F = u^p
    loss = u**p
    assert t * loss / u**2 == pytest.approx(theory.virial_ratio(p))
    later = (1 / (p * (p - 2) * 2 * t)) ** (p / (p - 2))
    assert later / loss == pytest.approx(2 ** -theory.late_exponent(p))


def test_constants_of_pairs():
    assert theory.pair_prefactor(0.5) == pytest.approx(pi**2 / 6)
    assert theory.pair_angle_rate(0.5) == pytest.approx(pi)
    assert theory.smooth_prefactor() == pytest.approx(3 * pi * sqrt(3) / 8)
    assert theory.lone_student_floor() == pytest.approx(0.0885, abs=5e-5)


def test_lone_student_sits_at_the_bisector():
    directions = np.linspace(0, pi / 2, 91)
    V = np.eye(2)
    lengths = np.linspace(1.2, 1.8, 241)
    W = np.stack([np.cos(directions), np.sin(directions)], -1)[:, None] * lengths[None, :, None]
    losses = theory.relu_loss(W[:, :, None, :], V)
    place = np.unravel_index(losses.argmin(), losses.shape)
    assert directions[place[0]] == pytest.approx(pi / 4)
    assert losses.min() == pytest.approx(theory.lone_student_floor(), abs=1e-5)


@pytest.mark.parametrize(
    ("k", "least"), [(1, 0.5), (2, 0.25 - 1 / (2 * pi)), (3, 0.25 - 1 / (2 * pi))]
)
def test_least_curvature_at_orthonormal_teachers(k, least):
    assert theory.hessian_at_teachers(np.eye(k, 6)).values[0] == pytest.approx(least)


def test_hessian_is_the_derivative_of_the_gradient():
    V = RNG.standard_normal((2, 3))
    hessian = np.zeros((6, 6))
    for i in range(6):
        shift = np.zeros(6)
        shift[i] = 1e-5
        up, down = (theory.population_gradient(V + s * shift.reshape(2, 3), V) for s in (1, -1))
        hessian[:, i] = (up - down).ravel() / 2e-5
    modes = theory.hessian_at_teachers(V)
    # the gradient has a kink of second order at the teachers: differences see it at first order
    assert np.allclose(np.linalg.eigvalsh((hessian + hessian.T) / 2), modes.values, atol=1e-4)


def test_contraction_is_one_step_of_the_slowest_mode():
    assert theory.contraction(np.eye(1, 4), 0.2) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.relu_loss([[np.nan, 1]], [[1, 0]]), "NaN"),
        (lambda: theory.relu_loss([[1.0, 1]], [[1.0, 0, 0]]), "dimension"),
        (lambda: theory.relu_loss([1.0, 1], [[1.0, 0]]), "shape"),
        (lambda: theory.relu_loss([[0.0, 0]], [[1.0, 0]]), "zero vector"),
        (lambda: theory.signed_weights(2, 1, cs=[1.0]), "2 finite weights"),
        (lambda: theory.population_loss([[1.0, 0]], [[1.0, 0]], act="tanh"), "act"),
        (lambda: theory.late_exponent(2), "exponential"),
        (lambda: theory.virial_ratio(1.5), "exceed 2"),
        (lambda: theory.cost_order("linear"), "act"),
        (lambda: theory.split_pair(0.1, share=1.0), "share"),
        (lambda: theory.pair_prefactor(0.0), "share"),
        (lambda: theory.contraction(np.eye(1, 2), 5.0), "eta"),
        (lambda: theory.contraction(np.eye(1, 2), 0.0), "eta"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
