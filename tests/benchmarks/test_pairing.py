"""What the scripts in the folder benchmarks share: clocks, rows, the stored file."""

from __future__ import annotations

import importlib.util
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from types import ModuleType

import pytest

from theorylab.benchmarks import Growth, Measure, Result, Row

FILE = Path(__file__).parents[2] / "benchmarks" / "pairing.py"


@pytest.fixture
def pairing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The scripts' module, writing into a folder of the test."""
    spec = importlib.util.spec_from_file_location("pairing", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "pairing", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    return module


def counted(log: list[str], name: str):
    return lambda: log.append(name)


def test_a_call_is_timed_on_average_over_its_window(pairing: ModuleType):
    log: list[str] = []

    def task() -> None:
        log.append("x")
        sleep(0.01)

    found = pairing.seconds(task, 0.05)
    assert 3 <= len(log) <= 6
    assert 0.01 <= found < 0.05


def test_without_a_window_there_is_one_call(pairing: ModuleType):
    log: list[str] = []
    pairing.seconds(counted(log, "x"))
    assert log == ["x"]


def test_sides_take_turns_and_the_cold_round_is_thrown_away(pairing: ModuleType):
    log: list[str] = []
    ticks, tocks = itertools.count(100), itertools.count(200)

    def clock(name: str, times: Iterator[int]):
        return lambda: (log.append(name), float(next(times)))[1]

    found = pairing.in_turn(clock("ours", ticks), clock("peer", tocks), rounds=3)
    assert log == ["ours", "peer"] * 4
    assert found == [(101, 102, 103), (201, 202, 203)]


def test_there_must_be_a_round(pairing: ModuleType):
    with pytest.raises(ValueError, match="rounds must be at least 1, got 0"):
        pairing.in_turn(lambda: 1.0, rounds=0)


def test_a_comparison_is_peer_over_ours(pairing: ModuleType):
    row = pairing.compared(
        "naps", lambda: sleep(0.002), lambda: sleep(0.02), rounds=3, window=0, least=2, naps=1
    )
    assert 2 < row.ratio == row.peer_s / row.ours_s < 11
    assert (row.met, row.details) == (True, {"naps": 1})


def test_a_missing_peer_is_told_of_and_is_no_error(
    pairing: ModuleType, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        pairing.skip("scikit-bio")
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert "scikit-bio" in told
    assert "pip install -r benchmarks/requirements.txt" in told


def test_a_report_is_printed_and_stored(pairing: ModuleType, capsys: pytest.CaptureFixture[str]):
    result = Result(
        "Title",
        "peer",
        "1.2",
        (Row.of("fast", 0.001, 0.5, 100.0), Row.of("slow", 2.0, 1.0, 1.0), Row.of("free", 1, 1)),
        "words",
        (Growth("in n", ("1", "2", "4"), (1, 2, 4), (1.0, 4.0, 16.0), 1.5),),
        (Measure("errors", 0, most=0),),
    )
    pairing.report("name", result)
    lines = capsys.readouterr().out.splitlines()
    assert [line.rsplit("  ", 1)[-1].strip() for line in lines if "met" in line.lower()] == [
        "met",
        "NOT MET",
        "NOT MET",
        "met",
    ]
    stored = json.loads((pairing.RESULTS / "name.json").read_text())
    assert {"title", "peer", "peer_version", "rows", "target", "machine"} <= stored.keys()
    assert stored["rows"][0] == {
        "case": "fast",
        "ours_s": 0.001,
        "peer_s": 0.5,
        "ratio": 500.0,
        "least": 100.0,
    }
    assert stored["growths"][0]["exponent"] == pytest.approx(2.0)
    assert {"python", "cpus", "libraries"} <= stored["machine"].keys()
    assert stored["machine"]["python"].startswith("3.")
    assert "numpy" in stored["machine"]["libraries"]


@pytest.mark.parametrize(
    ("value", "shown"), [(12.0, "12 s"), (0.0125, "12.5 ms"), (2e-6, "2 µs"), (3e-8, "30 ns")]
)
def test_durations_have_a_unit_that_suits_them(pairing: ModuleType, value: float, shown: str):
    assert pairing.duration(value) == shown


def test_every_script_finds_what_it_imports():
    scripts = sorted(path.stem for path in FILE.parent.glob("bench_*.py"))
    assert scripts
    command = [sys.executable, "-c", f"import {', '.join(scripts)}"]
    run = subprocess.run(command, cwd=FILE.parent, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
