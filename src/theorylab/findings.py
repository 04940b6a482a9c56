"""What a check returns, and how it is judged.

A finding carries numbers: what was measured, what was predicted, the tolerance and the sizes.
Whether it holds is decided here and nowhere else, and so is the verdict on a claim, from its
finding and from those of its controls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

from theorylab.numbers import (
    Number,
    decode,
    encode,
    exact,
    flatten,
    is_exact,
    number,
    numbers,
    show,
)


class Judgement(StrEnum):
    """What the numbers of one finding say."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    PENDING = "pending"


class Verdict(StrEnum):
    """What the book says of a claim, after its finding and its controls."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    UNSOUND = "unsound"
    INCONCLUSIVE = "inconclusive"
    PENDING = "pending"
    ERROR = "error"


_KINDS: dict[str, type[Finding]] = {}


@dataclass(frozen=True)
class Finding(ABC):
    """Base of all findings.

    Parameters
    ----------
    sizes : mapping of str to number, optional
        The sizes that were used; stored in the record and compared between runs.
    note : str, optional
        One sentence for the reader.
    """

    sizes: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    note: str = field(default="", kw_only=True)

    family: ClassVar[str] = "exact"
    """How strong a kind of evidence this is: exact, certified, statistical or trend."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__ != __name__:
            raise TypeError(
                f"{cls.__qualname__} cannot be a kind of finding: findings are judged in "
                f"{__name__} only; return one of the kinds there"
            )
        _KINDS[cls.__name__] = cls

    def __post_init__(self) -> None:
        sizes = {
            _text_of(key, "the name of a size"): value
            if isinstance(value, str)
            else numbers(value, f"size {key!r}")
            for key, value in self.sizes.items()
        }
        self._set(sizes=sizes, note=_text_of(self.note, "note"))

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def judgement(self) -> Judgement:
        """Whether the finding holds."""

    @property
    def false_alarm(self) -> float:
        """Probability that a true claim is judged not to hold, by chance alone."""
        return 0.0

    @property
    @abstractmethod
    def measured_text(self) -> str:
        """The measurement, rounded to what is reproducible."""

    @property
    @abstractmethod
    def predicted_text(self) -> str:
        """The prediction or bound, with its relation to the measurement."""

    @property
    def margin_text(self) -> str:
        """Slack, tolerance, level or power: by how much the finding holds or fails."""
        return ""

    def leaves(self, name: str = "") -> Iterator[tuple[str, Finding]]:
        """Named findings without parts of their own."""
        yield name, self

    def to_json(self) -> dict[str, Any]:
        """The finding as plain JSON; ``finding_from_json`` is the inverse."""
        values = {f.name: encode(getattr(self, f.name)) for f in fields(self)}
        return {"kind": type(self).__name__, "judgement": str(self.judgement), **values}

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Finding:
        return cls(**{f.name: decode(values[f.name]) for f in fields(cls)})

    def __str__(self) -> str:
        margin = f" ({self.margin_text})" if self.margin_text else ""
        return f"{self.judgement}: {self.measured_text} {self.predicted_text}{margin}"


def finding_from_json(stored: Mapping[str, Any]) -> Finding:
    """Rebuild a finding; its judgement is computed anew from the numbers.

    Raises
    ------
    ValueError
        If the kind is unknown (a record of a newer version).
    """
    kind = stored.get("kind")
    if kind not in _KINDS:
        raise ValueError(f"unknown kind of finding {kind!r}; known: {', '.join(sorted(_KINDS))}")
    return _KINDS[kind]._from_values(stored)


def _text_of(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {value!r}")
    return value


def _holds_if(condition: bool) -> Judgement:
    return Judgement.HOLDS if condition else Judgement.FAILS


def _exact_values(values: Any, name: str) -> Any:
    if isinstance(values, str):
        return values
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, Sequence):
        return tuple(_exact_values(item, name) for item in values)
    return exact(values, name)


@dataclass(frozen=True)
class Equal(Finding):
    """Exact equality.

    Parameters
    ----------
    measured, predicted : int, Fraction, str or nested sequences of these
        Floats are refused: use ``Close``.

    Raises
    ------
    TypeError
        If a float or a bare boolean is given.
    ValueError
        If an empty sequence is given: nothing would be compared.
    """

    measured: Any
    predicted: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            measured=_exact_values(self.measured, "measured"),
            predicted=_exact_values(self.predicted, "predicted"),
        )
        if not flatten(self.measured) and not flatten(self.predicted):
            raise ValueError("measured and predicted are both empty: nothing is compared")

    @property
    def judgement(self) -> Judgement:
        return _holds_if(self.measured == self.predicted)

    @property
    def measured_text(self) -> str:
        return show(self.measured)

    @property
    def predicted_text(self) -> str:
        return ("= " if self.measured == self.predicted else "≠ ") + show(self.predicted)

    @property
    def margin_text(self) -> str:
        count = len(flatten(self.predicted))
        if count == 1:
            return "exact"
        pairs = zip(flatten(self.measured), flatten(self.predicted), strict=False)
        wrong = sum(a != b for a, b in pairs) + abs(len(flatten(self.measured)) - count)
        return f"exact, {count} values" + (f", {wrong} differ" if wrong else "")


def _paired(left: Any, right: Any) -> list[tuple[Number, Number]]:
    """Scalars of both sides in pairs; a scalar side is repeated."""
    a, b = flatten(left), flatten(right)
    if not isinstance(left, tuple):
        a = a * len(b)
    if not isinstance(right, tuple):
        b = b * len(a)
    if not a or not b:
        raise ValueError("an empty sequence was given: nothing is compared")
    if len(a) != len(b):
        raise ValueError(f"{len(a)} measured values against {len(b)} predicted ones")
    return list(zip(a, b, strict=True))


def _as_float(value: Number) -> Number:
    """``value`` as a float, or itself where that would overflow."""
    try:
        return float(value)
    except OverflowError:
        return value


def _rounded(value: Number, quantum: Number, digits: int = 4) -> str:
    """``value`` rounded to ``digits`` digits, without what lies below ``quantum``."""
    if isinstance(value, float) and quantum > 0:
        steps = value / quantum if isinstance(quantum, float) else 0.0
        if abs(steps) < _INTEGERS_END:
            value = round(steps) * quantum
    return show(value, digits)


_INTEGERS_END = 2**53
"""Below it, floats and integers convert to each other exactly."""


def _difference(a: Number, b: Number) -> Number:
    """``a - b``, exact where an exact number meets a float."""
    mixed = isinstance(a, float) != isinstance(b, float)
    small = all(isinstance(x, float) or _is_small_integer(x) for x in (a, b))
    return Fraction(a) - Fraction(b) if mixed and not small else a - b


def _is_small_integer(value: Number) -> bool:
    return isinstance(value, int) and abs(value) < _INTEGERS_END


@dataclass(frozen=True)
class Close(Finding):
    r"""Equality of floating-point values within a tolerance.

    .. math:: |m_i - p_i| \le \mathrm{atol} + \mathrm{rtol}\,|p_i| \quad\text{for all } i.

    Parameters
    ----------
    measured, predicted : float or array
        Of equal length, or one of them a scalar.
    atol, rtol : float
        Non-negative tolerances; not both zero.
    """

    measured: Any
    predicted: Any
    atol: Any = 0.0
    rtol: Any = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("measured", "predicted"):
            self._set(**{name: numbers(getattr(self, name), name)})
        for name in ("atol", "rtol"):
            self._set(**{name: number(getattr(self, name), name)})
        if self.atol < 0 or self.rtol < 0 or self.atol + self.rtol == 0:
            raise ValueError(
                f"tolerances must be non-negative and not both 0, got atol={self.atol}, "
                f"rtol={self.rtol}; use Equal for exact equality"
            )
        try:
            self._excess()
        except OverflowError:
            raise ValueError(
                "measured and predicted must lie in the range of floating-point numbers; "
                "compare larger ones with Equal, AtMost or AtLeast"
            ) from None

    def _excess(self) -> list[tuple[float, Number, Number, float]]:
        pairs = _paired(self.measured, self.predicted)
        allowed = [float(self.atol) + float(self.rtol) * abs(float(p)) for _, p in pairs]
        return [
            (float(abs(m - p)) - tolerance, m, p, tolerance)
            for (m, p), tolerance in zip(pairs, allowed, strict=True)
        ]

    @property
    def judgement(self) -> Judgement:
        return _holds_if(max(excess for excess, *_ in self._excess()) <= 0)

    @property
    def _shown(self) -> tuple[float, Number, Number, float]:
        """The worst pair of a failing finding; the first one, which is stable, if it holds."""
        rows = self._excess()
        return max(rows) if self.judgement is Judgement.FAILS else rows[0]

    @property
    def measured_text(self) -> str:
        _, measured, _, tolerance = self._shown
        return _rounded(measured, tolerance)

    @property
    def predicted_text(self) -> str:
        _, _, predicted, tolerance = self._shown
        relation = "=" if self.judgement is Judgement.HOLDS else "≠"
        return f"{relation} {_rounded(predicted, tolerance)}"

    @property
    def margin_text(self) -> str:
        parts = [f"±{show(self.atol, 2)}"] if self.atol else []
        parts += [f"±{show(self.rtol, 2)} relative"] if self.rtol else []
        count = len(self._excess())
        return ", ".join(parts) + (f", {count} values" if count > 1 else "")


@dataclass(frozen=True)
class _Bounded(Finding):
    measured: Any
    bound: Any
    tolerance: Any = 0

    _relation: ClassVar[str] = ""
    _broken: ClassVar[str] = ""
    _sign: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("measured", "bound"):
            self._set(**{name: numbers(getattr(self, name), name)})
        self._set(tolerance=number(self.tolerance, "tolerance"))
        if self.tolerance < 0:
            raise ValueError(f"tolerance must be non-negative, got {self.tolerance}")
        _paired(self.measured, self.bound)

    def _slacks(self) -> list[tuple[Number, Number, Number]]:
        pairs = _paired(self.measured, self.bound)
        gaps = [self._sign * _difference(b, m) for m, b in pairs]
        slacks = [_difference(gap, -self.tolerance) for gap in gaps]
        return [(slack, m, b) for slack, (m, b) in zip(slacks, pairs, strict=True)]

    @property
    def _worst(self) -> tuple[Number, Number, Number]:
        return min(self._slacks(), key=lambda row: row[0])

    @property
    def judgement(self) -> Judgement:
        return _holds_if(self._worst[0] >= 0)

    def _text(self, value: Number) -> str:
        """A float without what lies below a millionth of the larger of value and bound."""
        _, measured, bound = self._worst
        if is_exact((value, measured, bound)):
            return show(value)
        millionth = Fraction(max(abs(measured), abs(bound))) / 10**6
        return _rounded(value, _as_float(millionth))

    @property
    def measured_text(self) -> str:
        return self._text(self._worst[1])

    @property
    def predicted_text(self) -> str:
        relation = self._relation if self.judgement is Judgement.HOLDS else self._broken
        return f"{relation} {self._text(self._worst[2])}"

    @property
    def margin_text(self) -> str:
        slack, count = self._worst[0], len(self._slacks())
        all_exact = is_exact((self.measured, self.bound, self.tolerance))
        text = f"{self._text(slack)}, exact" if all_exact else self._text(_as_float(slack))
        return f"slack {text}" + (f", worst of {count}" if count > 1 else "")


@dataclass(frozen=True)
class AtMost(_Bounded):
    r"""Every measured value is at most its bound: :math:`m_i \le b_i + \mathrm{tolerance}`.

    Parameters
    ----------
    measured, bound : number or sequence
        Of equal length, or one of them a scalar. Exact numbers are compared exactly.
    tolerance : number
        Non-negative; 0 unless rounding of the bound itself must be allowed for.
    """

    family = "certified"
    _relation, _broken, _sign = "≤", ">", 1


@dataclass(frozen=True)
class AtLeast(_Bounded):
    r"""Every measured value is at least its bound: :math:`m_i \ge b_i - \mathrm{tolerance}`.

    Parameters
    ----------
    measured, bound, tolerance
        As for ``AtMost``.
    """

    family = "certified"
    _relation, _broken, _sign = "≥", "<", -1


def _confidence(value: Any) -> float | None:
    if value is None:
        return None
    found = float(number(value, "confidence"))
    if not 0 < found < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {found}")
    return found


@dataclass(frozen=True)
class _Interval(Finding):
    low: Any
    high: Any
    value: Any
    confidence: Any = field(default=None, kw_only=True)

    family = "statistical"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high", "value"):
            self._set(**{name: number(getattr(self, name), name)})
        if self.low > self.high:
            raise ValueError(f"interval [{self.low}, {self.high}] is empty")
        self._set(confidence=_confidence(self.confidence))

    @property
    def _inside(self) -> bool:
        return self.low <= self.value <= self.high

    @property
    def false_alarm(self) -> float:
        return 0.0 if self.confidence is None else 1 - self.confidence

    @property
    def measured_text(self) -> str:
        return f"[{show(self.low)}, {show(self.high)}]"

    @property
    def predicted_text(self) -> str:
        return ("∋ " if self._inside else "∌ ") + show(self.value)

    @property
    def margin_text(self) -> str:
        return "" if self.confidence is None else f"confidence {show(self.confidence, 7)}"


@dataclass(frozen=True)
class IntervalContains(_Interval):
    """The measured interval contains the predicted value.

    Parameters
    ----------
    low, high : number
        Ends of the interval.
    value : number
        The prediction.
    max_width : number, optional
        A wider interval decides nothing: the finding is then undecided.
    confidence : float, optional
        Confidence of the interval, if it is a statistical one; the rest of it counts as
        false-alarm rate.
    """

    max_width: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_width is not None:
            self._set(max_width=number(self.max_width, "max_width"))

    @property
    def judgement(self) -> Judgement:
        if not self._inside:
            return Judgement.FAILS
        too_wide = self.max_width is not None and self.high - self.low > self.max_width
        return Judgement.UNDECIDED if too_wide else Judgement.HOLDS


@dataclass(frozen=True)
class IntervalExcludes(_Interval):
    """The measured interval does not contain ``value``.

    Parameters
    ----------
    low, high, value, confidence
        As for ``IntervalContains``.
    """

    @property
    def judgement(self) -> Judgement:
        return _holds_if(not self._inside)


def _probability(value: Any, name: str) -> float:
    value = float(number(value, name))
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")
    return value


def _show_p(value: float) -> str:
    return "p < 1e-06" if value < 1e-6 else f"p = {show(value, 2)}"


@dataclass(frozen=True)
class NotRejected(Finding):
    """A test whose null hypothesis is the claim.

    It fails when ``p_value < level``, holds when the test does not reject although it had the
    power to, and is undecided when its power is below ``min_power``.

    Parameters
    ----------
    p_value : float
    level : float
        False-alarm rate of the test.
    power : float
        Probability of rejection under the alternative that ``against`` names.
    against : str
        That alternative, in words.
    min_power : float
        Least power at which non-rejection counts.
    """

    p_value: Any
    level: Any
    power: Any
    against: str = ""
    min_power: Any = 0.8

    family = "statistical"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("p_value", "level", "power", "min_power"):
            self._set(**{name: _probability(getattr(self, name), name)})
        _text_of(self.against, "against")

    @property
    def judgement(self) -> Judgement:
        if self.p_value < self.level:
            return Judgement.FAILS
        return Judgement.HOLDS if self.power >= self.min_power else Judgement.UNDECIDED

    @property
    def false_alarm(self) -> float:
        return self.level

    @property
    def measured_text(self) -> str:
        return _show_p(self.p_value)

    @property
    def predicted_text(self) -> str:
        return f"{'<' if self.p_value < self.level else '≥'} level {show(self.level, 2)}"

    @property
    def margin_text(self) -> str:
        against = f" against {self.against}" if self.against else ""
        return f"power {show(self.power, 2)}{against}"


@dataclass(frozen=True)
class Rejected(Finding):
    """A test whose alternative is the claim: it holds when the null hypothesis is rejected.

    Parameters
    ----------
    p_value : float
    level : float
        Level at which the null hypothesis counts as rejected.
    power : float, optional
        Probability of rejection when the claim is true; the rest is the false-alarm rate.
    null : str
        The null hypothesis, in words.
    """

    p_value: Any
    level: Any
    power: Any = None
    null: str = ""

    family = "statistical"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("p_value", "level"):
            self._set(**{name: _probability(getattr(self, name), name)})
        if self.power is not None:
            self._set(power=_probability(self.power, "power"))
        _text_of(self.null, "null")

    @property
    def judgement(self) -> Judgement:
        return _holds_if(self.p_value < self.level)

    @property
    def false_alarm(self) -> float:
        return 0.0 if self.power is None else 1.0 - self.power

    @property
    def measured_text(self) -> str:
        return _show_p(self.p_value)

    @property
    def predicted_text(self) -> str:
        return f"{'<' if self.p_value < self.level else '≥'} level {show(self.level, 2)}"

    @property
    def margin_text(self) -> str:
        return f"rejects: {self.null}" if self.null else ""


@dataclass(frozen=True)
class _Exponent(Finding):
    slope: Any
    low: Any
    high: Any
    confidence: Any = field(default=None, kw_only=True)

    family = "trend"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("slope", "low", "high"):
            self._set(**{name: float(number(getattr(self, name), name))})
        if not self.low <= self.slope <= self.high:
            raise ValueError(f"slope {self.slope} outside its interval [{self.low}, {self.high}]")
        self._set(confidence=_confidence(self.confidence))

    @property
    def false_alarm(self) -> float:
        return 0.0 if self.confidence is None else 1 - self.confidence

    @property
    def measured_text(self) -> str:
        return f"{show(self.slope, 3)} in [{show(self.low, 3)}, {show(self.high, 3)}]"


@dataclass(frozen=True)
class ExponentEquals(_Exponent):
    """A fitted exponent equals the prediction within a tolerance.

    It holds when the whole confidence interval lies within ``predicted`` ± ``tolerance``, fails
    when it lies outside, and is undecided in between.

    Parameters
    ----------
    slope, low, high : float
        Fitted exponent and its confidence interval.
    predicted : float
    tolerance : float
        Positive.
    confidence : float, optional
        Confidence of the interval; the rest of it counts as false-alarm rate.
    """

    predicted: Any
    tolerance: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("predicted", "tolerance"):
            self._set(**{name: float(number(getattr(self, name), name))})
        if self.tolerance <= 0:
            raise ValueError(f"tolerance must be positive, got {self.tolerance}")

    @property
    def judgement(self) -> Judgement:
        lower, upper = self.predicted - self.tolerance, self.predicted + self.tolerance
        if self.low > upper or self.high < lower:
            return Judgement.FAILS
        inside = lower <= self.low and self.high <= upper
        return Judgement.HOLDS if inside else Judgement.UNDECIDED

    @property
    def predicted_text(self) -> str:
        relation = {"holds": "=", "fails": "≠", "undecided": "?"}[str(self.judgement)]
        return f"{relation} {show(self.predicted, 3)}"

    @property
    def margin_text(self) -> str:
        return f"±{show(self.tolerance, 2)}"


@dataclass(frozen=True)
class ExponentAtMost(_Exponent):
    """A fitted exponent is at most ``bound``.

    It holds when the whole interval does not exceed the bound, fails when it lies above, and is
    undecided in between.

    Parameters
    ----------
    slope, low, high, confidence
        As for ``ExponentEquals``.
    bound : float
    """

    bound: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(bound=float(number(self.bound, "bound")))

    @property
    def judgement(self) -> Judgement:
        if self.low > self.bound:
            return Judgement.FAILS
        return Judgement.HOLDS if self.high <= self.bound else Judgement.UNDECIDED

    @property
    def predicted_text(self) -> str:
        relation = {"holds": "≤", "fails": ">", "undecided": "?"}[str(self.judgement)]
        return f"{relation} {show(self.bound, 3)}"


@dataclass(frozen=True)
class AllHold(Finding):
    """Named findings that must all hold.

    Parameters
    ----------
    parts : mapping of str to Finding
        At least one.
    """

    parts: Mapping[str, Finding]

    family = "compound"

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = dict(self.parts)
        if not parts:
            raise ValueError("AllHold needs at least one finding: an empty set holds vacuously")
        for name, part in parts.items():
            _text_of(name, "the name of a part")
            if not isinstance(part, Finding):
                raise TypeError(f"part {name!r} must be a Finding, got {part!r}")
        self._set(parts=parts)

    @property
    def judgement(self) -> Judgement:
        found = {part.judgement for part in self.parts.values()}
        order = (Judgement.FAILS, Judgement.PENDING, Judgement.UNDECIDED)
        return next((judgement for judgement in order if judgement in found), Judgement.HOLDS)

    @property
    def false_alarm(self) -> float:
        return min(sum(part.false_alarm for part in self.parts.values()), 1.0)

    def leaves(self, name: str = "") -> Iterator[tuple[str, Finding]]:
        for own, part in self.parts.items():
            yield from part.leaves(f"{name} · {own}" if name else own)

    @property
    def _telling(self) -> tuple[str, Finding]:
        """The first part that is judged as the whole is."""
        return next(
            (name, part) for name, part in self.leaves() if part.judgement is self.judgement
        )

    @property
    def measured_text(self) -> str:
        name, part = self._telling
        return f"{name}: {part.measured_text}"

    @property
    def predicted_text(self) -> str:
        return self._telling[1].predicted_text

    @property
    def margin_text(self) -> str:
        leaves = [part for _, part in self.leaves()]
        held = sum(part.judgement is Judgement.HOLDS for part in leaves)
        return f"{held} of {len(leaves)} parts hold"

    def to_json(self) -> dict[str, Any]:
        parts = {name: part.to_json() for name, part in self.parts.items()}
        values = {"sizes": encode(self.sizes), "note": self.note, "parts": parts}
        return {"kind": "AllHold", "judgement": str(self.judgement), **values}

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Finding:
        parts = {name: finding_from_json(part) for name, part in values["parts"].items()}
        return cls(parts, sizes=decode(values["sizes"]), note=values["note"])


@dataclass(frozen=True)
class Pending(Finding):
    """Not computed in this run.

    Parameters
    ----------
    reason : str
        The scale or device that it needs.
    """

    reason: str

    family = "compound"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _text_of(self.reason, "reason").strip():
            raise ValueError("a pending finding needs a reason: the scale or device it waits for")

    @property
    def judgement(self) -> Judgement:
        return Judgement.PENDING

    @property
    def measured_text(self) -> str:
        return "not yet run"

    @property
    def predicted_text(self) -> str:
        return self.reason


EVIDENCE = ("exact", "certified", "statistical", "trend")
_ALLOWED = {
    "exact": {"exact", "certified", "compound"},
    "certified": {"exact", "certified", "compound"},
    "statistical": {"exact", "certified", "statistical", "trend", "compound"},
    "trend": {"exact", "certified", "trend", "compound"},
}


def check_evidence(finding: Finding, evidence: str) -> None:
    """Refuse a finding that is weaker than the evidence its claim declares.

    Raises
    ------
    ValueError
        If, for example, a claim declared ``exact`` rests on a hypothesis test.
    """
    for name, leaf in finding.leaves():
        if leaf.family not in _ALLOWED[evidence]:
            part = f"part {name!r} " if name else ""
            raise ValueError(
                f"the claim declares {evidence} evidence but {part}is {leaf.family} "
                f"({type(leaf).__name__}); declare the weaker kind"
            )


def verdict_of(
    finding: Finding, controls: Sequence[Finding], positive_controls: Sequence[Finding] = ()
) -> Verdict:
    """The verdict on a claim.

    Parameters
    ----------
    finding : Finding
        What the check found.
    controls : sequence of Finding
        The same measurement where the claim must not hold.
    positive_controls : sequence of Finding
        The same measurement where it must hold; guards a refutation against a check that
        cannot pass.

    Returns
    -------
    Verdict
        ``pending`` if the finding is; ``unsound`` if a positive control fails; ``refuted`` if the
        finding fails; ``unsound`` if it holds and a control holds too; ``inconclusive`` if it or
        a control is undecided; else ``verified``.
    """
    judged = [control.judgement for control in controls]
    judged_positive = [control.judgement for control in positive_controls]
    if finding.judgement is Judgement.PENDING:
        return Verdict.PENDING
    if Judgement.FAILS in judged_positive:
        return Verdict.UNSOUND
    if finding.judgement is Judgement.FAILS:
        return Verdict.REFUTED
    if finding.judgement is Judgement.HOLDS and Judgement.HOLDS in judged:
        return Verdict.UNSOUND
    everything_decided = all(j is Judgement.FAILS for j in judged) and all(
        j is Judgement.HOLDS for j in judged_positive
    )
    if finding.judgement is Judgement.HOLDS and everything_decided and judged:
        return Verdict.VERIFIED
    return Verdict.INCONCLUSIVE
