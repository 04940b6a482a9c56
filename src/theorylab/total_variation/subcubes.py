"""Exact distance of mixtures of Boolean subcubes, and counting the models of a DNF with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .mixtures import ProductMixture, require_same_space

_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Subcube:
    """A signed, weighted subcube of the n-cube.

    Parameters
    ----------
    coefficient : Fraction
        Weight under P, or minus the weight under Q.
    fixed : int
        Bit j is set if coordinate j is fixed.
    values : int
        The fixed bits; zero elsewhere.
    """

    coefficient: Fraction
    fixed: int
    values: int


def signed_subcubes(P: ProductMixture, Q: ProductMixture) -> list[Subcube]:
    """The distinct cubes of both mixtures with nonzero signed coefficients.

    Raises
    ------
    ValueError
        If a row is not a point mass or uniform on {0, 1}.
    """
    require_same_space(P, Q)
    merged: dict[tuple[int, int], Fraction] = {}
    for sign, mixture in ((1, P), (-1, Q)):
        for weight, rows in zip(mixture.weights, mixture.rows, strict=True):
            key = _cube(rows)
            merged[key] = merged.get(key, Fraction(0)) + sign * weight
    return [Subcube(c, fixed, values) for (fixed, values), c in merged.items() if c]


def _cube(rows: Sequence[Sequence[Fraction]]) -> tuple[int, int]:
    fixed = values = 0
    for j, row in enumerate(rows):
        if len(row) != 2 or row[1] not in (0, _HALF, 1):
            raise ValueError(
                f"coordinate {j} has the law {tuple(map(str, row))}; a subcube fixes a bit or "
                "leaves it uniform"
            )
        if row[1] != _HALF:
            fixed |= 1 << j
            values |= int(row[1]) << j
    return fixed, values


def intersection_sizes(cubes: Sequence[Subcube], n: int) -> list[int]:
    """Number of points in the intersection of every subset of the cubes.

    Parameters
    ----------
    cubes : sequence of Subcube
        K of them.
    n : int
        Dimension of the cube.

    Returns
    -------
    list of int
        Indexed by subsets as bit masks, of length 2**K; 0 or a power of two each.
    """
    meets: list[tuple[int, int] | None] = [(0, 0)]
    for cube in cubes:
        meets += [_meet(meet, cube) for meet in meets]
    return [0 if meet is None else 1 << (n - meet[0].bit_count()) for meet in meets]


def _meet(meet: tuple[int, int] | None, cube: Subcube) -> tuple[int, int] | None:
    if meet is None:
        return None
    fixed, values = meet
    if (values ^ cube.values) & fixed & cube.fixed:
        return None
    return fixed | cube.fixed, values | cube.values


def cell_sizes(intersections: Sequence[int]) -> list[int]:
    r"""Number of points that lie in exactly the cubes of every subset, by Möbius inversion.

    .. math:: N_T = \sum_{S \supseteq T} (-1)^{|S \setminus T|} M_S
    """
    cells = list(intersections)
    bit = 1
    while bit < len(cells):
        for T in range(len(cells)):
            if not T & bit:
                cells[T] -= cells[T | bit]
        bit *= 2
    return cells


def distance_from_cells(cells: Sequence[int], cubes: Sequence[Subcube], n: int) -> Fraction:
    r"""The distance :math:`\frac12 \sum_T N_T\,|\sum_{i\in T} c_i 2^{-f_i}|`.

    Parameters
    ----------
    cells : sequence of int
        :math:`N_T`, indexed by bit masks.
    cubes : sequence of Subcube
        With f free coordinates out of n each.
    n : int
    """
    scale = math.lcm(*(cube.coefficient.denominator for cube in cubes))
    densities = [0]
    for cube in cubes:
        density = int(cube.coefficient * scale) << cube.fixed.bit_count()
        densities += [other + density for other in densities]
    total = sum(size * abs(density) for size, density in zip(cells, densities, strict=True))
    return Fraction(total, scale << (n + 1))


def tv_subcubes(P: ProductMixture, Q: ProductMixture, max_cubes: int = 20) -> Fraction:
    r"""Exact total variation distance of two mixtures of Boolean subcubes.

    P(x) - Q(x) depends only on which of the K cubes contain x, so the distance is a sum over
    :math:`2^K` cells whose sizes are known exactly; :math:`O(2^K(K + n))` operations on integers
    of n bits.

    Parameters
    ----------
    P, Q : ProductMixture
        Every row a point mass or uniform on {0, 1}; see ``ProductMixture.from_subcubes``.
    max_cubes : int
        Largest number K of distinct cubes.

    Raises
    ------
    ValueError
        If a row is no subcube's, the spaces differ, or there are too many cubes.

    References
    ----------
    Feng, Fu, Yang and Zhang, arXiv:2605.03839 (existence of such an algorithm).
    """
    cubes = signed_subcubes(P, Q)
    if len(cubes) > max_cubes:
        raise ValueError(f"{len(cubes)} distinct cubes, more than max_cubes={max_cubes}")
    if not cubes:
        return Fraction(0)
    n = P.n_coordinates
    return distance_from_cells(cell_sizes(intersection_sizes(cubes, n)), cubes, n)


def dnf_pair(terms: Sequence[str]) -> tuple[ProductMixture, ProductMixture, Fraction]:
    r"""Two mixtures of subcubes whose distance tells the number of models of a DNF.

    P gives x the probability (number of terms that x satisfies)/C. With
    :math:`\beta = 2^n / C`, the pair is :math:`(P \otimes \delta_1, U \otimes
    \mathrm{Bern}(\beta))` if :math:`\beta \le 1`, else :math:`(P \otimes
    \mathrm{Bern}(1/\beta), U \otimes \delta_1)`.

    Parameters
    ----------
    terms : sequence of str
        Conjunctions as strings over 0 (negated), 1 (plain) and * (absent variable).

    Returns
    -------
    left, right : ProductMixture
    gamma : Fraction
        :math:`\min(1, 1/\beta)`: :math:`d_{TV} = 1 - \gamma + \gamma F(1/C)`.
    """
    if not terms or len({len(term) for term in terms}) != 1:
        raise ValueError("terms must be non-empty strings of equal length")
    n = len(terms[0])
    sizes = [2 ** term.count("*") for term in terms]
    weights = [Fraction(size, sum(sizes)) for size in sizes]
    beta = Fraction(2**n, sum(sizes))
    if beta <= 1:
        reference = ProductMixture.from_subcubes((1 - beta, beta), ["*" * n + b for b in "01"])
        return _with_bit(weights, terms, "1"), reference, Fraction(1)
    gamma = 1 / beta
    split = [weight * share for share in (1 - gamma, gamma) for weight in weights]
    doubled = [term + bit for bit in "01" for term in terms]
    reference = ProductMixture.from_subcubes((1,), ["*" * n + "1"])
    return ProductMixture.from_subcubes(split, doubled), reference, gamma


def _with_bit(weights: Sequence[Fraction], terms: Sequence[str], bit: str) -> ProductMixture:
    return ProductMixture.from_subcubes(weights, [term + bit for term in terms])


def dnf_excess(terms: Sequence[str]) -> Fraction:
    r""":math:`F(1/C) = \sum_x \max(0, P(x) - 1/C)` of a DNF, from one distance.

    Parameters are those of ``dnf_pair``.
    """
    left, right, gamma = dnf_pair(terms)
    return (tv_subcubes(left, right, max_cubes=24) - (1 - gamma)) / gamma
