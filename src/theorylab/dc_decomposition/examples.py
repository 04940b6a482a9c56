"""Functions and complexes that the chapter returns to, and random ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import gcd
from typing import TYPE_CHECKING

from .complexes import ArrangementComplex, BraidComplex, Complex, PlaneFan
from .functions import CPWL, AffineMap, Term, integrate
from .polyhedron import DecompositionPolyhedron

if TYPE_CHECKING:
    import numpy as np

IntForm = tuple[int, ...]
STAR = ((1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1))
"""Rays of the fan of the lines x=0, y=0, x=y."""

TRIANGLE_POINTS = {"A": (4, 0), "B": (0, 4), "C": (0, 0), "a": (2, 1), "b": (1, 2), "c": (1, 1)}
_OUTWARD = {"A": (2, -1), "B": (-1, 2), "C": (-1, -1)}


def linear(form: IntForm) -> AffineMap:
    """The linear map with integer coefficients ``form``."""
    return tuple(map(Fraction, form)), Fraction(0)


def phi_terms(u: IntForm, v: IntForm, factor: int = 1) -> list[Term]:
    r"""Terms of :math:`\varphi(u,v)=2\max(0,u,v)-\max(0,u)-\max(0,v)`, times ``factor``."""
    zero, a, b = linear((0,) * len(u)), linear(u), linear(v)
    return [(2 * factor, [zero, a, b]), (-factor, [zero, a]), (-factor, [zero, b])]


def standard_example() -> tuple[PlaneFan, CPWL]:
    r"""The function :math:`\varphi(x,y)` on the fan with rays ``STAR``."""
    fan = Complex.from_fan2d(STAR)
    return fan, CPWL.from_terms(fan, phi_terms((1, 0), (0, 1)))


def median_of_three() -> tuple[ArrangementComplex, CPWL]:
    """The median of 0, x1, x2 on the three lines where two of them tie."""
    lines = Complex.from_arrangement([((1, 0), 0), ((0, 1), 0), ((1, -1), 0)])
    two_largest = [linear((1, 0)), linear((0, 1)), linear((1, 1))]
    largest = [linear((0, 0)), linear((1, 0)), linear((0, 1))]
    return lines, CPWL.from_terms(lines, [(1, two_largest), (-1, largest)])


SIX_PLANES = ((0, 1, 0), (1, 1, 1), (1, 2, 1), (1, 0, 0), (0, 0, 1), (1, 0, -1))


def six_planes() -> tuple[ArrangementComplex, CPWL]:
    r"""The function :math:`\varphi(-y,x+y+z)-\varphi(-x,-z)` on its six planes in 3-space."""
    planes = Complex.from_arrangement([(normal, 0) for normal in SIX_PLANES])
    terms = phi_terms((0, -1, 0), (1, 1, 1)) + phi_terms((-1, 0, 0), (0, 0, -1), -1)
    return planes, CPWL.from_terms(planes, terms)


def five_planes() -> ArrangementComplex:
    """Central planes x, y, x+y, z, x+z: two triple lines, 18 cells, weights of dimension 7."""
    normals = [(1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1)]
    return Complex.from_arrangement([(normal, 0) for normal in normals])


def twisted_triangles(diagonal: str = "Ab") -> Complex:
    """An irregular complex: a triangle twisted inside another one.

    Parameters
    ----------
    diagonal : {"Ab", "aB"}
        How the quadrilateral A, B, b, a is cut; ``"aB"`` undoes the twist.

    Raises
    ------
    ValueError
        For another diagonal.
    """
    cuts = {"Ab": ("Aab", "AbB"), "aB": ("ABa", "aBb")}
    if diagonal not in cuts:
        raise ValueError(f"diagonal must be 'Ab' or 'aB', got {diagonal!r}")
    triangles = ("abc", *cuts[diagonal], "Bbc", "BcC", "Cca", "CaA")
    cells = [_triangle(name) for name in triangles]
    cells += [_outer_cell(p, q, r) for p, q, r in ("ABC", "BCA", "CAB")]
    return Complex.from_cells(2, cells)


def _half_plane(p: IntForm, direction: IntForm, inside: IntForm) -> tuple[IntForm, int]:
    """The side of the line through p that contains the point ``inside``."""
    normal = (-direction[1], direction[0])
    constant = -(normal[0] * p[0] + normal[1] * p[1])
    if normal[0] * inside[0] + normal[1] * inside[1] + constant > 0:
        return normal, constant
    return (-normal[0], -normal[1]), -constant


def _towards(p: IntForm, q: IntForm) -> IntForm:
    return q[0] - p[0], q[1] - p[1]


def _triangle(name: str) -> list[tuple[IntForm, int]]:
    p, q, r = (TRIANGLE_POINTS[letter] for letter in name)
    return [
        _half_plane(p, _towards(p, q), r),
        _half_plane(q, _towards(q, r), p),
        _half_plane(r, _towards(r, p), q),
    ]


def _outer_cell(p: str, q: str, opposite: str) -> list[tuple[IntForm, int]]:
    """The unbounded cell beyond the edge pq."""
    a, b, c = (TRIANGLE_POINTS[letter] for letter in (p, q, opposite))
    beyond = a[0] + b[0] - c[0], a[1] + b[1] - c[1]
    return [
        _half_plane(a, _towards(a, b), beyond),
        _half_plane(a, _OUTWARD[p], b),
        _half_plane(b, _OUTWARD[q], a),
    ]


def order_statistic(n: int, k: int, complex: BraidComplex | None = None) -> CPWL:
    """The k-th largest of n numbers, on the braid fan."""
    return CPWL.from_set_function(n, cardinality_function(n, _step(n, k)), complex=complex)


def top_sum(n: int, k: int, complex: BraidComplex | None = None) -> CPWL:
    """The sum of the k largest of n numbers, on the braid fan."""
    values = [min(size, k) for size in range(n + 1)]
    return CPWL.from_set_function(n, cardinality_function(n, values), complex=complex)


def _step(n: int, k: int) -> list[int]:
    if not 1 <= k <= n:
        raise ValueError(f"the k-th largest of n numbers needs 1 <= k <= n, got k={k}, n={n}")
    return [int(size >= k) for size in range(n + 1)]


def cardinality_function(n: int, values: list[int]) -> dict[frozenset[int], int]:
    """The set function whose value depends on the size of the set only."""
    return {frozenset(s): values[k] for k in range(n + 1) for s in combinations(range(n), k)}


def moment_arrangement(planes: int, n: int) -> ArrangementComplex:
    r"""Hyperplanes in general position: :math:`x_1+tx_2+\dots+t^{n-1}x_n=t^n`, t = 1, 2, ..."""
    return Complex.from_arrangement(
        [(tuple(t**k for k in range(n)), t**n) for t in range(1, planes + 1)]
    )


def random_fan(rng: np.random.Generator, rays: int, size: int = 6) -> PlaneFan:
    """A complete fan in the plane with this many distinct primitive rays."""
    while True:
        found: set[IntForm] = set()
        while len(found) < rays:
            x, y = (int(entry) for entry in rng.integers(-size, size + 1, 2))
            if (x, y) != (0, 0):
                found.add((x // gcd(x, y), y // gcd(x, y)))
        try:
            return Complex.from_fan2d(sorted(found))
        except ValueError:
            continue


def random_arrangement(
    rng: np.random.Generator, planes: int, n: int, *, central: bool = False, size: int = 5
) -> ArrangementComplex:
    """An arrangement of distinct hyperplanes with small integer coefficients."""
    chosen: list[tuple[IntForm, int]] = []
    while True:
        normal = tuple(int(entry) for entry in rng.integers(-size, size + 1, n))
        if any(normal):
            chosen.append((normal, 0 if central else int(rng.integers(-size, size + 1))))
        if len(chosen) < planes:
            continue
        try:
            return Complex.from_arrangement(chosen)
        except ValueError:
            chosen.clear()


def random_function(complex: Complex, rng: np.random.Generator, size: int = 3) -> CPWL:
    """A function with a random integer combination of the balanced basis weights."""
    space = complex.weight_space
    factors = [int(c) for c in rng.integers(-size, size + 1, space.dim)]
    return integrate(complex, space.weights_at(factors))


def random_convex(complex: Complex, rng: np.random.Generator, size: int = 2) -> CPWL:
    """A random combination with small non-negative integers of the extreme convex functions."""
    rays = DecompositionPolyhedron(complex, integrate(complex, [0] * len(complex.walls))).rays()
    factors = [int(c) for c in rng.integers(0, size + 1, len(rays))]
    total = [
        sum((c * w for c, w in zip(factors, column, strict=True)), Fraction(0))
        for column in zip(*(ray.weights for ray in rays), strict=True)
    ]
    return integrate(complex, total or [0] * len(complex.walls))


def random_set_function(
    rng: np.random.Generator, n: int, size: int = 3
) -> dict[frozenset[int], int]:
    """Integer values in [-size, size] on all subsets, 0 on the empty one."""
    subsets = [frozenset(s) for k in range(1, n + 1) for s in combinations(range(n), k)]
    values = rng.integers(-size, size + 1, len(subsets))
    return {frozenset(): 0, **{s: int(v) for s, v in zip(subsets, values, strict=True)}}
