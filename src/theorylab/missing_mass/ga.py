r"""The paper's genetic search over representations of the missing mass, for comparison.

Written anew from the description of the method. An individual is a list of rows (coefficient,
n', k) that stand for :math:`\sum c\,\Phi_k(n')`; the first one is
:math:`\Phi_1(n+1)/(n+1)`, whose expectation is that of the missing mass. A mutation replaces one
row, or a part of it, by an identity between expectations. Rows that would need draw n+1 are
evaluated, and reported, on the n draws there are.

The search that was released with the paper does not keep to the identities, in two places;
``released_mutation`` does what it does, ``mutation`` what was meant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from theorylab.missing_mass.fingerprint import Fingerprint, Population
from theorylab.missing_mass.prefixes import Formula, PrefixMoments

POPULATION_SIZE = 40
TOURNAMENT = 3
KEPT = 3
LARGEST_FORMULA = 20
SMALLEST_COEFFICIENT = 1e-4
IMPROVEMENT = 0.05
LEAST_IMPROVEMENT = 0.01

Terms = dict[tuple[int, int], float]
"""Coefficient of ``Phi_k(n')`` by ``(n', k)``, times n + 1 as the search keeps them."""

Mutation = Callable[[Terms, int, np.random.Generator], Terms]
"""From terms and the sample size to mutated terms."""


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes
    ----------
    formula : Formula
        The best formula, on the n draws there are.
    mse : float
        Its mean squared error under the plug-in.
    history : tuple of float
        Best mean squared error at the start and after each generation.
    """

    formula: Formula
    mse: float
    history: tuple[float, ...]

    @property
    def generations(self) -> int:
        """Number of generations that were run."""
        return len(self.history) - 1


@dataclass(frozen=True)
class _Individual:
    terms: Terms
    mse: float


def search(
    fp: Fingerprint,
    plugin: Callable[[Fingerprint], Population],
    generations: int = 100,
    seed: int | np.random.SeedSequence = 0,
    cap: int = 2000,
    mutate: Mutation | None = None,
) -> Search:
    """Evolve a formula of small mean squared error under a plug-in for the population.

    Parameters
    ----------
    fp : Fingerprint
        Of the sample.
    plugin : callable
        From a fingerprint to a population: ``natural_good_turing`` in the paper.
    generations : int
        Length of a block of generations; another block follows while a block improves the best
        formula by more than 5 %, or the whole search has not yet improved it by 1 %.
    seed : int or SeedSequence
    cap : int
        No block starts at or after this many generations.
    mutate : callable, optional
        ``mutation`` by default; ``released_mutation`` for the released program.

    Returns
    -------
    Search

    Raises
    ------
    ValueError
        If ``generations`` or ``cap`` is not positive.
    """
    if generations < 1 or cap < 1:
        raise ValueError(f"generations and cap must be positive, got {generations} and {cap}")
    rng = np.random.default_rng(seed)
    n = fp.n
    exact = PrefixMoments(plugin(fp), n)
    mutate = mutation if mutate is None else mutate
    first = _evaluated(start(n), exact)
    population, history = [first], [first.mse]
    end, block_start = generations, first.mse
    while len(history) <= end:
        population = _next_generation(population, first, exact, mutate, rng)
        history.append(min(individual.mse for individual in population))
        if len(history) > end and end < cap and _goes_on(first.mse, block_start, history[-1]):
            end, block_start = end + generations, history[-1]
    best = min(population, key=lambda individual: individual.mse)
    return Search(_formula(best.terms, n), best.mse, tuple(history))


def _goes_on(start: float, block_start: float, best: float) -> bool:
    improved = (block_start - best) / block_start > IMPROVEMENT
    return improved or (start - best) / start < LEAST_IMPROVEMENT


def _next_generation(
    population: list[_Individual],
    first: _Individual,
    exact: PrefixMoments,
    mutate: Mutation,
    rng: np.random.Generator,
) -> list[_Individual]:
    """Parents by tournament, one mutant of each, the start and the best so far; no duplicates."""
    best = sorted(population, key=lambda individual: individual.mse)[:KEPT]
    entrants = rng.integers(len(population), size=(POPULATION_SIZE, TOURNAMENT))
    parents = [min((population[i] for i in row), key=lambda x: x.mse) for row in entrants]
    mutants = [mutate(parent.terms, exact.n, rng) for parent in parents]
    children = [_evaluated(m, exact) for m in mutants if 0 < len(m) <= LARGEST_FORMULA]
    by_mse = {individual.mse: individual for individual in (*parents, *children, first, *best)}
    return list(by_mse.values())


def start(n: int) -> Terms:
    """``Phi_1(n+1) / (n+1)``."""
    return {(n + 1, 1): 1.0}


def mutation(terms: Terms, n: int, rng: np.random.Generator) -> Terms:
    r"""Replace a share of one term by two terms of the same expectation.

    With :math:`g_k(n)=E\Phi_k(n)/\binom nk`, one of

    .. math:: g_k(n') = g_{k-1}(n'-1) - g_{k-1}(n') = g_k(n'-1) - g_{k+1}(n')
        = g_k(n'+1) + g_{k+1}(n'+1),

    each where it applies; the share is 1 with probability one half, else uniform.
    """
    prefix, k, rule, share = _choice(terms, n, rng)
    return _moved(terms, (prefix, k), share, _REPLACEMENTS[rule](prefix, k))


def released_mutation(terms: Terms, n: int, rng: np.random.Generator) -> Terms:
    r"""The mutation of the released program, which changes the expectation in two places.

    Its third replacement is :math:`g_k(n')+g_{k+1}(n'+1)`, where :math:`n'+1` is meant in the
    first term too, so that :math:`g_{k+1}(n'+1)` is added for nothing. And the start is an array
    of integers, so that the share of it that should stay is rounded down to zero.
    """
    prefix, k, rule, share = _choice(terms, n, rng)
    kept = dict(terms)
    if terms == start(n):
        kept[prefix, k] *= share
        share = 1.0
    replacement = _REPLACEMENTS[rule](prefix, k)
    if rule == 2:
        replacement = ((1, prefix, k), replacement[1])
    return _moved(kept, (prefix, k), share, replacement)


def _choice(terms: Terms, n: int, rng: np.random.Generator) -> tuple[int, int, int, float]:
    """A term, a replacement that applies to it, and the share to replace."""
    keys = list(terms)
    prefix, k = keys[rng.integers(len(keys))]
    rules = [rule for rule, applies in enumerate((k > 1, k < prefix, prefix <= n)) if applies]
    rule = rules[rng.integers(len(rules))]
    return prefix, k, rule, 1.0 if rng.random() < 0.5 else rng.random()


Place = tuple[int, int]
Replacement = tuple[tuple[int, int, int], tuple[int, int, int]]
"""Sign, n' and k of the two new terms."""

_REPLACEMENTS: tuple[Callable[[int, int], Replacement], ...] = (
    lambda m, k: ((1, m - 1, k - 1), (-1, m, k - 1)),
    lambda m, k: ((1, m - 1, k), (-1, m, k + 1)),
    lambda m, k: ((1, m + 1, k), (1, m + 1, k + 1)),
)


def _moved(terms: Terms, place: Place, share: float, replacement: Replacement) -> Terms:
    """Move a share of the term at ``place`` to its replacement; negligible terms are dropped."""
    moved = terms[place] * share
    mutant = dict(terms)
    mutant[place] -= moved
    for sign, prefix, k in replacement:
        change = sign * moved * (comb(*place) / comb(prefix, k))
        mutant[prefix, k] = mutant.get((prefix, k), 0.0) + change
    return {key: c for key, c in mutant.items() if abs(c) > SMALLEST_COEFFICIENT}


def _evaluated(terms: Terms, exact: PrefixMoments) -> _Individual:
    return _Individual(terms, exact.mse(_formula(terms, exact.n)))


def _formula(terms: Terms, n: int) -> Formula:
    """On the draws there are: row n + 1 becomes row n with its coefficient, k > n disappears."""
    available: Terms = {}
    for (prefix, k), c in terms.items():
        if k <= n:
            key = (min(prefix, n), k)
            available[key] = available.get(key, 0.0) + c
    return Formula(tuple((c / (n + 1), prefix, k) for (prefix, k), c in available.items()))
