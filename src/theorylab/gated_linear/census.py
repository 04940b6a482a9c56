"""Pathways read out of trained networks: which contexts a unit serves, and by how much."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theorylab.gated_linear.tasks import Task

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Rule = Literal["majority", "activation"]
ACTIVE_SHARE = 0.1
"""A context counts, by the activation rule, if it holds this share of a unit's activity."""


class Census(NamedTuple):
    """Who serves how many contexts.

    Attributes
    ----------
    shares : array, shape (C + 1,)
        Share of mass in units that serve 0, 1, ..., C contexts.
    mean : float
        Mean number of contexts served, by mass.
    served : array of int, shape (h,)
        Contexts that each unit serves.
    mass : array, shape (h,)
        Product of the norms of each unit's ingoing and outgoing weights.
    """

    shares: Floats
    mean: float
    served: NDArray[np.int64]
    mass: Floats


def unit_mass(W_in: Floats, W_out: Floats) -> Floats:
    """Product of the norms of ingoing and outgoing weights, shape (h,)."""
    return np.linalg.norm(W_in, axis=1) * np.linalg.norm(W_out, axis=0)


def gate_fractions(hidden: Floats, task: Task) -> Floats:
    """Fraction of the objects for which a unit is on, per context, shape (h, C)."""
    on = (hidden > 0).reshape(len(hidden), task.C, task.P)
    return on.mean(axis=2)


def activity_shares(hidden: Floats, task: Task) -> Floats:
    """Share of a unit's summed activity in each context, shape (h, C); 0 for dead units."""
    summed = np.maximum(hidden, 0).reshape(len(hidden), task.C, task.P).sum(axis=2)
    total = summed.sum(axis=1, keepdims=True)
    return np.divide(summed, total, out=np.zeros_like(summed), where=total > 0)


def served_contexts(
    hidden: Floats, task: Task, threshold: float = 0.5, rule: Rule = "majority"
) -> Bools:
    """Which contexts each unit serves, shape (h, C).

    Parameters
    ----------
    hidden : array, shape (h, N)
        Pre-activations or activities.
    threshold : float
        By majority, a context is served if more than this fraction of its objects is on; exactly
        that fraction counts as off.
    rule : {"majority", "activation"}
        ``"activation"``: a context is served if it holds at least a tenth of the unit's activity.
    """
    if rule == "majority":
        return gate_fractions(hidden, task) > threshold
    if rule != "activation":
        raise ValueError(f"rule must be 'majority' or 'activation', got {rule!r}")
    return activity_shares(hidden, task) >= ACTIVE_SHARE


def census_of(served: Bools, mass: Floats) -> Census:
    """Census of units from what they serve, shape (h, C), and their mass, shape (h,)."""
    total = float(mass.sum())
    if not (np.isfinite(total) and total > 0):
        raise ValueError(f"the units carry no mass (sum {total}): train the network first")
    counts = served.sum(axis=1)
    shares = np.bincount(counts, weights=mass, minlength=served.shape[1] + 1) / total
    return Census(shares, float(shares @ np.arange(len(shares))), counts, mass)


def gate_census(
    W1: Floats, W2: Floats, task: Task, threshold: float = 0.5, rule: Rule = "majority"
) -> Census:
    """Census of a one-hidden-layer network.

    Parameters
    ----------
    W1 : array, shape (h, d)
    W2 : array, shape (q, h)
    task : Task
    threshold, rule
        As for ``served_contexts``.

    Raises
    ------
    ValueError
        If the shapes do not fit the task or no unit carries mass.
    """
    _check_shapes(W1, W2, task)
    served = served_contexts(W1 @ task.X, task, threshold, rule)
    return census_of(served, unit_mass(W1, W2))


def _check_shapes(W1: Floats, W2: Floats, task: Task) -> None:
    if np.ndim(W1) != 2 or W1.shape[1] != len(task.X):
        raise ValueError(f"W1 must have {len(task.X)} columns, got shape {np.shape(W1)}")
    if np.ndim(W2) != 2 or W2.shape[1] != W1.shape[0]:
        raise ValueError(f"W2 must have {W1.shape[0]} columns, got shape {np.shape(W2)}")


def layer_censuses(Ws: list[Floats] | tuple[Floats, ...], task: Task) -> list[Census]:
    """Census of every hidden layer of a deeper network, by majority."""
    found, hidden = [], task.X
    for W_in, W_out in pairwise(Ws):
        z = W_in @ hidden
        found.append(census_of(served_contexts(z, task), unit_mass(W_in, W_out)))
        hidden = np.maximum(z, 0)
    return found


def census_null(
    W1: Floats, W2: Floats, task: Task, rng: np.random.Generator, draws: int = 200
) -> Floats:
    """Shares when every unit's gates are shuffled over the samples, shape (draws, C + 1).

    The mass and the number of samples on which a unit is on are kept; what is lost is which of
    them belong to one context.
    """
    _check_shapes(W1, W2, task)
    mass, gates = unit_mass(W1, W2), (W1 @ task.X > 0).astype(float)
    rows = []
    for _ in range(draws):
        shuffled = rng.permuted(gates, axis=1)
        rows.append(census_of(served_contexts(shuffled, task), mass).shares)
    return np.array(rows)


class GateClusters(NamedTuple):
    """Clusters of units by how often they are on in each context.

    Attributes
    ----------
    centres : array, shape (n, C)
        Fraction of objects on, per context.
    shares : array, shape (n,)
        Mass, largest first.
    labels : array of int, shape (h,)
    """

    centres: Floats
    shares: Floats
    labels: NDArray[np.int64]


def gate_clusters(W1: Floats, W2: Floats, task: Task, n: int, seed: int = 0) -> GateClusters:
    """Mass-weighted k-means of the units' gate fractions: a network's pathways, discovered."""
    from sklearn.cluster import KMeans

    _check_shapes(W1, W2, task)
    mass = unit_mass(W1, W2)
    if not 1 <= n <= len(mass):
        raise ValueError(f"n must lie in 1..{len(mass)}, got {n}")
    fractions = gate_fractions(W1 @ task.X, task)
    fitted = KMeans(n, n_init=10, random_state=seed)  # type: ignore[arg-type]
    labels = fitted.fit_predict(fractions, sample_weight=mass)
    shares = np.bincount(labels, weights=mass, minlength=n) / mass.sum()
    order = np.argsort(-shares)
    rank = np.argsort(order)
    return GateClusters(fitted.cluster_centers_[order], shares[order], rank[labels])
