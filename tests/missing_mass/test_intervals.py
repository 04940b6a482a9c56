"""Intervals: known numbers, exact coverage on tiny cases, and the campaign monitor."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest

from theorylab.missing_mass import Fingerprint, Monitor, intervals
from theorylab.missing_mass.enumeration import sequences

SAMPLE = Fingerprint.from_phi({1: 20, 2: 10, 3: 4, 6: 3})


def test_esty_by_hand() -> None:
    n, z = SAMPLE.n, 1.959963984540054
    half = z * sqrt(20 * (1 - 20 / n) + 20) / n
    found = intervals.esty(SAMPLE)
    assert (found.low, found.high) == pytest.approx((20 / n - half, 20 / n + half))
    assert found.width == pytest.approx(2 * half)
    assert found.covers(20 / n)
    assert not found.covers(found.high + 1e-9)


def test_esty_does_not_collapse_without_singletons_and_doubletons() -> None:
    found = intervals.esty(Fingerprint.from_counts([5, 5, 5]))
    assert found.low == 0
    assert found.high == pytest.approx(1.96 * sqrt(1 - 1 / 15 + 2) / 15, rel=1e-4)


def test_esty_with_doubletons_but_no_singletons_needs_no_remedy() -> None:
    found = intervals.esty(Fingerprint.from_counts([2, 2, 3]))
    assert (found.low, found.high) == pytest.approx((0, 1.959963984540054 * sqrt(4) / 7))


def test_esty_stays_inside_the_unit_interval() -> None:
    assert intervals.esty(Fingerprint.from_counts([1, 1, 1])).high == 1.0
    assert intervals.esty(Fingerprint.from_counts([1, 9])).low == 0.0


def test_distribution_free_bounds_by_hand() -> None:
    g, n = 20 / SAMPLE.n, SAMPLE.n
    assert intervals.mcallester_schapire(SAMPLE, 0.1) == pytest.approx(
        g + (2 * sqrt(2) + sqrt(3)) * sqrt(log(30) / n)
    )
    assert intervals.mcdiarmid_upper(SAMPLE, 0.1) == pytest.approx(
        g + (1 + sqrt(2)) * sqrt(log(20) / n)
    )


def test_holdout_without_discoveries_has_a_closed_form() -> None:
    sample = list(range(10)) * 100
    assert intervals.holdout_upper(sample, 0.05) == pytest.approx(1 - 0.05 ** (1 / 500))


def test_holdout_with_only_discoveries_says_nothing() -> None:
    assert intervals.holdout_upper("abcdefgh") == 1.0


def test_holdout_of_labels_and_of_arrays_agree() -> None:
    labels = np.random.default_rng(0).integers(30, size=81)
    assert intervals.holdout_upper(labels) == intervals.holdout_upper(labels.tolist())
    assert intervals.novelty(labels[:40], labels[40:]) == intervals.novelty(
        labels[:40].tolist(), labels[40:].tolist()
    )


@pytest.mark.parametrize("delta", [0.05, 0.3, 0.6])
@pytest.mark.parametrize(
    "p", [(Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 10),) * 4 + (Fraction(6, 10),)]
)
def test_holdout_covers_exactly(p: tuple[Fraction, ...], delta: float) -> None:
    covered = Fraction(0)
    for draws, weight in sequences(p, 6):
        missing = sum((q for x, q in enumerate(p) if x not in draws), start=Fraction(0))
        if missing <= intervals.holdout_upper(draws, delta):
            covered += weight
    assert covered >= 1 - delta


def test_credible_interval_is_inside_and_ordered() -> None:
    found = intervals.ewens_pitman(SAMPLE)
    assert 0 <= found.low < 20 / SAMPLE.n < found.high <= 1
    assert intervals.ewens_pitman(SAMPLE, 0.5).width < found.width


@pytest.mark.parametrize("value", [0.0, 1.0, 1.5])
def test_levels_outside_the_unit_interval_are_refused(value: float) -> None:
    for call in (
        lambda: intervals.esty(SAMPLE, value),
        lambda: intervals.ewens_pitman(SAMPLE, value),
        lambda: intervals.mcallester_schapire(SAMPLE, value),
        lambda: intervals.mcdiarmid_upper(SAMPLE, value),
        lambda: intervals.holdout_upper("abab", value),
        lambda: Monitor(value),
        lambda: Monitor(0.1, value),
    ):
        with pytest.raises(ValueError, match="must lie in"):
            call()


def test_one_draw_cannot_be_split() -> None:
    with pytest.raises(ValueError, match="at least 2 draws to split, got 1"):
        intervals.holdout_upper("a")


def test_monitor_tightens_at_checkpoints_only() -> None:
    monitor = Monitor(target=0.05, delta=0.1)
    bounds = []
    for _ in range(64):
        monitor.observe("same")
        bounds.append(monitor.upper)
    first, second = 1 - (0.1 / 2) ** (1 / 16), 1 - (0.1 / 6) ** (1 / 32)
    assert bounds[:31] == [1.0] * 31
    assert bounds[31:63] == pytest.approx([first] * 32)
    assert bounds[63] == pytest.approx(second)


def test_monitor_counts_what_is_new_since_the_half() -> None:
    monitor = Monitor(target=0.5)
    monitor.observe_all([0] * 16 + list(range(1, 9)) + [0] * 8)
    assert monitor.upper == pytest.approx(intervals.clopper_pearson_upper(8, 16, 0.05 / 2))


def test_what_was_new_once_stays_new_until_the_next_half() -> None:
    monitor = Monitor(target=0.5)
    monitor.observe_all([0] * 16 + [1] * 16)
    assert monitor.upper == 1.0


def test_monitor_stops_once_and_remembers_when() -> None:
    monitor = Monitor(target=0.21)
    monitor.observe_all([0] * 200)
    assert monitor.may_stop
    assert monitor.stopped_at == 32
    state = monitor.state()
    assert (state.executions, state.classes, state.estimate) == (200, 1, 0.0)
    assert state.upper == monitor.upper <= monitor.target


def test_monitor_never_stops_while_everything_is_new() -> None:
    monitor = Monitor(target=0.9)
    monitor.observe_all(range(500))
    assert not monitor.may_stop
    assert monitor.state().estimate == 1.0


def test_an_empty_campaign_has_no_state() -> None:
    with pytest.raises(ValueError, match="nothing was observed"):
        Monitor(0.1).state()
