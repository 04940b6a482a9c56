r"""Exact ReLU networks that compute a maximum of affine maps, or a difference of two.

A network is wired from signals, affine combinations of the neurons of one layer. Everything rests
on one gadget,

.. math:: \max(a, b) = (a-b)^+ + b^+ - (-b)^+ .
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Protocol

from theorylab.exact import Rational, ReLUNet, Vector, primitive
from theorylab.exact.networks import Layer, SharedWiring, Signal, Wiring

from .simplices import Affine, AffineLike, Simplex, essential_maps, rational_maps, signed_simplices

Terms = Mapping[Simplex, Rational]


class RedundantMapsWarning(UserWarning):
    """Some affine maps were dropped because they are nowhere the strict maximum."""


class HasMaxForm(Protocol):
    """A decomposition that gives the affine maps of its two convex parts."""

    def as_max(self) -> tuple[Sequence[Affine], Sequence[Affine]]:
        """Return the affine maps of g and of h."""
        ...


def _input(affine: Affine) -> Signal:
    vector, constant = affine
    return Signal(0, {k: weight for k, weight in enumerate(vector) if weight}, constant)


def _rounds(count: int) -> int:
    """Rounds of a tournament among ``count`` players: the rounded-up binary logarithm."""
    return (count - 1).bit_length()


def _pairing(simplex: Simplex, terms: Iterable[Simplex]) -> list[int]:
    """Order of a simplex in which neighbours are edges that occur in the sum where possible."""
    left, order = sorted(simplex), []
    while len(left) > 1:
        edges = [(i, j) for i in left for j in left if i < j]
        pair = next((edge for edge in edges if frozenset(edge) in terms), edges[0])
        order += pair
        left = [index for index in left if index not in pair]
    return order + left


def _term_maximum(
    wiring: Wiring, leaves: Sequence[Signal], depth: int
) -> tuple[Signal | None, Signal]:
    """The maximum as (neuron in layer ``depth`` if one is needed, rest in the layer below)."""
    signals = list(leaves)
    for _ in range(depth - 1):
        pairs = list(zip(signals[::2], signals[1::2], strict=False))
        winners = [wiring.relu(a.minus(b)).plus(wiring.lift(b)) for a, b in pairs]
        signals = winners + ([wiring.lift(signals[-1])] if len(signals) % 2 else [])
    if len(signals) == 1:
        return None, signals[0]
    first, second = signals
    return wiring.relu(first.minus(second)), second


def _signed_sum(
    wiring: Wiring, maps: Sequence[Affine], terms: Terms, depth: int, shared: bool
) -> Signal:
    """A signed sum of maxima, in layer ``depth``.

    One neuron per comparison; what a comparison leaves over is summed before it is carried, by
    two neurons or, where ``shared``, by the copies of the inputs that all groups use.
    """
    tops, rest = Signal(depth, {}), Signal(depth - 1, {})
    for term, factor in terms.items():
        leaves = [_input(maps[index]) for index in _pairing(term, terms)]
        top, below = _term_maximum(wiring, leaves, depth)
        tops = tops if top is None else tops.plus(top, factor)
        rest = rest.plus(below, factor)
    return tops.plus(wiring.lift(rest) if shared else wiring.carry(rest))


def _groups(maps: Sequence[Affine], group: int) -> list[list[Affine]]:
    return [list(maps[start : start + group]) for start in range(0, len(maps), group)]


def group_terms(affines: Iterable[AffineLike], n: int) -> dict[Simplex, int]:
    """Return the max-terms of a group: itself if it has at most n+1 maps, else signed simplices."""
    maps = rational_maps(affines, n)
    if len(maps) <= n + 1:
        return {frozenset(range(len(maps))): 1}
    return signed_simplices(maps, n)


def _convex(wiring: Wiring, maps: Sequence[Affine], group: int) -> Signal:
    """Maxima of the groups by signed simplices, then a tournament among the groups."""
    if group == 1:
        return wiring.tournament([_input(affine) for affine in maps])
    n, groups = len(maps[0][0]), _groups(maps, group)
    depth = _rounds(min(group, n + 1, len(maps)))
    if depth == 0:
        return _input(maps[0])
    shared = depth == 1 and n < len(groups)
    sums = [_signed_sum(wiring, part, group_terms(part, n), depth, shared) for part in groups]
    return wiring.tournament(sums)


def max_tree(affines: Iterable[AffineLike], n: int) -> ReLUNet:
    r"""Return the tournament network of a maximum of k affine maps.

    It has :math:`\lceil\log_2k\rceil` hidden layers and
    :math:`\sum_i3\lfloor k_i/2\rfloor+2(k_i\bmod2)` neurons, :math:`k_0=k`,
    :math:`k_{i+1}=\lceil k_i/2\rceil`, down to :math:`k_i=1`.

    Parameters
    ----------
    affines : sequence of (vector, scalar)
        Maps ``a.x + b``.
    n : int
        Number of inputs.
    """
    wiring = Wiring(n)
    return wiring.net(_convex(wiring, rational_maps(affines, n), 1))


def signed_sum_net(affines: Iterable[AffineLike], terms: Terms, n: int) -> ReLUNet:
    r"""Return the network of a signed sum :math:`\sum_\sigma c_\sigma\max_{i\in\sigma}\ell_i`.

    Parameters
    ----------
    affines : sequence of (vector, scalar)
        Maps ``a.x + b``.
    terms : mapping of frozenset of int to scalar
        Index sets with their coefficients.
    n : int
        Number of inputs.

    Raises
    ------
    ValueError
        If there is no term, a term is empty, or an index is out of range.
    """
    maps = rational_maps(affines, n)
    for term in terms:
        if not term or not all(0 <= index < len(maps) for index in term):
            raise ValueError(f"term {set(term)} must be a nonempty set of indices < {len(maps)}")
    if not terms:
        raise ValueError("a signed sum needs at least one term")
    depth = max(_rounds(len(term)) for term in terms)
    wiring = SharedWiring(n)
    if depth == 0:
        singles = [Signal(0, {}).plus(_input(maps[min(t)]), c) for t, c in terms.items()]
        return wiring.net(reduce(Signal.plus, singles))
    return share_neurons(wiring.net(_signed_sum(wiring, maps, terms, depth, shared=False)))


def shallow_max(affines: Iterable[AffineLike], n: int) -> ReLUNet:
    r"""Return the network of a maximum with at most :math:`\lceil\log_2(n+1)\rceil` hidden layers.

    It sums maxima over signed simplices, at most n+1 maps each, and shares equal neurons.

    Raises
    ------
    ValueError
        If a map is redundant.
    """
    maps = rational_maps(affines, n)
    return signed_sum_net(maps, signed_simplices(maps, n), n)


def grouped_max(affines: Iterable[AffineLike], n: int, group: int) -> ReLUNet:
    r"""Return a network between the tree (``group=1``) and the shallow network (``group=k``).

    Groups of consecutive maps are computed as in ``shallow_max``, then compared in a tournament:
    :math:`\lceil\log_2\min(s,n+1)\rceil+\lceil\log_2\lceil k/s\rceil\rceil` hidden layers for
    groups of size s. Equal neurons are shared where ``group`` exceeds 1.

    Parameters
    ----------
    affines : sequence of (vector, scalar)
        Maps ``a.x + b``; each must be the strict maximum somewhere within its group, unless the
        group has at most n+1 maps.
    n : int
        Number of inputs.
    group : int
        Positive size s of the groups.

    Raises
    ------
    ValueError
        If ``group`` is not positive, or a map is redundant within its group.
    """
    if group < 1:
        raise ValueError(f"group must be a positive number of maps, got {group}")
    if group == 1:
        return max_tree(affines, n)
    wiring = SharedWiring(n)
    return share_neurons(wiring.net(_convex(wiring, rational_maps(affines, n), group)))


def _without_redundant(affines: Iterable[AffineLike], n: int) -> list[Affine]:
    maps = rational_maps(affines, n)
    kept = essential_maps(maps, n)
    dropped = sorted(set(range(len(maps))) - set(kept))
    if dropped:
        warnings.warn(
            f"dropped the maps with indices {dropped}: nowhere the strict maximum",
            RedundantMapsWarning,
            stacklevel=3,
        )
    return [maps[index] for index in kept]


def convex_net(affines: Iterable[AffineLike], n: int, group: int = 1) -> ReLUNet:
    """Return ``grouped_max`` of the maps that are not redundant.

    Parameters
    ----------
    affines : sequence of (vector, scalar)
        Maps ``a.x + b``; redundant ones are dropped and named in a ``RedundantMapsWarning``.
    n : int
        Number of inputs.
    group : int
        Positive size of the groups.
    """
    return grouped_max(_without_redundant(affines, n), n, group)


def dc_net(decomposition: HasMaxForm, group: int = 1) -> ReLUNet:
    r"""Return a network of :math:`f=g-h`, both parts side by side.

    The shallower part is carried on by two neurons a layer. For ``group=1`` the size is that of
    the two trees plus this padding; ``share_neurons`` makes it smaller.

    Parameters
    ----------
    decomposition : Decomposition
        Anything whose ``as_max()`` gives the affine maps of g and of h.
    group : int
        Positive size of the groups, as in ``grouped_max``.
    """
    if group < 1:
        raise ValueError(f"group must be a positive number of maps, got {group}")
    g, h = decomposition.as_max()
    n = len(g[0][0])
    wiring = Wiring(n) if group == 1 else SharedWiring(n)
    parts = [_convex(wiring, _without_redundant(part, n), group) for part in (g, h)]
    depth = max(part.level for part in parts)
    first, second = (wiring.carry_to(depth, part) for part in parts)
    net = wiring.net(first.minus(second))
    return net if group == 1 else share_neurons(net)


def share_neurons(net: ReLUNet) -> ReLUNet:
    """Return the same function with neurons merged whose inputs differ by a positive factor.

    Neurons that are constant move into the biases of the next layer.
    """
    layers, kept = [], list(net.layers)
    for level in range(net.depth):
        matrix, bias = kept[level]
        places: dict[tuple[int, ...], int] = {}
        roles = [_role((*row, b), places) for row, b in zip(matrix, bias, strict=True)]
        if not places:
            return _constant(net)
        layers.append(([key[:-1] for key in places], [key[-1] for key in places]))
        kept[level + 1] = _merge_columns(kept[level + 1], roles, len(places))
    return ReLUNet([*layers, kept[-1]])


def _constant(net: ReLUNet) -> ReLUNet:
    """The network without hidden layers of a constant function."""
    origin = (Fraction(0),) * net.n
    return ReLUNet([((origin,), (net(origin),))])


def _role(row: Vector, places: dict[tuple[int, ...], int]) -> tuple[int | None, Fraction]:
    """Place of the neuron among the kept ones (None: constant) and its factor there."""
    if not any(row[:-1]):
        return None, max(row[-1], Fraction(0))
    key, factor = primitive(row)
    return places.setdefault(key, len(places)), factor


def _merge_columns(layer: Layer, roles: Sequence[tuple[int | None, Fraction]], width: int) -> Layer:
    matrix, bias = [], []
    for row, constant in zip(*layer, strict=True):
        merged = [Fraction(0)] * width
        for weight, (place, factor) in zip(row, roles, strict=True):
            if not weight:
                continue
            if place is None:
                constant += weight * factor
            else:
                merged[place] += weight * factor
        matrix.append(tuple(merged))
        bias.append(constant)
    return tuple(matrix), tuple(bias)
