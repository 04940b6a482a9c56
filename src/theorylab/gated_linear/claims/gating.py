"""A ReLU network is a gated linear network whose gates move."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Equal, Finding
from theorylab.gated_linear.claims.experiments import RATE, rounded_down, seeds_of
from theorylab.gated_linear.curves import curve_deviation
from theorylab.gated_linear.descent import ReLUNet, Trajectory, train
from theorylab.gated_linear.gates import (
    exact_difference_grad,
    gated_forward,
    gated_grad,
    path_sum,
    relu_forward,
    relu_gates,
    relu_grad,
)
from theorylab.gated_linear.tasks import identical_task
from theorylab.run import Run

SHAPES = ((3, 4, 2), (3, 3, 3, 2), (2, 3, 2, 3, 1))
"""Layer sizes of networks of depth 2, 3 and 4."""

THRESHOLD = 0.15
"""Deviation, in units of the initial loss, from which two curves count as different."""


class Instance(NamedTuple):
    """A rational network with data."""

    Ws: list[Any]
    X: Any
    Y: Any


def _fractions(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    tops, bottoms = rng.integers(-9, 10, size=shape), rng.integers(1, 7, size=shape)
    table = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        table[place] = Fraction(int(tops[place]), int(bottoms[place]))
    return table


def _has_tie(Ws: list[Any], X: Any) -> bool:
    on, also = relu_gates(Ws, X), relu_gates(Ws, X, tie=True)
    return any(bool((a != b).any()) for a, b in zip(on, also, strict=True))


def _instances(run: Run) -> list[Instance]:
    """Random rational networks without a pre-activation at 0, as many of every depth."""
    rng, found = run.rng("networks"), []
    for sizes in SHAPES:
        kept = 0
        while kept < run.pick(ci=20, paper=200):
            Ws = [_fractions(rng, (b, a)) for a, b in pairwise(sizes)]
            X, Y = _fractions(rng, (sizes[0], 3)), _fractions(rng, (sizes[-1], 3))
            if not _has_tie(Ws, X):
                found.append(Instance(Ws, X, Y))
                kept += 1
    return found


def _flat(tables: list[Any]) -> list[Any]:
    return [entry for table in tables for entry in np.asarray(table).ravel()]


def _some_weights(
    instance: Instance, rng: np.random.Generator
) -> list[tuple[int, tuple[int, int]]]:
    """One weight of every layer."""
    return [
        (n, (int(rng.integers(W.shape[0])), int(rng.integers(W.shape[1]))))
        for n, W in enumerate(instance.Ws)
    ]


def _freeze(run: Run, gates_of: Any) -> Finding:
    """Compare the ReLU networks with gated linear ones whose gates ``gates_of`` chooses."""
    outputs, sums, forward, slopes, quotients = [], [], [], [], []
    rng = run.rng("weights")
    for instance in _instances(run):
        Ws, X, Y = instance
        gates = gates_of(instance)
        outputs += _flat([relu_forward(Ws, X)])
        forward += _flat([gated_forward(Ws, X, gates)])
        sums += _flat([path_sum(Ws, X, gates)])
        gradient = gated_grad(Ws, X, Y, gates)
        for layer, place in _some_weights(instance, rng):
            slopes.append(gradient[layer][place])
            quotients.append(exact_difference_grad(Ws, X, Y, layer, place))
    sizes = {"networks": run.pick(ci=20, paper=200) * len(SHAPES)}
    return AllHold(
        {
            "outputs": Equal(forward, outputs, sizes=sizes),
            "sum over paths": Equal(sums, outputs),
            "gradient": Equal(slopes, quotients, note="against exact central differences"),
        }
    )


def _tie() -> Instance:
    """One unit at exactly 0 on its first sample, with an outgoing weight and an error."""
    W1 = np.array([[Fraction(1), Fraction(-1)], [Fraction(1), Fraction(2)]], dtype=object)
    W2 = np.array([[Fraction(3), Fraction(1, 2)]], dtype=object)
    X = np.array([[Fraction(1), Fraction(2)], [Fraction(1), Fraction(1)]], dtype=object)
    return Instance([W1, W2], X, np.array([[Fraction(1), Fraction(0)]], dtype=object))


@claim(
    "gated_linear.gate-freeze",
    statement=r"For every ReLU network without biases, every data set and all parameters at which "
    r"no pre-activation is $0$, the gated linear network with the gates $g=\mathbb 1[z>0]$ has the "
    r"same outputs and the same gradient. Where some $z=0$, the outputs agree for either value of "
    r"that gate.",
    source=Source("jarvis2025haste", "the equivalence that the theory starts from"),
    evidence="exact",
)
def gate_freeze(run: Run) -> Finding:
    Ws, X, _ = _tie()
    both = [gated_forward(Ws, X, relu_gates(Ws, X, tie)) for tie in (False, True)]
    found = _freeze(run, lambda instance: relu_gates(instance.Ws, instance.X))
    assert isinstance(found, AllHold)
    return AllHold({**found.parts, "outputs at a tie": Equal(_flat(both[:1]), _flat(both[1:]))})


@gate_freeze.control("one live gate is flipped")
def _(run: Run) -> Finding:
    def flipped(instance: Instance) -> Any:
        gates = relu_gates(instance.Ws, instance.X)
        gates[0][0, 0] ^= True
        return gates

    return _freeze(run, flipped)


@gate_freeze.control("at a tie the two conventions for the gate share a gradient")
def _(run: Run) -> Finding:
    Ws, X, Y = _tie()
    off, on = (relu_grad(Ws, X, Y, tie) for tie in (False, True))
    return Equal(_flat(off), _flat(on))


@lru_cache(maxsize=2)
def _gate_run(width: int, std: float, steps: int, seed: int) -> Trajectory:
    net = ReLUNet((width,), std)
    return train(
        net, identical_task(3), RATE, steps, seeds=[seed], every=1, record=("losses", "gates")
    )


def _replayed(run: Run, gates: str) -> tuple[Trajectory, Trajectory]:
    """The ReLU run, and a gated run from the same weights with the gates that are named."""
    width, steps = run.pick(ci=60, paper=500), run.pick(ci=3000, paper=8000)
    original = _gate_run(width, run.pick(ci=2.5e-5, paper=1e-5), steps, *seeds_of(run, "start", 1))
    task = identical_task(3)
    chosen = {"recorded": original.gates, "first": original.gates[0], "last": original.gates[-1]}
    copy = train(
        ReLUNet((width,), 1.0),
        task,
        RATE,
        steps,
        seeds=[0],
        every=1,
        mode="replay",
        replay=chosen[gates],
        start=original.start,
    )
    return original, copy


def _differing(a: Trajectory, b: Trajectory) -> int:
    """Weights after the last step that differ in any bit."""
    return sum(int((x != y).sum()) for x, y in zip(a.weights, b.weights, strict=True))


def _against(run: Run, gates: str) -> Finding:
    original, copy = _replayed(run, gates)
    gap = curve_deviation(original.losses[0], copy.losses[0])
    steps, _, units, samples = original.gates.shape
    sizes = {"steps": steps - 1, "gates": units * samples}
    return AllHold(
        {
            "weights that differ": Equal(_differing(original, copy), 0, sizes=sizes),
            "loss": AtMost(gap.max, 0.0, note="largest deviation over the initial loss"),
        }
    )


@claim(
    "gated_linear.time-varying-gates",
    statement=r"A gated linear network that starts from the weights of a ReLU network and is given "
    r"its recorded gates, step by step, has the same weights after every step. Given the gates of "
    r"the first step for good, or those of the last, it does not: its loss deviates by at least "
    r"$0.15\,L(0)$ ($C=3$, $P=8$, small random start).",
    source=Source("theorylab", "derived in the chapter"),
    evidence="exact",
    uses=["gated_linear.gate-freeze"],
)
def time_varying_gates(run: Run) -> Finding:
    found = _against(run, "recorded")
    assert isinstance(found, AllHold)
    apart = {}
    for gates in ("first", "last"):
        original, copy = _replayed(run, gates)
        gap = curve_deviation(original.losses[0], copy.losses[0])
        apart[f"{gates} gates for good"] = AtLeast(rounded_down(gap.max, 0.01), THRESHOLD)
    return AllHold({**found.parts, **apart})


@time_varying_gates.control("the gates of the first step for good")
def _(run: Run) -> Finding:
    return _against(run, "first")


@time_varying_gates.control("the gates of the last step for good")
def _(run: Run) -> Finding:
    return _against(run, "last")
