"""Linear networks: the sigmoid of each mode, and what finite steps do to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtMost, Close, Equal, Finding
from theorylab.gated_linear.claims.experiments import EVERY, RATE, seeds_of
from theorylab.gated_linear.curves import curve_deviation
from theorylab.gated_linear.descent import GatedNet, Pathway, train
from theorylab.gated_linear.modes import sorted_pairing, task_modes
from theorylab.gated_linear.reductions import Aligned, general_reduction
from theorylab.gated_linear.tasks import Task, identical_task
from theorylab.gated_linear.theory import effective_start, sigmoid_mode, stepped_mode
from theorylab.run import Run

Floats = NDArray[np.float64]
Pairs = list[tuple[float, float]]
START = 1e-9
RATES = (4e-3, 2e-3, 1e-3, 0.5e-3, 0.25e-3)
END = 5.0
"""Time at which the linear network has learned all its modes."""


def _pairs(task: Task) -> Pairs:
    """Strengths S and D of every mode, multiplicities written out."""
    return [(m.S, m.D) for m in task_modes(task) for _ in range(m.mult)]


def _loss_of_modes(task: Task, pairs: Pairs, strength: Callable[[float, float], Floats]) -> Floats:
    r"""Loss from the modes: :math:`L(0)+\sum(\tfrac12DA^2-SA)`."""
    total = np.array(task.initial_loss)
    for S, D in pairs:
        A = strength(S, D)
        total = total + 0.5 * D * A**2 - S * A
    return total


@lru_cache(maxsize=8)
def _balanced(contexts: int, lr: float) -> Floats:
    """Loss of a balanced aligned linear network under descent."""
    task = identical_task(contexts)
    everything = Aligned(np.ones(len(task.X), bool), np.ones(task.samples, bool), START)
    return general_reduction(task, [everything]).descent(lr, round(END / lr), EVERY)


def _times(lr: float) -> Floats:
    return lr * np.arange(0, round(END / lr) + 1, EVERY, dtype=float)


def _error(contexts: int, lr: float, predicted: Floats) -> float:
    return curve_deviation(_balanced(contexts, lr), predicted).max


def _symbolic() -> Finding:
    """Residual of the mode equation, and the value at time 0, as sympy simplifies them."""
    import sympy

    t, S, D, A0 = sympy.symbols("t S D A_0", positive=True)
    x = sympy.exp(-2 * S * t)
    A = A0 * S / (D * A0 * (1 - x) + S * x)
    residual = sympy.simplify(sympy.diff(A, t) - 2 * A * (S - D * A))
    start = sympy.simplify(A.subs(t, 0) - A0)
    return Equal((str(residual), str(start)), ("0", "0"))


def _wide(run: Run) -> Finding:
    width, std = run.pick(ci=400, paper=1600, gpu=10_000), 7e-6
    task, steps = identical_task(3), round(END / RATE)
    everything = Pathway(np.ones(len(task.X), bool), np.ones(task.samples, bool), width, std)
    seeds = seeds_of(run, "wide", 4)
    runs = train(
        GatedNet((everything,)), task, RATE, steps, seeds=seeds, every=EVERY, device=run.device
    )
    A0 = effective_start(width, std)
    predicted = _loss_of_modes(
        task, _pairs(task), lambda S, D: stepped_mode(_times(RATE), S, D, A0, RATE)
    )
    worst = max(curve_deviation(losses, predicted).max for losses in runs.losses)
    return AtMost(worst, 0.02, sizes={"width": width, "seeds": len(seeds)}, note="worst of 4 seeds")


def _plain(task: Task, pairs: Pairs, lr: float) -> Floats:
    return _loss_of_modes(task, pairs, lambda S, D: sigmoid_mode(_times(lr), S, D, START))


def _stepped(task: Task, pairs: Pairs, lr: float) -> Floats:
    return _loss_of_modes(task, pairs, lambda S, D: stepped_mode(_times(lr), S, D, START, lr))


@claim(
    "gated_linear.sigmoid",
    statement=r"$A(t)=\frac{S/D}{1-(1-S/(DA_0))e^{-2St}}$ solves $\dot A=2A(S-DA)$, $A(0)=A_0$, "
    r"and the modes together predict the loss of a linear network in training: from a balanced "
    r"aligned start the error is of first order in the learning rate, with the rate of finite "
    r"steps $2\ln(1+\eta S)/\eta$ in place of $2S$ it is at most $0.004\,L(0)$ at "
    r"$\eta=10^{-3}$, and a wide random start with $A_0=hs^2/2$ follows within $0.02\,L(0)$ "
    r"($h=400$).",
    source=Source(
        "saxe2014exact", "the solution of the mode equation; the start derived in the chapter"
    ),
    evidence="certified",
)
def sigmoid(run: Run) -> Finding:
    task = identical_task(3)
    errors = [_error(3, lr, _plain(task, _pairs(task), lr)) for lr in RATES]
    slope = float(np.polyfit(np.log(RATES), np.log(errors), 1)[0])
    five = identical_task(5)
    return AllHold(
        {
            "the equation": _symbolic(),
            "order in the learning rate": Close(slope, 1.0, atol=0.1),
            "finite steps, C = 3": AtMost(
                _error(3, RATE, _stepped(task, _pairs(task), RATE)), 0.004
            ),
            "finite steps, C = 5": AtMost(
                _error(5, RATE, _stepped(five, _pairs(five), RATE)), 0.004
            ),
            "wide random start": _wide(run),
        }
    )


@sigmoid.control("S and D paired by rank instead of by mode, C = 5")
def _(run: Run) -> Finding:
    task = identical_task(5)
    return AtMost(_error(5, RATE, _stepped(task, sorted_pairing(task), RATE)), 0.004)


@sigmoid.control("rate S instead of 2S")
def _(run: Run) -> Finding:
    task = identical_task(5)
    halved = _loss_of_modes(
        task, _pairs(task), lambda S, D: stepped_mode(_times(RATE) / 2, S, D, START, RATE)
    )
    return AtMost(_error(5, RATE, halved), 0.004)
