"""Findings on mean squared errors relative to Good-Turing, from paired comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats as distributions

from theorylab import stats
from theorylab.findings import NotRejected, Rejected
from theorylab.missing_mass.fingerprint import (
    BENCHMARKS,
    FIXED_BENCHMARKS,
    Population,
    benchmark_population,
)
from theorylab.missing_mass.protocols import Comparison, PopulationSampler
from theorylab.run import Run

Cell = tuple[str, int, int]
"""Population, number of classes, sample size."""

Cells = Mapping[str, Comparison]

BENCHMARK_CELLS: tuple[Cell, ...] = tuple(
    (name, size, n)
    for size in (100, 200)
    for name in BENCHMARKS
    for n in (size // 2, size, 2 * size)
)


def sampler(name: str, size: int) -> PopulationSampler:
    """A benchmark population, in floats; the random ones are drawn anew for each repetition."""
    if name in FIXED_BENCHMARKS:
        return fixed(name, size)
    return lambda rng: benchmark_population(name, size, rng)


def fixed(name: str, size: int) -> Population:
    """One of the four benchmark populations that are not random, in floats."""
    population = benchmark_population(name, size)
    return Population.from_atoms(population.floats, population.multiplicities)


def over_cells(
    run: Run, compare: Callable[[PopulationSampler, int, np.random.SeedSequence], Comparison]
) -> dict[str, Comparison]:
    """``compare(population, n, seed)`` on the 36 benchmark cells, a stream for each."""
    return {
        f"{name} S={size} n={n}": compare(
            sampler(name, size), n, run.seed_sequence(f"{name} {size} {n}")
        )
        for name, size, n in BENCHMARK_CELLS
    }


def excess(cells: Cells, bound: float) -> NDArray[np.float64]:
    """Per repetition, squared error minus bound times Good-Turing's, in units of the latter's mean.

    Its mean, over cells of equal size, is the mean over cells of ratio minus bound.
    """
    return np.concatenate(
        [(cell.method - bound * cell.baseline) / cell.baseline.mean() for cell in cells.values()]
    )


def mean_ratio_at_most(cells: Cells, bound: float, against: float) -> NotRejected:
    """Test of "the mean over cells of the ratio is at most ``bound``"."""
    test = stats.mean_at_most(excess(cells, bound), 0.0, power_against=against - bound)
    return replace(
        test, against=f"a mean ratio of {against:g}", note=f"{_shown(cells)}, bound {bound:g}"
    )


def mean_ratio_below(cells: Cells, bound: float, expected: float) -> Rejected:
    """Demonstration that the mean ratio is below ``bound``; power if it is ``expected``."""
    return _demonstrated(cells, bound, bound - expected, stats.mean_below, "at least")


def mean_ratio_above(cells: Cells, bound: float, expected: float) -> Rejected:
    """Demonstration that the mean ratio is above ``bound``; power if it is ``expected``."""
    return _demonstrated(cells, bound, expected - bound, stats.mean_above, "at most")


def _demonstrated(
    cells: Cells, bound: float, effect: float, test: Callable[..., Rejected], null: str
) -> Rejected:
    values = excess(cells, bound)
    return replace(
        test(values, 0.0),
        power=detection_power(effect, float(distributions.sem(values)), stats.LEVEL),
        null=f"the mean ratio is {null} {bound:g}",
        note=_shown(cells),
    )


def detection_power(effect: float, error: float, level: float) -> float:
    """Probability that a one-sided normal test at ``level`` detects ``effect``."""
    if error == 0:
        return float(effect > 0)
    return float(distributions.norm.sf(distributions.norm.isf(level) - effect / error))


def every_ratio_at_most(cells: Cells, bound: float, against: float) -> NotRejected:
    """Test of "no cell has a ratio above ``bound``", corrected for the number of cells.

    The power is that of the least powerful cell, if its ratio is ``against``.
    """
    level = stats.LEVEL / len(cells)
    tests = {
        name: stats.mean_at_most(excess({name: cell}, bound), 0.0, power_against=1, level=level)
        for name, cell in cells.items()
    }
    errors = [float(distributions.sem(excess({name: cell}, bound))) for name, cell in cells.items()]
    worst = max(cells, key=lambda name: cells[name].ratio)
    return NotRejected(
        min(1.0, len(cells) * min(test.p_value for test in tests.values())),
        stats.LEVEL,
        min(detection_power(against - bound, error, level) for error in errors),
        against=f"a cell with ratio {against:g}",
        sizes={"cells": len(cells), "samples per cell": len(cells[worst].method)},
        note=f"{worst}: {_shown({worst: cells[worst]})}",
    )


def success_at_least(cells: Cells, bound: float, against: float) -> NotRejected:
    """Test of "at least this share of repetitions is won", ties counted as lost."""
    return stats.proportion_at_least(_wins(cells), bound, power_against=bound - against)


def success_above_half(cells: Cells, expected: float) -> Rejected:
    """Demonstration that more than half of the repetitions are won."""
    wins = _wins(cells)
    count, total = int(wins.sum()), wins.size
    return Rejected(
        distributions.binomtest(count, total, 0.5, alternative="greater").pvalue,
        stats.LEVEL,
        detection_power(expected - 0.5, float(np.sqrt(0.25 / total)), stats.LEVEL),
        null="at most half of the samples are won",
        sizes={"samples": total},
        note=f"{count / total:.3f} won",
    )


def _wins(cells: Cells) -> NDArray[np.bool_]:
    return np.concatenate([cell.method < cell.baseline for cell in cells.values()])


def _shown(cells: Cells) -> str:
    ratios = [cell.ratio for cell in cells.values()]
    error = np.sqrt(sum(cell.standard_error**2 for cell in cells.values())) / len(cells)
    mean = f"mean ratio {np.mean(ratios):.3f} ± {error:.3f}"
    return mean if len(cells) == 1 else f"{mean} over {len(cells)} cells"
