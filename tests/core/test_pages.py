"""Pages made from records: what the index, the ledger page and the graph show."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from theorylab.claims import Claim, Source
from theorylab.findings import Equal, Verdict
from theorylab.pages import ChapterCards, ClaimGraph, LedgerPage, Scoreboard, book_folder
from theorylab.pages.ledger import statement_html
from theorylab.pages.notebooks import Part, parts, read_chapter
from theorylab.records import Record

PICTURE = b"\x89PNG and so on"


def record(claim: str, verdict: str = "verified", evidence: str = "exact") -> Record:
    return Record(claim, Verdict(verdict), Verdict.VERIFIED, Equal(1, 1), evidence=evidence)


def notebook(*cells: str, picture: bytes | None = None) -> str:
    markdown = [{"cell_type": "markdown", "source": cell.splitlines(True)} for cell in cells]
    data = {} if picture is None else {"image/png": base64.b64encode(picture).decode()}
    code = {"cell_type": "code", "source": "1", "outputs": [{"data": data}]}
    return json.dumps({"cells": [*markdown, code]})


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A folder with a table of contents and the notebook of one of its chapters."""
    chapters = tmp_path / "chapters"
    chapters.mkdir()
    text = notebook(
        "(top)=\n# The title", "![](x.png)\n\nTwo *words*.\nIs it so? Perhaps.", picture=PICTURE
    )
    (chapters / "missing_mass.ipynb").write_text(text)
    (chapters / "reading.md").write_text("# Reading")
    (tmp_path / "_toc.yml").write_text(
        "root: chapters/index\nparts:\n"
        "  - {caption: Front, chapters: [{file: chapters/reading}]}\n"
        "  - {caption: One, chapters: [{file: chapters/missing_mass}, {file: chapters/absent}]}\n"
        "  - {caption: Back, chapters: [{glob: chapters/library/*}]}\n"
    )
    return tmp_path


# Notebooks


def test_only_notebooks_of_installed_chapters_count(book: Path):
    (part,) = parts(book)
    (chapter,) = part.chapters
    assert (part.caption, chapter.slug, chapter.title) == ("One", "missing_mass", "The title")
    assert chapter.question == "Two *words*. Is it so?"
    assert chapter.picture == PICTURE


def test_the_folder_of_the_book_is_found_from_within(book: Path):
    assert book_folder(book / "chapters") == book
    with pytest.raises(FileNotFoundError, match=r"_toc\.yml"):
        book_folder("/")


@pytest.mark.parametrize("text", ["", "[]", '{"cells": 1}', '{"nbformat": 4}'])
def test_what_is_no_notebook_is_told_of(tmp_path: Path, text: str):
    path = tmp_path / "a.ipynb"
    path.write_text(text)
    with pytest.raises(ValueError, match="is not a notebook"):
        read_chapter(path)


def test_a_notebook_needs_a_heading(tmp_path: Path):
    path = tmp_path / "a.ipynb"
    path.write_text(notebook("## Second level"))
    with pytest.raises(ValueError, match="no heading of level 1"):
        read_chapter(path)


def test_a_chapter_may_be_without_question_and_picture(tmp_path: Path):
    path = tmp_path / "a.ipynb"
    path.write_text(notebook("# Title"))
    chapter = read_chapter(path)
    assert (chapter.question, chapter.picture) == ("", None)
    assert chapter.save_picture(tmp_path / "pictures") is None
    assert not (tmp_path / "pictures").exists()


# Cards and scoreboard


def test_a_card_counts_its_own_claims_and_shows_its_picture(book: Path):
    records = [
        record("missing_mass.a"),
        record("missing_mass.b", "refuted"),
        record("missing_mass.c"),
        record("total_variation.a"),
    ]
    text = ChapterCards(parts(book), records, book)._repr_markdown_()
    assert (book / "_build/pictures/missing_mass.png").read_bytes() == PICTURE
    assert ":img-top: /_build/pictures/missing_mass.png" in text
    assert ":link: missing_mass\n" in text
    footer = re.sub("<[^>]*>", "", re.search(":footer: (.*)", text)[1])  # type: ignore[index]
    assert footer == "3 claims: 2 verified · 1 refuted"


def test_parts_without_chapters_have_no_cards(book: Path):
    assert (
        ChapterCards([Part("Empty", ())], [], book)._repr_markdown_().count("grid-item-card") == 0
    )


def test_the_scoreboard_counts_by_evidence():
    board = Scoreboard((record("a.b"), record("a.c", "refuted", "trend"), record("a.d")))
    assert board.counts()["exact"] == {Verdict.VERIFIED: 2}
    assert board.counts()["trend"] == {Verdict.REFUTED: 1}
    assert board.counts()["certified"].total() == 0
    page = board._repr_html_()
    tiles = re.findall(r"<b>(\d+)</b><span>(\w+)</span>", page)
    assert tiles == [("3", "claims"), ("2", "verified"), ("1", "refuted")]
    assert "3 claims: 2 verified, 1 refuted; 1 not as expected" in page


# The ledger page


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("a < b & c", "a &lt; b &amp; c"),
        ("$a<b$", r'<span class="math notranslate nohighlight">\(a&lt;b\)</span>'),
        ("$$x$$ z", r'<div class="math notranslate nohighlight">\[x\]</div> z'),
        ("`f(*a)` and *so*", "<code>f(*a)</code> and <em>so</em>"),
        (
            "**all $p$**",
            r'<strong>all <span class="math notranslate nohighlight">\(p\)</span></strong>',
        ),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_statements_keep_their_formulas(statement: str, shown: str):
    assert statement_html(statement) == shown


def test_a_row_tells_where_the_claim_comes_from(toy_claim: Callable[..., Claim]):
    toy_claim("toy.first", statement="One $<$ two.", source=Source('a"b', "Theorem 1"))
    row = LedgerPage((record("toy.first"),))._row(record("toy.first"))
    tree = ElementTree.fromstring(row.replace("<br>", "<br/>"))
    assert tree.attrib["id"] == "toy-first"
    assert tree.attrib["data-chapter"] == "toy"
    assert tree.attrib["data-words"] == 'toy.first a"b, Theorem 1'
    links = [node.attrib["href"] for node in tree.iter("a")]
    assert links == ["toy.html#toy-first", "toy.html"]
    assert next(tree.iter("span")).text == r"\(<\)"


# The graph


@pytest.fixture
def chain(toy_claim: Callable[..., Claim]) -> tuple[Record, ...]:
    """Two chapters: a.one <- a.two <- b.three, and b.alone."""
    toy_claim("a.one")
    toy_claim("a.two", uses=["a.one"])
    toy_claim("b.three", uses=["a.two", "a.one", "elsewhere.claim"])
    toy_claim("b.alone")
    return tuple(map(record, ("a.one", "a.two", "b.three", "b.alone")))


def test_edges_stay_among_the_claims_that_are_shown(chain: tuple[Record, ...]):
    edges = [("a.one", "a.two"), ("a.two", "b.three"), ("a.one", "b.three")]
    assert ClaimGraph(chain).edges() == edges
    assert ClaimGraph(chain[:2]).edges() == edges[:1]


def test_a_claim_stands_to_the_right_of_those_it_uses(chain: tuple[Record, ...]):
    drawing = ClaimGraph(chain)._drawing()
    assert all(drawing.claims[a][0] < drawing.claims[b][0] for a, b in ClaimGraph(chain).edges())
    assert len(set(drawing.claims.values())) == len(chain)
    assert drawing.headings["a"] < drawing.claims["a.one"][1] < drawing.headings["b"]


def test_the_drawing_is_valid_and_links_every_claim(chain: tuple[Record, ...]):
    page = ClaimGraph(chain)._repr_html_()
    svg = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    boxes = [node for node in svg.iter("a") if node.find("rect") is not None]
    assert [box.attrib["href"] for box in boxes] == [
        *("a.html#a-one", "a.html#a-two"),
        *("b.html#b-three", "b.html#b-alone"),
    ]
    assert len(list(svg.iter("path"))) == 3
    assert "No claim yet" in ClaimGraph(())._repr_html_()
