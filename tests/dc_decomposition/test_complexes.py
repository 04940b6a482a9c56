from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.dc_decomposition import Complex, theory
from theorylab.dc_decomposition.examples import (
    five_planes,
    moment_arrangement,
    random_arrangement,
    random_fan,
    six_planes,
    twisted_triangles,
)

STRIPS = [[((-1, 0), 0)], [((1, 0), 0), ((-1, 0), 1)], [((1, 0), -1)]]
AXES = [(1, 0), (0, 1), (-1, 0), (0, -1)]
QUADRANTS = [[((s, 0), 0), ((0, t), 0)] for s in (1, -1) for t in (1, -1)]


def shape(complex: Complex) -> tuple[int, int, int]:
    return len(complex.cells), len(complex.walls), len(complex.ridges)


def assert_consistent(complex: Complex) -> None:
    """Walls separate their cells as they say, ridges are closed walks, Euler's relation holds."""
    for wall in complex.walls:
        assert math.gcd(*wall.eta) == 1
        below, above = complex.cells[wall.P], complex.cells[wall.Q]
        assert below.side((wall.eta, -wall.beta)) == -1
        assert above.side((wall.eta, -wall.beta)) == 1
        assert below.intersection(above).dimension == complex.n - 1
    for ridge in complex.ridges:
        assert len(ridge.cycle) >= 3
        ends = [
            (complex.walls[w].P, complex.walls[w].Q)[:: 1 if sign == 1 else -1]
            for w, sign in ridge.cycle
        ]
        assert all(a[1] == b[0] for a, b in zip(ends, ends[1:] + ends[:1], strict=True))
        assert len({w for w, _ in ridge.cycle}) == len(ridge.cycle)


def brute_walls(complex: Complex) -> set[frozenset[int]]:
    return {
        frozenset((p, q))
        for p, q in combinations(range(len(complex.cells)), 2)
        if complex.cells[p].intersection(complex.cells[q]).dimension == complex.n - 1
    }


def brute_ridges(complex: Complex) -> set[frozenset[int]]:
    """Sets of cells around common faces of codimension two."""
    faces: list = []
    for wall, other in combinations(range(len(complex.walls)), 2):
        face = complex.wall_polyhedron(wall).intersection(complex.wall_polyhedron(other))
        if face.dimension == complex.n - 2 and face not in faces:
            faces.append(face)
    return {
        frozenset(k for k, cell in enumerate(complex.cells) if cell.includes(face))
        for face in faces
    }


def around(complex: Complex) -> set[frozenset[int]]:
    return {
        frozenset(c for w, _ in ridge.cycle for c in (complex.walls[w].P, complex.walls[w].Q))
        for ridge in complex.ridges
    }


@pytest.mark.parametrize(
    ("complex", "expected"),
    [
        (Complex.braid(2), (2, 1, 0)),
        (Complex.braid(3), (6, 6, 1)),
        (Complex.braid(4), (24, 36, 14)),
        (Complex.braid(5), (120, 240, 150)),
        (six_planes()[0], (28, 48, 22)),
        (five_planes(), (18, 28, 12)),
        (twisted_triangles(), (10, 15, 6)),
        (twisted_triangles("aB"), (10, 15, 6)),
        (Complex.from_fan2d(AXES), (4, 4, 1)),
        (Complex.from_cells(2, STRIPS), (3, 2, 0)),
        (Complex.from_arrangement([], n=3), (1, 0, 0)),
        (Complex.from_arrangement([((1,), 0), ((1,), "1/2")]), (3, 2, 0)),
    ],
)
def test_known_numbers_of_faces(complex: Complex, expected: tuple[int, int, int]) -> None:
    assert shape(complex) == expected
    assert_consistent(complex)


@pytest.mark.parametrize("complex", [six_planes()[0], twisted_triangles(), Complex.braid(4)])
def test_walls_and_ridges_by_brute_force(complex: Complex) -> None:
    assert {frozenset((w.P, w.Q)) for w in complex.walls} == brute_walls(complex)
    assert around(complex) == brute_ridges(complex)
    assert len(around(complex)) == len(complex.ridges)


@pytest.mark.parametrize(("planes", "n"), [(4, 1), (6, 2), (5, 3), (6, 4)])
def test_general_position_gives_zaslavskys_counts(planes: int, n: int) -> None:
    complex = moment_arrangement(planes, n)
    assert len(complex.cells) == theory.arrangement_cells(planes, n)
    assert len(complex.walls) == planes * theory.arrangement_cells(planes - 1, n - 1)
    pairs = math.comb(planes, 2)
    per_flat = theory.arrangement_cells(planes - 2, n - 2) if n > 1 else 0
    assert len(complex.ridges) == pairs * per_flat


@pytest.mark.parametrize("n", [2, 3])
def test_central_arrangements(n: int) -> None:
    normals = [tuple(t**k for k in range(n)) for t in range(5)]
    complex = Complex.from_arrangement([(normal, 0) for normal in normals])
    assert len(complex.cells) == theory.arrangement_cells(5, n, central=True)
    assert_consistent(complex)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 3))
def test_arrangements_are_what_gluing_their_cells_gives(seed: int, planes: int, n: int) -> None:
    """Two constructions: sign vectors, and matching of facets by their generators."""
    complex = random_arrangement(np.random.default_rng(seed), planes, n, size=2)
    glued = Complex.from_cells(n, [cell.inequalities for cell in complex.cells])
    assert shape(glued) == shape(complex)
    assert around(glued) == around(complex)
    assert_consistent(complex)
    assert_consistent(glued)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 8))
def test_plane_fans(seed: int, rays: int) -> None:
    fan = random_fan(np.random.default_rng(seed), rays)
    assert_consistent(fan)
    for wall, ray in zip(fan.walls, fan.rays, strict=True):
        assert wall.eta == (-ray[1], ray[0])
        assert fan.cells[wall.P].contains(ray)
        assert fan.cells[wall.Q].contains(ray)
    assert all(sign == 1 for _, sign in fan.ridges[0].cycle)


@pytest.mark.parametrize("complex", [six_planes()[0], five_planes(), Complex.braid(4)])
def test_gluing_where_many_walls_meet_in_a_point(complex: Complex) -> None:
    """Two facets of a cell may share just the apex, which is no ridge in 3-space."""
    glued = Complex.from_cells(complex.n, [cell.inequalities for cell in complex.cells])
    assert shape(glued) == shape(complex)
    assert around(glued) == around(complex)
    assert_consistent(glued)


def test_rays_in_any_order_and_not_primitive() -> None:
    fan = Complex.from_fan2d([(0, -3), ("1/2", 0), (-2, -2), (0, 5), (-1, 0)])
    assert fan.rays == [(1, 0), (0, 1), (-1, 0), (-1, -1), (0, -1)]


def test_braid_walls_carry_their_set_and_pair() -> None:
    fan = Complex.braid(4)
    assert_consistent(fan)
    for wall in fan.walls:
        i, j = wall.pair
        assert i < j
        assert not wall.S & {i, j}
        assert fan.orders[wall.Q].index(i) + 1 == fan.orders[wall.Q].index(j)
        assert set(fan.orders[wall.Q][: len(wall.S)]) == wall.S
        assert fan.cells[wall.Q].is_nonnegative((wall.eta, 0))
    kinds = {(wall.S, wall.pair) for wall in fan.walls}
    assert len(kinds) == math.comb(4, 2) * 2**2


def test_products() -> None:
    fan, line = (
        Complex.from_fan2d([(1, 0), (0, 1), (-1, -1)]),
        Complex.from_arrangement([((1,), 2)]),
    )
    both = Complex.product(fan, line)
    assert both.n == 3
    assert shape(both) == (6, 9, 5)
    assert_consistent(both)
    assert around(both) == brute_ridges(both)
    glued = Complex.from_cells(3, [cell.inequalities for cell in both.cells])
    assert shape(glued) == shape(both)


def test_the_cells_cover_without_overlap() -> None:
    rng = np.random.default_rng(5)
    for complex in (six_planes()[0], twisted_triangles(), Complex.braid(3)):
        for _ in range(30):
            point = [Fraction(int(x), 97) for x in rng.integers(-500, 500, complex.n)]
            assert sum(cell.contains(point) for cell in complex.cells) == 1


@pytest.mark.parametrize(
    ("hreps", "message"),
    [
        ([], "at least one cell"),
        (STRIPS[:2], "do not cover"),
        ([*STRIPS, [((1, 0), -1), ((0, 1), 0)]], "overlap"),
        ([*STRIPS, STRIPS[1]], "overlap"),
        ([STRIPS[0], [((1, 0), 0)], [((1, 0), 0), ((0, 1), 0)]], "overlap"),
        ([QUADRANTS[0], QUADRANTS[1], [((-1, 0), 0)]], "not face to face"),
        ([[((1, 0), 0), ((-1, 0), 0)], *STRIPS], "not full-dimensional"),
        ([[((1, 0), 0), ((-1, 0), -1)], *STRIPS], "not full-dimensional"),
    ],
)
def test_what_is_no_complex_is_refused(hreps: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Complex.from_cells(2, hreps)


def test_a_brick_wall_is_not_face_to_face() -> None:
    """Same lineality everywhere, but the upper joint meets the middle of a lower facet."""
    up = [[((0, 1), 0), ((1, 0), -1)], [((0, 1), 0), ((-1, 0), 1)]]
    down = [[((0, -1), 0), ((1, 0), 0)], [((0, -1), 0), ((-1, 0), 0)]]
    with pytest.raises(ValueError, match="not face to face"):
        Complex.from_cells(2, up + down)


def test_two_covers_at_once_overlap() -> None:
    """Each cover is glued facet to facet; only the multiplicity betrays them."""
    with pytest.raises(ValueError, match="overlap"):
        Complex.from_cells(2, [*STRIPS, [((0, 1), 0)], [((0, -1), 0)]])
    with pytest.raises(ValueError, match="overlap"):
        Complex.from_cells(
            2,
            [
                *QUADRANTS,
                [((1, 1), 0), ((1, -1), 0)],
                [((1, 1), 0), ((-1, 1), 0)],
                [((-1, -1), 0), ((1, -1), 0)],
                [((-1, -1), 0), ((-1, 1), 0)],
            ],
        )


@pytest.mark.parametrize(
    ("rays", "message"),
    [
        ([(1, 0), (0, 1)], "3 rays"),
        ([(1, 0), (0, 1), (-1, 0)], "not strictly convex"),
        ([(1, 0), (0, 1), (-1, 1)], "not strictly convex"),
        ([(1, 0), (0, 0), (-1, 1)], "ray 1 is the zero vector"),
        ([(1, 0), (0, 1), (-1, -1), (2, 0)], "ray 3 repeats ray 0"),
        ([(1, 0), (0, 1, 1), (-1, -1)], "2 are needed"),
        ([(1, float("nan")), (0, 1), (-1, -1)], "finite"),
    ],
)
def test_bad_fans_are_refused(rays: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Complex.from_fan2d(rays)


@pytest.mark.parametrize(
    ("planes", "message"),
    [
        ([], "needs the dimension"),
        ([((0, 0), 1)], "zero normal"),
        ([((1, 2), 1), ((-2, -4), -2)], "repeats hyperplane 0"),
        ([((1, 2), 1), ((1,), 1)], "2 are needed"),
        ([((1, float("inf")), 1)], "finite"),
    ],
)
def test_bad_arrangements_are_refused(planes: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Complex.from_arrangement(planes)


def test_floats_need_permission() -> None:
    for build in (
        lambda: Complex.from_arrangement([((0.5, 1), 0)]),
        lambda: Complex.from_arrangement([((1, 1), 0.5)]),
        lambda: Complex.from_fan2d([(1.0, 0), (0, 1), (-1, -1)]),
        lambda: Complex.from_cells(1, [[((1.0,), 0)], [((-1,), 0)]]),
    ):
        with pytest.raises(TypeError, match="rationalise"):
            build()
    plane = Complex.from_arrangement([((0.5, 1), 0.1)], rationalise=10).hyperplanes[0]
    assert plane == ((1, 2), Fraction(1, 5))
    assert Complex.from_fan2d([(0.5, 0), (0, 1), (-1, -1)], rationalise=True).rays[0] == (1, 0)


def test_dimensions_are_checked() -> None:
    with pytest.raises(ValueError, match="n >= 2"):
        Complex.braid(1)
    with pytest.raises(ValueError, match="at least 1"):
        Complex.from_arrangement([], n=0)
    with pytest.raises(TypeError, match="int"):
        Complex.from_cells(2.0, STRIPS)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="pair"):
        Complex.from_cells(2, [[(1, 0, 0)]])  # type: ignore[list-item]
