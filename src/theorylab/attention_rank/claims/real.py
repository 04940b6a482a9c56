"""Claims on real heads and real keys."""

from __future__ import annotations

import numpy as np

from theorylab.attention_rank.claims.sources import DERIVED, batch_means
from theorylab.attention_rank.real import (
    digits,
    energy_rank,
    entropy_rank,
    numerical_rank,
    retrieval_curve,
    stored_spectra,
    whitened,
)
from theorylab.attention_rank.targets import sphere
from theorylab.claims import claim
from theorylab.findings import AllHold, AtLeast, Equal, Finding
from theorylab.run import Run
from theorylab.stats import mean_above

CAP = 32


def _spectra(spectra: np.ndarray) -> Finding:
    """The cap d/H, and how much of it the heads use."""
    return AllHold(
        {
            "numerical rank": Equal(numerical_rank(spectra).tolist(), [CAP] * len(spectra)),
            "mean directions for 90 % of the energy": AtLeast(
                float(energy_rank(spectra).mean()), 24.0
            ),
            "least entropy rank": AtLeast(float(entropy_rank(spectra).min()), 2 * CAP / 3),
        }
    )


def _retrieval(run: Run, features: np.ndarray) -> Finding:
    """At rank 8 of 64, hits on the features against twice those on isotropic keys."""
    trials = run.pick(ci=10_000, paper=100_000)
    isotropic = sphere(2000, 64, run.rng("isotropic"))
    parts: dict[str, Finding] = {}
    for r in (8, 16):
        curves = [
            retrieval_curve(X, [r], 16, run.rng(f"trials {name} {r}"), trials).hits[0].astype(float)
            for name, X in (("features", features), ("isotropic", isotropic))
        ]
        parts[f"rank {r}"] = mean_above(batch_means(curves[0] - 2 * curves[1]), 0.0)
    return AllHold(parts)


@claim(
    "attention_rank.real-heads",
    statement=r"""(a) In all-MiniLM-L6-v2 (72 heads, $d=384$, 12 heads to a layer, so $r=32$) every
$W_Q^TW_K$ has numerical rank 32; on average 24 of the 32 directions or more carry 90 % of its
energy, and every entropy rank exceeds two thirds of 32: the heads use nearly all that the cap
allows. (b) On the digits of scikit-learn ($d=64$) scores of rank 8 and of rank 16 find the nearest
of 16 keys more than twice as often as on isotropic keys: isotropic keys are the worst case, and
the effective dimension of the keys takes the place of $d$.""",
    source=DERIVED,
    evidence="statistical",
)
def real_heads(run: Run) -> Finding:
    return AllHold({"heads": _spectra(stored_spectra()), "digits": _retrieval(run, digits())})


@real_heads.control("digits whitened: nearly isotropic")
def _(run: Run) -> Finding:
    return _retrieval(run, whitened(digits()))


@real_heads.control("heads whose last eight directions are cut off")
def _(run: Run) -> Finding:
    spectra = stored_spectra()
    spectra[:, CAP - 8 :] = 0.0
    return _spectra(spectra)
