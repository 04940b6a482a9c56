"""Where claims are computed: here, in worker processes, or on a Dask cluster.

Each scheduler yields records as they are finished. A worker that dies loses nothing but the claims
it was computing; those are run again, alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import cloudpickle

from theorylab.claims import Claim
from theorylab.compute import (
    WorkerDiedError,
    compute,
    compute_watched,
    error_record,
    hang_record,
    trace_of_hang,
)
from theorylab.records import Record
from theorylab.run import Run

OnStart = Callable[[Claim], None]
MOST_DEATHS = 2
"""How often a claim may take its worker down, when run alone, before it is given up."""

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class SchedulerError(RuntimeError):
    """The cluster cannot be reached or used; the message says what to do."""


def serially(claims: Sequence[Claim], run: Run, on_start: OnStart) -> Iterator[Record]:
    """Compute the claims in this process, one after another."""
    for claim in claims:
        on_start(claim)
        yield compute(claim, run)


def _prepare_worker(parent: int) -> None:
    """Leave Ctrl-C, which reaches the whole process group, and standard output to the parent.

    A worker that loads PyTorch after its first claim grows by hundreds of megabytes; loky would
    take that for a leak, replace the worker, and warn on the reader's page.
    """
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):  # standard error may be closed
        os.dup2(2, 1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: killed, it cannot tell its workers to stop."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _worker_environment(workers: int) -> dict[str, str]:
    """Threads per worker, so that workers together use each core once."""
    threads = max((os.cpu_count() or 1) // workers, 1)
    return {name: os.environ.get(name, str(threads)) for name in _THREAD_VARIABLES}


class _Pool:
    """A pool of worker processes that knows which claims are being computed."""

    def __init__(self, workers: int, run: Run, timeout: float | None, traces: Path) -> None:
        from joblib.externals.loky.process_executor import ProcessPoolExecutor

        self._executor: Any = ProcessPoolExecutor(
            max_workers=workers,
            initializer=_prepare_worker,
            initargs=(os.getpid(),),
            env=_worker_environment(workers),
        )
        self._run, self._timeout, self._traces = run, timeout, traces
        self.workers = workers
        self.running: dict[Future[Record], Claim] = {}

    def start(self, claim: Claim) -> None:
        """Hand a claim to a worker; raises ``BrokenProcessPool`` when one has died."""
        trace = str(self._traces / claim.id)
        future = self._executor.submit(compute_watched, claim, self._run, self._timeout, trace)
        self.running[future] = claim

    def finished(self) -> list[Record]:
        """Wait for at least one claim; raises ``BrokenProcessPool`` when a worker died."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        records = self.collected()
        if not records:
            raise next(iter(done)).exception() or BrokenProcessPool()
        return records

    def collected(self) -> list[Record]:
        """Take the records of the claims whose worker did not die."""
        answered = [
            future
            for future in self.running
            if future.done() and not isinstance(future.exception(), BrokenProcessPool)
        ]
        return [self._record(future, self.running.pop(future)) for future in answered]

    def _record(self, future: Future[Record], claim: Claim) -> Record:
        error = future.exception()
        if error is None:
            return future.result()
        return error_record(claim, self._run, _told("no worker process could compute it", error))

    def close(self, kill: bool) -> None:
        self._executor.shutdown(wait=True, kill_workers=kill)


def in_processes(
    claims: Sequence[Claim],
    run: Run,
    on_start: OnStart,
    workers: int,
    timeout: float | None = None,
) -> Iterator[Record]:
    """Compute the claims in worker processes (loky).

    Parameters
    ----------
    claims, run
    on_start : callable
        Told of each claim when a worker takes it up.
    workers : int
        Number of processes.
    timeout : float, optional
        Seconds for one claim; past it the claim gets an error record and the others go on.
    """
    queue = deque(claims)
    with tempfile.TemporaryDirectory(prefix="theorylab-") as folder:
        traces = Path(folder)
        while queue:
            pool = _Pool(min(workers, len(queue)), run, timeout, traces)
            try:
                yield from _drain(pool, queue, on_start)
                pool.close(kill=False)
            except BrokenProcessPool:
                pool.close(kill=True)
                yield from pool.collected()
                for claim in pool.running.values():
                    yield _again_alone(claim, run, timeout, traces)
            except BaseException:
                pool.close(kill=True)
                raise


def _drain(pool: _Pool, queue: deque[Claim], on_start: OnStart) -> Iterator[Record]:
    """Keep every worker busy until the queue is empty; at most one claim a worker is in flight."""
    while queue or pool.running:
        while queue and len(pool.running) < pool.workers:
            pool.start(queue[0])
            on_start(queue.popleft())
        yield from pool.finished()


def _again_alone(claim: Claim, run: Run, timeout: float | None, traces: Path) -> Record:
    """Run a claim that was in flight when a worker died, in a pool of its own."""
    cause, deaths = "", 0
    while not (trace := trace_of_hang(traces / claim.id)) and deaths < MOST_DEATHS:
        pool = _Pool(1, run, timeout, traces)
        try:
            pool.start(claim)
            (record,) = pool.finished()
            pool.close(kill=False)
            return record
        except BrokenProcessPool as error:
            pool.close(kill=True)
            cause, deaths = "".join(traceback.format_exception(error)).strip(), deaths + 1
        except BaseException:
            pool.close(kill=True)
            raise
    if trace and timeout is not None:
        return hang_record(claim, run, timeout, trace)
    return error_record(
        claim,
        run,
        f"{cause}\nits worker process died {MOST_DEATHS} times when it ran alone: it may need "
        "more memory than there is, or crash in compiled code",
    )


def on_cluster(
    claims: Sequence[Claim],
    run: Run,
    on_start: OnStart,
    address: str,
    timeout: float | None = None,
) -> Iterator[Record]:
    """Compute the claims on a Dask cluster; its workers need theorylab installed.

    Dask runs the claims of a lost worker again on another one.

    Raises
    ------
    SchedulerError
        If the extra is not installed, or the scheduler does not answer (any more).
    """
    client = _client(address)
    from distributed import as_completed

    def answer(task: bytes, timeout: float | None) -> Record:
        # Travels by value and imports there: a package that a worker lacks is then an error of
        # this claim, whereas Dask waits for ever for a function that it cannot unpickle.
        from theorylab.compute import compute_isolated

        return compute_isolated(task, timeout)

    try:
        futures = {}
        for claim in claims:
            task = _packed(claim, run)
            if isinstance(task, Record):
                yield task
                continue
            futures[client.submit(answer, task, timeout, pure=False, retries=2)] = claim
            on_start(claim)
        for future in as_completed(futures, loop=client.loop):
            yield _cluster_record(future, futures[future], run)
    except (OSError, CancelledError) as error:
        raise SchedulerError(
            f"lost the Dask scheduler at {address} ({error!r}); finished records are kept: start "
            "it again and repeat with resume"
        ) from error
    finally:
        client.close()


def _client(address: str) -> Any:
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError as error:
        raise SchedulerError("--scheduler needs Dask: pip install 'theorylab[cluster]'") from error
    try:
        get_address_host_port(address, strict=True)
        return Client(address, timeout=10, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise SchedulerError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with "
            "`dask scheduler` and give its tcp:// address"
        ) from error


def _cluster_record(future: Any, claim: Claim, run: Run) -> Record:
    error = future.exception()
    if error is None:
        return future.result()
    if future.cancelled():
        raise error
    died = isinstance(error, WorkerDiedError) or type(error).__name__ == "KilledWorker"
    what = "the workers that computed it died" if died else "the cluster could not compute it"
    return error_record(claim, run, _told(what, error))


def _packed(claim: Claim, run: Run) -> bytes | Record:
    """Claim and run as bytes; an error record if the claim cannot travel."""
    try:
        return cloudpickle.dumps((claim, run))
    except Exception as error:
        return error_record(claim, run, _told("it cannot be sent to another process", error))


def _told(what: str, error: BaseException) -> str:
    """Text of an error record; its last line is what was raised."""
    return f"{what}:\n{''.join(traceback.format_exception(error)).strip()}"
