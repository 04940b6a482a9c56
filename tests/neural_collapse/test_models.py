"""Unconstrained features, two phases, hand-made networks and monotone layers."""

from fractions import Fraction
from itertools import pairwise
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.neural_collapse import (
    collapse_cost,
    forward,
    graph_beats_collapse,
    graph_cost,
    graph_network,
    loss_and_grads,
    monotone_sides,
    nc1,
    two_phase_constants,
    ufm_optimum,
    uncollapsed_fixed_point,
)
from theorylab.neural_collapse.large_step import ntk, skewed_interpolator
from theorylab.neural_collapse.small_networks import (
    balanced_layers,
    collapsed_network,
    factor_loss,
    incidence,
    rational_nc1,
)
from theorylab.neural_collapse.two_phase import dead_row, flow, follow, pyramid
from theorylab.neural_collapse.unconstrained import (
    certified_root,
    largest_stationary,
    spinodal,
    threshold,
)


def test_optima_of_the_reference_table():
    found = ufm_optimum([5] * 4, 2, 0.5)
    np.testing.assert_allclose(found.sigma, 1.736068, atol=5e-7)
    assert found.objective == pytest.approx(3.972135955, abs=5e-10)
    found = ufm_optimum([5] * 4, 3, 0.3)
    np.testing.assert_allclose(found.sigma, 1.997873, atol=5e-7)
    assert found.objective == pytest.approx(2.968769388, abs=5e-10)
    np.testing.assert_allclose(
        ufm_optimum([8, 4, 2, 1], 2, 0.6).sigma, [2.228427, 1.4, 0.814214, 0.4], atol=5e-7
    )


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 400),
    q=st.integers(2, 8),
    share=st.floats(0.01, 1.4),
)
def test_closed_form_is_the_minimum_on_a_grid(n, q, share):
    s = sqrt(n)
    lam = share * threshold(s, q)
    found = ufm_optimum([n], q, lam)
    x = np.linspace(0, 1.05 * s ** (1 / q), 4001)
    values = (x**q - s) ** 2 / 2 + q * lam / 2 * x**2
    assert found.objective <= values.min() + 1e-12
    assert found.objective >= values.min() - 1e-5 * n
    assert (found.sigma[0] == 0) == (share >= 1)


@pytest.mark.parametrize("q", [3, 4, 6])
def test_the_jump_is_first_order(q):
    s = 3.0
    limit = threshold(s, q)
    before, after = (ufm_optimum([9], q, limit * f).sigma[0] for f in (1 - 1e-10, 1 + 1e-10))
    assert before == pytest.approx(s * (q - 2) / (q - 1), rel=1e-4)
    assert after == 0
    assert limit < spinodal(s, q)
    assert largest_stationary(s, q, spinodal(s, q) * 1.001) == 0
    phases = [ufm_optimum([9], q, limit * f).phase[0] for f in (0.9, 1.0001, 10)]
    assert phases == ["alive", "metastable", "dead"]


def test_decays_enter_through_their_geometric_mean():
    uneven = ufm_optimum([9, 4], 2, (0.2, 1.8))
    assert uneven.decay == pytest.approx(0.6)
    np.testing.assert_allclose(uneven.sigma, [2.4, 1.4])
    assert ufm_optimum([9], 2, 0).sigma[0] == pytest.approx(3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([4], 1, 0.1), "factors"),
        (([0], 2, 0.1), "counts"),
        (([], 2, 0.1), "counts"),
        (([4], 2, -0.1), "non-negative"),
        (([4], 2, (0.1, 0.1, 0.1)), "one decay"),
        (([4], 2, float("nan")), "finite"),
    ],
)
def test_invalid_models_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ufm_optimum(*arguments)


def test_interval_newton_proves_a_rational_root_and_no_other():
    low, high = certified_root(1.5, Fraction(5), 3, Fraction(39, 16))
    assert low <= 1.5 <= high
    with pytest.raises(ArithmeticError, match="no proof"):
        certified_root(1.51, Fraction(5), 3, Fraction(39, 16))


@pytest.mark.parametrize(("K", "m"), [(2, 2), (3, 2), (2, 5)])
def test_the_fixed_point_is_at_rest_and_has_not_collapsed(K, m):
    made = uncollapsed_fixed_point(Fraction(4, 5), K, m)
    _, gradients = loss_and_grads(made.net, made.X, made.Y, Fraction(9, 25))
    assert not any(G.any() for G in gradients)
    H = forward(made.net, made.X).features[1]
    assert rational_nc1(H, made.labels) == Fraction((m - 1) * K, K - 1)
    assert float(rational_nc1(H, made.labels)) == pytest.approx(nc1(H.T.astype(float), made.labels))
    _, moved = loss_and_grads(made.net, made.X, made.Y, Fraction(1, 4))
    assert any(G.any() for G in moved)
    with pytest.raises(ValueError, match="v must"):
        uncollapsed_fixed_point(Fraction(1), K, m)


def test_matrix_balance_collapses_the_rectified_layer():
    made = balanced_layers(0.8, 3, 4)
    W1, W2 = made.net.weights
    np.testing.assert_allclose(W2.T @ W2, W1 @ W1.T, atol=1e-14)
    assert nc1(forward(made.net, made.X).features[1].T, made.labels) < 1e-25


@pytest.mark.parametrize(("q", "r"), [(5, 4), (6, 5), (4, 4)])
def test_constructions_output_their_scale_and_cost_what_is_said(q, r):
    K, n = comb(r, 2), 3
    for made, cost in (
        (graph_network(q, r, n, 0.9), graph_cost(q, r, n, 0.02)),
        (collapsed_network(q, K, n, 0.9), collapse_cost(q, K, n, 0.02)),
    ):
        np.testing.assert_allclose(forward(made.net, made.X).features[-1], 0.9 * made.Y, atol=1e-12)
        norms = [np.linalg.norm(made.X), *(np.linalg.norm(W) for W in made.net.weights)]
        np.testing.assert_allclose(norms, norms[0])
        assert factor_loss(made, 0.02) >= cost - 1e-12


def test_the_reference_costs_and_the_first_case():
    assert graph_cost(5, 4, 3, 0.02) == pytest.approx(0.364424, abs=5e-7)
    assert collapse_cost(5, 6, 3, 0.02) == pytest.approx(0.373095, abs=5e-7)
    assert graph_cost(6, 5, 3, 0.02) == pytest.approx(0.592925, abs=5e-7)
    assert collapse_cost(6, 10, 3, 0.02) == pytest.approx(0.719595, abs=5e-7)
    assert graph_beats_collapse(5, 4)
    assert not graph_beats_collapse(4, 4)
    B = incidence(4)
    assert (B.sum(axis=0) == 2).all()
    assert (B.sum(axis=1) == 3).all()
    for call in (lambda: incidence(2), lambda: graph_network(2, 4, 1, 1.0)):
        with pytest.raises(ValueError, match="at least 3"):
            call()


def test_two_phase_constants_of_the_reference_instance():
    task = pyramid(np.random.default_rng(0))
    for lam, T1, final in ((1e-2, 0.048, 2.05), (1e-3, 0.260, 0.205), (1e-4, 0.462, 0.0205)):
        found = two_phase_constants(task.net, task.X, task.Y, lam, 0.5)
        assert found.hypothesis_holds
        assert pytest.approx(T1, abs=1e-3) == found.T1
        assert lam * found.B == pytest.approx(final, rel=3e-3)
        assert found.r0 == pytest.approx(1.8)
        assert found.mu0 == pytest.approx(11.45, rel=5e-3)
    small = pyramid(np.random.default_rng(0), scale=1 / 3)
    assert not two_phase_constants(small.net, small.X, small.Y, 1e-2, 0.5).hypothesis_holds
    dead = dead_row(task)
    assert two_phase_constants(dead.net, dead.X, dead.Y, 1e-2, 0.5).lambda_F == 0


def test_two_phase_errors():
    task = pyramid(np.random.default_rng(0))
    for arguments in ((task.X, task.Y, 0.0, 0.5), (task.X, task.Y, 0.1, 0.0)):
        with pytest.raises(ValueError, match="need lam"):
            two_phase_constants(task.net, *arguments)
    with pytest.raises(ValueError, match="spectral norm"):
        two_phase_constants(task.net, 2 * task.X, task.Y, 0.1, 0.5)
    with pytest.raises(ValueError, match="three layers"):
        two_phase_constants(
            skewed_interpolator().__class__((2, 2), 0, task.net.activation),
            task.X,
            task.Y,
            0.1,
            0.5,
        )


def test_the_flow_lowers_the_loss_and_forgets_imbalance():
    task = pyramid(np.random.default_rng(0))
    times = np.array([0.0, 0.1, 10.0, 50.0])
    seen = follow(task, flow(task, 1e-2, times), 1e-2, times)
    assert all(b < a for a, b in pairwise(seen.loss))
    np.testing.assert_allclose(seen.imbalance, seen.imbalance[0] * np.exp(-2e-2 * times), rtol=1e-5)


def test_skewed_interpolator():
    net = skewed_interpolator()
    np.testing.assert_allclose(forward(net, np.eye(2)).features[-1], np.eye(2), atol=1e-14)
    assert np.linalg.eigvalsh(ntk(net, np.eye(2)))[-1] == pytest.approx(19.337, abs=1e-3)
    assert np.linalg.cond(net.weights[2] @ net.weights[1]) == pytest.approx(6.554, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), slope=st.floats(0, 1))
def test_monotone_inequality(seed, slope):
    rng = np.random.default_rng(seed)
    K, n = sorted(rng.integers(1, 6, 2))
    W, V = rng.standard_normal((K, n)), rng.standard_normal((n, 3))
    z = rng.standard_normal(3), rng.standard_normal(3)
    sides = monotone_sides(W, V, z, lambda x: np.maximum(x, slope * x))
    assert (sides[:, 0] <= sides[:, 1] * (1 + 1e-9) + 1e-12).all()
