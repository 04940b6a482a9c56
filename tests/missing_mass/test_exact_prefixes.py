"""Formulas over prefixes: enumeration of ordered samples, the fast kernel, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from theorylab.missing_mass import Population, exact_moments
from theorylab.missing_mass.enumeration import expectation, sequences
from theorylab.missing_mass.exact_prefixes import (
    condition,
    exact_formula_estimate,
    exact_formula_mean,
    exact_formula_mse,
    exact_prefix_mass_moment,
    exact_prefix_moment,
    random_formula,
)
from theorylab.missing_mass.prefixes import Formula, PrefixMoments

THREE = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))


def seen(labels: tuple[int, ...], k: int) -> int:
    return sum(labels.count(x) == k for x in set(labels))


def missing(labels: tuple[int, ...]) -> Fraction:
    return sum((u for x, u in enumerate(THREE) if x not in labels), start=Fraction(0))


@pytest.mark.parametrize(("n1", "n2"), [(4, 4), (5, 2), (2, 5)])
def test_second_moments_by_enumeration(n1: int, n2: int) -> None:
    n = max(n1, n2)
    for j in range(1, n1 + 1):
        for k in range(1, n2 + 1):
            counted = expectation(
                sequences(THREE, n), lambda s, j=j, k=k: seen(s[:n1], j) * seen(s[:n2], k)
            )
            assert exact_prefix_moment(THREE, n1, j, n2, k) == counted


@pytest.mark.parametrize("size", [1, 3, 5])
def test_cross_moments_by_enumeration(size: int) -> None:
    for k in range(1, size + 1):
        counted = expectation(sequences(THREE, 5), lambda s, k=k: seen(s[:size], k) * missing(s))
        assert exact_prefix_mass_moment(THREE, 5, size, k) == counted


def test_whole_samples_have_the_ordinary_moments() -> None:
    exact = exact_moments(THREE, 5, 5)
    for j in range(1, 6):
        assert exact_prefix_mass_moment(THREE, 5, 5, j) == exact.cross[j - 1]
        for k in range(1, 6):
            assert exact_prefix_moment(THREE, 5, j, 5, k) == exact.second[j - 1, k - 1]


def test_random_formulas_by_enumeration_and_in_floats() -> None:
    rng = np.random.default_rng(5)
    population = Population(THREE)
    kernel = PrefixMoments(population, 4)
    for _ in range(6):
        rows = random_formula(4, 6, rng)
        errors = [
            (weight, exact_formula_estimate(rows, labels) - missing(labels))
            for labels, weight in sequences(THREE, 4)
        ]
        assert exact_formula_mse(rows, THREE, 4) == sum(w * e**2 for w, e in errors)
        mean = sum(w * e for w, e in errors) + exact_moments(THREE, 4, 1).EM
        assert exact_formula_mean(rows, THREE) == mean
        in_floats = kernel.mse(Formula(tuple((float(a), size, k) for a, size, k in rows)))
        assert in_floats == pytest.approx(float(exact_formula_mse(rows, THREE, 4)), rel=1e-11)


def test_conditioning_is_unbiased_and_no_worse() -> None:
    rng = np.random.default_rng(6)
    exact = exact_moments(THREE, 6, 6)
    for _ in range(10):
        rows = random_formula(6, 8, rng)
        conditioned = condition(rows, 6)
        assert conditioned.expectation(exact) == exact_formula_mean(rows, THREE)
        assert conditioned.mse(exact) <= exact_formula_mse(rows, THREE, 6)


def test_random_formulas_keep_the_expectation_up_to_the_last_draw() -> None:
    """Before rows that need draw n+1 are read on n, every rewriting is an identity."""
    rng = np.random.default_rng(7)
    n = 5
    rows = random_formula(n, 0, rng)
    assert rows == ((Fraction(1, n + 1), n, 1),)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: exact_prefix_moment(THREE, 3, 4, 3, 1), ValueError),
        (lambda: exact_prefix_moment(THREE, 3, 1, 3, 0), ValueError),
        (lambda: exact_prefix_mass_moment(THREE, 3, 4, 1), ValueError),
        (lambda: exact_formula_estimate(((Fraction(1), 4, 1),), "abc"), ValueError),
        (lambda: condition((), 3), ValueError),
        (lambda: random_formula(1, 3, np.random.default_rng(0)), ValueError),
        (lambda: random_formula(3, -1, np.random.default_rng(0)), ValueError),
        (lambda: exact_prefix_moment([0.5, 0.5], 3, 1, 2, 1), TypeError),
    ],
)
def test_refusals(call, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()
