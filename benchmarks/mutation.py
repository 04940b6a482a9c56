"""How many planted errors the tests and claims of a chapter catch.

``python benchmarks/mutation.py --per-chapter 10 --workers 2`` draws places in the chapters' theory
and algorithm modules (pictures, claims and data aside), plants one error at a time in a copy of the
sources (an operator, a comparison, a sign or a constant changed), and runs the chapter's tests and
then its claims on the copy. It prints what survives and writes
``benchmarks/results/mutation.json``.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "theorylab"
RESULT = Path(__file__).parent / "results" / "mutation.json"
LEFT_OUT = ("figures", "interactive", "claims", "__init__", "data", "cards")
LIMIT = 600
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Planted:
    """One error: a node of a module and what became of it."""

    chapter: str
    module: str
    line: int
    node: int
    before: str
    after: str
    caught_by: str = ""


def modules(chapter: str) -> Iterator[Path]:
    for path in sorted((PACKAGE / chapter).rglob("*.py")):
        parts = path.relative_to(PACKAGE / chapter).with_suffix("").parts
        if not any(word in part for part in parts for word in LEFT_OUT):
            yield path


def changed(node: ast.AST) -> ast.AST | None:
    """The node with an error in it; None where no error of ours fits."""
    made = deepcopy(node)
    if isinstance(made, ast.BinOp | ast.BoolOp) and type(made.op) in OPERATORS:
        made.op = OPERATORS[type(made.op)]()  # type: ignore[assignment]
        return made
    if isinstance(made, ast.Compare) and type(made.ops[0]) in OPERATORS:
        made.ops[0] = OPERATORS[type(made.ops[0])]()  # type: ignore[call-overload]
        return made
    if isinstance(made, ast.UnaryOp) and isinstance(made.op, ast.USub):
        return made.operand
    if isinstance(made, ast.Constant) and type(made.value) in (int, float):
        made.value += 1  # type: ignore[operator]
        return made
    return None


def computing(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes inside functions that compute: no annotations, defaults, messages or errors raised."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef):
            if child.name != "__repr__":
                for statement in child.body:
                    yield from _expressions(statement)
        elif isinstance(child, ast.ClassDef):
            yield from computing(child)


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _expressions(child)


def candidates(chapter: str) -> list[Planted]:
    found = []
    for path in modules(chapter):
        nodes = list(computing(ast.parse(path.read_text())))
        for place, node in enumerate(nodes):
            after = changed(node)
            if after is not None:
                found.append(
                    Planted(
                        chapter,
                        str(path.relative_to(ROOT)),
                        node.lineno,  # type: ignore[attr-defined]
                        place,
                        ast.unparse(node),
                        ast.unparse(after),
                    )
                )
    return found


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def with_error(source: str, place: int) -> str:
    """The module with an error at the node of that number."""
    tree = ast.parse(source)
    node = list(computing(tree))[place]
    after = changed(node)
    assert after is not None
    return ast.unparse(ast.fix_missing_locations(_Replace(node, after).visit(tree)))


def caught_by(planted: Planted) -> str:
    """What turns red with the error planted: "test", "claim", "time" or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        broken = _copied(Path(folder)) / planted.module
        broken.write_text(with_error(broken.read_text(), planted.node))
        return _first_red(Path(folder), planted.chapter, Path(planted.module).stem)


def check_sound(chapter: str) -> None:
    """Stop if the copy is red without any error planted: then nothing would be shown."""
    with tempfile.TemporaryDirectory() as folder:
        red = _first_red(_copied(Path(folder)), chapter, "")
    if red:
        raise SystemExit(f"{chapter}: a {red} fails with no error planted; mend that first")


def _copied(copy: Path) -> Path:
    for name in ("src", "tests", "chapters", "pyproject.toml"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
    return copy


def _first_red(copy: Path, chapter: str, module: str) -> str:
    """The chapter's tests, those of the module first and those of claims last; then its claims."""
    tests = sorted(
        (copy / "tests" / chapter).glob("test_*.py"),
        key=lambda path: (module not in path.stem, "claims" in path.stem, path.stem),
    )
    test = [sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", "-m", "not gpu"]
    verify = [sys.executable, "-m", "theorylab", "verify", chapter, "--records", "records"]
    for kind, command in (("test", [*test, *map(str, tests)]), ("claim", verify)):
        try:
            if _fails(command, copy):
                return kind
        except subprocess.TimeoutExpired:
            return "time"
    return ""


def _fails(command: list[str], copy: Path) -> bool:
    environment = os.environ | {
        "PYTHONPATH": str(copy / "src"),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=LIMIT)
    return run.returncode != 0


def examined(planted: Planted) -> Planted:
    done = Planted(**asdict(planted) | {"caught_by": caught_by(planted)})
    print(f"{done.caught_by or 'SURVIVES':8} {done.module}:{done.line}", flush=True)
    print(f"           {done.before[:70]}  ->  {done.after[:70]}", flush=True)
    return done


def chapters() -> list[str]:
    return sorted(path.parent.name for path in PACKAGE.glob("*/claims*") if path.stem == "claims")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("chapters", nargs="*", default=chapters())
    options.add_argument("--per-chapter", type=int, default=10)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--workers", type=int, default=2)
    given = options.parse_args()
    drawn: list[Planted] = []
    for chapter in given.chapters:
        check_sound(chapter)
        places = candidates(chapter)
        rng = random.Random(f"{given.seed} {chapter}")
        drawn += rng.sample(places, min(given.per_chapter, len(places)))
    with ThreadPoolExecutor(given.workers) as pool:
        found = list(pool.map(examined, drawn))
    caught = sum(bool(planted.caught_by) for planted in found)
    print(f"{caught} of {len(found)} caught")
    result = {
        "title": "Planted errors caught by a test or a claim",
        "planted": len(found),
        "caught": caught,
        "seed": given.seed,
        "errors": [asdict(planted) for planted in found],
    }
    RESULT.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
