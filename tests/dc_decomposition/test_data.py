from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from theorylab.dc_decomposition import (
    CPWL,
    Complex,
    DecompositionPolyhedron,
    chen_bound,
    dc_net,
    decompose,
    hyperplane_splitting,
    layerwise_decomposition,
    open_size_table,
    prove_equal,
    sizes,
    tariff,
    tree_size,
    two_moons_nets,
)
from theorylab.dc_decomposition.data import TrainedNet
from theorylab.dc_decomposition.examples import median_of_three

EXPECTED = {
    ((4, 3), 0): (26, 8, 2, [(12, 14), (15, 11)], (15, 11), (49, 33)),
    ((4, 3), 1): (31, 8, 1, [(23, 7)], (23, 12), (62, 33)),
    ((4, 3), 2): (21, 6, 1, [(7, 11)], (7, 17), (61, 51)),
    ((4,), 0): (11, 4, 1, [(4, 4)], (4, 4), (11, 4)),
}


@pytest.mark.parametrize("trained", two_moons_nets(), ids=lambda t: f"{t.hidden}-{t.seed}")
def test_trained_networks(trained: TrainedNet) -> None:
    cells, dim, vertices, front, layerwise, recipe = EXPECTED[trained.hidden, trained.seed]
    complex, f = Complex.from_network(trained.net)
    polyhedron = DecompositionPolyhedron(complex, f)
    assert (len(complex.cells), polyhedron.dim) == (cells, dim)
    assert len(polyhedron.vertices()) == vertices
    assert [v.counts for v in decompose(complex, f)] == front
    assert layerwise_decomposition(trained.net).counts == layerwise
    assert hyperplane_splitting(f).counts == recipe
    assert prove_equal(trained.net, f).holds


def test_the_stated_accuracy_is_that_of_the_frozen_weights() -> None:
    from sklearn.datasets import make_moons

    points, labels = make_moons(200, noise=0.1, random_state=0)
    for trained in two_moons_nets():
        outputs = np.array([trained.net([Fraction(float(c)) for c in p]) > 0 for p in points])
        # One point within rounding of the boundary may move with the data's last digits.
        assert abs(int((outputs == (labels == 1)).sum()) - trained.correct) <= 1


def test_weights_are_eighths() -> None:
    for trained in two_moons_nets():
        for matrix, bias in trained.net.layers:
            for entry in (*bias, *(w for row in matrix for w in row)):
                assert (8 * entry).denominator == 1


def test_network_of_the_trained_net_is_smaller_than_the_general_bound() -> None:
    trained = two_moons_nets()[1]
    complex, f = Complex.from_network(trained.net)
    (best,) = decompose(complex, f)
    net = dc_net(best)
    bound = chen_bound(f.pieces(), f.affine_components())
    assert (f.pieces(), f.affine_components()) == (27, 26)
    assert (net.size, net.depth) == (94, 5)
    assert (bound.neurons, bound.depth) == (2864, 10)
    assert 8 * net.size <= bound.neurons


@pytest.mark.parametrize(
    ("pieces", "components", "neurons", "depth"),
    [(6, 3, 95, 5), (30, 5, 897, 8), (140, 7, 4539, 11), (630, 9, 36451, 14)],
)
def test_general_bound(pieces, components, neurons, depth) -> None:
    bound = chen_bound(pieces, components)
    assert (bound.neurons, bound.depth) == (neurons, depth)


def test_tree_sizes() -> None:
    assert [tree_size(k) for k in (1, 2, 3, 7, 10, 23)] == [0, 3, 8, 20, 31, 70]
    assert sizes.tree_widths(6) == [9, 5, 3]
    assert sizes.tree_widths(2, 3) == [3, 2, 2]
    assert sizes.dc_widths(3, 3) == [10, 6]
    assert sizes.side_by_side_widths([[2, 2, 1], [2, 2, 1]]) == [16, 3]
    with pytest.raises(ValueError, match="layers"):
        sizes.tree_widths(9, 2)
    with pytest.raises(ValueError, match="positive"):
        tree_size(0)


@pytest.mark.parametrize(("k", "s", "n", "depth"), [(31, 1, 2, 5), (10, 3, 2, 4), (8, 8, 3, 2)])
def test_depth_formula(k, s, n, depth) -> None:
    assert sizes.grouped_depth(k, s, n) == depth


def test_tariff_is_the_cheaper_contract() -> None:
    complex, f = tariff()
    for x, y in ((0, 0), (5000, 5), (5000, 30), (2000, 60), (3000, 30), (2250, 20)):
        energy = Fraction(3, 10) * x + 120
        contract = Fraction(22, 100) * x + 300 + 3 * max(y - 20, 0)
        assert f((x, y)) == min(energy, contract)
    assert sorted(v.counts for v in DecompositionPolyhedron(complex, f).vertices()) == [
        (2, 3),
        (3, 4),
    ]


def test_hyperplane_splitting_of_the_median() -> None:
    """On each of the three lines one half bends up, the other down: g keeps only the former."""
    _, f = median_of_three()
    splitting = hyperplane_splitting(f)
    assert splitting.counts == (3, 6)
    assert splitting.g.is_convex()
    assert splitting.h.is_convex()
    for x in ((1, 2), (-3, 1), (2, -5)):
        assert splitting.f(x) == f(x)


def test_an_affine_function_cannot_be_split() -> None:
    complex, _ = median_of_three()
    with pytest.raises(ValueError, match="affine"):
        hyperplane_splitting(CPWL(complex, [((1, 2), 0)] * len(complex.cells)))


def test_table_for_the_open_question() -> None:
    rows = {row.name: row for row in open_size_table()}
    assert rows["median of 0, x, y"].least_total == 6
    assert rows["phi"].least_total == 7
    assert rows["middle of 5 numbers"].least_total == 20
    assert rows["difference of stars in 4-space"].least_total == 36
    assert all(row.components <= row.pieces for row in rows.values())
