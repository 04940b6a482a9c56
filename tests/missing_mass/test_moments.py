"""Moments: enumeration, generating functions, algebraic identities, hard corners."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.missing_mass import (
    Population,
    draw,
    exact_moments,
    good_turing,
    half,
    moments,
    theory,
    uniform,
    zipf,
    zipfhalf,
)
from theorylab.missing_mass.enumeration import (
    GeneratingFunctions,
    UniformOutcome,
    compositions_of_one,
    expectation,
    frequency,
    mass,
    outcomes,
    outcomes_without_replacement,
    sequences,
    uniform_outcomes,
)
from theorylab.missing_mass.moments import _pair_sums_of_block

THREE = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))


@st.composite
def populations(draw: st.DrawFn) -> Population:
    weights = draw(st.lists(st.integers(1, 30), min_size=1, max_size=6))
    return Population.from_weights(weights)


def assert_same(found, exact) -> None:
    scale = np.sqrt(np.diag(exact.second).astype(float))
    scale[scale == 0] = 1
    error = np.abs(found.second - exact.second.astype(float)) / np.outer(scale, scale)
    assert error.max() < 1e-12
    assert np.abs((found.cross - exact.cross.astype(float)) / scale).max() < 1e-12
    np.testing.assert_allclose(found.f, exact.f.astype(float), rtol=1e-12, atol=1e-15)
    assert pytest.approx(float(exact.EM), rel=1e-12, abs=1e-15) == found.EM
    assert pytest.approx(float(exact.EM2), rel=1e-12, abs=1e-15) == found.EM2


def test_every_moment_by_enumeration() -> None:
    n = 5
    found = exact_moments(THREE, n, n)
    for j in range(1, n + 1):
        for k in range(1, n + 1):
            product = expectation(
                outcomes(THREE, n), lambda c, j=j, k=k: frequency(c, j) * frequency(c, k)
            )
            assert found.A[j, k] == product
        cross = expectation(outcomes(THREE, n), lambda c, j=j: frequency(c, j) * mass(THREE, c))
        assert found.b[j] == cross
    assert expectation(outcomes(THREE, n), lambda c: mass(THREE, c) ** 2) == found.EM2


@settings(max_examples=40)
@given(populations(), st.integers(1, 14), st.data())
def test_floats_follow_the_fractions(population: Population, n: int, data: st.DataObject) -> None:
    K = data.draw(st.integers(1, n))
    assert_same(moments(population, n, K), exact_moments(population, n, K))


@settings(max_examples=40)
@given(populations(), st.integers(1, 10))
def test_the_sample_size_is_a_linear_function_of_the_fingerprint(
    population: Population, n: int
) -> None:
    exact = exact_moments(population, n, n)
    k = np.array([Fraction(i) for i in range(1, n + 1)])
    assert k @ exact.f == n
    assert (exact.second @ k == n * exact.f).all()
    assert exact.cross @ k == n * exact.EM


@settings(max_examples=30)
@given(populations(), st.integers(1, 12))
def test_first_moments_are_the_theory(population: Population, n: int) -> None:
    exact = exact_moments(population, n, n)
    assert [theory.expected_frequency(population, n, k) for k in range(1, n + 1)] == list(exact.f)
    assert theory.expected_mass(population, n) == exact.EM


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_probabilities_that_add_to_one_in_pairs(n: int) -> None:
    assert_same(moments(uniform(2), n, n), exact_moments(uniform(2), n, n))


def test_one_certain_class() -> None:
    assert_same(moments([1.0], 4, 4), exact_moments([Fraction(1)], 4, 4))
    assert not moments([1.0], 14, 13).f.any()


def test_intercept_only_adds_a_row_and_a_column() -> None:
    with_constant, without = moments(zipf(9), 12, 4), moments(zipf(9), 12, 4, intercept=False)
    assert with_constant.A.shape == (5, 5)
    assert without.A.shape == (4, 4)
    np.testing.assert_array_equal(with_constant.second, without.second)
    np.testing.assert_array_equal(with_constant.cross, without.cross)
    assert with_constant.A[0, 0] == 1
    assert with_constant.b[0] == with_constant.EM
    assert with_constant.K == without.K == 4


def test_real_multiplicities_interpolate_polynomially() -> None:
    def second(multiplicity: float) -> float:
        values = [0.3 / multiplicity, 0.7]
        return float(moments(Population.from_atoms(values, [multiplicity, 1.0]), 6, 2).EM2)

    assert second(2.5) == pytest.approx(
        float(_direct_mass_square([0.12, 0.7], [2.5, 1.0], 6)), rel=1e-12
    )


def _direct_mass_square(values: list[float], multiplicities: list[float], n: int) -> float:
    same = sum(m * u**2 * (1 - u) ** n for u, m in zip(values, multiplicities, strict=True))
    pairs = 0.0
    for a, (u, m) in enumerate(zip(values, multiplicities, strict=True)):
        for b, (v, k) in enumerate(zip(values, multiplicities, strict=True)):
            pairs += m * (k - (a == b)) * u * v * (1 - u - v) ** n
    return same + pairs


def test_blocks_of_rows_add_up_to_the_whole() -> None:
    u, m = zipfhalf(11).floats, np.ones(11)
    whole = _pair_sums_of_block(u, m, 15, 4, slice(0, 11))
    parts = [_pair_sums_of_block(u, m, 15, 4, slice(s, s + 4)) for s in (0, 4, 8)]
    np.testing.assert_allclose(sum(part[0] for part in parts), whole[0], rtol=1e-13)
    np.testing.assert_allclose(sum(part[1] for part in parts), whole[1], rtol=1e-13)
    assert sum(part[2] for part in parts) == pytest.approx(whole[2], rel=1e-13)


def test_large_sizes_neither_overflow_nor_underflow_to_nan() -> None:
    with np.errstate(over="raise", invalid="raise"):
        found = moments(zipf(300), 5000, 60)
    assert np.isfinite(found.A).all()
    assert np.linalg.eigvalsh(found.A).min() > -1e-6 * found.A.max()


@pytest.mark.parametrize(
    ("population", "n", "known"),
    [
        (uniform(100), 100, 0.006045233),
        (half(100), 100, 0.005463763),
        (zipf(100), 100, 0.003427091),
        (zipfhalf(100), 100, 0.005230572),
        (uniform(200), 400, 9.678907e-4),
    ],
)
def test_known_errors_of_good_turing(population: Population, n: int, known: float) -> None:
    assert good_turing(n).mse(moments(population, n, 1)) == pytest.approx(known, rel=2e-7)


def test_simulation_agrees() -> None:
    rng, n, population = np.random.default_rng(11), 20, half(12)
    errors = [
        (good_turing(n).estimate(s.fingerprint) - s.missing_mass) ** 2
        for s in (draw(population, n, rng) for _ in range(4000))
    ]
    exact = float(good_turing(n).mse(moments(population, n, 1)))
    standard_error = np.std(errors) / np.sqrt(len(errors))
    assert abs(np.mean(errors) - exact) < 5 * standard_error


@pytest.mark.parametrize(("n", "K"), [(0, 1), (3, 0), (3, 4)])
def test_sizes_out_of_range_are_refused(n: int, K: int) -> None:
    for call in (moments, exact_moments):
        with pytest.raises(ValueError, match="must be"):
            call(uniform(3), n, K)


def test_exact_moments_of_floats_are_refused() -> None:
    with pytest.raises(TypeError, match="Fractions"):
        exact_moments([0.5, 0.5], 3, 2)


def test_references_are_probability_laws() -> None:
    assert expectation(outcomes(THREE, 4), lambda _: 1) == 1
    assert expectation(sequences(THREE, 4), lambda _: 1) == 1
    assert expectation(outcomes_without_replacement([3, 2, 1], 4), lambda _: 1) == 1
    assert sum(o.probability for o in uniform_outcomes(9, 5)) == 1


def test_generating_functions_and_enumeration_agree() -> None:
    functions = GeneratingFunctions(THREE, 6)
    for k in range(7):
        by_counting = expectation(outcomes(THREE, 6), lambda c, k=k: frequency(c, k))
        assert functions.expected_frequency(k) == by_counting
        assert functions.expected_mass(k) == expectation(
            outcomes(THREE, 6), lambda c, k=k: mass(THREE, c, k)
        )


def test_uniform_outcomes_are_the_enumerated_ones() -> None:
    p = (Fraction(1, 3),) * 3
    law: dict[object, Fraction] = {}
    for counts, weight in outcomes(p, 4):
        key = (tuple(sorted(c for c in counts if c)), mass(p, counts))
        law[key] = law.get(key, Fraction(0)) + weight

    def key_of(outcome: UniformOutcome) -> object:
        return tuple(outcome.fingerprint.counts().tolist()), outcome.missing_mass

    assert {key_of(o): o.probability for o in uniform_outcomes(4, 3)} == law


def test_compositions_are_distributions() -> None:
    found = list(compositions_of_one(3, 7))
    assert len(found) == 4
    assert all(sum(p) == 1 and len(p) == 3 for p in found)
