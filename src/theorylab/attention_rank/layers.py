"""Attention and feed-forward layers of stacked models: one graph for all seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F

Parameters = dict[str, torch.Tensor]
Scalar = torch.Tensor


@dataclass(frozen=True)
class AttentionShape:
    """Sizes of a multi-head attention layer.

    Attributes
    ----------
    d : int
        Width of the tokens.
    heads : int
    qk_dim : int
        Rank of a head: dimension of its queries and keys.
    v_dim : int
        Dimension of its values.
    """

    d: int
    heads: int
    qk_dim: int
    v_dim: int


def draw_attention(shape: AttentionShape, name: str, generator: torch.Generator) -> Parameters:
    """Parameters of one layer, initialised as PyTorch's ``MultiheadAttention`` is."""
    scores, values = shape.heads * shape.qk_dim, shape.heads * shape.v_dim
    return {
        f"{name}.in.weight": _xavier(shape.d, 2 * scores + values, generator),
        f"{name}.in.bias": torch.zeros(1, 2 * scores + values, dtype=torch.float64),
        f"{name}.out.weight": _uniform((values, shape.d), values, generator),
        f"{name}.out.bias": torch.zeros(1, shape.d, dtype=torch.float64),
    }


def draw_linear(rows: int, columns: int, name: str, generator: torch.Generator) -> Parameters:
    """Weight and bias of a linear map, initialised as PyTorch's ``Linear`` is."""
    return {
        f"{name}.weight": _uniform((rows, columns), rows, generator),
        f"{name}.bias": _uniform((1, columns), rows, generator),
    }


def _uniform(shape: tuple[int, ...], fan_in: int, generator: torch.Generator) -> torch.Tensor:
    bound = 1 / math.sqrt(fan_in)
    return bound * (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1)


def _xavier(rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
    bound = math.sqrt(6 / (rows + columns))
    return bound * (2 * torch.rand(rows, columns, generator=generator, dtype=torch.float64) - 1)


def linear(x: torch.Tensor, parameters: Parameters, name: str) -> torch.Tensor:
    """Each model's linear map on its own tokens; x of shape (models, tokens, width)."""
    return torch.baddbmm(parameters[f"{name}.bias"], x, parameters[f"{name}.weight"])


def attend(
    x: torch.Tensor,
    parameters: Parameters,
    name: str,
    shape: AttentionShape,
    causal: bool = False,
) -> torch.Tensor:
    """Multi-head attention of stacked models.

    Parameters
    ----------
    x : tensor, shape (models, sequences, N, d)
    parameters : dict of str to tensor
    name : str
        Prefix of the layer's parameters.
    shape : AttentionShape
    causal : bool
        A token sees only itself and earlier ones.

    Returns
    -------
    tensor of the shape of ``x``
    """
    models, sequences, N, d = x.shape
    flat = x.reshape(models, sequences * N, d)
    scores = shape.heads * shape.qk_dim
    parts = linear(flat, parameters, f"{name}.in").view(models * sequences, N, -1)
    query, key, value = parts.split([scores, scores, shape.heads * shape.v_dim], dim=-1)
    q, k, v = (_by_head(part, shape.heads) for part in (query, key, value))
    looked = _short(q, k, v) if _is_short(x, causal) else _fused(q, k, v, causal)
    joined = looked.transpose(1, 2).reshape(models, sequences * N, -1)
    return linear(joined, parameters, f"{name}.out").view(x.shape)


SHORT = 15
"""Tokens up to which plain products and exponentials beat the fused kernel on a CPU."""


def _is_short(x: torch.Tensor, causal: bool) -> bool:
    return x.device.type == "cpu" and x.shape[2] <= SHORT and not causal


def _short(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    weights = torch.exp(scores - scores.detach().amax(dim=-1, keepdim=True))
    return (weights / weights.sum(dim=-1, keepdim=True)) @ value


def _fused(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool
) -> torch.Tensor:
    return F.scaled_dot_product_attention(query, key, value, is_causal=causal)


def _by_head(part: torch.Tensor, heads: int) -> torch.Tensor:
    return part.view(*part.shape[:2], heads, -1).transpose(1, 2)


def feed_forward(x: torch.Tensor, parameters: Parameters, name: str) -> torch.Tensor:
    """Two linear maps with a ReLU in between; x of shape (models, sequences, N, d)."""
    flat = x.reshape(x.shape[0], -1, x.shape[-1])
    hidden = torch.relu(linear(flat, parameters, f"{name}.up"))
    return linear(hidden, parameters, f"{name}.down").view(x.shape)


def sphere_norm(x: torch.Tensor, scale: Scalar) -> torch.Tensor:
    """Unit vectors times one learned number per model, shape (models, 1, 1, 1)."""
    return F.normalize(x, dim=-1) * scale
