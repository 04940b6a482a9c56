"""The rules of the house about imports, and that they can be broken."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
    )


def copy_of_the_package(folder: Path) -> Path:
    shutil.copy(REPOSITORY / "pyproject.toml", folder)
    shutil.copytree(
        REPOSITORY / "src" / "theorylab",
        folder / "src" / "theorylab",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return folder


def test_the_rules_hold():
    result = lint(REPOSITORY)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_prediction_that_peeks_is_found(tmp_path):
    folder = copy_of_the_package(tmp_path)
    theory = folder / "src" / "theorylab" / "missing_mass" / "theory.py"
    theory.write_text(theory.read_text() + "\nfrom theorylab.missing_mass import sampling\n")
    result = lint(folder)
    assert result.returncode == 1
    assert "A prediction never looks at the measurement BROKEN" in result.stdout


def test_a_chapter_that_uses_another_is_found(tmp_path):
    folder = copy_of_the_package(tmp_path)
    face = folder / "src" / "theorylab" / "relu_depth" / "__init__.py"
    face.write_text(face.read_text() + "\nfrom theorylab.dc_decomposition import ReLUNet\n")
    result = lint(folder)
    assert result.returncode == 1
    assert "Chapters never import each other BROKEN" in result.stdout
