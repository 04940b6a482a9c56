"""Fitting a formula to a plug-in: one linear solve beside the paper's genetic search.

``python benchmarks/bench_missing_mass_search.py`` prints a table and writes
``benchmarks/results/missing_mass_search.json``. Both sides start from the same fingerprint and use
the same plug-in. The search is the book's own rewriting of the released one, with compiled
moments, which is far faster than the original. Its error under the
plug-in is shown beside that of the best linear estimator in ten orders.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
from pairing import Measure, Result, Row, compared_clocks, report, seconds

from theorylab.missing_mass import (
    BENCHMARKS,
    Fingerprint,
    benchmark_population,
    draw,
    ga,
    moments,
    natural_good_turing,
    optimal,
    two_term,
)

SIZE, ORDERS, ROUNDS, WINDOW = 100, 10, 3, 0.005


def row(name: str, fp: Fingerprint) -> Row:
    """Median seconds of solves and of whole searches, run in turn on different seeds."""
    best = optimal(moments(natural_good_turing(fp), fp.n, ORDERS), ORDERS).value
    seeds, errors = count(), []

    def search() -> None:
        seed = next(seeds)
        found = ga.search(fp, natural_good_turing, seed=seed, mutate=ga.released_mutation)
        errors.append(found.mse / best)

    found = compared_clocks(
        f"{name}, S = n = {SIZE}",
        lambda: seconds(lambda: two_term(fp), WINDOW),
        lambda: seconds(search),
        rounds=ROUNDS,
        least=1e4,
    )
    return replace(found, details={"peer_error_over_optimum": min(errors)})


def error_measure(found: Row) -> Measure:
    """The smallest error of the searches over the optimum: never below 1."""
    name = f"error of the search over the optimum, {found.case}"
    return Measure(name, found.details["peer_error_over_optimum"], least=1.0)


def main() -> None:
    """Measure, print and store."""
    rng = np.random.default_rng(0)
    samples = {
        name: draw(benchmark_population(name, SIZE, rng), SIZE, rng).fingerprint
        for name in BENCHMARKS
    }
    rows = tuple(row(name, fp) for name, fp in samples.items())
    report(
        "missing_mass_search",
        Result(
            "One linear solve beside a genetic search, same plug-in",
            "genetic search of the paper, rewritten with compiled moments",
            "released mutations",
            rows,
            "ratio at least 1e4; error of the search never below the optimum",
            measures=tuple(error_measure(found) for found in rows),
        ),
    )


if __name__ == "__main__":
    main()
