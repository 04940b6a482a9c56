r"""Formulas that read frequencies of frequencies of the first draws only, and their exact error.

The atoms of the paper's search are :math:`\Phi_k(n')`, the number of classes seen k times among
the first :math:`n'\le n` draws. Nothing is gained by them (see ``Formula.conditioned``); they are
here so that the search can be run and measured.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import lgamma

import numpy as np
from numba import njit

from theorylab.missing_mass.fingerprint import Fingerprint, Population
from theorylab.missing_mass.kernels import SMALLEST_REMAINDER
from theorylab.missing_mass.linear import Linear

Row = tuple[float, int, int]


@dataclass(frozen=True)
class Formula:
    r"""The estimator :math:`\sum_r c_r\,\Phi_{k_r}(n_r)`.

    Attributes
    ----------
    rows : tuple of (float, int, int)
        Coefficient, number of draws that are read, frequency.
    """

    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        for _, prefix, k in self.rows:
            if not 1 <= k <= prefix:
                raise ValueError(f"a row needs 1 <= k <= prefix, got k={k}, prefix={prefix}")

    def estimate(self, sample: Sequence[Hashable]) -> float:
        """Value on the draws in their order.

        Raises
        ------
        ValueError
            If a row reads more draws than there are.
        """
        fingerprints: dict[int, Fingerprint] = {}
        total = 0.0
        for coefficient, prefix, k in self.rows:
            if prefix > len(sample):
                raise ValueError(f"a row reads {prefix} draws, the sample has {len(sample)}")
            if prefix not in fingerprints:
                fingerprints[prefix] = Fingerprint.from_sample(sample[:prefix])
            total += coefficient * fingerprints[prefix].phi(k)
        return total

    def conditioned(self, n: int) -> Linear:
        r"""Conditional expectation given the whole fingerprint: linear, no worse, no order.

        Parameters
        ----------
        n : int
            Size of the whole sample.
        """
        total = np.zeros(n)
        for coefficient, prefix, k in self.rows:
            formula = Linear([0.0] * (k - 1) + [coefficient]).rao_blackwell(prefix, n)
            total[: len(formula.c)] += formula.coefficients
        return Linear(total)


class PrefixMoments:
    r"""Second moments of :math:`\Phi_k(n')` and M under one population, computed when asked for.

    Parameters
    ----------
    population : Population
    n : int
        Size of the whole sample, which M refers to.

    Raises
    ------
    ValueError
        If ``n < 1``.
    """

    def __init__(self, population: Population, n: int) -> None:
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}")
        self.n = n
        self._values = population.floats
        self._multiplicities = population.multiplicities.astype(float)
        self._second: dict[tuple[int, int, int, int], float] = {}
        self._cross: dict[tuple[int, int], float] = {}
        self.mean_square = _mean_square_of_mass(self._values, self._multiplicities, n)

    def second(self, n1: int, k1: int, n2: int, k2: int) -> float:
        r""":math:`E\,\Phi_{k_1}(n_1)\Phi_{k_2}(n_2)`."""
        key = (n1, k1, n2, k2) if (n1, k1) >= (n2, k2) else (n2, k2, n1, k1)
        if key not in self._second:
            self._second[key] = _second_moment(self._values, self._multiplicities, *key)
        return self._second[key]

    def cross(self, prefix: int, k: int) -> float:
        r""":math:`E\,M\,\Phi_k(n')`."""
        key = (prefix, k)
        if key not in self._cross:
            self._cross[key] = _cross_moment(self._values, self._multiplicities, self.n, prefix, k)
        return self._cross[key]

    def mse(self, formula: Formula) -> float:
        """Exact mean squared error of the formula against the missing mass of all n draws.

        Raises
        ------
        ValueError
            If a row reads more than n draws.
        """
        rows = formula.rows
        if any(prefix > self.n for _, prefix, _ in rows):
            raise ValueError(f"a row reads more than the {self.n} draws of the sample")
        total = self.mean_square
        for i, (c, prefix, k) in enumerate(rows):
            total += c * (c * self.second(prefix, k, prefix, k) - 2 * self.cross(prefix, k))
            for d, other, j in rows[:i]:
                total += 2 * c * d * self.second(prefix, k, other, j)
        return total


@njit(cache=True)
def _log_power(base: float, exponent: int) -> float:
    """Logarithm of ``base ** exponent`` with 0^0 = 1."""
    if exponent == 0:
        return 0.0
    return exponent * np.log(base) if base > SMALLEST_REMAINDER else -np.inf


@njit(cache=True)
def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)


@njit(cache=True)
def _same_class(values: np.ndarray, multiplicities: np.ndarray, n1, k1, n2, k2) -> float:
    """Sum over classes of the probability to be seen k2 times in n2 and k1 times in n1 draws."""
    extra, more = n1 - n2, k1 - k2
    if not 0 <= more <= extra:
        return 0.0
    log_ways = _log_choose(n2, k2) + _log_choose(extra, more)
    total = 0.0
    for a in range(len(values)):
        u = values[a]
        log_each = log_ways + _log_power(u, k1) + _log_power(1 - u, n1 - k1)
        total += multiplicities[a] * np.exp(log_each)
    return total


@njit(cache=True)
def _second_moment(values: np.ndarray, multiplicities: np.ndarray, n1, k1, n2, k2) -> float:
    """``E Phi_k1(n1) Phi_k2(n2)`` for n1 >= n2."""
    extra = n1 - n2
    total = _same_class(values, multiplicities, n1, k1, n2, k2)
    # i counts the occurrences of the first class among the first n2 draws
    for i in range(max(0, k1 - extra), min(k1, n2 - k2) + 1):
        rest = n2 - k2 - i
        log_ways = lgamma(n2 + 1.0) - lgamma(k2 + 1.0) - lgamma(i + 1.0) - lgamma(rest + 1.0)
        log_ways += _log_choose(extra, k1 - i)
        for a in range(len(values)):
            u = values[a]
            log_first = log_ways + _log_power(u, k1) + _log_power(1 - u, extra - k1 + i)
            for b in range(len(values)):
                v = values[b]
                pairs = multiplicities[a] * (multiplicities[b] - (a == b))
                if pairs != 0:
                    log_second = _log_power(v, k2) + _log_power(1 - u - v, rest)
                    total += pairs * np.exp(log_first + log_second)
    return total


@njit(cache=True)
def _cross_moment(values: np.ndarray, multiplicities: np.ndarray, n, prefix, k) -> float:
    """``E M Phi_k(prefix)``, M the missing mass of n draws."""
    log_ways, total = _log_choose(prefix, k), 0.0
    for a in range(len(values)):
        u = values[a]
        log_first = log_ways + _log_power(u, 1) + _log_power(1 - u, n - prefix)
        for b in range(len(values)):
            v = values[b]
            pairs = multiplicities[a] * (multiplicities[b] - (a == b))
            if pairs != 0:
                log_second = _log_power(v, k) + _log_power(1 - u - v, prefix - k)
                total += pairs * np.exp(log_first + log_second)
    return total


@njit(cache=True)
def _mean_square_of_mass(values: np.ndarray, multiplicities: np.ndarray, n: int) -> float:
    total = 0.0
    for a in range(len(values)):
        u, m = values[a], multiplicities[a]
        total += m * u * u * np.exp(_log_power(1 - u, n))
        for b in range(len(values)):
            v = values[b]
            pairs = m * (multiplicities[b] - (a == b))
            if pairs != 0:
                total += pairs * u * v * np.exp(_log_power(1 - u - v, n))
    return total
