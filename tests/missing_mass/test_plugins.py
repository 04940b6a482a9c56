"""Plug-ins against their definitions in other words, by hand and by enumeration."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.missing_mass import ewens_pitman, moment_matched, moments, natural_good_turing
from theorylab.missing_mass.fingerprint import Fingerprint, Population, zipfhalf
from theorylab.missing_mass.plugins import EwensPitmanPosterior, _log_partition_probability, padded

counts = st.lists(st.integers(1, 8), min_size=1, max_size=25)


def natural_in_fractions(fp: Fingerprint) -> dict[Fraction, int]:
    """The plug-in from its description, class by class and exactly."""
    n, once, twice = fp.n, fp.phi(1), fp.phi(2)
    pairs = Fraction(once**2, 2 * twice) if twice else Fraction(once * (once - 1), 2)
    unseen = ceil(Fraction(n - 1, n) * pairs)
    sizes = {0: unseen, **dict(zip(fp.orders, fp.frequencies, strict=True))}
    guesses = []
    for k, size in sizes.items():
        if unseen == 0 or k > fp.phi(k + 1):
            guess = Fraction(k, n)
        else:
            guess = Fraction(fp.phi(k + 1) + 1, size) * Fraction(k + 1, n)
        guesses += [guess] * size
    total = sum(guesses)
    return {g / total: guesses.count(g) for g in set(guesses)}


@given(counts)
def test_natural_good_turing_follows_its_description(observed: list[int]) -> None:
    fp = Fingerprint.from_counts(observed)
    expected = natural_in_fractions(fp)
    found = natural_good_turing(fp)
    dense = np.repeat(found.floats, found.multiplicities.astype(int))
    exact = np.repeat([float(p) for p in expected], list(expected.values()))
    assert np.sort(dense) == pytest.approx(np.sort(exact), rel=1e-13)


def test_natural_good_turing_by_hand() -> None:
    # n = 5, Phi = (1, 2): one unseen class since ceil(4/5 * 1/4) = 1.
    # unseen: 2/1 * 1/5 = 2/5;  once: 3/1 * 2/5 = 6/5;  twice: 2 > Phi_3 = 0, hence 2/5 each.
    found = natural_good_turing(Fingerprint.from_counts([1, 2, 2]))
    assert sorted(found.probabilities()) == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])


def test_without_unseen_classes_the_plug_in_is_empirical() -> None:
    found = natural_good_turing(Fingerprint.from_counts([3, 2, 2]))
    assert sorted(found.probabilities()) == pytest.approx([2 / 7, 2 / 7, 3 / 7])


def test_without_doubletons_chao_counts_pairs_of_singletons() -> None:
    # n = 6: ceil(5/6 * 3) = 3 unseen classes besides the 4 seen ones
    fp = Fingerprint.from_phi({1: 3, 3: 1})
    assert natural_good_turing(fp).size == ceil(Fraction(5, 6) * 3) + 4


def test_padding_keeps_two_orders_beyond_n() -> None:
    assert padded(Fingerprint.from_counts([2, 1])).tolist() == [0, 1, 1, 0, 0]


def test_moment_matching_reproduces_the_small_frequencies() -> None:
    n = 400
    expected = moments(zipfhalf(400), n, 12).f
    fp = Fingerprint.from_phi(dict(enumerate(np.round(expected).astype(int).tolist(), start=1)))
    plug_in = moment_matched(fp)
    assert moments(plug_in, fp.n, 3).f == pytest.approx(fp.vector(3), rel=0.02)
    assert (plug_in.multiplicities >= 0).all()
    assert plug_in.floats @ plug_in.multiplicities == pytest.approx(1.0)


def test_natural_plug_in_does_not_reproduce_them() -> None:
    """On a heavy tail, where its two-term solve fails: the frequencies of zipf, S = n = 1600."""
    expected = moments(Population.from_weights(1 / np.arange(1.0, 1601.0)), 1600, 60).f
    fp = Fingerprint.from_phi(dict(enumerate(np.round(expected).astype(int).tolist(), start=1)))
    off = moments(natural_good_turing(fp), fp.n, 2).f / fp.vector(2)
    matched = moments(moment_matched(fp), fp.n, 2).f / fp.vector(2)
    assert np.abs(matched - 1).max() < 0.02 < 0.04 < np.abs(off - 1).max()


def test_frequent_classes_stay_empirical() -> None:
    fp = Fingerprint.from_phi({1: 10, 2: 5, 3: 1, 50: 2})
    values = moment_matched(fp).floats
    assert np.isclose(values, 50 / fp.n, rtol=0.02).any()


@given(counts)
@settings(max_examples=40, deadline=None)
def test_moment_matching_always_gives_a_population(observed: list[int]) -> None:
    plug_in = moment_matched(Fingerprint.from_counts(observed))
    assert plug_in.floats @ plug_in.multiplicities == pytest.approx(1.0, abs=1e-12)


def test_a_grid_needs_two_points() -> None:
    with pytest.raises(ValueError, match="at least 2 points, got 1"):
        moment_matched(Fingerprint.from_counts([1, 2]), grid=1)


def partitions(total: int, largest: int | None = None) -> list[tuple[int, ...]]:
    largest = total if largest is None else largest
    if total == 0:
        return [()]
    return [
        (part, *rest)
        for part in range(min(total, largest), 0, -1)
        for rest in partitions(total - part, part)
    ]


@pytest.mark.parametrize(
    ("sigma", "theta"), [(0.0, 2.5), (0.5, 1.0), (0.9, 0.05), (-1.5, 1.5 * 7), (-0.2, 0.2 * 9)]
)
def test_partition_probabilities_sum_to_one(sigma: float, theta: float) -> None:
    n, total = 7, 0.0
    for blocks in partitions(n):
        fp = Fingerprint.from_counts(blocks)
        ways = factorial(n) // prod(factorial(b) for b in blocks)
        ways //= prod(factorial(m) for m in fp.frequencies)
        log_p = _log_partition_probability(fp, np.array([sigma]), np.array([theta]))
        total += ways * float(np.exp(log_p)[0])
    assert total == pytest.approx(1.0, rel=1e-12)


def test_posterior_of_one_model_is_its_beta_distribution() -> None:
    posterior = EwensPitmanPosterior(np.array([1.0]), np.array([2.0]), np.array([6.0]))
    assert posterior.mean() == pytest.approx(0.25)
    assert posterior.cdf(posterior.quantile(0.3)) == pytest.approx(0.3, abs=1e-7)


def test_a_sample_that_saw_everything_often_leaves_nothing() -> None:
    posterior = ewens_pitman(Fingerprint.from_counts([200] * 5))
    assert posterior.mean() < 1e-3
    assert posterior.quantile(0.05) == 0.0


def test_posterior_finds_the_missing_mass_of_its_own_model() -> None:
    """Ewens' model, theta = 50: draw i is new with probability theta / (theta + i)."""
    rng, theta, n = np.random.default_rng(0), 50.0, 1000
    sample: list[int] = []
    for i in range(n):
        new = rng.random() < theta / (theta + i)
        sample.append(max(sample, default=-1) + 1 if new else sample[rng.integers(i)])
    posterior = ewens_pitman(Fingerprint.from_sample(sample))
    assert posterior.quantile(0.001) < theta / (theta + n) < posterior.quantile(0.999)
    assert posterior.quantile(0.999) - posterior.quantile(0.001) < 0.1


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1])
def test_quantiles_of_impossible_probabilities_are_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="must lie in"):
        ewens_pitman(Fingerprint.from_counts([1, 2])).quantile(probability)


def test_matching_ends_at_the_first_order_with_fewer_than_two_classes() -> None:
    """The one class seen four times is still fitted; those seen 5, 6 and 20 times are kept."""
    fp = Fingerprint.from_phi({1: 20, 2: 10, 3: 6, 4: 1, 5: 2, 6: 2, 20: 1})
    fitted = moment_matched(fp)
    atoms = dict(zip(fitted.floats, fitted.multiplicities, strict=True))
    largest = max(atoms)
    for order, classes in ((20, 1), (6, 2), (5, 2)):
        kept = [m for u, m in atoms.items() if u == pytest.approx(order / 20 * largest, rel=1e-12)]
        assert kept == [classes]
    assert not any(u == pytest.approx(4 / 20 * largest, rel=1e-12) for u in atoms)
