"""Claims on product distributions: counting, a certified bracket, a sampler, and bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, ExponentEquals, Finding
from theorylab.run import Run
from theorylab.stats import fit_exponent, mean_equals, proportion_at_most
from theorylab.total_variation.product_bounds import (
    coupling_distance,
    tv_product_bounds,
)
from theorylab.total_variation.product_bracket import (
    Bracket,
    bracket_of,
    merging_pass,
    tv_product_bracket,
)
from theorylab.total_variation.product_instances import (
    Rows,
    mixed_pair,
    near_coins,
    random_pair,
    rare_coins,
    shifted_fair_coins,
    uneven_coins,
)
from theorylab.total_variation.product_pairs import exact_pair
from theorylab.total_variation.product_sampling import (
    CouplingDraws,
    CouplingSampler,
    tv_product_fpras,
)
from theorylab.total_variation.products import tv_product_exact
from theorylab.total_variation.subset_products import subset_products_from_tv
from theorylab.total_variation.theory_products import (
    EUCLIDEAN_CEILING,
    chernoff_draws,
    count_subset_products,
    identical_coins_tv,
)

PairOfRows = tuple[Rows, Rows]
NEARNESS = tuple(Fraction(1, 10**k) for k in (0, 2, 5, 10))
EPS, DELTA = 0.1, 0.05


# --- product-sharp-p --------------------------------------------------------------------------


def _distance(method: str) -> Callable[[Rows, Rows], Fraction]:
    return lambda P, Q: tv_product_exact(P, Q, method).value


def _instances(run: Run, count: int, largest: int) -> list[tuple[tuple[int, ...], int]]:
    """Factors and targets, half of the targets being products of a random subset."""
    rng, found = run.rng("subset products"), []
    for k in range(count):
        m = int(rng.integers(1, largest + 1))
        a = tuple(int(x) for x in rng.integers(1, 9, size=m))
        chosen = prod(x for x, keep in zip(a, rng.random(m) < 0.5, strict=True) if keep)
        found.append((a, chosen if k % 2 else int(rng.integers(1, 61))))
    return found


def _counts(
    instances: Iterable[tuple[tuple[int, ...], int]], method: str, step: Fraction | int = 1
) -> Finding:
    """Subset products counted by three distances, beside a direct count."""
    cases = list(instances)
    return Equal(
        [subset_products_from_tv(a, target, _distance(method), step) for a, target in cases],
        [count_subset_products(a, target) for a, target in cases],
    )


@claim(
    "total_variation.product-sharp-p",
    statement=r"""For integers $a_i\ge1$ let $p_i=a_i/(1+a_i)$, $A=\prod(1+a_i)$, and
$F(t)=\sum_x\max(0,P(x)-t)$ for the product $P$ of these coins. Then
$$\#\Bigl\{S:\prod_{i\in S}a_i=T\Bigr\}=A\,\bigl[F(\tfrac{T-1}A)-2F(\tfrac TA)
+F(\tfrac{T+1}A)\bigr],$$
and each $F(t)$ is one total variation distance between two product distributions on one more
coordinate. Counting subset products is #P-hard, so exact total variation of products is.""",
    source=Source("bhattacharyya2024sharp", "#P-completeness of the exact distance"),
    evidence="exact",
)
def product_sharp_p(run: Run) -> Finding:
    instances = _instances(run, run.pick(ci=125, paper=300), run.pick(ci=7, paper=10))
    long = _instances(run, run.pick(ci=5, paper=20), run.pick(ci=12, paper=16))
    return AllHold(
        {
            "by enumeration": _counts(instances, "enumeration"),
            "meeting in the middle": _counts([*instances, *long], "meet"),
            "half step": _counts(instances[:20], "meet", Fraction(1, 2)),
            "a = (2,3,6,5)": Equal(
                [subset_products_from_tv((2, 3, 6, 5), t, _distance("meet")) for t in (6, 30, 7)],
                [2, 2, 0],
            ),
        },
        sizes={"instances": len(instances)},
    )


@product_sharp_p.control("second difference with step 2 where T ± 1 is attained")
def _(run: Run) -> Finding:
    return _counts([((2, 3, 6, 5), 6), ((2, 3, 6, 5), 2)], "enumeration", 2)


# --- product-bracket --------------------------------------------------------------------------


def _small_pairs(run: Run, count: int, largest: int) -> list[PairOfRows]:
    """Different laws over mixed alphabets with zeros, from unrelated to nearly equal."""
    rng = run.rng("small pairs")
    return [
        random_pair(rng, int(rng.integers(1, largest + 1)), nearness=NEARNESS[k % len(NEARNESS)])
        for k in range(count)
    ]


def _long_pairs(run: Run) -> list[PairOfRows]:
    """Twenty coins, some of one letter only, from unrelated to nearly equal; and all near."""
    rng = run.rng("long pairs")
    pairs = [random_pair(rng, 20, letters=2, nearness=nearness) for nearness in NEARNESS]
    return [*pairs, near_coins(rng, 20)]


def _contains(
    pairs: Sequence[PairOfRows],
    truths: Sequence[Fraction],
    bracket: Callable[[Rows, Rows], Bracket],
) -> Finding:
    """Ends as shares of the exact distance: exact arithmetic, since doubles are fractions."""
    found = [bracket(P, Q) for P, Q in pairs]
    lower = [Fraction(b.lower) / truth for b, truth in zip(found, truths, strict=True)]
    upper = [Fraction(b.upper) / truth for b, truth in zip(found, truths, strict=True)]
    return AllHold({"lower end": AtMost(lower, 1), "upper end": AtLeast(upper, 1)})


def _exactly(pairs: Sequence[PairOfRows]) -> list[Fraction]:
    return [tv_product_exact(P, Q).value for P, Q in pairs]


def _with_cells(cells: int) -> Callable[[Rows, Rows], Bracket]:
    return lambda P, Q: tv_product_bracket(P, Q, cells=cells)


def _identical_coins(run: Run) -> Finding:
    """A thousand equal coins, where a binomial sum is the exact distance."""
    n, cells = run.pick(ci=1000, paper=4000), run.pick(ci=1000, paper=3000)
    P, Q = shifted_fair_coins(n, Fraction(3, 100))
    truth = identical_coins_tv(n, Fraction(1, 2), Fraction(53, 100))
    return _contains([(P, Q)], [truth], _with_cells(cells))


def _widths(run: Run) -> dict[str, Finding]:
    """Relative widths on large instances."""
    n = run.pick(ci=1000, paper=10_000, gpu=100_000)
    near = near_coins(run.rng("wide pair"), n, spread=0.06 * (1000 / n) ** 0.5)
    rare = [rare_coins(n, Fraction(1, 10**k * n)) for k in (2, 6, 10)]
    cells = run.pick(ci=500, paper=2000, gpu=6000)
    return {
        "width, coordinates all different": AtMost(
            _with_cells(cells)(*near).relative_width, 0.01, sizes={"n": n, "cells": cells}
        ),
        "width, rare events": AtMost(
            [_with_cells(cells)(*pair).relative_width for pair in rare], 1e-5
        ),
    }


@claim(
    "total_variation.product-bracket",
    statement=r"""For product distributions $P,Q$ on $n$ coordinates, carry the law of the
likelihood ratio as atoms on a grid of ratios. Merging the atoms of a cell can only lower the
distance, splitting an atom between the two neighbouring grid ratios (totals kept) can only
raise it, and both survive further coordinates. One pass of each gives, in a number of
operations linear in $n$, letters and cells, $L\le d_{\mathrm{TV}}(P,Q)\le U$, proved with all
rounding errors included; for a thousand different coins 500 cells bring $U-L$ below 1 %, and the
relative width stays small when the distance itself is tiny.""",
    source=Source(
        "theorylab", "derived in the chapter; idea of sparsification in feng2023deterministically"
    ),
    evidence="certified",
)
def product_bracket(run: Run) -> Finding:
    small = _small_pairs(run, run.pick(ci=120, paper=400), 8)
    long = _long_pairs(run)
    return AllHold(
        {
            "small, mixed alphabets": _contains(small, _exactly(small), _with_cells(30)),
            "small, 2 cells": _contains(small, _exactly(small), _with_cells(2)),
            "20 coins": _contains(long, _exactly(long), _with_cells(200)),
            "identical coins": _identical_coins(run),
            **_widths(run),
        },
        sizes={"small pairs": len(small)},
    )


def _merged_above(P: Rows, Q: Rows) -> Bracket:
    return bracket_of(exact_pair(P, Q), 3, upper_pass=merging_pass)


@product_bracket.control("atoms merged in the upper pass as well")
def _(run: Run) -> Finding:
    long = _long_pairs(run)
    return _contains(long, _exactly(long), _merged_above)


def _as_doubles(rows: Rows) -> list[list[float]]:
    return [[float(entry) for entry in row] for row in rows]


def _from_doubles(P: Rows, Q: Rows) -> Bracket:
    return tv_product_bracket(_as_doubles(P), _as_doubles(Q), cells=500)


@product_bracket.control("p and q rounded to doubles one by one at distances near 1e-10")
def _(run: Run) -> Finding:
    rng = run.rng("rounded pairs")
    pairs = [random_pair(rng, 6, letters=2, nearness=NEARNESS[-1]) for _ in range(20)]
    return _contains(pairs, _exactly(pairs), _from_doubles)


# --- product-fpras ----------------------------------------------------------------------------

Estimate = Callable[[np.random.Generator], float]


def _misses(run: Run, truth: Bracket, estimate: Estimate, repeats: int, name: str) -> Finding:
    """How often an estimate is certainly off by more than a factor 1 ± ε."""
    rng = run.rng(name)
    values = np.array([estimate(rng) for _ in range(repeats)])
    missed = (values > (1 + EPS) * truth.upper) | (values < (1 - EPS) * truth.lower)
    return proportion_at_most(missed, DELTA, power_against=0.4)


def _exact_truth(P: Rows, Q: Rows) -> Bracket:
    value = float(tv_product_exact(P, Q).value)
    return Bracket(value, value, 0, 0.0)


def _large_misses(run: Run) -> Finding:
    n = run.pick(ci=1000, paper=1000, gpu=10_000)
    P, Q = near_coins(run.rng("large pair"), n)
    truth = tv_product_bracket(P, Q, rtol=0.002)
    return _misses(
        run,
        truth,
        lambda rng: tv_product_fpras(P, Q, EPS, DELTA, rng, at_least=truth.lower).value,
        run.pick(ci=40, paper=200),
        "large estimates",
    )


def _unbiased(
    run: Run,
    P: Rows,
    Q: Rows,
    name: str,
    change: Callable[[CouplingSampler], CouplingSampler] = lambda sampler: sampler,
) -> Finding:
    """The mean of p_≠ f beside the exact distance."""
    sampler = change(CouplingSampler.of(exact_pair(P, Q).floats))
    draws = sampler.draw(run.pick(ci=200_000, paper=2_000_000), run.rng(name))
    truth = float(tv_product_exact(P, Q).value)
    values = sampler.difference_probability * draws.fractions()
    return mean_equals(values, truth, power_against=0.02 * truth)


def _share_of_coupling(n: int) -> float:
    """R = d_TV / p_≠ for n fair coins shifted by 1/n, from the middle of a narrow bracket."""
    P, Q = shifted_fair_coins(n, Fraction(1, n))
    found = tv_product_bracket(P, Q, cells=1000)
    return 0.5 * (found.lower + found.upper) / coupling_distance(exact_pair(P, Q).floats.distances)


def _share_trend(run: Run) -> Finding:
    sizes = run.pick(ci=[20 * 2**k for k in range(6)], paper=[20 * 2**k for k in range(8)])
    fit = fit_exponent(sizes, [_share_of_coupling(n) for n in sizes])
    return ExponentEquals(fit.slope, fit.low, fit.high, predicted=-0.5, tolerance=0.1)


@claim(
    "total_variation.product-fpras",
    statement=r"""Let $\pi$ be the law of $X$ given $X\ne Y$ under the coordinatewise maximal
coupling, $p_{\ne}=1-\prod(1-d_i)$, and
$f(x)=\dfrac{1-\min(1,Q(x)/P(x))}{1-\prod_i\min(1,q_i(x_i)/p_i(x_i))}\in[0,1]$. Then
$d_{\mathrm{TV}}=p_{\ne}E_\pi f$, and the mean of $N=\lceil3\ln(2/\delta)/(\varepsilon^2R_L)\rceil$
draws is within a factor $1\pm\varepsilon$ with probability at least $1-\delta$, for any
proved $R_L\le R=E_\pi f$. For $n$ fair coins each shifted by $1/n$, $R$ falls like
$n^{-1/2}$, not like the general guarantee $1/n$.""",
    source=Source("feng2022simple", "estimator; sample size derived in the chapter"),
    evidence="statistical",
)
def product_fpras(run: Run) -> Finding:
    P, Q = uneven_coins()
    return AllHold(
        {
            "twelve uneven coins": _misses(
                run,
                _exact_truth(P, Q),
                lambda rng: tv_product_fpras(P, Q, EPS, DELTA, rng).value,
                run.pick(ci=100, paper=1000),
                "estimates",
            ),
            "a thousand coins": _large_misses(run),
            "mean of f, uneven coins": _unbiased(run, P, Q, "mean, uneven"),
            "mean of f, mixed alphabets": _unbiased(run, *mixed_pair(), "mean, mixed"),
            "share of the coupling": _share_trend(run),
        },
        sizes={"ε": EPS, "δ": DELTA},
    )


def _broken(
    run: Run,
    change: Callable[[CouplingSampler], CouplingSampler],
    value: Callable[[CouplingDraws], np.ndarray],
) -> Finding:
    """The check on the uneven coins with another sampler or another integrand."""
    P, Q = uneven_coins()
    sampler = CouplingSampler.of(exact_pair(P, Q).floats)
    proved = tv_product_bracket(P, Q, rtol=0.01).lower / sampler.difference_probability
    draws = chernoff_draws(EPS, DELTA, proved)
    broken = change(sampler)
    return _misses(
        run,
        _exact_truth(P, Q),
        lambda rng: broken.estimate(draws, rng, value),
        run.pick(ci=100, paper=1000),
        "estimates",
    )


def _uniform_first_index(sampler: CouplingSampler) -> CouplingSampler:
    n = len(sampler.first_index)
    return replace(sampler, first_index=np.full(n, 1.0 / n))


@product_fpras.control("first differing coordinate drawn uniformly")
def _(run: Run) -> Finding:
    return _broken(run, _uniform_first_index, CouplingDraws.fractions)


@product_fpras.control("coordinates before the first difference drawn from p")
def _(run: Run) -> Finding:
    return _unbiased(
        run,
        *mixed_pair(),
        "mean, mixed",
        lambda sampler: replace(sampler, before=sampler.after),
    )


@product_fpras.control("denominator of f dropped")
def _(run: Run) -> Finding:
    return _broken(run, lambda sampler: sampler, CouplingDraws.deficits)


# --- product-bounds ---------------------------------------------------------------------------

ROUNDING = 1e-12
"""Relative rounding error granted to the double-precision bounds; measured: below 1e-14."""


def _shares(bounds: Iterable[float], truths: Iterable[Fraction]) -> list[float]:
    return [float(Fraction(b) / t) for b, t in zip(bounds, truths, strict=True)]


def _bounds_hold(pairs: Sequence[PairOfRows]) -> Mapping[str, Finding]:
    """Every bound as a share of the exact distance."""
    truths = _exactly(pairs)
    found = [tv_product_bounds(P, Q) for P, Q in pairs]
    lower = {
        f"{name} ≤ d": AtMost(
            _shares([b.lower_bounds[name] for b in found], truths), 1.0, tolerance=ROUNDING
        )
        for name in found[0].lower_bounds
    }
    upper = {
        f"d ≤ {name}": AtLeast(
            _shares([min(b.upper_bounds[name], 1e300) for b in found], truths),
            1.0,
            tolerance=ROUNDING,
        )
        for name in found[0].upper_bounds
    }
    return {**lower, **upper}


def _euclidean_shares(pairs: Sequence[PairOfRows], truths: Iterable[Fraction]) -> list[float]:
    r""":math:`\min(1, \|\delta\|_2) / d_{TV}`, pair by pair."""
    norms = [min(1.0, float(np.linalg.norm(exact_pair(*pair).floats.distances))) for pair in pairs]
    return _shares(norms, truths)


def _two_opposite_coins() -> PairOfRows:
    """Two fair coins shifted by 1/4, one up and one down."""
    up, down, half = Fraction(3, 4), Fraction(1, 4), Fraction(1, 2)
    return [(half, half), (half, half)], [(down, up), (up, down)]


@claim(
    "total_variation.product-bounds",
    statement=r"""For product distributions with coordinate distances $\delta=(d_i)$:
$\max d_i\le d_{\mathrm{TV}}\le1-\prod(1-d_i)\le\sum d_i$;
$1-\beta\le d_{\mathrm{TV}}\le\sqrt{1-\beta^2}$ with the Bhattacharyya coefficient $\beta$;
$d_{\mathrm{TV}}\le\sqrt{\kappa/2}$ and $d_{\mathrm{TV}}\le\sqrt{1-e^{-\kappa}}$ with the
Kullback–Leibler divergence $\kappa$ of $P$ from $Q$; and
$d_{\mathrm{TV}}\ge c\,\min(1,\|\delta\|_2)$ with $c=e^{-1/2}/\sqrt5\approx0.271$, from a Fourier
bound that is itself often the best. No $c$ above 0.683, the probability that a standard normal
variable lies in $[-1,1]$, is possible ($n$ fair coins shifted by $n^{-1/2}$). Evaluated without
cancellation they hold at distances of $10^{-10}$ as well.""",
    source=Source(
        "theorylab", "classical bounds; the Euclidean one after kontorovich2024tensorization"
    ),
    evidence="certified",
)
def product_bounds(run: Run) -> Finding:
    pairs = _small_pairs(run, run.pick(ci=200, paper=1000), 8)
    n = run.pick(ci=900, paper=2500)
    limit = shifted_fair_coins(n, Fraction(1, round(n**0.5)))
    share = _euclidean_shares([limit], _exactly([limit]))[0]
    return AllHold(
        {
            **_bounds_hold(pairs),
            "largest constant": Close(1 / share, EUCLIDEAN_CEILING, atol=1e-3, sizes={"n": n}),
        },
        sizes={"pairs": len(pairs)},
    )


@product_bounds.control("Euclidean lower bound with constant 1")
def _(run: Run) -> Finding:
    pair = _two_opposite_coins()
    shares = _euclidean_shares([pair], _exactly([pair]))
    return AtMost(shares, 1.0, tolerance=ROUNDING)
