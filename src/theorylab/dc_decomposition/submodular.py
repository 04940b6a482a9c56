r"""Set functions as differences of submodular ones, from the exchange inequalities alone.

A set function F on ``{0, ..., n-1}`` with :math:`F(\emptyset)=0` is a function on the braid fan
through its Lovász extension; here the decomposition polyhedron is written down without the fan,

.. math:: \{G:\ G\text{ and }G-F\text{ submodular}\},

with G taken modulo modular functions, that is :math:`G(\{i\})=0`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

import numpy as np

from theorylab.exact import Generators, Scalar, Vector, generators, rational

SetFunction = dict[frozenset[int], Fraction]
SetFunctionLike = Mapping[frozenset[int], Scalar]
Exchange = tuple[frozenset[int], tuple[int, int]]


def set_function(
    n: int, values: SetFunctionLike, *, rationalise: bool | int = False
) -> SetFunction:
    """Return the set function with rational values, checked.

    Parameters
    ----------
    n : int
        Number of elements; the ground set is ``{0, ..., n-1}``.
    values : mapping of frozenset to scalar
        A value for every subset.
    rationalise : bool or int
        How to read floats, which are refused otherwise.

    Raises
    ------
    ValueError
        If a subset is missing, a key is no subset, or ``F(empty set)`` is not 0.
    TypeError
        For floats unless ``rationalise`` is given.
    """
    if n < 1:
        raise ValueError(f"a set function needs n >= 1 elements, got {n}")
    table = {
        frozenset(key): rational(value, f"F({sorted(key)})", rationalise=rationalise)
        for key, value in values.items()
    }
    expected = subsets(n)
    missing = [sorted(s) for s in expected if s not in table]
    if missing:
        raise ValueError(f"the set function misses {len(missing)} subsets, first {missing[0]}")
    foreign = table.keys() - set(expected)
    if foreign:
        raise ValueError(f"{sorted(foreign.pop())} is no subset of 0..{n - 1}")
    if table[frozenset()]:
        raise ValueError(f"F(empty set) must be 0, got {table[frozenset()]}")
    return {s: table[s] for s in expected}


def subsets(n: int) -> list[frozenset[int]]:
    """All subsets of ``{0, ..., n-1}``, by size."""
    return [frozenset(s) for size in range(n + 1) for s in combinations(range(n), size)]


def exchanges(n: int) -> list[Exchange]:
    """All (S, {i, j}) with i < j outside S: the walls of the braid fan up to reordering."""
    return [
        (s, pair)
        for s in subsets(n)
        for pair in combinations([i for i in range(n) if i not in s], 2)
    ]


def exchange_weight(values: Mapping[frozenset[int], Fraction], exchange: Exchange) -> Fraction:
    r"""Return :math:`F(S+i)+F(S+j)-F(S+ij)-F(S)`, the weight of the Lovász extension."""
    s, (i, j) = exchange
    return values[s | {i}] + values[s | {j}] - values[s | {i, j}] - values[s]


def is_submodular(n: int, values: SetFunctionLike) -> bool:
    """Tell whether every exchange weight is nonnegative."""
    table = set_function(n, values)
    return all(exchange_weight(table, exchange) >= 0 for exchange in exchanges(n))


def base_vertices(n: int, values: SetFunctionLike) -> set[Vector]:
    r"""Return the greedy vectors :math:`x_{\pi_k}=G(\pi_1..\pi_k)-G(\pi_1..\pi_{k-1})`.

    For submodular G these are the vertices of its base polytope, the affine pieces of the Lovász
    extension.
    """
    return _greedy_vectors(n, set_function(n, values))


def _greedy_vectors(n: int, table: SetFunction) -> set[Vector]:
    """Greedy vectors; steps are computed once per (set, element), many orders share them."""
    step = {(s, i): table[s | {i}] - table[s] for s in table for i in range(n) if i not in s}
    return {_greedy(order, step) for order in permutations(range(n))}


def _greedy(order: Sequence[int], step: Mapping[tuple[frozenset[int], int], Fraction]) -> Vector:
    x, before = [Fraction(0)] * len(order), frozenset()
    for element in order:
        x[element] = step[before, element]
        before = before | {element}
    return tuple(x)


def count_base_vertices(n: int, values: SetFunctionLike) -> int:
    """Return the number of vertices of the base polytope of a submodular function.

    Raises
    ------
    ValueError
        If the function is not submodular: the greedy vectors are then no vertices of a polytope.
    """
    if not is_submodular(n, values):
        raise ValueError("the base polytope needs a submodular function; some exchange is negative")
    return len(base_vertices(n, values))


@dataclass(frozen=True)
class SubmodularPair:
    """Submodular G and H with F = G - H.

    Attributes
    ----------
    n : int
    G, H : dict of frozenset to Fraction
    """

    n: int
    G: SetFunction
    H: SetFunction

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Numbers of vertices of the two base polytopes."""
        return len(_greedy_vectors(self.n, self.G)), len(_greedy_vectors(self.n, self.H))

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """Exchange weights of G, in the order of ``exchanges``."""
        return tuple(exchange_weight(self.G, exchange) for exchange in exchanges(self.n))


class SubmodularDecompositions:
    r"""All :math:`F=G-H` with G, H submodular, modulo modular functions.

    Coordinates are the values G(S) for :math:`|S|\ge2`; there is one inequality per exchange.

    Parameters
    ----------
    n : int
        Number of elements, at least 2.
    values : mapping of frozenset to scalar
        The set function F.

    Raises
    ------
    ValueError
        As in ``set_function``, or for ``n < 2``.
    TypeError
        For floats.
    """

    def __init__(self, n: int, values: SetFunctionLike) -> None:
        if n < 2:
            raise ValueError(f"a single element has no exchange: n must be at least 2, got {n}")
        self.n = n
        self.F = set_function(n, values)
        self._sets = [s for s in subsets(n) if len(s) >= 2]

    @cached_property
    def _generators(self) -> Generators:
        return generators(self.rows(), self.bounds(), len(self._sets))

    def rows(self) -> list[tuple[int, ...]]:
        """Coefficients of the exchange weights in the coordinates."""
        place = {s: k for k, s in enumerate(self._sets)}
        rows = []
        for s, (i, j) in exchanges(self.n):
            row = [0] * len(place)
            for part, sign in ((s | {i}, 1), (s | {j}, 1), (s | {i, j}, -1), (s, -1)):
                if part in place:
                    row[place[part]] = sign
            rows.append(tuple(row))
        return rows

    def bounds(self) -> list[Fraction]:
        """Least exchange weights of G: the positive parts of those of F."""
        return [max(exchange_weight(self.F, e), Fraction(0)) for e in exchanges(self.n)]

    def vertices(self) -> list[SubmodularPair]:
        """Enumerate the vertices, exactly."""
        return [self._pair(point) for point in self._generators.vertices]

    def ray_count(self) -> int:
        """Number of extreme rays of the cone of submodular functions modulo modular ones."""
        return len(self._generators.rays)

    def _pair(self, point: Vector) -> SubmodularPair:
        G = {s: Fraction(0) for s in subsets(self.n)} | dict(zip(self._sets, point, strict=True))
        return SubmodularPair(self.n, G, {s: G[s] - value for s, value in self.F.items()})

    def is_member(self, G: SetFunctionLike) -> bool:
        """Tell whether G and G - F are submodular."""
        table = set_function(self.n, G)
        H = {s: table[s] - value for s, value in self.F.items()}
        return is_submodular(self.n, table) and is_submodular(self.n, H)


def strict_baseline(n: int, values: SetFunctionLike) -> SubmodularPair:
    r"""Return the textbook pair :math:`G=F+cB`, :math:`H=cB` with :math:`B(S)=|S|(n-|S|)/2`.

    B has all exchange weights 1; c is the least number that makes G submodular.
    """
    F = set_function(n, values)
    worst = min(exchange_weight(F, exchange) for exchange in exchanges(n))
    c = max(-worst, Fraction(0))
    H = {s: c * Fraction(len(s) * (n - len(s)), 2) for s in F}
    return SubmodularPair(n, {s: value + H[s] for s, value in F.items()}, H)


def entropy_pair(features: np.ndarray, labels: np.ndarray, digits: int = 6) -> SubmodularPair:
    r"""Mutual information as the textbook difference of two submodular functions.

    .. math:: I(X_S;Y)=H(X_S)-H(X_S\mid Y)

    Entropies are those of the table's frequencies, in bits, rounded to ``digits`` decimals and
    exact rationals from there on.

    Parameters
    ----------
    features : array of shape (N, n)
        Discrete features, one row per observation.
    labels : array of shape (N,)
        Discrete labels.
    digits : int

    Returns
    -------
    SubmodularPair
        G is :math:`H(X_S)`, H is :math:`H(X_S\mid Y)`; their difference is the set function.

    Raises
    ------
    ValueError
        If the shapes do not fit or there is no observation.
    """
    table, classes = np.asarray(features), np.asarray(labels)
    if table.ndim != 2 or classes.shape != table.shape[:1] or not table.size:
        raise ValueError(
            f"need features (N, n) and labels (N,), got shapes {table.shape} and {classes.shape}"
        )
    n, label_entropy = table.shape[1], _entropy(classes[:, None])
    joint, conditional = {}, {}
    for s in subsets(n):
        own = table[:, sorted(s)]
        with_label = np.column_stack([own, classes])
        joint[s] = _rounded(_entropy(own), digits)
        conditional[s] = _rounded(_entropy(with_label) - label_entropy, digits)
    return SubmodularPair(n, joint, conditional)


def _entropy(columns: np.ndarray) -> float:
    """Entropy in bits of the rows' frequencies."""
    if columns.shape[1] == 0:
        return 0.0
    counts = np.unique(columns, axis=0, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def _rounded(value: float, digits: int) -> Fraction:
    return Fraction(round(value * 10**digits), 10**digits)


def difference(pair: SubmodularPair) -> SetFunction:
    """Return F = G - H."""
    return {s: pair.G[s] - pair.H[s] for s in pair.G}


def weights_on_walls(pair: SubmodularPair, walls: Sequence[Any]) -> tuple[Fraction, ...]:
    """Weights of G on the walls of a braid fan, each with its set ``S`` and its ``pair``."""
    return tuple(exchange_weight(pair.G, (wall.S, wall.pair)) for wall in walls)
