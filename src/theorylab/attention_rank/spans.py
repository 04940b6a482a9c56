"""Dimensions of what heads of given key subspaces reach, by exact elimination modulo a prime."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from theorylab.attention_rank.arguments import whole

PRIME = 2**31 - 1
"""Products of two residues stay below 2**62 and fit into 64-bit integers."""


def _exponents(variables: int, degree: int) -> np.ndarray:
    chosen = combinations_with_replacement(range(variables), degree)
    return np.array([np.bincount(np.array(c, dtype=int), minlength=variables) for c in chosen])


def rank_mod_prime(matrix: np.ndarray) -> int:
    """Rank over the integers modulo 2**31 - 1; never above the rational rank."""
    rows = np.array(matrix, dtype=np.int64) % PRIME
    rank = 0
    for column in range(rows.shape[1]):
        below = np.flatnonzero(rows[rank:, column])
        if not below.size:
            continue
        pivot = rank + int(below[0])
        rows[[rank, pivot]] = rows[[pivot, rank]]
        inverse = pow(int(rows[rank, column]), -1, PRIME)
        rows[rank] = rows[rank] * inverse % PRIME
        lower = rows[rank + 1 :]
        lower -= lower[:, column : column + 1] * rows[rank] % PRIME
        lower %= PRIME
        rank += 1
        if rank == len(rows):
            break
    return rank


def integer_subspaces(d: int, r: int, H: int, rng: np.random.Generator) -> np.ndarray:
    """H random integer bases, shape (H, d, r): in general position, but for a tiny chance."""
    return rng.integers(0, PRIME, size=(H, d, r))


def span_dimension(subspaces: np.ndarray, degree: int) -> int:
    r"""Dimension, in one degree, of the harmonic parts of functions of :math:`K_h^Tw`.

    Forms of degree l modulo :math:`|w|^2` are the harmonics of degree l. Head h reaches the forms
    of degree l in the components of :math:`K_h^Tw`; what all heads reach together is the rank of
    these forms, in monomials, beyond that of the multiples of :math:`|w|^2`.

    Parameters
    ----------
    subspaces : int array, shape (H, d, r)
        Integer bases of the ranges of the :math:`K_h`.
    degree : int

    Returns
    -------
    int
        Rank modulo 2**31 - 1: a lower bound on the rational rank, equal to it for all but finitely
        many primes.
    """
    H, d, r = subspaces.shape
    degree = whole(degree, "degree", 1)
    powers = _exponents(r, degree)
    forms = np.concatenate(
        [_restricted_forms(subspaces[h] % PRIME, powers, degree) for h in range(H)]
    )
    if degree < 2:
        return rank_mod_prime(forms)
    radial = _multiples_of_radius(d, degree)
    return rank_mod_prime(np.concatenate([radial, forms])) - rank_mod_prime(radial)


def _restricted_forms(basis: np.ndarray, powers: np.ndarray, degree: int) -> np.ndarray:
    """Coefficients of the monomials of degree l in the components along a basis."""
    d, r = basis.shape
    exponents = _exponents(d, degree)
    place = {tuple(row): i for i, row in enumerate(exponents)}
    rows = np.zeros((len(powers), len(exponents)), dtype=np.int64)
    for i, power in enumerate(powers):
        product: dict[tuple[int, ...], int] = {(0,) * d: 1}
        for column in np.repeat(np.arange(r), power):
            product = _times_linear(product, basis[:, column])
        for key, value in product.items():
            rows[i, place[key]] = value
    return rows


def _times_linear(
    form: dict[tuple[int, ...], int], linear: np.ndarray
) -> dict[tuple[int, ...], int]:
    done: dict[tuple[int, ...], int] = {}
    for key, value in form.items():
        for j, coefficient in enumerate(linear.tolist()):
            raised = (*key[:j], key[j] + 1, *key[j + 1 :])
            done[raised] = (done.get(raised, 0) + value * coefficient) % PRIME
    return done


def _multiples_of_radius(d: int, degree: int) -> np.ndarray:
    """Coefficients of |w|^2 times every monomial of degree l - 2."""
    place = {tuple(row): i for i, row in enumerate(_exponents(d, degree))}
    lower = _exponents(d, degree - 2)
    rows = np.zeros((len(lower), len(place)), dtype=np.int64)
    for i, monomial in enumerate(lower):
        for j in range(d):
            raised = monomial.copy()
            raised[j] += 2
            rows[i, place[tuple(raised)]] = 1
    return rows
