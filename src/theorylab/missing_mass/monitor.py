r"""Watching a live campaign: how likely is the next execution to show something new?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from theorylab.missing_mass import intervals
from theorylab.missing_mass.fingerprint import Fingerprint
from theorylab.missing_mass.intervals import Interval

FIRST_CHECKPOINT = 32


@dataclass(frozen=True)
class ResidualRisk:
    """State of a campaign at one moment.

    Attributes
    ----------
    executions, classes : int
        Observations so far, and different ones among them.
    estimate : float
        Good-Turing estimate of the probability that the next execution is new.
    interval : Interval
        Esty's interval at 95 %: approximate, for this moment only.
    upper : float
        Upper bound at the last checkpoint, valid at all checkpoints together; 1 before the
        first.
    """

    executions: int
    classes: int
    estimate: float
    interval: Interval
    upper: float


class Monitor:
    r"""Residual-risk monitor with a stopping rule that may be consulted at any time.

    The campaign is checked after 32, 64, 128, ... executions. At check j, the classes of the
    first half count as seen and the second half is a binomial sample of their missing mass,
    bounded from above at level :math:`\delta/(j(j+1))`. These levels add up to delta, and the
    missing mass never grows, so

    .. math:: P(\text{some bound is ever exceeded by the missing mass}) \le \delta .

    Parameters
    ----------
    target : float
        The campaign may stop once the bound is at most this, in (0, 1).
    delta : float
        Probability that it then stops too early, in (0, 1).

    Raises
    ------
    ValueError
        If ``target`` or ``delta`` is not in (0, 1).
    """

    def __init__(self, target: float, delta: float = 0.05) -> None:
        for name, value in (("target", target), ("delta", delta)):
            if not 0 < value < 1:
                raise ValueError(f"{name} must lie in (0, 1), got {value}")
        self.target, self.delta = target, delta
        self.upper = 1.0
        self.stopped_at: int | None = None
        self._counts: Counter[Hashable] = Counter()
        self._executions = 0
        self._checks = 0
        self._half = FIRST_CHECKPOINT // 2
        self._seen_at_half: frozenset[Hashable] = frozenset()
        self._new_since_half = 0

    @property
    def may_stop(self) -> bool:
        """Whether the bound has reached the target."""
        return self.stopped_at is not None

    def observe(self, label: Hashable) -> None:
        """Record the class of one more execution."""
        self._executions += 1
        self._counts[label] += 1
        if self._executions > self._half and label not in self._seen_at_half:
            self._new_since_half += 1
        if self._executions == 2 * self._half:
            self._check()
        if self._executions == self._half:
            self._seen_at_half, self._new_since_half = frozenset(self._counts), 0

    def observe_all(self, labels: Iterable[Hashable]) -> None:
        """Record several executions in their order."""
        for label in labels:
            self.observe(label)

    def _check(self) -> None:
        """Tighten the bound and let this moment be the half of the next check."""
        self._checks += 1
        level = self.delta / (self._checks * (self._checks + 1))
        bound = intervals.clopper_pearson_upper(self._new_since_half, self._half, level)
        self.upper = min(self.upper, bound)
        if self.upper <= self.target and self.stopped_at is None:
            self.stopped_at = self._executions
        self._half = self._executions

    def state(self) -> ResidualRisk:
        """The campaign as it stands.

        Raises
        ------
        ValueError
            If nothing was observed yet.
        """
        if self._executions == 0:
            raise ValueError("nothing was observed yet: there is no estimate")
        fp = Fingerprint.from_counts(list(self._counts.values()))
        return ResidualRisk(
            self._executions, fp.distinct, fp.phi(1) / fp.n, intervals.esty(fp), self.upper
        )
