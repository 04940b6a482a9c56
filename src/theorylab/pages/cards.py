"""One card per chapter: its picture, its question, its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from theorylab.findings import Verdict
from theorylab.pages.notebooks import Part
from theorylab.records import Record
from theorylab.report import badge

PICTURES = Path("_build") / "pictures"
"""Where the pictures of the cards are kept, below the folder of the book."""


@dataclass(frozen=True)
class ChapterCards:
    """The parts of the book as grids of cards (sphinx-design, in MyST Markdown).

    Parameters
    ----------
    parts : sequence of Part
    records : sequence of Record
        Of all chapters; each card counts its own.
    folder : Path
        The folder of the book; the pictures are written to ``_build/pictures`` in it.
    """

    parts: Sequence[Part]
    records: Sequence[Record]
    folder: Path

    def __repr__(self) -> str:
        return "\n".join(
            f"{chapter.slug}: {chapter.title}" for part in self.parts for chapter in part.chapters
        )

    def _repr_markdown_(self) -> str:
        return "\n".join(self._part(part) for part in self.parts)

    def _part(self, part: Part) -> str:
        cards = [
            self._card(chapter.slug, chapter.title, chapter.question, picture)
            for chapter in part.chapters
            for picture in [chapter.save_picture(self.folder / PICTURES)]
        ]
        grid = ["::::{grid} 1 1 2 2", ":gutter: 3", "", *cards, "::::", ""]
        return "\n".join([f":::{{rubric}} {part.caption}", ":::", "", *grid])

    def _card(self, slug: str, title: str, question: str, picture: Path | None) -> str:
        options = [f":link: {slug}", ":link-type: doc", ":class-card: tl-chapter"]
        if picture is not None:
            place = "/" + picture.relative_to(self.folder).as_posix()
            options += [f":img-top: {place}", f":img-alt: Key picture of the chapter {title}"]
        counts = count_text(record for record in self.records if record.slug == slug)
        options.append(f":footer: {counts}")
        return "\n".join([f":::{{grid-item-card}} {title}", *options, "", question, ":::", ""])


def count_text(records: Iterable[Record]) -> str:
    """How many claims, and how many of each verdict, as badges."""
    counts = Counter(record.verdict for record in records)
    total = counts.total()
    badges = [f"{counts[verdict]} {badge(verdict)}" for verdict in Verdict if counts[verdict]]
    return f"{total} {'claim' if total == 1 else 'claims'}: " + " · ".join(badges or ["none"])
