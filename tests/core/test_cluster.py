"""A real Dask cluster: the same results, and no claim lost when a worker is killed."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import theorylab
from theorylab.findings import Equal
from theorylab.records import load_records
from theorylab.schedulers import SchedulerError
from theorylab.verify import verify

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
PATIENCE = 30.0
HERE = Path(__file__).parent
SOURCES = Path(theorylab.__file__).parents[1]


def wait_for(path: Path) -> Path:
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, f"waited in vain for {path.name}"
        time.sleep(0.01)
    return path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two worker processes with the toy chapters installed; their traces go to one folder."""
    folder = tmp_path_factory.mktemp("cluster")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE / "site"))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(HERE / "site"), str(SOURCES)]))
        patch.setenv("TOY_FOLDER", str(folder))
        with distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=None,
            silence_logs=50,
        ) as made:
            yield made, folder


@pytest.fixture
def address(cluster) -> str:
    return cluster[0].scheduler_address


@pytest.fixture
def toys(toys, cluster, monkeypatch):
    """The folder of the cluster's traces, emptied; workers that are restarted use it too."""
    for path in cluster[1].iterdir():
        path.unlink()
    monkeypatch.setenv("TOY_FOLDER", str(cluster[1]))
    return cluster[1]


def outcome(records):
    return [dataclasses.replace(record, seconds=0.0) for record in records]


@pytest.mark.parametrize("timeout", [None, 60.0])
def test_results_are_those_of_one_process(toys, address, tmp_path, timeout):
    """Without a time-out a claim runs in the Dask worker, with one in a process of its own."""
    selection = "steady" if timeout is None else ["steady.drawn", "steady.disproved"]
    here = outcome(verify(selection, seed=3))
    there = verify(selection, seed=3, scheduler=address, timeout=timeout, records=tmp_path)
    assert outcome(there) == here
    assert sorted(outcome(load_records(tmp_path)), key=lambda r: r.claim) == sorted(
        here, key=lambda r: r.claim
    )


def test_a_worker_killed_in_the_middle_loses_nothing(toys, computed, address, tmp_path):
    def kill():
        wait_for(toys / "two.pid")
        os.kill(int(wait_for(toys / "one.pid").read_text()), signal.SIGKILL)
        (toys / "go").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    found = verify("waiting", scheduler=address, records=tmp_path)
    killer.join()
    assert [record.verdict for record in found] == ["verified"] * 4
    assert len(load_records(tmp_path)) == 4
    assert computed()["waiting.one"] == 2
    assert computed()["waiting.quick"] >= 1


def test_claims_that_go_wrong_cost_only_themselves(toys, computed, address):
    names = ["hangs-in-c", "sleeps", "dies", "dies-once", "fine"]
    found = verify([f"troubled.{name}" for name in names], scheduler=address, timeout=0.5)
    records = {record.claim.split(".")[1]: record for record in found}
    assert {name: str(record.verdict) for name, record in records.items()} == {
        **dict.fromkeys(names, "error"),
        **{"dies-once": "verified", "fine": "verified"},
    }
    assert "hung outside Python code past its time-out of 0.5 s" in records["hangs-in-c"].error
    assert "in hangs_in_c" in records["hangs-in-c"].error
    assert "still running after its time-out of 0.5 s" in records["sleeps"].error
    assert "its process ended with status -9" in records["dies"].error
    assert computed()["troubled.dies"] == 3
    assert computed()["troubled.dies-once"] == 2


def test_claims_made_by_hand_travel_to_the_cluster_if_they_can(address, toy_claim):
    lock = threading.Lock()
    toy_claim("toy.by-hand")
    toy_claim("toy.locked", check=lambda run: Equal(str(lock), ""))
    found = verify("toy", scheduler=address)
    assert [record.verdict for record in found] == ["verified", "error"]
    assert found[1].error.startswith("it cannot be sent to another process:\n")
    assert "cannot pickle" in found[1].error


def test_ctrl_c_leaves_the_cluster_to_others(toys, address, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "theorylab", "verify", "waiting", "--scheduler", address],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(toys / "one.pid")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    (toys / "go").touch()
    assert process.returncode == 130
    assert "repeat the command with --resume" in said
    found = verify(["steady.exact", "waiting.last"], scheduler=address)
    assert [record.verdict for record in found] == ["verified", "verified"]


# A cluster that is not there, or no longer


@pytest.mark.parametrize(
    "wrong", ["nonsense", "", "127.0.0.1:8786", "tcp://127.0.0.1", "http://127.0.0.1:1"]
)
def test_a_malformed_address_is_told(toys, wrong):
    with pytest.raises(SchedulerError, match=f"no Dask scheduler answers at '{wrong}' .*dask sch"):
        verify("steady", scheduler=wrong)


def test_a_scheduler_that_does_not_answer_is_told(toys, monkeypatch):
    connect = distributed.Client

    def impatient(address, timeout, **options):
        return connect(address, timeout=timeout / 20, **options)

    monkeypatch.setattr(distributed, "Client", impatient)
    with pytest.raises(SchedulerError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        verify("steady", scheduler="tcp://127.0.0.1:9")


def test_without_the_extra_the_way_to_install_it_is_told(toys, monkeypatch):
    real = builtins.__import__

    def without_dask(name, *args):
        if name.split(".")[0] == "distributed":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", without_dask)
    with pytest.raises(SchedulerError, match=r"pip install 'theorylab\[cluster\]'"):
        verify("steady", scheduler="tcp://127.0.0.1:8786")


LONE_CLUSTER = """
import sys, distributed
with distributed.LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None
) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def lone_cluster(**environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Scheduler and one worker in one process; yields it and the scheduler's address."""
    server = subprocess.Popen(
        [sys.executable, "-c", LONE_CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **environment},
    )
    assert server.stdout is not None
    yield server, server.stdout.readline().strip()
    server.kill()
    server.communicate()


def test_workers_without_the_library_are_told(toys, toy_claim, tmp_path):
    toy_claim("toy.by-hand")
    elsewhere = tmp_path / "theorylab"
    elsewhere.mkdir()
    (elsewhere / "__init__.py").write_text("raise ImportError('not installed here')")
    with lone_cluster(PYTHONPATH=str(tmp_path)) as (_, address):
        (record,) = verify("toy", scheduler=address)
    assert record.verdict == "error"
    assert record.error.startswith("the cluster could not compute it:\n")
    assert record.error.endswith("ImportError: not installed here")


def test_workers_without_the_chapter_are_told(toys):
    with lone_cluster(PYTHONPATH=str(SOURCES)) as (_, address):
        (record,) = verify("steady.exact", scheduler=address)
    assert record.verdict == "error"
    assert "UnknownClaimError: no claim or chapter matches 'steady.exact'" in record.error


def test_a_scheduler_that_is_lost_is_told_and_finished_records_are_kept(toys, tmp_path):
    def lose(server):
        wait_for(tmp_path / "ci-cpu-seed0" / "waiting.quick.json")
        wait_for(toys / "one.pid")
        server.kill()

    with lone_cluster(TOY_FOLDER=str(toys)) as (server, address):
        thread = threading.Thread(target=lose, args=(server,))
        thread.start()
        with pytest.raises(SchedulerError, match=r"lost the Dask scheduler .*repeat with resume"):
            verify("waiting", scheduler=address, records=tmp_path)
        thread.join()
    assert [record.claim for record in load_records(tmp_path)] == ["waiting.quick"]
