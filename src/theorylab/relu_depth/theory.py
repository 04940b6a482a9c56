r"""What the theory predicts: depth bounds by number format, forced primes, universal divisors.

Notation: :math:`F_n(x)=\max(0,x_1,\dots,x_n)`, as deep as the maximum of n+1 numbers; weights are
N-ary fractions :math:`z/N^t`; :math:`p(N)` is the least prime that does not divide N.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial, gcd, lcm, log
from numbers import Integral

SHARP_CONSTANT = log(log(3)) / log(2)
r"""The best C in "depth at least :math:`C\ln n/\ln\ln N` for all n, N at least 3"."""

RATIONAL_TWO_LAYERS = 10
"""Largest m for which two hidden layers with rational weights are published (2607.21651 v1)."""


def _positive(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return int(value)


def ceil_log(base: int, value: int) -> int:
    r""":math:`\lceil\log_b v\rceil` in integers; logarithms in floats fail at exact powers.

    Raises
    ------
    ValueError
        If the base is below 2 or the value below 1.
    """
    if _positive(base, "base") < 2:
        raise ValueError(f"base must be at least 2, got {base}")
    _positive(value, "value")
    exponent, power = 0, 1
    while power < value:
        exponent, power = exponent + 1, power * base
    return exponent


def primes() -> Iterator[int]:
    """The primes in order."""
    found: list[int] = []
    candidate = 2
    while True:
        if all(candidate % p for p in found if p * p <= candidate):
            found.append(candidate)
            yield candidate
        candidate += 1


def is_prime(value: int) -> bool:
    """Whether an integer is prime, by trial division."""
    return value >= 2 and all(value % d for d in range(2, int(value**0.5) + 1))


def smallest_prime_not_dividing(N: int) -> int:
    r""":math:`p(N)`, the least prime that does not divide N.

    Raises
    ------
    ValueError
        If N is not a positive integer.
    """
    number = _positive(N, "N")
    return next(p for p in primes() if number % p)


@dataclass(frozen=True)
class DepthBounds:
    """How many hidden layers the maximum of n + 1 numbers needs in a number format.

    Attributes
    ----------
    n, N
        Inputs of F_n, and the base of the fractions; N is None for all rationals.
    theorem2 : int
        The bound of the theorem alone; 0 where it says nothing.
    lower, upper : int
        The best bounds known here.
    lower_source, upper_source : str
    """

    n: int
    N: int | None
    theorem2: int
    lower: int
    upper: int
    lower_source: str
    upper_source: str

    @property
    def is_exact(self) -> bool:
        """Whether the depth is known."""
        return self.lower == self.upper


def depth_bounds(n: int, N: int | None) -> DepthBounds:
    r"""Lower and upper bounds on the number of hidden layers for :math:`F_n`.

    .. math:: \max\bigl(\lceil\log_{p(N)}(n+1)\rceil,\, 2\,[n\ge2]\bigr) \;\le\; k \;\le\;
        \min\bigl(\lceil\log_2(n+1)\rceil,\ \lceil\log_3(n-1)\rceil+1\bigr)

    The second upper bound is for even N and :math:`n\ge3`.

    Parameters
    ----------
    n : int
        Positive.
    N : int or None
        Base of the fractions that the weights are; 1 for integers, None for all rationals.

    Raises
    ------
    ValueError
        If n or N is not positive.
    """
    m = _positive(n, "n") + 1
    theorem2 = 0 if N is None else ceil_log(smallest_prime_not_dividing(N), m)
    two = 2 if n >= 2 else 1
    lower = max(theorem2, two)
    lower_source = "volumes modulo p" if theorem2 == lower else "edges of zonotopes"
    upper, upper_source = min(_constructions(m, N))
    return DepthBounds(n, N, theorem2, lower, upper, lower_source, upper_source)


def _constructions(m: int, N: int | None) -> Iterator[tuple[int, str]]:
    yield ceil_log(2, m), "binary tree"
    if m >= 4 and (N is None or N % 2 == 0):
        yield 1 + ceil_log(3, m - 2), "subdivided simplex"
    if N is None and m >= 3:
        if m <= RATIONAL_TWO_LAYERS:
            yield 2, "published certificate"
        yield 1 + ceil_log(5, -(-m // 2)), "published certificate, iterated"


def forced_primes(n: int, k: int) -> list[int]:
    r"""Primes that divide every common denominator of a k-layer network for :math:`F_n`.

    All p with :math:`p^k\le n`: the contraposition of the lower bound.
    """
    _positive(n, "n")
    _positive(k, "k")
    found = []
    for p in primes():
        if p**k > n:
            return found
        found.append(p)
    raise AssertionError("there are infinitely many primes")


def binomial_gcd(d: int) -> int:
    r""":math:`\gcd_{0<i<d}\binom di`: p if d is a power of the prime p, else 1 (0 for d = 1)."""
    return gcd(*(comb(_positive(d, "d"), i) for i in range(1, d)))


def join_divisor(d: int) -> int:
    r"""What divides :math:`\mathrm{Vol}_d(\mathrm{conv}(Z_1\cup Z_2))` for lattice zonotopes.

    .. math:: \gcd_{i+j=d-1} i!\,j! = \frac{d!}{\mathrm{lcm}(1,\dots,d)}
    """
    return factorial(_positive(d, "d")) // lcm(*range(1, d + 1))


def join_divisor_by_faces(d: int) -> int:
    """The same divisor as the greatest common divisor of the products that occur."""
    return gcd(*(factorial(i) * factorial(d - 1 - i) for i in range(_positive(d, "d"))))


def prime_power(d: int) -> tuple[int, int] | None:
    """(p, t) with d = p**t and t at least 1, else None."""
    _positive(d, "d")
    p = next((q for q in range(2, d + 1) if d % q == 0), None)
    if p is None:
        return None
    t = ceil_log(p, d)
    return (p, t) if p**t == d else None


def mean_smallest_prime(terms: int = 20) -> Fraction:
    r"""Mean of :math:`p(N)` over all N, :math:`\sum_i (p_i-1)/(p_1\cdots p_{i-1})`, truncated."""
    total, primorial = Fraction(0), 1
    for _, p in zip(range(_positive(terms, "terms")), primes(), strict=False):
        total += Fraction(p - 1, primorial)
        primorial *= p
    return total


def depth_ratio(N: int) -> float:
    r""":math:`\ln\ln N/\ln p(N)`: the constant that the bound gives at N, 3 or more."""
    if _positive(N, "N") < 3:
        raise ValueError(f"ln ln N is positive for N >= 3 only, got N={N}")
    return log(log(N)) / log(smallest_prime_not_dividing(N))
