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
)
from theorylab.teacher_students.samples import descend_on_samples, whitened_digits
from theorylab.teacher_students.theory import relu_loss

FEW, STEPS = 50, 30_000
SETTLED = 1e-20


@lru_cache(maxsize=4)
def _final_losses(source: str, entropy: int, fits: int) -> tuple[float, ...]:
    """Empirical losses of as many samples, each with a start of its own."""
    rng, V = np.random.default_rng(entropy), orthonormal_teachers(1, D)
    digits, found = whitened_digits(D), []
    for _ in range(fits):
        chosen = rng.permutation(len(digits))[:FEW]
        X = rng.standard_normal((FEW, D)) if source == "normal" else digits[chosen]
        start = draw_starts(rng, V, 2, 1, 0.3, 1.0)[0]
        found.append(float(descend_on_samples(X, start, V, ETA, [STEPS]).losses[-1]))
    return tuple(found)


def _ended(run: Run, source: str) -> Finding:
    entropy = int(run.seed_sequence(source).generate_state(1, np.uint64)[0])
    found = _final_losses(source, entropy, run.pick(ci=5, paper=101))
    note = f"{sum(loss <= SETTLED for loss in found)} of {len(found)} fits are below"
    sizes = {"n": FEW, "T": STEPS, "fits": len(found)}
    return AtMost(float(np.median(found)), SETTLED, sizes=sizes, note=note)


def _population(run: Run) -> float:
    rng, V = run.rng("population"), orthonormal_teachers(1, D)
    found = descend(draw_starts(rng, V, 2, 8, 0.3, 1.0), V, ETA, [STEPS])
    return float(relu_loss(found.W, V).min())


@claim(
    "teacher_students.finite-sample",
    statement=r"The law needs the population: gradient descent on the empirical loss of $50$ "
    r"inputs in ten dimensions, normal ones or whitened digits, with two students of one teacher "
    r"is below $10^{-20}$ for most samples (the median of the fits) after $3\cdot10^4$ steps of "
    r"size $0.2$, where the population loss is still above $10^{-13}$: thin wedges hold so few "
    r"inputs that they can be fitted exactly.",
    source=Source("theorylab", "derived in the chapter"),
    evidence="trend",
    uses=["teacher_students.rate-overparam"],
)
def finite_sample(run: Run) -> Finding:
    return AllHold(
        {
            "normal inputs": _ended(run, "normal"),
            "whitened digits": _ended(run, "digits"),
            "population": AtLeast(_population(run), 1e-13),
        }
    )


@finite_sample.control("the population instead of a sample")
def _(run: Run) -> Finding:
    return AtMost(_population(run), SETTLED)
