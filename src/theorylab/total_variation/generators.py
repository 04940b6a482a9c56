"""Pairs of mixtures with known answers: equal by construction, nearly equal, far apart."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np

from .mixtures import ProductMixture

Pair = tuple[ProductMixture, ProductMixture]


def moment_pair(n: int, scale: Fraction | int = 1) -> Pair:
    r"""Two different mixtures on n bits that agree on every n - 1 of them.

    Component i = 0..n has weight :math:`\binom ni 2^{1-n}` and the law
    :math:`\mathrm{Bern}(\frac12 + s(\frac in - \frac12))^{\otimes n}`; those of even i form P,
    those of odd i form Q. The difference is an n-th finite difference of a polynomial in i of
    degree n.

    Parameters
    ----------
    n : int
        At least 1.
    scale : Fraction or int
        Spread s in (0, 1].

    Raises
    ------
    ValueError
        If n < 1 or s lies outside (0, 1].
    """
    spread = Fraction(scale)
    if n < 1 or not 0 < spread <= 1:
        raise ValueError(f"need n >= 1 and 0 < scale <= 1, got n={n} and scale={spread}")
    rows = [
        _bernoulli(Fraction(1, 2) + spread * (Fraction(i, n) - Fraction(1, 2)))
        for i in range(n + 1)
    ]
    weights = [Fraction(comb(n, i), 2 ** (n - 1)) for i in range(n + 1)]
    even, odd = (
        ProductMixture(tuple(weights[parity::2]), tuple((row,) * n for row in rows[parity::2]))
        for parity in (0, 1)
    )
    return even, odd


def _bernoulli(p: Fraction) -> tuple[Fraction, Fraction]:
    return 1 - p, p


def padded_moment_pair(order: int, n: int, alphabet: int = 2) -> Pair:
    r"""Equal mixtures: a moment pair on one coordinate too few, over a larger alphabet, padded.

    The order-m moment pair on m - 1 coordinates is equal. Letter 1 is spread evenly over
    ``alphabet`` - 1 letters, and uninformative coordinates fill up to n.

    Parameters
    ----------
    order : int
        m >= 2; the pair has K = m + 1 components together.
    n : int
        Number of coordinates, at least m - 1.
    alphabet : int
        Size of every alphabet, at least 2.
    """
    if order < 2 or n < order - 1 or alphabet < 2:
        raise ValueError(
            f"need order >= 2, n >= order - 1 and alphabet >= 2, got {order}, {n}, {alphabet}"
        )
    uniform = (Fraction(1, alphabet),) * alphabet
    return tuple(  # type: ignore[return-value]
        ProductMixture(
            half.weights,
            tuple(
                tuple(_spread(row, alphabet) for row in rows[: order - 1])
                + (uniform,) * (n - order + 1)
                for rows in half.rows
            ),
        )
        for half in moment_pair(order)
    )


def _spread(row: Sequence[Fraction], alphabet: int) -> tuple[Fraction, ...]:
    return (row[0], *(row[1] / (alphabet - 1),) * (alphabet - 1))


def parity_pair(n: int) -> Pair:
    """Uniform laws on the even and on the odd strings of n bits, as mixtures of point masses.

    They are at distance 1, although all their (n - 1)-wise marginals are uniform.
    """
    if n < 1:
        raise ValueError(f"need n >= 1, got {n}")
    strings = [f"{value:0{n}b}" for value in range(2**n)]
    weights = (Fraction(1, 2 ** (n - 1)),) * 2 ** (n - 1)
    even, odd = (
        ProductMixture.from_subcubes(weights, [s for s in strings if s.count("1") % 2 == parity])
        for parity in (0, 1)
    )
    return even, odd


def random_law(rng: np.random.Generator, size: int, denominator: int = 12) -> tuple[Fraction, ...]:
    """A random law on ``size`` letters with entries in multiples of 1/denominator; zeros occur."""
    cuts = np.sort(rng.integers(0, denominator + 1, size=size - 1))
    parts = np.diff(np.concatenate([[0], cuts, [denominator]]))
    return tuple(Fraction(int(part), denominator) for part in parts)


def random_mixture(
    rng: np.random.Generator, n_components: int, alphabet_sizes: Sequence[int]
) -> ProductMixture:
    """A random mixture with small rational parameters; zero weights and zero entries occur."""
    return ProductMixture(
        random_law(rng, n_components, 4 * n_components),
        tuple(tuple(random_law(rng, size) for size in alphabet_sizes) for _ in range(n_components)),
    )


def random_split(rng: np.random.Generator, mixture: ProductMixture) -> ProductMixture:
    """The same law with one random component split at one random coordinate of two letters up.

    The mixture is returned as it is if every row of the component is a point mass.
    """
    i = int(rng.integers(mixture.n_components))
    places = [j for j, row in enumerate(mixture.rows[i]) if sum(map(bool, row)) > 1]
    if not places:
        return mixture
    j = int(rng.choice(places))
    row = mixture.rows[i][j]
    up, down = (int(a) for a in rng.choice([a for a, v in enumerate(row) if v], 2, replace=False))
    size = min(row[up], row[down]) * Fraction(int(rng.integers(1, 8)), 8)
    shift = [size if a == up else -size if a == down else Fraction(0) for a in range(len(row))]
    return mixture.split(i, j, shift, Fraction(1, 2))


def split_pair(rng: np.random.Generator, base: int, splits: int, n: int, alphabet: int) -> Pair:
    """Equal mixtures: a random one with every coordinate informative, split twice at random.

    Parameters
    ----------
    rng : Generator
    base : int
        Components of the mixture that both sides start from.
    splits : int
        Splits on either side, each adding a component.
    n, alphabet : int
        Number of coordinates and of letters.
    """
    start = random_mixture(rng, base, (alphabet,) * n)
    sides = []
    for _ in range(2):
        side = start
        while side.n_components < base + splits:
            side = random_split(rng, side)
        sides.append(side)
    return sides[0], sides[1]


def point_mass_form(mixture: ProductMixture) -> ProductMixture:
    """The same law as a mixture of point masses; the number of strings must be small."""
    for j in range(mixture.n_coordinates):
        for i in reversed(range(mixture.n_components)):
            mixture = mixture.expand(i, j)
    return mixture.canonical()


def nudge(
    mixture: ProductMixture, i: int, j: int, size: Fraction, letters: tuple[int, int]
) -> ProductMixture:
    """Move probability ``size`` from the second letter to the first in one row."""
    row = list(mixture.rows[i][j])
    row[letters[0]] += size
    row[letters[1]] -= size
    return mixture.replace_row(i, j, row)
