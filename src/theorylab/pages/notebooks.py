"""The chapters as their committed notebooks tell of them: title, question, first picture."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theorylab.claims import chapters as packages

CONTENTS = "_toc.yml"
_NOT_PROSE = (":::", "```", "![", "<", "(", "|", "+++", "#")


@dataclass(frozen=True)
class Chapter:
    """One chapter of the book.

    Attributes
    ----------
    slug : str
        Name of the notebook and of the package.
    title : str
        First heading of the notebook.
    question : str
        Its first paragraph up to the first question mark, as Markdown: the question in plain
        words.
    picture : bytes or None
        Its first picture, as PNG.
    """

    slug: str
    title: str
    question: str
    picture: bytes | None

    def save_picture(self, folder: Path) -> Path | None:
        """Write the picture to ``<folder>/<slug>.png``; returns the path, or None without one."""
        if self.picture is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.slug}.png"
        path.write_bytes(self.picture)
        return path


@dataclass(frozen=True)
class Part:
    """A part of the book: its caption and its chapters, in order."""

    caption: str
    chapters: tuple[Chapter, ...]


def book_folder(start: str | Path = ".") -> Path:
    """The folder of the book: the nearest one from ``start`` upwards with a table of contents.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    here = Path(start).resolve()
    for folder in (here, *here.parents):
        if (folder / CONTENTS).is_file():
            return folder
    raise FileNotFoundError(f"no {CONTENTS} in {here} or above; run this inside the repository")


def parts(folder: str | Path | None = None) -> list[Part]:
    """Parts of the book that have chapters, read from the table of contents.

    Parameters
    ----------
    folder : path, optional
        The folder of the book; by default looked for from the working directory upwards.

    Returns
    -------
    list of Part
        A file of the table of contents counts as a chapter if it is a notebook whose name is
        the slug of an installed chapter.
    """
    import yaml

    root = book_folder() if folder is None else Path(folder)
    contents = yaml.safe_load((root / CONTENTS).read_text(encoding="utf8"))
    found = [
        Part(part.get("caption", ""), tuple(_chapters_of(part, root)))
        for part in contents.get("parts", [])
    ]
    return [part for part in found if part.chapters]


def chapters(folder: str | Path | None = None) -> list[Chapter]:
    """All chapters of the book, in order; parameters as for ``parts``."""
    return [chapter for part in parts(folder) for chapter in part.chapters]


def _chapters_of(part: dict[str, Any], root: Path) -> list[Chapter]:
    known = packages()
    files = [Path(entry["file"]) for entry in part.get("chapters", []) if "file" in entry]
    notebooks = [(root / file).with_suffix(".ipynb") for file in files if file.stem in known]
    return [read_chapter(path) for path in notebooks if path.is_file()]


def read_chapter(path: Path) -> Chapter:
    """What a committed notebook tells of its chapter.

    Raises
    ------
    ValueError
        If the file is not a notebook or does not begin with a heading.
    """
    try:
        cells = list(json.loads(path.read_text(encoding="utf8"))["cells"])
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a notebook: {error!r}") from error
    prose = "\n\n".join(_text(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    heading = re.search(r"^# +(.+)$", prose, flags=re.MULTILINE)
    if heading is None:
        raise ValueError(f"{path} has no heading of level 1; begin it with '# Title'")
    question = _up_to_question(_first_paragraph(prose[heading.end() :]))
    return Chapter(path.stem, heading[1].strip(), question, _first_picture(cells))


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


def _first_paragraph(prose: str) -> str:
    blocks = (block.strip() for block in re.split(r"\n\s*\n", prose))
    plain = (block for block in blocks if block and not block.startswith(_NOT_PROSE))
    return " ".join(next(plain, "").split())


def _up_to_question(paragraph: str) -> str:
    """The sentences up to the first question; all of them if nothing is asked."""
    asked = re.match(r".*?\?(?=\s|$)", paragraph)
    return asked[0] if asked else paragraph


def _first_picture(cells: list[dict[str, Any]]) -> bytes | None:
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    pictures = (output.get("data", {}).get("image/png") for output in outputs)
    first = next((picture for picture in pictures if picture), None)
    return None if first is None else base64.b64decode(_text(first))
