"""The race between pathways: who wins it, and what happens as the start shrinks."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtMost, Close, Equal, ExponentAtMost, Finding
from theorylab.gated_linear.claims.experiments import EVERY, RATE, named_task, relu_runs, seeds_of
from theorylab.gated_linear.curves import first_passage
from theorylab.gated_linear.reductions import mode_reductions, reduced_curve
from theorylab.gated_linear.theory import (
    arrival_time,
    arrival_without_early_phase,
    effective_start,
    race_constant,
    tied_race_constant,
)
from theorylab.run import Run
from theorylab.stats import CONFIDENCE

Floats = NDArray[np.float64]
STARTS = (2.5e-9, 1e-12)
RATIOS = {3: 1.565, 4: 2.094, 5: 2.610, 6: 3.120, 20: 10.154}
"""Times of the modular race over those of the winner's, to three decimals."""


def _certified_winner(largest: int) -> Finding:
    """Upper bound of the winner's constant against lower bounds of all others'."""
    winners, others = [], []
    for C in range(3, largest + 1):
        rivals = [race_constant(C, k, certify=True) for k in range(1, C - 1)]
        winner = race_constant(C, C - 1, certify=True)
        winners.append(winner.high)
        others.append(min(rival.low for rival in rivals))
    return AtMost(winners, others, sizes={"C up to": largest}, note="exact bounds, ball arithmetic")


@lru_cache(maxsize=32)
def _integrated(contexts: int, k: int, A0: float) -> Floats:
    """Half-times of all object modes on the k-subset pathways, by integration."""
    found = mode_reductions(named_task(contexts), k, A0, A0)
    times = np.arange(0, 20, 5e-3)
    losses = found.mode_losses(times)
    halved = [losses[0, j] * (contexts - 1) / (2 * contexts) / 4 for j in range(losses.shape[1])]
    return np.array([first_passage(losses[:, j], [halved[j]], 5e-3)[0] for j in range(len(halved))])


def _arrival_errors(formula: Callable[..., float], runs: list[tuple[int, int]]) -> list[float]:
    """Largest relative error of a formula for the half-times, per (C, k)."""
    squares, errors = (7, 3, 1), []
    for contexts, k in runs:
        worst = 0.0
        for A0 in STARTS:
            measured = _integrated(contexts, k, A0)
            predicted = [formula(contexts, k, h2**0.5, A0) for h2 in squares]
            worst = max(worst, float(np.abs(np.array(predicted) / measured - 1).max()))
        errors.append(worst)
    return errors


CASES = [(C, k) for C in (3, 4, 5) for k in range(1, C)]


@claim(
    "gated_linear.race",
    statement=r"Among the families of all $k$-subset pathways with equal small starts, the "
    r"half-time of every object mode is $\frac{\ln(1/A_0)}{2h}\tau_k(C)$ with "
    r"$\tau_k(C)=\frac1{\sqrt{C(C+1)}}+\frac{1-\sqrt{k(k+1)/(C(C+1))}}{\sqrt{k(C-k)/C}}$, and "
    r"$k=C-1$ is the fastest, for all $3\le C\le200$. The advantage over the modular family "
    r"grows like $C/2$. The formula for finite starts is within $2.5\,\%$ of the integrated "
    r"reduction for $C=3,4,5$ and all $k$.",
    source=Source("theorylab", "derived in the chapter; the winner in jarvis2025haste"),
    evidence="certified",
    uses=["gated_linear.reduction"],
)
def race(run: Run) -> Finding:
    growth = [race_constant(C, 1) / race_constant(C, C - 1) for C in RATIOS]
    return AllHold(
        {
            "C − 1 is fastest": _certified_winner(run.pick(ci=200, paper=1000)),
            "advantage over one context each": Close(growth, list(RATIOS.values()), atol=6e-4),
            "arrival times": AtMost(_arrival_errors(arrival_time, CASES), 0.025),
        }
    )


@race.control("what happens before the common pathway has finished is dropped: arrival times")
def _(run: Run) -> Finding:
    return AtMost(_arrival_errors(arrival_without_early_phase, CASES), 0.025)


@race.control("what happens before the common pathway has finished is dropped: the winner")
def _(run: Run) -> Finding:
    winners = [
        min(range(1, C), key=lambda k: (round(tied_race_constant(C, k), 12), k))
        for C in range(3, 13)
    ]
    return Equal(winners, [C - 1 for C in range(3, 13)])


# --- smaller and smaller starts -----------------------------------------------------------------

LEVEL_SHARE = 0.02
CONTEXTS = 3


def _stds(run: Run) -> tuple[float, ...]:
    return run.pick(ci=(1e-5, 1e-7, 1e-9), paper=(1e-5, 1e-6, 1e-7, 1e-8, 1e-9))


def _passages(run: Run, std: float) -> Floats:
    """Steps at which ReLU networks reach the level, one per seed."""
    width, count = run.pick(ci=(110, 7), paper=(200, 8), gpu=(4096, 6))
    steps = int(round(3500 + 1000 * -np.log10(std), -2))
    seeds = seeds_of(run, f"small {std}", count)
    runs = relu_runs(CONTEXTS, "1", width, std, steps, seeds, run.device)
    return np.round([_passage(losses) for losses in runs.losses], -1)


def _passage(losses: Floats) -> float:
    return float(first_passage(losses, [LEVEL_SHARE * losses[0]], EVERY)[0])


def _reln_passage(run: Run, std: float) -> float:
    width = run.pick(ci=(110, 7), paper=(200, 8), gpu=(4096, 6))[0]
    A0 = effective_start(width, std)
    return _passage(
        reduced_curve(named_task(CONTEXTS), 2, A0, A0, np.arange(0, 14_501, EVERY) * RATE)
    )


def _slope(stds: list[float], steps: list[float]) -> tuple[float, float, float]:
    """Steps per e-fold of the start, with a Student interval."""
    slope, _, _, _, error = map(float, stats.linregress(np.log(1 / np.array(stds)), steps))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(steps) - 2)) * error
    return slope, slope - half, slope + half


def _relu_slope(run: Run) -> tuple[float, float, float]:
    pairs = [(std, steps) for std in _stds(run) for steps in _passages(run, std)]
    return _slope([std for std, _ in pairs], [steps for _, steps in pairs])


def _reln_slope(run: Run) -> tuple[float, float, float]:
    stds = [float(std) for std in np.geomspace(1e-5, 1e-9, 9)]
    return _slope(stds, [_reln_passage(run, std) for std in stds])


def _bound() -> float:
    """Three quarters of the slope that the race constant gives the rectified linear network."""
    return 0.75 * race_constant(CONTEXTS, CONTEXTS - 1) / RATE


def _slower(slope: tuple[float, float, float]) -> Finding:
    note = "steps to 2 % of the initial loss per e-fold of the start"
    return ExponentAtMost(*slope, bound=_bound(), confidence=CONFIDENCE, note=note)


@claim(
    "gated_linear.small-init",
    statement=r"As the initial scale $s\to0$ the losses of the ReLU network and of its rectified "
    r"linear network part: the number of steps to $2\,\%$ of $L(0)$ grows with $\ln(1/s)$ for the "
    r"latter at the rate $\tau_2(3)/\eta=647$ of the race constant, for the ReLU network at less "
    r"than three quarters of it. So the losses cannot be equal at all times, nor is the rectified "
    r"linear network the fastest ($C=3$, $P=8$, $s$ down to $10^{-9}$).",
    source=Source("theorylab", "derived in the chapter"),
    evidence="trend",
    uses=["gated_linear.race"],
)
def small_init(run: Run) -> Finding:
    reln = _reln_slope(run)[0]
    return AllHold(
        {
            "ReLU": _slower(_relu_slope(run)),
            "rectified linear network": Close(reln, race_constant(3, 2) / RATE, rtol=0.03),
        }
    )


@small_init.control("the rectified linear network in place of the ReLU network")
def _(run: Run) -> Finding:
    return _slower(_reln_slope(run))
