"""What the seen says, in expectation, about the unseen: identities, biases, their worst cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import comb, lgamma, log, log10, pi, sqrt

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import (
    AllHold,
    AtLeast,
    AtMost,
    Close,
    Equal,
    ExponentEquals,
    Finding,
)
from theorylab.missing_mass import enumeration, theory
from theorylab.missing_mass.enumeration import GeneratingFunctions
from theorylab.missing_mass.fingerprint import (
    BENCHMARKS,
    FIXED_BENCHMARKS,
    Population,
    benchmark_population,
    uniform,
)
from theorylab.missing_mass.linear import minimal_bias
from theorylab.missing_mass.sampling import random_distribution
from theorylab.run import Run

Distribution = tuple[Fraction, ...]
Law = Callable[[Distribution, int], Iterator[tuple[tuple[int, ...], Fraction]]]
MassFormula = Callable[[Distribution, int, int], Fraction]

THOUSANDTHS = (Fraction(1, 1000), Fraction(-1, 1000))
PAPER = "lee2025unseen"
DERIVED = Source("theorylab", "derived in the chapter")


def _distributions(run: Run, count: int, most_classes: int = 8) -> list[Distribution]:
    rng = run.rng("distributions")
    return [random_distribution(rng, most_classes) for _ in range(count)]


def _agreeing(pairs: Iterable[tuple[Fraction, Fraction]]) -> Equal:
    """How many of the pairs are equal, against all of them."""
    equal = [a == b for a, b in pairs]
    return Equal(sum(equal), len(equal))


# --- identity ------------------------------------------------------------------------------


def _identity_total(p: Distribution, n: int, k: int) -> Fraction:
    return Fraction(theory.identity(p, n, k).total)


def _small_distributions() -> list[Distribution]:
    """All partitions of 7 into at most four parts, as probabilities."""
    return [p for classes in (1, 2, 3, 4) for p in enumeration.compositions_of_one(classes, 7)]


def _by_enumeration(formula: MassFormula, law: Law) -> Iterator[tuple[Fraction, Fraction]]:
    for p in _small_distributions():
        for n in range(2, 8):
            outcomes = list(law(p, n))
            for k in range(n + 1):
                mean = sum((w * enumeration.mass(p, c, k) for c, w in outcomes), Fraction(0))
                yield mean, formula(p, n, k)


def _by_generating_functions(run: Run, formula: MassFormula) -> Iterator[tuple[Fraction, Fraction]]:
    rng = run.rng("sizes")
    for p in _distributions(run, 50):
        n = int(rng.integers(1, 26))
        functions = GeneratingFunctions(p, n)
        next_size = GeneratingFunctions(p, n + 1)
        for k in range(n + 1):
            mean = functions.expected_mass(k)
            yield mean, formula(p, n, k)
            yield mean, Fraction(k + 1, n + 1) * next_size.expected_frequency(k + 1)


def _worked_example(formula: MassFormula) -> Equal:
    p, n = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), 4
    frequencies = [theory.expected_frequency(p, n, k) for k in range(1, 5)]
    expected = [Fraction(167, 162), Fraction(85, 108), Fraction(59, 162), Fraction(49, 648)]
    return Equal((*frequencies, formula(p, n, 0)), (*expected, Fraction(115, 648)))


def _rejected(weights: Sequence[Sequence[Fraction]]) -> int:
    """How many of the weight vectors are refused as distributions."""
    refused = 0
    for p in weights:
        try:
            theory.identity(p, 4)
        except ValueError:
            refused += 1
    return refused


def _benchmark_populations(run: Run) -> Close:
    size, n = run.pick(ci=(60, 200), paper=(1000, 10_000))
    rng = run.rng("benchmark populations")
    sides = [_both_sides(benchmark_population(name, size, rng), n) for name in BENCHMARKS]
    left, right = zip(*sides, strict=True)
    return Close(left, right, rtol=1e-12, sizes={"S": size, "n": n})


def _both_sides(population: Population, n: int) -> tuple[float, float]:
    r"""E M, and its alternating sum with remainder, both with 50 digits.

    Summed class by class as a geometric series, :math:`\sum_i (-1)^{i-1} p^i(1-p)^{n-i}`.
    """
    import mpmath

    with mpmath.workdps(50):
        expected, alternating = mpmath.mpf(0), mpmath.mpf(0)
        for u, m in zip(
            population.floats.tolist(), population.multiplicities.tolist(), strict=True
        ):
            p = mpmath.mpf(u)
            term = p * (1 - p) ** (n - 1)
            ratio = -p / (1 - p)
            own = mpmath.mpf(0)
            for _ in range(n):
                own += term
                term *= ratio
            alternating += m * (own + (-1) ** n * p ** (n + 1))
            expected += m * p * (1 - p) ** n
        return float(expected), float(alternating)


def _identity_finding(run: Run, formula: MassFormula, law: Law = enumeration.outcomes) -> AllHold:
    return AllHold(
        {
            "all outcomes enumerated": _agreeing(_by_enumeration(formula, law)),
            "generating functions": _agreeing(_by_generating_functions(run, formula)),
            "worked example": _worked_example(formula),
            "benchmark populations": _benchmark_populations(run),
            "weights that sum to 1 ± 1/1000": Equal(
                _rejected([(Fraction(1, 2), Fraction(1, 2) + e) for e in THOUSANDTHS]), 2
            ),
        }
    )


@claim(
    "missing_mass.identity",
    statement=r"""For every distribution $p$, every $n\ge1$ and $0\le k\le n$, under i.i.d. sampling
and nothing else,
$$\mathbb E M_k(n)=\tfrac{k+1}{n+1}f_{k+1}(n+1)=\binom nk\sum_{i=1}^{n-k}(-1)^{i-1}
\frac{f_{k+i}(n)}{\binom n{k+i}}+R_{n,k}$$
with the remainder $R_{n,k}=(-1)^{n-k}\binom nk\sum_x p_x^{n+1}$. Weights that do not sum to one
are refused.""",
    source=Source(PAPER, "the identity of the missing mass and its remainder"),
    evidence="exact",
)
def identity(run: Run) -> Finding:
    return _identity_finding(run, _identity_total)


@identity.control("remainder dropped")
def _(run: Run) -> Finding:
    return _agreeing(
        _by_enumeration(
            lambda p, n, k: Fraction(theory.identity(p, n, k).observable), enumeration.outcomes
        )
    )


@identity.control("sampling without replacement")
def _(run: Run) -> Finding:
    def urn(p: Distribution, n: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        return enumeration.outcomes_without_replacement([int(7 * u) for u in p], n)

    return _agreeing(_by_enumeration(_identity_total, urn))


@identity.control("sign of the first term flipped")
def _(run: Run) -> Finding:
    def flipped(p: Distribution, n: int, k: int) -> Fraction:
        result = theory.identity(p, n, k)
        return Fraction(result.total - 2 * sum(result.terms[:1], Fraction(0)))

    return _identity_finding(run, flipped)


@identity.control("weights that do sum to 1 are offered for refusal")
def _(run: Run) -> Finding:
    return Equal(_rejected([(Fraction(1, 2), Fraction(1, 2)), (Fraction(1),)]), 2)


# --- remainder-rate ------------------------------------------------------------------------

PUBLISHED_GOOD_TURING = {
    ("uniform", 500): -3.2168,
    ("uniform", 5000): -5.1721,
    ("uniform", 10_000): -7.3447,
    ("half", 500): -3.2011,
    ("half", 5000): -4.9634,
}
PUBLISHED_MINIMAL_BIAS = {
    ("uniform", 500): -1500.0,
    ("uniform", 5000): -15000.0,
    ("uniform", 10_000): -30000.0,
    ("half", 500): -1412.079,
}


def _published(curve: dict[tuple[str, int], float], estimator: str, decimals: float) -> Close:
    measured = [
        theory.log10_bias(benchmark_population(name, 1000), n, estimator=estimator)
        for name, n in curve
    ]
    return Close(measured, list(curve.values()), atol=decimals, sizes={"S": 1000})


def _decay(run: Run, population_at: Callable[[int], Population]) -> ExponentEquals:
    """Slope of log10 |R| per draw over eleven sizes n .. 2n, against log10 of p_max."""
    first = run.pick(ci=5000, paper=50_000)
    sizes = np.linspace(first, 2 * first, 11).astype(int)
    logs = [theory.log10_bias(population_at(int(n)), int(n), 0, "minimal_bias") for n in sizes]
    local = np.diff(logs) / np.diff(sizes)
    slope = (logs[-1] - logs[0]) / (sizes[-1] - sizes[0])
    predicted = log10(population_at(int(sizes[-1])).p_max)
    return ExponentEquals(
        slope,
        min(slope, float(local.min())),
        max(slope, float(local.max())),
        predicted,
        1e-3 * abs(predicted),
        sizes={"n from": int(sizes[0]), "n to": int(sizes[-1])},
    )


def _fixed(run: Run, name: str) -> Callable[[int], Population]:
    population = benchmark_population(name, run.pick(ci=1000, paper=10_000))
    return lambda n: population


def _sandwich(run: Run) -> AllHold:
    r"""p_max^(n+1) <= |R| <= p_max^n, and the ratio to Good-Turing's bias, exactly."""
    low, high, ratio = [], [], []
    for p in _distributions(run, 60):
        for n in (1, 5, 20):
            size, top = abs(theory.remainder(p, n)), max(p)
            low.append(top ** (n + 1) / size)
            high.append(size / top**n)
            ratio.append(size / theory.good_turing_bias(p, n) / (top / (1 - top)) ** (n - 1))
    return AllHold(
        {
            "largest p_max^(n+1) / |R|": AtMost(max(low), 1),
            "largest |R| / p_max^n": AtMost(max(high), 1),
            "largest ratio to the bound": AtMost(max(ratio), 1),
        }
    )


@claim(
    "missing_mass.remainder-rate",
    statement=r"""For a fixed $p$ with more than one class,
$p_{\max}^{n+1}\le|R_{n,0}|\le p_{\max}^n$, so $\frac1n\log|R_{n,0}|\to\log p_{\max}$:
the remainder decays exponentially. Against Good–Turing's bias,
$|R_{n,0}|/\mathrm{bias}(G)\le\bigl(p_{\max}/(1-p_{\max})\bigr)^{n-1}$. The
published bias curves ($S=1000$) are reproduced.""",
    source=Source(PAPER, "Figure 2a and 2b of the replication notebooks"),
    evidence="trend",
    uses=["missing_mass.identity"],
)
def remainder_rate(run: Run) -> Finding:
    return AllHold(
        {
            "Good-Turing curve": _published(PUBLISHED_GOOD_TURING, "good_turing", 5e-5),
            "minimal-bias curve": _published(PUBLISHED_MINIMAL_BIAS, "minimal_bias", 5e-4),
            "bounds": _sandwich(run),
            **{f"slope, {name}": _decay(run, _fixed(run, name)) for name in FIXED_BENCHMARKS},
        }
    )


@remainder_rate.control("p_max moves to 1 as n grows: |R| tends to 1/e")
def _(run: Run) -> Finding:
    return _decay(run, lambda n: Population([Fraction(n - 1, n), Fraction(1, n)]))


# --- rate-not-uniform ----------------------------------------------------------------------


def _capped(rng: np.random.Generator, cap: Fraction) -> Distribution:
    """A distribution whose largest probability comes close to the cap, the rest split once."""
    top = cap - Fraction(int(rng.integers(0, 40)), 1000)
    parts = 1 if 1 - top <= cap else int(rng.integers(2, 7))
    return (top, *(share * (1 - top) for share in _shares(rng, parts)))


def _shares(rng: np.random.Generator, parts: int) -> list[Fraction]:
    weights = [int(w) for w in rng.integers(1, 30, size=parts)]
    return [Fraction(w, sum(weights)) for w in weights]


def _worst_ratio_below(run: Run, cap: Fraction) -> AtMost:
    """Largest |bias B| / bias G over a search of distributions with p_max <= cap."""
    rng = run.rng("capped distributions")
    ratios = []
    while len(ratios) < 300:
        p, n = _capped(rng, cap), int(rng.integers(2, 16))
        if max(p) <= cap:
            ratios.append(abs(theory.minimal_bias_bias(p, n)) / theory.good_turing_bias(p, n))
    return AtMost(max(ratios), 1, sizes={"distributions": len(ratios)})


def _half_seen_slope(classes: int) -> Close:
    """Log-log slope of |R_{n,n/2}| for the uniform population, from lgamma."""
    sizes = 2.0 ** np.arange(6, 15)
    logs = [lgamma(n + 1) - 2 * lgamma(n / 2 + 1) - n * log(classes) for n in sizes]
    return Close(np.polyfit(np.log(sizes), logs, 1)[0], -0.5, atol=0.01)


def _supremum_of_good_turing_bias(run: Run) -> AllHold:
    ratios = [
        theory.good_turing_bias(p, n) / theory.truncated_bias_bound(n, 1)
        for p in _distributions(run, 60)
        for n in (2, 6, 15)
    ]
    sizes = range(2, 16)
    attained = [theory.good_turing_bias(uniform(n), n) for n in sizes]
    return AllHold(
        {
            "never above the bound": AtMost(max(ratios), 1),
            "attained by the uniform on n classes": Equal(
                attained, [Fraction(1, n) * (1 - Fraction(1, n)) ** (n - 1) for n in sizes]
            ),
        }
    )


def _remainder_near_one() -> AtLeast:
    near = [
        abs(theory.remainder((1 - Fraction(1, 10**6), Fraction(1, 10**6)), n)) for n in range(2, 16)
    ]
    return AtLeast(min(near), Fraction(9999, 10_000), note="the supremum 1 is approached")


def _exponents() -> Close:
    """(1/n) log |R_{n,k}| at n = 20 000 for uniform populations against h(k/n) + log p_max."""
    n, cases = 20_000, [(3, 0.5), (4, 0.25), (2, 0.1), (10, 0.5)]
    measured = [
        log(10) * theory.log10_bias(uniform(s), n, round(t * n), "minimal_bias") / n
        for s, t in cases
    ]
    predicted = [theory.remainder_exponent(Fraction(1, s), t) for s, t in cases]
    return Close(measured, predicted, atol=1e-3, sizes={"n": n})


@claim(
    "missing_mass.rate-not-uniform",
    statement=r"""The exponential rate is not uniform in $p$. (a) $\sup_p|R_{n,0}|=1$, while
$\sup_p\mathrm{bias}(G)=\frac1n(1-\frac1n)^{n-1}$, attained by the uniform on $n$ classes: in the
worst case the minimal-bias estimator is the more biased one. (b) If $p_{\max}\le\frac12$ then
$|\mathrm{bias}(B)|\le\mathrm{bias}(G)$. (c) For $k$ growing with $n$ the exponent is
$h(k/n)+\ln p_{\max}$ ($h$ binary entropy in nats), which need not be negative: for two equally
likely classes and $k=n/2$, $|R_{n,k}|\sim\sqrt{2/(\pi n)}$.""",
    source=DERIVED,
    evidence="exact",
    uses=["missing_mass.identity"],
)
def rate_not_uniform(run: Run) -> Finding:
    counterexample = (Fraction(9, 10), Fraction(1, 10))
    n = 2**14
    wallis = comb(n, n // 2) * Fraction(1, 2**n)
    return AllHold(
        {
            "(a) remainder near 1": _remainder_near_one(),
            "(a) worst bias of Good-Turing": _supremum_of_good_turing_bias(run),
            "(b) p_max at most 1/2": _worst_ratio_below(run, Fraction(1, 2)),
            "(b) above 1/2 it can fail": AtLeast(
                abs(theory.minimal_bias_bias(counterexample, 10))
                / theory.good_turing_bias(counterexample, 10),
                80,
            ),
            "(c) slope": _half_seen_slope(2),
            "(c) constant": Close(float(wallis) * sqrt(pi * n / 2), 1.0, atol=1e-4),
            "(c) exponents": _exponents(),
        }
    )


@rate_not_uniform.control("(b) with p_max up to 0.51")
def _(run: Run) -> Finding:
    return _worst_ratio_below(run, Fraction(51, 100))


@rate_not_uniform.control("(c) with three classes: the exponent is negative again")
def _(run: Run) -> Finding:
    return _half_seen_slope(3)


# --- good-turing-bias ----------------------------------------------------------------------

BiasFormula = Callable[[Population, int, int], Fraction]


def _right_bias(population: Population, n: int, k: int) -> Fraction:
    return Fraction(theory.good_turing_bias(population, n, k))


def _notebook_bias(population: Population, n: int, k: int) -> Fraction:
    """The replication notebook's formula, which keeps its g_{k+2}(n+1) at k = n."""
    if k < n:
        return _right_bias(population, n, k)
    return sum((m * u ** (n + 2) / (1 - u) for u, m in population.atoms()), start=Fraction(0))


def _expected_biases(run: Run, formula: BiasFormula) -> Iterator[tuple[Fraction, Fraction]]:
    rng, largest = run.rng("sizes"), run.pick(ci=15, paper=40)
    for p in _distributions(run, 60):
        n = int(rng.integers(1, largest + 1))
        functions = GeneratingFunctions(p, n)
        for k in range(n + 1):
            mean = Fraction(k + 1, n) * functions.expected_frequency(k + 1) if k < n else 0
            yield mean - functions.expected_mass(k), formula(Population(p), n, k)


def _expected_minimal_biases(run: Run) -> Iterator[tuple[Fraction, Fraction]]:
    """Bias of the minimal-bias estimator of every M_k, from its coefficients and predicted."""
    for p in _distributions(run, 15):
        for n in (1, 4, 9):
            functions = GeneratingFunctions(p, n)
            for k in range(n):
                mean = sum(
                    (
                        Fraction(c) * functions.expected_frequency(j)
                        for j, c in enumerate(minimal_bias(n, k=k).c, start=1)
                        if c
                    ),
                    start=Fraction(0),
                )
                predicted = Fraction(theory.minimal_bias_bias(p, n, k))
                yield mean - functions.expected_mass(k), predicted


def _log10(value: Fraction) -> float:
    return log10(abs(value.numerator)) - log10(value.denominator)


def _good_turing_finding(run: Run, formula: BiasFormula) -> AllHold:
    population, n = uniform(1000), 2000
    published = {(100, "good_turing"): -131.095, (1000, "good_turing"): -2400.425}
    published |= {(100, "minimal_bias"): -5828.960, (1000, "minimal_bias"): -5399.689}
    measured = [theory.log10_bias(population, n, k, name) for k, name in published]
    smallest = min(theory.good_turing_bias(p, m) for p in _distributions(run, 60) for m in (1, 7))
    return AllHold(
        {
            "bias for every k": _agreeing(_expected_biases(run, formula)),
            "bias of minimal bias, every k": _agreeing(_expected_minimal_biases(run)),
            "never negative for k = 0": AtLeast(smallest, 0),
            "published curve": Close(measured, list(published.values()), atol=5e-3),
            "last point, k = n": Close(_log10(formula(population, n, n)), -6000.0, atol=5e-3),
        },
        sizes={"S": 1000, "n": n},
    )


@claim(
    "missing_mass.good-turing-bias",
    statement=r"""$\mathrm{bias}(G)=\sum_x p_x^2(1-p_x)^{n-1}=g_2(n+1)\ge0$. For $0\le k<n$,
$\mathrm{bias}(G_k)=-\frac{k(k+1)}{n(n-k)}f_{k+1}(n)+\binom nk g_{k+2}(n+1)$; for $k=n$ it is
$-\sum_xp_x^{n+1}$. The published curve over $k$ ($S=1000$ uniform, $n=2000$) is reproduced except
for its last point, whose right value is $10^{-6000.0000}$.""",
    source=Source(PAPER, "Figure 2c of the replication notebooks"),
    evidence="exact",
    uses=["missing_mass.identity"],
)
def good_turing_bias(run: Run) -> Finding:
    return _good_turing_finding(run, _right_bias)


@good_turing_bias.control("the notebook's formula at k = n, as published")
def _(run: Run) -> Finding:
    return _good_turing_finding(run, _notebook_bias)


@good_turing_bias.control("the published last point, 10^-6002.9996")
def _(run: Run) -> Finding:
    return Close(_log10(_right_bias(uniform(1000), 2000, 2000)), -6002.9996, atol=5e-3)
