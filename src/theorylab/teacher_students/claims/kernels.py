"""The closed form of loss and gradient, against an exact quadrature in the plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtMost, Close, Finding
from theorylab.run import Run
from theorylab.teacher_students.planar import (
    Planar,
    Vector,
    closed_form,
    precision,
    quadrature,
    supplement,
)
from theorylab.teacher_students.theory import population_gradient, population_loss, relu_loss

Instance = tuple[list[Vector], list[Vector]]
BITS = 300
SPECIAL: tuple[tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]], ...] = (
    ([(1, 0)], [(1, 0)]),
    ([(1, 0)], [(-1, 0)]),
    ([(0, 2)], [(1, 0)]),
    ([(1, 1), (1, -1)], [(2, 0)]),
    ([(1000001, 1), (-3, 0)], [(1000000, 0), (0, 1)]),
)
"""Parallel, antiparallel and orthogonal neurons, a split pair, and an angle of a millionth."""


def _fractions(pairs: Sequence[Sequence[object]]) -> list[Vector]:
    return [(Fraction(str(x)), Fraction(str(y))) for x, y in pairs]


def _draw(rng: np.random.Generator, count: int) -> list[Vector]:
    tops, bottoms = rng.integers(-9, 10, size=(count, 2)), rng.integers(1, 8, size=(count, 2))
    tops[(tops == 0).all(axis=1)] = 1
    return [
        (Fraction(int(a), int(c)), Fraction(int(b), int(d)))
        for (a, b), (c, d) in zip(tops, bottoms, strict=True)
    ]


def _instances(run: Run) -> list[Instance]:
    rng = run.rng("vectors")
    sizes = rng.integers(1, 5, size=(run.pick(ci=40, paper=2000), 2))
    random = [(_draw(rng, int(m)), _draw(rng, int(k))) for m, k in sizes]
    return [*((_fractions(W), _fractions(V)) for W, V in SPECIAL), *random]


def _distance(a: Planar, b: Planar) -> tuple[float, float]:
    """Upper bounds on the differences of the losses and of the gradients."""
    pairs = zip(a.gradients, b.gradients, strict=True)
    gaps = [_upper(u[axis] - v[axis]) for u, v in pairs for axis in (0, 1)]
    return _upper(a.loss - b.loss), max(gaps)


def _upper(value: arb) -> float:
    return float(abs(value).upper())


def _agreement(run: Run, wedge: Callable[[arb], arb]) -> dict[str, Finding]:
    with precision(BITS):
        gaps = [_distance(quadrature(*one), closed_form(*one, wedge)) for one in _instances(run)]
    worst = np.max(gaps, axis=0)
    sizes = {"networks": len(gaps), "bits": BITS}
    return {
        "loss": AtMost(float(worst[0]), 1e-60, sizes=sizes),
        "gradient": AtMost(float(worst[1]), 1e-60, sizes=sizes),
    }


def _in_double(run: Run) -> dict[str, Finding]:
    """Errors of the floating-point functions, relative to the squared size of the network."""
    loss, slope, excess = [], [], []
    for one in _instances(run):
        with precision(BITS):
            exact = quadrature(*one)
        W, V = (np.array([[float(x) for x in z] for z in part]) for part in one)
        scale = float(np.linalg.norm([*W, *V], axis=1).sum())
        slopes = np.array([[float(x) for x in g] for g in exact.gradients])
        loss.append(abs(float(population_loss(W, V)) - float(exact.loss)) / scale**2)
        excess.append(abs(float(relu_loss(W, V)) - float(exact.loss)) / scale**2)
        slope.append(np.abs(population_gradient(W, V) - slopes).max() / scale)
    return {
        "error of the loss in double precision": Close(loss, 0.0, atol=1e-12),
        "error of the loss by the angular excess": Close(excess, 0.0, atol=1e-12),
        "error of the gradient in double precision": Close(slope, 0.0, atol=1e-12),
    }


@claim(
    "teacher_students.closed-form",
    statement=r"For ReLU students $w_i$ and teachers $v_j$ with unit output weights and "
    r"$x\sim\mathcal N(0,I)$, with signs $s=\pm1$ over all neurons $z$, "
    r"$L=\frac1{4\pi}\sum_{a,b}s_as_b\|z_a\|\|z_b\|(\sin\theta_{ab}+(\pi-\theta_{ab})"
    r"\cos\theta_{ab})$ and $\nabla_wL=\frac1{2\pi}\sum_zs_z(\|z\|\sin\theta_{wz}\,\hat w+"
    r"(\pi-\theta_{wz})z)$: both agree with an exact angular quadrature in the plane to 60 digits, "
    r"and the floating-point functions with it to $10^{-12}$.",
    source=Source("theorylab", "derived in the chapter"),
    evidence="certified",
)
def closed(run: Run) -> Finding:
    return AllHold({**_agreement(run, supplement), **_in_double(run)})


@closed.control("the angle in place of its supplement")
def _(run: Run) -> Finding:
    return AllHold(_agreement(run, lambda theta: theta))


@closed.control("a wedge wider by a millionth of the angle")
def _(run: Run) -> Finding:
    return AllHold(_agreement(run, lambda theta: supplement(theta) + theta / 10**6))
