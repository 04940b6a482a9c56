r"""A maximum of many affine maps as a signed sum of maxima over simplices.

The gradients ``a_i`` are lifted to height ``b_i``; the upper hull of the lifted points projects to
a regular triangulation of the gradients, and :math:`f=\max_i(\langle a_i,x\rangle+b_i)` is an
alternating sum over its interior simplices. A second route, which knows no triangulation, removes
affinely dependent points one at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from theorylab.exact import (
    Polyhedron,
    Scalar,
    Vector,
    null_space,
    primitive,
    rank,
    rational,
    rational_vector,
)

Affine = tuple[Vector, Fraction]
AffineLike = tuple[Sequence[Scalar], Scalar]
Simplex = frozenset[int]


def rational_maps(affines: Iterable[AffineLike], n: int) -> list[Affine]:
    """Return the affine maps ``(a, b)``, read as ``a.x + b``, with rational entries.

    Raises
    ------
    ValueError
        If there is no map, or a gradient does not have ``n`` entries.
    TypeError
        For floats.
    """
    maps = [(rational_vector(a, n, "gradient"), rational(b, "intercept")) for a, b in affines]
    if not maps:
        raise ValueError("a maximum needs at least one affine map, got none")
    return maps


def epigraph(maps: Sequence[Affine]) -> Polyhedron:
    """Return the set of ``(x, t)`` with ``t >= a.x + b`` for all maps."""
    forms = [((*(-entry for entry in a), Fraction(1)), -b) for a, b in maps]
    return Polyhedron.from_inequalities(len(maps[0][0]) + 1, forms)


def essential_maps(affines: Iterable[AffineLike], n: int) -> list[int]:
    """Return the indices of the maps that are the strict maximum somewhere.

    Of equal maps the first counts. These are the facets of the epigraph.
    """
    maps = rational_maps(affines, n)
    first: dict[Affine, int] = {}
    for index, affine in enumerate(maps):
        first.setdefault(affine, index)
    facets = {primitive((*a, b))[0] for a, b in epigraph(list(first)).inequalities}
    rows = {index: ((*(-entry for entry in a), 1, -b)) for (a, b), index in first.items()}
    return sorted(index for index, row in rows.items() if primitive(row)[0] in facets)


def check_essential(affines: Iterable[AffineLike], n: int) -> list[Affine]:
    """Return the maps as rationals.

    Raises
    ------
    ValueError
        If some map is nowhere the strict maximum; the message names the indices.
    """
    maps = rational_maps(affines, n)
    redundant = sorted(set(range(len(maps))) - set(essential_maps(maps, n)))
    if redundant:
        raise ValueError(
            f"the maps with indices {redundant} are nowhere the strict maximum; drop them first "
            "(essential_maps gives the indices to keep)"
        )
    return maps


def _affine_rank(points: Sequence[Vector]) -> int:
    return rank([(1, *point) for point in points])


def _tight(forms: Iterable[tuple[Sequence[int], int]], points: Sequence[Vector]) -> list[Simplex]:
    """For each form ``a.x + b`` the indices of the points where it vanishes."""
    return [
        frozenset(
            index
            for index, point in enumerate(points)
            if sum((x * y for x, y in zip(a, point, strict=True)), Fraction(b)) == 0
        )
        for a, b in forms
    ]


def _facets(points: Sequence[Vector]) -> list[Simplex]:
    """Index sets of the facets of the convex hull."""
    return _tight(Polyhedron.from_generators(len(points[0]), points).inequalities, points)


def _pull(cell: Simplex, points: Sequence[Vector]) -> Iterator[Simplex]:
    """Triangulate the cell by pulling its first vertex, and so on in its faces.

    The order is the same in all cells, so common faces are cut alike.
    """
    order = sorted(cell)
    own = [points[index] for index in order]
    if _affine_rank(own) == len(own):
        yield cell
        return
    for facet in _facets(own):
        if 0 not in facet:
            for simplex in _pull(frozenset(order[index] for index in facet), points):
                yield simplex | {order[0]}


def upper_triangulation(affines: Iterable[AffineLike], n: int) -> list[Simplex]:
    """Return the maximal simplices of the regular triangulation of the gradients.

    The maps with indices in one simplex meet at a vertex of the epigraph. Where more maps meet
    than a simplex holds, the cell is triangulated by pulling in the order of the indices.

    Parameters
    ----------
    affines : sequence of (vector, scalar)
        Maps ``a.x + b``, each of them the strict maximum somewhere.
    n : int
        Length of the gradients.

    Raises
    ------
    ValueError
        If a map is redundant.
    """
    maps = check_essential(affines, n)
    gradients = [a for a, _ in maps]
    simplices = []
    for *x, height in epigraph(maps).points:
        values = [sum((s * t for s, t in zip(a, x, strict=True)), b) for a, b in maps]
        cell = frozenset(index for index, value in enumerate(values) if value == height)
        simplices += _pull(cell, gradients)
    return sorted(simplices, key=sorted)


def signed_simplices(affines: Iterable[AffineLike], n: int) -> dict[Simplex, int]:
    r"""Write a maximum of affine maps as a signed sum of maxima over interior simplices.

    .. math:: \max_i \ell_i=\sum_{\sigma}(-1)^{m-\dim\sigma}\max_{i\in\sigma}\ell_i,

    over the simplices of ``upper_triangulation`` that do not lie in the boundary of the convex
    hull of the gradients, whose dimension is :math:`m\le n`.

    Parameters
    ----------
    affines : sequence of (vector, scalar)
        Maps ``a.x + b``, each of them the strict maximum somewhere.
    n : int
        Length of the gradients.

    Returns
    -------
    dict of frozenset of int to int
        Index sets with coefficient +1 or -1, at most n+1 indices each.

    Raises
    ------
    ValueError
        If a map is redundant.
    TypeError
        For floats.
    """
    maps = rational_maps(affines, n)
    simplices = upper_triangulation(maps, n)
    gradients = [a for a, _ in maps]
    walls = _facets(gradients)
    top = len(simplices[0])
    faces = {
        frozenset(face)
        for simplex in simplices
        for size in range(1, top + 1)
        for face in combinations(sorted(simplex), size)
    }
    interior = [face for face in faces if not any(face <= wall for wall in walls)]
    return {face: (-1) ** (top - len(face)) for face in sorted(interior, key=sorted)}


def _dependence(order: Sequence[int], maps: Sequence[Affine]) -> Simplex | None:
    r"""Return the indices that may leave the maximum, None if the gradients are independent.

    With :math:`\sum\lambda_i a_i=0`, :math:`\sum\lambda_i=0` and :math:`\sum\lambda_i b_i\ge0` they
    are those with :math:`\lambda_i<0`. A tie is broken as if the first maps were lifted a little.
    """
    columns = [(1, *maps[index][0]) for index in order]
    rows = [tuple(column[k] for column in columns) for k in range(len(columns[0]))]
    found = null_space(rows, len(order))
    if not found:
        return None
    (weights,) = found
    height = sum((w * maps[index][1] for w, index in zip(weights, order, strict=True)), Fraction(0))
    leading = next(w for w in weights if w)
    sign = 1 if (height, leading) > (0, 0) else -1
    return frozenset(index for w, index in zip(weights, order, strict=True) if sign * w < 0)


def _without_dependence(
    simplex: Simplex, index: int, maps: Sequence[Affine]
) -> Iterator[tuple[Simplex, int]]:
    """Terms that replace the maximum over the simplex and one more map."""
    joined = simplex | {index}
    leaving = _dependence(sorted(joined), maps)
    if leaving is None:
        yield joined, 1
        return
    for size in range(len(leaving)):
        for kept in combinations(sorted(leaving), size):
            yield (joined - leaving) | frozenset(kept), (-1) ** (len(leaving) - size + 1)


def dependence_recursion(affines: Iterable[AffineLike], n: int) -> dict[Simplex, int]:
    r"""Reduce a maximum to maxima over affinely independent gradients, by algebra alone.

    If :math:`\sum\lambda_ia_i=0`, :math:`\sum\lambda_i=0`, :math:`\sum\lambda_ib_i\ge0` and
    :math:`I=\{i:\lambda_i<0\}`, then
    :math:`\max_{S\setminus I}\ell\ge\min_I\ell` everywhere and hence

    .. math:: \max_S=\sum_{T\subsetneq I}(-1)^{|I|-|T|+1}\max_{(S\setminus I)\cup T}.

    Maps are added one at a time; the dependence among a simplex and the next map is used.
    No map needs to be essential.

    Parameters
    ----------
    affines : sequence of (vector, scalar)
        Maps ``a.x + b``.
    n : int
        Length of the gradients.

    Returns
    -------
    dict of frozenset of int to int
        Nonzero coefficients of maxima over affinely independent gradients.
    """
    maps = rational_maps(affines, n)
    terms: dict[Simplex, int] = {frozenset({0}): 1}
    for index in range(1, len(maps)):
        grown: dict[Simplex, int] = {}
        for simplex, coefficient in terms.items():
            for term, sign in _without_dependence(simplex, index, maps):
                grown[term] = grown.get(term, 0) + sign * coefficient
        terms = {term: coefficient for term, coefficient in grown.items() if coefficient}
    return dict(sorted(terms.items(), key=lambda item: sorted(item[0])))
