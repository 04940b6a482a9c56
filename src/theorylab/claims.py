"""Claims: statements of a paper with their check, their controls and their registry.

A chapter registers its claims by importing ``claim`` from here; the core finds chapters by
looking for ``theorylab.<slug>.claims`` and for the entry-point group ``theorylab.chapters``, and
imports one only when it is asked for.
"""

from __future__ import annotations

import difflib
import fnmatch
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from theorylab.findings import EVIDENCE, Finding, Verdict
from theorylab.run import Run

Check = Callable[[Run], Finding]
Selection = str | Iterable[str] | None
ENTRY_POINTS = "theorylab.chapters"
BOOK_ORDER = (
    *("missing_mass", "total_variation"),
    *("dc_decomposition", "relu_depth", "attention_rank"),
    *("neural_collapse", "gated_linear", "scaling_laws", "teacher_students"),
)

_ID = re.compile(r"[a-z][a-z0-9_]*\.[a-z0-9]+(-[a-z0-9]+)*")
_MAY_BE_EXPECTED = {Verdict.VERIFIED, Verdict.REFUTED, Verdict.PENDING}


class RegistrationError(ValueError):
    """A claim is incomplete or its id is taken."""


class ChapterError(ImportError):
    """A chapter's claims cannot be imported."""


class UnknownClaimError(KeyError):
    """A selection matches nothing."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Source:
    """Where a claim is made.

    Parameters
    ----------
    key : str
        A key of the bibliography; ``"theorylab"`` for what was derived in the book.
    place : str
        Theorem, equation or section.
    """

    key: str
    place: str = ""

    def __post_init__(self) -> None:
        if not self.key.strip():
            raise RegistrationError("a Source needs a bibliography key, got an empty one")

    def __str__(self) -> str:
        return f"{self.key}, {self.place}" if self.place else self.key


@dataclass(frozen=True)
class Control:
    """A measurement beside the claim's own.

    Parameters
    ----------
    name : str
        What differs from the claim.
    check : callable
        From a ``Run`` to a ``Finding``.
    must_hold : bool
        False for a negative control, on which the claim must fail.
    """

    name: str
    check: Check
    must_hold: bool = False


@dataclass(frozen=True)
class Claim:
    """One machine-checkable statement of a paper; built by the ``claim`` decorator.

    Attributes
    ----------
    id : str
        ``<slug>.<short-name>``.
    statement : str
        Markdown with LaTeX, with every assumption.
    source : Source
    evidence : {"exact", "certified", "statistical", "trend"}
    check : callable
        From a ``Run`` to a ``Finding``.
    expected : Verdict
        The verdict that the book stands by.
    uses : tuple of str
        Ids of the claims that this one rests on.
    controls : list of Control
    """

    id: str
    statement: str
    source: Source
    evidence: str
    check: Check
    expected: Verdict = Verdict.VERIFIED
    uses: tuple[str, ...] = ()
    controls: list[Control] = field(default_factory=list, compare=False)

    @property
    def slug(self) -> str:
        """The chapter that the claim belongs to."""
        return self.id.split(".", 1)[0]

    @property
    def module(self) -> str:
        """Name of the module that defines the check."""
        return self.check.__module__

    def __call__(self, run: Run) -> Finding:
        return self.check(run.for_claim(self.id))

    def control(self, name: str) -> Callable[[Check], Check]:
        """Decorator that adds a negative control: the same check where the claim must fail."""
        return self._adding(name, must_hold=False)

    def positive_control(self, name: str) -> Callable[[Check], Check]:
        """Decorator that adds a control where the claim must hold.

        For claims that are expected to be refuted: it shows that the check can pass.
        """
        return self._adding(name, must_hold=True)

    def _adding(self, name: str, must_hold: bool) -> Callable[[Check], Check]:
        if not isinstance(name, str) or not name.strip():
            raise RegistrationError(f"{self.id}: a control needs a name that says what differs")
        if any(control.name == name for control in self.controls):
            raise RegistrationError(f"{self.id}: there is already a control named {name!r}")

        def add(check: Check) -> Check:
            self.controls.append(Control(name, check, must_hold))
            return check

        return add

    def __reduce__(self) -> Any:
        """Claims of an installed chapter travel to other processes by name, others by value."""
        home = _chapter_module(self.slug)
        if home is not None and f"{self.module}.".startswith(f"{home}."):
            return find_claim, (self.id,)
        return _rebuild, (
            *(self.id, self.statement, self.source, self.evidence),
            *(self.check, self.expected, self.uses, self.controls),
        )


def _rebuild(*parts: Any) -> Claim:
    return Claim(*parts)


class Registry:
    """The claims that have been registered, in order of registration."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}

    def add(self, claim: Claim) -> None:
        """Register a claim; a module or notebook cell run anew replaces its own claims."""
        known = self._claims.get(claim.id)
        if known is not None and not _runs_anew(known.check, claim.check):
            raise RegistrationError(
                f"{claim.id} is already registered by {known.module}.{known.check.__qualname__}; "
                "choose another id"
            )
        self.seal(claim.slug, except_for=claim.id)
        self._claims[claim.id] = claim

    def seal(self, slug: str, except_for: str | None = None) -> None:
        """Refuse claims of a chapter that were left without a negative control.

        Raises
        ------
        RegistrationError
            Names the claims; they are dropped from the registry.
        """
        bare = [
            claim.id
            for claim in self.of(slug)
            if claim.id != except_for and all(control.must_hold for control in claim.controls)
        ]
        for claim_id in bare:
            del self._claims[claim_id]
        if bare:
            raise RegistrationError(
                f"no negative control for {', '.join(bare)}: a check that cannot fail proves "
                "nothing; add one with @<claim>.control('what is broken')"
            )

    def drop(self, slug: str) -> None:
        """Forget the claims of one chapter."""
        for claim in self.of(slug):
            del self._claims[claim.id]

    def of(self, slug: str) -> list[Claim]:
        """Claims of one chapter."""
        return [claim for claim in self._claims.values() if claim.slug == slug]

    def slugs(self) -> list[str]:
        """Chapters with at least one registered claim."""
        return list(dict.fromkeys(claim.slug for claim in self._claims.values()))


def _runs_anew(known: Check, check: Check) -> bool:
    """Whether ``check`` is ``known`` defined once more rather than another check."""
    return known.__module__ == check.__module__ and known.__qualname__ == check.__qualname__


registry = Registry()


def claim(
    id: str,
    *,
    statement: str,
    source: Source,
    evidence: str,
    expected: str = "verified",
    uses: Iterable[str] = (),
) -> Callable[[Check], Claim]:
    r"""Register a check as a claim.

    Parameters
    ----------
    id : str
        ``<slug>.<short-name>``, lower case, hyphens within the short name.
    statement : str
        Markdown with LaTeX, in our own words, with every assumption.
    source : Source
        Where the claim is made.
    evidence : {"exact", "certified", "statistical", "trend"}
        The kind of evidence; a finding of a weaker kind is an error.
    expected : {"verified", "refuted", "pending"}
        The verdict that the book stands by.
    uses : iterable of str
        Ids of the claims that this one rests on.

    Returns
    -------
    callable
        Decorator that turns the check into a ``Claim``. At least one ``@<claim>.control(...)``
        must follow before the next claim, else registration fails.

    Raises
    ------
    RegistrationError
        If anything is missing; the message says what.
    """
    uses = uses if isinstance(uses, str) else tuple(uses)
    problems = _problems(id, statement, source, evidence, expected, uses)
    if problems:
        raise RegistrationError(f"claim {id!r} cannot be registered: " + "; ".join(problems))

    def register(check: Check) -> Claim:
        made = Claim(id, statement, source, evidence, check, Verdict(expected), tuple(uses))
        registry.add(made)
        return made

    return register


def _problems(
    id: str, statement: str, source: Source, evidence: str, expected: str, uses: Iterable[str]
) -> list[str]:
    found = []
    if not isinstance(id, str) or not _ID.fullmatch(id):
        found.append("the id must read <slug>.<short-name> in lower case")
    if not isinstance(statement, str) or not statement.strip():
        found.append("the statement is missing")
    if not isinstance(source, Source):
        found.append(f"the source is missing (got {source!r}); give Source(key, place)")
    if evidence not in EVIDENCE:
        found.append(f"evidence must be one of {', '.join(EVIDENCE)}, got {evidence!r}")
    if expected not in _MAY_BE_EXPECTED:
        words = ", ".join(sorted(_MAY_BE_EXPECTED))
        found.append(f"expected must be one of {words}, got {expected!r}")
    if isinstance(uses, str) or not all(_ID.fullmatch(str(used)) for used in uses):
        found.append(f"uses must be a list of claim ids, got {uses!r}")
    return found


def _own_chapters() -> dict[str, str]:
    import theorylab

    roots = [Path(root) for root in theorylab.__path__]
    found = {
        path.relative_to(root).parts[0]
        for root in roots
        for pattern in ("*/claims.py", "*/claims/__init__.py")
        for path in root.glob(pattern)
    }
    ordered = [slug for slug in BOOK_ORDER if slug in found]
    return {slug: f"theorylab.{slug}.claims" for slug in [*ordered, *sorted(found - {*ordered})]}


def chapters() -> dict[str, str]:
    """Slugs of all installed chapters and the module that registers each one's claims.

    Chapters of this package come from its folders, those of others from the entry-point group
    ``theorylab.chapters`` (name: slug, value: module). Others cannot replace a chapter of this
    package.
    """
    own = _own_chapters()
    others = {point.name: point.module for point in entry_points(group=ENTRY_POINTS)}
    return {**own, **{slug: others[slug] for slug in others if slug not in own}}


def _chapter_module(slug: str) -> str | None:
    return chapters().get(slug)


def _load(slug: str) -> None:
    module = _chapter_module(slug)
    if module is None:
        registry.seal(slug)
        return
    try:
        importlib.import_module(module)
        registry.seal(slug)
    except RegistrationError:
        _forget(slug, module)
        raise
    except Exception as error:
        raise ChapterError(
            f"chapter {slug!r} cannot be imported from {module}: {type(error).__name__}: {error}"
        ) from error


def _forget(slug: str, module: str) -> None:
    """Have an incomplete chapter imported again, and refused again, when next asked for."""
    registry.drop(slug)
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{module}.")]:
        del sys.modules[name]


def _known_slugs() -> list[str]:
    return list(dict.fromkeys([*chapters(), *registry.slugs()]))


def _unknown(pattern: str, known: Iterable[str]) -> UnknownClaimError:
    known = list(known)
    near = difflib.get_close_matches(pattern, known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(known) or 'none'}"
    return UnknownClaimError(f"no claim or chapter matches {pattern!r}; {hint}")


def _matching(pattern: str) -> Iterator[Claim]:
    """Claims whose id matches the pattern, or all of the chapters whose slug does."""
    slug_pattern, dot, _ = pattern.partition(".")
    for slug in _known_slugs():
        whole_chapter = not dot and fnmatch.fnmatchcase(slug, pattern)
        if not (whole_chapter or fnmatch.fnmatchcase(slug, slug_pattern) or "*" in slug_pattern):
            continue
        _load(slug)
        for candidate in registry.of(slug):
            if whole_chapter or fnmatch.fnmatchcase(candidate.id, pattern):
                yield candidate


def _select_one(pattern: str) -> list[Claim]:
    found = list(_matching(pattern))
    if found:
        return found
    slugs = _known_slugs()
    slug = pattern.partition(".")[0]
    if pattern in slugs:
        raise UnknownClaimError(f"chapter {pattern!r} has no claims yet")
    if slug in slugs and "." in pattern:
        raise _unknown(pattern, [candidate.id for candidate in registry.of(slug)])
    raise _unknown(pattern, [*slugs, *_ids_of_near_chapters(slug, slugs)])


def _ids_of_near_chapters(slug: str, slugs: list[str]) -> list[str]:
    near = difflib.get_close_matches(slug, slugs, n=2)
    for name in near:
        _load(name)
    return [candidate.id for name in near for candidate in registry.of(name)]


def claims(selection: Selection = None) -> list[Claim]:
    """The registered claims.

    Parameters
    ----------
    selection : str or iterable of str, optional
        A claim id, a slug, a glob, or several of these; all chapters if omitted.

    Returns
    -------
    list of Claim
        In book order, without repetition. Only the chapters that are needed are imported.

    Raises
    ------
    UnknownClaimError
        If a pattern matches nothing; the message names the nearest ids.
    ChapterError
        If a chapter that is needed cannot be imported.
    RegistrationError
        If a chapter's claim has no negative control.
    """
    if selection is None:
        found = [c for slug in _known_slugs() for c in _matching(slug)]
    else:
        patterns = [selection] if isinstance(selection, str) else list(selection)
        found = [c for pattern in patterns for c in _select_one(pattern)]
    return list({candidate.id: candidate for candidate in found}.values())


def find_claim(claim_id: str) -> Claim:
    """The claim with exactly this id; raises ``UnknownClaimError`` if there is none."""
    candidates = _select_one(claim_id)
    for candidate in candidates:
        if candidate.id == claim_id:
            return candidate
    raise _unknown(claim_id, [candidate.id for candidate in candidates])
