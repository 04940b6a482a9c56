from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.dc_decomposition import (
    dependence_recursion,
    essential_maps,
    signed_simplices,
    tangents,
    upper_triangulation,
)
from theorylab.dc_decomposition.paraboloids import (
    IN_PLANE,
    IN_SPACE,
    ON_LINE,
    THIN_QUADRILATERAL,
    grid,
    random_points,
)
from theorylab.dc_decomposition.simplices import check_essential


def value(affine, x):
    return sum((a * c for a, c in zip(affine[0], x, strict=True)), affine[1])


def sum_at(terms, maps, x):
    return sum(c * max(value(maps[i], x) for i in term) for term, c in terms.items())


def determinant_volume(points):
    """n! times the volume of a simplex, by Gaussian elimination over the fractions."""
    first, *others = points
    rows = [[a - b for a, b in zip(p, first, strict=True)] for p in others]
    volume = Fraction(1)
    for k in range(len(rows)):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return Fraction(0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        volume *= rows[k][k]
        for r in range(k + 1, len(rows)):
            factor = rows[r][k] / Fraction(rows[k][k])
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return abs(volume)


@pytest.mark.parametrize(
    ("points", "terms"), [(ON_LINE, 9), (IN_PLANE, 31), (IN_SPACE, 37)], ids=["n=1", "n=2", "n=3"]
)
def test_number_of_terms_on_the_test_data(points, terms) -> None:
    assert len(signed_simplices(tangents(points), len(points[0]))) == terms


def test_thin_quadrilateral_has_the_long_diagonal() -> None:
    terms = signed_simplices(tangents(THIN_QUADRILATERAL), 2)
    assert terms == {frozenset({0, 1, 3}): 1, frozenset({1, 2, 3}): 1, frozenset({1, 3}): -1}


def test_three_maps_on_the_line_by_hand() -> None:
    maps = [((0,), 0), ((1,), 0), ((2,), -1)]
    expected = {frozenset({0, 1}): 1, frozenset({1}): -1, frozenset({1, 2}): 1}
    assert signed_simplices(maps, 1) == expected


def test_one_map_and_one_simplex() -> None:
    assert signed_simplices([((1, 2), 3)], 2) == {frozenset({0}): 1}
    maps = tangents([(0, 0), (1, 0), (0, 1)])
    assert signed_simplices(maps, 2) == {frozenset({0, 1, 2}): 1}


@pytest.mark.parametrize(("count", "n"), [(9, 1), (12, 2), (9, 3), (8, 4)])
def test_triangulation_is_above_all_points_and_fills_the_hull(count, n) -> None:
    """Every maximal simplex lies on a supporting hyperplane; the volumes add up."""
    points = random_points(np.random.default_rng(count * n), count, n, 9)
    maps = tangents(points)
    simplices = upper_triangulation(maps, n)
    for simplex in simplices:
        assert len(simplex) == n + 1
        vertex = meeting_point([maps[i] for i in simplex], n)
        height = value(maps[min(simplex)], vertex)
        assert all(value(affine, vertex) <= height for affine in maps)
    total = sum(determinant_volume([points[i] for i in sorted(s)]) for s in simplices)
    assert total == hull_volume(points, n)


def meeting_point(maps, n):
    """The point where n + 1 affine maps are equal, by Cramer-free elimination."""
    from theorylab.exact import solve

    (a, b), *others = maps
    rows = [[p - q for p, q in zip(c, a, strict=True)] for c, _ in others]
    solution = solve(rows, [b - d for _, d in others], n)
    assert solution is not None
    return solution


def hull_volume(points, n):
    """Volume of the hull (times n!) by another library, rounded to the integer that it is."""
    from math import factorial

    if n == 1:
        return max(points)[0] - min(points)[0]
    from scipy.spatial import ConvexHull

    return round(ConvexHull(np.array(points, dtype=float)).volume * factorial(n))


@given(
    n=st.integers(1, 3),
    points=st.lists(st.tuples(*[st.integers(-6, 6)] * 3), min_size=1, max_size=8, unique=True),
    spots=st.lists(st.tuples(*[st.fractions(-20, 20, max_denominator=9)] * 3), max_size=5),
)
@settings(max_examples=60, deadline=None)
def test_identity_and_recursion_agree_also_where_lifts_are_degenerate(n, points, spots) -> None:
    distinct = sorted({p[:n] for p in points})
    maps = tangents(distinct)
    terms = signed_simplices(maps, n)
    assert terms == dependence_recursion(maps, n)
    assert set(terms.values()) <= {1, -1}
    assert all(len(term) <= n + 1 for term in terms)
    for x in spots:
        assert sum_at(terms, maps, x[:n]) == max(value(a, x[:n]) for a in maps)


@given(
    maps=st.lists(
        st.tuples(st.tuples(*[st.integers(-3, 3)] * 2), st.integers(-4, 4)), min_size=1, max_size=7
    ),
    spots=st.lists(st.tuples(*[st.fractions(-9, 9, max_denominator=5)] * 2), max_size=6),
)
@settings(max_examples=80, deadline=None)
def test_recursion_needs_no_essential_maps(maps, spots) -> None:
    terms = dependence_recursion(maps, 2)
    for x in spots:
        assert sum_at(terms, maps, x) == max(value(a, x) for a in maps)


@pytest.mark.parametrize(("side", "n"), [(2, 2), (3, 2), (2, 3), (3, 3)])
def test_grids_where_many_maps_meet_in_a_point(side, n) -> None:
    maps = tangents(grid(side, n))
    assert signed_simplices(maps, n) == dependence_recursion(maps, n)


def test_gradients_in_a_line_of_the_plane() -> None:
    maps = tangents([(0, 0), (1, 1), (2, 2), (5, 5)])
    terms = signed_simplices(maps, 2)
    assert len(terms) == 5
    assert {len(term) for term in terms} == {1, 2}


def brute_force_essential(maps, n):
    """A map is essential if it is the strict maximum somewhere: an exact feasibility test."""
    from theorylab.exact import Polyhedron

    found = []
    for i, (a, b) in enumerate(maps):
        forms = [
            (tuple(p - q for p, q in zip(a, c, strict=True)), b - d)
            for j, (c, d) in enumerate(maps)
            if j != i and ((c, d) != (a, b) or j < i)
        ]
        if any(not any(form) and constant <= 0 for form, constant in forms):
            continue
        if Polyhedron.from_inequalities(n, forms).dimension == n:
            found.append(i)
    return found


@given(
    maps=st.lists(
        st.tuples(st.tuples(*[st.integers(-2, 2)] * 2), st.integers(-3, 3)), min_size=1, max_size=7
    )
)
@settings(max_examples=100, deadline=None)
def test_essential_maps_against_brute_force(maps) -> None:
    assert essential_maps(maps, 2) == brute_force_essential(maps, 2)


def test_of_equal_maps_the_first_is_kept() -> None:
    assert essential_maps([((1,), 0), ((1,), 0), ((-1,), 0)], 1) == [0, 2]


@pytest.mark.parametrize(
    "call", [signed_simplices, upper_triangulation, check_essential], ids=lambda f: f.__name__
)
def test_redundant_maps_are_named(call) -> None:
    with pytest.raises(ValueError, match=r"indices \[1\]"):
        call([((0,), 0), ((1,), -1), ((2,), 0)], 1)


@pytest.mark.parametrize("call", [signed_simplices, dependence_recursion, essential_maps])
def test_bad_input(call) -> None:
    with pytest.raises(TypeError, match="float"):
        call([((0.5,), 0)], 1)
    with pytest.raises(ValueError, match="at least one"):
        call([], 1)
    with pytest.raises(ValueError, match="entries"):
        call([((1, 2), 0)], 1)


def test_tangents_refuse_repeated_points() -> None:
    with pytest.raises(ValueError, match="distinct"):
        tangents([(1, 2), (1, 2)])


def test_every_pair_of_tangents_is_strictly_maximal_at_its_point() -> None:
    maps = tangents(IN_PLANE)
    for (p, a), (_, b) in combinations(zip(IN_PLANE, maps, strict=True), 2):
        assert value(a, p) > value(b, p)


def test_tangents_touch_the_paraboloid_at_their_points() -> None:
    for p, affine in zip(IN_PLANE, tangents(IN_PLANE), strict=True):
        assert value(affine, p) == sum(c * c for c in p)
        for q in IN_SPACE:
            assert value(affine, q[:2]) <= sum(c * c for c in q[:2])
