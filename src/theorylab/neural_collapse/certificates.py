"""Certified bounds on NC1, NC2 and NC3 from the linear layers at the end of a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.neural_collapse.balance import balancedness
from theorylab.neural_collapse.class_statistics import checked_labels
from theorylab.neural_collapse.metrics import condition_number
from theorylab.neural_collapse.networks import MLP, forward
from theorylab.neural_collapse.theory import (
    kappa_bound,
    label_spread,
    nc1_bound,
    nc1_prior_bound,
    nc2_bound,
    nc3_bound,
    power_defect,
)

Array = NDArray[Any]
ROUNDING = 1e-9
"""Relative inflation of a bound, for the rounding of the singular values it is made of."""


@dataclass(frozen=True)
class Bound:
    """A measured value beside its bound.

    Attributes
    ----------
    value : float
    bound : float
        Infinite where the hypotheses of an upper bound are not met.
    upper : bool
        Whether ``bound`` lies above or below.
    """

    value: float
    bound: float
    upper: bool = True

    @property
    def slack(self) -> float:
        """Distance from value to bound; negative if violated."""
        return self.bound - self.value if self.upper else self.value - self.bound

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing: infinite, or a lower bound that is not positive."""
        return not math.isfinite(self.bound) if self.upper else self.bound <= 0


@dataclass(frozen=True)
class HeadCertificates:
    r"""All bounds for one network's linear head; see ``head_certificates``.

    Attributes
    ----------
    eps1, eps2, r : float
        Training error, imbalance, and the largest norm of layers and features.
    error_part, imbalance_part : float
        The two terms of the sharp NC1 bound.
    nc1, nc1_posterior, nc1_prior : Bound
        Three tiers for the same value; each bound at most the next.
    kappa, kappa_prior : Bound
        Condition number of the last layer.
    nc2 : Bound
        Condition number of the class means.
    nc3 : Bound
        Mean cosine, from below.
    nearest_mean : Bound
        Largest distance to the own class mean against half the least distance of two means;
        where this holds and ``largest_error`` is below one half, NC4 is 0.
    largest_error : float
        Largest absolute entry of R.
    """

    eps1: float
    eps2: float
    r: float
    error_part: float
    imbalance_part: float
    nc1: Bound
    nc1_posterior: Bound
    nc1_prior: Bound
    kappa: Bound
    kappa_prior: Bound
    nc2: Bound
    nc3: Bound
    nearest_mean: Bound
    largest_error: float


def head_certificates(
    Z_in: Any, head_weights: Sequence[Any], labels: Any, imbalance: Sequence[Array] | None = None
) -> HeadCertificates:
    r"""Evaluate every bound of the linear head at one point, training or not.

    With the projection :math:`P = W^+W`, the features split as
    :math:`H = W^+Y + W^+R + (I-P)VA`, and
    :math:`(I-P)VV^\top(I-P) = -(I-P)D_{L-1}(I-P)`: what the last layer cannot see is paid for by
    imbalance.

    Parameters
    ----------
    Z_in : array, shape (n, N)
        Input of the first linear layer, samples in columns.
    head_weights : sequence of array, shape (out, in)
        The linear layers, at least two; the last has K rows.
    labels : array of int, shape (N,)
        Equal numbers of all K classes.
    imbalance : sequence of array, optional
        Use these in place of the balancedness matrices: only for showing that a wrong one breaks
        the bounds.

    Returns
    -------
    HeadCertificates

    Raises
    ------
    ValueError
        If there are fewer than two layers, shapes do not fit, classes are unequal or missing, or
        a number is not finite.
    """
    data = _Head.of(Z_in, head_weights, labels, imbalance)
    e = data.distance_from_target()
    n, N, K = data.H.shape[0], data.N, data.K
    spread = label_spread(N, K)
    within, between = data.split(data.R)
    s1, sK = data.singular[0], data.singular[-1]
    full_rank = sK > s1 * max(data.W.shape) * np.finfo(float).eps
    sharp, coarse = data.leak(data.off_class(data.A)), data.coarse_leak()
    smallest = float(sK) if full_rank else 0.0
    value = data.nc1()
    tiers = [nc1_bound(s1, smallest, within, leak, between, spread) for leak in (sharp, coarse)]
    prior = nc1_prior_bound(data.r, data.eps1, data.eps2, n, N, K) if full_rank else math.inf
    kappa = condition_number(data.W)
    return HeadCertificates(
        eps1=data.eps1,
        eps2=data.eps2,
        r=data.r,
        error_part=nc1_bound(s1, smallest, within, 0.0, between, spread),
        imbalance_part=nc1_bound(s1, smallest, 0.0, sharp, between, spread),
        nc1=_upper(value, tiers[0]),
        nc1_posterior=_upper(value, tiers[1]),
        nc1_prior=_upper(value, prior),
        kappa=_upper(kappa, data.kappa_bound(data.defect())),
        kappa_prior=_upper(kappa, data.kappa_bound(data.prior_defect())),
        nc2=_upper(
            condition_number(data.means(data.H).T),
            nc2_bound(kappa, s1, e, N, K) if full_rank else math.inf,
        ),
        nc3=Bound(
            data.nc3(),
            nc3_bound(kappa, s1, data.eps1, e, N) - ROUNDING if full_rank else -math.inf,
            upper=False,
        ),
        nearest_mean=data.nearest_mean(),
        largest_error=float(np.abs(data.R).max()),
    )


def network_certificates(net: MLP, X: Array, labels: Any) -> HeadCertificates:
    """``head_certificates`` of a network on its inputs."""
    return head_certificates(forward(net, X).features[net.L1], net.head, labels)


def _upper(value: float, bound: float) -> Bound:
    return Bound(value, bound * (1 + ROUNDING))


def _norm(matrix: Array) -> float:
    return float(np.linalg.norm(matrix, 2))


@dataclass(frozen=True)
class _Head:
    """A linear head on its data, with what all bounds need."""

    layers: list[Array]
    A: Array
    H: Array
    R: Array
    labels: NDArray[np.int64]
    K: int
    D: list[Array]

    @classmethod
    def of(cls, Z_in: Any, layers: Sequence[Any], labels: Any, D: Sequence[Array] | None) -> _Head:
        arrays = [np.asarray(W, dtype=float) for W in layers]
        Z = np.asarray(Z_in, dtype=float)
        if len(arrays) < 2:
            raise ValueError(f"the bounds need at least two linear layers, got {len(arrays)}")
        if not all(np.isfinite(array).all() for array in (Z, *arrays)):
            raise ValueError("Z_in or head_weights contain NaN or infinite values")
        K = arrays[-1].shape[0]
        y = checked_labels(labels, K).numpy()
        if Z.ndim != 2 or Z.shape[1] != len(y):
            raise ValueError(f"Z_in must have shape (n, {len(y)}), got {Z.shape}")
        counts = np.bincount(y, minlength=K)
        if K < 2 or len(set(counts.tolist())) > 1 or counts[0] == 0:
            raise ValueError(f"the bounds need K >= 2 equal classes, got counts {counts.tolist()}")
        outputs = [Z]
        for W in arrays:
            outputs.append(W @ outputs[-1])
        if D is None:
            D = [balancedness(after, W) for W, after in pairwise(arrays)]
        R = outputs[-1] - np.eye(K)[:, y]
        return cls(arrays, outputs[-3], outputs[-2], R, y, K, list(D))

    @property
    def N(self) -> int:
        return len(self.labels)

    @property
    def W(self) -> Array:
        return self.layers[-1]

    @cached_property
    def singular(self) -> Array:
        return np.linalg.svd(self.W, compute_uv=False)[: self.K]

    @cached_property
    def eps1(self) -> float:
        return float(np.linalg.norm(self.R))

    @cached_property
    def eps2(self) -> float:
        return max(_norm(D) for D in self.D)

    @cached_property
    def r(self) -> float:
        return max(_norm(matrix) for matrix in (self.A, self.H, *self.layers))

    def means(self, M: Array) -> Array:
        """Class means in columns."""
        indicator = np.eye(self.K)[self.labels]
        return M @ indicator * (self.K / self.N)

    def off_class(self, M: Array) -> Array:
        return M - self.means(M)[:, self.labels]

    def split(self, M: Array) -> tuple[float, float]:
        """Norms of the within-class part and of the centred class means, over all samples."""
        means = self.means(M)
        centred = means - means.mean(axis=1, keepdims=True)
        return (
            float(np.linalg.norm(M - means[:, self.labels])),
            float(np.linalg.norm(centred) * math.sqrt(self.N / self.K)),
        )

    def nc1(self) -> float:
        within, between = self.split(self.H)
        return math.inf if between == 0 else (within / between) ** 2

    def nc3(self) -> float:
        rows = self.W[self.labels].T
        lengths = np.linalg.norm(self.H, axis=0) * np.linalg.norm(rows, axis=0)
        if not lengths.all():
            raise ValueError("a feature or a row of the last layer is zero: NC3 is undefined")
        return float(((self.H * rows).sum(axis=0) / lengths).mean())

    @cached_property
    def hidden_imbalance(self) -> tuple[float, float]:
        """Trace and largest eigenvalue of the imbalance that the last layer does not see."""
        _, _, right = np.linalg.svd(self.W)
        kernel = right[self.K :]
        if len(kernel) == 0:
            return 0.0, 0.0
        values = np.linalg.eigvalsh(-kernel @ self.D[-1] @ kernel.T)
        return float(max(values.sum(), 0.0)), float(max(values[-1], 0.0))

    def leak(self, M: Array) -> float:
        trace, top = self.hidden_imbalance
        return min(trace * _norm(M) ** 2, top * float(np.linalg.norm(M)) ** 2)

    def coarse_leak(self) -> float:
        M, size = self.off_class(self.A), _norm(self.D[-1])
        kernel = self.H.shape[0] - self.K
        if kernel <= 0:
            return 0.0
        return size * min(kernel * _norm(M) ** 2, float(np.linalg.norm(M)) ** 2)

    def distance_from_target(self) -> float:
        r"""Bound e on the distance of H from :math:`W^+Y`."""
        sK = self.singular[-1]
        if sK == 0:
            return math.inf
        return math.sqrt((self.eps1 / sK) ** 2 + self.leak(self.A))

    def defect(self) -> float:
        product, tails = np.eye(self.K), []
        for W in self.layers[:0:-1]:
            product = product @ W
            tails.append(_norm(product))
        norms = [_norm(W) for W in self.layers]
        return power_defect(norms, tails[::-1], [_norm(D) for D in self.D])

    def prior_defect(self) -> float:
        L2 = len(self.layers)
        largest = max(_norm(W) for W in self.layers)
        return L2 * (L2 - 1) / 2 * largest ** (2 * (L2 - 1)) * self.eps2

    def kappa_bound(self, defect: float) -> float:
        product = self.layers[0]
        for W in self.layers[1:]:
            product = W @ product
        if product.shape[1] < self.K:
            return math.inf
        values = np.linalg.svd(product, compute_uv=False)
        return kappa_bound(
            float(values[0]), float(values[self.K - 1]), defect, 1 / (2 * len(self.layers))
        )

    def nearest_mean(self) -> Bound:
        means = self.means(self.H)
        gaps = np.linalg.norm(means[:, :, None] - means[:, None, :], axis=0)
        gaps[np.diag_indices(self.K)] = np.inf
        distance = np.linalg.norm(self.off_class(self.H), axis=0).max()
        return Bound(float(distance), float(gaps.min()) / 2)
