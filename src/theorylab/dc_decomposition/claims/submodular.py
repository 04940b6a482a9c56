"""Submodular functions: the decomposition polyhedron of a set function, on real tables too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Equal, Finding
from theorylab.run import Run

from .. import theory
from ..complexes import BraidComplex, Complex
from ..data import TABLES, mutual_information
from ..examples import random_set_function
from ..functions import CPWL
from ..polyhedron import DecompositionPolyhedron
from ..submodular import (
    SetFunction,
    SubmodularDecompositions,
    SubmodularPair,
    difference,
    exchange_weight,
    exchanges,
    set_function,
    strict_baseline,
    subsets,
    weights_on_walls,
)

PAPER = "brandenburg2025decomposition"
Change = Callable[[int, SetFunction], SetFunction]
RAYS = {2: 1, 3: 5, 4: 37}
"""Extreme rays of the cone of submodular functions modulo modular ones."""

VERTICES = {"iris": 201, "wine": 338, "digits": 126}
LEAST_TOTAL = {"iris": 27, "wine": 29, "digits": 26}


def _functions(run: Run) -> list[tuple[int, SetFunction]]:
    rng = run.rng("set functions")
    numbers = run.pick(ci={2: 5, 3: 20, 4: 20}, paper={2: 20, 3: 200, 4: 400})
    return [
        (n, set_function(n, random_set_function(rng, n)))
        for n, count in numbers.items()
        for _ in range(count)
    ]


def _unchanged(n: int, values: SetFunction) -> SetFunction:
    return values


def _agreement(functions: Sequence[tuple[int, SetFunction]], change: Change) -> dict[str, Finding]:
    """Vertices from the cells of the braid fan against those from the exchange inequalities."""
    fans: dict[int, BraidComplex] = {n: Complex.braid(n) for n in RAYS}
    same = counted = 0
    totals, baselines = [], []
    for n, values in functions:
        fan, changed = fans[n], change(n, values)
        from_cells = DecompositionPolyhedron(
            fan, CPWL.from_set_function(n, values, complex=fan)
        ).vertices()
        pairs = SubmodularDecompositions(n, changed).vertices()
        weights = {weights_on_walls(pair, fan.walls): pair.counts for pair in pairs}
        same += weights.keys() == {v.w_g for v in from_cells}
        counted += weights == {v.w_g: v.counts for v in from_cells}
        totals.append(min(sum(pair.counts) for pair in pairs))
        baselines.append(sum(strict_baseline(n, values).counts))
    return {
        "same vertices": Equal(same, len(functions)),
        "pieces = vertices of base polytopes": Equal(counted, len(functions)),
        "least total against a strictly submodular summand": AtMost(totals, baselines),
    }


def _cones(run: Run) -> dict[str, Finding]:
    """Dimension of the space and extreme rays of the cone."""
    dims = [Complex.braid(n).weight_space.dim for n in RAYS]
    rays = [SubmodularDecompositions(n, dict.fromkeys(subsets(n), 0)).ray_count() for n in RAYS]
    return {
        "dimensions": Equal(dims, [theory.braid_shape(n)[2] for n in RAYS]),
        "extreme rays": Equal(rays, list(RAYS.values())),
    }


def _textbook(name: str, pair: SubmodularPair) -> dict[str, Finding]:
    """Whether a pair is a decomposition, and how far from irreducible it is."""
    values = difference(mutual_information(name))
    polyhedron = SubmodularDecompositions(pair.n, values)
    return {
        f"{name}: textbook pair is a decomposition": Equal(int(polyhedron.is_member(pair.G)), 1),
        f"{name}: pieces of the textbook pair": Equal(pair.counts, (24, 24)),
    }


def _tables(run: Run) -> dict[str, Finding]:
    """Mutual information on three tables: vertices, least totals, reducible textbook pairs."""
    parts: dict[str, Finding] = {}
    fan = Complex.braid(4)
    for name in TABLES:
        pair = mutual_information(name)
        vertices = SubmodularDecompositions(4, difference(pair)).vertices()
        f = CPWL.from_set_function(4, difference(pair), complex=fan)
        polyhedron = DecompositionPolyhedron(fan, f)
        textbook = CPWL.from_set_function(4, pair.G, complex=fan)
        irreducible, certificate = polyhedron.is_irreducible(textbook)
        parts |= _textbook(name, pair)
        parts[f"{name}: vertices"] = Equal(len(vertices), VERTICES[name])
        parts[f"{name}: least total"] = Equal(
            min(sum(v.counts) for v in vertices), LEAST_TOTAL[name]
        )
        parts[f"{name}: common part that can be subtracted"] = AtLeast(
            sum(certificate.vector, Fraction(0)) * (not irreducible), 1
        )
        parts[f"{name}: its certificate"] = Equal(int(polyhedron.verify(certificate, textbook)), 1)
    return parts


def _large(run: Run) -> dict[str, Finding]:
    """Vertices of larger polyhedra by linear programs: rank test and optimality certificate."""
    rng, parts = run.rng("costs"), {}
    for n, count in run.pick(ci={5: 10, 6: 2}, paper={5: 1000, 6: 200}).items():
        fan = Complex.braid(n)
        f = CPWL.from_set_function(n, random_set_function(rng, n), complex=fan)
        polyhedron = DecompositionPolyhedron(fan, f)
        proved = 0
        for _ in range(count):
            cost = [int(c) for c in rng.integers(1, 20, len(fan.walls))]
            vertex = polyhedron.lp_vertex(cost)
            proved += polyhedron.is_vertex(vertex) and polyhedron.verify_optimal(vertex, cost)
        parts[f"n={n}: vertices with certificates"] = Equal(proved, count)
    return parts


@claim(
    "dc_decomposition.submodular",
    statement=(
        r"Through the Lovász extension, functions on the braid fan modulo affine ones are set "
        r"functions with $F(\emptyset)=0$ modulo modular ones, of dimension $2^n-1-n$; the weight "
        r"of the wall between the chains through $S\cup i$ and $S\cup j$ is "
        r"$F(S{+}i)+F(S{+}j)-F(S{+}ij)-F(S)$. Hence $\mathcal D$ is the set of all $F=G-H$ with "
        r"$G,H$ submodular, irreducible pairs are its bounded faces, minimal ones are vertices, "
        r"and $q(g)$ is the number of vertices of the base polytope of $G$."
    ),
    source=Source(PAPER, "Corollary 5.4"),
    evidence="exact",
    uses=["dc_decomposition.irreducible-bounded", "dc_decomposition.minimal-vertex"],
)
def submodular(run: Run) -> Finding:
    return AllHold(
        {**_agreement(_functions(run), _unchanged), **_cones(run), **_tables(run), **_large(run)}
    )


def _lowered(pair: SubmodularPair) -> SubmodularPair:
    """G with one value changed so that one exchange turns negative."""
    slack = {e: exchange_weight(pair.G, e) for e in exchanges(pair.n)}
    (s, (i, j)), least = min(slack.items(), key=lambda item: item[1])
    G = dict(pair.G)
    G[s | {i, j}] += least + Fraction(1, 10**6)
    return SubmodularPair(pair.n, G, pair.H)


@submodular.control("one value of G changed by a little more than the least exchange")
def _(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    for name in TABLES:
        parts |= _textbook(name, _lowered(mutual_information(name)))
    return AllHold(parts)


def _with_one_value_changed(n: int, values: SetFunction) -> SetFunction:
    full = frozenset(range(n))
    return {**values, full: values[full] + 1}


@submodular.control("one value of F changed")
def _(run: Run) -> Finding:
    return AllHold(_agreement(_functions(run)[::4], _with_one_value_changed))


def _negated(n: int, values: SetFunction) -> SetFunction:
    return {s: -value for s, value in values.items()}


@submodular.control("exchange inequalities with the opposite sign")
def _(run: Run) -> Finding:
    return AllHold(_agreement(_functions(run)[::4], _negated))
