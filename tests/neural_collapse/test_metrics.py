"""Metrics against their definitions, their invariances, their edge cases and their errors."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from theorylab.neural_collapse import ClassStats, decisions, nc1, nc2, nc3, nc4
from theorylab.neural_collapse.metrics import nc1_of


def clusters(seed=0, K=4, d=7, counts=(5, 10, 15, 30), noise=0.3):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(K), counts)
    return rng.standard_normal((K, d))[y] + noise * rng.standard_normal((len(y), d)), y


def by_definition(H, y, weighting):
    """Covariance matrices, formed."""
    K, N = y.max() + 1, len(y)
    mu = np.array([H[y == c].mean(axis=0) for c in range(K)])
    w = np.full(K, 1 / K) if weighting == "class" else np.bincount(y) / N
    centre = w @ mu
    within = (H - mu[y]).T @ (H - mu[y]) / N
    between = ((mu - centre).T * w) @ (mu - centre)
    return within, between, mu


@pytest.mark.parametrize("weighting", ["class", "sample"])
def test_nc1_is_what_the_covariances_say(weighting):
    H, y = clusters()
    within, between, _ = by_definition(H, y, weighting)
    assert nc1(H, y, weighting=weighting) == pytest.approx(
        np.trace(within) / np.trace(between), rel=1e-13
    )
    pinv = np.trace(within @ np.linalg.pinv(between, rcond=1e-10)) / 4
    assert nc1(H, y, kind="pinv", weighting=weighting) == pytest.approx(pinv, rel=1e-11)


def test_total_and_cdnv_by_definition():
    H, y = clusters()
    within, between, mu = by_definition(H, y, "sample")
    total = np.trace(within) / (np.trace(within) + np.trace(between))
    assert nc1(H, y, kind="total") == pytest.approx(total, rel=1e-13)
    assert np.trace(within + between) == pytest.approx(np.trace(np.cov(H.T, bias=True)))
    v = [((H[y == c] - mu[c]) ** 2).sum(axis=1).mean() for c in range(4)]
    pairs = [(v[a] + v[b]) / (2 * ((mu[a] - mu[b]) ** 2).sum()) for a in range(4) for b in range(a)]
    assert nc1(H, y, kind="cdnv") == pytest.approx(np.mean(pairs), rel=1e-13)


def test_nc1_on_four_points_by_hand():
    H = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 4.0]])
    y = [0, 0, 1, 1]
    # Within: all four at distance 1. Means (2, 0) and (0, 3): squared distance to centre 13/4.
    assert nc1(H, y) == pytest.approx(4 / 13)
    assert nc1(H, y, kind="total") == pytest.approx(4 / 17)
    assert nc1(H, y, kind="cdnv") == pytest.approx(1 / 13)


def test_pinv_keeps_its_digits_at_condition_a_thousand():
    rng = np.random.default_rng(1)
    K, d, n = 4, 6, 50
    means = (
        np.linalg.qr(rng.standard_normal((d, K)))[0].T * np.array([1.0, 1e-1, 1e-2, 1e-3])[:, None]
    )
    y = np.repeat(np.arange(K), n)
    H = means[y] + 1e-5 * rng.standard_normal((K * n, d))
    mp.dps = 50
    M = mp.matrix([[mp.mpf(float(x)) for x in row] for row in H])
    mu = [[sum(M[c * n + i, j] for i in range(n)) / n for j in range(d)] for c in range(K)]
    centre = [sum(mu[c][j] for c in range(K)) / K for j in range(d)]
    B = mp.matrix([[mu[c][j] - centre[j] for j in range(d)] for c in range(K - 1)])
    # B spans the centred means; Sigma_B = B^T C B with the K - 1 by K - 1 matrix C below.
    C = (mp.eye(K - 1) + mp.ones(K - 1)) / K
    inverse = (B * B.T) ** -1
    core = inverse * (C**-1) * inverse
    total = mp.mpf(0)
    for i in range(K * n):
        h = mp.matrix([M[i, j] - mu[i // n][j] for j in range(d)])
        total += ((B * h).T * core * (B * h))[0]
    truth = float(total / (K * n) / K)
    assert nc1(H, y, kind="pinv") == pytest.approx(truth, rel=1e-10)


@pytest.mark.parametrize("kind", ["trace", "pinv", "cdnv", "total"])
@pytest.mark.parametrize("factor", [1e150, 1e-150, 3.0])
def test_nc1_does_not_see_the_scale(kind, factor):
    H, y = clusters()
    assert nc1(factor * H, y, kind=kind) == pytest.approx(nc1(H, y, kind=kind), rel=1e-12)


@pytest.mark.parametrize("kind", ["trace", "pinv", "cdnv", "total"])
def test_a_large_offset_costs_only_the_digits_of_the_input(kind):
    H, y = clusters()
    assert nc1(1e6 + 1e-4 * H, y, kind=kind) == pytest.approx(nc1(H, y, kind=kind), rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["trace", "pinv", "cdnv", "total"]))
def test_nc1_does_not_see_rotations_shifts_or_order(seed, kind):
    H, y = clusters(seed)
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    order = rng.permutation(len(y))
    moved = (H @ Q + rng.standard_normal(7))[order]
    assert nc1(moved, y[order], kind=kind) == pytest.approx(nc1(H, y, kind=kind), rel=1e-9)


def test_batches_give_what_the_whole_gives_in_any_precision():
    H, y = clusters()
    whole = nc1(H, y, kind="pinv")
    parts = [(H[i : i + 7], y[i : i + 7]) for i in range(0, len(y), 7)]
    stats = ClassStats.from_batches(parts, 4)
    assert nc1_of(stats, "pinv") == pytest.approx(whole, rel=1e-12)
    single = nc1(torch.tensor(H, dtype=torch.float32), torch.tensor(y), kind="pinv")
    assert single == pytest.approx(nc1(H.astype(np.float32).astype(float), y, kind="pinv"), 1e-12)


def test_defined_edge_cases_of_nc1():
    one_each = np.random.default_rng(0).standard_normal((3, 2))
    for kind in ("trace", "pinv", "cdnv", "total"):
        assert nc1(one_each, [0, 1, 2], kind=kind) == 0
    equal_means = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    assert nc1(equal_means, [0, 0, 1, 1]) == math.inf
    assert nc1(equal_means, [0, 0, 1, 1], kind="total") == 1
    two_coincide = np.array([[1.0], [-1.0], [2.0], [-2.0], [5.0], [6.0]])
    assert nc1(two_coincide, [0, 0, 1, 1, 2, 2], kind="cdnv") == math.inf
    with pytest.raises(ValueError, match="0/0"):
        nc1(np.full((4, 2), 0.1), [0, 0, 1, 1])


def test_simplex_and_orthogonal_frame_are_recognised():
    K = 5
    frame = np.eye(K, 8)
    simplex = frame - frame.mean(axis=0)
    y = np.arange(K)
    assert nc2(frame, y) == pytest.approx(1)
    assert nc2(3 * frame, y, kind="orthogonal") == pytest.approx(0, abs=1e-14)
    assert nc2(simplex, y) == math.inf
    for features in (frame, simplex, simplex + 7):
        for kind in ("etf", "equinorm", "equiangular"):
            assert nc2(features, y, kind=kind) == pytest.approx(0, abs=1e-13)
    assert nc2(np.diag([3.0, 1.0]), [0, 1]) == pytest.approx(3)
    # G = diag(9, 1): distance of G/sqrt(82) from I/sqrt(2).
    distance = math.hypot(
        9 / math.sqrt(82) - 1 / math.sqrt(2), 1 / math.sqrt(82) - 1 / math.sqrt(2)
    )
    assert nc2(np.diag([3.0, 1.0]), [0, 1], kind="orthogonal") == pytest.approx(distance)


def test_more_classes_than_dimensions_is_infinitely_ill_conditioned():
    assert nc2(np.array([[1.0], [2.0]]), [0, 1]) == math.inf


def test_alignment():
    K = 4
    simplex = np.eye(K) - 1 / K
    y = np.arange(K)
    assert nc3(simplex, y, 5 * simplex) == pytest.approx(1)
    assert nc3(simplex, y, -simplex) == pytest.approx(-1)
    assert nc3(simplex, y, 5 * simplex, kind="product") == pytest.approx(0, abs=1e-14)
    assert nc3(simplex, y, 5 * simplex, kind="distance") == pytest.approx(0, abs=1e-14)
    assert nc3(simplex, y, -simplex, kind="distance") == pytest.approx(4)
    assert nc3(1e150 * simplex, y, 1e-150 * simplex) == pytest.approx(1)


def test_decisions_and_ties():
    H = np.array([[1.0, 0.0], [0.0, 1.0], [0.4, 0.6]])
    y = [0, 1, 0]
    # Means (0.7, 0.3) and (0, 1): the third sample is nearer to the first, the classifier says 1.
    assert nc4(H, y, np.eye(2)) == pytest.approx(1 / 3)
    assert nc4(H, y, np.eye(2), bias=[0.5, 0.0]) == 0
    found = decisions(np.array([[1.0, 1.0], [3.0, 0.0], [0.0, 3.0]]), [0, 0, 1], np.eye(2))
    assert found.ties == 1


@pytest.mark.parametrize(
    ("features", "labels", "classes", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], 2, "NaN"),
        ([[1.0], [np.inf]], [0, 1], 2, "infinite"),
        (np.zeros((0, 2)), np.zeros(0, dtype=int), 2, "no samples"),
        ([[1.0], [2.0]], [0], 2, "rows of features"),
        ([[1.0], [2.0]], [0, 2], 2, "lie in"),
        ([[1.0], [2.0]], [0, -1], 2, "lie in"),
        ([[1.0], [2.0]], [0.0, 1.0], 2, "integers"),
        ([[1.0], [2.0]], [0, 1], 3, "no samples"),
        ([[1.0], [2.0]], [0, 0], 1, "at least 2"),
        ([[0.0], [0.0]], [0, 1], 2, "zero"),
        ([1.0, 2.0], [0, 1], 2, "shape"),
        ([[1.0], [2.0]], [[0], [1]], 2, "shape"),
    ],
)
def test_invalid_input_is_refused(features, labels, classes, message):
    with pytest.raises(ValueError, match=message):
        nc1(np.asarray(features), np.asarray(labels), classes)


def test_unknown_kinds_and_degenerate_geometry_are_refused():
    H, y = clusters()
    for call in (
        lambda: nc1(H, y, kind="ratio"),
        lambda: nc1(H, y, weighting="none"),
        lambda: nc2(H, y, kind="ratio"),
        lambda: nc3(H, y, np.ones((4, 7)), kind="ratio"),
    ):
        with pytest.raises(ValueError, match="must be"):
            call()
    equal = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    for kind in ("etf", "equinorm"):
        with pytest.raises(ValueError, match="equal"):
            nc2(equal, [0, 0, 1, 1], kind=kind)
    with pytest.raises(ValueError, match="equal"):
        nc3(equal, [0, 0, 1, 1], [[1.0], [2.0]], kind="product")
    with pytest.raises(ValueError, match="a feature is zero"):
        nc3(np.array([[0.0], [1.0]]), [0, 1], [[1.0], [1.0]])
    with pytest.raises(ValueError, match="row of W"):
        nc3(np.array([[2.0], [1.0]]), [0, 1], [[1.0], [0.0]])
    with pytest.raises(ValueError, match="shape"):
        nc3(H, y, np.ones((3, 7)))
    with pytest.raises(ValueError, match="average"):
        nc2(np.array([[1.0], [2.0], [3.0]]), [0, 1, 2], kind="equiangular")


def test_batches_must_be_iterable_twice():
    H, y = clusters()
    with pytest.raises(ValueError, match="generator"):
        ClassStats.from_batches(((h, c) for h, c in [(H, y)]), 4)
