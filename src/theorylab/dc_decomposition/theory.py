"""Predictions: counts and dimensions that the chapter compares with computed polyhedra."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, factorial


def arrangement_cells(planes: int, n: int, *, central: bool = False) -> int:
    r"""Number of cells of hyperplanes in general position (Zaslavsky).

    .. math:: \sum_{i\le n}\binom mi,\qquad\text{central: } 2\sum_{i<n}\binom{m-1}i
    """
    if central:
        return 2 * sum(comb(planes - 1, i) for i in range(n))
    return sum(comb(planes, i) for i in range(n + 1))


def braid_shape(n: int) -> tuple[int, int, int]:
    r"""Cells, walls and dimension of the weight space of the braid fan.

    .. math:: n!,\quad \tfrac{n-1}2\,n!,\quad 2^n-1-n

    The last one is the number of set functions with :math:`F(\emptyset)=0` modulo modular ones.
    """
    return factorial(n), factorial(n) * (n - 1) // 2, 2**n - 1 - n


def plane_fan_dimension(rays: int) -> int:
    """Dimension of the weight space of a complete plane fan: one vector equation."""
    return rays - 2


def order_statistic_pieces(n: int, k: int) -> int:
    r"""Pieces of the k-th largest of n numbers: :math:`n\binom{n-1}{k-1}`."""
    return n * comb(n - 1, k - 1)


def top_sum_pieces(n: int, k: int) -> int:
    r"""Pieces of the sum of the k largest of n numbers: :math:`\binom nk`."""
    return comb(n, k)


def acyclic_orientations(n: int, edges: Iterable[tuple[int, int]]) -> int:
    r"""Number of acyclic orientations of a graph, :math:`|\chi_G(-1)|` (Stanley).

    These are the regions of the hyperplanes :math:`x_i=x_j` over the edges ij.
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    polynomial = nx.chromatic_polynomial(graph)
    return abs(int(polynomial.subs(dict.fromkeys(polynomial.free_symbols, -1))))
