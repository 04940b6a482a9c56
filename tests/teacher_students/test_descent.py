"""Descents against their own definition, each other, and what they must conserve."""

from __future__ import annotations

import numpy as np
import pytest

from theorylab.teacher_students import (
    contraction,
    descend,
    descend_on,
    descend_on_samples,
    draw_starts,
    grouping,
    orthonormal_teachers,
    population_gradient,
    record_steps,
    relu_loss,
    smooth_pair,
    split_pair,
    square_excess,
    whitened_digits,
)

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("act", "cs"), [("relu", None), ("erf", [0.5, 0.5]), ("linear", [1.0, 2.0])]
)
def test_a_step_is_a_step_of_the_gradient(act, cs):
    W, V = RNG.standard_normal((4, 2, 3)), RNG.standard_normal((2, 3))
    found = descend(W, V, 0.1, [0, 1], act, cs)
    assert np.array_equal(found.W[:, 0], W)
    expected = W - 0.1 * population_gradient(W, V, act, cs)
    assert np.allclose(found.W[:, 1], expected, atol=1e-12)


def test_starts_do_not_see_each_other():
    W, V = RNG.standard_normal((3, 2, 4)), np.eye(2, 4)
    together = descend(W, V, 0.2, [50]).W
    alone = np.concatenate([descend(w[None], V, 0.2, [50]).W for w in W])
    assert np.array_equal(together, alone)


def test_tensors_walk_the_same_way():
    W, V = draw_starts(RNG, np.eye(2, 5), 4, 3, 0.1, 2.0), np.eye(2, 5)
    steps = [0, 1, 10, 300]
    ours, tensors = descend(W, V, 0.2, steps), descend_on(W, V, 0.2, steps)
    assert np.allclose(ours.W, tensors.W, atol=1e-9)


def test_rotations_commute_with_descent():
    W, V = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((2, 4))
    turn = np.linalg.qr(RNG.standard_normal((4, 4)))[0]
    straight = descend(W, V, 0.1, [40]).W @ turn
    turned = descend(W @ turn, V @ turn, 0.1, [40]).W
    assert np.allclose(straight, turned, atol=1e-9)


def test_scale_of_teachers_and_students_factors_out():
    W, V = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((2, 4))
    assert np.allclose(descend(3 * W, 3 * V, 0.1, [40]).W, 3 * descend(W, V, 0.1, [40]).W)


def test_loss_never_rises():
    V = orthonormal_teachers(2, 6)
    found = descend(draw_starts(RNG, V, 5, 4, 0.5), V, 0.1, np.arange(300))
    assert (np.diff(relu_loss(found.W, V), axis=1) <= 1e-15).all()


def test_one_student_contracts_at_the_predicted_rate():
    V = orthonormal_teachers(1, 3)
    found = descend(np.array([[[0.9, 0.05, 0.0]]]), V, 0.2, [100, 101])
    gaps = np.linalg.norm(found.W[0, :, 0] - V[0], axis=1)
    assert gaps[1] / gaps[0] == pytest.approx(contraction(V, 0.2), rel=1e-3)


def test_mirror_images_stay_mirror_images():
    for start, act, cs in (
        (split_pair(0.3)[0], "relu", None),
        (smooth_pair(0.3)[0], "erf", [1, 1]),
    ):
        last = descend(start[None], np.array([[1.0, 0.0]]), 0.2, [500], act, cs).W[0, 0]
        assert np.allclose(last[0], last[1] * [1, -1], atol=1e-12)


def test_grouping_of_a_hand_made_network():
    V = np.eye(2, 3)
    W = np.array([[0.6, 0, 0], [0, 1.0, 0.1], [0.4, 0, 0.3]])
    found = grouping(W, V)
    assert found.nearest.tolist() == [0, 1, 0]
    assert found.sizes.tolist() == [2, 1]
    assert np.allclose(found.deviation, [0, 0.1, 0.3])
    assert np.allclose(found.sums, [1.1, np.hypot(1, 0.1)])
    assert found.imbalance == pytest.approx(0.6 / 0.5)


def test_teacher_without_students_counts_zero():
    found = grouping(np.array([[1.0, 0.1]]), np.eye(2))
    assert found.sizes.tolist() == [1, 0]
    assert found.imbalance == 1.0


def test_equal_shares_have_no_excess_of_squares():
    V = np.array([[2.0, 0.0]])
    assert square_excess(np.array([[1.0, 0], [1.0, 0]]), V) == pytest.approx(0)
    assert square_excess(np.array([[1.5, 0], [0.5, 0]]), V) == pytest.approx(0.25)


def test_descent_on_samples_is_the_gradient_of_their_loss():
    X, W, V = RNG.standard_normal((30, 3)), RNG.standard_normal((2, 3)), np.eye(1, 3)
    found = descend_on_samples(X, W, V, 0.1, [0, 1])
    gap = np.maximum(X @ W.T, 0).sum(1) - np.maximum(X @ V.T, 0).sum(1)
    slope = (gap[:, None] * (X @ W.T > 0)).T @ X / len(X)
    assert np.allclose(found.W[1], W - 0.1 * slope)
    assert found.losses[0] == pytest.approx(0.5 * (gap**2).mean())
    seen = (X @ W.T > 0) != (X @ V.T > 0)
    assert found.disputed[0] == seen.any(axis=1).sum()


def test_many_samples_give_the_population():
    W, V = RNG.standard_normal((2, 3)), np.eye(1, 3)
    X = np.random.default_rng(0).standard_normal((200_000, 3))
    many = descend_on_samples(X, W, V, 0.2, [10]).W[0]
    assert np.allclose(many, descend(W[None], V, 0.2, [10]).W[0, 0], atol=0.02)


def test_digits_are_white():
    X = whitened_digits(7)
    assert X.shape == (1797, 7)
    assert np.allclose(X.T @ X / len(X), np.eye(7))
    assert np.allclose(X.mean(axis=0), 0)


def test_steps_and_teachers():
    steps = record_steps(1000, 4)
    assert steps.tolist() == [0, 1, 10, 100, 1000]
    assert np.array_equal(orthonormal_teachers(2, 3), np.eye(2, 3))


V2 = np.eye(1, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: record_steps(0, 3), "last"),
        (lambda: orthonormal_teachers(3, 2), "k <= d"),
        (lambda: draw_starts(RNG, V2, 0, 1, 0.1), "m >= 1"),
        (lambda: draw_starts(RNG, V2, 1, 1, 0.0), "size"),
        (lambda: descend(np.ones((2, 2)), V2, 0.1, [1]), "starts, m, d"),
        (lambda: descend(np.ones((1, 2, 3)), V2, 0.1, [1]), "starts, m, d"),
        (lambda: descend(np.ones((1, 1, 2)), V2, -0.1, [1]), "eta"),
        (lambda: descend(np.ones((1, 1, 2)), V2, 0.1, []), "record"),
        (lambda: descend(np.ones((1, 1, 2)), V2, 0.1, [2, 1]), "record"),
        (lambda: descend(np.zeros((1, 1, 2)), V2, 0.1, [1]), "zero"),
        (lambda: descend(np.full((1, 1, 2), np.inf), V2, 0.1, [1]), "infinite"),
        (lambda: descend_on_samples(np.ones((3, 3)), np.ones((1, 2)), V2, 0.1, [1]), "dimension"),
        (lambda: descend_on_samples(np.ones((3, 2)), np.ones((1, 2)), V2, 0.0, [1]), "eta"),
        (lambda: whitened_digits(64), "components"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
