"""The cheap claims whole, and the parts of the others that need no training."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import theorylab
from theorylab.findings import Judgement
from theorylab.gated_linear import figures, identical_task, interactive
from theorylab.gated_linear.claims import imitation, linear, selectivity, winners
from theorylab.run import Run

CHEAP = ("gate-freeze", "assumption", "assumption-on-main-data", "plateaus", "race")
LEDGER = (
    *("gate-freeze", "time-varying-gates", "assumption", "assumption-on-main-data", "sigmoid"),
    *("plateaus", "reduction", "relu-follows-reln", "loss-match-is-not-identification", "race"),
    *("small-init", "census", "contexts-and-depth", "xor", "which-gating-is-fastest", "real-data"),
)


def test_the_ledger_is_complete():
    found = {claim.id for claim in theorylab.claims("gated_linear")}
    assert found == {f"gated_linear.{name}" for name in LEDGER}


@pytest.mark.parametrize("name", CHEAP)
def test_cheap_claims_get_the_verdict_that_the_book_stands_by(name):
    (record,) = theorylab.verify(f"gated_linear.{name}", workers=1)
    assert record.verdict == record.expected


def test_a_wrong_overlap_leaves_the_published_remainders():
    assert imitation._remainder(Fraction(-1, 2)) == 0
    assert imitation._remainder(Fraction(-45, 100)) == Fraction(17, 121)
    assert imitation._remainder(Fraction(0)) == Fraction(17, 4)


def test_sorted_pairing_ends_at_the_wrong_loss():
    task = identical_task(5)
    right = linear._stepped(task, linear._pairs(task), 1e-3)
    wrong = linear._stepped(task, linear.sorted_pairing(task), 1e-3)
    assert right[-1] == pytest.approx(34, abs=1e-3)
    assert wrong[-1] == pytest.approx(37.375, abs=1e-3)


def test_the_permutation_test_rejects_planted_pathways_and_not_noise():
    task, rng = identical_task(3), np.random.default_rng(0)
    planted = np.hstack([np.ones((30, 8)), -9 * np.eye(3)[np.arange(30) % 3]])
    noise = np.hstack([rng.normal(size=(30, 8)), np.zeros((30, 3))])
    W2, run = np.ones((1, 30)), Run().for_claim("gated_linear.census")
    found = selectivity._permutation(run, [(planted, W2)] * 3, task)
    assert found.judgement is Judgement.HOLDS
    found = selectivity._permutation(run, [(noise, W2)] * 3, task)
    assert found.judgement is Judgement.FAILS


def test_a_winner_needs_competitors():
    assert winners.fastest({"a": 2.0, "b": 1.0}, among="two") == "b"
    with pytest.raises(ValueError, match="name the set"):
        winners.fastest({"a": 2.0, "b": 1.0}, among=" ")
    with pytest.raises(ValueError, match="at least two"):
        winners.fastest({"a": 2.0}, among="one")


@pytest.mark.parametrize(
    "draw", [figures.task_matrices, figures.linear_modes, figures.race_diagram]
)
def test_pictures_are_drawn(draw):
    assert len(draw()._repr_png_()) > 10_000


def test_the_loss_of_the_modes_is_drawn_between_its_exact_levels():
    right = figures.linear_modes().axes[1]
    loss = right.lines[-1].get_ydata()
    assert (loss[0], loss[-1]) == (pytest.approx(96, abs=1e-3), pytest.approx(17, abs=1e-2))


def test_the_race_can_be_moved(monkeypatch):
    monkeypatch.setattr(interactive, "WIDTH", 20)
    monkeypatch.setattr(interactive, "STEPS", 3000)
    bundle = interactive.race_slider()._repr_mimebundle_()
    figure = bundle["application/vnd.plotly.v1+json"]
    steps = figure["layout"]["sliders"][0]["steps"]
    assert len(steps) == 10 + 3
    assert all(len(step["args"][1]) == len(figure["data"]) for step in steps)
    assert len(bundle["text/html"]) < 2**20
