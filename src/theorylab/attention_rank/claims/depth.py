"""Claims on depth: two layers vote, and where voting goes wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from theorylab.attention_rank.bounds import heads_needed, lower_bound
from theorylab.attention_rank.claims.sources import PAPER, batch_means
from theorylab.attention_rank.depth import (
    orthonormal_keys,
    pick_probabilities_3d,
    plurality,
    vote_errors,
)
from theorylab.attention_rank.targets import sphere
from theorylab.attention_rank.theory import tied_floor, vote_asymptote, vote_mse
from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, Finding
from theorylab.run import Run
from theorylab.stats import mean_equals, proportion_at_least, proportion_equals

SEPARATED = ((16, 4095), (32, 4095), (64, 16_383))


# --- depth-vote -------------------------------------------------------------------------------


def _token_level(run: Run, positions: tuple[float, float]) -> Finding:
    """Sampled errors of the network, run token by token, against the formula."""
    parts: dict[str, Finding] = {}
    for d, H in ((16, 129), (8, 6)):
        n = run.pick(ci=15_000, paper=200_000)
        errors = vote_errors(d, H, n, run.rng(f"votes {d} {H}"), positions)
        predicted = vote_mse(d, H)
        parts[f"d = {d}, H = {H}"] = _mean_or_constant(errors, predicted)
    return AllHold(parts)


def _mean_or_constant(errors: np.ndarray, predicted: float) -> Finding:
    """A Student test; errors that never vary are compared as they are."""
    if np.ptp(errors) < 1e-12:
        return Close(float(errors[0]), predicted, atol=1e-9)
    return mean_equals(batch_means(errors), predicted, power_against=0.15 * predicted)


def _separation(
    sizes: tuple[tuple[int, int], ...], two_layers: Callable[[int, int], float]
) -> Finding:
    """Two layers of H + 1 rank-1 heads against the bound for one layer of as many."""
    return AtMost(
        [two_layers(d, H) for d, H in sizes],
        [lower_bound(d, 1, H + 1, "generalised").lo for d, H in sizes],
        sizes={"heads": tuple(H + 1 for _, H in sizes)},
    )


@claim(
    "attention_rank.depth-vote",
    statement=r"""Two orthonormal keys with positions $\pm1$. Layer 1: $H$ tied rank-1 hard heads
with random directions, each returning the position of the key that it prefers; layer 2: one rank-1
hard head that returns the key elected. Then
$\mathrm{MSE}=2E_t\bigl[P(\mathrm{Bin}(H,p_t)<\frac H2)
+\frac14P(\mathrm{Bin}(H,p_t)=\frac H2)\bigr]$,
$p_t=\frac12+\frac1\pi\arcsin|t|$, which behaves as $c_d\sqrt{2\pi/H}$; some fixed directions do at
least as well. This is below the error of every single layer of as many rank-1 heads of any kind at
$(d,H+1)=(16,4096),(32,4096),(64,16384)$; at $d=32$ one layer needs more than 500 times
the heads.""",
    source=Source(PAPER, "Section 6"),
    evidence="statistical",
    uses=["attention_rank.one-layer-lower-bound", "attention_rank.hard-head-closed-forms"],
)
def depth_vote(run: Run) -> Finding:
    error = vote_mse(32, 4095)
    return AllHold(
        {
            "network": _token_level(run, (1.0, -1.0)),
            "asymptote": Close(vote_mse(32, 10**7), vote_asymptote(32, 10**7), rtol=1e-3),
            "separation": _separation(SEPARATED, vote_mse),
            "heads of one layer over those of two": AtLeast(
                heads_needed(32, 1, error, "generalised") / 4096, 500
            ),
        }
    )


@depth_vote.control("only 255 voters")
def _(run: Run) -> Finding:
    return _separation(((32, 255),), vote_mse)


@depth_vote.control("positions set to zero: layer 2 sees no vote")
def _(run: Run) -> Finding:
    return _token_level(run, (0.0, 0.0))


@depth_vote.control("votes averaged within the layer, not read by a second one")
def _(run: Run) -> Finding:
    return _separation(SEPARATED, lambda d, H: tied_floor(d))


# --- long-sequences ---------------------------------------------------------------------------

SPLIT = ((1.0, 0.5, 0.02), (1.0, 0.5, -0.02), (1.0, -0.7, 0.0))
"""Two near keys that share their votes, and a far one."""


def _split_keys() -> np.ndarray:
    keys = np.array(SPLIT)
    return keys / np.linalg.norm(keys, axis=1, keepdims=True)


def _order_kept(run: Run, draw: Callable[[np.random.Generator], np.ndarray]) -> Finding:
    """How often the key picked most is not the nearest, by solid angles (d = 3)."""
    rng, wrong, count = run.rng("triples"), 0, run.pick(ci=400, paper=20_000)
    for _ in range(count):
        keys, query = draw(rng), sphere(1, 3, rng)[0]
        wrong += int(pick_probabilities_3d(keys, query).argmax() != (keys @ query).argmax())
    return Equal(wrong, 0, sizes={"triples": count})


def _elections(run: Run, d: int, N: int, orthonormal: bool) -> np.ndarray:
    """Whether the plurality of 4001 heads elects the nearest of N keys."""
    rng, n = run.rng(f"elections {d} {N} {orthonormal}"), run.pick(ci=400, paper=4000)
    X = orthonormal_keys(n, N, d, rng) if orthonormal else sphere(n * N, d, rng).reshape(n, N, d)
    Y = sphere(n, d, rng)
    truth = np.einsum("nkd,nd->nk", X, Y).argmax(axis=1)
    return plurality(X, Y, sphere(4001, d, rng)) == truth


@claim(
    "attention_rank.long-sequences",
    statement=r"""Plurality among tied rank-1 hard heads with random directions is consistent for
orthonormal keys: the key picked most often is the nearest one. It is not for keys in general: for
$(1,\frac12,0.02)$, $(1,\frac12,-0.02)$, $(1,-0.7,0)$, normalised, and $y=e_1$ the two nearest keys
have inner product 0.894 and are picked with probability 0.264 each, the far one 0.819 and 0.471.
With 4001 heads the nearest of eight orthonormal keys in 16 dimensions is elected in at least 80 %
of the trials. (Evidence on the paper's conjecture for long sequences, which no experiment can
settle.)""",
    source=Source(PAPER, "Section 6 and Conjecture 6"),
    evidence="statistical",
)
def long_sequences(run: Run) -> Finding:
    keys, query = _split_keys(), np.array([1.0, 0.0, 0.0])
    near, other, far = pick_probabilities_3d(keys, query)
    directions = sphere(run.pick(ci=100_000, paper=1_000_000), 3, run.rng("picks"))
    picks = (np.sign(directions @ query)[:, None] * (directions @ keys.T)).argmax(axis=1)
    return AllHold(
        {
            "orthonormal keys": _order_kept(run, lambda rng: orthonormal_keys(1, 3, 3, rng)[0]),
            "picks sum to 1": Close(float(near + other + far), 1.0, atol=1e-12),
            "the far key leads": AtLeast(float(far - near), 0.2),
            "solid angle of the far key": proportion_equals(
                picks == 2, float(far), power_against=0.02
            ),
            "eight orthonormal keys": proportion_at_least(
                _elections(run, 16, 8, True), 0.8, power_against=0.15
            ),
        }
    )


@long_sequences.control("keys in general position: the order is not kept")
def _(run: Run) -> Finding:
    return _order_kept(run, lambda rng: sphere(3, 3, rng))


@long_sequences.control("independent keys: elections fail more often")
def _(run: Run) -> Finding:
    return proportion_at_least(_elections(run, 16, 8, False), 0.8, power_against=0.15)
