"""Stored results of benchmarks: targets, exponents, the file and back."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from theorylab.benchmarks import Growth, Measure, Result, Row, stored_results

RESULT = Result(
    "Title",
    "peer",
    "1.2",
    (Row.of("met", 1.0, 3.0, 2.0, digits=7), Row.of("missed", 1.0, 1.5, 2.0), Row.of("any", 2, 1)),
    "ratio at least 2",
    (Growth("in n", ("a", "b", "c"), (1, 10, 100), (1.0, 2.0, 4.0), 0.5),),
    (Measure("neurons of the bound over ours", 8.0, least=8.0), Measure("wrong", 1, most=0)),
    {"python": "3.11.9", "cpus": 2, "libraries": {"numpy": "2.4.6"}},
)


def test_targets_are_those_that_were_set():
    assert [row.met for row in RESULT.rows] == [True, False, None]
    assert [measure.met for measure in RESULT.measures] == [True, False]
    assert RESULT.targets == (True, False, True, True, False)


def test_the_ratio_is_peer_over_ours():
    assert [row.ratio for row in RESULT.rows] == [3.0, 1.5, 0.5]


def test_an_exponent_is_that_of_the_power_law():
    (growth,) = RESULT.growths
    assert growth.fit.slope == pytest.approx(math.log10(2))
    assert growth.met


def test_a_result_survives_its_file():
    assert Result.from_json(RESULT.to_json()) == RESULT


def test_the_file_shows_the_exponent():
    (growth,) = json.loads(RESULT.to_json())["growths"]
    assert growth["exponent"] == pytest.approx(math.log10(2))
    assert len(growth["exponent_interval"]) == 2


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_times_are_positive(bad: float):
    with pytest.raises(ValueError, match="ours_s of 'x' must be positive and finite"):
        Row.of("x", bad, 1.0)
    with pytest.raises(ValueError, match="peer_s of 'x' must be positive and finite"):
        Row.of("x", 1.0, bad)


def test_other_values_are_finite():
    with pytest.raises(ValueError, match="'wrong' must be finite"):
        Measure("wrong", math.nan)


def test_a_growth_has_a_time_for_each_size():
    with pytest.raises(ValueError, match=r"as many cases as sizes and seconds, got 2, 3 and 3"):
        Growth("in n", ("a", "b"), (1, 2, 3), (1.0, 2.0, 3.0))


@pytest.mark.parametrize("text", ["{", '{"rows": []}', '{"title": 1, "rows": [{"case": "a"}]}'])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str):
    (tmp_path / "torn.json").write_text(text)
    with pytest.raises(ValueError, match=r"torn\.json: "):
        list(stored_results(tmp_path))


def test_files_of_another_kind_are_passed_over(tmp_path: Path):
    (tmp_path / "b.json").write_text(RESULT.to_json())
    (tmp_path / "a.json").write_text('{"title": "Planted errors", "caught": 3}')
    assert list(stored_results(tmp_path)) == [("b", RESULT)]
