"""Verifies claims and returns their records."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from theorylab.claims import Claim, Selection, claims
from theorylab.findings import Verdict
from theorylab.progress import Silent, reporter
from theorylab.records import Record, RecordStore, code_fingerprint
from theorylab.run import Run, check_device
from theorylab.schedulers import in_processes, on_cluster, serially

FOLDER_VARIABLE = "THEORYLAB_RECORDS"


class VerificationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a verification; ``records`` holds what was finished."""

    def __init__(self, records: list[Record], total: int) -> None:
        super().__init__(f"interrupted after {len(records)} of {total} claims")
        self.records = records
        self.total = total


def verify(
    selection: Selection = None,
    scale: str = "ci",
    device: str = "cpu",
    seed: int = 0,
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
    scale : {"ci", "paper", "gpu"}
    device : str
        PyTorch device name.
    seed : int
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
        Seconds for one claim.
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
    DeviceError
        If there is no such device.
    ValueError
        If an option makes no sense; the message names it.
    RecordsError
        If the records folder cannot be written.
    VerificationInterrupted
        On Ctrl-C, with the finished records.
    """
    if records is None and os.environ.get(FOLDER_VARIABLE):
        records, resume = os.environ[FOLDER_VARIABLE], True
    _check_options(workers, timeout, records, resume)
    run = Run(scale, check_device(device), seed)
    chosen = claims(selection)
    store = None if records is None else _Keeper(RecordStore(records, run))
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
        raise VerificationInterrupted(_ordered(chosen, found), len(chosen)) from None
    finally:
        show.close()
    return _ordered(chosen, found)


def _check_options(
    workers: int, timeout: float | None, records: str | os.PathLike[str] | None, resume: bool
) -> None:
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers must be a positive integer, got {workers!r}")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}")
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
    """Saves records, elsewhere if the folder stops accepting them."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        self._elsewhere: RecordStore | None = None

    def reusable(self, chosen: Sequence[Claim]) -> dict[str, Record]:
        found = {claim: self._store.load(claim.id) for claim in chosen}
        return {
            claim.id: replace(record, expected=claim.expected)
            for claim, record in ((claim, found[claim]) for claim in chosen)
            if record is not None
            and record.verdict is not Verdict.ERROR
            and record.code
            and record.code == code_fingerprint(claim.module)
        }

    def keep(self, record: Record) -> None:
        if self._elsewhere is None:
            try:
                self._store.save(record)
                return
            except OSError as error:
                self._elsewhere = self._fall_back(record, error)
        self._elsewhere.save(record)

    def _fall_back(self, record: Record, error: OSError) -> RecordStore:
        folder = Path(tempfile.mkdtemp(prefix="theorylab-records-"))
        warnings.warn(
            f"cannot save the record of {record.claim} in {self._store.folder} ({error}); "
            f"it and the following ones are saved in {folder}: free space or permissions, "
            "then move them back",
            stacklevel=4,
        )
        return RecordStore(folder, Run(record.scale, record.device, record.seed))
