r"""Exact ReLU networks, and wiring them from signals.

A signal is an affine combination of the neurons of one layer. Maxima rest on one gadget,

.. math:: \max(a, b) = (a-b)^+ + b^+ - (-b)^+ .
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from .rationals import Rational, Scalar, Vector, rational_vector

Layer = tuple[tuple[Vector, ...], Vector]


@dataclass(frozen=True)
class ReLUNet:
    r"""A feed-forward ReLU network with rational weights and one output.

    .. math:: x\mapsto W_D(\cdots(W_1(W_0x+b_0)^++b_1)^+\cdots)+b_D

    Parameters
    ----------
    layers : sequence of (matrix, vector)
        Weights and biases, first layer first; the last one is affine and has one row.
    rationalise : bool or int
        Floats are refused unless this says how to read them (see ``theorylab.exact.rational``).

    Attributes
    ----------
    n : int
        Number of inputs.
    hidden : list of int
        Widths of the hidden layers.
    depth : int
        Number of hidden layers.
    size : int
        Number of hidden neurons.

    Raises
    ------
    TypeError
        For floats without ``rationalise``.
    ValueError
        If there is no layer, shapes do not fit, or the last layer has several rows.
    """

    layers: Sequence[Layer]
    rationalise: InitVar[bool | int] = False

    def __post_init__(self, rationalise: bool | int) -> None:
        layers = tuple(_layer(matrix, bias, rationalise) for matrix, bias in self.layers)
        if not layers:
            raise ValueError("a network needs at least the affine output layer, got no layer")
        for number, (before, after) in enumerate(pairwise(layers), 1):
            if len(before[1]) != len(after[0][0]):
                raise ValueError(
                    f"layer {number} takes {len(after[0][0])} inputs, "
                    f"the layer before it has {len(before[1])} neurons"
                )
        if len(layers[-1][1]) != 1:
            raise ValueError(f"the last layer must have one row, got {len(layers[-1][1])}")
        object.__setattr__(self, "layers", layers)

    @property
    def n(self) -> int:
        return len(self.layers[0][0][0])

    @property
    def hidden(self) -> list[int]:
        return [len(bias) for _, bias in self.layers[:-1]]

    @property
    def depth(self) -> int:
        return len(self.layers) - 1

    @property
    def size(self) -> int:
        return sum(self.hidden)

    @property
    def has_biases(self) -> bool:
        """Whether any bias differs from 0."""
        return any(any(bias) for _, bias in self.layers)

    def homogeneous_part(self) -> ReLUNet:
        """Return the network without its biases; the same function if that is homogeneous."""
        zero = Fraction(0)
        return ReLUNet([(matrix, (zero,) * len(bias)) for matrix, bias in self.layers])

    def clear_denominators(self) -> tuple[int, ReLUNet]:
        r"""Return (M, net): integer weights, and :math:`M^{k+1}` times the function.

        M is the least common denominator of the weights, k the number of hidden layers; the bias
        of layer l is multiplied by :math:`M^l`.
        """
        weights = [w for matrix, _ in self.layers for row in matrix for w in row]
        M = lcm(*(w.denominator for w in weights))
        scaled = [
            (tuple(tuple(M * w for w in row) for row in matrix), tuple(M**level * b for b in bias))
            for level, (matrix, bias) in enumerate(self.layers, 1)
        ]
        return M, ReLUNet(scaled)

    def __call__(self, x: Sequence[Scalar]) -> Fraction:
        """Return the exact output at a rational point."""
        values = rational_vector(x, self.n, "x")
        for matrix, bias in self.layers[:-1]:
            values = tuple(max(value, Fraction(0)) for value in _affine(matrix, bias, values))
        return _affine(*self.layers[-1], values)[0]


def _layer(matrix: Iterable, bias: Iterable, rationalise: bool | int) -> Layer:
    rows = tuple(rational_vector(row, None, "weight", rationalise=rationalise) for row in matrix)
    widths = {len(row) for row in rows}
    if len(widths) != 1 or 0 in widths:
        raise ValueError(f"a weight matrix needs rows of one positive length, got lengths {widths}")
    return rows, rational_vector(bias, len(rows), "bias", rationalise=rationalise)


def _affine(matrix: Sequence[Vector], bias: Vector, values: Vector) -> Vector:
    return tuple(
        sum((w * v for w, v in zip(row, values, strict=True) if w and v), constant)
        for row, constant in zip(matrix, bias, strict=True)
    )


@dataclass(frozen=True)
class Signal:
    """A constant plus a combination of the neurons of a layer; layer 0 holds the inputs."""

    level: int
    weights: dict[int, Fraction]
    constant: Fraction = Fraction(0)

    def plus(self, other: Signal, factor: Rational = 1) -> Signal:
        weights = dict(self.weights)
        for neuron, weight in other.weights.items():
            weights[neuron] = weights.get(neuron, Fraction(0)) + factor * weight
        kept = {neuron: weight for neuron, weight in weights.items() if weight}
        return Signal(self.level, kept, self.constant + factor * other.constant)

    def minus(self, other: Signal) -> Signal:
        return self.plus(other, -1)

    @property
    def negative(self) -> Signal:
        return Signal(self.level, {}).minus(self)


class Wiring:
    """Layers under construction."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.layers: list[list[Signal]] = []

    def relu(self, signal: Signal) -> Signal:
        """One neuron in the layer above the signal's."""
        if signal.level == len(self.layers):
            self.layers.append([])
        layer = self.layers[signal.level]
        layer.append(signal)
        return Signal(signal.level + 1, {len(layer) - 1: Fraction(1)})

    def carry(self, signal: Signal) -> Signal:
        """The same value one layer up, by two neurons."""
        return self.relu(signal).minus(self.relu(signal.negative))

    def lift(self, signal: Signal) -> Signal:
        """The same value one layer up, neuron by neuron, to be shared with other lifts.

        A neuron is not negative, so one copy carries it; an input takes two.
        """
        copy = self.carry if signal.level == 0 else self.relu
        lifted = Signal(signal.level + 1, {}, signal.constant)
        for neuron, weight in signal.weights.items():
            lifted = lifted.plus(copy(Signal(signal.level, {neuron: Fraction(1)})), weight)
        return lifted

    def carry_to(self, level: int, signal: Signal) -> Signal:
        while signal.level < level:
            signal = self.carry(signal)
        return signal

    def tournament(self, signals: Sequence[Signal]) -> Signal:
        """The maximum: in each round neighbours are compared by the gadget, an odd one waits."""
        while len(signals) > 1:
            pairs = list(zip(signals[::2], signals[1::2], strict=False))
            winners = [self.relu(a.minus(b)).plus(self.carry(b)) for a, b in pairs]
            odd = [self.carry(signals[-1])] if len(signals) % 2 else []
            signals = winners + odd
        return signals[0]

    def net(self, output: Signal) -> ReLUNet:
        widths = [self.n, *(len(layer) for layer in self.layers)]
        rows = [*self.layers, [output]]
        return ReLUNet([_dense(layer, width) for layer, width in zip(rows, widths, strict=True)])


class SharedWiring(Wiring):
    """Layers in which equal signals have one neuron."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.known: dict[tuple[int, frozenset, Fraction], Signal] = {}

    def relu(self, signal: Signal) -> Signal:
        key = signal.level, frozenset(signal.weights.items()), signal.constant
        if key not in self.known:
            self.known[key] = super().relu(signal)
        return self.known[key]


def _dense(layer: Sequence[Signal], width: int) -> Layer:
    zero = Fraction(0)
    matrix = tuple(tuple(s.weights.get(k, zero) for k in range(width)) for s in layer)
    return matrix, tuple(signal.constant for signal in layer)
