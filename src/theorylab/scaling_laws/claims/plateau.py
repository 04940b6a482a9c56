"""The symmetric plateau: where it lies, how it is left, and when there is none."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np

from theorylab.claims import Source, claim
from theorylab.committee import Committee, Spectrum
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, Finding
from theorylab.run import Run
from theorylab.scaling_laws import theory

DERIVED = Source("theorylab", "derived in the chapter")
PAPER = Source("worschech2025scaling", "abstract, nonlinear activation")


def _matched(M: int, spectrum: Spectrum, eta: float = 0.0) -> Committee:
    """M students, M orthonormal teachers; eta = 0 is the gradient flow, in the time eta alpha."""
    return Committee(spectrum, np.eye(M), M, eta or 1.0, gradient_flow=eta == 0)


def two_levels() -> Spectrum:
    """Two eigenvalues with the second moment of sixteen that follow a power law."""
    second = Spectrum.power_law(16, 1.0).moment(2)
    spread = sqrt(second - 1)
    return Spectrum([1 + 3 * spread, 1 - spread / 3], [0.1, 0.9])


def nearly_isotropic() -> Spectrum:
    """Sixteen distinct eigenvalues within 1 % of each other."""
    return Spectrum(np.linspace(1.01, 0.99, 16))


# --- where it lies ----------


def _symbolic_residuals(M: int) -> list:
    """Velocities of R and Q at the plateau, and E[delta g''], symbolically."""
    import sympy as sp

    R, Q = 1 / sp.sqrt(M * (2 * M - 1)), sp.Rational(1, 2 * M - 1)
    students, mixed = sp.sqrt(1 + 2 * Q), sp.sqrt(2 * (1 + Q) - R**2)
    G, G_mixed = 2 / (sp.pi * students), 2 / (sp.pi * mixed)
    H = -2 / sp.pi * Q / ((1 + Q) * students)
    H_mixed = -2 / sp.pi * R / ((1 + Q) * mixed)
    curvature = M * (H_mixed - H)
    row = -M * G + curvature
    velocity_R = row * R + G_mixed
    velocity_Q = 2 * (row * Q + M * G_mixed * R)
    return [sp.simplify(x) for x in (velocity_R, velocity_Q, curvature)]


def _velocity(committee: Committee) -> AtMost:
    """Largest velocity of a block, in units of its eigenvalue."""
    speed = committee.rhs(committee.pack(committee.R0, committee.Q0))
    blocks = np.abs(speed).reshape(len(committee.spectrum), -1).max(axis=1)
    return AtMost(float((blocks / committee.spectrum.lam).max()), 1e-10)


@claim(
    "scaling_laws.plateau-state",
    statement=r"""Erf committees with $K=M$ and orthonormal teachers in every block: at small
learning rates the symmetric fixed point is $R^*=1/\sqrt{M(2M-1)}$, $Q^*=1/(2M-1)$ with height
$c^2M[\frac16-\frac M\pi\arcsin\frac1{2M}]$, for *every* spectrum of mean 1; at any learning
rate the fixed points do not depend on the spectrum.""",
    source=PAPER,
    evidence="exact",
)
def plateau_state(run: Run) -> Finding:
    residuals = [str(x) for M in range(2, 8) for x in _symbolic_residuals(M)]
    parts: dict[str, Finding] = {
        "velocities, symbolic, M = 2 to 7": Equal(residuals, ["0"] * len(residuals)),
        "height": Close(
            [_matched(M, Spectrum.power_law(4, 1.0)).plateau().eps_g for M in (2, 3, 4, 5)],
            [theory.plateau_height(M, 1 / sqrt(M)) for M in (2, 3, 4, 5)],
            rtol=1e-9,
        ),
    }
    for L in (4, 16):
        for eta in (0.1, 0.5, 1.0, 2.0):
            committee = _matched(2, Spectrum.power_law(L, 1.0), eta).at_plateau()
            parts[f"still at η = {eta}, L = {L}"] = _velocity(committee)
    return AllHold(parts)


@plateau_state.control("teachers whose overlaps differ between the blocks")
def _(run: Run) -> Finding:
    committee = _matched(2, Spectrum.power_law(4, 1.0), 0.5).at_plateau()
    T = np.eye(2) * np.array([1.0, 1.1, 1.2, 1.3])[:, None, None]
    return _velocity(replace(committee, T=T))


@plateau_state.control("a spectrum of mean 2")
def _(run: Run) -> Finding:
    committee = _matched(2, Spectrum.power_law(4, 1.0), 0.5).at_plateau()
    return _velocity(replace(committee, spectrum=Spectrum(2 * committee.spectrum.lam)))


# --- how it is left ----------


def _eigenvalues(committee: Committee) -> np.ndarray:
    """Real parts of the spectrum of the Jacobian at the plateau, largest first."""
    start = committee.at_plateau()
    J = start.jacobian(start.pack(start.R0, start.Q0))
    return np.sort(np.linalg.eigvals(J).real)[::-1]


def _times(spectra: list[Spectrum], predicted: list[float], M: int = 2) -> Close:
    """Measured escape times against predictions."""
    measured = [1 / _eigenvalues(_matched(M, spectrum))[0] for spectrum in spectra]
    return Close(measured, predicted, rtol=1e-6)


def _predicted(spectrum: Spectrum, M: int = 2) -> float:
    return theory.escape_time(M, 1 / sqrt(M), 1.0, spectrum)


UNLIKE = (two_levels, nearly_isotropic)


@claim(
    "scaling_laws.escape-time",
    statement=r"""The plateau is left at the rate $\gamma=\eta
c^2\frac2\pi\frac{M}{\sqrt{2M-1}(2M+1)^{3/2}}\langle\lambda^2\rangle$ with multiplicity
$(M-1)^2$. With $c=1/\sqrt M$ and power-law spectra this gives $\tau\propto M^2/L$; but what
controls the time is $\langle\lambda^2\rangle$ and not the number $L$ of distinct eigenvalues.""",
    source=PAPER,
    evidence="exact",
    uses=["scaling_laws.plateau-state"],
)
def escape_time(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    for M in (2, 3, 4):
        spectra = [Spectrum.power_law(L, 1.0) for L in (1, 3, 8)]
        parts[f"time constants, M = {M}"] = _times(spectra, [_predicted(s, M) for s in spectra], M)
        top = _eigenvalues(_matched(M, spectra[1]))
        parts[f"multiplicity, M = {M}"] = Equal(
            int((top > (1 - 1e-5) * top[0]).sum()), (M - 1) ** 2
        )
    for L, eta in ((1, 1.0), (4, 1.0), (16, 0.5)):
        committee = _matched(2, Spectrum.power_law(L, 1.0), eta)
        parts[f"at η = {eta}, L = {L}"] = Close(
            _eigenvalues(committee)[0], committee.escape_rate(), rtol=1e-6
        )
    spectra = [make() for make in UNLIKE]
    parts["two levels; sixteen within 1 %"] = _times(spectra, [_predicted(s) for s in spectra])
    large = Spectrum.power_law(100_000, 1.0)
    law = 2 * np.pi * 400**2 / 100_000 * (np.pi**2 / 6) ** 2 / (np.pi**4 / 90)
    parts["M²/L for large M and L"] = Close(_predicted(large, 400), law, rtol=0.01)
    return AllHold(parts)


@escape_time.control("the number of eigenvalues decides: times of power laws with as many")
def _(run: Run) -> Finding:
    spectra = [make() for make in UNLIKE]
    return _times(spectra, [_predicted(Spectrum.power_law(len(s), 1.0)) for s in spectra])


@escape_time.control("the squared mean in place of the second moment")
def _(run: Run) -> Finding:
    return _times([make() for make in UNLIKE], [_predicted(Spectrum.isotropic())] * 2)


# --- how long it lasts ----------


def leaning(committee: Committee, asymmetry: float) -> Committee:
    """Small students of equal length, each moved by ``asymmetry`` towards a teacher of its own.

    Small, because differences among students that are shared by no teacher do not decay in the
    gradient flow: they would shift the plateau, and the rate at which it is left.
    """
    pattern = np.eye(committee.M) - 1 / committee.M
    return committee.starting_at(asymmetry * pattern, 1e-4 * np.eye(committee.M))


def half_time(M: int, spectrum: Spectrum, asymmetry: float) -> float:
    """Time at which the error is half the plateau's; infinite if it is not reached."""
    committee = _matched(M, spectrum)
    found, tau = committee.plateau(), 1 / committee.escape_rate()
    start = leaning(committee, asymmetry)
    alpha = np.linspace(0, 40 * tau, 301)
    error = np.maximum(start.integrate(alpha, 1e-8, 1e-12).eps_g, 1e-15)
    log_error = np.log(error / (found.eps_g / 2))
    below = np.flatnonzero(log_error < 0)
    if not below.size:
        return float("inf")
    k = below[0]
    share = log_error[k - 1] / (log_error[k - 1] - log_error[k])
    return float(alpha[k - 1] + share * (alpha[k] - alpha[k - 1]))


def _growth(M: int, spectrum: Spectrum) -> Close:
    """Increase of the half time per factor of the asymmetry, in units of the escape time."""
    sizes = np.array([1e-3, 1e-5, 1e-7])
    times = np.array([half_time(M, spectrum, size) for size in sizes])
    slopes = np.diff(times) / np.log(100) * _matched(M, spectrum).escape_rate()
    return Close(slopes, 1.0, rtol=0.01)


def _left(asymmetry: float) -> AtMost:
    """Error after 25 escape times, in units of the plateau's height.

    Not later: by then rounding would have broken the symmetry of a symmetric start.
    """
    committee = _matched(2, Spectrum.power_law(4, 1.0))
    late = [25 / committee.escape_rate()]
    final = leaning(committee, asymmetry).integrate(late, 1e-8, 1e-12)
    return AtMost(final.eps_g[-1] / committee.plateau().eps_g, 0.5)


@claim(
    "scaling_laws.plateau-length-log",
    statement=r"""From an asymmetry $\varepsilon$ the plateau lasts $\tau_{\rm
esc}\ln(1/\varepsilon)$ plus a constant: for $L\le4$ the time to half the height grows by
$\tau_{\rm esc}$ per factor $e$, within 1 %.""",
    source=DERIVED,
    evidence="trend",
    uses=["scaling_laws.escape-time"],
)
def plateau_length_log(run: Run) -> Finding:
    cases = ((2, 1), (2, 4), (3, 4))
    return AllHold(
        {
            **{f"M = {M}, L = {L}": _growth(M, Spectrum.power_law(L, 1.0)) for M, L in cases},
            "an asymmetry of 1e-6 is enough": _left(1e-6),
        }
    )


@plateau_length_log.control("an exactly symmetric start never leaves")
def _(run: Run) -> Finding:
    return _left(0.0)


@plateau_length_log.control("L = 64: escape comes before slow directions are on the plateau")
def _(run: Run) -> Finding:
    return _growth(2, Spectrum.power_law(64, 0.5))


# --- when there is none ----------

ALPHA = np.geomspace(0.1, 1e5, 121)


def figure_one(run: Run, spectrum: Spectrum, N: int = 1024) -> Committee:
    """The committee of the paper's first figure, fed with one drawn instance."""
    rng = run.rng("instance")
    J, B = 0.01 * rng.standard_normal((2, N)), rng.standard_normal((2, N))
    labels = np.repeat(np.arange(len(spectrum)), N // len(spectrum))
    return Committee(spectrum, np.eye(2), 2, 0.1).from_weights(J, B, labels)


def flat_decades(alpha: np.ndarray, eps: np.ndarray, height: float) -> float:
    """Decades of time at the height of the plateau with a local slope below 0.1."""
    slopes = np.abs(np.diff(np.log(eps)) / np.diff(np.log(alpha)))
    level = np.sqrt(eps[1:] * eps[:-1]) / height
    flat = (slopes < 0.1) & (level > 0.5) & (level < 2)
    return float(np.diff(np.log10(alpha))[flat].sum())


def _decades(run: Run, spectrum: Spectrum) -> float:
    eps = figure_one(run, spectrum).integrate(ALPHA, 1e-6, 1e-10).eps_g
    eps = np.maximum(eps, 1e-13)
    return flat_decades(ALPHA, eps, theory.plateau_height(2, sqrt(0.5)))


@claim(
    "scaling_laws.plateau-vanishes",
    statement=r"""With the parameters of the paper's first figure ($K=M=2$, $\eta=0.1$,
$\beta=1$, $\sigma_J=0.01$, $N=1024$) the plateau shrinks as the power-law spectrum gets more
distinct eigenvalues: at least a decade of $\alpha$ for $L=1$, never longer for larger $L$, and
none from $L=16$ on.""",
    source=Source("worschech2025scaling", "Figure 1, parameters of the caption"),
    evidence="trend",
    uses=["scaling_laws.escape-time"],
)
def plateau_vanishes(run: Run) -> Finding:
    sizes = run.pick(ci=(1, 2, 4, 8, 16, 64, 256), paper=(1, 2, 4, 8, 16, 64, 256, 1024))
    decades = {L: _decades(run, Spectrum.power_law(L, 1.0)) for L in sizes}
    values = list(decades.values())
    return AllHold(
        {
            "decades at L = 1": AtLeast(values[0], 1.0),
            "never longer": AtMost(values[1:], values[:-1]),
            "none from L = 16": AtMost([d for L, d in decades.items() if L >= 16], 0.0),
        }
    )


@plateau_vanishes.control("sixteen distinct eigenvalues within 1 %")
def _(run: Run) -> Finding:
    return AtMost([_decades(run, nearly_isotropic())], 0.0)
