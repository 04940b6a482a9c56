"""Randomised equivalence: a polynomial identity tested at a random point modulo a prime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpz

from .mixtures import ProductMixture, require_same_space

MERSENNE_61 = 2**61 - 1


@dataclass(frozen=True)
class IdentityTest:
    """Outcome of a randomised equivalence test.

    Attributes
    ----------
    different : bool
        True is certain; False may be wrong with probability at most ``error_bound``.
    zeros : int
        Number of rounds in which the polynomial vanished.
    rounds : int
    error_bound : float
        :math:`(n/p)^{rounds}`, for mixtures that differ modulo p.
    """

    different: bool
    zeros: int
    rounds: int
    error_bound: float


def identity_test(
    P: ProductMixture,
    Q: ProductMixture,
    p: int = MERSENNE_61,
    rounds: int = 1,
    rng: np.random.Generator | None = None,
) -> IdentityTest:
    r"""Test whether P = Q by evaluating their generating polynomials at random points.

    .. math:: \sum_i c_i \prod_j \sum_a p_i^{(j)}(a)\, z_{j,a} \bmod p

    has one monomial per string x, with coefficient P(x) - Q(x), and degree n. It is zero at all
    points if P = Q; otherwise, unless all differences vanish modulo p, it is zero at a uniform
    point with probability at most n/p (Schwartz-Zippel). Cost :math:`O(nK|\Sigma|)` per round.

    Parameters
    ----------
    P, Q : ProductMixture
        On the same space.
    p : int
        A prime that divides no denominator.
    rounds : int
        Number of independent points, at least 1.
    rng : Generator
        Source of the points.

    Raises
    ------
    ValueError
        If p is not prime or divides a denominator, or if ``rounds`` < 1.
    TypeError
        If no generator is given.
    """
    require_same_space(P, Q)
    if rounds < 1:
        raise ValueError(f"rounds is {rounds}; at least one point is needed")
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a NumPy Generator, got {rng!r}")
    points = [_uniform(rng, p, (rounds, size)) for size in P.alphabet_sizes]
    values = polynomial_values(P, Q, p, points, rounds)
    zeros = int((values == 0).sum())
    bound = min(1.0, P.n_coordinates / p) ** rounds
    return IdentityTest(zeros < rounds, zeros, rounds, bound)


def _uniform(rng: np.random.Generator, p: int, shape: tuple[int, int]) -> np.ndarray:
    if p >= 2**63:
        raise ValueError(f"p is {p}; primes below 2**63 are supported")
    return rng.integers(p, size=shape).astype(_dtype(p))


def _dtype(p: int) -> type:
    """Products of two residues must fit: machine integers below 2**31, Python's above."""
    return np.int64 if p < 2**31 else object


def polynomial_values(
    P: ProductMixture, Q: ProductMixture, p: int, points: Sequence[np.ndarray], rounds: int
) -> np.ndarray:
    """The polynomial of ``identity_test`` at given points.

    Parameters
    ----------
    P, Q : ProductMixture
    p : int
        A prime that divides no denominator.
    points : sequence of ndarray, shape (rounds, q_j)
        Residues :math:`z_{j,a}`, one array per coordinate.
    rounds : int

    Returns
    -------
    ndarray, shape (rounds,)
    """
    if not fmpz(p).is_prime():
        raise ValueError(f"p is {p}, which is not prime")
    weights = [*P.weights, *(-weight for weight in Q.weights)]
    components = [*P.rows, *Q.rows]
    values = np.tile(_residues(weights, p), (rounds, 1))
    for j, z in enumerate(points):
        sums = np.zeros_like(values)
        for a in range(z.shape[1]):
            laws = _residues([rows[j][a] for rows in components], p)
            sums = (sums + z[:, a, None] * laws % p) % p
        values = values * sums % p
    return values.sum(axis=1) % p


def _residues(values: Sequence[Fraction], p: int) -> np.ndarray:
    for value in values:
        if value.denominator % p == 0:
            raise ValueError(f"p = {p} divides the denominator of {value}; choose another prime")
    residues = [value.numerator * pow(value.denominator, -1, p) % p for value in values]
    return np.array(residues, dtype=_dtype(p))
