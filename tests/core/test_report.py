"""Reports: the same text on every run, valid whatever a claim says, and honest counts."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import theorylab
from theorylab.claims import Source, UnknownClaimError, claims
from theorylab.findings import AllHold, AtMost, Equal, Pending, Verdict
from theorylab.records import ControlRecord, Record
from theorylab.report import (
    VERDICT_COLOURS,
    Card,
    Ledger,
    anchor,
    badge,
    ledger,
    show,
    summary,
    to_json,
    to_junit,
)
from theorylab.verify import verify

NASTY = "]]> <script>&\"'</script> \x00\x1b[31m \udcff \ufffe | ``` **b** \U0001f600 ∞\r\u2028end"


def record(claim="toy.claim", verdict="verified", expected="verified", **values) -> Record:
    found = {"finding": Equal(1, 1), "evidence": "exact", **values}
    return Record(claim, Verdict(verdict), Verdict(expected), **found)


RECORDS = [
    record(controls=(ControlRecord("broken", False, Equal(1, 2)),), seconds=1.5),
    record("toy.refuted", "refuted", finding=Equal(1, 2)),
    record("toy.disproved", "refuted", "refuted", finding=Equal(1, 2)),
    record("toy.pending", "pending", "pending", finding=Pending("needs a GPU")),
    record("toy.late", "pending", finding=Pending("needs a GPU")),
    record("toy.error", "error", finding=None, error="Traceback\n  File\nValueError: no\n"),
]


# Ledger


def test_the_ledger_in_a_terminal():
    lines = repr(Ledger(tuple(RECORDS))).splitlines()
    assert [re.split(r"  +", line) for line in lines[:2]] == [
        ["claim", "evidence", "found", "margin", "controls as they must be", "verdict"],
        ["toy.claim", "exact", "1 = 1", "exact", "1 of 1", "verified"],
    ]
    assert lines[2].endswith("refuted (expected verified)")
    assert "ValueError: no" in lines[6]
    assert lines[7] == ("6 claims: 1 verified, 2 refuted, 2 pending, 1 error; 3 not as expected")
    starts = {line.index("exact") for line in lines[1:7]}
    assert len(starts) == 1


def test_the_ledger_of_nothing():
    assert repr(Ledger(())).endswith("0 claims: none; every verdict as expected")
    assert "<table" in Ledger(())._repr_html_()


def test_the_ledger_is_the_same_on_every_run_and_machine(toys):
    first, again = verify("steady"), verify("steady", workers=2)
    again = [
        dataclasses.replace(r, seconds=1234.5, versions={"python": "9"}, code="x") for r in again
    ]
    for render in (repr, Ledger._repr_html_):
        assert render(Ledger(tuple(first))) == render(Ledger(tuple(again)))
        assert "1234" not in render(Ledger(tuple(again)))


def test_a_long_error_does_not_widen_the_table():
    wide = repr(Ledger((record("toy.long", "error", finding=None, error="E: " + "x" * 10_000),)))
    assert max(map(len, wide.splitlines())) < 250


class Balance(HTMLParser):
    """Collects tags, and fails on one that is closed out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: Counter[str] = Counter()

    def handle_starttag(self, tag, attrs):
        self.seen[tag] += 1
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(text: str) -> Balance:
    parser = Balance()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


@pytest.mark.parametrize(
    "nasty",
    [
        record("toy.nasty", "error", finding=None, error=NASTY),
        record("toy.nasty", finding=Equal(NASTY, NASTY)),
        record("toy.nasty", finding=AllHold({NASTY: Equal(1, 1)})),
    ],
)
def test_html_is_well_formed_and_escaped(nasty):
    text = Ledger((nasty,))._repr_html_()
    found = parsed(text)
    assert "<script>" not in text
    assert (found.seen["script"], found.seen["tr"]) == (0, 2)


def test_a_row_links_to_the_card_of_its_claim():
    assert f'href="#{anchor("toy_a.b-c")}"' in Ledger((record("toy_a.b-c"),))._repr_html_()
    assert anchor("toy_a.b-c") == "toy-a-b-c"


@pytest.mark.parametrize("verdict", Verdict)
def test_badges_can_be_read(verdict):
    """White text on the colour of every verdict has a contrast of at least 4.5 (WCAG AA)."""
    red, green, blue = (int(VERDICT_COLOURS[verdict][i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    assert 1.05 / (luminance + 0.05) >= 4.5
    assert f">{verdict}</span>" in badge(verdict)


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        (RECORDS[:1], "1 claim: 1 verified; every verdict as expected"),
        (RECORDS[1:2], "1 claim: 1 refuted; 1 not as expected"),
        (RECORDS[2:4], "2 claims: 1 refuted, 1 pending; every verdict as expected"),
        ([], "0 claims: none; every verdict as expected"),
    ],
)
def test_the_summary_counts(records, sentence):
    assert summary(records) == sentence


def test_ledger_verifies_picks_or_renders(toys):
    records = verify("steady")
    assert ledger(records).records == tuple(records)
    assert ledger("steady.exact", records).records == (records[0],)
    assert ledger(["steady.trend", "steady.exact"], records).records == (records[0], records[4])
    assert ledger(None, records).records == tuple(records)
    assert ledger([]).records == ()
    (fresh,) = theorylab.ledger("steady.drawn", seed=3).records
    assert (fresh.claim, fresh.seed) == ("steady.drawn", 3)
    with pytest.raises(UnknownClaimError, match="did you mean steady"):
        ledger("stedy", records)


# Cards


def test_a_card_shows_statement_source_every_part_and_every_control(toys, toy_claim):
    (made,) = claims("steady.drawn")
    text = repr(show("steady.drawn", verify("steady.drawn")))
    assert text.splitlines()[:4] == [
        "steady.drawn",
        "A normal draw lies within ten of zero.",
        "source: toy2025, Theorem 1; evidence: certified",
        "rests on: steady.exact",
    ]
    assert "control: shifted by a hundred" in text
    assert text.splitlines()[-1] == "verdict: verified"
    assert "no record yet" in repr(Card(made, None))
    assert "control: shifted by a hundred" in repr(Card(made, None))


def test_a_card_of_parts_has_a_row_for_each_and_one_for_each_control(toy_claim):
    parts = AllHold({"first": Equal(1, 1), "second": AtMost(1, 2)})
    made = toy_claim(check=lambda run: parts, positive={"there": lambda run: parts})
    text = repr(show("toy.claim"))
    assert [line.split("  ")[0] for line in text.splitlines()[3:-1]] == [
        *("first", "second", "control: broken", "must hold: there")
    ]
    assert made.id in text


def test_a_card_tells_of_an_error(toy_claim):
    toy_claim(check=lambda run: 1 / 0)
    text = repr(show("toy.claim"))
    assert "ZeroDivisionError: division by zero" in text
    assert text.endswith("verdict: error (expected verified)")


def test_a_card_in_a_notebook_is_one_block_that_links_can_reach(toys):
    text = show("steady.drawn", verify("steady.drawn"))._repr_markdown_()
    assert text.startswith(
        f'<div class="tl-claim tl-claim-verified" id="{anchor("steady.drawn")}">'
    )
    assert text.endswith("</div>")
    assert 'href="steady.html#steady-exact"' in text
    assert "`theorylab verify steady.drawn`" in text
    unrun = Card(claims("steady.drawn")[0], None)._repr_markdown_()
    assert "not yet run" in unrun


def test_nothing_a_claim_says_can_break_out_of_its_card(toy_claim):
    made = toy_claim(source=Source("a_key*", "<b>Theorem</b> $1$"))
    nasty = record(
        verdict="error",
        finding=AllHold({"a|b\nc": Equal("<script>`$|", "x")}),
        error="first\n```\nlast <b>",
    )
    text = Card(made, nasty)._repr_markdown_()
    assert "<script>" not in text.replace("\\<script\\>", "")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [5] * len(rows)
    assert "````text\nfirst\n```\nlast <b>\n````" in text


def test_a_card_is_the_same_on_every_run(toys):
    one, two = (show("steady.drawn", verify("steady.drawn")) for _ in range(2))
    assert repr(one) == repr(two)
    assert one._repr_markdown_() == two._repr_markdown_()


# JSON and JUnit XML


def test_json_holds_every_record(tmp_path):
    assert [Record.from_json(item) for item in json.loads(to_json(RECORDS))] == RECORDS


def test_junit_tells_failures_errors_and_what_was_not_tested():
    suite = ElementTree.fromstring(to_junit(RECORDS))
    assert suite.tag == "testsuite"
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        **{"tests": "6", "failures": "2", "errors": "1", "skipped": "1"}
    }
    assert suite.get("time") == "1.500"
    cases = {case.get("name"): case for case in suite}
    assert {name: [child.tag for child in case] for name, case in cases.items()} == {
        "toy.claim": [],
        "toy.refuted": ["failure"],
        "toy.disproved": [],
        "toy.pending": ["skipped"],
        "toy.late": ["failure"],
        "toy.error": ["error"],
    }
    assert cases["toy.refuted"][0].get("message") == "refuted, expected verified"
    assert cases["toy.refuted"][0].text == "fails: 1 ≠ 2 (exact)"
    assert cases["toy.error"][0].get("message") == "ValueError: no"
    assert cases["toy.error"][0].text == "Traceback\n  File\nValueError: no\n"
    assert {case.get("classname") for case in suite} == {"toy"}


def junit_of(text: str) -> str:
    records = [
        record("toy.a", "error", finding=None, error=text),
        record("toy.b", "refuted", finding=Equal(text, "x")),
        record("toy.c", "pending", "pending", finding=Pending(f"x{text}")),
    ]
    return to_junit(records)


@given(st.text(alphabet=st.characters(), max_size=30))
def test_junit_is_valid_xml_whatever_a_claim_says(text):
    suite = ElementTree.fromstring(junit_of(text).encode())
    assert [child.tag for case in suite for child in case] == ["error", "failure", "skipped"]


def test_junit_of_the_nastiest_text():
    encoded = junit_of(NASTY).encode("utf8")
    assert encoded.startswith(b'<?xml version="1.0" encoding="utf-8"?>')
    suite = ElementTree.fromstring(encoded)
    text = suite[0][0].text or ""
    assert text.startswith("]]> <script>&\"'</script> �� ".replace("��", "��[31m"))
    assert "∞" in text
