from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np
import pytest

from theorylab.dc_decomposition import (
    CPWL,
    Complex,
    DecompositionPolyhedron,
    Ridge,
    regularity,
    theory,
    weight_space,
)
from theorylab.dc_decomposition.balancing import (
    cycle_rows,
    is_simple_crossing,
    plain_null_space,
    ridge_rows,
)
from theorylab.dc_decomposition.examples import (
    five_planes,
    median_of_three,
    moment_arrangement,
    random_arrangement,
    random_fan,
    random_function,
    six_planes,
    twisted_triangles,
)
from theorylab.dc_decomposition.functions import unbalanced_ridge
from theorylab.exact import rank

ZOO = [
    (median_of_three()[0], 4),
    (Complex.braid(3), 4),
    (Complex.braid(4), 11),
    (six_planes()[0], 8),
    (five_planes(), 7),
    (twisted_triangles(), 4),
    (moment_arrangement(5, 3), 5),
    (moment_arrangement(4, 1), 4),
    (Complex.from_arrangement([], n=2), 0),
]


@pytest.mark.parametrize(("complex", "dim"), ZOO)
def test_dimension_and_span_agree_with_the_plain_null_space(complex: Complex, dim: int) -> None:
    space = weight_space(complex)
    walls = len(complex.walls)
    plain = plain_null_space(complex)
    assert space.dim == dim == len(plain)
    assert rank([*space.basis, *plain], walls) == dim == rank(space.basis, walls)
    assert all(unbalanced_ridge(complex, vector) is None for vector in space.basis)


@pytest.mark.parametrize(("complex", "dim"), ZOO)
def test_ridges_and_cycles_have_one_solution_space(complex: Complex, dim: int) -> None:
    walls = len(complex.walls)
    ridges, cycles = ridge_rows(complex), cycle_rows(complex)
    assert rank(ridges, walls) == rank(cycles, walls) == rank(ridges + cycles, walls)
    assert walls - rank(ridges, walls) == dim


@pytest.mark.parametrize("rays", [3, 4, 7, 10])
def test_plane_fans(rays: int) -> None:
    fan = random_fan(np.random.default_rng(rays), rays)
    assert weight_space(fan).dim == theory.plane_fan_dimension(rays)


def test_braid_fans_are_set_functions_modulo_modular_ones() -> None:
    for n in (2, 3, 4, 5):
        cells, walls, dim = theory.braid_shape(n)
        fan = Complex.braid(n)
        assert (len(fan.cells), len(fan.walls), weight_space(fan).dim) == (cells, walls, dim)


def test_rows_merge_as_the_book_says() -> None:
    """36 walls of braid 4 carry 24 numbers, 240 of braid 5 carry 80."""
    assert len(Complex.braid(4).weight_space.rows) == 24
    assert len(Complex.braid(5).weight_space.rows) == 80


def test_walls_of_one_class_carry_one_weight() -> None:
    complex = random_arrangement(np.random.default_rng(4), 6, 3)
    space = weight_space(complex)
    assert sorted(wall for walls in space.classes for wall in walls) == list(
        range(len(complex.walls))
    )
    f = random_function(complex, np.random.default_rng(5))
    for walls in space.classes:
        assert len({f.weights[wall] for wall in walls}) == 1
    for row in space.rows:
        numbers = {
            f.weights[wall] / scale for wall, scale in zip(row.walls, row.scales, strict=True)
        }
        assert len(numbers) == 1


def test_coordinates_and_row_values_invert() -> None:
    complex = six_planes()[0]
    space = complex.weight_space
    f = random_function(complex, np.random.default_rng(6))
    t = space.coordinates(f.weights)
    assert t is not None
    assert space.weights_at(t) == f.weights
    assert space.from_row_values(space.row_values(f.weights)) == f.weights
    third = [Fraction(x, 3) for x in t]
    for (numbers, scale), part in zip(space.numbers_at([t, third]), (1, 3), strict=True):
        assert gcd(scale, *numbers) == 1
        values = [Fraction(number, scale) * part for number in numbers]
        assert values == space.row_values(f.weights)
    assert space.numbers_at([]) == []
    assert space.coordinates([1] + [0] * (len(complex.walls) - 1)) is None


def test_annihilators() -> None:
    complex = Complex.from_fan2d([(1, 0), (0, 1), (-1, 0), (0, -1)])
    space = complex.weight_space
    assert space.is_annihilator((1, 0, -1, 0))
    assert not space.is_annihilator((1, 0, 1, 0))


def test_a_dropped_ridge_or_a_wrong_sign_changes_the_space() -> None:
    fan, _ = median_of_three()
    without = Complex(2, fan.cells, fan.walls, [])
    assert weight_space(without).dim == 6
    (wall, sign), *rest = fan.ridges[0].cycle
    turned = Complex(2, fan.cells, fan.walls, [Ridge(((wall, -sign), *rest))])
    right = weight_space(fan)
    assert not all(unbalanced_ridge(turned, vector) is None for vector in right.basis)


def test_simple_crossings() -> None:
    complex = Complex.braid(4)
    simple = [is_simple_crossing(complex, ridge) for ridge in complex.ridges]
    assert simple.count(True) == 6
    assert all(len(r.cycle) == (4 if s else 6) for r, s in zip(complex.ridges, simple, strict=True))
    fan = Complex.from_fan2d([(1, 0), (0, 1), (-1, 1), (0, -1)])
    assert not is_simple_crossing(fan, fan.ridges[0])


def triangle_with_legs(slope: int) -> Complex:
    """A triangle with a half-line from each corner; the one at 0 runs along y = slope * x."""
    leg = (slope, -1), 0
    other_side = (-slope, 1), 0
    return Complex.from_cells(
        2,
        [
            [((1, 0), 0), ((0, 1), 0), ((-1, -1), 4)],
            [((0, -1), 0), leg, ((-1, -2), 4)],
            [((1, 1), -4), ((1, 2), -4), ((2, 1), -4)],
            [((-1, 0), 0), other_side, ((-2, -1), 4)],
        ],
    )


def test_legs_through_one_point_lift_and_others_do_not() -> None:
    """Maxwell: three legs lift to a convex function exactly if their lines meet."""
    lifted, rigid = triangle_with_legs(1), triangle_with_legs(2)
    assert weight_space(lifted).dim == 1
    assert len(weight_space(lifted).rows) == 1
    assert weight_space(rigid).dim == 0
    assert weight_space(rigid).rows == ()
    assert regularity(lifted).is_regular
    assert not regularity(rigid).is_regular
    polyhedron = DecompositionPolyhedron(rigid, CPWL(rigid, [((1, 2), 3)] * 4))
    assert [dec.counts for dec in polyhedron.vertices()] == [(1, 1)]
    assert polyhedron.rays() == []
