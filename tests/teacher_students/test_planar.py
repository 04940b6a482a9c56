"""The exact quadrature in the plane against closed forms and plain numerical integration."""

from __future__ import annotations

from fractions import Fraction as F
from math import pi

import numpy as np
import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from theorylab.teacher_students import closed_form, precision, quadrature

entry = st.fractions(min_value=-5, max_value=5, max_denominator=9)
vector = st.tuples(entry, entry).filter(lambda v: v != (0, 0))
network = st.lists(vector, min_size=1, max_size=4)


@settings(max_examples=40)
@given(network, network)
def test_quadrature_and_closed_form_enclose_the_same_numbers(W, V):
    with precision(200):
        left, right = quadrature(W, V), closed_form(W, V)
        assert left.loss.overlaps(right.loss)
        for a, b in zip(left.gradients, right.gradients, strict=True):
            assert all(x.overlaps(y) for x, y in zip(a, b, strict=True))


def test_plain_integration_agrees():
    W, V = [(F(3, 2), F(-1))], [(F(1), F(0)), (F(-1), F(2))]

    def gap(angle: float) -> float:
        e = np.array([np.cos(angle), np.sin(angle)])
        return sum(max(float(w[0]) * e[0] + float(w[1]) * e[1], 0) for w in W) - sum(
            max(float(v[0]) * e[0] + float(v[1]) * e[1], 0) for v in V
        )

    expected = quad(lambda t: gap(t) ** 2, 0, 2 * pi, limit=400, epsabs=1e-12, epsrel=1e-12)[0] / (
        2 * pi
    )
    assert float(quadrature(W, V).loss) == pytest.approx(expected, abs=1e-9)


def test_a_student_on_its_teacher_costs_nothing():
    found = quadrature([(1, 2)], [(1, 2)])
    assert found.loss.contains(0)
    assert all(x.contains(0) for x in found.gradients[0])


def test_precision_is_restored():
    before = ctx.prec
    with precision(777):
        assert ctx.prec == 777
    assert ctx.prec == before


@pytest.mark.parametrize(
    ("W", "error"),
    [([(0.5, 1)], TypeError), ([(0, 0)], ValueError), ([], ValueError), ([(1, 2, 3)], ValueError)],
)
def test_errors(W, error):
    with pytest.raises(error):
        quadrature(W, [(1, 0)])
