"""Verifying in this process: order, streams, records, resuming, a disk that fills up, Ctrl-C."""

from __future__ import annotations

import dataclasses
import errno
import itertools
import json
import os
import random
import resource
import warnings

import pytest

import theorylab
from theorylab.claims import UnknownClaimError, claims
from theorylab.findings import Close, Equal, Verdict
from theorylab.records import RecordsError, RecordStore, load_records, read_record
from theorylab.run import DeviceError
from theorylab.verify import VerificationInterrupted, verify


def outcome(records):
    """Everything of a record but the time it took."""
    return [dataclasses.replace(record, seconds=0.0) for record in records]


def by_claim(records):
    return {record.claim: record for record in outcome(records)}


# Order and streams


def test_records_come_in_the_order_of_the_selection(toys):
    found = verify(["steady.trend", "steady.exact", "steady.trend"])
    assert [record.claim for record in found] == ["steady.trend", "steady.exact"]
    assert [record.claim for record in verify("steady")] == [c.id for c in claims("steady")]


def test_the_toy_chapter_is_as_expected(toys):
    found = verify("steady")
    assert all(record.as_expected for record in found)
    assert {record.verdict for record in found} == {"verified", "refuted", "pending"}
    assert {record.evidence for record in found} == {"exact", "certified", "statistical", "trend"}


def test_results_do_not_depend_on_order_or_selection(toys):
    ids = [made.id for made in claims("steady")]
    whole = by_claim(verify(ids, seed=3))
    shuffled = random.Random(0).sample(ids, len(ids))
    assert by_claim(verify(shuffled, seed=3)) == whole
    assert by_claim(itertools.chain.from_iterable(verify(c, seed=3) for c in ids)) == whole
    assert by_claim(verify(ids, seed=4)) != whole


def test_results_do_not_depend_on_the_state_of_other_generators(toys):
    import numpy as np
    import torch

    first = outcome(verify("steady"))
    np.random.seed(5)  # noqa: NPY002
    torch.manual_seed(5)
    random.seed(5)
    assert outcome(verify("steady")) == first


# Wrong usage


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, None, "2"])
def test_workers_are_a_positive_integer(toys, workers):
    with pytest.raises(ValueError, match="workers must be a positive integer, got"):
        verify("steady", workers=workers)


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf"), 1e8])
def test_a_time_out_is_a_positive_finite_number(toys, timeout):
    with pytest.raises(ValueError, match="timeout must be a number of seconds between 0 and 1e"):
        verify("steady", timeout=timeout)


def test_resuming_needs_a_folder(toys):
    with pytest.raises(ValueError, match="resume needs the records folder to resume from"):
        verify("steady", resume=True)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"selection": "stedy"}, UnknownClaimError, "did you mean steady"),
        ({"scale": "huge"}, ValueError, "scale must be one of ci, paper, gpu"),
        ({"seed": -1}, ValueError, "seed must be a non-negative integer"),
        ({"device": "abacus"}, DeviceError, "no device 'abacus' on this machine; use one of: cpu"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_computed(
    toys, computed, tmp_path, options, error, message
):
    with pytest.raises(error, match=message):
        verify(**{"selection": "steady", "records": tmp_path / "records", **options})
    assert computed() == {}
    assert not (tmp_path / "records").exists()


# Records and resuming


def test_each_record_is_saved_as_soon_as_it_is_finished(toy_claim, tmp_path):
    def earlier_records(run):
        return Equal(len(load_records(tmp_path)), 1)

    toy_claim("toy.first")
    toy_claim("toy.second", check=earlier_records)
    found = verify("toy", records=tmp_path)
    assert [record.verdict for record in found] == ["verified", "verified"]
    assert load_records(tmp_path) == found


def test_a_claim_that_changes_the_working_directory_moves_no_records(
    toy_claim, tmp_path, monkeypatch
):
    def wanders(run):
        os.chdir("/")
        return Equal(1, 1)

    toy_claim("toy.wanders", check=wanders)
    toy_claim("toy.next")
    monkeypatch.chdir(tmp_path)
    found = verify("toy", records="records")
    assert load_records(tmp_path / "records") == sorted(found, key=lambda record: record.claim)


def test_resume_computes_only_what_is_missing(toys, computed, tmp_path):
    first = verify(["steady.exact", "steady.trend"], records=tmp_path)
    again = verify("steady", records=tmp_path, resume=True)
    assert computed() == {made.id: 1 for made in claims("steady")}
    assert by_claim(first).items() <= by_claim(again).items()
    assert [record.claim for record in again] == [made.id for made in claims("steady")]
    assert {r.seconds for r in again if r.claim in by_claim(first)} == {r.seconds for r in first}


def test_without_resume_everything_is_computed_again(toys, computed, tmp_path):
    for _ in range(2):
        verify("steady.exact", records=tmp_path)
    assert computed() == {"steady.exact": 2}


def rewrite(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    "values",
    [
        {"code": "other sources"},
        {"code": ""},
        {"verdict": "error"},
        {"seed": 1},
        {"scale": "paper"},
    ],
    ids=str,
)
def test_resume_reuses_no_error_and_nothing_of_other_sources_or_runs(
    toys, computed, tmp_path, values
):
    verify("steady.exact", records=tmp_path)
    (path,) = tmp_path.rglob("*.json")
    rewrite(path, **values)
    (record,) = verify("steady.exact", records=tmp_path, resume=True)
    assert computed() == {"steady.exact": 2}
    assert (record.verdict, record.seed, record.scale) == ("verified", 0, "ci")
    assert read_record(path) == record


@pytest.mark.parametrize("options", [{"seed": 1}, {"scale": "paper"}])
def test_resume_keeps_runs_apart(toys, computed, tmp_path, options):
    verify("steady.exact", records=tmp_path)
    verify("steady.exact", records=tmp_path, resume=True, **options)
    assert computed() == {"steady.exact": 2}


def test_resume_computes_an_error_again(toys, tmp_path):
    broken, fine = (verify(f"troubled.{n}", records=tmp_path)[0] for n in ("raises", "fine"))
    again = verify(["troubled.raises", "troubled.fine"], records=tmp_path, resume=True)
    assert again[1].seconds == fine.seconds
    assert again[0].seconds != broken.seconds


def test_resume_over_damaged_records_warns_and_computes_again(toys, computed, tmp_path):
    verify("steady", records=tmp_path)
    folder = tmp_path / "ci-cpu-seed0"
    whole = (folder / "steady.exact.json").read_text()
    (folder / "steady.exact.json").write_text(whole[:100])
    rewrite(folder / "steady.trend.json", schema=99)
    (folder / "steady.drawn.json").write_text("[]")
    with pytest.warns(UserWarning, match="will be computed again") as caught:
        found = verify("steady", records=tmp_path, resume=True)
    assert len(caught) == 3
    assert all(record.as_expected for record in found)
    counts = computed()
    assert {name for name, count in counts.items() if count == 2} == {
        *("steady.exact", "steady.trend", "steady.drawn")
    }
    assert len(load_records(tmp_path)) == len(found)


def test_what_the_book_expects_now_is_what_counts(toys, tmp_path):
    verify("steady.exact", records=tmp_path)
    (path,) = tmp_path.rglob("*.json")
    rewrite(path, expected="refuted")
    (record,) = verify("steady.exact", records=tmp_path, resume=True)
    assert (record.expected, record.as_expected) == ("verified", True)


def test_a_claim_typed_at_a_prompt_is_never_resumed(toy_claim, tmp_path):
    """Its source cannot be looked at, so nobody knows whether it has changed."""
    made = toy_claim()
    made.check.__module__ = "__main__"
    first, again = (verify("toy", records=tmp_path, resume=True)[0] for _ in range(2))
    assert first.code == ""
    assert first.seconds != again.seconds


def test_the_variable_of_the_book_shares_records_between_pages(
    toys, computed, tmp_path, monkeypatch
):
    monkeypatch.setenv("THEORYLAB_RECORDS", str(tmp_path / "shared"))
    first, again = verify("steady.exact"), theorylab.verify("steady.exact")
    assert first == again == load_records(tmp_path / "shared")
    assert computed() == {"steady.exact": 1}
    verify("steady.exact", records=tmp_path / "own")
    assert computed() == {"steady.exact": 2}


# A folder that cannot be used, and a disk that fills up


def test_a_folder_that_cannot_be_used_is_refused_before_anything_is_computed(
    toys, computed, tmp_path
):
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(RecordsError, match="choose another folder with --records"):
            verify("steady", records=folder)
    assert computed() == {}


@pytest.fixture
def full_disk(monkeypatch):
    """A disk that is full below the given folder, after some records have been written."""
    save = RecordStore.save

    def install(root, after):
        left = itertools.count(after, -1)

        def save_or_fail(store, record):
            if store.folder.is_relative_to(root) and next(left) <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return save(store, record)

        monkeypatch.setattr(RecordStore, "save", save_or_fail)

    return install


def test_records_go_elsewhere_when_their_disk_fills_up(toys, tmp_path, full_disk, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    full_disk(tmp_path / "records", after=2)
    with pytest.warns(UserWarning, match="No space left on device") as caught:
        found = verify("steady", records=tmp_path / "records")
    (warning,) = [str(w.message) for w in caught]
    assert f"saved in {elsewhere}" in warning
    assert f"then move them to {tmp_path / 'records' / 'ci-cpu-seed0'}" in warning
    assert len(found) == 7
    kept = load_records(tmp_path / "records") + load_records(elsewhere)
    assert len(load_records(tmp_path / "records")) == 2
    assert by_claim(kept) == by_claim(found)


def test_records_stay_in_memory_when_there_is_no_room_anywhere(toys, tmp_path, full_disk):
    full_disk("/", after=3)
    with pytest.warns(UserWarning, match="No space left on device") as caught:
        found = verify("steady", records=tmp_path / "records")
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2
    assert "saved in" in messages[0]
    assert "kept in memory only: free space there and compute them again with resume" in messages[1]
    assert [record.as_expected for record in found] == [True] * 7


def test_a_limit_of_the_system_itself_loses_no_result(toys, tmp_path):
    """Files may not grow beyond a few bytes: the kernel refuses each record, not a double."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
        try:
            found = verify(["steady.bounded", "steady.disproved"], records=tmp_path / "records")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [record.verdict for record in found] == ["verified", "refuted"]
    assert "File too large" in str(caught[0].message)
    assert "kept in memory only" in str(caught[-1].message)
    assert not list((tmp_path / "records").rglob("*.json*"))


# Ctrl-C


def test_ctrl_c_keeps_and_returns_what_was_finished(toy_claim, tmp_path):
    def interrupted(run):
        raise KeyboardInterrupt

    toy_claim("toy.first")
    toy_claim("toy.second", check=interrupted)
    toy_claim("toy.third")
    with pytest.raises(VerificationInterrupted, match="interrupted after 1 of 3 claims") as caught:
        verify("toy", records=tmp_path)
    assert caught.value.records == load_records(tmp_path)
    assert [record.claim for record in caught.value.records] == ["toy.first"]
    assert caught.value.total == 3
    assert isinstance(caught.value, KeyboardInterrupt)


def test_ctrl_c_while_a_record_is_written_loses_nothing(toys, tmp_path, monkeypatch):
    save, interrupts = RecordStore.save, iter([KeyboardInterrupt])

    def interrupted_once(store, record):
        for interrupt in interrupts:
            raise interrupt
        return save(store, record)

    monkeypatch.setattr(RecordStore, "save", interrupted_once)
    with pytest.raises(VerificationInterrupted) as caught:
        verify("steady", records=tmp_path)
    assert [record.claim for record in caught.value.records] == ["steady.exact"]
    assert load_records(tmp_path) == caught.value.records


# Errors


def test_a_claim_that_goes_wrong_does_not_stop_the_others(toys):
    wrong = ["raises", "raises-nastily", "leaves", "returns-true", "returns-none", "returns-nan"]
    found = verify([f"troubled.{name}" for name in ["fine", *wrong, "is-unsound", "prints"]])
    assert [record.verdict for record in found] == [
        *("verified", *["error"] * len(wrong), "unsound", "verified")
    ]


def test_nothing_selected_is_nothing_computed(toys):
    assert verify([]) == []


def test_verdicts_that_are_not_expected_are_told_apart(toy_claim):
    def far(run):
        return Close(5.0, 1.0, atol=0.1)

    toy_claim("toy.a", check=far, evidence="certified")
    toy_claim("toy.b", check=far, evidence="certified", expected="refuted")
    found = verify("toy")
    assert [record.verdict for record in found] == [Verdict.REFUTED] * 2
    assert [record.as_expected for record in found] == [False, True]
