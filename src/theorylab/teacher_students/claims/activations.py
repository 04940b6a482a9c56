"""A kink costs the third power of a split, a smooth activation the fourth, and time tells."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, Close, ExponentEquals, Finding
from theorylab.run import Run
from theorylab.stats import fit_exponent
from theorylab.teacher_students.claims.experiments import late_slope
from theorylab.teacher_students.descent import Course, descend, draw_starts, record_steps
from theorylab.teacher_students.theory import (
    cost_order,
    erf_relaxed_coefficient,
    erf_split_coefficient,
    late_exponent,
    pair_prefactor,
    population_loss,
    relaxed_pair,
    relu_loss,
    relu_split_coefficient,
    smooth_pair,
    smooth_prefactor,
    split_pair,
    virial_ratio,
)

HALVES = [0.5, 0.5]
TEACHER = np.array([[1.0, 0.0]])
STEP = {"relu": 0.2, "erf": 1.0, "linear": 0.2}


def _split_costs(act: str, distances: np.ndarray) -> np.ndarray:
    if act == "relu":
        return relu_loss(*split_pair(distances))
    return population_loss(*smooth_pair(distances), act=act, cs=HALVES)


def _cost(act: str, order: int) -> ExponentEquals:
    """Exponent of the distance in the cost of splitting."""
    distances = np.geomspace(*{"relu": (1e-6, 1e-3), "erf": (0.005, 0.05)}[act], 13)
    fit = fit_exponent(distances, _split_costs(act, distances))
    return ExponentEquals(fit.slope, fit.low, fit.high, order, 0.02)


def _coefficient(act: str) -> Finding:
    distance = {"relu": 1e-4, "erf": 0.01}[act]
    predicted = {"relu": relu_split_coefficient(), "erf": erf_split_coefficient()}[act]
    cost = float(_split_costs(act, np.array(distance)))
    return Close(cost / distance ** cost_order(act), predicted, rtol=1e-3)


def _relaxed_coefficient() -> Finding:
    cost = float(population_loss(*relaxed_pair(0.01), act="erf", cs=HALVES))
    return Close(cost / 0.01**4, erf_relaxed_coefficient(), rtol=1e-3)


@lru_cache(maxsize=4)
def _mirrored(act: str, steps: int) -> Course:
    """A pair that starts as mirror images about the teacher, and stays so."""
    start = {"relu": split_pair, "erf": smooth_pair, "linear": smooth_pair}[act](np.array(0.3))[0]
    weights = None if act == "relu" else HALVES
    return descend(start[None], TEACHER, STEP[act], record_steps(steps, 51), act, weights)


def _loss(found: Course, act: str) -> np.ndarray:
    if act == "relu":
        return relu_loss(found.W, found.V)
    return population_loss(found.W, found.V, act, HALVES)


def _pair(run: Run, act: str) -> Course:
    return _mirrored(act, run.pick(ci=200_000, paper=2_000_000))


def _decay(run: Run, act: str, order: float) -> Finding:
    found = _pair(run, act)
    late = found.steps * 10 >= found.steps[-1]
    fit = fit_exponent(found.time[late], _loss(found, act)[0, late])
    predicted = -late_exponent(order)
    return ExponentEquals(fit.slope, fit.low, fit.high, predicted, 0.05)


def _virial(run: Run, act: str, order: float) -> Finding:
    found = _pair(run, act)
    deviation = (found.W[0, -1, :, 1] ** 2).sum()
    ratio = found.time[-1] * _loss(found, act)[0, -1] / deviation
    return Close(float(ratio), virial_ratio(order), rtol=0.01)


def _level(run: Run, act: str) -> Finding:
    found = _pair(run, act)
    limit = {"relu": float(pair_prefactor(0.5)), "erf": smooth_prefactor()}[act]
    power = late_exponent(cost_order(act))
    return Close(float(found.time[-1] ** power * _loss(found, act)[0, -1]), limit, rtol=0.01)


def _scattered(run: Run, order: float) -> Finding:
    """erf students that start at random about their teacher."""
    rng, V = run.rng("starts"), np.eye(1, 5)
    record = record_steps(run.pick(ci=100_000, paper=1_000_000), 51)
    W0 = V + draw_starts(rng, V, 2, run.pick(ci=24, paper=100), 0.3)
    found = descend(W0, V, STEP["erf"], record, "erf", HALVES)
    return late_slope(found, population_loss(found.W, V, "erf", HALVES), -late_exponent(order), 0.3)


@claim(
    "teacher_students.activation-link",
    statement=r"Two students that split about their teacher at distance $d$ cost $d^3$ with a "
    r"kink (ReLU: $\frac4{3\pi}d^3$) and $d^4$ if the activation is smooth (erf, output weights "
    r"$\frac12$: $\frac{1}{4\pi\sqrt3}d^4$). Gradient descent pays a cost of order $p$ off as "
    r"$t^{-p/(p-2)}$ with $tL/\sum\|u_i\|^2\to\frac1{p(p-2)}$: exponent $3$ for the kink "
    r"($t^3L\to\frac{\pi^2}6$ for a mirrored pair), $2$ for the smooth one "
    r"($t^2L\to\frac{3\pi\sqrt3}8$: the students lengthen by $d^2/2$, which saves a third of the "
    r"cost).",
    source=Source("theorylab", "derived in the chapter"),
    evidence="trend",
    uses=["teacher_students.closed-form", "teacher_students.rate-overparam"],
)
def activation_link(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    for act, name in (("relu", "ReLU"), ("erf", "erf")):
        order = cost_order(act)
        parts[f"{name}: order of the cost"] = _cost(act, order)
        parts[f"{name}: its coefficient"] = _coefficient(act)
        parts[f"{name}: exponent of the decay"] = _decay(run, act, order)
        parts[f"{name}: level of the decay"] = _level(run, act)
        parts[f"{name}: tL / Σ|u|²"] = _virial(run, act, order)
    parts["erf: coefficient of the longer pair"] = _relaxed_coefficient()
    return AllHold({**parts, "erf, random starts: exponent": _scattered(run, cost_order("erf"))})


@activation_link.control("the orders exchanged: costs")
def _(run: Run) -> Finding:
    return AllHold({"ReLU": _cost("relu", 4), "erf": _cost("erf", 3)})


@activation_link.control("the orders exchanged: decays")
def _(run: Run) -> Finding:
    return AllHold(
        {
            "ReLU": _decay(run, "relu", 4),
            "erf": _decay(run, "erf", 3),
            "ReLU, tL / Σ|u|²": _virial(run, "relu", 4),
            "erf, random starts": _scattered(run, 3),
        }
    )


@activation_link.control("linear neurons, whose split costs nothing")
def _(run: Run) -> Finding:
    return AtLeast(float(_split_costs("linear", np.array(0.1))), 1e-6)
