"""Real populations, intervals that cover, and a rule to stop a campaign."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from theorylab import stats
from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtMost, Close, Equal, Finding, NotRejected
from theorylab.missing_mass import intervals
from theorylab.missing_mass.bagging import bag2, shrunken_bag2
from theorylab.missing_mass.claims.ratios import (
    Cells,
    every_ratio_at_most,
    fixed,
    mean_ratio_below,
    sampler,
)
from theorylab.missing_mass.data import (
    POPULATIONS,
    butterflies,
    collection,
    real_population,
    shakespeare,
)
from theorylab.missing_mass.fingerprint import BENCHMARKS, Fingerprint, Population
from theorylab.missing_mass.fuzzing import fuzz
from theorylab.missing_mass.intervals import Interval, clopper_pearson_upper, novelty
from theorylab.missing_mass.linear import good_turing, minimal_bias
from theorylab.missing_mass.monitor import Monitor
from theorylab.missing_mass.protocols import Draw, Estimator, same_sample, samples
from theorylab.run import Run

PAPER = "lee2025unseen"
DERIVED = Source("theorylab", "derived in the chapter")

# --- real populations -----------------------------------------------------------------------

REAL_SIZES = (50, 100, 200, 1000)
FLAT_COLLECTION = "area"


def _real_cells(run: Run, estimator: Estimator) -> dict[str, Cells]:
    """Same-sample comparisons, grouped by collection."""
    number = run.pick(ci=1000, paper=10_000)
    return {
        name: {
            f"{name} n={n}": same_sample(
                estimator, real_population(name), n, number, run.seed_sequence(f"{name} {n}")
            )
            for n in REAL_SIZES
        }
        for name in POPULATIONS
    }


def _stored_collections() -> AllHold:
    """What is known of two famous samples: numbers that the formulas must give."""
    corbet, words = butterflies(), shakespeare()
    second = minimal_bias(words.n, K=2).exact_estimate(words)
    first = good_turing(words.n).exact_estimate(words)
    return AllHold(
        {
            "Corbet's butterflies": Equal(corbet.vector(4).tolist(), [118, 74, 44, 24]),
            "Shakespeare, Good-Turing": Close(float(first), 0.016250550, atol=5e-10),
            "Shakespeare, second term": Close(float(first - second), 1.1e-8, atol=5e-10),
            "Shakespeare, Esty": Close(intervals.esty(words).width / 2, 0.000335, atol=5e-7),
        }
    )


def _on_real_data(run: Run, estimator: Estimator) -> AllHold:
    by_collection = _real_cells(run, estimator)
    everywhere = {name: cell for cells in by_collection.values() for name, cell in cells.items()}
    return AllHold(
        {
            "nowhere bad": every_ratio_at_most(everywhere, 1.05, against=1.3),
            "better where it is flat": mean_ratio_below(
                by_collection[FLAT_COLLECTION], 1.0, expected=0.93
            ),
            "known numbers": _stored_collections(),
        }
    )


@claim(
    "missing_mass.real-data",
    statement=r"""On four real collections, sampled with replacement at $n=50,100,200,1000$ (two
category columns of the paper's package, the words of Python's documentation, patches of
handwritten digits) the shrunken estimator, applied to its own sample, has in no case more than
1.05 times the mean squared error of Good–Turing, and less on the almost flat one.""",
    source=Source(PAPER, "Section on real data (RQ5), own collections added"),
    evidence="statistical",
    uses=["missing_mass.same-sample", "missing_mass.plug-in-at-scale"],
)
def real_data(run: Run) -> Finding:
    return _on_real_data(run, shrunken_bag2)


@real_data.control("the correction is not shrunken")
def _(run: Run) -> Finding:
    return _on_real_data(run, bag2)


@real_data.control("Good-Turing against itself")
def _(run: Run) -> Finding:
    return _on_real_data(run, lambda fp: good_turing(fp.n))


# --- intervals ------------------------------------------------------------------------------

COVER_SIZE, COVER_NS = 100, (50, 100, 200, 500)
LEVEL, DELTA = 0.95, 0.05
LEAST_SINGLETONS = 5

Sample = Sequence[Hashable] | NDArray
UpperBound = Callable[[Sample], float]


def _in_order(draw: Draw, rng: np.random.Generator) -> NDArray[np.int64]:
    """The draws behind the counts, in a random order."""
    return rng.permutation(np.repeat(np.arange(draw.counts.size), draw.counts))


def _draws(run: Run, name: str, n: int) -> list[Draw]:
    number = run.pick(ci=400, paper=2000, gpu=20_000)
    seed = run.seed_sequence(f"{name} {n}")
    return list(samples(sampler(name, COVER_SIZE), n, number, seed))


def _esty_covers(run: Run, interval: Callable[[Fingerprint], Interval]) -> NDArray[np.bool_]:
    """Coverage of each sample in the cells with at least five singletons on average."""
    covered: list[bool] = []
    for name in BENCHMARKS:
        for n in COVER_NS:
            draws = _draws(run, name, n)
            if np.mean([draw.fingerprint.phi(1) for draw in draws]) >= LEAST_SINGLETONS:
                covered += [interval(d.fingerprint).covers(d.missing_mass) for d in draws]
    return np.array(covered)


def _bound_covers(run: Run, bound: UpperBound) -> NotRejected:
    """Binomial test of the cell that is covered least often, corrected for the number of cells."""
    level = stats.LEVEL / (len(BENCHMARKS) * len(COVER_NS))
    tests = []
    for name in BENCHMARKS:
        for n in COVER_NS:
            rng = run.rng(f"order {name} {n}")
            covered = [d.missing_mass <= bound(_in_order(d, rng)) for d in _draws(run, name, n)]
            tests.append(
                stats.proportion_at_least(
                    np.array(covered), 1 - DELTA, power_against=0.08, level=level
                )
            )
    return min(tests, key=lambda test: test.p_value)


def _of_fingerprint(bound: Callable[[Fingerprint, float], float]) -> UpperBound:
    return lambda sample: bound(Fingerprint.from_sample(list(sample)), DELTA)


def _coverage(
    run: Run, interval: Callable[[Fingerprint], Interval], holdout: UpperBound
) -> AllHold:
    covered = _esty_covers(run, interval)
    return AllHold(
        {
            "Esty, at least 0.92": stats.proportion_at_least(covered, 0.92, power_against=0.03),
            "Esty, at most 0.97": stats.proportion_at_most(covered, 0.97, power_against=0.02),
            "hold-out": _bound_covers(run, holdout),
            "McDiarmid": _bound_covers(run, _of_fingerprint(intervals.mcdiarmid_upper)),
            "hold-out is tighter": _widths(run, holdout),
            "no discovery in 500 draws": Close(
                holdout(_no_discovery()), 1 - DELTA ** (1 / 500), rtol=1e-9
            ),
            "McAllester-Schapire there": Close(
                intervals.mcallester_schapire(Fingerprint.from_sample(_no_discovery()), DELTA),
                0.29,
                atol=5e-3,
            ),
        }
    )


def _no_discovery() -> list[int]:
    """A thousand draws of ten classes; the second five hundred show nothing new."""
    return list(range(10)) * 100


def _widths(run: Run, holdout: UpperBound) -> AtMost:
    """Mean upper bounds at n = 200: hold-out, McDiarmid, McAllester-Schapire in this order."""
    means = []
    for bound in (
        holdout,
        _of_fingerprint(intervals.mcdiarmid_upper),
        _of_fingerprint(intervals.mcallester_schapire),
    ):
        rng = run.rng("order of widths")
        values = [bound(_in_order(d, rng)) for name in BENCHMARKS for d in _draws(run, name, 200)]
        means.append(float(np.mean(values)))
    return AtMost(means[:-1], means[1:])


@claim(
    "missing_mass.intervals",
    statement=r"""Six populations, $S=100$, $n=50,100,200,500$. Esty's 95 % interval covers the
missing mass in 92 to 97 % of the samples, over the cells with $\mathbb E\Phi_1\ge5$. The hold-out
bound (the first half fixes what is seen, Clopper–Pearson on the second) and
$G+(1+\sqrt2)\sqrt{\ln(2/\delta)/n}$ are at least the missing mass in 95 % of the samples of every
cell, and at $n=200$ the hold-out bound is on average the smaller one; both are smaller than
McAllester and Schapire's. After 1000 draws with no discovery in the second half the hold-out
bound is 0.006, McAllester and Schapire's 0.29.""",
    source=DERIVED,
    evidence="statistical",
)
def coverage(run: Run) -> Finding:
    return _coverage(run, intervals.esty, intervals.holdout_upper)


@coverage.control("the halves overlap: everything drawn counts as seen")
def _(run: Run) -> Finding:
    return _coverage(run, intervals.esty, _overlapping)


def _overlapping(sample: Sample) -> float:
    return clopper_pearson_upper(*novelty(sample, sample[len(sample) // 2 :]), DELTA)


@coverage.control("doubletons left out of Esty's variance")
def _(run: Run) -> Finding:
    return _coverage(run, _without_doubletons, intervals.holdout_upper)


def _without_doubletons(fp: Fingerprint) -> Interval:
    centre = fp.phi(1) / fp.n
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) * sqrt(fp.phi(1) * (1 - centre)) / fp.n
    return Interval(centre - half, centre + half)


# --- a rule to stop -------------------------------------------------------------------------

TARGET = 0.05
CAMPAIGN = 4096


def _fuzzing_population(run: Run) -> Population:
    """What a real campaign showed, to be drawn from again and again."""
    labels = fuzz(run.pick(ci=3000, paper=12_000), run.rng("fuzzing"))
    return collection(Fingerprint.from_sample(labels.tolist()))


def _campaigns(run: Run) -> dict[str, Population]:
    return {"zipf": fixed("zipf", 200), "fuzzing": _fuzzing_population(run)}


StoppingRule = Callable[[NDArray[np.int64]], int | None]
"""From the classes in order of execution to the number after which to stop, if any."""


def _monitored(labels: NDArray[np.int64]) -> int | None:
    monitor = Monitor(TARGET, DELTA)
    monitor.observe_all(labels.tolist())
    return monitor.stopped_at


def _at_first_small_estimate(labels: NDArray[np.int64]) -> int | None:
    """Stop as soon as Good-Turing falls to the target, after the first 32 executions."""
    counts: dict[int, int] = {}
    once = 0
    for done, label in enumerate(labels.tolist(), start=1):
        counts[label] = counts.get(label, 0) + 1
        once += {1: 1, 2: -1}.get(counts[label], 0)
        if done >= 32 and once <= TARGET * done:
            return done
    return None


def _missing_after(population: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Missing mass of the classes' probabilities after these executions."""
    return float(1 - population[np.unique(labels)].sum())


def _stops(run: Run, rule: StoppingRule) -> AllHold:
    number = run.pick(ci=200, paper=2000)
    parts: dict[str, Finding] = {}
    for name, population in _campaigns(run).items():
        p = population.probabilities().astype(float)
        rng = run.rng(f"campaigns {name}")
        campaigns = [rng.choice(p.size, size=CAMPAIGN, p=p / p.sum()) for _ in range(number)]
        stops = [rule(labels) for labels in campaigns]
        early = [
            stop is not None and _missing_after(p, labels[:stop]) > TARGET
            for labels, stop in zip(campaigns, stops, strict=True)
        ]
        parts[f"{name}, not too early"] = stats.proportion_at_most(
            np.array(early), DELTA, power_against=0.15
        )
        parts[f"{name}, not never"] = stats.proportion_at_least(
            np.array([stop is not None for stop in stops]), 0.9, power_against=0.2
        )
    return AllHold(parts)


@claim(
    "missing_mass.stopping-rule",
    statement=r"""A campaign that is checked after $32,64,128,\dots$ executions and stopped once
the hold-out bound at level $\delta/(j(j+1))$ of check $j$ is at most the target 0.05 stops too
early, with missing mass above the target, with probability at most $\delta=0.05$, and in at least
90 % of the campaigns does stop within 4096 executions, on a zipf population and on the behaviours
of a real parser under fuzzing. Stopping at the first Good–Turing estimate below the target does
not have this property.""",
    source=DERIVED,
    evidence="statistical",
    uses=["missing_mass.intervals"],
)
def stopping_rule(run: Run) -> Finding:
    return _stops(run, _monitored)


@stopping_rule.control("stop at the first Good-Turing estimate below the target")
def _(run: Run) -> Finding:
    return _stops(run, _at_first_small_estimate)
