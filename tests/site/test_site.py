"""What a reader meets: every page complete without a network, legible, with working links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from playwright.sync_api import Browser, Page

from .conftest import ENTRANCE, Visit, pages

pytestmark = pytest.mark.site

WIDTHS = (390, 1440)
SCHEMES = ("light", "dark")
LEAST_CONTRAST = 4.5
REPEATED_BY_SPHINX = {"exercise-content", "solution-content", "proof-content", "proof"}
"""Written by the extensions for exercises and proofs; nothing links to them."""

RAW_MATHEMATICS = re.compile(r"\$[^$\n]{1,80}\$|\\\(|\\\[|\\frac|\\sum|\\mathbb")
LINKS = "all => all.map(a => new URL(a.getAttribute('href'), document.baseURI).href)"
BROKEN_MATHEMATICS = """() => [
  ...document.querySelectorAll("mjx-merror, [data-mjx-error]"),
  ...[...document.querySelectorAll(".math")].filter((m) => !m.querySelector("mjx-container")),
].map((node) => node.textContent.slice(0, 80))"""
VISIBLE_PROSE = """() => {
  const copy = document.querySelector("article, main").cloneNode(true);
  const code = copy.querySelectorAll("pre, code, script, style, mjx-container, .tl-plot");
  code.forEach((node) => node.remove());
  return copy.textContent;
}"""
FAINT_TEXT = """(least) => {
  const parse = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number);
    return { rgb: [r, g, b], alpha: a };
  };
  const over = (top, alpha, below) => top.map((c, i) => alpha * c + (1 - alpha) * below[i]);
  const ground = (node) => {
    if (!node) return [255, 255, 255];
    const { rgb, alpha } = parse(getComputedStyle(node).backgroundColor);
    return alpha === 1 ? rgb : over(rgb, alpha, ground(node.parentElement));
  };
  const light = (rgb) => rgb
    .map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const faint = new Map();
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    const hidden = !node.checkVisibility() || !texts.currentNode.data.trim();
    if (hidden || node.closest("svg, script, style, mjx-container, .tl-plot")) continue;
    const below = ground(node);
    const { rgb, alpha } = parse(getComputedStyle(node).color);
    const found = contrast(over(rgb, alpha, below), below);
    if (found < least) faint.set(`${node.tagName}.${node.className} ${found.toFixed(2)}`,
      texts.currentNode.data.trim().slice(0, 40));
  }
  return Object.fromEntries(faint);
}"""


def test_nothing_is_asked_of_other_hosts_and_nothing_goes_wrong(visit: Visit):
    assert visit.foreign == []
    assert visit.errors == []


def test_all_mathematics_is_drawn(visit: Visit):
    assert visit.page.evaluate(BROKEN_MATHEMATICS) == []
    assert RAW_MATHEMATICS.findall(visit.page.evaluate(VISIBLE_PROSE)) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_scrolls_sideways(visit: Visit, width: int):
    visit.page.set_viewport_size({"width": width, "height": 800})
    excess = visit.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert excess <= 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_stands_out_from_its_ground(visit: Visit, scheme: str):
    visit.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    theme = visit.page.wait_for_function(
        "(t) => document.documentElement.dataset.theme === t", arg=scheme
    )
    assert theme
    assert visit.page.evaluate(FAINT_TEXT, LEAST_CONTRAST) == {}


def test_the_entrance_leads_to_the_first_page(browser: Browser, address: str):
    page = browser.new_page()
    page.goto(f"{address}/{ENTRANCE}", wait_until="commit")
    page.wait_for_url("**/chapters/index.html")
    page.close()


def test_every_internal_link_leads_somewhere(browser: Browser, address: str, site: Path):
    page = browser.new_page()
    targets: dict[str, set[str]] = {}
    for path in pages(site):
        page.goto(f"{address}/{path}", wait_until="domcontentloaded")
        for link in page.eval_on_selector_all("a[href]", LINKS):
            if link.startswith(address):
                targets.setdefault(link, set()).add(path)
    page.close()
    dead = {link: sorted(on) for link, on in targets.items() if not leads(link, address, site)}
    assert dead == {}


def leads(link: str, address: str, site: Path) -> bool:
    """Whether the file exists and holds the anchor."""
    place, anchor = urldefrag(link)
    file = site / unquote(place[len(address) :].split("?")[0].lstrip("/"))
    if file.is_dir():
        file /= "index.html"
    if not file.is_file():
        return False
    if not anchor or file.suffix != ".html":
        return True
    return (
        re.search(rf'\b(id|name)="{re.escape(unquote(anchor))}"', file.read_text("utf8"))
        is not None
    )


@pytest.mark.parametrize("path", [page for page in pages() if "/library/" not in page])
def test_pages_work_from_files(browser: Browser, site: Path, path: str):
    page = browser.new_page()
    visit = Visit(page, (site / path).as_uri()).open()
    broken = page.evaluate(BROKEN_MATHEMATICS)
    page.close()
    assert (visit.foreign, visit.errors, broken) == ([], [], [])


@pytest.mark.parametrize("opened_from", ["server", "files"])
def test_search_finds_a_claim(browser: Browser, address: str, site: Path, opened_from: str):
    root = address if opened_from == "server" else site.as_uri()
    page = browser.new_page()
    visit = Visit(page, f"{root}/search.html?q=missing_mass.frozen-is-not-risk").open()
    page.wait_for_selector("#search-results li a", timeout=15_000)
    found = page.eval_on_selector_all("#search-results li a", "all => all.map(a => a.href)")
    page.close()
    assert any("/missing_mass.html" in link for link in found)
    assert any("/ledger.html" in link for link in found)
    assert (visit.foreign, visit.errors) == ([], [])


@pytest.fixture
def ledger(browser: Browser, address: str) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    Visit(page, f"{address}/chapters/ledger.html").open()
    yield page
    page.close()


def visible_rows(page: Page) -> list[str]:
    script = (
        "rows => rows.filter(r => !r.hidden).map(r => r.cells[0].querySelector('code').innerText)"
    )
    return page.eval_on_selector_all("table.tl-sortable tbody tr", script)


def test_the_ledger_filters_by_words(ledger: Page):
    ledger.fill(".tl-controls input", "chebyshev optimal")
    assert visible_rows(ledger) == ["chebyshev"]
    ledger.fill(".tl-controls input", "no claim says this")
    assert visible_rows(ledger) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("verdict", "refuted"), ("evidence", "certified"), ("chapter", "missing_mass")],
)
def test_the_ledger_filters_by_choice(ledger: Page, field: str, value: str):
    everything = visible_rows(ledger)
    ledger.select_option(f"select[aria-label={field}]", value)
    chosen = visible_rows(ledger)
    rows = ledger.locator(f"table.tl-sortable tbody tr[data-{field}='{value}']")
    assert 0 < len(chosen) == rows.count() < len(everything)
    assert ledger.inner_text(".tl-count") == f"{len(chosen)} of {len(everything)} claims"


def test_the_ledger_sorts(ledger: Page):
    button = ledger.locator("table.tl-sortable th button").first
    button.click()
    ascending = visible_rows(ledger)
    button.click()
    assert ascending == sorted(ascending, key=str.casefold)
    assert visible_rows(ledger)[0] == ascending[-1]


def test_every_claim_of_the_ledger_is_drawn_in_the_graph(ledger: Page):
    rows = ledger.eval_on_selector_all("table.tl-sortable tbody tr", "all => all.map(r => r.id)")
    drawn = ledger.eval_on_selector_all(
        ".tl-graph a:has(rect)", "all => all.map(a => a.getAttribute('href').split('#')[1])"
    )
    assert sorted(rows) == sorted(drawn)


def test_every_chapter_offers_its_notebook(site: Path, browser: Browser, address: str):
    chapters = [path.stem for path in (site / "_sources" / "chapters").glob("*.ipynb")]
    assert {"missing_mass", "total_variation", "dc_decomposition"} <= set(chapters)
    page = browser.new_page()
    for chapter in chapters:
        page.goto(f"{address}/chapters/{chapter}.html", wait_until="domcontentloaded")
        assert page.locator(f"a[href$='_sources/chapters/{chapter}.ipynb']").count() == 1
    page.close()


def test_no_page_repeats_an_id(site: Path):
    repeated = {}
    for path in pages(site):
        ids = re.findall(r'\sid="([^"]+)"', (site / path).read_text("utf8"))
        if double := sorted({name for name in ids if ids.count(name) > 1} - REPEATED_BY_SPHINX):
            repeated[path] = double
    assert repeated == {}
