"""Estimates that use more than singletons, and intervals: theorylab beside nltk and scikit-bio.

``python benchmarks/bench_missing_mass_learned.py`` prints a table and writes
``benchmarks/results/missing_mass_learned.json``. Both sides start from the same counts per class;
nltk's "simple Good-Turing" leaves the missing mass at Phi_1/n, so that only the times compare, and
its error on the sample is shown beside ours. The first, cold round is thrown away.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from theorylab.missing_mass import Fingerprint, bag2, estimate, intervals, zipf

try:
    import nltk
    import skbio
    from nltk.probability import FreqDist, SimpleGoodTuringProbDist
    from skbio.diversity.alpha import esty_ci, lladser_pe
except ImportError:
    nltk = skbio = None

RESULT = Path(__file__).parent / "results" / "missing_mass_learned.json"
ROUNDS, WINDOW = 15, 0.02


def seconds(task: Callable[[], object]) -> float:
    """Seconds of one call, averaged over as many as fit into ``WINDOW``."""
    start, calls = perf_counter(), 0
    while calls == 0 or perf_counter() - start < WINDOW:
        task()
        calls += 1
    return (perf_counter() - start) / calls


def row(case: str, ours: Callable[[], object], peer: Callable[[], object]) -> dict[str, object]:
    """Median seconds of both, run in turn."""
    times = [(seconds(ours), seconds(peer)) for _ in range(ROUNDS + 1)][1:]
    own, other = median(t for t, _ in times), median(t for _, t in times)
    return {"case": case, "ours_s": own, "peer_s": other, "ratio": other / own}


def simple_good_turing(counts: NDArray[np.int64]) -> float:
    """Missing mass after nltk's smoothing."""
    table = FreqDist({i: int(c) for i, c in enumerate(counts) if c})
    return SimpleGoodTuringProbDist(table, bins=table.B() + 1).discount()


def rows() -> list[dict[str, object]]:
    rng, found = np.random.default_rng(0), []
    for n in (100, 1000):
        counts = rng.multinomial(n, zipf(n).floats)
        found += [
            row(
                f"default estimate, nltk, n = {n}",
                lambda counts=counts: estimate(Fingerprint.from_counts(counts)),
                lambda counts=counts: simple_good_turing(counts),
            ),
            row(
                f"BAG2 formula, skbio lladser_pe, n = {n}",
                lambda counts=counts: bag2(Fingerprint.from_counts(counts)),
                lambda counts=counts: lladser_pe(counts),
            ),
            row(
                f"Esty's interval, skbio, n = {n}",
                lambda counts=counts: intervals.esty(Fingerprint.from_counts(counts)),
                lambda counts=counts: esty_ci(counts),
            ),
        ]
    return found


def main() -> None:
    """Measure, print and store, or say which peer is missing."""
    if nltk is None or skbio is None:
        print("skipped: needs nltk and scikit-bio (pip install -r benchmarks/requirements.txt)")
        return
    warnings.simplefilter("ignore")
    measured = rows()
    for entry in measured:
        print("{case:42s} {ours_s:9.2e} s {peer_s:9.2e} s  x{ratio:6.2f}".format(**entry))
    RESULT.parent.mkdir(exist_ok=True)
    result = {
        "title": "Learned estimates and intervals of the missing mass",
        "peer": "nltk, scikit-bio",
        "peer_version": f"{nltk.__version__}, {skbio.__version__}",
        "rows": measured,
        "target": "ratio at least 1/3",
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
