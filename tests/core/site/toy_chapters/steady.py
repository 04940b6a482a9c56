"""Claims of every kind of evidence that are verified, and one that is refuted as expected."""

from __future__ import annotations

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import (
    AtMost,
    Close,
    Equal,
    ExponentEquals,
    Finding,
    NotRejected,
    Pending,
)
from theorylab.run import Run
from toy_chapters.traces import count

BOOK = Source("toy2025", "Theorem 1")


@claim("steady.exact", statement="$1 + 1 = 2$.", source=BOOK, evidence="exact")
def exact(run: Run) -> Finding:
    count("steady.exact")
    return Equal(1 + 1, 2)


@exact.control("one is missing")
def _(run: Run) -> Finding:
    return Equal(1, 2)


@claim(
    "steady.drawn",
    statement="A normal draw lies within ten of zero.",
    source=BOOK,
    evidence="certified",
    uses=["steady.exact"],
)
def drawn(run: Run) -> Finding:
    count("steady.drawn")
    draw = run.rng("draw").normal()
    return Close(draw, 0.0, atol=10.0, note=f"drew {draw!r}")


@drawn.control("shifted by a hundred")
def _(run: Run) -> Finding:
    draw = run.rng("draw").normal()
    return Close(draw + 100, 0.0, atol=10.0, note=f"drew {draw!r}")


@claim(
    "steady.bounded",
    statement="A hundred uniform draws lie below one.",
    source=BOOK,
    evidence="certified",
)
def bounded(run: Run) -> Finding:
    count("steady.bounded")
    return AtMost(run.rng("uniform").uniform(size=run.pick(ci=100, paper=1000)), 1)


@bounded.control("scaled by two")
def _(run: Run) -> Finding:
    return AtMost(2 * run.rng("uniform").uniform(size=run.pick(ci=100, paper=1000)), 1)


@claim("steady.tested", statement="Coins are fair.", source=BOOK, evidence="statistical")
def tested(run: Run) -> Finding:
    count("steady.tested")
    return NotRejected(0.5 + 0.4 * run.rng("coins").uniform(), 1e-5, 0.99, "a biased coin")


@tested.control("a biased coin")
def _(run: Run) -> Finding:
    return NotRejected(1e-9, 1e-5, 0.99, "a biased coin")


@claim("steady.trend", statement="It grows as $n^2$.", source=BOOK, evidence="trend")
def trend(run: Run) -> Finding:
    count("steady.trend")
    slope = float(np.polyfit(np.log([1, 2, 4]), np.log([1, 4, 16]), 1)[0])
    return ExponentEquals(slope, slope - 0.01, slope + 0.01, 2, 0.1)


@trend.control("it grows as $n$")
def _(run: Run) -> Finding:
    return ExponentEquals(1, 0.99, 1.01, 2, 0.1)


@claim(
    "steady.disproved",
    statement="All primes are odd.",
    source=BOOK,
    evidence="exact",
    expected="refuted",
)
def disproved(run: Run) -> Finding:
    count("steady.disproved")
    return Equal(2 % 2, 1, note="2 is a prime")


@disproved.control("of even numbers")
def _(run: Run) -> Finding:
    return Equal(4 % 2, 1)


@disproved.positive_control("of primes above two")
def _(run: Run) -> Finding:
    return Equal(7 % 2, 1)


@claim(
    "steady.large",
    statement="It holds at a size that takes a GPU.",
    source=BOOK,
    evidence="exact",
    expected="pending",
)
def large(run: Run) -> Finding:
    count("steady.large")
    return Pending("needs a GPU")


@large.control("never run")
def _(run: Run) -> Finding:
    return Equal(1, 2)
