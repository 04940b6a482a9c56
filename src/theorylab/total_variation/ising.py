r"""Ising models with rational weights, so that every probability is a fraction.

Spins :math:`x \in \{0,1\}^n` and

.. math:: w(x) = C \prod_i a_i^{x_i} \prod_{ij} b_{ij}^{[x_i = x_j]}, \qquad
          Z = \sum_x w(x), \qquad \mu(x) = w(x)/Z,

which is the usual :math:`e^{\sum J_{ij}\sigma_i\sigma_j + \sum h_i\sigma_i}` up to a constant,
with :math:`\sigma = 2x - 1`, :math:`b = e^{2J}`, :math:`a = e^{2h}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import log
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from theorylab.exact import rational

ENUMERATION_LIMIT = 22
WIDTH_LIMIT = 20

Pair = tuple[int, int]


def _positive(value: Any, name: str) -> Fraction:
    number = rational(value, name)
    if number <= 0:
        raise ValueError(f"{name} is {number}, an Ising weight must be positive")
    return number


def _coupling_key(key: Any, n: int) -> Pair:
    i, j = key
    if i == j:
        raise ValueError(f"b has the self-loop {key}; put a field on spin {i} instead")
    if not (0 <= i < n and 0 <= j < n):
        raise ValueError(f"b couples {key}, but the spins are 0..{n - 1}")
    return (i, j) if i < j else (j, i)


@dataclass(frozen=True)
class RationalIsing:
    r"""An Ising model in rational form.

    Parameters
    ----------
    a : sequence of int, Fraction or str
        Field weights :math:`a_i = e^{2h_i} > 0`, one per spin.
    b : mapping of (int, int) to int, Fraction or str
        Coupling weights :math:`b_{ij} = e^{2J_{ij}} > 0`; each unordered pair at most once.
    constant : Fraction
        The factor C > 0; it does not change the law, but pinned models need it.

    Raises
    ------
    TypeError
        For floats.
    ValueError
        For weights that are not positive, self-loops, spins out of range, repeated pairs.
    """

    a: Sequence[Any]
    b: Mapping[Pair, Any] = field(default_factory=dict)
    constant: Any = Fraction(1)

    def __post_init__(self) -> None:
        fields = tuple(_positive(value, f"a[{i}]") for i, value in enumerate(self.a))
        couplings: dict[Pair, Fraction] = {}
        for key, value in self.b.items():
            pair = _coupling_key(key, len(fields))
            if pair in couplings:
                raise ValueError(f"b couples {pair} twice; multiply the two weights")
            couplings[pair] = _positive(value, f"b[{key}]")
        object.__setattr__(self, "a", fields)
        object.__setattr__(self, "b", couplings)
        object.__setattr__(self, "constant", _positive(self.constant, "constant"))

    @property
    def n(self) -> int:
        """Number of spins."""
        return len(self.a)

    def neighbours(self, v: int) -> dict[int, Fraction]:
        """Coupling weights of spin ``v``, by neighbour."""
        self._check_spin(v)
        return {i + j - v: w for (i, j), w in self.b.items() if v in (i, j)}

    def tilt(self, v: int, r: Fraction | int) -> RationalIsing:
        """The model with :math:`a_v` multiplied by ``r > 0``: same graph, same couplings."""
        self._check_spin(v)
        factor = _positive(r, "r")
        fields = (*self.a[:v], self.a[v] * factor, *self.a[v + 1 :])
        return replace(self, a=fields)

    def pin(self, v: int, s: int) -> RationalIsing:
        r"""The model on the other spins given :math:`x_v = s`; later spins move down by one.

        For s = 1: :math:`a_u \mathrel{*}= b_{uv}` and the constant takes :math:`a_v`. For s = 0:
        :math:`a_u \mathrel{/}= b_{uv}` and the constant takes :math:`\prod_u b_{uv}`. The
        partition function of the result is the sum of w(x) over the x with :math:`x_v = s`.
        """
        if s not in (0, 1):
            raise ValueError(f"s must be 0 or 1, got {s!r}")
        fields, constant = list(self.a), self.constant
        if s == 1:
            constant *= self.a[v]
        for u, weight in self.neighbours(v).items():
            fields[u] = fields[u] * weight if s == 1 else fields[u] / weight
            constant = constant if s == 1 else constant * weight
        del fields[v]
        couplings = {
            (i - (i > v), j - (j > v)): w for (i, j), w in self.b.items() if v not in (i, j)
        }
        return RationalIsing(fields, couplings, constant)

    def Z(self) -> Fraction:
        """Partition function, by eliminating one spin after the other.

        Raises
        ------
        ValueError
            If an intermediate table would have more than ``2**WIDTH_LIMIT`` entries.
        """
        return _eliminate(self)

    def marginal(self, v: int) -> Fraction:
        r""":math:`\mu(x_v = 1)`, by elimination."""
        return self.pin(v, 1).Z() / self.Z()

    def weights(self) -> tuple[list[int], Fraction]:
        """All 2^n weights as integers, and the factor that turns them into w(x).

        Entry :math:`\\sum_i x_i 2^i` belongs to x.

        Raises
        ------
        ValueError
            If n exceeds ``ENUMERATION_LIMIT``.
        """
        if self.n > ENUMERATION_LIMIT:
            raise ValueError(
                f"enumeration of {self.n} spins needs 2^{self.n} weights, the limit is "
                f"{ENUMERATION_LIMIT} spins; use Z() and marginal(v), which eliminate"
            )
        return _enumerate(self)

    def to_fields(self) -> tuple[dict[Pair, float], NDArray[np.float64]]:
        r"""Couplings :math:`J = \frac12\log b`, fields :math:`h = \frac12\log a`, for display."""
        return (
            {pair: 0.5 * _log(w) for pair, w in self.b.items()},
            np.array([0.5 * _log(w) for w in self.a]),
        )

    def log_weights(self) -> NDArray[np.float64]:
        """Logarithms of all 2^n weights in double precision, in the order of ``weights``."""
        table = np.zeros(1) + _log(self.constant)
        for k in range(self.n):
            factor = np.zeros(1)
            for u in range(k):
                edge = _log(self.b.get((u, k), Fraction(1)))
                factor = np.concatenate((factor, factor + edge))
            total = sum(_log(w) for (u, v), w in self.b.items() if v == k)
            table = np.concatenate((table + (total - factor), table + (_log(self.a[k]) + factor)))
        return table

    def _check_spin(self, v: int) -> None:
        if not 0 <= v < self.n:
            raise ValueError(f"there is no spin {v}; the spins are 0..{self.n - 1}")


def _log(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator)


def _enumerate(model: RationalIsing) -> tuple[list[int], Fraction]:
    """Double the table spin by spin; every weight is scaled to an integer.

    Field i contributes the denominator of a_i or its numerator; a coupling contributes its
    numerator where the spins agree and its denominator where they differ.
    """
    table, scale = [1], model.constant
    for k, a in enumerate(model.a):
        scale /= a.denominator
        down, up = [a.denominator], [a.numerator]
        for u in range(k):
            b = model.b.get((u, k), Fraction(1))
            scale /= b.denominator
            down = [f * b.numerator for f in down] + [f * b.denominator for f in down]
            up = [f * b.denominator for f in up] + [f * b.numerator for f in up]
        table = [w * f for w, f in zip(table, down, strict=True)] + [
            w * f for w, f in zip(table, up, strict=True)
        ]
    return table, scale


def _eliminate(model: RationalIsing) -> Fraction:
    """Sum out the spins in an order of small bandwidth.

    ``table`` holds integers, one axis per spin that has been added and still has neighbours to
    come; a spin is summed out as soon as its last neighbour has been added.
    """
    order = _elimination_order(model)
    place = {v: k for k, v in enumerate(order)}
    last = {v: max([place[v], *(place[u] for u in model.neighbours(v))]) for v in order}
    _check_width(order, last)
    table, axes, scale = np.array(1, dtype=object), [], model.constant
    for k, v in enumerate(order):
        a = model.a[v]
        table = np.multiply.outer(table, np.array([a.denominator, a.numerator], dtype=object))
        scale /= a.denominator
        axes.append(v)
        for u, b in model.neighbours(v).items():
            if place[u] < k:
                table = table * _edge_factor(b, axes.index(u), len(axes))
                scale /= b.denominator
        for u in [u for u in axes if last[u] <= k]:
            table = table.sum(axis=axes.index(u))
            axes.remove(u)
    return scale * int(table)


def _check_width(order: Sequence[int], last: Mapping[int, int]) -> None:
    """Refuse before any work if some table would have too many axes."""
    width = max((sum(last[u] >= k for u in order[: k + 1]) for k in range(len(order))), default=0)
    if width > WIDTH_LIMIT:
        raise ValueError(
            f"elimination needs tables of 2^{width} entries, the limit is 2^{WIDTH_LIMIT}; the "
            "coupling graph is too wide for an exact partition function"
        )


def _edge_factor(b: Fraction, axis: int, axes: int) -> NDArray:
    """The coupling between ``axis`` and the last axis, shaped for broadcasting."""
    shape = [1] * axes
    shape[axis] = shape[-1] = 2
    same, different = b.numerator, b.denominator
    return np.array([[same, different], [different, same]], dtype=object).reshape(shape)


def _elimination_order(model: RationalIsing) -> list[int]:
    graph = nx.Graph()
    graph.add_nodes_from(range(model.n))
    graph.add_edges_from(model.b)
    return list(nx.utils.reverse_cuthill_mckee_ordering(graph))


def ising_tv_exact(P: RationalIsing, Q: RationalIsing) -> Fraction:
    """Total variation of two Ising models on the same spins, by enumerating all 2^n states.

    Raises
    ------
    ValueError
        If the models have different numbers of spins, or more than ``ENUMERATION_LIMIT``.
    """
    _same_spins(P, Q)
    p, _ = P.weights()
    q, _ = Q.weights()
    p_total, q_total = sum(p), sum(q)
    excess = sum(max(0, u * q_total - v * p_total) for u, v in zip(p, q, strict=True))
    return Fraction(excess, p_total * q_total)


def tilt_tv(model: RationalIsing, v: int, r: Fraction | int) -> Fraction:
    r"""Distance between a model and its tilt at one spin, from the marginal alone.

    .. math:: d_{TV} = \Bigl|\frac{r p}{1+(r-1)p} - p\Bigr|, \qquad p = \mu(x_v = 1),

    because the likelihood ratio of the two depends on :math:`x_v` only. The marginal is computed
    by elimination, so this reaches far beyond enumeration on narrow graphs.
    """
    return abs(model.tilt(v, r).marginal(v) - model.marginal(v))


def _same_spins(P: RationalIsing, Q: RationalIsing) -> None:
    if P.n != Q.n:
        raise ValueError(f"P has {P.n} spins, Q has {Q.n}; they must share one space")


def ising_tv_float(P: RationalIsing, Q: RationalIsing) -> float:
    """The same in double precision, vectorised: tens of spins instead of a dozen.

    Raises
    ------
    ValueError
        If the models have different numbers of spins.
    """
    _same_spins(P, Q)
    return 0.5 * float(np.abs(_normalised(P.log_weights()) - _normalised(Q.log_weights())).sum())


def _normalised(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()
