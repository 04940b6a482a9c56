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
    with_residue,
)
from theorylab.missing_mass.moments import Moments, exact_moments, moments
from theorylab.missing_mass.optimum import Certified, exact_optimal, optimal
from theorylab.missing_mass.sampling import Sample, draw
from theorylab.missing_mass.theory import IdentityResult, identity, log10_bias

__all__ = [
    "BENCHMARKS",
    "FIXED_BENCHMARKS",
    "Certified",
    "Fingerprint",
    "IdentityResult",
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
    "exact_optimal",
    "good_turing",
    "half",
    "identity",
    "log10_bias",
    "minimal_bias",
    "moments",
    "optimal",
    "uniform",
    "with_residue",
    "zipf",
    "zipfhalf",
]
