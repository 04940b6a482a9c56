from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.dc_decomposition import CPWL, Complex, direct_sum, integrate, weights
from theorylab.dc_decomposition.examples import (
    STAR,
    linear,
    median_of_three,
    order_statistic,
    random_arrangement,
    random_convex,
    random_fan,
    random_function,
    random_set_function,
    six_planes,
    standard_example,
    top_sum,
    twisted_triangles,
)
from theorylab.dc_decomposition.functions import (
    count_regions,
    imbalance,
    integrate_along_tree,
    transfer,
    unbalanced_ridge,
)

ZERO, X, Y = linear((0, 0)), linear((1, 0)), linear((0, 1))
AXES = [(1, 0), (0, 1), (-1, 0), (0, -1)]
seeds = st.integers(0, 2**32 - 1)
coordinates = st.fractions(-5, 5, max_denominator=7)


def evaluate(terms: list, point: tuple) -> Fraction:
    """The sum of maxima, straight from its definition."""
    total = Fraction(0)
    for coefficient, forms in terms:
        total += coefficient * max(
            sum((a * x for a, x in zip(vector, point, strict=True)), Fraction(b))
            for vector, b in forms
        )
    return total


@given(st.tuples(coordinates, coordinates))
def test_values_are_those_of_the_terms(point: tuple) -> None:
    terms = [(2, [ZERO, X, Y]), (-1, [ZERO, X]), ("-1/3", [ZERO, Y])]
    f = CPWL.from_terms(Complex.from_fan2d(STAR), terms)
    assert f(point) == evaluate([(Fraction(c), forms) for c, forms in terms], point)


def test_the_median_of_three() -> None:
    _, f = median_of_three()
    for point in [(3, 5), (-1, 4), (Fraction(1, 2), -2), (7, 7)]:
        assert f(point) == sorted((0, *point))[1]
    assert f.pieces() == 6
    assert f.affine_components() == 3
    assert sorted(f.weights) == [-1, -1, -1, 1, 1, 1]
    assert not f.is_convex()


def test_weights_of_the_standard_example_ray_by_ray() -> None:
    fan, f = standard_example()
    by_ray = dict(zip(fan.rays, f.weights, strict=True))
    assert by_ray == {
        (1, 0): -1, (1, 1): 2, (0, 1): -1, (-1, 0): 1, (-1, -1): 0, (0, -1): 1,
    }  # fmt: skip


def test_a_hinge_has_the_content_of_its_form_as_weight() -> None:
    """max(0, 4x - 6y) = 2 max(0, 2x - 3y): weight 2 on the primitive normal."""
    line = Complex.from_arrangement([((4, -6), 2)])
    hinge = CPWL.from_terms(line, [(3, [ZERO, ((4, -6), -2)])])
    assert hinge.weights == [6]
    assert weights(line, [((0, 0), 0), ((4, -6), -2)]) == [2]


def test_terms_that_cancel_inside_a_cell_are_recognised() -> None:
    """|x| - max(x, -x) kinks nowhere, although each term does."""
    plane = Complex.from_arrangement([], n=2)
    minus = linear((-1, 0))
    nothing = CPWL.from_terms(plane, [(1, [X, minus]), (-1, [minus, X, X])])
    assert nothing.pieces_on_cells == [((0, 0), 0)]
    with pytest.raises(ValueError, match=r"not compatible.*cell 0"):
        CPWL.from_terms(plane, [(1, [X, minus])])


@given(seeds)
def test_integration_inverts_weights_up_to_an_affine_map(seed: int) -> None:
    rng = np.random.default_rng(seed)
    complex = random_arrangement(rng, 4, 2)
    f = random_function(complex, rng)
    shifted = CPWL(
        complex, [((a + 3, c - 1), b + Fraction(1, 2)) for (a, c), b in f.pieces_on_cells]
    )
    assert weights(complex, shifted) == f.weights
    assert integrate(complex, shifted.weights).pieces_on_cells == f.pieces_on_cells
    assert f.pieces_on_cells[0] == ((0, 0), 0)


@pytest.mark.parametrize("complex", [six_planes()[0], twisted_triangles(), Complex.braid(4)])
def test_integrated_functions_are_continuous_on_walls_off_the_tree(complex: Complex) -> None:
    f = random_function(complex, np.random.default_rng(2))
    again = CPWL(complex, f.pieces_on_cells)
    assert again.weights == f.weights


def test_unbalanced_weights_are_refused_and_named() -> None:
    fan = Complex.from_fan2d(AXES)
    with pytest.raises(ValueError, match="not balanced around ridge 0"):
        integrate(fan, (1, 0, 0, 0))
    assert imbalance(fan, fan.ridges[0], (1, 0, 0, 0)) == (0, 1)
    assert unbalanced_ridge(fan, (1, 2, 1, 2)) is None
    with pytest.raises(ValueError, match="4 are needed"):
        integrate(fan, (1, 2, 1))
    with pytest.raises(TypeError, match="rationalise"):
        integrate(fan, (1.0, 2, 1, 2))


def test_the_tree_alone_does_not_notice() -> None:
    """Summed along a tree, unbalanced weights jump outside it or turn into other weights."""
    fan = Complex.from_fan2d(AXES)
    with pytest.raises(ValueError, match="not continuous"):
        CPWL(fan, integrate_along_tree(fan, (1, 1, 0, 0)))
    assert CPWL(fan, integrate_along_tree(fan, (1, 0, 0, 0))).weights != [1, 0, 0, 0]


def test_discontinuous_pieces_are_refused() -> None:
    line = Complex.from_arrangement([((1, 0), 1)])
    for wrong in ([((0, 0), 0), ((1, 0), 0)], [((0, 0), 0), ((1, 1), -1)]):
        with pytest.raises(ValueError, match=r"not continuous.*cells 0 and 1"):
            CPWL(line, wrong)
    with pytest.raises(ValueError, match="2 affine maps are needed"):
        CPWL(line, [((0, 0), 0)])
    with pytest.raises(TypeError, match="pair"):
        CPWL(line, [(0, 0, 0), (1, 0, -1)])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="at least one affine map"):
        CPWL.from_terms(line, [(1, [])])


def test_floats_need_permission() -> None:
    line = Complex.from_arrangement([((1,), 0)])
    pieces = [((0,), 0), ((0.5,), 0)]
    with pytest.raises(TypeError, match="rationalise"):
        CPWL(line, pieces)
    assert CPWL(line, pieces, rationalise=True).weights == [Fraction(1, 2)]
    with pytest.raises(TypeError, match="rationalise"):
        CPWL.from_terms(line, [(0.5, [((0,), 0), ((1,), 0)])])
    with pytest.raises(ValueError, match="finite"):
        CPWL(line, [((0,), 0), ((float("nan"),), 0)], rationalise=True)


@given(seeds)
def test_convex_functions_have_as_many_pieces_as_affine_maps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    f = random_convex(random_fan(rng, 6), rng)
    assert f.is_convex()
    assert f.pieces() == f.affine_components() == len(set(f.pieces_on_cells))


def test_a_nonconvex_region_counts_once() -> None:
    """max(0, min(x,y)) vanishes on an L-shaped region: three regions, four cells at least."""
    fan = Complex.from_fan2d([(1, 0), (1, 1), (0, 1), (-1, -1)])
    f = CPWL(fan, [Y, X, ZERO, ZERO])
    assert f.pieces() == 3
    assert count_regions(fan, f.weights) == 3


def test_arithmetic() -> None:
    fan, f = standard_example()
    g = CPWL.from_terms(fan, [(1, [ZERO, X, Y])])
    point = (3, -2)
    assert (f + g)(point) == f(point) + g(point)
    assert (f - g)(point) == f(point) - g(point)
    assert (f * "2/3")(point) == (Fraction(2, 3) * f)(point) == Fraction(2, 3) * f(point)
    assert (-f).weights == [-w for w in f.weights]
    with pytest.raises(ValueError, match="different complexes"):
        f + median_of_three()[1]
    with pytest.raises(TypeError, match="rationalise"):
        f * 0.5


def test_transfer_to_a_refinement_and_back() -> None:
    fan, f = standard_example()
    lines = [((1, 0), 0), ((0, 1), 0), ((1, -1), 0), ((1, 2), 3)]
    finer = Complex.from_arrangement(lines)
    moved = transfer(f, finer)
    for point in [(1, 1), (-3, 2), (Fraction(1, 3), -5)]:
        assert moved(point) == f(point)
    assert transfer(moved, fan).pieces_on_cells == f.pieces_on_cells
    assert weights(finer, f) == moved.weights
    with pytest.raises(ValueError, match="not compatible"):
        transfer(f, Complex.from_fan2d(AXES))
    with pytest.raises(ValueError, match="2 variables"):
        transfer(f, Complex.braid(3))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_lovasz_extension_from_its_definition(n: int) -> None:
    values = random_set_function(np.random.default_rng(n), n)
    f = CPWL.from_set_function(n, values)
    for subset, value in values.items():
        assert f([int(i in subset) for i in range(n)]) == value
    for order in permutations(range(n)):
        point = [Fraction(n - order.index(i), 3) for i in range(n)]
        expected = sum(
            point[i] * (values[frozenset(order[: k + 1])] - values[frozenset(order[:k])])
            for k, i in enumerate(order)
        )
        assert f(point) == expected


def test_weights_of_a_lovasz_extension_are_exchange_differences() -> None:
    values = random_set_function(np.random.default_rng(8), 4)
    f = CPWL.from_set_function(4, values)
    for wall, weight in zip(f.complex.walls, f.weights, strict=True):
        i, j = wall.pair  # type: ignore[attr-defined]
        s = wall.S  # type: ignore[attr-defined]
        assert weight == values[s | {i}] + values[s | {j}] - values[s | {i, j}] - values[s]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({frozenset(): 1}, "must be 0"),
        ({frozenset({5}): 1}, "no subset"),
        ({frozenset({0}): 0.5}, "rationalise"),
    ],
)
def test_bad_set_functions_are_refused(change: dict, message: str) -> None:
    good = {frozenset(s): len(s) for k in range(3) for s in combinations(range(2), k)}
    with pytest.raises((ValueError, TypeError), match=message):
        CPWL.from_set_function(2, good | change)


def test_missing_subsets_and_foreign_fans_are_refused() -> None:
    with pytest.raises(ValueError, match="misses 2 subsets"):
        CPWL.from_set_function(2, {frozenset(): 0, frozenset({1}): 2})
    good = {frozenset(s): len(s) for k in range(3) for s in combinations(range(2), k)}
    with pytest.raises(ValueError, match="2 elements, the braid fan 3"):
        CPWL.from_set_function(2, good, complex=Complex.braid(3))


@pytest.mark.parametrize("n", [3, 4])
def test_order_statistics_sort(n: int) -> None:
    point = [Fraction(k * k - 7 * k, 3) for k in range(n)]
    ranked = sorted(point, reverse=True)
    for k in range(1, n + 1):
        assert order_statistic(n, k)(point) == ranked[k - 1]
        assert top_sum(n, k)(point) == sum(ranked[:k])
    with pytest.raises(ValueError, match="1 <= k <= n"):
        order_statistic(n, 0)


def test_direct_sums_add_values() -> None:
    fan, f = standard_example()
    line = Complex.from_arrangement([((1,), 1)])
    e = CPWL(line, [((0,), 0), ((2,), -2)])
    total = direct_sum(Complex.product(fan, line), f, e)
    assert total((2, 3, 5)) == f((2, 3)) + e((5,))
    assert total.pieces() == f.pieces() * e.pieces()
    with pytest.raises(ValueError, match="factors"):
        direct_sum(Complex.product(fan, line), f, f)
