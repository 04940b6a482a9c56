"""Point estimates of the missing mass: theorylab beside scikit-bio's ``robbins``.

``python benchmarks/bench_missing_mass_estimators.py`` prints a table and writes
``benchmarks/results/missing_mass_estimators.json``. Both sides start from the same array of counts
per class, zeros included; both return singletons over n. The first, cold round is thrown away.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from theorylab.missing_mass import Fingerprint, good_turing, minimal_bias, zipf

try:
    import skbio
    from skbio.diversity.alpha import robbins
except ImportError:
    skbio = None

RESULT = Path(__file__).parent / "results" / "missing_mass_estimators.json"
WINDOW = 0.02
ROUNDS = 15


def seconds(task: Callable[[], object]) -> float:
    """Seconds of one call, averaged over as many as fit into ``WINDOW``."""
    start, calls = perf_counter(), 0
    while calls == 0 or perf_counter() - start < WINDOW:
        task()
        calls += 1
    return (perf_counter() - start) / calls


def row(case: str, ours: Callable[[], float], peer: Callable[[], float]) -> dict[str, object]:
    """Median seconds of both, run in turn."""
    times = [(seconds(ours), seconds(peer)) for _ in range(ROUNDS + 1)][1:]
    own, other = median(t for t, _ in times), median(t for _, t in times)
    return {"case": case, "ours_s": own, "peer_s": other, "ratio": other / own}


def good_turing_of(counts: NDArray[np.int64]) -> float:
    fp = Fingerprint.from_counts(counts)
    return good_turing(fp.n).estimate(fp)


def truncated_of(counts: NDArray[np.int64]) -> float:
    fp = Fingerprint.from_counts(counts)
    return minimal_bias(fp.n, 2).estimate(fp)


def rows() -> list[dict[str, object]]:
    rng, found = np.random.default_rng(0), []
    for n in (100, 1000, 20_000):
        counts = rng.multinomial(n, zipf(n // 2).probabilities().astype(float))
        assert abs(good_turing_of(counts) - robbins(counts)) < 1e-12
        for case, ours in (("Good-Turing", good_turing_of), ("B_2", truncated_of)):
            found.append(
                row(f"{case}, n = {n}", lambda c=counts, f=ours: f(c), lambda c=counts: robbins(c))
            )
    return found


def main() -> None:
    if skbio is None:
        print("scikit-bio is not installed (pip install scikit-bio): nothing to compare with")
        return
    found = rows()
    print(f"{'case':28} {'ours':>10} {'robbins':>10} {'peer/ours':>10}")
    for r in found:
        print(f"{r['case']:28} {r['ours_s']:10.2e} {r['peer_s']:10.2e} {r['ratio']:10.2f}")
    report = {
        "title": "Missing mass: point estimates from counts",
        "peer": "scikit-bio robbins",
        "peer_version": skbio.__version__,
        "rows": found,
        "target": "ratio (peer over ours) at least 1/3",
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
