"""Single-site Gibbs sampling of an Ising model: a plausible estimator that can be simply wrong."""

from __future__ import annotations

import numpy as np

from theorylab.total_variation.ising import RationalIsing


def gibbs_marginal(
    model: RationalIsing, v: int, starts: int, sweeps: int, rng: np.random.Generator
) -> float:
    r"""Estimate of :math:`\mu(x_v=1)` from independent chains with uniform random starts.

    Parameters
    ----------
    model : RationalIsing
    v : int
        Spin.
    starts : int
        Number of chains.
    sweeps : int
        Sweeps over all spins per chain; the first half is discarded.
    rng : numpy.random.Generator

    Returns
    -------
    float
        Mean of :math:`x_v` over chains and kept sweeps. Without guarantee: on the gap instances
        the chains freeze where they started.
    """
    couplings, fields = _log_odds_form(model)
    x = rng.integers(0, 2, size=(starts, model.n)).astype(float)
    kept = []
    for sweep in range(sweeps):
        for u in range(model.n):
            log_odds = fields[u] + (2.0 * x - 1.0) @ couplings[u]
            x[:, u] = np.log(1.0 / rng.random(starts) - 1.0) < log_odds
        if 2 * sweep >= sweeps:
            kept.append(x[:, v].mean())
    return float(np.mean(kept))


def _log_odds_form(model: RationalIsing) -> tuple[np.ndarray, np.ndarray]:
    """Couplings and fields such that the log-odds of a spin are field + couplings · (2x - 1)."""
    j, h = model.to_fields()
    couplings = np.zeros((model.n, model.n))
    for (u, w), strength in j.items():
        couplings[u, w] = couplings[w, u] = 2.0 * strength
    return couplings, 2.0 * h
