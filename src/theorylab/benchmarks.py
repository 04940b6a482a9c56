"""Results of benchmarks: times beside a named peer as ratios, how times grow, and their targets.

The scripts in the folder ``benchmarks`` measure and store such results; the book's page on
performance shows them. All numbers that a target speaks of are ratios or exponents: seconds say
more about the machine than about the program.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from theorylab.stats import ExponentFit, fit_exponent

CONFIDENCE = 0.95
"""Of the intervals of exponents."""


def _positive(value: float, name: str) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be positive and finite, got {value!r}; measure it again")


@dataclass(frozen=True)
class Target:
    """What a number is to reach: at least, at most, both or nothing.

    Attributes
    ----------
    least, most : float or None
    """

    least: float | None = None
    most: float | None = None

    def met(self, value: float) -> bool | None:
        """Whether the value reaches the target; None if there is none."""
        if self.least is None and self.most is None:
            return None
        low = -math.inf if self.least is None else self.least
        high = math.inf if self.most is None else self.most
        return low <= value <= high


@dataclass(frozen=True)
class Row:
    """One case: seconds of both sides, and how many times ours fit into the peer's.

    Attributes
    ----------
    case : str
    ours_s, peer_s : float
        Seconds.
    ratio : float
        Peer over ours, so that more than 1 means that ours is faster.
    least : float or None
        The ratio to reach, if there is a target for this case.
    details : mapping
        What else was found: sizes, verdicts, errors.

    Raises
    ------
    ValueError
        If a time or the ratio is not positive and finite.
    """

    case: str
    ours_s: float
    peer_s: float
    ratio: float
    least: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("ours_s", "peer_s", "ratio"):
            _positive(getattr(self, name), f"{name} of {self.case!r}")

    @staticmethod
    def of(
        case: str, ours_s: float, peer_s: float, least: float | None = None, **details: Any
    ) -> Row:
        """A row whose ratio is that of its two times."""
        _positive(ours_s, f"ours_s of {case!r}")
        return Row(case, ours_s, peer_s, peer_s / ours_s, least, details)

    @property
    def met(self) -> bool | None:
        """Whether the ratio reaches its target; None if there is none."""
        return Target(least=self.least).met(self.ratio)


@dataclass(frozen=True)
class Growth:
    """Seconds against a size, and the exponent of the power law through them.

    Attributes
    ----------
    name : str
        What grows with what: "weight space, in the number of walls".
    cases : tuple of str
        One for each size, at least three.
    sizes, seconds : tuple of float
    most : float or None
        The exponent not to pass, if there is a target.
    """

    name: str
    cases: tuple[str, ...]
    sizes: tuple[float, ...]
    seconds: tuple[float, ...]
    most: float | None = None

    def __post_init__(self) -> None:
        if not len(self.cases) == len(self.sizes) == len(self.seconds):
            raise ValueError(
                f"{self.name!r} needs as many cases as sizes and seconds, got "
                f"{len(self.cases)}, {len(self.sizes)} and {len(self.seconds)}"
            )

    @property
    def fit(self) -> ExponentFit:
        """Exponent with its confidence interval."""
        return fit_exponent(self.sizes, self.seconds, CONFIDENCE)

    @property
    def met(self) -> bool | None:
        """Whether the exponent stays within its target; None if there is none."""
        return Target(most=self.most).met(self.fit.slope)


@dataclass(frozen=True)
class Measure:
    """Another number that a target speaks of: neurons of a bound over ours, wrong verdicts.

    Attributes
    ----------
    name : str
    value : float
    least, most : float or None
        The target, if there is one.
    """

    name: str
    value: float
    least: float | None = None
    most: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"the value of {self.name!r} must be finite, got {self.value!r}")

    @property
    def met(self) -> bool | None:
        """Whether the value reaches its target; None if there is none."""
        return Target(self.least, self.most).met(self.value)


@dataclass(frozen=True)
class Result:
    """What one benchmark found beside one peer.

    Attributes
    ----------
    title, peer, peer_version : str
        The version is empty if the peer is part of this package.
    rows : tuple of Row
    target : str
        The targets in words.
    growths : tuple of Growth
    measures : tuple of Measure
    machine : mapping
        Versions of Python and of the libraries, number of processors; empty if not recorded.
    """

    title: str
    peer: str
    peer_version: str
    rows: tuple[Row, ...]
    target: str = ""
    growths: tuple[Growth, ...] = ()
    measures: tuple[Measure, ...] = ()
    machine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[bool, ...]:
        """For each target whether it is met: of the rows, the exponents and the measures."""
        found = [part.met for part in (*self.rows, *self.growths, *self.measures)]
        return tuple(met for met in found if met is not None)

    def to_json(self) -> str:
        """The result as text; exponents are written beside the times they were fitted to."""
        content = {
            "title": self.title,
            "peer": self.peer,
            "peer_version": self.peer_version,
            "rows": [_without_nothing(vars(row)) for row in self.rows],
            "growths": [_growth_json(growth) for growth in self.growths],
            "measures": [_without_nothing(vars(measure)) for measure in self.measures],
            "target": self.target,
            "machine": dict(self.machine),
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @staticmethod
    def from_json(text: str) -> Result:
        """The result that ``to_json`` wrote.

        Raises
        ------
        ValueError
            If the text is no result of a benchmark.
        """
        try:
            content = json.loads(text)
            return Result(
                content["title"],
                content["peer"],
                content["peer_version"],
                tuple(Row(**row) for row in content["rows"]),
                content["target"],
                tuple(_growth(growth) for growth in content.get("growths", ())),
                tuple(Measure(**measure) for measure in content.get("measures", ())),
                content.get("machine", {}),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"no result of a benchmark beside a peer: {error!r}") from error


def _without_nothing(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and value != {}}


def _growth_json(growth: Growth) -> dict[str, Any]:
    fit = growth.fit
    return {
        **_without_nothing(vars(growth)),
        "exponent": fit.slope,
        "exponent_interval": [fit.low, fit.high],
    }


def _growth(content: Mapping[str, Any]) -> Growth:
    lists: dict[str, Sequence] = {name: content[name] for name in ("cases", "sizes", "seconds")}
    return Growth(
        content["name"], **{k: tuple(v) for k, v in lists.items()}, most=content.get("most")
    )


def stored_results(folder: str | Path) -> Iterator[tuple[str, Result]]:
    """File name without ending, and result, of each benchmark beside a peer, by name.

    Files of another kind, such as counts of false alarms, have no rows and are passed over.

    Parameters
    ----------
    folder : path

    Raises
    ------
    ValueError
        If a file cannot be read; the file is named.
    """
    for path in sorted(Path(folder).glob("*.json")):
        text = path.read_text(encoding="utf8")
        try:
            if "rows" in json.loads(text):
                yield path.stem, Result.from_json(text)
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from error
