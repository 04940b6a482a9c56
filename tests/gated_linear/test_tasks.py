"""Tasks, their modes, what linear networks leave, and commutators."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from theorylab.gated_linear import (
    commutator,
    context_task,
    critical_alpha,
    cross,
    hierarchy,
    identical_task,
    linear_residual,
    main_task,
    property_table,
    ring,
    task_modes,
    xor_task,
    zoo_task,
)
from theorylab.gated_linear.data import zoo_animals
from theorylab.gated_linear.modes import nested_features, residual_on, sorted_pairing
from theorylab.gated_linear.theory import context_strength, joint_strength, object_strength


def test_main_task_has_the_sizes_and_the_loss_of_the_paper():
    task = main_task()
    assert (task.X.shape, task.Y.shape) == ((11, 24), (60, 24))
    assert task.initial_loss == pytest.approx(105.62, abs=5e-3)


def test_the_blocks_row_by_row():
    assert hierarchy(4).tolist() == [
        [1, 1, 1, 1],
        [1, 1, 0, 0],
        [0, 0, 1, 1],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]
    assert [float(x) for x in ring()[1]] == [0, 0.33, 0.66, 1, 1, 0.66, 0.33, 0]
    assert [float(x) for x in ring()[2]] == [0.33, 0.66, 1, 1, 0.66, 0.33, 0, 0]
    assert (ring()[9] == ring()[1]).all()
    assert len(ring()) == 15
    assert cross()[3].tolist() == [1, 0, 1, 0, 0, 0, 0, 0]
    assert (cross()[[0, 1, 2, *range(7, 15)]] == hierarchy(8)[[0, 1, 2, *range(7, 15)]]).all()


def test_targets_are_common_then_the_current_context():
    task = context_task([[[1, 2]], [[3, 4]]], common=[[5, 6]], alpha="1/2")
    assert task.Y.tolist() == [[5, 6, 5, 6], [1, 2, 0, 0], [0, 0, 3, 4]]
    assert task.X[:, 3].tolist() == [0, 1, 0, 0.5]
    assert task.exact_X[3, 3] == Fraction(1, 2)


@pytest.mark.parametrize(("contexts", "alpha"), [(2, "1"), (3, "1"), (4, "11/10"), (5, "1/2")])
def test_modes_are_those_of_the_formulas(contexts, alpha):
    a = float(Fraction(alpha))
    found = {
        (m.kind, round(m.S, 6)): (m.D, m.mult)
        for m in task_modes(identical_task(contexts, alpha=alpha))
    }
    S, D = joint_strength(15**0.5, contexts, 8, a)
    assert found["joint", round(S, 6)] == (pytest.approx(D), 1)
    S, D = context_strength(15**0.5, 8, a)
    assert found["context", round(S, 6)] == (pytest.approx(D), contexts - 1)
    for square, multiplicity in ((7, 1), (3, 2), (1, 4)):
        S, D = object_strength(square**0.5, contexts)
        assert found["object", round(S, 6)] == (pytest.approx(D), multiplicity)


def test_modes_are_told_apart_where_their_strengths_coincide():
    task = identical_task(3, alpha=critical_alpha(3, 8))
    kinds = sorted(m.kind for m in task_modes(task))
    assert kinds == ["context", "joint", "object", "object", "object"]


def test_sorting_pairs_wrongly_below_the_critical_strength_only():
    for alpha, right in (("27/20", True), ("1", False)):
        task = identical_task(5, alpha=alpha)
        true = sorted((m.S, m.D) for m in task_modes(task) for _ in range(m.mult))
        assert np.allclose(true, sorted(sorted_pairing(task))) == right


def test_linear_residuals_exactly():
    assert linear_residual(identical_task(3)) == 17
    assert linear_residual(identical_task(5)) == 34
    main = linear_residual(main_task())
    assert float(main) == pytest.approx(16.508433, abs=5e-7)
    assert float(main) == pytest.approx(linear_residual(main_task(), exact=False), rel=1e-9)


def test_nested_features_descend_the_staircase():
    task = identical_task(3)
    assert [residual_on(f, task.exact_Y) for f in nested_features(task)] == [66, 51, 37, 25, 17]


def test_commutators():
    assert commutator(identical_task(4, alpha="11/10")).square == 0
    assert commutator(main_task()).relative == pytest.approx(0.047, abs=5e-4)
    assert commutator(main_task(), exact=False).relative == pytest.approx(0.047, abs=5e-4)
    assert commutator(property_table("zoo")).relative == pytest.approx(0.163, abs=5e-4)
    assert commutator(property_table("zoo-whole-table")).relative == pytest.approx(0.143, abs=5e-4)


def test_zoo_table():
    animals = zoo_animals()
    assert len(animals) == 101
    assert len({a["type"] for a in animals}) == 7
    task = zoo_task()
    assert (task.P, task.C, [len(b) for b in task.blocks]) == (21, 3, [12, 5, 4])
    assert (task.common.sum(axis=0) == 1).all()
    assert zoo_task(every=1).P == 101


def test_property_table_of_an_array():
    table = np.array([[1, 0, 1], [0, 1, 1]])
    task = property_table(table, [[0], [1, 2]])
    assert task.Y.tolist() == [
        [1, 0, 1, 0],
        [0, 1, 0, 1],
        [1, 1, 1, 1],
        [1, 0, 0, 0],
        [0, 0, 0, 1],
        [0, 0, 1, 1],
    ]


def test_degenerate_tasks_are_legal():
    assert context_task([hierarchy(1)]).X.shape == (2, 1)
    assert identical_task(1, 4).samples == 4
    assert xor_task().initial_loss == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: hierarchy(6), ValueError, "power of two"),
        (lambda: ring(16), ValueError, "P = 8"),
        (lambda: context_task([]), ValueError, "at least one context"),
        (lambda: context_task([hierarchy(4), hierarchy(2)]), ValueError, "block 1 has 2 objects"),
        (lambda: context_task([hierarchy(4)], alpha=0), ValueError, "alpha"),
        (lambda: context_task([hierarchy(4)], alpha=float("nan")), ValueError, "alpha"),
        (lambda: context_task([[[float("nan")]]]), ValueError, "NaN"),
        (lambda: identical_task(0), ValueError, "at least one context"),
        (lambda: property_table("cars"), ValueError, "zoo"),
        (lambda: property_table(np.array([[np.nan]]), [[0]]), ValueError, "missing"),
        (lambda: property_table(np.eye(2), []), ValueError, "groups"),
        (lambda: property_table(np.eye(2), [[2]]), ValueError, "columns"),
        (lambda: identical_task(3).sample_mask([3]), ValueError, "numbered"),
        (lambda: commutator(identical_task(3, alpha=1.1)), TypeError, "float"),
        (lambda: linear_residual(context_task([np.eye(2)])), TypeError, "floats"),
        (lambda: zoo_task(every=0), ValueError, "every"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
