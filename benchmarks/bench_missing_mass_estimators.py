"""Point estimates of the missing mass: theorylab beside scikit-bio's ``robbins``.

``python benchmarks/bench_missing_mass_estimators.py`` prints a table and writes
``benchmarks/results/missing_mass_estimators.json``. Both sides start from the same array of counts
per class, zeros included; both return singletons over n. The first, cold round is thrown away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pairing import Result, Row, compared, report, skip

from theorylab.missing_mass import Fingerprint, good_turing, minimal_bias, zipf

try:
    import skbio
    from skbio.diversity.alpha import robbins
except ImportError:
    skbio = None

ROUNDS = 15


def good_turing_of(counts: NDArray[np.int64]) -> float:
    fp = Fingerprint.from_counts(counts)
    return good_turing(fp.n).estimate(fp)


def truncated_of(counts: NDArray[np.int64]) -> float:
    fp = Fingerprint.from_counts(counts)
    return minimal_bias(fp.n, 2).estimate(fp)


def rows() -> list[Row]:
    rng, found = np.random.default_rng(0), []
    for n in (100, 1000, 20_000):
        counts = rng.multinomial(n, zipf(n // 2).probabilities().astype(float))
        assert abs(good_turing_of(counts) - robbins(counts)) < 1e-12
        for case, ours in (("Good-Turing", good_turing_of), ("B_2", truncated_of)):
            found.append(
                compared(
                    f"{case}, n = {n}",
                    lambda c=counts, f=ours: f(c),
                    lambda c=counts: robbins(c),
                    rounds=ROUNDS,
                    least=1 / 3,
                )
            )
    return found


def main() -> None:
    if skbio is None:
        skip("scikit-bio")
    report(
        "missing_mass_estimators",
        Result(
            "Missing mass: point estimates from counts",
            "scikit-bio robbins",
            skbio.__version__,
            tuple(rows()),
            "ratio (peer over ours) at least 1/3",
        ),
    )


if __name__ == "__main__":
    main()
