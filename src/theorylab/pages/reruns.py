"""The book's records where every page finds them, and a rerun beside the book's own run."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from pathlib import Path

from theorylab.findings import Finding
from theorylab.pages.notebooks import chapters
from theorylab.records import Record, RecordsError, load_records, run_folder
from theorylab.report import aligned, badge, link
from theorylab.reruns import FOLDER_VARIABLE
from theorylab.run import Run
from theorylab.verify import verify

_HEAD = ("claim", "the book's run", "this run", "the book found", "this run found", "memory")
_NOTHING = "This site shows the book's own run: there is no other run to compare it with."


def records(workers: int = 2) -> tuple[Record, ...]:
    """Records of all chapters of the book, each in the run that is meant for it.

    Parameters
    ----------
    workers : int
        Worker processes for what has not been computed yet.
    """
    found = [verify(chapter.slug, workers=workers) for chapter in chapters()]
    return tuple(record for chapter in found for record in chapter)


def own_records(folder: str | Path | None = None) -> tuple[Record, ...]:
    """Records of the book's own run (``ci``, ``cpu``, seed 0) in a records folder.

    Parameters
    ----------
    folder : path, optional
        By default the one that ``THEORYLAB_RECORDS`` names; none there are no records.
    """
    root = os.environ.get(FOLDER_VARIABLE, "") if folder is None else folder
    if not root:
        return ()
    try:
        return tuple(load_records(run_folder(Path(root), Run())))
    except RecordsError:
        return ()


@dataclass(frozen=True)
class Comparison:
    """Claims that were computed in another run than the book's own, beside that one.

    Attributes
    ----------
    records : tuple of Record
        Of this site.
    own : tuple of Record
        Of the book's own run.
    """

    records: tuple[Record, ...]
    own: tuple[Record, ...]

    def pairs(self) -> list[tuple[Record, Record | None]]:
        """Each record of another run, with the book's own record of that claim if there is one."""
        own = {record.claim: record for record in self.own}
        return [(r, own.get(r.claim)) for r in self.records if _run_of(r) != Run()]

    def __repr__(self) -> str:
        pairs = self.pairs()
        if not pairs:
            return _NOTHING
        rows = [_cells(record, own) for record, own in pairs]
        return f"{self._runs()}\n{aligned([list(_HEAD), *rows])}"

    def _repr_html_(self) -> str:
        pairs = self.pairs()
        if not pairs:
            return f"<p>{html.escape(_NOTHING)}</p>"
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in _HEAD)
        return (
            f"<p>{html.escape(self._runs())}</p>"
            '<div class="tl-scroll" style="overflow-x:auto"><table class="tl-ledger">'
            f"<thead><tr>{head}</tr></thead><tbody>"
            f"{''.join(_html_row(record, own) for record, own in pairs)}</tbody></table></div>"
        )

    def _runs(self) -> str:
        pairs = self.pairs()
        runs = dict.fromkeys(run_folder(Path(), _run_of(record)).name for record, _ in pairs)
        changed = sum(own is not None and own.verdict != record.verdict for record, own in pairs)
        return f"claims of the run {', '.join(runs)}: {len(pairs)}, with another verdict: {changed}"


def _run_of(record: Record) -> Run:
    return Run(record.scale, record.device, record.seed)


def _cells(record: Record, own: Record | None) -> list[str]:
    return [
        record.claim,
        "not computed" if own is None else str(own.verdict),
        str(record.verdict),
        "" if own is None else _measured(own.finding),
        _measured(record.finding),
        "" if record.device_bytes is None else f"{record.device_bytes / 2**30:.1f} GiB",
    ]


def _measured(finding: Finding | None) -> str:
    return "" if finding is None else finding.measured_text


def _html_row(record: Record, own: Record | None) -> str:
    cells = [html.escape(cell) for cell in _cells(record, own)]
    cells[0] = link(record.claim)
    if own is not None:
        cells[1] = badge(own.verdict)
    cells[2] = badge(record.verdict)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
