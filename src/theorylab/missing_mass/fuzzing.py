"""A real fuzzing campaign: mutated documents into Python's TOML parser, classed by behaviour."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

DOCUMENT = """\
title = "x"
[owner]
name = "Tom"
dob = 1979-05-27T07:32:00-08:00
[db]
ports = [ 8000, 8001 ]
data = { a = 1.5, b = true }
"q" = 'lit'
"""
ALPHABET = "[]{}=\"'#.,\n 0123456789truefalse-:TZ\\ux"
MOST_EDITS = 4
PARSER = str(Path(tomllib.__file__).parent)

Behaviour = tuple[str, frozenset[tuple[str, int]]]
"""Outcome, and the lines of the parser that ran."""


def fuzz(executions: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Run independent mutants of one document and number their behaviours.

    Each input is the same document with one to four random characters replaced, inserted or
    deleted. Inputs are independent and identically distributed, so that the probability that the
    next one shows a new behaviour is a missing mass.

    Parameters
    ----------
    executions : int
        Number of inputs, at least 1.
    rng : numpy.random.Generator

    Returns
    -------
    int array, shape (executions,)
        Behaviours numbered in order of appearance. Which there are depends on the version of
        Python, whose own parser is under test.

    Raises
    ------
    ValueError
        If ``executions < 1``.
    """
    if executions < 1:
        raise ValueError(f"executions must be at least 1, got {executions}")
    numbers: dict[Behaviour, int] = {}
    found = (behaviour(mutant(rng)) for _ in range(executions))
    return np.array([numbers.setdefault(seen, len(numbers)) for seen in found])


def mutant(rng: np.random.Generator) -> str:
    """The document after one to four random edits."""
    characters = list(DOCUMENT)
    for _ in range(int(rng.integers(1, MOST_EDITS + 1))):
        edit = _EDITS[int(rng.integers(len(_EDITS)))]
        edit(characters, int(rng.integers(len(characters))), _character(rng))
    return "".join(characters)


def _character(rng: np.random.Generator) -> str:
    return ALPHABET[int(rng.integers(len(ALPHABET)))]


def _replace(characters: list[str], place: int, new: str) -> None:
    characters[place] = new


def _insert(characters: list[str], place: int, new: str) -> None:
    characters.insert(place, new)


def _delete(characters: list[str], place: int, new: str) -> None:
    del characters[place]


_EDITS: tuple[Callable[[list[str], int, str], None], ...] = (_replace, _insert, _delete)


def behaviour(text: str) -> Behaviour:
    """Parse the text and watch: the outcome and the set of parser lines that were executed."""
    lines: set[tuple[str, int]] = set()
    previous = sys.gettrace()
    sys.settrace(_tracer(lines))
    try:
        outcome = _outcome(text)
    finally:
        sys.settrace(previous)
    return outcome, frozenset(lines)


def _outcome(text: str) -> str:
    try:
        tomllib.loads(text)
    except Exception as error:
        return type(error).__name__
    return "parsed"


def _tracer(lines: set[tuple[str, int]]) -> Callable[[FrameType, str, Any], Any]:
    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return on_line

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        return on_line if frame.f_code.co_filename.startswith(PARSER) else None

    return on_call
