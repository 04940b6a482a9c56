"""Copies what the pages need into the built site, so that no page asks another host for it."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MATHJAX_PARTS = ("tex-mml-chtml.js", "input", "output/chtml")


def copy_mathjax(static: Path) -> None:
    """MathJax 3 with its fonts, from the package ``django-static-mathjax``."""
    source = Path(str(files("mathjax"))) / "static" / "mathjax" / "es5"
    for part in MATHJAX_PARTS:
        target = static / "mathjax" / "es5" / part
        if (source / part).is_dir():
            shutil.copytree(source / part, target, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
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


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("build-finished", copy_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
