"""Compiled loops against exact rationals and against definitions spelled out in Python."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.missing_mass import exact_moments, moments
from theorylab.missing_mass.fingerprint import Fingerprint, Population, zipf, zipfhalf
from theorylab.missing_mass.kernels import (
    bagged_moments,
    natural_atoms,
    resampled_fingerprint,
    solve_two,
    two_term_moments,
    unseen_classes,
)
from theorylab.missing_mass.plugins import padded

weights = st.lists(st.integers(1, 6), min_size=1, max_size=6)


def compiled(population: Population, n: int) -> list[float]:
    return two_term_moments(population.floats, population.multiplicities.astype(float), n).tolist()


@given(weights, st.integers(2, 9))
@settings(deadline=None)
def test_two_term_moments_are_the_exact_ones(parts: list[int], n: int) -> None:
    population = Population.from_weights(parts)
    exact = exact_moments(population, n, 2, intercept=False)
    expected = [exact.A[0, 0], exact.A[0, 1], exact.A[1, 1], exact.b[0], exact.b[1]]
    assert compiled(population, n) == pytest.approx([float(x) for x in expected], abs=1e-13)


def test_one_draw_has_only_a_singleton() -> None:
    population = Population([Fraction(1, 4), Fraction(3, 4)])
    # M = 3/4 or 1/4, with probability 1/4 and 3/4: E M = 3/8
    assert compiled(population, 1) == pytest.approx([1, 0, 0, Fraction(3, 8), 0])


@pytest.mark.parametrize(("population", "n"), [(zipf(60), 200), (zipfhalf(300), 1500)])
def test_two_term_moments_agree_with_the_general_ones(population: Population, n: int) -> None:
    mom = moments(population, n, 2, intercept=False)
    expected = [mom.A[0, 0], mom.A[0, 1], mom.A[1, 1], *mom.b]
    assert compiled(population, n) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("phi", "n", "expected"),
    [
        ([0, 3, 1, 0, 0, 0, 0], 5, 4),  # ceil(4/5 * 9/2)
        ([0, 4, 0, 0, 0, 0], 4, 5),  # ceil(3/4 * 6)
        ([0, 1, 0, 1, 0, 0], 4, 0),  # one singleton makes no pair
        ([0, 0, 2, 0, 0, 0], 4, 0),
        ([0, 10, 5] + [0] * 19, 20, 10),  # ceil(19/20 * 10)
    ],
)
def test_unseen_classes_are_rounded_up_exactly(phi: list[int], n: int, expected: int) -> None:
    assert unseen_classes(np.array(phi), n) == expected


def test_the_solution_has_zero_gradient() -> None:
    found = two_term_moments(zipf(50).floats, zipf(50).multiplicities.astype(float), 80)
    a11, a12, a22, b1, b2 = found
    c1, c2 = solve_two(found, 80)
    assert a11 * c1 + a12 * c2 == pytest.approx(b1)
    assert a12 * c1 + a22 * c2 == pytest.approx(b2)


def test_a_singular_system_uses_the_first_term_only() -> None:
    assert solve_two(np.array([4.0, 2.0, 1.0, 2.0, 1.0]), 10) == (0.5, 0.0)


def test_without_information_good_turing_is_left() -> None:
    assert solve_two(np.zeros(5), 10) == (0.1, 0.0)


def fingerprint_of(uniforms: np.ndarray, population: Population) -> list[int]:
    """Class by class in the order of the atoms, with one cumulative sum over all classes."""
    classes = np.repeat(population.floats, population.multiplicities.astype(int))
    labels = np.searchsorted(np.cumsum(classes), uniforms)
    tally = np.bincount(np.bincount(labels), minlength=len(uniforms) + 2)
    return [0, *tally[1:].tolist()]


def test_resampling_inverts_the_distribution_function() -> None:
    population = Population.from_atoms([0.01, 0.05, 0.2], [25, 7, 2])
    rng = np.random.default_rng(5)
    for _ in range(50):
        uniforms = rng.random(40)
        phi = np.empty(42, dtype=np.int64)
        resampled_fingerprint(
            population.floats, population.multiplicities.astype(float), uniforms, phi
        )
        assert phi.tolist() == fingerprint_of(uniforms, population)


@pytest.mark.parametrize("edge", [0.0, 1.0 - 2.0**-53])
def test_the_extreme_uniforms_find_a_class(edge: float) -> None:
    values, multiplicities = natural_atoms(padded(Fingerprint.from_counts([1, 1, 2])), 4)
    phi = np.empty(6, dtype=np.int64)
    resampled_fingerprint(values, multiplicities, np.full(4, edge), phi)
    assert phi.tolist() == [0, 0, 0, 0, 1, 0]


def test_bagging_without_resamples_is_the_plug_in() -> None:
    fp = Fingerprint.from_counts([1] * 20 + [2] * 8 + [5, 9])
    plain = two_term_moments(*natural_atoms(padded(fp), fp.n), fp.n)
    assert bagged_moments(padded(fp), fp.n, np.empty((0, fp.n))) == pytest.approx(plain)


def test_bagging_averages_over_refitted_plug_ins() -> None:
    fp = Fingerprint.from_counts([1] * 20 + [2] * 8 + [5, 9])
    uniforms = np.random.default_rng(1).random((3, fp.n))
    atoms = natural_atoms(padded(fp), fp.n)
    total = two_term_moments(*atoms, fp.n)
    for row in uniforms:
        phi = np.empty(fp.n + 2, dtype=np.int64)
        resampled_fingerprint(*atoms, row, phi)
        total = total + two_term_moments(*natural_atoms(phi, fp.n), fp.n)
    assert bagged_moments(padded(fp), fp.n, uniforms) == pytest.approx(total / 4)
