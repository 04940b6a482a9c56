r"""From total variation distances of Ising models back to partition functions and graphs.

Tilt one spin, ask for the distance, read off its marginal; pin it, and go on:
:math:`Z = w(s)/\prod_t \mu(x_t = s_t \mid s_{<t})`. The two models of every query share graph and
couplings and differ in a single finite external field.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import networkx as nx

from theorylab.exact import rational
from theorylab.total_variation.ising import RationalIsing
from theorylab.total_variation.ising_oracles import TVOracle
from theorylab.total_variation.theory_ising import odds_from_distances, separating_base

EXACT_TILT = Fraction(3)
COARSE_DELTA = Fraction(1, 2)
GAP_DELTA = Fraction(1, 10)

Oracle = TVOracle | Callable[[RationalIsing, RationalIsing], Fraction]


@dataclass(frozen=True)
class PinnedSpin:
    """One step of the chain: two distances, one marginal, one pinned spin.

    Attributes
    ----------
    up, down : Fraction
        Answers for the tilts up and down of the last free spin.
    spin : int
        The side that was kept, 0 or 1.
    marginal : Fraction
        (Estimated) conditional probability of that side.
    """

    up: Fraction
    down: Fraction
    spin: int
    marginal: Fraction


@dataclass(frozen=True)
class TVChain:
    """The whole way from distances to a partition function.

    Attributes
    ----------
    steps : tuple of PinnedSpin
        Last spin first.
    weight : Fraction
        Weight w(s) of the configuration that the spins were pinned to.
    """

    steps: tuple[PinnedSpin, ...]
    weight: Fraction

    @property
    def value(self) -> Fraction:
        """The (estimated) partition function."""
        return self.weight / prod((step.marginal for step in self.steps), start=Fraction(1))


def tilt_factor(model: RationalIsing, v: int, delta: Any) -> Fraction:
    r"""A finite tilt strong enough to read a marginal off one distance, up to a factor 1 - δ.

    With :math:`\underline o = a_v\prod_u\min(b_{uv}, 1/b_{uv})` and :math:`\overline o` the same
    with max, which enclose the odds :math:`p/(1-p)` whatever the other spins do,

    .. math:: r = 1 + \frac{1 + \max(1/\underline o, \overline o)}{\delta}

    gives :math:`d_{TV}(P, P^{(r)}) \in [(1-\delta)(1-p), 1-p]` and
    :math:`d_{TV}(P, P^{(1/r)}) \in [(1-\delta)p, p]`. It has polynomially many bits.

    Parameters
    ----------
    model : RationalIsing
    v : int
        Spin.
    delta : int, Fraction or str
        In (0, 1).

    Raises
    ------
    ValueError
        If ``delta`` is out of range or there is no spin ``v``.
    """
    loss = rational(delta, "delta")
    if not 0 < loss < 1:
        raise ValueError(f"delta must lie in (0, 1), got {loss}")
    couplings = model.neighbours(v).values()
    lowest = model.a[v] * prod((min(b, 1 / b) for b in couplings), start=Fraction(1))
    highest = model.a[v] * prod((max(b, 1 / b) for b in couplings), start=Fraction(1))
    return 1 + (1 + max(1 / lowest, highest)) / loss


def exact_step(model: RationalIsing, oracle: Oracle) -> PinnedSpin:
    """Marginal of the last spin from two finite tilts, exact if the answers are."""
    v = model.n - 1
    up = oracle(model, model.tilt(v, EXACT_TILT))
    down = oracle(model, model.tilt(v, 1 / EXACT_TILT))
    odds = odds_from_distances(up, down, EXACT_TILT)
    spin = int(odds >= 1)
    return PinnedSpin(up, down, spin, odds / (1 + odds) if spin else 1 / (1 + odds))


def strong_step(model: RationalIsing, oracle: Oracle, *, delta: Fraction) -> PinnedSpin:
    """Marginal of the last spin, taken to be the larger of the answers to two strong tilts."""
    v = model.n - 1
    factor = tilt_factor(model, v, delta)
    up = oracle(model, model.tilt(v, factor))
    down = oracle(model, model.tilt(v, 1 / factor))
    spin = int(down >= up)
    marginal = down if spin else up
    if marginal <= 0:
        raise ValueError(f"the oracle answered {up} and {down}; one of them must be positive")
    return PinnedSpin(up, down, spin, marginal)


def tv_chain(
    model: RationalIsing,
    oracle: Oracle,
    step: Callable[[RationalIsing, Oracle], PinnedSpin],
    pin: Callable[[RationalIsing, int, int], RationalIsing] = RationalIsing.pin,
) -> TVChain:
    """Pin the spins one after the other, each to the side that ``step`` keeps.

    Parameters
    ----------
    model : RationalIsing
    oracle : TVOracle or callable
    step : callable
        From a model and the oracle to the last spin's answers and estimated marginal.
    pin : callable
        From model, spin and side to the pinned model.
    """
    steps = []
    while model.n:
        found = step(model, oracle)
        steps.append(found)
        model = pin(model, model.n - 1, found.spin)
    return TVChain(tuple(steps), model.constant)


def partition_function_from_tv(
    model: RationalIsing, oracle: Oracle, mode: str = "exact", eps: Any = None
) -> Fraction:
    r"""Partition function of an Ising model from 2n total variation distances.

    Parameters
    ----------
    model : RationalIsing
    oracle : TVOracle or callable
        From two models to a distance.
    mode : {"exact", "approx"}
        ``"exact"`` inverts the distances of the tilts by 3 and 1/3 and is exact if the oracle is.
        ``"approx"`` takes the larger answer of two strong tilts for the marginal: answers within
        :math:`1 \pm \varepsilon/(4n)` give Z within :math:`1 \pm \varepsilon`.
    eps : int, Fraction or str
        For ``"approx"``: target in (0, 1]; the tilts are strong enough for it.

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        For an unknown mode, or ``eps`` missing, out of range or given in exact mode.
    """
    if mode == "exact":
        if eps is not None:
            raise ValueError(f"eps={eps} was given, but mode 'exact' has no error to state")
        return tv_chain(model, oracle, exact_step).value
    if mode != "approx":
        raise ValueError(f"mode must be 'exact' or 'approx', got {mode!r}")
    return tv_chain(model, oracle, partial(strong_step, delta=step_delta(model, eps))).value


def step_delta(model: RationalIsing, eps: Any) -> Fraction:
    r"""Loss per tilt that a target :math:`\varepsilon` allows: :math:`\varepsilon/(4n)`."""
    if eps is None:
        raise ValueError("mode 'approx' needs eps, the target relative error in (0, 1]")
    target = rational(eps, "eps")
    if not 0 < target <= 1:
        raise ValueError(f"eps must lie in (0, 1], got {target}")
    return target / (4 * max(model.n, 1))


def antiferromagnet(graph: nx.Graph, base: Any) -> RationalIsing:
    r"""The model with :math:`b_e = 1/t`, a = 1, whose :math:`Z t^m` is :math:`\sum_c N_c t^c`.

    :math:`N_c` is the number of (ordered) bipartitions that cut c of the m edges.

    Raises
    ------
    ValueError
        For directed graphs, multigraphs and self-loops.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise ValueError("graph must be a simple undirected networkx Graph")
    loops = list(nx.selfloop_edges(graph))
    if loops:
        raise ValueError(f"graph has the self-loop {loops[0]}; no cut contains it, remove it")
    place = {v: i for i, v in enumerate(graph)}
    coupling = 1 / rational(base, "base")
    return RationalIsing([1] * len(place), {(place[u], place[v]): coupling for u, v in graph.edges})


def cut_spectrum_from_tv(
    graph: nx.Graph, oracle: Oracle, base: int | None = None
) -> tuple[int, ...]:
    r"""Number of cuts of every size, read off the digits of one partition function.

    Parameters
    ----------
    graph : networkx.Graph
        Simple, with n vertices.
    oracle : TVOracle or callable
        Exact distances of Ising models; nothing else about the graph is used.
    base : int, optional
        Integer t; :math:`2^n + 1` if omitted. With t at most the largest :math:`N_c` the digits
        carry and the answer is wrong.

    Returns
    -------
    tuple of int
        :math:`N_0, N_1, \dots`, the last entry not 0: its position is MAX-CUT.

    Raises
    ------
    ValueError
        For a bad graph, a base below 2, or answers that do not come from exact distances.
    """
    t = 2 ** graph.number_of_nodes() + 1 if base is None else base
    if not isinstance(t, int) or t < 2:
        raise ValueError(f"base must be an integer of at least 2, got {t!r}")
    partition = partition_function_from_tv(antiferromagnet(graph, t), oracle)
    scaled = partition * t ** graph.number_of_edges()
    if scaled.denominator != 1 or scaled < 1:
        raise ValueError(f"Z t^m = {scaled} is no positive integer: the oracle was not exact")
    return _digits(scaled.numerator, t)


def _digits(number: int, base: int) -> tuple[int, ...]:
    digits = []
    while number:
        number, digit = divmod(number, base)
        digits.append(digit)
    return tuple(digits)


def max_cut_from_tv(graph: nx.Graph, oracle: Oracle, factor: Any, base: int | None = None) -> int:
    r"""MAX-CUT from distances known within a factor :math:`\rho` only.

    The chain with :math:`\delta = 1/2` gives :math:`\hat Z` within :math:`(2\rho)^n`. At
    :math:`t = 2^{n+2}(2\rho)^{2n}` the top base-t position of :math:`\hat Z t^m (2\rho)^n` is
    MAX-CUT all the same.

    Parameters
    ----------
    graph : networkx.Graph
    oracle : TVOracle or callable
        Distances within a factor ``factor``.
    factor : int, Fraction or str
        :math:`\rho \ge 1`.
    base : int, optional
        t; a smaller one loses the guarantee.
    """
    rho = rational(factor, "factor")
    if rho < 1:
        raise ValueError(f"factor must be at least 1, got {rho}")
    n, m = graph.number_of_nodes(), graph.number_of_edges()
    t = separating_base(n, rho) if base is None else rational(base, "base")
    model = antiferromagnet(graph, t)
    estimate = tv_chain(model, oracle, partial(strong_step, delta=COARSE_DELTA)).value
    return _floor_log(estimate * t**m * (2 * rho) ** n, t)


def _floor_log(value: Fraction, base: Fraction) -> int:
    """Largest integer k (of any sign) with ``base**k <= value``."""
    k = 0
    while base ** (k + 1) <= value:
        k += 1
    while base**k > value:
        k -= 1
    return k


@dataclass(frozen=True)
class GapInstance:
    r"""An Ising model whose marked marginal is near 0 or near 1, as α(G) ≥ c or not.

    Attributes
    ----------
    model : RationalIsing
        On N = n + c - 1 spins.
    vertex : int
        The marked spin v.
    """

    model: RationalIsing
    vertex: int

    @property
    def spins(self) -> int:
        """N."""
        return self.model.n

    def pair(self, delta: Any = GAP_DELTA) -> tuple[RationalIsing, RationalIsing]:
        r"""The model and a downward tilt of it at v that loses at most ``delta``.

        Their distance lies in :math:`[(1-\delta)p, p]` with :math:`p = \mu(x_v=1)`; by default at
        most 1/3 if :math:`\alpha(G)\ge c` and at least 2/3 if not.
        """
        factor = tilt_factor(self.model, self.vertex, delta)
        return self.model, self.model.tilt(self.vertex, 1 / factor)


def gap_instance(graph: nx.Graph, c: int, marked_power: int = 3) -> GapInstance:
    r"""The gadget that turns "is there an independent set of size c?" into a marginal near 0 or 1.

    G is joined completely to an independent set I of c - 1 extra vertices, one of them marked.
    With :math:`N = n + c - 1` and :math:`\mu = 4^N`, an occupied vertex weighs :math:`\mu^2`, the
    marked one :math:`\mu^3`, and an edge with both ends occupied costs :math:`\mu^{-4}`. Then
    :math:`\alpha(G)\ge c` implies :math:`\mu(x_v=1)\le 2^{-N}`, and :math:`\alpha(G)\le c-1`
    implies :math:`\mu(x_v=1)\ge 1-2^{-N}`.

    Parameters
    ----------
    graph : networkx.Graph
        Simple.
    c : int
        At least 2.
    marked_power : int
        Exponent of :math:`\mu` at the marked vertex; only 3 separates the two cases.

    Raises
    ------
    ValueError
        If ``c < 2`` or the graph has a self-loop.
    """
    if c < 2:
        raise ValueError(f"c must be at least 2, got {c}; independent sets of size 1 are trivial")
    loops = list(nx.selfloop_edges(graph))
    if loops:
        raise ValueError(f"graph has the self-loop {loops[0]}; no independent set contains it")
    n = graph.number_of_nodes()
    spins, place = n + c - 1, {v: i for i, v in enumerate(graph)}
    mu = Fraction(4) ** spins
    edges = [(place[u], place[v]) for u, v in graph.edges]
    edges += [(i, j) for i in range(n) for j in range(n, spins)]
    fields = [mu**2] * (spins - 1) + [mu**marked_power]
    return GapInstance(_with_costs(fields, edges, mu**-2), spins - 1)


def _with_costs(
    fields: list[Fraction], edges: list[tuple[int, int]], root: Fraction
) -> RationalIsing:
    r"""Ising form of :math:`\prod_i a_i^{x_i} \prod_{ij} \kappa^{x_ix_j}` for root² = κ.

    A cost :math:`\kappa^{x_ix_j}` is a coupling :math:`b = \sqrt\kappa` together with
    :math:`a_i, a_j \mathrel{*}= \sqrt\kappa` and a constant :math:`1/\sqrt\kappa`.
    """
    weights = list(fields)
    for i, j in edges:
        weights[i] *= root
        weights[j] *= root
    return RationalIsing(weights, dict.fromkeys(edges, root), root ** -len(edges))
