r"""First and second moments of a fingerprint and of the missing mass, jointly.

Everything an exact mean squared error of a linear estimator needs: with these, no simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorylab.missing_mass.fingerprint import Population, as_population

BLOCK_ENTRIES = 1 << 22
LARGEST_BELOW_ONE = 1.0 - 2.0**-53
LOG_OF_ZERO = -1e4
"""Finite, so that its 0th multiple is 0 (0^0 = 1); the exponential of any other one is 0."""


@dataclass(frozen=True, eq=False)
class Moments:
    r"""Moments of :math:`(1, \Phi_1, \dots, \Phi_K)` and of the missing mass M, at sample size n.

    Attributes
    ----------
    f : numpy.ndarray, shape (K,)
        Expected frequencies of frequencies, ``E Phi_k``.
    A : numpy.ndarray, shape (K + 1, K + 1) or (K, K)
        Second moments of ``(1, Phi)``, without the first row and column if no intercept.
    b : numpy.ndarray, shape (K + 1,) or (K,)
        Cross moments ``E M (1, Phi)``.
    EM, EM2 : float or Fraction
        ``E M`` and ``E M^2``.
    n : int
        Sample size.
    intercept : bool
        Whether ``A`` and ``b`` start with the constant.
    """

    f: NDArray
    A: NDArray
    b: NDArray
    EM: float | Fraction
    EM2: float | Fraction
    n: int
    intercept: bool = True

    @property
    def K(self) -> int:
        """Number of frequencies covered."""
        return len(self.f)

    @property
    def second(self) -> NDArray:
        """``E Phi_j Phi_k``, shape (K, K)."""
        return self.A[1:, 1:] if self.intercept else self.A

    @property
    def cross(self) -> NDArray:
        """``E M Phi_k``, shape (K,)."""
        return self.b[1:] if self.intercept else self.b


def moments(pop: Population | ArrayLike, n: int, K: int, intercept: bool = True) -> Moments:
    r"""Moments in double precision, in :math:`O(D^2K^2)` for D different probabilities.

    .. math::

        E\Phi_j\Phi_k = 1[j=k] f_j + \sum_{x\ne y}
            \frac{n!}{j!\,k!\,(n-j-k)!} p_x^j p_y^k (1-p_x-p_y)^{n-j-k}

        E M\Phi_k = \binom nk \sum_{x\ne y} p_x p_y^k (1-p_x-p_y)^{n-k}, \qquad
        E M^2 = \sum_x p_x^2(1-p_x)^n + \sum_{x\ne y} p_xp_y(1-p_x-p_y)^n

    Parameters
    ----------
    pop : Population or sequence of float
        The population; a plug-in with real multiplicities is welcome.
    n : int
        Sample size.
    K : int
        Frequencies 1..K are covered, ``1 <= K <= n``.
    intercept : bool
        Put the constant first in ``A`` and ``b``.

    Raises
    ------
    ValueError
        If ``n < 1`` or ``K`` is not in 1..n.
    """
    population = as_population(pop)
    _check_orders(n, K)
    u = population.floats
    m = population.multiplicities.astype(float)
    f, expected_mass, same_class = _single_sums(u, m, n, K)
    second, cross, both_missing = _pair_sums(u, m, n, K)
    second[np.diag_indices(K)] += f
    A, b = _with_intercept(second, cross, f, expected_mass) if intercept else (second, cross)
    return Moments(f, A, b, expected_mass, same_class + both_missing, n, intercept)


def _check_orders(n: int, K: int) -> None:
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    if not 1 <= K <= n:
        raise ValueError(f"K must be between 1 and n={n}, got {K}")


def _with_intercept(
    second: NDArray, cross: NDArray, f: NDArray, expected_mass: float | Fraction
) -> tuple[NDArray, NDArray]:
    K = len(f)
    A = np.empty((K + 1, K + 1), dtype=second.dtype)
    A[0, 0] = Fraction(1) if second.dtype == object else 1.0
    A[0, 1:] = A[1:, 0] = f
    A[1:, 1:] = second
    return A, np.concatenate((np.array([expected_mass], dtype=second.dtype), cross))


def _log_factorials(n: int, largest: int) -> tuple[NDArray, NDArray]:
    """Logarithms of n(n-1)...(n-s+1) and of s!, for s = 0..largest."""
    steps = np.arange(largest)
    falling = np.concatenate(([0.0], np.cumsum(np.log(n - steps))))
    factorials = np.concatenate(([0.0], np.cumsum(np.log1p(steps))))
    return falling, factorials


def _log_complement(u: NDArray) -> NDArray[np.float64]:
    """Logarithm of 1 - u."""
    return np.log1p(-u, where=u < 1, out=np.full(u.shape, LOG_OF_ZERO))


def _single_sums(u: NDArray, m: NDArray, n: int, K: int) -> tuple[NDArray, float, float]:
    """Sums over one class: E Phi_k, E M and the diagonal part of E M^2."""
    log_u, log_rest = np.log(u), _log_complement(u)
    falling, factorials = _log_factorials(n, K)
    k = np.arange(1, K + 1)[:, None]
    log_choose = (falling - factorials)[1:, None]
    f = np.exp(log_choose + k * log_u + (n - k) * log_rest) @ m
    unseen = u * np.exp(n * log_rest)
    return f, float(m @ unseen), float((m * u) @ unseen)


def _pair_sums(u: NDArray, m: NDArray, n: int, K: int) -> tuple[NDArray, NDArray, float]:
    """Sums over two different classes, by blocks of rows so that memory stays bounded."""
    second, cross, both_missing = np.zeros((K, K)), np.zeros(K), 0.0
    rows = max(1, BLOCK_ENTRIES // u.size)
    for start in range(0, u.size, rows):
        block = slice(start, start + rows)
        part = _pair_sums_of_block(u, m, n, K, block)
        second += part[0]
        cross += part[1]
        both_missing += part[2]
    return second, cross, both_missing


def _pair_sums_of_block(
    u: NDArray, m: NDArray, n: int, K: int, block: slice
) -> tuple[NDArray, NDArray, float]:
    r"""Pairs whose first class lies in ``block``.

    With q = 1 - uv/((1-u)(1-v)) one has (1-u-v)^e = (1-u)^e (1-v)^e q^e, so that each exponent
    e = n - s needs one matrix q^e and, left and right of it, columns that never overflow. The
    matrices follow from one another by multiplication, from the smallest exponent up: no
    division, hence no 0/0 where u + v = 1.
    """
    log_u, log_rest = np.log(u), _log_complement(u)
    odds = u / (1.0 - np.minimum(u, LARGEST_BELOW_ONE))
    q = 1.0 - np.minimum(np.outer(odds[block], odds), LARGEST_BELOW_ONE)
    pairs = np.outer(m[block], m)
    pairs[np.arange(q.shape[0]), np.arange(u.size)[block]] -= m[block]
    top = min(2 * K, n)
    falling, factorials = _log_factorials(n, max(top, K))
    k = np.arange(1, K + 1)
    log_powers = np.outer(log_u, k) - factorials[1 : K + 1]
    second, cross = np.zeros((K, K)), np.zeros(K)
    weights = pairs * np.exp((n - top) * np.log(q))
    for s in range(top, -1, -1):
        # n(n-1)...(n-s+1) is shared out in proportion to j and k = s - j.
        share = falling[s] / s if s else 0.0
        columns = np.exp(log_powers + k * share + ((n - s) * log_rest)[:, None])
        forms = columns[block].T @ (weights @ columns)
        j = np.arange(max(1, s - K), min(K, s - 1) + 1)
        second[j - 1, s - j - 1] = forms[j - 1, s - j - 1]
        if 1 <= s <= K:
            cross[s - 1] = forms[0, s - 1] * np.exp(-share)
        weights = weights * q
    return second, cross, float(forms[0, 0])


def exact_moments(
    pop: Population | Sequence[Fraction], n: int, K: int, intercept: bool = True
) -> Moments:
    """The same moments as Fractions, straight from the formulas.

    Raises
    ------
    TypeError
        If the population holds floats.
    """
    population = as_population(pop)
    _check_orders(n, K)
    atoms = population.atoms()
    f = np.array([_sum_single(atoms, k, n, comb(n, k)) for k in range(1, K + 1)], dtype=object)
    second = np.empty((K, K), dtype=object)
    for j in range(1, K + 1):
        for k in range(1, j + 1):
            second[j - 1, k - 1] = second[k - 1, j - 1] = _exact_second(atoms, n, j, k)
        second[j - 1, j - 1] += f[j - 1]
    cross = np.array(
        [comb(n, k) * _sum_pairs(atoms, 1, k, n - k) for k in range(1, K + 1)], dtype=object
    )
    expected_mass = sum((m * u * (1 - u) ** n for u, m in atoms), start=Fraction(0))
    same_class = sum((m * u**2 * (1 - u) ** n for u, m in atoms), start=Fraction(0))
    A, b = _with_intercept(second, cross, f, expected_mass) if intercept else (second, cross)
    return Moments(f, A, b, expected_mass, same_class + _sum_pairs(atoms, 1, 1, n), n, intercept)


def _exact_second(atoms: list[tuple[Fraction, int]], n: int, j: int, k: int) -> Fraction:
    if j + k > n:
        return Fraction(0)
    ways = factorial(n) // (factorial(j) * factorial(k) * factorial(n - j - k))
    return ways * _sum_pairs(atoms, j, k, n - j - k)


def _sum_single(atoms: list[tuple[Fraction, int]], k: int, n: int, factor: int) -> Fraction:
    return factor * sum((m * u**k * (1 - u) ** (n - k) for u, m in atoms), start=Fraction(0))


def _sum_pairs(atoms: list[tuple[Fraction, int]], j: int, k: int, rest: int) -> Fraction:
    """Sum over ordered pairs of different classes of p_x^j p_y^k (1 - p_x - p_y)^rest."""
    total = Fraction(0)
    for a, (u, m) in enumerate(atoms):
        for b, (v, multiplicity) in enumerate(atoms):
            pairs = m * (multiplicity - (a == b))
            if pairs:
                total += pairs * u**j * v**k * (1 - u - v) ** rest
    return total
