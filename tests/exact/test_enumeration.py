from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.exact import BACKENDS, generators
from theorylab.exact import enumeration as module

rows_in_space = st.lists(st.tuples(*[st.integers(-3, 3)] * 3).filter(any), min_size=0, max_size=6)


@settings(max_examples=40, deadline=None)
@given(rows_in_space, st.data())
def test_three_programs_agree(rows: list, data: st.DataObject) -> None:
    """The orthant keeps the set pointed; it may be empty, bounded or not."""
    bounds = data.draw(
        st.lists(st.fractions(-3, 3, max_denominator=3), min_size=len(rows), max_size=len(rows))
    )
    orthant = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    answers = [
        generators([*rows, *orthant], [*bounds, -1, 0, Fraction(-1, 2)], 3, backend)
        for backend in BACKENDS
    ]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("backend", BACKENDS)
def test_cones_have_their_apex(backend: str) -> None:
    cone = generators([(1, 0), (-1, 2)], [0, 0], 2, backend)
    assert cone.vertices == ((0, 0),)
    assert set(cone.rays) == {(0, 1), (2, 1)}


@pytest.mark.parametrize("backend", BACKENDS)
def test_empty_sets_have_no_generators(backend: str) -> None:
    empty = generators([(1,), (-1,)], [1, 0], 1, backend)
    assert empty.vertices == empty.rays == ()


@pytest.mark.parametrize("backend", BACKENDS)
def test_lines_are_refused(backend: str) -> None:
    with pytest.raises(ValueError, match="line"):
        generators([(1, 0), (-1, 0)], [0, -1], 2, backend)


def test_unknown_backends_are_named() -> None:
    with pytest.raises(ValueError, match=r"'porta'.*ppl, cdd, lrs"):
        generators([(1,)], [0], 1, "porta")


def test_a_missing_program_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PROGRAMS", {"cdd": ("no-such-wheel", "no-such-program", ())})
    with pytest.raises(RuntimeError, match="pip install no-such-wheel"):
        generators([(1,)], [0], 1, "cdd")


def test_a_program_without_an_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_program", lambda *_: "/bin/true")
    with pytest.raises(RuntimeError, match="no generators"):
        generators([(1,)], [0], 1, "cdd")
