"""The certified optimum: against Fractions, against rivals, and its refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.missing_mass import (
    Linear,
    Moments,
    Population,
    exact_moments,
    exact_optimal,
    good_turing,
    half,
    moments,
    optimal,
    uniform,
    zipf,
    zipfhalf,
)

ORACLE = {
    "uniform": (uniform(100), (0.969, 0.551, 0.270, 0.023, 0.000)),
    "half": (half(100), (0.968, 0.650, 0.438, 0.155, 0.088)),
    "zipf": (zipf(100), (0.967, 0.754, 0.672, 0.586, 0.106)),
    "zipfhalf": (zipfhalf(100), (0.970, 0.647, 0.485, 0.309, 0.054)),
}


@st.composite
def populations(draw: st.DrawFn) -> Population:
    return Population.from_weights(draw(st.lists(st.integers(1, 20), min_size=2, max_size=6)))


@settings(max_examples=40)
@given(populations(), st.integers(2, 9), st.booleans(), st.data())
def test_floats_find_the_exact_optimum_and_bound_it(
    population: Population, n: int, intercept: bool, data: st.DataObject
) -> None:
    K = data.draw(st.integers(1, n))
    linear, value = exact_optimal(exact_moments(population, n, K), K, intercept)
    found = optimal(moments(population, n, K), K, intercept=intercept)
    assert linear.mse(exact_moments(population, n, K)) == value
    assert found.value == pytest.approx(float(value), rel=1e-7, abs=1e-13)
    assert found.lower_bound <= float(value) + 1e-15
    # a bound proved only up to a radius pays 1e-12 times its square
    price = 0.0 if np.isinf(found.radius) else 2e-12 * found.radius**2
    assert float(value) - found.lower_bound <= 1e-9 * float(value) + 1e-11 + price


@settings(max_examples=40)
@given(populations(), st.lists(st.floats(-2, 2), min_size=4, max_size=4))
def test_no_rival_falls_below_the_bound(population: Population, c: list[float]) -> None:
    found = moments(population, 8, 4)
    best = optimal(found, 4)
    assert Linear(np.array(c) / 8).mse(found) >= best.lower_bound
    assert best.linear.mse(found) == pytest.approx(best.value, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("name", ORACLE)
def test_known_gains_with_the_population_known(name: str) -> None:
    population, known = ORACLE[name]
    found = moments(population, 100, 5)
    unit = good_turing(100).mse(found)
    values = [optimal(found, K).value for K in (1, 2, 3, 5)]
    values.append(optimal(found, 5, intercept=True).value)
    np.testing.assert_allclose(np.array(values) / unit, known, atol=6e-4)


def test_the_first_coefficient_can_be_held() -> None:
    found = moments(uniform(100), 100, 8)
    best = optimal(found, 8, c1_fixed=True)
    assert best.c[0] == pytest.approx(0.01)
    assert 1 - best.value / good_turing(100).mse(found) == pytest.approx(0.032, abs=6e-4)
    assert optimal(found, 1, c1_fixed=True).value == pytest.approx(good_turing(100).mse(found))


def test_more_freedom_never_hurts() -> None:
    found = moments(half(30), 40, 6)
    values = [optimal(found, K).value for K in range(1, 7)]
    assert all(b <= a for a, b in pairwise(values))
    assert optimal(found, 6, intercept=True).value <= values[-1]
    assert optimal(found, 6, c1_fixed=True).value >= values[-1]


def test_the_constant_term_is_redundant_when_every_order_is_used() -> None:
    exact = exact_moments(zipf(4), 6, 6)
    assert exact_optimal(exact, 6)[1] == exact_optimal(exact, 6, intercept=True)[1]
    singular = optimal(moments(zipf(4), 6, 6), 6, intercept=True)
    assert singular.cond > 1e13
    assert np.isfinite(singular.radius)
    assert singular.value == pytest.approx(float(exact_optimal(exact, 6)[1]), rel=1e-9)


def test_the_uniform_missing_mass_is_a_function_of_the_distinct_classes() -> None:
    assert exact_optimal(exact_moments(uniform(4), 6, 6), 6)[1] == 0


def test_orders_that_never_occur_get_no_coefficient() -> None:
    found = moments(uniform(4000), 200, 150)
    assert found.f[-1] == 0
    best = optimal(found, 150)
    assert best.c[-1] == 0
    assert np.isfinite(best.c).all()


def test_certain_class() -> None:
    best = optimal(moments([1.0], 3, 2), 2)
    assert best.value == pytest.approx(0, abs=1e-12)


def test_what_is_not_positive_semidefinite_is_refused() -> None:
    found = moments(uniform(100), 100, 8)
    spoiled = Moments(
        found.f, found.second - np.diag(found.f), found.cross, found.EM, found.EM2, 100, False
    )
    with pytest.raises(ValueError, match="not positive semidefinite"):
        optimal(spoiled, 8)


def test_refusals() -> None:
    found = moments(uniform(5), 6, 3)
    for K in (0, 4):
        with pytest.raises(ValueError, match="between 1 and 3"):
            optimal(found, K)
        with pytest.raises(ValueError, match="between 1 and 3"):
            exact_optimal(exact_moments(uniform(5), 6, 3), K)
    with pytest.raises(TypeError, match="exact_moments"):
        exact_optimal(found, 2)
    exact = exact_moments(uniform(2), 2, 2)
    impossible = Moments(
        exact.f, exact.second * 0, exact.cross + Fraction(1), exact.EM, exact.EM2, 2, False
    )
    with pytest.raises(ValueError, match="range"):
        exact_optimal(impossible, 2)
