"""Descents that a claim shares with its controls; cached, as functions of their arguments."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theorylab.findings import ExponentEquals
from theorylab.run import Run
from theorylab.stats import CONFIDENCE, fit_exponent_replicates
from theorylab.teacher_students.descent import (
    Course,
    descend,
    descend_on,
    draw_starts,
    orthonormal_teachers,
    record_steps,
)
from theorylab.teacher_students.theory import relu_loss

D, ETA = 10, 0.2
PER_DECADE = 10
WEAK, NONE = 2.0, 0.0
"""Component along the own teacher in units of the random part: weak recovery, or no alignment."""


class Setup(NamedTuple):
    """Students, teachers, and how the students start."""

    m: int
    k: int
    size: float = 0.1
    alignment: float = WEAK

    @property
    def name(self) -> str:
        """For the reader."""
        students, teachers = ("s" if count > 1 else "" for count in (self.m, self.k))
        return f"{self.m} student{students}, {self.k} teacher{teachers}"


@lru_cache(maxsize=16)
def _descent(setup: Setup, steps: int, starts: int, entropy: int, device: str) -> Course:
    V = orthonormal_teachers(setup.k, D)
    rng = np.random.default_rng(entropy)
    W0 = draw_starts(rng, V, setup.m, starts, setup.size, setup.alignment)
    record = record_steps(steps, PER_DECADE * round(np.log10(steps)) + 1)
    if device == "cpu":
        return descend(W0, V, ETA, record)
    return descend_on(W0, V, ETA, record, device)


def course(run: Run, setup: Setup, steps: int, starts: int | None = None) -> Course:
    """Descent from random starts on orthonormal teachers in ten dimensions."""
    count = run.pick(ci=8, paper=20, gpu=2_000) if starts is None else starts
    entropy = int(run.seed_sequence("starts").generate_state(1, np.uint64)[0])
    return _descent(setup, steps, count, entropy, run.device)


def last_decade(found: Course) -> NDArray[np.bool_]:
    """Which records lie in the last decade of time."""
    return found.steps * 10 >= found.steps[-1]


def late_slope(
    found: Course, values: NDArray[np.float64], predicted: float, tolerance: float
) -> ExponentEquals:
    """Exponent of time in the last decade of a quantity of shape (starts, records)."""
    late = last_decade(found)
    fit = fit_exponent_replicates(found.time[late], values[:, late], CONFIDENCE)
    return ExponentEquals(
        fit.slope,
        fit.low,
        fit.high,
        predicted,
        tolerance,
        confidence=CONFIDENCE,
        sizes={"starts": len(values), "first step": int(found.steps[late][0])},
        note=f"fitted from step {found.steps[late][0]} to {found.steps[-1]}, every start by itself",
    )


def losses(found: Course) -> NDArray[np.float64]:
    """Loss of every start at every record, free of cancellation."""
    return relu_loss(found.W, found.V)
