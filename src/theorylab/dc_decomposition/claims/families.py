"""Families with a known answer: hyperplane functions, order statistics, products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import networkx as nx

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, Equal, Finding
from theorylab.run import Run

from .. import theory
from ..complexes import Complex, ProductComplex
from ..cuts import cut_extension, modularity_weights
from ..decomposition import Decomposition
from ..examples import (
    cardinality_function,
    linear,
    order_statistic,
    random_arrangement,
    random_fan,
    random_function,
    random_set_function,
    top_sum,
)
from ..functions import CPWL, unbalanced_ridge
from ..polyhedron import DecompositionPolyhedron, decompose
from ..sums import direct_sum
from ..walls import Affine, Hyperplane

PAPER = "brandenburg2025decomposition"
KARATE = ((0, 1, 2, 3), (0, 1, 2, 3, 33), (0, 1, 2, 3, 32, 33), (0, 1, 2, 3, 32, 33, 8))


def _one_vertex(f: CPWL) -> tuple[int, int]:
    """Number of vertices, and whether the first one is the positive part of the weights."""
    vertices = DecompositionPolyhedron(f.complex, f).vertices()
    return len(vertices), int(list(vertices[0].w_g) == [max(w, 0) for w in f.weights])


def _one_hidden_layer(run: Run) -> Finding:
    """Random one-hidden-layer functions: one vertex, whose g collects the positive terms."""
    rng = run.rng("terms")
    trials, same = run.pick(ci=20, paper=200), 0
    for _ in range(trials):
        arrangement = random_arrangement(rng, int(rng.integers(3, 6)), int(rng.integers(1, 4)))
        factors = [int(c) for c in rng.choice([-3, -2, -1, 1, 2, 3], len(arrangement.hyperplanes))]
        hinges = [_hinge(plane) for plane in arrangement.hyperplanes]
        terms = list(zip(factors, hinges, strict=True))
        f = CPWL.from_terms(arrangement, terms)
        g = CPWL.from_terms(arrangement, [(c, hinge) for c, hinge in terms if c > 0])
        vertices = DecompositionPolyhedron(arrangement, f).vertices()
        same += [v.w_g for v in vertices] == [tuple(g.weights)]
    return Equal(same, trials)


def _hinge(plane: Hyperplane) -> list[Affine]:
    """The affine maps of max(0, a.x - b)."""
    normal, offset = plane
    return [((0,) * len(normal), 0), (normal, -offset)]


def _cut_counts(nodes: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Pieces of the two parts on the braid fan, and the numbers of acyclic orientations."""
    weights = modularity_weights(nx.karate_club_graph(), nodes)
    f = cut_extension(len(nodes), weights)
    positive = [pair for pair, c in weights.items() if c > 0]
    negative = [pair for pair, c in weights.items() if c < 0]
    (only,) = decompose(f.complex, f)
    return only.counts, (
        theory.acyclic_orientations(len(nodes), positive),
        theory.acyclic_orientations(len(nodes), negative),
    )


@claim(
    "dc_decomposition.hyperplane",
    statement=(
        r"A hyperplane function $\sum_i\lambda_i\max(\ell_i,\ell_i')$ (a ReLU network with one "
        r"hidden layer) has a balanced positive part: its terms with $\lambda_i>0$, summed to "
        r"$g$, and those with $\lambda_i<0$, summed to $-h$, are its unique minimal decomposition. "
        r"On the braid fan the hyperplane functions are the signed cut functions of "
        r"graphs, and $q(g)$, $q(h)$ are the numbers of acyclic orientations of the graphs of "
        r"positive and of negative edges."
    ),
    source=Source(PAPER, "Definition 3.16; counts derived in the chapter"),
    evidence="exact",
    uses=["dc_decomposition.unique"],
)
def hyperplane(run: Run) -> Finding:
    measured, predicted = zip(*(_cut_counts(nodes) for nodes in KARATE), strict=True)
    return AllHold(
        {
            "one-hidden-layer functions": _one_hidden_layer(run),
            "karate club: pieces = acyclic orientations": Equal(measured, predicted),
            "karate club: the pieces": Equal(measured, ((18, 2), (18, 24), (36, 162), (360, 540))),
        }
    )


@hyperplane.control("max(x1,x2,x3)-max(x1,x2), whose kinks vary along a hyperplane")
def _(run: Run) -> Finding:
    x = [linear(form) for form in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    f = CPWL.from_terms(Complex.braid(3), [(1, x), (-1, x[:2])])
    counts = sorted(v.counts for v in DecompositionPolyhedron(f.complex, f).vertices())
    return Equal(_one_vertex(f), (1, 1), note=f"its vertices have the pieces {counts}")


@hyperplane.control("orientations of all edges, signs forgotten")
def _(run: Run) -> Finding:
    nodes = KARATE[1]
    complete = theory.acyclic_orientations(len(nodes), combinations(range(len(nodes)), 2))
    return Equal(_cut_counts(nodes)[0], (complete, complete))


def _order_statistics(n: int) -> Finding:
    fan = Complex.braid(n)
    measured, predicted = [], []
    for k in range(1, n + 1):
        f = order_statistic(n, k, fan)
        (only,) = decompose(fan, f)
        from_sums = only.w_g == tuple(top_sum(n, k, fan).weights)
        measured.append((int(from_sums), *only.counts, f.pieces(), f.affine_components()))
        predicted.append(
            (
                1,
                theory.top_sum_pieces(n, k),
                theory.top_sum_pieces(n, k - 1),
                theory.order_statistic_pieces(n, k),
                n,
            )
        )
    return Equal(measured, predicted)


def _by_enumeration(fan: Complex, functions: Sequence[CPWL]) -> list[list[tuple[int, int]]]:
    return [[v.counts for v in DecompositionPolyhedron(fan, f).vertices()] for f in functions]


def _balanced_positive_parts(functions: Sequence[CPWL]) -> Finding:
    balanced = sum(
        unbalanced_ridge(f.complex, [max(w, 0) for w in f.weights]) is None for f in functions
    )
    return Equal(balanced, len(functions))


def _symmetric(run: Run) -> list[CPWL]:
    """Random set functions of the size: combinations of order statistics."""
    rng, fan = run.rng("sizes"), Complex.braid(4)
    tables = [[0, *map(int, rng.integers(-5, 6, 4))] for _ in range(run.pick(ci=20, paper=200))]
    return [
        CPWL.from_set_function(4, cardinality_function(4, table), complex=fan) for table in tables
    ]


@claim(
    "dc_decomposition.order-statistics",
    statement=(
        r"The $k$-th largest of $n$ numbers is $S_k-S_{k-1}$, $S_k$ the sum of the $k$ largest. "
        r"Its positive part is balanced, so this is its unique minimal decomposition, with "
        r"$q(S_k)=\binom nk$, while the function itself has $n\binom{n-1}{k-1}$ pieces and $n$ "
        r"affine components. Every $\sum_kc_kx_{(k)}$ has a balanced positive part."
    ),
    source=Source(PAPER, "Example 4.20"),
    evidence="exact",
    uses=["dc_decomposition.unique"],
)
def order_statistics(run: Run) -> Finding:
    sizes = run.pick(ci=(3, 4, 5, 6), paper=(3, 4, 5, 6, 7))
    fan = Complex.braid(4)
    enumerated = _by_enumeration(fan, [order_statistic(4, k, fan) for k in range(1, 5)])
    return AllHold(
        {
            **{f"n = {n}": _order_statistics(n) for n in sizes},
            "n = 4 by enumeration": Equal(enumerated, (((4, 1),), ((6, 4),), ((4, 6),), ((1, 4),))),
            "median pieces": Equal(
                [order_statistic(n, (n + 1) // 2).pieces() for n in (3, 4, 5)], (6, 12, 30)
            ),
            "functions of the size": _balanced_positive_parts(_symmetric(run)),
        }
    )


def _compatible(make: Callable[[], CPWL]) -> int:
    try:
        make()
    except ValueError:
        return 0
    return 1


@order_statistics.control("second largest of 2x1, x2, x3: one coordinate scaled")
def _(run: Run) -> Finding:
    x = [(2, 0, 0), (0, 1, 0), (0, 0, 1)]
    pairs = [tuple(map(sum, zip(*two, strict=True))) for two in combinations(x, 2)]
    terms = [(1, [linear(form) for form in pairs]), (-1, [linear(form) for form in x])]
    return Equal(_compatible(lambda: CPWL.from_terms(Complex.braid(3), terms)), 1)


@order_statistics.control("set functions that depend on more than the size")
def _(run: Run) -> Finding:
    rng, fan = run.rng("sizes"), Complex.braid(4)
    functions = [
        CPWL.from_set_function(4, random_set_function(rng, 4), complex=fan) for _ in range(20)
    ]
    return _balanced_positive_parts(functions)


@dataclass(frozen=True)
class _Factors:
    """Two functions and their sum in separate variables, on the product of their complexes."""

    product: ProductComplex
    left: CPWL
    right: CPWL
    total: CPWL


def _pairs(run: Run) -> list[_Factors]:
    """Fan x fan and fan x line."""
    rng = run.rng("factors")
    found = []
    for trial in range(run.pick(ci=25, paper=250)):
        left = random_fan(rng, int(rng.integers(3, 6)))
        right = (
            random_arrangement(rng, int(rng.integers(1, 4)), 1)
            if trial % 2
            else random_fan(rng, int(rng.integers(3, 6)))
        )
        f, e = random_function(left, rng), random_function(right, rng)
        product = Complex.product(left, right)
        found.append(_Factors(product, f, e, direct_sum(product, f, e)))
    return found


def _vertices(f: CPWL) -> list[Decomposition]:
    return DecompositionPolyhedron(f.complex, f).vertices()


def _joined(product: ProductComplex, left: Sequence, right: Sequence) -> tuple:
    """Weights of the direct sum, wall by wall."""
    across = [w for w in left for _ in product.right.cells]
    return (*across, *(list(right) * len(product.left.cells)))


def _is_product(pair: _Factors) -> bool:
    """Vertices are all pairs of vertices, with multiplied counts; rays are those of a factor."""
    expected = {
        (
            _joined(pair.product, a.w_g, b.w_g),
            (a.counts[0] * b.counts[0], a.counts[1] * b.counts[1]),
        )
        for a in _vertices(pair.left)
        for b in _vertices(pair.right)
    }
    return {(v.w_g, v.counts) for v in _vertices(pair.total)} == expected


def _rays_add(pair: _Factors) -> bool:
    rays = [
        len(DecompositionPolyhedron(f.complex, f).rays())
        for f in (pair.left, pair.right, pair.total)
    ]
    return rays[0] + rays[1] == rays[2]


def _products(pairs: Sequence[_Factors]) -> Finding:
    dims = [
        [f.complex.weight_space.dim for f in (pair.left, pair.right, pair.total)] for pair in pairs
    ]
    return AllHold(
        {
            "vertices are pairs, pieces multiply": Equal(sum(map(_is_product, pairs)), len(pairs)),
            "rays add": Equal(sum(map(_rays_add, pairs)), len(pairs)),
            "dimensions add": Equal(sum(a + b == c for a, b, c in dims), len(pairs)),
        }
    )


@claim(
    "dc_decomposition.product",
    statement=(
        r"For the sum in separate variables $f\oplus f'$ on the product complex, "
        r"$\mathcal D_{\mathcal P\times\mathcal Q}(f\oplus f')=\mathcal D_{\mathcal P}(f)\times"
        r"\mathcal D_{\mathcal Q}(f')$: dimensions and rays add, vertices pair up, and the numbers "
        r"of pieces multiply."
    ),
    source=Source("theorylab", "derived in the chapter"),
    evidence="exact",
    uses=["dc_decomposition.polyhedron"],
)
def product(run: Run) -> Finding:
    return _products(_pairs(run))


@product.control("the left summand negated")
def _(run: Run) -> Finding:
    return _products([replace(pair, left=-pair.left) for pair in _pairs(run)])


@product.control("the coupling max(0, x1+y1) added")
def _(run: Run) -> Finding:
    cross = Complex.from_fan2d([(1, 0), (0, 1), (-1, 0), (0, -1)])
    line = Complex.from_arrangement([((1,), 0)])
    coupling = [(1, [linear((0, 0, 0)), linear((1, 0, 1))])]
    return Equal(_compatible(lambda: CPWL.from_terms(Complex.product(cross, line), coupling)), 1)
