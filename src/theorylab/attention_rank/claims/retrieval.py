"""Claims on one full-rank head: it finds the nearest key, exactly or at finite temperature."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from scipy.integrate import quad
from scipy.special import expit

from theorylab.attention_rank.bounds import density_at_zero
from theorylab.attention_rank.claims.sources import PAPER, batch_means
from theorylab.attention_rank.heads import squared_errors
from theorylab.attention_rank.targets import (
    Pairs,
    attended,
    closest,
    orthonormal_pair,
    rational_sphere_point,
    sphere,
)
from theorylab.attention_rank.theory import softmax_asymptote, softmax_mse
from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtMost, Close, Equal, Finding
from theorylab.run import Run
from theorylab.stats import mean_equals

Keys = list[list[Fraction]]
Case = tuple[Keys, list[Fraction]]
DIMENSIONS = (2, 8, 64)
SAFE_GAP = 1e-12


# --- full-rank-exact --------------------------------------------------------------------------


def _points(rng: np.random.Generator, count: int, d: int) -> Keys:
    whole = rng.integers(-9, 10, size=(count, d - 1)).tolist()
    return [rational_sphere_point(u) for u in whole]


def _mirrored(point: Sequence[Fraction]) -> list[Fraction]:
    return [-point[0], *point[1:]]


def _cases(run: Run) -> Iterator[Case]:
    """Random keys; duplicates; exact ties about a mirror through the query; all keys equal."""
    rng = run.rng("points")
    for d in DIMENSIONS:
        for N in (1, 2, 3, 100, run.pick(ci=2000, paper=10_000)):
            yield _points(rng, N, d), _points(rng, 1, d)[0]
        keys = _points(rng, 20, d)
        query = _points(rng, 1, d)[0]
        yield keys + keys[:7], query
        yield [keys[0]] * 5, query
        if d > 2:
            on_mirror = rational_sphere_point([0, *rng.integers(-9, 10, size=d - 2).tolist()])
            yield keys + [_mirrored(key) for key in keys], on_mirror


def _disagreements(
    cases: Iterator[Case], seen: Callable[[Keys], Keys] = lambda keys: keys
) -> Finding:
    """Cases in which attention to ``seen`` keys and the distances choose different sets."""
    wrong = ties = count = 0
    for keys, query in cases:
        truth = closest(keys, query)
        [shown] = seen([query])
        wrong += attended(seen(keys), shown) != truth
        ties += len(truth) > 1
        count += 1
    return Equal(wrong, 0, sizes={"sequences": count, "with ties": ties})


def _float_disagreements(run: Run) -> Finding:
    """The same in double precision, wherever the two best scores are clearly apart."""
    rng, wrong, clear = run.rng("floats"), 0, 0
    for d in DIMENSIONS:
        n = run.pick(ci=2000, paper=100_000, gpu=1_000_000)
        for start in range(0, n, 1000):
            many = min(1000, n - start)
            X, Y = sphere(many * 16, d, rng).reshape(many, 16, d), sphere(many, d, rng)
            scores = np.einsum("nkd,nd->nk", X, Y)
            distances = np.square(X - Y[:, None]).sum(axis=2)
            best = np.sort(scores, axis=1)
            apart = best[:, -1] - best[:, -2] > SAFE_GAP
            wrong += int((scores.argmax(1) != distances.argmin(1))[apart].sum())
            clear += int(apart.sum())
    return Equal(wrong, 0, sizes={"sequences": clear})


@claim(
    "attention_rank.full-rank-exact",
    statement=r"""For keys of one norm, of any number and in any dimension, one hard attention head
of full rank ($Q=K=V=I$, $r=d$) returns the key nearest to the query; on a tie its weight lies on
exactly the nearest keys, so that it returns their average. In double precision the same holds
whenever the two best scores differ by more than $10^{-12}$.""",
    source=Source(PAPER, "Introduction"),
    evidence="exact",
)
def full_rank_exact(run: Run) -> Finding:
    return AllHold(
        {
            "rational points": _disagreements(_cases(run)),
            "double precision": _float_disagreements(run),
        }
    )


@full_rank_exact.control("keys of unequal norms")
def _(run: Run) -> Finding:
    scaled = (
        ([[(1 + i % 3) * v for v in key] for i, key in enumerate(keys)], query)
        for keys, query in _cases(run)
    )
    return _disagreements(scaled)


@full_rank_exact.control("one coordinate dropped: rank d - 1")
def _(run: Run) -> Finding:
    return _disagreements(_cases(run), lambda keys: [key[:-1] for key in keys])


# --- softmax-temperature ----------------------------------------------------------------------


def _by_definition(d: int, tau: float) -> float:
    """The integral as it is printed, by adaptive quadrature."""

    def integrand(t: float) -> float:
        return (1 - t * t) ** ((d - 3) / 2) * float(expit(-math.sqrt(2) * tau * t)) ** 2

    knots = [min(k / (1 + tau), 0.9) for k in (1, 4, 16, 64)]
    value = quad(integrand, 0, 1, points=sorted({*knots}), epsabs=1e-13, epsrel=1e-12, limit=400)
    return 4 * density_at_zero(d) * value[0]


def _softmax_outputs(pairs: Pairs, tau: float) -> np.ndarray:
    first = np.einsum("nd,nd->n", pairs.x1, pairs.y)
    second = np.einsum("nd,nd->n", pairs.x2, pairs.y)
    weight = 1 / (1 + np.exp(np.clip(-tau * (first - second), -700, 700)))
    return weight[:, None] * pairs.x1 + (1 - weight)[:, None] * pairs.x2


def _sampled(run: Run, d: int, tau: float, used: float) -> Finding:
    """Sampled error at temperature ``used`` against the formula at ``tau``."""
    predicted = softmax_mse(d, tau)
    rng, n, errors = run.rng(f"pairs {d}"), run.pick(ci=200_000, paper=2_000_000), []
    for _ in range(n // 20_000):
        pairs = orthonormal_pair(d, 20_000, rng)
        errors.append(squared_errors(_softmax_outputs(pairs, used), pairs.target))
    return mean_equals(
        batch_means(np.concatenate(errors)), predicted, power_against=0.15 * predicted
    )


def _pointwise_excess(run: Run) -> tuple[list[float], list[float]]:
    """Distances of the soft-max from the nearest key, and the bound on each of them."""
    rng, found, bounds = run.rng("sequences"), [], []
    for N in (2, 16, 256):
        for d in (8, 64):
            for tau in (1.0, 30.0, 1000.0):
                many = run.pick(ci=60, paper=600)
                X, Y = sphere(many * N, d, rng).reshape(many, N, d), sphere(many, d, rng)
                scores = np.einsum("nkd,nd->nk", X, Y)
                best = scores.argmax(axis=1)
                gaps = np.exp(tau * (scores - scores.max(axis=1, keepdims=True)))
                output = np.einsum("nk,nkd->nd", gaps / gaps.sum(axis=1, keepdims=True), X)
                nearest = X[np.arange(many), best]
                spread = np.linalg.norm(X - nearest[:, None], axis=2).max(axis=1)
                found += np.linalg.norm(output - nearest, axis=1).tolist()
                bounds += (spread * (gaps.sum(axis=1) - 1)).tolist()
    return found, bounds


def _temperature(run: Run, scale: Callable[[int], float]) -> Finding:
    """All parts, with the sampled head's inverse temperature multiplied by ``scale(d)``."""
    grid = [(d, tau) for d in (3, 8, 64) for tau in (0.0, 1.0, 10.0, 100.0, 1000.0)]
    found, bounds = _pointwise_excess(run)
    far = [(d, 1e5) for d in (8, 64)]
    return AllHold(
        {
            "quadrature": Close(
                [softmax_mse(d, tau) for d, tau in grid],
                [_by_definition(d, tau) for d, tau in grid],
                atol=1e-10,
            ),
            "asymptote": Close(
                [softmax_mse(d, tau) for d, tau in far],
                [softmax_asymptote(d, tau) for d, tau in far],
                rtol=1e-5,
            ),
            "pointwise bound": AtMost(
                found, bounds, tolerance=1e-12, sizes={"sequences": len(found)}
            ),
            "sampled, d = 8": _sampled(run, 8, 10.0, 10.0 * scale(8)),
            "sampled, d = 64": _sampled(run, 64, 100.0, 100.0 * scale(64)),
        }
    )


@claim(
    "attention_rank.softmax-temperature",
    statement=r"""On two orthonormal keys, one full-rank soft-max head with logits
$\tau\langle x_i,y\rangle$ has the error
$\mathrm{MSE}(\tau)=4c_d\int_0^1(1-t^2)^{(d-3)/2}(1+e^{\sqrt2\tau t})^{-2}dt$, which is $\frac12$ at
$\tau=0$ and behaves as $2\sqrt2\,c_d(\ln2-\frac12)/\tau$: a temperature $\tau$ of order
$\sqrt d/\varepsilon$ is needed. For any number of keys and every
input, $\|f-g_\tau\|\le\max_j\|x_j-x_*\|
\sum_{j\ne *}e^{-\tau(\langle x_*,y\rangle-\langle x_j,y\rangle)}$.""",
    source=Source("theorylab", "derived in the chapter"),
    evidence="statistical",
    uses=["attention_rank.full-rank-exact"],
)
def softmax_temperature(run: Run) -> Finding:
    return _temperature(run, lambda d: 1.0)


@softmax_temperature.control("scores divided by the square root of d")
def _(run: Run) -> Finding:
    return _temperature(run, lambda d: 1 / math.sqrt(d))
