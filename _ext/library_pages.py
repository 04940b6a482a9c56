"""Writes the pages of the library reference: one per core module, shared package and chapter.

Each page lists what the module or package offers and documents it from its docstrings. The pages
are generated before Sphinx looks for sources; they are not kept under version control.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from sphinx.ext.autosummary import Autosummary, import_by_name
from sphinx.pycode import ModuleAnalyzer

import theorylab
from theorylab.claims import BOOK_ORDER
from theorylab.claims import chapters as packages
from theorylab.pages import chapters

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

FOLDER = Path("chapters") / "library"
METHODS = (FunctionType, classmethod, staticmethod, property, cached_property)
CLAIMS = "claims"
"""Rooms of a chapter that the ledger documents better than a docstring could."""


class NameTable(Autosummary):
    """``autosummary`` with whole first paragraphs, which it cuts at a period in a formula."""

    name = "names"

    def get_items(self, names: list[str]) -> list[tuple[str, str, str, str]]:
        """Name, signature, summary and full name of every entry."""
        return [
            (name, signature, summary_of(import_by_name(real)[1]) or summary, real)
            for name, signature, summary, real in super().get_items(names)
        ]


def summary_of(value: Any) -> str:
    """First paragraph of a function's or a class's docstring."""
    text = inspect.getdoc(value) if isinstance(value, type) or inspect.isroutine(value) else None
    return " ".join((text or "").partition("\n\n")[0].split())


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


def directive_of(value: Any, constant: bool) -> str:
    """The autodoc directive for a value; aliases of types are constants, though callable."""
    if constant:
        return "autodata"
    if isinstance(value, type):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction"


def own_members(value: Any, attributes: set[tuple[str, str]]) -> tuple[str, ...]:
    """Public documented methods, properties and attributes that a class itself defines."""
    if not isinstance(value, type):
        return ()
    return tuple(
        name
        for name, member in vars(value).items()
        if not name.startswith("_")
        and (
            (value.__qualname__, name) in attributes
            or (isinstance(member, METHODS) and inspect.getdoc(member))
        )
        and getattr(member, "__module__", value.__module__) == value.__module__
    )


def is_own(value: Any, module: ModuleType) -> bool:
    """Whether a documented function or class is defined in the module."""
    return getattr(value, "__module__", None) == module.__name__ and bool(inspect.getdoc(value))


def analyzed(module: ModuleType) -> ModuleAnalyzer:
    """The module's source: order of its names, documented constants and attributes."""
    analyzer = ModuleAnalyzer.for_module(module.__name__)
    analyzer.analyze()
    return analyzer


def own_names(module: ModuleType) -> list[str]:
    """Public documented names that a module defines, in the order of its source."""
    analyzer = analyzed(module)
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
    attributes = set(analyzed(module).attr_docs)
    exported = {name: getattr(face, name) for name in getattr(face, "__all__", ())}
    found = []
    for name in own_names(module):
        value = getattr(module, name)
        home = face if exported.get(name) is value else module
        directive = directive_of(value, ("", name) in attributes)
        # Docstrings of constants are only found where the constant is assigned.
        home = module if directive == "autodata" else home
        full = name if home is module else f"{home.__name__}.{name}"
        found.append(Entry(full, directive, own_members(value, attributes)))
    return found


def documented(found: list[Entry]) -> list[str]:
    """Summary table and full documentation of some names, in reStructuredText."""
    lines = [f".. {NameTable.name}::", "   :nosignatures:", ""]
    lines += [f"   ~{entry.name}" for entry in found] + [""]
    for entry in found:
        lines.append(f".. {entry.directive}:: {entry.name}")
        lines += [f"   :members: {', '.join(entry.members)}"] if entry.members else []
        lines += ["   :no-value:"] if entry.directive == "autodata" else []
        lines.append("")
    return lines


def opening(title: str, module: ModuleType, scope: str) -> list[str]:
    """Heading and docstring of a module; ``scope`` is the directive that enters it."""
    target = [f".. {scope}:: {module.__name__}", "", inspect.getdoc(module) or ""]
    return [title, "", "```{eval-rst}", *target, ""]


def module_page(module: ModuleType) -> str:
    """The page of one core module."""
    found = entries(module, module)
    head = opening(f"# `{module.__name__}`", module, "py:module")
    return "\n".join([*head, *documented(found), "```", ""]) if found else ""


def package_page(package: ModuleType) -> str:
    """The page of a package: one section per module."""
    lines = [*opening(f"# `{package.__name__}`", package, "py:module"), "```", ""]
    for module in submodules(package):
        found = entries(module, package)
        title = f"## `{module.__name__.removeprefix(package.__name__ + '.')}`"
        # Entered, not registered: a submodule may share its name with a function of the package.
        head = opening(title, module, "py:currentmodule")
        lines += [*head, *documented(found), "```", ""] if found else []
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
    app.setup_extension("sphinx.ext.autosummary")
    app.add_directive(NameTable.name, NameTable)
    app.connect("config-inited", write_pages, priority=400)
    app.connect("missing-reference", keep_foreign_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
