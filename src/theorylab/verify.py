"""Verifies claims and returns their records."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import replace

from theorylab.claims import Claim, Selection, claims
from theorylab.findings import Verdict
from theorylab.progress import Silent, reporter
from theorylab.records import Record, RecordStore, code_fingerprint
from theorylab.reruns import FOLDER_VARIABLE, run_meant
from theorylab.run import Run, check_device
from theorylab.schedulers import in_processes, on_cluster, serially

LONGEST_TIMEOUT = 1e7
"""Seconds; the timers of the operating system take no infinite ones."""


class VerificationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a verification; ``records`` holds what was finished."""

    def __init__(self, records: list[Record], total: int) -> None:
        super().__init__(f"interrupted after {len(records)} of {total} claims")
        self.records = records
        self.total = total


def verify(
    selection: Selection = None,
    scale: str | None = None,
    device: str | None = None,
    seed: int | None = None,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    records: str | os.PathLike[str] | None = None,
    resume: bool = False,
    timeout: float | None = None,
    progress: bool | None = None,
) -> list[Record]:
    """Compute claims with their controls.

    Parameters
    ----------
    selection : str or iterable of str, optional
        A claim id, a slug, a glob, or several of these; the whole book if omitted.
    scale : {"ci", "paper", "gpu"}, optional
        By default ``"ci"``, unless ``THEORYLAB_SCALE`` names another; see ``run_meant``.
    device : str, optional
        PyTorch device name; by default ``"cpu"``, unless ``THEORYLAB_DEVICE`` names another.
    seed : int, optional
        By default 0, unless ``THEORYLAB_SEED`` names another.
    workers : int
        Worker processes; 1 without a time-out computes in this process.
    scheduler : str, optional
        Address of a Dask scheduler, used instead of worker processes.
    records : path, optional
        Folder in which each record is saved as soon as it is finished. If omitted and the
        environment variable ``THEORYLAB_RECORDS`` names a folder, that one is used and resumed
        from: so the pages of the book share what has been computed once.
    resume : bool
        Reuse the records of this run (same scale, device, seed and sources) found in ``records``;
        errors are computed again.
    timeout : float, optional
        Seconds for one claim with its controls; at most 10 million.
    progress : bool, optional
        Show a bar (lines, where there is no terminal) on standard error.

    Returns
    -------
    list of Record
        In the order of the selection.

    Raises
    ------
    UnknownClaimError
        If the selection matches nothing.
    ChapterError, RegistrationError
        If a chapter cannot be imported, or one of its claims is incomplete.
    DeviceError
        If there is no such device.
    ValueError
        If an option makes no sense; the message names it.
    RecordsError
        If the records folder cannot be written at the start. If it stops accepting records later,
        they are saved elsewhere and a warning says where.
    SchedulerError
        If the cluster cannot be reached.
    VerificationInterrupted
        On Ctrl-C, with the finished records.
    """
    if records is None and os.environ.get(FOLDER_VARIABLE):
        records, resume = os.environ[FOLDER_VARIABLE], True
    _check_options(workers, timeout, records, resume)
    chosen = claims(selection)
    run = run_meant(chosen, scale, device, seed)
    check_device(run.device)
    store = None if records is None else _Keeper(RecordStore(records, run), run)
    found = store.reusable(chosen) if store is not None and resume else {}
    missing = [claim for claim in chosen if claim.id not in found]
    show = reporter(progress)
    show.open(len(chosen), len(found))
    try:
        with closing(_computed(missing, run, show, workers, scheduler, timeout)) as stream:
            for record in stream:
                found[record.claim] = record
                show.finished(record)
                if store is not None:
                    store.keep(record)
    except KeyboardInterrupt:
        if store is not None:
            store.keep_all(found.values())
        raise VerificationInterrupted(_ordered(chosen, found), len(chosen)) from None
    finally:
        show.close()
    return _ordered(chosen, found)


def _check_options(
    workers: int, timeout: float | None, records: str | os.PathLike[str] | None, resume: bool
) -> None:
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers must be a positive integer, got {workers!r}")
    if timeout is not None and not 0 < timeout <= LONGEST_TIMEOUT:
        raise ValueError(
            f"timeout must be a number of seconds between 0 and {LONGEST_TIMEOUT:g}, "
            f"got {timeout!r}; leave it out for no time-out"
        )
    if resume and records is None:
        raise ValueError("resume needs the records folder to resume from; give records=...")


def _ordered(chosen: Sequence[Claim], found: dict[str, Record]) -> list[Record]:
    return [found[claim.id] for claim in chosen if claim.id in found]


def _computed(
    missing: Sequence[Claim],
    run: Run,
    show: Silent,
    workers: int,
    scheduler: str | None,
    timeout: float | None,
) -> Generator[Record]:
    if not missing:
        return
    on_start: Callable[[Claim], None] = show.started
    if scheduler is not None:
        yield from on_cluster(missing, run, on_start, scheduler, timeout)
    elif workers == 1 and timeout is None:
        yield from serially(missing, run, on_start)
    else:
        yield from in_processes(missing, run, on_start, workers, timeout)


class _Keeper:
    """Saves records: in their folder, elsewhere if it stops accepting them, else not at all."""

    def __init__(self, store: RecordStore, run: Run) -> None:
        self._first, self._run = store, run
        self._store: RecordStore | None = store
        self._kept: set[str] = set()

    def reusable(self, chosen: Sequence[Claim]) -> dict[str, Record]:
        loaded = {claim: self._first.load(claim.id) for claim in chosen}
        found = {
            claim.id: replace(record, expected=claim.expected)
            for claim, record in loaded.items()
            if record is not None and self._is_reusable(record, claim)
        }
        self._kept.update(found)
        return found

    def _is_reusable(self, record: Record, claim: Claim) -> bool:
        same_run = (record.scale, record.device, record.seed) == (
            *(self._run.scale, self._run.device, self._run.seed),
        )
        code = code_fingerprint(claim.module)
        same_code = bool(code) and record.code == code
        return same_run and same_code and record.verdict is not Verdict.ERROR

    def keep_all(self, records: Iterable[Record]) -> None:
        """Save those that are not saved yet."""
        for record in records:
            if record.claim not in self._kept:
                self.keep(record)

    def keep(self, record: Record) -> None:
        while self._store is not None:
            try:
                self._store.save(record)
                self._kept.add(record.claim)
                return
            except OSError as error:
                failed, self._store = self._store, self._next(self._store)
                self._warn(record, failed, error)

    def _next(self, failed: RecordStore) -> RecordStore | None:
        if failed is not self._first:
            return None
        try:
            return RecordStore(tempfile.mkdtemp(prefix="theorylab-records-"), self._run)
        except OSError:
            return None

    def _warn(self, record: Record, failed: RecordStore, error: OSError) -> None:
        place = "kept in memory only" if self._store is None else f"saved in {self._store.folder}"
        advice = (
            "free space there and compute them again with resume"
            if self._store is None
            else f"free space or permissions, then move them to {self._first.folder}"
        )
        warnings.warn(
            f"cannot save the record of {record.claim} in {failed.folder} ({error}); "
            f"it and the following ones are {place}: {advice}",
            stacklevel=4,
        )
