"""Claims on volumes of lattice polytopes modulo a prime."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product
from math import comb, factorial

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, Equal, Finding
from theorylab.run import Run

from ..ansatz import templates
from ..polytopes import (
    LatticePolytope,
    dilate,
    hull_union,
    minkowski,
    mixed_volume,
    normalized_volume,
    unit_simplex,
)
from ..samples import (
    block_polytope,
    random_points,
    random_polytope,
    random_zonotope,
    unimodular_embedding,
)
from ..su import su_random
from ..theory import binomial_gcd, join_divisor, join_divisor_by_faces, prime_power

PAPER = "averkov2025expressiveness"
DERIVED = Source("theorylab", "derived in the chapter")
Volume = Callable[[LatticePolytope, int], int | Fraction]
Pairs = list[tuple[LatticePolytope, LatticePolytope]]


def _euclidean(polytope: LatticePolytope, d: int) -> Fraction:
    return Fraction(normalized_volume(polytope, d), factorial(d))


def _pairs(run: Run, d: int, count: int) -> Pairs:
    rng = run.rng(f"pairs in dimension {d}")
    return [(random_polytope(rng, d), random_polytope(rng, d)) for _ in range(count)]


def _mixed(A: LatticePolytope, B: LatticePolytope, i: int, volume: Volume) -> Fraction:
    """The mixed volume of i copies of A and n - i of B, in the unit of ``volume``."""
    n = A.ambient_dim
    unit = Fraction(volume(unit_simplex(n), n))
    return unit * mixed_volume([A] * i + [B] * (n - i))


def _binomial_formula(run: Run, volume: Volume, add: Callable = minkowski) -> Finding:
    """Volumes of A + tB beside the polynomial of mixed volumes, and whether these are integers."""
    measured, predicted, mixed = [], [], []
    for d in (2, 3):
        for A, B in _pairs(run, d, run.pick(ci=10, paper=30)):
            coefficients = [_mixed(A, B, i, volume) for i in range(d + 1)]
            mixed += coefficients
            for t in (0, 1, 2):
                measured.append(Fraction(volume(add(A, dilate(B, t)), d)))
                terms = (comb(d, i) * c * t ** (d - i) for i, c in enumerate(coefficients))
                predicted.append(sum(terms, Fraction(0)))
    return AllHold(
        {
            "polynomial in t": Equal(measured, predicted),
            "mixed volumes are integers": Equal(sum(v.denominator > 1 for v in mixed), 0),
            "mixed volumes are not negative": Equal(sum(v < 0 for v in mixed), 0),
            "the drawn example": Equal(_example(volume), (6, 1, 15, 4)),
        }
    )


def _example(volume: Volume) -> tuple[Fraction, ...]:
    rectangle = LatticePolytope(list(product((2, 5), (0, 1))))
    triangle = unit_simplex(2).translated((0, 2))
    volumes = [volume(P, 2) for P in (rectangle, triangle, minkowski(rectangle, triangle))]
    return (*map(Fraction, volumes), _mixed(rectangle, triangle, 1, volume))


@claim(
    "relu_depth.mixed-binomial",
    statement=r"""For lattice polytopes $A, B \subset \mathbb R^n$, $\mathrm{Vol}_n(A+B) = \sum_i
\binom ni \mathsf V(A[i], B[n-i])$, and every mixed volume is a non-negative integer when volumes
are normalised so that the unit simplex has volume 1.""",
    source=Source(PAPER, "Theorem 5, equation (1), Example 12"),
    evidence="exact",
)
def mixed_binomial(run: Run) -> Finding:
    return _binomial_formula(run, normalized_volume)


@mixed_binomial.control("Euclidean volume in place of the normalised one")
def _(run: Run) -> Finding:
    return _binomial_formula(run, _euclidean)


@mixed_binomial.control("hull of the union in place of the Minkowski sum")
def _(run: Run) -> Finding:
    return _binomial_formula(run, normalized_volume, hull_union)


def _additivity_defects(run: Run, d: int, p: int, count: int) -> int:
    """Pairs whose volumes do not add up modulo p."""
    return sum(
        (normalized_volume(minkowski(A, B), d) - normalized_volume(A, d) - normalized_volume(B, d))
        % p
        != 0
        for A, B in _pairs(run, d, count)
    )


def _complementary_simplices(d: int, i: int) -> int:
    """Volume of the sum of two simplices in complementary coordinates; each has volume 0."""
    zero, units = [0] * d, [[int(a == b) for b in range(d)] for a in range(d)]
    return normalized_volume(
        minkowski(LatticePolytope([zero, *units[:i]]), LatticePolytope([zero, *units[i:]])), d
    )


def _additive(run: Run, cases: Iterable[tuple[int, int, int]]) -> Finding:
    found = [_additivity_defects(run, d, p, count) for p, d, count in cases]
    return Equal(found, [0] * len(found))


@claim(
    "relu_depth.additive-mod-p",
    statement=r"""In dimension $d = p^t$, $p$ prime, the normalised volume of lattice polytopes is
Minkowski-additive modulo $p$; for no other pair of dimension and modulus is it, since simplices
in complementary coordinates have volume 0 and their sum has volume $\binom di$, and
$\gcd_{0<i<d}\binom di$ is $p$ if $d$ is a power of $p$ and 1 otherwise.""",
    source=Source(PAPER, "Proposition 11"),
    evidence="exact",
    uses=["relu_depth.mixed-binomial"],
)
def additive_mod_p(run: Run) -> Finding:
    cases = [(2, 2, 200), (3, 3, 100), (2, 4, 60), (5, 5, run.pick(ci=8, paper=40))]
    most = run.pick(ci=120, paper=300)
    expected = [power[0] if (power := prime_power(d)) else 1 for d in range(2, most)]
    return AllHold(
        {
            "defects": _additive(run, cases),
            "gcd of binomials": Equal([binomial_gcd(d) for d in range(2, most)], expected),
            "sharp examples": Equal(
                [_complementary_simplices(d, i) for d in (2, 3, 4, 5) for i in range(1, d)],
                [comb(d, i) for d in (2, 3, 4, 5) for i in range(1, d)],
            ),
        }
    )


@additive_mod_p.control("dimension 3 modulo 2")
def _(run: Run) -> Finding:
    return _additive(run, [(2, 3, 30)])


@additive_mod_p.control("dimension 2 modulo 3")
def _(run: Run) -> Finding:
    return _additive(run, [(3, 2, 30)])


@additive_mod_p.control("modulo 4 in dimension 4")
def _(run: Run) -> Finding:
    return _additive(run, [(4, 4, 12)])


SKEW = ((0, 2), (1, 1), (1, 2), (2, 2), (2, 3))


def _skew_pair(rng: np.random.Generator, i: int, j: int) -> tuple[LatticePolytope, LatticePolytope]:
    """Polytopes of dimensions i and j whose hull has dimension i + j + 1."""
    while True:
        A = LatticePolytope(random_points(rng, i + 1, i + j + 1, 2))
        B = LatticePolytope(random_points(rng, j + 1, i + j + 1, 2))
        if (A.dim, B.dim, hull_union(A, B).dim) == (i, j, i + j + 1):
            return A, B


def _join_remainders(pairs: Pairs) -> Equal:
    rests = [hull_union(A, B).volume() % (A.volume() * B.volume()) for A, B in pairs]
    return Equal(sum(rest > 0 for rest in rests), 0, sizes={"joins": len(pairs)})


def _skew_pairs(run: Run) -> Pairs:
    rng, count = run.rng("skew pairs"), run.pick(ci=20, paper=40)
    return [_skew_pair(rng, i, j) for i, j in SKEW for _ in range(count)]


@claim(
    "relu_depth.join-divides",
    statement=r"""If lattice polytopes $A$, $B$ of dimensions $i$, $j$ are skew, that is, if $P =
\mathrm{conv}(A\cup B)$ has dimension $i+j+1$, then $\mathrm{Vol}_i(A)\,\mathrm{Vol}_j(B)$ divides
$\mathrm{Vol}_{i+j+1}(P)$, each volume in the lattice of its own affine hull.""",
    source=Source(PAPER, "Proposition 7; indices of the conclusion corrected"),
    evidence="exact",
)
def join_divides(run: Run) -> Finding:
    pairs, rng = _skew_pairs(run), run.rng("embedding")
    embedded = []
    for A, B in pairs[:: len(SKEW)]:
        both = hull_union(A, B)
        turned = unimodular_embedding(rng, both, 8)
        embedded.append((both.volume(), turned.volume()))
    base = LatticePolytope([(*corner, 0) for corner in product((2, 5), (0, 1))])
    pyramid = hull_union(base, LatticePolytope([(2, 0, 2)]))
    return AllHold(
        {
            "remainders": _join_remainders(pairs),
            "the drawn pyramid": Equal((base.volume(), pyramid.volume()), (6, 12)),
            "in any lattice basis": Equal([b for _, b in embedded], [a for a, _ in embedded]),
        }
    )


@join_divides.control("parallel segments, which are not skew")
def _(run: Run) -> Finding:
    return _join_remainders(
        [(LatticePolytope([(0, 0), (2, 0)]), LatticePolytope([(0, 1), (3, 1)]))]
    )


def _zonotope_joins(run: Run, d: int, modulus: int, count: int) -> Finding:
    """Volumes of hulls of two lattice zonotopes that the modulus does not divide."""
    rng, bad = run.rng(f"zonotopes in dimension {d}"), 0
    for _ in range(count):
        A, B = (random_zonotope(rng, d, (d + 1) // 2 + 1) for _ in range(2))
        bad += normalized_volume(hull_union(A, B), d) % modulus != 0
    return Equal(bad, 0, sizes={"joins": count})


def _face_divisors(run: Run) -> Finding:
    """If m divides all s-faces it divides the volume: dilated polytopes and zonotopes."""
    rng, bad = run.rng("faces"), 0
    for _ in range(run.pick(ci=6, paper=40)):
        polytope = random_zonotope(rng, 4, 5)
        faces = np.gcd.reduce([face.volume() for face in polytope.faces(2)])
        bad += polytope.volume() % int(faces) != 0
    return Equal(bad, 0)


@claim(
    "relu_depth.union-mod-p",
    statement=r"""Let $d = p^t$ and let every $p^{t-1}$-face of the lattice polytopes $A$ and $B$
have a volume divisible by $p$. Then $p$ divides $\mathrm{Vol}_d(\mathrm{conv}(A\cup B))$. For
lattice zonotopes more is true in every dimension: the volume is divisible by $\gcd_{i+j=d-1}
i!\,j! = d!/\mathrm{lcm}(1,\dots,d)$.""",
    source=Source(PAPER, "Propositions 13, 19, 20; the divisor is derived in the chapter"),
    evidence="exact",
    uses=["relu_depth.join-divides"],
)
def union_mod_p(run: Run) -> Finding:
    count = run.pick(ci=12, paper=60)
    return AllHold(
        {
            "dimension 4, modulus 2": _zonotope_joins(run, 4, 2, count),
            "dimension 5, modulus 2": _zonotope_joins(run, 5, join_divisor(5), 6),
            "dimension 6, modulus 12": _zonotope_joins(run, 6, join_divisor(6), 2),
            **{
                f"dimension {d}, modulus {join_divisor(d)}": _zonotope_joins(
                    run, d, join_divisor(d), 12
                )
                for d in run.pick(ci=(), paper=(8, 9))
            },
            "faces pass their divisor on": _face_divisors(run),
            "two formulas for the divisor": Equal(
                [join_divisor(d) for d in range(1, 21)],
                [join_divisor_by_faces(d) for d in range(1, 21)],
            ),
            "its first values": Equal(
                [join_divisor(d) for d in range(1, 11)], [1, 1, 1, 2, 2, 12, 12, 48, 144, 1440]
            ),
        }
    )


@union_mod_p.control("hypothesis dropped: a unimodular triangle and a skew segment")
def _(run: Run) -> Finding:
    triangle = LatticePolytope([(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0)])
    segment = LatticePolytope([(0, 0, 1, 0), (0, 0, 0, 1)])
    return Equal(normalized_volume(hull_union(triangle, segment), 4) % 2, 0)


@union_mod_p.control("modulus 4 in dimension 4")
def _(run: Run) -> Finding:
    return _zonotope_joins(run, 4, 4, run.pick(ci=12, paper=60))


def _odd_faces(polytopes: Iterable[LatticePolytope], d: int, modulus: int) -> Equal:
    """d-faces whose volume the modulus does not divide."""
    volumes = [face.volume() for P in polytopes if P.dim >= d for face in P.faces(d)]
    bad = sum(volume % modulus != 0 for volume in volumes)
    return Equal(bad, 0, sizes={"faces": len(volumes)})


def _random_su(run: Run, k: int, n: int, count: int) -> list[LatticePolytope]:
    rng = run.rng(f"SU{k} in dimension {n}")
    return [su_random(k, n, rng, terms=2).polytope for _ in range(count)]


def _all_blocks(n: int, k: int = 2) -> list[LatticePolytope]:
    return [block_polytope(template, n) for template in templates(n, k)]


@claim(
    "relu_depth.su-k-divisible",
    statement=r"""Let $P \subset \mathbb R^n$ be a polytope that $k$ hidden layers with integer
weights make ($P \in \mathrm{SU}^k$), $p$ a prime and $p^k \le n$. Then $p$ divides the normalised
volume of every $p^k$-dimensional face of $P$.""",
    source=Source(PAPER, "Lemma 10, Theorem 14"),
    evidence="exact",
    uses=["relu_depth.additive-mod-p", "relu_depth.union-mod-p"],
)
def su_k_divisible(run: Run) -> Finding:
    five, six = _all_blocks(5), _all_blocks(6)
    wide = [P.volume() for P in five if P.dim == 4]
    return AllHold(
        {
            "2-faces, one layer, p = 2": _odd_faces(_random_su(run, 1, 3, 12), 2, 2),
            "3-faces, one layer, p = 3": _odd_faces(_random_su(run, 1, 4, 12), 3, 3),
            "4-faces, two layers, p = 2": _odd_faces(_random_su(run, 2, 4, 8), 4, 2),
            "all 131 blocks on five numbers": _odd_faces(five, 4, 2),
            "all 144 blocks on six numbers": _odd_faces(six, 4, 2),
            "volumes that occur": Equal((len(wide), sorted(set(wide))), (19, [2, 4, 6, 8])),
            **{
                f"all blocks of 3 pairs on {n} numbers": _odd_faces(_all_blocks(n, 3), 4, 2)
                for n in run.pick(ci=(), paper=(7,))
            },
        }
    )


@su_k_divisible.control("3-faces in place of 4-faces")
def _(run: Run) -> Finding:
    return _odd_faces(_all_blocks(5), 3, 2)


@su_k_divisible.control("three hidden layers in place of two")
def _(run: Run) -> Finding:
    return _odd_faces(_random_su(run, 3, 4, run.pick(ci=12, paper=40)), 4, 2)


@su_k_divisible.control("modulus 4 in place of 2")
def _(run: Run) -> Finding:
    return _odd_faces(_all_blocks(5), 4, 4)
