"""The command: its options, its exit status, its errors; Ctrl-C, resuming, a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

import theorylab
from theorylab import cli
from theorylab.records import load_records, read_record
from theorylab.verify import verify

PATIENCE = 30.0


@pytest.fixture
def run(toys, tmp_path, monkeypatch):
    """Run the command in this process, in a folder of its own, with one worker."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "_cores", lambda: 1)

    def in_this_process(*arguments, timeout, **options):
        """One worker without a time-out is no process of its own."""
        kept = None if timeout == cli.CI_TIMEOUT else timeout
        return verify(*arguments, timeout=kept, **options)

    monkeypatch.setattr(cli, "verify", in_this_process)

    def invoke(*arguments: str):
        return CliRunner().invoke(cli.app, arguments, catch_exceptions=False)

    return invoke


def wait_for(path: Path) -> Path:
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, f"waited in vain for {path.name}"
        time.sleep(0.01)
    return path


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


# list and show


def test_list_gives_evidence_source_and_last_verdict(run):
    assert run("verify", "steady.exact").exit_code == 0
    result = run("list", "steady")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["claim", "evidence", "source", "last", "verdict"]
    assert rows[1] == ["steady.exact", "exact", "toy2025,", "Theorem", "1", "verified", "(ci)"]
    assert rows[2] == ["steady.drawn", "certified", "toy2025,", "Theorem", "1", "-"]
    assert len(rows) == 8


def test_the_last_verdict_is_that_of_the_newest_run(run, tmp_path):
    for scale in ("paper", "ci"):
        run("verify", "steady.exact", "--scale", scale)
    for path, when in [("ci-cpu-seed0", 1000), ("paper-cpu-seed0", 2000)]:
        os.utime(tmp_path / ".theorylab" / "records" / path / "steady.exact.json", (when, when))
    assert "verified (paper)" in run("list", "steady.exact").stdout


def test_list_passes_over_files_that_are_no_records(run, tmp_path):
    run("verify", "steady.exact")
    (tmp_path / ".theorylab" / "records" / "all.json").write_text("[]")
    result = run("list", "steady.exact")
    assert result.exit_code == 0
    assert "verified" in result.stdout
    assert "all.json" in result.stderr


def test_show_gives_statement_check_control_and_last_record(run):
    before = run("show", "steady.drawn")
    assert "no record yet" in before.stdout
    assert "control: shifted by a hundred" in before.stdout
    assert "check: toy_chapters.steady.drawn" in before.stdout
    run("verify", "steady.drawn")
    after = run("show", "steady.drawn")
    assert "verdict: verified" in after.stdout
    assert "A normal draw lies within ten of zero." in after.stdout


# verify


def test_status_0_when_every_verdict_is_as_expected(run, tmp_path):
    result = run("verify", "steady")
    assert result.exit_code == 0
    assert "7 claims: 5 verified, 1 refuted, 1 pending; every verdict as expected" in result.stdout
    assert len(load_records(tmp_path / ".theorylab" / "records" / "ci-cpu-seed0")) == 7
    assert "[7/7] pending      steady.large" in result.stderr


@pytest.mark.parametrize(
    ("name", "word"), [("raises", "error"), ("is-unsound", "unsound"), ("returns-nan", "error")]
)
def test_status_1_when_a_verdict_is_not_as_expected(run, name, word):
    result = run("verify", f"troubled.{name}", "troubled.fine")
    assert result.exit_code == 1
    assert f"{word} (expected verified)" in result.stdout
    assert "2 claims: 1 verified" in result.stdout


def test_an_error_is_told_with_its_traceback(run):
    result = run("verify", "troubled.raises")
    assert "Traceback (most recent call last)" in result.stderr
    assert "ZeroDivisionError: the denominator is 0" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "stedy"], "no claim or chapter matches 'stedy'; did you mean steady"),
        (["verify", "steady.exat"], "did you mean steady.exact"),
        (["list", "stedy"], "did you mean steady"),
        (["show", "steady.exat"], "did you mean steady.exact"),
        (["show", "steady"], "no claim or chapter matches"),
        (["verify", "steady", "--device", "cuda:9"], "no device 'cuda:9' on this machine; use one"),
        (["verify", "steady", "--scale", "huge"], "scale must be one of ci, paper, gpu"),
        (["verify", "steady", "--timeout", "0"], "timeout must be a number of seconds"),
        (["verify", "steady", "--timeout", "inf"], "timeout must be a number of seconds"),
        (["verify", "steady", "--seed", "-1"], "--seed"),
        (["verify", "steady", "--workers", "0"], "--workers"),
        (["verify", "steady", "--workers", "two"], "--workers"),
        (["verify", "steady", "--sed", "1"], "No such option"),
        (["verify", "steady", "--records", "/proc/none"], "cannot write records to /proc/none"),
        (["verify", "steady", "--scheduler", "here"], "no Dask scheduler answers at 'here'"),
        (["verify", "bare"], "no negative control for bare.uncontrolled"),
        (["list", "broken"], "chapter 'broken' cannot be imported"),
        (["compare", "a", "b"], "no records folder a"),
        (["compare", "a"], "Missing argument"),
        (["prove"], "No such command"),
        (["show"], "Missing argument"),
    ],
)
def test_status_2_on_wrong_usage_with_what_to_do(run, computed, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert computed() == {}


def test_junit_and_json_are_written_into_new_folders(run, tmp_path):
    result = run("verify", "steady", "--junit", "out/deep/j.xml", "--json", "out/r.json")
    assert result.exit_code == 0
    suite = ElementTree.parse(tmp_path / "out" / "deep" / "j.xml").getroot()
    assert suite.get("tests") == "7"
    stored = json.loads((tmp_path / "out" / "r.json").read_text())
    assert [item["claim"] for item in stored][:2] == ["steady.exact", "steady.drawn"]


@pytest.mark.parametrize("option", ["--junit", "--json"])
def test_a_file_that_cannot_be_written_is_told_and_nothing_is_lost(run, tmp_path, option):
    (tmp_path / "file").write_text("in the way")
    result = run("verify", "steady.exact", option, "file/inside")
    assert result.exit_code == 2
    assert "theorylab: cannot write file/inside: " in result.stderr
    assert "1 claim: 1 verified" in result.stdout
    assert load_records(tmp_path / ".theorylab")


def test_resume_computes_what_is_missing(run, computed):
    run("verify", "steady.exact", "--records", "r")
    result = run("verify", "steady", "--records", "r", "--resume")
    assert result.exit_code == 0
    assert set(computed().values()) == {1}
    assert "1 of 7 claims: kept from the last run" in result.stderr
    assert "[2/7]" in result.stderr


def test_seed_scale_and_selection_reach_the_run(run, tmp_path):
    run("verify", "steady.bounded", "steady.exact", "--seed", "5", "--scale", "paper")
    folder = tmp_path / ".theorylab" / "records" / "paper-cpu-seed5"
    record = read_record(folder / "steady.bounded.json")
    assert (record.seed, record.scale, len(record.finding.measured)) == (5, "paper", 1000)
    assert len(load_records(folder)) == 2


def test_a_time_out_applies_at_ci_scale_unless_told_otherwise(run, monkeypatch):
    seen = []
    monkeypatch.setattr(cli, "verify", lambda *a, **options: seen.append(options["timeout"]) or [])
    for options in ([], ["--scale", "paper"], ["--timeout", "5"]):
        run("verify", "steady", *options)
    assert seen == [600.0, None, 5.0]


def test_all_cores_are_used_by_default(toys, monkeypatch):
    import joblib

    monkeypatch.setattr(joblib, "cpu_count", lambda: 3)
    assert cli._cores() == 3


# compare


def test_compare_of_equal_runs(run):
    for folder in ("a", "b"):
        run("verify", "steady", "--records", folder)
    result = run("compare", "a", "b")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no differences" in result.stderr


def test_compare_explains_what_changed(run, tmp_path):
    run("verify", "steady", "--records", "a")
    run("verify", "steady", "--records", "b", "--seed", "1")
    (tmp_path / "b" / "ci-cpu-seed1" / "steady.exact.json").unlink()
    result = run("compare", "a", "b")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert "steady.exact: record: verified → missing" in lines
    assert "steady.drawn: seed: 0 → 1" in lines
    assert any(line.startswith("steady.drawn: finding: ") for line in lines)
    assert not any(line.startswith("steady.trend") for line in lines)
    assert f"{len(lines)} differences" in result.stderr


def test_compare_of_several_runs_at_once_is_refused(run):
    for seed in ("0", "1"):
        run("verify", "steady.exact", "--records", "a", "--seed", seed)
    result = run("compare", "a", "a")
    assert result.exit_code == 2
    assert "compare the folders of single runs" in result.stderr


def test_compare_of_an_empty_folder_is_no_agreement(run, tmp_path):
    (tmp_path / "empty").mkdir()
    result = run("compare", "empty", "empty")
    assert result.exit_code == 2
    assert "no readable record in empty" in result.stderr


# The command itself


def test_version_and_help(run):
    assert run("--version").stdout.strip() == theorylab.__version__
    assert "Put the claims" in run("--help").stdout
    assert "Exit status" in run("verify", "--help").stdout


def test_standard_output_is_the_ledger_and_nothing_else(toys, command, tmp_path):
    """A claim prints, a record is damaged, another claim fails nastily; the encoding is poor."""
    arguments = ("verify", "troubled.raises-nastily", "troubled.prints", "steady.bounded")
    exports = ("--junit", "j.xml", "--json", "r.json")
    result = command(*arguments, *exports, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("claim ")
    assert lines[-1].startswith("3 claims: 2 verified, 1 error")
    assert "printed by a claim" not in result.stdout
    assert "printed by a claim" in result.stderr
    assert "\\u2264" in result.stdout
    assert ElementTree.parse(tmp_path / "j.xml").getroot().get("errors") == "1"
    stored = json.loads((tmp_path / "r.json").read_text(encoding="utf8"))
    assert "\udcff \ufffe" in stored[0]["error"]


def test_warnings_are_told_in_one_line(toys, command, tmp_path):
    verify("steady.exact", "paper", records=tmp_path / ".theorylab" / "records")
    (path,) = tmp_path.rglob("steady.exact.json")
    path.write_text("{")
    result = command("verify", "steady.exact", "--scale", "paper", "--workers", "1", "--resume")
    assert result.returncode == 0
    (line,) = [line for line in result.stderr.splitlines() if "cannot read" in line]
    assert line.startswith("theorylab: cannot read the record")
    assert line.endswith("the claim will be computed again")


@pytest.fixture
def interrupted(toys, tmp_path):
    """Start a verification, interrupt it while two claims wait; what it said on its way out.

    ``send`` is ``os.kill`` for one process, ``os.killpg`` for all, as a terminal does it.
    """

    def interrupt(send, *arguments: str) -> str:
        process = subprocess.Popen(
            [sys.executable, "-m", "theorylab", *arguments],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        pids = [int(wait_for(toys / f"{name}.pid").read_text()) for name in ("one", "two")]
        wait_for(tmp_path / "r" / "ci-cpu-seed0" / "waiting.quick.json")
        send(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        deadline = time.monotonic() + PATIENCE
        while any(map(is_running, pids)):
            assert time.monotonic() < deadline, "workers were left behind"
            time.sleep(0.01)
        return said

    return interrupt


ARGUMENTS = ("verify", "waiting", "--workers", "2", "--records", "r")


@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(interrupted, tmp_path, send):
    said = interrupted(send, *ARGUMENTS, "--json", "partial.json")
    assert (
        "theorylab: interrupted after 1 of 4 claims; finished records are in r/ci-cpu-seed0; "
        "repeat the command with --resume to compute the rest"
    ) in said
    assert "Traceback" not in said
    assert [record.claim for record in load_records(tmp_path / "r")] == ["waiting.quick"]
    assert len(json.loads((tmp_path / "partial.json").read_text())) == 1


def test_resume_after_ctrl_c_computes_the_rest(interrupted, run, toys, computed):
    interrupted(os.killpg, *ARGUMENTS)
    (toys / "go").touch()
    result = run(*ARGUMENTS[:2], "--records", "r", "--resume")
    assert result.exit_code == 0
    assert "4 claims: 4 verified" in result.stdout
    assert computed() == {
        **{"waiting.quick": 1, "waiting.one": 2, "waiting.two": 2, "waiting.last": 1}
    }


def test_ctrl_c_before_anything_is_computed(run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "verify", interrupted)
    assert run("verify", "steady").exit_code == 130


def test_a_terminal_shows_a_bar_with_the_running_claim(toys, tmp_path):
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "theorylab", "verify", "waiting", "--workers", "1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=child,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(child)
    wait_for(toys / "one.pid")
    time.sleep(0.3)  # the bar is drawn ten times a second
    (toys / "go").touch()
    shown = b""
    while True:
        try:
            shown += (chunk := os.read(parent, 4096))
        except OSError:
            break
        if not chunk:
            break
    os.close(parent)
    assert process.wait(PATIENCE) == 0
    text = shown.decode(errors="replace")
    assert "1/4" in text
    assert "waiting.one" in text
