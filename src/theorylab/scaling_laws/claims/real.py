"""Real spectra and real inputs: where the Gaussian theory holds and where it does not."""

from __future__ import annotations

import numpy as np

from theorylab.claims import Source, claim
from theorylab.committee import Committee, Spectrum
from theorylab.findings import AllHold, AtLeast, Finding
from theorylab.run import Run
from theorylab.scaling_laws import theory
from theorylab.scaling_laws.data import RealInputs, digits, patches
from theorylab.scaling_laws.simulate import Runs, simulate_sgd
from theorylab.stats import mean_at_least, mean_at_most, mean_equals

DERIVED = Source("theorylab", "derived in the chapter")
TIMES = np.array([1, 3, 10])


def descended(
    run: Run, inputs: RealInputs, units: int, eta: float, real: bool, seeds: int
) -> tuple[Runs, np.ndarray, np.ndarray]:
    """Runs on real inputs or on Gaussian ones of the same variances, with the drawn weights."""
    N, rng = inputs.lam.size, run.rng(f"weights {units} {inputs.lam.size}")
    J, B = 0.1 * rng.standard_normal((units, N)), rng.standard_normal((units, N))
    runs = simulate_sgd(
        J,
        B,
        inputs.lam,
        eta,
        int(TIMES[-1]) * N,
        TIMES * N,
        act="linear" if units == 1 else "erf",
        seeds=run.seed_sequence(f"samples {units} {N} {eta} {real}").spawn(seeds),
        inputs=inputs.X if real else None,
    )
    return runs, J, B


def predicted(inputs: RealInputs, J: np.ndarray, B: np.ndarray, eta: float) -> np.ndarray:
    """Exact mean of a linear student; the flow with one block per direction for erf."""
    N = inputs.lam.size
    if len(J) == 1:
        mean = theory.linear_mean_finite(inputs.lam, (B - J)[0] ** 2, eta, int(TIMES[-1]) * N)
        return mean[TIMES * N]
    committee = Committee(Spectrum(inputs.lam), np.eye(len(B)), len(J), eta)
    return committee.from_weights(J, B, np.arange(N)).integrate(TIMES, 1e-6, 1e-10).eps_g


def _surrogate(
    run: Run, inputs: RealInputs, units: int, eta: float, name: str
) -> dict[str, Finding]:
    runs, J, B = descended(run, inputs, units, eta, False, run.pick(ci=48, paper=400))
    means = predicted(inputs, J, B, eta)
    return {
        f"{name}, α = {alpha}": mean_equals(
            runs.eps_g[:, t], means[t], power_against=0.5 * means[t]
        )
        for t, alpha in enumerate(TIMES)
    }


def _real_within(run: Run, inputs: RealInputs, means_of, name: str) -> dict[str, Finding]:
    """The mean error on real inputs is within 5 % of the theory; the power is against 15 %."""
    runs, J, B = descended(run, inputs, 1, 0.05, True, run.pick(ci=160, paper=1000))
    means, parts = means_of(inputs, J, B), {}
    for t, alpha in enumerate(TIMES):
        errors, mean = runs.eps_g[:, t], means[t]
        parts[f"{name}, real, α = {alpha}, from above"] = mean_at_most(
            errors, 1.05 * mean, power_against=0.1 * mean
        )
        parts[f"{name}, real, α = {alpha}, from below"] = mean_at_least(
            errors, 0.95 * mean, power_against=0.1 * mean
        )
    return parts


def _theory(inputs: RealInputs, J: np.ndarray, B: np.ndarray) -> np.ndarray:
    return predicted(inputs, J, B, 0.05)


def _flat(inputs: RealInputs, J: np.ndarray, B: np.ndarray) -> np.ndarray:
    return predicted(RealInputs(inputs.X, np.ones_like(inputs.lam)), J, B, 0.05)


@claim(
    "scaling_laws.real-spectra",
    statement=r"""With the measured spectra of digits and of photograph patches, descent on
Gaussian inputs follows the theory, linear and erf. On the real inputs themselves the linear
theory is within 5 % at $\eta=0.05$ for digits and for patches of one photograph; patches of
the other, with fourth moments far above Gaussian ones, diverge at $\eta=0.5$ where the theory
converges.""",
    source=DERIVED,
    evidence="statistical",
    uses=["scaling_laws.linear-exact-mean", "scaling_laws.sgd-follows-ode"],
)
def real_spectra(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    sets = {"digits": digits(), "flower": patches("flower"), "china": patches("china")}
    for name, inputs in sets.items():
        for eta in (0.05, 0.5):
            parts |= _surrogate(run, inputs, 1, eta, f"{name}, linear, η = {eta}")
        parts |= _surrogate(run, inputs, 2, 0.5, f"{name}, erf, η = 0.5")
    parts |= _real_within(run, sets["digits"], _theory, "digits")
    parts |= _real_within(run, sets["china"], _theory, "china")
    heavy, _, _ = descended(run, sets["flower"], 1, 0.5, True, 32)
    median = np.median(np.minimum(heavy.eps_g[:, -1], 1e300))
    parts["flower, real, η = 0.5: log10 of the median"] = AtLeast(float(np.log10(median)), 5.0)
    return AllHold(parts)


@real_spectra.control("a flat spectrum in the theory")
def _(run: Run) -> Finding:
    return AllHold(_real_within(run, digits(), _flat, "digits"))


@real_spectra.control("the theory of Gaussian inputs for the heavy-tailed patches")
def _(run: Run) -> Finding:
    return AllHold(_real_within(run, patches("flower"), _theory, "flower"))
