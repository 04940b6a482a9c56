r"""Populations to learn from: none of them is in the paper's benchmark.

The constants of ``shrunken_bag2`` were fitted on samples from these families, so that the
benchmark stays a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from theorylab.missing_mass.bagging import bag2
from theorylab.missing_mass.fingerprint import Population
from theorylab.missing_mass.protocols import Draw, samples

Weights = Callable[[int, np.random.Generator], NDArray[np.floating]]
"""From a number of classes and a generator to unnormalised probabilities."""

SIZES = (20, 3000)
LOADS = (0.2, 6.0)
LEAST_CLASSES = 8


def families() -> dict[str, Weights]:
    """Geometric, log-normal, gamma, two-level, shifted power laws and Pareto, by name."""
    return {
        **{f"geometric {r}": _geometric(r) for r in (0.9, 0.97, 0.99, 0.995)},
        **{f"log-normal {s}": _log_normal(s) for s in (0.5, 1.0, 1.5, 2.0, 3.0)},
        **{f"gamma {a}": _gamma(a) for a in (0.1, 0.2, 2.0, 5.0)},
        **{
            f"two levels {share} x{factor}": _two_levels(share, factor)
            for share, factor in ((0.1, 10.0), (0.1, 100.0), (0.3, 30.0), (0.02, 200.0))
        },
        **{
            f"power {a} shifted {b}": _power_law(a, b)
            for a, b in ((1.5, 0.0), (1.2, 3.0), (2.0, 10.0), (0.75, 0.0), (1.0, 20.0))
        },
        **{f"Pareto {a}": _pareto(a) for a in (0.5, 1.0, 2.0)},
    }


def _geometric(ratio: float) -> Weights:
    return lambda size, rng: ratio ** np.arange(size)


def _log_normal(spread: float) -> Weights:
    return lambda size, rng: np.exp(spread * rng.standard_normal(size))


def _gamma(shape: float) -> Weights:
    # Tiny shapes underflow to zero: such classes are never seen and never missed.
    return lambda size, rng: rng.gamma(shape, size=size) + 1e-300


def _two_levels(share: float, factor: float) -> Weights:
    return lambda size, rng: np.where(np.arange(size) < max(1.0, share * size), factor, 1.0)


def _power_law(exponent: float, shift: float) -> Weights:
    return lambda size, rng: (np.arange(size) + 1.0 + shift) ** -exponent


def _pareto(exponent: float) -> Weights:
    return lambda size, rng: rng.random(size) ** (-1 / exponent)


def training_draws(
    populations: int, each: int, rng: np.random.Generator
) -> Iterator[tuple[str, Draw]]:
    """Samples from random families, sizes and loads.

    Parameters
    ----------
    populations : int
        Number of populations; each has its own family, sample size n (log-uniform in 20..3000)
        and number of classes n / load (load log-uniform in 0.2..6).
    each : int
        Samples from each, at least 2.
    rng : numpy.random.Generator

    Yields
    ------
    family : str
    draw : Draw
    """
    made = families()
    names = list(made)
    for _ in range(populations):
        name = names[int(rng.integers(len(names)))]
        n = round(_log_uniform(SIZES, rng))
        size = max(round(n / _log_uniform(LOADS, rng)), LEAST_CLASSES)
        population = Population.from_weights(made[name](size, rng))
        for draw in samples(population, n, each, rng):
            yield name, draw


def _log_uniform(ends: tuple[float, float], rng: np.random.Generator) -> float:
    low, high = ends
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


@dataclass(frozen=True, eq=False)
class Corrections:
    r"""What BAG2's correction T - G to Good-Turing does, population by population.

    Attributes
    ----------
    gain : numpy.ndarray, shape (populations,)
        :math:`E(G-M)(T-G)`, in units of :math:`E(G-M)^2`.
    price : numpy.ndarray, shape (populations,)
        :math:`E(T-G)^2`, in the same units.
    sizes : numpy.ndarray, shape (populations,)
        Sample sizes.
    """

    gain: NDArray[np.float64]
    price: NDArray[np.float64]
    sizes: NDArray[np.float64]

    def mean_ratio(self, weight: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
        r"""Mean same-sample ratio of :math:`G + w\,(T-G)`, w a function of the sample size."""
        w = weight(self.sizes)
        return float(np.mean(1 + 2 * w * self.gain + w**2 * self.price))


def corrections(populations: int, each: int, rng: np.random.Generator) -> Corrections:
    """Measure the corrections on training populations; parameters as for ``training_draws``."""
    draws = [draw for _, draw in training_draws(populations, each, rng)]
    rows = [_correction(draws[start : start + each]) for start in range(0, len(draws), each)]
    return Corrections(*np.array([row for row in rows if np.isfinite(row).all()]).T)


def _correction(draws: list[Draw]) -> tuple[float, float, float]:
    """Gain, price and sample size of one population; infinite if Good-Turing never errs."""
    n = draws[0].fingerprint.n
    plain = np.array([draw.fingerprint.phi(1) / n for draw in draws])
    change = np.array([bag2(draw.fingerprint).estimate(draw.fingerprint) for draw in draws]) - plain
    error = plain - np.array([draw.missing_mass for draw in draws])
    unit = float(np.mean(error**2))
    if unit == 0:
        return np.inf, np.inf, float(n)
    return float(np.mean(error * change)) / unit, float(np.mean(change**2)) / unit, float(n)


def fit_shrinkage(found: Corrections) -> tuple[float, float]:
    r"""The constants a and :math:`n_0` of :math:`w = a/(1+n/n_0)` with the smallest mean ratio.

    With 850 populations and 150 samples from each, 0.745 and 322 were found; the mean ratio is
    flat around its minimum, and ``shrunken_bag2`` uses 0.75 and 300.
    """

    def loss(logs: NDArray[np.float64]) -> float:
        largest, halving = np.exp(logs)
        return found.mean_ratio(lambda sizes: largest / (1 + sizes / halving))

    largest, halving = np.exp(minimize(loss, np.log([0.5, 500.0]), method="Nelder-Mead").x)
    return float(largest), float(halving)
