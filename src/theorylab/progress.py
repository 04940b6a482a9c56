"""Progress of a verification: a bar on a terminal, plain lines elsewhere, silence on request."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from theorylab.claims import Claim
from theorylab.records import Record


class Silent:
    """Says nothing; the base of the other reporters."""

    def open(self, total: int, reused: int) -> None:
        """Called once, with the number of claims and how many records are reused."""

    def started(self, claim: Claim) -> None:
        """A claim is being computed."""

    def finished(self, record: Record) -> None:
        """A claim is done."""

    def close(self) -> None:
        """Called once, at the end or on an interrupt."""


class Lines(Silent):
    """One line per finished claim, for logs."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._total = self._done = 0

    def open(self, total: int, reused: int) -> None:
        self._total, self._done = total, reused
        if reused:
            self._print(f"{reused} of {total} claims: kept from the last run")

    def finished(self, record: Record) -> None:
        self._done += 1
        width = len(str(self._total))
        note = "" if record.as_expected else f"  (expected {record.expected})"
        counter = f"[{self._done:>{width}}/{self._total}]"
        self._print(f"{counter} {record.verdict:<12} {record.claim} {record.seconds:.1f} s{note}")

    def _print(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


class Bar(Silent):
    """A progress bar with the running claims and the time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        self._progress: Any = Progress(
            MofNCompleteColumn(),
            BarColumn(bar_width=24),
            Remaining(compact=True),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: Any = None
        self._running: dict[str, None] = {}

    def open(self, total: int, reused: int) -> None:
        self._progress.start()
        self._task = self._progress.add_task("starting", total=total, completed=reused)

    def started(self, claim: Claim) -> None:
        self._running[claim.id] = None
        self._show()

    def finished(self, record: Record) -> None:
        self._running.pop(record.claim, None)
        self._progress.advance(self._task)
        if not record.as_expected:
            self._progress.console.print(f"{record.claim}: {record.verdict}", markup=False)
        self._show()

    def close(self) -> None:
        self._progress.stop()

    def _show(self) -> None:
        self._progress.update(self._task, description=", ".join(self._running) or "done")


def reporter(progress: bool | None) -> Silent:
    """The reporter for this terminal; ``None`` means silence, ``True`` the fitting one."""
    if not progress:
        return Silent()
    return Bar() if sys.stderr.isatty() else Lines()
