r"""An open question, with evidence only: how many pieces must a decomposition have?

Is there a polynomial p with a decomposition of at most :math:`p(n,q)` pieces in both parts for
every piecewise linear function of n variables with q pieces? No finite computation decides it.
The table lists least totals found on the chapter's functions, each over one complex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import counterexamples
from .complexes import Complex
from .data import TABLES, mutual_information, tariff, two_moons_nets
from .examples import median_of_three, order_statistic, standard_example
from .functions import CPWL
from .polyhedron import decompose
from .submodular import difference


@dataclass(frozen=True)
class OpenSizeRow:
    """Evidence from one function; no verdict.

    Attributes
    ----------
    name : str
    n : int
        Number of variables.
    pieces, components : int
        Connected regions and distinct affine maps of the function.
    least_total : int
        Least number of pieces of both parts together, over the vertices on this complex.
    """

    name: str
    n: int
    pieces: int
    components: int
    least_total: int


def open_size_table() -> list[OpenSizeRow]:
    """Return the least totals found, one row per function."""
    return [_row(name, f) for name, f in _functions()]


def _row(name: str, f: CPWL) -> OpenSizeRow:
    least = min(sum(vertex.counts) for vertex in decompose(f.complex, f))
    return OpenSizeRow(name, f.complex.n, f.pieces(), f.affine_components(), least)


def _functions() -> Iterator[tuple[str, CPWL]]:
    yield "median of 0, x, y", median_of_three()[1]
    yield "phi", standard_example()[1]
    yield "phi with a third term", counterexamples.three_terms()[1]
    yield "phi plus a modulus", counterexamples.prism()[1]
    yield "two crossing stars", counterexamples.crossing_stars()[1]
    yield "two centres", counterexamples.two_centres()[1]
    yield "difference of stars in 4-space", counterexamples.product_of_stars(-1)[1]
    yield "sum of stars in 4-space", counterexamples.product_of_stars(1)[1]
    for n in (3, 4, 5):
        yield f"middle of {n} numbers", order_statistic(n, (n + 1) // 2)
    fan = Complex.braid(4)
    for table in TABLES:
        values = difference(mutual_information(table))
        yield f"mutual information, {table}", CPWL.from_set_function(4, values, complex=fan)
    yield "electricity tariff", tariff()[1]
    for trained in two_moons_nets():
        shape = "-".join(map(str, trained.hidden))
        yield f"trained net {shape}, seed {trained.seed}", Complex.from_network(trained.net)[1]
