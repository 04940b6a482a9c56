"""The ledger as a person or a machine reads it: terminal, notebook, site, JUnit XML, JSON."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from theorylab.claims import Claim, Selection, claims, find_claim
from theorylab.findings import Finding, Verdict
from theorylab.records import ControlRecord, Record, last_line
from theorylab.verify import verify

VERDICT_COLOURS = {
    Verdict.VERIFIED: "#0b6e4f",
    Verdict.REFUTED: "#a63a00",
    Verdict.UNSOUND: "#8c2f6b",
    Verdict.INCONCLUSIVE: "#7a5b00",
    Verdict.PENDING: "#4a5a6a",
    Verdict.ERROR: "#b00020",
}
"""Dark enough for white text at a contrast above 4.5."""

LONGEST_CELL = 100


def badge(verdict: Verdict) -> str:
    """A verdict as a small HTML label that needs no style sheet."""
    style = (
        f"background:{VERDICT_COLOURS[Verdict(verdict)]};color:#fff;border-radius:0.6em;"
        "padding:0.05em 0.6em;font-size:0.85em;white-space:nowrap"
    )
    return f'<span class="tl-verdict tl-{verdict}" style="{style}">{verdict}</span>'


def controls_text(record: Record) -> str:
    """How many of the controls came out as they must."""
    as_they_must = sum(control.as_it_must for control in record.controls)
    return f"{as_they_must} of {len(record.controls)}" if record.controls else "–"


def _finding_text(finding: Finding | None) -> str:
    if finding is None:
        return "–"
    return f"{finding.measured_text} {finding.predicted_text}"


def _margin_text(finding: Finding | None) -> str:
    return "" if finding is None else finding.margin_text


def _shortened(error: str) -> str:
    """What was raised, at a length that fits a table."""
    line = last_line(error)
    return line if len(line) <= LONGEST_CELL else f"{line[: LONGEST_CELL - 2]} …"


def row_text(record: Record) -> str:
    """What was found, in one cell: the finding, or the last line of the error."""
    return _shortened(record.error) if record.error else _finding_text(record.finding)


def _row(record: Record) -> list[str]:
    return [
        record.claim,
        record.evidence,
        row_text(record),
        _margin_text(record.finding),
        controls_text(record),
    ]


_HEADER = ["claim", "evidence", "found", "margin", "controls as they must be", "verdict"]


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of equal length as text in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def summary(records: Iterable[Record]) -> str:
    """One sentence: how many claims, how many with each verdict, how many not as expected."""
    found = list(records)
    counts = Counter(record.verdict for record in found)
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    unexpected = sum(not record.as_expected for record in found)
    plural = "claim" if len(found) == 1 else "claims"
    ending = "every verdict as expected" if not unexpected else f"{unexpected} not as expected"
    return f"{len(found)} {plural}: {words or 'none'}; {ending}"


@dataclass(frozen=True)
class Ledger:
    """Records as a table; rendered as HTML in a notebook and as text elsewhere.

    Running times are left out and values are rounded, so that the text is the same on every
    machine.
    """

    records: tuple[Record, ...]

    def __repr__(self) -> str:
        rows = [_HEADER, *([*_row(r), self._verdict_text(r)] for r in self.records)]
        return f"{aligned(rows)}\n{summary(self.records)}"

    @staticmethod
    def _verdict_text(record: Record) -> str:
        note = "" if record.as_expected else f" (expected {record.expected})"
        return f"{record.verdict}{note}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _HEADER)
        body = "\n".join(self._html_row(record) for record in self.records)
        return (
            '<div class="tl-scroll" style="overflow-x:auto"><table class="tl-ledger">\n'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
            f"<p>{html.escape(summary(self.records))}</p>"
        )

    @staticmethod
    def _html_row(record: Record) -> str:
        name, *others = _row(record)
        short = html.escape(name.split(".", 1)[1])
        cells = [f'<a href="#{anchor(record.claim)}"><code>{short}</code></a>']
        cells += [html.escape(cell) for cell in others]
        note = "" if record.as_expected else f"<br>expected {record.expected}"
        cells.append(badge(record.verdict) + note)
        return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _pick(records: Iterable[Record], selection: Selection) -> list[Record]:
    if selection is None:
        return list(records)
    wanted = {claim.id for claim in claims(selection)}
    return [record for record in records if record.claim in wanted]


def ledger(
    selection: str | Iterable[str] | Iterable[Record] | None = None,
    records: Iterable[Record] | None = None,
    **options: Any,
) -> Ledger:
    """The ledger of some claims.

    Parameters
    ----------
    selection : str, iterable of str, or records, optional
        A claim id, slug, glob or several of these; or records to render as they are.
    records : iterable of Record, optional
        Records to choose from; without them the claims are verified now.
    **options
        Passed on to ``verify``.

    Returns
    -------
    Ledger
        Rendered as HTML in a notebook and as a table in a terminal.
    """
    items = [selection] if isinstance(selection, str) else list(selection or ())
    ready = [item for item in items if isinstance(item, Record)]
    if ready:
        return Ledger(tuple(ready))
    patterns = None if selection is None else [item for item in items if isinstance(item, str)]
    found = verify(patterns, **options) if records is None else _pick(records, patterns)
    return Ledger(tuple(found))


@dataclass(frozen=True)
class Card:
    """One claim with its record: statement, source, finding, controls, verdict."""

    claim: Claim
    record: Record | None

    def __repr__(self) -> str:
        lines = [
            f"{self.claim.id}",
            self.claim.statement.strip(),
            f"source: {self.claim.source}; evidence: {self.claim.evidence}",
        ]
        if self.claim.uses:
            lines.append(f"rests on: {', '.join(self.claim.uses)}")
        if self.record is None:
            names = [f"  control: {control.name}" for control in self.claim.controls]
            return "\n".join([*lines, *names, "no record yet"])
        rows = [list(row) for row in self._rows(self.record)]
        verdict = Ledger._verdict_text(self.record)
        return "\n".join([*lines, aligned(rows), *self._error_lines(), f"verdict: {verdict}"])

    def _error_lines(self) -> list[str]:
        return [self.record.error.strip()] if self.record is not None and self.record.error else []

    @staticmethod
    def _rows(record: Record) -> list[tuple[str, str, str, str]]:
        rows = _leaf_rows("finding", record.finding)
        for control in record.controls:
            rows += _leaf_rows(_control_name(control), control.finding, brief=True)
        return rows or [("finding", "–", "", "")]

    def _repr_markdown_(self) -> str:
        """Markdown inside one ``div``: it carries the anchor that ledger and graph link to."""
        verdict = "unrun" if self.record is None else str(self.record.verdict)
        parts = [
            f'<div class="tl-claim tl-claim-{verdict}" id="{anchor(self.claim.id)}">',
            f"**`{self.claim.id}`** {self._verdict_markdown()}",
            self.claim.statement.strip(),
            *self._table_markdown(),
            *map(_fenced, self._error_lines()),
            self._origin_markdown(),
            "</div>",
        ]
        return "\n\n".join(parts)

    def _verdict_markdown(self) -> str:
        if self.record is None:
            return "not yet run"
        note = "" if self.record.as_expected else f" (expected {self.record.expected})"
        return badge(self.record.verdict) + note

    def _table_markdown(self) -> list[str]:
        if self.record is None:
            return []
        rows = ["| | found | | margin |", "| --- | --- | --- | --- |"]
        rows += ["| " + " | ".join(map(_escape, row)) + " |" for row in self._rows(self.record)]
        return ["\n".join(rows)]

    def _origin_markdown(self) -> str:
        source = f'<span class="tl-source">*{_escape(str(self.claim.source))}*</span>'
        parts = [source, f"{self.claim.evidence} evidence"]
        if self.claim.uses:
            parts.append("rests on " + ", ".join(map(link, self.claim.uses)))
        parts.append(f"`theorylab verify {self.claim.id}`")
        return " · ".join(parts)


def anchor(claim_id: str) -> str:
    """The HTML id of a claim's card in its chapter."""
    return claim_id.replace(".", "-").replace("_", "-")


def link(claim_id: str) -> str:
    """HTML link to a claim's card, from any page of its folder."""
    slug, short = claim_id.split(".", 1)
    return f'<a href="{slug}.html#{anchor(claim_id)}"><code>{html.escape(short)}</code></a>'


def _escape(text: str) -> str:
    """Plain text inside a Markdown table."""
    for character in "\\|*_`$<>[]&~":
        text = text.replace(character, "\\" + character)
    return " ".join(text.splitlines())


def _fenced(text: str) -> str:
    """A Markdown block of plain text, with a fence longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}text\n{text}\n{fence}"


def _control_name(control: ControlRecord) -> str:
    return f"{'must hold' if control.must_hold else 'control'}: {control.name}"


def _leaf_rows(
    name: str, finding: Finding | None, brief: bool = False
) -> list[tuple[str, str, str, str]]:
    """One row per leaf; ``brief`` keeps the most telling one, with the count in the margin."""
    if finding is None:
        return []
    if brief:
        return [(name, finding.measured_text, finding.predicted_text, finding.margin_text)]
    return [
        (leaf_name or name, leaf.measured_text, leaf.predicted_text, leaf.margin_text)
        for leaf_name, leaf in finding.leaves()
    ]


def show(claim_id: str, records: Iterable[Record] | None = None) -> Card:
    """The card of one claim.

    Parameters
    ----------
    claim_id : str
    records : iterable of Record, optional
        Where to look for its record; without them the claim is verified now.
    """
    claim = find_claim(claim_id)
    found = verify(claim_id) if records is None else records
    return Card(claim, next((record for record in found if record.claim == claim_id), None))


def to_json(records: Iterable[Record]) -> str:
    """Records as a JSON document."""
    return json.dumps([record.to_json() for record in records], indent=1, ensure_ascii=False)


def to_junit(records: Iterable[Record]) -> str:
    """Records as JUnit XML.

    A verdict that is not expected is a failure, an error an error, and a claim that is pending as
    expected is skipped: it was not tested.
    """
    found = list(records)
    suite = ElementTree.Element(
        "testsuite",
        name="theorylab",
        tests=str(len(found)),
        failures=str(sum(not r.as_expected and r.verdict is not Verdict.ERROR for r in found)),
        errors=str(sum(r.verdict is Verdict.ERROR for r in found)),
        skipped=str(sum(r.verdict is Verdict.PENDING and r.as_expected for r in found)),
        time=f"{sum(r.seconds for r in found):.3f}",
    )
    for record in found:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=record.slug,
            name=record.claim,
            time=f"{record.seconds:.3f}",
        )
        if record.verdict is Verdict.ERROR:
            message = _printable(last_line(record.error))
            problem = ElementTree.SubElement(case, "error", message=message)
            problem.text = _printable(record.error)
        elif not record.as_expected:
            message = f"{record.verdict}, expected {record.expected}"
            problem = ElementTree.SubElement(case, "failure", message=message)
            problem.text = _printable(str(record.finding))
        elif record.verdict is Verdict.PENDING:
            message = _printable(_finding_text(record.finding))
            ElementTree.SubElement(case, "skipped", message=message)
    body = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _printable(text: str) -> str:
    """Text without the characters that XML 1.0 forbids."""
    return re.sub("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text)
