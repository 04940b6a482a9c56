"""The run that is meant where none is named, and a rerun shown beside the book's own run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import theorylab
from theorylab.findings import Equal, Verdict
from theorylab.pages import Comparison, own_records
from theorylab.records import Record, RecordStore
from theorylab.reruns import run_meant
from theorylab.run import Run

RERUN = {"THEORYLAB_SCALE": "paper", "THEORYLAB_DEVICE": "cuda:1", "THEORYLAB_SEED": "7"}


def record(claim: str, measured: int = 1, **changes: object) -> Record:
    made = Record(claim, Verdict.VERIFIED, Verdict.VERIFIED, Equal(measured, measured))
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_books_own_run_is_meant_where_nothing_is_said() -> None:
    assert run_meant([], environment={}) == Run("ci", "cpu", 0)


def test_the_environment_names_the_run() -> None:
    assert run_meant([], environment=RERUN) == Run("paper", "cuda:1", 7)


def test_what_the_caller_says_goes_first() -> None:
    assert run_meant([], "ci", "cpu", 0, environment=RERUN) == Run()


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("steady.exact", Run("paper", "cuda:1", 7)),
        ("waiting", Run()),
        (["steady", "waiting"], Run()),
    ],
)
def test_only_the_chapters_listed_are_rerun(toys, chosen, expected) -> None:
    environment = RERUN | {"THEORYLAB_CHAPTERS": "steady other"}
    assert run_meant(theorylab.claims(chosen), environment=environment) == expected


@pytest.mark.parametrize("text", ["-1", "1.5", "many"])
def test_a_seed_that_is_none_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"THEORYLAB_SEED.*non-negative integer"):
        run_meant([], environment={"THEORYLAB_SEED": text})


def test_a_scale_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="scale must be one of ci, paper, gpu; got 'huge'"):
        run_meant([], environment={"THEORYLAB_SCALE": "huge"})


def test_verify_computes_the_run_of_the_environment(toys, monkeypatch) -> None:
    monkeypatch.setenv("THEORYLAB_SEED", "5")
    assert theorylab.verify("steady.exact")[0].seed == 5
    assert theorylab.verify("steady.exact", seed=2)[0].seed == 2


def test_a_comparison_shows_both_runs_of_what_was_rerun_only() -> None:
    own = (record("a.one"), record("a.two"), record("b.one"))
    rerun = record("a.one", 3, scale="gpu", device="cuda", device_bytes=3 * 2**30)
    found = Comparison((rerun, record("b.one")), own)
    assert [(new.claim, old and old.scale) for new, old in found.pairs()] == [("a.one", "ci")]
    text = repr(found)
    assert "claims of the run gpu-cuda-seed0: 1, with another verdict: 0" in text
    assert "3.0 GiB" in text
    assert "b.one" not in text
    assert 'href="a.html#a-one"' in found._repr_html_()


def test_a_comparison_counts_other_verdicts_and_claims_that_the_book_lacks() -> None:
    off = record("a.one", scale="paper", verdict=Verdict.REFUTED)
    new = record("a.new", scale="paper")
    found = Comparison((off, new), (record("a.one"),))
    assert "claims of the run paper-cpu-seed0: 2, with another verdict: 1" in repr(found)
    assert "not computed" in repr(found)


def test_the_books_own_run_has_nothing_to_compare() -> None:
    assert "no other run" in repr(Comparison((record("a.one"),), (record("a.one"),)))
    assert "no other run" in Comparison((), ())._repr_html_()


def test_own_records_are_those_of_the_books_run(tmp_path: Path, monkeypatch) -> None:
    for run in (Run(), Run("paper")):
        RecordStore(tmp_path, run).save(record("a.one", scale=run.scale))
    assert [found.scale for found in own_records(tmp_path)] == ["ci"]
    assert own_records(tmp_path / "nowhere") == ()
    assert own_records() == ()
    monkeypatch.setenv("THEORYLAB_RECORDS", str(tmp_path))
    assert [found.scale for found in own_records()] == ["ci"]


def test_memory_of_the_device_is_kept_with_the_record(tmp_path: Path) -> None:
    store = RecordStore(tmp_path, Run())
    store.save(record("a.one", device_bytes=5))
    found = store.load("a.one")
    assert found is not None
    assert found.device_bytes == 5


def test_there_is_no_device_memory_on_the_cpu(toys) -> None:
    assert theorylab.verify("steady.exact")[0].device_bytes is None
