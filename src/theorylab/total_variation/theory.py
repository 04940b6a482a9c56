"""Predictions of the chapter: closed forms and bounds, with no algorithm behind them."""

from __future__ import annotations

from fractions import Fraction
from math import factorial


def moment_gap(n: int, scale: Fraction | int = 1) -> Fraction:
    r"""Total variation distance of the two mixtures of an order-``n`` moment pair.

    .. math:: d_{TV}(P_n, Q_n) = s^n\, n!/n^n

    Parameters
    ----------
    n : int
        Order n >= 1: number of coordinates, one less than the number of components.
    scale : Fraction or int
        Spread s of the success probabilities around 1/2, in (0, 1].

    Returns
    -------
    Fraction
    """
    return Fraction(scale) ** n * Fraction(factorial(n), n**n)


def moment_pointwise_gap(n: int, scale: Fraction | int = 1) -> Fraction:
    r"""The difference :math:`|P_n(x) - Q_n(x)| = 2^{1-n} s^n n!/n^n`, the same at every ``x``.

    Parameters are those of ``moment_gap``; the value is twice the distance over ``2**n`` points.
    """
    return 2 * moment_gap(n, scale) / 2**n


def paper_operation_bound(n: int, k: int, alphabet: int) -> int:
    r"""Order of the paper's operation count, :math:`n k^4 |\Sigma|^4`, without its constant."""
    return n * k**4 * alphabet**4


def cubic_operation_bound(n: int, stacked: int, alphabet: int) -> int:
    r"""Multiplications of one incremental echelon basis per layer: :math:`n|\Sigma|K^3`.

    Parameters
    ----------
    n : int
        Number of coordinates.
    stacked : int
        Components of both mixtures together, :math:`K = k + \ell`.
    alphabet : int
        Largest alphabet.
    """
    return n * alphabet * stacked**3


def quadratic_operation_bound(n: int, stacked: int, alphabet: int) -> int:
    r"""Multiplications when the basis is kept fully reduced: :math:`|\Sigma| K^2 (2n + K)`.

    The image :math:`D_{j,a}y` of a fully reduced row is zero at every old pivot but its own, so
    reducing it costs one row operation and one more for every pivot that its layer adds; there
    are at most K - 1 additions in all.

    Parameters are those of ``cubic_operation_bound``.
    """
    return alphabet * stacked**2 * (2 * n + stacked)


def false_zero_bound(n: int, prime: int) -> Fraction:
    r"""Chance that the randomised test overlooks a difference: at most :math:`n/p`."""
    return min(Fraction(1), Fraction(n, prime))


def moment_false_zero_rate(n: int, prime: int) -> Fraction:
    r"""The same chance for a moment pair, exactly: :math:`1 - (1 - 1/p)^n`.

    Its difference is a constant times :math:`\prod_j (z_{j,1} - z_{j,0})`, which vanishes when
    one of n independent uniform differences does.
    """
    return 1 - (1 - Fraction(1, prime)) ** n


def satisfying_assignments(cube_points: int, excess: Fraction) -> Fraction:
    r"""Number of models of a DNF from one total variation distance.

    .. math:: \#\mathrm{SAT} = C - C\,F(1/C), \qquad F(t) = \sum_x \max(0, P(x) - t)

    Parameters
    ----------
    cube_points : int
        :math:`C = \sum_i |C_i|`, the sizes of the terms added up.
    excess : Fraction
        :math:`F(1/C)` for the law :math:`P(x) \propto` number of terms that x satisfies.
    """
    return cube_points - cube_points * excess


def disjoint_terms_models(n: int, widths: list[int]) -> int:
    r"""Number of models of a DNF whose terms share no variable.

    .. math:: 2^n \Bigl(1 - \prod_i (1 - 2^{-w_i})\Bigr)

    Parameters
    ----------
    n : int
        Number of variables.
    widths : list of int
        Literals :math:`w_i` of every term, at most n together.
    """
    missed = Fraction(1)
    for width in widths:
        missed *= 1 - Fraction(1, 2**width)
    return int(2**n * (1 - missed))
