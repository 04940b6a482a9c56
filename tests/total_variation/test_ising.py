"""Rational Ising models: enumeration, elimination, pinning, tilting, distances."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.total_variation import (
    RationalIsing,
    ising_tv_exact,
    ising_tv_float,
    tilt_tv,
)
from theorylab.total_variation.ising_gibbs import gibbs_marginal
from theorylab.total_variation.ising_instances import random_model, strip_model
from theorylab.total_variation.theory_ising import tilted_distance, tilted_marginal

weights = st.fractions(min_value=F(1, 9), max_value=9, max_denominator=9)


@st.composite
def models(draw, least: int = 1, largest: int = 5) -> RationalIsing:
    n = draw(st.integers(least, largest))
    pairs = [(i, j) for j in range(n) for i in range(j) if draw(st.booleans())]
    return RationalIsing([draw(weights) for _ in range(n)], {pair: draw(weights) for pair in pairs})


def weight(model: RationalIsing, x: tuple[int, ...]) -> F:
    """w(x), straight from the definition."""
    value = model.constant
    for i, a in enumerate(model.a):
        value *= a ** x[i]
    for (i, j), b in model.b.items():
        value *= b ** int(x[i] == x[j])
    return value


def states(n: int) -> list[tuple[int, ...]]:
    """All states; x[0] runs fastest, as in ``RationalIsing.weights``."""
    return [tuple(reversed(x)) for x in product((0, 1), repeat=n)]


@given(models())
def test_weights_and_partition_function_follow_the_definition(model: RationalIsing) -> None:
    table, scale = model.weights()
    truth = [weight(model, x) for x in states(model.n)]
    assert [scale * w for w in table] == truth
    assert model.Z() == sum(truth)


@given(models(), st.data())
def test_marginals_by_elimination(model: RationalIsing, data) -> None:
    v = data.draw(st.integers(0, model.n - 1))
    up = sum((weight(model, x) for x in states(model.n) if x[v]), F(0))
    assert model.marginal(v) == up / model.Z()


@given(models(), st.data())
def test_pinning_keeps_the_weights_of_the_states_that_agree(model: RationalIsing, data) -> None:
    v, s = data.draw(st.integers(0, model.n - 1)), data.draw(st.integers(0, 1))
    pinned = model.pin(v, s)
    for x in states(model.n - 1):
        assert weight(pinned, x) == weight(model, (*x[:v], s, *x[v:]))
    assert model.pin(v, 0).Z() + model.pin(v, 1).Z() == model.Z()


@given(models(), st.data(), weights)
def test_a_tilt_changes_one_field_and_moves_its_marginal(model, data, r: F) -> None:
    v = data.draw(st.integers(0, model.n - 1))
    tilted = model.tilt(v, r)
    assert tilted.b == model.b
    assert [i for i in range(model.n) if tilted.a[i] != model.a[i]] == ([v] if r != 1 else [])
    p = model.marginal(v)
    assert tilted.marginal(v) == tilted_marginal(p, r)
    assert ising_tv_exact(model, tilted) == tilt_tv(model, v, r) == tilted_distance(p, r)


def test_the_tilt_identity_by_hand() -> None:
    """One spin with p = 1/2, tilted by 3: 3/4 against 1/2."""
    model = RationalIsing([1])
    assert ising_tv_exact(model, model.tilt(0, 3)) == F(1, 4) == tilted_distance(F(1, 2), F(3))


def test_two_spins_by_hand() -> None:
    """a = (2, 1), b = 3: weights 3, 2, 1, 6 of 00, 10, 01, 11."""
    model = RationalIsing([2, 1], {(0, 1): 3})
    table, scale = model.weights()
    assert [scale * w for w in table] == [3, 2, 1, 6]
    assert (model.Z(), model.marginal(0), model.marginal(1)) == (12, F(8, 12), F(7, 12))


same_spins = st.integers(1, 4).flatmap(lambda n: st.tuples(models(n, n), models(n, n)))


@given(same_spins)
def test_distance_is_half_the_sum_of_differences(pair) -> None:
    P, Q = pair
    truth = sum((abs(weight(P, x) / P.Z() - weight(Q, x) / Q.Z()) for x in states(P.n)), F(0)) / F(
        2
    )
    assert ising_tv_exact(P, Q) == truth
    assert ising_tv_float(P, Q) == pytest.approx(float(truth), abs=1e-14)


@given(models())
def test_fields_and_couplings_for_display(model: RationalIsing) -> None:
    """exp(sum J s s + sum h s) is w up to a constant."""
    j, h = model.to_fields()
    ratios = []
    for x in states(model.n):
        s = 2 * np.array(x) - 1
        energy = sum(v * s[a] * s[b] for (a, b), v in j.items()) + h @ s
        ratios.append(float(weight(model, x)) / np.exp(energy))
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=1e-12)


@given(models())
def test_log_weights_match_the_weights(model: RationalIsing) -> None:
    table, scale = model.weights()
    assert np.exp(model.log_weights()) == pytest.approx(
        [float(scale * w) for w in table], rel=1e-12
    )


def test_elimination_reaches_strips_that_enumeration_cannot() -> None:
    model = strip_model(np.random.default_rng(0), 3, 12)
    assert model.pin(35, 0).Z() + model.pin(35, 1).Z() == model.Z()
    with pytest.raises(ValueError, match=r"36 spins needs 2\^36 weights"):
        model.weights()


def test_elimination_refuses_graphs_that_are_too_wide() -> None:
    n = 24
    complete = {(i, j): 2 for j in range(n) for i in range(j)}
    with pytest.raises(ValueError, match="too wide"):
        RationalIsing([1] * n, complete).Z()


def test_the_empty_model_has_one_state() -> None:
    assert RationalIsing([], constant=F(3, 2)).Z() == F(3, 2)


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ([0.5], {}, TypeError, r"a\[0\] is the float"),
        ([1, 1], {(0, 1): 0.5}, TypeError, "float"),
        ([0], {}, ValueError, r"a\[0\] is 0, an Ising weight must be positive"),
        ([1, 1], {(0, 1): -2}, ValueError, "must be positive"),
        ([1, 1], {(1, 1): 2}, ValueError, "self-loop"),
        ([1, 1], {(0, 2): 2}, ValueError, r"spins are 0\.\.1"),
        ([1, 1], {(0, 1): 2, (1, 0): 3}, ValueError, "twice"),
        ([float("nan")], {}, ValueError, "finite"),
    ],
)
def test_bad_models_are_refused(a, b, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        RationalIsing(a, b)


def test_bad_spins_and_factors_are_refused() -> None:
    model = RationalIsing([1, 1])
    for call in (lambda: model.tilt(2, 3), lambda: model.marginal(-1), lambda: model.pin(5, 0)):
        with pytest.raises(ValueError, match=r"spins are 0\.\.1"):
            call()
    with pytest.raises(ValueError, match="r is 0"):
        model.tilt(0, 0)
    with pytest.raises(ValueError, match="s must be 0 or 1"):
        model.pin(0, 2)
    for distance in (ising_tv_exact, ising_tv_float):
        with pytest.raises(ValueError, match="P has 2 spins, Q has 1"):
            distance(model, RationalIsing([1]))


def test_gibbs_sampling_is_right_where_it_mixes() -> None:
    model = random_model(np.random.default_rng(0), 4, density=0.3)
    estimate = gibbs_marginal(model, 1, 400, 60, np.random.default_rng(1))
    assert estimate == pytest.approx(float(model.marginal(1)), abs=0.03)
