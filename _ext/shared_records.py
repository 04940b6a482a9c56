"""Lets all executed pages share one folder of records, so that no claim is computed twice."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theorylab.reruns import FOLDER_VARIABLE

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

RECORDS = Path("_build") / "records"


def share_records(app: Sphinx) -> None:
    """Point the kernels, which inherit this process's environment, to the shared folder."""
    os.environ.setdefault(FOLDER_VARIABLE, str(Path(app.srcdir) / RECORDS))


def state_of_the_book(folder: Path) -> str:
    """Hash of what executed pages depend on beside their own text: library, notebooks, timings."""
    patterns = ("src/**/*.py", "chapters/*.ipynb", "benchmarks/results/*.json")
    files = [path for pattern in patterns for path in folder.glob(pattern)]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def outdated_pages(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """All pages if the library or a notebook has changed since the last build, else none."""
    state = state_of_the_book(Path(app.srcdir))
    unchanged = getattr(env, "state_of_the_book", None) == state
    env.state_of_the_book = state  # type: ignore[attr-defined]
    return [] if unchanged else sorted(env.found_docs - added)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", share_records)
    app.connect("env-get-outdated", outdated_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
