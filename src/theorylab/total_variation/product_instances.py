"""Random and structured pairs of product distributions for the chapter's checks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from theorylab.total_variation.product_pairs import Row

Rows = list[Row]
GRAIN = 10**6


def random_row(rng: np.random.Generator, letters: int, largest: int = 9) -> Row:
    """Integers in 0..largest, normalised; zeros happen."""
    weights = rng.integers(0, largest + 1, size=letters)
    weights[rng.integers(letters)] += 1
    total = int(weights.sum())
    return tuple(Fraction(int(w), total) for w in weights)


def random_pair(
    rng: np.random.Generator, n: int, letters: int = 3, nearness: Fraction = Fraction(1)
) -> tuple[Rows, Rows]:
    """Two different products over mixed alphabets of 1..letters letters.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
        Coordinates, at least 1.
    letters : int
        Largest alphabet, at least 2.
    nearness : Fraction
        Every row of Q is moved from P's row by this share of the way to an unrelated row: 1 makes
        them unrelated, 10^-10 nearly equal.
    """
    if n < 1 or letters < 2:
        raise ValueError(f"different laws need n >= 1 and letters >= 2, got {n} and {letters}")
    p: Rows = []
    q: Rows = []
    while p == q:
        sizes = [int(size) for size in rng.integers(1, letters + 1, size=n)]
        p = [random_row(rng, size) for size in sizes]
        far = [random_row(rng, size) for size in sizes]
        q = [_towards(row, other, nearness) for row, other in zip(p, far, strict=True)]
    return p, q


def _towards(row: Row, other: Row, share: Fraction) -> Row:
    return tuple((1 - share) * a + share * b for a, b in zip(row, other, strict=True))


def uneven_coins(light: int = 11) -> tuple[Rows, Rows]:
    """Rare coins that succeed 5/2 times as often under Q, and one frequent coin behind them.

    The last coin carries nearly all of the distance, the others nearly nothing: a sampler that
    mistreats the first difference is off by half or more.
    """
    p = [Fraction(2 ** (j % 6), 10_000) for j in range(light)] + [Fraction(3, 10)]
    q = [Fraction(5, 2) * x for x in p[:-1]] + [Fraction(3, 20)]
    return [(1 - x, x) for x in p], [(1 - x, x) for x in q]


def mixed_pair() -> tuple[Rows, Rows]:
    """Five coordinates with two or three letters, all of them quite different under P and Q."""
    p = ("1/2 1/3 1/6", "1/4 3/4", "2/5 3/5", "1/10 2/5 1/2", "1/3 2/3")
    q = ("1/6 1/2 1/3", "1/2 1/2", "3/5 2/5", "1/10 1/5 7/10", "1/2 1/2")
    return [tuple(map(Fraction, row.split())) for row in p], [
        tuple(map(Fraction, row.split())) for row in q
    ]


def near_coins(rng: np.random.Generator, n: int, spread: float = 0.06) -> tuple[Rows, Rows]:
    """Coins with uniform success probabilities, moved by up to ``spread / 2`` of the way out."""
    p = rng.uniform(0.05, 0.95, size=n)
    shift = spread * rng.uniform(-0.5, 0.5, size=n) * np.minimum(p, 1.0 - p)
    return _coins(p), _coins(p + shift)


def shifted_fair_coins(n: int, shift: Fraction) -> tuple[Rows, Rows]:
    """n fair coins, and n coins of success probability 1/2 + shift."""
    half = Fraction(1, 2)
    return [(half, half)] * n, [(half - shift, half + shift)] * n


def rare_coins(n: int, scale: Fraction) -> tuple[Rows, Rows]:
    """Coins that succeed with probabilities of order ``scale``; under Q every third half as often.

    The others succeed a tenth more often under Q, so that the point without any success favours Q
    and the distance, of order ``n * scale``, sits in events that draws of P hardly ever show.
    """
    p = [scale * Fraction(j % 5 + 1, 5) for j in range(n)]
    q = [x * Fraction(*((1, 2) if j % 3 == 0 else (11, 10))) for j, x in enumerate(p)]
    return [(1 - x, x) for x in p], [(1 - x, x) for x in q]


def _coins(success: np.ndarray) -> Rows:
    """Rows of coins, rounded to multiples of 1/GRAIN so that they are short fractions."""
    rounded = [Fraction(max(1, round(float(x) * GRAIN)), GRAIN) for x in success]
    return [(1 - x, x) for x in rounded]
