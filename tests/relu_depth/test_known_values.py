"""Hulls, volumes, hinges and the solver against values known from elsewhere."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from theorylab.relu_depth.ansatz import NoRepresentation, solve_max, symmetrised_column, templates
from theorylab.relu_depth.hinges import Block, hinge_normal_form, symmetrised
from theorylab.relu_depth.hulls import convex_hull
from theorylab.relu_depth.polytopes import (
    LatticePolytope,
    dilate,
    hull_union,
    minkowski,
    mixed_volume,
    normalized_volume,
    unit_simplex,
)


def test_mixed_area_of_a_rectangle_and_a_triangle():
    rectangle = LatticePolytope([(2, 0), (5, 0), (2, 1), (5, 1)])
    triangle = unit_simplex(2).translated((0, 2))
    both = minkowski(rectangle, triangle)
    assert (rectangle.volume(), triangle.volume(), both.volume()) == (6, 1, 15)
    assert mixed_volume([rectangle, triangle]) == 4


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_a_cube_has_volume_d_factorial(d):
    cube = LatticePolytope(list(product((0, 1), repeat=d)))
    assert cube.volume() == factorial(d)
    assert len(cube.vertices) == 2**d
    assert len(cube.facets) == 2 * d


@pytest.mark.parametrize(("d", "size"), [(2, 5), (3, 5), (4, 4), (5, 1000)])
def test_volume_agrees_with_floating_point(d, size):
    points = np.random.default_rng(d).integers(-size, size + 1, (25, d))
    exact = convex_hull(sorted({tuple(map(int, p)) for p in points})).volume
    assert ConvexHull(points.astype(float)).volume * factorial(d) == pytest.approx(exact)


def test_huge_coordinates_scale_the_volume_exactly():
    points = [tuple(map(int, p)) for p in np.random.default_rng(0).integers(-4, 5, (12, 3))]
    factor = 10**25
    small = LatticePolytope(points).volume()
    assert LatticePolytope([[factor * x for x in p] for p in points]).volume() == factor**3 * small


def test_volume_is_measured_in_the_lattice_of_the_affine_hull():
    triangle = LatticePolytope([(1, 0, 0), (0, 1, 0), (0, 0, 1)])
    assert triangle.dim == 2
    assert normalized_volume(triangle, 2) == 1
    assert normalized_volume(triangle, 3) == 0
    with pytest.raises(ValueError, match="dimension 2 has no volume in dimension 1"):
        normalized_volume(triangle, 1)


@pytest.mark.parametrize(
    ("points", "error"),
    [
        ([], ValueError),
        ([(0, 1), (0,)], ValueError),
        ([(0.5, 1)], TypeError),
        ([(True, 1)], TypeError),
    ],
)
def test_bad_points_are_refused(points, error):
    with pytest.raises(error):
        LatticePolytope(points)


def test_two_hidden_layers_compute_the_maximum_of_five():
    """The identity of Bakaev et al. as an equality of polytopes with 37 vertices."""

    def unit(*indices):
        return LatticePolytope([[indices.count(j) for j in range(1, 6)]])

    def loose(i):
        (a, b), (c, d) = ((1, 2), (3, 4)) if i in (1, 2) else ((3, 4), (1, 2))
        groups = minkowski(hull_union(unit(i), unit(c)), hull_union(unit(i), unit(d)))
        return hull_union(unit(5, 5), unit(a, b), groups)

    def pairs(a, b):
        return hull_union(unit(5, 5), unit(a, b), unit(1, 2), unit(3, 4))

    simplex = hull_union(*(unit(i) for i in range(1, 6)))
    last = hull_union(unit(5, 5), unit(1, 2), unit(3, 4))
    left = minkowski(*(loose(i) for i in (1, 2, 3, 4)), last)
    crossing = [pairs(1, 3), pairs(1, 4), pairs(2, 3)]
    right = minkowski(dilate(simplex, 2), *crossing, pairs(2, 4))
    assert left == right
    assert len(left.vertices) == 37
    assert left.volume() == 5056
    assert left != minkowski(dilate(simplex, 2), *crossing, last)


@pytest.mark.parametrize(("n", "k", "count"), [(5, 2, 131), (6, 2, 144)])
def test_number_of_templates(n, k, count):
    assert len(templates(n, k)) == count


def test_a_symmetrised_column_is_the_sum_over_the_orbit():
    for block in templates(5, 2)[::7]:
        summed = hinge_normal_form(symmetrised(block, 5), range(5))
        column = symmetrised_column(block, 5)
        assert summed.hinges == column.hinges
        assert summed.linear == column.linear


@pytest.mark.parametrize("n", [5, 6])
def test_the_solution_is_the_maximum_on_every_chamber(n):
    certificate = solve_max(n)
    terms = [
        (coefficient * count, member)
        for coefficient, template in certificate.terms
        for count, member in symmetrised(template, n)
    ]
    rng = np.random.default_rng(n)
    for _ in range(5):
        chamber = [int(i) for i in rng.permutation(n)]
        form = hinge_normal_form(terms, chamber)
        assert form.is_linear
        assert form.linear == (0,) * (n - 1) + (1,)


def test_a_spoilt_certificate_leaves_hinges():
    certificate = solve_max(6)
    (coefficient, template), *others = certificate.terms
    spoilt = [(coefficient + Fraction(1, 10**6), template), *others]
    terms = [(c * count, member) for c, t in spoilt for count, member in symmetrised(t, 6)]
    form = hinge_normal_form(terms, range(6))
    assert not form.is_linear or form.linear != (0, 0, 0, 0, 0, 1)


def test_too_small_an_ansatz_is_refused_with_a_dual_certificate():
    with pytest.raises(NoRepresentation) as caught:
        solve_max(6, 1)
    assert caught.value.dual[-1] == 1


def test_blocks_are_symmetric_in_everything():
    assert Block(((1, 0),), ((2, 2),)) == Block(((2, 2),), ((0, 1),))
    with pytest.raises(ValueError, match="same positive number"):
        Block(((0, 1),), ())
