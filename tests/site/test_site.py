"""What a reader meets: every page complete without a network, legible, with working links."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from playwright.sync_api import Browser, Page

from .conftest import pages

pytestmark = pytest.mark.site

WIDTHS = (390, 1440)
SETTLED = "() => !window.MathJax || !MathJax.startup || MathJax.startup.promise.then(() => true)"
RAW_MATHEMATICS = re.compile(r"\$[^$\n]{1,80}\$|\\\(|\\\[|\\frac|\\sum|\\mathbb")
LINKS = "all => all.map(a => new URL(a.getAttribute('href'), document.baseURI).href)"
VISIBLE_PROSE = """() => {
  const copy = document.querySelector("article, main").cloneNode(true);
  const code = copy.querySelectorAll("pre, code, script, style, mjx-container, .tl-plot");
  code.forEach((node) => node.remove());
  return copy.textContent;
}"""


def opened(page: Page, url: str) -> tuple[list[str], list[str]]:
    """Open a page, wait for its mathematics; foreign requests and console errors it caused."""
    foreign, errors = [], []
    origin = url.split("/")[2] if url.startswith("http") else ""
    page.on("request", lambda r: foreign.append(r.url) if is_foreign(r.url, origin) else None)
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.goto(url, wait_until="load")
    page.wait_for_function(SETTLED)
    return foreign, errors


def is_foreign(url: str, origin: str) -> bool:
    if url.startswith(("data:", "blob:", "about:")):
        return False
    return not url.startswith("file:") if not origin else url.split("/")[2] != origin


@pytest.fixture(params=pages() or ["index.html"])
def path(request: pytest.FixtureRequest) -> str:
    return request.param


def test_a_page_is_complete_and_quiet(browser: Browser, address: str, path: str):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    foreign, errors = opened(page, f"{address}/{path}")
    broken = page.evaluate("() => document.querySelectorAll('mjx-merror, [data-mjx-error]').length")
    prose = page.evaluate(VISIBLE_PROSE)
    page.close()
    assert foreign == []
    assert errors == []
    assert broken == 0
    assert RAW_MATHEMATICS.findall(prose) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_scrolls_sideways(
    browser: Browser, address: str, path: str, width: int, scheme: str
):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened(page, f"{address}/{path}")
    excess = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
    page.close()
    assert excess <= 0


def test_every_internal_link_leads_somewhere(browser: Browser, address: str, site: Path):
    page = browser.new_page()
    targets: dict[str, set[str]] = {}
    for path in pages(site):
        page.goto(f"{address}/{path}", wait_until="domcontentloaded")
        for link in page.eval_on_selector_all("a[href]", LINKS):
            if link.startswith(address):
                targets.setdefault(link, set()).add(path)
    page.close()
    assert {
        link: sorted(on) for link, on in targets.items() if not leads(link, address, site)
    } == {}


def leads(link: str, address: str, site: Path) -> bool:
    """Whether the file exists and holds the anchor."""
    place, anchor = urldefrag(link)
    file = site / unquote(urljoin(place, place)[len(address) :].split("?")[0].lstrip("/"))
    if file.is_dir():
        file /= "index.html"
    if not file.is_file():
        return False
    if not anchor or file.suffix != ".html":
        return True
    return (
        re.search(rf'(id|name)="{re.escape(unquote(anchor))}"', file.read_text("utf8")) is not None
    )


@pytest.mark.parametrize(
    "path", ["index.html", "chapters/ledger.html", "chapters/missing_mass.html"]
)
def test_pages_work_from_files(browser: Browser, site: Path, path: str):
    page = browser.new_page()
    foreign, errors = opened(page, (site / path).as_uri())
    page.close()
    assert foreign == []
    assert errors == []


def test_search_finds_a_claim(browser: Browser, address: str):
    page = browser.new_page()
    page.goto(f"{address}/search.html?q=frozen-is-not-risk")
    page.wait_for_selector("#search-results li a", timeout=15_000)
    found = page.eval_on_selector_all("#search-results li a", "all => all.map(a => a.href)")
    page.close()
    assert any("missing_mass" in link or "ledger" in link for link in found)


@pytest.fixture
def ledger(browser: Browser, address: str):
    page = browser.new_page()
    opened(page, f"{address}/chapters/ledger.html")
    yield page
    page.close()


def visible_rows(page: Page) -> list[str]:
    script = (
        "rows => rows.filter(r => !r.hidden).map(r => r.cells[0].querySelector('code').innerText)"
    )
    return page.eval_on_selector_all("table.tl-sortable tbody tr", script)


def test_the_ledger_filters(ledger: Page):
    everything = visible_rows(ledger)
    ledger.fill(".tl-controls input", "chebyshev optimal")
    assert visible_rows(ledger) == ["chebyshev"]
    ledger.fill(".tl-controls input", "")
    ledger.select_option("select[aria-label*=verdict]", "refuted")
    refuted = visible_rows(ledger)
    assert 0 < len(refuted) < len(everything)
    assert ledger.inner_text(".tl-count").startswith(f"{len(refuted)} of {len(everything)}")


def test_the_ledger_sorts(ledger: Page):
    button = ledger.locator("table.tl-sortable th button").first
    button.click()
    ascending = visible_rows(ledger)
    button.click()
    assert ascending == sorted(ascending, key=str.casefold)
    assert visible_rows(ledger)[0] == ascending[-1]


def test_every_chapter_offers_its_notebook(site: Path):
    notebooks = {path.stem for path in (site / "_sources" / "chapters").glob("*.ipynb")}
    assert {"missing_mass", "total_variation", "dc_decomposition"} <= notebooks
