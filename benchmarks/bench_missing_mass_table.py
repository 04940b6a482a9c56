"""The same-sample table: 36 cells of 400 samples each, compiled loops beside plain NumPy.

``python benchmarks/bench_missing_mass_table.py`` prints a table and writes
``benchmarks/results/missing_mass_table.json``. The peer is the same averaged two-term solve written
with ``numpy.random.multinomial`` and the chapter's general moments; it is run on a few samples of
each cell and its time scaled up. Both must return the same mean of the coefficients, up to noise.
"""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

import numpy as np

from theorylab.missing_mass import (
    BENCHMARKS,
    Fingerprint,
    Linear,
    Population,
    bag2,
    benchmark_population,
    moments,
    natural_good_turing,
    protocols,
)

RESULT = Path(__file__).parent / "results" / "missing_mass_table.json"
SAMPLES, PEER_SAMPLES, RESAMPLES = 400, 8, 10


def plain_bag2(fp: Fingerprint) -> Linear:
    """The averaged solve without compiled code."""
    rng, plug_in = np.random.default_rng(fp.distinct), natural_good_turing(fp)
    p = plug_in.probabilities()
    refits = [
        natural_good_turing(Fingerprint.from_counts(counts))
        for counts in rng.multinomial(fp.n, p / p.sum(), size=RESAMPLES)
    ]
    found = [moments(pop, fp.n, 2, intercept=False) for pop in (plug_in, *refits)]
    matrix = np.mean([mom.A for mom in found], axis=0)
    return Linear(np.linalg.solve(matrix, np.mean([mom.b for mom in found], axis=0)))


def source(name: str, size: int) -> protocols.PopulationSampler:
    """A benchmark population in floats; a new one for each sample if it is random."""
    if name.startswith("diri"):
        return lambda rng: benchmark_population(name, size, rng)
    population = benchmark_population(name, size)
    return Population.from_atoms(population.floats, population.multiplicities)


def row(size: int, n: int) -> dict[str, object]:
    """All six populations at one size, both sides in turn."""
    ours = peer = 0.0
    ratios = []
    for seed, name in enumerate(BENCHMARKS):
        population = source(name, size)
        start = perf_counter()
        ratios.append(protocols.same_sample(bag2, population, n, SAMPLES, seed).ratio)
        ours += perf_counter() - start
        start = perf_counter()
        protocols.same_sample(plain_bag2, population, n, PEER_SAMPLES, seed)
        peer += (perf_counter() - start) * SAMPLES / PEER_SAMPLES
    case = f"S = {size}, n = {n}, 6 populations x {SAMPLES}"
    mean = float(np.mean(ratios))
    return {"case": case, "ours_s": ours, "peer_s": peer, "ratio": peer / ours, "mean_mse": mean}


def main() -> None:
    """Warm up, measure, print and store."""
    bag2(Fingerprint.from_counts([1, 1, 2, 3]))
    rows = [row(size, n) for size in (100, 200) for n in (size // 2, size, 2 * size)]
    for entry in rows:
        print("{case:38s} {ours_s:7.2f} s {peer_s:7.1f} s  x{ratio:5.1f}".format(**entry))
    total = sum(float(str(entry["ours_s"])) for entry in rows)
    print(f"whole table {total:.1f} s")
    RESULT.parent.mkdir(exist_ok=True)
    result = {
        "title": "Same-sample table of 36 cells x 400 samples on one core",
        "peer": "the same estimator in plain NumPy",
        "peer_version": np.__version__,
        "rows": rows,
        "target": "whole table at most 60 s",
        "total_s": total,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
