"""Vertices and rays of ``A x >= b`` by three independent exact programs.

``"ppl"`` is the Parma Polyhedra Library in process; ``"cdd"`` (cddlib with GMP) and ``"lrs"``
(reverse search) are run as programs that ship with the wheels ``passagemath-cddlib`` and
``passagemath-lrslib``.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from shutil import which

from .matrices import Rows
from .polyhedra import Polyhedron
from .rationals import IntVector, Rational, Vector, clear_denominators, primitive

BACKENDS = ("ppl", "cdd", "lrs")
_PROGRAMS = {
    "cdd": ("passagemath-cddlib", "cddexec_gmp", ("--rep",)),
    "lrs": ("passagemath-lrslib", "lrs", ()),
}


@dataclass(frozen=True)
class Generators:
    """Vertices and primitive extreme rays of a pointed polyhedron, each in a fixed order."""

    vertices: tuple[Vector, ...]
    rays: tuple[IntVector, ...]


def generators(
    rows: Rows, bounds: Sequence[Rational], columns: int, backend: str = "ppl"
) -> Generators:
    """Enumerate the vertices and extreme rays of the pointed polyhedron ``A x >= b``.

    Parameters
    ----------
    rows, bounds : sequences
        A and b.
    columns : int
        Number of variables.
    backend : {"ppl", "cdd", "lrs"}

    Raises
    ------
    ValueError
        For an unknown backend, and if the polyhedron contains a line.
    RuntimeError
        If the program of the backend is not installed or fails.
    """
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; choose one of {', '.join(BACKENDS)}")
    if backend == "ppl":
        found = _by_ppl(rows, bounds, columns)
    else:
        found = _by_program(rows, bounds, columns, backend)
    by_integers = sorted(found.vertices, key=clear_denominators)
    return Generators(tuple(by_integers), tuple(sorted(found.rays)))


def _by_ppl(rows: Rows, bounds: Sequence[Rational], columns: int) -> Generators:
    polyhedron = Polyhedron.from_inequalities(
        columns, [(row, -bound) for row, bound in zip(rows, bounds, strict=True)]
    )
    if polyhedron.lines:
        raise ValueError("the polyhedron contains a line and has no vertex")
    return Generators(polyhedron.points, polyhedron.rays)


def _by_program(rows: Rows, bounds: Sequence[Rational], columns: int, backend: str) -> Generators:
    package, name, options = _PROGRAMS[backend]
    completed = subprocess.run(
        [_program(package, name), *options],
        input=_h_representation(rows, bounds, columns),
        capture_output=True,
        text=True,
        check=False,
    )
    return _parse(completed.stdout, columns, f"{name}: {completed.stderr.strip()}")


@cache
def _program(package: str, name: str) -> str:
    try:
        located = [Path(str(f.locate())) for f in files(package) or () if f.name == name]
    except PackageNotFoundError:
        located = []
    path = str(located[0]) if located else which(name)
    if path is None:
        raise RuntimeError(f"the program {name} is missing: pip install {package}")
    return path


def _h_representation(rows: Rows, bounds: Sequence[Rational], columns: int) -> str:
    lines = ["H-representation", "begin", f"{len(rows)} {columns + 1} rational"]
    for row, bound in zip(rows, bounds, strict=True):
        integers, _ = clear_denominators((-bound, *row))
        lines.append(" ".join(map(str, integers)))
    return "\n".join([*lines, "end", ""])


def _parse(output: str, columns: int, context: str) -> Generators:
    """Read a V-representation: rows ``1 x`` are points, ``0 r`` rays."""
    if "begin" not in output or "\nend" not in output:
        raise RuntimeError(f"no generators came back from {context}")
    body = output.split("begin", 1)[1].split("\nend", 1)[0].strip().splitlines()[1:]
    if "linearity" in output.split("begin", 1)[0]:
        raise ValueError("the polyhedron contains a line and has no vertex")
    vertices: set[Vector] = set()
    rays: set[IntVector] = set()
    for line in body:
        head, *entries = map(Fraction, line.split())
        if head == 0:
            rays.add(primitive(entries)[0])
        else:
            vertices.add(tuple(entry / head for entry in entries))
    if rays and not vertices:
        vertices.add((Fraction(0),) * columns)
    return Generators(tuple(vertices), tuple(rays))
