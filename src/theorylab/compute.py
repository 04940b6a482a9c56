"""Computes one claim: the check, its controls, the verdict; whatever happens, a record."""

from __future__ import annotations

import contextlib
import faulthandler
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import cloudpickle

from theorylab.claims import Check, Claim
from theorylab.findings import (
    Finding,
    Judgement,
    Verdict,
    check_evidence,
    verdict_of,
)
from theorylab.records import ControlRecord, Record, code_fingerprint
from theorylab.run import Run, device_peak, forget_device_peak

GRACE = 5.0
"""Seconds between the time-out that Python code can notice and the hard one."""


class ClaimTimeoutError(BaseException):
    """A claim ran past its time-out; no ``Exception``, which the claim itself might catch."""


class WorkerDiedError(Exception):
    """The process that computed a claim died."""


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise ``ClaimTimeoutError`` in the main thread after ``seconds``; elsewhere no limit."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if seconds is None or not in_main_thread or not hasattr(signal, "SIGALRM"):
        yield
        return

    def on_alarm(signum: int, frame: FrameType | None) -> None:
        raise ClaimTimeoutError(f"still running after its time-out of {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _find(check: Check, run: Run, evidence: str) -> Finding:
    finding = check(run)
    if not isinstance(finding, Finding):
        raise TypeError(
            f"a check returns a Finding, which carries numbers; got {finding!r} "
            f"of type {type(finding).__name__}"
        )
    check_evidence(finding, evidence)
    return finding


def compute(claim: Claim, run: Run, timeout: float | None = None) -> Record:
    """Compute a claim and its controls.

    Parameters
    ----------
    claim : Claim
    run : Run
    timeout : float, optional
        Seconds for check and controls together.

    Returns
    -------
    Record
        With verdict ``error`` and the traceback if anything was raised; what had been found
        before is kept.
    """
    run, start = run.for_claim(claim.id), time.perf_counter()
    forget_device_peak(run.device)
    finding, controls, error, place = None, [], "", ""
    try:
        with time_limit(timeout):
            finding = _find(claim.check, run, claim.evidence)
            if finding.judgement is not Judgement.PENDING:
                for control in claim.controls:
                    place = f"in the control {control.name!r}:\n"
                    found = _find(control.check, run, claim.evidence)
                    controls.append(ControlRecord(control.name, control.must_hold, found))
        verdict = _verdict(finding, controls)
    except KeyboardInterrupt:
        raise
    except BaseException:
        verdict, error = Verdict.ERROR, place + traceback.format_exc()
    return Record(
        claim=claim.id,
        verdict=verdict,
        expected=claim.expected,
        finding=finding,
        controls=tuple(controls),
        evidence=claim.evidence,
        seconds=time.perf_counter() - start,
        scale=run.scale,
        device=run.device,
        seed=run.seed,
        error=error,
        code=code_fingerprint(claim.module),
        device_bytes=device_peak(run.device),
    )


def _verdict(finding: Finding, controls: list[ControlRecord]) -> Verdict:
    return verdict_of(
        finding,
        [control.finding for control in controls if not control.must_hold],
        [control.finding for control in controls if control.must_hold],
    )


def error_record(claim: Claim, run: Run, error: str, seconds: float = 0.0) -> Record:
    """The record of a claim that could not be computed."""
    return Record(
        claim=claim.id,
        verdict=Verdict.ERROR,
        expected=claim.expected,
        finding=None,
        evidence=claim.evidence,
        seconds=seconds,
        scale=run.scale,
        device=run.device,
        seed=run.seed,
        error=error,
        code=code_fingerprint(claim.module),
    )


def hang_record(claim: Claim, run: Run, timeout: float, trace: str) -> Record:
    """The record of a claim whose process had to be ended, with the watchdog's traceback."""
    error = f"{trace.strip()}\nhung outside Python code past its time-out of {timeout:g} s"
    return error_record(claim, run, error, timeout + GRACE)


def trace_of_hang(trace: Path) -> str:
    """What the watchdog of ``compute_watched`` wrote before it ended the process."""
    return trace.read_text(encoding="utf8", errors="replace") if trace.exists() else ""


def compute_watched(claim: Claim, run: Run, timeout: float | None, trace: str) -> Record:
    """``compute`` in a worker process that ends itself if the claim hangs outside Python code.

    The watchdog is a thread of the C runtime: it works even if the interpreter lock is held. It
    writes the traceback to the file ``trace`` and ends the process.
    """
    if timeout is None:
        return compute(claim, run)
    with open(trace, "w", encoding="utf8") as file:
        faulthandler.dump_traceback_later(timeout + GRACE, exit=True, file=file)
        try:
            return compute(claim, run, timeout)
        finally:
            faulthandler.cancel_dump_traceback_later()


def compute_isolated(packed: bytes, timeout: float | None) -> Record:
    """``compute`` from any thread: with a time-out, in a process of its own that can be ended.

    Parameters
    ----------
    packed : bytes
        Claim and run, pickled.
    timeout : float, optional

    Raises
    ------
    WorkerDiedError
        If that process died; the caller may try again.
    """
    if timeout is None:
        return compute(*cloudpickle.loads(packed))
    with tempfile.TemporaryDirectory(prefix="theorylab-") as folder:
        task, result, trace = (Path(folder) / name for name in ("task", "record", "trace"))
        task.write_bytes(packed)
        arguments = [str(timeout), *map(str, (task, result, trace))]
        done = subprocess.run([sys.executable, "-c", _ANSWER, *arguments], capture_output=True)
        if result.exists():
            return cloudpickle.loads(result.read_bytes())
        if trace_of_hang(trace):
            claim, run = cloudpickle.loads(packed)
            return hang_record(claim, run, timeout, trace_of_hang(trace))
        said = done.stderr.decode(errors="replace")[-2000:]
        raise WorkerDiedError(f"its process ended with status {done.returncode}: {said}")


_ANSWER = "import sys; from theorylab.compute import answer; answer(*sys.argv[1:])"


def answer(timeout: str, task: str, result: str, trace: str) -> None:
    """Compute the claim in the file ``task`` and leave its record in the file ``result``."""
    claim, run = cloudpickle.loads(Path(task).read_bytes())
    record = compute_watched(claim, run, float(timeout), trace)
    part = Path(f"{result}.part")
    part.write_bytes(cloudpickle.dumps(record))
    part.rename(result)
