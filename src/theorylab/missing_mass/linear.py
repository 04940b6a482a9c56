"""Estimators that are linear in the fingerprint, and the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from numbers import Rational

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorylab.missing_mass import theory
from theorylab.missing_mass.fingerprint import Fingerprint
from theorylab.missing_mass.moments import Moments

Number = Fraction | float


@dataclass(frozen=True)
class Linear:
    r"""The estimator :math:`c_0 + \sum_{k\le K} c_k\Phi_k`.

    Parameters
    ----------
    c : sequence of Fraction or float, length K
        Coefficients of ``Phi_1, ..., Phi_K``.
    c0 : Fraction or float
        Constant term.

    Raises
    ------
    ValueError
        If there are no coefficients or some are not finite.
    """

    c: tuple[Number, ...]
    c0: Number = Fraction(0)

    def __init__(self, c: Sequence[Number] | ArrayLike, c0: Number = Fraction(0)) -> None:
        coefficients = tuple(_number(value) for value in c)  # type: ignore[union-attr]
        if not coefficients:
            raise ValueError("c is empty: need at least the coefficient of Phi_1")
        object.__setattr__(self, "c", coefficients)
        object.__setattr__(self, "c0", _number(c0))

    @property
    def exact(self) -> bool:
        """Whether all coefficients are Fractions."""
        return all(isinstance(value, Fraction) for value in (*self.c, self.c0))

    @cached_property
    def coefficients(self) -> NDArray[np.float64]:
        """Coefficients of ``Phi_1..Phi_K`` in double precision, shape (K,)."""
        return np.array([float(value) for value in self.c])

    def floats(self) -> Linear:
        """The same estimator in double precision."""
        return Linear(self.coefficients, float(self.c0))

    def estimate(self, fp: Fingerprint) -> float:
        """Value on a sample, in double precision, neither clamped nor rounded."""
        used = self._used(fp)
        return float(self.c0) + sum(float(self.c[k - 1]) * m for k, m in used)

    def exact_estimate(self, fp: Fingerprint) -> Fraction:
        """Value on a sample as a Fraction.

        Raises
        ------
        TypeError
            If a coefficient is a float.
        """
        self._need_exact()
        used = self._used(fp)
        return sum((Fraction(self.c[k - 1]) * m for k, m in used), start=Fraction(self.c0))

    def _used(self, fp: Fingerprint) -> Iterator[tuple[int, int]]:
        """Orders of the sample that have a coefficient, with their frequencies."""
        K = len(self.c)
        pairs = zip(fp.orders, fp.frequencies, strict=True)
        return ((k, m) for k, m in pairs if k <= K)

    def _need_exact(self) -> None:
        if not self.exact:
            raise TypeError("an exact result needs Fraction coefficients, these are floats")

    def expectation(self, mom: Moments) -> Number:
        """Expected value, ``c0 + c . f``."""
        c, c0 = self._matching(mom)
        return c0 + _dot(c, mom.f[: len(c)])

    def bias(self, mom: Moments) -> Number:
        """Expected value minus ``E M``."""
        return self.expectation(mom) - mom.EM

    def variance(self, mom: Moments) -> Number:
        """Variance of the estimator itself."""
        c, _ = self._matching(mom)
        K = len(c)
        return _dot(c, mom.second[:K, :K] @ c) - _dot(c, mom.f[:K]) ** 2

    def covariance(self, mom: Moments) -> Number:
        """Covariance of the estimator with the missing mass."""
        c, _ = self._matching(mom)
        K = len(c)
        return _dot(c, mom.cross[:K]) - _dot(c, mom.f[:K]) * mom.EM

    def risk_parts(self, mom: Moments) -> theory.RiskParts:
        """What the risk of the estimator and of its frozen variants is made of."""
        return theory.RiskParts(
            variance=self.variance(mom),
            mass_variance=mom.EM2 - mom.EM**2,
            covariance=self.covariance(mom),
            bias=self.bias(mom),
        )

    def mse(self, mom: Moments) -> Number:
        r"""Mean squared error against the random missing mass.

        .. math:: E(T-M)^2 = c^\top A c - 2 b^\top c + E M^2
        """
        c, c0 = self._matching(mom)
        K = len(c)
        without = _dot(c, mom.second[:K, :K] @ c) - 2 * _dot(c, mom.cross[:K]) + mom.EM2
        return without + 2 * c0 * (_dot(c, mom.f[:K]) - mom.EM) + c0**2

    def mse_about_mean(self, mom: Moments) -> Number:
        r"""Mean squared error against the *mean* missing mass, bias² + variance.

        This is not the error of the estimate that is reported; ``mse`` is.
        """
        return self.bias(mom) ** 2 + self.variance(mom)

    def _matching(self, mom: Moments) -> tuple[NDArray, Number]:
        """Coefficients in the number type of the moments, trailing zeros dropped."""
        used = max((k for k, value in enumerate(self.c, start=1) if value != 0), default=1)
        if used > mom.K:
            raise ValueError(f"the estimator uses Phi_{used}, the moments stop at K={mom.K}")
        if mom.f.dtype == object:
            self._need_exact()
            return np.array(self.c[:used], dtype=object), self.c0
        return self.coefficients[:used], float(self.c0)

    def to_size(self, n: int, m: int) -> Linear:
        r"""The formula for sample size n, moved to sample size m.

        .. math:: c_k \mapsto c_k \binom nk / \binom mk

        Raises
        ------
        ValueError
            If a coefficient that is used has ``k`` above ``n`` or ``m``.
        """
        used = max((k for k, value in enumerate(self.c, start=1) if value != 0), default=1)
        if used > min(n, m):
            raise ValueError(f"Phi_{used} is used, but {min(n, m)} draws cannot show it")
        ratios = [Fraction(comb(n, k), comb(m, k)) for k in range(1, used + 1)]
        moved = [
            value * (ratio if isinstance(value, Fraction) else float(ratio))
            for value, ratio in zip(self.c, ratios, strict=False)
        ]
        return Linear(moved, self.c0)

    def rao_blackwell(self, prefix: int | None = None, n: int | None = None) -> Linear:
        r"""Condition on the whole fingerprint.

        A formula read on the first ``prefix`` of ``n`` draws becomes the linear function of
        the fingerprint of all n draws with the same bias and no larger mean squared error,

        .. math:: E[\Phi_k(n')\mid\Phi(n)] =
            \sum_j \Phi_j(n) \binom jk \binom{n-j}{n'-k} \Big/ \binom n{n'}.

        Without arguments the formula already reads the whole sample and stays what it is.

        Raises
        ------
        ValueError
            If only one of the two sizes is given, or not ``1 <= prefix <= n``.
        """
        if prefix is None and n is None:
            return self
        if prefix is None or n is None:
            raise ValueError("give both prefix and n, or neither")
        if not 1 <= prefix <= n:
            raise ValueError(f"need 1 <= prefix <= n, got prefix={prefix} and n={n}")
        conditioned: list[Number] = [Fraction(0)] * n
        for k, value in enumerate(self.c, start=1):
            if value == 0 or k > prefix:
                continue
            for j in range(k, n - prefix + k + 1):
                weight = hypergeometric(j, k, n, prefix)
                exact = isinstance(value, Fraction)
                conditioned[j - 1] += value * (weight if exact else float(weight))
        return Linear(conditioned, self.c0)


def hypergeometric(j: int, k: int, n: int, prefix: int) -> Fraction:
    """Probability that k of a class's j occurrences among n draws fall in the first ``prefix``."""
    if not 0 <= prefix - k <= n - j:
        return Fraction(0)
    return Fraction(comb(j, k) * comb(n - j, prefix - k), comb(n, prefix))


def _dot(left: NDArray, right: NDArray) -> Number:
    """Inner product, in Fractions for arrays of these."""
    product = np.dot(left, right)
    return product if isinstance(product, Fraction) else float(product)


def _number(value: object) -> Number:
    """A Fraction for rationals, a finite float for the rest."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, (Rational, np.integer)):
        return Fraction(int(value) if isinstance(value, np.integer) else value)
    number = float(value)  # type: ignore[arg-type]
    if not np.isfinite(number):
        raise ValueError(f"coefficients must be finite, got {number}")
    return number


def good_turing(n: int, k: int = 0) -> Linear:
    r"""Good-Turing estimator of the mass of the classes seen k times, exact coefficients.

    .. math:: G_k = \frac{k+1}{n}\Phi_{k+1}

    Raises
    ------
    ValueError
        If not ``0 <= k`` and ``1 <= n``.
    """
    _check_class(n, k)
    return Linear((Fraction(0),) * k + (Fraction(k + 1, n),))


def minimal_bias(n: int, K: int | None = None, k: int = 0) -> Linear:
    r"""Minimal-bias estimator, truncated after K terms, exact coefficients.

    .. math:: B^{(k)}_K = \sum_{i=1}^{K} (-1)^{i-1} \binom nk \Phi_{k+i} \Big/ \binom n{k+i}

    Parameters
    ----------
    n : int
        Sample size.
    K : int, optional
        Number of terms, ``1 <= K <= n - k``; all of them by default. ``K=1``, ``k=0`` is
        Good-Turing.
    k : int
        The mass of the classes seen k times is estimated.

    Raises
    ------
    ValueError
        If ``k`` is not in 0..n-1 or K not in 1..n-k.
    """
    _check_class(n, k)
    terms = n - k if K is None else K
    if not 1 <= terms <= n - k:
        raise ValueError(f"K must be between 1 and n-k={n - k}, got {K}")
    alternating = [
        (-1) ** (i - 1) * Fraction(comb(n, k), comb(n, k + i)) for i in range(1, terms + 1)
    ]
    return Linear([Fraction(0)] * k + alternating)


def chebyshev(n: int) -> Linear:
    r"""Linear estimator with absolute bias at most :math:`2^{1-2n}` for every population.

    With T the monic Chebyshev polynomial of degree n on [0, 1], its bias is
    :math:`-(-1)^n \sum_x p_x T(p_x)`; see ``with_residue``.

    Raises
    ------
    ValueError
        If ``n < 1``.
    """
    return with_residue(n, monic_chebyshev(n))


def with_residue(n: int, polynomial: Sequence[Fraction]) -> Linear:
    r"""Linear estimator of M whose bias is :math:`-(-1)^n \sum_x p_x T(p_x)`.

    Every monic T of degree n has one, with coefficients that solve

    .. math:: \sum_{k=1}^n c_k \binom nk q^k (1-q)^{n-k} = q(1-q)^n - (-1)^n q\,T(q).

    :math:`T(q) = q^n` gives the minimal-bias estimator.

    Parameters
    ----------
    n : int
        Sample size.
    polynomial : sequence of Fraction, length n + 1
        Coefficients of T, constant first; the last one is 1.

    Raises
    ------
    ValueError
        If ``n < 1`` or T is not monic of degree n.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    if len(polynomial) != n + 1 or polynomial[-1] != 1:
        raise ValueError(f"polynomial must be monic of degree n={n}: n+1 coefficients, the last 1")
    # The two terms of degree n+1 cancel; what is left is re-expressed in the Bernstein basis.
    target = [Fraction(0)] + [
        Fraction((-1) ** i * comb(n, i)) - (-1) ** n * polynomial[i] for i in range(n)
    ]
    return Linear(
        [
            sum(
                (target[i] * Fraction(comb(k, i), comb(n, i)) for i in range(k + 1)),
                start=Fraction(0),
            )
            for k in range(1, n + 1)
        ]
    )


def monic_chebyshev(n: int) -> list[Fraction]:
    """Coefficients, constant first, of the monic Chebyshev polynomial of degree n on [0, 1].

    Raises
    ------
    ValueError
        If ``n < 1``.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    previous, current = [1], [-1, 2]
    for _ in range(n - 1):
        following = [0, *(4 * c for c in current)]
        for i, c in enumerate(current):
            following[i] -= 2 * c
        for i, c in enumerate(previous):
            following[i] -= c
        previous, current = current, following
    return [Fraction(c, current[-1]) for c in current]


def _check_class(n: int, k: int) -> None:
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    if not 0 <= k < n:
        raise ValueError(f"k must be between 0 and n-1={n - 1}, got {k}")
