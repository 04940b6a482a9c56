"""Toy chapters: a package beside theorylab that registers itself through its entry points."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import theorylab
from theorylab.claims import Check, Claim, Registry, Source, claim
from theorylab.findings import Equal
from theorylab.run import Run

SITE = Path(__file__).parent / "site"
SOURCES = Path(theorylab.__file__).parents[1]


@pytest.fixture(autouse=True)
def _no_shared_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build of the book sets it; a test must not reuse what the book has computed."""
    for name in ("RECORDS", "SCALE", "DEVICE", "SEED", "CHAPTERS"):
        monkeypatch.delenv(f"THEORYLAB_{name}", raising=False)


@pytest.fixture
def toys(fresh_registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Install the toy chapters, here and in child processes; returns the folder of their traces."""
    folder = tmp_path / "traces"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(SITE))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SITE), str(SOURCES)]))
    monkeypatch.setenv("TOY_FOLDER", str(folder))
    return folder


@pytest.fixture
def computed(toys: Path) -> Callable[[], dict[str, int]]:
    """How often each toy claim that counts itself has been computed."""

    def count() -> dict[str, int]:
        traces = [path for path in toys.iterdir() if path.suffix not in {".pid", ".part"}]
        return {
            path.name: len(path.read_text().splitlines()) for path in traces if "." in path.name
        }

    return count


@pytest.fixture
def toy_claim(fresh_registry: Registry) -> Callable[..., Claim]:
    """Register a claim of one's own; it holds and has one control unless told otherwise."""

    def make(
        id: str = "toy.claim",
        check: Check = lambda run: Equal(1, 1),
        controls: Mapping[str, Check] | None = None,
        positive: Mapping[str, Check] | None = None,
        **options: object,
    ) -> Claim:
        described = {"statement": "$1 = 1$.", "source": Source("toy"), "evidence": "exact"}
        made = claim(id, **{**described, **options})(check)  # type: ignore[arg-type]
        broken = {"broken": lambda run: Equal(1, 2)}
        for name, control in (broken if controls is None else controls).items():
            made.control(name)(control)
        for name, control in (positive or {}).items():
            made.positive_control(name)(control)
        return made

    return make


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the ``theorylab`` command in a process of its own, in an empty folder."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # type: ignore[call-overload]
            [sys.executable, "-m", "theorylab", *arguments],
            **{"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 120, **options},
        )

    return run


@pytest.fixture
def ci_run() -> Run:
    """The run of the book."""
    return Run()
