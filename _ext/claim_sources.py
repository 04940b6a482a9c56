"""Finds the bibliography files, and gives every claim's source as authors, year and link."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pybtex.richtext import Text
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

OWN = "theorylab"
"""The key of what was derived in the book itself."""

_SOURCE = re.compile(
    r'<span class="tl-source">(?:<em>)?(?P<key>[\w:.+-]+?)(?:, (?P<place>[^<]*))?(?:</em>)?</span>'
)
_logger = logging.getLogger(__name__)


def authors(entry: Any) -> str:
    """Last names of up to two authors, else of the first with "et al."."""
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [" ".join([*person.prelast_names, *person.last_names]) for person in people]
    plain = [str(Text.from_latex(name)) for name in names]
    return f"{plain[0]} et al." if len(plain) > 2 else " and ".join(plain)


def nearest_citations(app: Sphinx, page: str) -> dict[str, Any]:
    """Entries of the bibliography by key; those listed on the page itself come first."""
    found = {}
    for citation in app.env.get_domain("cite").citations:
        if citation.key not in found or citation.bibliography_key.docname == page:
            found[citation.key] = citation
    return found


def link_sources(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Rewrite the sources in the rendered page."""
    body = context.get("body")
    if not body or "tl-source" not in body:
        return
    citations = nearest_citations(app, page)

    def rewritten(match: re.Match[str]) -> str:
        key, place = match["key"], match["place"] or ""
        if key == OWN:
            return f'<span class="tl-source">{place or "derived in the chapter"}</span>'
        if key not in citations:
            _logger.warning("no bibliography entry %r, the source of a claim", key, location=page)
            return match[0]
        citation = citations[key]
        year = citation.entry.fields.get("year", "")
        name = html.escape(authors(citation.entry))
        target = app.builder.get_relative_uri(page, citation.bibliography_key.docname)
        link = f'<a href="{target}#{citation.citation_id}">{name} ({year})</a>'
        return f'<span class="tl-source">{link}{", " + place if place else ""}</span>'

    context["body"] = _SOURCE.sub(rewritten, body)


def find_bibliographies(app: Sphinx, config: Config) -> None:
    """Read every chapter's own bibliography file beside the shared one."""
    own = sorted(Path(app.srcdir).glob("chapters/bib/*.bib"))
    files = [path.relative_to(app.srcdir).as_posix() for path in own]
    config.bibtex_bibfiles = [*config.bibtex_bibfiles, *files]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", find_bibliographies)
    app.connect("html-page-context", link_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
