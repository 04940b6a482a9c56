"""What the pages of the book show beside the chapters: scoreboard, whole ledger, claim graph."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from theorylab.claims import find_claim
from theorylab.findings import EVIDENCE, Verdict
from theorylab.records import Record
from theorylab.report import (
    VERDICT_COLOURS,
    Ledger,
    aligned,
    anchor,
    badge,
    controls_text,
    row_text,
    summary,
)

_BOX = (190, 26)
_STEP = (230, 40)


@dataclass(frozen=True)
class LedgerPage:
    """Every claim of the book in one table that a reader can sort and filter."""

    records: tuple[Record, ...]

    def __repr__(self) -> str:
        return repr(Ledger(self.records))

    def _repr_html_(self) -> str:
        columns = ("claim", "chapter", "evidence", "source", "found", "controls", "verdict")
        head = "".join(f"<th>{name}</th>" for name in columns)
        body = "\n".join(self._row(record) for record in self.records)
        choices = self._choice("evidence", 2, EVIDENCE) + self._choice(
            "verdict", 6, map(str, Verdict)
        )
        return (
            '<div class="tl-ledger-page"><div class="tl-controls">'
            '<input type="search" aria-label="Filter the claims" placeholder="filter">'
            f'{choices}</div><p class="tl-count" aria-live="polite"></p>'
            '<div class="tl-scroll"><table class="tl-ledger tl-sortable">'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div></div>"
        )

    @staticmethod
    def _choice(name: str, column: int, values: Iterable[str]) -> str:
        options = "".join(f"<option>{value}</option>" for value in values)
        return (
            f'<select aria-label="{name}" data-column="{column}">'
            f'<option value="">any {name}</option>{options}</select>'
        )

    @staticmethod
    def _row(record: Record) -> str:
        slug, name = record.claim.split(".", 1)
        link = f'<a href="{slug}.html#{anchor(record.claim)}"><code>{html.escape(name)}</code></a>'
        cells = [
            link,
            f'<a href="{slug}.html">{slug}</a>',
            record.evidence,
            html.escape(str(find_claim(record.claim).source)),
            html.escape(row_text(record)),
            controls_text(record),
            badge(record.verdict),
        ]
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        return f'<tr id="{anchor(record.claim)}">{row}</tr>'


@dataclass(frozen=True)
class Scoreboard:
    """How many claims, by evidence and verdict."""

    records: tuple[Record, ...]

    def counts(self) -> dict[str, Counter[Verdict]]:
        """Verdicts per kind of evidence."""
        found: dict[str, Counter[Verdict]] = {kind: Counter() for kind in EVIDENCE}
        for record in self.records:
            found.setdefault(record.evidence, Counter())[record.verdict] += 1
        return found

    def __repr__(self) -> str:
        rows = [["evidence", "claims", "verified"]]
        for kind, counts in self.counts().items():
            rows.append([kind, str(counts.total()), str(counts[Verdict.VERIFIED])])
        return f"{aligned(rows)}\n{summary(self.records)}"

    def _repr_html_(self) -> str:
        table = _counts_table("evidence", self.counts())
        return f"{table}<p>{html.escape(summary(self.records))}</p>"

    def chapters(self) -> ChapterTable:
        """The same records, counted by chapter."""
        return ChapterTable(self.records)


@dataclass(frozen=True)
class ChapterTable:
    """How many claims each chapter has, and how many of them have which verdict."""

    records: tuple[Record, ...]

    def counts(self) -> dict[str, Counter[Verdict]]:
        """Verdicts per chapter."""
        found: dict[str, Counter[Verdict]] = {}
        for record in self.records:
            found.setdefault(record.slug, Counter())[record.verdict] += 1
        return found

    def __repr__(self) -> str:
        rows = [["chapter", "claims", "verified"]]
        for slug, counts in self.counts().items():
            rows.append([slug, str(counts.total()), str(counts[Verdict.VERIFIED])])
        return aligned(rows)

    def _repr_html_(self) -> str:
        links = {slug: f'<a href="{slug}.html">{slug}</a>' for slug in self.counts()}
        return _counts_table("chapter", {links[s]: c for s, c in self.counts().items()})


def _counts_table(name: str, counts: dict[str, Counter[Verdict]]) -> str:
    """Verdicts that occur as columns, one row per key; keys are HTML."""
    shown = [verdict for verdict in Verdict if any(c[verdict] for c in counts.values())]
    head = "".join(f"<th>{badge(verdict)}</th>" for verdict in shown)
    body = "".join(
        f"<tr><td>{key}</td><td>{found.total()}</td>"
        + "".join(f"<td>{found[verdict] or ''}</td>" for verdict in shown)
        + "</tr>"
        for key, found in counts.items()
    )
    return (
        '<div class="tl-scroll" style="overflow-x:auto"><table class="tl-scoreboard">'
        f"<thead><tr><th>{name}</th><th>claims</th>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


@dataclass(frozen=True)
class ClaimGraph:
    """Claims and what they rest on, as a drawing coloured by today's verdicts.

    A claim stands to the right of those it uses. Claims that neither use nor are used are left
    out.
    """

    records: tuple[Record, ...]

    def edges(self) -> list[tuple[str, str]]:
        """Pairs (used, user) among the claims of the records."""
        known = {record.claim for record in self.records}
        return [
            (used, record.claim)
            for record in self.records
            for used in find_claim(record.claim).uses
            if used in known
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{used} → {user}" for used, user in self.edges()) or "no dependencies"

    def _positions(self) -> dict[str, tuple[int, int]]:
        import networkx as nx

        graph = nx.DiGraph(self.edges())
        return {
            name: (column * _STEP[0], row * _STEP[1])
            for column, layer in enumerate(nx.topological_generations(graph))
            for row, name in enumerate(sorted(layer))
        }

    def _repr_html_(self) -> str:
        where = self._positions()
        if not where:
            return "<p>No claim rests on another one.</p>"
        verdicts = {record.claim: record.verdict for record in self.records}
        width = max(x for x, _ in where.values()) + _BOX[0] + 2
        height = max(y for _, y in where.values()) + _BOX[1] + 2
        lines = "".join(self._line(where[used], where[user]) for used, user in self.edges())
        boxes = "".join(self._box(name, at, verdicts[name]) for name, at in where.items())
        return (
            '<div class="tl-scroll tl-graph"><svg role="img" aria-label="Which claim rests on '
            f'which" width="{width}" height="{height}" viewBox="-1 -1 {width} {height}">'
            f"{lines}{boxes}</svg></div>"
        )

    @staticmethod
    def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
        x0, y0 = start[0] + _BOX[0], start[1] + _BOX[1] // 2
        x1, y1 = end[0], end[1] + _BOX[1] // 2
        middle = (x0 + x1) // 2
        path = f"M{x0} {y0}C{middle} {y0} {middle} {y1} {x1} {y1}"
        return f'<path d="{path}" fill="none" stroke="#8a8a8a" stroke-width="1.5"/>'

    @staticmethod
    def _box(name: str, at: tuple[int, int], verdict: Verdict) -> str:
        slug, short = name.split(".", 1)
        x, y = at
        return (
            f'<a href="{slug}.html#{anchor(name)}"><title>{name}: {verdict}</title>'
            f'<rect x="{x}" y="{y}" width="{_BOX[0]}" height="{_BOX[1]}" rx="6" '
            f'fill="{VERDICT_COLOURS[verdict]}"/><text x="{x + _BOX[0] // 2}" '
            f'y="{y + _BOX[1] // 2 + 4}" text-anchor="middle" fill="#fff">'
            f"{html.escape(short)}</text></a>"
        )
