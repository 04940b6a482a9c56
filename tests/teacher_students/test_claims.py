"""The ledger, the cheap claims whole, and that pictures can be drawn."""

from __future__ import annotations

import numpy as np
import pytest

import theorylab
from theorylab.findings import Judgement
from theorylab.run import Run
from theorylab.teacher_students.claims import rates
from theorylab.teacher_students.claims.experiments import Setup, course, late_slope

LEDGER = (
    *("closed-form", "rate-overparam", "rate-exact", "lower-bound", "grouping", "balance"),
    *("activation-link", "finite-sample"),
)


def test_the_ledger_is_complete():
    found = {claim.id for claim in theorylab.claims("teacher_students")}
    assert found == {f"teacher_students.{name}" for name in LEDGER}


@pytest.mark.parametrize("name", ["closed-form", "rate-exact"])
def test_cheap_claims_get_the_verdict_that_the_book_stands_by(name):
    (record,) = theorylab.verify(f"teacher_students.{name}", workers=1)
    assert record.verdict == record.expected


def test_late_slope_reads_off_a_power_of_time():
    found = course(Run(), Setup(2, 1), 1000, starts=4)
    scatter = np.linspace(1.0, 1.3, 4)[:, None]
    values = scatter * np.r_[1.0, found.time[1:] ** -2.5]
    finding = late_slope(found, values, -2.5, 0.1)
    assert finding.judgement is Judgement.HOLDS
    assert finding.slope == pytest.approx(-2.5)


def test_starts_follow_from_the_seed_alone():
    first, again, other = (course(Run(seed=s), Setup(2, 1), 10, starts=2).W for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_single_students_leave_the_third_power_behind():
    assert rates._levels(Run(), Setup(1, 1), 200).judgement is Judgement.FAILS
