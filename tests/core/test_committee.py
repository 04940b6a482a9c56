"""The order-parameter flow: its limits known by hand, its integrator, its phases, its errors."""

from __future__ import annotations

from math import asin, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.committee import Committee, Spectrum
from theorylab.committee.phases import specialised_matrices


def drawn(L: int = 4, K: int = 2, M: int = 2, eta: float = 0.5, **options) -> Committee:
    """A committee fed with the overlaps of weights."""
    rng = np.random.default_rng(11)
    N = 16 * L
    J, B = 0.5 * rng.standard_normal((K, N)), rng.standard_normal((M, N))
    spectrum = Spectrum.power_law(L, 1.0)
    return Committee(spectrum, np.eye(M), K, eta, **options).from_weights(
        J, B, np.repeat(np.arange(L), 16)
    )


# --- spectra -------------------------------------------------------------------------------


@given(st.integers(1, 300), st.floats(0.1, 4))
def test_power_laws_have_mean_one_and_the_right_ratios(L, beta):
    spectrum = Spectrum.power_law(L, beta)
    assert spectrum.mean == pytest.approx(1)
    assert spectrum.lam[0] / spectrum.lam[-1] == pytest.approx(L ** (1 + beta))


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_binning_keeps_the_moments(beta):
    whole, binned = Spectrum.power_law(30_000, beta), Spectrum.log_binned(30_000, beta)
    assert len(binned) < 120
    for order in (1, 2, 3):
        assert binned.moment(order) == pytest.approx(whole.moment(order), rel=2e-4)


def test_binning_is_second_order_in_the_width_of_the_bins():
    spectra = [Spectrum.power_law(30_000, 1.0)]
    spectra += [Spectrum.log_binned(30_000, 1.0, per_decade=bins) for bins in (24, 48)]
    for time in np.geomspace(1e-3, 1, 10) / spectra[0].lam[-1]:
        whole, coarse, fine = (s.p @ (s.lam * np.exp(-time * s.lam)) for s in spectra)
        assert abs(coarse / whole - 1) < 2e-3
        assert 3 < (coarse - whole) / (fine - whole) < 5


def test_a_spectrum_of_data_forgets_its_axes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4)) * [3.0, 1.0, 0.5, 0.0] + 7
    spectrum = Spectrum.from_data(X)
    assert len(spectrum) == 3
    assert spectrum.mean == pytest.approx(1)
    turned = Spectrum.from_data(X @ np.linalg.qr(rng.standard_normal((4, 4)))[0])
    np.testing.assert_allclose(turned.lam, spectrum.lam)


@pytest.mark.parametrize(
    ("lam", "p", "message"),
    [
        ([], None, "non-empty"),
        ([1.0, -1.0], None, "non-negative"),
        ([1.0, np.nan], None, "finite"),
        ([1.0, 1.0], [0.5, 0.6], "sum to 1"),
        ([1.0, 1.0], [1.0], "one entry per eigenvalue"),
        ([0.0, 0.0], None, "no variance"),
    ],
)
def test_errors_of_spectra(lam, p, message):
    with pytest.raises(ValueError, match=message):
        Spectrum(lam, p)


def test_errors_of_the_named_spectra():
    with pytest.raises(ValueError, match="beta"):
        Spectrum.power_law(3, 0.0)
    with pytest.raises(ValueError, match="L must"):
        Spectrum.power_law(0, 1.0)
    with pytest.raises(ValueError, match="must be positive"):
        Spectrum.log_binned(100, 1.0, head=0)
    with pytest.raises(ValueError, match="does not vary"):
        Spectrum.from_data(np.ones((5, 2)))
    with pytest.raises(ValueError, match="matrix of samples"):
        Spectrum.from_data(np.ones(5))


# --- the flow ------------------------------------------------------------------------------


def test_the_jacobian_is_the_derivative_of_the_velocity():
    for options in ({}, {"act": "linear"}, {"K": 3}, {"act": "relu", "gradient_flow": True}):
        committee = drawn(**options)
        y = committee.pack(committee.R0, committee.Q0)
        steps = 1e-6 * np.eye(len(y))
        differences = [(committee.rhs(y + e) - committee.rhs(y - e)) / 2e-6 for e in steps]
        np.testing.assert_allclose(committee.jacobian(y), np.transpose(differences), atol=1e-7)


def test_the_flow_is_the_mean_step_of_gradient_descent():
    """Velocities of R and Q against the mean over many samples of the update itself."""
    rng = np.random.default_rng(5)
    L, N, eta = 2, 40, 0.7
    J, B = 0.6 * rng.standard_normal((2, N)), rng.standard_normal((2, N))
    labels = np.repeat(np.arange(L), N // L)
    spectrum = Spectrum.power_law(L, 1.0)
    committee = Committee(spectrum, np.eye(2), 2, eta, cs=[0.5, 0.9]).from_weights(J, B, labels)
    speed_R, speed_Q = committee.unpack(committee.rhs(committee.pack(committee.R0, committee.Q0)))
    samples = 400_000
    xi = rng.standard_normal((samples, N)) * np.sqrt(spectrum.lam[labels])
    from scipy.special import erf

    x, y = xi @ J.T / sqrt(N), xi @ B.T / sqrt(N)
    delta = erf(y / sqrt(2)) @ committee.ct - erf(x / sqrt(2)) @ committee.cs
    pull = eta * committee.cs * delta[:, None] * np.sqrt(2 / pi) * np.exp(-x * x / 2)
    for k in range(L):
        block = xi[:, labels == k]
        with_teachers = block @ B[:, labels == k].T / sqrt(N)
        expected = pull.T @ with_teachers / samples * N / (N // L)
        np.testing.assert_allclose(speed_R[k], expected, atol=0.02)
        with_students = pull.T @ (block @ J[:, labels == k].T) / sqrt(N) / samples * L
        norms = (block**2).sum(axis=1) / N
        expected = with_students + with_students.T + (pull * norms[:, None]).T @ pull / samples * L
        np.testing.assert_allclose(speed_Q[k], expected, atol=0.02)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_all_methods_agree(K):
    times = np.array([0.0, 0.3, 3.0, 30.0])
    committee = drawn(L=3, K=K)
    reference = committee.integrate(times, 1e-10, 1e-12, "DOP853").eps_g
    for method in ("structured", "BDF", "LSODA"):
        found = committee.integrate(times, 1e-7, 1e-10, method)
        np.testing.assert_allclose(found.eps_g, reference, rtol=3e-5)
        assert found.stats.completed
        np.testing.assert_array_equal(found.alpha, times)


def test_the_integrator_has_order_four():
    committee = drawn(L=4)
    times = [5.0, 50.0]
    reference = committee.integrate(times, 1e-12, 1e-14, "DOP853").eps_g
    errors, steps = [], []
    for rtol in (1e-4, 1e-7):
        found = committee.integrate(times, rtol, rtol / 1e3)
        errors.append(np.abs(found.eps_g / reference - 1).max())
        steps.append(found.stats.steps)
    order = np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0])
    assert 3.3 < order < 5.5


def test_one_linear_unit_relaxes_as_known():
    """Isotropic linear student: the error decays at the rate 2 eta - eta^2."""
    committee = Committee(Spectrum.isotropic(), np.eye(1), 1, 0.5, act="linear")
    found = committee.starting_at(np.zeros((1, 1)), np.full((1, 1), 0.3)).integrate([0.0, 1.0, 4.0])
    np.testing.assert_allclose(found.eps_g, 0.65 * np.exp(-0.75 * found.alpha), rtol=1e-5)


def test_label_noise_leaves_a_floor():
    committee = Committee(Spectrum.isotropic(), np.eye(1), 1, 0.5, act="linear", sigma2=0.3)
    found = committee.starting_at(np.zeros((1, 1)), np.zeros((1, 1))).integrate([60.0])
    assert found.eps_g[0] == pytest.approx(0.05, rel=1e-5)


def test_overlaps_stay_overlaps_of_vectors():
    committee = drawn(L=16)
    found = committee.integrate(np.geomspace(0.1, 1e3, 13))
    assert found.least_gram_eigenvalue(committee.T) > -1e-5
    assert (found.eps_g > 0).all()


def test_renaming_students_renames_their_overlaps():
    committee = drawn(K=3)
    order = np.array([2, 0, 1])
    renamed = committee.starting_at(committee.R0[:, order], committee.Q0[:, order][:, :, order])
    plain, other = committee.integrate([2.0]), renamed.integrate([2.0])
    np.testing.assert_allclose(other.R, plain.R[:, :, order], rtol=1e-9)


def test_a_direction_without_variance_never_moves():
    spectrum = Spectrum([2.0, 0.0], [0.5, 0.5])
    committee = Committee(spectrum, np.eye(2), 2, 1.0)
    committee = committee.starting_at(np.zeros((2, 2)), 0.1 * np.eye(2))
    found = committee.integrate([50.0])
    np.testing.assert_array_equal(found.Q[0, 1], 0.1 * np.eye(2))
    assert np.abs(found.Q[0, 0] - 0.1 * np.eye(2)).max() > 0.1


def test_divergence_is_a_result():
    committee = Committee(Spectrum.isotropic(), np.eye(1), 1, 3.0, act="linear")
    start = committee.starting_at(np.zeros((1, 1)), np.eye(1))
    found = start.integrate([0.0, 1.0, 1e3])
    assert not found.stats.completed
    assert found.eps_g[-1] > found.eps_g[0]


def test_relu_learns_an_isotropic_teacher():
    committee = Committee(
        Spectrum.isotropic(), np.eye(1), 1, 1.0, act="relu", gradient_flow=True
    ).starting_at(np.full((1, 1), 0.1), np.full((1, 1), 0.2))
    assert committee.integrate([60.0]).eps_g[0] < 1e-8


# --- phases --------------------------------------------------------------------------------


@pytest.mark.parametrize("M", [2, 3, 5])
def test_the_plateau_of_the_gradient_flow_is_known(M):
    found = Committee(Spectrum.isotropic(), np.eye(M), M, 1.0, gradient_flow=True).plateau()
    assert pytest.approx(1 / sqrt(M * (2 * M - 1))) == found.R
    assert pytest.approx(found.C) == found.Q
    assert found.eps_g == pytest.approx(1 / 6 - M / pi * asin(1 / (2 * M)))


@pytest.mark.parametrize("eta", [0.1, 0.5, 1.0, 2.0])
def test_the_plateau_is_still_for_every_spectrum(eta):
    for L in (1, 4, 16):
        committee = Committee(Spectrum.power_law(L, 1.0), np.eye(2), 2, eta).at_plateau()
        speed = committee.rhs(committee.pack(committee.R0, committee.Q0))
        assert np.abs(speed / committee.spectrum.lam.repeat(7)).max() < 1e-11


def test_the_escape_rate_is_the_top_eigenvalue():
    for L, eta in ((1, 1.0), (4, 1.0), (3, 0.5)):
        committee = Committee(Spectrum.power_law(L, 1.0), np.eye(2), 2, eta).at_plateau()
        J = committee.jacobian(committee.pack(committee.R0, committee.Q0))
        top = np.linalg.eigvals(J).real.max()
        assert committee.escape_rate() == pytest.approx(top, rel=1e-6)


@pytest.mark.parametrize("M", [1, 2, 3, 4])
def test_perfect_learning_is_marginal_at_its_threshold(M):
    committee = Committee(Spectrum.power_law(3, 1.0), np.eye(M), M, 1.0)
    critical = committee.specialised_threshold()
    tops = []
    for eta in (0.999 * critical, 1.001 * critical):
        taught = Committee(committee.spectrum, np.eye(M), M, eta).starting_at(np.eye(M), np.eye(M))
        J = taught.jacobian(taught.pack(taught.R0, taught.Q0))
        tops.append(np.linalg.eigvals(J).real.max())
    assert tops[0] < 1e-9 < tops[1]


def test_the_threshold_of_one_unit_is_known():
    one = Committee(Spectrum.isotropic(), np.eye(1), 1, 1.0, cs=1.0, ct=1.0)
    assert one.specialised_threshold() == pytest.approx(pi * sqrt(5 / 3))
    assert specialised_matrices(1)[0][0, 0] == pytest.approx(2 / (pi * sqrt(3)))


# --- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eta": 0.0}, "eta"),
        ({"K": 0}, "K and the number"),
        ({"T": np.ones((2, 3))}, "square matrix"),
        ({"T": np.array([[1.0, 2.0], [2.0, 1.0]])}, "semidefinite"),
        ({"T": np.full((2, 2), np.nan)}, "NaN"),
        ({"cs": [1.0, 2.0, 3.0]}, "cs must"),
        ({"sigma2": -1.0}, "sigma2"),
        ({"act": "relu"}, "gradient_flow"),
        ({"act": "tanh"}, "act must"),
        ({"R0": np.eye(2)}, "together"),
        ({"R0": 2 * np.eye(2), "Q0": np.eye(2)}, "Gram matrix of R0"),
        ({"R0": np.ones((3, 2, 2)), "Q0": np.eye(2)}, "must have 1 blocks"),
        (
            {"act": "relu", "gradient_flow": True, "R0": 0 * np.eye(2), "Q0": 0 * np.eye(2)},
            "zero vector",
        ),
    ],
)
def test_errors_of_committees(change, message):
    legal = {"spectrum": Spectrum.isotropic(), "T": np.eye(2), "K": 2, "eta": 1.0}
    with pytest.raises(ValueError, match=message):
        Committee(**(legal | change))


@pytest.mark.parametrize(
    ("times", "options", "message"),
    [
        ([], {}, "non-empty"),
        ([1.0, 1.0], {}, "increase"),
        ([-1.0, 1.0], {}, "non-negative"),
        ([1.0], {"method": "Euler"}, "method must"),
        ([1.0], {"rtol": 0.0}, "tolerances"),
    ],
)
def test_errors_of_integrations(times, options, message):
    with pytest.raises(ValueError, match=message):
        drawn().integrate(times, **options)


def test_errors_of_starts_and_phases():
    committee = Committee(Spectrum.power_law(2, 1.0), np.eye(2), 2, 1.0)
    with pytest.raises(ValueError, match="no start"):
        committee.integrate([1.0])
    with pytest.raises(ValueError, match="fractions p"):
        committee.from_weights(np.ones((2, 3)), np.ones((2, 3)), [0, 0, 1])
    with pytest.raises(ValueError, match="shapes"):
        committee.from_weights(np.ones((3, 4)), np.ones((2, 4)), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="entries"):
        committee.rhs(np.ones(3))
    with pytest.raises(ValueError, match="T = I"):
        Committee(Spectrum.isotropic(), 2 * np.eye(2), 2, 1.0).plateau()
    with pytest.raises(ValueError, match="as many students"):
        Committee(Spectrum.isotropic(), np.eye(2), 3, 1.0).escape_rate()
    with pytest.raises(ValueError, match="at least 2"):
        Committee(Spectrum.isotropic(), np.eye(1), 1, 1.0).plateau()
    with pytest.raises(ValueError, match="mean 1"):
        Committee(Spectrum([2.0]), np.eye(2), 2, 1.0).plateau()
