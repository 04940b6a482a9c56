from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.dc_decomposition import (
    CPWL,
    Complex,
    Decomposition,
    DecompositionPolyhedron,
    NotBalanced,
    compensating_vector,
    dominates,
    kink_fan,
    local_rule,
    plane_fan_vertices,
    with_ray,
)
from theorylab.dc_decomposition import counterexamples as instances
from theorylab.dc_decomposition.examples import (
    STAR,
    median_of_three,
    phi_terms,
    random_fan,
    random_function,
    standard_example,
)


def by_ray(vertex):
    """Weights of g per ray, without the zeros."""
    rays = vertex.f.complex.rays
    return {ray: w for ray, w in zip(rays, vertex.w_g, strict=True) if w}


def test_standard_example() -> None:
    fan, f = standard_example()
    weights = dict(zip(fan.rays, f.weights, strict=True))
    assert weights == {(1, 0): -1, (1, 1): 2, (0, 1): -1, (-1, 0): 1, (-1, -1): 0, (0, -1): 1}
    assert compensating_vector(fan, f) == (-1, -1)
    first, second = plane_fan_vertices(fan, f)
    assert first.counts == (4, 3)
    assert by_ray(first) == {(1, 1): 2, (-1, 0): 1, (0, -1): 1, (-1, -1): 1}
    assert second.counts == (3, 4)
    assert by_ray(second) == {(1, 1): 2, (-1, 0): 2, (0, -1): 2}


def test_refining_the_fan_adds_a_pareto_point() -> None:
    _, f = standard_example()
    own = kink_fan(f)
    assert len(own.rays) == 5
    assert [v.counts for v in plane_fan_vertices(own, f)] == [(3, 4)]
    finer = with_ray(own, (-3, -3))
    assert sorted(v.counts for v in plane_fan_vertices(finer, f)) == [(3, 4), (4, 3)]
    assert with_ray(finer, (-1, -1)) is finer


def test_three_term_example_has_four_vertices() -> None:
    fan, f = instances.three_terms()
    extra = []
    for vertex in plane_fan_vertices(fan, f):
        rho = {
            ray: w - max(x, 0)
            for ray, w, x in zip(fan.rays, vertex.w_g, f.weights, strict=True)
            if w > max(x, 0)
        }
        extra.append((rho, vertex.counts))
    half = Fraction(1, 2)
    expected = [
        ({(-1, -1): 1}, (4, 5)),
        ({(-2, -1): half, (0, -1): half}, (4, 5)),
        ({(-1, 0): 1, (0, -1): 1}, (3, 6)),
        ({(1, 0): 1, (-2, -1): 1}, (5, 4)),
    ]
    assert sorted(extra, key=str) == sorted(expected, key=str)


@given(seed=st.integers(0, 10**6), rays=st.integers(3, 11))
@settings(max_examples=60, deadline=None)
def test_closed_form_is_what_every_enumeration_finds(seed, rays) -> None:
    rng = np.random.default_rng(seed)
    fan = random_fan(rng, rays)
    f = random_function(fan, rng)
    closed = {v.w_g for v in plane_fan_vertices(fan, f)}
    polyhedron = DecompositionPolyhedron(fan, f)
    assert closed == {v.w_g for v in polyhedron.vertices("ppl")}
    assert closed == {v.w_g for v in polyhedron.vertices("cdd")}


@given(seed=st.integers(0, 10**6), rays=st.integers(4, 9), factor=st.fractions(0, 5))
@settings(max_examples=40, deadline=None)
def test_scaling_the_function_scales_the_vertices(seed, rays, factor) -> None:
    rng = np.random.default_rng(seed)
    fan = random_fan(rng, rays)
    f = random_function(fan, rng)
    scaled = {v.w_g for v in plane_fan_vertices(fan, f * factor)}
    assert scaled == {tuple(factor * w for w in v.w_g) for v in plane_fan_vertices(fan, f)}


def test_balanced_positive_part_is_the_only_vertex() -> None:
    fan = Complex.from_fan2d(STAR)
    f = CPWL.from_terms(fan, [(3, [((1, 0), 0), ((-1, 0), 0)]), (-2, [((1, -1), 0), ((-1, 1), 0)])])
    assert compensating_vector(fan, f) == (0, 0)
    (only,) = plane_fan_vertices(fan, f)
    assert list(only.w_g) == [max(w, 0) for w in f.weights]
    assert only.counts == (2, 2)
    assert local_rule(fan, f) == only


def test_closed_form_refuses_what_it_cannot_treat() -> None:
    complex, f = median_of_three()
    with pytest.raises(TypeError, match="plane fan"):
        plane_fan_vertices(complex, f)
    with pytest.raises(TypeError, match="plane fan"):
        kink_fan(f)
    _, f = standard_example()
    other = Complex.from_fan2d([(1, 0), (0, 1), (-1, -2)])
    with pytest.raises(ValueError, match="not compatible"):
        plane_fan_vertices(other, f)


def test_kinks_without_a_complete_fan() -> None:
    fan = Complex.from_fan2d(STAR)
    f = CPWL.from_terms(fan, [(1, [((0, 0), 0), ((1, 0), 0)])])
    with pytest.raises(ValueError, match="ray"):
        kink_fan(f)


@given(seed=st.integers(0, 10**6), rays=st.integers(4, 9))
@settings(max_examples=40, deadline=None)
def test_in_the_conewise_plane_the_rule_has_the_least_total(seed, rays) -> None:
    rng = np.random.default_rng(seed)
    fan = random_fan(rng, rays)
    f = random_function(fan, rng)
    rule = local_rule(fan, f)
    assert isinstance(rule, Decomposition)
    finer = rule.f.complex
    least = min(sum(v.counts) for v in plane_fan_vertices(finer, f))
    assert sum(rule.counts) == least


@pytest.mark.parametrize(
    ("instance", "cells", "walls", "dim", "rule", "counts"),
    [
        (instances.prism(), 12, 18, 5, (8, 3), [(6, 4), (8, 3)]),
        (
            instances.crossing_stars(),
            28,
            48,
            8,
            (12, 12),
            [(9, 14), (11, 11), (12, 12), (14, 9)],
        ),
        (
            instances.two_centres(),
            31,
            50,
            10,
            (13, 14),
            [(11, 16), (13, 13), (13, 14), (16, 12)],
        ),
    ],
    ids=["prism", "crossing stars", "two centres"],
)
def test_instances_where_the_rule_is_beaten(instance, cells, walls, dim, rule, counts) -> None:
    complex, f = instance
    polyhedron = DecompositionPolyhedron(complex, f)
    assert (len(complex.cells), len(complex.walls), polyhedron.dim) == (cells, walls, dim)
    completed = local_rule(complex, f)
    assert isinstance(completed, Decomposition)
    assert completed.counts == rule
    assert polyhedron.is_vertex(completed)
    assert sorted(v.counts for v in polyhedron.vertices()) == counts


@pytest.mark.parametrize(
    ("sign", "rule", "better", "front"),
    [
        (-1, (20, 20), (18, 18), [(12, 30), (15, 24), (18, 18), (24, 15), (30, 12)]),
        (1, (16, 25), (15, 24), [(9, 36), (12, 30), (15, 24), (20, 20), (25, 16)]),
    ],
)
def test_products_of_stars(sign, rule, better, front) -> None:
    complex, f = instances.product_of_stars(sign)
    polyhedron = DecompositionPolyhedron(complex, f)
    assert (len(complex.cells), len(complex.walls), polyhedron.dim) == (64, 128, 12)
    assert len(polyhedron.vertices()) == 16
    completed = local_rule(complex, f)
    assert isinstance(completed, Decomposition)
    assert completed.counts == rule
    assert dominates(better, rule)
    assert sorted({v.counts for v in polyhedron.pareto()}) == front


def test_the_factor_of_the_product_forces_thirty_nine() -> None:
    fan, f = instances.three_terms()
    negative = [v.counts for v in plane_fan_vertices(fan, -f)]
    assert min(4 * g + 5 * h for g, h in negative) == 39


def test_functions_of_the_instances_by_their_formulas() -> None:
    """Values at integer points against the formulas, written out independently."""

    def phi(a, b):
        return 2 * max(0, a, b) - max(0, a) - max(0, b)

    def phi3(a, b):
        return phi(a, b) - max(0, a - 2 * b)

    rng = np.random.default_rng(0)
    prism, stars, centres = (
        instances.prism()[1],
        instances.crossing_stars()[1],
        instances.two_centres()[1],
    )
    minus, plus = (instances.product_of_stars(sign)[1] for sign in (-1, 1))
    for _ in range(40):
        x, y, z, t = (int(c) for c in rng.integers(-40, 41, 4))
        assert prism((x, y, z)) == phi(x, y) + abs(z)
        assert stars((x, y, z)) == phi(-y, x + y + z) - phi(-x, -z)
        assert minus((x, y, z, t)) == phi3(x, y) - phi3(z, t)
        assert plus((x, y, z, t)) == phi3(x, y) + phi3(z, t)
        two = phi(x, y) + max(-x - y - 5, 0) - phi(x - 30, y + 20) - max(-x - y + 5, 0)
        assert centres((x, y)) == two


def test_product_needs_a_sign() -> None:
    with pytest.raises(ValueError, match="sign"):
        instances.product_of_stars(2)


def test_local_rule_needs_the_half_plane() -> None:
    """Without the plane x = y beyond the axis there is nothing to complete with."""
    cells = [
        [((-1, 0, 0), 0), ((0, 1, 0), 0)],
        [((-1, 0, 0), 0), ((0, -1, 0), 0)],
        [((1, 0, 0), 0), ((0, -1, 0), 0)],
        [((0, 1, 0), 0), ((1, -1, 0), 0)],
        [((1, 0, 0), 0), ((-1, 1, 0), 0)],
    ]
    complex = Complex.from_cells(3, cells)
    f = CPWL.from_terms(complex, phi_terms((1, 0, 0), (0, 1, 0)))
    rule = local_rule(complex, f)
    assert isinstance(rule, NotBalanced)
    assert rule.ridge == 0
    assert any(rule.imbalance)
    assert DecompositionPolyhedron(complex, f).vertices()[0].counts == (3, 4)


def test_dominates() -> None:
    assert dominates((1, 2), (1, 3))
    assert not dominates((1, 2), (1, 2))
    assert not dominates((1, 4), (2, 3))
