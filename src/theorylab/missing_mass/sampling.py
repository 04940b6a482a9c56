"""Drawing samples whose missing mass is known."""

from __future__ import annotations

from dataclasses import dataclass

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
