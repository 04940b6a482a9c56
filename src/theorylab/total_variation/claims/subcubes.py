"""Claims on mixtures of Boolean subcubes and the counting problem inside their distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, Equal, Finding
from theorylab.run import Run
from theorylab.total_variation.distances import tv_exact_mixture
from theorylab.total_variation.generators import Pair, random_law
from theorylab.total_variation.mixtures import ProductMixture
from theorylab.total_variation.subcubes import (
    Subcube,
    cell_sizes,
    distance_from_cells,
    dnf_excess,
    intersection_sizes,
    signed_subcubes,
)
from theorylab.total_variation.theory import disjoint_terms_models, satisfying_assignments

Sizes = Callable[[Sequence[Subcube], int], list[int]]


def _random_cubes(rng: np.random.Generator, count: int, n: int, free: float) -> list[str]:
    letters = rng.choice(list("01*"), size=(count, n), p=[(1 - free) / 2, (1 - free) / 2, free])
    return ["".join(row) for row in letters]


def _random_side(rng: np.random.Generator, n: int, free: float = 0.5) -> ProductMixture:
    k = int(rng.integers(1, 6))
    return ProductMixture.from_subcubes(random_law(rng, k, 12), _random_cubes(rng, k, n, free))


def _random_pairs(run: Run) -> list[Pair]:
    rng = run.rng("subcubes")
    sizes = rng.integers(1, 9, size=run.pick(ci=40, paper=400)).tolist()
    return [(_random_side(rng, n), _random_side(rng, n)) for n in sizes]


def _against_listing(pairs: Sequence[Pair], sizes: Sizes) -> Finding:
    """Distances from the cells with the given intersection sizes, against listing all points."""
    measured = []
    for P, Q in pairs:
        cubes = signed_subcubes(P, Q) or [Subcube(Fraction(0), 0, 0)]
        cells = cell_sizes(sizes(cubes, P.n_coordinates))
        measured.append(distance_from_cells(cells, cubes, P.n_coordinates))
    return Equal(measured, [tv_exact_mixture(P, Q) for P, Q in pairs])


def _models_by_listing(terms: Sequence[str]) -> int:
    strings = product("01", repeat=len(terms[0]))
    return sum(any(_satisfies(x, term) for term in terms) for x in strings)


def _satisfies(x: Sequence[str], term: str) -> bool:
    return all(literal in ("*", bit) for literal, bit in zip(term, x, strict=True))


def _models_from_distance(terms: Sequence[str]) -> Fraction:
    cube_points = sum(2 ** term.count("*") for term in terms)
    return satisfying_assignments(cube_points, dnf_excess(terms))


def _disjoint_terms(n: int, widths: Sequence[int]) -> list[str]:
    terms, start = [], 0
    for width in widths:
        terms.append("*" * start + "1" * width + "*" * (n - start - width))
        start += width
    return terms


@claim(
    "total_variation.subcubes",
    statement=r"""For mixtures of $K$ Boolean subcubes in all, $P(x) - Q(x)$ depends only on which
cubes contain $x$. With $N_T$ the number of points in exactly the cubes of $T$, found by Möbius
inversion from intersections that are empty or have $2^f$ points,
$d_{\mathrm{TV}} = \frac12 \sum_T N_T\,|\sum_{i \in T} c_i 2^{-f_i}|$ in $O(2^K(K + n))$ integer
operations. One such distance counts the models of a DNF:
$\#\mathrm{SAT} = C - C\,F(1/C)$ with $C = \sum_i |C_i|$ and $F(t) = \sum_x \max(0, P(x) - t)$.""",
    source=Source("feng2026mixtures", "mixtures of Boolean subcubes; algorithm derived here"),
    evidence="exact",
)
def subcubes(run: Run) -> Finding:
    rng = run.rng("formulas")
    small = [
        _random_cubes(rng, int(rng.integers(1, 7)), int(rng.integers(1, 9)), 0.5)
        for _ in range(run.pick(ci=60, paper=600))
    ]
    n, K = run.pick(ci=(200, 12), paper=(10_000, 16))
    widths = [1, 2, 3, 5, 8, 13, 21]
    cubes = [Subcube(Fraction(1), *_mask(cube)) for cube in _random_cubes(rng, K, n, 1 - 4 / n)]
    cells = cell_sizes(intersection_sizes(cubes, n))
    return AllHold(
        {
            "distance": _against_listing(_random_pairs(run), intersection_sizes),
            "models of small formulas": Equal(
                [_models_from_distance(terms) for terms in small],
                [_models_by_listing(terms) for terms in small],
            ),
            "models of a formula in 200 variables": Equal(
                _models_from_distance(_disjoint_terms(200, widths)),
                disjoint_terms_models(200, widths),
            ),
            "points in all cells of a large instance": Equal(
                sum(cells), 2**n, sizes={"n": n, "K": K}
            ),
        }
    )


def _mask(cube: str) -> tuple[int, int]:
    fixed = sum(1 << j for j, letter in enumerate(cube) if letter != "*")
    return fixed, sum(1 << j for j, letter in enumerate(cube) if letter == "1")


@subcubes.control("empty intersections counted as if they were not")
def _(run: Run) -> Finding:
    return _against_listing(_random_pairs(run), _sizes_blind_to_conflicts)


def _sizes_blind_to_conflicts(cubes: Sequence[Subcube], n: int) -> list[int]:
    return intersection_sizes([Subcube(cube.coefficient, cube.fixed, 0) for cube in cubes], n)


@subcubes.control("models counted by adding up the terms")
def _(run: Run) -> Finding:
    terms = ["1**", "*1*"]
    return Equal(sum(2 ** term.count("*") for term in terms), _models_by_listing(terms))
