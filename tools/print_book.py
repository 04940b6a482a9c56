"""Print the built site as one PDF, with an outline, through the system's Chromium.

``python tools/print_book.py [SITE] [PDF]``; by default from ``_build/html`` into ``_build``.
The pages are those of ``_toc.yml``; the reference of single modules stays on the site.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from playwright.sync_api import Page, sync_playwright
from pypdf import PdfReader, PdfWriter

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SETTLED = "() => !window.MathJax || !MathJax.startup || MathJax.startup.promise.then(() => true)"
UNFOLD = """() => {
  for (const folded of document.querySelectorAll('details')) folded.open = true;
  for (const folded of document.querySelectorAll('.toggle-hidden'))
    folded.classList.remove('toggle-hidden');
  for (const link of document.querySelectorAll('a[href]'))
    if (!link.getAttribute('href').startsWith('#') && !/^https?:/.test(link.getAttribute('href')))
      link.removeAttribute('href');
}"""
"""Opens what is folded; links to other pages, which paper cannot follow, become plain text."""

STYLE = """
.bd-sidebar-primary, .bd-sidebar-secondary, .bd-header, .bd-header-article, .prev-next-footer,
.bd-footer, .toggle-button, .copybtn, .headerlink, .skip-link { display: none !important; }
.bd-main .bd-content .bd-article-container { max-width: none !important; }
figure, img, table, .tl-card { break-inside: avoid; }
"""
SCALE = 0.7
"""So that the width of a sheet counts as that of a desktop's window."""
MARGINS = {"top": "16mm", "bottom": "16mm", "left": "14mm", "right": "14mm"}


def pages_in_order(contents: Path) -> list[str]:
    """Names of the pages of the table of contents, without sub-pages."""
    toc = yaml.safe_load(contents.read_text(encoding="utf8"))
    files = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    return [toc["root"], *files]


@contextmanager
def browser_page() -> Iterator[Page]:
    """A light page of the system's Chromium."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit("there is no Chromium: install the system's package `chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser.new_page(color_scheme="light")
        browser.close()


def print_page(page: Page, html: Path, pdf: Path) -> str:
    """Print one page; returns its title."""
    page.goto(html.resolve().as_uri())
    page.evaluate(SETTLED)
    page.evaluate(UNFOLD)
    page.add_style_tag(content=STYLE)
    page.emulate_media(media="print", color_scheme="light")
    page.pdf(path=pdf, format="A4", scale=SCALE, margin=MARGINS, print_background=True)
    heading = page.locator("h1").first.inner_text()
    return heading.rstrip("#").strip()


def print_book(page: Page, site: Path, pdf: Path, names: list[str]) -> None:
    """Print the pages of those names one after another into one file with an outline."""
    book = PdfWriter()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            part = Path(folder) / "part.pdf"
            title = print_page(page, site / f"{name}.html", part)
            first = len(book.pages)
            book.append(PdfReader(part), import_outline=False)
            book.add_outline_item(title=title, page_number=first)
        book.add_metadata({"/Title": "theorylab", "/Author": "The theorylab contributors"})
        book.write(pdf)


def main() -> None:
    site, pdf = (
        Path(sys.argv[place]) if len(sys.argv) > place else ROOT / "_build" / default
        for place, default in ((1, "html"), (2, "theorylab.pdf"))
    )
    if not (site / "index.html").is_file():
        raise SystemExit(f"no built site in {site}: run `make book`")
    with browser_page() as page:
        print_book(page, site, pdf, pages_in_order(ROOT / "_toc.yml"))
    print(pdf)


if __name__ == "__main__":
    main()
