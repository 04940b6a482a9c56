"""The whole ledger as one table that a reader can sort and filter."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

from theorylab.claims import find_claim
from theorylab.findings import EVIDENCE, Verdict
from theorylab.records import Record
from theorylab.report import Ledger, anchor, badge, controls_text, link, row_text

_COLUMNS = ("claim", "evidence", "found", "controls", "verdict")
_MARKUP = re.compile(
    r"\$\$(?P<display>.+?)\$\$|\$(?P<inline>.+?)\$|`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>.+?)\*\*|\*(?P<emphasis>[^*\s][^*]*)\*",
    flags=re.DOTALL,
)
_TAGS = {"strong": "strong", "emphasis": "em"}


def statement_html(statement: str) -> str:
    r"""A claim's statement as HTML; formulas are left to MathJax.

    Parameters
    ----------
    statement : str
        Markdown with ``$...$`` and ``$$...$$``, code, emphasis and strong emphasis.
    """
    parts, end = [], 0
    for match in _MARKUP.finditer(statement):
        parts.append(html.escape(statement[end : match.start()]))
        parts.append(_marked(match))
        end = match.end()
    return "".join([*parts, html.escape(statement[end:])]).strip()


def _marked(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    text = html.escape(match[kind])
    if kind == "display":
        return rf'<div class="math notranslate nohighlight">\[{text}\]</div>'
    if kind == "inline":
        return rf'<span class="math notranslate nohighlight">\({text}\)</span>'
    if kind == "code":
        return f"<code>{text}</code>"
    return f"<{_TAGS[kind]}>{statement_html(match[kind])}</{_TAGS[kind]}>"


@dataclass(frozen=True)
class LedgerPage:
    """Every claim of the book in one table.

    The page's own script adds sorting and filtering; without it the table is still complete.
    """

    records: tuple[Record, ...]

    def __repr__(self) -> str:
        return repr(Ledger(self.records))

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
        body = "\n".join(self._row(record) for record in self.records)
        slugs = dict.fromkeys(record.slug for record in self.records)
        found = {record.verdict for record in self.records}
        verdicts = [verdict for verdict in Verdict if verdict in found]
        return (
            '<div class="tl-ledger-page"><div class="tl-controls" role="search">'
            '<input type="search" aria-label="Filter the claims" placeholder="filter by any word">'
            f"{_choice('chapter', slugs)}{_choice('evidence', EVIDENCE)}"
            f"{_choice('verdict', verdicts)}</div>"
            f'<p class="tl-count" aria-live="polite">{len(self.records)} claims</p>'
            '<div class="tl-scroll"><table class="tl-ledger tl-sortable">'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div></div>"
        )

    @staticmethod
    def _row(record: Record) -> str:
        claim = find_claim(record.claim)
        origin = (
            f'<a href="{claim.slug}.html">{claim.slug}</a> · '
            f'<span class="tl-source">{html.escape(str(claim.source))}</span>'
        )
        margin = "" if record.finding is None else html.escape(record.finding.margin_text)
        expected = "" if record.as_expected else f"<br>expected {record.expected}"
        cells = [
            f"{link(claim.id)}<div>{statement_html(claim.statement)}</div><small>{origin}</small>",
            record.evidence,
            f"{html.escape(row_text(record))}<br><small>{margin}</small>",
            controls_text(record),
            badge(record.verdict) + expected,
        ]
        labelled = zip(_COLUMNS, cells, strict=True)
        row = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in labelled)
        return (
            f'<tr id="{anchor(claim.id)}" data-chapter="{claim.slug}" '
            f'data-evidence="{record.evidence}" data-verdict="{record.verdict}" '
            f'data-words="{claim.id} {html.escape(str(claim.source))}">{row}</tr>'
        )


def _choice(name: str, values: Iterable[str]) -> str:
    options = "".join(f"<option>{value}</option>" for value in values)
    return (
        f'<select aria-label="{name}" data-field="{name}">'
        f'<option value="">any {name}</option>{options}</select>'
    )
