"""The built site in a browser: served from this machine, and opened from its files."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

SITE = Path(__file__).parents[2] / "_build" / "html"
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


def missing(what: str, remedy: str) -> None:
    """Skip where a person works, fail in CI: there nothing may be silently green."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}: {remedy}", pytrace=False)
    pytest.skip(f"{what}: {remedy}")


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    if not (SITE / "index.html").is_file():
        missing("the site is not built", "run `make book`")
    return SITE


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium."""
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
    """All pages of the site, as paths from its root."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    return sorted(page for page in found if not page.startswith(("_static/", "reports/")))
