"""Claims: what can be registered, what cannot and why, and how claims are selected."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import threading

import cloudpickle
import pytest

import theorylab
from theorylab.claims import (
    ChapterError,
    RegistrationError,
    Source,
    UnknownClaimError,
    chapters,
    claim,
    claims,
    find_claim,
    registry,
)
from theorylab.findings import Equal, Verdict
from theorylab.run import Run

COMPLETE = {"statement": "$1 = 1$.", "source": Source("toy"), "evidence": "exact"}


def holds(run):
    return Equal(1, 1)


def fails(run):
    return Equal(1, 2)


def test_a_claim_carries_what_it_was_registered_with(toy_claim):
    toy_claim("toy.first")
    made = toy_claim(
        "toy.second",
        statement="Assume $n > 1$.",
        source=Source("someone2025", "Lemma 2"),
        evidence="trend",
        expected="refuted",
        uses=["toy.first"],
        controls={"a": fails, "b": fails},
        positive={"c": holds},
    )
    assert (made.id, made.slug, made.statement) == ("toy.second", "toy", "Assume $n > 1$.")
    assert (str(made.source), made.evidence) == ("someone2025, Lemma 2", "trend")
    assert (made.expected, made.uses) == (Verdict.REFUTED, ("toy.first",))
    assert [(c.name, c.must_hold) for c in made.controls] == [
        *(("a", False), ("b", False), ("c", True))
    ]
    assert [c.id for c in theorylab.claims()] == ["toy.first", "toy.second"]


def test_calling_a_claim_runs_its_check_on_its_own_streams(toy_claim):
    made = toy_claim(check=lambda run: Equal(run.claim, "toy.claim"))
    assert made(Run()).judgement == "holds"


# What cannot be registered


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"statement": ""}, "the statement is missing"),
        ({"statement": " \n"}, "the statement is missing"),
        ({"statement": None}, "the statement is missing"),
        ({"source": None}, r"the source is missing \(got None\); give Source"),
        ({"source": "someone2025"}, r"the source is missing \(got 'someone2025'\); give Source"),
        (
            {"evidence": "hearsay"},
            "evidence must be one of exact, certified, statistical, trend, got 'hearsay'",
        ),
        ({"evidence": None}, "evidence must be one of"),
        ({"expected": "error"}, "expected must be one of pending, refuted, verified, got 'error'"),
        ({"expected": "unsound"}, "expected must be one of"),
        ({"uses": "toy.other"}, "uses must be a list of claim ids, got 'toy.other'"),
        ({"uses": ["Theorem 1"]}, "uses must be a list of claim ids"),
    ],
)
def test_each_missing_part_is_named(fresh_registry, change, message):
    with pytest.raises(
        RegistrationError, match=f"claim 'toy.claim' cannot be registered: {message}"
    ):
        claim("toy.claim", **{**COMPLETE, **change})


@pytest.mark.parametrize("part", ["statement", "source", "evidence"])
def test_a_part_that_is_left_out_is_named(fresh_registry, part):
    with pytest.raises(TypeError, match=f"missing 1 required keyword-only argument: '{part}'"):
        claim("toy.claim", **{name: value for name, value in COMPLETE.items() if name != part})


@pytest.mark.parametrize(
    "bad", ["toy", "toy.", ".claim", "Toy.claim", "toy.a_b", "toy.a.b", "toy.a--b", "1toy.a", "", 7]
)
def test_an_id_reads_slug_dot_name(fresh_registry, bad):
    with pytest.raises(RegistrationError, match=r"must read <slug>\.<short-name>"):
        claim(bad, **COMPLETE)


def test_all_problems_are_told_at_once(fresh_registry):
    with pytest.raises(RegistrationError) as caught:
        claim("x", statement="", source=None, evidence="", expected="")  # type: ignore[arg-type]
    for part in ("id", "statement", "source", "evidence", "expected"):
        assert part in str(caught.value)


@pytest.mark.parametrize("key", ["", "  "])
def test_a_source_needs_a_key(key):
    with pytest.raises(RegistrationError, match="needs a bibliography key"):
        Source(key, "Theorem 1")


def test_a_claim_without_control_is_refused_when_the_next_one_comes(toy_claim):
    toy_claim("toy.bare", controls={})
    with pytest.raises(RegistrationError, match=r"no negative control for toy\.bare: .*add one"):
        toy_claim("toy.next")
    toy_claim("toy.next")
    assert [c.id for c in claims()] == ["toy.next"]


def test_a_claim_without_control_is_refused_when_claims_are_asked_for(toy_claim):
    toy_claim("toy.bare", controls={}, positive={"only a positive one": holds})
    with pytest.raises(RegistrationError, match=r"no negative control for toy\.bare"):
        claims()


@pytest.mark.parametrize("name", ["", " ", None, holds])
def test_a_control_needs_a_name(toy_claim, name):
    made = toy_claim()
    for decorator in (made.control, made.positive_control):
        with pytest.raises(RegistrationError, match=r"toy\.claim: a control needs a name"):
            decorator(name)


def test_two_controls_of_one_name_are_refused(toy_claim):
    made = toy_claim(controls={"dropped": fails})
    with pytest.raises(RegistrationError, match="already a control named 'dropped'"):
        made.positive_control("dropped")


def test_two_checks_cannot_share_an_id(toy_claim):
    toy_claim(check=holds)
    with pytest.raises(RegistrationError, match=r"toy\.claim is already registered by .*\.holds"):
        toy_claim(check=fails)


def test_a_cell_that_is_run_again_replaces_its_claim(toy_claim):
    toy_claim("toy.a")
    first = toy_claim("toy.b", check=holds)
    again = toy_claim("toy.b", check=holds)
    assert again is not first
    assert claims("toy.b") == [again]


# Chapters


def test_chapters_register_themselves_through_entry_points(toys):
    assert chapters() == {
        slug: f"toy_chapters.{slug}" for slug in ("steady", "troubled", "waiting", "bare", "broken")
    }
    assert "toy_chapters" not in sys.modules
    assert len(claims("steady")) == 7
    assert "toy_chapters.troubled" not in sys.modules


def test_chapters_of_the_book_come_first_and_cannot_be_replaced(toys, monkeypatch):
    own = {"missing_mass": "theorylab.missing_mass.claims", "steady": "theorylab.steady.claims"}
    monkeypatch.setattr(sys.modules["theorylab.claims"], "_own_chapters", lambda: own)
    found = chapters()
    assert list(found)[:2] == ["missing_mass", "steady"]
    assert found["steady"] == "theorylab.steady.claims"
    assert found["waiting"] == "toy_chapters.waiting"


def test_a_chapter_with_a_bare_claim_is_refused_each_time(toys):
    for _ in range(2):
        with pytest.raises(RegistrationError, match=r"no negative control for bare\.uncontrolled"):
            claims("bare")
    assert registry.of("bare") == []


def test_a_refused_chapter_does_not_stand_in_the_way_of_others(toys):
    with pytest.raises(RegistrationError, match="bare"):
        claims("bare")
    assert claims("steady.exact")[0].id == "steady.exact"


def test_a_chapter_that_cannot_be_imported_says_why(toys):
    with pytest.raises(
        ChapterError,
        match=r"chapter 'broken' cannot be imported from toy_chapters\.broken: "
        r"ModuleNotFoundError: .*a_library_that_nobody_has",
    ):
        claims("broken")
    assert claims("steady.exact")[0].id == "steady.exact"


def test_importing_one_chapter_in_a_thread_does_not_disturb_another(toys, toy_claim):
    """A claim between its registration and its control looks like one without a control."""
    half_done = toy_claim("elsewhere.half-done", controls={})
    thread = threading.Thread(target=claims, args=("steady",))
    thread.start()
    thread.join()
    half_done.control("at last")(fails)
    assert claims("elsewhere") == [half_done]


# Selection


def ids(selection):
    return [made.id for made in claims(selection)]


@pytest.fixture
def three(toy_claim):
    for name in ("alpha.one", "alpha.two", "beta.one"):
        toy_claim(name)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (None, ["alpha.one", "alpha.two", "beta.one"]),
        ("alpha", ["alpha.one", "alpha.two"]),
        ("alpha.two", ["alpha.two"]),
        ("alpha.*", ["alpha.one", "alpha.two"]),
        ("*.one", ["alpha.one", "beta.one"]),
        ("*one", ["alpha.one", "beta.one"]),
        ("a*", ["alpha.one", "alpha.two"]),
        ("*", ["alpha.one", "alpha.two", "beta.one"]),
        ("alpha.t?o", ["alpha.two"]),
        ("[ab]*.one", ["alpha.one", "beta.one"]),
        (["beta", "alpha.one"], ["beta.one", "alpha.one"]),
        (["alpha.two", "alpha"], ["alpha.two", "alpha.one"]),
        (("beta.one", "beta.one"), ["beta.one"]),
        ([], []),
    ],
)
def test_a_selection_is_an_id_a_slug_a_glob_or_several(three, selection, expected):
    assert ids(selection) == expected


@pytest.mark.parametrize(
    ("selection", "nearest"),
    [
        ("alpha.tow", "alpha.two"),
        ("alhpa", "alpha"),
        ("alhpa.two", "alpha.two"),
        ("beta.won", "beta.one"),
        (["alpha", "bet"], "beta"),
    ],
)
def test_an_unknown_claim_is_answered_with_the_nearest_names(three, selection, nearest):
    with pytest.raises(UnknownClaimError, match=f"did you mean .*{nearest}"):
        claims(selection)


@pytest.mark.parametrize("selection", ["", "qqqqqq", "q*"])
def test_where_nothing_is_near_all_names_are_told(three, selection):
    with pytest.raises(UnknownClaimError, match="known: alpha, beta"):
        claims(selection)


def test_nearest_names_load_only_the_near_chapter(toys):
    with pytest.raises(UnknownClaimError, match=r"did you mean .*steady\.exact"):
        claims("stedy.exact")
    assert "toy_chapters.troubled" not in sys.modules


def test_a_chapter_without_claims_says_so(fresh_registry, monkeypatch):
    monkeypatch.setattr(
        sys.modules["theorylab.claims"], "_own_chapters", lambda: {"empty": "theorylab.numbers"}
    )
    with pytest.raises(UnknownClaimError, match="chapter 'empty' has no claims yet"):
        claims("empty")


def test_one_claim_is_found_by_its_whole_id_only(three):
    assert find_claim("alpha.two").id == "alpha.two"
    for pattern in ("alpha", "alpha.*"):
        with pytest.raises(UnknownClaimError):
            find_claim(pattern)


# Travel to other processes


def test_a_claim_of_a_chapter_travels_by_name(toys):
    (made,) = claims("steady.exact")
    assert pickle.loads(pickle.dumps(made)) is made


def test_a_claim_made_by_hand_travels_by_value(toy_claim):
    made = toy_claim("toy.mine", check=lambda run: Equal(7, 7), positive={"there": holds})
    again = cloudpickle.loads(cloudpickle.dumps(made))
    assert again is not made
    assert (again.id, again.evidence, again.source) == (made.id, made.evidence, made.source)
    assert again.check(Run()) == Equal(7, 7)
    assert [c.name for c in again.controls] == ["broken", "there"]


# The import of theorylab itself


def test_importing_theorylab_loads_no_chapter_and_nothing_heavy():
    program = "import sys, theorylab; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(result.stdout.split())
    heavy = {"torch", "scipy", "sympy", "matplotlib", "pandas", "cvxpy", "numba", "distributed"}
    assert not loaded & (heavy | {"joblib", "plotly", "networkx", "sklearn", "rich", "typer"})
    inner = {name for name in loaded if name.startswith("theorylab.")}
    assert not {name for name in inner if name.endswith(".claims") and name.count(".") > 1}
    own = importlib.import_module("theorylab.claims")._own_chapters()
    assert not inner & {f"theorylab.{slug}" for slug in own}
