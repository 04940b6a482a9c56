"""What the pages of the book show beside the chapters: scoreboard, cards, ledger, graph, speed."""

from theorylab.pages.cards import ChapterCards
from theorylab.pages.graph import ClaimGraph
from theorylab.pages.ledger import LedgerPage
from theorylab.pages.notebooks import Chapter, Part, book_folder, chapters, parts
from theorylab.pages.performance import Performance
from theorylab.pages.reruns import Comparison, own_records, records
from theorylab.pages.scoreboard import Scoreboard

__all__ = [
    "Chapter",
    "ChapterCards",
    "ClaimGraph",
    "Comparison",
    "LedgerPage",
    "Part",
    "Performance",
    "Scoreboard",
    "book_folder",
    "chapters",
    "own_records",
    "parts",
    "records",
]
