"""Drawing samples whose missing mass is known."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theorylab.missing_mass.fingerprint import Fingerprint, Population


@dataclass(frozen=True)
class Sample:
    """One sample: its fingerprint, and the truth it does not show.

    Attributes
    ----------
    fingerprint : Fingerprint
        What the observer sees.
    missing_mass : float
        Probability of the classes that are not in the sample.
    """

    fingerprint: Fingerprint
    missing_mass: float


def draw(population: Population, n: int, rng: np.random.Generator) -> Sample:
    """``n`` independent draws, with the missing mass that they leave.

    Raises
    ------
    ValueError
        If ``n`` is not positive.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    p: NDArray[np.float64] = population.probabilities().astype(float)
    counts = rng.multinomial(n, p / p.sum())
    return Sample(Fingerprint.from_counts(counts), float(p[counts == 0].sum()))


def random_distribution(
    rng: np.random.Generator, most_classes: int, largest_weight: int = 60
) -> tuple[Fraction, ...]:
    """A random rational distribution over 2 to ``most_classes`` classes, one often dominant.

    Weights are whole numbers up to ``largest_weight``, raised to a random power so that flat
    and steep distributions both occur.
    """
    classes = int(rng.integers(2, most_classes + 1))
    power = int(rng.integers(1, 4))
    weights = [int(w) ** power for w in rng.integers(1, largest_weight + 1, size=classes)]
    return tuple(Fraction(w, sum(weights)) for w in weights)
