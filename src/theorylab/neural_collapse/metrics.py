"""Neural-collapse metrics NC1 to NC4 in their published variants.

Features are rows. All arithmetic is in double precision; time is O(N d K) and memory O(K d) beside
the input, on whichever device the features are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from theorylab.neural_collapse.class_statistics import ClassStats, checked_labels

ROWS = 4096
"""Rows that are converted to double precision at a time."""

_EPS = float(np.finfo(float).eps)


def class_stats(features: Any, labels: Any, num_classes: int | None = None) -> ClassStats:
    """Statistics of features in memory; the largest label plus one is K if it is not given."""
    y = torch.as_tensor(labels)
    if len(y) == 0:
        raise ValueError("there are no samples")
    K = int(y.max()) + 1 if num_classes is None else num_classes
    return ClassStats.from_batches([(features, labels)], K)


def nc1(
    features: Any,
    labels: Any,
    num_classes: int | None = None,
    kind: str = "trace",
    weighting: str = "class",
) -> float:
    r"""Within-class variability relative to the spread of the class means.

    .. math::
        \text{trace} = \frac{\mathrm{tr}\,\Sigma_W}{\mathrm{tr}\,\Sigma_B}, \quad
        \text{pinv} = \tfrac1K\mathrm{tr}(\Sigma_W\Sigma_B^+), \quad
        \text{cdnv} = \operatorname*{mean}_{c<c'}\frac{v_c + v_{c'}}{2\|\mu_c-\mu_{c'}\|^2}, \quad
        \text{total} = \frac{\mathrm{tr}\,\Sigma_W}{\mathrm{tr}\,\Sigma_W + \mathrm{tr}\,\Sigma_B}

    Parameters
    ----------
    features : array or tensor, shape (N, d)
    labels : array or tensor of int, shape (N,)
    num_classes : int, optional
        K; the largest label plus one if omitted.
    kind : {"trace", "pinv", "cdnv", "total"}
    weighting : {"class", "sample"}
        Weights of the class means in the between-class covariance; ``total`` always weighs by
        samples and ``cdnv`` needs no weights.

    Returns
    -------
    float
        0 for one sample per class; infinite where class means coincide (all of them, or two for
        ``cdnv``) and the features do not.

    Raises
    ------
    ValueError
        For invalid input (see ``ClassStats.from_batches``), and where both covariances vanish.
    """
    return nc1_of(class_stats(features, labels, num_classes), kind, weighting)


def nc1_of(stats: ClassStats, kind: str = "trace", weighting: str = "class") -> float:
    """``nc1`` from statistics that are already there."""
    if kind not in ("trace", "pinv", "cdnv", "total"):
        raise ValueError(f"kind must be trace, pinv, cdnv or total; got {kind!r}")
    stats.weights(weighting)
    weighting = "sample" if kind == "total" else weighting
    within, between = stats.within_trace, stats.between_trace(weighting)
    if within == 0 and between == 0:
        raise ValueError("all features are equal: NC1 is 0/0")
    if kind == "total":
        return within / (within + between)
    if between == 0:
        return math.inf
    if kind == "trace":
        return within / between
    if kind == "pinv":
        return stats.whitened[weighting] / stats.num_classes
    return _cdnv(stats)


def _cdnv(stats: ClassStats) -> float:
    spread = stats.within / stats.counts
    means = stats.centred_means()
    distances = torch.cdist(means, means, compute_mode="donot_use_mm_for_euclid_dist").square()
    first, second = torch.triu_indices(len(means), len(means), 1)
    apart = distances[first, second]
    if bool((apart == 0).any()):
        return math.inf
    return float(((spread[first] + spread[second]) / (2 * apart)).mean())


def nc2(features: Any, labels: Any, num_classes: int | None = None, kind: str = "kappa") -> float:
    r"""Distance of the class means from an orthogonal frame or from a simplex.

    .. math::
        \text{kappa} = \frac{s_1(M)}{s_K(M)}, \quad
        \text{orthogonal} = \Bigl\|\frac{G}{\|G\|_F} - \frac{I}{\sqrt K}\Bigr\|_F, \quad
        \text{etf} = \Bigl\|\frac{\tilde G}{\|\tilde G\|_F}
        - \frac{I - \frac1K 11^\top}{\sqrt{K-1}}\Bigr\|_F

    ``equinorm`` is the standard deviation over the mean of the centred norms, ``equiangular`` the
    mean over pairs of :math:`|\cos + \tfrac1{K-1}|`.

    Parameters
    ----------
    features, labels, num_classes
        As for ``nc1``.
    kind : {"kappa", "orthogonal", "etf", "equinorm", "equiangular"}
        The first two use the means themselves, the others the means minus their plain average.

    Returns
    -------
    float
        ``kappa`` is infinite where the means are linearly dependent.

    Raises
    ------
    ValueError
        For invalid input; where all means are equal, or, for ``equiangular``, one of them is
        their average.
    """
    return nc2_of(class_stats(features, labels, num_classes), kind)


def nc2_of(stats: ClassStats, kind: str = "kappa") -> float:
    """``nc2`` from statistics that are already there."""
    if kind in ("kappa", "orthogonal"):
        means = stats.means / stats.means.abs().max()
        return condition_number(means) if kind == "kappa" else _frame_error(means @ means.T)
    if kind not in ("etf", "equinorm", "equiangular"):
        raise ValueError(
            f"kind must be kappa, orthogonal, etf, equinorm or equiangular; got {kind!r}"
        )
    centred = stats.centred_means()
    norms = centred.norm(dim=1)
    if not bool(norms.any()):
        raise ValueError("all class means are equal: their simplex geometry is undefined")
    if kind == "etf":
        return _simplex_error(centred @ centred.T)
    if kind == "equinorm":
        return float(norms.std(correction=0) / norms.mean())
    if not bool(norms.all()):
        raise ValueError("a class mean equals the average of all: its angles are undefined")
    units = centred / norms[:, None]
    first, second = torch.triu_indices(len(units), len(units), 1)
    cosines = (units @ units.T)[first, second]
    return float((cosines + 1 / (len(units) - 1)).abs().mean())


def condition_number(matrix: Any) -> float:
    r"""Ratio of the largest to the K-th singular value of a matrix with K rows.

    Infinite if the rows are linearly dependent to working precision, or K exceeds the number of
    columns.

    Parameters
    ----------
    matrix : array or tensor, shape (K, d)
    """
    M = torch.as_tensor(matrix, dtype=torch.float64)
    if M.shape[0] > M.shape[1]:
        return math.inf
    values = torch.linalg.svdvals(M)
    if values[-1] <= values[0] * max(M.shape) * _EPS:
        return math.inf
    return float(values[0] / values[-1])


def _frame_error(gram: torch.Tensor) -> float:
    K = len(gram)
    ideal = torch.eye(K, dtype=gram.dtype, device=gram.device) / math.sqrt(K)
    return float((gram / gram.norm() - ideal).norm())


def _simplex_error(gram: torch.Tensor) -> float:
    K = len(gram)
    ideal = (torch.eye(K, dtype=gram.dtype, device=gram.device) - 1 / K) / math.sqrt(K - 1)
    return float((gram / gram.norm() - ideal).norm())


def nc3(
    features: Any, labels: Any, W: Any, num_classes: int | None = None, kind: str = "cosine"
) -> float:
    r"""Alignment of the last weight matrix with the features.

    .. math::
        \text{cosine} = \frac1N\sum_i\cos(h_i, W_{y_i}), \quad
        \text{product} = \Bigl\|\frac{W\tilde M}{\|W\tilde M\|_F}
        - \frac{I - \frac1K 11^\top}{\sqrt{K-1}}\Bigr\|_F, \quad
        \text{distance} = \Bigl\|\frac{W}{\|W\|_F}
        - \frac{\tilde M^\top}{\|\tilde M\|_F}\Bigr\|_F^2

    Parameters
    ----------
    features, labels, num_classes
        As for ``nc1``.
    W : array or tensor, shape (K, d)
        Last layer.
    kind : {"cosine", "product", "distance"}

    Raises
    ------
    ValueError
        For invalid input; for a zero feature or row of ``W`` in a cosine; where all means are
        equal in the others.
    """
    stats = class_stats(features, labels, num_classes)
    weights = _last_layer(W, stats)
    if kind == "cosine":
        return _mean_cosine(features, checked_labels(labels, stats.num_classes), weights)
    if kind not in ("product", "distance"):
        raise ValueError(f"kind must be cosine, product or distance; got {kind!r}")
    centred = stats.centred_means()
    if not bool(centred.any()):
        raise ValueError("all class means are equal: alignment with them is undefined")
    weights = weights / weights.abs().max()
    if kind == "product":
        return _simplex_error(weights @ centred.T)
    return float((weights / weights.norm() - centred / centred.norm()).square().sum())


def _last_layer(W: Any, stats: ClassStats) -> torch.Tensor:
    weights = torch.as_tensor(W).to(torch.float64).to(stats.means.device)
    if weights.shape != stats.means.shape:
        raise ValueError(
            f"W must have shape {tuple(stats.means.shape)}, got {tuple(weights.shape)}"
        )
    if not bool(weights.isfinite().all()):
        raise ValueError("W contains NaN or infinite values")
    if not bool(weights.any()):
        raise ValueError("W is zero")
    return weights


def _mean_cosine(features: Any, labels: torch.Tensor, weights: torch.Tensor) -> float:
    H = torch.as_tensor(features)
    rows = weights / weights.abs().amax(dim=1, keepdim=True).clamp_min(1e-300)
    norms = rows.norm(dim=1)
    if not bool(norms.all()):
        raise ValueError("a row of W is zero: its cosines are undefined")
    total, labels = 0.0, labels.to(H.device)
    for start in range(0, len(H), ROWS):
        block = H[start : start + ROWS].to(torch.float64)
        largest = block.abs().amax(dim=1, keepdim=True)
        if not bool(largest.all()):
            raise ValueError("a feature is zero: its cosine is undefined")
        block, y = block / largest, labels[start : start + ROWS]
        total += float(((block * rows[y]).sum(dim=1) / block.norm(dim=1) / norms[y]).sum())
    return total / len(H)


@dataclass(frozen=True)
class Decisions:
    """How a linear classifier and the nearest class mean compare.

    Attributes
    ----------
    disagreement : float
        Fraction of samples that they label differently; ties go to the lowest index.
    ties : int
        Samples on which one of them is tied.
    """

    disagreement: float
    ties: int


def decisions(
    features: Any, labels: Any, W: Any, bias: Any = None, num_classes: int | None = None
) -> Decisions:
    """Compare the decisions of ``argmax(W h + bias)`` with those of the nearest class mean.

    Parameters
    ----------
    features, labels, num_classes
        As for ``nc1``.
    W : array or tensor, shape (K, d)
    bias : array or tensor, shape (K,), optional
    """
    stats = class_stats(features, labels, num_classes)
    weights = _last_layer(W, stats)
    shift = torch.zeros_like(weights[:, 0]) if bias is None else torch.as_tensor(bias).to(weights)
    if shift.shape != weights[:, 0].shape:
        raise ValueError(f"bias must have shape ({len(weights)},), got {tuple(shift.shape)}")
    H, different, ties = torch.as_tensor(features), 0, 0
    for start in range(0, len(H), ROWS):
        block = H[start : start + ROWS].to(torch.float64)
        scores = block @ weights.T + shift
        distances = torch.cdist(block, stats.means, compute_mode="donot_use_mm_for_euclid_dist")
        different += int((_first_largest(scores) != _first_largest(-distances)).sum())
        ties += int((_tied(scores) | _tied(-distances)).sum())
    return Decisions(different / len(H), ties)


def _first_largest(scores: torch.Tensor) -> torch.Tensor:
    return (scores == scores.amax(dim=1, keepdim=True)).to(torch.int8).argmax(dim=1)


def _tied(scores: torch.Tensor) -> torch.Tensor:
    return (scores == scores.amax(dim=1, keepdim=True)).sum(dim=1) > 1


def nc4(
    features: Any, labels: Any, W: Any, bias: Any = None, num_classes: int | None = None
) -> float:
    """Fraction of samples where the linear classifier and the nearest class mean disagree.

    Parameters are those of ``decisions``, which also counts ties.
    """
    return decisions(features, labels, W, bias, num_classes).disagreement
