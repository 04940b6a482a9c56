"""Decompositions of one function, what is proved about them, and the best of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from theorylab.exact import Rational, Vector, clear_denominators

from .balancing import RowNumbers
from .functions import CPWL, AffineMap, integrate


@dataclass(frozen=True)
class Certificate:
    """A vector over the walls that proves a statement about a decomposition.

    Attributes
    ----------
    kind : {"irreducible", "reducible", "optimal", "empty"}
        - ``"irreducible"``: v annihilates all balanced vectors and is at least 1 on every wall
          where both parts kink; so no convex function can be subtracted from both.
        - ``"reducible"``: weights of a convex function that can be subtracted from both.
        - ``"optimal"``: multipliers y >= 0, zero off the walls where g kinks no more than it
          must; ``cost - y`` annihilates all balanced vectors.
        - ``"empty"``: y >= 0 annihilates all balanced vectors and ``y . w_f^+ > 0``.
    vector : tuple of Fraction
        One entry per wall.
    """

    kind: str
    vector: Vector


class EmptyDecomposition(ValueError):
    """The function is no difference of convex functions on this complex.

    Attributes
    ----------
    certificate : Certificate
        The Farkas vector that proves it.
    """

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        support = {k: y for k, y in enumerate(certificate.vector) if y}
        super().__init__(
            "empty: no convex functions on this complex have this difference; "
            f"Farkas multipliers on the walls: {support}; refine the complex"
        )


class Decomposition:
    """A pair of convex functions ``g``, ``h`` on one complex with ``f = g - h``.

    Parameters
    ----------
    f : CPWL
    w_g : sequence of rationals
        The weights of g on the walls.
    certificate : Certificate, optional
        What is known about it.

    Raises
    ------
    ValueError
        If the weights are not balanced, or g or h is not convex.
    """

    def __init__(
        self, f: CPWL, w_g: Sequence[Rational], certificate: Certificate | None = None
    ) -> None:
        checked = integrate(f.complex, w_g).weights
        for number, (weight, kink) in enumerate(zip(checked, f.weights, strict=True)):
            if weight < max(kink, 0):
                part = "g" if weight < 0 else "h"
                raise ValueError(f"{part} is not convex: it bends down across wall {number}")
        self._f = f
        self._numbers = clear_denominators(f.complex.weight_space.row_values(checked))
        self._certificate = certificate

    @classmethod
    def unchecked(
        cls, f: CPWL, numbers: RowNumbers, certificate: Certificate | None = None
    ) -> Decomposition:
        """Build from the numbers of g on the rows, known to give convex parts."""
        decomposition = cls.__new__(cls)
        decomposition._f = f
        decomposition._numbers = numbers
        decomposition._certificate = certificate
        return decomposition

    @property
    def f(self) -> CPWL:
        """The decomposed function."""
        return self._f

    @cached_property
    def w_g(self) -> Vector:
        """Weights of g."""
        entries, denominator = self._numbers
        values = [Fraction(entry, denominator) for entry in entries]
        return tuple(self._f.complex.weight_space.from_row_values(values))

    @property
    def w_h(self) -> Vector:
        """Weights of h."""
        return tuple(g - f for g, f in zip(self.w_g, self._f.weights, strict=True))

    @property
    def certificate(self) -> Certificate | None:
        """What was proved when the decomposition was found."""
        return self._certificate

    @cached_property
    def g(self) -> CPWL:
        """The convex minuend, zero on cell 0."""
        return CPWL.unchecked(self._f.complex, self.w_g)

    @cached_property
    def h(self) -> CPWL:
        """The convex subtrahend ``g - f``."""
        return self.g - self._f

    @cached_property
    def counts(self) -> tuple[int, int]:
        r"""Numbers of linear pieces :math:`(q(g),q(h))`."""
        space = self._f.complex.weight_space
        (g, scale), (f, unit) = self._numbers, self._f.row_numbers
        kinks_of_h = [a * unit != b * scale for a, b in zip(g, f, strict=True)]
        return space.count_regions(g), space.count_regions(kinks_of_h)

    def as_max(self) -> tuple[list[AffineMap], list[AffineMap]]:
        """Return the distinct affine maps of g and of h: ``f = max(first) - max(second)``."""
        return sorted(set(self.g.pieces_on_cells)), sorted(set(self.h.pieces_on_cells))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decomposition):
            return NotImplemented
        return (
            self._f.complex is other._f.complex
            and self._f.weights == other._f.weights
            and self._numbers == other._numbers
        )

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __repr__(self) -> str:
        return f"Decomposition(counts={self.counts})"


def pareto(decompositions: Iterable[Decomposition]) -> list[Decomposition]:
    """Return the decompositions whose piece counts no other one improves, sorted by counts."""
    candidates = sorted(decompositions, key=lambda dec: dec.counts)
    found: list[Decomposition] = []
    least = None
    for dec in candidates:
        if least is None or dec.counts[1] < least or dec.counts == found[-1].counts:
            found.append(dec)
            least = dec.counts[1]
    return found
