"""The certificates beside the page, and the checker that goes with them."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from theorylab.relu_depth import published_certificate, verifier
from theorylab.relu_depth.published import SIZES

PUBLISHED = Path(__file__).parents[2] / "chapters" / "certificates"


def checked(path: Path) -> int:
    command = [sys.executable, "-I", str(PUBLISHED / "check_maximum.py"), str(path)]
    return subprocess.run(command, capture_output=True, check=False).returncode


def imported(path: Path) -> set[str]:
    return {
        (node.module or ".") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


@pytest.mark.parametrize("n", SIZES)
def test_the_page_and_the_package_hold_the_same_certificates(n):
    assert json.loads((PUBLISHED / f"max{n}.json").read_text()) == published_certificate(n)


@pytest.mark.parametrize("n", [5, 6])
def test_the_checker_accepts_what_is_published(n):
    assert checked(PUBLISHED / f"max{n}.json") == 0


@pytest.mark.parametrize("n", [5, 6])
def test_the_checker_rejects_a_coefficient_that_is_off(n, tmp_path):
    document = published_certificate(n)
    term = document["terms"][1]
    term["coefficient"] = str(Fraction(term["coefficient"]) + Fraction(1, 10**12))
    (tmp_path / "spoilt.json").write_text(json.dumps(document))
    assert checked(tmp_path / "spoilt.json") == 1


def test_the_checker_rejects_sides_of_different_length_and_wild_indices(tmp_path):
    for place, pairs in (("left", [[0, 1]]), ("right", [[0, 1], [0, 9]])):
        document = published_certificate(5)
        document["terms"][0][place] = pairs
        (tmp_path / f"{place}.json").write_text(json.dumps(document))
        assert checked(tmp_path / f"{place}.json") == 1


def test_checker_and_verifier_import_nothing_of_the_solver():
    standard = {"json", "sys", "collections", "fractions", "itertools", "math"}
    assert imported(PUBLISHED / "check_maximum.py") == standard
    assert not any("theorylab" in name or name == "." for name in imported(Path(verifier.__file__)))
