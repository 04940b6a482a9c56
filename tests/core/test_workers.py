"""Worker processes: the same results, and no claim lost whatever happens to a worker."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

from theorylab import schedulers
from theorylab.claims import claims
from theorylab.findings import AllHold, Equal
from theorylab.records import load_records
from theorylab.run import Run
from theorylab.schedulers import in_processes
from theorylab.verify import VerificationInterrupted, verify

PATIENCE = 30.0
"""Seconds within which something must happen that takes a fraction of a second."""


def wait_for(condition, what: str):
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)
    return found


def pid_of(folder: Path, name: str) -> int:
    """Process that computes one of the claims that wait."""
    path = folder / f"{name}.pid"
    wait_for(path.exists, f"the claim waiting.{name} to start")
    return int(path.read_text())


def is_running(pid: int) -> bool:
    """Whether the process exists and is more than an entry that nobody has collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def outcome(records):
    return [dataclasses.replace(record, seconds=0.0) for record in records]


def test_results_do_not_depend_on_the_number_of_workers(toys):
    serial = outcome(verify("steady", seed=3))
    ids = [made.id for made in reversed(claims("steady"))]
    assert outcome(verify(ids, seed=3, workers=2)) == serial[::-1]


def test_claims_made_by_hand_are_computed_by_workers_too(toy_claim):
    secret = os.urandom(8).hex()
    here = os.getpid()
    toy_claim("toy.closure", check=lambda run: Equal(secret, secret))
    toy_claim(
        "toy.elsewhere",
        check=lambda run: Equal("here" if os.getpid() == here else "there", "there"),
    )
    found = verify("toy", workers=2)
    assert [record.verdict for record in found] == ["verified", "verified"]
    assert found[0].finding == Equal(secret, secret)


def test_what_claims_print_stays_out_of_standard_output(toys, capfd):
    (record,) = verify("troubled.prints", timeout=60)
    out, err = capfd.readouterr()
    assert record.verdict == "verified"
    assert out == ""
    assert "printed by a claim" in err
    assert "written by a claim" in err


def test_a_claim_that_cannot_be_sent_is_an_error_and_the_others_go_on(toy_claim):
    lock = threading.Lock()
    toy_claim("toy.fine")
    toy_claim("toy.locked", check=lambda run: Equal(str(lock), ""))
    toy_claim("toy.last")
    found = verify("toy", workers=2)
    assert [record.verdict for record in found] == ["verified", "error", "verified"]
    assert found[1].error.startswith("no worker process could compute it:\n")
    assert "cannot pickle" in found[1].error


@pytest.mark.parametrize(
    ("cores", "workers", "threads"), [(8, 2, "4"), (8, 3, "2"), (2, 4, "1"), (None, 1, "1")]
)
def test_workers_together_use_each_core_once(monkeypatch, cores, workers, threads):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "7")
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert schedulers._worker_environment(workers) == {
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "MKL_NUM_THREADS": "7",
    }


# Hanging


def test_claims_that_hang_cost_only_themselves(toys):
    """One never lets the interpreter go, one swallows every exception."""
    names = ["hangs-in-c", "sleeps", "fine", "raises"]
    found = verify([f"troubled.{name}" for name in names], workers=2, timeout=0.3)
    assert [str(record.verdict) for record in found] == ["error", "error", "verified", "error"]
    hung, slept = found[0], found[1]
    assert hung.error.endswith("hung outside Python code past its time-out of 0.3 s")
    assert "Timeout" in hung.error
    assert "in hangs_in_c" in hung.error
    assert hung.seconds >= 0.3
    assert "still running after its time-out of 0.3 s" in slept.error


# Dying


def test_a_worker_killed_from_outside_loses_nothing(toys, computed, tmp_path):
    killed: list[int] = []

    def kill():
        pid_of(toys, "two")
        killed.append(pid_of(toys, "one"))
        (toys / "one.pid").unlink()
        os.kill(killed[0], signal.SIGKILL)
        wait_for((toys / "one.pid").exists, "waiting.one to be computed again")
        (toys / "go").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    found = verify("waiting", workers=2, records=tmp_path / "records")
    killer.join()
    assert [record.verdict for record in found] == ["verified"] * 4
    assert len(load_records(tmp_path / "records")) == 4
    counts = computed()
    assert counts["waiting.one"] == 2
    assert counts["waiting.quick"] == counts["waiting.last"] == 1
    assert not is_running(killed[0])


def test_a_claim_that_always_kills_its_worker_is_given_up(toys, computed):
    found = verify(["troubled.fine", "troubled.dies", "troubled.dies-once"], workers=2)
    assert [record.verdict for record in found] == ["verified", "error", "verified"]
    assert computed()["troubled.dies"] == 1 + schedulers.MOST_DEATHS
    assert computed()["troubled.dies-once"] >= 2
    assert "SIGKILL" in found[1].error
    assert found[1].error.endswith("crash in compiled code")
    assert "its worker process died 2 times when it ran alone" in found[1].error


def test_a_pool_that_breaks_between_two_claims_loses_neither_results_nor_claims(
    toys, computed, monkeypatch
):
    """One claim is done, the worker of another dies, a third is about to be handed over."""
    pools = []
    make = schedulers._Pool.__init__

    def remembered(pool, *args):
        make(pool, *args)
        pools.append(pool)

    def break_the_pool(made):
        if made.id == "waiting.one":
            wait_for(lambda: any(future.done() for future in pools[0].running), "a result")
            os.kill(pid_of(toys, "one"), signal.SIGKILL)
            wait_for(lambda: pools[0]._executor._flags.broken, "the pool to notice")
            (toys / "go").touch()

    monkeypatch.setattr(schedulers._Pool, "__init__", remembered)
    names = ("waiting.quick", "waiting.one", "waiting.last")
    chosen = [made for name in names for made in claims(name)]
    found = list(in_processes(chosen, Run(), break_the_pool, workers=3))
    assert sorted(record.claim for record in found) == sorted(names)
    assert {str(record.verdict) for record in found} == {"verified"}
    assert computed() == {"waiting.quick": 1, "waiting.one": 2, "waiting.last": 1}


# Interrupts


def test_ctrl_c_ends_the_workers_and_keeps_what_was_finished(toys, tmp_path):
    def interrupt():
        interrupt.pids = [pid_of(toys, "one"), pid_of(toys, "two")]
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(VerificationInterrupted, match="interrupted after 1 of 4") as caught:
        verify("waiting", workers=2, records=tmp_path / "records")
    thread.join()
    assert [record.claim for record in caught.value.records] == ["waiting.quick"]
    assert load_records(tmp_path / "records") == caught.value.records
    wait_for(lambda: not any(map(is_running, interrupt.pids)), "the workers to end")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_when_their_parent_is_killed(toys, number):
    program = "import theorylab; theorylab.verify('waiting', workers=2)"
    parent = subprocess.Popen([sys.executable, "-c", program])
    pids = [pid_of(toys, "one"), pid_of(toys, "two")]
    parent.send_signal(number)
    assert parent.wait(PATIENCE) == -number
    wait_for(lambda: not any(map(is_running, pids)), "the workers to end")


def test_no_temporary_file_is_left(toys, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    verify("steady.exact", workers=2, timeout=60)
    assert set(tmp_path.iterdir()) == before


def test_parts_of_a_finding_arrive_whole(toy_claim):
    parts = {str(i): Equal(i**9, i**9, sizes={"i": i}) for i in range(50)}
    toy_claim(check=lambda run: AllHold(parts))
    (record,) = verify("toy", timeout=60)
    assert record.finding == AllHold(parts)


def test_a_worker_that_grows_is_not_replaced(toy_claim):
    def grow(run):
        sys.grown = bytearray(os.urandom(1) * 400_000_000)  # type: ignore[attr-defined]
        time.sleep(1.2)
        return Equal(1, 1)

    toy_claim("toy.first")
    toy_claim("toy.grows", check=grow)
    toy_claim("toy.last", check=lambda run: Equal(len(sys.grown), 400_000_000))  # type: ignore[attr-defined]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = list(in_processes(claims("toy"), Run(), lambda claim: None, workers=1))
    assert [record.verdict for record in found] == ["verified"] * 3
    assert not [warning for warning in told if "worker stopped" in str(warning.message)]
