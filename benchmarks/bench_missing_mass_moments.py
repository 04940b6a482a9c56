"""Joint moments of fingerprint and missing mass: grouped atoms beside the plain double sum.

``python benchmarks/bench_missing_mass_moments.py`` prints a table and writes
``benchmarks/results/missing_mass_moments.json``. Populations are natural Good-Turing plug-ins of
Zipf samples, so that D, the number of different probabilities, grows like the square root of n.
The peer evaluates the formulas over all pairs of classes with NumPy, no classes grouped.
"""

from __future__ import annotations

from functools import cache, partial
from math import comb

import numpy as np
from pairing import Growth, Measure, Result, Row, compared, grown, report

from theorylab.missing_mass import Population, draw, moments, zipf
from theorylab.missing_mass.plugins import natural_good_turing

ROUNDS = 9
ALLOWED_MS = {2: 1.0, 10: 10.0}
"""Milliseconds allowed at n = 20 000, for each K."""


@cache
def population_of(size: int) -> Population:
    """Zipf's law in exact fractions, which takes far longer to set up than to draw from."""
    return zipf(size)


def plug_in(n: int) -> Population:
    rng = np.random.default_rng(n)
    return natural_good_turing(draw(population_of(min(n, 5000)), n, rng).fingerprint)


def plain_second_moments(population: Population, n: int, K: int) -> np.ndarray:
    """E Phi_j Phi_k by the double sum over classes."""
    p = population.probabilities()
    pairs = np.log1p(-np.minimum(p[:, None] + p, 1 - 1e-16))
    found = np.empty((K, K))
    for j in range(1, K + 1):
        for k in range(1, K + 1):
            rest = np.exp((n - j - k) * pairs)
            np.fill_diagonal(rest, 0.0)
            ways = comb(n, j) * comb(n - j, k)
            found[j - 1, k - 1] = ways * float(p**j @ rest @ p**k)
    k = np.arange(1, K + 1)[:, None]
    ways = np.array([float(comb(n, order)) for order in k[:, 0]])
    found[np.diag_indices(K)] += ways * (p**k * (1 - p) ** (n - k)).sum(axis=1)
    return found


def row(n: int, K: int) -> Row:
    population = plug_in(n)
    found = moments(population, n, K, intercept=False).A
    np.testing.assert_allclose(found, plain_second_moments(population, n, K), rtol=1e-8)
    return compared(
        f"n = {n}, K = {K}, D = {population.values.size}, S = {population.size:.0f}",
        lambda: moments(population, n, K),
        lambda: plain_second_moments(population, n, K),
        rounds=ROUNDS,
    )


def growth(K: int) -> Growth:
    """Seconds against n."""
    cases = []
    for n in (2500, 5000, 10_000, 20_000, 40_000, 80_000):
        population = plug_in(n)
        case = f"n = {n}, K = {K}, D = {population.values.size}"
        cases.append((case, n, partial(moments, population, n, K)))
    return grown(f"time in n at K = {K}", cases, rounds=ROUNDS, most=1.2)


def allowance(K: int, found: Growth) -> Measure:
    """The part of the time allowed at n = 20 000 that is used."""
    used = found.seconds[found.sizes.index(20_000)]
    name = f"part used of the {ALLOWED_MS[K]:.0f} ms allowed at n = 20000, K = {K}"
    return Measure(name, 1e3 * used / ALLOWED_MS[K], most=1.0)


def main() -> None:
    growths = {K: growth(K) for K in ALLOWED_MS}
    report(
        "missing_mass_moments",
        Result(
            "Missing mass: joint moments",
            "double sum over classes in NumPy",
            np.__version__,
            tuple(row(n, K) for n in (100, 1000) for K in (2, 10)),
            "n = 20 000: K = 2 within 1 ms, K = 10 within 10 ms; exponent in n at most 1.2",
            tuple(growths.values()),
            tuple(allowance(K, found) for K, found in growths.items()),
        ),
    )


if __name__ == "__main__":
    main()
