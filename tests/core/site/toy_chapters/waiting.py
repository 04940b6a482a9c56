"""A quick claim, and claims that wait until the test lets them go."""

from __future__ import annotations

import os
import time

from theorylab.claims import Source, claim
from theorylab.findings import Equal, Finding
from theorylab.run import Run
from toy_chapters.traces import count, folder

BOOK = Source("toy2025")
LONGEST_WAIT = 60.0


def _wait(name: str) -> Finding:
    """Leave the process id in ``<name>.pid``; return once there is a file ``go``."""
    note = folder() / f"{name}.pid"
    note.with_suffix(".part").write_text(str(os.getpid()), encoding="utf8")
    note.with_suffix(".part").replace(note)
    deadline = time.monotonic() + LONGEST_WAIT
    while not (folder() / "go").exists():
        if time.monotonic() > deadline:
            raise TimeoutError("the test never let this claim go")
        time.sleep(0.01)
    return Equal(1, 1)


def _broken(run: Run) -> Finding:
    return Equal(1, 2)


@claim("waiting.quick", statement="It is quick.", source=BOOK, evidence="exact")
def quick(run: Run) -> Finding:
    count("waiting.quick")
    return Equal(1, 1)


quick.control("broken")(_broken)


@claim("waiting.one", statement="It waits.", source=BOOK, evidence="exact")
def one(run: Run) -> Finding:
    count("waiting.one")
    return _wait("one")


one.control("broken")(_broken)


@claim("waiting.two", statement="It waits.", source=BOOK, evidence="exact")
def two(run: Run) -> Finding:
    count("waiting.two")
    return _wait("two")


two.control("broken")(_broken)


@claim("waiting.last", statement="It comes last.", source=BOOK, evidence="exact")
def last(run: Run) -> Finding:
    count("waiting.last")
    return Equal(1, 1)


last.control("broken")(_broken)
