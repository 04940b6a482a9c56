"""How many claims, by evidence and by verdict."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass

from theorylab.findings import EVIDENCE, Verdict
from theorylab.records import Record
from theorylab.report import aligned, badge, summary


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
        return (
            f'<div class="tl-tiles">{self._tiles()}</div>{self._table()}'
            f"<p>{html.escape(summary(self.records))}</p>"
        )

    def _tiles(self) -> str:
        total = Counter(record.verdict for record in self.records)
        tiles = [("claims", len(self.records), "tl-all")]
        tiles += [(verdict, total[verdict], f"tl-{verdict}") for verdict in Verdict]
        return "".join(
            f'<div class="tl-tile {name}"><b>{count}</b><span>{label}</span></div>'
            for label, count, name in tiles
            if count or name == "tl-all"
        )

    def _table(self) -> str:
        """Verdicts that occur as columns, one row per kind of evidence."""
        counts = self.counts()
        shown = [verdict for verdict in Verdict if any(c[verdict] for c in counts.values())]
        names = ["evidence", "claims", *map(badge, shown)]
        head = "".join(f'<th scope="col">{name}</th>' for name in names)
        body = "".join(
            f'<tr><th scope="row">{kind}</th><td>{found.total()}</td>'
            + "".join(f"<td>{found[verdict] or ''}</td>" for verdict in shown)
            + "</tr>"
            for kind, found in counts.items()
        )
        return (
            '<div class="tl-scroll" style="overflow-x:auto"><table class="tl-scoreboard">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )
