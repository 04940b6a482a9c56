"""Networks as polytopes, witnesses, constructions, triangulations, stored number formats."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.exact import ReLUNet
from theorylab.relu_depth import (
    LatticePolytope,
    common_denominator,
    difference_witness,
    five_terms,
    flatten4,
    max5_network,
    minkowski,
    newton_pair,
    phi,
    refute,
    shallow_terms,
    signed_simplices,
    stored_network,
    su_expr,
    su_random,
    support,
    tree_network,
    triangulate,
    unit_simplex,
)
from theorylab.relu_depth.constructions import Maximum, comparators, hidden_layers, reduced
from theorylab.relu_depth.samples import (
    random_network,
    random_points,
    random_zonotope,
    unimodular_embedding,
    zonotope,
)
from theorylab.relu_depth.triangulations import interior_simplices, is_signed_sum, top_cells_only

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_a_network_is_the_difference_of_its_support_functions(rng):
    net = random_network(rng, (3, 3, 2, 1))
    A, B = newton_pair(net)
    for x in random_points(rng, 5, 3, 20):
        assert support(A, x) - support(B, x) == net(x)


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_a_witness_is_a_point_where_both_differ(rng):
    one, two = (random_network(rng, (3, 3, 1)) for _ in range(2))
    x = refute(one, two)
    if x is None:
        for y in random_points(rng, 30, 3, 50):
            assert one(y) == two(y)
    else:
        assert one(x) != two(x)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_polytopes_differ_at_their_witness(rng):
    P, Q = (LatticePolytope(random_points(rng, 5, 3, 2)) for _ in range(2))
    x = difference_witness(P, Q)
    assert (x is None) == (P == Q)
    assert x is None or support(P, x) != support(Q, x)


def test_a_polytope_inside_another_is_told_from_it():
    outer = LatticePolytope([(0, 0), (4, 0), (0, 4)])
    inner = LatticePolytope([(1, 1), (2, 1), (1, 2)])
    for left, right in ((outer, inner), (inner, outer)):
        x = difference_witness(left, right)
        assert x is not None
        assert support(left, x) != support(right, x)


def test_a_network_that_is_wrong_far_away_is_refuted():
    """It agrees with F_2 at all points with coordinates -1, 0, 1."""
    tree = tree_network(2)
    wrong = ReLUNet([([[2, -3], [0, 0]], [0, 0]), ([[1, 0]], [0])])
    assert refute(tree, 2) is None
    x = refute(wrong, unit_simplex(2))
    assert x is not None
    assert wrong(x) != max(0, *x)


@pytest.mark.parametrize("n", range(1, 6))
def test_trees_are_maxima_with_integer_weights(n):
    net = tree_network(n)
    assert refute(net, n) is None
    assert net.depth == n.bit_length()
    assert common_denominator([m for m, _ in net.layers]) == 1


def test_refute_takes_rational_weights_and_refuses_biases_and_other_sizes():
    net = max5_network()
    assert refute(net, 4) is None
    assert refute(net, tree_network(4)) is None
    with pytest.raises(ValueError, match="target has 3 inputs, the network has 4"):
        refute(net, 3)
    biased = ReLUNet([([[1]], [1]), ([[1]], [0])])
    with pytest.raises(ValueError, match="homogeneous_part"):
        refute(biased, 1)
    with pytest.raises(ValueError, match="homogeneous_part"):
        newton_pair(biased)
    with pytest.raises(ValueError, match="clear_denominators"):
        newton_pair(net)
    assert refute(biased.homogeneous_part(), 1) is None


def test_clearing_denominators_multiplies_the_function():
    rng = np.random.default_rng(0)
    layers = [
        (rng.integers(-5, 6, (after, before)).tolist(), [Fraction(1, 7)] * after)
        for before, after in ((3, 4), (4, 2), (2, 1))
    ]
    net = ReLUNet(
        [([[Fraction(w, 6) for w in row] for row in matrix], bias) for matrix, bias in layers]
    )
    M, integer = net.clear_denominators()
    assert common_denominator([m for m, _ in integer.layers]) == 1
    for x in random_points(rng, 10, 3, 9):
        assert integer(x) == M**3 * net(x)


def test_the_network_for_five_numbers_is_small():
    net = max5_network()
    assert net.depth == 2
    assert common_denominator([m for m, _ in net.layers]) == 2


def test_the_formula_for_five_numbers_is_an_identity_of_functions():
    rng = np.random.default_rng(1)
    for x in random_points(rng, 50, 5, 30):
        assert sum(sign * term(x) for sign, term in five_terms()) == 2 * max(x)


@pytest.mark.parametrize(("m", "layers"), [(5, 3), (8, 3), (11, 3)])
def test_shallow_sums_are_maxima(m, layers):
    terms = shallow_terms(m)
    assert hidden_layers(terms) <= layers
    assert all((c.denominator & (c.denominator - 1)) == 0 for c, _ in terms)
    rng = np.random.default_rng(m)
    for x in random_points(rng, 5, m, 40):
        assert sum(c * term(x) for c, term in terms) == max(x)
    assert comparators(terms)


def test_the_formula_needs_four_loose_arguments():
    with pytest.raises(ValueError, match="four loose arguments, the term has 3"):
        reduced(Maximum(((1, 0, 0), (0, 1, 0), (0, 0, 1))))
    with pytest.raises(ValueError, match="at least 2"):
        shallow_terms(1)


@pytest.mark.parametrize(("n", "p"), [(2, 2), (3, 3), (4, 2), (5, 5)])
def test_the_invariant_of_a_maximum_is_one(n, p):
    assert phi(tree_network(n), p) == 1


def test_the_invariant_refuses_what_it_is_not_defined_for():
    with pytest.raises(ValueError, match="must be a prime, got 4"):
        phi(tree_network(4), 4)
    with pytest.raises(ValueError, match="power of 2 as dimension, got 3"):
        phi(tree_network(3), 2)
    with pytest.raises(ValueError, match="clear_denominators"):
        phi(max5_network(), 2)


def test_twice_the_maximum_of_five_has_invariant_zero():
    net = max5_network().clear_denominators()[1]
    assert phi(net, 2) == 0


@settings(max_examples=15, deadline=None)
@given(seeds, st.integers(2, 3))
def test_signed_simplices_add_up(rng, d):
    P = LatticePolytope(random_points(rng, d + 4, d, 3))
    parts = signed_simplices(P, rng)
    assert is_signed_sum(P, parts)
    cells = triangulate(P, rng)
    assert sum(LatticePolytope(sorted(cell)).volume() for cell in cells) == P.volume()
    assert sum((-1) ** (P.dim + 1 - len(s)) for s in interior_simplices(P, cells)) == 1


def test_cells_alone_do_not_add_up():
    square = LatticePolytope([(0, 0), (1, 0), (0, 1), (1, 1)])
    rng = np.random.default_rng(0)
    assert not is_signed_sum(square, top_cells_only(square, rng))


@settings(max_examples=8, deadline=None)
@given(seeds)
def test_a_deep_network_is_flattened(rng):
    net = random_network(rng, (4, 3, 2, 2, 1))
    flat = flatten4(net, rng)
    assert flat.size <= 5
    for x in random_points(rng, 5, 4, 20):
        assert flat([Fraction(a) for a in x]) == net(x)


def test_flattening_takes_at_most_four_inputs():
    with pytest.raises(ValueError, match="5 inputs are over 4"):
        flatten4(tree_network(5), np.random.default_rng(0))


@settings(max_examples=15, deadline=None)
@given(seeds, st.integers(0, 2), st.integers(1, 3))
def test_su_expressions_have_their_level_and_print(rng, k, n):
    made = su_random(k, n, rng)
    assert made.level == k
    assert made.polytope.ambient_dim == n
    assert str(made).count("conv") == (0, 2, 2 + 2 * 4)[k]


def test_a_zonotope_is_an_expression_of_level_one():
    a, b, c = su_expr((0, 0)), su_expr((1, 0)), su_expr((0, 2))
    square = su_expr((a, b), (a, c))
    assert square.level == 1
    assert square.polytope == zonotope([(1, 0), (0, 2)])
    assert str(square) == "conv[(0,0) ∪ (1,0)] + conv[(0,0) ∪ (0,2)]"
    with pytest.raises(ValueError, match="one level"):
        su_expr((a, square))
    with pytest.raises(ValueError, match="one point"):
        su_expr((0, 0), (1, 1))
    with pytest.raises(ValueError, match="at least one pair"):
        su_expr()
    with pytest.raises(ValueError, match="k >= 0"):
        su_random(-1, 2, np.random.default_rng(0))


def test_faces_of_zonotopes_have_volumes_divisible_by_factorials():
    P = random_zonotope(np.random.default_rng(3), 4, 5)
    for k in range(1, 5):
        assert all(face.volume() % factorial(k) == 0 for face in P.faces(k))


def test_a_change_of_lattice_basis_keeps_volumes():
    rng = np.random.default_rng(5)
    P = LatticePolytope(random_points(rng, 6, 3, 3))
    turned = unimodular_embedding(rng, P, 6)
    assert (turned.volume(), turned.ambient_dim) == (P.volume(), 6)
    assert minkowski(turned, turned).volume() == 2**P.dim * P.volume()


# Number formats


@pytest.mark.parametrize(
    ("weights", "denominator"),
    [
        ([0.5, 0.75], 4),
        ([Fraction(1, 3), 2], 3),
        (np.float32([0.1]), 2**27),
        ({"a": [0.25], "b": [[1]]}, 4),
        (torch.tensor([0.5, 0.375], dtype=torch.bfloat16), 8),
        (5e-324, 2**1074),
    ],
)
def test_denominators_of_stored_numbers(weights, denominator):
    assert common_denominator(weights) == denominator


@pytest.mark.parametrize(
    ("weights", "error"),
    [
        ([float("inf")], ValueError),
        ([float("nan")], ValueError),
        ([], ValueError),
        (["1"], TypeError),
        ([True], TypeError),
        ([1j], TypeError),
    ],
)
def test_weights_that_are_no_finite_numbers_are_refused(weights, error):
    with pytest.raises(error):
        common_denominator(weights)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float8_e4m3fn])
def test_small_float_types_are_read_exactly(dtype):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    layers = stored_network(model, dtype)
    assert len(layers) == 2
    for (matrix, _), layer in zip(layers, (model[0], model[2]), strict=True):
        assert torch.equal(torch.tensor(matrix), layer.weight.detach().to(dtype).float())
    M = common_denominator([matrix for matrix, _ in layers])
    assert M & (M - 1) == 0
