"""The linear network: its power law, its learning rates and its trained features."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from theorylab.claims import Source, claim
from theorylab.committee import Spectrum
from theorylab.exact.matrices import rational_matrix
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, ExponentEquals, Finding
from theorylab.run import Run
from theorylab.scaling_laws import theory
from theorylab.scaling_laws.exponents import fit_exponent

DERIVED = Source("theorylab", "derived in the chapter")
PAPER = Source("worschech2025scaling", "abstract, linear activation")
BETAS = (0.3, 0.5, 1.0, 2.0)


def _within(alpha: np.ndarray, eps: np.ndarray, tail: float | None, target: float) -> Finding:
    found = fit_exponent(alpha, eps, tail)
    return ExponentEquals(found.slope, *found.ci, predicted=target, tolerance=1e-3)


# --- the law in time ----------


def _fit_window(beta: float, L: int) -> np.ndarray:
    """Times with eta lam_1 alpha >= 5 and eta lam_L alpha <= 0.005, at eta = 1."""
    lam = Spectrum.power_law(L, beta).lam
    return np.geomspace(5 / lam[0], 0.005 / lam[-1], 60)


def _slope(run: Run, beta: float, target: float, corrected: bool = True) -> Finding:
    L = run.pick(ci=10_000, paper=100_000)
    alpha = _fit_window(beta, L)
    tail = theory.corrected_constant(beta, L) if corrected else None
    return _within(alpha, theory.power_law_sum(beta, L, 1.0, alpha), tail, target)


def _bracketed(beta: float, L: int) -> dict[str, Finding]:
    start, end = theory.window(beta, L, 1.0)
    alpha = np.geomspace(start / 100, end * 30, 60)
    low, high = theory.power_law_bracket(beta, L, 1.0, alpha, sigma_J=0.5)
    F = theory.power_law_sum(beta, L, 1.0, alpha, sigma_J=0.5)
    name = f"β = {beta}, L = {L}"
    rounding = 1e-14
    return {
        f"above the lower end, {name}": AtLeast(F, low, tolerance=rounding),
        f"below the upper end, {name}": AtMost(F, high, tolerance=rounding),
    }


@claim(
    "scaling_laws.linear-time-law",
    statement=r"""Linear units, power-law spectrum of $L$ eigenvalues, small learning rate.
With $x=2\eta\lambda_+\alpha$ and $s=\beta/(1+\beta)$ the error lies within
$\frac{(1+\sigma_J^2)\lambda_+}{2L}\frac1{ex}$ of its expression by incomplete gamma functions
for $1\le x\le L^{1+\beta}$, and it falls as $\alpha^{-s}$ there: the slope of $\epsilon_g$
plus the variance that the cut spectrum lacks is $-s$ within $10^{-3}$.""",
    source=PAPER,
    evidence="trend",
)
def linear_time_law(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    for beta in BETAS:
        for L in (1, 30, 1000):
            parts |= _bracketed(beta, L)
        exponent = -theory.learning_curve_exponent(beta)
        parts[f"slope, β = {beta}"] = _slope(run, beta, exponent)
    return AllHold(parts)


@linear_time_law.control("isotropic inputs")
def _(run: Run) -> Finding:
    alpha = np.geomspace(2, 20, 40)
    return _within(alpha, 0.5 * np.exp(-2 * alpha), None, -theory.learning_curve_exponent(1.0))


@linear_time_law.control("the exponent β/(2+β)")
def _(run: Run) -> Finding:
    return _slope(run, 1.0, -1 / 3)


@linear_time_law.control("the exponent 1/(1+β) at β = 2")
def _(run: Run) -> Finding:
    return _slope(run, 2.0, -1 / 3)


@linear_time_law.control("a plain fit at β = 0.3")
def _(run: Run) -> Finding:
    return _slope(run, 0.3, -theory.learning_curve_exponent(0.3), corrected=False)


# --- learning rates ----------


def _flow_matrix(lam: list[Fraction], p: list[Fraction], eta: Fraction) -> list[list[Fraction]]:
    rows = range(len(lam))
    return [
        [eta**2 * lam[k] * p[j] * lam[j] - (2 * eta * lam[k] if j == k else 0) for j in rows]
        for k in rows
    ]


def _signs(run: Run, mean: int) -> Equal:
    """Signs of (-1)^L det at 2 - 1e-6, 2 and 2 + 1e-6 for random rational spectra."""
    rng, found = run.rng("spectra"), []
    for L in range(1, 7):
        weights = [Fraction(int(x)) for x in rng.integers(1, 30, L)]
        lam = [Fraction(int(x), 7) for x in rng.integers(1, 30, L)]
        p = [x / sum(weights) for x in weights]
        total = sum(x * y for x, y in zip(lam, p, strict=True))
        lam = [mean * x / total for x in lam]
        for shift in (-1, 0, 1):
            eta = 2 + Fraction(shift, 10**6)
            value = (-1) ** L * rational_matrix(_flow_matrix(lam, p, eta), L).det()
            found.append((value > 0) - (value < 0))
    return Equal(found, [1, 0, -1] * 6)


def _prefactors(beta: float, predicted) -> Close:
    """Ratio of the error to its small-rate part, late in the window of a wide binned spectrum."""
    spectrum, etas = Spectrum.log_binned(10**5, beta), (0.1, 0.5, 1.0, 1.5)
    ratios = []
    for eta in etas:
        alpha = np.array([1e6]) / (2 * eta * spectrum.lam[0])
        small = 0.5 * np.exp(-2 * eta * spectrum.lam * alpha) @ (spectrum.p * spectrum.lam)
        ratios.append(float(theory.linear_ode(spectrum, 1.0, eta, alpha)[0] / small))
    return Close(ratios, [predicted(eta) for eta in etas], rtol=0.01)


def _noise_floor(eta: float = 0.5, sigma2: float = 0.3) -> Close:
    lam = np.repeat(Spectrum.power_law(8, 1.0).lam, 125)
    final = theory.linear_mean_finite(lam, np.ones(1000), eta, 120_000, sigma2=sigma2)[-1]
    return Close(final, eta * sigma2 / 4 / (1 - eta / 2), rtol=5e-3)


@claim(
    "scaling_laws.lr-prefactor-and-threshold",
    statement=r"""For *any* spectrum of mean 1 the linear flow is stable exactly for $\eta<2$.
In the window of the power law the learning rate changes only the prefactor, by $1/(1-\eta/2)$;
label noise of variance $\sigma^2$ leaves the floor $\frac{\eta\sigma^2/4}{1-\eta/2}$.""",
    source=PAPER,
    evidence="exact",
    uses=["scaling_laws.linear-time-law"],
)
def lr_prefactor_and_threshold(run: Run) -> Finding:
    return AllHold(
        {
            "sign of the determinant around 2": _signs(run, 1),
            **{
                f"prefactor, β = {b}": _prefactors(b, lambda eta: 1 / (1 - eta / 2)) for b in (1, 2)
            },
            "noise floor": _noise_floor(),
        }
    )


@lr_prefactor_and_threshold.control("the prefactor 1/(1+η/2)")
def _(run: Run) -> Finding:
    return _prefactors(1.0, lambda eta: 1 / (1 + eta / 2))


@lr_prefactor_and_threshold.control("a spectrum of mean 2: the threshold halves")
def _(run: Run) -> Finding:
    return _signs(run, 2)


# --- trained features ----------


def _floor_is_still(run: Run) -> Equal:
    """The closed form is a fixed point of the recursion, in fractions."""
    rng, found = run.rng("variances"), []
    for trained in (0, 1, 3, 5):
        lam = sorted((Fraction(int(x), 5) for x in rng.integers(1, 20, 6)), reverse=True)
        eta, N = Fraction(1, 3), len(lam)
        floor = theory.feature_floor(lam, trained, eta)
        frozen = sum(lam[trained:])
        pulls = [eta * x / N for x in lam[:trained]]
        still = [eta * pull / N * 2 * N * floor / (2 * pull - 2 * pull**2) for pull in pulls]
        learned = sum((x * c for x, c in zip(lam, still, strict=False)), start=Fraction(0))
        found.append(learned + frozen - 2 * N * floor)
    return Equal(found, [0] * len(found))


def _iterated(order: int) -> Close:
    """The recursion itself until it stands still; order -1 trains the smallest variances."""
    lam = Spectrum.power_law(256, 1.0).lam[::order]
    found = theory.linear_mean_finite(lam, np.ones(256), 0.5, 12_000, trained=8)[-1]
    largest_first = Spectrum.power_law(256, 1.0).lam
    return Close(found, theory.feature_floor(largest_first, 8, 0.5), rtol=1e-10)


def _feature_slope(lam: np.ndarray, beta: float, L: int) -> ExponentEquals:
    """Slope of the untrained share, with the missing variance, against the trained number."""
    trained = np.unique(np.geomspace(10, 1000, 30).astype(int))
    left = (lam.sum() - np.cumsum(lam)[trained - 1]) / lam.sum()
    found = fit_exponent(trained + 0.5, left, 2 * theory.corrected_constant(beta, L))
    return ExponentEquals(found.slope, *found.ci, predicted=-beta, tolerance=0.01)


def _tail_bounds(beta: float, L: int) -> dict[str, Finding]:
    lam, trained = Spectrum.power_law(L, beta).lam, np.array([1, 10, 100, 1000])
    left = np.array([lam[n:].sum() for n in trained]) / L
    low, high = theory.feature_tail(beta, trained, L)
    return {
        f"tail from below, β = {beta}": AtLeast(left, low),
        f"tail from above, β = {beta}": AtMost(left, high),
    }


@claim(
    "scaling_laws.feature-law",
    statement=r"""Train only the $N_l$ coordinates of largest variance, the others frozen at
zero. Then $2N\epsilon_\infty=\sum_{k>N_l}\lambda_k\big/\big(1-\sum_{k\le
N_l}\frac{\eta\lambda_k/N}{2(1-\eta\lambda_k/N)}\big)$ exactly at every finite $N$, and for
power-law spectra $\epsilon_\infty\propto N_l^{-\beta}$.""",
    source=PAPER,
    evidence="trend",
)
def feature_law(run: Run) -> Finding:
    L = run.pick(ci=10**6, paper=10**7)
    parts: dict[str, Finding] = {
        "fixed point, in fractions": _floor_is_still(run),
        "the recursion's limit": _iterated(1),
    }
    for beta in BETAS:
        parts |= _tail_bounds(beta, L)
        parts[f"slope, β = {beta}"] = _feature_slope(Spectrum.power_law(L, beta).lam, beta, L)
    return AllHold(parts, sizes={"L": L})


@feature_law.control("the coordinates of smallest variance are trained")
def _(run: Run) -> Finding:
    return _feature_slope(Spectrum.power_law(2000, 1.0).lam[::-1], 1.0, 2000)


@feature_law.control("isotropic inputs")
def _(run: Run) -> Finding:
    return _feature_slope(np.ones(2000), 1.0, 2000)


@feature_law.control("the recursion trains the smallest variances")
def _(run: Run) -> Finding:
    return _iterated(-1)
