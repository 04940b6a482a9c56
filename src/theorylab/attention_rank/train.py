"""Small encoders trained to find the farthest token: all seeds in one batch."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from theorylab.attention_rank.arguments import whole
from theorylab.attention_rank.layers import (
    AttentionShape,
    Parameters,
    attend,
    draw_attention,
    draw_linear,
    feed_forward,
    sphere_norm,
)
from theorylab.run import Run
from theorylab.training import (
    Checkpoint,
    draw_models,
    progress_lines,
    single_thread,
    train,
    warmup_cosine,
)

EVALUATED = 2048
"""Fresh sequences on which a trained model is measured."""


@dataclass(frozen=True)
class FarthestTask:
    """Each token must answer with the farthest other token of its sequence.

    Attributes
    ----------
    d, N : int
        Uniform points of the sphere in d dimensions, N to a sequence.
    coordinates : int or None
        Farthest by the inner product of the first so many coordinates only; of all if ``None``.
    """

    d: int
    N: int
    coordinates: int | None = None

    def __post_init__(self) -> None:
        whole(self.d, "d", 1)
        whole(self.N, "N", 2)
        if self.coordinates is not None and not 1 <= self.coordinates <= self.d:
            raise ValueError(f"coordinates must be 1 to d={self.d}, got {self.coordinates}")

    def draw(self, models: int, sequences: int, generator: torch.Generator) -> torch.Tensor:
        """Points, shape (models, sequences, N, d), drawn on the CPU in single precision."""
        points = torch.randn(models, sequences, self.N, self.d, generator=generator)
        return torch.nn.functional.normalize(points, dim=-1)

    def answers(self, points: torch.Tensor) -> torch.Tensor:
        """The farthest other token of each, in the shape of ``points``."""
        seen = points[..., : self.coordinates]
        inner = seen @ seen.transpose(-1, -2)
        itself = torch.eye(self.N, dtype=torch.bool, device=points.device)
        chosen = inner.masked_fill(itself, torch.inf).argmin(dim=-1)
        return points.gather(-2, chosen[..., None].expand_as(points))


class BatchedEncoder:
    """Post-norm encoders with decoupled query/key and value sizes, one per seed.

    Parameters
    ----------
    seeds : int
        Models; the leading axis of every parameter.
    d : int
        Width of the tokens.
    heads : int
    qk_dim : int
        Rank of a head.
    v_dim : int
        Dimension of a head's values.
    ff : int
        Hidden units of the feed-forward part.
    layers : int
    width : int
        Parallel copies of the attention of each layer, their outputs added: ``width * heads``
        heads in all.
    """

    def __init__(
        self,
        seeds: int,
        d: int,
        heads: int,
        qk_dim: int,
        v_dim: int,
        ff: int,
        layers: int = 1,
        width: int = 1,
    ) -> None:
        self.seeds, self.d, self.ff = whole(seeds, "seeds", 1), whole(d, "d", 1), whole(ff, "ff", 1)
        self.layers = whole(layers, "layers", 1)
        self.shape = AttentionShape(
            self.d,
            whole(heads, "heads", 1) * whole(width, "width", 1),
            whole(qk_dim, "qk_dim", 1),
            whole(v_dim, "v_dim", 1),
        )

    def draw(self, generator: torch.Generator) -> Parameters:
        """The start of one model."""
        found: Parameters = {}
        for i in range(self.layers):
            found |= draw_attention(self.shape, f"{i}.attention", generator)
            found |= draw_linear(self.d, self.ff, f"{i}.ff.up", generator)
            found |= draw_linear(self.ff, self.d, f"{i}.ff.down", generator)
            found |= {
                f"{i}.{name}": torch.ones(1, 1, 1, dtype=torch.float64)
                for name in ("attention.norm", "ff.norm")
            }
        return found

    def __call__(self, parameters: Parameters, x: torch.Tensor) -> torch.Tensor:
        """Answers of all models to their own sequences, shape (models, sequences, N, d)."""
        for i in range(self.layers):
            seen = attend(x, parameters, f"{i}.attention", self.shape)
            x = sphere_norm(x + seen, parameters[f"{i}.attention.norm"])
            processed = feed_forward(x, parameters, f"{i}.ff")
            x = sphere_norm(x + processed, parameters[f"{i}.ff.norm"])
        return x


@dataclass(frozen=True)
class Result:
    """A training of several seeds.

    Attributes
    ----------
    mse : array, shape (seeds,)
        Mean squared distance per token on fresh sequences, not divided by d: 1 for zero.
    curves : array, shape (len(steps), seeds)
        The same, during training.
    steps : tuple of int
    parameters : dict of str to tensor
    """

    mse: np.ndarray
    curves: np.ndarray
    steps: tuple[int, ...]
    parameters: Parameters

    @property
    def hash(self) -> str:
        """SHA-256 of the trained parameters, which tells runs apart."""
        digest = hashlib.sha256()
        for name, value in sorted(self.parameters.items()):
            digest.update(name.encode() + value.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()


def fit(
    encoder: BatchedEncoder,
    task: FarthestTask,
    steps: int,
    run: Run,
    *,
    batch: int = 64,
    rate: float = 0.01,
    stream: str = "training",
    records: int = 2,
    label: str = "training",
    checkpoint: Checkpoint | None = None,
) -> Result:
    """Train all seeds together on fresh sequences and measure them on others.

    AdamW with betas (0.9, 0.95), a rise over the first twentieth of the steps and half a cosine
    to zero; in single precision on every device. Each seed sees data of its own.

    Parameters
    ----------
    encoder : BatchedEncoder
    task : FarthestTask
        Of the encoder's d.
    steps : int
    run : Run
        Gives device and random streams; at scales above ``ci`` progress is told.
    batch : int
        Sequences per seed and step.
    rate : float
        Largest learning rate.
    stream : str
        Prefix of the random streams: arms with one prefix see the same data.
    records : int
        Points of the curves, at least 2.
    label : str
        What progress is told under.
    checkpoint : Checkpoint, optional

    Returns
    -------
    Result
    """
    if task.d != encoder.d:
        raise ValueError(f"the task has d={task.d}, the encoder d={encoder.d}; make them equal")
    start = draw_models(run, f"{stream}.start", encoder.draw, encoder.seeds, torch.float32)
    held_out = task.draw(encoder.seeds, EVALUATED, run.torch_rng(f"{stream}.test")).to(run.device)

    def loss(parameters: Parameters, points: torch.Tensor) -> torch.Tensor:
        error = encoder(parameters, points) - task.answers(points)
        return error.square().sum(dim=-1).mean(dim=(1, 2))

    def batches(step: int, generator: torch.Generator | None) -> torch.Tensor:
        assert generator is not None
        return task.draw(encoder.seeds, batch, generator).to(run.device)

    with single_thread():
        found = train(
            start,
            loss,
            batches,
            steps,
            optimizer=partial(torch.optim.AdamW, lr=rate, betas=(0.9, 0.95)),
            schedule=warmup_cosine(steps),
            generator=run.torch_rng(f"{stream}.data"),
            measure=lambda parameters: {"mse": loss(parameters, held_out)},
            at={round(steps * i / (records - 1)) for i in range(records)},
            progress=None if run.scale == "ci" else progress_lines(label),
            checkpoint=checkpoint,
        )
    curves = found.measured["mse"].astype(float)
    return Result(curves[-1], curves, found.steps, found.parameters)


def score_matrices(result: Result, encoder: BatchedEncoder, layer: int = 0) -> np.ndarray:
    r"""Bilinear forms :math:`Q_hK_h^T` of one layer, shape (seeds, heads, d, d)."""
    weight = result.parameters[f"{layer}.attention.in.weight"].detach().cpu().double().numpy()
    shape = encoder.shape
    scores = shape.heads * shape.qk_dim
    parts = (encoder.seeds, encoder.d, shape.heads, shape.qk_dim)
    query = weight[:, :, :scores].reshape(parts)
    key = weight[:, :, scores : 2 * scores].reshape(parts)
    return np.einsum("sihr,sjhr->shij", query, key)


def angle_to_identity(matrix: np.ndarray) -> float:
    r"""Angle in degrees of a square matrix to the identity, in the Frobenius inner product."""
    cosine = np.trace(matrix) / (np.linalg.norm(matrix) * np.sqrt(len(matrix)))
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
