"""Claims on energies and on the lower bounds that they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from theorylab.attention_rank.bounds import (
    KINDS,
    generic_span_dim,
    heads_needed,
    lower_bound,
    per_head,
)
from theorylab.attention_rank.claims.sources import DERIVED, PAPER
from theorylab.attention_rank.harmonics import (
    ExactPi,
    arcsine,
    dim_harm,
    energies,
    head_target,
    lam,
)
from theorylab.attention_rank.heads import independent_heads, tilted_heads
from theorylab.attention_rank.quadrature import head_target_by_quadrature, sign_moment
from theorylab.attention_rank.spans import integer_subspaces, span_dimension
from theorylab.attention_rank.theory import block_budget, fallback_mse, projector_mse
from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, ExponentEquals, Finding
from theorylab.run import Run
from theorylab.stats import ExponentFit, fit_exponent

PI_SQUARED_FROM_BELOW = Fraction(98696044, 10**7)

Eigenvalue = Callable[[int, int], ExactPi]
Dimension = Callable[[int, int], int]


# --- energy-exact -----------------------------------------------------------------------------


def _as_pair(value: ExactPi) -> tuple[Fraction, int]:
    return value.fraction, value.power


def _partial_energies(
    dimensions: Sequence[int], last: int, eigenvalue: Eigenvalue, dimension: Dimension
) -> Finding:
    """Energies up to a degree, and what they must stay below: 1, or pi squared for even d."""
    sums, limits = [], []
    for d in dimensions:
        squares = [
            dimension(d, degree) * eigenvalue(d, degree).fraction ** 2
            for degree in range(1, last + 1, 2)
        ]
        sums.append(sum(squares, start=Fraction(0)))
        limits.append(Fraction(1) if d % 2 else PI_SQUARED_FROM_BELOW)
    return AtMost(sums, limits, sizes={"dimensions": len(sums), "last degree": last})


def _energies(run: Run, eigenvalue: Eigenvalue, dimension: Dimension) -> Finding:
    pairs = [(d, degree) for d in (2, 3, 4, 5, 8, 9, 16, 33, 64) for degree in (1, 3, 5, 7, 11)]
    cosine = np.linspace(-1, 1, 21)
    series = [arcsine(cosine, d, 0.02) for d in (5, 8, 64)]
    heads = [(d, head_target(cosine, d, 1e-9)) for d in (5, 8, 16)]
    reference = [head_target_by_quadrature(cosine, d) for d, _ in heads]
    return AllHold(
        {
            "recursion is the integral": Equal(
                [_as_pair(eigenvalue(d, degree)) for d, degree in pairs],
                [_as_pair(sign_moment(d, degree)) for d, degree in pairs],
                sizes={"pairs": len(pairs)},
            ),
            "energies sum below 1": _partial_energies(
                range(2, run.pick(ci=65, paper=257)),
                run.pick(ci=41, paper=201),
                eigenvalue,
                dimension,
            ),
            "arcsine series": AtMost(
                np.concatenate(
                    [np.abs(v - 2 / np.pi * np.arcsin(cosine)) for v, _ in series]
                ).tolist(),
                np.repeat([bound for _, bound in series], len(cosine)).tolist(),
            ),
            "head against target": Close(
                np.concatenate([v for _, (v, _) in heads]),
                np.concatenate(reference),
                atol=1e-8,
            ),
        }
    )


@claim(
    "attention_rank.energy-exact",
    statement=r"""On the sphere in $\mathbb R^d$ the Funk–Hecke eigenvalues
$\lambda_\ell=E[\mathrm{sgn}(t)P_\ell(t)]$ of the sign vanish for even $\ell$ and satisfy
$\lambda_\ell=-\lambda_{\ell-2}\frac{\ell-2}{\ell+d-2}$ with $\lambda_1=E|t|$; they are rational for
odd $d$ and rational over $\pi$ for even $d$. The energies
$\eta_\ell^2=N(d,\ell)\lambda_\ell^2$ sum to 1, $\frac2\pi\arcsin t=\sum\eta_\ell^2P_\ell(t)$, and a
rank-1 hard head with $\langle q,k\rangle=c$ correlates with the target by
$b(c)=\sum\eta_\ell^2\lambda_\ell P_\ell(c)$.""",
    source=DERIVED,
    evidence="exact",
)
def energy_exact(run: Run) -> Finding:
    return _energies(run, lam, dim_harm)


@energy_exact.control("the sign of the recursion forgotten")
def _(run: Run) -> Finding:
    def unsigned(d: int, degree: int) -> ExactPi:
        return ExactPi(abs(lam(d, degree).fraction), lam(d, degree).power)

    return _energies(run, unsigned, dim_harm)


@energy_exact.control("harmonics counted in one dimension more")
def _(run: Run) -> Finding:
    return _energies(run, lam, lambda d, degree: dim_harm(d + 1, degree))


# --- one-layer-lower-bound --------------------------------------------------------------------


@dataclass(frozen=True)
class Achieved:
    """A layer that exists, with its exact error."""

    d: int
    r: int
    H: int
    mse: float


def achieved_errors(run: Run) -> list[Achieved]:
    """Least squares over random rank-1 heads, hard heads in blocks, projectors, the fallback."""
    found = []
    for d in (4, 8, 16, 32, 64):
        for H in (1, 4, 16, 64, 256, run.pick(ci=1024, paper=4096)):
            for draw in (tilted_heads, independent_heads):
                heads = draw(d, H, run.rng(f"{draw.__name__} {d} {H}"))
                found.append(Achieved(d, 1, H, heads.optimal_values().mse))
        for r in sorted({1, 2, d // 4, d // 2}):
            found.append(Achieved(d, r, 1, projector_mse(d, r)))
            found.append(Achieved(d, r, d // r, block_budget(d, d // r)))
            found.append(Achieved(d, r, d // r, fallback_mse(d)))
    many = run.pick(ci=4096, paper=16_384)
    heads = tilted_heads(8, many, run.rng("many heads"))
    return [*found, Achieved(8, 1, many, heads.optimal_values().mse)]


def _bounds_hold(layers: Sequence[Achieved], bound: Callable[[Achieved, str], float]) -> Finding:
    errors = [layer.mse for layer in layers]
    wide = [(d, r, H) for d in (4, 8, 64) for r in (d, d + 3) for H in (1, 5)]
    linear = [(d, d // H, H) for d in (4, 8, 64) for H in (1, 2, 4)]
    parts: dict[str, Finding] = {
        kind: AtMost(
            [bound(layer, kind) for layer in layers], errors, sizes={"layers": len(errors)}
        )
        for kind in KINDS
    }
    parts["full rank: no bound"] = Equal(
        [int(lower_bound(d, r, H, kind).hi > 0) for d, r, H in wide for kind in KINDS],
        [0] * len(wide) * len(KINDS),
    )
    parts["linear target: no bound from H r = d on"] = AtMost(
        [lower_bound(d, r, H, "scalar", [0.0, 1.0]).lo for d, r, H in linear], 0.0
    )
    return AllHold(parts)


def _upper_end(layer: Achieved, kind: str) -> float:
    return lower_bound(layer.d, layer.r, layer.H, kind).hi


@claim(
    "attention_rank.one-layer-lower-bound",
    statement=r"""Two orthonormal keys and an independent query, all uniform. Every layer of $H$
heads of rank $r<d'$ has
$\mathrm{MSE}\ge\frac12\sum_{\ell\ \mathrm{odd}}\eta_\ell(d')^2\bigl(1-D_\ell/N(d',\ell)\bigr)_+$,
where, with $h_r(k)=\binom{k+r-1}{r-1}$: for dot-product heads with scalar values $d'=d$,
$D_\ell=Hh_r(\ell)$; with arbitrary value matrices $d'=d$,
$D_\ell=H\,(h_r(\ell-2)+h_r(\ell)+h_r(\ell+2))$; and for heads whose weights are any function of
$K_h^TX$ and $y$, $d'=d-1$ and the same $D_\ell$, plus 1 at $\ell=1$. No assumption is made on
temperatures, biases, norms or precision. (The form of the paper's Theorem 2, with constants of our
own.)""",
    source=Source(PAPER, "Theorem 2"),
    evidence="certified",
    uses=["attention_rank.energy-exact"],
)
def one_layer_lower_bound(run: Run) -> Finding:
    return _bounds_hold(achieved_errors(run), _upper_end)


@one_layer_lower_bound.control("the factor one half dropped")
def _(run: Run) -> Finding:
    return _bounds_hold(achieved_errors(run), lambda layer, kind: 2 * _upper_end(layer, kind))


@one_layer_lower_bound.control("harmonics counted in two dimensions more")
def _(run: Run) -> Finding:
    def careless(layer: Achieved, kind: str) -> float:
        sphere = layer.d - 1 if kind == "generalised" else layer.d
        if layer.r >= sphere:
            return 0.0
        found = energies(sphere)
        reach = [_left_out(layer, kind, int(degree), sphere + 2) for degree in found.degrees[:60]]
        return 0.5 * float(found.energies[:60] @ reach)

    return _bounds_hold(achieved_errors(run), careless)


def _left_out(layer: Achieved, kind: str, degree: int, sphere: int) -> float:
    """Fraction of a degree out of reach, with the harmonics of a sphere of another dimension."""
    total = dim_harm(sphere, degree)
    reached = layer.H * per_head(layer.r, degree, kind)
    return max(total - reached - int(kind == "generalised" and degree == 1), 0) / total


@one_layer_lower_bound.control("a linear target, which low rank reaches exactly")
def _(run: Run) -> Finding:
    layers = [Achieved(d, d // H, H, 0.0) for d in (8, 16, 64) for H in (2, 4, 8)]
    return _bounds_hold(layers, _upper_end)


# --- heads-growth -----------------------------------------------------------------------------

FIXED = {0.15: 3, 0.115: 5, 0.0975: 7}
"""Fixed errors, and the first odd degree whose limiting half tail falls below each."""


def _fitted(x: np.ndarray, needed: list[float]) -> ExponentFit:
    """The fitted exponent; exactly 0 for numbers that do not change at all."""
    if len(set(needed)) == 1:
        return ExponentFit(0.0, 0.0, 0.0, float(np.log(needed[0])))
    return fit_exponent(x, needed)


def _power_law(run: Run, r: Callable[[int], int], eps: float, predicted: float) -> Finding:
    top = run.pick(ci=1024, paper=4096)
    d = np.unique(np.geomspace(top / 2, top, 9).round().astype(int))
    needed = [float(heads_needed(int(n), r(int(n)), eps)) for n in d]
    fit = _fitted(d.astype(float), needed)
    return ExponentEquals(
        fit.slope, fit.low, fit.high, predicted, 0.06, sizes={"largest d": int(d[-1])}
    )


def _rate(r: Callable[[int], int], eps: Callable[[int], float]) -> Finding:
    """Growth of ln H per unit of dimension, the lower end of its interval."""
    d = range(24, 41)
    needed = [float(heads_needed(n, r(n), eps(n))) for n in d]
    fit = _fitted(np.exp(np.array(d, dtype=float)), needed)
    return AtLeast(
        fit.low,
        1.0,
        sizes={"heads at d = 40": needed[-1]},
        note=f"rate {fit.slope:.3f} in [{fit.low:.3f}, {fit.high:.3f}] per dimension",
    )


def _shrinking(d: int) -> float:
    return 0.15 / d**0.5


def _growth(run: Run, r: Callable[[int, int], int]) -> Finding:
    parts: dict[str, Finding] = {}
    for eps, degree in FIXED.items():
        for rank in (1, 4):
            parts[f"error {eps}, rank {rank}"] = _power_law(
                run, lambda d, rank=rank: r(d, rank), eps, degree
            )
    for rank in (1, 2, 4):
        parts[f"error 0.15/√d, rank {rank}"] = _rate(lambda d, rank=rank: r(d, rank), _shrinking)
    halves = [heads_needed(1024, r(1024, rank), 0.15, "scalar") for rank in (32, 64)]
    parts["last doubling of the rank"] = Close(float(np.log2(halves[0] / halves[1])), 3.0, atol=0.1)
    return AllHold(parts)


@claim(
    "attention_rank.heads-growth",
    statement=r"""Let $H^*(d,r,\varepsilon)$ be the least number of heads at which the bound with
value matrices allows error $\varepsilon$. For fixed $\varepsilon$ it grows as $d^{\,\ell^*}$ with
$\ell^*$ the first odd degree at which half the tail of the energies falls below $\varepsilon$ (3,
5, 7 for $\varepsilon=0.15,\ 0.115,\ 0.0975$), for rank 1 and rank 4 alike; the same number with
scalar values falls as $r^{-3}$ in the rank at $\varepsilon=0.15$. For $\varepsilon=0.15/\sqrt d$
it grows exponentially: $\ln H^*$ rises by more than 1 per dimension at ranks 1, 2 and 4.""",
    source=Source(PAPER, "Theorem 2"),
    evidence="trend",
    uses=["attention_rank.one-layer-lower-bound"],
)
def heads_growth(run: Run) -> Finding:
    return _growth(run, lambda d, rank: rank)


@heads_growth.control("full rank: one head is enough for every error")
def _(run: Run) -> Finding:
    return _growth(run, lambda d, rank: d)


@heads_growth.control("a fixed error in place of a shrinking one is not exponential")
def _(run: Run) -> Finding:
    return AllHold({f"rank {r}": _rate(lambda d, r=r: r, lambda d: 0.15) for r in (1, 2, 4)})


# --- tightness --------------------------------------------------------------------------------

SPANS = ((4, 1, 2, 3), (5, 1, 3, 5), (5, 2, 3, 3), (6, 2, 3, 5), (6, 3, 2, 3), (6, 2, 20, 3))
CROSSING = ((5, 3, 2, 3), (5, 4, 2, 3), (7, 4, 2, 3))
"""Dimension, rank, heads and degree; in the second list the two subspaces intersect."""


def _span_dimensions(run: Run) -> Finding:
    rng, cases = run.rng("subspaces"), [*SPANS, *CROSSING]
    if run.scale != "ci":
        cases += [(7, 3, 3, 5), (8, 4, 2, 5), (9, 2, 6, 3)]
    measured = [span_dimension(integer_subspaces(d, r, H, rng), deg) for d, r, H, deg in cases]
    return Equal(measured, [generic_span_dim(*case) for case in cases])


def certified_fallback(d: int, delta: float) -> float:
    r"""Upper bound on the error of the d-head fallback layer at a finite size of its scores.

    With :math:`|\tanh u-u|\le|u|^3/3` the coefficient of w differs from the linear function by at
    most :math:`\delta + d\,(\kappa/\delta + 1/d)\,\delta^3/3`.
    """
    slope = d * float(energies(d).eigenvalues[0])
    off = delta + d * (slope / delta + 1 / d) * delta**3 / 3
    return (fallback_mse(d) ** 0.5 + off / 2**0.5) ** 2


def _sandwich(cases: Sequence[tuple[int, int, int]]) -> Finding:
    low = [lower_bound(d, r, H, "generalised").lo for d, r, H in cases]
    high = [certified_fallback(d, 1e-5) for d, _, _ in cases]
    gaps = [(top - bottom) / top for bottom, top in zip(low, high, strict=True)]
    return AllHold(
        {
            "below": AtMost(low, high),
            "relative gap at most 1/d": AtMost(gaps, [1 / d for d, _, _ in cases]),
        }
    )


@claim(
    "attention_rank.tightness",
    statement=r"""(a) Key subspaces in general position reach as many harmonics of degree $\ell$ as
the bound counts: $\min(N,Hh_r(\ell))$ for $2r\le d$, and $\min(N,2h_r(\ell)-h_{2r-d}(\ell))$ for
two that intersect. (b) At $H=d$ and $r=1$ the bound for generalised heads and the error
$\frac12(1-\eta_1^2)$ that soft heads attain differ by a fraction of at most $1/d$, for
$d=16,\dots,128$: at $d=64$ the best 64 heads of rank 1 stay at 0.179, where one head of rank 64
has error 0.""",
    source=DERIVED,
    evidence="certified",
    uses=["attention_rank.one-layer-lower-bound"],
)
def tightness(run: Run) -> Finding:
    return AllHold(
        {
            "dimensions": _span_dimensions(run),
            "sandwich": _sandwich([(d, 1, d) for d in (16, 32, 64, 128)]),
        }
    )


@tightness.control("half rank and two heads: the two sides are far apart")
def _(run: Run) -> Finding:
    return _sandwich([(64, 32, 2)])


@tightness.control("two planes forced to share a line")
def _(run: Run) -> Finding:
    planes = integer_subspaces(5, 2, 2, run.rng("subspaces"))
    planes[1, :, 0] = planes[0, :, 0]
    return Equal(span_dimension(planes, 3), generic_span_dim(5, 2, 2, 3))
