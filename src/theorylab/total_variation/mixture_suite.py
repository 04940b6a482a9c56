"""A seeded suite of small pairs of mixtures: equal for no visible reason, nearly equal, random."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .generators import (
    Pair,
    moment_pair,
    nudge,
    point_mass_form,
    random_mixture,
    random_split,
)
from .mixtures import ProductMixture


@dataclass(frozen=True)
class SuitePair:
    """A pair with its origin.

    Parameters
    ----------
    kind : {"equal", "nearly", "random"}
        Equal by construction, an equal pair with one row moved, or drawn at random.
    P, Q : ProductMixture
    """

    kind: str
    P: ProductMixture
    Q: ProductMixture


def mixture_suite(rng: np.random.Generator, count: int) -> list[SuitePair]:
    """Pairs on at most 6 coordinates with at most 4 letters, a third of each kind.

    Alphabets differ from coordinate to coordinate and may have one letter; components are
    repeated, some have weight zero, rows have zeros.

    Parameters
    ----------
    rng : Generator
    count : int
    """
    makers = (_equal_pair, _nearly_equal_pair, _random_pair)
    return [makers[i % 3](rng) for i in range(count)]


def _alphabets(rng: np.random.Generator) -> list[int]:
    return [int(size) for size in rng.integers(1, 5, size=int(rng.integers(1, 7)))]


def _equal_pair(rng: np.random.Generator) -> SuitePair:
    maker = (_split_sides, _short_moment_sides, _point_mass_sides)[int(rng.integers(3))]
    P, Q = maker(rng)
    return SuitePair("equal", _with_idle_components(rng, P), _with_idle_components(rng, Q))


def _split_sides(rng: np.random.Generator) -> Pair:
    start = random_mixture(rng, int(rng.integers(1, 4)), [2, *_alphabets(rng)[:5]])
    left, right = start, start
    for _ in range(int(rng.integers(1, 4))):
        left, right = random_split(rng, left), random_split(rng, right)
    return left, right


def _short_moment_sides(rng: np.random.Generator) -> Pair:
    order = int(rng.integers(2, 7))
    scale = Fraction(int(rng.integers(1, 8)), 8)
    P, Q = moment_pair(order, scale)
    return P.marginal(range(order - 1)), Q.marginal(range(order - 1))


def _point_mass_sides(rng: np.random.Generator) -> Pair:
    start = random_mixture(rng, 2, [2, *rng.integers(1, 4, size=2).tolist()])
    return start, point_mass_form(start)


def _with_idle_components(rng: np.random.Generator, mixture: ProductMixture) -> ProductMixture:
    """The same law with one component listed twice and a random one of weight zero."""
    i = int(rng.integers(mixture.n_components))
    idle = random_mixture(rng, 1, mixture.alphabet_sizes)
    half = mixture.weights[i] / 2
    weights = (*mixture.weights[:i], half, *mixture.weights[i + 1 :], half, Fraction(0))
    return ProductMixture(weights, (*mixture.rows, mixture.rows[i], *idle.rows))


def _nearly_equal_pair(rng: np.random.Generator) -> SuitePair:
    """An equal pair with a little probability moved in one row of one component of Q."""
    equal = _equal_pair(rng)
    places = [
        (i, j, a)
        for i, rows in enumerate(equal.Q.rows)
        for j, row in enumerate(rows)
        for a, value in enumerate(row)
        if equal.Q.weights[i] and value and len(row) > 1
    ]
    i, j, source = places[int(rng.integers(len(places)))]
    row = equal.Q.rows[i][j]
    target = (source + 1) % len(row)
    size = row[source] * Fraction(1, 10 ** int(rng.integers(1, 30)))
    return SuitePair("nearly", equal.P, nudge(equal.Q, i, j, size, (target, source)))


def _random_pair(rng: np.random.Generator) -> SuitePair:
    sizes = _alphabets(rng)
    P, Q = (random_mixture(rng, int(rng.integers(1, 5)), sizes) for _ in range(2))
    return SuitePair("random", P, Q)
