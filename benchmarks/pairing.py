"""Timing beside a peer: the same for every script of this folder.

A script measures its cases with ``compared`` (with ``compared_clocks``, where a side has a clock of
its own) and how times grow with ``grown``, puts rows and growths into a ``Result`` and hands it to
``report``, which prints a table and writes ``results/<name>.json``::

    rows = [compared("n = 100", ours, peer, rounds=9, least=2.0)]
    report("birthday_collisions", Result(title, "scipy", scipy.__version__, tuple(rows), target))

Where the peer is not installed, ``skip`` says so and ends the script without an error.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NoReturn

from theorylab._version import __version__
from theorylab.benchmarks import Growth, Measure, Result, Row

__all__ = [
    "Growth",
    "Measure",
    "Result",
    "Row",
    "compared",
    "compared_clocks",
    "grown",
    "growth_line",
    "in_turn",
    "report",
    "seconds",
    "skip",
]

Task = Callable[[], object]
Clock = Callable[[], float]

RESULTS = Path(__file__).parent / "results"
WINDOW = 0.02
LIBRARIES = {
    "cvxpy": "cvxpy",
    "flint": "python-flint",
    "numba": "numba",
    "numpy": "numpy",
    "ppl": "pplpy",
    "scipy": "scipy",
    "sympy": "sympy",
    "torch": "torch",
}
"""Modules whose versions are stored if the script has loaded them, and their distributions."""


def seconds(task: Task, window: float = 0.0) -> float:
    """Seconds of one call, averaged over as many calls as begin within ``window`` seconds."""
    start, calls = perf_counter(), 0
    while calls == 0 or perf_counter() - start < window:
        task()
        calls += 1
    return (perf_counter() - start) / calls


def in_turn(*clocks: Clock, rounds: int) -> list[tuple[float, ...]]:
    """Readings of each clock in ``rounds`` rounds, all clocks in each; a cold one is thrown away.

    A clock is a function that runs its side once and returns the seconds.
    """
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}")
    found = [[clock() for clock in clocks] for _ in range(rounds + 1)][1:]
    return [tuple(side) for side in zip(*found, strict=True)]


def compared_clocks(
    case: str,
    ours: Clock,
    peer: Clock,
    *,
    rounds: int,
    least: float | None = None,
    **details: object,
) -> Row:
    """A row of the median readings of both clocks, run in turn, and their ratio."""
    own, other = (median(side) for side in in_turn(ours, peer, rounds=rounds))
    return Row.of(case, own, other, least, **details)


def compared(
    case: str,
    ours: Task,
    peer: Task,
    *,
    rounds: int,
    window: float = WINDOW,
    least: float | None = None,
    **details: object,
) -> Row:
    """A row of median seconds of both sides, run in turn, and their ratio."""
    clocks = lambda: seconds(ours, window), lambda: seconds(peer, window)
    return compared_clocks(case, *clocks, rounds=rounds, least=least, **details)


def grown(
    name: str,
    cases: Iterable[tuple[str, float, Task]],
    *,
    rounds: int,
    window: float = WINDOW,
    most: float | None = None,
) -> Growth:
    """Median seconds of the task of each case against its size."""
    names, sizes, times = [], [], []
    for case, size, task in cases:
        names.append(case)
        sizes.append(float(size))
        times.append(median(in_turn(lambda task=task: seconds(task, window), rounds=rounds)[0]))
    return Growth(name, tuple(names), tuple(sizes), tuple(times), most)


def skip(peer: str, remedy: str = "pip install -r benchmarks/requirements.txt") -> NoReturn:
    """Say that the peer is missing and how to get it, and end without an error."""
    print(f"skipped: {peer} is not there to compare with ({remedy})")
    raise SystemExit(0)


def machine() -> dict[str, object]:
    """What the figures were measured with."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "theorylab": __version__,
        "libraries": {
            name: version(name) for module, name in LIBRARIES.items() if module in sys.modules
        },
    }


def report(name: str, result: Result) -> None:
    """Print the result and write it, with what it was measured with, to ``results``."""
    print(table(result))
    RESULTS.mkdir(exist_ok=True)
    stored = replace(result, machine=machine())
    (RESULTS / f"{name}.json").write_text(stored.to_json(), encoding="utf8")


def table(result: Result) -> str:
    """The result as lines of text."""
    width = max((len(row.case) for row in result.rows), default=4)
    lines = [
        f"\n{result.title}, beside {result.peer} {result.peer_version}".rstrip(),
        f"  {'case':{width}} {'ours':>10} {'peer':>10} {'ratio':>10}",
    ]
    lines += [
        f"  {row.case:{width}} {duration(row.ours_s):>10} {duration(row.peer_s):>10} "
        f"{row.ratio:>10.3g}{_judged(row.met)}{_details(row)}"
        for row in result.rows
    ]
    lines += [growth_line(growth) for growth in result.growths]
    lines += [f"  {part.name}: {part.value:.3g}{_judged(part.met)}" for part in result.measures]
    return "\n".join([*lines, f"  target: {result.target}"])


def growth_line(growth: Growth) -> str:
    """The exponent of a growth as a line of text."""
    fit = growth.fit
    interval = f"exponent {fit.slope:.2f} [{fit.low:.2f}, {fit.high:.2f}]"
    return f"  {growth.name}: {interval}{_judged(growth.met)}"


def _judged(met: bool | None) -> str:
    return "" if met is None else "  met" if met else "  NOT MET"


def _details(row: Row) -> str:
    shown = [
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in row.details.items()
    ]
    return f"  ({', '.join(shown)})" if shown else ""


def duration(value: float) -> str:
    """Seconds with a unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
