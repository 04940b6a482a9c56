"""Which students gather at which teacher, and how they share it."""

from __future__ import annotations

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, Finding
from theorylab.run import Run
from theorylab.teacher_students.claims.experiments import (
    ETA,
    NONE,
    WEAK,
    D,
    Setup,
    course,
    late_slope,
    losses,
)
from theorylab.teacher_students.descent import descend, draw_starts, orthonormal_teachers
from theorylab.teacher_students.groups import grouping, square_excess
from theorylab.teacher_students.theory import lone_student_floor, pair_angle_rate

ALIGNED = (Setup(2, 1), Setup(4, 2), Setup(6, 2))
RANDOM = tuple(Setup(m, k, alignment=NONE) for m, k in ((3, 2), (4, 2), (6, 3)))
CLOSE_ANGLE = 0.01
"""Radians; an angle that falls as 5/t is far below it at the last step."""


def _steps(run: Run) -> int:
    return run.pick(ci=100_000, paper=1_000_000, gpu=100_000)


def _largest_angle(run: Run, setup: Setup) -> Finding:
    found = course(run, setup, _steps(run))
    return AtMost(grouping(found.W[:, -1], found.V).angle.max(-1).tolist(), CLOSE_ANGLE)


def _falling_angle(run: Run, setup: Setup) -> Finding:
    found = course(run, setup, _steps(run))
    return late_slope(found, grouping(found.W, found.V).angle.max(-1), -1.0, 0.1)


def _all_served(run: Run, setup: Setup) -> Finding:
    """Teachers without a student, over all starts."""
    found = course(run, setup, _steps(run))
    sizes = grouping(found.W[:, -1], found.V).sizes
    return Equal(int((sizes == 0).sum()), 0, sizes={"starts": len(sizes)})


def _pair_angles(run: Run) -> Finding:
    found = course(run, ALIGNED[0], _steps(run))
    last = grouping(found.W[:, -1], found.V)
    share = last.norms / last.norms.sum(-1, keepdims=True)
    ratio = found.time[-1] * last.angle / pair_angle_rate(share)
    return Close(ratio.ravel().tolist(), 1.0, rtol=0.02)


def _lone_student(run: Run) -> Finding:
    found = course(run, Setup(1, 2, alignment=NONE), 2000)
    return Close(losses(found)[:, -1].tolist(), lone_student_floor(), atol=1e-6)


@claim(
    "teacher_students.grouping",
    statement=r"Each of $m$ ReLU students ends aligned with one of $k\le m$ orthonormal teachers "
    r"and every teacher gets a student, from weakly aligned starts "
    r"($(m,k)=(2,1),(4,2),(6,2)$) and from random ones ($(3,2),(4,2),(6,3)$); the largest angle "
    r"falls as $1/T$, in a pair as $\theta_1\simeq2\pi a_2/t$ where $a_1+a_2=1$ are the shares. A "
    r"single student of two teachers stays at the loss "
    r"$\frac12+\frac1{2\pi}-\frac{(1+3\pi/4)^2}{2\pi^2}=0.0885$.",
    source=Source("zhu2025balances", "abstract (grouping); angles and constants: ours"),
    evidence="trend",
    uses=["teacher_students.closed-form"],
)
def grouped(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    for setup in (*ALIGNED, *RANDOM):
        start = "weakly aligned" if setup.alignment else "random"
        name = f"{setup.name}, {start}"
        parts[f"{name}: largest angle"] = _largest_angle(run, setup)
        parts[f"{name}: exponent of the angle"] = _falling_angle(run, setup)
        parts[f"{name}: teachers left alone"] = _all_served(run, setup)
    return AllHold(
        {**parts, "angles in a pair": _pair_angles(run), "a lone student": _lone_student(run)}
    )


@grouped.control("one student of two teachers")
def _(run: Run) -> Finding:
    return _largest_angle(run, Setup(1, 2, alignment=NONE))


@grouped.control("before the students part: the first 10 steps")
def _(run: Run) -> Finding:
    found = course(run, RANDOM[1], 10)
    return AtMost(grouping(found.W[:, -1], found.V).angle.max(-1).tolist(), CLOSE_ANGLE)


SAME_ORDER = 2.5
BALANCED = (Setup(2, 1), Setup(4, 2), Setup(6, 2))


def _imbalance(run: Run, setup: Setup) -> Finding:
    found = course(run, setup, _steps(run))
    return AtMost(grouping(found.W[:, -1], found.V).imbalance.tolist(), SAME_ORDER)


def _sums(run: Run, setup: Setup) -> Finding:
    found = course(run, setup, _steps(run))
    sums = grouping(found.W[:, -1], found.V).sums
    return Close(sums.ravel().tolist(), 1.0, atol=1e-5)


def _near_least(run: Run, setup: Setup) -> Finding:
    found = course(run, setup, _steps(run))
    return AtMost(square_excess(found.W[:, -1], found.V).tolist(), 0.1)


def _scaled(run: Run, setup: Setup, eta: float, time: float) -> np.ndarray:
    """Final excess of the norms' ratio over one; the start has the run's directions."""
    V = orthonormal_teachers(setup.k, D)
    W0 = draw_starts(run.rng("directions"), V, setup.m, 8, setup.size, setup.alignment)
    found = descend(W0, V, eta, [round(time / eta)])
    return grouping(found.W[:, 0], found.V).imbalance - 1


def _persists(run: Run) -> dict[str, Finding]:
    """With two teachers, a start ten times smaller ends at the same unequal norms."""
    small, smaller = (_scaled(run, Setup(4, 2, size), ETA, 1000.0) for size in (1e-3, 1e-4))
    return {
        "two teachers: mean excess of the ratio": AtLeast(float(smaller.mean()), 0.01),
        "two teachers: change with a smaller start": AtMost(
            float(np.abs(small - smaller).max()), 0.01
        ),
    }


def _vanishes(run: Run) -> Finding:
    """With one teacher, start and step 4 times smaller: the excess shrinks by at least 2."""
    coarse, fine = (_scaled(run, Setup(3, 1, scale, NONE), scale, 100.0) for scale in (0.04, 0.01))
    return AtMost(float((fine / coarse).max()), 0.5)


@claim(
    "teacher_students.balance",
    statement=r"From small weakly aligned starts the norms in a group sum to that of the teacher "
    r"and stay of one order: their ratio is at most $2.5$ and $\sum\|w_i\|^2$ exceeds its least "
    r"value $\|v\|^2/n$ by at most 10 %. They are not equal: with two teachers the ratio tends to "
    r"a limit above one as the start shrinks, set by the initial directions. With one teacher it "
    r"tends to one as start and step shrink together.",
    source=Source("zhu2025balances", "abstract (balance); what it means for the norms: ours"),
    evidence="trend",
    uses=["teacher_students.grouping"],
)
def balance(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    for setup in BALANCED:
        parts[f"{setup.name}: ratio of norms"] = _imbalance(run, setup)
        parts[f"{setup.name}: sum of norms"] = _sums(run, setup)
        parts[f"{setup.name}: excess of squares"] = _near_least(run, setup)
    parts["one teacher: excess of the ratio shrinks"] = _vanishes(run)
    return AllHold({**parts, **_persists(run)})


@balance.control("one student starts at norm 4/5, the other at 1/200")
def _(run: Run) -> Finding:
    V = orthonormal_teachers(1, D)
    directions = draw_starts(run.rng("directions"), V, 2, 1, 1.0, WEAK)
    units = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    found = descend(units * np.array([0.8, 0.005])[:, None], V, ETA, [_steps(run)])
    return AtMost(grouping(found.W[:, 0], found.V).imbalance.tolist(), SAME_ORDER)


@balance.control("two teachers: the norms become equal as the start shrinks")
def _(run: Run) -> Finding:
    return AtMost(float(_scaled(run, Setup(4, 2, 1e-4), ETA, 1000.0).max()), 1e-3)
