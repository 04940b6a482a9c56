r"""Counting subset products with three total variation distances between product distributions.

For integers :math:`a_i \ge 1` put :math:`p_i = a_i/(1+a_i)` and :math:`A = \prod(1+a_i)`. A subset
S has probability :math:`\prod_{i\in S} a_i / A`, so the sum
:math:`F(t) = \sum_x \max(0, P(x) - t)` has a corner at :math:`\prod_S a_i / A` for every S, and a
second difference counts the corners at T/A. Each F(t) is one total variation distance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import Any

Distance = Callable[[Any, Any], Fraction]
"""Exact total variation of two product distributions given by their rows."""


def coin(success: Fraction | int) -> tuple[Fraction, Fraction]:
    """Row of a coin: probabilities of 0 and 1."""
    return 1 - Fraction(success), Fraction(success)


def excess_from_tv(coins: Sequence[Fraction], threshold: Fraction, distance: Distance) -> Fraction:
    r""":math:`F(t) = \sum_x \max(0, P(x) - t)` for m independent coins, from one distance.

    With :math:`\beta = 2^m t \le 1` it is
    :math:`d_{TV}(P \otimes \delta_1, U \otimes \mathrm{Bern}(\beta))`; otherwise, with
    :math:`\gamma = 1/\beta`, the distance
    :math:`d_{TV}(P \otimes \mathrm{Bern}(\gamma), U \otimes \delta_1)` is
    :math:`1 - \gamma + \gamma F(t)`.

    Parameters
    ----------
    coins : sequence of Fraction
        Success probabilities of P.
    threshold : Fraction
        t, not negative.
    distance : callable
        From two lists of rows to their total variation distance.
    """
    law = [coin(p) for p in coins]
    uniform = [coin(Fraction(1, 2))] * len(coins)
    beta = 2 ** len(coins) * threshold
    if beta <= 1:
        return distance([*law, coin(1)], [*uniform, coin(beta)])
    gamma = 1 / Fraction(beta)
    return (distance([*law, coin(gamma)], [*uniform, coin(1)]) - (1 - gamma)) / gamma


def subset_products_from_tv(
    a: Sequence[int], target: int, distance: Distance, step: Fraction | int = 1
) -> Fraction:
    r"""Number of index sets S with :math:`\prod_{i\in S} a_i = T`, from three distances.

    .. math:: \frac Ah \Bigl[F\bigl(\tfrac{T-h}A\bigr) - 2F\bigl(\tfrac TA\bigr)
              + F\bigl(\tfrac{T+h}A\bigr)\Bigr]

    Parameters
    ----------
    a : sequence of int
        Positive integers.
    target : int
        T, positive.
    distance : callable
        From two lists of rows to their total variation distance, exactly.
    step : Fraction or int
        h; any value up to 1 gives the count, a larger one blurs it.

    Raises
    ------
    ValueError
        If an entry of ``a`` or the target is not positive, or the step not in (0, T].
    """
    if any(factor < 1 for factor in a) or target < 1:
        raise ValueError(f"a and target must be positive integers, got {tuple(a)} and {target}")
    if not 0 < step <= target:
        raise ValueError(f"step must lie in (0, target={target}], got {step}")
    coins = [Fraction(factor, 1 + factor) for factor in a]
    scale = prod(1 + factor for factor in a)
    below, here, above = (
        excess_from_tv(coins, Fraction(target + shift) / scale, distance)
        for shift in (-step, 0, step)
    )
    return scale * (below - 2 * here + above) / Fraction(step)
