"""The stacked pair and its layer spaces: what every equivalence engine works on and proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from .certificates import EchelonLayer
from .mixtures import ProductMixture


@dataclass(frozen=True)
class StackedPair:
    r"""Two mixtures stacked to K components with signed coefficients :math:`c = (w, -v)`.

    .. math:: P(x) - Q(x) = c \cdot \prod_j D_{j,x_j} \mathbf 1

    Parameters
    ----------
    P, Q : ProductMixture
        On the same space.
    """

    P: ProductMixture
    Q: ProductMixture

    @property
    def coefficients(self) -> tuple[Fraction, ...]:
        """The vector c, shape (K,)."""
        return (*self.P.weights, *(-weight for weight in self.Q.weights))

    @property
    def width(self) -> int:
        """Number K of stacked components."""
        return self.P.n_components + self.Q.n_components

    @property
    def n_coordinates(self) -> int:
        """Number n of coordinates."""
        return self.P.n_coordinates

    def rows_at(self, j: int) -> list[tuple[Fraction, ...]]:
        """Laws of coordinate j in the K components."""
        return [component[j] for mixture in (self.P, self.Q) for component in mixture.rows]

    def diagonals(self, j: int) -> list[tuple[Fraction, ...]]:
        """The diagonals of :math:`D_{j,a}` for all letters a, each of shape (K,)."""
        return list(zip(*self.rows_at(j), strict=True))


@dataclass(frozen=True)
class Proposal:
    """What an engine proposes; it becomes a result only when it has been verified.

    Parameters
    ----------
    layers : tuple of EchelonLayer
        Distinct layer spaces, empty if the engine did not compute them over the rationals.
    ranks : tuple of int
        Ranks of the layer spaces after 0, 1, ... coordinates, as far as they were computed.
    prefix : tuple of int, optional
        A prefix whose marginal probabilities differ; ``None`` proposes equality.
    field_operations : int, optional
        Multiplications in the base field, if the engine counts them.
    """

    layers: tuple[EchelonLayer, ...]
    ranks: tuple[int, ...]
    prefix: tuple[int, ...] | None
    field_operations: int | None = None

    @property
    def active(self) -> tuple[int, ...]:
        """Coordinates at which the rank grows."""
        steps = enumerate(pairwise(self.ranks))
        return tuple(j for j, (before, after) in steps if after > before)


def layer_after(layers: Sequence[EchelonLayer], read: int) -> EchelonLayer:
    """The layer in force after ``read`` coordinates."""
    return next(layer for layer in reversed(layers) if layer.start <= read)
