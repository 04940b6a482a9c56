r"""Triangulations without new vertices, full additivity, and flattening networks on four inputs.

The indicator of a triangulated polytope is a signed sum of those of its simplices, and so are
support functions:

.. math:: h_P = \sum_{\sigma\not\subset\partial P} (-1)^{\dim P-\dim\sigma}\, h_\sigma .

In dimension 4 every simplex has at most five vertices, so every :math:`h_\sigma` is a maximum of
five linear functions, which two hidden layers compute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from theorylab.exact import ReLUNet

from .hulls import convex_hull, lattice_coordinates
from .newton import newton_pair
from .polytopes import LatticePolytope, Point, dilate, minkowski

Simplex = frozenset[Point]
SignedSimplices = dict[Simplex, int]
Decompose = Callable[[LatticePolytope, np.random.Generator], SignedSimplices]


def triangulate(polytope: LatticePolytope, rng: np.random.Generator) -> list[Simplex]:
    """Cells of a regular triangulation that uses the vertices only.

    The vertices are lifted to random heights; the lower facets of the lifted hull are the cells.
    Heights are drawn anew until all of these are simplices.
    """
    vertices = list(polytope.vertices)
    flat = lattice_coordinates(vertices)
    dimension = len(flat[0])
    if len(vertices) == dimension + 1:
        return [frozenset(vertices)]
    spread = 1 + max(abs(x) for point in flat for x in point)
    while True:
        heights = rng.integers(0, 1000 * spread * len(vertices), len(vertices)).tolist()
        lifted = [(*point, height) for point, height in zip(flat, heights, strict=True)]
        cells = _lower_cells(lifted)
        if all(len(cell) == dimension + 1 for cell in cells):
            return [frozenset(vertices[i] for i in cell) for cell in cells]


def _lower_cells(lifted: list[Point]) -> list[list[int]]:
    """Indices of the points on each facet whose outer normal points down."""
    forms = [form for form in convex_hull(lifted).facets if form[-2] < 0]
    return [
        [
            i
            for i, point in enumerate(lifted)
            if sum(a * x for a, x in zip(form, point, strict=False)) + form[-1] == 0
        ]
        for form in forms
    ]


def interior_simplices(
    polytope: LatticePolytope, cells: list[Simplex], boundary: bool = False
) -> list[Simplex]:
    """All faces of the cells that do not lie in the boundary of the polytope.

    Parameters
    ----------
    boundary : bool
        Keep those in the boundary, too.
    """
    faces = {
        frozenset(face)
        for cell in cells
        for size in range(1, len(cell) + 1)
        for face in combinations(sorted(cell), size)
    }
    facets = [frozenset(facet.vertices) for facet in polytope.facets]
    return [face for face in faces if boundary or not any(face <= facet for facet in facets)]


def signed_simplices(polytope: LatticePolytope, rng: np.random.Generator) -> SignedSimplices:
    """Simplices on the vertices whose signed support functions add up to the polytope's."""
    simplices = interior_simplices(polytope, triangulate(polytope, rng))
    return {simplex: (-1) ** (polytope.dim + 1 - len(simplex)) for simplex in simplices}


def top_cells_only(polytope: LatticePolytope, rng: np.random.Generator) -> SignedSimplices:
    """The cells alone, without the simplices between them: not additive."""
    return dict.fromkeys(triangulate(polytope, rng), 1)


def is_signed_sum(polytope: LatticePolytope, simplices: SignedSimplices) -> bool:
    r"""Whether :math:`\sum_{c>0} c\,\sigma = P + \sum_{c<0} |c|\,\sigma`, as polytopes."""
    left, right = [], [polytope]
    for simplex, factor in simplices.items():
        side = left if factor > 0 else right
        side.append(dilate(LatticePolytope(sorted(simplex)), abs(factor)))
    return bool(left) and minkowski(*left) == minkowski(*right)


@dataclass(frozen=True)
class Flattened:
    """A network as a signed sum of maxima of at most five linear functions.

    Attributes
    ----------
    positive, negative : LatticePolytope
        f = h_positive - h_negative.
    simplices : dict of simplex to int
        f is their signed sum.
    """

    positive: LatticePolytope
    negative: LatticePolytope
    simplices: SignedSimplices

    def __call__(self, x: list[Fraction]) -> Fraction:
        """Value at a point, from the simplices."""
        return sum(
            (
                c
                * max(sum((a * b for a, b in zip(x, v, strict=True)), Fraction(0)) for v in simplex)
                for simplex, c in self.simplices.items()
            ),
            Fraction(0),
        )

    @property
    def size(self) -> int:
        """Largest number of linear functions in one maximum."""
        return max((len(simplex) for simplex in self.simplices), default=0)


def flatten4(
    network: ReLUNet, rng: np.random.Generator, parts: Decompose = signed_simplices
) -> Flattened:
    r"""Any homogeneous integer network on at most four inputs with two hidden layers.

    :math:`f=h_A-h_B`; both polytopes are triangulated, and each simplex is a maximum of at most
    five linear functions, for which ``max5_network`` has two hidden layers, weights in halves.

    Parameters
    ----------
    network : ReLUNet
        Integer weights, no biases, at most four inputs; any depth.
    rng : Generator
        For the triangulations.
    parts : function
        Writes a polytope as signed simplices; another one than the default need not be additive.

    Raises
    ------
    ValueError
        If there are more than four inputs, biases, or weights that are no integers.
    """
    if network.n > 4:
        raise ValueError(f"a simplex must have at most 5 vertices; {network.n} inputs are over 4")
    A, B = newton_pair(network)
    total: Counter[Simplex] = Counter()
    total.update(parts(A, rng))
    total.subtract(parts(B, rng))
    return Flattened(A, B, {simplex: c for simplex, c in total.items() if c})
