r"""Exact moments of formulas that read the first few draws, and their conditioning.

The atoms of the paper's search are :math:`\Phi_k(n')`, the fingerprint of the first n' of n
draws. A formula is a list of rows ``(coefficient, n', k)`` with Fraction coefficients. The fast
floating-point counterpart is ``prefixes``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb

import numpy as np

from theorylab.missing_mass.fingerprint import Fingerprint, Population, as_population
from theorylab.missing_mass.linear import Linear

Row = tuple[Fraction, int, int]
Place = tuple[int, int]


def exact_prefix_moment(
    pop: Population | Sequence[Fraction], n1: int, k1: int, n2: int, k2: int
) -> Fraction:
    r"""Expectation of :math:`\Phi_{k_1}(n_1)\,\Phi_{k_2}(n_2)` along one sample.

    With :math:`n_1 \ge n_2` and :math:`d = n_1 - n_2`,

    .. math::

        \sum_x \binom{n_2}{k_2}\binom d{k_1-k_2} p_x^{k_1}(1-p_x)^{n_1-k_1}
        + \sum_{x\ne y}\sum_i \frac{n_2!}{k_2!\,i!\,(n_2-k_2-i)!}\binom d{k_1-i}
          p_x^{k_1}p_y^{k_2}(1-p_x)^{d-k_1+i}(1-p_x-p_y)^{n_2-k_2-i}.

    Raises
    ------
    ValueError
        If an order is not between 1 and its number of draws.
    TypeError
        If the population holds floats.
    """
    for n, k in ((n1, k1), (n2, k2)):
        _check_row(n, k, n)
    if n1 < n2:
        return exact_prefix_moment(pop, n2, k2, n1, k1)
    population, d = as_population(pop), n1 - n2
    total = Fraction(0)
    if 0 <= k1 - k2 <= d:
        ways = comb(n2, k2) * comb(d, k1 - k2)
        total += ways * _over_classes(population, k1, n1 - k1)
    for i in range(max(0, k1 - d), min(k1, n2 - k2) + 1):
        ways = comb(n2, k2) * comb(n2 - k2, i) * comb(d, k1 - i)
        total += ways * _over_pairs(population, (k1, k2, d - k1 + i, n2 - k2 - i))
    return total


def exact_prefix_mass_moment(
    pop: Population | Sequence[Fraction], n: int, size: int, k: int
) -> Fraction:
    r"""Expectation of :math:`M(n)\,\Phi_k(n')` for the first ``size`` = n' of n draws.

    .. math:: \binom{n'}k \sum_{x\ne y} p_x p_y^k (1-p_x-p_y)^{n'-k} (1-p_x)^{n-n'}

    Raises
    ------
    ValueError
        If not ``1 <= k <= size <= n``.
    TypeError
        If the population holds floats.
    """
    _check_row(size, k, n)
    return comb(size, k) * _over_pairs(as_population(pop), (1, k, n - size, size - k))


def _check_row(size: int, k: int, n: int) -> None:
    if not 1 <= k <= size <= n:
        raise ValueError(f"need 1 <= k <= n' <= n, got k={k}, n'={size}, n={n}")


def _over_classes(population: Population, k: int, rest: int) -> Fraction:
    return sum((m * u**k * (1 - u) ** rest for u, m in population.atoms()), start=Fraction(0))


def _over_pairs(population: Population, exponents: tuple[int, int, int, int]) -> Fraction:
    """Sum over different classes of p_x^a p_y^b (1 - p_x)^c (1 - p_x - p_y)^e."""
    a, b, c, e = exponents
    atoms = population.atoms()
    total = Fraction(0)
    for x, (u, m) in enumerate(atoms):
        for y, (v, multiplicity) in enumerate(atoms):
            pairs = m * (multiplicity - (x == y))
            if pairs:
                total += pairs * u**a * v**b * (1 - u) ** c * (1 - u - v) ** e
    return total


def exact_formula_estimate(rows: Sequence[Row], sample: Sequence[object]) -> Fraction:
    """Value of a formula on an ordered sample."""
    total = Fraction(0)
    for coefficient, size, k in rows:
        _check_row(size, k, len(sample))
        total += coefficient * Fingerprint.from_sample(sample[:size]).phi(k)
    return total


def exact_formula_mean(rows: Sequence[Row], pop: Population | Sequence[Fraction]) -> Fraction:
    """Expected value of a formula."""
    population = as_population(pop)
    return sum(
        (a * comb(size, k) * _over_classes(population, k, size - k) for a, size, k in rows),
        start=Fraction(0),
    )


def exact_formula_mse(
    rows: Sequence[Row], pop: Population | Sequence[Fraction], n: int
) -> Fraction:
    """Mean squared error of a formula against the random missing mass after n draws."""
    population = as_population(pop)
    square = sum(
        (
            a * b * exact_prefix_moment(population, n1, k1, n2, k2)
            for a, n1, k1 in rows
            for b, n2, k2 in rows
        ),
        start=Fraction(0),
    )
    cross = sum(
        (a * exact_prefix_mass_moment(population, n, size, k) for a, size, k in rows),
        start=Fraction(0),
    )
    mass_square = _over_classes(population, 2, n) + _over_pairs(population, (1, 1, 0, n))
    return square - 2 * cross + mass_square


def condition(rows: Sequence[Row], n: int) -> Linear:
    """Expectation of a formula given the fingerprint of all n draws: order no longer matters.

    Raises
    ------
    ValueError
        If there are no rows, or one reads more than n draws.
    """
    if not rows:
        raise ValueError("rows is empty: a formula needs at least one term")
    total = [Fraction(0)] * n
    for coefficient, size, k in rows:
        _check_row(size, k, n)
        part = Linear([Fraction(0)] * (k - 1) + [coefficient]).rao_blackwell(size, n)
        for j, value in enumerate(part.c):
            total[j] += Fraction(value)
    return Linear(total)


def random_formula(n: int, rewritings: int, rng: np.random.Generator) -> tuple[Row, ...]:
    r"""A random formula of the paper's search space.

    Starts from :math:`\frac{1}{n+1}\Phi_1(n+1)` and applies random rewritings

    .. math:: g_k(m) = g_{k-1}(m-1) - g_{k-1}(m), \quad
        g_k(m) = g_k(m-1) - g_{k+1}(m), \quad g_k(m) = g_k(m+1) + g_{k+1}(m+1)

    to a random share of a random row. As there, a row that would still need the draw n+1 is read
    on n draws with its coefficient kept (and dropped if all n+1 draws would have to agree).

    Raises
    ------
    ValueError
        If ``n < 2`` or ``rewritings < 0``.
    """
    if n < 2 or rewritings < 0:
        raise ValueError(f"need n >= 2 and rewritings >= 0, got {n} and {rewritings}")
    weights: dict[Place, Fraction] = {(n + 1, 1): Fraction(1)}
    for _ in range(rewritings):
        place = sorted(weights)[int(rng.integers(len(weights)))]
        options = list(_rewritings(*place, n))
        moved = weights[place] * Fraction(int(rng.integers(1, 17)), 16)
        weights[place] -= moved
        for sign, target in options[int(rng.integers(len(options)))]:
            weights[target] = weights.get(target, Fraction(0)) + sign * moved
        weights = {place: weight for place, weight in weights.items() if weight}
    return tuple(
        (weight / comb(m, k), min(m, n), k) for (m, k), weight in weights.items() if k <= n
    )


def _rewritings(m: int, k: int, n: int) -> Iterator[list[tuple[int, Place]]]:
    """Ways to write g_k(m) with two others that n + 1 draws can show."""
    if k > 1:
        yield [(1, (m - 1, k - 1)), (-1, (m, k - 1))]
    if k < m:
        yield [(1, (m - 1, k)), (-1, (m, k + 1))]
    if m <= n:
        yield [(1, (m + 1, k)), (1, (m + 1, k + 1))]
