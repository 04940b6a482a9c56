"""Losses of stacked networks with their gradients written out.

For networks this small the bookkeeping of automatic differentiation costs more than the
arithmetic, so the gradient is computed together with the loss. This module loads PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

Parameters = dict[str, torch.Tensor]


class _Squared(torch.autograd.Function):
    """Half squared error of a batch of networks; the gradient is computed with the loss."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        X: torch.Tensor,
        Y: torch.Tensor,
        gates: torch.Tensor | None,
        mask: torch.Tensor | None,
        *Ws: torch.Tensor,
    ) -> torch.Tensor:
        hidden, before = [X], []
        for W in Ws[:-1]:
            before.append(W @ hidden[-1])
            hidden.append(before[-1].relu() if gates is None else before[-1] * gates)
        back = Ws[-1] @ hidden[-1] - Y
        losses = 0.5 * back.square().sum((-1, -2))
        slopes = [back @ hidden[-1].mT]
        for layer in range(len(Ws) - 2, -1, -1):
            back = Ws[layer + 1].mT @ back
            back = _shut(back, before[layer]) if gates is None else back * gates
            slopes.append(back @ hidden[layer].mT)
        if mask is not None:
            slopes[-1] = slopes[-1] * mask
        ctx.save_for_backward(*slopes[::-1])
        return losses

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> Any:
        factor = upstream[0][:, None, None]
        return (None, None, None, None, *(factor * slope for slope in ctx.saved_tensors))


def _shut(back: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """``back`` where the pre-activation is positive, else 0."""
    return torch.ops.aten.threshold_backward(back, before, 0)


def layers_of(parameters: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
    """Weights W1, W2, ... in order."""
    return [parameters[f"W{layer + 1}"] for layer in range(len(parameters))]


def relu_loss(parameters: Parameters, batch: Any) -> torch.Tensor:
    """Loss of ReLU networks on a batch (X, Y), one number per model."""
    X, Y = batch
    return _Squared.apply(X, Y, None, None, *layers_of(parameters))  # type: ignore[return-value]


def gated_loss(parameters: Parameters, batch: Any) -> torch.Tensor:
    """Loss of gated networks on a batch (X, Y, gates, mask), one number per model."""
    X, Y, gates, mask = batch
    return _Squared.apply(X, Y, gates, mask, *layers_of(parameters))  # type: ignore[return-value]


def staged_loss(parameters: Parameters, batch: Any) -> torch.Tensor:
    """The public code's rule: the common pathway learns alone, the others what it leaves.

    The number is the loss of the common pathway plus that of all pathways; only its gradient is
    meant to be used.
    """
    X, Y, gates, mask, common = batch
    W1, W2 = parameters["W1"] * mask, parameters["W2"]
    hidden = (W1 @ X) * gates
    alone = W2[:, :, common] @ hidden[:, common]
    others = W2[:, :, ~common] @ hidden[:, ~common]
    both = (Y - alone, Y - alone.detach() - others)
    return sum(0.5 * gap.square().sum((-1, -2)) for gap in both)  # type: ignore[return-value]


def relu_gates_of(parameters: Mapping[str, torch.Tensor], X: torch.Tensor) -> list[torch.Tensor]:
    """Which units are on, per hidden layer: tensors of shape (models, h, N)."""
    hidden, gates = X, []
    for W in layers_of(parameters)[:-1]:
        z = W @ hidden
        gates.append(z > 0)
        hidden = z * gates[-1]
    return gates
