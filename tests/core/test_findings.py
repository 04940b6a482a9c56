"""Findings: every kind, how it is judged, stored and shown; and the verdict on a claim."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given
from hypothesis import strategies as st

from theorylab import findings
from theorylab.findings import (
    EVIDENCE,
    AllHold,
    AtLeast,
    AtMost,
    Close,
    Equal,
    ExponentAtMost,
    ExponentEquals,
    Finding,
    IntervalContains,
    IntervalExcludes,
    Judgement,
    NotRejected,
    Pending,
    Rejected,
    Verdict,
    check_evidence,
    finding_from_json,
    verdict_of,
)
from theorylab.numbers import NotANumberError

HOLDS, FAILS = Judgement.HOLDS, Judgement.FAILS
UNDECIDED, PENDING = Judgement.UNDECIDED, Judgement.PENDING


# Any finding at all, of finite numbers of any size.

floats = st.floats(allow_nan=False, allow_infinity=False)
exacts = st.one_of(
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.fractions(),
    st.builds(Fraction, st.integers(), st.integers(1, 10**400)),
)
anything = st.one_of(floats, exacts)
ordinary_fractions = st.fractions(-(10**300), 10**300)
words = st.text(max_size=10)
probability = st.floats(0, 1)
inner_probability = st.floats(0, 1, exclude_min=True, exclude_max=True)
maybe_confidence = st.none() | inner_probability
extras = {"sizes": st.dictionaries(words, anything | words, max_size=2), "note": words}


def vectors(values):
    return st.lists(values, min_size=1, max_size=6)


def scalar_or_pair(values):
    """Two scalars, two sequences of equal length, or one of each."""
    pairs = vectors(st.tuples(values, values)).map(lambda rows: tuple(zip(*rows, strict=True)))
    return st.one_of(
        st.tuples(values, values), pairs, st.tuples(values, vectors(values).map(tuple))
    )


@st.composite
def bounded(draw, kind):
    measured, bound = draw(scalar_or_pair(anything))
    tolerance = draw(st.floats(0, 1e300) | st.fractions(min_value=0))
    return kind(measured, bound, tolerance, **{k: draw(v) for k, v in extras.items()})


@st.composite
def closes(draw):
    measured, predicted = draw(scalar_or_pair(st.floats(-1e300, 1e300) | ordinary_fractions))
    atol = draw(st.floats(0, 1e300, exclude_min=True))
    return Close(measured, predicted, atol, draw(st.floats(0, 10)))


@st.composite
def intervals(draw, kind):
    low, high = sorted([draw(floats), draw(floats)])
    options = {"max_width": draw(st.none() | floats)} if kind is IntervalContains else {}
    return kind(low, high, draw(anything), confidence=draw(maybe_confidence), **options)


@st.composite
def exponents(draw, kind):
    low, slope, high = sorted(draw(floats) for _ in range(3))
    confidence = draw(maybe_confidence)
    if kind is ExponentAtMost:
        return kind(slope, low, high, draw(floats), confidence=confidence)
    tolerance = draw(st.floats(0, 1e300, exclude_min=True))
    return kind(slope, low, high, draw(floats), tolerance, confidence=confidence)


leaf_findings = st.one_of(
    st.builds(Equal, exacts | words, exacts | words, **extras),
    st.builds(Equal, vectors(exacts), vectors(exacts), **extras),
    closes(),
    bounded(AtMost),
    bounded(AtLeast),
    intervals(IntervalContains),
    intervals(IntervalExcludes),
    st.builds(NotRejected, probability, probability, probability, words, probability),
    st.builds(Rejected, probability, probability, st.none() | probability, words),
    exponents(ExponentEquals),
    exponents(ExponentAtMost),
    st.builds(Pending, words.filter(str.strip)),
)
any_finding = st.recursive(
    leaf_findings,
    lambda inner: st.builds(AllHold, st.dictionaries(words, inner, min_size=1, max_size=3)),
    max_leaves=5,
)


def test_the_strategy_covers_every_kind_there_is():
    kinds = {
        kind
        for _, kind in inspect.getmembers(findings, inspect.isclass)
        if issubclass(kind, Finding) and not kind.__name__.startswith("_") and kind is not Finding
    }
    made = {Equal, Close, AtMost, AtLeast, IntervalContains, IntervalExcludes, NotRejected}
    made |= {Rejected, ExponentEquals, ExponentAtMost, Pending, AllHold}
    assert kinds == made


@given(any_finding)
def test_a_finding_comes_back_from_json_identical(finding):
    stored = json.loads(json.dumps(finding.to_json(), allow_nan=False))
    again = finding_from_json(stored)
    assert again == finding
    assert again.judgement is finding.judgement
    assert str(again) == str(finding)
    assert stored["judgement"] == finding.judgement


@given(any_finding)
def test_every_finding_of_finite_numbers_can_be_judged_and_shown(finding):
    assert finding.judgement in Judgement
    assert 0 <= finding.false_alarm <= 1
    assert str(finding) == f"{finding.judgement}: {finding.measured_text} " + (
        f"{finding.predicted_text}" + (f" ({finding.margin_text})" if finding.margin_text else "")
    )


@given(any_finding)
def test_findings_cannot_be_changed(finding):
    for field in dataclasses.fields(finding):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(finding, field.name, None)


# Equal


@pytest.mark.parametrize(
    ("measured", "predicted"),
    [
        (3, 3),
        (Fraction(1, 3), sympy.Rational(1, 3)),
        (np.array([[1, 2], [3, 4]]), [[1, 2], (3, 4)]),
        (torch.tensor([1, 2]), (1, 2)),
        ("none", "none"),
        (("a", 1), ["a", Fraction(1)]),
    ],
)
def test_equal_holds_for_equal_exact_values(measured, predicted):
    finding = Equal(measured, predicted)
    assert finding.judgement is HOLDS
    assert finding.predicted_text.startswith("= ")


@pytest.mark.parametrize(
    ("measured", "predicted"),
    [
        (3, 4),
        (Fraction(1, 3), Fraction(33333333, 100000000)),
        ("ZeroDivisionError", "none"),
        ("3", 3),
        ((1, 2), (1, 2, 3)),
        (((1, 2),), (1, 2)),
        ((), (1,)),
    ],
)
def test_equal_fails_for_anything_else(measured, predicted):
    finding = Equal(measured, predicted)
    assert finding.judgement is FAILS
    assert finding.predicted_text.startswith("≠ ")


@pytest.mark.parametrize("value", [0.5, np.array([1.0]), True, [True], None, sympy.sqrt(2), 1j])
def test_equal_refuses_what_is_not_exact(value):
    with pytest.raises(TypeError, match="measured must be"):
        Equal(value, 1)
    with pytest.raises(TypeError, match="predicted must be"):
        Equal(1, value)


def test_equal_refuses_to_compare_nothing():
    with pytest.raises(ValueError, match="both empty"):
        Equal([], ())


def test_equal_says_how_many_values_differ():
    assert Equal([1, 2, 3], [1, 0, 0]).margin_text == "exact, 3 values, 2 differ"
    assert Equal([1, 2], [1, 2]).margin_text == "exact, 2 values"
    assert Equal([1, 2], [1, 2, 3]).margin_text == "exact, 3 values, 1 differ"
    assert Equal(1, 2).margin_text == "exact"


# Close


@pytest.mark.parametrize(
    ("finding", "judgement"),
    [
        (Close(1.0, 1.5, atol=0.5), HOLDS),
        (Close(1.0, math.nextafter(1.5, 2), atol=0.5), FAILS),
        (Close(-110.0, -100.0, rtol=0.1), HOLDS),
        (Close(-100.0, -110.0, rtol=0.09), FAILS),
        (Close(111.0, 100.0, atol=1, rtol=0.1), HOLDS),
        (Close(np.zeros(3), 0, atol=1e-12), HOLDS),
        (Close([0, 0, 2e-12], 0, atol=1e-12), FAILS),
        (Close(1e308, -1e308, atol=1), FAILS),
        (Close(Fraction(1, 3), 1 / 3, atol=1e-16), HOLDS),
    ],
)
def test_close_compares_within_the_sum_of_both_tolerances(finding, judgement):
    assert finding.judgement is judgement


@given(floats, floats, st.floats(0, 1e300), st.floats(0, 1e3))
def test_close_agrees_with_its_formula_in_exact_arithmetic(m, p, atol, rtol):
    if atol + rtol == 0:
        return
    gap = abs(Fraction(m) - Fraction(p))
    allowed = Fraction(atol) + Fraction(rtol) * abs(Fraction(p))
    if gap > allowed * (1 + Fraction(1, 2**48)) and gap < Fraction(1.7e308):
        assert Close(m, p, atol, rtol).judgement is FAILS
    if gap < allowed * (1 - Fraction(1, 2**48)) and allowed < Fraction(1.7e308):
        assert Close(m, p, atol, rtol).judgement is HOLDS


@pytest.mark.parametrize(
    "tolerances", [{}, {"atol": -1}, {"rtol": -1, "atol": 2}, {"atol": 0, "rtol": 0}]
)
def test_close_needs_a_tolerance(tolerances):
    with pytest.raises(ValueError, match="tolerances must be"):
        Close(1.0, 1.0, **tolerances)


def test_close_refuses_a_tolerance_per_value():
    with pytest.raises(TypeError, match="atol must be a real number"):
        Close([1.0, 2.0], [1.0, 2.0], atol=[0.1, 0.1])


def test_close_refuses_numbers_beyond_floating_point():
    with pytest.raises(ValueError, match="compare larger ones with Equal"):
        Close(10**400, 10**400 + 1, rtol=0.1)


def test_close_shows_the_worst_pair_where_it_fails():
    finding = Close([1.0, 5.0, 2.2], [1.0, 2.0, 2.0], atol=0.1)
    assert (finding.measured_text, finding.predicted_text) == ("5", "≠ 2")
    assert finding.margin_text == "±0.1, 3 values"


@given(st.floats(-1e6, 1e6), st.floats(-0.4, 0.4))
def test_a_close_value_is_shown_alike_when_it_moves_within_the_tolerance(centre, shift):
    """What holds within 0.01 is rounded to 0.01, so machines agree on the text."""
    centre = round(centre, 1)
    shown = Close(centre + shift * 0.01, centre, atol=0.01).measured_text
    assert shown == Close(centre, centre, atol=0.01).measured_text


# AtMost, AtLeast


@pytest.mark.parametrize(
    ("measured", "bound", "tolerance", "judgement"),
    [
        (1, 1, 0, HOLDS),
        (Fraction(10**30 + 1, 10**30), 1, 0, FAILS),
        (Fraction(1, 3), 1 / 3, 0, FAILS),  # the float lies below the fraction
        (1 / 3, Fraction(1, 3), 0, HOLDS),
        (10**400, 10**400 - 1, 1, HOLDS),
        (10**400, 1e308, 0, FAILS),
        (-(10**400), 1e308, 0, HOLDS),
        (1e16, 10**16 - 1, 0, FAILS),
        (2**53 + 1, float(2**53), 0, FAILS),
        (1.5, 1, 0.5, HOLDS),
        (math.nextafter(1.0, 2), 1.0, 0, FAILS),
        ([1, 2, 3], 3, 0, HOLDS),
        ([1, 2, 4], 3, 0, FAILS),
        (3, [3, 2], 0, FAILS),
        ([1, 2], [1, 3], 0, HOLDS),
        (np.ones((2, 2)), np.ones((2, 2)), 0, HOLDS),
    ],
)
def test_a_bound_is_kept_or_broken(measured, bound, tolerance, judgement):
    assert AtMost(measured, bound, tolerance).judgement is judgement
    mirrored = AtLeast(_negative(measured), _negative(bound), tolerance)
    assert mirrored.judgement is judgement


def _negative(values):
    return [-v for v in values] if isinstance(values, (list, np.ndarray)) else -values


@given(anything, anything)
def test_bounds_without_tolerance_are_judged_exactly(m, b):
    assert (AtMost(m, b).judgement is HOLDS) == (Fraction(m) <= Fraction(b))
    assert (AtLeast(m, b).judgement is HOLDS) == (Fraction(m) >= Fraction(b))


@pytest.mark.parametrize("kind", [AtMost, AtLeast])
def test_bounds_refuse_what_cannot_be_compared(kind):
    with pytest.raises(ValueError, match="tolerance must be non-negative"):
        kind(1, 2, -1)
    with pytest.raises(TypeError, match="tolerance must be a real number"):
        kind([1, 2], 3, [0, 0])
    with pytest.raises(ValueError, match="2 measured values against 3"):
        kind([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="nothing is compared"):
        kind([], 1)
    with pytest.raises(ValueError, match="nothing is compared"):
        kind([], [])


def test_a_bound_shows_the_worst_slack_and_whether_it_is_exact():
    exact = AtMost([Fraction(1, 2), Fraction(3, 4)], 1)
    assert (exact.measured_text, exact.predicted_text) == ("3/4", "≤ 1")
    assert exact.margin_text == "slack 1/4, exact, worst of 2"
    broken = AtLeast([0.5, -0.25], 0.0)
    assert (broken.measured_text, broken.predicted_text) == ("-0.25", "< 0")
    assert broken.margin_text == "slack -0.25, worst of 2"


def test_slack_below_rounding_is_shown_as_zero():
    """0.1 + 0.2 misses 0.3 by an amount that differs between machines."""
    assert AtMost(0.1 + 0.2, 0.3, tolerance=1e-12).margin_text == "slack 0"


# Intervals


@pytest.mark.parametrize(
    ("low", "high", "value", "inside"),
    [(0, 1, 0, True), (0, 1, 1, True), (0, 1, 2, False), (0, 0, 0, True), (0.1, 0.2, 0, False)],
)
def test_an_interval_contains_a_value_or_excludes_it(low, high, value, inside):
    assert (IntervalContains(low, high, value).judgement is HOLDS) == inside
    assert (IntervalExcludes(low, high, value).judgement is FAILS) == inside
    assert IntervalContains(low, high, value).predicted_text[0] == ("∋" if inside else "∌")


def test_an_interval_too_wide_decides_nothing_but_a_miss_is_a_miss():
    assert IntervalContains(0, 2, 1, max_width=1).judgement is UNDECIDED
    assert IntervalContains(0, 1, 1, max_width=1).judgement is HOLDS
    assert IntervalContains(0, 2, 3, max_width=1).judgement is FAILS


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1])
def test_a_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\)"):
        IntervalContains(0, 1, 0, confidence=confidence)
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\)"):
        ExponentEquals(1, 0, 2, 1, 1, confidence=confidence)


def test_an_interval_that_is_empty_is_refused():
    with pytest.raises(ValueError, match=r"interval \[2, 1\] is empty"):
        IntervalContains(2, 1, 0)


def test_the_rest_of_the_confidence_is_the_false_alarm_rate():
    assert IntervalContains(0, 1, 0).false_alarm == 0
    assert IntervalContains(0, 1, 0, confidence=0.75).false_alarm == 0.25
    assert ExponentEquals(1, 0, 2, 1, 1, confidence=0.75).false_alarm == 0.25
    assert ExponentAtMost(1, 0, 2, 1, confidence=0.75).false_alarm == 0.25


# Tests of hypotheses


@pytest.mark.parametrize(
    ("p_value", "level", "power", "judgement"),
    [
        (0.04, 0.05, 1, FAILS),
        (0.04, 0.05, 0, FAILS),
        (0.05, 0.05, 0.8, HOLDS),
        (0.5, 0.05, 0.79, UNDECIDED),
        (1, 0, 1, HOLDS),
    ],
)
def test_non_rejection_counts_only_with_power(p_value, level, power, judgement):
    assert NotRejected(p_value, level, power).judgement is judgement


def test_the_least_power_can_be_raised():
    assert NotRejected(0.5, 0.05, 0.9, min_power=0.95).judgement is UNDECIDED


@pytest.mark.parametrize(
    ("p_value", "level", "judgement"), [(0.04, 0.05, HOLDS), (0.05, 0.05, FAILS), (1, 0.05, FAILS)]
)
def test_rejection_is_the_claim_where_the_claim_is_the_alternative(p_value, level, judgement):
    assert Rejected(p_value, level).judgement is judgement


@pytest.mark.parametrize("name", ["p_value", "level", "power", "min_power"])
@pytest.mark.parametrize("bad", [-0.1, 1.1])
def test_probabilities_lie_between_0_and_1(name, bad):
    values = {"p_value": 0.5, "level": 0.1, "power": 0.9} | {name: bad}
    with pytest.raises(ValueError, match=rf"{name} must lie in \[0, 1\]"):
        NotRejected(**values)


def test_false_alarms_of_tests():
    assert NotRejected(0.5, 0.01, 0.9).false_alarm == 0.01
    assert Rejected(0.5, 0.01, power=0.75).false_alarm == 0.25


def test_a_tiny_p_value_is_not_spelled_out():
    """Its digits would differ between machines."""
    assert NotRejected(1e-30, 1e-5, 1).measured_text == "p < 1e-06"
    assert NotRejected(0.0123, 1e-5, 1, against="a bias of 0.1").margin_text == (
        "power 1 against a bias of 0.1"
    )


# Exponents


@pytest.mark.parametrize(
    ("low", "high", "judgement"),
    [
        (0.9, 1.1, HOLDS),
        (0.95, 1.05, HOLDS),
        (0.8, 1.05, UNDECIDED),
        (0.5, 1.5, UNDECIDED),
        (1.05, 1.2, UNDECIDED),
        (1.11, 1.2, FAILS),
        (0.5, 0.89, FAILS),
    ],
)
def test_an_exponent_equals_when_its_whole_interval_is_near(low, high, judgement):
    finding = ExponentEquals((low + high) / 2, low, high, predicted=1, tolerance=0.1)
    assert finding.judgement is judgement
    assert finding.predicted_text[0] == {HOLDS: "=", FAILS: "≠", UNDECIDED: "?"}[judgement]


@pytest.mark.parametrize(
    ("low", "high", "judgement"), [(0, 1, HOLDS), (0, 1.1, UNDECIDED), (1.1, 1.2, FAILS)]
)
def test_an_exponent_is_at_most_its_bound(low, high, judgement):
    finding = ExponentAtMost(high, low, high, bound=1)
    assert finding.judgement is judgement
    assert finding.predicted_text[0] == {HOLDS: "≤", FAILS: ">", UNDECIDED: "?"}[judgement]


def test_an_exponent_outside_its_own_interval_is_refused():
    with pytest.raises(ValueError, match=r"slope 3\.0 outside its interval"):
        ExponentEquals(3, 1, 2, 1, 0.1)


@pytest.mark.parametrize("tolerance", [0, -0.1])
def test_an_exponent_needs_a_positive_tolerance(tolerance):
    with pytest.raises(ValueError, match="tolerance must be positive"):
        ExponentEquals(1, 1, 1, 1, tolerance)


# NaN and infinity, anywhere

_EXAMPLES = {
    Close: {"measured": 1.0, "predicted": 1.0, "atol": 1.0, "rtol": 1.0},
    AtMost: {"measured": 1.0, "bound": 1.0, "tolerance": 1.0},
    AtLeast: {"measured": 1.0, "bound": 1.0, "tolerance": 1.0},
    IntervalContains: {"low": 0, "high": 1, "value": 0, "max_width": 1, "confidence": 0.5},
    IntervalExcludes: {"low": 0, "high": 1, "value": 0, "confidence": 0.5},
    NotRejected: {"p_value": 0.5, "level": 0.1, "power": 0.9, "min_power": 0.8},
    Rejected: {"p_value": 0.5, "level": 0.1, "power": 0.9},
    ExponentEquals: {
        **{"slope": 1, "low": 1, "high": 1, "predicted": 1},
        **{"tolerance": 1, "confidence": 0.5},
    },
    ExponentAtMost: {"slope": 1, "low": 1, "high": 1, "bound": 1, "confidence": 0.5},
}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, values in _EXAMPLES.items() for name in values]
)
def test_nan_and_infinity_are_refused_wherever_a_number_is_due(kind, name, bad):
    kind(**_EXAMPLES[kind])
    with pytest.raises(NotANumberError, match=name):
        kind(**_EXAMPLES[kind] | {name: bad})
    with pytest.raises(NotANumberError, match="size 'n'"):
        kind(**_EXAMPLES[kind], sizes={"n": bad})


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, values in _EXAMPLES.items() for name in values]
)
def test_a_boolean_is_no_number(kind, name):
    with pytest.raises(TypeError, match=name):
        kind(**_EXAMPLES[kind] | {name: True})


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: Equal(1, 1, note=3), "note"),
        (lambda: Equal(1, 1, sizes={1: 2}), "name of a size"),
        (lambda: NotRejected(0.5, 0.1, 0.9, against=0.1), "against"),
        (lambda: Rejected(0.5, 0.1, null=0.1), "null"),
        (lambda: Pending(3), "reason"),
        (lambda: AllHold({1: Equal(1, 1)}), "name of a part"),
    ],
)
def test_texts_are_strings_else_the_record_could_not_be_stored(make, what):
    with pytest.raises(TypeError, match=f"{what} must be a string"):
        make()


# AllHold

LEAF = {
    HOLDS: Equal(1, 1),
    FAILS: Equal(1, 2),
    UNDECIDED: IntervalContains(0, 9, 1, max_width=1),
    PENDING: Pending("needs a GPU"),
}


@pytest.mark.parametrize("judgements", list(itertools.product(Judgement, repeat=3)))
def test_all_hold_is_judged_by_its_worst_part(judgements):
    finding = AllHold({str(i): LEAF[judgement] for i, judgement in enumerate(judgements)})
    worst = next(j for j in (FAILS, PENDING, UNDECIDED, HOLDS) if j in judgements)
    assert finding.judgement is worst
    nested = AllHold({"outer": finding, "fine": LEAF[HOLDS]})
    assert nested.judgement is worst


def test_all_hold_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        AllHold({})


@pytest.mark.parametrize("part", [True, None, 0.5, {"n": 1}])
def test_parts_are_findings(part):
    with pytest.raises(TypeError, match="part 'a' must be a Finding"):
        AllHold({"a": part})


def test_the_part_that_tells_is_shown():
    finding = AllHold({"a": Equal(1, 1), "b": AllHold({"c": Equal(2, 3), "d": Equal(4, 4)})})
    assert (finding.measured_text, finding.predicted_text) == ("b · c: 2", "≠ 3")
    assert finding.margin_text == "2 of 3 parts hold"
    assert [name for name, _ in finding.leaves()] == ["a", "b · c", "b · d"]


def test_false_alarms_of_parts_add_up_to_at_most_1():
    test = NotRejected(0.5, 0.25, 0.9)
    assert AllHold({"a": test, "b": test, "c": Equal(1, 1)}).false_alarm == 0.5
    assert AllHold({str(i): test for i in range(9)}).false_alarm == 1


# Pending, foreign kinds, unknown kinds


@pytest.mark.parametrize("reason", ["", "  "])
def test_pending_needs_a_reason(reason):
    with pytest.raises(ValueError, match="needs a reason"):
        Pending(reason)


def test_a_kind_of_finding_cannot_be_made_elsewhere():
    """A chapter that judged itself would be trusted by nobody."""
    with pytest.raises(TypeError, match=r"judged in theorylab\.findings only"):

        class Obliging(Finding):
            judgement = HOLDS  # type: ignore


def test_an_unknown_kind_is_told_with_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown kind of finding 'Divined'; known: .*Equal"):
        finding_from_json({"kind": "Divined"})


# Evidence

OF_FAMILY = {
    "exact": Equal(1, 1),
    "certified": AtMost(1, 1),
    "statistical": NotRejected(0.5, 0.1, 0.9),
    "trend": ExponentAtMost(1, 1, 1, 1),
}


@pytest.mark.parametrize("declared", EVIDENCE)
@pytest.mark.parametrize("found", EVIDENCE)
def test_a_weaker_finding_than_declared_is_an_error(declared, found):
    strong = {"exact", "certified"}
    allowed = found in strong or found == declared or (declared, found) == ("statistical", "trend")
    for finding in (OF_FAMILY[found], AllHold({"part": OF_FAMILY[found]})):
        if allowed:
            check_evidence(finding, declared)
        else:
            with pytest.raises(ValueError, match=f"declares {declared} evidence but .*{found}"):
                check_evidence(finding, declared)


# Verdicts


def _verdict(finding: Judgement, controls: list[Judgement], positive: list[Judgement]) -> Verdict:
    return verdict_of(LEAF[finding], [LEAF[c] for c in controls], [LEAF[p] for p in positive])


@pytest.mark.parametrize(
    ("finding", "controls", "positive", "verdict"),
    [
        (HOLDS, [FAILS], [], "verified"),
        (HOLDS, [FAILS, FAILS], [HOLDS], "verified"),
        (HOLDS, [HOLDS], [], "unsound"),
        (HOLDS, [FAILS, HOLDS], [], "unsound"),
        (HOLDS, [UNDECIDED, HOLDS], [], "unsound"),
        (HOLDS, [UNDECIDED], [], "inconclusive"),
        (HOLDS, [PENDING], [], "inconclusive"),
        (HOLDS, [], [], "inconclusive"),
        (HOLDS, [FAILS], [FAILS], "unsound"),
        (HOLDS, [FAILS], [UNDECIDED], "inconclusive"),
        (FAILS, [FAILS], [], "refuted"),
        (FAILS, [HOLDS], [], "refuted"),
        (FAILS, [FAILS], [HOLDS], "refuted"),
        (FAILS, [FAILS], [FAILS], "unsound"),
        (UNDECIDED, [FAILS], [], "inconclusive"),
        (UNDECIDED, [HOLDS], [], "inconclusive"),
        (UNDECIDED, [FAILS], [FAILS], "unsound"),
        (PENDING, [], [], "pending"),
        (PENDING, [HOLDS], [FAILS], "pending"),
    ],
)
def test_the_verdict_follows_from_finding_and_controls(finding, controls, positive, verdict):
    assert _verdict(finding, controls, positive) == verdict


@given(
    st.sampled_from(Judgement),
    st.lists(st.sampled_from(Judgement), max_size=3),
    st.lists(st.sampled_from(Judgement), max_size=2),
)
def test_verified_means_that_everything_is_as_it_must_be(finding, controls, positive):
    verified = _verdict(finding, controls, positive) is Verdict.VERIFIED
    assert verified == (
        finding is HOLDS
        and len(controls) > 0
        and all(c is FAILS for c in controls)
        and all(p is HOLDS for p in positive)
    )
