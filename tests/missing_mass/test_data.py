"""Real collections: known totals, and a fuzzing campaign that can be repeated."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from theorylab.missing_mass import data, fuzzing
from theorylab.missing_mass.fingerprint import Fingerprint


@pytest.mark.parametrize(
    ("name", "items", "classes"),
    [("area", 6965, 236), ("parent", 800, 104), ("words", 64_285, 3118), ("patches", 64_692, 477)],
)
def test_collections_have_their_known_sizes(name: str, items: int, classes: int) -> None:
    fp = data.POPULATIONS[name]()
    assert (fp.n, fp.distinct) == (items, classes)
    population = data.real_population(name)
    assert population.exact
    assert population.size == classes


def test_the_most_frequent_word() -> None:
    assert float(data.real_population("words").p_max) == pytest.approx(0.0713, abs=5e-5)


def test_the_stored_words_are_those_of_the_documentation() -> None:
    live = data.words_of(data.installed_documentation())
    stored = data.words()
    if sys.version_info[:3] == (3, 11, 7):
        assert live == stored
    assert live.n == pytest.approx(stored.n, rel=0.5)
    assert live.phi(1) / live.distinct == pytest.approx(stored.phi(1) / stored.distinct, rel=0.2)


def test_words_are_lower_cased_letters() -> None:
    fp = data.words_of(["The the, THE x2y", "a_b"])
    assert fp == Fingerprint.from_counts([3, 1, 1, 1, 1])


def test_butterflies_and_shakespeare() -> None:
    assert data.butterflies().vector(4).tolist() == [118, 74, 44, 24]
    shakespeare = data.shakespeare()
    assert (shakespeare.n, shakespeare.distinct) == (884_647, 31_534)
    assert shakespeare.vector(5).tolist() == [14376, 4343, 2292, 1463, 1043]


def test_a_missing_table_is_named() -> None:
    with pytest.raises(LookupError, match="no table vcd/NoSuchTable"):
        data._frequencies("vcd", "NoSuchTable", "count")


def test_an_unknown_collection_is_named() -> None:
    with pytest.raises(ValueError, match="unknown collection 'cats'; choose one of area, parent"):
        data.real_population("cats")


def test_published_cells_under_both_protocols() -> None:
    cells = data.published_search()
    assert len(cells) == 36
    assert np.mean([c.frozen_ratio for c in cells]) == pytest.approx(0.837, abs=5e-4)
    assert np.mean([c.own_ratio for c in cells]) == pytest.approx(0.9975, abs=5e-5)
    assert np.mean([c.own_success for c in cells]) == pytest.approx(0.486, abs=5e-4)
    assert max(c.own_ratio for c in cells) == pytest.approx(1.16, abs=5e-3)


def test_a_campaign_can_be_repeated() -> None:
    first, again = (fuzzing.fuzz(60, np.random.default_rng(4)) for _ in range(2))
    assert first.tolist() == again.tolist()


def test_behaviours_are_numbered_as_they_appear() -> None:
    labels = fuzzing.fuzz(150, np.random.default_rng(0))
    firsts = [labels.tolist().index(x) for x in range(labels.max() + 1)]
    assert firsts == sorted(firsts)
    assert labels[0] == 0
    assert labels.max() > 20


def test_behaviour_tells_outcomes_and_paths_apart() -> None:
    parsed, lines = fuzzing.behaviour(fuzzing.DOCUMENT)
    assert parsed == "parsed"
    assert len(lines) > 50
    assert fuzzing.behaviour("a = ")[0] == "TOMLDecodeError"
    assert fuzzing.behaviour("a = 1")[1] != fuzzing.behaviour("a = [1]")[1]
    assert fuzzing.behaviour("a = 1") == fuzzing.behaviour("b = 2")


def test_watching_leaves_no_trace() -> None:
    before = sys.gettrace()
    fuzzing.behaviour("a = 1")
    assert sys.gettrace() is before


def test_mutants_differ_by_few_characters() -> None:
    rng = np.random.default_rng(0)
    lengths = [len(fuzzing.mutant(rng)) - len(fuzzing.DOCUMENT) for _ in range(200)]
    assert min(lengths) >= -fuzzing.MOST_EDITS
    assert max(lengths) <= fuzzing.MOST_EDITS
    assert len(set(lengths)) > 3


def test_a_campaign_needs_an_execution() -> None:
    with pytest.raises(ValueError, match="executions must be at least 1, got 0"):
        fuzzing.fuzz(0, np.random.default_rng(0))
