"""How fast the loss falls: the third power of time, an exponential, and a bound from below."""

from __future__ import annotations

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Finding
from theorylab.run import Run
from theorylab.teacher_students.claims.experiments import (
    ETA,
    Setup,
    course,
    last_decade,
    late_slope,
    losses,
)
from theorylab.teacher_students.descent import Course
from theorylab.teacher_students.groups import grouping
from theorylab.teacher_students.theory import (
    contraction,
    late_exponent,
    pair_prefactor,
    virial_ratio,
)

PAIR, FOUR, TWO_PAIRS, TRIPLES = Setup(2, 1), Setup(4, 1), Setup(4, 2), Setup(6, 2)
KINK = 3


def _long(run: Run) -> int:
    return run.pick(ci=100_000, paper=1_000_000, gpu=100_000)


def _virial(found: Course) -> Finding:
    deviation = grouping(found.W[:, -1], found.V).deviation
    ratio = found.time[-1] * losses(found)[:, -1] / (deviation**2).sum(-1)
    return Close(float(np.median(ratio)), virial_ratio(KINK), rtol=0.02)


def _third_power(run: Run, setup: Setup, exponent: float) -> Finding:
    found = course(run, setup, _long(run))
    return late_slope(found, losses(found), exponent, 0.1)


@claim(
    "teacher_students.rate-overparam",
    statement=r"Where every one of $k$ orthonormal teachers has at least two ReLU students, "
    r"gradient descent from small weakly aligned starts reduces the loss as $L\propto T^{-3}$: "
    r"the exponent fitted over the last decade of $10^5$ steps of size $0.2$ is $-3$ within $0.1$ "
    r"for $(m,k)=(2,1),(4,1),(4,2),(6,2)$, and $tL/\sum_i\|u_i\|^2\to\frac13$ with $t=\eta T$ and "
    r"$u_i$ the students' deviations from their teachers' axes.",
    source=Source("zhu2025balances", "abstract (rate); deviations and window: ours"),
    evidence="trend",
    uses=["teacher_students.closed-form"],
)
def rate_overparam(run: Run) -> Finding:
    setups = (PAIR, FOUR, TWO_PAIRS, TRIPLES)
    slopes = {s.name: _third_power(run, s, -late_exponent(KINK)) for s in setups}
    virials = {f"{s.name}, tL / Σ|u|²": _virial(course(run, s, _long(run))) for s in setups}
    return AllHold({**slopes, **virials})


@rate_overparam.control("the exponent is -2")
def _(run: Run) -> Finding:
    return _third_power(run, PAIR, -2.0)


@rate_overparam.control("the exponent is -4")
def _(run: Run) -> Finding:
    return _third_power(run, TWO_PAIRS, -4.0)


@rate_overparam.control("a single student of a single teacher")
def _(run: Run) -> Finding:
    found = course(run, Setup(1, 1), 200)
    return late_slope(found, losses(found), -3.0, 0.1)


EXACT = (Setup(1, 1), Setup(2, 2), Setup(3, 3))
BETWEEN = slice(-5, None)
"""Records of the last steps, in which the slowest deviation is left alone."""


def _deviation(found: Course) -> np.ndarray:
    """Distance of all students from their own teachers, shape (starts, records)."""
    own = found.V[np.arange(found.W.shape[2]) % len(found.V)]
    return np.sqrt(((found.W - own) ** 2).sum((-1, -2)))


def _contraction(run: Run, setup: Setup, predicted: float) -> Finding:
    """Late factor of one step, the median over the starts, on a logarithmic scale."""
    found = course(run, setup, {1: 200, 2: 1000, 3: 1000}[setup.k])
    late = np.log(_deviation(found)[:, BETWEEN])
    rates = (late[:, -1] - late[:, 0]) / np.ptp(found.steps[BETWEEN])
    return Close(float(np.median(rates)), float(np.log(predicted)), rtol=0.05)


RESOLUTION = 1e-15
"""What the sum over pairs resolves; below it a loss is rounding error."""


def _settled(run: Run, setup: Setup) -> Finding:
    last = losses(course(run, setup, 1000))[:, -1]
    return AtMost(np.maximum(last, RESOLUTION).tolist(), 1e-12, sizes={"T": 1000})


@claim(
    "teacher_students.rate-exact",
    statement=r"With as many students as orthonormal teachers, one student each, the decay is "
    r"exponential: from weakly aligned starts $L\le10^{-12}$ after $1000$ steps of size $0.2$ for "
    r"$m=k=1,2,3$, and the distance to the teachers falls in one step by the factor "
    r"$1-\eta\lambda_{\min}$, with the least eigenvalue of the Hessian at the teachers: $\frac12$ "
    r"for $k=1$ and $\frac14-\frac1{2\pi}$ for $k\ge2$ (late logarithmic rate within 5 %).",
    source=Source("xu2023over", "abstract (one student, one teacher); rates and k > 1: ours"),
    evidence="trend",
    uses=["teacher_students.closed-form"],
)
def rate_exact(run: Run) -> Finding:
    parts = {f"{s.name}, loss": _settled(run, s) for s in EXACT}
    for s in EXACT:
        V = np.eye(s.k, 10)
        parts[f"{s.name}, late factor"] = _contraction(run, s, contraction(V, ETA))
    return AllHold(parts)


@rate_exact.control("twice as many students")
def _(run: Run) -> Finding:
    return AllHold({s.name: _settled(run, Setup(2 * s.k, s.k)) for s in EXACT[:2]})


@rate_exact.control("the Hessian without its coupling between students")
def _(run: Run) -> Finding:
    return _contraction(run, EXACT[1], 1 - ETA / 2)


def _levels(run: Run, setup: Setup, steps: int) -> Finding:
    """t^3 L at the end over t^3 L two decades earlier, the least over the starts."""
    found = course(run, setup, steps)
    held = found.time**3 * losses(found)
    early = int(np.searchsorted(found.steps, found.steps[-1] // 100))
    return AtLeast(float((held[:, -1] / held[:, early]).min()), 0.5)


def _prefactor(run: Run) -> Finding:
    found = course(run, PAIR, _long(run))
    norms = grouping(found.W[:, -1], found.V).norms
    limit = pair_prefactor(norms[:, 0] / norms.sum(-1))
    late = found.time[-1] ** 3 * losses(found)[:, -1]
    return Close((late / limit).tolist(), 1.0, rtol=0.03)


@claim(
    "teacher_students.lower-bound",
    statement=r"For one teacher and $n\ge2$ ReLU students the loss is also at least of order "
    r"$T^{-3}$: over the last two decades of $10^5$ steps $T^3L$ keeps at least half of its value "
    r"for $n=2,3,4$, its local exponent is $0$ within $0.1$, and for a pair that shares the unit "
    r"teacher as $a_1+a_2=1$ it levels off at $t^3L\to\frac{8\pi^2}3(a_1a_2)^2$ (within 3 %).",
    source=Source("xu2023over", "abstract (order, gradient flow); the constant: ours"),
    evidence="trend",
    uses=["teacher_students.rate-overparam"],
)
def lower_bound(run: Run) -> Finding:
    parts: dict[str, Finding] = {"constant of a pair": _prefactor(run)}
    for n in (2, 3, 4):
        setup = Setup(n, 1)
        found = course(run, setup, _long(run))
        held = found.time[1:] ** 3 * losses(found)[:, 1:]
        parts[f"{setup.name}, kept"] = _levels(run, setup, _long(run))
        shorter = Course(found.steps[1:], found.W[:, 1:], found.V, found.eta)
        parts[f"{setup.name}, exponent of T³L"] = late_slope(shorter, held, 0.0, 0.1)
    return AllHold(parts)


@lower_bound.control("a single student")
def _(run: Run) -> Finding:
    return _levels(run, Setup(1, 1), 400)


@lower_bound.control("the fourth power levels off")
def _(run: Run) -> Finding:
    found = course(run, PAIR, _long(run))
    late = last_decade(found)
    held = found.time[late] ** 4 * losses(found)[:, late]
    return Close((held[:, -1] / held[:, 0]).tolist(), 1.0, rtol=0.5)
