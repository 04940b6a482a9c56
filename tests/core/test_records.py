"""Records: stored atomically, read back identical, refused when damaged, compared in full."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import stat
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import pytest

from theorylab import records as records_module
from theorylab.claims import find_claim
from theorylab.compute import compute
from theorylab.findings import AllHold, AtMost, Equal, Verdict
from theorylab.records import (
    SCHEMA,
    BadRecordError,
    ControlRecord,
    Record,
    RecordsError,
    RecordStore,
    code_fingerprint,
    compare,
    last_line,
    load_records,
    read_record,
    run_folder,
    write_atomically,
)
from theorylab.run import Run

RECORD = Record(
    claim="toy.claim",
    verdict=Verdict.VERIFIED,
    expected=Verdict.VERIFIED,
    finding=AllHold({"exact": Equal(10**40, 10**40), "bound": AtMost(0.1, Fraction(1, 3))}),
    controls=(ControlRecord("broken", False, Equal("a", "b")),),
    evidence="certified",
    seconds=1.25,
    code="abc",
)


def changed(**values) -> Record:
    return dataclasses.replace(RECORD, **values)


@pytest.fixture
def store(tmp_path):
    return RecordStore(tmp_path, Run())


# Storing


def test_a_record_comes_back_identical(store):
    path = store.save(RECORD)
    assert path == store.folder / "toy.claim.json"
    assert read_record(path) == RECORD
    assert store.load("toy.claim") == RECORD


@pytest.mark.parametrize("text", ["\udcff lone", "\x00\x1b", "∞ \U0001f600", "]]>", "\r\n\u2028"])
def test_an_error_of_any_characters_is_stored(store, text):
    record = changed(verdict=Verdict.ERROR, finding=None, controls=(), error=text)
    assert read_record(store.save(record)) == record


def test_a_record_is_plain_json_for_other_readers(store):
    stored = json.loads(store.save(RECORD).read_text(encoding="utf8"))
    assert stored["schema"] == SCHEMA
    assert (stored["claim"], stored["verdict"], stored["expected"]) == (
        *("toy.claim", "verified", "verified"),
    )
    assert stored["finding"]["parts"]["bound"]["measured"]["approximately"] == 0.1
    assert stored["controls"][0]["finding"]["judgement"] == "fails"


def test_a_missing_record_is_none(store):
    assert store.load("toy.other") is None


def test_each_run_has_a_folder_of_its_own(tmp_path):
    runs = [
        *(Run(), Run("paper"), Run(seed=1), Run(device="cuda"), Run(device="cuda:1")),
    ]
    folders = {run_folder(tmp_path, run) for run in runs}
    assert len(folders) == len(runs)
    assert run_folder(tmp_path, Run(device="cuda:1")).name == "ci-cuda1-seed0"


def test_records_are_readable_by_others_as_the_umask_says(store):
    before = os.umask(0o022)
    try:
        path = store.save(RECORD)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_record_that_cannot_be_written_leaves_the_old_one_and_no_debris(store, monkeypatch):
    store.save(RECORD)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(records_module.os, name, full)
            with pytest.raises(OSError, match="No space left"):
                store.save(changed(seconds=9.0))
    assert [path.name for path in store.folder.iterdir()] == ["toy.claim.json"]
    assert store.load("toy.claim") == RECORD


def test_a_writer_killed_half_way_leaves_the_old_file(store):
    path = store.save(RECORD)
    program = f"""
import os, signal
from theorylab import records
from pathlib import Path
records.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
records.write_atomically(Path({str(path)!r}), "half")
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == -9
    assert store.load("toy.claim") == RECORD
    assert len(load_records(store.folder)) == 1


def test_a_text_replaces_the_file_whole(tmp_path):
    path = tmp_path / "text"
    path.write_text("a much longer text than the new one")
    write_atomically(path, "short")
    assert path.read_text() == "short"
    assert list(tmp_path.iterdir()) == [path]


# A folder that cannot be used


def test_a_file_in_place_of_the_folder_is_told_with_the_remedy(tmp_path):
    (tmp_path / "records").write_text("in the way")
    with pytest.raises(RecordsError, match=r"cannot write records to .*choose another folder"):
        RecordStore(tmp_path / "records", Run())


@pytest.mark.parametrize("folder", ["/proc/records", "/sys/records"])
def test_a_folder_where_nothing_can_be_written_is_told(folder):
    if not Path(folder).parent.is_dir():
        pytest.skip(f"no {Path(folder).parent} on this system")
    with pytest.raises(RecordsError, match=f"cannot write records to {folder}/ci-cpu-seed0: "):
        RecordStore(folder, Run())


def test_a_full_disk_is_told_before_anything_is_computed(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(records_module.tempfile, "TemporaryFile", full)
    with pytest.raises(RecordsError, match="No space left on device; free space"):
        RecordStore(tmp_path, Run())


# Damaged records


def _damaged() -> dict[str, str]:
    whole = RECORD.to_json()
    text = json.dumps(whole)

    def without(name):
        return json.dumps({key: value for key, value in whole.items() if key != name})

    def having(**values):
        return json.dumps({**whole, **values})

    return {
        "empty": "",
        "truncated": text[: len(text) // 2],
        "truncated within a character": '{"claim": "∞',
        "not json": "<record/>",
        "a list": "[]",
        "a list of records": f"[{text}]",
        "null": "null",
        "a number": "1",
        "another schema": having(schema=SCHEMA + 1),
        "no schema": without("schema"),
        "no verdict": without("verdict"),
        "no claim": without("claim"),
        "an unknown verdict": having(verdict="probable"),
        "an unknown field": having(colour="red"),
        "a finding of an unknown kind": having(finding={"kind": "Divined"}),
        "a finding without numbers": having(finding={"kind": "Equal"}),
        "a finding that is none": having(finding="Equal"),
        "a finding that is nan": having(finding={"kind": "Close", "measured": {"float": "nan"}}),
        "a division by zero": having(
            finding={**Equal(1, 1).to_json(), "measured": {"fraction": ["0x1", "0x0"]}}
        ),
        "an infinite number": having(
            finding={**Equal(1, 1).to_json(), "measured": {"float": "0x1p99999"}}
        ),
        "controls that are none": having(controls=[1]),
    }


@pytest.mark.parametrize("damage", _damaged())
def test_a_damaged_record_is_named_and_counts_as_none(store, damage):
    text = _damaged()[damage]
    path = store.path("toy.claim")
    path.write_bytes(
        text.encode()[:-1] if damage == "truncated within a character" else text.encode()
    )
    with pytest.raises(BadRecordError, match=r"cannot read the record .*toy\.claim\.json: "):
        read_record(path)
    with pytest.warns(UserWarning, match=r"toy\.claim\.json.*will be computed again"):
        assert store.load("toy.claim") is None


def test_the_record_of_another_claim_is_not_taken_for_this_one(store):
    store.path("toy.other").write_text(json.dumps(RECORD.to_json()))
    with pytest.warns(UserWarning, match=r"holds the record of toy\.claim"):
        assert store.load("toy.other") is None


def test_loading_a_folder_tells_of_unreadable_records_and_goes_on(store):
    store.save(RECORD)
    (store.folder / "toy.bad.json").write_text("{")
    (store.folder / "all.json").write_text(json.dumps([RECORD.to_json()]))
    with pytest.warns(UserWarning, match="cannot read the record") as caught:
        assert load_records(store.folder) == [RECORD]
    assert len(caught) == 2


def test_a_missing_or_empty_folder_is_an_error(tmp_path):
    with pytest.raises(RecordsError, match=r"no records folder .*run `theorylab verify --records"):
        load_records(tmp_path / "nowhere")
    with pytest.raises(RecordsError, match="no readable record in"):
        load_records(tmp_path)


# Fingerprints of sources


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of one's own whose sources can be changed; fingerprints are not remembered."""
    folder = tmp_path / "fingerprinted"
    (folder / "inner").mkdir(parents=True)
    for name in ("__init__.py", "claims.py", "inner/__init__.py"):
        (folder / name).write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    sys.modules.pop("fingerprinted", None)
    code_fingerprint.cache_clear()


def fingerprint() -> str:
    code_fingerprint.cache_clear()
    return code_fingerprint("fingerprinted.claims")


@pytest.mark.parametrize("name", ["claims.py", "inner/__init__.py", "new.py", "inner/data.csv"])
def test_the_fingerprint_changes_with_any_file_of_the_package(package, name):
    before = fingerprint()
    assert before == fingerprint() != ""
    (package / name).write_text("changed = True\n")
    assert fingerprint() != before


def test_the_fingerprint_ignores_what_python_caches(package):
    before = fingerprint()
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "claims.cpython-311.pyc").write_text("changed")
    assert fingerprint() == before


def test_the_fingerprint_covers_the_core(package, tmp_path, monkeypatch):
    before = fingerprint()
    core = tmp_path / "core"
    core.mkdir()
    (core / "findings.py").write_text("judged otherwise\n")
    monkeypatch.setattr(records_module, "__file__", str(core / "records.py"))
    assert fingerprint() != before


@pytest.mark.parametrize("module", ["__main__", "nowhere.to_be_found", "nowhere"])
def test_sources_without_a_file_have_no_fingerprint(module):
    assert code_fingerprint(module) == ""


# Comparing


def texts(before, after):
    return [str(change) for change in compare([before], [after])]


def test_equal_records_do_not_differ_whatever_their_time_and_machine():
    other = changed(seconds=99.0, versions={"python": "9"}, code="other")
    assert compare([RECORD], [other]) == []


def test_a_change_is_told_with_its_possible_causes():
    other = changed(
        verdict=Verdict.REFUTED,
        finding=AllHold({"exact": Equal(1, 2), "bound": AtMost(0.1, Fraction(1, 3))}),
        versions={**RECORD.versions, "numpy": "9.9", "new-library": "1"},
        code="def",
        seed=4,
    )
    found = texts(RECORD, other)
    assert found[:2] == [
        "toy.claim: verdict: verified → refuted",
        "toy.claim: finding, exact: holds: ≈ 1.000e+40 = ≈ 1.000e+40 (exact) → "
        "fails: 1 ≠ 2 (exact)",
    ]
    assert "toy.claim: seed: 0 → 4" in found
    assert "toy.claim: sources: abc → def" in found
    assert f"toy.claim: version of numpy: {RECORD.versions['numpy']} → 9.9" in found
    assert "toy.claim: version of new-library: - → 1" in found
    assert not any("scale" in text or "bound" in text for text in found)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (Equal(10**40, 1), Equal(10**40 + 1, 1), f"measured = {10**40} → measured = {10**40 + 1}"),
        (AtMost(0.1, 1), AtMost(0.1 + 2e-17, 1), "measured = 0.1 → measured = 0.10000000000000002"),
        (
            Equal((0, 0, 0, 0, 1), (0, 0, 0, 0, 1)),
            Equal((0, 0, 0, 0, 2), (0, 0, 0, 0, 2)),
            "measured[4] = 1 → measured[4] = 2",
        ),
        (
            Equal(Fraction(10**9, 10**9 + 1), 1),
            Equal(Fraction(10**9 + 1, 10**9 + 2), 1),
            "measured = 1000000000/1000000001 → measured = 1000000001/1000000002",
        ),
        (Equal(7**9000, 1), Equal(7**9000 + 2, 1), f"→ measured = {hex(7**9000 + 2)}"),
        (Equal(1, 1, sizes={"n": 3}), Equal(1, 1, sizes={"n": 4}), "sizes.n = 3 → sizes.n = 4"),
        (Equal(1, 1), Equal(1, 1, sizes={"n": 4}), "sizes.n = none → sizes.n = 4"),
        (Equal(1, 1, note="a"), Equal(1, 1, note="b"), "note = a → note = b"),
    ],
)
def test_a_difference_that_rounding_would_hide_is_told_in_full(before, after, what):
    (found,) = texts(changed(finding=before), changed(finding=after))
    assert found == f"toy.claim: finding: {what}" or found.endswith(what)


def test_controls_errors_evidence_and_expectations_are_compared():
    other = changed(
        controls=(ControlRecord("other", False, Equal("a", "b")),),
        evidence="exact",
        expected=Verdict.REFUTED,
        error="Traceback\nValueError: no\n",
    )
    assert texts(RECORD, other) == [
        "toy.claim: expected: verified → refuted",
        "toy.claim: evidence: certified → exact",
        "toy.claim: error: none → ValueError: no",
        "toy.claim: control 'broken': fails: a ≠ b (exact) → none",
        "toy.claim: control 'other': none → fails: a ≠ b (exact)",
    ]


def test_a_finding_that_is_gone_is_told():
    other = changed(verdict=Verdict.ERROR, finding=None, error="E: x")
    assert "toy.claim: finding, bound: holds: 0.1 ≤ 1/3 (slack 0.2333) → none" in texts(
        RECORD, other
    )


def test_claims_in_one_run_only_are_told():
    other = changed(claim="toy.other", verdict=Verdict.REFUTED)
    assert [str(change) for change in compare([RECORD], [other])] == [
        "toy.claim: record: verified → missing",
        "toy.other: record: missing → refuted",
    ]


def test_a_set_of_several_runs_is_refused_with_their_names():
    with pytest.raises(
        RecordsError,
        match=r"the second of the two holds toy\.claim more than once "
        r"\(ci-cpu-seed0, ci-cpu-seed3\); compare the folders of single runs",
    ):
        compare([RECORD], [RECORD, changed(seed=3)])


def test_two_seeds_of_a_claim_differ_in_what_was_drawn(toys):
    a, b = (compute(find_claim("steady.drawn"), Run(seed=seed)) for seed in (0, 1))
    found = [change.what for change in compare([a], [b])]
    assert found == ["finding", "control 'shifted by a hundred'", "seed"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compare([a], [compute(find_claim("steady.drawn"), Run())]) == []


@pytest.mark.parametrize(
    ("text", "line"), [("", ""), ("\n \n", ""), ("a\nb\n\n", "b"), ("  a  ", "a")]
)
def test_the_last_line_of_a_traceback(text, line):
    assert last_line(text) == line
