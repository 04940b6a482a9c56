"""Claims on the best errors of hard heads, and on a target that needs exponentially many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theorylab.attention_rank.bounds import biased_profile, lower_bound, per_head
from theorylab.attention_rank.claims.sources import DERIVED, PAPER, batch_means
from theorylab.attention_rank.harmonics import dim_harm
from theorylab.attention_rank.heads import (
    RankOneHeads,
    arcsine_gram,
    squared_errors,
    tied_heads,
    tilted_directions,
    tilted_heads,
)
from theorylab.attention_rank.targets import (
    BiasedHeads,
    Pairs,
    biased_heads,
    hobby_rice,
    orthonormal_pair,
)
from theorylab.attention_rank.theory import (
    block_budget,
    projector_correlation,
    tied_floor,
)
from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Equal, Finding
from theorylab.run import Run
from theorylab.stats import mean_equals

Layer = Callable[[Pairs], np.ndarray]


def _sampled_mse(run: Run, d: int, layer: Layer, predicted: float, stream: str) -> Finding:
    """The mean squared error of a layer on sampled inputs against a prediction."""
    rng, n, errors = run.rng(stream), run.pick(ci=40_000, paper=400_000), []
    for _ in range(n // 4000):
        pairs = orthonormal_pair(d, 4000, rng)
        errors.append(squared_errors(layer(pairs), pairs.target))
    return mean_equals(
        batch_means(np.concatenate(errors)), predicted, power_against=0.12 * predicted
    )


# --- random-features --------------------------------------------------------------------------

SETTINGS = ((8, 256), (8, 1024), (64, 1024))


@dataclass(frozen=True)
class Fitted:
    """Heads, their values, and the error that the fit states for them."""

    heads: RankOneHeads
    values: np.ndarray
    stated: float


def _fitted_exactly(d: int, H: int, rng: np.random.Generator) -> Fitted:
    heads = tilted_heads(d, H, rng)
    found = heads.optimal_values()
    return Fitted(heads, found.values, found.mse)


def _fitted_with_short_keys(d: int, H: int, rng: np.random.Generator) -> Fitted:
    """The direction e left unnormalised: keys shorter than 1 enter the arcsine law."""
    q, cosine, e = tilted_directions(d, H, rng)
    keys = cosine * q + np.sqrt(1 - cosine**2) * e
    heads = RankOneHeads(q, cosine * q + np.sqrt(1 - cosine**2) * e)
    intended = RankOneHeads(q, cosine * q + np.sqrt(1 - cosine**2) * _unit(e))
    lower = np.tril(arcsine_gram(q, keys, shift=1.0))
    right = 1 + intended.target()
    values = np.linalg.solve(lower + np.tril(lower, -1).T, right)
    return Fitted(heads, values, 1 - 0.5 * float(right @ values))


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _features(run: Run, fit: Callable[[int, int, np.random.Generator], Fitted]) -> Finding:
    parts: dict[str, Finding] = {}
    stated, bounds = [], []
    for d, H in SETTINGS:
        fitted = fit(d, H, run.rng(f"heads {d} {H}"))
        parts[f"d = {d}, H = {H}"] = _sampled_mse(
            run,
            d,
            lambda pairs, f=fitted: f.heads.outputs(pairs, f.values),
            fitted.stated,
            f"pairs {d} {H}",
        )
        stated.append(fitted.stated)
        bounds.append(lower_bound(d, 1, H, "scalar").lo)
    parts["above the lower bound"] = AtLeast(stated, bounds)
    return AllHold(parts)


@claim(
    "attention_rank.random-features",
    statement=r"""For rank-1 hard heads with unit directions $q_h,k_h$ and scalar values $a$, the
error is the explicit quadratic
$\frac12(1-\sum a_h)^2+\frac12(1-2a\cdot b+a^TCa)$ with
$C_{hh'}=\frac4{\pi^2}\arcsin\langle q_h,q_{h'}\rangle\arcsin\langle k_h,k_{h'}\rangle$. Its minimum
over $a$, $1-\frac12(1+b)^T(C+11^T)^{-1}(1+b)$, is the error of the fitted layer on sampled inputs,
and stays above the lower bound for scalar values. (The paper's curve of error
against heads.)""",
    source=Source(PAPER, "figure of random features"),
    evidence="statistical",
    uses=["attention_rank.energy-exact", "attention_rank.one-layer-lower-bound"],
)
def random_features(run: Run) -> Finding:
    return _features(run, _fitted_exactly)


@random_features.control("keys left shorter than 1, as in the published script")
def _(run: Run) -> Finding:
    return _features(run, _fitted_with_short_keys)


# --- hard-head-closed-forms -------------------------------------------------------------------


def _projector_signs(run: Run, d: int, r: int) -> np.ndarray:
    """Products of a projector head with the target's sign, on sampled inputs."""
    rng = run.rng(f"projector {d} {r}")
    pairs = orthonormal_pair(d, run.pick(ci=100_000, paper=1_000_000), rng)
    head = np.sign(np.einsum("nr,nr->n", pairs.w[:, :r], pairs.y[:, :r]))
    return head * np.sign(np.einsum("nd,nd->n", pairs.w, pairs.y))


def _block_layer(d: int, H: int) -> Layer:
    """H hard heads on disjoint blocks, all with the best common value."""
    beta = projector_correlation(d, d // H)
    value = (1 + beta) / (1 + H)

    def layer(pairs: Pairs) -> np.ndarray:
        blocks = (len(pairs.y), H, d // H)
        inner = np.einsum("nhr,nhr->nh", pairs.y.reshape(blocks), pairs.w.reshape(blocks))
        first = (inner >= 0).sum(axis=1)[:, None]
        return value * (first * pairs.x1 + (H - first) * pairs.x2)

    return layer


Draw = Callable[[int, int, np.random.Generator], RankOneHeads]


def _above_the_floor(run: Run, draw: Draw) -> Finding:
    dimensions, H = (4, 8, 16, 64), run.pick(ci=1024, paper=4096)
    errors = [draw(d, H, run.rng(f"tied {d}")).optimal_values().mse for d in dimensions]
    floors = [tied_floor(d) for d in dimensions]
    return AllHold(
        {
            "no tied layer is below": AtLeast(errors, floors, tolerance=1e-9),
            "random tied heads come within 1 %": AtMost(errors, [1.01 * f for f in floors]),
        }
    )


def _closed_forms(run: Run, correlation: Callable[[int, int], float]) -> Finding:
    parts: dict[str, Finding] = {}
    for d, r in ((8, 2), (8, 7), (32, 31), (16, 4)):
        parts[f"projector, d = {d}, r = {r}"] = mean_equals(
            batch_means(_projector_signs(run, d, r)), correlation(d, r), power_against=0.03
        )
    for H in (2, 4, 16):
        parts[f"blocks, d = 64, H = {H}"] = _sampled_mse(
            run, 64, _block_layer(64, H), block_budget(64, H), f"blocks {H}"
        )
    budget = [block_budget(64, 2**k) for k in range(7)]
    parts["more heads are worse"] = AtLeast(np.diff(budget).tolist(), 0.01)
    return AllHold(parts)


@claim(
    "attention_rank.hard-head-closed-forms",
    statement=r"""A hard head of rank $r$ whose $QK^T$ is a projector correlates with the target by
$\beta_{d,r}=E[\frac2\pi\arcsin\sqrt B]$, $B\sim\mathrm{Beta}(\frac r2,\frac{d-r}2)$. At the fixed
budget $Hr=d$, $H$ such heads on disjoint blocks with the best common value have
$\mathrm{MSE}=1-\frac{H(1+\beta_{d,d/H})^2}{2(1+H)}$, which rises with every doubling of $H$ (from 0
to 0.443 at $d=64$). Any number of tied rank-1 hard heads ($q=k$) with any scalar values has
$\mathrm{MSE}\ge1-\frac{(1+m_1)^2}{2(1+m_2)}$, $m_i=E[(\frac2\pi\arcsin|t|)^i]$: voting within one
layer fails.""",
    source=DERIVED,
    evidence="statistical",
    uses=["attention_rank.random-features"],
)
def hard_head_closed_forms(run: Run) -> Finding:
    return AllHold(
        {
            "forms": _closed_forms(run, projector_correlation),
            "floor": _above_the_floor(run, tied_heads),
        }
    )


@hard_head_closed_forms.control("the ranks r and d - r swapped")
def _(run: Run) -> Finding:
    return _closed_forms(run, lambda d, r: projector_correlation(d, d - r))


@hard_head_closed_forms.control("untied heads go below the floor")
def _(run: Run) -> Finding:
    return _above_the_floor(run, tilted_heads)


# --- biased-exponential -----------------------------------------------------------------------


def _outputs_differ(run: Run, d: int, layer: BiasedHeads) -> int:
    pairs = orthonormal_pair(d, run.pick(ci=5000, paper=100_000), run.rng(f"biased {d}"))
    errors = squared_errors(layer(pairs), layer.target(pairs))
    return int((errors > 1e-18).sum())


def quarter_heads(d: int, L: int, r: int) -> int:
    r"""Heads up to which the bound stays at a quarter: :math:`\lfloor N(d,L)/2M_r(L)\rfloor`."""
    return dim_harm(d, L) // (2 * per_head(r, L, "matrix"))


def _harder_target(run: Run, profile: Callable[[int, ArrayLike], ArrayLike]) -> Finding:
    sizes = [(8, 9), (12, 13), (16, 17), *([(24, 25), (32, 33)] if run.scale != "ci" else [])]
    low, bounds, differ, heads = [], [], [], []
    for d, L in sizes:
        tau, _ = hobby_rice(d, L)
        energy = np.asarray(profile(d, tau), dtype=float)
        low.append(float(np.sum(energy[:L])))
        differ.append(_outputs_differ(run, d, biased_heads(tau)))
        heads.append(len(tau))
        for r in (1, 2, 4):
            H = max(quarter_heads(d, L, r), 1)
            bounds.append(lower_bound(d, r, H, "matrix", energy).lo)
    needed = [float(quarter_heads(d, L, 1)) for d, L in sizes]
    rates = np.diff(np.log(needed)) / np.diff([d for d, _ in sizes])
    return AllHold(
        {
            "no energy below degree L": AtMost(low, 1e-20),
            "L full-rank heads represent it": Equal(differ, [0] * len(sizes)),
            "low rank errs by a quarter": AtLeast(bounds, 0.25, tolerance=1e-9),
            "rank-1 heads grow exponentially": AtLeast(rates.tolist(), 1.0),
        },
        sizes={"full-rank heads": tuple(heads), "rank-1 heads": tuple(needed)},
    )


@claim(
    "attention_rank.biased-exponential",
    statement=r"""There are points $\tau_1<\dots<\tau_L$, $L$ odd, such that
$F(t)=\prod\mathrm{sgn}(t-\tau_i)$ is orthogonal to all polynomials of degree below $L$ under the
weight of $\langle w,y\rangle$ (Hobby–Rice). The target $(s+F(\langle w,y\rangle)w)/\sqrt2$ is then
the output of exactly $L$ full-rank biased hard heads with values $\pm1$, while every layer of
rank-$r$ dot-product heads with any biases, temperatures and value matrices, of any norm, has
$\mathrm{MSE}\ge\frac12\bigl(1-HM_r(L)/N(d,L)\bigr)$,
$M_r(\ell)=h_r(\ell-2)+h_r(\ell)+h_r(\ell+2)$: error below $\frac14$ needs $N/2M$ heads, at $L=d+1$
and rank 1 more than $e^{d}$ times a constant. (A witness of our own for the paper's Theorem 3.)""",
    source=Source(PAPER, "Theorem 3"),
    evidence="certified",
    uses=["attention_rank.one-layer-lower-bound"],
)
def biased_exponential(run: Run) -> Finding:
    return _harder_target(run, biased_profile)


@biased_exponential.control("one point moved by 0.01")
def _(run: Run) -> Finding:
    def moved(d: int, tau: ArrayLike) -> np.ndarray:
        shifted = np.array(tau, dtype=float)
        shifted[len(shifted) // 2 + 1] += 0.01
        return biased_profile(d, shifted)

    return _harder_target(run, moved)


@biased_exponential.control("the linear target F(t) = t, which rank-1 heads reach")
def _(run: Run) -> Finding:
    return _harder_target(run, lambda d, tau: [0.0, 1.0])
