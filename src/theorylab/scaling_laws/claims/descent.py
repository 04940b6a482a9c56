"""Descent beside its theory: the flow as N grows, exact means, and where they part."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from theorylab.claims import Source, claim
from theorylab.committee import Committee, Spectrum
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, ExponentEquals, Finding
from theorylab.run import Run
from theorylab.scaling_laws import theory
from theorylab.scaling_laws.simulate import Runs, simulate_exact_reduced, simulate_sgd
from theorylab.stats import mean_equals, proportion_at_least

DERIVED = Source("theorylab", "derived in the chapter")
TIMES = np.array([1, 3, 6])


# --- the flow ----------


def _instance(run: Run, N: int, L: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, Committee]:
    """Weights, labels of the axes, and the committee that is fed with their overlaps."""
    rng, labels = run.rng(f"weights {N} {L}"), np.repeat(np.arange(L), N // L)
    J, B = 0.5 * rng.standard_normal((2, N)), rng.standard_normal((2, N))
    committee = Committee(Spectrum.power_law(L, 1.0), np.eye(2), 2, 0.5, 1.0, 1.0)
    return J, B, labels, committee.from_weights(J, B, labels)


def _descended(run: Run, N: int, L: int, seeds: int) -> tuple[Runs, Committee]:
    J, B, labels, committee = _instance(run, N, L)
    found = simulate_sgd(
        J,
        B,
        committee.spectrum.lam[labels],
        0.5,
        6 * N,
        N * TIMES,
        cs=1.0,
        ct=1.0,
        seeds=run.seed_sequence(f"samples {N} {L}").spawn(seeds),
    )
    return found, committee


def _means(runs: Runs, predicted: np.ndarray, name: str) -> dict[str, Finding]:
    return {
        f"α = {alpha}, {name}": mean_equals(
            runs.eps_g[:, t], predicted[t], power_against=0.3 * predicted[t]
        )
        for t, alpha in enumerate(TIMES)
    }


def _spread_exponent(run: Run, L: int) -> Finding:
    """Exponent in N of the standard deviation at alpha = 1, from equal overlaps at every N."""
    sizes, seeds = np.array([64, 1024]), run.pick(ci=600, paper=10_000)
    overlaps, lam = np.diag([0.25, 0.25, 1.0, 1.0]), Spectrum.power_law(L, 1.0).lam
    logs, errors = [], []
    for N in sizes:
        eps = simulate_exact_reduced(
            np.repeat(N / L * overlaps[None], L, axis=0),
            np.full(L, N // L),
            lam,
            0.5,
            int(N),
            [int(N)],
            run.seed_sequence(f"reduced {N} {L}").spawn(seeds),
            cs=1.0,
            ct=1.0,
        ).eps_g[:, 0]
        centred = (eps - eps.mean()) ** 2
        logs.append(0.5 * np.log(centred.mean()))
        errors.append(0.5 * centred.std() / centred.mean() / np.sqrt(seeds))
    slope = (logs[1] - logs[0]) / np.log(sizes[1] / sizes[0])
    half = 4.5 * np.hypot(*errors) / np.log(sizes[1] / sizes[0])
    return ExponentEquals(
        slope, slope - half, slope + half, predicted=-0.5, tolerance=0.15, confidence=1 - 1e-5
    )


@claim(
    "scaling_laws.sgd-follows-ode",
    statement=r"""One-pass descent of erf committees with fixed output weights follows the
order-parameter flow that is fed with the overlaps of the drawn weights: at $K=M=2$,
$L\in\{1,4,16\}$ and $N$ from 128 to 512 the mean error over runs is the flow's, and its
standard deviation falls as $N^{-1/2}$.""",
    source=Source(
        "worschech2025scaling", "setting of the paper; the flow is derived in the chapter"
    ),
    evidence="statistical",
    uses=["scaling_laws.kernels"],
)
def sgd_follows_ode(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    small = tuple((N, L) for L in (1, 4, 16) for N in (128, 256))
    large = tuple((N, L) for L in (1, 4, 16) for N in (1024, 2048))
    for N, L in run.pick(ci=(*small, (512, 16)), paper=large):
        runs, committee = _descended(run, N, L, run.pick(ci=64, paper=256))
        parts |= _means(runs, committee.integrate(TIMES).eps_g, f"L = {L}, N = {N}")
    parts["exponent of the spread in N, L = 1"] = _spread_exponent(run, 1)
    parts["exponent of the spread in N, L = 4"] = _spread_exponent(run, 4)
    return AllHold(parts)


@sgd_follows_ode.control("the flow without the noise of the gradient")
def _(run: Run) -> Finding:
    runs, committee = _descended(run, 512, 16, 64)
    return AllHold(_means(runs, replace(committee, gradient_flow=True).integrate(TIMES).eps_g, ""))


@sgd_follows_ode.control("the isotropic flow with the same total overlaps")
def _(run: Run) -> Finding:
    runs, committee = _descended(run, 512, 16, 64)
    weight = committee.spectrum.p * committee.spectrum.lam
    total = [np.tensordot(weight, X, 1)[None] for X in (committee.T, committee.R0, committee.Q0)]
    merged = replace(committee, spectrum=Spectrum.isotropic(), T=total[0], R0=total[1], Q0=total[2])
    return AllHold(_means(runs, merged.integrate(TIMES).eps_g, ""))


# --- the exact mean ----------


def _matrix_means(run: Run) -> Equal:
    """Five steps of the whole matrix against the recursion of its diagonal, in fractions."""
    rng, N, eta = run.rng("fractions"), 3, Fraction(2, 5)
    roots = rng.integers(-5, 6, (N, N))
    C = np.array([[Fraction(int(x)) for x in row] for row in roots @ roots.T], dtype=object)
    lam = np.array([Fraction(int(x), 3) for x in rng.integers(1, 9, N)], dtype=object)
    predicted = theory.linear_mean_finite(lam.tolist(), np.diagonal(C).tolist(), eta, 5, exact=True)
    measured = []
    for _ in range(6):
        measured.append(sum((lam * np.diagonal(C)).tolist()) / (2 * N))
        C = theory.mean_matrix_step(C, lam, eta)
    return Equal(measured, predicted)


MARKS = np.array([32, 64, 128, 256])


def _linear_runs(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors of linear students, with the variances and squared weights of the teacher."""
    N = 64
    lam, B = (
        np.repeat(Spectrum.power_law(16, 1.0).lam, 4),
        run.rng("teacher").standard_normal((1, N)),
    )
    runs = simulate_sgd(
        np.zeros((1, N)),
        B,
        lam,
        0.5,
        256,
        MARKS,
        act="linear",
        seeds=run.seed_sequence("samples").spawn(run.pick(ci=6000, paper=100_000)),
    )
    return runs.eps_g, lam, B[0] ** 2


def _linear_means(run: Run, predict) -> AllHold:
    errors, lam, v2 = _linear_runs(run)
    predicted = predict(lam, v2)
    return AllHold(
        {
            f"after {mark} steps": mean_equals(
                errors[:, t], predicted[t], power_against=0.06 * predicted[t]
            )
            for t, mark in enumerate(MARKS)
        }
    )


def _finite(eta: float):
    return lambda lam, v2: theory.linear_mean_finite(lam, v2, eta, 256)[MARKS]


@claim(
    "scaling_laws.linear-exact-mean",
    statement=r"""For linear units the mean error of one-pass descent obeys a recursion of $N$
numbers, exactly at every finite $N$: $c_i\leftarrow
c_i\big(1-\frac{2\eta\lambda_i}N+\frac{2\eta^2\lambda_i^2}{N^2}\big)+\frac{\eta^2}{N^2}\lambda_i\sum_j\lambda_jc_j$
with $E\epsilon_g=\frac1{2N}\sum_i\lambda_ic_i$.""",
    source=DERIVED,
    evidence="statistical",
)
def linear_exact_mean(run: Run) -> Finding:
    return AllHold(
        {
            "matrix and diagonal, in fractions": _matrix_means(run),
            "runs": _linear_means(run, _finite(0.5)),
        }
    )


@linear_exact_mean.control("the flow of infinite N: the bias of order 1/N is seen")
def _(run: Run) -> Finding:
    def flow(lam: np.ndarray, v2: np.ndarray) -> np.ndarray:
        return theory.linear_ode(Spectrum(lam), v2, 0.5, MARKS / lam.size)

    return _linear_means(run, flow)


@linear_exact_mean.control("a learning rate 5 % off")
def _(run: Run) -> Finding:
    return _linear_means(run, _finite(0.525))


@linear_exact_mean.control("isotropic inputs in the recursion")
def _(run: Run) -> Finding:
    return _linear_means(run, lambda lam, v2: _finite(0.5)(np.ones_like(lam), v2))


# --- three thresholds ----------


def _amplification(lam: np.ndarray, eta: float) -> float:
    """Spectral radius of the recursion of second moments."""
    pull = eta * lam / lam.size
    return float(
        np.abs(
            np.linalg.eigvals(
                np.diag(1 - 2 * pull + 2 * pull**2) + np.outer(eta * pull / lam.size, lam)
            )
        ).max()
    )


def _around(lam: np.ndarray, critical: float, name: str) -> dict[str, Finding]:
    return {
        f"below the threshold, {name}": AtMost(
            _amplification(lam, 0.999 * critical), 1.0, tolerance=1e-12
        ),
        f"above the threshold, {name}": AtLeast(_amplification(lam, 1.001 * critical), 1.0),
    }


def _final(run: Run, L: int, eta: float) -> tuple[np.ndarray, float]:
    """Final errors of linear students at alpha = 10 with N = 200, and log10 of their exact mean."""
    N = 200
    lam, B = (
        np.repeat(Spectrum.power_law(L, 1.0).lam, N // L),
        run.rng("teacher").standard_normal((1, N)),
    )
    runs = simulate_sgd(
        np.zeros((1, N)),
        B,
        lam,
        eta,
        10 * N,
        [10 * N],
        act="linear",
        seeds=run.seed_sequence(f"samples {L} {eta}").spawn(run.pick(ci=300, paper=3000)),
    )
    mean = theory.linear_mean_finite(lam, B[0] ** 2, eta, 10 * N)[-1]
    return np.minimum(runs.eps_g[:, 0], 1e300), float(np.log10(mean))


def _share(hits: np.ndarray) -> Finding:
    """At least 60 % of the runs; the power is against 30 %."""
    return proportion_at_least(hits, 0.6, power_against=0.3)


def _exploding_mean(run: Run, L: int) -> dict[str, Finding]:
    errors, mean = _final(run, L, 1.2)
    return {
        "log10 of the exact mean at 1.2": AtLeast(mean, 50),
        "most runs stay small at 1.2": _share(errors < 1),
    }


@claim(
    "scaling_laws.threshold-breaks-at-l-of-order-n",
    statement=r"""With as many distinct eigenvalues as directions, the flow's threshold
$\eta<2$ is not that of descent. The mean square converges exactly for $\eta<\eta_c$ with
$\frac{\eta_c}{2N}\sum_j\frac{\lambda_j}{1-\eta_c\lambda_j/N}=1$ (isotropic: $\frac{2N}{N+2}$;
$\beta=1$, $L=N\to\infty$: 1.00503). Mean, typical run and flow have three different
thresholds: at $N=L=200$ and $\eta=1.2$ the mean explodes while most runs stay small; at
$\eta=1.9$ most runs explode while the flow is stable.""",
    source=DERIVED,
    evidence="statistical",
    uses=["scaling_laws.linear-exact-mean"],
)
def threshold_breaks(run: Run) -> Finding:
    parts: dict[str, Finding] = {}
    for N in (10, 100):
        parts[f"isotropic, N = {N}"] = Close(
            theory.eta_c_mean_square(np.ones(N)), 2 * N / (N + 2), rtol=1e-12
        )
    for beta in (0.5, 1.0, 2.0):
        lam = Spectrum.power_law(200, beta).lam
        parts |= _around(lam, theory.eta_c_mean_square(lam), f"β = {beta}")
    for beta in (1.0, 2.0, 4.0):
        large = theory.eta_c_mean_square(Spectrum.power_law(200_000, beta).lam)
        parts[f"limit of large N, β = {beta}"] = Close(
            large, theory.limit_threshold(beta), rtol=2e-5
        )
    parts |= _exploding_mean(run, 200)
    parts["most runs are small at 0.5"] = _share(_final(run, 200, 0.5)[0] < 0.1)
    parts["most runs explode at 1.9"] = _share(_final(run, 200, 1.9)[0] > 1e10)
    flow = theory.linear_ode(Spectrum.power_law(200, 1.0), 1.0, 1.9, [0.0, 1e4])
    parts["the flow at 1.9 converges"] = AtMost(float(flow[1] / flow[0]), 0.1)
    return AllHold(parts, sizes={"N": 200})


@threshold_breaks.control("four eigenvalues: the mean converges")
def _(run: Run) -> Finding:
    return AllHold(_exploding_mean(run, 4))


@threshold_breaks.control("the flow's threshold in the exact recursion")
def _(run: Run) -> Finding:
    return AllHold(_around(Spectrum.power_law(200, 1.0).lam, 2.0, "2"))
