"""The families that the default was fitted on, and that its constants are near their optimum."""

from __future__ import annotations

import numpy as np
import pytest

from theorylab.missing_mass.bagging import HALVING_SIZE, LARGEST_WEIGHT
from theorylab.missing_mass.fingerprint import Population, benchmark_population
from theorylab.missing_mass.training import (
    Corrections,
    corrections,
    families,
    fit_shrinkage,
    training_draws,
)


def test_no_family_is_a_benchmark() -> None:
    rng = np.random.default_rng(0)
    benchmarks = [
        benchmark_population(name, 100) for name in ("uniform", "half", "zipf", "zipfhalf")
    ]
    for weights in families().values():
        p = np.sort(Population.from_weights(weights(100, rng)).probabilities())
        for other in benchmarks:
            q = np.sort(other.probabilities().astype(float))
            assert len(p) != len(q) or np.abs(p - q).max() > 1e-3


def test_draws_vary_in_family_size_and_load() -> None:
    draws = list(training_draws(60, 2, np.random.default_rng(0)))
    assert len(draws) == 120
    assert len({name for name, _ in draws}) > 15
    sizes = np.array([draw.fingerprint.n for _, draw in draws])
    assert 20 <= sizes.min() < 60
    assert 1000 < sizes.max() <= 3000


def test_the_default_is_near_the_best_of_its_kind() -> None:
    found = corrections(120, 12, np.random.default_rng(1))
    largest, halving = fit_shrinkage(found)
    best = found.mean_ratio(lambda n: largest / (1 + n / halving))
    ours = found.mean_ratio(lambda n: LARGEST_WEIGHT / (1 + n / HALVING_SIZE))
    assert best <= ours <= best + 0.01
    assert ours < found.mean_ratio(np.ones_like) - 0.05
    assert ours < found.mean_ratio(np.zeros_like) == 1.0


def test_a_fit_finds_a_rule_that_was_planted() -> None:
    sizes = np.geomspace(20, 3000, 50)
    best = 0.6 / (1 + sizes / 200)
    planted = Corrections(-best * 2.0, np.full(50, 2.0), sizes)
    assert fit_shrinkage(planted) == pytest.approx((0.6, 200), rel=1e-2)
