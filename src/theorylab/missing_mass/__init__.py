"""How much probability belongs to what has not been seen: missing mass and its estimators."""

from theorylab.missing_mass.fingerprint import (
    BENCHMARKS,
    FIXED_BENCHMARKS,
    Fingerprint,
    Population,
    as_population,
    benchmark_population,
    dirichlet,
    half,
    uniform,
    zipf,
    zipfhalf,
)
from theorylab.missing_mass.linear import (
    Linear,
    chebyshev,
    good_turing,
    minimal_bias,
)
from theorylab.missing_mass.moments import Moments, exact_moments, moments
from theorylab.missing_mass.optimum import Certified, optimal
from theorylab.missing_mass.sampling import Sample, draw

__all__ = [
    "BENCHMARKS",
    "FIXED_BENCHMARKS",
    "Certified",
    "Fingerprint",
    "Linear",
    "Moments",
    "Population",
    "Sample",
    "as_population",
    "benchmark_population",
    "chebyshev",
    "dirichlet",
    "draw",
    "exact_moments",
    "good_turing",
    "half",
    "minimal_bias",
    "moments",
    "optimal",
    "uniform",
    "zipf",
    "zipfhalf",
]
