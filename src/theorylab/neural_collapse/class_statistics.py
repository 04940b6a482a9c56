"""Class means and within-class scatter of a labelled set of features, in passes over batches.

Memory is that of the class means and one block of rows; no covariance matrix is ever formed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

Weighting = Literal["class", "sample"]
BLOCK = 2**17
"""Entries that are converted to double precision at a time: they fit into a processor's cache."""

_ROUNDING = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class ClassStats:
    r"""Sufficient statistics of every NC1 and NC2 metric.

    Attributes
    ----------
    counts : tensor of int, shape (K,)
        Samples per class.
    means : tensor, shape (K, d)
        Class means.
    offsets : tensor, shape (K, d)
        Class means minus that of the first class, divided by ``scale``: these keep digits that
        differences of ``means`` lose when all features share a large offset.
    within : tensor, shape (K,)
        Sums of squared distances to the class mean, divided by ``scale`` squared.
    whitened : mapping of str to float
        :math:`\mathrm{tr}(\Sigma_W \Sigma_B^+)` for both weightings.
    scale : float
        Largest absolute difference of a feature from the first one of its class, or of these from
        each other; 1 if there is none.
    """

    counts: torch.Tensor
    means: torch.Tensor
    offsets: torch.Tensor
    within: torch.Tensor
    whitened: Mapping[str, float]
    scale: float

    @classmethod
    def from_batches(cls, batches: Iterable[tuple[Any, Any]], num_classes: int) -> ClassStats:
        r"""Two passes over batches of features and labels, with accumulators in double precision.

        Parameters
        ----------
        batches : iterable of (features, labels)
            Features of shape (n, d), arrays or tensors on any device; integer labels of shape
            (n,). It is iterated twice and must give the same batches: a list, a data loader
            without shuffling, not a generator.
        num_classes : int
            K, at least 2.

        Raises
        ------
        ValueError
            If there is no sample, a feature is not finite, all features are zero, labels are not
            integers in 0..K-1, a class is empty, or ``batches`` can be iterated only once.
        """
        if num_classes < 2:
            raise ValueError(f"num_classes must be at least 2, got {num_classes}")
        if iter(batches) is batches:
            raise ValueError("batches must be iterable twice: give a list or loader, no generator")
        first = _FirstPass(num_classes)
        for features, labels in _blocks(batches, num_classes):
            first.add(features, labels)
        counts, anchors, shifts, scale = first.finish()
        means = anchors + shifts
        offsets = (anchors - anchors[0]) / scale + (shifts - shifts[0]) / scale
        maps = {w: _whitening(offsets, counts, w) for w in ("class", "sample")}
        if bool((counts == counts[0]).all()):
            maps["sample"] = maps["class"]
        within, square = torch.zeros_like(shifts[:, 0]), dict.fromkeys(maps, 0.0)
        for features, labels in _blocks(batches, num_classes):
            # A rounding error of the mean enters a sum of squares with its own square only.
            rest = (features - means[labels]).div_(scale)
            within.index_add_(0, labels, torch.linalg.vector_norm(rest, dim=1).square_())
            for name, whiten in maps.items():
                if name == "class" or whiten is not maps["class"]:
                    square[name] += float((rest @ whiten).square_().sum())
        if maps["sample"] is maps["class"]:
            square["sample"] = square["class"]
        total = int(counts.sum())
        whitened = {name: value / total for name, value in square.items()}
        return cls(counts, means, offsets, within, whitened, scale)

    @property
    def num_classes(self) -> int:
        """K."""
        return len(self.counts)

    def weights(self, weighting: str) -> torch.Tensor:
        r"""Weights :math:`w_c` of the classes: 1/K each, or the shares of the samples."""
        if weighting not in ("class", "sample"):
            raise ValueError(f"weighting must be 'class' or 'sample', got {weighting!r}")
        if weighting == "class":
            return torch.full_like(self.within, 1 / self.num_classes)
        return self.counts.to(self.within.dtype) / self.counts.sum()

    def centred_means(self, weighting: str = "class") -> torch.Tensor:
        """Class means minus their weighted mean, divided by ``scale``; shape (K, d).

        Differences that are rounding errors of the data's spread are returned as zeros.
        """
        return _centred(self.offsets, self.weights(weighting))

    @property
    def within_trace(self) -> float:
        r""":math:`\mathrm{tr}\,\Sigma_W` divided by the square of ``scale``."""
        return float(self.within.sum() / self.counts.sum())

    def between_trace(self, weighting: str = "class") -> float:
        r""":math:`\mathrm{tr}\,\Sigma_B` divided by the square of ``scale``."""
        squares = self.centred_means(weighting).square().sum(dim=1)
        return float((self.weights(weighting) * squares).sum())


class _FirstPass:
    """Counts, an anchor per class (its first sample), mean differences from it, and the scale."""

    def __init__(self, num_classes: int) -> None:
        self.classes = num_classes
        self.anchors: torch.Tensor | None = None
        self.spread = 0.0

    def add(self, features: torch.Tensor, labels: torch.Tensor) -> None:
        anchors = self.anchors
        if anchors is None:
            shape = (self.classes, features.shape[1])
            self.anchors = anchors = features.new_zeros(shape)
            self.sums = features.new_zeros(shape)
            self.counts = torch.zeros(self.classes, dtype=torch.int64, device=features.device)
        counts = torch.bincount(labels, minlength=self.classes)
        for c in ((self.counts == 0) & (counts > 0)).nonzero().flatten().tolist():
            anchors[c] = features[(labels == c).nonzero()[0, 0]]
        self.counts += counts
        differences = features - anchors[labels]
        low, high = (float(end) for end in torch.aminmax(differences))
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ValueError("features contain NaN or infinite values")
        self.spread = max(self.spread, -low, high)
        self.sums.index_add_(0, labels, differences)

    def finish(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float]:
        if self.anchors is None:
            raise ValueError("there are no samples")
        empty = (self.counts == 0).nonzero().flatten().tolist()
        if empty:
            raise ValueError(
                f"class {empty[0]} has no samples; relabel the classes 0..K-1 without gaps or "
                "give the right num_classes"
            )
        if self.spread == 0 and not bool(self.anchors.any()):
            raise ValueError("all features are zero: no metric of their geometry is defined")
        apart = float((self.anchors - self.anchors[0]).abs().max())
        scale = max(self.spread, apart)
        return self.counts, self.anchors, self.sums / self.counts[:, None], scale or 1.0


def _blocks(
    batches: Iterable[tuple[Any, Any]], num_classes: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for features, labels in batches:
        H, y = torch.as_tensor(features), checked_labels(labels, num_classes)
        if H.ndim != 2:
            raise ValueError(f"features must have shape (n, d), got {tuple(H.shape)}")
        if len(H) != len(y):
            raise ValueError(f"{len(H)} rows of features but {len(y)} labels")
        y = y.to(H.device)
        rows = max(BLOCK // max(H.shape[1], 1), 1)
        for start in range(0, len(H), rows):
            yield H[start : start + rows].to(torch.float64), y[start : start + rows]


def checked_labels(labels: Any, num_classes: int) -> torch.Tensor:
    """Labels as an integer tensor of shape (n,), after checking type and range."""
    y = torch.as_tensor(labels)
    if y.is_floating_point() or y.is_complex() or y.dtype == torch.bool:
        raise ValueError(f"labels must be integers, got {y.dtype}; convert one-hot with argmax")
    if y.ndim != 1:
        raise ValueError(f"labels must have shape (n,), got {tuple(y.shape)}")
    if len(y) and not 0 <= int(y.min()) <= int(y.max()) < num_classes:
        raise ValueError(
            f"labels must lie in 0..{num_classes - 1}, got {int(y.min())}..{int(y.max())}"
        )
    return y.to(torch.int64)


def _centred(offsets: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    centred = offsets - (weights[:, None] * offsets).sum(dim=0)
    centred[centred.abs() <= _ROUNDING] = 0.0
    return centred


def _whitening(offsets: torch.Tensor, counts: torch.Tensor, weighting: str) -> torch.Tensor:
    """The map from a residual to coordinates whose squares sum to its part of the pinv metric."""
    weights = (
        torch.full_like(offsets[:, 0], 1 / len(counts))
        if weighting == "class"
        else counts.to(offsets.dtype) / counts.sum()
    )
    scaled = weights.sqrt()[:, None] * _centred(offsets, weights)
    _, values, right = torch.linalg.svd(scaled, full_matrices=False)
    cut = values[0] * max(scaled.shape) * float(np.finfo(float).eps)
    kept = values > cut
    return right[kept].T / values[kept]
