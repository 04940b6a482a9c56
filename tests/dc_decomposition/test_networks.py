from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.dc_decomposition import (
    CPWL,
    Complex,
    DecompositionPolyhedron,
    RedundantMapsWarning,
    ReLUNet,
    convex_net,
    dc_net,
    grouped_max,
    max_tree,
    prove_by_algebra,
    prove_equal,
    prove_maximum,
    prove_on_cells,
    shallow_max,
    share_neurons,
    signed_simplices,
    signed_sum_net,
    sizes,
    tangents,
)
from theorylab.dc_decomposition.examples import linear, median_of_three
from theorylab.dc_decomposition.networks import group_terms
from theorylab.dc_decomposition.paraboloids import (
    IN_PLANE,
    IN_SPACE,
    ON_LINE,
    THIN_QUADRILATERAL,
    grid,
    random_points,
)

TWO_LARGEST = [((1, 0), 0), ((0, 1), 0), ((1, 1), 0)]
LARGEST = [((0, 0), 0), ((1, 0), 0), ((0, 1), 0)]


class Pair:
    """A decomposition given by its affine maps."""

    def __init__(self, g, h) -> None:
        self.g, self.h = g, h

    def as_max(self):
        return self.g, self.h


def largest_sums(n, k):
    return [(tuple(int(i in s) for i in range(n)), 0) for s in combinations(range(n), k)]


def value(affine, x):
    return sum((a * c for a, c in zip(affine[0], x, strict=True)), Fraction(affine[1]))


def test_a_network_by_hand() -> None:
    net = ReLUNet([([[1, -1], ["1/2", 0]], [0, "3/7"]), ([[2, -1]], [1])])
    assert net((3, 1)) == 2 * 2 - Fraction(3, 2) - Fraction(3, 7) + 1
    assert net((-1, 5)) == 1
    assert (net.n, net.hidden, net.depth, net.size) == (2, [2], 1, 2)


def test_affine_network_has_no_hidden_layer() -> None:
    net = ReLUNet([([[2, 3]], [-1])])
    assert (net.hidden, net.depth, net.size, net((1, 1))) == ([], 0, 0, 4)


def test_floats_are_refused_unless_rationalised() -> None:
    with pytest.raises(TypeError, match="float"):
        ReLUNet([([[0.5]], [0])])
    net = ReLUNet([([[0.5]], [0.1])], rationalise=100)
    assert net((1,)) == Fraction(3, 5)
    with pytest.raises(TypeError, match="float"):
        net((0.5,))


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "no layer"),
        ([([[1], [1]], [0, 0])], "one row"),
        ([([[1, 2], [3]], [0, 0]), ([[1, 1]], [0])], "positive length"),
        ([([[1]], [0, 0])], "entries"),
        ([([[1]], [0]), ([[1, 1]], [0])], "layer 1 takes 2 inputs"),
        ([([[float("nan")]], [0])], "finite"),
    ],
)
def test_malformed_networks(layers, message) -> None:
    with pytest.raises(ValueError, match=message):
        ReLUNet(layers)


def test_wrong_number_of_inputs() -> None:
    with pytest.raises(ValueError, match="entries"):
        ReLUNet([([[1, 1]], [0])])((1,))


@pytest.mark.parametrize(
    ("points", "group", "most"),
    [
        (ON_LINE, 1, [9, 5, 3]),
        (ON_LINE, 3, [16, 3]),
        (ON_LINE, 6, [23]),
        (IN_PLANE, 1, [15, 8, 5, 3]),
        (IN_PLANE, 3, [17, 11, 6, 3]),
        (IN_PLANE, 5, [55, 35, 3]),
        (IN_PLANE, 10, [113, 74]),
        (IN_SPACE, 1, [12, 6, 3]),
        (IN_SPACE, 4, [12, 6, 3]),
        (IN_SPACE, 8, [177, 102]),
    ],
)
def test_convex_networks_are_exact_and_no_wider_than_separate_trees(points, group, most) -> None:
    n, maps = len(points[0]), tangents(points)
    net = convex_net(maps, n, group)
    assert len(net.hidden) == len(most)
    assert all(width <= bound for width, bound in zip(net.hidden, most, strict=True))
    if group == 1:
        assert net.hidden == most
    proof = prove_maximum(net, maps)
    assert proof.holds
    assert proof.mismatches == []
    groups = [maps[k : k + group] for k in range(0, len(maps), group)]
    assert prove_by_algebra(net, maps, groups=groups).holds


@pytest.mark.parametrize(("points", "regions"), [(ON_LINE, 8), (IN_PLANE, 131), (IN_SPACE, 225)])
def test_number_of_regions_of_the_trees(points, regions) -> None:
    maps = tangents(points)
    assert prove_maximum(max_tree(maps, len(points[0])), maps).regions == regions


def test_median_of_three_by_sixteen_neurons_in_eight_regions() -> None:
    complex, f = median_of_three()
    net = dc_net(Pair(TWO_LARGEST, LARGEST))
    proof = prove_equal(net, f)
    assert (net.hidden, proof.regions, proof.mismatches) == ([10, 6], 8, [])
    shared = share_neurons(net)
    assert shared.size < 16
    assert prove_equal(shared, f).holds
    (vertex,) = DecompositionPolyhedron(complex, f).vertices()
    assert prove_equal(dc_net(vertex), f).holds


@pytest.mark.parametrize("dropped", range(3))
def test_a_dropped_piece_is_found(dropped) -> None:
    _, f = median_of_three()
    kept = [a for k, a in enumerate(TWO_LARGEST) if k != dropped]
    proof = prove_equal(dc_net(Pair(kept, LARGEST)), f)
    assert not proof.holds
    for point, got, expected in proof.mismatches:
        assert got != expected
        assert value(expected, point) == f(point)


def test_mismatches_tell_the_truth() -> None:
    """At every reported point the network has the reported map's value, not the function's."""
    _, f = median_of_three()
    net = dc_net(Pair(TWO_LARGEST[:2], LARGEST))
    for point, got, expected in prove_equal(net, f).mismatches:
        assert net(point) == value(got, point)
        assert net(point) != value(expected, point)


@pytest.mark.parametrize("layer", range(3))
@pytest.mark.parametrize("neuron", range(3))
def test_a_billionth_in_any_bias_is_found(layer, neuron) -> None:
    _, f = median_of_three()
    layers = [list(pair) for pair in dc_net(Pair(TWO_LARGEST, LARGEST)).layers]
    bias = list(layers[layer][1])
    bias[neuron % len(bias)] += Fraction(1, 10**9)
    layers[layer][1] = tuple(bias)
    assert not prove_equal(ReLUNet(layers), f).holds


@pytest.mark.parametrize(("n", "size", "depth"), [(3, 16, 2), (5, 62, 4), (7, 220, 6), (9, 754, 7)])
def test_medians_by_algebra(n, size, depth) -> None:
    m = (n + 1) // 2
    g, h = largest_sums(n, m), largest_sums(n, m - 1)
    net = dc_net(Pair(g, h))
    assert (net.size, net.depth) == (size, depth)
    assert prove_by_algebra(net, g, h).holds
    shared = share_neurons(net)
    assert shared.size <= size
    assert prove_by_algebra(shared, g, h).holds


def test_algebra_does_not_prove_what_is_false() -> None:
    g, h = largest_sums(5, 3), largest_sums(5, 2)
    net = dc_net(Pair(g, h))
    assert not prove_by_algebra(net, g[:-1], h).holds
    assert not prove_by_algebra(net, h, g).holds
    assert not prove_by_algebra(net, g).holds
    nudged = [list(pair) for pair in net.layers]
    nudged[1][1] = (Fraction(1, 10**9), *nudged[1][1][1:])
    assert not prove_by_algebra(ReLUNet(nudged), g, h).holds
    assert prove_by_algebra(net, g, h).neurons == 62


def test_false_identity_true_on_almost_the_whole_grid() -> None:
    maps = tangents(THIN_QUADRILATERAL)
    wrong = {frozenset({0, 1, 2}): 1, frozenset({0, 2, 3}): 1, frozenset({0, 2}): -1}
    net = signed_sum_net(maps, wrong, 2)
    assert not prove_maximum(net, maps).holds
    assert not prove_by_algebra(net, maps, groups=[maps]).holds
    failing = [
        (x, y)
        for x in range(-20, 21)
        for y in range(-20, 21)
        if net((x, y)) != max(value(a, (x, y)) for a in maps)
    ]
    assert failing == [(2, 4), (3, 3), (3, 4)]


@given(
    n=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    count=st.integers(1, 7),
    group=st.integers(1, 7),
)
@settings(max_examples=40, deadline=None)
def test_grouped_networks_equal_the_maximum(n, seed, count, group) -> None:
    rng = np.random.default_rng(seed)
    maps = tangents(random_points(rng, count, n, 7))
    net = grouped_max(maps, n, group)
    groups = [maps[k : k + group] for k in range(0, count, group)]
    assert prove_by_algebra(net, maps, groups=groups).holds
    for row in rng.integers(-60, 61, (10, n)):
        x = [Fraction(int(c), 7) for c in row]
        assert net(x) == max(value(a, x) for a in maps)


@pytest.mark.parametrize(("side", "n"), [(2, 2), (3, 2), (2, 3)])
def test_shallow_networks_where_lifts_are_degenerate(side, n) -> None:
    maps = tangents(grid(side, n))
    net = shallow_max(maps, n)
    assert net.depth == 2
    assert prove_maximum(net, maps).holds


def test_shallow_network_in_four_dimensions_has_three_layers() -> None:
    maps = tangents(random_points(np.random.default_rng(4), 9, 4, 9))
    net = shallow_max(maps, 4)
    assert net.depth == 3
    assert prove_by_algebra(net, maps, groups=[maps]).holds
    rng = np.random.default_rng(5)
    for row in rng.integers(-60, 61, (20, 4)):
        x = [Fraction(int(c), 7) for c in row]
        assert net(x) == max(value(a, x) for a in maps)


def test_small_groups_need_no_triangulation() -> None:
    maps = [((0, 0), 0), ((1, 0), -5), ((2, 0), 0)]
    assert group_terms(maps, 2) == {frozenset({0, 1, 2}): 1}
    assert prove_maximum(grouped_max(maps, 2, 3), maps).holds


def test_redundant_maps_are_dropped_with_a_warning() -> None:
    maps = [((0,), 0), ((1,), -1), ((2,), 0), ((2,), 0)]
    with pytest.warns(RedundantMapsWarning, match=r"\[1, 3\]"):
        net = convex_net(maps, 1)
    assert net.hidden == [3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert prove_maximum(convex_net([maps[0], maps[2]], 1), maps).holds


def test_single_map() -> None:
    for net in (
        max_tree([((2,), 1)], 1),
        shallow_max([((2,), 1)], 1),
        convex_net([((2,), 1)], 1, 3),
    ):
        assert net.depth <= 1
        assert prove_maximum(net, [((2,), 1)]).holds


def test_affine_difference() -> None:
    net = dc_net(Pair([((2, 0), 1)], [((0, 1), 0)]))
    assert (net.depth, net((1, 4))) == (0, -1)


def test_padding_of_the_shallower_part() -> None:
    g = tangents(ON_LINE)
    net = dc_net(Pair(g, [((0,), 0), ((1,), 0)]))
    assert net.hidden == [9 + 3, 5 + 2, 3 + 2]
    f_cells = CPWL.from_terms(
        Complex.from_arrangement([((1,), Fraction(c, 2)) for c in (-10, -3, 2, 7, 14, 0)]),
        [(1, g), (-1, [((0,), 0), ((1,), 0)])],
    )
    assert prove_equal(net, f_cells).holds


@pytest.mark.parametrize("group", [0, -1])
def test_group_must_be_positive(group) -> None:
    with pytest.raises(ValueError, match="positive"):
        convex_net(tangents(ON_LINE), 1, group)
    with pytest.raises(ValueError, match="positive"):
        dc_net(Pair(LARGEST, LARGEST), group)


def test_signed_sum_errors() -> None:
    maps = tangents(ON_LINE)
    with pytest.raises(ValueError, match="at least one term"):
        signed_sum_net(maps, {}, 1)
    for term in (frozenset(), frozenset({6})):
        with pytest.raises(ValueError, match="nonempty set of indices"):
            signed_sum_net(maps, {term: 1}, 1)
    with pytest.raises(ValueError, match="strict maximum"):
        shallow_max([((0,), 0), ((1,), -1), ((2,), 0)], 1)


def test_signed_sum_of_single_maps_is_affine() -> None:
    net = signed_sum_net([((1,), 2), ((3,), 0)], {frozenset({0}): 2, frozenset({1}): -1}, 1)
    assert (net.depth, net((5,))) == (0, -1)


def test_share_neurons_keeps_the_function_and_removes_constants() -> None:
    net = ReLUNet(
        [
            ([[1], [2], [-1], [0], [0]], [1, 2, 0, 3, -3]),
            ([[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], [0, 5]),
            ([[1, 1]], [0]),
        ]
    )
    shared = share_neurons(net)
    assert shared.hidden == [2, 1]
    for x in range(-5, 6):
        assert shared((x,)) == net((x,))


def test_share_neurons_of_a_constant_network() -> None:
    net = ReLUNet([([[0]], [3]), ([[2]], [1])])
    assert share_neurons(net)((9,)) == 7


def test_proof_on_cells_errors() -> None:
    net = max_tree(tangents(ON_LINE), 1)
    complex, f = median_of_three()
    with pytest.raises(ValueError, match="one affine map per cell"):
        prove_on_cells(net, complex.cells, [])
    with pytest.raises(ValueError, match="one affine map per cell"):
        prove_on_cells(net, [], [])
    with pytest.raises(ValueError, match="2-space"):
        prove_on_cells(net, complex.cells, [((0,), 0)] * len(complex.cells))
    with pytest.raises(ValueError, match="entries"):
        prove_equal(net, f)


def test_regions_agree_with_the_activation_complex() -> None:
    """Another route: the cells of the network's own complex, with the pieces found there."""
    net = dc_net(Pair(TWO_LARGEST, LARGEST))
    _, f = Complex.from_network(net)
    assert prove_equal(net, f).holds
    moved = f + CPWL(f.complex, [linear((1, 0))] * len(f.complex.cells))
    assert len(prove_equal(net, moved).mismatches) == prove_equal(net, moved).regions


def test_coefficients_of_the_shallow_sum_are_signs() -> None:
    assert set(signed_simplices(tangents(IN_SPACE), 3).values()) == {1, -1}


@pytest.mark.parametrize(("counts", "neurons"), [((3, 3), 16), ((10, 10), 62), ((35, 35), 220)])
def test_sizes_of_two_trees_for_medians(counts: tuple[int, int], neurons: int) -> None:
    """T(3) = 5 + 3, T(10) = 15 + 8 + 5 + 3 and so on: an odd one out is carried by two neurons."""
    assert sum(sizes.dc_widths(*counts)) == neurons
    assert sum(map(sizes.tree_size, counts)) == neurons


def test_the_shallower_tree_is_carried_on_by_two_neurons_a_layer() -> None:
    assert sizes.dc_widths(23, 7) == [46, 24, 12, 7, 5]
