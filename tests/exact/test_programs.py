from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.exact import (
    InequalitySystem,
    Infeasible,
    Optimum,
    Polyhedron,
    Unbounded,
    generators,
    solve,
)

coefficient = st.integers(-4, 4)
plane_rows = st.lists(st.tuples(coefficient, coefficient).filter(any), min_size=1, max_size=7)


def dot(left: tuple, right: tuple) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def check(system: InequalitySystem, rows: list, bounds: list, cost: tuple) -> None:
    """Whatever the answer, its certificate must prove it."""
    answer = system.minimise(cost)
    if isinstance(answer, Optimum):
        y = answer.multipliers
        assert min(y) >= 0
        assert all(dot(row, answer.x) >= bound for row, bound in zip(rows, bounds, strict=True))
        assert tuple(dot(y, column) for column in zip(*rows, strict=True)) == cost
        assert dot(y, tuple(bounds)) == answer.value == dot(cost, answer.x)
    elif isinstance(answer, Infeasible):
        y = answer.multipliers
        assert min(y) >= 0
        assert not any(dot(y, column) for column in zip(*rows, strict=True))
        assert dot(y, tuple(bounds)) > 0
    else:
        assert system.is_feasible(answer.x)
        assert all(dot(row, answer.direction) >= 0 for row in rows)
        assert dot(cost, answer.direction) < 0


@given(plane_rows, st.data())
def test_every_answer_in_the_plane_is_proved(rows: list, data: st.DataObject) -> None:
    fraction = st.fractions(-3, 3, max_denominator=3)
    bounds = data.draw(st.lists(fraction, min_size=len(rows), max_size=len(rows)))
    cost = data.draw(st.tuples(fraction, fraction))
    system = InequalitySystem(rows, bounds, 2)
    check(system, rows, bounds, cost)
    region = Polyhedron.from_inequalities(
        2, [(row, -b) for row, b in zip(rows, bounds, strict=True)]
    )
    answer = system.minimise(cost)
    assert isinstance(answer, Infeasible) == region.is_empty()
    if not region.is_empty():
        low = region.range((cost, 0))[0]
        assert isinstance(answer, Unbounded) == (low is None)
        if isinstance(answer, Optimum):
            assert answer.value == low


def large_system(seed: int) -> tuple[InequalitySystem, list, list]:
    rng = np.random.default_rng(seed)
    rows = [tuple(int(a) for a in rng.integers(-3, 4, 12)) for _ in range(30)]
    bounds = [Fraction(int(b), 7) for b in rng.integers(-60, 0, 30)]
    return InequalitySystem(rows, bounds, 12), rows, bounds


@pytest.mark.parametrize("seed", range(6))
def test_the_floating_point_path_and_the_exact_simplex_agree(seed: int) -> None:
    system, rows, bounds = large_system(seed)
    cost = tuple(dot((1,) * len(rows), column) for column in zip(*rows, strict=True))
    check(system, rows, bounds, cost)
    objective = tuple(int(c) for c in cost)
    by_floats = system._from_float_basis(objective)
    exact = system._from_exact_simplex(objective)
    assert by_floats is not None
    assert exact is not None
    assert dot(objective, by_floats[0]) == dot(objective, exact[0])


def test_the_optimality_check_asks_for_all_four_conditions() -> None:
    """min x + y over x >= 0, y >= 0, x + y >= 1, x <= 5: optimal at (1, 0), not at the others."""
    rows = [(1, 0), (0, 1), (1, 1), (-1, 0)]
    system = InequalitySystem(rows, [0, 0, 1, -5], 2)
    cost, one, zero = (1, 1), Fraction(1), Fraction(0)
    x, y = (one, zero), (zero, zero, one, zero)
    assert system._is_optimal(cost, x, y)
    assert not system._is_optimal(cost, (zero, zero), y)
    assert not system._is_optimal(cost, (2 * one, zero), y)
    assert not system._is_optimal(cost, x, (zero, 2 * one, -one, zero))
    assert not system._is_optimal(cost, x, (zero, one, zero, zero))
    assert not system._is_optimal((-1, 0), (zero, one), (-one, zero, zero, zero))


def test_numbers_beyond_floating_point_are_still_exact() -> None:
    """Two constraints that differ by one part in 10^40."""
    big = 10**40
    rows = [(big, 1), (big + 1, 1), (0, 1), (1, 0)] * 30
    bounds = [big, big, 0, 0] * 30
    answer = InequalitySystem(rows, bounds, 2).minimise((1, 0))
    assert isinstance(answer, Optimum)
    assert answer.value == 0
    check(InequalitySystem(rows, bounds, 2), rows, bounds, (Fraction(1), Fraction(1)))


@settings(max_examples=40)
@given(st.lists(st.tuples(*[coefficient] * 3).filter(any), min_size=3, max_size=7), st.data())
def test_walking_to_a_vertex(rows: list, data: st.DataObject) -> None:
    """The cube keeps the set pointed; the walk ends in a vertex and does not raise the cost."""
    cube = [tuple(s * int(i == j) for j in range(3)) for i in range(3) for s in (1, -1)]
    system = InequalitySystem(rows + cube, [-5] * (len(rows) + 6), 3)
    cost = data.draw(st.tuples(*[coefficient] * 3))
    vertex = system.to_vertex((0, 0, 0), cost)
    assert dot(cost, vertex) <= 0
    assert vertex in generators(system.rows, system.bounds, 3).vertices


def test_walks_that_cannot_end() -> None:
    strip = InequalitySystem([(1, 0), (-1, 0)], [0, -1], 2)
    with pytest.raises(ValueError, match="no vertex"):
        strip.to_vertex((0, 0))
    wedge = InequalitySystem([(1, 0), (0, 1)], [0, 0], 2)
    with pytest.raises(ValueError, match="without bound"):
        wedge.to_vertex((1, 1), (-1, 0))
    with pytest.raises(ValueError, match="violates"):
        wedge.to_vertex((-1, 0))


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="2 bounds"):
        InequalitySystem([(1, 0)], [0, 1], 2)
    with pytest.raises(ValueError, match="3 entries"):
        InequalitySystem([(1, 0)], [0], 3)
    with pytest.raises(ValueError, match="cost needs 2"):
        InequalitySystem([(1, 0)], [0], 2).minimise((1,))


def test_vertices_by_brute_force() -> None:
    """Every vertex of a random polytope is the solution of three tight rows, and no other is."""
    rng = np.random.default_rng(3)
    rows = [tuple(int(a) for a in rng.integers(-4, 5, 3)) for _ in range(9)]
    cube = [tuple(s * int(i == j) for j in range(3)) for i in range(3) for s in (1, -1)]
    rows, bounds = rows + cube, [-3] * 9 + [-4] * 6
    system = InequalitySystem(rows, bounds, 3)
    expected = set()
    for three in combinations(range(len(rows)), 3):
        chosen = [rows[k] for k in three]
        if InequalitySystem(chosen, [0] * 3, 3)._matrix.rank() == 3:
            point = solve(chosen, [bounds[k] for k in three], 3)
            if point is not None and system.is_feasible(point):
                expected.add(point)
    for backend in ("ppl", "cdd", "lrs"):
        assert set(generators(rows, bounds, 3, backend).vertices) == expected
