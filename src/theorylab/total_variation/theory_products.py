"""Predictions for product distributions: closed forms, constants, sample sizes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, comb, erf, exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

EUCLIDEAN_CONSTANT = exp(-0.5) / sqrt(5.0)
r"""A proved c in :math:`d_{TV} \ge c\,\min(1, \|\delta\|_2)`; see ``fourier_lower_bound``."""

EUCLIDEAN_CEILING = erf(sqrt(0.5))
r"""No c above :math:`2\Phi(1) - 1` will do: n fair coins, each shifted by :math:`1/\sqrt n`."""


def identical_coins_tv(n: int, p: Fraction, q: Fraction) -> Fraction:
    r"""Total variation between n tosses of a p-coin and n tosses of a q-coin.

    .. math:: \sum_k \binom nk \max\bigl(0,\; p^k(1-p)^{n-k} - q^k(1-q)^{n-k}\bigr)

    Parameters
    ----------
    n : int
        Number of tosses.
    p, q : Fraction
        Success probabilities.
    """
    gaps = (p**k * (1 - p) ** (n - k) - q**k * (1 - q) ** (n - k) for k in range(n + 1))
    return sum((comb(n, k) * max(Fraction(0), gap) for k, gap in enumerate(gaps)), Fraction(0))


def count_subset_products(a: Sequence[int], target: int) -> int:
    r"""Number of index sets S with :math:`\prod_{i \in S} a_i = T`, by running over divisors.

    Parameters
    ----------
    a : sequence of int
        Positive integers.
    target : int
        The product T, positive.
    """
    ways = {1: 1}
    for factor in a:
        grown = dict(ways)
        for product, count in ways.items():
            if target % (product * factor) == 0:
                grown[product * factor] = grown.get(product * factor, 0) + count
        ways = grown
    return ways.get(target, 0)


def tent_count_subset_products(a: Sequence[int], target: int, step: Fraction) -> Fraction:
    r"""What the second difference with step h counts: :math:`\sum_S \max(0, 1 - |a_S - T|/h)`.

    Equal to ``count_subset_products`` for every h up to 1, since products are integers.
    """
    products = [1]
    for factor in a:
        products += [factor * product for product in products]
    return sum(
        (max(Fraction(0), 1 - abs(x - target) / Fraction(step)) for x in products), Fraction(0)
    )


def chernoff_draws(eps: float, delta: float, mean_at_least: float) -> int:
    r"""Draws of a [0, 1] variable that give its mean within a factor :math:`1 \pm \varepsilon`.

    .. math:: N = \lceil 3 \ln(2/\delta) / (\varepsilon^2 R_L) \rceil

    Parameters
    ----------
    eps, delta : float
        Relative error in (0, 1] and failure probability in (0, 1).
    mean_at_least : float
        A proved lower bound :math:`R_L > 0` on the mean.
    """
    return ceil(3.0 * log(2.0 / delta) / (eps**2 * mean_at_least))


def fourier_lower_bound(shifts: NDArray[np.float64], scales: NDArray[np.float64]) -> float:
    r"""A lower bound on total variation from one sine.

    Both laws can be degraded to :math:`\otimes_i \mathrm{Bern}(\frac12 \pm \frac{a_i}2)` (see
    ``symmetric_shifts``), which only lowers the distance. There :math:`(P-Q)/2` is :math:`2^{-n}`
    times the odd part of :math:`\prod_i (1 + a_i\sigma_i)`, and testing it against
    :math:`\sin(\sum_i t_i \sigma_i)` gives, for every :math:`t`,

    .. math:: d_{TV} \ge \operatorname{Im} \prod_i (\cos t_i + \mathrm i\, a_i \sin t_i).

    With :math:`\tan t_i = \kappa a_i` the right-hand side is

    .. math:: \prod_i \sqrt{\frac{1 + \kappa^2 a_i^4}{1 + \kappa^2 a_i^2}}\;
              \sin\Bigl(\sum_i \arctan(\kappa a_i^2)\Bigr),

    of which the best :math:`\kappa` is taken. For :math:`\|\delta\|_2 \le 1` degrade further to
    :math:`a_i = d_i/2` and put :math:`\kappa = 1/\|a\|_2`: the product is at least
    :math:`e^{-1/2}`, the angle at least :math:`\arctan\|a\|_2`, and the bound at least
    :math:`e^{-1/2}\|a\|_2/\sqrt{1 + \|a\|_2^2} \ge e^{-1/2}\|\delta\|_2/\sqrt5`.

    Parameters
    ----------
    shifts : numpy.ndarray, shape (n,)
        :math:`a_i \in [0, 1]`.
    scales : numpy.ndarray
        Values of :math:`\kappa \|a\|_2` to try; each one gives a valid bound.

    Returns
    -------
    float
        The largest of the bounds, and of 0.
    """
    norm = float(np.linalg.norm(shifts))
    if norm == 0.0:
        return 0.0
    squares = shifts[shifts > 0] ** 2
    return max(0.0, *(_one_sine(squares, float(scale) / norm) for scale in scales))


def _one_sine(squares: NDArray[np.float64], kappa: float) -> float:
    logarithm = np.log1p((kappa * squares) ** 2) - np.log1p(kappa**2 * squares)
    return float(np.exp(0.5 * logarithm.sum()) * np.sin(np.arctan(kappa * squares).sum()))
