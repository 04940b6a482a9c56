"""Rank against number of heads in attention: bounds, constructions, training, real heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bounds import (
    Interval,
    biased_profile,
    generic_span_dim,
    heads_needed,
    lower_bound,
)
from .depth import TwoLayerVote, pick_probabilities_3d, plurality
from .harmonics import (
    ExactPi,
    arcsine,
    dim_harm,
    eta2,
    head_target,
    hom,
    lam,
    legendre,
    tail,
)
from .heads import RankOneHeads, optimal_mse_by_gradients, soft_fallback
from .real import qk_spectra, retrieval_curve
from .targets import biased_heads, hobby_rice, nearest, orthonormal_pair, rational_sphere_point
from .theory import (
    block_budget,
    projector_correlation,
    softmax_mse,
    tied_floor,
    vote_mse,
)

if TYPE_CHECKING:
    from .train import BatchedEncoder, FarthestTask, Result, fit

_TRAINED = {"BatchedEncoder", "FarthestTask", "Result", "fit"}


def __getattr__(name: str) -> object:
    """What needs PyTorch is imported when it is first asked for."""
    if name in _TRAINED:
        from theorylab.attention_rank import train

        return getattr(train, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "BatchedEncoder",
    "ExactPi",
    "FarthestTask",
    "Interval",
    "RankOneHeads",
    "Result",
    "TwoLayerVote",
    "arcsine",
    "biased_heads",
    "biased_profile",
    "block_budget",
    "dim_harm",
    "eta2",
    "fit",
    "generic_span_dim",
    "head_target",
    "heads_needed",
    "hobby_rice",
    "hom",
    "lam",
    "legendre",
    "lower_bound",
    "nearest",
    "optimal_mse_by_gradients",
    "orthonormal_pair",
    "pick_probabilities_3d",
    "plurality",
    "projector_correlation",
    "qk_spectra",
    "rational_sphere_point",
    "retrieval_curve",
    "soft_fallback",
    "softmax_mse",
    "tail",
    "tied_floor",
    "vote_mse",
]
