"""Copies what the pages need into the built site, so that no page asks another host for it."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MATHJAX_PARTS = ("tex-svg-full.js", "a11y", "sre/mathmaps")
"""SVG output draws glyphs as paths: no font files, which browsers refuse to load from file://."""


def copy_mathjax(static: Path) -> None:
    """MathJax 3, from the package ``django-static-mathjax``."""
    source = Path(str(files("mathjax"))) / "static" / "mathjax" / "es5"
    for part in MATHJAX_PARTS:
        target = static / "mathjax" / "es5" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source / part, target)


def copy_plotly(static: Path) -> None:
    """The one copy of plotly.js that all interactive pictures share."""
    shutil.copy2(str(files("plotly") / "package_data" / "plotly.min.js"), static)


def copy_assets(app: Sphinx, error: Exception | None) -> None:
    """Fill ``_static`` once the pages are written."""
    if error is None and app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        copy_mathjax(static)
        copy_plotly(static)


def note_mathematics(app: Sphinx, doctree: Any) -> None:
    """Load MathJax on pages whose only formulas stand in HTML that code has written."""
    from docutils import nodes

    if any('class="math ' in node.astext() for node in doctree.findall(nodes.raw)):
        app.env.get_domain("math").data["has_equations"][app.env.docname] = True


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("doctree-read", note_mathematics)
    app.connect("build-finished", copy_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
