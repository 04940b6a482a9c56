r"""A ReLU network as a gated linear network, in exact rational arithmetic or in floats.

Weights are a list of matrices of shape (out, in); inputs are columns. Every hidden layer has a gate
per unit and sample. A gate that follows the sign of its pre-activation makes the network a ReLU
network; a gate that is given makes it gated linear. The same code runs on fractions (object arrays)
and on floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theorylab.exact.rationals import rational

Array = NDArray[Any]
Gates = Sequence[NDArray[np.bool_]]


def as_exact(table: Any, name: str = "matrix") -> NDArray[np.object_]:
    """Entries as fractions.

    Raises
    ------
    TypeError
        If an entry is a float.
    """
    values = np.asarray(table, dtype=object)
    exact = np.empty(values.shape, dtype=object)
    for place, entry in np.ndenumerate(values):
        exact[place] = rational(entry, f"an entry of {name}")
    return exact


def _checked(Ws: Sequence[Any], X: Any) -> tuple[list[Array], Array]:
    """Weights and inputs as arrays of one kind whose shapes chain."""
    tables = [np.asarray(W) for W in Ws]
    inputs = np.asarray(X)
    if not tables:
        raise ValueError("a network needs at least one weight matrix, got none")
    for number, table in enumerate([*tables, inputs]):
        name = "X" if number == len(tables) else f"layer {number + 1}"
        if table.ndim != 2:
            raise ValueError(f"{name} must be a matrix, got shape {table.shape}")
        if table.dtype.kind == "f" and not np.isfinite(table).all():
            raise ValueError(f"{name} holds NaN or infinite entries")
    fed = [inputs, *tables]
    for number, (below, above) in enumerate(pairwise(fed)):
        if above.shape[1] != below.shape[0]:
            raise ValueError(
                f"layer {number + 1} takes {above.shape[1]} inputs but is given {below.shape[0]}"
            )
    return tables, inputs


def _checked_gates(gates: Gates, Ws: Sequence[Array], samples: int) -> list[NDArray[np.bool_]]:
    tables = [np.asarray(gate).astype(bool) for gate in gates]
    if len(tables) != len(Ws) - 1:
        raise ValueError(f"{len(Ws) - 1} hidden layers need as many gate tables, got {len(tables)}")
    for number, (table, W) in enumerate(zip(tables, Ws, strict=False)):
        if table.shape != (W.shape[0], samples):
            raise ValueError(
                f"gates of layer {number + 1} must have shape {(W.shape[0], samples)}, "
                f"got {table.shape}"
            )
    return tables


def relu_gates(Ws: Sequence[Any], X: Any, tie: bool = False) -> list[NDArray[np.bool_]]:
    """Gates that the signs of the pre-activations set; ``tie`` is the gate at exactly 0."""
    tables, hidden = _checked(Ws, X)
    gates = []
    for W in tables[:-1]:
        z = W @ hidden
        gates.append(((z > 0) | (z == 0) if tie else z > 0).astype(bool))
        hidden = z * gates[-1]
    return gates


def relu_forward(Ws: Sequence[Any], X: Any) -> Array:
    """Outputs of the ReLU network without biases, shape (q, N)."""
    tables, hidden = _checked(Ws, X)
    for W in tables[:-1]:
        z = W @ hidden
        hidden = np.where((z > 0).astype(bool), z, 0 * z)
    return tables[-1] @ hidden


def gated_forward(Ws: Sequence[Any], X: Any, gates: Gates) -> Array:
    """Outputs of the gated linear network with these gates, shape (q, N)."""
    tables, hidden = _checked(Ws, X)
    for W, gate in zip(tables[:-1], _checked_gates(gates, tables, hidden.shape[1]), strict=True):
        hidden = (W @ hidden) * gate
    return tables[-1] @ hidden


def gated_grad(Ws: Sequence[Any], X: Any, Y: Any, gates: Gates) -> list[Array]:
    r"""Gradient of :math:`\tfrac12\|Y-\hat Y\|^2` in every weight, gates held fixed."""
    tables, inputs = _checked(Ws, X)
    open_gates = _checked_gates(gates, tables, inputs.shape[1])
    hidden = [inputs]
    for W, gate in zip(tables[:-1], open_gates, strict=True):
        hidden.append((W @ hidden[-1]) * gate)
    back = tables[-1] @ hidden[-1] - np.asarray(Y)
    slopes = [back @ hidden[-1].T]
    for layer in range(len(tables) - 2, -1, -1):
        back = (tables[layer + 1].T @ back) * open_gates[layer]
        slopes.append(back @ hidden[layer].T)
    return slopes[::-1]


def relu_grad(Ws: Sequence[Any], X: Any, Y: Any, tie: bool = False) -> list[Array]:
    """Gradient of the ReLU network's loss; ``tie`` is the slope of the ReLU at exactly 0."""
    return gated_grad(Ws, X, Y, relu_gates(Ws, X, tie))


def path_sum(Ws: Sequence[Any], X: Any, gates: Gates) -> Array:
    r"""Outputs as an explicit sum over all input-output paths.

    .. math:: \hat y_{oi} = \sum_{i_0,\dots,i_{L-1}} x_{i_0 i}\prod_\ell W^\ell_{i_\ell i_{\ell-1}}
        \prod_\ell g^\ell_{i_\ell i}, \qquad i_L = o

    Exponential in the depth: for small networks, as an independent check of ``gated_forward``.
    """
    tables, inputs = _checked(Ws, X)
    open_gates = _checked_gates(gates, tables, inputs.shape[1])
    sizes = [inputs.shape[0], *(W.shape[0] for W in tables)]
    total = 0 * (np.ones((sizes[-1], inputs.shape[1]), dtype=int) * inputs[0, 0])
    for path in product(*(range(size) for size in sizes)):
        weight = path_weight(tables, path)
        for sample in range(inputs.shape[1]):
            if _path_is_open(open_gates, path, sample):
                total[path[-1], sample] += weight * inputs[path[0], sample]
    return total


def path_weight(Ws: Sequence[Array], path: Sequence[int]) -> Any:
    """Product of the weights along a path of units."""
    weight: Any = 1
    for W, (below, above) in zip(Ws, pairwise(path), strict=True):
        weight = weight * W[above, below]
    return weight


def _path_is_open(gates: Gates, path: Sequence[int], sample: int) -> bool:
    return all(gate[unit, sample] for gate, unit in zip(gates, path[1:-1], strict=True))


def loss_of(Ws: Sequence[Any], X: Any, Y: Any) -> Any:
    """Loss of the ReLU network, exactly for exact inputs."""
    gap = np.asarray(Y) - relu_forward(Ws, X)
    return (gap * gap).sum() * Fraction(1, 2)


def exact_difference_grad(
    Ws: Sequence[Any], X: Any, Y: Any, layer: int, place: tuple[int, int]
) -> Fraction:
    """Derivative of the ReLU network's loss in one weight, as an exact central difference.

    Along one weight the loss is quadratic as long as no gate moves, so the quotient is the
    derivative itself; the step is halved until both ends have the gates of the middle.

    Parameters
    ----------
    Ws, X, Y
        Rational.
    layer : int
        Index of the weight matrix.
    place : (int, int)
        Row and column of the weight.

    Raises
    ------
    TypeError
        If an entry is a float.
    ValueError
        If a pre-activation that this weight moves is 0: there the loss has a kink.
    """
    tables = [as_exact(W, f"layer {number + 1}") for number, W in enumerate(Ws)]
    inputs, targets = as_exact(X, "X"), as_exact(Y, "Y")
    middle = relu_gates(tables, inputs)
    step = Fraction(1, 2)
    for _ in range(60):
        up, down = (_moved(tables, layer, place, sign * step) for sign in (1, -1))
        if all(_same_gates(relu_gates(moved, inputs), middle) for moved in (up, down)):
            return (loss_of(up, inputs, targets) - loss_of(down, inputs, targets)) / (2 * step)
        step /= 2
    raise ValueError(
        f"the loss has a kink at weight {place} of layer {layer + 1}: some unit is at 0"
    )


def _moved(Ws: Sequence[Array], layer: int, place: tuple[int, int], by: Fraction) -> list[Array]:
    moved = [W.copy() for W in Ws]
    moved[layer][place] += by
    return moved


def _same_gates(a: Gates, b: Gates) -> bool:
    return all(bool((x == y).all()) for x, y in zip(a, b, strict=True))


class Flip(NamedTuple):
    """A gate that changes on the way from one weight to another, and where."""

    unit: int
    sample: int
    fraction: Any


def gate_flips(W_from: Any, W_to: Any, X: Any) -> list[Flip]:
    r"""Gates of the first layer that flip on the straight line between two weights, in order.

    The pre-activation is linear on the line, so it vanishes at
    :math:`\lambda = z_0/(z_0-z_1)`; exact for rational weights.

    Parameters
    ----------
    W_from, W_to : array, shape (h, d)
    X : array, shape (d, N)
    """
    (start,), inputs = _checked([W_from], X)
    (end,), _ = _checked([W_to], X)
    if start.shape != end.shape:
        raise ValueError(f"both weights need one shape, got {start.shape} and {end.shape}")
    z0, z1 = start @ inputs, end @ inputs
    moved = np.argwhere((z0 > 0).astype(bool) != (z1 > 0).astype(bool))
    flips = [
        Flip(int(unit), int(sample), z0[unit, sample] / (z0[unit, sample] - z1[unit, sample]))
        for unit, sample in moved
    ]
    return sorted(flips, key=lambda flip: (flip.fraction, flip.unit, flip.sample))
