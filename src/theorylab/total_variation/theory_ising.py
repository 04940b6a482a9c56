"""Predictions for Ising models: distances of tilts, error envelopes, brute-force graph numbers."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from itertools import combinations, product

import networkx as nx


def tilted_distance(p: Fraction, r: Fraction) -> Fraction:
    r"""Distance between a law with :math:`P(x_v=1)=p` and its tilt by r at v.

    .. math:: d_{TV} = \frac{|r-1|\,p(1-p)}{1+(r-1)p}

    Parameters
    ----------
    p : Fraction
        Marginal at v, in (0, 1).
    r : Fraction
        Positive factor on the weight of :math:`x_v = 1`.
    """
    return abs(r - 1) * p * (1 - p) / (1 + (r - 1) * p)


def tilted_marginal(p: Fraction, r: Fraction) -> Fraction:
    r"""Marginal after the tilt, :math:`rp/(1+(r-1)p)`."""
    return r * p / (1 + (r - 1) * p)


def odds_from_distances(up: Fraction, down: Fraction, r: Fraction) -> Fraction:
    r"""Odds :math:`p/(1-p)` from the distances of the tilts by r and 1/r.

    .. math:: \frac p{1-p} = \frac{r-\rho}{\rho r-1}, \qquad \rho = T_+/T_- .

    Parameters
    ----------
    up, down : Fraction
        :math:`T_+` and :math:`T_-`.
    r : Fraction
        Larger than 1.
    """
    ratio = up / down
    return (r - ratio) / (ratio * r - 1)


def relative_envelope(n: int, eta: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    r"""Range of :math:`\hat Z/Z` when every answer is within a factor :math:`1\pm\eta`.

    .. math:: [(1+\eta)^{-n},\; ((1-\eta)(1-\delta))^{-n}]
    """
    return (1 + eta) ** -n, ((1 - eta) * (1 - delta)) ** -n


def additive_step_error(eta: Fraction, delta: Fraction) -> Fraction:
    r"""Relative error of one kept marginal under additive errors up to :math:`\eta`.

    .. math:: f = \delta + \frac{\eta}{\frac12(1-\delta) - 2\eta}

    Raises
    ------
    ValueError
        If the answers are too coarse for a bound below 1.
    """
    rest = (1 - delta) / 2 - 2 * eta
    if rest <= 0 or delta + eta / rest >= 1:
        raise ValueError(f"eta={eta} with delta={delta} bounds nothing; both must be smaller")
    return delta + eta / rest


def additive_envelope(n: int, eta: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    r"""Range of :math:`\hat Z/Z` under additive errors: :math:`[(1+f)^{-n}, (1-f)^{-n}]`."""
    f = additive_step_error(eta, delta)
    return (1 + f) ** -n, (1 - f) ** -n


def coarse_envelope(n: int, factor: Fraction) -> tuple[Fraction, Fraction]:
    r"""Range of :math:`\hat Z/Z` under answers within a factor :math:`\rho`, tilts with δ = 1/2.

    .. math:: [\rho^{-n},\; (2\rho)^n]
    """
    return Fraction(factor) ** -n, (2 * Fraction(factor)) ** n


def separating_base(n: int, factor: Fraction) -> Fraction:
    r"""A base at which MAX-CUT survives errors :math:`(2\rho)^n`: :math:`2^{n+2}(2\rho)^{2n}`."""
    return 2 ** (n + 2) * (2 * Fraction(factor)) ** (2 * n)


def cut_counts(graph: nx.Graph) -> tuple[int, ...]:
    """Number of bipartitions (ordered) by number of edges cut, by running over all of them.

    Entry c counts the cuts with c edges; the last entry is the one of the largest cut.
    """
    vertices = list(graph)
    counts = [0] * (graph.number_of_edges() + 1)
    for sides in product((0, 1), repeat=len(vertices)):
        side = dict(zip(vertices, sides, strict=True))
        counts[sum(side[u] != side[v] for u, v in graph.edges)] += 1
    while counts[-1] == 0:
        counts.pop()
    return tuple(counts)


def independence_number(graph: nx.Graph) -> int:
    """Size of a largest independent set, by running over vertex sets from the largest down."""
    vertices: list[Hashable] = list(graph)
    for size in range(len(vertices), 0, -1):
        if any(
            graph.subgraph(chosen).number_of_edges() == 0 for chosen in combinations(vertices, size)
        ):
            return size
    return 0


def gap_bound(spins: int) -> Fraction:
    r"""How close to 0 or 1 the marked marginal of a gap instance is: :math:`2^{-N}`."""
    return Fraction(1, 2**spins)
