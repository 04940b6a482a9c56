"""The headline under two protocols, and what the same data support."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from theorylab import stats
from theorylab.claims import Source, claim
from theorylab.findings import (
    AllHold,
    AtMost,
    Close,
    Equal,
    Finding,
    IntervalContains,
    NotRejected,
    Rejected,
)
from theorylab.missing_mass import protocols, theory
from theorylab.missing_mass.bagging import bag2, shrink, shrunken_bag2, two_term
from theorylab.missing_mass.claims.ratios import (
    Cells,
    detection_power,
    every_ratio_at_most,
    fixed,
    mean_ratio_above,
    mean_ratio_at_most,
    mean_ratio_below,
    over_cells,
    sampler,
    success_above_half,
    success_at_least,
)
from theorylab.missing_mass.data import PublishedCell, published_search
from theorylab.missing_mass.fingerprint import BENCHMARKS, Fingerprint
from theorylab.missing_mass.linear import Linear, good_turing
from theorylab.missing_mass.moments import moments
from theorylab.missing_mass.optimum import optimal
from theorylab.missing_mass.plugins import moment_matched
from theorylab.missing_mass.protocols import Comparison, Estimator, Learner
from theorylab.missing_mass.uniform_model import uniform_mle, uniform_samples
from theorylab.run import Run

PAPER = "lee2025unseen"
DERIVED = Source("theorylab", "derived in the chapter")

# --- the headline --------------------------------------------------------------------------

HEADLINE_RATIO = 0.80
HEADLINE_SUCCESS = 0.92
PUBLISHED_RATIO = 0.85
FOUR_FIFTHS = 0.8


def most_of_bag2(fp: Fingerprint) -> Linear:
    """Four fifths of the correction that the averaged two-term solve makes to Good-Turing."""
    return shrink(bag2(fp), fp.n, FOUR_FIFTHS)


def _good_turing(fp: Fingerprint) -> Linear:
    return good_turing(fp.n)


def _frozen(run: Run, learner: Learner) -> Cells:
    pilots = run.pick(ci=60, paper=400, gpu=10_000)
    return over_cells(run, lambda pop, n, seed: protocols.frozen(learner, pop, n, pilots, seed))


def _on_own_sample(run: Run, estimator: Estimator, ci: int) -> Cells:
    samples = run.pick(ci=ci, paper=2000, gpu=100_000)
    return over_cells(
        run, lambda pop, n, seed: protocols.same_sample(estimator, pop, n, samples, seed)
    )


def _headline(cells: Cells) -> AllHold:
    return AllHold(
        {
            "ratio": mean_ratio_at_most(cells, HEADLINE_RATIO, against=0.85),
            "success": success_at_least(cells, HEADLINE_SUCCESS, against=0.85),
        }
    )


def _with_published(ours: AllHold, ratio: Callable[[PublishedCell], float]) -> AllHold:
    """Beside ours the mean ratio, over the same cells, that the authors' notebook saved."""
    saved = [ratio(cell) for cell in published_search()]
    published = AtMost(float(np.mean(saved)), PUBLISHED_RATIO, sizes={"cells": len(saved)})
    return AllHold({"ours": ours, "published": published})


@claim(
    "missing_mass.frozen-headline",
    statement=r"""Let a formula $T=c_1\Phi_1+c_2\Phi_2$, without constant term, be learned on a
pilot sample of size $n$ and scored on a *fresh* sample of size $n$ (the frozen protocol). Over
the 36 cells of the benchmark (six populations, $S\in\{100,200\}$, $n\in\{S/2,S,2S\}$) its mean
squared error is on average at most 0.80 times that of Good–Turing, and it is the smaller of the
two for at least 92 % of the pilots. (For the genetic search 0.84 and 93.6 % were published.)""",
    source=Source(PAPER, "Abstract; Table 3"),
    evidence="statistical",
    uses=["missing_mass.moments", "missing_mass.frozen-is-not-risk"],
)
def frozen_headline(run: Run) -> Finding:
    return _with_published(_headline(_frozen(run, most_of_bag2)), attrgetter("frozen_ratio"))


@frozen_headline.control("scored on the sample that the formula was learned from")
def _(run: Run) -> Finding:
    ours = _headline(_on_own_sample(run, most_of_bag2, ci=100))
    return _with_published(ours, attrgetter("own_ratio"))


@frozen_headline.control("Good-Turing in the place of the learned formula")
def _(run: Run) -> Finding:
    return _headline(_frozen(run, _good_turing))


@claim(
    "missing_mass.headline-same-sample",
    statement=r"""The headline, read as a statement about *the number that is reported*: the
formula learned on a sample and applied to this same sample has, over the 36 cells, on average at
most 0.80 times the mean squared error of Good–Turing, and is closer to the missing mass for at
least 92 % of the samples.""",
    source=Source(PAPER, "Abstract, read as in practice"),
    evidence="statistical",
    expected="refuted",
    uses=["missing_mass.frozen-headline"],
)
def headline_same_sample(run: Run) -> Finding:
    ours = _headline(_on_own_sample(run, most_of_bag2, ci=100))
    return _with_published(ours, attrgetter("own_ratio"))


@headline_same_sample.control("Good-Turing against itself")
def _(run: Run) -> Finding:
    return _headline(_on_own_sample(run, _good_turing, ci=100))


@headline_same_sample.positive_control("the same formulas on fresh samples (frozen protocol)")
def _(run: Run) -> Finding:
    return _with_published(_headline(_frozen(run, most_of_bag2)), attrgetter("frozen_ratio"))


# --- what one can have on the same sample ----------------------------------------------------


def _small_but_real_gain(cells: Cells) -> AllHold:
    return AllHold(
        {
            "better than Good-Turing": mean_ratio_below(cells, 1.0, expected=0.955),
            "mean ratio": mean_ratio_at_most(cells, 0.96, against=0.98),
            "no bad cell": every_ratio_at_most(cells, 1.05, against=1.25),
            "wins more often": success_above_half(cells, expected=0.54),
        }
    )


@claim(
    "missing_mass.same-sample",
    statement=r"""On its own sample, $G+w_n(T-G)$ with $T$ the averaged two-term solve (BAG2) and
$w_n=\frac{3/4}{1+n/300}$, fitted on other populations, has over the 36 cells of the benchmark on
average at most 0.96 times the mean squared error of Good–Turing (number to beat: 0.95), in no
cell more than 1.05 times, and is the closer one in more than half of the samples.""",
    source=DERIVED,
    evidence="statistical",
    uses=["missing_mass.headline-same-sample"],
)
def same_sample(run: Run) -> Finding:
    return _small_but_real_gain(_on_own_sample(run, shrunken_bag2, ci=400))


@same_sample.control("Good-Turing against itself")
def _(run: Run) -> Finding:
    return _small_but_real_gain(_on_own_sample(run, _good_turing, ci=400))


def _reversed(fp: Fingerprint) -> Linear:
    """The correction to Good-Turing with its sign changed."""
    return shrink(shrunken_bag2(fp), fp.n, -1.0)


@same_sample.control("the correction with its sign reversed")
def _(run: Run) -> Finding:
    return _small_but_real_gain(_on_own_sample(run, _reversed, ci=400))


# --- how little there is to gain -------------------------------------------------------------

EXACT_MAXIMA = {10: (11, 0.65238), 20: (None, 0.62929), 50: (None, 0.61627), 100: (117, 0.61212)}
LOADS = (0.5, 1.0, 2.0)


def _worst_case_of_good_turing() -> AllHold:
    low, high = theory.certified_worst_case_risk()
    found = {n: theory.worst_uniform(n, range(1, 3 * n)) for n in EXACT_MAXIMA}
    return AllHold(
        {
            "closed form": IntervalContains(low, high, theory.worst_case_risk(), max_width=1e-6),
            "0.6080": Close(theory.worst_case_risk(), 0.6080368, atol=5e-8),
            "finite n": Close(
                [float(risk) for risk, _ in found.values()],
                [risk for _, risk in EXACT_MAXIMA.values()],
                atol=5e-6,
            ),
            "worst sizes": Equal(
                [found[n][1] for n, (size, _) in EXACT_MAXIMA.items() if size],
                [size for size, _ in EXACT_MAXIMA.values() if size],
            ),
        }
    )


MassEstimator = Callable[[NDArray[np.int64], int], NDArray[np.float64]]


def _uniform_risk(run: Run, load: float, estimate: MassEstimator) -> NotRejected:
    """Two-sided test of the ratio of an estimator told "uniform" against the floor."""
    size = run.pick(ci=1000, paper=10_000, gpu=1_000_000)
    samples = run.pick(ci=4000, paper=10_000)
    n = round(load * size)
    distinct, singletons = uniform_samples(size, n, samples, run.rng(f"load {load}"))
    mass = 1 - distinct / size
    baseline = (singletons / n - mass) ** 2
    floor = float(theory.uniform_floor(load))
    difference = ((estimate(distinct, n) - mass) ** 2 - floor * baseline) / baseline.mean()
    return stats.mean_equals(difference, 0.0, power_against=0.06)


def _floor(run: Run, estimate: MassEstimator) -> AllHold:
    told_uniform = {f"n/S = {load:g}": _uniform_risk(run, load, estimate) for load in LOADS}
    return AllHold({"worst case": _worst_case_of_good_turing(), **told_uniform})


@claim(
    "missing_mass.efficiency-floor",
    statement=r"""(a) Over all populations, $\sup\lim n\,\mathrm{MSE}(G)=y^*+y^{*2}=0.6080368$
with $y^*=\tfrac12W(2)$, attained by the uniform at $n/S=-\ln y^*=0.8526$; exactly, the largest
value over uniform populations is 0.65238, 0.62929, 0.61627, 0.61212 at $n=10,20,50,100$. (b)
Whoever is told that the population is uniform, but not its size, gains little: with $\lambda=n/S$
the maximum-likelihood estimate has risk $R(\lambda)$ relative to Good–Turing,
$R(\tfrac12)=0.9605$, $R(1)=0.9265$, $R(2)=0.8788$. As $S$ grows, a same-sample
ratio of 0.7 on uniform populations is out of reach of every regular estimator.""",
    source=DERIVED,
    evidence="statistical",
)
def efficiency_floor(run: Run) -> Finding:
    return _floor(run, uniform_mle)


@efficiency_floor.control("the size of the population is given away")
def _(run: Run) -> Finding:
    size = run.pick(ci=1000, paper=10_000, gpu=1_000_000)
    return _floor(run, lambda distinct, n: 1 - distinct / size)


# --- larger samples ------------------------------------------------------------------------

SCALE = 1600


def matched_two_term(fp: Fingerprint) -> Linear:
    """Two-term solve on the plug-in that reproduces the sample's small frequencies."""
    return optimal(moments(moment_matched(fp), fp.n, 2, intercept=False), 2).linear


def _at_scale(run: Run, estimator: Estimator, name: str, size: int, ci: int) -> Cells:
    samples = run.pick(ci=ci, paper=10_000, gpu=100_000)
    seed = run.seed_sequence(f"{name} {size}")
    return {
        f"{name} S=n={size}": protocols.same_sample(
            estimator, sampler(name, size), size, samples, seed
        )
    }


def _breaks_and_is_cured(run: Run, cures: dict[str, Estimator], size: int = SCALE) -> AllHold:
    parts: dict[str, Finding] = {}
    for name, expected in (("zipf", 1.5), ("dirihalf", 1.9)):
        plain = _at_scale(run, two_term, name, size, ci=1500)
        parts[f"plain, {name}"] = mean_ratio_above(plain, 1.2, expected=expected)
        for cure, estimator in cures.items():
            cured = _at_scale(run, estimator, name, size, ci=600)
            parts[f"{cure}, {name}"] = mean_ratio_at_most(cured, 1.03, against=1.12)
    return AllHold(parts)


CURES: dict[str, Estimator] = {"shrunken": shrunken_bag2, "matched": matched_two_term}


@claim(
    "missing_mass.plug-in-at-scale",
    statement=r"""At $S=n=1600$ the two-term solve on the natural Good–Turing plug-in, applied to
its own sample, has more than 1.2 times the mean squared error of Good–Turing on zipf and
Dirichlet(½) populations: the plug-in does not reproduce $f_1,f_2$, so that a bias of constant
order stays while the standard deviation falls like $n^{-1/2}$. Shrinking the correction by $w_n$,
or a plug-in matched to the small frequencies, brings the ratio to at most 1.03.""",
    source=DERIVED,
    evidence="statistical",
    uses=["missing_mass.same-sample"],
)
def plug_in_at_scale(run: Run) -> Finding:
    return _breaks_and_is_cured(run, CURES)


@plug_in_at_scale.control("the plain plug-in as its own cure")
def _(run: Run) -> Finding:
    return _breaks_and_is_cured(run, {"plain": two_term})


@plug_in_at_scale.control("at S = n = 100, where the paper stops, nothing breaks yet")
def _(run: Run) -> Finding:
    return _breaks_and_is_cured(run, CURES, size=100)


# --- a formula moved to a larger sample -----------------------------------------------------

PILOT, MULTIPLES = 100, (2, 5, 10)
FLAT, HEAVY = ("uniform", "half", "zipfhalf"), ("diri", "dirihalf")


def _moved(run: Run, learner: Learner, name: str, multiple: int) -> Comparison:
    """The same pilots for every multiple."""
    pilots = run.pick(ci=100, paper=400)
    return protocols.frozen(
        learner,
        sampler(name, PILOT),
        PILOT,
        pilots,
        run.seed_sequence(name),
        size=multiple * PILOT,
    )


def _larger(run: Run, learner: Learner, careful: Learner) -> AllHold:
    moved = {(name, m): _moved(run, learner, name, m) for name in BENCHMARKS for m in MULTIPLES}
    safe = {
        f"{name} m={m}n": _moved(run, careful, name, m) for name in BENCHMARKS for m in MULTIPLES
    }
    at_double = {name: moved[name, 2] for name in FLAT}
    at_five = {name: moved[name, 5] for name in HEAVY}
    return AllHold(
        {
            "flat populations gain": mean_ratio_below(at_double, 1.0, expected=0.85),
            "the gain fades": _fading(moved),
            "heavy tails lose": mean_ratio_above(at_five, 1.0, expected=1.12),
            "the shrunken one is safe": every_ratio_at_most(safe, 1.0, against=1.06),
        }
    )


def _fading(moved: dict[tuple[str, int], Comparison]) -> Rejected:
    """Per pilot on a flat population, the ratio at 10n is larger than at 2n."""
    drift = np.concatenate(
        [
            moved[name, 10].method / moved[name, 10].baseline
            - moved[name, 2].method / moved[name, 2].baseline
            for name in FLAT
        ]
    )
    return stats.mean_above(drift, 0.0)


def _kept_at_size(learner: Learner) -> Learner:
    """Undo the binomials of the move, so that the coefficients themselves are kept."""

    def learn(fp: Fingerprint) -> Linear:
        return learner(fp).to_size(2 * fp.n, fp.n)

    return learn


@claim(
    "missing_mass.larger-sample",
    statement=r"""Frozen protocol, exactly: a formula learned at $S=n=100$ and moved to
$m=2n,5n,10n$ by $c_k\mapsto c_k\binom nk/\binom mk$ keeps an advantage over Good–Turing on flat
populations (uniform, half, zipfhalf), which fades as $m$ grows. On Dirichlet populations the
averaged two-term solve is *worse* than Good–Turing at $m=5n$, where 0.93–0.95 was published for
the genetic search; shrunken by $w_n$ it is nowhere worse.""",
    source=Source(PAPER, "Section on larger samples (RQ3)"),
    evidence="statistical",
    uses=["missing_mass.frozen-headline"],
)
def larger_sample(run: Run) -> Finding:
    return _larger(run, bag2, shrunken_bag2)


@larger_sample.control("coefficients moved as if the pilot were twice as large")
def _(run: Run) -> Finding:
    return _larger(run, _kept_at_size(bag2), _kept_at_size(shrunken_bag2))


# --- awareness of the distribution ------------------------------------------------------------

AWARE_SIZE, AWARE_N = 100, 200
FLAT_FIXED = ("uniform", "half", "zipfhalf")


def _errors(run: Run, source: str, target: str, stream: str = "") -> NDArray[np.float64]:
    """Exact frozen errors on ``target`` of formulas learned from samples of ``source``."""
    pilots = run.pick(ci=1200, paper=2000)
    truth = moments(fixed(target, AWARE_SIZE), AWARE_N, 2)
    seed = run.seed_sequence(f"{source} {stream}")
    draws = protocols.samples(fixed(source, AWARE_SIZE), AWARE_N, pilots, seed)
    return np.array([float(bag2(draw.fingerprint).mse(truth)) for draw in draws])


def _worse(first: NDArray, second: NDArray, expected: float) -> Rejected:
    """Mann-Whitney demonstration that the first errors tend to be larger than the second."""
    test = mannwhitneyu(first, second, alternative="greater")
    pairs = len(first) * len(second)
    spread = float(np.sqrt((len(first) + len(second) + 1) / (12 * pairs)))
    return Rejected(
        float(test.pvalue),
        stats.LEVEL,
        detection_power(expected - 0.5, spread, stats.LEVEL),
        null="the first formulas are not worse (A12 at most 1/2)",
        sizes={"formulas": len(first)},
        note=f"A12 {test.statistic / pairs:.2f}",
    )


def _awareness(run: Run, learned_from: Callable[[str], str]) -> AllHold:
    """``learned_from`` names the population that a formula said to be from one is learned from."""

    def foreign(source: str, target: str) -> NDArray:
        return _errors(run, learned_from(source), target)

    def own(target: str) -> NDArray:
        return _errors(run, target, target, "own")

    zipf_on_flat = {
        f"from zipf on {name}": _worse(foreign("zipf", name), own(name), expected=0.8)
        for name in FLAT_FIXED
    }
    flat_on_zipf = {
        f"from {name} on zipf": _worse(foreign(name, "zipf"), own("zipf"), expected=0.8)
        for name in FLAT_FIXED
    }
    uniform_wins = {
        f"own on {name} against from uniform": _worse(
            own(name), foreign("uniform", name), expected=0.61
        )
        for name in ("half", "zipfhalf")
    }
    return AllHold({**zipf_on_flat, **flat_on_zipf, **uniform_wins})


@claim(
    "missing_mass.distribution-awareness",
    statement=r"""Frozen protocol, $S=100$, $n=200$. Let $A_{12}$ be the probability that a
formula learned elsewhere has the larger error than one learned from the population's own samples.
Formulas learned from zipf samples are worse on uniform, half and zipfhalf populations than those
learned there, and conversely. But *half* and *zipfhalf* populations are served better by formulas
learned from **uniform** samples than by their own (published: $A_{12}=0.43$ and $0.40$), so what
the formulas are aware of is the tail, no more.""",
    source=Source(PAPER, "Figure 3 (RQ4)"),
    evidence="statistical",
    uses=["missing_mass.frozen-headline"],
)
def distribution_awareness(run: Run) -> Finding:
    return _awareness(run, learned_from=lambda source: source)


@distribution_awareness.control("all formulas learned from uniform samples")
def _(run: Run) -> Finding:
    return _awareness(run, learned_from=lambda source: "uniform")
