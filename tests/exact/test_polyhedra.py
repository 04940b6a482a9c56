from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.exact import Polyhedron

HALF = Fraction(1, 2)
SQUARE = [((1, 0), 0), ((-1, 0), 1), ((0, 1), 0), ((0, -1), 1)]
points = st.lists(st.tuples(*[st.fractions(-4, 4, max_denominator=3)] * 2), min_size=1, max_size=6)
forms = st.tuples(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), st.integers(-3, 3))


def value(form: tuple, point: tuple) -> Fraction:
    return sum((a * x for a, x in zip(form[0], point, strict=True)), Fraction(form[1]))


def test_both_descriptions_of_a_square() -> None:
    square = Polyhedron.from_inequalities(2, SQUARE)
    assert set(square.points) == set(product((0, 1), repeat=2))
    assert square.rays == square.lines == square.equations == ()
    assert len(square.inequalities) == 4
    assert square == Polyhedron.from_generators(2, list(product((0, 1), repeat=2)))
    assert square.dimension == square.n == 2


def test_redundant_rows_and_rational_data() -> None:
    half = Polyhedron.from_inequalities(1, [((HALF,), Fraction(-1, 3)), ((1,), 5)])
    assert half.points == ((Fraction(2, 3),),)
    assert half.rays == ((1,),)
    assert len(half.inequalities) == 1


def test_lower_dimensional_and_empty_sets() -> None:
    segment = Polyhedron.from_generators(2, [(0, 0), (2, 2)])
    assert segment.dimension == 1
    ((vector, constant),) = segment.equations
    assert vector[0] == -vector[1] != 0
    assert constant == 0
    empty = Polyhedron.from_inequalities(1, [((1,), -1), ((-1,), 0)])
    assert empty.is_empty()
    assert empty.dimension == -1
    assert Polyhedron.from_generators(3, []).is_empty()
    for refused in (empty.interior_point, lambda: empty.range(((1,), 0))):
        with pytest.raises(ValueError, match="empty"):
            refused()


def test_lineality_is_kept_apart() -> None:
    strip = Polyhedron.from_inequalities(2, [((1, 1), 0), ((-1, -1), 1)])
    assert len(strip.lines) == 1
    assert not strip.rays
    assert strip.contains(strip.interior_point())
    assert Polyhedron.universe(2).dimension == 2
    assert len(Polyhedron.universe(2).lines) == 2


def test_ranges_are_exact_and_unbounded_ends_are_none() -> None:
    wedge = Polyhedron.from_inequalities(2, [((1, 0), 0), ((0, 1), Fraction(-1, 7))])
    assert wedge.range(((1, 2), HALF)) == (Fraction(11, 14), None)
    assert wedge.range(((-1, -1), 0)) == (None, Fraction(-1, 7))
    assert wedge.range(((1, -1), 0)) == (None, None)


@pytest.mark.parametrize(
    ("form", "side"),
    [(((1, 0), 0), 1), (((-1, 0), 0), -1), (((1, -1), 0), 0), (((1, 0), 5), 1), (((0, 0), 0), 1)],
)
def test_side_counts_touching_as_not_split(form: tuple, side: int) -> None:
    assert Polyhedron.from_inequalities(2, SQUARE).side(form) == side


@given(points, forms)
def test_ranges_sides_and_generators_agree_on_polygons(corners: list, form: tuple) -> None:
    polygon = Polyhedron.from_generators(2, corners)
    values = [value(form, corner) for corner in corners]
    assert polygon.range(form) == (min(values), max(values))
    assert polygon.is_nonnegative(form) == (min(values) >= 0)
    expected = 1 if min(values) >= 0 else -1 if max(values) <= 0 else 0
    assert polygon.side(form) == expected


@given(points, forms)
def test_cuts_and_faces(corners: list, form: tuple) -> None:
    polygon = Polyhedron.from_generators(2, corners)
    opposite = tuple(-a for a in form[0]), -form[1]
    upper, lower = polygon.cut(form), polygon.cut(opposite)
    assert upper.intersection(lower) == polygon.face(form)
    assert polygon.includes(upper)
    assert polygon.includes(lower)
    if polygon.side(form) == 1:
        assert upper == polygon


@given(points, points)
def test_round_trip_translation_and_inclusion(corners: list, others: list) -> None:
    polygon = Polyhedron.from_generators(2, corners)
    again = Polyhedron.from_inequalities(2, polygon.inequalities, polygon.equations)
    assert again == polygon
    assert polygon.translate((1, -HALF)).translate((-1, HALF)) == polygon
    assert polygon.contains(polygon.interior_point())
    union = Polyhedron.from_generators(2, corners + others)
    assert union.includes(polygon)
    assert all(union.contains(point) for point in others)


def test_unbounded_sets_are_seen_by_their_rays_and_lines() -> None:
    ray = Polyhedron.from_generators(2, [(1, 1)], rays=[(2, 0), (0, 0)])
    assert ray.rays == ((1, 0),)
    assert ray.homogeneous_generators == ((1, 1, 1), (1, 0, 0))
    assert ray.is_nonnegative(((1, 0), -1))
    assert not ray.is_nonnegative(((-1, 0), 100))
    line = Polyhedron.from_generators(2, [(0, 0)], lines=[(1, 0)])
    assert not line.is_nonnegative(((1, 0), 5))
    assert line.is_nonnegative(((0, 1), 0))


def test_sets_compare_by_content_and_cannot_be_hashed() -> None:
    square = Polyhedron.from_inequalities(2, SQUARE)
    assert square == Polyhedron.from_inequalities(2, [*SQUARE, ((1, 1), 3)])
    assert square != Polyhedron.from_inequalities(2, SQUARE[:3])
    assert square != "square"
    with pytest.raises(TypeError):
        hash(square)
