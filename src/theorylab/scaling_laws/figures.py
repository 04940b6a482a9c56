"""The pictures of the chapter."""

from __future__ import annotations

from math import sqrt

import numpy as np
from matplotlib.figure import Figure

from theorylab.committee import Committee, Spectrum
from theorylab.plotting import COLOURS, PALETTE, Interactive, figure, picture
from theorylab.run import Run
from theorylab.scaling_laws import theory
from theorylab.scaling_laws.claims import plateau, real, specialised
from theorylab.scaling_laws.data import digits, patches
from theorylab.scaling_laws.exponents import fit_exponent
from theorylab.scaling_laws.simulate import simulate_sgd

RUN = Run(claim="scaling_laws.figures")


def _local_slopes(alpha: np.ndarray, eps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    slopes = np.diff(np.log(eps)) / np.diff(np.log(alpha))
    return np.sqrt(alpha[1:] * alpha[:-1]), slopes


@picture
def shrinking_plateau(sizes: tuple[int, ...] = (1, 4, 16, 64)) -> Figure:
    """Learning curves of the paper's first figure, with their local slopes below."""
    made, (top, bottom) = figure(7, 5.4, nrows=2, sharex=True, height_ratios=(2, 1))
    for colour, L in zip(PALETTE, sizes, strict=False):
        committee = plateau.figure_one(RUN, Spectrum.power_law(L, 1.0))
        eps = committee.integrate(plateau.ALPHA, 1e-6, 1e-10).eps_g
        eps = np.where(eps > 1e-8, eps, np.nan)
        label = f"{L} distinct eigenvalue{'s' if L > 1 else ''}"
        top.loglog(plateau.ALPHA, eps, color=colour, label=label)
        bottom.semilogx(*_local_slopes(plateau.ALPHA, eps), color=colour)
    height = theory.plateau_height(2, sqrt(0.5))
    top.axhline(height, color=COLOURS["muted"], ls=":", lw=1.2)
    top.text(0.12, height * 1.15, "height of the plateau", color="#5B5B5B", fontsize=9)
    top.set(ylabel="error $\\epsilon_g$", ylim=(1e-7, 1))
    top.legend(loc="lower left")
    bottom.set(xlabel="samples per dimension α", ylabel="local slope", ylim=(-3, 0.2))
    return made


@picture
def certified_band() -> Figure:
    """The linear curve inside its rigorous band, in its three regimes."""
    made, ax = figure(7, 4)
    L = 300
    for colour, beta in zip(PALETTE, (0.5, 1.0, 2.0), strict=False):
        start, end = theory.window(beta, L, 1.0)
        alpha = np.geomspace(start / 30, end * 8, 160)
        low, high = theory.power_law_bracket(beta, L, 1.0, alpha)
        exact = theory.power_law_sum(beta, L, 1.0, alpha)
        x = alpha / start
        ax.fill_between(x, np.maximum(low, 1e-12), high, color=colour, alpha=0.2, lw=0)
        ax.loglog(x, exact, color=colour, label=f"β = {beta:g}")
        inside = (alpha >= start) & (alpha <= end)
        ax.loglog(x[inside], theory.prefactor_law(beta, L, 1.0, alpha)[inside], ":", color=colour)
    ax.set(
        xlabel="time in units of the fastest direction, $x=2\\eta\\lambda_+\\alpha$",
        ylabel="error $\\epsilon_g$",
        ylim=(1e-6, 2),
    )
    ax.legend(loc="lower left", title="dotted: the power law")
    return made


@picture
def exponent_fits(L: int = 10_000) -> Figure:
    """What a straight line through the curve says, and what it should say."""
    made, ax = figure(7, 3.6)
    betas = np.array([0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0])
    plain, corrected = [], []
    for beta in betas:
        lam = Spectrum.power_law(L, beta).lam
        alpha = np.geomspace(5 / lam[0], 0.005 / lam[-1], 40)
        F = theory.power_law_sum(beta, L, 1.0, alpha)
        plain.append(-fit_exponent(alpha, F).slope)
        corrected.append(-fit_exponent(alpha, F, theory.corrected_constant(beta, L)).slope)
    fine = np.linspace(0.15, 2.1, 100)
    ax.plot(fine, fine / (1 + fine), color=COLOURS["prediction"], label="β/(1+β)")
    ax.plot(betas, plain, "s", color=COLOURS["control"], label="plain fit")
    ax.plot(betas, corrected, "o", color=COLOURS["measured"], label="missing variance put back")
    ax.set(xlabel="exponent β of the spectrum", ylabel="fitted exponent of the curve")
    ax.legend(loc="lower right")
    return made


@picture
def thresholds() -> Figure:
    """Three thresholds over the exponent, and runs on both sides of them."""
    made, (left, right) = figure(8.2, 3.8, ncols=2)
    betas = np.geomspace(0.1, 4, 40)
    left.axhline(2, color=COLOURS["prediction"], label="flow")
    left.plot(
        betas,
        [theory.limit_threshold(b, 20_000) for b in betas],
        color=COLOURS["measured"],
        label="mean square, L = N → ∞",
    )
    hundred = [theory.eta_c_mean_square(Spectrum.power_law(100, b).lam) for b in betas]
    left.plot(betas, hundred, "--", color=COLOURS["accent"], label="mean square, L = N = 100")
    left.set(xlabel="exponent β", ylabel="critical learning rate", ylim=(0, 2.2), xscale="log")
    left.legend(loc="lower left", fontsize=9)
    N = 200
    lam = Spectrum.power_law(N, 1.0).lam
    B = RUN.rng("teacher").standard_normal((1, N))
    for colour, eta in zip(PALETTE, (0.5, 1.2, 1.9), strict=False):
        runs = simulate_sgd(
            np.zeros((1, N)), B, lam, eta, 10 * N, np.arange(0, 10 * N + 1, 100), act="linear",
            seeds=RUN.seed_sequence(f"runs {eta}").spawn(30),
        )  # fmt: skip
        low, middle, high = np.quantile(runs.eps_g, (0.1, 0.5, 0.9), axis=0)
        right.fill_between(runs.alpha, low, high, color=colour, alpha=0.2, lw=0)
        right.plot(runs.alpha, middle, color=colour, label=f"η = {eta}")
    right.set(xlabel="samples per dimension α", yscale="log", ylim=(1e-3, 1e8))
    right.set_ylabel("error, median and 10–90 %")
    right.legend(loc="upper left")
    return made


@picture
def trained_features(N: int = 2048) -> Figure:
    """What remains when only the largest directions are trained."""
    made, ax = figure(7, 3.6)
    trained = np.unique(np.geomspace(1, N / 2, 30).astype(int))
    for colour, beta in zip(PALETTE, (0.5, 1.0, 2.0), strict=False):
        lam = Spectrum.power_law(N, beta).lam
        floor = [theory.feature_floor(lam, int(n), 0.1) for n in trained]
        ax.loglog(trained, floor, "o", color=colour, label=f"β = {beta:g}", ms=4)
        middle = len(trained) // 3
        law = floor[middle] * (trained / trained[middle]) ** -beta
        ax.loglog(trained, law, ":", color=colour)
    flat = [theory.feature_floor(np.ones(N), int(n), 0.1) for n in trained]
    ax.loglog(trained, flat, color=COLOURS["muted"], label="isotropic")
    ax.set(xlabel="trained directions $N_l$", ylabel="error that remains")
    ax.legend(loc="lower left", title="dotted: $N_l^{-\\beta}$")
    return made


@picture
def escape_times() -> Figure:
    """Escape times of unlike spectra against their second moment, and against their number."""
    made, (left, right) = figure(8, 3.6, ncols=2, sharey=True)
    families = {
        "power law, β = 1": [Spectrum.power_law(L, 1.0) for L in (1, 2, 4, 8, 16, 32)],
        "power law, β = 0.5": [Spectrum.power_law(L, 0.5) for L in (2, 4, 8, 16, 32)],
        "two levels": [plateau.two_levels(), Spectrum([4.0, 0.25], [0.2, 0.8])],
        "16 within 1 %": [plateau.nearly_isotropic()],
    }
    for colour, marker, (name, spectra) in zip(PALETTE, "osD^", families.items(), strict=False):
        times = []
        for spectrum in spectra:
            start = Committee(spectrum, np.eye(2), 2, 1.0, gradient_flow=True).at_plateau()
            J = start.jacobian(start.pack(start.R0, start.Q0))
            times.append(1 / np.linalg.eigvals(J).real.max())
        options = {"color": colour, "marker": marker, "ls": "", "ms": 6}
        left.loglog([s.moment(2) for s in spectra], times, label=name, **options)
        right.loglog([len(s) for s in spectra], times, **options)
    second = np.geomspace(0.9, 20, 20)
    law = theory.escape_time(2, sqrt(0.5), 1.0, Spectrum.isotropic()) / second
    left.loglog(second, law, color=COLOURS["muted"], lw=1.2, zorder=0)
    left.set(xlabel="$\\langle\\lambda^2\\rangle$", ylabel="escape time $\\eta\\tau$")
    right.set(xlabel="distinct eigenvalues $L$")
    left.legend(loc="lower left", fontsize=9)
    return made


@picture
def specialised_law() -> Figure:
    """The late power law over many decades, and a spectrum too short to show it."""
    made, (left, right) = figure(8.2, 3.7, ncols=2)
    alpha, eps, formula = specialised.late_curve(2, specialised.WIDE, 1.0, 1e4, 1e11)
    scale = alpha[0] / 1e4
    left.loglog(alpha / scale, formula, color=COLOURS["prediction"], label="formula")
    left.loglog(alpha / scale, eps, "o", ms=4, color=COLOURS["measured"], label="flow, $L=10^8$")
    left.set(xlabel="time, fastest direction = 1", ylabel="error $\\epsilon_g$")
    left.legend()
    alpha, eps, _ = specialised.late_curve(2, 1024, 1.0, 1e1, 3e6, 41)
    right.semilogx(*_local_slopes(alpha / (alpha[0] / 10), eps), color=COLOURS["control"])
    right.axhline(-0.5, color=COLOURS["prediction"], ls=":", label="−β/(1+β)")
    right.set(xlabel="time, fastest direction = 1", ylabel="local slope, $L=1024$", ylim=(-3, 0))
    right.legend(loc="lower left")
    return made


@picture
def real_inputs() -> Figure:
    """Error on real inputs over theory, at two learning rates."""
    made, axes = figure(8, 3.6, ncols=2, sharey=True)
    sets = {"digits": digits(), "china": patches("china"), "flower": patches("flower")}
    for ax, eta in zip(axes, (0.05, 0.5), strict=True):
        for colour, (name, inputs) in zip(PALETTE, sets.items(), strict=False):
            runs, J, B = real.descended(RUN, inputs, 1, eta, True, 48)
            means = real.predicted(inputs, J, B, eta)
            middle = np.median(np.minimum(runs.eps_g, 1e6), axis=0) / means
            mean = np.minimum(runs.eps_g, 1e6).mean(axis=0) / means
            ax.plot(real.TIMES, mean, "o-", color=colour, label=f"{name}, mean")
            ax.plot(real.TIMES, middle, "x:", color=colour, label=f"{name}, median")
        ax.axhline(1, color=COLOURS["muted"], lw=1)
        ax.set(xscale="log", yscale="log", xlabel="samples per dimension α", title=f"η = {eta}")
        ax.set_ylim(0.3, 100)
    axes[0].set_ylabel("real inputs / theory")
    axes[0].legend(fontsize=9, ncols=2, loc="upper left")
    return made


def learning_curves(points: int = 41, L: int = 32) -> Interactive:
    """Learning curves with controls for the exponent, the learning rate and the hidden units."""
    import plotly.graph_objects as go

    betas, etas, units = (0.3, 0.5, 1.0, 2.0), (0.1, 0.5, 1.0), (1, 2, 3)
    alpha = np.geomspace(0.1, 1e4, points)

    def curve(beta: float, eta: float, M: int) -> list[float]:
        committee = Committee(Spectrum.power_law(L, beta), np.eye(M), M, eta)
        start = 0.01 * (np.eye(M) + 0.3)
        eps = committee.starting_at(start, start @ start.T).integrate(alpha, 1e-5, 1e-9).eps_g
        return [float(f"{max(x, 1e-9):.3g}") for x in eps]

    pairs = [(eta, M) for eta in etas for M in units]
    table = {beta: [curve(beta, eta, M) for eta, M in pairs] for beta in betas}
    made = go.Figure()
    for (eta, M), y in zip(pairs, table[1.0], strict=True):
        made.add_scatter(
            x=[float(f"{a:.3g}") for a in alpha],
            y=y,
            name=f"M = {M}",
            visible=eta == 0.5,
            line={"color": PALETTE[M - 1], "width": 3},
        )
    sliders = [
        {
            "active": betas.index(1.0),
            "currentvalue": {"prefix": "exponent β = "},
            "pad": {"t": 45},
            "steps": [
                {"label": f"{beta:g}", "method": "restyle", "args": [{"y": table[beta]}]}
                for beta in betas
            ],
        }
    ]
    rates = [
        {
            "label": f"η = {rate:g}",
            "method": "restyle",
            "args": [{"visible": [eta == rate for eta, _ in pairs]}],
        }
        for rate in etas
    ]
    hidden = [
        {"label": "all M", "method": "restyle", "args": [{"opacity": [1.0] * len(pairs)}]},
        *(
            {
                "label": f"M = {chosen}",
                "method": "restyle",
                "args": [{"opacity": [1.0 if chosen == M else 0.12 for _, M in pairs]}],
            }
            for chosen in units
        ),
    ]
    common = {"type": "dropdown", "y": 1.16, "yanchor": "top", "xanchor": "left"}
    made.update_layout(
        sliders=sliders,
        updatemenus=[
            {**common, "x": 0.0, "buttons": rates, "active": 1},
            {**common, "x": 0.28, "buttons": hidden},
        ],
        xaxis={"type": "log", "title": "samples per dimension α"},
        yaxis={"type": "log", "title": "error ε", "range": [-6, 0]},
        legend={"x": 0.02, "y": 0.05},
    )
    return Interactive(made, height=520)
