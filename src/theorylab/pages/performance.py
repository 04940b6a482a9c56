"""Speed beside named peers: every ratio that was measured, with its target."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theorylab.benchmarks import Growth, Measure, Result, Row, Target, stored_results
from theorylab.pages.notebooks import Chapter, book_folder, chapters
from theorylab.report import aligned

RESULTS = Path("benchmarks") / "results"
_HEAD = ("case", "found", "target", "")
_NOTHING = "No benchmark has been run yet."


def times_as_fast(ratio: float) -> str:
    """A ratio of times, peer over ours, in words.

    Parameters
    ----------
    ratio : float
    """
    if ratio >= 1.05:
        return f"{_rounded(ratio)} times as fast"
    if ratio > 0.95:
        return "as fast"
    return f"takes {_rounded(1 / ratio)} times as long"


def _least_in_words(least: float) -> str:
    """The ratio that is to be reached, in words."""
    if least == 1:
        return "as fast"
    return (
        f"at least {_number(least)} times as fast"
        if least > 1
        else f"at most {_number(1 / least)} times as long"
    )


def _rounded(value: float) -> str:
    """At most three digits, of which none after the point from a hundred on."""
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 100 else f"{value:.2g}"


@dataclass(frozen=True)
class Line:
    """One line of a table: a case or a quantity, what was found, the target, whether it is met."""

    case: str
    found: str
    target: str
    met: bool | None

    @staticmethod
    def of_row(row: Row) -> Line:
        """The ratio of one case, in words."""
        target = "" if row.least is None else _least_in_words(row.least)
        return Line(row.case, times_as_fast(row.ratio), target, row.met)

    @staticmethod
    def of_growth(growth: Growth) -> Line:
        """The exponent with its interval."""
        fit = growth.fit
        found = f"exponent {fit.slope:.2f} ({fit.low:.2f} to {fit.high:.2f})"
        return Line(growth.name, found, _target_text(Target(most=growth.most)), growth.met)

    @staticmethod
    def of_measure(measure: Measure) -> Line:
        """Another number."""
        target = _target_text(Target(measure.least, measure.most))
        return Line(measure.name, _number(measure.value), target, measure.met)

    @property
    def judged(self) -> str:
        """Whether the target is met, in words."""
        return "" if self.met is None else "met" if self.met else "not met"

    def cells(self) -> list[str]:
        """The line as plain text."""
        return [self.case, self.found, self.target, self.judged]


def _number(value: float) -> str:
    return _rounded(value) if abs(value) >= 100 else f"{value:.3g}"


def _target_text(target: Target) -> str:
    bounds = {"at least": target.least, "at most": target.most}
    return ", ".join(f"{word} {_number(b)}" for word, b in bounds.items() if b is not None)


def lines(result: Result) -> list[Line]:
    """Ratios, exponents and other numbers of a result, in this order."""
    return [
        *map(Line.of_row, result.rows),
        *map(Line.of_growth, result.growths),
        *map(Line.of_measure, result.measures),
    ]


@dataclass(frozen=True)
class Performance:
    """Every benchmark beside a peer, under its chapter.

    Times are shown as ratios, never in seconds: these say more about the machine.

    Attributes
    ----------
    results : mapping of str to Result
        By file name, which begins with the slug of the chapter.
    chapters : tuple of Chapter
        In the order of the book; other chapters follow by name.
    """

    results: Mapping[str, Result]
    chapters: tuple[Chapter, ...] = ()

    @staticmethod
    def of_book(folder: str | Path | None = None) -> Performance:
        """The stored results and the chapters of the book in a folder.

        Parameters
        ----------
        folder : path, optional
            By default looked for from the working directory upwards.
        """
        root = book_folder() if folder is None else Path(folder)
        return Performance(dict(stored_results(root / RESULTS)), tuple(chapters(root)))

    def summary(self) -> str:
        """One sentence: how many comparisons and targets, how many of them are met."""
        rows = sum(len(result.rows) for result in self.results.values())
        targets = [met for result in self.results.values() for met in result.targets]
        peers = {result.peer for result in self.results.values()}
        return (
            f"Comparisons: {rows}; peers: {len(peers)}; "
            f"targets met: {sum(targets)} of {len(targets)}."
        )

    def unrecorded(self) -> str:
        """One sentence: for how many results the machine was not recorded; empty if for none."""
        count = sum(not result.machine for result in self.results.values())
        return f"Machine not recorded: {count} of {len(self.results)} results." if count else ""

    def by_chapter(self) -> list[tuple[str, list[tuple[str, Result]]]]:
        """Results of each chapter, by its slug."""
        order = {chapter.slug: place for place, chapter in enumerate(self.chapters)}

        def place(slug: str) -> tuple[int, str]:
            return order.get(slug, len(order)), slug

        found: dict[str, list[tuple[str, Result]]] = {}
        for name, result in sorted(self.results.items()):
            found.setdefault(self._slug(name), []).append((name, result))
        return [(slug, found[slug]) for slug in sorted(found, key=place)]

    def _slug(self, name: str) -> str:
        """The chapter whose slug begins the name; else its first two words."""
        known = [c.slug for c in self.chapters if name.startswith(f"{c.slug}_")]
        return known[0] if known else "_".join(name.split("_")[:2])

    def __repr__(self) -> str:
        if not self.results:
            return _NOTHING
        return "\n\n".join([self.summary(), *map(_text, self.results.values())])

    def _repr_html_(self) -> str:
        if not self.results:
            return f"<p>{_NOTHING}</p>"
        parts = [
            f"<p><strong>{self.summary()}</strong> {self.unrecorded()}</p>",
            self._missed_html(),
        ]
        for slug, entries in self.by_chapter():
            parts.append(f"<h2>{self._heading(slug)}</h2>")
            parts += [_section_html(name, result) for name, result in entries]
        return f'<div class="tl-performance">{"".join(parts)}</div>'

    def _heading(self, slug: str) -> str:
        for chapter in self.chapters:
            if chapter.slug == slug:
                return f'<a href="{slug}.html">{html.escape(chapter.title)}</a>'
        return html.escape(slug.replace("_", " "))

    def _missed_html(self) -> str:
        missed = [
            f'<li><a href="#{_anchor(name)}">{html.escape(result.title)}</a>, '
            f"{html.escape(f'{line.case}: {line.found}; target: {line.target}')}</li>"
            for _, entries in self.by_chapter()
            for name, result in entries
            for line in lines(result)
            if line.met is False
        ]
        return f"<p>Not met:</p><ul>{''.join(missed)}</ul>" if missed else ""


def _anchor(name: str) -> str:
    return "benchmark-" + name.replace("_", "-")


def _peer(result: Result) -> str:
    return f"{result.peer} ({result.peer_version})" if result.peer_version else result.peer


def _text(result: Result) -> str:
    rows = [list(_HEAD), *(line.cells() for line in lines(result))]
    return f"{result.title}, beside {_peer(result)}\n{aligned(rows)}"


def _section_html(name: str, result: Result) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEAD)
    return (
        f'<section id="{_anchor(name)}"><h3>{html.escape(result.title)}</h3>'
        f"<p>Beside <strong>{html.escape(_peer(result))}</strong>. "
        f"Target: {html.escape(result.target or 'none')}.</p>"
        f'<table class="tl-benchmark"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(map(_row_html, lines(result)))}</tbody></table>"
        f"{_machine_html(result)}</section>"
    )


def _machine_html(result: Result) -> str:
    text = machine_text(result.machine)
    return f'<p class="tl-machine">{html.escape(text)}</p>' if text else ""


def _row_html(line: Line) -> str:
    verdict = "" if line.met is None else ' class="tl-met"' if line.met else ' class="tl-missed"'
    labelled = zip(_HEAD[:3], line.cells(), strict=False)
    cells = [f'<td data-label="{name}">{html.escape(cell)}</td>' for name, cell in labelled]
    return f"<tr>{''.join(cells)}<td{verdict}>{line.judged}</td></tr>"


def machine_text(machine: Mapping[str, Any]) -> str:
    """What a result was measured with, in one sentence; empty if it was not recorded.

    Parameters
    ----------
    machine : mapping
        As stored.
    """
    if not machine:
        return ""
    libraries = ", ".join(f"{name} {v}" for name, v in machine.get("libraries", {}).items())
    return (
        f"Measured with Python {machine['python']} on {machine['cpus']} processors "
        f"({machine['system']}), {libraries}."
    )
