r"""Predicted sizes of networks: closed forms, and the bounds that the literature states.

Mathematics only; nothing here builds a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb


@dataclass(frozen=True)
class NetworkSize:
    """Neurons and hidden layers of a network."""

    neurons: int
    depth: int


def rounded_log2(count: int) -> int:
    r"""Return :math:`\lceil\log_2k\rceil` for a positive integer k."""
    if count < 1:
        raise ValueError(f"the logarithm needs a positive count, got {count}")
    return (count - 1).bit_length()


def tree_widths(count: int, depth: int | None = None) -> list[int]:
    r"""Widths of the tournament tree of ``count`` maps.

    .. math:: 3\lfloor k_i/2\rfloor+2(k_i\bmod2),\qquad k_0=k,\ k_{i+1}=\lceil k_i/2\rceil

    Parameters
    ----------
    count : int
        Number k of maps, positive.
    depth : int, optional
        Number of layers; beyond :math:`\lceil\log_2k\rceil` the value is carried by two neurons.
    """
    rounds = rounded_log2(count)
    depth = rounds if depth is None else depth
    if depth < rounds:
        raise ValueError(f"a tree of {count} maps needs {rounds} layers, got depth={depth}")
    widths = []
    for _ in range(depth):
        widths.append(3 * (count // 2) + 2 * (count % 2))
        count = (count + 1) // 2
    return widths


def tree_size(count: int) -> int:
    """Neurons of the tournament tree of ``count`` maps."""
    return sum(tree_widths(count))


def dc_widths(first: int, second: int) -> list[int]:
    """Widths of two trees side by side, the shallower one carried on."""
    depth = max(rounded_log2(first), rounded_log2(second))
    pairs = zip(tree_widths(first, depth), tree_widths(second, depth), strict=True)
    return [a + b for a, b in pairs]


def grouped_depth(count: int, group: int, n: int) -> int:
    r"""Hidden layers: :math:`\lceil\log_2\min(s,n+1)\rceil+\lceil\log_2\lceil k/s\rceil\rceil`."""
    return rounded_log2(min(group, n + 1)) + rounded_log2(-(-count // group))


def side_by_side_widths(groups: Sequence[Sequence[int]]) -> list[int]:
    """Widths when every max-term has a tree of its own.

    Parameters
    ----------
    groups : sequence of sequences of int
        For each group, the numbers of maps in its max-terms.
    """
    depth = max(rounded_log2(arity) for group in groups for arity in group)
    trees = [tree_widths(arity, depth) for group in groups for arity in group]
    return [sum(layer) for layer in zip(*trees, strict=True)] + tree_widths(len(groups))


def grouped_size_bound(count: int, group: int, n: int) -> int:
    r"""Upper bound :math:`O_n(r\,s^{n+1})` on the neurons, with its constant.

    .. math:: r\,\big(T(n+1)+2d\big)\sum_{j=1}^{n+1}\binom sj+T(r),

    :math:`d=\lceil\log_2\min(s,n+1)\rceil`, :math:`r=\lceil k/s\rceil`: at most one max-term per
    set of at most n+1 maps of a group.
    """
    depth, groups = rounded_log2(min(group, n + 1)), -(-count // group)
    terms = sum(comb(group, size) for size in range(1, n + 2))
    return groups * (tree_size(n + 1) + 2 * depth) * terms + tree_size(groups)


def interior_simplices_on_line(points: int) -> int:
    """Number of max-terms for ``points`` essential maps of one variable: 2k - 3."""
    return max(2 * points - 3, 1)


def interior_simplices_in_plane(points: int, hull_points: int) -> int:
    """Number of max-terms in two variables: 6k - 5 - 4H, H of the k gradients on the hull."""
    return 6 * points - 5 - 4 * hull_points


def chen_bound(pieces: int, components: int) -> NetworkSize:
    r"""Size of Chen, Garudadri and Rao's network for q pieces and k affine components.

    .. math:: (3\cdot2^{\lceil\log_2k\rceil}+2\lceil\log_2k\rceil-3)\,q
        +3\cdot2^{\lceil\log_2q\rceil}-2\lceil\log_2k\rceil-3

    neurons in :math:`\lceil\log_2k\rceil+\lceil\log_2q\rceil` hidden layers.
    """
    inner, outer = rounded_log2(components), rounded_log2(pieces)
    neurons = (3 * 2**inner + 2 * inner - 3) * pieces + 3 * 2**outer - 2 * inner - 3
    return NetworkSize(neurons, inner + outer)
