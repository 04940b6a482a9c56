"""Total variation distance of two mixtures: exact where it can be listed, bracketed elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from .mixtures import ProductMixture, require_same_space

_SCALE_BITS = 128


def difference_table(
    P: ProductMixture, Q: ProductMixture, max_points: int = 2**20
) -> tuple[np.ndarray, int]:
    """P(x) - Q(x) at every point x, as integers over one common denominator.

    Parameters
    ----------
    P, Q : ProductMixture
        On the same space.
    max_points : int
        Largest number of points that is listed.

    Returns
    -------
    numerators : ndarray of int objects, shape (points,)
        Points in lexicographic order.
    denominator : int

    Raises
    ------
    ValueError
        If the spaces differ or have more than ``max_points`` points.
    """
    require_same_space(P, Q)
    points = math.prod(P.alphabet_sizes)
    if points > max_points:
        raise ValueError(
            f"the space has {points} points, more than max_points={max_points}; use "
            "tv_mixture_mc, tv_mixture_upper and tv_mixture_lower for a bracket"
        )
    weights = [*P.weights, *(-weight for weight in Q.weights)]
    components = [*P.rows, *Q.rows]
    weight_scale = _common_denominator(weights)
    scales = [
        _common_denominator([value for rows in components for value in rows[j]])
        for j in range(P.n_coordinates)
    ]
    total = np.zeros(points, dtype=object)
    for weight, rows in zip(weights, components, strict=True):
        table = np.array([int(weight * weight_scale)], dtype=object)
        for row, scale in zip(rows, scales, strict=True):
            law = np.array([int(value * scale) for value in row], dtype=object)
            table = np.outer(table, law).ravel()
        total += table
    return total, weight_scale * math.prod(scales)


def _common_denominator(values: Sequence[Fraction]) -> int:
    return math.lcm(*(value.denominator for value in values))


def tv_exact_mixture(P: ProductMixture, Q: ProductMixture, max_points: int = 2**20) -> Fraction:
    r"""Total variation distance by listing all points, in exact arithmetic.

    .. math:: d_{TV}(P, Q) = \tfrac12 \sum_x |P(x) - Q(x)| \in [0, 1]

    Parameters and errors are those of ``difference_table``.
    """
    numerators, denominator = difference_table(P, Q, max_points)
    return Fraction(int(np.abs(numerators).sum()), 2 * denominator)


def tv_mixture_lower(
    P: ProductMixture,
    Q: ProductMixture,
    coordinates: Sequence[int] | None = None,
    max_points: int = 2**12,
) -> Fraction:
    r"""Certified lower bound: the exact distance of a small marginal.

    .. math:: d_{TV}(P_S, Q_S) \le d_{TV}(P, Q)

    Parameters
    ----------
    P, Q : ProductMixture
        On the same space.
    coordinates : sequence of int, optional
        The marginal S; by default a pair of coordinates, grown greedily one at a time.
    max_points : int
        Largest number of points of the marginal's space.
    """
    require_same_space(P, Q)
    chosen = _greedy_marginal(P, Q, max_points) if coordinates is None else coordinates
    return tv_exact_mixture(P.marginal(chosen), Q.marginal(chosen), max_points)


def _greedy_marginal(P: ProductMixture, Q: ProductMixture, max_points: int) -> list[int]:
    """Best pair of coordinates, then one after another; only the choice is inexact.

    A pair comes first because models of the same data often share all their single marginals.
    """
    weights = np.array([float(w) for w in (*P.weights, *(-w for w in Q.weights))])
    laws = [
        np.array([[float(value) for value in rows[j]] for rows in (*P.rows, *Q.rows)])
        for j in range(P.n_coordinates)
    ]
    informative = [j for j, law in enumerate(laws) if law.shape[1] > 1]
    table, chosen = weights[:, None], []
    steps = list(combinations(informative, 2)) or [(j,) for j in informative]
    while True:
        fitting = [step for step in steps if _points(table, laws, step) <= max_points]
        if not fitting:
            return chosen
        best = max(fitting, key=lambda step: _marginal_gap(table, laws, step))
        for j in best:
            table = _refined(table, laws[j])
        chosen += best
        steps = [(j,) for j in informative if j not in chosen]


def _points(table: np.ndarray, laws: Sequence[np.ndarray], step: Sequence[int]) -> int:
    return table.shape[1] * math.prod(laws[j].shape[1] for j in step)


def _marginal_gap(table: np.ndarray, laws: Sequence[np.ndarray], step: Sequence[int]) -> float:
    for j in step:
        table = _refined(table, laws[j])
    return float(np.abs(table.sum(axis=0)).sum())


def _refined(table: np.ndarray, law: np.ndarray) -> np.ndarray:
    return (table[:, :, None] * law[:, None, :]).reshape(len(table), -1)


def tv_mixture_upper(P: ProductMixture, Q: ProductMixture) -> Fraction:
    r"""Certified upper bound by transporting components onto components.

    .. math:: d_{TV}(P, Q) \le \sum_{i,i'} \gamma_{ii'}\,
              \min\Bigl(1 - \prod_j (1 - d_j),\ \sqrt{1 - BC^2}\Bigr)_{ii'}

    for every coupling :math:`\gamma` of the weights, with the coordinates' distances
    :math:`d_j` and Bhattacharyya coefficients multiplied to BC. A floating-point linear program
    suggests the coupling; it is then made a coupling of the exact weights, and the bound is
    evaluated in rationals with square roots rounded outwards.

    Parameters
    ----------
    P, Q : ProductMixture
        On the same space.

    Returns
    -------
    Fraction
    """
    require_same_space(P, Q)
    costs = [[_component_distance_bound(p, q) for q in Q.rows] for p in P.rows]
    plan = _repaired(_suggested_plan(P, Q, costs), P.weights, Q.weights, costs)
    return sum((mass * costs[i][k] for (i, k), mass in plan.items()), Fraction(0))


def _component_distance_bound(
    p: Sequence[Sequence[Fraction]], q: Sequence[Sequence[Fraction]]
) -> Fraction:
    agreement = Fraction(1)
    affinity = 1 << _SCALE_BITS
    for left, right in zip(p, q, strict=True):
        agreement *= sum(min(a, b) for a, b in zip(left, right, strict=True))
        overlap = sum(_sqrt_below(a * b) for a, b in zip(left, right, strict=True))
        affinity = (affinity * overlap) >> _SCALE_BITS
    hellinger = Fraction(1) - Fraction(affinity, 1 << _SCALE_BITS) ** 2
    return min(1 - agreement, _sqrt_above(max(hellinger, Fraction(0))))


def _sqrt_below(value: Fraction) -> int:
    """Square root in units of 2**-128, rounded down."""
    return math.isqrt((value.numerator << 2 * _SCALE_BITS) // value.denominator)


def _sqrt_above(value: Fraction) -> Fraction:
    scaled = -((-value.numerator << 2 * _SCALE_BITS) // value.denominator)
    return Fraction(math.isqrt(scaled - 1) + 1 if scaled else 0, 1 << _SCALE_BITS)


def _suggested_plan(
    P: ProductMixture, Q: ProductMixture, costs: Sequence[Sequence[Fraction]]
) -> np.ndarray:
    from scipy.optimize import linprog
    from scipy.sparse import kron, vstack

    k, m = P.n_components, Q.n_components
    objective = np.array([[float(cost) for cost in row] for row in costs]).ravel()
    sums = vstack([kron(np.eye(k), np.ones((1, m))), kron(np.ones((1, k)), np.eye(m))])
    totals = np.array([float(weight) for weight in (*P.weights, *Q.weights)])
    scale = objective.max() or 1.0
    solution = linprog(objective / scale, A_eq=sums.tocsr()[:-1], b_eq=totals[:-1])
    return np.zeros((k, m)) if solution.x is None else solution.x.reshape(k, m)


def _repaired(
    suggestion: np.ndarray,
    left: Sequence[Fraction],
    right: Sequence[Fraction],
    costs: Sequence[Sequence[Fraction]],
) -> dict[tuple[int, int], Fraction]:
    """A coupling of the exact weights near the suggested one."""
    rows, columns = list(left), list(right)
    plan: dict[tuple[int, int], Fraction] = {}

    def move(i: int, k: int, wanted: Fraction) -> None:
        mass = min(wanted, rows[i], columns[k])
        if mass > 0:
            plan[i, k] = plan.get((i, k), Fraction(0)) + mass
            rows[i] -= mass
            columns[k] -= mass

    pairs = [(i, k) for i in range(len(rows)) for k in range(len(columns))]
    for i, k in pairs:
        move(i, k, Fraction(float(suggestion[i, k])))
    for i, k in sorted(pairs, key=lambda pair: costs[pair[0]][pair[1]]):
        move(i, k, rows[i])
    return plan


@dataclass(frozen=True)
class MonteCarloDistance:
    """Estimate of a total variation distance with two confidence intervals.

    Attributes
    ----------
    estimate : float
        Mean of the samples.
    hoeffding, bernstein : tuple of float
        Intervals (low, high), each of the stated confidence on its own.
    samples : int
    confidence : float
    """

    estimate: float
    hoeffding: tuple[float, float]
    bernstein: tuple[float, float]
    samples: int
    confidence: float


def tv_mixture_mc(
    P: ProductMixture,
    Q: ProductMixture,
    N: int,
    rng: np.random.Generator,
    confidence: float = 0.99,
) -> MonteCarloDistance:
    r"""Estimate the distance from samples of the midpoint :math:`(P+Q)/2`.

    .. math:: d_{TV}(P, Q) = E_{(P+Q)/2}\,f, \qquad f = \frac{|P - Q|}{P + Q} \in [0, 1]

    Parameters
    ----------
    P, Q : ProductMixture
        On the same space; evaluated in double precision.
    N : int
        Number of samples, at least 2.
    rng : Generator
    confidence : float
        Of each interval, in (0, 1).

    Returns
    -------
    MonteCarloDistance
        The intervals cover sampling error, not the rounding of f, which matters below
        distances of about 1e-13.

    References
    ----------
    Hoeffding (1963); Maurer and Pontil (2009), Theorem 4, applied to both sides.
    """
    require_same_space(P, Q)
    if N < 2 or not 0 < confidence < 1:
        raise ValueError(f"need N >= 2 and 0 < confidence < 1, got N={N}, confidence={confidence}")
    from_p = rng.random(N) < 0.5
    points = np.where(from_p[:, None], sample_mixture(P, N, rng), sample_mixture(Q, N, rng))
    log_ratio = log_probabilities(Q, points) - log_probabilities(P, points)
    values = np.abs(np.tanh(log_ratio / 2))
    mean, log_term = float(values.mean()), math.log(4 / (1 - confidence))
    hoeffding = math.sqrt(math.log(2 / (1 - confidence)) / (2 * N))
    variance = float(values.var(ddof=1))
    bernstein = math.sqrt(2 * variance * log_term / N) + 7 * log_term / (3 * (N - 1))
    return MonteCarloDistance(
        mean, _around(mean, hoeffding), _around(mean, bernstein), N, confidence
    )


def _around(mean: float, radius: float) -> tuple[float, float]:
    return max(mean - radius, 0.0), min(mean + radius, 1.0)


def sample_mixture(mixture: ProductMixture, N: int, rng: np.random.Generator) -> np.ndarray:
    """N independent strings, as an integer array of shape (N, n)."""
    weights = np.array([float(weight) for weight in mixture.weights])
    labels = rng.choice(len(weights), size=N, p=weights / weights.sum())
    points = np.empty((N, mixture.n_coordinates), dtype=np.int64)
    for j in range(mixture.n_coordinates):
        laws = np.array([[float(value) for value in rows[j]] for rows in mixture.rows])
        cumulative = np.cumsum(laws, axis=1)[labels]
        uniform = rng.random(N) * cumulative[:, -1]
        points[:, j] = (uniform[:, None] >= cumulative).sum(axis=1)
    return points


def log_probabilities(mixture: ProductMixture, points: np.ndarray) -> np.ndarray:
    """Natural logarithms of the probabilities of strings, shape (N,), in double precision."""
    with np.errstate(divide="ignore"):
        logs = np.log([float(weight) for weight in mixture.weights])
        logs = np.broadcast_to(logs, (len(points), len(logs))).copy()
        for j in range(mixture.n_coordinates):
            laws = np.array([[float(value) for value in rows[j]] for rows in mixture.rows])
            logs += np.log(laws).T[points[:, j]]
    return np.logaddexp.reduce(logs, axis=1)
