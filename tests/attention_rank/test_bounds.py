"""Lower bounds: the dossier's numbers, limits, integers of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.attention_rank import (
    biased_profile,
    dim_harm,
    generic_span_dim,
    heads_needed,
    hobby_rice,
    hom,
    lower_bound,
)
from theorylab.attention_rank.bounds import KINDS, degree_terms, per_head
from theorylab.attention_rank.spans import integer_subspaces, rank_mod_prime, span_dimension


@pytest.mark.parametrize(
    ("d", "r", "H", "expected"),
    [
        (8, 4, 1, (0.3167, 0.1077, 0.0762)),
        (8, 4, 2, (0.1334, 0.0792, 0.0539)),
        (8, 2, 4, (0.1517, 0.1325, 0.1149)),
        (8, 1, 8, (0.1567, 0.1476, 0.1378)),
        (8, 4, 4, (0.1056, 0.0602, 0.0382)),
        (8, 1, 4096, (0.0539, 0.0445, 0.0338)),
        (64, 32, 2, (0.1628, 0.0918, 0.0907)),
        (64, 16, 4, (0.1752, 0.1231, 0.1229)),
        (64, 8, 8, (0.1780, 0.1704, 0.1699)),
        (64, 1, 64, (0.1791, 0.1790, 0.1789)),
    ],
)
def test_bounds_of_the_dossier(d, r, H, expected):
    found = [lower_bound(d, r, H, kind) for kind in KINDS]
    assert [round(f.lo, 4) for f in found] == list(expected)
    assert all(0 <= f.width < 1e-7 for f in found)


def test_the_bound_is_the_sum_written_out():
    from theorylab.attention_rank import eta2, tail

    d, r, H, last = 6, 2, 5, 61
    terms = [
        float(eta2(d, n)) * max(0.0, 1 - H * hom(r, n) / dim_harm(d, n))
        for n in range(1, last + 1, 2)
    ]
    rest = 1 - float(tail(d, last)[1])
    found = lower_bound(d, r, H, "scalar")
    assert 0.5 * sum(terms) <= found.hi
    assert found.lo <= 0.5 * (sum(terms) + rest)
    assert found.width < 1e-6


@given(
    st.integers(3, 40),
    st.integers(1, 20),
    st.integers(1, 10**6),
    st.sampled_from(KINDS),
)
def test_more_heads_and_higher_rank_never_raise_the_bound(d, r, H, kind):
    here = lower_bound(d, r, H, kind)
    assert 0 <= here.lo <= here.hi <= 0.5 + 1e-9
    assert lower_bound(d, r, H + 1, kind).lo <= here.lo + 1e-12
    assert lower_bound(d, r + 1, H, kind).lo <= here.lo + 1e-9


def test_kinds_are_ordered_by_generality():
    for d, r, H in ((8, 1, 8), (16, 4, 4), (64, 8, 100)):
        scalar, matrix, generalised = (lower_bound(d, r, H, kind).lo for kind in KINDS)
        assert scalar >= matrix >= generalised


def test_full_rank_has_no_bound():
    assert lower_bound(8, 8, 1, "matrix").hi == 0
    assert lower_bound(8, 7, 1, "scalar").lo > 0
    assert lower_bound(8, 7, 1, "generalised").hi == 0


def test_huge_numbers_of_heads():
    assert lower_bound(64, 1, 10**40).lo > 0
    assert heads_needed(40, 1, 0.15 / 40**0.5) > 10**24


def test_heads_needed_of_the_dossier():
    assert heads_needed(1024, 1, 0.15, "scalar") == 106_529_485
    assert heads_needed(1024, 1, 0.15) == 35_509_829
    assert [f"{heads_needed(40, r, 0.15 / 40**0.5):.2g}" for r in (10, 20, 30)] == [
        "1.9e+14",
        "4.7e+07",
        "5.8e+02",
    ]


@given(st.integers(4, 24), st.integers(1, 5), st.floats(0.02, 0.45), st.sampled_from(KINDS))
def test_heads_needed_is_least(d, r, eps, kind):
    H = heads_needed(d, r, eps, kind)
    assert lower_bound(d, r, H, kind).lo <= eps
    assert H == 1 or lower_bound(d, r, H - 1, kind).lo > eps


def test_large_errors_need_one_head():
    assert heads_needed(16, 1, 0.5) == heads_needed(16, 1, 3) == heads_needed(8, 8, 1e-9) == 1


def test_a_linear_target_is_free_from_full_budget_on():
    assert lower_bound(8, 2, 3, "scalar", [0, 1.0]).lo == pytest.approx(0.5 * 2 / 8)
    assert lower_bound(8, 2, 4, "scalar", [0, 1.0]).lo == 0


@pytest.mark.parametrize(
    ("d", "r", "H", "degree"), [(4, 1, 1, 3), (4, 2, 3, 3), (5, 3, 2, 3), (4, 1, 3, 5)]
)
def test_span_dimension_is_that_of_values_at_points(d, r, H, degree):
    """In floating point, by values: forms of the components beyond multiples of |w|^2."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((2 * hom(d, degree), d))

    def powers(directions, exponent):
        return (points @ directions.T) ** exponent

    radial = powers(rng.standard_normal((2 * hom(d, degree - 2), d)), degree - 2)
    radial *= np.square(points).sum(axis=1, keepdims=True)
    forms = []
    for _ in range(H):
        basis = rng.standard_normal((d, r))
        forms.append(powers(rng.standard_normal((2 * hom(r, degree), r)) @ basis.T, degree))
    together = np.concatenate([radial, *forms], axis=1)
    found = np.linalg.matrix_rank(together, tol=1e-9 * np.linalg.norm(together))
    found -= np.linalg.matrix_rank(radial, tol=1e-9 * np.linalg.norm(radial))
    assert found == generic_span_dim(d, r, H, degree)
    assert found == span_dimension(integer_subspaces(d, r, H, rng), degree)


def test_spans_that_intersect():
    rng = np.random.default_rng(1)
    assert span_dimension(integer_subspaces(5, 3, 2, rng), 3) == 19 == generic_span_dim(5, 3, 2, 3)
    assert span_dimension(integer_subspaces(5, 3, 3, rng), 3) == 27
    with pytest.raises(ValueError, match="they intersect"):
        generic_span_dim(5, 3, 3, 3)


def test_two_hyperplanes_reach_everything():
    for d in (3, 4, 6):
        for degree in (1, 3, 5):
            assert generic_span_dim(d, d - 1, 2, degree) == dim_harm(d, degree)


def test_rank_modulo_the_prime():
    rng = np.random.default_rng(2)
    thin = rng.integers(-5, 6, (7, 3))
    assert rank_mod_prime(thin @ rng.integers(-5, 6, (3, 9))) == 3
    assert rank_mod_prime(np.zeros((2, 2))) == 0


def test_biased_profile_of_one_point_is_the_sign():
    from theorylab.attention_rank import eta2

    found = biased_profile(8, [0.0], 9)
    assert np.allclose(found[::2], 0, atol=1e-25)
    assert np.allclose(found[1::2], [float(eta2(8, n)) for n in (1, 3, 5, 7, 9)])


@pytest.mark.parametrize(("d", "L"), [(8, 9), (16, 17)])
def test_biased_profile_below_the_number_of_points(d, L):
    tau, residual = hobby_rice(d, L)
    energy = biased_profile(d, tau)
    assert residual < 1e-14
    assert energy[:L].sum() < 1e-25
    assert 0.9 < energy.sum() <= 1


def test_terms_by_degree():
    energy, filled = degree_terms(8, 1, 4, "scalar", 3)
    assert filled[0] == pytest.approx(4 / 8)
    assert filled[1] == pytest.approx(4 / dim_harm(8, 3))
    assert energy[0] == pytest.approx(0.67757, abs=1e-5)
    assert per_head(1, 3, "matrix") == 3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lower_bound(8, 0, 1), ValueError, "r must be at least 1"),
        (lambda: lower_bound(8, 1, 0), ValueError, "H must be at least 1"),
        (lambda: lower_bound(8.0, 1, 1), TypeError, "d must be an integer"),
        (lambda: lower_bound(8, 1, True), TypeError, "got True"),
        (lambda: lower_bound(8, 1, 1, "any"), ValueError, "scalar, matrix, generalised"),
        (lambda: lower_bound(8, 1, 1, "scalar", "cosine"), ValueError, "'sign' or a list"),
        (lambda: lower_bound(8, 1, 1, "scalar", [0.0, 2.0]), ValueError, "sum of at most 1"),
        (lambda: heads_needed(8, 1, 0.0), ValueError, "positive"),
        (lambda: heads_needed(8, 1, float("nan")), ValueError, "positive"),
        (lambda: generic_span_dim(4, 5, 1, 3), ValueError, "at most d=4"),
        (lambda: biased_profile(8, [0.5, 0.1]), ValueError, "increase strictly"),
        (lambda: biased_profile(8, [0.0, 1.0]), ValueError, "increase strictly"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
