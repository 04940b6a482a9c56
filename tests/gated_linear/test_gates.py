"""ReLU networks as gated ones, exactly; the graph library; gate flips."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.gated_linear import (
    GatedNetwork,
    exact_difference_grad,
    gate_flips,
    gated_forward,
    gated_grad,
    path_sum,
    relu_as_gated,
    relu_forward,
    relu_gates,
    relu_grad,
    sigmoid_mode,
)
from theorylab.gated_linear.gates import as_exact, loss_of

entries = st.fractions(-3, 3, max_denominator=4)


@st.composite
def networks(draw):
    sizes = draw(st.lists(st.integers(1, 3), min_size=3, max_size=4))
    table = lambda rows, columns: as_exact(  # noqa: E731
        [[draw(entries) for _ in range(columns)] for _ in range(rows)]
    )
    Ws = [table(b, a) for a, b in itertools.pairwise(sizes)]
    return Ws, table(sizes[0], 2), table(sizes[-1], 2)


@settings(max_examples=40, deadline=None)
@given(networks())
def test_frozen_gates_reproduce_outputs_paths_and_gradient(net):
    Ws, X, Y = net
    gates = relu_gates(Ws, X)
    assert (gated_forward(Ws, X, gates) == relu_forward(Ws, X)).all()
    assert (path_sum(Ws, X, gates) == relu_forward(Ws, X)).all()
    ties = relu_gates(Ws, X, tie=True)
    assert (gated_forward(Ws, X, ties) == relu_forward(Ws, X)).all()
    if all((a == b).all() for a, b in zip(gates, ties, strict=True)):
        slopes = relu_grad(Ws, X, Y)
        for layer, W in enumerate(Ws):
            place = (len(W) - 1, 0)
            assert slopes[layer][place] == exact_difference_grad(Ws, X, Y, layer, place)


def test_gradient_against_autograd():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    Ws = [rng.normal(size=s) for s in ((5, 3), (4, 5), (2, 4))]
    X, Y = rng.normal(size=(3, 6)), rng.normal(size=(2, 6))
    tensors = [torch.tensor(W, requires_grad=True) for W in Ws]
    hidden = torch.tensor(X)
    for W in tensors[:-1]:
        hidden = torch.relu(W @ hidden)
    (0.5 * ((torch.tensor(Y) - tensors[-1] @ hidden) ** 2).sum()).backward()
    for found, tensor in zip(relu_grad(Ws, X, Y), tensors, strict=True):
        assert np.allclose(found, tensor.grad.numpy())


def test_a_hand_computed_network():
    W1, W2 = as_exact([[1, -1], [2, 1]]), as_exact([[1, "1/2"]])
    X = as_exact([[1, 1], [2, 0]])
    assert relu_forward([W1, W2], X).tolist() == [[2, 2]]
    assert loss_of([W1, W2], X, as_exact([[0, 1]])) == Fraction(5, 2)


def test_flips_lie_where_the_preactivation_vanishes():
    flips = gate_flips(as_exact([[1, 0]]), as_exact([[-1, 2]]), as_exact([[1, 0], [0, 1]]))
    assert [(f.unit, f.sample, f.fraction) for f in flips] == [(0, 1, 0), (0, 0, Fraction(1, 2))]
    halfway = as_exact([[0, 1]])
    assert (halfway @ as_exact([[1], [0]]))[0, 0] == 0


def test_the_graph_of_a_relu_network_has_its_outputs_and_gradient():
    rng = np.random.default_rng(1)
    Ws = [rng.normal(size=s) for s in ((4, 3), (3, 4), (2, 3))]
    X, Y = rng.normal(size=(3, 5)), rng.normal(size=(2, 5))
    gates = relu_gates(Ws, X)
    net, weights = relu_as_gated(Ws, gates)
    assert len(net.paths()) == 12
    outputs = net.forward(weights, {"input": X})["output"]
    assert np.allclose(outputs, relu_forward(Ws, X))
    assert np.allclose(net.path_forward(weights, {"input": X})["output"], outputs)
    slopes = net.gradient(weights, {"input": X}, {"output": Y})
    direct = gated_grad(Ws, X, Y, gates)
    assert np.allclose(slopes["input", "1.2"], direct[0][2:3])
    assert np.allclose(slopes["1.1", "2.0"], direct[1][:1, 1:2])


def test_the_graph_is_exact_on_fractions():
    net = GatedNetwork({"x": 2, "h": 1, "y": 1}, [("x", "h"), ("h", "y")], 2, {"h": [1, 0]})
    weights = {("x", "h"): as_exact([[1, "1/3"]]), ("h", "y"): as_exact([["1/2"]])}
    X = as_exact([[1, 1], [1, 1]])
    assert net.forward(weights, {"x": X})["y"].tolist() == [[Fraction(2, 3), 0]]


def test_one_path_races_along_a_sigmoid():
    X, Y = np.eye(2), np.diag([3.0, 1.0])
    net = GatedNetwork({"x": 2, "h": 2, "y": 2}, [("x", "h"), ("h", "y")], 2)
    race = net.race({"x": X}, {"y": Y})
    times = np.linspace(0, 3, 9)
    found = race.flow(1e-3, times)
    for mode, S in enumerate((3.0, 1.0)):
        assert np.allclose(found[:, 0, mode], sigmoid_mode(times, S, 1.0, 1e-6), rtol=1e-5)


def test_paths_that_share_an_edge_win_the_race():
    X = np.array([[1.0, 1.0]])
    edges = [("x", "h"), ("h", "a"), ("h", "b"), ("x", "k"), ("k", "a")]
    net = GatedNetwork(dict.fromkeys("xhabk", 1), edges, 2)
    race = net.race({"x": X}, {"a": X, "b": X})
    end = race.flow(1e-2, [0, 4.0])[-1, :, 0]
    by_path = dict(zip(net.paths(), end, strict=True))
    assert by_path["x", "h", "a"] > 2 * by_path["x", "k", "a"]
    assert by_path["x", "h", "a"] + by_path["x", "k", "a"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: relu_forward([], np.eye(2)), ValueError, "at least one"),
        (
            lambda: relu_forward([np.ones((2, 3)), np.ones((1, 3))], np.ones((3, 1))),
            ValueError,
            "layer 2",
        ),
        (lambda: relu_forward([np.ones((2, 3))], np.ones((2, 1))), ValueError, "layer 1"),
        (lambda: relu_forward([np.array([[np.nan]])], np.ones((1, 1))), ValueError, "NaN"),
        (lambda: gated_forward([np.eye(2), np.eye(2)], np.eye(2), []), ValueError, "gate tables"),
        (
            lambda: gated_forward([np.eye(2), np.eye(2)], np.eye(2), [np.ones((2, 3))]),
            ValueError,
            "gates of layer 1",
        ),
        (
            lambda: exact_difference_grad([np.eye(1), np.eye(1)], [[1]], [[1]], 0, (0, 0)),
            TypeError,
            "float",
        ),
        (lambda: exact_difference_grad([[[1]], [[1]]], [[0]], [[1]], 0, (0, 0)), None, ""),
        (lambda: gate_flips(np.eye(2), np.eye(3), np.eye(2)), ValueError, "layer 1"),
        (lambda: GatedNetwork({"a": 1}, [("a", "b")], 1), ValueError, "unknown nodes"),
        (lambda: GatedNetwork({"a": 1, "b": 1}, [("a", "b"), ("b", "a")], 1), ValueError, "cycle"),
        (lambda: GatedNetwork({"a": 1}, [], 2, {"a": [1]}), ValueError, "shape"),
        (lambda: GatedNetwork({"a": 1}, [], 2, {"b": [1, 1]}), ValueError, "unknown"),
    ],
)
def test_errors(call, error, message):
    if error is None:
        assert call() == 0
        return
    with pytest.raises(error, match=message):
        call()


def test_a_kink_is_refused():
    with pytest.raises(ValueError, match="kink"):
        exact_difference_grad([[[1, -1]], [[1]]], [[1], [1]], [[1]], 0, (0, 0))
