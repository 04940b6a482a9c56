"""One claim in this process: whatever it does, there is a record."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from theorylab.claims import find_claim
from theorylab.compute import ClaimTimeoutError, compute, time_limit
from theorylab.findings import AllHold, AtMost, Close, Equal, IntervalContains, NotRejected, Pending
from theorylab.records import Record
from theorylab.run import Run


def holds(run):
    return Equal(1, 1)


def fails(run):
    return Equal(1, 2)


def undecided(run):
    return IntervalContains(0, 9, 1, max_width=1)


def pending(run):
    return Pending("needs a GPU")


def raises(run):
    raise ZeroDivisionError("in a control")


def test_a_record_tells_claim_run_finding_and_controls(toy_claim):
    made = toy_claim(controls={"a": fails, "b": fails}, positive={"c": holds}, expected="verified")
    record = compute(made, Run("paper", seed=7))
    assert (record.claim, record.slug, record.evidence) == ("toy.claim", "toy", "exact")
    assert (record.scale, record.device, record.seed) == ("paper", "cpu", 7)
    assert (record.verdict, record.expected, record.as_expected) == ("verified", "verified", True)
    assert record.finding == Equal(1, 1)
    assert [(c.name, c.must_hold, c.as_it_must) for c in record.controls] == [
        *(("a", False, True), ("b", False, True), ("c", True, True))
    ]
    assert record.error == ""
    assert 0 <= record.seconds < 10
    assert record.versions["python"].startswith("3.")
    assert {"numpy", "torch"} <= record.versions.keys()


@pytest.mark.parametrize(
    ("check", "controls", "positive", "verdict"),
    [
        (holds, [fails], [], "verified"),
        (holds, [holds], [], "unsound"),
        (holds, [fails, holds], [], "unsound"),
        (holds, [undecided], [], "inconclusive"),
        (holds, [pending], [], "inconclusive"),
        (holds, [fails], [fails], "unsound"),
        (fails, [fails], [holds], "refuted"),
        (fails, [fails], [fails], "unsound"),
        (undecided, [fails], [], "inconclusive"),
        (pending, [holds], [], "pending"),
        (holds, [raises], [], "error"),
        (fails, [raises], [], "error"),
        (raises, [fails], [], "error"),
    ],
)
def test_the_verdict_of_check_and_controls(toy_claim, check, controls, positive, verdict):
    made = toy_claim(
        check=check,
        controls={str(i): control for i, control in enumerate(controls)},
        positive={f"+{i}": control for i, control in enumerate(positive)},
        evidence="statistical",
    )
    record = compute(made, Run())
    assert record.verdict == verdict
    assert not record.as_expected or verdict == "verified"


def test_controls_of_a_pending_claim_are_not_computed(toy_claim):
    record = compute(toy_claim(check=pending, controls={"a": raises}), Run())
    assert (record.verdict, record.controls) == ("pending", ())


def test_an_error_keeps_what_was_found_before(toy_claim):
    record = compute(toy_claim(controls={"a": fails, "b": raises, "c": fails}), Run())
    assert record.verdict == "error"
    assert record.finding == Equal(1, 1)
    assert [c.name for c in record.controls] == ["a"]
    assert record.error.startswith("in the control 'b':\nTraceback")
    assert "ZeroDivisionError: in a control" in record.error


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("raises", "ZeroDivisionError: the denominator is 0"),
        ("raises-nastily", "ValueError: ]]> "),
        ("raises-unspeakably", "Unspeakable: <exception str() failed>"),
        ("leaves", "SystemExit: 0"),
        ("returns-true", "TypeError: a check returns a Finding, which carries numbers; got True"),
        ("returns-none", "got None of type NoneType"),
        ("returns-nan", "NotANumberError: measured is nan, where a finite number is due"),
        ("is-weaker", "the claim declares exact evidence but is statistical (NotRejected)"),
        ("control-raises", "ZeroDivisionError"),
    ],
)
def test_a_claim_that_goes_wrong_is_an_error_with_its_traceback(toys, name, error):
    record = compute(find_claim(f"troubled.{name}"), Run())
    assert record.verdict == "error"
    assert error in record.error
    assert "Traceback (most recent call last)" in record.error
    assert Record.from_json(record.to_json()) == record


@pytest.mark.parametrize(
    ("evidence", "finding"),
    [
        ("exact", NotRejected(0.5, 0.1, 0.9)),
        ("certified", NotRejected(0.5, 0.1, 0.9)),
        ("trend", AllHold({"fine": Equal(1, 1), "weak": NotRejected(0.5, 0.1, 0.9)})),
    ],
)
def test_evidence_weaker_than_declared_is_an_error_in_check_and_control(
    toy_claim, evidence, finding
):
    def weak(run):
        return finding

    for made in (
        toy_claim("toy.check", check=weak, evidence=evidence),
        toy_claim("toy.control", controls={"weak": weak}, evidence=evidence),
    ):
        record = compute(made, Run())
        assert record.verdict == "error"
        assert f"declares {evidence} evidence" in record.error


def test_ctrl_c_is_not_taken_for_an_error(toy_claim):
    def interrupted(run):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compute(toy_claim(check=interrupted), Run())


# Random streams


def test_claim_and_control_see_the_same_draws(toy_claim):
    def draw(run):
        return Close(run.rng("x").normal(), 0, atol=100)

    def shifted(run):
        return Close(run.rng("x").normal() + 1000, 0, atol=100)

    made = toy_claim(check=draw, controls={"shifted": shifted}, evidence="certified")
    record = compute(made, Run())
    assert record.controls[0].finding.measured == record.finding.measured + 1000


def test_the_seed_of_the_run_reaches_the_claim(toys):
    notes = {compute(find_claim("steady.drawn"), Run(seed=s)).finding.note for s in (0, 1, 0)}
    assert len(notes) == 2


def test_sizes_follow_the_scale(toys):
    made = find_claim("steady.bounded")
    sizes = [len(compute(made, Run(scale)).finding.measured) for scale in ("ci", "paper", "gpu")]
    assert sizes == [100, 1000, 1000]


# Time-outs


@pytest.mark.parametrize("name", ["sleeps", "backtracks"])
def test_a_claim_that_hangs_where_signals_arrive_is_ended_by_its_time_out(toys, name):
    """One swallows every Exception, the other backtracks in the regular-expression engine."""
    record = compute(find_claim(f"troubled.{name}"), Run(), timeout=0.2)
    assert record.verdict == "error"
    assert record.error.strip().endswith("still running after its time-out of 0.2 s")
    assert f"in {name}" in record.error
    assert record.finding is None
    assert 0.2 <= record.seconds < 2


def test_check_and_controls_share_one_time_out(toy_claim):
    def slow(run):
        time.sleep(0.15)
        return fails(run)

    controls = {str(i): slow for i in range(10)}
    record = compute(toy_claim(controls=controls), Run(), timeout=0.4)
    assert "time-out of 0.4 s" in record.error
    assert 1 <= len(record.controls) < 10
    assert record.finding == Equal(1, 1)


def test_a_time_limit_leaves_no_timer_and_no_handler_behind():
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(100):
        assert signal.getsignal(signal.SIGALRM) is not before
        assert 99 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with pytest.raises(ClaimTimeoutError), time_limit(0.01):
        time.sleep(5)
    assert signal.getsignal(signal.SIGALRM) is before


def test_outside_the_main_thread_there_is_no_time_limit(toy_claim):
    made, found = toy_claim(), []
    thread = threading.Thread(target=lambda: found.append(compute(made, Run(), timeout=1e-9)))
    thread.start()
    thread.join()
    assert found[0].verdict == "verified"


def test_findings_of_extreme_numbers_are_judged_without_an_error(toy_claim):
    def extreme(run):
        return AtMost([10**400, -1e308, 5e-324], 10**401)

    record = compute(toy_claim(check=extreme), Run())
    assert record.verdict == "verified"
