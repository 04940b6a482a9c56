"""Bounds of linear heads: the dossier's numbers, fuzzing, attained instances, errors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.neural_collapse import (
    MLP,
    Schedule,
    digits,
    forward,
    head_certificates,
    large_lr_bounds,
    nc1,
    nc2,
    nc3,
    near_optimal_bounds,
    network_certificates,
    random_head,
    relu,
    train,
)
from theorylab.neural_collapse.heads import balanced_head, extreme_norm_head, leaking_head
from theorylab.neural_collapse.theory import (
    balanced_ntk_bound,
    imbalance_envelope,
    kappa_bound,
    nc1_bound,
    nc1_prior_bound,
    nc2_bound,
    nc3_bound,
    power_defect,
    stationary_nc1_bound,
)

UPPER = ("nc1", "nc1_posterior", "nc1_prior", "kappa", "kappa_prior", "nc2")


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_adversarial_head_breaks_a_bound(seed):
    head = random_head(np.random.default_rng(seed))
    found = head_certificates(head.Z_in, head.layers, head.labels)
    for name in UPPER:
        bound = getattr(found, name)
        assert bound.vacuous or bound.value <= bound.bound * (1 + 1e-8), name
    assert found.nc3.vacuous or found.nc3.slack >= -1e-8
    assert found.nc1.bound <= found.nc1_posterior.bound * (1 + 1e-8)
    assert found.nc1_posterior.bound <= found.nc1_prior.bound * (1 + 1e-8)


def test_values_are_those_of_the_metrics():
    head = random_head(np.random.default_rng(5))
    found = head_certificates(head.Z_in, head.layers, head.labels)
    H = head.Z_in
    for W in head.layers[:-1]:
        H = W @ H
    assert found.nc1.value == pytest.approx(nc1(H.T, head.labels), rel=1e-10)
    assert found.nc2.value == pytest.approx(nc2(H.T, head.labels), rel=1e-6)
    assert found.nc3.value == pytest.approx(nc3(H.T, head.labels, head.layers[-1]), rel=1e-10)
    kappa = np.linalg.cond(head.layers[-1])
    assert found.kappa.value == pytest.approx(kappa, rel=1e-10)


@pytest.fixture(scope="module")
def published_setting():
    images = digits(5)
    net = MLP((65, 24, 24, 24, 10), 1, relu())
    return images, train(net, images.X, images.Y, 0.03, Schedule(0.02, 13_333), seeds=[1]).final[0]


def test_the_reference_network_reproduces_the_reference_numbers(published_setting):
    """Seed 1 of the reference configuration; its numbers were computed with other code."""
    images, net = published_setting
    found = network_certificates(net, images.X, images.labels)
    assert found.eps2 == pytest.approx(1.25e-5, rel=0.01)
    assert found.eps1 == pytest.approx(0.278, abs=5e-4)
    assert found.kappa.value == pytest.approx(1.5122, abs=5e-5)
    assert found.kappa.bound == pytest.approx(1.5122, abs=5e-5)
    assert found.nc2.value == pytest.approx(1.535, abs=5e-4)
    assert found.nc2.bound == pytest.approx(2.094, abs=5e-4)
    assert found.nc3.value == pytest.approx(0.9816, abs=5e-5)
    assert found.nc3.bound == pytest.approx(0.8337, abs=5e-5)
    assert found.nearest_mean.value < found.nearest_mean.bound
    assert found.error_part + found.imbalance_part == pytest.approx(found.nc1.bound, rel=1e-8)


def test_an_interpolating_balanced_head_has_collapsed():
    rng = np.random.default_rng(0)
    layers = balanced_head(rng, 3, 5, 3, 2.0)
    labels = np.repeat(np.arange(3), 4)
    Z = np.linalg.pinv(np.linalg.multi_dot(layers[::-1])) @ np.eye(3)[:, labels]
    Z = Z + (np.eye(5) - np.linalg.pinv(layers[0]) @ layers[0]) @ rng.standard_normal((5, 12))
    found = head_certificates(Z, layers, labels)
    assert found.nc1.value < 1e-25
    assert found.nc1.bound < 1e-12
    kappa = found.kappa.value
    product = np.linalg.svd(np.linalg.multi_dot(layers[::-1]), compute_uv=False)
    assert kappa == pytest.approx((product[0] / product[2]) ** (1 / 3), rel=1e-9)
    assert found.kappa.bound == pytest.approx(kappa, rel=1e-6)
    assert found.nc3.value >= 2 * kappa / (kappa**2 + 1)


def test_a_head_that_leaks_is_charged_for_its_imbalance():
    head = leaking_head(np.random.default_rng(0))
    found = head_certificates(head.Z_in, head.layers, head.labels)
    assert found.eps1 == 0
    assert 0 < found.nc1.value <= found.nc1.bound
    assert found.error_part == 0


@pytest.mark.parametrize("s", [2, 8, 20])
def test_the_fourth_power_of_r_is_attained(s):
    head = extreme_norm_head(s, 1e-6)
    found = head_certificates(head.Z_in, head.layers, head.labels)
    assert found.nc1.value == pytest.approx(2e-12, rel=1e-8)
    assert found.nc1_prior.bound == pytest.approx(found.nc1.value, rel=1e-4)
    with pytest.raises(ValueError, match="even"):
        extreme_norm_head(3, 0.1)


def test_vacuous_bounds_are_infinite_or_negative_never_nan():
    layers = (np.eye(2), np.array([[1.0, 0.0], [1.0, 0.0]]))
    found = head_certificates(np.ones((2, 2)) + np.eye(2), layers, [0, 1])
    assert found.nc1.bound == found.nc2.bound == found.kappa.bound == math.inf
    assert found.nc3.bound == -math.inf
    assert found.nc1.vacuous
    assert found.nc3.vacuous
    assert kappa_bound(1.0, 0.5, 0.25, 0.25) == math.inf
    assert nc1_bound(1, 1, 0.1, 0, 2, 1) == math.inf
    assert nc1_prior_bound(1, 5.0, 0, 2, 8, 2) == math.inf
    assert nc2_bound(1.5, 1, 10, 4, 2) == math.inf
    assert stationary_nc1_bound(1, 5, 4, 2) == math.inf


def test_formulas_by_hand():
    # W scalar 2 after scalar 1: D = 4 - 1 = 3; s(W)^4 = 16 and s(Pi)^2 = 4 differ by 12.
    assert power_defect([1.0, 2.0], [2.0], [3.0]) == pytest.approx(12)
    assert kappa_bound(4.0, 1.0, 0.0, 1 / 4) == pytest.approx(2)
    assert nc2_bound(2.0, 1.0, 0.0, 8, 2) == 2
    assert nc2_bound(2.0, 1.0, 1.0, 8, 2) == pytest.approx(2.5 / 0.5)
    assert nc3_bound(2.0, 1.0, 0.0, 0.0, 4) == pytest.approx(4 / 5)
    assert balanced_ntk_bound(1.0, 2.0, 6.0, 3) == pytest.approx(27)
    assert balanced_ntk_bound(2.0, 1.0, 1.0, 3) == pytest.approx(1 + 4 + 16)
    assert imbalance_envelope(2.0, 1.0, 0.5, [4.0, 0.0]) == [2.0, 1.5, 0.375]
    assert stationary_nc1_bound(2.0, 1.0, 8, 2) == pytest.approx(4)


def test_near_optimal_bounds_of_the_reference_setting():
    # c = 10.138 and the prior bound at every depth were computed with other code.
    c = float((1 / np.linspace(0.7, 1.3, 9) ** 2).sum())
    assert c == pytest.approx(10.14, abs=5e-3)
    priors = {1: 78.7, 2: 8.86, 3: 4.28, 4: 2.98, 6: 2.07, 8: 1.73, 12: 1.44}
    for L2, prior in priors.items():
        found = near_optimal_bounds(c, 3, 1, L2, 1.3, 1.7, math.sqrt(3), 0.03, 5.0)
        assert found.prior == pytest.approx(prior, rel=0.05)
        assert found.direct <= found.posterior
    with pytest.raises(ValueError, match="eps1"):
        near_optimal_bounds(c, 3, 1, 2, 1.3, 1.7, 1.0, 2.0, 5.0)
    with pytest.raises(ValueError, match="positive"):
        near_optimal_bounds(c, 3, 1, 0, 1.3, 1.7, 1.0, 0.0, 5.0)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_head_breaks_the_kernel_bounds(seed):
    head = random_head(np.random.default_rng(seed))
    found = large_lr_bounds(head.Z_in, head.layers, head.labels)
    for tail in found.tails:
        assert tail.vacuous or tail.value <= tail.bound * (1 + 1e-8)


@pytest.mark.parametrize(
    ("Z", "layers", "labels", "message"),
    [
        (np.eye(2), [np.eye(2)], [0, 1], "two linear layers"),
        (np.eye(2), [np.eye(2), np.eye(2)], [0, 0], "equal classes"),
        (np.eye(2), [np.eye(2), np.eye(2)], [0, 1, 1], "shape"),
        (np.full((2, 2), np.nan), [np.eye(2), np.eye(2)], [0, 1], "NaN"),
        (np.eye(2), [np.eye(2), np.eye(2)], [0.0, 1.0], "integers"),
        (np.ones((1, 1)), [np.eye(1), np.eye(1)], [0], "K >= 2"),
        (np.zeros((2, 2)), [np.eye(2), np.eye(2)], [0, 1], "zero"),
    ],
)
def test_invalid_heads_are_refused(Z, layers, labels, message):
    with pytest.raises(ValueError, match=message):
        head_certificates(Z, layers, labels)


def test_invalid_heads_are_refused_by_the_kernel_bounds():
    with pytest.raises(ValueError, match="two linear layers"):
        large_lr_bounds(np.eye(2), [np.eye(2)], [0, 1])
    with pytest.raises(ValueError, match="shape"):
        large_lr_bounds(np.eye(2), [np.eye(2), np.eye(2)], [0, 1, 1])


def test_features_of_a_network_reach_its_certificates(published_setting):
    images, net = published_setting
    H = forward(net, images.X).features[-2]
    found = network_certificates(net, images.X, images.labels)
    assert found.nc1.value == pytest.approx(nc1(H.T, images.labels), rel=1e-9)
