"""A table of animals as a task: which animal is it, and which of its sides is asked for?

``zoo.csv`` holds the zoo data of Richard Forsyth (1990): 101 animals, 15 yes-or-no attributes, the
number of legs and one of seven classes, as published by the UCI Machine Learning Repository under
the Creative Commons Attribution 4.0 licence.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.gated_linear.tasks import Task, context_task

GROUPS = (
    ("hair", "feathers", "toothed", "backbone", "fins", "tail", "legs"),
    ("eggs", "milk", "breathes", "aquatic", "airborne"),
    ("predator", "venomous", "domestic", "catsize"),
)
"""Attributes of the three contexts: how it is built, how it lives, how it meets us."""

LEGS = (0, 2, 4, 5, 6, 8)


def zoo_animals() -> list[dict[str, str]]:
    """All 101 rows of the table, as strings by column name."""
    text = files("theorylab.gated_linear").joinpath("zoo.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _rows(animals: list[dict[str, str]], attribute: str) -> list[list[int]]:
    """The attribute as rows of 0 and 1; legs and class as one indicator per value."""
    if attribute == "legs":
        return [[int(int(a["legs"]) == count) for a in animals] for count in LEGS]
    if attribute == "type":
        classes = sorted({animal["type"] for animal in zoo_animals()})
        return [[int(a["type"] == name) for a in animals] for name in classes]
    return [[int(a[attribute]) for a in animals]]


def _block(animals: list[dict[str, str]], attributes: tuple[str, ...]) -> NDArray[np.int64]:
    return np.array([row for name in attributes for row in _rows(animals, name)], dtype=np.int64)


def zoo_task(every: int = 5, alpha: Any = Fraction(1)) -> Task:
    """Animals as objects, three groups of attributes as contexts, their classes in common.

    Parameters
    ----------
    every : int
        Take every so-maniest animal; 1 takes all 101.
    alpha : number or str
        Strength of the context input.
    """
    animals = _some_animals(every)
    blocks = [_block(animals, group) for group in GROUPS]
    return context_task(blocks, common=_block(animals, ("type",)), alpha=alpha)


def zoo_whole_table(every: int = 5, contexts: int = 3) -> Task:
    """The same animals with the whole table in every block."""
    animals = _some_animals(every)
    table = _block(animals, (*(name for group in GROUPS for name in group), "type"))
    return context_task([table] * contexts)


def _some_animals(every: int) -> list[dict[str, str]]:
    if every < 1:
        raise ValueError(f"every must be at least 1, got {every}")
    return zoo_animals()[::every]


def named_task(name: str) -> Task:
    """A bundled table by name."""
    tables = {"zoo": zoo_task, "zoo-whole-table": zoo_whole_table}
    if name not in tables:
        raise ValueError(f"no bundled table {name!r}; there are {', '.join(tables)}")
    return tables[name]()
