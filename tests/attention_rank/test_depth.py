"""Votes: the formula against the network, limits, and solid angles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from theorylab.attention_rank import (
    TwoLayerVote,
    lower_bound,
    orthonormal_pair,
    pick_probabilities_3d,
    plurality,
    vote_mse,
)
from theorylab.attention_rank.depth import orthonormal_keys, vote_errors
from theorylab.attention_rank.targets import sphere
from theorylab.attention_rank.theory import vote_asymptote


def test_votes_of_the_dossier():
    found = [round(vote_mse(32, H), 4) for H in (255, 1023, 4095, 65_535)]
    assert found == [0.3165, 0.1686, 0.0858, 0.0216]
    assert vote_mse(16, 33) == pytest.approx(0.5102, abs=5e-5)
    assert [round(vote_mse(8, H), 3) for H in (5, 6)] == [0.662, 0.528]


@pytest.mark.parametrize(("d", "H"), [(8, 5), (8, 6), (20, 33)])
def test_the_formula_by_sampling_over_angles(d, H):
    rng = np.random.default_rng(0)
    t = np.abs(sphere(200_000, d, rng)[:, 0])
    chance = 0.5 + np.arcsin(t) / np.pi
    error = 2 * (binom.cdf((H - 1) // 2, H, chance))
    if H % 2 == 0:
        error = error + 0.5 * binom.pmf(H // 2, H, chance)
    assert vote_mse(d, H) == pytest.approx(error.mean(), abs=5 * error.std() / len(t) ** 0.5)


def test_the_network_errs_as_predicted():
    errors = vote_errors(8, 33, 8000, np.random.default_rng(1))
    assert errors.mean() == pytest.approx(vote_mse(8, 33), abs=5 * errors.std() / 8000**0.5)
    assert set(np.round(errors, 9)) <= {0.0, 2.0}


def test_attention_maps():
    vote = TwoLayerVote(6, 4, np.random.default_rng(2))
    pairs = orthonormal_pair(6, 500, np.random.default_rng(3))
    found = vote(pairs)
    assert found.picks.shape == (500, 4)
    assert np.array_equal(found.votes, 2 * found.picks.sum(axis=1) - 4)
    assert np.allclose(found.attention.sum(axis=1), 1)
    ties = found.votes == 0
    assert ties.any()
    assert np.allclose(found.outputs[ties], (pairs.x1 + pairs.x2)[ties] / 2)
    assert np.allclose(found.outputs[found.votes > 0], pairs.x1[found.votes > 0])


def test_without_positions_the_second_layer_is_blind():
    blind = vote_errors(8, 9, 50, np.random.default_rng(4), positions=(0.0, 0.0))
    assert np.allclose(blind, 0.5)


def test_separation_of_depths():
    assert vote_mse(32, 4095) < lower_bound(32, 1, 4096, "generalised").lo
    assert vote_mse(32, 255) > lower_bound(32, 1, 256, "generalised").hi
    assert vote_mse(32, 10**7) == pytest.approx(vote_asymptote(32, 10**7), rel=1e-3)


def test_vote_splitting():
    keys = np.array([[1, 0.5, 0.02], [1, 0.5, -0.02], [1, -0.7, 0]])
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    y = np.array([1.0, 0, 0])
    assert (keys @ y).round(3).tolist() == [0.894, 0.894, 0.819]
    found = pick_probabilities_3d(keys, y)
    directions = sphere(400_000, 3, np.random.default_rng(5))
    picks = (np.sign(directions @ y)[:, None] * (directions @ keys.T)).argmax(axis=1)
    shares = np.bincount(picks, minlength=3) / len(picks)
    assert np.abs(found - shares).max() < 5 * 0.5 / 400_000**0.5
    assert found[2] > found[0] + 0.2
    assert plurality(keys[None], y[None], directions[:5001]).tolist() == [2]


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_solid_angles_cover_the_sphere(seed, N):
    rng = np.random.default_rng(seed)
    found = pick_probabilities_3d(sphere(N, 3, rng), sphere(1, 3, rng)[0])
    assert (found >= -1e-12).all()
    assert found.sum() == pytest.approx(1, abs=1e-9)


def test_two_keys_are_picked_by_the_angle():
    """One direction agrees with the target with probability 1/2 + arcsin<w, y>/pi."""
    keys, y = np.eye(3)[:2], sphere(1, 3, np.random.default_rng(6))[0]
    t = (keys[0] - keys[1]) @ y / 2**0.5
    assert pick_probabilities_3d(keys, y)[0] == pytest.approx(0.5 + np.arcsin(t) / np.pi)


def test_orthonormal_keys_keep_their_order():
    rng = np.random.default_rng(7)
    for _ in range(100):
        keys, y = orthonormal_keys(1, 3, 3, rng)[0], sphere(1, 3, rng)[0]
        assert np.array_equal(np.argsort(pick_probabilities_3d(keys, y)), np.argsort(keys @ y))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vote_mse(8, 0), "H must be at least 1"),
        (lambda: TwoLayerVote(8, 3, np.random.default_rng(0), (1.0,)), "two numbers"),
        (
            lambda: TwoLayerVote(8, 3, np.random.default_rng(0))(
                orthonormal_pair(6, 2, np.random.default_rng(0))
            ),
            "inputs have dimension 6",
        ),
        (lambda: orthonormal_keys(1, 5, 4, np.random.default_rng(0)), "at most d=4"),
        (lambda: pick_probabilities_3d(np.eye(2), np.ones(2)), r"need keys \(N, 3\)"),
        (lambda: pick_probabilities_3d(np.ones((2, 3)), np.ones(3)), "distinct"),
        (lambda: plurality(np.ones((1, 2, 3)), np.ones((1, 2)), np.ones((4, 3))), "shapes"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
