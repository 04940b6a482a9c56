"""Writes the pages of the library reference: one per core module, shared package and chapter.

Each page lists what the module or package offers and documents it from its docstrings. The pages
are generated before Sphinx looks for sources; they are not kept under version control.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sphinx.pycode import ModuleAnalyzer

import theorylab
from theorylab.claims import BOOK_ORDER
from theorylab.claims import chapters as packages
from theorylab.pages import chapters

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

FOLDER = Path("chapters") / "library"
CLAIMS = "claims"
"""Rooms of a chapter that the ledger documents better than a docstring could."""


@dataclass(frozen=True)
class Entry:
    """One documented name: how it is imported, which directive documents it, its members."""

    name: str
    directive: str
    members: tuple[str, ...] = ()


def submodules(package: ModuleType) -> list[ModuleType]:
    """Public modules of a package, at any depth, without those that register claims."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    names = [info.name for info in found]
    public = [
        name
        for name in names
        if not any(part.startswith("_") or part == CLAIMS for part in name.split(".")[2:])
    ]
    return [importlib.import_module(name) for name in public]


def directive_of(value: Any) -> str:
    """The autodoc directive for a value."""
    if isinstance(value, type):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if callable(value) else "autodata"


def own_members(value: Any) -> tuple[str, ...]:
    """Public documented members that a class itself defines; none for anything else."""
    if not isinstance(value, type):
        return ()
    return tuple(
        name
        for name, member in vars(value).items()
        if not name.startswith("_")
        and getattr(member, "__module__", value.__module__) == value.__module__
        and inspect.getdoc(member)
    )


def is_own(value: Any, module: ModuleType) -> bool:
    """Whether a documented function or class is defined in the module."""
    return getattr(value, "__module__", None) == module.__name__ and bool(inspect.getdoc(value))


def own_names(module: ModuleType) -> list[str]:
    """Public documented names that a module defines, in the order of its source."""
    analyzer = ModuleAnalyzer.for_module(module.__name__)
    analyzer.analyze()
    order = analyzer.tagorder
    constants = {name for scope, name in analyzer.attr_docs if not scope}
    found = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (name in constants or (callable(value) and is_own(value, module)))
    ]
    return sorted(found, key=lambda name: order.get(name, len(order)))


def entries(module: ModuleType, face: ModuleType) -> list[Entry]:
    """What a module defines, under the name by which readers import it.

    Names are relative to the module unless they are imported from elsewhere, its face.
    """
    exported = {name: getattr(face, name) for name in getattr(face, "__all__", ())}
    found = []
    for name in own_names(module):
        value = getattr(module, name)
        home = face if exported.get(name) is value else module
        directive = directive_of(value)
        # Docstrings of constants are only found where the constant is assigned.
        home = module if directive == "autodata" else home
        full = name if home is module else f"{home.__name__}.{name}"
        found.append(Entry(full, directive, own_members(value)))
    return found


def documented(found: list[Entry]) -> list[str]:
    """Summary table and full documentation of some names, in reStructuredText."""
    lines = [".. autosummary::", "   :nosignatures:", ""]
    lines += [f"   {entry.name}" for entry in found] + [""]
    for entry in found:
        lines.append(f".. {entry.directive}:: {entry.name}")
        lines += [f"   :members: {', '.join(entry.members)}"] if entry.members else []
        lines += ["   :no-value:"] if entry.directive == "autodata" else []
        lines.append("")
    return lines


def section(title: str, module: ModuleType, found: list[Entry], level: int) -> list[str]:
    """A heading, the module's docstring and the documentation of its names."""
    target = [f".. py:module:: {module.__name__}", "", inspect.getdoc(module) or ""]
    body = ["```{eval-rst}", *target, "", *documented(found), "```", ""]
    return [f"{'#' * level} {title}", "", *body] if found else []


def module_page(module: ModuleType) -> str:
    """The page of one core module."""
    return "\n".join(section(f"`{module.__name__}`", module, entries(module, module), level=1))


def package_page(package: ModuleType) -> str:
    """The page of a package: one section per module."""
    target = [f".. py:module:: {package.__name__}", "", inspect.getdoc(package) or ""]
    lines = [f"# `{package.__name__}`", "", "```{eval-rst}", *target, "```"]
    for module in submodules(package):
        title = f"`{module.__name__.removeprefix(package.__name__ + '.')}`"
        lines += ["", *section(title, module, entries(module, package), level=2)]
    return "\n".join(lines)


def pages(slugs: list[str]) -> dict[str, str]:
    """Path, without suffix, and text of every page."""
    found = {}
    unfinished = {*BOOK_ORDER, *packages()} - {*slugs}
    for info in pkgutil.iter_modules(theorylab.__path__):
        if info.name.startswith("_") or info.name in unfinished:
            continue
        module = importlib.import_module(f"theorylab.{info.name}")
        group = "papers" if info.name in slugs else "core"
        text = package_page(module) if info.ispkg else module_page(module)
        if text:
            found[f"{group}/{info.name}"] = text
    return found


def write_pages(app: Sphinx, config: Config) -> None:
    """Write the pages that have changed and remove those that are no longer due."""
    root = Path(app.srcdir)
    due = pages([chapter.slug for chapter in chapters(root)])
    for name, text in due.items():
        path = (root / FOLDER / name).with_suffix(".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf8") != text:
            path.write_text(text, encoding="utf8")
    for path in (root / FOLDER).rglob("*.md"):
        if path.relative_to(root / FOLDER).with_suffix("").as_posix() not in due:
            path.unlink()


def keep_foreign_names(app: Sphinx, env: Any, node: Any, text: Any) -> Any:
    """Show names of other libraries as text; names of this one must resolve."""
    foreign = node.get("refdomain") == "py" and not node["reftarget"].startswith("theorylab")
    return text if foreign else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", write_pages, priority=400)
    app.connect("missing-reference", keep_foreign_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
