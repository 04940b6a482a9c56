"""After specialisation: a power law in a window, and the learning rate that destroys it."""

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq

from theorylab.claims import Source, claim
from theorylab.committee import Committee, Spectrum
from theorylab.findings import AllHold, Close, Finding
from theorylab.run import Run
from theorylab.scaling_laws import theory

WIDE = 10**8
DERIVED = Source("theorylab", "derived in the chapter")
PAPER = Source("worschech2025scaling", "abstract, specialised phase")


@lru_cache(maxsize=16)
def late_curve(
    M: int, L: int, beta: float, low: float, high: float, count: int = 29
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, errors of the flow and of the formula; the ends are in units of the fastest mode."""
    spectrum = Spectrum.log_binned(L, beta, head=20, per_decade=12)
    fastest = theory.specialised_rates(M)[1] / M * spectrum.lam[0]
    alpha = np.geomspace(low, high, count) / fastest
    start = 1e-3 * np.eye(M)
    committee = Committee(spectrum, np.eye(M), M, 1.0, gradient_flow=True)
    found = committee.starting_at(start, start @ start).integrate(alpha, 1e-5, 1e-10)
    formula = theory.specialised_error(M, 1 / sqrt(M), 1.0, spectrum, alpha)
    return alpha, found.eps_g, formula


def _slopes(alpha: np.ndarray, eps: np.ndarray) -> np.ndarray:
    """Slopes over half decades and more: every fourth point."""
    return np.diff(np.log(eps[::4])) / np.diff(np.log(alpha[::4]))


def _law(L: int, low: float, high: float, exponent: float) -> Close:
    alpha, eps, _ = late_curve(2, L, 1.0, low, high)
    return Close(_slopes(alpha, eps), -exponent, atol=0.005)


def _ratio(M: int, L: int, beta: float, tolerance: float) -> Close:
    _, eps, formula = late_curve(M, L, beta, 1e4, 1e11)
    return Close(eps / formula, 1.0, rtol=tolerance)


@claim(
    "scaling_laws.specialised-power-law",
    statement=r"""After specialisation, at small learning rates,
$\epsilon_g\simeq\frac{c^2}2\langle\lambda[g_se^{-2\eta c^2g_s\lambda\alpha}+(M-1)g_ae^{-2\eta
c^2g_a\lambda\alpha}]\rangle$ with $g_s=\frac2\pi(\frac1{\sqrt3}+\frac{M-1}2)$ and
$g_a=\frac2\pi(\frac1{\sqrt3}-\frac12)$: a power law $\alpha^{-\beta/(1+\beta)}$ before the
slowest direction is learned, an exponential after it. With $10^8$ eigenvalues the law holds
over seven decades.""",
    source=PAPER,
    evidence="trend",
)
def specialised_power_law(run: Run) -> Finding:
    parts: dict[str, Finding] = {
        "error over formula, β = 1": _ratio(2, WIDE, 1.0, 0.02),
        "slopes, β = 1": _law(WIDE, 1e4, 1e11, 0.5),
    }
    for M, beta in run.pick(ci=((2, 0.5),), paper=((2, 0.5), (3, 0.5), (2, 2.0), (4, 1.0))):
        alpha, eps, formula = late_curve(M, WIDE if beta > 0.5 else 10**9, beta, 1e4, 1e10)
        name = f"M = {M}, β = {beta}"
        parts[f"error over formula, {name}"] = Close(eps / formula, 1.0, rtol=0.05)
        parts[f"slopes of flow and formula, {name}"] = Close(
            _slopes(alpha, eps), _slopes(alpha, formula), atol=0.015
        )
    return AllHold(parts, sizes={"L": WIDE})


@specialised_power_law.control("isotropic inputs: the slope falls without bound")
def _(run: Run) -> Finding:
    return _law(1, 1.0, 8.0, 0.5)


@specialised_power_law.control("the exponent 2β/(1+β)")
def _(run: Run) -> Finding:
    return _law(WIDE, 1e4, 1e11, 1.0)


@specialised_power_law.control("the shared deviation alone")
def _(run: Run) -> Finding:
    spectrum = Spectrum.log_binned(WIDE, 1.0)
    alpha, eps, formula = late_curve(2, WIDE, 1.0, 1e4, 1e11)
    apart = theory.specialised_rates(2)[1]
    weight = spectrum.p * spectrum.lam
    rest = 0.25 * apart * np.exp(-apart * np.multiply.outer(alpha, spectrum.lam)) @ weight
    return Close(eps / (formula - rest), 1.0, rtol=0.02)


# --- the threshold ----------


def _top(M: int, spectrum: Spectrum, eta: float) -> float:
    """Largest real part of the Jacobian at perfect learning, output weights 1."""
    committee = Committee(spectrum, np.eye(M), M, eta, 1.0, 1.0).starting_at(np.eye(M), np.eye(M))
    J = committee.jacobian(committee.pack(committee.R0, committee.Q0))
    return float(np.linalg.eigvals(J).real.max())


def _measured_threshold(M: int, L: int) -> float:
    guess = theory.specialised_threshold(M, 1.0)
    spectrum = Spectrum.power_law(L, 1.0)
    found: Any = brentq(lambda eta: _top(M, spectrum, eta), 0.8 * guess, 1.2 * guess, xtol=1e-9)
    return float(found)


def _thresholds(predicted, cases: tuple[tuple[int, int], ...]) -> Close:
    return Close(
        [_measured_threshold(M, L) for M, L in cases], [predicted(M) for M, _ in cases], rtol=1e-6
    )


@claim(
    "scaling_laws.specialised-threshold",
    statement=r"""Perfect learning of $M$ orthonormal erf teachers is linearly stable exactly
up to a learning rate that does not depend on the spectrum: $c^2\eta_c$ is the least positive
root of $\det(2\mathcal L-\eta\mathcal V)=0$ for the $2\times2$ matrices of the chapter;
$\pi\sqrt{5/3}$ for $M=1$.""",
    source=DERIVED,
    evidence="exact",
)
def specialised_threshold(run: Run) -> Finding:
    cases = run.pick(ci=((1, 1), (1, 5), (2, 1), (2, 5), (2, 20), (3, 1), (3, 5), (4, 1)))
    return AllHold(
        {
            "one unit": Close(theory.specialised_threshold(1, 1.0), pi * sqrt(5 / 3), rtol=1e-12),
            "thresholds of the Jacobian": _thresholds(
                lambda M: theory.specialised_threshold(M, 1.0), cases
            ),
        }
    )


@specialised_threshold.control("√3π/(M−1+3/√5), which drops fluctuations off the diagonal")
def _(run: Run) -> Finding:
    return _thresholds(lambda M: sqrt(3) * pi / (M - 1 + 3 / sqrt(5)), ((2, 1), (2, 5)))
