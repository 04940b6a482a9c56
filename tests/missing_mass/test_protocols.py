"""The three protocols against enumeration, closed forms and each other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from theorylab.missing_mass import (
    Linear,
    Population,
    bag2,
    benchmark_population,
    dirichlet,
    good_turing,
    moments,
    protocols,
    uniform,
    uniform_mle,
)
from theorylab.missing_mass.fingerprint import Fingerprint
from theorylab.missing_mass.protocols import Comparison
from theorylab.missing_mass.theory import held_out_mse
from theorylab.missing_mass.uniform_model import uniform_samples

UNIFORM = uniform(40)


def plain(fp: Fingerprint) -> Linear:
    return good_turing(fp.n)


def test_good_turing_ties_with_itself() -> None:
    for comparison in (
        protocols.same_sample(plain, UNIFORM, 30, 20, seed=1),
        protocols.frozen(plain, UNIFORM, 30, 20, seed=1),
    ):
        assert comparison.ratio == pytest.approx(1.0)
        assert comparison.success == pytest.approx(0.5)
        assert comparison.standard_error == pytest.approx(0.0, abs=1e-12)


def test_frozen_errors_are_exact_means_over_fresh_samples() -> None:
    comparison = protocols.frozen(bag2, UNIFORM, 30, 5, seed=3)
    pilots = [draw.fingerprint for draw in protocols.samples(UNIFORM, 30, 5, seed=3)]
    mom = moments(UNIFORM, 30, 2)
    expected = [float(bag2(pilot).mse(mom)) for pilot in pilots]
    assert comparison.method == pytest.approx(expected)
    assert comparison.baseline == pytest.approx(float(good_turing(30).mse(mom)))


def test_frozen_at_another_size_moves_the_formula() -> None:
    comparison = protocols.frozen(plain, UNIFORM, 30, 3, seed=0, size=90)
    assert comparison.ratio == pytest.approx(1.0)


def test_same_sample_errors_are_those_of_the_reported_number() -> None:
    comparison = protocols.same_sample(bag2, UNIFORM, 30, 8, seed=2)
    draws = list(protocols.samples(UNIFORM, 30, 8, seed=2))
    errors = [(bag2(d.fingerprint).estimate(d.fingerprint) - d.missing_mass) ** 2 for d in draws]
    assert comparison.method == pytest.approx(errors)


def test_an_estimate_may_be_a_number() -> None:
    by_number = protocols.same_sample(lambda fp: fp.phi(1) / fp.n, UNIFORM, 30, 8, seed=2)
    assert by_number.ratio == pytest.approx(1.0)


def test_draws_know_their_missing_mass() -> None:
    population = Population([0.5, 0.25, 0.125, 0.125])
    for draw in protocols.samples(population, 3, 50, seed=0):
        unseen = sum(p for p, c in zip(draw.probabilities, draw.counts, strict=True) if c == 0)
        assert draw.missing_mass == pytest.approx(unseen)
        assert draw.counts.sum() == draw.fingerprint.n == 3


def test_random_populations_are_drawn_anew() -> None:
    draws = list(protocols.samples(lambda rng: dirichlet(20, 1.0, rng), 10, 3, seed=0))
    assert len({float(draw.population.p_max) for draw in draws}) == 3


def test_seeds_reproduce_and_differ() -> None:
    first, again, other = (
        protocols.same_sample(bag2, UNIFORM, 30, 10, seed=s).ratio for s in (1, 1, 2)
    )
    assert first == again != other


def test_the_share_of_the_pilot_that_is_new_has_its_closed_form() -> None:
    n = 40
    mom = moments(UNIFORM, n, 1)
    comparison = protocols.pilot_plus_fresh(protocols.unseen_in_fresh, UNIFORM, n, 6000, seed=0)
    expected = float(held_out_mse(mom.EM, mom.EM2, n))
    error = comparison.method.std() / np.sqrt(6000)
    assert abs(comparison.method.mean() - expected) < 5 * error
    assert comparison.baseline.mean() == pytest.approx(float(good_turing(n).mse(mom)), rel=0.1)


def test_pilot_plus_fresh_simulates_the_frozen_protocol() -> None:
    frozen = protocols.frozen(bag2, UNIFORM, 30, 400, seed=5)
    simulated = protocols.pilot_plus_fresh(
        protocols.frozen_formula(bag2), UNIFORM, 30, 6000, seed=5
    )
    error = simulated.method.std() / np.sqrt(6000) + frozen.method.std() / 20
    assert abs(simulated.method.mean() - frozen.method.mean()) < 5 * error


def test_unseen_share_by_hand() -> None:
    pilot, fresh = np.array([3, 1, 0, 2]), np.array([0, 4, 1, 0])
    assert protocols.unseen_in_fresh(pilot, fresh) == pytest.approx(5 / 6)


def test_standard_error_of_a_ratio() -> None:
    rng = np.random.default_rng(0)
    ratios, errors = [], []
    for _ in range(400):
        base = rng.chisquare(3, size=200)
        comparison = Comparison(base * 0.5 + rng.chisquare(2, size=200), base)
        ratios.append(comparison.ratio)
        errors.append(comparison.standard_error)
    assert np.mean(errors) == pytest.approx(np.std(ratios), rel=0.12)


def test_success_and_its_interval() -> None:
    comparison = Comparison(np.array([1.0, 3.0, 2.0, 1.0]), np.array([2.0, 2.0, 2.0, 4.0]))
    assert comparison.success == pytest.approx(2.5 / 4)
    low, high = comparison.success_interval
    z, n, p = 1.96, 4, 2.5 / 4
    assert (low + high) / 2 == pytest.approx((p + z**2 / (2 * n)) / (1 + z**2 / n), rel=1e-4)
    assert comparison.mean_ratio == pytest.approx((0.5 + 1.5 + 1.0 + 0.25) / 4)


@pytest.mark.parametrize(("n", "number"), [(0, 5), (10, 1)])
def test_too_little_is_refused_at_once(n: int, number: int) -> None:
    with pytest.raises(ValueError, match="at least"):
        protocols.samples(UNIFORM, n, number, seed=0)


def test_benchmark_populations_in_fractions_can_be_sampled() -> None:
    draws = list(protocols.samples(benchmark_population("zipf", 30), 20, 2, seed=0))
    assert isinstance(draws[0].population.p_max, Fraction)


def test_uniform_maximum_likelihood_solves_its_equation() -> None:
    n, distinct = 100, np.arange(1, 100)
    mass = uniform_mle(distinct, n)
    x = -np.log(mass[mass > 0])
    assert -np.expm1(-x) / x == pytest.approx(distinct[mass > 0] / n, rel=1e-9)


def test_uniform_maximum_likelihood_at_the_ends() -> None:
    assert uniform_mle([50], 50)[0] == 1.0
    assert uniform_mle([1], 50)[0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("distinct", [[0], [51]])
def test_impossible_numbers_of_classes_are_refused(distinct: list[int]) -> None:
    with pytest.raises(ValueError, match=r"must lie in 1\.\.n=50"):
        uniform_mle(distinct, 50)


def test_uniform_samples_have_the_right_means() -> None:
    distinct, singletons = uniform_samples(50, 60, 4000, np.random.default_rng(0))
    mom = moments(uniform(50), 60, 1)
    assert (1 - distinct / 50).mean() == pytest.approx(float(mom.EM), abs=0.005)
    assert singletons.mean() == pytest.approx(float(mom.f[0]), rel=0.02)
    with pytest.raises(ValueError, match="must be positive"):
        uniform_samples(0, 1, 1, np.random.default_rng(0))
