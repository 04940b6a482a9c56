"""Which claim rests on which, drawn with today's verdicts."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

from theorylab.claims import find_claim
from theorylab.findings import Verdict
from theorylab.records import Record
from theorylab.report import VERDICT_COLOURS, anchor, badge

_WIDTH, _HEIGHT = 196, 28
_STEP_X, _STEP_Y = 236, 38
_HEADING = 34
_FEWEST_COLUMNS = 3
_LONGEST_NAME = 27
_MARKS = {
    Verdict.VERIFIED: "✓",
    Verdict.REFUTED: "✗",
    Verdict.UNSOUND: "!",
    Verdict.INCONCLUSIVE: "?",
    Verdict.PENDING: "…",
    Verdict.ERROR: "⚠",
}
"""So that nothing is told by colour alone."""

Place = tuple[int, int]


@dataclass(frozen=True)
class _Drawing:
    """Where every claim and every chapter's heading stands, in pixels."""

    claims: dict[str, Place]
    headings: dict[str, int]
    width: int
    height: int


@dataclass(frozen=True)
class ClaimGraph:
    """Claims and what they rest on, chapter by chapter.

    A claim stands to the right of those it uses; claims that neither use nor are used follow
    below them.
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

    def _layers(self) -> list[list[str]]:
        """Connected claims by the length of the longest chain below them.

        Within a layer they are ordered by the mean row of the claims they use, which keeps lines
        from crossing more than they must.
        """
        import networkx as nx

        graph = nx.DiGraph(self.edges())
        book_order = {record.claim: row for row, record in enumerate(self.records)}
        rows: dict[str, float] = {}
        layers = []
        for generation in nx.topological_generations(graph):
            used = {name: [rows[u] for u in graph.predecessors(name)] for name in generation}
            layer = sorted(
                generation,
                key=lambda name: (
                    sum(used[name]) / len(used[name]) if used[name] else 0.0,
                    book_order[name],
                ),
            )
            rows.update({name: row for row, name in enumerate(layer)})
            layers.append(layer)
        return layers

    def _drawing(self) -> _Drawing:
        layers = self._layers()
        columns = max(len(layers), _FEWEST_COLUMNS)
        claims: dict[str, Place] = {}
        headings: dict[str, int] = {}
        y = 0
        for slug in dict.fromkeys(record.slug for record in self.records):
            headings[slug] = y
            y += _HEADING
            for name, column, row in self._cells(slug, layers, columns):
                claims[name] = (column * _STEP_X, y + row * _STEP_Y)
            y = max(place[1] for place in claims.values()) + _STEP_Y + 10
        return _Drawing(claims, headings, (columns - 1) * _STEP_X + _WIDTH, y)

    def _cells(
        self, slug: str, layers: list[list[str]], columns: int
    ) -> Iterator[tuple[str, int, int]]:
        """Column and row of each claim of a chapter within the chapter's own band."""
        own = [[name for name in layer if name.startswith(f"{slug}.")] for layer in layers]
        for column, names in enumerate(own):
            yield from ((name, column, row) for row, name in enumerate(names))
        connected = {name for names in own for name in names}
        alone = [r.claim for r in self.records if r.slug == slug and r.claim not in connected]
        first = max((len(names) for names in own), default=0)
        for index, name in enumerate(alone):
            yield name, index % columns, first + index // columns

    def _repr_html_(self) -> str:
        if not self.records:
            return "<p>No claim yet.</p>"
        drawing = self._drawing()
        where = drawing.claims
        verdicts = {record.claim: record.verdict for record in self.records}
        lines = "".join(_line(where[used], where[user]) for used, user in self.edges())
        boxes = "".join(_box(name, where[name], verdicts[name]) for name in where)
        headings = "".join(
            f'<a href="{slug}.html"><text class="tl-heading" x="0" y="{y + 20}">{slug}</text></a>'
            for slug, y in drawing.headings.items()
        )
        shown = [verdict for verdict in Verdict if verdict in verdicts.values()]
        legend = " ".join(f"{_MARKS[verdict]} {badge(verdict)}" for verdict in shown)
        size = f'width="{drawing.width + 2}" height="{drawing.height}"'
        view = f'viewBox="-1 0 {drawing.width + 2} {drawing.height}"'
        return (
            f'<p class="tl-legend">{legend}</p><div class="tl-scroll tl-graph" tabindex="0">'
            f'<svg role="img" aria-label="Which claim rests on which" {size} {view}>'
            f"{headings}{lines}{boxes}</svg></div>"
        )


def _line(start: Place, end: Place) -> str:
    x0, y0 = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    x1, y1 = end[0], end[1] + _HEIGHT // 2
    bend = max((x1 - x0) // 2, 20)
    return f'<path d="M{x0} {y0}C{x0 + bend} {y0} {x1 - bend} {y1} {x1} {y1}"/>'


def _box(name: str, place: Place, verdict: Verdict) -> str:
    slug, short = name.split(".", 1)
    fits = len(short) <= _LONGEST_NAME
    text = html.escape(short if fits else short[: _LONGEST_NAME - 1] + "…")
    x, y = place
    return (
        f'<a href="{slug}.html#{anchor(name)}"><title>{name}: {verdict}</title>'
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" '
        f'fill="{VERDICT_COLOURS[verdict]}"/><text x="{x + 8}" y="{y + 18}" fill="#fff">'
        f"{_MARKS[verdict]} {text}</text></a>"
    )
