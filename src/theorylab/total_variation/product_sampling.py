r"""Randomised estimate of the total variation of product distributions, after Feng-Guo-Jerrum-Wang.

Let (X, Y) be the coordinatewise maximal coupling, :math:`p_{\ne} = P(X \ne Y) = 1-\prod(1-d_i)`,
and :math:`\pi` the law of X given :math:`X \ne Y`. Then

.. math:: d_{TV} = p_{\ne}\, E_\pi f, \qquad
    f(x) = \frac{1 - \min(1, Q(x)/P(x))}{1 - \prod_i \min(1, q_i(x_i)/p_i(x_i))} \in [0, 1],

because :math:`\pi(x)\,p_{\ne}` is P(x) times the denominator. A plain mean of f suffices; the
median of means of the original is not needed for values in [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.total_variation.product_bounds import coupling_distance, hellinger_gap
from theorylab.total_variation.product_pairs import FloatTables, rounded_pair
from theorylab.total_variation.theory_products import chernoff_draws

Array = NDArray[np.float64]
BLOCK_ENTRIES = 1 << 20


@dataclass(frozen=True)
class SampledDistance:
    """A randomised estimate with its guarantee.

    Attributes
    ----------
    value : float
        The estimate; within a factor 1 ± ``eps`` of the distance with probability 1 - ``delta``.
    draws : int
        Number of samples that the guarantee needed.
    eps, delta : float
    """

    value: float
    draws: int
    eps: float
    delta: float


def tv_product_fpras(
    P: Any,
    Q: Any,
    eps: float,
    delta: float,
    rng: np.random.Generator,
    *,
    at_least: float | None = None,
) -> SampledDistance:
    r"""Estimate :math:`d_{TV}(P, Q)` within :math:`1 \pm \varepsilon` with probability 1 - delta.

    Parameters
    ----------
    P, Q : sequence of rows
        Row j holds the probabilities of the letters of coordinate j; floats are read as in
        ``tv_product_bracket``.
    eps : float
        Relative error in (0, 1].
    delta : float
        Failure probability in (0, 1).
    rng : numpy.random.Generator
        The only source of randomness.
    at_least : float, optional
        A proved positive lower bound on the distance, such as ``tv_product_bracket(...).lower``;
        the larger it is, the fewer draws. By default the larger of :math:`\max_i d_i` and
        :math:`1 - BC`.

    Returns
    -------
    SampledDistance
        From :math:`\lceil 3\ln(2/\delta)/(\varepsilon^2 R_L)\rceil` draws with
        :math:`R_L` = ``at_least`` / :math:`p_{\ne}`; no draw at all if P = Q.

    Raises
    ------
    ValueError
        If ``eps`` or ``delta`` is out of range, ``at_least`` not in (0, 1], or the rows are bad.
    """
    if not 0.0 < eps <= 1.0:
        raise ValueError(f"eps must lie in (0, 1], got {eps}")
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must lie in (0, 1), got {delta}")
    if at_least is not None and not 0.0 < at_least <= 1.0:
        raise ValueError(f"at_least must lie in (0, 1], got {at_least}; leave it out if unknown")
    tables = rounded_pair(P, Q).floats
    if not tables.distances.any():
        return SampledDistance(0.0, 0, eps, delta)
    proved = max(float(tables.distances.max()), hellinger_gap(tables))
    sampler = CouplingSampler.of(tables)
    ratio_at_least = min(1.0, (at_least or proved) / sampler.difference_probability)
    draws = chernoff_draws(eps, delta, ratio_at_least)
    return SampledDistance(sampler.estimate(draws, rng), draws, eps, delta)


@dataclass(frozen=True, eq=False)
class CouplingDraws:
    r"""Samples from :math:`\pi`, of which only two logarithms matter.

    Attributes
    ----------
    log_ratio : numpy.ndarray, shape (draws,)
        :math:`\log Q(x)/P(x)`.
    log_overlap : numpy.ndarray, shape (draws,)
        :math:`\sum_i \min(0, \log q_i(x_i)/p_i(x_i))`.
    """

    log_ratio: Array
    log_overlap: Array

    def deficits(self) -> Array:
        r"""The numerators :math:`1 - \min(1, Q(x)/P(x))`."""
        return -np.expm1(np.minimum(0.0, self.log_ratio))

    def fractions(self) -> Array:
        r"""The values f(x) in [0, 1] whose mean is :math:`d_{TV}/p_{\ne}`."""
        return self.deficits() / -np.expm1(self.log_overlap)


@dataclass(frozen=True, eq=False)
class CouplingSampler:
    r"""Sampler of :math:`\pi`: X under the maximal coupling, given that X and Y differ.

    The first coordinate I at which they differ has probability proportional to
    :math:`d_i\prod_{j<i}(1-d_j)`. Coordinates before I follow :math:`\min(p, q)`, coordinate I
    follows :math:`(p-q)^+`, the later ones p, each normalised.

    Attributes
    ----------
    difference_probability : float
        :math:`p_{\ne}`.
    first_index : numpy.ndarray, shape (n,)
        Law of I.
    before, at, after : numpy.ndarray, shape (n, letters)
        Cumulative laws of a coordinate before, at and after I.
    log_ratios : numpy.ndarray, shape (n, letters)
        :math:`\log q_i(a)/p_i(a)`, from differences, so exact to the last digits near 0.
    """

    difference_probability: float
    first_index: Array
    before: Array
    at: Array
    after: Array
    log_ratios: Array

    @classmethod
    def of(cls, tables: FloatTables) -> CouplingSampler:
        """Sampler for a pair of product distributions that differ."""
        total = coupling_distance(tables.distances)
        # A coordinate with d = 1 makes the later ones unreachable: log1p(-1) = -inf does that.
        with np.errstate(divide="ignore"):
            agree = np.concatenate(([0.0], np.cumsum(np.log1p(-tables.distances))[:-1]))
        return cls(
            total,
            tables.distances * np.exp(agree) / total,
            _cumulative(np.minimum(tables.p, tables.q)),
            _cumulative(np.maximum(0.0, -tables.difference)),
            _cumulative(tables.p),
            _log_ratios(tables),
        )

    def estimate(
        self,
        draws: int,
        rng: np.random.Generator,
        value: Callable[[CouplingDraws], Array] = CouplingDraws.fractions,
    ) -> float:
        r""":math:`p_{\ne}` times the mean of ``value``, by default of f."""
        total = sum(float(value(block).sum()) for block in self.blocks(draws, rng))
        return self.difference_probability * total / draws

    def blocks(self, draws: int, rng: np.random.Generator) -> Iterator[CouplingDraws]:
        """The draws in blocks of bounded memory."""
        size = max(1, BLOCK_ENTRIES // len(self.first_index))
        for start in range(0, draws, size):
            yield self.draw(min(size, draws - start), rng)

    def draw(self, draws: int, rng: np.random.Generator) -> CouplingDraws:
        """Independent samples; memory grows like draws times n."""
        n, letters = self.before.shape
        cumulative = np.cumsum(self.first_index)
        first = np.searchsorted(cumulative[:-1], rng.random(draws) * cumulative[-1], side="right")
        uniform = rng.random((draws, n))
        is_before = np.arange(n) < first[:, None]
        x = np.zeros((draws, n), dtype=np.intp)
        for a in range(letters - 1):
            x += uniform >= np.where(is_before, self.before[:, a], self.after[:, a])
        rows = np.arange(draws)
        x[rows, first] = (uniform[rows, first, None] >= self.at[first, :-1]).sum(axis=1)
        x += np.arange(0, n * letters, letters)
        logs = self.log_ratios.ravel()[x]
        return CouplingDraws(logs.sum(axis=1), np.minimum(logs, 0.0, out=logs).sum(axis=1))


def _cumulative(weights: Array) -> Array:
    """Cumulative sums of normalised rows; a row of zeros, never used, stays zero."""
    totals = weights.sum(axis=1, keepdims=True)
    return np.cumsum(
        np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0), axis=1
    )


def _log_ratios(tables: FloatTables) -> Array:
    seen = tables.p > 0
    x = np.divide(tables.difference, tables.p, out=np.zeros_like(tables.p), where=seen)
    with np.errstate(divide="ignore"):
        return np.log1p(x)


def plain_monte_carlo(P: Any, Q: Any, draws: int, rng: np.random.Generator) -> float:
    r"""The obvious estimate, :math:`E_P \max(0, 1 - Q(x)/P(x))` from draws of P.

    It sees nothing when P and Q differ in rare events only; kept for comparison.

    Parameters
    ----------
    P, Q : sequence of rows
        As for ``tv_product_fpras``.
    draws : int
        Number of samples, positive.
    rng : numpy.random.Generator
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    tables = rounded_pair(P, Q).floats
    cumulative, log_ratios = _cumulative(tables.p), _log_ratios(tables)
    size = max(1, BLOCK_ENTRIES // max(1, len(cumulative)))
    total = 0.0
    for start in range(0, draws, size):
        uniform = rng.random((min(size, draws - start), len(cumulative), 1))
        x = (uniform >= cumulative[:, :-1]).sum(axis=2)
        log_ratio = np.take_along_axis(log_ratios, x.T, axis=1).sum(axis=0)
        total += float(-np.expm1(np.minimum(0.0, log_ratio)).sum())
    return total / draws
