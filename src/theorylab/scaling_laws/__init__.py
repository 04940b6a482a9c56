"""How the spectrum of the inputs shapes the learning curve of two-layer networks."""

from theorylab.committee import Committee, PlateauState, Spectrum, Trajectory
from theorylab.gaussian import fourth_moment, kernels
from theorylab.scaling_laws.data import RealInputs, digits, patches
from theorylab.scaling_laws.exponents import Exponent, fit_exponent
from theorylab.scaling_laws.simulate import Runs, simulate_exact_reduced, simulate_sgd
from theorylab.scaling_laws.theory import (
    escape_time,
    eta_c_mean_square,
    eta_c_ode,
    feature_floor,
    linear_mean_finite,
    linear_ode,
    plateau_height,
    power_law_bracket,
    specialised_error,
)

__all__ = [
    "Committee",
    "Exponent",
    "PlateauState",
    "RealInputs",
    "Runs",
    "Spectrum",
    "Trajectory",
    "digits",
    "escape_time",
    "eta_c_mean_square",
    "eta_c_ode",
    "feature_floor",
    "fit_exponent",
    "fourth_moment",
    "kernels",
    "linear_mean_finite",
    "linear_ode",
    "patches",
    "plateau_height",
    "power_law_bracket",
    "simulate_exact_reduced",
    "simulate_sgd",
    "specialised_error",
]
