"""Records: one JSON file per claim and run, written atomically, compared field by field."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import tempfile
import uuid
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from theorylab.findings import Finding, Judgement, Verdict, finding_from_json
from theorylab.run import Run

SCHEMA = 1
DEFAULT_FOLDER = Path(".theorylab") / "records"
_LIBRARIES = ("theorylab", "numpy", "scipy", "sympy", "torch", "python-flint", "cvxpy")


class RecordsError(OSError):
    """The records folder cannot be used; the message says what to do."""


class BadRecordError(ValueError):
    """A record file cannot be read."""


@cache
def library_versions() -> Mapping[str, str]:
    """Versions of Python and of the main libraries, without importing them."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@cache
def code_fingerprint(module: str) -> str:
    """Hash of what a claim of ``module`` may depend on: its package, data included, and the core.

    A record whose fingerprint differs was computed by other code and is not resumed from. It is
    empty, which differs from itself, where the sources have no file (a notebook, a prompt).
    """
    own = _package_files(module)
    if not own:
        return ""
    core = Path(__file__).parent
    files = {*core.glob("*.py"), *(core / "exact").rglob("*.py"), *own}
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _package_files(module: str) -> list[Path]:
    """Files of the chapter's package (of the top-level package, for other distributions)."""
    depth = 2 if module.startswith("theorylab.") else 1
    name = ".".join(module.split(".")[:depth])
    if name == "__main__":
        return []
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return []
    if spec is None or spec.origin is None:
        return []
    folders = spec.submodule_search_locations
    if folders:
        paths = (path for folder in folders for path in Path(folder).rglob("*"))
        return [path for path in paths if path.is_file() and "__pycache__" not in path.parts]
    return [Path(spec.origin)]


@dataclass(frozen=True)
class ControlRecord:
    """What one control found.

    Attributes
    ----------
    name : str
    must_hold : bool
        False for a negative control.
    finding : Finding
    """

    name: str
    must_hold: bool
    finding: Finding

    @property
    def as_it_must(self) -> bool:
        """Whether a negative control was refuted, or a positive one held."""
        wanted = Judgement.HOLDS if self.must_hold else Judgement.FAILS
        return self.finding.judgement is wanted


@dataclass(frozen=True)
class Record:
    """One claim in one run.

    Attributes
    ----------
    claim : str
        The id.
    verdict, expected : Verdict
    finding : Finding or None
        None if the check raised.
    controls : tuple of ControlRecord
    evidence : str
        The kind that the claim declares.
    seconds : float
        Wall-clock time of check and controls.
    scale, device, seed
        Of the run.
    error : str
        Traceback, or why the claim was given up; empty without an error.
    versions : mapping
        Python and main libraries.
    code : str
        Fingerprint of the sources.
    device_bytes : int or None
        Most memory that PyTorch had allocated on the accelerator; None on the CPU.
    """

    claim: str
    verdict: Verdict
    expected: Verdict
    finding: Finding | None
    controls: tuple[ControlRecord, ...] = ()
    evidence: str = ""
    seconds: float = 0.0
    scale: str = "ci"
    device: str = "cpu"
    seed: int = 0
    error: str = ""
    versions: Mapping[str, str] = field(default_factory=lambda: dict(library_versions()))
    code: str = ""
    device_bytes: int | None = None

    @property
    def as_expected(self) -> bool:
        """Whether the book stands by this verdict."""
        return self.verdict == self.expected

    @property
    def slug(self) -> str:
        """The chapter."""
        return self.claim.split(".", 1)[0]

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON."""
        plain = {
            name: value
            for name, value in vars(self).items()
            if name not in {"finding", "controls", "verdict", "expected", "versions"}
        }
        return {
            "schema": SCHEMA,
            **plain,
            "verdict": str(self.verdict),
            "expected": str(self.expected),
            "finding": None if self.finding is None else self.finding.to_json(),
            "controls": [
                {"name": c.name, "must_hold": c.must_hold, "finding": c.finding.to_json()}
                for c in self.controls
            ],
            "versions": dict(self.versions),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Record:
        """Rebuild a record.

        Raises
        ------
        BadRecordError
            If a field is missing or the schema is another one.
        """
        if not isinstance(stored, Mapping):
            raise BadRecordError(f"a record is a JSON object, this is a {type(stored).__name__}")
        if stored.get("schema") != SCHEMA:
            raise BadRecordError(
                f"record schema {stored.get('schema')!r}, this version reads {SCHEMA}; recompute it"
            )
        try:
            values = {key: value for key, value in stored.items() if key != "schema"}
            values["verdict"] = Verdict(stored["verdict"])
            values["expected"] = Verdict(stored["expected"])
            values["finding"] = stored["finding"] and finding_from_json(stored["finding"])
            values["controls"] = tuple(
                ControlRecord(c["name"], c["must_hold"], finding_from_json(c["finding"]))
                for c in stored["controls"]
            )
            return cls(**values)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise BadRecordError(f"incomplete record: {error!r}") from error


def run_folder(root: Path, run: Run) -> Path:
    """Folder of one run's records."""
    return root / f"{run.scale}-{run.device.replace(':', '')}-seed{run.seed}"


class RecordStore:
    """The records folder of one run.

    Parameters
    ----------
    root : path
        Folder that holds one sub-folder per run.
    run : Run

    Raises
    ------
    RecordsError
        If the folder cannot be created or written to.
    """

    def __init__(self, root: str | os.PathLike[str], run: Run) -> None:
        # Absolute, since a claim may change the working directory.
        self.folder = run_folder(Path(root).absolute(), run)
        self._probe()

    def _probe(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder) as probe:
                probe.write(b"\0")
        except OSError as error:
            raise RecordsError(
                f"cannot write records to {self.folder}: {error.strerror or error}; "
                "free space or permissions there, or choose another folder with --records"
            ) from error

    def path(self, claim_id: str) -> Path:
        """File of one claim."""
        return self.folder / f"{claim_id}.json"

    def save(self, record: Record) -> Path:
        """Write a record atomically: a reader sees the old file or the new one, never a part."""
        path = self.path(record.claim)
        write_atomically(path, json.dumps(record.to_json(), indent=1, ensure_ascii=False) + "\n")
        return path

    def load(self, claim_id: str) -> Record | None:
        """The record of a claim, or None; an unreadable file is reported and counts as none."""
        path = self.path(claim_id)
        if not path.exists():
            return None
        try:
            record = read_record(path)
            if record.claim != claim_id:
                raise BadRecordError(f"{path} holds the record of {record.claim}")
        except BadRecordError as error:
            warnings.warn(f"{error}; the claim will be computed again", stacklevel=2)
            return None
        return record


def last_line(text: str) -> str:
    """The last line of a traceback that is not blank: what was raised."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def write_atomically(path: Path, text: str) -> None:
    """Write through a temporary file in the same folder, then rename.

    Lone surrogates, which UTF-8 cannot hold, are written as JSON escapes.
    """
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        with open(temporary, "x", encoding="utf8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def read_record(path: Path) -> Record:
    """Read one record file.

    Raises
    ------
    BadRecordError
        If it is truncated, not JSON or of another schema; the message names the file.
    """
    try:
        return Record.from_json(json.loads(path.read_text(encoding="utf8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, BadRecordError) as error:
        raise BadRecordError(f"cannot read the record {path}: {error}") from error


def load_records(folder: str | os.PathLike[str]) -> list[Record]:
    """All readable records under a folder; unreadable ones are reported as warnings.

    Raises
    ------
    RecordsError
        If the folder does not exist or holds no readable record.
    """
    root = Path(folder)
    if not root.is_dir():
        raise RecordsError(f"no records folder {root}; run `theorylab verify --records {root}`")
    found = []
    for path in sorted(root.rglob("*.json")):
        try:
            found.append(read_record(path))
        except BadRecordError as error:
            warnings.warn(str(error), stacklevel=2)
    if not found:
        raise RecordsError(f"no readable record in {root}")
    return found


@dataclass(frozen=True)
class Change:
    """One difference between two runs."""

    claim: str
    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.claim}: {self.what}: {self.before} → {self.after}"


def compare(before: Iterable[Record], after: Iterable[Record]) -> list[Change]:
    """What changed between two sets of records.

    Verdicts, errors, measured values, predictions, controls and, where one of these differs, the
    versions and sources that may explain it. Running times are left out.

    Raises
    ------
    RecordsError
        If one of the sets holds several records of a claim.
    """
    old, new = _by_claim(before, "the first"), _by_claim(after, "the second")
    changes = []
    for claim_id in sorted(old.keys() | new.keys()):
        if claim_id not in new:
            changes.append(Change(claim_id, "record", str(old[claim_id].verdict), "missing"))
        elif claim_id not in old:
            changes.append(Change(claim_id, "record", "missing", str(new[claim_id].verdict)))
        else:
            changes += _compare_two(old[claim_id], new[claim_id])
    return changes


def _by_claim(records: Iterable[Record], which: str) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for record in records:
        other = found.setdefault(record.claim, record)
        if other is not record:
            folders = [str(run_folder(Path(), _run_of(r))) for r in (other, record)]
            raise RecordsError(
                f"{which} of the two holds {record.claim} more than once "
                f"({', '.join(folders)}); compare the folders of single runs"
            )
    return found


def _run_of(record: Record) -> Run:
    return Run(record.scale, record.device, record.seed)


def _compare_two(old: Record, new: Record) -> list[Change]:
    rows = [
        ("verdict", str(old.verdict), str(new.verdict)),
        ("expected", str(old.expected), str(new.expected)),
        ("evidence", old.evidence, new.evidence),
        ("error", last_line(old.error) or "none", last_line(new.error) or "none"),
        *_finding_rows("finding", old.finding, new.finding),
    ]
    old_controls = {control.name: control.finding for control in old.controls}
    new_controls = {control.name: control.finding for control in new.controls}
    for name in dict.fromkeys([*old_controls, *new_controls]):
        rows += _finding_rows(f"control {name!r}", old_controls.get(name), new_controls.get(name))
    differing = [row for row in rows if row[1] != row[2]]
    if differing:
        differing += [row for row in _causes(old, new) if row[1] != row[2]]
    return [Change(old.claim, *row) for row in differing]


def _finding_rows(
    name: str, old: Finding | None, new: Finding | None
) -> list[tuple[str, str, str]]:
    if old == new:
        return []
    old_leaves = dict(old.leaves()) if old is not None else {}
    new_leaves = dict(new.leaves()) if new is not None else {}
    rows = []
    for leaf in dict.fromkeys([*old_leaves, *new_leaves]):
        a, b = old_leaves.get(leaf), new_leaves.get(leaf)
        if a != b:
            label = f"{name}, {leaf}" if leaf else name
            rows.append((label, *_telling_texts(a, b)))
    return rows


def _telling_texts(a: Finding | None, b: Finding | None) -> tuple[str, str]:
    """Short texts where they differ; all digits where rounding would hide the difference."""
    if a is None or b is None or str(a) != str(b):
        return _text_or_none(a), _text_or_none(b)
    old, new = _flat(vars(a)), _flat(vars(b))
    key = next(key for key in {**old, **new} if old.get(key) != new.get(key))
    return f"{key} = {_in_full(old.get(key))}", f"{key} = {_in_full(new.get(key))}"


def _text_or_none(finding: Finding | None) -> str:
    return "none" if finding is None else str(finding)


def _flat(values: Any, name: str = "") -> dict[str, Any]:
    """Nested values as one level, with names as in ``measured[3]``."""
    if isinstance(values, Mapping):
        items = [(f"{name}.{key}" if name else key, value) for key, value in values.items()]
    elif isinstance(values, tuple):
        items = [(f"{name}[{i}]", value) for i, value in enumerate(values)]
    else:
        return {name: values}
    return {key: scalar for k, value in items for key, scalar in _flat(value, k).items()}


def _in_full(value: Any) -> str:
    """All digits; in hexadecimal where there are more than Python prints in decimal."""
    if isinstance(value, Fraction):
        return f"{_in_full(value.numerator)}/{_in_full(value.denominator)}"
    if isinstance(value, int) and value.bit_length() > 10_000:
        return hex(value)
    return "none" if value is None else str(value)


def _causes(old: Record, new: Record) -> list[tuple[str, str, str]]:
    keys = dict.fromkeys([*old.versions, *new.versions])
    return [
        ("scale", old.scale, new.scale),
        ("device", old.device, new.device),
        ("seed", str(old.seed), str(new.seed)),
        ("sources", old.code, new.code),
        *((f"version of {k}", old.versions.get(k, "-"), new.versions.get(k, "-")) for k in keys),
    ]
