"""The chapter's pictures; every function returns a figure."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from theorylab.neural_collapse.balance_paths import balance_paths
from theorylab.neural_collapse.certificates import HeadCertificates, network_certificates
from theorylab.neural_collapse.data import Images, digits, mnist
from theorylab.neural_collapse.descent import Schedule, TrainedNets, descended, train
from theorylab.neural_collapse.large_step import escapes
from theorylab.neural_collapse.metrics import condition_number, nc1
from theorylab.neural_collapse.near_optimal import best_fit, fit_task
from theorylab.neural_collapse.networks import MLP, forward, relu, smooth_leaky
from theorylab.neural_collapse.rates import DECAYS, continued
from theorylab.neural_collapse.small_networks import (
    perturbed,
    uncollapsed_fixed_point,
    with_linear_layer,
)
from theorylab.neural_collapse.two_phase import phase_run, pyramid
from theorylab.neural_collapse.unconstrained import largest_stationary, spinodal, threshold
from theorylab.plotting import COLOURS, PALETTE, Interactive, figure, picture
from theorylab.training import log_steps

Array = NDArray[np.float64]

# --- collapse over training -------------------------------------------------------------------

_FRAME_STEPS = (0, 25, 50, 75, 100, 150, 200, 300, 400, 600, 1000, 1500, 2500, 4000)


def _three_digits() -> tuple[Images, TrainedNets]:
    images = digits(25, classes=3)
    net = MLP((65, 24, 24, 24, 3), 1, relu())
    return images, train(
        net, images.X, images.Y, 0.1, Schedule(0.01, 4000), seeds=[0], keep=_FRAME_STEPS
    )


def _features(images: Images, net: MLP) -> Array:
    return forward(net, images.X).features[-2]


def _axes_of_last(nets: TrainedNets) -> Array:
    """Three orthonormal directions: the row space of the last layer after training."""
    W = nets.final[0].weights[-1]
    left, _, right = np.linalg.svd(W, full_matrices=False)
    return left @ right


@picture
def collapse_figure() -> Figure:
    """Last features of three digits at four moments of training, on two of the final axes."""
    images, nets = _three_digits()
    axes = _axes_of_last(nets)
    fig, panels = figure(9.5, 2.9, ncols=4, sharex=True, sharey=True)
    for ax, step in zip(panels, (0, 100, 600, 4000), strict=True):
        H = _features(images, nets.kept[_FRAME_STEPS.index(step)][0])
        seen = axes @ H
        for c in range(3):
            ax.plot(*seen[:2, images.labels == c], "o", ms=4, alpha=0.6, label=f"digit {c}")
        ax.set(title=f"step {step}\nNC1 = {nc1(H.T, images.labels):.1g}", xlabel="direction 1")
    panels[0].set(ylabel="direction 2")
    panels[-1].legend(fontsize=9, loc="upper right")
    return fig


def collapse_slider() -> Interactive:
    """The same features in three dimensions; a slider moves through training."""
    import plotly.graph_objects as go

    images, nets = _three_digits()
    axes = _axes_of_last(nets)
    made = go.Figure()
    for number, (net,) in enumerate(nets.kept):
        seen = np.round(axes @ _features(images, net), 4)
        for c in range(3):
            x, y, z = seen[:, images.labels == c]
            made.add_trace(
                go.Scatter3d(
                    x=x,
                    y=y,
                    z=z,
                    mode="markers",
                    visible=number == len(nets.kept) - 1,
                    name=f"digit {c}",
                    marker={"size": 4, "color": PALETTE[c]},
                )
            )
    steps = []
    for number, (step, (net,)) in enumerate(zip(nets.steps, nets.kept, strict=True)):
        value = nc1(_features(images, net).T, images.labels)
        steps.append(
            {
                "method": "update",
                "label": str(step),
                "args": [
                    {"visible": [trace // 3 == number for trace in range(3 * len(nets.kept))]},
                    {"title.text": f"step {step}: NC1 = {value:.2g}"},
                ],
            }
        )
    final = nc1(_features(images, nets.final[0]).T, images.labels)
    span = {"range": [-0.6, 1.5]}
    made.update_layout(
        title={"text": f"step {nets.steps[-1]}: NC1 = {final:.2g}"},
        scene={
            **{
                f"{axis}axis": {**span, "title": {"text": f"{k}"}}
                for k, axis in enumerate("xyz", 1)
            },
            "aspectmode": "cube",
        },
        legend={"orientation": "h", "y": 1.02},
        sliders=[{"active": len(steps) - 1, "steps": steps, "currentvalue": {"prefix": "step "}}],
    )
    return Interactive(made, height=560)


# --- balancedness -----------------------------------------------------------------------------


@picture
def balance_decay_figure(lam: float = 0.1, time: float = 20.0) -> Figure:
    """Imbalance of three pairs of layers against decay times time, for three step sizes."""
    images = digits(5)
    start = MLP((65, 24, 24, 24, 10), 1, relu()).initialised(np.random.default_rng(1))
    fig, panels = figure(9.5, 3.6, ncols=3, sharey=True)
    for ax, rate in zip(panels, (0.005, 0.02, 0.06), strict=True):
        paths = balance_paths(start, images, lam, rate, time)
        for path, name, colour in zip(
            paths,
            ("across the ReLU", "linear, lower", "linear, upper"),
            PALETTE[3:0:-1],
            strict=True,
        ):
            ax.semilogy(lam * path.times, path.imbalance, color=colour, label=name)
        first = paths[1]
        law = first.imbalance[0] * np.exp(-2 * lam * first.times)
        ax.semilogy(lam * first.times, law, ":", color=COLOURS["prediction"], label="exp(−2λt)")
        ax.set(title=f"step size {rate:g}", xlabel="λt")
    panels[0].set(ylabel="imbalance ‖D‖")
    panels[0].legend(fontsize=9)
    return fig


# --- certificates -----------------------------------------------------------------------------


@picture
def certificate_figure() -> Figure:
    """NC1, both condition numbers and NC3 with their bounds, along one training run on digits."""
    images = digits(5)
    net = MLP((65, 24, 24, 24, 10), 1, relu())
    return _certificates(images, net, 0.05, Schedule(0.02, 4000))


@picture
def mnist_figure() -> Figure:
    """The same bounds for handwritten digits of MNIST, with two nonlinear layers."""
    images = mnist(5)
    net = MLP((50, 32, 32, 32, 32, 10), 2, relu())
    return _certificates(images, net, 0.05, Schedule(0.01, 5000, last=0.2))


def _certificates(images: Images, net: MLP, lam: float, schedule: Schedule) -> Figure:
    at = [step for step in log_steps(schedule.steps, 40) if step > 0]
    nets = train(net, images.X, images.Y, lam, schedule, seeds=[1], keep=at)
    found = [network_certificates(row[0], images.X, images.labels) for row in nets.kept]
    return _draw_certificates(nets.steps, found)


def _draw_certificates(steps: Sequence[int], found: list[HeadCertificates]) -> Figure:
    fig, axes = figure(9.0, 6.2, nrows=2, ncols=2)
    (first, second), (third, fourth) = axes
    first.loglog(steps, [c.nc1.value for c in found], color=COLOURS["measured"], label="measured")
    tiers = (
        ("sharp", "nc1", "-"),
        ("posterior", "nc1_posterior", "--"),
        ("prior", "nc1_prior", ":"),
    )
    for name, part, style in tiers:
        values = [getattr(c, part).bound for c in found]
        first.loglog(steps, values, style, color=COLOURS["bound"], label=f"{name} bound")
    first.set(title="NC1", xlabel="step")
    for ax, part, title in (
        (second, "kappa", "κ of the last layer"),
        (third, "nc2", "κ of the class means"),
    ):
        ax.loglog(
            steps,
            [getattr(c, part).value for c in found],
            color=COLOURS["measured"],
            label="measured",
        )
        bounds = [getattr(c, part).bound for c in found]
        ax.loglog(steps, bounds, color=COLOURS["bound"], label="bound")
        ax.set(title=title, xlabel="step", ylim=(1, 60))
        ax.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
        ax.minorticks_off()
    fourth.semilogx(
        steps, [c.nc3.value for c in found], color=COLOURS["measured"], label="measured"
    )
    fourth.semilogx(steps, [c.nc3.bound for c in found], color=COLOURS["bound"], label="bound")
    fourth.set(title="NC3: mean cosine", xlabel="step", ylim=(-0.5, 1.05))
    for ax in axes.flat:
        ax.legend(fontsize=9)
    return fig


# --- phases and rates -------------------------------------------------------------------------


@picture
def two_phase_figure() -> Figure:
    """Loss and imbalance along the flow inside the theorem's hypotheses, three decays."""
    fig, (left, right) = figure(9.0, 3.7, ncols=2)
    task = pyramid(np.random.default_rng(0))
    for lam, colour in zip((1e-2, 1e-3, 1e-4), PALETTE, strict=False):
        found = phase_run(task, lam)
        told, seen = found.constants, found.record
        left.loglog(seen.times[1:], seen.loss[1:], color=colour, label=f"λ = {lam:g}")
        left.plot([told.T1], [lam * told.B], "v", color=colour, ms=8)
        right.semilogy(lam * seen.times, seen.imbalance, color=colour, label=f"λ = {lam:g}")
    x = np.linspace(0, 8, 50)
    right.semilogy(x, seen.imbalance[0] * np.exp(-2 * x), ":", color="black", label="exp(−2λt)")
    left.set(xlabel="time", ylabel="regularised loss", title="▼: bound λB at time T₁")
    right.set(xlabel="λ · time", ylabel="imbalance ‖D‖", title="second phase")
    left.legend()
    right.legend()
    return fig


@picture
def rate_figure() -> Figure:
    """NC1 and training error at rest against the decay, with slopes one and two."""
    images = digits(5, 4)
    net = MLP((65, 16, 16, 16, 4), 2, smooth_leaky(0.3)).initialised(np.random.default_rng(1))
    points = continued(net, images, 1000)
    lam = np.array(DECAYS)
    fig, ax = figure(7.0, 4.2)
    ax.loglog(lam, [p.nc1 for p in points], "o-", color=COLOURS["measured"], label="NC1")
    ax.loglog(
        lam, [p.nc1_bound for p in points], "--", color=COLOURS["bound"], label="bound on NC1"
    )
    ax.loglog(lam, [p.eps1 for p in points], "s-", color=PALETTE[3], label="training error ε₁")
    last = points[-1]
    for power, value in ((2, last.nc1), (1, last.nc1)):
        line = value * (lam / lam[-1]) ** power
        ax.loglog(lam, line, ":", color=COLOURS["muted"])
        ax.annotate(
            f"slope {power}", (lam[1], line[1]), xytext=(4, -14), textcoords="offset points"
        )
    ax.set(xlabel="weight decay λ")
    ax.legend()
    return fig


# --- conditioning -----------------------------------------------------------------------------


@picture
def near_optimal_figure(depths: Sequence[int] = (1, 2, 3, 4, 6, 8)) -> Figure:
    """Condition number of the last layer against the number of linear layers, with bounds."""
    task = fit_task(np.random.default_rng(0))
    found = [best_fit(task, L2, [0], 500) for L2 in depths]
    fig, ax = figure(7.0, 4.2)
    for name, values, colour, style in (
        ("prior bound", [f.bounds.prior for f in found], COLOURS["bound"], ":"),
        ("posterior bound", [f.bounds.posterior for f in found], COLOURS["bound"], "--"),
        ("direct bound", [f.bounds.direct for f in found], COLOURS["bound"], "-"),
        ("κ of all linear layers", [f.kappa_product for f in found], COLOURS["muted"], "-"),
        ("κ of the last layer", [f.kappa for f in found], COLOURS["measured"], "-"),
    ):
        ax.semilogy(depths, np.array(values) - 1, "o", ls=style, color=colour, label=name)
    ax.set(xlabel="number of linear layers L₂", ylabel="condition number − 1")
    ax.legend(fontsize=9)
    return fig


@picture
def large_step_figure() -> Figure:
    """Condition number of the linear part after descent, against the relative step size."""
    rates = (0.3, 0.5, 0.7, 0.9, 0.99, 1.02, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6)
    found = escapes(np.random.default_rng(0), rates, 10_000)
    fig, ax = figure(7.0, 3.9)
    ax.axvline(1, color=COLOURS["prediction"], ls="--", label="largest stable step, 2/λmax")
    ax.axhline(1.6**4, color=COLOURS["muted"], lw=1)
    ax.plot(rates, [s.kappa for s in found], "o-", color=COLOURS["measured"], label="after descent")
    ax.set(
        xlabel="step size / largest stable step at the start",
        ylabel="κ of the linear part",
        ylim=(1, 7.2),
    )
    ax.legend(loc="lower left")
    return fig


# --- free features and one linear layer -------------------------------------------------------


@picture
def ufm_figure() -> Figure:
    """Singular value at the optimum against the decay, for two to six factors."""
    fig, ax = figure(7.5, 4.2)
    s = 1.0
    for q, colour in zip((2, 3, 4, 6), PALETTE, strict=False):
        limit, last = threshold(s, q), spinodal(s, q)
        below = np.linspace(1e-3, limit, 200)
        ax.plot(
            below, [largest_stationary(s, q, x) ** q for x in below], color=colour, label=f"q = {q}"
        )
        ax.plot([limit, limit], [largest_stationary(s, q, limit) ** q, 0], color=colour, lw=1)
        beyond = np.linspace(limit, last, 100)
        ax.plot(beyond, [largest_stationary(s, q, x) ** q for x in beyond], ":", color=colour)
    ax.set(xlabel="mean decay λ̄ (with s = 1)", ylabel="singular value σ / s")
    ax.legend(title="factors")
    return fig


@picture
def fixed_point_figure() -> Figure:
    """Gram matrices of four samples' features where one linear layer stops, and with one more."""
    start = uncollapsed_fixed_point(Fraction(19, 20), 2, 2)
    stack = perturbed(start, np.random.default_rng(0), 1)
    deeper = with_linear_layer(stack, np.random.default_rng(1))
    cases = (
        ("one: ReLU features", stack, 1),
        ("two: ReLU features", deeper, 1),
        ("two: last features", deeper, 2),
    )
    fig, axes = figure(9.0, 3.4, ncols=3)
    for ax, (title, made, layer) in zip(axes, cases, strict=True):
        end = descended(made.net, made.X, made.Y, 0.1, 0.05, 4000)
        H = forward(end, made.X).features[layer][0]
        gram = H.T @ H
        ax.imshow(gram / np.abs(gram).max(), vmin=-1, vmax=1, cmap="RdBu_r")
        ax.set(title=f"{title}\nNC1 = {abs(nc1(H.T, made.labels)):.2g}")
        ax.set_xticks(range(4), ["A1", "A2", "B1", "B2"])
        ax.set_yticks(range(4), ["A1", "A2", "B1", "B2"])
        ax.grid(visible=False)
    return fig


@picture
def gram_figure() -> Figure:
    """Gram matrices of the class means of the last features, one linear layer and five."""
    images = digits(5)
    fig, axes = figure(9.0, 3.5, ncols=3)
    for ax, L2 in zip(axes, (1, 2, 5), strict=True):
        net = MLP((65, *[24] * (1 + L2), 10), 2, relu())
        end = train(net, images.X, images.Y, 0.03, Schedule(0.03, 1500, last=0.2), seeds=[0]).final
        H = forward(end[0], images.X).features[-2]
        means = H @ images.Y.T / 5
        gram = means.T @ means
        shown = ax.imshow(gram / np.abs(gram).max(), vmin=-1, vmax=1, cmap="RdBu_r")
        layers = "layer" if L2 == 1 else "layers"
        ax.set(title=f"{L2} linear {layers}: κ = {condition_number(means.T):.2f}", xlabel="class")
        ax.grid(visible=False)
    axes[0].set(ylabel="class")
    fig.colorbar(shown, ax=axes, shrink=0.8)
    return fig
