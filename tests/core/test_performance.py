"""The page on performance: ratios in words, targets met and missed, nothing in seconds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from theorylab.benchmarks import Growth, Measure, Result, Row
from theorylab.pages import Chapter, Performance
from theorylab.pages.performance import lines, machine_text, times_as_fast

ROWS = (
    Row.of("fast", 0.017, 0.85, 20.0),
    Row.of("close <n>", 0.017, 0.0255, 2.0),
    Row.of("slow", 0.034, 0.017, 1 / 3),
    Row.of("free", 0.017, 0.017),
)
RESULT = Result(
    "Collisions & more",
    "scipy",
    "1.2",
    ROWS,
    "twenty times",
    (Growth("time in n", ("1", "2", "4"), (1, 2, 4), (0.017, 0.034, 0.068), 0.5),),
    (Measure("wrong verdicts", 0, most=0), Measure("share", 0.25, least=0.2, most=0.3)),
)
MACHINE = {"python": "3.11.9", "system": "Linux x86_64", "cpus": 2, "libraries": {"numpy": "2.4"}}


def page(**results: Result) -> Performance:
    chapters = (
        Chapter("total_variation", "Total variation", "", None),
        Chapter("missing_mass", "Missing mass", "", None),
    )
    return Performance(results, chapters)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (80_716.1, "80,700 times as fast"),
        (179.98, "180 times as fast"),
        (50.5, "50 times as fast"),
        (2.49, "2.5 times as fast"),
        (1.04, "as fast"),
        (0.97, "as fast"),
        (0.5, "takes 2 times as long"),
        (0.18475, "takes 5.4 times as long"),
        (0.005, "takes 200 times as long"),
    ],
)
def test_a_ratio_is_said_in_words(ratio: float, words: str):
    assert times_as_fast(ratio) == words


def test_each_line_has_its_target_and_whether_it_is_met():
    assert [(line.target, line.judged) for line in lines(RESULT)] == [
        ("at least 20 times as fast", "met"),
        ("at least 2 times as fast", "not met"),
        ("at most 3 times as long", "met"),
        ("", ""),
        ("at most 0.5", "not met"),
        ("at most 0", "met"),
        ("at least 0.2, at most 0.3", "met"),
    ]


def test_the_exponent_stands_with_its_interval():
    assert lines(RESULT)[4].found == "exponent 1.00 (1.00 to 1.00)"


def test_the_summary_counts_what_is_on_the_page():
    found = page(missing_mass_a=RESULT, missing_mass_b=RESULT, total_variation_a=RESULT)
    assert found.summary() == "Comparisons: 12; peers: 1; targets met: 12 of 18."


def test_results_stand_under_their_chapters_in_the_order_of_the_book():
    found = page(
        relu_depth_a=RESULT,
        missing_mass_a=RESULT,
        total_variation_b=RESULT,
        total_variation_a=RESULT,
    )
    assert [(slug, [name for name, _ in entries]) for slug, entries in found.by_chapter()] == [
        ("total_variation", ["total_variation_a", "total_variation_b"]),
        ("missing_mass", ["missing_mass_a"]),
        ("relu_depth", ["relu_depth_a"]),
    ]
    text = found._repr_html_()
    assert re.findall("<h2>(.*?)</h2>", text) == [
        '<a href="total_variation.html">Total variation</a>',
        '<a href="missing_mass.html">Missing mass</a>',
        "relu depth",
    ]


def test_the_page_shows_no_seconds():
    found = page(missing_mass_a=RESULT)
    for text in (found._repr_html_(), repr(found)):
        assert not re.search(r"0\.017|0\.0255|0\.034|0\.85|\d m?s\b", text)


def test_peer_version_and_target_are_named_and_text_is_escaped():
    text = page(missing_mass_a=RESULT)._repr_html_()
    assert "Beside <strong>scipy (1.2)</strong>. Target: twenty times." in text
    assert "<h3>Collisions &amp; more</h3>" in text
    assert "close &lt;n&gt;" in text
    assert "<n>" not in text


def test_what_is_missed_is_listed_first_with_a_link():
    text = page(missing_mass_a=RESULT)._repr_html_()
    missed = re.findall('<li><a href="#(.*?)">.*?</a>, (.*?)</li>', text)
    assert missed == [
        (
            "benchmark-missing-mass-a",
            "close &lt;n&gt;: 1.5 times as fast; target: at least 2 times as fast",
        ),
        (
            "benchmark-missing-mass-a",
            "time in n: exponent 1.00 (1.00 to 1.00); target: at most 0.5",
        ),
    ]
    assert text.count('id="benchmark-missing-mass-a"') == 1
    assert text.index("<li>") < text.index("<h2>")


def test_the_machine_is_named_where_it_was_recorded():
    assert machine_text({}) == ""
    said = "Measured with Python 3.11.9 on 2 processors (Linux x86_64), numpy 2.4."
    assert machine_text(MACHINE) == said
    other = Result("Title", "peer", "", ROWS[:1], machine=MACHINE)
    found = page(missing_mass_a=RESULT, missing_mass_b=other)
    assert found.unrecorded() == "Machine not recorded: 1 of 2 results."
    assert found._repr_html_().count(said) == 1


def test_a_book_without_benchmarks_says_so(tmp_path: Path):
    (tmp_path / "_toc.yml").write_text("root: index\n")
    found = Performance.of_book(tmp_path)
    assert repr(found) == "No benchmark has been run yet."
    assert found._repr_html_() == "<p>No benchmark has been run yet.</p>"


def test_every_stored_result_of_the_book_is_on_the_page():
    root = Path(__file__).parents[2]
    scripts = "".join(path.read_text() for path in (root / "benchmarks").glob("bench_*.py"))
    found = Performance.of_book(root)
    assert found.results
    assert [name for name in found.results if f'"{name}"' not in scripts] == []
    text = found._repr_html_()
    for result in found.results.values():
        assert text.count("<tr>") >= len(result.rows)
