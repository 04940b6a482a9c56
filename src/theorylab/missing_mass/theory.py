r"""Predictions: identities, biases, their worst cases, and what risk is possible at all.

Notation: p a distribution over S classes, n draws, :math:`N_x` counts,
:math:`\Phi_k = \#\{x: N_x = k\}`, :math:`f_k(n) = E\,\Phi_k`,
:math:`g_k(n) = f_k(n) / \binom nk = \sum_x p_x^k (1-p_x)^{n-k}`,
:math:`M_k = \sum_x p_x 1[N_x = k]`, :math:`M = M_0` the missing mass.
Functions of a population return Fractions when it holds Fractions, and floats else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, lambertw, logsumexp

from theorylab.missing_mass.fingerprint import Population, as_population

Number = Fraction | float
Distribution = Population | Sequence[Fraction] | ArrayLike

CANCELLATION = 1e-6
REFERENCE_DIGITS = 60


def _sum_over_classes(p: Distribution, summand: Callable[[Number], Number]) -> Number:
    """Sum of ``summand(p_x)`` over classes, exact for exact populations."""
    population = as_population(p)
    if population.exact:
        return sum((m * summand(u) for u, m in population.atoms()), start=Fraction(0))
    pairs = zip(population.values.tolist(), population.multiplicities.tolist(), strict=True)
    return float(sum(m * summand(u) for u, m in pairs))


def _check(n: int, k: int, highest: int) -> None:
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    if not 0 <= k <= highest:
        raise ValueError(f"k must be between 0 and {highest}, got {k}")


def scaled_frequency(p: Distribution, n: int, k: int) -> Number:
    r""":math:`g_k(n) = \sum_x p_x^k (1-p_x)^{n-k}`, for 0 <= k <= n."""
    _check(n, k, n)
    return _sum_over_classes(p, lambda u: u**k * (1 - u) ** (n - k))


def expected_frequency(p: Distribution, n: int, k: int) -> Number:
    r""":math:`f_k(n) = E\,\Phi_k = \binom nk g_k(n)`, for 0 <= k <= n."""
    return comb(n, k) * scaled_frequency(p, n, k)


def expected_mass(p: Distribution, n: int, k: int = 0) -> Number:
    r""":math:`E\,M_k = \binom nk \sum_x p_x^{k+1}(1-p_x)^{n-k}`, for 0 <= k <= n."""
    _check(n, k, n)
    return comb(n, k) * _sum_over_classes(p, lambda u: u ** (k + 1) * (1 - u) ** (n - k))


def remainder(p: Distribution, n: int, k: int = 0) -> Number:
    r""":math:`R_{n,k} = (-1)^{n-k} \binom nk \sum_x p_x^{n+1}`, for 0 <= k <= n."""
    _check(n, k, n)
    return (-1) ** (n - k) * comb(n, k) * _sum_over_classes(p, lambda u: u ** (n + 1))


@dataclass(frozen=True)
class IdentityResult:
    """The alternating sum that ties the mass of the seen to the seen.

    Attributes
    ----------
    terms : tuple of Fraction or float
        One per observable frequency, ``i = 1..n-k``.
    remainder : Fraction or float
        What no function of the sample can supply.
    """

    terms: tuple[Number, ...]
    remainder: Number

    @property
    def observable(self) -> Number:
        """Sum of the terms: the expectation of the minimal-bias estimator."""
        return sum(self.terms, start=Fraction(0))

    @property
    def total(self) -> Number:
        """``E M_k``."""
        return self.observable + self.remainder


def identity(p: Distribution, n: int, k: int = 0, exact: bool | None = None) -> IdentityResult:
    r"""Expected mass of the classes seen k times, from expected frequencies of frequencies.

    .. math:: E\,M_k(n) = \frac{k+1}{n+1} f_{k+1}(n+1)
        = \binom nk \sum_{i=1}^{n-k} (-1)^{i-1} \frac{f_{k+i}(n)}{\binom n{k+i}} + R_{n,k}

    It follows from :math:`g_k(n) = g_k(n+1) + g_{k+1}(n+1)`, iterated.

    Parameters
    ----------
    p : Population or sequence of Fraction or float
    n : int
        Sample size, at least 1.
    k : int
        0 <= k <= n.
    exact : bool, optional
        Ask for Fractions (True) or for floats (False); by default what ``p`` holds.

    Raises
    ------
    TypeError
        If exactness is asked of floats.
    ValueError
        If ``p`` is no distribution or k is out of range.
    """
    _check(n, k, n)
    population = as_population(p)
    if exact:
        population.atoms()
    if exact is False and population.exact:
        population = Population.from_atoms(population.floats, population.multiplicities)
    terms = tuple(
        (-1) ** (i - 1) * comb(n, k) * scaled_frequency(population, n, k + i)
        for i in range(1, n - k + 1)
    )
    return IdentityResult(terms, remainder(population, n, k))


def good_turing_bias(p: Distribution, n: int, k: int = 0) -> Number:
    r"""Bias of :math:`G_k = \frac{k+1}n \Phi_{k+1}` for :math:`M_k`, 0 <= k <= n.

    .. math:: E\,G_k - E\,M_k
        = -\frac{k(k+1)}{n(n-k)} f_{k+1}(n) + \binom nk g_{k+2}(n+1)
        = \binom nk \sum_x p_x^{k+1} (1-p_x)^{n-k-1} \Bigl(p_x - \frac kn\Bigr)

    the last form being right for k = n too, where it is :math:`-\sum_x p_x^{n+1}`. For k = 0 it
    is :math:`\sum_x p_x^2 (1-p_x)^{n-1} \ge 0`.
    """
    _check(n, k, n)
    if k == n:
        return -_sum_over_classes(p, lambda u: u ** (n + 1))
    shift = Fraction(k, n) if as_population(p).exact else k / n
    return comb(n, k) * _sum_over_classes(
        p, lambda u: u ** (k + 1) * (1 - u) ** (n - k - 1) * (u - shift)
    )


def minimal_bias_bias(p: Distribution, n: int, k: int = 0) -> Number:
    r"""Bias of the minimal-bias estimator, :math:`-R_{n,k}`."""
    return -remainder(p, n, k)


def truncated_bias(p: Distribution, n: int, K: int) -> Number:
    r"""Bias of the minimal-bias estimator of M stopped after K terms, 1 <= K <= n.

    .. math:: E\,B_K - E\,M = -(-1)^K \sum_x p_x^{K+1} (1-p_x)^{n-K}
    """
    _check(n, K, n)
    return -((-1) ** K) * _sum_over_classes(p, lambda u: u ** (K + 1) * (1 - u) ** (n - K))


def truncated_bias_bound(n: int, K: int) -> Fraction:
    r"""Largest absolute bias of :math:`B_K` over all populations.

    .. math:: \sup_p |E\,B_K - E\,M| = (K/n)^K (1-K/n)^{n-K}

    Attained by the uniform on n/K classes where that is a whole number. ``K = n/2`` gives
    :math:`2^{-n}`, ``K = 1`` is Good-Turing, ``K = n`` gives 1.
    """
    _check(n, K, n)
    return Fraction(K, n) ** K * (1 - Fraction(K, n)) ** (n - K)


def chebyshev_bias(p: Distribution, n: int) -> Number:
    r"""Bias :math:`-(-1)^n \sum_x p_x T(p_x)`, T the monic Chebyshev polynomial on [0, 1].

    Computed from :math:`T(x) = 2^{1-2n} T_n(2x-1)` by the three-term recurrence.
    """
    _check(n, 0, n)
    return -((-1) ** n) * _sum_over_classes(p, lambda u: u * _monic_chebyshev_at(u, n))


def _monic_chebyshev_at(u: Number, n: int) -> Number:
    x = 2 * u - 1
    previous, current = type(u)(1), x
    for _ in range(n - 1):
        previous, current = current, 2 * x * current - previous
    scale = Fraction(2, 4**n)
    return current * (scale if isinstance(u, Fraction) else float(scale))


def chebyshev_bias_bound(n: int) -> Fraction:
    """Bound 2^(1-2n) on the absolute bias of the Chebyshev estimator, over all populations."""
    _check(n, 0, n)
    return Fraction(2, 4**n)


def bias_lower_bound(n: int) -> Fraction:
    r"""Worst-case absolute bias that *every* function of n draws has, given 3 classes or more.

    .. math:: (1 - 2^{-n})\, 2^{-2n-1}

    On :math:`(a, \frac{1-a}2, \frac{1-a}2)` the bias is a polynomial in a of degree n+1. The
    estimator contributes degree n at most, so the leading coefficient is that of -E M,
    :math:`2^{-n} - (-1)^n`; no polynomial with that leading coefficient is smaller on [0, 1]
    than the Chebyshev polynomial of degree n+1, whose monic form has supremum 2 / 4^(n+1).
    """
    _check(n, 0, n)
    return (1 - Fraction(1, 2**n)) * Fraction(1, 2 * 4**n)


def no_unbiased_estimator(classes: int, n: int) -> bool:
    """Whether unbiased estimation of E M from n draws over ``classes`` classes is impossible.

    Unbiasedness asks that e_1 divide sum p_x (e_1 - p_x)^n, which is (-1)^n sum p_x^(n+1)
    modulo e_1 = sum p_x. With p_S = -(p_1 + ... + p_{S-1}) that residue vanishes for one class,
    and for two exactly when n is even.
    """
    if classes < 1 or n < 1:
        raise ValueError(f"need classes >= 1 and n >= 1, got {classes} and {n}")
    return classes >= 3 or (classes == 2 and n % 2 == 1)


def remainder_exponent(p_max: Number, fraction: float = 0.0) -> float:
    r"""Limit of :math:`\frac1n \log |R_{n,k}|` for k = fraction * n, natural logarithms.

    .. math:: h(k/n) + \log p_{\max}, \qquad h(t) = -t\log t - (1-t)\log(1-t)

    Only where this is negative does the remainder decay exponentially.
    """
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must lie in [0, 1], got {fraction}")
    entropy = -sum(t * log(t) for t in (fraction, 1 - fraction) if t > 0)
    return entropy + log(float(p_max))


def log10_bias(p: Distribution, n: int, k: int = 0, estimator: str = "good_turing") -> float:
    r"""Base-10 logarithm of the absolute bias, for sizes where the bias itself underflows.

    Parameters
    ----------
    p : Population or sequence
    n : int
    k : int
        The mass of the classes seen k times is estimated, 0 <= k <= n.
    estimator : {"good_turing", "minimal_bias"}

    Returns
    -------
    float
        ``-inf`` where the bias is exactly zero.

    Raises
    ------
    ValueError
        If the estimator is unknown or k out of range.
    """
    _check(n, k, n)
    population = as_population(p)
    if estimator == "minimal_bias":
        return _log10_minimal(population, n, k)
    if estimator == "good_turing":
        return _log10_good_turing(population, n, k)
    raise ValueError(f"estimator must be 'good_turing' or 'minimal_bias', got {estimator!r}")


def _log_comb(n: int, k: int) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _log10_minimal(population: Population, n: int, k: int) -> float:
    u, m = population.floats, population.multiplicities.astype(float)
    return float((_log_comb(n, k) + logsumexp((n + 1) * np.log(u), b=m)) / log(10))


def _log10_good_turing(population: Population, n: int, k: int) -> float:
    if k == n:
        return _log10_minimal(population, n, n)
    u, m = population.floats, population.multiplicities.astype(float)
    signed = m * (u - k / n)
    with np.errstate(divide="ignore"):
        rest = (n - k - 1) * np.log1p(-u) if k < n - 1 else np.zeros_like(u)
    logs = (k + 1) * np.log(u) + rest
    total, sign = logsumexp(logs, b=signed, return_sign=True)
    largest = float(np.max(logs + np.log(np.maximum(np.abs(signed), 1e-300))))
    if sign == 0 or total < largest + log(CANCELLATION):
        return _log10_good_turing_slowly(population, n, k)
    return float((_log_comb(n, k) + total) / log(10))


def _log10_good_turing_slowly(population: Population, n: int, k: int) -> float:
    """The same with many digits, for populations whose classes' biases nearly cancel."""
    import mpmath

    with mpmath.workdps(REFERENCE_DIGITS):
        atoms = [
            (mpmath.mpf(Fraction(u).numerator) / Fraction(u).denominator, int(m))
            for u, m in zip(population.values, population.multiplicities, strict=True)
        ]
        total = mpmath.fsum(
            m * u ** (k + 1) * (1 - u) ** (n - k - 1) * (u - mpmath.mpf(k) / n) for u, m in atoms
        )
        if total == 0:
            return -np.inf
        return float(mpmath.log10(mpmath.binomial(n, k) * abs(total)))


@dataclass(frozen=True)
class RiskParts:
    """Moments that decide the risk of Good-Turing and of its frozen variants.

    Attributes
    ----------
    variance : Fraction or float
        Var G.
    mass_variance : Fraction or float
        Var M.
    covariance : Fraction or float
        Cov(G, M).
    bias : Fraction or float
        E G - E M.
    """

    variance: Number
    mass_variance: Number
    covariance: Number
    bias: Number

    @property
    def mse(self) -> Number:
        """E (G - M)^2."""
        return self.variance + self.mass_variance - 2 * self.covariance + self.bias**2


def frozen_mse(parts: RiskParts, w: Number) -> Number:
    r"""Expected frozen error of :math:`T_w = (1-w)\,G(s) + w\,\Phi_1(s')/n`.

    The pilot s sets the constant, a fresh s' is plugged in, and the missing mass is that of s':

    .. math:: [(1-w)^2 + w^2] V_G + V_M - 2wC + \beta^2

    On its own sample, s' = s, every :math:`T_w` is Good-Turing.
    """
    return (
        ((1 - w) ** 2 + w**2) * parts.variance
        + parts.mass_variance
        - 2 * w * parts.covariance
        + parts.bias**2
    )


def held_out_mse(expected_mass: Number, expected_square: Number, n: int) -> Number:
    r"""Error of the fraction of n extra draws that fall outside the sample.

    Given the sample it is a binomial proportion: :math:`E[M(1-M)]/n`.
    """
    return (expected_mass - expected_square) / n


def uniform_good_turing_mse(n: int, classes: int) -> Fraction:
    """E (G - M)^2 for the uniform population, exactly."""
    _check(n, 0, n)
    if classes < 1:
        raise ValueError(f"classes must be at least 1, got {classes}")
    u = Fraction(1, classes)
    f1 = n * (1 - u) ** (n - 1)
    two_singletons = n * (n - 1) * (1 - u) * (1 - 2 * u) ** (n - 2) if n > 1 else Fraction(0)
    singleton_and_missing = n * (1 - u) * (1 - 2 * u) ** (n - 1)
    square = u * (1 - u) ** n + (1 - u) * (1 - 2 * u) ** n
    return (f1 + two_singletons) / n**2 - 2 * singleton_and_missing / n + square


def worst_uniform(n: int, sizes: Iterable[int]) -> tuple[Fraction, int]:
    """Largest n * MSE of Good-Turing over uniform populations, and the size that has it."""
    return max((n * uniform_good_turing_mse(n, classes), classes) for classes in sizes)


def good_turing_limit(y: Number) -> float:
    r"""Limit of n * MSE of Good-Turing on a uniform population with :math:`e^{-n/S} = y`.

    .. math:: \mu_1 + \mu_2 - \mu_1^2 = y(1 - \ln y) - y^2, \qquad
        \mu_1 = f_1/n,\ \mu_2 = 2f_2/n

    Any population mixes such y; the first part is concave in y, so a single y is the worst.
    """
    if not 0 < y < 1:
        raise ValueError(f"y must lie in (0, 1), got {y}")
    return float(y * (1 - log(y)) - y**2)


def worst_case_load() -> tuple[float, float]:
    r"""The y and the n/S at which Good-Turing's asymptotic risk is largest.

    .. math:: y^* = \tfrac12 W(2), \qquad \lambda^* = -\ln y^*

    W is the Lambert function.
    """
    y = 0.5 * float(lambertw(2.0).real)
    return y, -log(y)


def worst_case_risk() -> float:
    r"""Largest asymptotic n * MSE of Good-Turing over all populations, :math:`y^* + y^{*2}`."""
    y, _ = worst_case_load()
    return y + y * y


def certified_worst_case_risk(cells: int = 4096) -> tuple[float, float]:
    r"""Interval that provably contains :math:`\max_{0<y<1} y(1-\ln y) - y^2`.

    Ball arithmetic: the derivative :math:`-\ln y - 2y` is decreasing, and of certified opposite
    signs at the ends of one of ``cells`` cells; the maximum is the value on that cell.
    """
    from flint import arb

    def slope(y: arb) -> arb:
        return -y.log() - 2 * y

    left = next(i for i in range(1, cells) if slope(arb(i + 1) / cells) < 0)
    if not slope(arb(left) / cells) > 0:
        raise ArithmeticError(f"the sign change is not resolved with {cells} cells; use fewer")
    middle, radius = arb(2 * left + 1) / (2 * cells), arb(0, 0.5 / cells)
    centre_value = middle * (1 - middle.log()) - middle**2
    # Mean-value form: the value on the cell differs from the centre's by slope times distance.
    value = centre_value + slope(middle + radius) * radius
    bound = value.union(centre_value)
    return (
        float(np.nextafter(float(bound.lower()), -np.inf)),
        float(np.nextafter(float(bound.upper()), np.inf)),
    )


def uniform_floor(load: ArrayLike) -> NDArray[np.float64]:
    r"""Asymptotic risk, relative to Good-Turing, of the best estimate told "it is uniform".

    The number of distinct classes is sufficient for the unknown S, and with
    :math:`\lambda = n/S` the plug-in of the maximum-likelihood S has

    .. math:: R(\lambda) = \frac{\lambda e^{-\lambda} (1-e^{-\lambda})^2}
        {[1 - (1+\lambda)e^{-\lambda}]\,[(1+\lambda)e^{-\lambda} - e^{-2\lambda}]}

    Raises
    ------
    ValueError
        If a load is not positive.
    """
    lam = np.asarray(load, dtype=float)
    if not (lam > 0).all():
        raise ValueError(f"load n/S must be positive, got {load}")
    y = np.exp(-lam)
    seen_twice = -np.expm1(-lam) - lam * y
    return lam * y * np.expm1(-lam) ** 2 / (seen_twice * ((1 + lam) * y - y**2))
