"""The rules of the house about imports, and that they can be broken."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]

BREAKAGES = {
    "missing_mass/theory.py": "from theorylab.missing_mass import sampling",
    "missing_mass/fingerprint.py": "import theorylab.missing_mass.sampling",
    "total_variation/theory_products.py": "from . import products",
    "total_variation/certificates.py": "from theorylab.total_variation.equivalence import *",
    "relu_depth/__init__.py": "from theorylab.dc_decomposition import ReLUNet",
    "stats.py": "from theorylab.missing_mass import fingerprint",
    "exact/matrices.py": "import theorylab.relu_depth",
    # A chapter that nobody has told the linter of.
    "brand_new/__init__.py": "import theorylab.missing_mass",
    "brand_new/claims.py": "",
    "brand_new/theory.py": "from theorylab.brand_new import simulate",
    "brand_new/simulate.py": "",
}
PREDICTION = "A prediction never looks at the measurement"
CHAPTERS = "Chapters never import each other, and the core never imports a chapter"
CHECKER = "A checker of certificates shares nothing with the solver"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command as c; c(['--no-cache'])"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )


def test_the_rules_hold():
    result = lint(REPOSITORY)
    assert result.returncode == 0, result.stdout + result.stderr
    for name in (PREDICTION, CHAPTERS, CHECKER):
        assert f"{name} KEPT" in result.stdout


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> str:
    """What the linter says of a copy of the package in which every rule is broken."""
    folder = tmp_path_factory.mktemp("broken")
    shutil.copy(REPOSITORY / "pyproject.toml", folder)
    package = folder / "src" / "theorylab"
    shutil.copytree(
        REPOSITORY / "src" / "theorylab",
        package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for name, line in BREAKAGES.items():
        path = package / name
        path.parent.mkdir(exist_ok=True)
        before = path.read_text(encoding="utf8") if path.exists() else ""
        path.write_text(f"{before}\n{line}\n", encoding="utf8")
    result = lint(folder)
    assert result.returncode == 1
    return result.stdout


@pytest.mark.parametrize("name", [PREDICTION, CHAPTERS, CHECKER])
def test_each_rule_can_be_broken(said, name):
    assert f"{name} BROKEN" in said


@pytest.mark.parametrize(
    "chain",
    [
        "missing_mass.theory -> theorylab.missing_mass.sampling",
        "missing_mass.fingerprint -> theorylab.missing_mass.sampling",
        "total_variation.theory_products -> theorylab.total_variation.products",
        "total_variation.certificates -> theorylab.total_variation.equivalence",
        "relu_depth -> theorylab.dc_decomposition",
        "stats -> theorylab.missing_mass.fingerprint",
        "exact.matrices -> theorylab.relu_depth",
    ],
)
def test_each_broken_import_is_named(said, chain):
    assert f"theorylab.{chain} (l." in said


def test_a_new_chapter_is_covered_without_being_listed(said):
    assert "theorylab.brand_new -> theorylab.missing_mass (l." in said
    assert "theorylab.brand_new.theory -> theorylab.brand_new.simulate (l." in said
