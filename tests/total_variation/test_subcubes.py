"""Subcube mixtures: cells against listing, DNF models against listing."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.total_variation import (
    ProductMixture,
    dnf_excess,
    dnf_pair,
    tv_exact_mixture,
    tv_subcubes,
)
from theorylab.total_variation.subcubes import (
    Subcube,
    cell_sizes,
    intersection_sizes,
    signed_subcubes,
)
from theorylab.total_variation.theory import disjoint_terms_models, satisfying_assignments

cubes_of = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.text("01*", min_size=n, max_size=n), min_size=1, max_size=5)
)


def uniform_mixture(cubes) -> ProductMixture:
    return ProductMixture.from_subcubes((F(1, len(cubes)),) * len(cubes), cubes)


@settings(max_examples=150)
@given(cubes_of, st.data())
def test_distance_agrees_with_listing(cubes, data):
    n = len(cubes[0])
    others = data.draw(st.lists(st.text("01*", min_size=n, max_size=n), min_size=1, max_size=4))
    P, Q = uniform_mixture(cubes), uniform_mixture(others)
    assert tv_subcubes(P, Q) == tv_exact_mixture(P, Q)


@given(cubes_of)
def test_cells_partition_the_cube(cubes):
    n = len(cubes[0])
    P = uniform_mixture(cubes)
    Q = ProductMixture.from_subcubes((1,), ["*" * n])
    signed = signed_subcubes(P, Q)
    cells = cell_sizes(intersection_sizes(signed, n))
    assert sum(cells) == 2**n
    assert min(cells) >= 0


def test_intersections_by_hand():
    cubes = [Subcube(F(1), 0b01, 0b00), Subcube(F(1), 0b01, 0b01), Subcube(F(1), 0b10, 0b10)]
    assert intersection_sizes(cubes, 3) == [8, 4, 4, 0, 4, 2, 2, 0]
    assert cell_sizes([8, 4, 4, 0, 4, 2, 2, 0]) == [0, 2, 2, 0, 0, 2, 2, 0]


@given(cubes_of)
def test_one_distance_counts_the_models_of_a_dnf(terms):
    n = len(terms[0])
    strings = product("01", repeat=n)
    models = sum(
        any(all(t in ("*", b) for t, b in zip(term, x, strict=True)) for term in terms)
        for x in strings
    )
    cube_points = sum(2 ** term.count("*") for term in terms)
    assert satisfying_assignments(cube_points, dnf_excess(terms)) == models


def test_both_cases_of_the_reduction_occur():
    dense, sparse = ["1**", "*1*", "**1"], ["111"]
    assert dnf_pair(dense)[2] == 1
    assert dnf_pair(sparse)[2] == F(1, 8)
    assert dnf_pair(sparse)[0].n_components == 2
    assert dnf_pair(dense)[1].n_components == 2


def test_large_formula_with_known_count():
    widths = [1, 2, 3, 5, 8]
    terms, start = [], 0
    for width in widths:
        terms.append("*" * start + "1" * width + "*" * (60 - start - width))
        start += width
    cube_points = sum(2 ** (60 - width) for width in widths)
    assert satisfying_assignments(cube_points, dnf_excess(terms)) == disjoint_terms_models(
        60, widths
    )


def test_equal_mixtures_leave_no_cube():
    P = uniform_mixture(["0*", "1*"])
    assert signed_subcubes(P, P.permute((1, 0))) == []
    assert tv_subcubes(P, P) == 0
    assert tv_subcubes(P, ProductMixture.from_subcubes((1,), ["**"])) == 0


def test_twelve_cubes_in_two_hundred_dimensions():
    rng = np.random.default_rng(0)
    cubes = ["".join(rng.choice(list("01*"), 200, p=(0.01, 0.01, 0.98))) for _ in range(12)]
    P, Q = uniform_mixture(cubes[:6]), uniform_mixture(cubes[6:])
    assert 0 < tv_subcubes(P, Q) <= 1


def test_refusals():
    coin = ProductMixture((1,), (((F(1, 3), F(2, 3)),),))
    with pytest.raises(ValueError, match="coordinate 0 has the law"):
        tv_subcubes(coin, coin)
    letters = ProductMixture((1,), (((1, 0, 0),),))
    with pytest.raises(ValueError, match="coordinate 0"):
        tv_subcubes(letters, letters)
    P, Q = uniform_mixture(["00", "01", "10"]), uniform_mixture(["11"])
    with pytest.raises(ValueError, match="4 distinct cubes, more than max_cubes=3"):
        tv_subcubes(P, Q, max_cubes=3)
    for terms in ([], ["1", "1*"]):
        with pytest.raises(ValueError, match="equal length"):
            dnf_pair(terms)
