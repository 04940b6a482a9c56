"""Oracles that answer with the total variation distance of two Ising models, and count queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from theorylab.exact import rational
from theorylab.total_variation.ising import RationalIsing, ising_tv_exact, tilt_tv

GRAIN = 1000
"""Random relative and additive errors are multiples of ``size / GRAIN``."""


ADVERSARIES = ("up", "down", "alternate", "random")


class TVOracle(ABC):
    """From two Ising models to (an estimate of) their total variation distance.

    Attributes
    ----------
    queries : int
        How often it was asked.
    """

    def __init__(self) -> None:
        self.queries = 0

    def __call__(self, P: RationalIsing, Q: RationalIsing) -> Fraction:
        """The answer; counted."""
        self.queries += 1
        return self.answer(P, Q)

    @abstractmethod
    def answer(self, P: RationalIsing, Q: RationalIsing) -> Fraction:
        """The answer; not counted."""


class EnumerationOracle(TVOracle):
    """The exact distance, by summing over all 2^n states; knows nothing about tilts."""

    def answer(self, P: RationalIsing, Q: RationalIsing) -> Fraction:
        return ising_tv_exact(P, Q)


class EliminationOracle(TVOracle):
    """The exact distance of two models that differ in one field, for narrow graphs.

    It uses the tilt identity, so it cannot serve as evidence for that identity.

    Raises
    ------
    ValueError
        When asked about models that differ in more than one field.
    """

    def answer(self, P: RationalIsing, Q: RationalIsing) -> Fraction:
        if P.n != Q.n or P.b != Q.b:
            raise ValueError("the models must share graph and couplings; use EnumerationOracle")
        changed = [v for v in range(P.n) if P.a[v] != Q.a[v]]
        if len(changed) > 1:
            raise ValueError(f"the fields of spins {changed} differ, at most one may")
        if not changed:
            return Fraction(0)
        return tilt_tv(P, changed[0], Q.a[changed[0]] / P.a[changed[0]])


class PerturbedOracle(TVOracle):
    r"""Another oracle's answers, disturbed within a stated error.

    Parameters
    ----------
    kind : {"relative", "additive", "factor"}
        :math:`T(1+e)` with :math:`|e|\le` size, :math:`T+e` with :math:`|e|\le` size, or
        :math:`T\rho^{\pm1}` with :math:`\rho` = size.
    size : int, Fraction or str
        At least 0, below 1 if relative; at least 1 for a factor.
    adversary : {"up", "down", "alternate", "random"}
        All answers as large as allowed, as small as allowed, the two in turn (so that of a pair
        of answers the first looks larger), or at random.
    base : TVOracle, optional
        Whose answers are disturbed; enumeration if omitted.
    rng : numpy.random.Generator, optional
        Needed by ``"random"``.

    Raises
    ------
    ValueError
        For an unknown kind or adversary, a size out of range, or a missing generator.
    TypeError
        For a float size.
    """

    def __init__(
        self,
        kind: str,
        size: Any,
        adversary: str,
        *,
        base: TVOracle | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__()
        if kind not in _DISTURB:
            raise ValueError(f"kind must be one of {', '.join(_DISTURB)}; got {kind!r}")
        if adversary not in ADVERSARIES:
            raise ValueError(
                f"adversary must be one of {', '.join(ADVERSARIES)}; got {adversary!r}"
            )
        if adversary == "random" and rng is None:
            raise ValueError("a random adversary needs rng, a numpy Generator")
        self.kind, self.size, self.adversary = kind, rational(size, "size"), adversary
        _check_size(kind, self.size)
        self.base, self.rng = base or EnumerationOracle(), rng

    def answer(self, P: RationalIsing, Q: RationalIsing) -> Fraction:
        return _DISTURB[self.kind](self.base(P, Q), self.size, self._direction())

    def _direction(self) -> Fraction:
        """A number in [-1, 1]: how far, and which way, the next answer is moved."""
        if self.adversary == "random" and self.rng is not None:
            return Fraction(int(self.rng.integers(-GRAIN, GRAIN + 1)), GRAIN)
        if self.adversary == "alternate":
            return Fraction(1 if self.queries % 2 else -1)
        return Fraction(1 if self.adversary == "up" else -1)


def _check_size(kind: str, size: Fraction) -> None:
    if kind == "factor" and size < 1:
        raise ValueError(f"size is the factor {size}; it must be at least 1")
    if size < 0 or (kind == "relative" and size >= 1):
        raise ValueError(f"size is {size}; it must be at least 0, and below 1 if relative")


_DISTURB: dict[str, Callable[[Fraction, Fraction, Fraction], Fraction]] = {
    "relative": lambda truth, size, way: truth * (1 + size * way),
    "additive": lambda truth, size, way: truth + size * way,
    "factor": lambda truth, size, way: truth * size if way > 0 else truth / size,
}
