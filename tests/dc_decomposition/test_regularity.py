from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.dc_decomposition import (
    Complex,
    DecompositionPolyhedron,
    ReLUNet,
    layerwise_decomposition,
    regularity,
)
from theorylab.dc_decomposition.examples import (
    median_of_three,
    moment_arrangement,
    six_planes,
    twisted_triangles,
)

seeds = st.integers(0, 2**32 - 1)
ABSOLUTE = ReLUNet([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])


def random_net(seed: int, inputs: int = 2) -> ReLUNet:
    rng = np.random.default_rng(seed)
    widths = [inputs, *(int(w) for w in rng.integers(2, 5, int(rng.integers(1, 4)))), 1]
    return ReLUNet(
        [
            (rng.integers(-3, 4, (b, a)).tolist(), rng.integers(-3, 4, b).tolist())
            for a, b in pairwise(widths)
        ]
    )


@pytest.mark.parametrize(
    "complex",
    [
        median_of_three()[0],
        six_planes()[0],
        moment_arrangement(4, 3),
        Complex.braid(4),
        twisted_triangles("aB"),
        Complex.from_arrangement([], n=1),
    ],
)
def test_regular_complexes_have_a_witness(complex: Complex) -> None:
    answer = regularity(complex)
    assert answer.is_regular
    assert answer.optimum == 1
    assert answer.witness is not None
    assert all(weight >= 1 for weight in answer.witness.weights)
    assert answer.witness.pieces() == len(complex.cells)


def test_the_twisted_triangles_are_irregular_with_proof() -> None:
    complex = twisted_triangles()
    answer = regularity(complex)
    assert not answer.is_regular
    assert answer.witness is None
    assert min(answer.certificate) >= 0
    assert any(answer.certificate)
    assert complex.weight_space.is_annihilator(answer.certificate)
    with pytest.raises(ValueError, match="'Ab' or 'aB'"):
        twisted_triangles("AB")


def test_the_absolute_value() -> None:
    complex, f = Complex.from_network(ABSOLUTE)
    assert len(complex.cells) == 2
    assert f.weights == [2]
    assert f(("-5/2",)) == Fraction(5, 2)


@settings(max_examples=25)
@given(seeds)
def test_activation_complexes_carry_the_network(seed: int) -> None:
    """Values of the function are those of the network; its complex is regular."""
    net = random_net(seed)
    complex, f = Complex.from_network(net)
    rng = np.random.default_rng(seed)
    for x, y in rng.integers(-20, 21, (8, 2)).tolist():
        point = Fraction(x, 3), Fraction(y, 3)
        assert f(point) == net(point)
    assert regularity(complex).is_regular
    splitting = layerwise_decomposition(net)
    assert splitting.g.is_convex()
    assert splitting.h.is_convex()
    assert splitting.f.pieces_on_cells == f.pieces_on_cells
    assert DecompositionPolyhedron(complex, f).is_member(splitting.g)


def test_three_inputs() -> None:
    net = random_net(4, inputs=3)
    complex, f = Complex.from_network(net)
    assert complex.n == 3
    assert f((1, -2, 3)) == net((1, -2, 3))
    assert regularity(complex).is_regular


def test_dead_and_always_active_neurons_cut_nothing() -> None:
    net = ReLUNet([([[0, 0], [0, 0], [1, 0]], [-1, 2, 0]), ([[5, 1, 1]], [1])])
    complex, f = Complex.from_network(net)
    assert len(complex.cells) == 2
    assert f((-3, 7)) == 3
    assert f((4, 7)) == 7


def test_a_network_without_hidden_layer_is_affine() -> None:
    complex, f = Complex.from_network(ReLUNet([([[2, -1]], [3])]))
    assert len(complex.cells) == 1
    assert f.pieces_on_cells == [((2, -1), 3)]
