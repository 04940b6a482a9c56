"""Fingerprints and populations: known values, identities, refusals."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.missing_mass import (
    BENCHMARKS,
    Fingerprint,
    Population,
    benchmark_population,
    dirichlet,
    draw,
    half,
    uniform,
    zipf,
    zipfhalf,
)

counts_of_classes = st.lists(st.integers(0, 30), min_size=1, max_size=40).filter(any)


@given(counts_of_classes)
def test_frequencies_add_up_to_the_sample_size_and_to_the_classes(counts: list[int]) -> None:
    fp = Fingerprint.from_counts(counts)
    assert sum(k * fp.phi(k) for k in range(1, max(counts) + 1)) == fp.n == sum(counts)
    assert fp.distinct == sum(c > 0 for c in counts)
    assert fp.largest == max(counts)


@given(counts_of_classes)
def test_the_four_ways_to_build_a_fingerprint_agree(counts: list[int]) -> None:
    fp = Fingerprint.from_counts(counts)
    labels = [label for label, c in enumerate(counts) for _ in range(c)]
    tally = Counter(c for c in counts if c)
    dense = [tally.get(k, 0) for k in range(1, max(counts) + 1)]
    assert fp == Fingerprint.from_sample(labels)
    assert fp == Fingerprint.from_phi(dict(tally)) == Fingerprint.from_phi(dense)
    assert fp == Fingerprint.from_counts(fp.counts())
    assert hash(fp) == hash(Fingerprint.from_phi(dict(tally)))
    assert fp.vector(len(dense)).tolist() == dense


def test_vector_is_int64_and_padded() -> None:
    vector = Fingerprint.from_counts([3, 1, 1]).vector(5)
    assert vector.dtype == np.int64
    assert vector.tolist() == [2, 0, 1, 0, 0]


def test_labels_need_only_be_hashable() -> None:
    assert Fingerprint.from_sample(["a", ("b", 1), "a"]).frequencies == (1, 1)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([], "empty"),
        ([0, 0], "sample size n is 0"),
        ([2, -1], "negative"),
        ([1.5, 2], "whole"),
        ([float("nan"), 2], "whole"),
        ([float("inf"), 2], "whole"),
        ([[1, 2], [3, 4]], "one-dimensional"),
    ],
)
def test_counts_that_are_none_are_refused(counts: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Fingerprint.from_counts(counts)


def test_whole_floats_are_counts() -> None:
    assert Fingerprint.from_counts([2.0, 1.0]) == Fingerprint.from_counts([2, 1])


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        ({0: 3, 1: 2}, "order 0"),
        ({1: -1}, "negative"),
        ({1: 0}, "sample size n is 0"),
        ({}, "empty"),
        ([0, 0], "sample size n is 0"),
        ({1: 0.5}, "whole"),
    ],
)
def test_phi_that_is_none_is_refused(phi: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Fingerprint.from_phi(phi)  # type: ignore[arg-type]


def test_an_empty_sample_and_order_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Fingerprint.from_sample([])
    with pytest.raises(ValueError, match="at least 1"):
        Fingerprint.from_counts([1]).phi(0)
    with pytest.raises(ValueError, match="at least 1"):
        Fingerprint.from_counts([1]).vector(0)


def test_equal_probabilities_become_one_atom() -> None:
    population = Population([0.25, 0.5, 0.25])
    assert population.values.tolist() == [0.25, 0.5]
    assert population.multiplicities.tolist() == [2, 1]
    assert population.size == 3
    assert population.p_max == 0.5
    assert not population.exact
    assert population.probabilities().tolist() == [0.25, 0.25, 0.5]


def test_rationals_stay_exact() -> None:
    population = Population([Fraction(1, 3), Fraction(2, 3)])
    assert population.exact
    assert population.atoms() == [(Fraction(1, 3), 1), (Fraction(2, 3), 1)]


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([], "empty"),
        ([0.0], "empty"),
        ([0.6, 0.5], "sum to 1"),
        ([Fraction(1, 2), Fraction(499, 1000)], "exactly 1"),
        ([1.5, -0.5], "negative"),
        ([Fraction(3, 2), Fraction(-1, 2)], "negative"),
        ([float("nan"), 1.0], "finite"),
        ([[0.5, 0.5]], "one-dimensional"),
    ],
)
def test_what_is_no_distribution_is_refused(p: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Population(p)


def test_exact_atoms_of_floats_are_refused() -> None:
    with pytest.raises(TypeError, match="Fractions"):
        Population([0.5, 0.5]).atoms()


def test_atoms_may_have_real_multiplicities_but_then_no_classes() -> None:
    population = Population.from_atoms([0.2, 0.5], [2.5, 1.0])
    assert population.size == pytest.approx(3.5)
    with pytest.raises(ValueError, match="not whole"):
        population.probabilities()
    with pytest.raises(ValueError, match="equal length"):
        Population.from_atoms([0.5], [1, 1])
    with pytest.raises(ValueError, match="multiplicities"):
        Population.from_atoms([0.5, 0.5], [-1, 3])


def test_populations_do_not_change() -> None:
    with pytest.raises(ValueError, match="read-only"):
        uniform(3).values[0] = 1


def test_weights_are_normalised() -> None:
    assert Population.from_weights([1, 2]).atoms() == [(Fraction(1, 3), 1), (Fraction(2, 3), 1)]
    assert Population.from_weights([1.0, 3.0]).values.tolist() == [0.25, 0.75]
    for weights, message in (([], "empty"), ([0, 0], "positive"), ([0.0], "positive")):
        with pytest.raises(ValueError, match=message):
            Population.from_weights(weights)


def test_benchmark_populations_are_the_papers() -> None:
    assert uniform(7).atoms() == [(Fraction(1, 7), 7)]
    assert half(5).atoms() == [(Fraction(1, 9), 3), (Fraction(1, 3), 2)]
    harmonic = Fraction(1) + Fraction(1, 2) + Fraction(1, 3)
    assert zipf(3).atoms() == [(1 / harmonic / i, 1) for i in (3, 2, 1)]
    root = zipfhalf(4).values[::-1]
    np.testing.assert_allclose(root / root[0], [1, 2**-0.5, 3**-0.5, 0.5])


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark_populations_have_their_size(name: str) -> None:
    population = benchmark_population(name, 50, np.random.default_rng(0))
    assert population.size == 50
    assert float(population.floats @ population.multiplicities) == pytest.approx(1, abs=1e-12)


def test_random_benchmark_populations_are_new_each_time() -> None:
    rng = np.random.default_rng(0)
    assert benchmark_population("diri", 9, rng).p_max != benchmark_population("diri", 9, rng).p_max


def test_benchmark_errors() -> None:
    with pytest.raises(ValueError, match="unknown population 'zip'"):
        benchmark_population("zip", 10)
    with pytest.raises(ValueError, match="pass rng"):
        benchmark_population("dirihalf", 10)
    with pytest.raises(ValueError, match="at least 1"):
        uniform(0)
    with pytest.raises(ValueError, match="at least 2"):
        half(1)
    with pytest.raises(ValueError, match="concentration"):
        dirichlet(3, 0.0, np.random.default_rng(0))


def test_a_draw_knows_its_missing_mass() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        sample = draw(uniform(10), 8, rng)
        assert sample.fingerprint.n == 8
        assert sample.missing_mass == pytest.approx(1 - sample.fingerprint.distinct / 10)
    with pytest.raises(ValueError, match="at least 1"):
        draw(uniform(10), 0, rng)
