"""Mean squared errors, exactly: of Good-Turing, of its rivals, and of the best there could be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, Finding
from theorylab.missing_mass import enumeration, theory
from theorylab.missing_mass.exact_prefixes import (
    exact_prefix_mass_moment,
    exact_prefix_moment,
)
from theorylab.missing_mass.fingerprint import (
    FIXED_BENCHMARKS,
    Population,
    benchmark_population,
    half,
    uniform,
    zipf,
)
from theorylab.missing_mass.linear import Linear, good_turing, minimal_bias
from theorylab.missing_mass.moments import Moments, exact_moments, moments
from theorylab.run import Run

Distribution = tuple[Fraction, ...]
MomentsOf = Callable[[Population, int, int], Moments]

PAPER = "lee2025unseen"
DERIVED = Source("theorylab", "derived in the chapter")


def fixed_cells(sizes: Sequence[int] = (100, 200)) -> Iterator[tuple[str, Population, int]]:
    """The benchmark's cells whose population does not change: name, population, n."""
    for size in sizes:
        for name in FIXED_BENCHMARKS:
            population = benchmark_population(name, size)
            for n in (size // 2, size, 2 * size):
                yield name, population, n


# --- moments -------------------------------------------------------------------------------

GOOD_TURING_MSE = {
    ("uniform", 100, 100): (0.006045233, 0.006049),
    ("half", 100, 100): (0.005463763, 0.005460),
    ("zipf", 100, 100): (0.003427091, 0.003421),
    ("zipfhalf", 100, 100): (0.005230572, 0.005228),
    ("uniform", 200, 400): (9.678907e-4, 0.000967),
}


def _small_cases() -> list[tuple[Distribution, int]]:
    return [
        (p, n)
        for classes in (1, 2, 3, 5)
        for p in enumeration.compositions_of_one(classes, 7)
        for n in (1, 2, 4, 6)
    ]


def _enumerated(p: Distribution, n: int) -> tuple[NDArray, NDArray, Fraction]:
    """E Phi_j Phi_k, E M Phi_k and E M^2 over all outcomes."""
    second = np.full((n, n), Fraction(0))
    cross, square = np.full(n, Fraction(0)), Fraction(0)
    for counts, weight in enumeration.outcomes(p, n):
        phi = np.array([Fraction(enumeration.frequency(counts, k)) for k in range(1, n + 1)])
        missing = enumeration.mass(p, counts)
        second += weight * np.outer(phi, phi)
        cross += weight * missing * phi
        square += weight * missing**2
    return second, cross, square


def _against_enumeration(exactly: MomentsOf) -> Equal:
    equal = []
    for p, n in _small_cases():
        found, (second, cross, square) = exactly(Population(p), n, n), _enumerated(p, n)
        equal += [*(found.second == second).ravel(), *(found.cross == cross), square == found.EM2]
    return Equal(int(sum(equal)), len(equal))


def _rounding(in_floats: MomentsOf, exactly: MomentsOf) -> Close:
    """Largest error of the floats, relative to the diagonal of the second moments."""
    cases = [(Population(p), n, n) for p, n in _small_cases()]
    cases += [(zipf(8), 12, 12), (half(9), 30, 10), (uniform(100), 100, 10)]
    return Close(max(_relative_error(in_floats(*c), exactly(*c)) for c in cases), 0, atol=1e-12)


def _relative_error(found: Moments, exact: Moments) -> float:
    diagonal = np.sqrt(np.diag(exact.second).astype(float))
    scale = np.where(diagonal > 0, diagonal, 1.0)
    errors = [
        np.abs(found.second - exact.second.astype(float)) / np.outer(scale, scale),
        np.abs(found.cross - exact.cross.astype(float)) / scale,
        np.abs(np.array([found.EM2 - float(exact.EM2), found.EM - float(exact.EM)])),
    ]
    return max(float(error.max()) for error in errors)


def _prefix_moments_agree() -> Equal:
    """Moments along one ordered sample, against all sequences of labels."""
    p = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    sizes = [(5, 5), (5, 3), (4, 1)]
    cases = [(a, j, b, k) for a, b in sizes for j in range(1, a + 1) for k in range(1, b + 1)]
    equal = [_enumerated_prefix(p, *case) == exact_prefix_moment(p, *case) for case in cases]
    crosses = [(4, size, k) for size in range(1, 5) for k in range(1, size + 1)]
    equal += [_enumerated_cross(p, *case) == exact_prefix_mass_moment(p, *case) for case in crosses]
    return Equal(sum(equal), len(equal))


def _enumerated_prefix(p: Distribution, n1: int, k1: int, n2: int, k2: int) -> Fraction:
    def product(labels: tuple[int, ...]) -> int:
        return _times_seen(labels, k1) * _times_seen(labels[:n2], k2)

    return enumeration.expectation(enumeration.sequences(p, n1), product)


def _enumerated_cross(p: Distribution, n: int, size: int, k: int) -> Fraction:
    def product(labels: tuple[int, ...]) -> Fraction:
        missing = sum((u for x, u in enumerate(p) if x not in labels), start=Fraction(0))
        return _times_seen(labels[:size], k) * missing

    return enumeration.expectation(enumeration.sequences(p, n), product)


def _times_seen(labels: tuple[int, ...], k: int) -> int:
    return sum(labels.count(x) == k for x in set(labels))


def _good_turing_errors(in_floats: MomentsOf) -> list[float]:
    return [
        float(good_turing(n).mse(in_floats(benchmark_population(name, size), n, 2)))
        for name, size, n in GOOD_TURING_MSE
    ]


def _asymptotic_ratios(in_floats: MomentsOf) -> list[float]:
    ratios = []
    for _, population, n in fixed_cells():
        found = in_floats(population, n, 2)
        mu1, mu2 = found.f[0] / n, 2 * found.f[1] / n
        ratios.append(float(n * good_turing(n).mse(found) / (mu1 + mu2 - mu1**2)))
    return ratios


def _moments_finding(exactly: MomentsOf, in_floats: MomentsOf) -> AllHold:
    errors = _good_turing_errors(in_floats)
    known, published = zip(*GOOD_TURING_MSE.values(), strict=True)
    closed_form = theory.uniform_good_turing_mse(100, 100)
    return AllHold(
        {
            "all outcomes enumerated": _against_enumeration(exactly),
            "prefixes, all sequences enumerated": _prefix_moments_agree(),
            "floats, relative error": _rounding(in_floats, exact_moments),
            "MSE of Good-Turing, uniform S = n = 100": Close(errors[0], closed_form, rtol=1e-11),
            "MSE of Good-Turing": Close(errors, known, rtol=2e-7),
            "MSE of Good-Turing, published": Close(errors, published, rtol=5e-3),
            "n MSE / (mu1 + mu2 - mu1^2)": Close(_asymptotic_ratios(in_floats), 1.0, atol=0.011),
        }
    )


def _independent_classes(population: Population, n: int, K: int) -> Moments:
    """Moments as if the classes' counts were independent binomials."""
    u = population.floats
    m = population.multiplicities.astype(float)
    k = np.arange(1, K + 1)[:, None]
    ways = np.array([float(comb(n, int(order))) for order in k[:, 0]])[:, None]
    chance = ways * u**k * (1 - u) ** (n - k)
    unseen = (1 - u) ** n
    f, missing = chance @ m, float(m @ (u * unseen))
    second = np.outer(f, f) - (chance * m) @ chance.T + np.diag(f)
    cross = f * missing - (chance * m) @ (u * unseen)
    square = missing**2 + float(m @ (u**2 * unseen * (1 - unseen)))
    return Moments(f, second, cross, missing, square, n, intercept=False)


@claim(
    "missing_mass.moments",
    statement=r"""For $n$ i.i.d. draws, $\mathbb E\,\Phi_j\Phi_k$, $\mathbb E\,M\Phi_k$ and
$\mathbb EM^2$ are the sums over one and over two different classes
$$\mathbb E\Phi_j\Phi_k=\mathbf 1[j{=}k]f_j+\sum_{x\ne y}\tfrac{n!}{j!k!(n-j-k)!}
p_x^jp_y^k(1-p_x-p_y)^{n-j-k},\quad
\mathbb EM\Phi_k=\tbinom nk\sum_{x\ne y}p_xp_y^k(1-p_x-p_y)^{n-k},$$
$$\mathbb EM^2=\sum_xp_x^2(1-p_x)^n+\sum_{x\ne y}p_xp_y(1-p_x-p_y)^n.$$
They give the exact mean squared error of every linear estimator without simulation; that of
Good–Turing is $(\mu_1+\mu_2-\mu_1^2)/n$ up to 1.1 % on the 24 fixed cells,
$\mu_1=f_1/n$, $\mu_2=2f_2/n$. The published values of Table 3 are met within 0.5 %.""",
    source=Source(PAPER, "mean squared errors of Good-Turing in Table 3"),
    evidence="exact",
)
def joint_moments(run: Run) -> Finding:
    return _moments_finding(exact_moments, moments)


@joint_moments.control("classes counted independently: the multinomial coupling omitted")
def _(run: Run) -> Finding:
    inflated = Fraction(_good_turing_errors(_independent_classes)[0])
    part = _moments_finding(_independent_classes, _independent_classes)
    ratio = float(inflated / theory.uniform_good_turing_mse(100, 100))
    return AllHold(part.parts, note=f"at uniform S = n = 100 the error is {ratio:.3f} times right")


# --- minimal-bias-variance -----------------------------------------------------------------

TABLE_SIZES = (100, 500, 1000)
EXACT_VARIANCES = (2.364861e-3, 1.146015e-5, 4.344275e-8)
PUBLISHED_VARIANCES = (2.35153717e-3, 1.14453622e-5, 4.34412476e-8)
HIGHEST_ORDER = 80
SKEWED = (
    ((Fraction(9, 10), Fraction(1, 10)), 10),
    ((Fraction(99, 100), Fraction(1, 100)), 20),
    ((Fraction(8, 10), *(Fraction(2, 100),) * 10), 20),
)
Variance = Callable[[Linear, Moments], float]


def _uniform_table(run: Run, variance: Variance) -> list[float]:
    """Var B for the uniform S = 100: all orders in Fractions if affordable, 80 in floats else."""
    affordable = run.pick(ci=100, paper=500)
    exact = [exact_moments(uniform(100), n, n) for n in TABLE_SIZES if n <= affordable]
    floats = [moments(uniform(100), n, HIGHEST_ORDER) for n in TABLE_SIZES if n > affordable]
    return [variance(minimal_bias(mom.n, mom.K), mom) for mom in (*exact, *floats)]


def _variance(estimator: Linear, mom: Moments) -> float:
    return float(estimator.variance(mom))


def _notebook_variance(estimator: Linear, mom: Moments) -> float:
    """The replication notebook's recipe: one sign for all covariances, each counted once."""
    K = len(estimator.c)
    f = mom.f[:K].astype(float)
    covariance = mom.second[:K, :K].astype(float) - np.outer(f, f)
    size = np.abs(estimator.coefficients)
    return float(
        size**2 @ np.diag(covariance) - np.triu(np.outer(size, size) * covariance, 1).sum()
    )


def _mass_errors() -> Close:
    """MSE about M of Good-Turing and of B for the uniform S = 100."""
    measured = [
        estimator.mse(moments(uniform(100), n, min(n, HIGHEST_ORDER)))
        for n in TABLE_SIZES
        for estimator in (good_turing(n), minimal_bias(n, min(n, HIGHEST_ORDER)))
    ]
    known = (6.045e-3, 6.059e-3, 7.891e-5, 7.890e-5, 4.753e-7, 4.753e-7)
    return Close(measured, known, rtol=2e-4)


def _ratios_on_cells() -> list[float]:
    ratios = []
    for _, population, n in fixed_cells():
        K = min(n, HIGHEST_ORDER)
        found = moments(population, n, K)
        ratios.append(float(minimal_bias(n, K).mse(found) / good_turing(n).mse(found)))
    return ratios


def _skewed_errors(terms: Callable[[int], int]) -> list[Fraction]:
    """Exact MSE of B_K relative to Good-Turing's, on populations with a dominant class."""
    ratios = []
    for p, n in SKEWED:
        exact = exact_moments(p, n, n)
        ratios.append(minimal_bias(n, terms(n)).mse(exact) / good_turing(n).mse(exact))
    return ratios


def _not_much_worse(terms: Callable[[int], int]) -> AtMost:
    return AtMost(_skewed_errors(terms), Fraction(102, 100))


@claim(
    "missing_mass.minimal-bias-variance",
    statement=r"""The minimal-bias estimator $B$ of $M$ has no variance catastrophe on the
benchmark: on its 24 fixed cells $\mathrm{MSE}(B)/\mathrm{MSE}(G)\in[0.9990,1.0175]$. It takes a
dominant class, $p_{\max}>\frac12$: 59-fold at $p=(0.9,0.1)$, $n=10$, 1689-fold at
$(0.99,0.01)$, $n=20$, since $|c_n|=1$; truncation at $n/2$ costs at most 2 % there.
$\mathrm{Var}(B)$ for the uniform on 100 classes is $2.364861\cdot10^{-3}$, $1.146015\cdot10^{-5}$,
$4.344275\cdot10^{-8}$ at $n=100,500,1000$; the published values come from a recipe that gives
all covariances one sign and counts each once.""",
    source=Source(PAPER, "Table 2 and its remark on variance"),
    evidence="exact",
    uses=["missing_mass.moments", "missing_mass.truncation"],
)
def minimal_bias_variance(run: Run) -> Finding:
    ratios, blow_up = _ratios_on_cells(), _skewed_errors(lambda n: n)
    variances = _uniform_table(run, _variance)
    return AllHold(
        {
            "Var B, uniform S = 100": Close(variances, EXACT_VARIANCES, rtol=5e-7),
            "MSE of G and B about M": _mass_errors(),
            "published recipe gives the published Var B": Close(
                _uniform_table(run, _notebook_variance), PUBLISHED_VARIANCES, rtol=2e-9
            ),
            "largest ratio on 24 cells": AtMost(max(ratios), 1.0175),
            "smallest ratio on 24 cells": AtLeast(min(ratios), 0.9990),
            "dominant class": AtLeast(blow_up, [59, 1689, Fraction(28, 10)]),
            "dominant class, truncated at n/2": _not_much_worse(lambda n: n // 2),
            "|c_n|": Equal([abs(minimal_bias(n).c[-1]) for n in (5, 10, 20)], [1, 1, 1]),
        }
    )


@minimal_bias_variance.control("the notebook's recipe for Var B")
def _(run: Run) -> Finding:
    return Close(_uniform_table(run, _notebook_variance), EXACT_VARIANCES, rtol=5e-7)


@minimal_bias_variance.control("dominant class, not truncated")
def _(run: Run) -> Finding:
    return _not_much_worse(lambda n: n)
