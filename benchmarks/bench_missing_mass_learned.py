"""Estimates that use more than singletons, and intervals: theorylab beside nltk and scikit-bio.

``python benchmarks/bench_missing_mass_learned.py`` prints a table and writes
``benchmarks/results/missing_mass_learned.json``. Both sides start from the same counts per class;
nltk's "simple Good-Turing" leaves the missing mass at Phi_1/n, so that only the times compare, and
its error on the sample is shown beside ours. The first, cold round is thrown away.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from pairing import Result, Row, compared, report, skip

from theorylab.missing_mass import Fingerprint, bag2, estimate, intervals, zipf

try:
    import nltk
    import skbio
    from nltk.probability import FreqDist, SimpleGoodTuringProbDist
    from skbio.diversity.alpha import esty_ci, lladser_pe
except ImportError:
    nltk = skbio = None

ROUNDS, LEAST = 15, 1 / 3


def simple_good_turing(counts: NDArray[np.int64]) -> float:
    """Missing mass after nltk's smoothing."""
    table = FreqDist({i: int(c) for i, c in enumerate(counts) if c})
    return SimpleGoodTuringProbDist(table, bins=table.B() + 1).discount()


def rows() -> list[Row]:
    rng, found = np.random.default_rng(0), []
    for n in (100, 1000):
        counts = rng.multinomial(n, zipf(n).floats)
        sides = {
            "default estimate, nltk": (estimate, simple_good_turing),
            "BAG2 formula, skbio lladser_pe": (bag2, lladser_pe),
            "Esty's interval, skbio": (intervals.esty, esty_ci),
        }
        for case, (ours, peer) in sides.items():
            found.append(
                compared(
                    f"{case}, n = {n}",
                    lambda counts=counts, ours=ours: ours(Fingerprint.from_counts(counts)),
                    lambda counts=counts, peer=peer: peer(counts),
                    rounds=ROUNDS,
                    least=LEAST,
                )
            )
    return found


def main() -> None:
    """Measure, print and store, or say which peer is missing."""
    if nltk is None or skbio is None:
        skip("nltk or scikit-bio")
    warnings.simplefilter("ignore")
    report(
        "missing_mass_learned",
        Result(
            "Learned estimates and intervals of the missing mass",
            "nltk, scikit-bio",
            f"{nltk.__version__}, {skbio.__version__}",
            tuple(rows()),
            "ratio at least 1/3",
        ),
    )


if __name__ == "__main__":
    main()
