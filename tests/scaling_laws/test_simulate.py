"""The simulators against each other, against one step by hand, and their errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from theorylab.committee import Committee, Spectrum
from theorylab.scaling_laws import digits, patches, simulate_exact_reduced, simulate_sgd
from theorylab.scaling_laws.claims.kernels import _fourth
from theorylab.scaling_laws.enclosures import erf_fourth, erf_i2, relu_i2
from theorylab.scaling_laws.hierarchy import moment_error

N, L = 64, 4
LAM = np.repeat(Spectrum.power_law(L, 1.0).lam, N // L)


def weights() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return 0.5 * rng.standard_normal((2, N)), rng.standard_normal((2, N))


def grams(J: np.ndarray, B: np.ndarray) -> np.ndarray:
    W, labels = np.concatenate([J, B]), np.repeat(np.arange(L), N // L)
    return np.stack([W[:, labels == k] @ W[:, labels == k].T for k in range(L)])


def test_the_start_is_recorded_exactly():
    J, B = weights()
    found = simulate_sgd(J, B, LAM, 0.5, 0, [0], seeds=[1, 2])
    committee = Committee(Spectrum.power_law(L, 1.0), np.eye(2), 2, 0.5)
    started = committee.from_weights(J, B, np.repeat(np.arange(L), N // L))
    expected = started.integrate([0.0]).eps_g[0]
    np.testing.assert_allclose(found.eps_g[:, 0], expected)


@pytest.mark.parametrize("act", ["erf", "relu", "linear"])
def test_one_step_by_hand(act):
    J, B = weights()
    xi = np.random.default_rng(0).standard_normal((1, N)) * np.sqrt(LAM)
    found = simulate_sgd(J, B, LAM, 0.5, 1, [1], act, seeds=[0], inputs=xi)
    from scipy.special import erf

    unit, slope = {
        "erf": (lambda x: erf(x / np.sqrt(2)), lambda x: np.sqrt(2 / np.pi) * np.exp(-x * x / 2)),
        "relu": (lambda x: np.maximum(x, 0), lambda x: 1.0 * (x > 0)),
        "linear": (lambda x: x, np.ones_like),
    }[act]
    x, y, c = J @ xi[0] / np.sqrt(N), B @ xi[0] / np.sqrt(N), 1 / np.sqrt(2)
    delta = c * unit(y).sum() - c * unit(x).sum()
    moved = J + 0.5 * c * delta * (slope(x) * np.ones(2))[:, None] * xi / np.sqrt(N)
    W = np.concatenate([moved, B])
    np.testing.assert_allclose(found.covariance[0, 0], (W * LAM) @ W.T / N, rtol=1e-12)


@pytest.mark.parametrize("other", ["reduced", "torch"])
def test_the_laws_of_the_simulators_agree(other):
    J, B = weights()
    marks, runs = [N, 3 * N], 400
    direct = simulate_sgd(J, B, LAM, 0.5, 3 * N, marks, seeds=range(runs)).eps_g
    if other == "reduced":
        start = grams(J, B)
        lam = Spectrum.power_law(L, 1.0).lam
        found = simulate_exact_reduced(
            start, [N // L] * L, lam, 0.5, 3 * N, marks, range(1000, 1000 + runs)
        ).eps_g
    else:
        found = simulate_sgd(J, B, LAM, 0.5, 3 * N, marks, seeds=range(runs), backend="torch").eps_g
    for t in range(2):
        assert stats.ks_2samp(direct[:, t], found[:, t]).pvalue > 1e-5


def test_runs_depend_on_their_own_seed_only():
    J, B = weights()
    pair = simulate_sgd(J, B, LAM, 0.5, N, [N], seeds=[5, 6]).eps_g
    alone = simulate_sgd(J, B, LAM, 0.5, N, [N], seeds=[6]).eps_g
    np.testing.assert_allclose(pair[1], alone[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eta": 0.0}, "eta"),
        ({"steps": -1}, "steps"),
        ({"record": [3, 2]}, "increasing"),
        ({"record": [20]}, "between 0 and"),
        ({"backend": "jax"}, "backend"),
        ({"lam": -LAM}, "non-negative"),
        ({"lam": LAM[:-1]}, "must end"),
        ({"inputs": np.ones((3, 5))}, "columns"),
    ],
)
def test_errors_of_descent(change, message):
    J, B = weights()
    legal = {"J": J, "B": B, "lam": LAM, "eta": 0.5, "steps": 10, "record": [10]}
    with pytest.raises(ValueError, match=message):
        simulate_sgd(**(legal | change))


@pytest.mark.parametrize(
    ("start", "mult", "message"),
    [
        (np.eye(2), [5], "shape"),
        (np.eye(2)[None], [1], "at least 2"),
        (np.eye(2)[None], [5, 5], "entries"),
        (np.array([[[1.0, 2.0], [2.0, 1.0]]]), [5], "semidefinite"),
    ],
)
def test_errors_of_the_reduced_simulator(start, mult, message):
    with pytest.raises(ValueError, match=message):
        simulate_exact_reduced(start, mult, [1.0], 0.5, 1, [1])


def test_enclosures_hold_known_values():
    assert relu_i2(np.ones((2, 2)), 0, 1).contains(0.5)
    ball = erf_i2(np.ones((1, 1)), 0, 0)
    assert abs(float(ball.mid()) - 2 / np.pi * np.arcsin(0.5)) < 1e-15
    C = np.array(
        [[1.0, 0.2, 0.1, 0.0], [0.2, 0.8, 0.3, 0.1], [0.1, 0.3, 1.2, 0.5], [0, 0.1, 0.5, 1]]
    )
    rng = np.random.default_rng(1)
    z = rng.multivariate_normal(np.zeros(4), C, 200_000)
    from scipy.special import erf

    g, slope = erf(z / np.sqrt(2)), np.sqrt(2 / np.pi) * np.exp(-z * z / 2)
    for i, j, a, b in [(0, 1, 2, 3), (0, 0, 0, 1)]:
        sample = slope[:, i] * slope[:, j] * g[:, a] * g[:, b]
        ball = erf_fourth(C, i, j, a, b)
        assert abs(sample.mean() - float(ball.mid())) < 5 * stats.sem(sample)
        assert _fourth(C, (i, j, a, b)) == pytest.approx(float(ball.mid()), abs=1e-13)


def test_moments_and_blocks_agree():
    committee = Committee(Spectrum.power_law(3, 0.7), np.eye(2), 2, 0.8).starting_at(
        [[0.2, 0.1], [0.0, 0.3]], 0.4 * np.eye(2)
    )
    alpha = np.linspace(0, 8, 5)
    blocks = committee.integrate(alpha, 1e-9, 1e-12).eps_g
    np.testing.assert_allclose(moment_error(committee, alpha), blocks, rtol=1e-6)


def test_real_inputs_lie_along_their_axes():
    for inputs in (digits(), patches("china")):
        second = inputs.X.T @ inputs.X / len(inputs.X)
        np.testing.assert_allclose(second, np.diag(inputs.lam), atol=1e-8)
        assert inputs.lam.mean() == pytest.approx(1)
        assert (np.diff(inputs.lam) <= 1e-12).all()
    assert digits().lam.size == 61
    assert patches("flower").lam.size == 143
    assert patches("flower").kurtosis == pytest.approx(8.3, abs=0.1)
    with pytest.raises(ValueError, match="photograph"):
        patches("cat")
