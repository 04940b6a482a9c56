from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from theorylab.exact import independent_rows, null_space, rank, rref, solve

entries = st.fractions(min_value=-5, max_value=5, max_denominator=4)


@st.composite
def matrices(draw: st.DrawFn) -> list[list[Fraction]]:
    columns = draw(st.integers(1, 4))
    row = st.lists(entries, min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=1, max_size=4))


def times(rows: list[list[Fraction]], x: tuple) -> list[Fraction]:
    return [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for row in rows]


@given(matrices())
def test_echelon_form_and_rank_agree_with_sympy(rows: list[list[Fraction]]) -> None:
    reduced, pivots = rref(rows, len(rows[0]))
    expected, expected_pivots = sympy.Matrix(
        [[sympy.Rational(e.numerator, e.denominator) for e in row] for row in rows]
    ).rref()
    assert tuple(pivots) == expected_pivots
    assert rank(rows) == len(pivots)
    for row, other in zip(reduced, expected.tolist(), strict=False):
        assert [Fraction(int(e.p), int(e.q)) for e in other] == list(row)


@given(matrices())
def test_null_space_has_the_right_dimension_and_is_integral(rows: list[list[Fraction]]) -> None:
    columns = len(rows[0])
    basis = null_space(rows, columns)
    assert len(basis) == columns - rank(rows)
    assert rank(basis, columns) == len(basis)
    for vector in basis:
        assert all(isinstance(entry, int) for entry in vector)
        assert not any(times(rows, vector))


@given(matrices(), st.data())
def test_solutions_solve_and_inconsistency_is_seen(
    rows: list[list[Fraction]], data: st.DataObject
) -> None:
    columns = len(rows[0])
    x = tuple(data.draw(st.lists(entries, min_size=columns, max_size=columns)))
    right = times(rows, x)
    solution = solve(rows, right, columns)
    assert solution is not None
    assert times(rows, solution) == right
    doubled = [*rows, rows[0]]
    assert solve(doubled, [*right, right[0] + 1], columns) is None


@given(matrices())
def test_independent_rows_form_a_basis(rows: list[list[Fraction]]) -> None:
    chosen = independent_rows(rows, len(rows[0]))
    assert len(chosen) == rank(rows)
    assert rank([rows[k] for k in chosen], len(rows[0])) == len(chosen)


def test_empty_systems() -> None:
    assert rank([]) == 0
    assert null_space([], 2) == [(1, 0), (0, 1)]
    assert rref([], 3) == ([], [])
    assert independent_rows([], 3) == []


def test_ragged_input_is_refused() -> None:
    with pytest.raises(ValueError, match="row 1 has 1 entries, 2 are needed"):
        rank([(1, 2), (3,)])
    with pytest.raises(ValueError, match="right-hand sides"):
        solve([(1, 2)], [1, 2], 2)
