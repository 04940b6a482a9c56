r"""Closed-form bounds on the total variation of product distributions, free of cancellation.

With :math:`d_i` the total variation of coordinate i, :math:`\delta = (d_i)`,
:math:`BC = \prod_i \sum_a \sqrt{p_i(a) q_i(a)}` and :math:`KL = \sum_i KL(P_i \| Q_i)`:

.. math::

    \max_i d_i,\quad 1 - BC,\quad c\,\min(1, \|\delta\|_2),\quad \text{Fourier}
    \;\le\; d_{TV} \;\le\;
    1 - \prod_i (1 - d_i),\quad \sum_i d_i,\quad \sqrt{1 - BC^2},\quad \sqrt{KL/2},\quad
    \sqrt{1 - e^{-KL}}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.total_variation.product_pairs import FloatTables, ProductPair, rounded_pair
from theorylab.total_variation.theory_products import EUCLIDEAN_CONSTANT, fourier_lower_bound

FOURIER_GRID = np.geomspace(1e-2, 1e3, 101)
SERIES_BELOW = 0.05
SERIES_TERMS = 14


@dataclass(frozen=True)
class ProductBounds:
    r"""Lower and upper bounds on one total variation distance.

    Attributes
    ----------
    largest_marginal : float
        Lower: :math:`\max_i d_i`.
    hellinger_lower : float
        Lower: :math:`1 - BC`.
    euclidean : float
        Lower: :math:`c\,\min(1, \|\delta\|_2)` with the proved :math:`c = e^{-1/2}/\sqrt5`.
    fourier : float
        Lower: see ``fourier_lower_bound``.
    coupling : float
        Upper: :math:`1 - \prod_i (1 - d_i)`.
    sum_of_marginals : float
        Upper: :math:`\sum_i d_i`; may exceed 1.
    hellinger_upper : float
        Upper: :math:`\sqrt{1 - BC^2}`.
    pinsker : float
        Upper: :math:`\sqrt{KL(P\|Q)/2}`; may exceed 1 or be infinite.
    bretagnolle_huber : float
        Upper: :math:`\sqrt{1 - e^{-KL(P\|Q)}}`.
    """

    largest_marginal: float
    hellinger_lower: float
    euclidean: float
    fourier: float
    coupling: float
    sum_of_marginals: float
    hellinger_upper: float
    pinsker: float
    bretagnolle_huber: float

    @property
    def lower_bounds(self) -> dict[str, float]:
        """The lower bounds by name."""
        names = ("largest_marginal", "hellinger_lower", "euclidean", "fourier")
        return {name: getattr(self, name) for name in names}

    @property
    def upper_bounds(self) -> dict[str, float]:
        """The upper bounds by name."""
        return {
            "coupling": self.coupling,
            "sum_of_marginals": self.sum_of_marginals,
            "hellinger_upper": self.hellinger_upper,
            "pinsker": self.pinsker,
            "bretagnolle_huber": self.bretagnolle_huber,
        }

    @property
    def lower(self) -> float:
        """The best lower bound."""
        return max(self.lower_bounds.values())

    @property
    def upper(self) -> float:
        """The best upper bound, at most 1."""
        return min(1.0, *self.upper_bounds.values())


def tv_product_bounds(P: Any, Q: Any) -> ProductBounds:
    r"""The classical bounds on :math:`d_{TV}(P, Q)`, and two with explicit new constants.

    Parameters
    ----------
    P, Q : sequence of rows
        Row j holds the probabilities of the letters of coordinate j; floats are read as in
        ``tv_product_bracket``.

    Returns
    -------
    ProductBounds
        In double precision. Every formula is a sum of terms of one sign built from the exact
        differences q - p, so that the relative error stays near :math:`10^{-15}` times the square
        root of n even where the distance is 1e-12; the textbook forms 1 - BC and
        :math:`\sum p \log(p/q)` turn negative there.

    Raises
    ------
    ValueError, TypeError
        As ``tv_product_bracket``.
    """
    return bounds_of(rounded_pair(P, Q))


def bounds_of(pair: ProductPair) -> ProductBounds:
    """The bounds for a pair that has been checked."""
    tables = pair.floats
    d = tables.distances
    affinity_gap = hellinger_gap(tables)
    divergence = kl_divergence(tables)
    return ProductBounds(
        largest_marginal=float(d.max(initial=0.0)),
        hellinger_lower=affinity_gap,
        euclidean=EUCLIDEAN_CONSTANT * min(1.0, float(np.linalg.norm(d))),
        fourier=fourier_lower_bound(symmetric_shifts(tables), FOURIER_GRID),
        coupling=coupling_distance(d),
        sum_of_marginals=float(d.sum()),
        hellinger_upper=float(np.sqrt(affinity_gap * (2.0 - affinity_gap))),
        pinsker=float(np.sqrt(divergence / 2.0)),
        bretagnolle_huber=float(np.sqrt(-np.expm1(-divergence))),
    )


def coupling_distance(distances: NDArray[np.float64]) -> float:
    r"""Chance that the coordinatewise maximal coupling differs, :math:`1 - \prod_i (1 - d_i)`."""
    return _complement_of_product(distances)


def _complement_of_product(x: NDArray[np.float64]) -> float:
    r""":math:`1 - \prod_i (1 - x_i)` for numbers in [0, 1]."""
    if (x >= 1.0).any():
        return 1.0
    return float(-np.expm1(np.log1p(-x).sum()))


def hellinger_gap(tables: FloatTables) -> float:
    r""":math:`1 - BC`, from :math:`1 - BC_i = \frac12 \sum_a (p-q)^2/(\sqrt p + \sqrt q)^2`."""
    roots = np.sqrt(tables.p) + np.sqrt(tables.q)
    shares = np.divide(tables.difference, roots, out=np.zeros_like(roots), where=roots > 0)
    return _complement_of_product(0.5 * (shares**2).sum(axis=1))


def kl_divergence(tables: FloatTables) -> float:
    r""":math:`KL(P \| Q)` in nats, infinite if P has a letter that Q lacks.

    .. math:: KL_i = \sum_{p>0} p\,(x - \log(1+x)) + \sum_{p=0} q, \qquad x = (q-p)/p
    """
    seen = tables.p > 0
    if ((tables.q == 0) & seen).any():
        return float(np.inf)
    x = np.divide(tables.difference, tables.p, out=np.zeros_like(tables.p), where=seen)
    return float((tables.p * _excess_over_logarithm(x)).sum() + tables.q[~seen].sum())


def _excess_over_logarithm(x: NDArray[np.float64]) -> NDArray[np.float64]:
    r""":math:`x - \log(1+x) = \sum_{k\ge2} (-x)^k/k`; the series where subtraction would cancel."""
    small = np.abs(x) < SERIES_BELOW
    near = np.where(small, x, 0.0)
    series = np.zeros_like(x)
    for k in range(SERIES_TERMS, 1, -1):
        series = 1.0 / k - near * series
    far = np.where(small, 1.0, x)
    return np.where(small, near**2 * series, far - np.log1p(far))


def symmetric_shifts(tables: FloatTables) -> NDArray[np.float64]:
    r"""Shifts of fair coins that both laws can be degraded to, coordinate by coordinate.

    The event :math:`A_i = \{p_i > q_i\}` turns coordinate i into a coin with success
    probabilities :math:`m_i \pm d_i/2`. Replacing it, with probability s, by a constant moves the
    midpoint to 1/2 and leaves the shift :math:`a_i = d_i / (2 \max(m_i, 1-m_i)) \ge d_i/2`.
    """
    favoured = tables.difference < 0
    midpoints = 0.5 * ((tables.p + tables.q) * favoured).sum(axis=1)
    return tables.distances / (2.0 * np.maximum(midpoints, 1.0 - midpoints))
