"""The statistical claims: how ratios are tested, and verdicts for another seed."""

from __future__ import annotations

import numpy as np
import pytest

from theorylab.claims import claims
from theorylab.findings import Judgement
from theorylab.missing_mass.claims import ratios
from theorylab.missing_mass.protocols import Comparison
from theorylab.verify import verify

STATISTICAL = (
    *("frozen-headline", "headline-same-sample", "same-sample", "efficiency-floor"),
    *("plug-in-at-scale", "larger-sample", "distribution-awareness", "time"),
    *("search-identities", "real-data", "intervals", "stopping-rule"),
)


def cells(ratio: float, number: int = 4, size: int = 500, seed: int = 0) -> dict[str, Comparison]:
    """Squared errors whose means have this ratio."""
    rng = np.random.default_rng(seed)
    found = {}
    for cell in range(number):
        baseline = rng.chisquare(1, size=size)
        found[str(cell)] = Comparison(ratio * rng.chisquare(1, size=size), baseline)
    return found


def test_excess_has_the_mean_of_ratio_minus_bound() -> None:
    made = cells(1.3)
    mean = np.mean([cell.ratio for cell in made.values()])
    assert ratios.excess(made, 0.9).mean() == pytest.approx(mean - 0.9)


@pytest.mark.parametrize(
    ("ratio", "judgement"), [(0.8, Judgement.HOLDS), (1.0, Judgement.HOLDS), (1.6, Judgement.FAILS)]
)
def test_a_mean_ratio_is_tested_against_its_bound(ratio: float, judgement: Judgement) -> None:
    assert ratios.mean_ratio_at_most(cells(ratio), 1.05, against=1.5).judgement is judgement


def test_a_test_without_power_decides_nothing() -> None:
    found = ratios.mean_ratio_at_most(cells(1.0), 1.05, against=1.06)
    assert found.judgement is Judgement.UNDECIDED


def test_a_gain_has_to_be_demonstrated() -> None:
    assert ratios.mean_ratio_below(cells(0.6), 1.0, expected=0.6).judgement is Judgement.HOLDS
    assert ratios.mean_ratio_below(cells(1.0), 1.0, expected=0.6).judgement is Judgement.FAILS
    assert ratios.mean_ratio_above(cells(1.5), 1.0, expected=1.5).judgement is Judgement.HOLDS
    assert ratios.mean_ratio_above(cells(0.9), 1.0, expected=1.5).judgement is Judgement.FAILS


def test_one_bad_cell_is_found() -> None:
    made = {**cells(0.9, number=8, size=2000), "bad": cells(1.7, number=1, size=2000, seed=9)["0"]}
    found = ratios.every_ratio_at_most(made, 1.05, against=1.4)
    assert found.judgement is Judgement.FAILS
    assert found.note.startswith("bad: ")
    del made["bad"]
    assert ratios.every_ratio_at_most(made, 1.05, against=1.4).judgement is Judgement.HOLDS


def test_the_correction_for_the_number_of_cells_keeps_the_level() -> None:
    """At the bound itself the p-value, corrected, is rarely small."""
    smallest = [
        ratios.every_ratio_at_most(cells(1.05, 6, 400, seed), 1.05, against=2).p_value
        for seed in range(60)
    ]
    assert np.mean(np.array(smallest) < 0.1) <= 0.25


def test_wins_are_counted_without_ties() -> None:
    tie = {"tie": Comparison(np.ones(100), np.ones(100))}
    assert ratios.success_above_half(tie, expected=0.6).judgement is Judgement.FAILS
    assert ratios.success_at_least(tie, 0.5, against=0.1).judgement is Judgement.FAILS
    won = {"won": Comparison(np.zeros(100), np.ones(100))}
    assert ratios.success_above_half(won, expected=0.9).judgement is Judgement.HOLDS


def test_power_of_a_known_effect() -> None:
    # 4.26 standard errors are the critical value at 1e-5: power one half
    assert ratios.detection_power(4.2649, 1.0, 1e-5) == pytest.approx(0.5, abs=1e-3)
    assert ratios.detection_power(0.1, 0.0, 1e-5) == 1.0


def test_every_statistical_claim_is_registered_with_a_control() -> None:
    found = {c.id: c for c in claims("missing_mass")}
    for name in STATISTICAL:
        claim = found[f"missing_mass.{name}"]
        assert claim.evidence == "statistical"
        assert any(not control.must_hold for control in claim.controls)
        assert claim.statement.count("$") % 2 == 0
        assert set(claim.uses) <= set(found)


def test_what_is_expected_to_be_refuted_has_a_positive_control() -> None:
    refuted = [c for c in claims("missing_mass.*same-sample") if c.expected == "refuted"]
    assert refuted
    assert all(any(control.must_hold for control in c.controls) for c in refuted)


@pytest.mark.parametrize(
    "name",
    [
        *("frozen-headline", "headline-same-sample", "efficiency-floor", "larger-sample"),
        *("distribution-awareness", "time"),
    ],
)
def test_another_seed_gives_the_expected_verdict(name: str) -> None:
    (record,) = verify(f"missing_mass.{name}", seed=20_261_130, progress=False)
    assert record.verdict == record.expected
