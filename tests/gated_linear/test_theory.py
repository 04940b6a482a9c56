"""Closed forms against known values, limits and the equations they solve."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from theorylab.gated_linear import theory
from theorylab.gated_linear.tasks import hierarchy


def test_hierarchy_spectrum_of_eight_objects():
    modes = theory.hierarchy_modes(8)
    assert [(m.square, m.multiplicity) for m in modes] == [(15, 1), (7, 1), (3, 2), (1, 4)]


@pytest.mark.parametrize("objects", [1, 2, 4, 16, 32])
def test_hierarchy_spectrum_is_that_of_the_matrix(objects):
    squares = np.sort(np.linalg.svd(hierarchy(objects), compute_uv=False) ** 2)
    expected = [m.square for m in theory.hierarchy_modes(objects) for _ in range(m.multiplicity)]
    assert np.allclose(squares, sorted(expected))


def test_critical_strengths_lie_just_below_the_authors_constants():
    found = [theory.critical_alpha(C, 8) for C in (3, 4, 5)]
    assert np.allclose(found, [0.837, 1.080, 1.323], atol=5e-4)
    assert all(a < b for a, b in zip(found, (1, 1.1, 1.35), strict=True))


def test_staircases_of_eight_objects_in_three_contexts():
    assert theory.linear_staircase(8, 3) == [96, 66, 51, 37, 25, 17]
    assert theory.whole_level_staircase(8, 3) == [96, 66, 51, 30, 12, 0]


@given(st.integers(0, 6), st.integers(1, 12))
def test_every_part_of_the_loss_is_accounted_for(depth, contexts):
    found = theory.plateaus(2**depth, contexts)
    gains = found.joint + found.contexts + sum(found.objects)
    assert found.start - gains == found.remainder
    assert theory.whole_level_staircase(2**depth, contexts)[-1] == 0


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_sigmoid_solves_the_mode_equation(depth):
    S, D, A0, times = 2.0, 1.5, 0.01, np.linspace(0, 3, 7)
    direct = solve_ivp(
        lambda _, a: depth * a ** (2 - 2 / depth) * (S - D * a),
        (0, 3),
        [A0],
        "DOP853",
        times,
        rtol=1e-10,
        atol=1e-13,
    )
    assert np.allclose(theory.sigmoid_mode(times, S, D, A0, depth), direct.y[0], rtol=1e-6)


def test_sigmoid_in_its_degenerate_cases():
    assert np.allclose(theory.sigmoid_mode([0, 1], 0, 2, 0.5), [0.5, 0.5 / 3])
    assert theory.sigmoid_mode(1e3, 1, 1, 1e-300) == pytest.approx(1)
    above = theory.sigmoid_mode([0, 1, 100], 1, 1, 3)
    assert above[0] == 3
    assert above[0] > above[1] > above[2] == pytest.approx(1)
    assert theory.sigmoid_mode(0, 2, 1, 1e-300) == 1e-300


@given(st.floats(0.1, 50), st.floats(0.1, 20), st.floats(1e-9, 1e-3), st.floats(0.01, 0.99))
def test_sigmoid_time_inverts_the_sigmoid(S, D, A0, share):
    A = A0 + share * (S / D - A0)
    time = theory.sigmoid_time(A, S, D, A0)
    assert theory.sigmoid_mode(time, S, D, A0) == pytest.approx(A, rel=1e-6)


def test_finite_steps_are_slower_and_agree_in_the_limit():
    assert theory.step_rate(9, 1e-3) < 18
    assert theory.step_rate(9, 1e-9) == pytest.approx(18, rel=1e-6)
    A = 1e-8
    for _ in range(200):
        A += 1e-3 * 9 * (2 * A + 1e-3 * 9 * A)
    assert pytest.approx(1e-8 * math.exp(0.2 * theory.step_rate(9, 1e-3)), rel=1e-9) == A


def test_race_constants_of_three_to_five_contexts():
    known = {
        3: [1.01342, 0.647395],
        4: [1.01316, 0.675884, 0.48388],
        5: [1.01193, 0.687197, 0.518095, 0.387737],
    }
    for C, values in known.items():
        found = [theory.race_constant(C, k) for k in range(1, C)]
        assert np.allclose(found, values, atol=6e-6)


def test_certified_race_constants_enclose_the_floats():
    for C, k in ((3, 2), (7, 3), (200, 199)):
        bounds = theory.race_constant(C, k, certify=True)
        assert bounds.low <= bounds.high
        assert float(bounds.high - bounds.low) < 1e-30
        assert float(bounds.low) == pytest.approx(theory.race_constant(C, k), rel=1e-14)


def test_late_strengths_of_single_and_all_but_one_context_agree():
    for C in range(3, 9):
        one, most = theory.pathway_constants(C, 1), theory.pathway_constants(C, C - 1)
        assert (one.late_rate, one.D) == (pytest.approx(most.late_rate), most.D)
        assert most.overlap == Fraction(-1, C - 1) == one.overlap
        assert most.early_rate > one.early_rate


def test_arrival_times_of_the_example():
    steps = [theory.arrival_time(3, k, 7**0.5, 2.5e-9) / 1e-3 for k in (1, 2)]
    assert np.allclose(steps, [4037, 2667], atol=1)
    tied = [theory.arrival_without_early_phase(3, k, 7**0.5, 2.5e-9) / 1e-3 for k in (1, 2)]
    assert np.allclose(tied, [5905, 5905], atol=1.5)


def test_xor_curves_start_at_two_and_end_at_zero():
    for pathways in (2, 4):
        curve = theory.xor_curve([0, 1e3], 1e-9, pathways)
        assert np.allclose(curve, [2, 0], atol=1e-6)
    assert theory.xor_curve(5.0, 1e-9, 2) < theory.xor_curve(5.0, 1e-9, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.tree_depth(6), "power of two"),
        (lambda: theory.race_constant(3, 3), r"1\.\.2"),
        (lambda: theory.race_constant(3, 0), r"1\.\.2"),
        (lambda: theory.pathway_constants(1, 1), "contexts"),
        (lambda: theory.sigmoid_mode(1, 1, 1, 0), "A0"),
        (lambda: theory.sigmoid_mode(1, 1, 0, 1), "D must"),
        (lambda: theory.sigmoid_mode(1, -1, 1, 1), "S must"),
        (lambda: theory.sigmoid_mode([-1], 1, 1, 1), "times"),
        (lambda: theory.sigmoid_time(2, 1, 1, 0.1), "never reached"),
        (lambda: theory.effective_start(10, 0.0), "std"),
        (lambda: theory.effective_start(10, 1.0, "tanh"), "kind"),
        (lambda: theory.arrival_time(3, 2, 2.6, 1e-3, A0_context=1.0), "too large"),
        (lambda: theory.critical_alpha(3, 1), "no object mode"),
        (lambda: theory.xor_curve(1, 1e-9, 3), "2 or 4"),
    ],
)
def test_errors_name_the_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
