"""How much probability belongs to what has not been seen: missing mass and its estimators."""

from theorylab.missing_mass import data, ga, intervals, protocols
from theorylab.missing_mass.bagging import bag2, estimate, shrink, shrunken_bag2, two_term
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
from theorylab.missing_mass.monitor import Monitor, ResidualRisk
from theorylab.missing_mass.optimum import Certified, exact_optimal, optimal
from theorylab.missing_mass.plugins import ewens_pitman, moment_matched, natural_good_turing
from theorylab.missing_mass.prefixes import Formula, PrefixMoments
from theorylab.missing_mass.sampling import Sample, draw
from theorylab.missing_mass.theory import IdentityResult, identity, log10_bias
from theorylab.missing_mass.uniform_model import uniform_mle

__all__ = [
    "BENCHMARKS",
    "FIXED_BENCHMARKS",
    "Certified",
    "Fingerprint",
    "Formula",
    "IdentityResult",
    "Linear",
    "Moments",
    "Monitor",
    "Population",
    "PrefixMoments",
    "ResidualRisk",
    "Sample",
    "as_population",
    "bag2",
    "benchmark_population",
    "chebyshev",
    "data",
    "dirichlet",
    "draw",
    "estimate",
    "ewens_pitman",
    "exact_moments",
    "exact_optimal",
    "ga",
    "good_turing",
    "half",
    "identity",
    "intervals",
    "log10_bias",
    "minimal_bias",
    "moment_matched",
    "moments",
    "natural_good_turing",
    "optimal",
    "protocols",
    "shrink",
    "shrunken_bag2",
    "two_term",
    "uniform",
    "uniform_mle",
    "with_residue",
    "zipf",
    "zipfhalf",
]
