"""The built site in a browser: served from this machine, and opened from its files."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

SITE = Path(__file__).parents[2] / "_build" / "html"
ENTRANCE = "index.html"
"""The root's page; it only leads to the first chapter page."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SETTLED = "() => !window.MathJax || !MathJax.startup || MathJax.startup.promise.then(() => true)"


def missing(what: str, remedy: str) -> None:
    """Skip where a person works, fail in CI: there nothing may be silently green."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}: {remedy}", pytrace=False)
    pytest.skip(f"{what}: {remedy}")


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    if not (SITE / ENTRANCE).is_file():
        missing("the site is not built", "run `make book`")
    return SITE


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, with a profile of its own."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        missing("there is no Chromium", "install the system's package `chromium`")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield launched
        launched.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Address of a plain static server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def pages(folder: Path = SITE) -> list[str]:
    """All pages of the site but its entrance, as paths from its root."""
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.html")}
    inner = {page for page in found if not page.startswith(("_static/", "reports/"))}
    return sorted(inner - {ENTRANCE})


@dataclass
class Visit:
    """A page in the browser, with what it asked of other hosts and what went wrong."""

    page: Page
    url: str
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self) -> Visit:
        """Go to the page and wait until its mathematics is drawn."""
        self.page.on("request", lambda request: self._note_request(request.url))
        self.page.on("console", self._note_message)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(self.url, wait_until="load")
        self.page.wait_for_function(SETTLED)
        return self

    def _note_request(self, url: str) -> None:
        here, there = urlsplit(self.url), urlsplit(url)
        inline = there.scheme in {"data", "blob", "about"}
        if not inline and (there.scheme, there.netloc) != (here.scheme, here.netloc):
            self.foreign.append(url)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)


@pytest.fixture(scope="module", params=pages() or [ENTRANCE])
def visit(request: pytest.FixtureRequest, browser: Browser, address: str) -> Iterator[Visit]:
    """Each page of the site in turn, opened once for all tests that look at it."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    yield Visit(page, f"{address}/{request.param}").open()
    page.close()
