r"""Two ways, and a fair third, to score an estimator that is learned from data.

*Frozen*: a formula is learned on a pilot sample and scored, exactly, on a fresh one.
*Same-sample*: the formula is learned on the sample that it is then applied to.
*Pilot plus fresh*: both samples are at hand and everything may be used.

All of them compare with Good-Turing on the sample whose missing mass is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from theorylab.missing_mass.fingerprint import Fingerprint, Population
from theorylab.missing_mass.linear import Linear, good_turing
from theorylab.missing_mass.moments import Moments, moments

PopulationSampler = Population | Callable[[np.random.Generator], Population]
"""A fixed population, or a rule that draws a new one for each repetition."""

Learner = Callable[[Fingerprint], Linear]
Estimator = Callable[[Fingerprint], Linear | float]
TwoSampleEstimator = Callable[[NDArray[np.int64], NDArray[np.int64]], float]
Seed = int | np.random.SeedSequence | np.random.Generator

Z95 = 1.959963984540054


@dataclass(frozen=True, eq=False)
class Comparison:
    """Paired squared errors of a method and of Good-Turing.

    Attributes
    ----------
    method, baseline : numpy.ndarray, shape (repetitions,)
        Squared errors on the same repetitions: of single estimates, or (frozen protocol) their
        exact mean given the pilot.
    """

    method: NDArray[np.float64]
    baseline: NDArray[np.float64]

    @property
    def ratio(self) -> float:
        """Ratio of the mean squared errors; below 1 the method wins."""
        return float(self.method.mean() / self.baseline.mean())

    @property
    def standard_error(self) -> float:
        r"""Delta-method standard error of the ratio, paired.

        .. math:: \\mathrm{sd}(a_i - r b_i) / (\\sqrt n\\,\\bar b)
        """
        residuals = self.method - self.ratio * self.baseline
        return float(residuals.std(ddof=1) / sqrt(len(residuals)) / self.baseline.mean())

    @property
    def mean_ratio(self) -> float:
        """Mean of the ratios of each repetition; for the frozen protocol only.

        Single squared errors can be zero, so that under the other protocols this need not exist.
        """
        return float((self.method / self.baseline).mean())

    @property
    def success(self) -> float:
        """Fraction of repetitions that the method wins; ties count one half."""
        wins = np.count_nonzero(self.method < self.baseline)
        return (wins + 0.5 * np.count_nonzero(self.method == self.baseline)) / len(self.method)

    @property
    def success_interval(self) -> tuple[float, float]:
        """Wilson interval of the success rate at 95 %."""
        n, share = len(self.method), self.success
        centre = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
        half = Z95 * sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2)) / (1 + Z95**2 / n)
        return centre - half, centre + half


def frozen(
    method: Learner,
    population: PopulationSampler,
    n: int,
    pilots: int,
    seed: Seed,
    size: int | None = None,
) -> Comparison:
    r"""Score formulas learned on pilots, exactly, on fresh samples.

    .. math:: E_{s'}\,(c(s)\cdot\Phi(s') - M(s'))^2 \quad\text{for each pilot } s

    Parameters
    ----------
    method : callable
        From the fingerprint of the pilot to a ``Linear`` formula.
    population : Population or callable
        What is drawn from; a callable is given the generator and called once per pilot.
    n : int
        Size of the pilots and of the fresh samples.
    pilots : int
        Number of pilots, at least 2.
    seed : int, SeedSequence or Generator
    size : int, optional
        Size of the fresh samples if not ``n``; formulas are moved by ``Linear.to_size``.

    Returns
    -------
    Comparison
        With the mean squared error of the formula and of Good-Turing for each pilot.

    Raises
    ------
    ValueError
        If ``n`` is not positive or ``pilots`` below 2.
    """
    fresh = n if size is None else size
    errors = []
    exact = _LastMoments(fresh)
    for draw in samples(population, n, pilots, seed):
        formula = method(draw.fingerprint)
        moved = formula if fresh == n else formula.to_size(n, fresh)
        mom = exact.of(draw.population, len(moved.c))
        errors.append((float(moved.mse(mom)), float(good_turing(fresh).mse(mom))))
    return _comparison(errors)


def same_sample(
    method: Estimator, population: PopulationSampler, n: int, samples_: int, seed: Seed
) -> Comparison:
    r"""Score what one would report: learned on, and applied to, the same sample.

    .. math:: (T(s) - M(s))^2 \quad\text{for each sample } s

    Parameters
    ----------
    method : callable
        From a fingerprint to an estimate, or to a ``Linear`` formula that is then applied to
        this very fingerprint.
    population : Population or callable
    n : int
        Sample size.
    samples_ : int
        Number of samples, at least 2.
    seed : int, SeedSequence or Generator

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If ``n`` is not positive or ``samples_`` below 2.
    """
    errors = []
    for draw in samples(population, n, samples_, seed):
        found = method(draw.fingerprint)
        estimate = found.estimate(draw.fingerprint) if isinstance(found, Linear) else float(found)
        errors.append(
            (
                (estimate - draw.missing_mass) ** 2,
                (draw.fingerprint.phi(1) / n - draw.missing_mass) ** 2,
            )
        )
    return _comparison(errors)


def pilot_plus_fresh(
    method: TwoSampleEstimator, population: PopulationSampler, n: int, repetitions: int, seed: Seed
) -> Comparison:
    """Score estimators of the missing mass of a fresh sample that may also use the pilot.

    Parameters
    ----------
    method : callable
        From the counts of the pilot and of the fresh sample (arrays over the same classes) to an
        estimate of the missing mass of the fresh sample: ``frozen_formula(learner)`` or
        ``unseen_in_fresh``, for instance.
    population : Population or callable
    n : int
        Size of both samples.
    repetitions : int
        At least 2.
    seed : int, SeedSequence or Generator

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If ``n`` is not positive or ``repetitions`` below 2.
    """
    first, second = np.random.default_rng(seed).spawn(2)
    errors = []
    pilots = samples(population, n, repetitions, first)
    for pilot in pilots:
        p = pilot.probabilities
        counts = second.multinomial(n, p)
        mass = float(p[counts == 0].sum())
        estimate = method(pilot.counts, counts)
        errors.append(((estimate - mass) ** 2, (np.count_nonzero(counts == 1) / n - mass) ** 2))
    return _comparison(errors)


def frozen_formula(learner: Learner) -> TwoSampleEstimator:
    """The formula learned on the pilot, applied to the fresh sample: the paper's protocol."""

    def estimate(pilot: NDArray[np.int64], fresh: NDArray[np.int64]) -> float:
        return learner(Fingerprint.from_counts(pilot)).estimate(Fingerprint.from_counts(fresh))

    return estimate


def unseen_in_fresh(pilot: NDArray[np.int64], fresh: NDArray[np.int64]) -> float:
    r"""Hold-out estimator: the share of the pilot's draws whose class the fresh sample lacks.

    Unbiased given the fresh sample, with mean squared error :math:`E[M(1-M)]/n`.
    """
    return float(pilot[fresh == 0].sum() / pilot.sum())


@dataclass(frozen=True, eq=False)
class Draw:
    """One sample with what is known of it only in a simulation."""

    population: Population
    probabilities: NDArray[np.float64]
    counts: NDArray[np.int64]
    fingerprint: Fingerprint
    missing_mass: float


def samples(population: PopulationSampler, n: int, number: int, seed: Seed) -> Iterator[Draw]:
    """``number`` independent samples of size ``n``, each with its missing mass.

    Raises
    ------
    ValueError
        If ``n`` is not positive or ``number`` below 2 (no standard error from one).
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    if number < 2:
        raise ValueError(f"need at least 2 repetitions for a standard error, got {number}")
    return _samples(population, n, number, np.random.default_rng(seed))


def _samples(
    population: PopulationSampler, n: int, number: int, rng: np.random.Generator
) -> Iterator[Draw]:
    last, p = None, np.empty(0)
    for _ in range(number):
        current = population if isinstance(population, Population) else population(rng)
        if current is not last:
            last, p = current, _class_probabilities(current)
        counts = rng.multinomial(n, p)
        mass = float(p[counts == 0].sum())
        yield Draw(current, p, counts, Fingerprint.from_counts(counts), mass)


def _class_probabilities(population: Population) -> NDArray[np.float64]:
    """One float per class, summing to one as closely as the multinomial sampler wants."""
    p = population.probabilities().astype(float)
    return p / p.sum()


class _LastMoments:
    """Exact moments, recomputed only when the population or the number of terms changes."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._population: Population | None = None
        self._moments: Moments | None = None

    def of(self, population: Population, K: int) -> Moments:
        if self._moments is None or population is not self._population or K > self._moments.K:
            self._population = population
            self._moments = moments(population, self._n, K)
        return self._moments


def _comparison(errors: list[tuple[float, float]]) -> Comparison:
    method, baseline = np.array(errors).T
    return Comparison(method, baseline)
