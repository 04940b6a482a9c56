r"""Networks as differences of support functions, the invariant modulo p, and exact refutation.

A homogeneous network with integer weights is :math:`f = h_A - h_B`. Neuron by neuron: if
:math:`g_j = h_{A_j} - h_{B_j}`, a combination :math:`\sum_j w_j g_j` has
:math:`A=\sum_{w>0}w_jA_j+\sum_{w<0}|w_j|B_j` and B likewise, and
:math:`\max(0, h_A-h_B) = h_{\mathrm{conv}(A\cup B)} - h_B`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from theorylab.exact import InequalitySystem, Infeasible, ReLUNet, Vector, clear_denominators

from .polytopes import (
    LatticePolytope,
    Point,
    dilate,
    hull_union,
    minkowski,
    normalized_volume,
    support,
    unit_simplex,
)
from .theory import is_prime, prime_power

Pair = tuple[LatticePolytope, LatticePolytope]
_NEAR_POINTS = 3**6
Join = Callable[[LatticePolytope, LatticePolytope], LatticePolytope]


@dataclass(frozen=True)
class SupportSum:
    r"""A signed sum of support functions, :math:`\sum_i c_i h_{P_i} + \langle s,\cdot\rangle`.

    Polytopes that are translates of each other are one summand, so what cancels is gone before
    any Minkowski sum is taken.

    Attributes
    ----------
    summands : dict of LatticePolytope to int
        Least vertex at the origin; coefficients are not 0.
    shift : tuple of int
    """

    summands: dict[LatticePolytope, int]
    shift: Point

    @classmethod
    def of(cls, polytope: LatticePolytope) -> SupportSum:
        """The support function of one polytope."""
        least = polytope.vertices[0]
        if polytope.dim == 0:
            return cls({}, least)
        return cls({polytope.translated([-x for x in least]): 1}, least)

    def plus(self, other: SupportSum, factor: int = 1) -> SupportSum:
        """The sum with a multiple of another one."""
        summands = dict(self.summands)
        for polytope, coefficient in other.summands.items():
            summands[polytope] = summands.get(polytope, 0) + factor * coefficient
        shift = tuple(a + factor * b for a, b in zip(self.shift, other.shift, strict=True))
        return SupportSum({P: c for P, c in summands.items() if c}, shift)

    def pair(self) -> Pair:
        """Polytopes A and B with :math:`h_A - h_B`."""
        origin = LatticePolytope([[0] * len(self.shift)])
        gained = [dilate(P, c) for P, c in self.summands.items() if c > 0]
        lost = [dilate(P, -c) for P, c in self.summands.items() if c < 0]
        return minkowski(origin.translated(self.shift), *gained), minkowski(origin, *lost)


def newton_pair(network: ReLUNet, join: Join = hull_union) -> Pair:
    r"""Lattice polytopes with :math:`f = h_A - h_B`.

    Parameters
    ----------
    network : ReLUNet
        Integer weights, no biases.
    join : function
        What a rectifier does to its pair; another one breaks the identity.

    Returns
    -------
    (A, B)

    Raises
    ------
    ValueError
        If a bias is not 0 or a weight no integer; the message names the method that helps.
    """
    return support_sum(network, join).pair()


def support_sum(network: ReLUNet, join: Join = hull_union) -> SupportSum:
    """The network as a signed sum of support functions; parameters as for ``newton_pair``."""
    _need_integer_homogeneous(network)
    signals = _inputs(network.n)
    for matrix, _ in network.layers[:-1]:
        signals = [_rectified(_combination(row, signals), join) for row in matrix]
    return _combination(network.layers[-1][0][0], signals)


def _rectified(signal: SupportSum, join: Join) -> SupportSum:
    """max(0, h_A - h_B) as the hull of the union minus B."""
    A, B = signal.pair()
    return SupportSum.of(join(A, B)).plus(SupportSum.of(B), -1)


def _need_integer_homogeneous(network: ReLUNet) -> None:
    if network.has_biases:
        raise ValueError("the network has biases; take its homogeneous_part() first")
    if any(w.denominator > 1 for matrix, _ in network.layers for row in matrix for w in row):
        raise ValueError("the weights are no integers; take clear_denominators() first")


def _inputs(n: int) -> list[SupportSum]:
    return [SupportSum({}, tuple(int(i == j) for j in range(n))) for i in range(n)]


def _combination(row: Vector, signals: Sequence[SupportSum]) -> SupportSum:
    total = SupportSum({}, (0,) * len(signals[0].shift))
    for weight, signal in zip(row, signals, strict=True):
        if weight:
            total = total.plus(signal, int(weight))
    return total


def phi(network: ReLUNet, p: int) -> int:
    r"""The invariant :math:`\varphi_p(f) = \mathrm{Vol}_d(A) - \mathrm{Vol}_d(B) \bmod p`.

    For integer networks without biases on :math:`\mathbb R^d`, :math:`d = p^t`, it depends on the
    function alone, is additive, vanishes with at most t hidden layers and is 1 on
    :math:`F_d`. Networks of at most two hidden layers are evaluated neuron by neuron,
    :math:`\sum_i u_i[\mathrm{Vol}(\mathrm{conv}(Z_i^+\cup Z_i^-))-\mathrm{Vol}(Z_i^-)]`, in time
    linear in their width.

    Parameters
    ----------
    network : ReLUNet
    p : int
        A prime of which the input dimension is a power.

    Returns
    -------
    int
        In 0..p-1.

    Raises
    ------
    ValueError
        If p is no prime, the dimension no power of it, or the network not integer and homogeneous.
    """
    _need_integer_homogeneous(network)
    if not is_prime(p):
        raise ValueError(f"p must be a prime, got {p}")
    power = prime_power(network.n)
    if power is None or power[0] != p:
        raise ValueError(f"the invariant needs a power of {p} as dimension, got {network.n}")
    if network.depth == 2:
        return _phi_by_neurons(network) % p
    A, B = newton_pair(network)
    return (normalized_volume(A, network.n) - normalized_volume(B, network.n)) % p


def _phi_by_neurons(network: ReLUNet) -> int:
    (first, _), (second, _), (last, _) = network.layers
    inputs = _inputs(network.n)
    signals = [_rectified(_combination(row, inputs), hull_union) for row in first]
    total = 0
    for weight, row in zip(last[0], second, strict=True):
        if weight:
            A, B = _combination(row, signals).pair()
            gained = normalized_volume(hull_union(A, B), network.n)
            total += int(weight) * (gained - normalized_volume(B, network.n))
    return total


def difference_witness(left: LatticePolytope, right: LatticePolytope) -> Point | None:
    r"""An integer x with :math:`h_P(x)\ne h_Q(x)`, or None if both polytopes are the same.

    A vertex of one that lies outside the other is separated from it by an exact linear program.
    """
    for one, other in ((left, right), (right, left)):
        for vertex in sorted(set(one.vertices) - set(other.vertices)):
            found = _separation(vertex, other.vertices)
            if found is not None:
                return found
    return None


def _separation(vertex: Point, others: Sequence[Point]) -> Point | None:
    """x with x.(v - q) >= 1 for all q, made integer."""
    rows = [[a - b for a, b in zip(vertex, other, strict=True)] for other in others]
    found = InequalitySystem(rows, [1] * len(rows), len(vertex)).minimise([0] * len(vertex))
    if isinstance(found, Infeasible):
        return None
    return clear_denominators(found.x)[0]


def refute(network: ReLUNet, target: ReLUNet | LatticePolytope | int) -> Point | None:
    r"""Decide whether a network is a given function; proof by polytopes, or a witness.

    Parameters
    ----------
    network : ReLUNet
        Any rational weights, no biases.
    target : int, LatticePolytope or ReLUNet
        n for :math:`F_n`, a polytope for its support function, or another network.

    Returns
    -------
    tuple of int or None
        A point where the two differ; None if they are equal everywhere, which is then proved:
        :math:`A + D` and :math:`B + C` have the same vertices, where the network is
        :math:`h_A - h_B` and the target :math:`h_C - h_D`, up to one common factor.

    Raises
    ------
    ValueError
        If the network has biases or the dimensions differ.
    """
    if network.has_biases:
        raise ValueError("the network has biases; take its homogeneous_part() first")
    goal, goal_scale = _target(target, network.n)
    near = _near_witness(network, target)
    if near is not None:
        return near
    found, scale = _cleared(network)
    nothing = SupportSum({}, (0,) * network.n)
    left, right = nothing.plus(found, goal_scale).plus(goal, -scale).pair()
    return difference_witness(left, right)


def _near_witness(network: ReLUNet, target: ReLUNet | LatticePolytope | int) -> Point | None:
    """A point with coordinates -1, 0, 1 where both differ: most wrong networks have one."""
    points = islice(product((0, 1, -1), repeat=network.n), _NEAR_POINTS)
    return next((x for x in points if network(x) != _value(target, x)), None)


def _value(target: ReLUNet | LatticePolytope | int, x: Point) -> int | Fraction:
    if isinstance(target, ReLUNet):
        return target(x)
    return support(target, x) if isinstance(target, LatticePolytope) else max(0, *x)


def _cleared(network: ReLUNet) -> tuple[SupportSum, int]:
    """The function times a positive integer, and that integer."""
    if network.has_biases:
        raise ValueError("the network has biases; take its homogeneous_part() first")
    M, integer = network.clear_denominators()
    return support_sum(integer), M ** len(network.layers)


def _target(target: ReLUNet | LatticePolytope | int, n: int) -> tuple[SupportSum, int]:
    if isinstance(target, ReLUNet):
        found = _cleared(target)
    else:
        polytope = target if isinstance(target, LatticePolytope) else unit_simplex(target)
        found = SupportSum.of(polytope), 1
    if len(found[0].shift) != n:
        raise ValueError(f"the target has {len(found[0].shift)} inputs, the network has {n}")
    return found
