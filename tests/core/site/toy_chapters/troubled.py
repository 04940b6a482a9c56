"""Claims that go wrong, each in its own way, and one among them that does not."""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from theorylab.claims import Check, Source, claim
from theorylab.findings import Close, Equal, Finding, NotRejected
from theorylab.run import Run
from toy_chapters.traces import count

NASTY = "]]> <&\"'> \x00\x1b[31m \udcff \ufffe | ``` \U0001f600 ∞\r\u2028"


def _broken(run: Run) -> Finding:
    return Equal(1, 2)


def _register(
    name: str, check: Callable[[Run], Any], control: Check = _broken, evidence: str = "exact"
) -> None:
    made = claim(
        f"troubled.{name}", statement="It goes wrong.", source=Source("toy"), evidence=evidence
    )(check)
    made.control("broken")(control)


def fine(run: Run) -> Finding:
    count("troubled.fine")
    return Equal(1, 1)


def raises(run: Run) -> Finding:
    raise ZeroDivisionError("the denominator is 0")


def raises_nastily(run: Run) -> Finding:
    raise ValueError(NASTY)


def raises_what_cannot_be_shown(run: Run) -> Finding:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    raise Unspeakable


def leaves(run: Run) -> Finding:
    sys.exit(0)


def returns_true(run: Run) -> Any:
    return True


def returns_none(run: Run) -> Any:
    return None


def returns_nan(run: Run) -> Finding:
    return Close(float("nan"), 0.0, atol=1.0)


def prints(run: Run) -> Finding:
    print("printed by a claim")
    os.write(1, b"written by a claim\n")
    return Equal(1, 1)


def is_weaker(run: Run) -> Finding:
    return NotRejected(0.5, 1e-5, 0.99)


def holds(run: Run) -> Finding:
    return Equal(1, 1)


def backtracks(run: Run) -> Finding:
    re.fullmatch(r"(a+)+", "a" * 60 + "b")
    return Equal(1, 1)


def sleeps(run: Run) -> Finding:
    while True:
        try:
            time.sleep(60)
        except Exception:
            continue


def hangs_in_c(run: Run) -> Finding:
    """No bytecode is run and the interpreter lock is never released."""
    return Equal(int(all(itertools.repeat(1))), 1)


def dies(run: Run) -> Finding:
    count("troubled.dies")
    os.kill(os.getpid(), signal.SIGKILL)
    return Equal(1, 1)


def dies_once(run: Run) -> Finding:
    if count("troubled.dies-once") == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return Equal(1, 1)


_register("fine", fine)
_register("raises", raises)
_register("raises-nastily", raises_nastily)
_register("raises-unspeakably", raises_what_cannot_be_shown)
_register("leaves", leaves)
_register("returns-true", returns_true)
_register("returns-none", returns_none)
_register("returns-nan", returns_nan)
_register("prints", prints)
_register("is-weaker", is_weaker)
_register("is-unsound", holds, control=holds)
_register("control-raises", holds, control=raises)
_register("backtracks", backtracks)
_register("sleeps", sleeps)
_register("hangs-in-c", hangs_in_c)
_register("dies", dies)
_register("dies-once", dies_once)
