"""The same-sample table: 36 cells of 400 samples each, compiled loops beside plain NumPy.

``python benchmarks/bench_missing_mass_table.py`` prints a table and writes
``benchmarks/results/missing_mass_table.json``. The peer is the same averaged two-term solve written
with ``numpy.random.multinomial`` and the chapter's general moments; it is run on a few samples of
each cell and its time scaled up. Both must return the same mean of the coefficients, up to noise.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from pairing import Measure, Result, Row, report, seconds

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

SAMPLES, PEER_SAMPLES, RESAMPLES = 400, 8, 10
ALLOWED_S = 60.0


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


def row(size: int, n: int) -> Row:
    """All six populations at one size, both sides in turn."""
    ours = peer = 0.0
    errors: list[float] = []

    def compiled(seed: int, population: protocols.PopulationSampler) -> None:
        errors.append(protocols.same_sample(bag2, population, n, SAMPLES, seed).ratio)

    def plain(seed: int, population: protocols.PopulationSampler) -> None:
        protocols.same_sample(plain_bag2, population, n, PEER_SAMPLES, seed)

    for seed, name in enumerate(BENCHMARKS):
        population = source(name, size)
        ours += seconds(partial(compiled, seed, population))
        peer += seconds(partial(plain, seed, population)) * SAMPLES / PEER_SAMPLES
    case = f"S = {size}, n = {n}, 6 populations x {SAMPLES}"
    return Row.of(case, ours, peer, mean_mse=float(np.mean(errors)))


def main() -> None:
    """Warm up, measure, print and store."""
    bag2(Fingerprint.from_counts([1, 1, 2, 3]))
    rows = tuple(row(size, n) for size in (100, 200) for n in (size // 2, size, 2 * size))
    used = sum(found.ours_s for found in rows) / ALLOWED_S
    report(
        "missing_mass_table",
        Result(
            "Same-sample table of 36 cells x 400 samples on one core",
            "the same estimator in plain NumPy",
            np.__version__,
            rows,
            "whole table at most 60 s",
            measures=(Measure("part used of the 60 s allowed for the table", used, most=1.0),),
        ),
    )


if __name__ == "__main__":
    main()
