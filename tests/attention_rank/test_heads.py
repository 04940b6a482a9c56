"""Heads, closed forms, targets: exact errors against sampling and against each other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.attention_rank import (
    RankOneHeads,
    biased_heads,
    block_budget,
    head_target,
    hobby_rice,
    lower_bound,
    nearest,
    optimal_mse_by_gradients,
    orthonormal_pair,
    projector_correlation,
    rational_sphere_point,
    soft_fallback,
    softmax_mse,
    tied_floor,
)
from theorylab.attention_rank.heads import (
    independent_heads,
    squared_errors,
    tied_heads,
    tilted_heads,
)
from theorylab.attention_rank.targets import attended, closest
from theorylab.attention_rank.theory import fallback_mse, projector_mse, softmax_asymptote


def rng(seed=0):
    return np.random.default_rng(seed)


def five_errors(values):
    return 5 * values.std() / len(values) ** 0.5


# --- the nearest key --------------------------------------------------------------------------


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=6))
def test_rational_points_lie_on_the_sphere(u):
    point = rational_sphere_point(u)
    assert sum(v * v for v in point) == 1
    assert len(point) == len(u) + 1


def test_nearest_keys_and_ties():
    a, b, c = (rational_sphere_point(u) for u in ([1, 2], [-1, 2], [3, 0]))
    y = rational_sphere_point([0, 1])
    assert nearest([a, b, c], y, exact=True) == [0, 1]
    assert nearest([a, a, a], y, exact=True) == [0, 1, 2]
    assert nearest([c], y, exact=True) == [0]
    assert nearest(np.eye(3), [0.1, 0.9, 0.0]) == [1]


@given(
    st.lists(st.lists(st.integers(-4, 4), min_size=2, max_size=2), min_size=1, max_size=8),
    st.lists(st.integers(-4, 4), min_size=2, max_size=2),
)
def test_largest_inner_product_is_least_distance_on_the_sphere(rows, query):
    keys, y = [rational_sphere_point(u) for u in rows], rational_sphere_point(query)
    assert attended(keys, y) == closest(keys, y) == nearest(keys, y, exact=True)


def test_unequal_norms_mislead():
    far = [Fraction(3), Fraction(3)]
    near = [Fraction(1), Fraction(0)]
    y = [Fraction(1), Fraction(0)]
    assert attended([near, far], y) == [1]
    assert closest([near, far], y) == [0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nearest([[0.6, 0.8]], [1, 0], exact=True), TypeError, "pass exact=False"),
        (lambda: nearest([[True, 0]], [1, 0], exact=True), TypeError, "got True"),
        (lambda: nearest([], [1, 0], exact=True), ValueError, "X is empty"),
        (lambda: nearest(np.empty((0, 2)), [1.0, 0]), ValueError, "X is empty"),
        (lambda: nearest([[1, 0], [2, 0]], [1, 0], exact=True), ValueError, "unequal norms"),
        (lambda: nearest([[1.0, 0], [2.0, 0]], [1, 0]), ValueError, "normalise"),
        (lambda: nearest([[1, 0, 0]], [1, 0], exact=True), ValueError, "2 coordinates"),
        (lambda: nearest([[1.0, 0, 0]], [1, 0]), ValueError, "shape"),
        (lambda: nearest([[np.nan, 0]], [1, 0]), ValueError, "NaN"),
        (lambda: rational_sphere_point([]), ValueError, "u is empty"),
        (lambda: rational_sphere_point([0.5]), TypeError, "integer"),
        (lambda: orthonormal_pair(1, 3, rng()), ValueError, "d must be at least 2"),
    ],
)
def test_wrong_keys(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_orthonormal_pairs():
    pairs = orthonormal_pair(5, 1000, rng())
    assert np.abs((pairs.x1 * pairs.x2).sum(axis=1)).max() < 1e-12
    for side in (pairs.x1, pairs.x2, pairs.y, pairs.w):
        assert np.allclose((side**2).sum(axis=1), 1)
    closer = np.linalg.norm(pairs.target - pairs.y, axis=1)
    assert (closer <= np.linalg.norm(pairs.x1 - pairs.y, axis=1) + 1e-12).all()
    assert (closer <= np.linalg.norm(pairs.x2 - pairs.y, axis=1) + 1e-12).all()


# --- exact errors -----------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [tilted_heads, independent_heads, tied_heads])
def test_gram_and_target_are_sampled_correlations(draw):
    heads = draw(4, 5, rng(1))
    w, y = rng(2).standard_normal((2, 300_000, 4))
    t = np.sign(y @ heads.Q.T) * np.sign(w @ heads.K.T)
    tolerance = 5 / 300_000**0.5
    assert np.abs(heads.gram() - t.T @ t / len(t)).max() < tolerance
    sign = np.sign((w * y).sum(axis=1))
    assert np.abs(heads.target() - sign @ t / len(t)).max() < tolerance
    assert np.allclose(np.diag(heads.gram()), 1)


def test_optimal_values_beat_all_others():
    heads = tilted_heads(6, 30, rng(3))
    values, mse, condition = heads.optimal_values()
    assert mse == pytest.approx(heads.mse(values), abs=1e-10)
    assert condition > 1
    for seed in range(20):
        assert heads.mse(values + 0.01 * rng(seed).standard_normal(30)) > mse
    assert heads.optimal_values(ridge=0.1).mse > mse
    assert heads.optimal_values(ridge=1e-9).mse == pytest.approx(mse, abs=1e-6)


def test_the_stated_error_is_the_sampled_one():
    heads = tilted_heads(8, 40, rng(4))
    found = heads.optimal_values()
    pairs = orthonormal_pair(8, 100_000, rng(5))
    errors = squared_errors(heads.outputs(pairs, found.values), pairs.target)
    assert errors.mean() == pytest.approx(found.mse, abs=five_errors(errors))


def test_blocks_of_the_gram_matrix_fit_together():
    heads = tilted_heads(3, 700, rng(6))
    direct = np.arcsin(np.clip(heads.Q @ heads.Q.T, -1, 1))
    direct *= np.arcsin(np.clip(heads.K @ heads.K.T, -1, 1)) * 4 / np.pi**2
    assert np.allclose(heads.gram(), direct, atol=1e-7)


def test_conjugate_gradients_agree_with_cholesky():
    heads = tilted_heads(8, 200, rng(7))
    assert optimal_mse_by_gradients(heads, tile=64) == pytest.approx(
        heads.optimal_values().mse, abs=1e-8
    )


def test_repeated_and_antipodal_heads_change_nothing():
    heads = tilted_heads(5, 12, rng(8))
    twice = RankOneHeads(
        np.vstack([heads.Q, heads.Q, -heads.Q]), np.vstack([heads.K] * 2 + [-heads.K])
    )
    found = twice.optimal_values()
    assert found.cutoff > 0
    assert found.mse == pytest.approx(heads.optimal_values().mse, abs=1e-8)


def test_flipping_one_side_flips_the_head():
    heads = tilted_heads(5, 1, rng(9))
    flipped = RankOneHeads(-heads.Q, heads.K)
    assert flipped.target() == pytest.approx(-heads.target())


def test_random_features_reach_the_means_of_the_dossier():
    """Mean and spread of five draws at H = 1024, within four standard errors of five."""
    for d, mean, spread in ((8, 0.1753, 0.0003), (64, 0.2792, 0.0007)):
        found = [tilted_heads(d, 1024, rng(10 + i)).optimal_values().mse for i in range(3)]
        assert np.mean(found) == pytest.approx(mean, abs=4 * spread * (1 / 5 + 1 / 3) ** 0.5 + 2e-3)


def test_no_random_layer_is_below_the_bound():
    for d in (4, 8, 16):
        for H in (1, 3, 10, 100):
            mse = tilted_heads(d, H, rng(H)).optimal_values().mse
            assert mse >= lower_bound(d, 1, H, "scalar").hi


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RankOneHeads(np.zeros((1, 3)), np.ones((1, 3))), "row 0 of Q is zero"),
        (lambda: RankOneHeads(np.ones((1, 3)), np.ones((2, 3))), "one shape"),
        (lambda: RankOneHeads(np.ones(3), np.ones(3)), r"\(H, d\)"),
        (lambda: RankOneHeads(np.full((1, 3), np.inf), np.ones((1, 3))), "infinite"),
        (lambda: tilted_heads(4, 2, rng()).mse(np.ones(3)), "shape"),
        (lambda: tilted_heads(4, 2, rng()).optimal_values(-1.0), "non-negative"),
        (lambda: soft_fallback(8, 3), "even and divide"),
        (lambda: soft_fallback(8, 2, 0.0), "delta must be positive"),
        (lambda: block_budget(8, 3), "must divide"),
        (lambda: projector_correlation(4, 5), "at most d=4"),
        (lambda: softmax_mse(8, -1.0), "non-negative"),
        (lambda: softmax_mse(8, float("nan")), "finite"),
        (lambda: hobby_rice(8, 4), "must be odd"),
        (lambda: biased_heads([0.1, 0.2]), "number of points must be odd"),
        (lambda: biased_heads([0.2, 0.1, 0.0]), "increase strictly"),
    ],
)
def test_wrong_heads(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- closed forms -----------------------------------------------------------------------------


def test_softmax_values_of_the_dossier():
    assert [round(softmax_mse(8, tau), 6) for tau in (0, 10)] == [0.5, 0.055084]
    assert softmax_mse(8, 100) == pytest.approx(0.0055640, abs=5e-8)
    assert softmax_mse(8, 1000) == pytest.approx(0.00055646, abs=5e-9)
    assert softmax_mse(64, 100) == pytest.approx(0.017209, abs=5e-7)
    assert softmax_asymptote(64, 100) == pytest.approx(0.017230, abs=5e-7)


def test_projector_correlations():
    assert projector_correlation(8, 8) == 1
    assert projector_correlation(64, 32) == pytest.approx(0.5)
    assert (1 - projector_correlation(8, 7)) / 2 == pytest.approx(0.0969, abs=5e-5)
    assert (1 - projector_correlation(32, 31)) / 2 == pytest.approx(0.0457, abs=5e-5)
    # A projector of rank 1 is a tied rank-1 head: the same number by the harmonic series.
    for d in (5, 8, 33):
        assert projector_correlation(d, 1) == pytest.approx(float(head_target(1.0, d, 1e-9)[0]))


@given(st.integers(2, 60), st.data())
def test_complementary_projectors_share_the_correlation(d, data):
    r = data.draw(st.integers(1, d - 1))
    total = projector_correlation(d, r) + projector_correlation(d, d - r)
    assert total == pytest.approx(1, abs=1e-9)


def test_fixed_budget_of_the_dossier():
    found = [round(block_budget(64, 2**k), 4) for k in range(7)]
    assert found == [0, 0.25, 0.2919, 0.3336, 0.3752, 0.4123, 0.4426]
    assert block_budget(64, 1) == 0
    assert projector_mse(64, 32) == pytest.approx(0.4375)


def test_tied_floors_of_the_dossier():
    assert [round(tied_floor(d), 4) for d in (4, 8, 16, 32, 64)] == [
        *(0.2557, 0.3262, 0.3763, 0.4120, 0.4375)
    ]


def test_fallback_layer():
    assert fallback_mse(8) == pytest.approx(0.16122, abs=5e-6)
    for d, H in ((8, 2), (8, 8), (16, 4)):
        pairs = orthonormal_pair(d, 60_000, rng(d + H))
        errors = squared_errors(soft_fallback(d, H)(pairs), pairs.target)
        assert errors.mean() == pytest.approx(fallback_mse(d), abs=five_errors(errors))


# --- biased targets ---------------------------------------------------------------------------


def test_hobby_rice_points_for_d_3_are_known():
    tau, residual = hobby_rice(3, 5)
    assert np.allclose(tau, np.sort(np.cos(np.arange(1, 6) * np.pi / 6)))
    assert residual < 1e-14


def test_hobby_rice_points_of_the_dossier():
    tau, _ = hobby_rice(16, 17)
    known = [0.11183, 0.22257, 0.33116, 0.43659, 0.53792, 0.63443, 0.72578, 0.81307]
    assert np.allclose(tau[9:], known, atol=6e-6)
    assert np.allclose(tau, -tau[::-1])
    assert hobby_rice(8, 1)[0].tolist() == [0.0]


def test_biased_heads_represent_their_target_exactly():
    for d, L in ((3, 1), (5, 3), (8, 9)):
        layer = biased_heads(hobby_rice(d, L)[0])
        pairs = orthonormal_pair(d, 3000, rng(L))
        assert np.allclose(layer(pairs), layer.target(pairs), atol=1e-12)
        assert layer.signs.sum() == 1
    one = biased_heads([0.0])
    assert np.allclose(one.target(pairs), pairs.target)
