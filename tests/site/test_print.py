"""The book as one PDF: every page in order, nothing left folded, no link to a file or a host."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from playwright.sync_api import Browser
from pypdf import PdfReader

ROOT = Path(__file__).parents[2]
NAMES = ["chapters/reading", "chapters/total_variation"]


@pytest.fixture(scope="module")
def printing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("print_book", ROOT / "tools" / "print_book.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def printed(
    printing: ModuleType, site: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PdfReader]:
    pdf = tmp_path_factory.mktemp("print") / "book.pdf"
    page = browser.new_page(color_scheme="light")
    printing.print_book(page, site, pdf, NAMES)
    page.close()
    with PdfReader(pdf) as reader:
        yield reader


def test_the_outline_names_the_pages(printed: PdfReader) -> None:
    titles = [entry["/Title"] for entry in printed.outline]
    assert titles == ["How to read a verdict", "When is a distance easy?"]


def test_folded_solutions_are_printed(printed: PdfReader) -> None:
    text = "".join(page.extract_text() for page in printed.pages)
    assert text.count("Solution to") >= 3


def test_links_lead_to_no_file_and_not_to_this_machine(printed: PdfReader) -> None:
    annotations = [note.get_object() for page in printed.pages for note in page.get("/Annots", [])]
    targets = [str(note["/A"].get("/URI", "")) for note in annotations if "/A" in note]
    assert not [t for t in targets if t.startswith("file:") or "127.0.0.1" in t or "localhost" in t]


def test_pages_follow_the_table_of_contents(printing: ModuleType, tmp_path: Path) -> None:
    contents = tmp_path / "_toc.yml"
    contents.write_text(
        "root: a\nparts:\n- chapters: [{file: b}, {file: c}]\n- chapters:\n  - file: d\n"
        "    sections: [{glob: e/*}]\n"
    )
    assert printing.pages_in_order(contents) == ["a", "b", "c", "d"]
