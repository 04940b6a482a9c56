"""The kernels against quadrature, against special cases known by hand, and their errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf

from theorylab.gaussian import fourth_moment, kernels


def gram(seed: int, fields: int = 3, dimension: int = 5) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((fields, dimension))
    return vectors @ vectors.T / dimension


def gauss(C: np.ndarray, nodes: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Points (fields, n) and weights of the tensor Gauss-Hermite rule for N(0, C)."""
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    weight = weight / weight.sum()
    grids = np.meshgrid(*[x] * len(C), indexing="ij")
    weights = np.prod(np.meshgrid(*[weight] * len(C), indexing="ij"), axis=0)
    return np.linalg.cholesky(C) @ np.stack([grid.ravel() for grid in grids]), weights.ravel()


def slope(z: np.ndarray) -> np.ndarray:
    return np.sqrt(2 / np.pi) * np.exp(-z * z / 2)


@pytest.mark.parametrize("seed", range(4))
def test_erf_kernels_equal_quadrature(seed):
    C = gram(seed)
    z, weight = gauss(C)
    g = erf(z / np.sqrt(2))
    found = kernels(C, 1)
    np.testing.assert_allclose(found.I2, (g * weight) @ g.T, atol=2e-6)
    np.testing.assert_allclose(found.G, (slope(z) * weight) @ slope(z).T, atol=2e-6)
    np.testing.assert_allclose(found.H, (-z * slope(z) * weight) @ g.T, atol=2e-6)


@pytest.mark.parametrize("act", ["erf", "linear"])
def test_fourth_moment_equals_quadrature(act):
    C, w = gram(7), np.array([-0.7, -1.1, 0.9])
    z, weight = gauss(C)
    g = erf(z / np.sqrt(2)) if act == "erf" else z
    steps = w[:2, None] * (slope(z[:2]) if act == "erf" else np.ones_like(z[:2]))
    expected = (steps * weight * ((w @ g) ** 2 + 0.3)) @ steps.T
    np.testing.assert_allclose(fourth_moment(C, 2, w, act, sigma2=0.3), expected, rtol=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_relu_kernels_equal_the_integral_over_the_angle(seed):
    u = np.random.default_rng(seed).standard_normal((2, 2))
    phi = (np.arange(400_000) + 0.5) * 2 * np.pi / 400_000
    z = np.maximum(u @ np.stack([np.cos(phi), np.sin(phi)]), 0)
    found = kernels(u @ u.T, 2, "relu")
    np.testing.assert_allclose(found.I2, 2 * z @ z.T / len(phi), atol=1e-9)
    np.testing.assert_allclose(found.G, 1.0 * (z > 0) @ (z > 0).T / len(phi), atol=1e-5)
    density = 1 / np.sqrt(2 * np.pi * u[0] @ u[0])
    orthogonal = np.abs(u[0, 0] * u[1, 1] - u[0, 1] * u[1, 0]) / np.linalg.norm(u[0])
    assert found.H[0, 1] == pytest.approx(density * orthogonal / np.sqrt(2 * np.pi))


def test_antiparallel_relu_fields_share_nothing():
    found = kernels([[1.0, -1.0], [-1.0, 1.0]], 1, "relu")
    assert found.I2[0, 1] == pytest.approx(0, abs=1e-15)
    assert found.I2[0, 0] == 0.5
    assert found.G[0, 1] == 0


def test_equal_fields_of_huge_variance():
    found = kernels(np.full((2, 2), 1e6), 1)
    np.testing.assert_allclose(found.G, 2 / np.pi / np.sqrt(1 + 2e6), rtol=1e-14)
    np.testing.assert_allclose(found.I2, 1 - 2 / np.pi * np.arcsin(np.sqrt(2e6 + 1) / (1e6 + 1)))


def test_a_field_of_variance_zero_is_zero():
    C = np.diag([0.5, 0.0])
    found = kernels(C, 2)
    assert found.I2[0, 1] == found.I2[1, 1] == found.H[1, 0] == 0
    assert found.G[1, 1] == pytest.approx(2 / np.pi)


def test_stacks_are_computed_one_by_one():
    stack = np.stack([[gram(1), gram(2)], [gram(3), gram(4)]])
    w = np.array([-1.0, 0.5, 2.0])
    for act in ("erf", "relu", "linear"):
        np.testing.assert_array_equal(kernels(stack, 2, act).H[1, 0], kernels(gram(3), 2, act).H)
    np.testing.assert_array_equal(fourth_moment(stack, 1, w)[0, 1], fourth_moment(gram(2), 1, w))


@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_renaming_the_fields_renames_the_kernels(seed, order):
    C = gram(seed, fields=4)
    order = np.array(order)
    for act in ("erf", "relu"):
        renamed, plain = kernels(C[np.ix_(order, order)], 1, act), kernels(C, 1, act)
        for one, other in zip(renamed, plain, strict=True):
            np.testing.assert_allclose(one, other[np.ix_(order, order)], rtol=1e-10, atol=1e-13)


@given(st.integers(0, 10_000))
def test_the_fourth_moment_is_a_covariance(seed):
    rng = np.random.default_rng(seed)
    V = fourth_moment(gram(seed, fields=5), 3, rng.standard_normal(5))
    assert np.linalg.eigvalsh(V)[0] >= -1e-13 * np.abs(V).max()


def test_a_student_on_its_teacher_makes_no_noise():
    assert fourth_moment(np.full((2, 2), 0.7), 1, [-1.0, 1.0]) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("C", "K", "act", "message"),
    [
        (np.eye(2), 1, "tanh", "act must be one of"),
        (np.ones((2, 3)), 1, "erf", "square"),
        (np.empty((0, 0)), 1, "erf", "non-empty"),
        ([[np.nan]], 1, "erf", "NaN"),
        (np.eye(2), 3, "erf", "K must lie"),
        ([[1.0, 0.5], [0.2, 1.0]], 1, "erf", "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], 1, "erf", "semidefinite"),
        (np.diag([0.0, 1.0]), 1, "relu", "variance 0"),
    ],
)
def test_errors_of_kernels(C, K, act, message):
    with pytest.raises(ValueError, match=message):
        kernels(C, K, act)


@pytest.mark.parametrize(
    ("w", "act", "sigma2", "message"),
    [
        ([1.0, 1.0], "relu", 0.0, "gradient flow"),
        ([1.0], "erf", 0.0, "2 finite weights"),
        ([1.0, np.inf], "erf", 0.0, "finite weights"),
        ([1.0, 1.0], "erf", -1.0, "sigma2"),
    ],
)
def test_errors_of_the_fourth_moment(w, act, sigma2, message):
    with pytest.raises(ValueError, match=message):
        fourth_moment(np.eye(2), 1, w, act, sigma2)
