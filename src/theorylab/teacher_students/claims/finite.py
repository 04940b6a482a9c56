"""On finitely many inputs the law of the third power ends."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Finding
from theorylab.run import Run
from theorylab.teacher_students.claims.experiments import ETA, D
from theorylab.teacher_students.descent import (
    descend,
    draw_starts,
    orthonormal_teachers,
    record_steps,
)
from theorylab.teacher_students.samples import SampleCourse, descend_on_samples, whitened_digits
from theorylab.teacher_students.theory import relu_loss

FEW = 200
STEPS = 30_000


@lru_cache(maxsize=4)
def _fitted(source: str, entropy: int, steps: int) -> SampleCourse:
    rng = np.random.default_rng(entropy)
    V = orthonormal_teachers(1, D)
    W0 = draw_starts(rng, V, 2, 1, 0.3, 1.0)[0]
    inputs = rng.standard_normal((FEW, D)) if source == "normal" else whitened_digits(D)[:FEW]
    return descend_on_samples(inputs, W0, V, ETA, record_steps(steps, 46))


def _on_samples(run: Run, source: str) -> SampleCourse:
    entropy = int(run.seed_sequence("start").generate_state(1, np.uint64)[0])
    return _fitted(source, entropy, STEPS)


def _ended(run: Run, source: str) -> Finding:
    found = _on_samples(run, source)
    note = f"{found.disputed[-1]} of {FEW} inputs lie between a student and the teacher"
    return AtMost(float(found.losses[-1]), 1e-16, note=note, sizes={"n": FEW, "T": STEPS})


def _population(run: Run) -> float:
    rng, V = run.rng("population"), orthonormal_teachers(1, D)
    found = descend(draw_starts(rng, V, 2, 4, 0.3, 1.0), V, ETA, [STEPS])
    return float(relu_loss(found.W, V).min())


@claim(
    "teacher_students.finite-sample",
    statement=r"The law needs the population: gradient descent on the empirical loss of $200$ "
    r"inputs, normal ones or whitened digits, with two students of one teacher is below "
    r"$10^{-16}$ after $3\cdot10^4$ steps of size $0.2$, where the population loss is still above "
    r"$10^{-13}$, because a wedge that holds fewer inputs than the students have weights can be "
    r"fitted exactly.",
    source=Source("theorylab", "derived in the chapter"),
    evidence="trend",
    uses=["teacher_students.rate-overparam"],
)
def finite_sample(run: Run) -> Finding:
    return AllHold(
        {
            "200 normal inputs": _ended(run, "normal"),
            "200 whitened digits": _ended(run, "digits"),
            "population": AtLeast(_population(run), 1e-13),
        }
    )


@finite_sample.control("the population instead of a sample")
def _(run: Run) -> Finding:
    return AtMost(_population(run), 1e-16)
