"""In-context linear regression by decoders with more or fewer heads: for a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from theorylab.attention_rank.arguments import whole
from theorylab.attention_rank.layers import (
    AttentionShape,
    Parameters,
    attend,
    draw_attention,
    draw_linear,
    feed_forward,
    linear,
)
from theorylab.run import Run
from theorylab.training import Checkpoint, draw_models, progress_lines, train, warmup_cosine


@dataclass(frozen=True)
class RegressionTask:
    r"""Sequences :math:`x_1, y_1, x_2, y_2, \dots` with :math:`y = \langle\beta,x\rangle`.

    Attributes
    ----------
    dims : int
        Dimension of the inputs; inputs and coefficients are standard normal.
    examples : int
        Pairs in a sequence.
    """

    dims: int = 20
    examples: int = 40

    def draw(
        self, models: int, sequences: int, generator: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs (models, sequences, examples, dims) and answers (models, sequences, examples)."""
        shape = (models, sequences, self.examples, self.dims)
        x = torch.randn(shape, generator=generator)
        beta = torch.randn(models, sequences, self.dims, 1, generator=generator)
        return x, (x @ beta)[..., 0]

    def tokens(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Interleaved tokens, answers padded with zeros, (models, sequences, 2 examples, dims)."""
        answers = F.pad(y[..., None], (0, self.dims - 1))
        return torch.stack([x, answers], dim=3).flatten(2, 3)


class BatchedDecoder:
    """Causal pre-norm transformers, one per seed, that read answers off the input tokens.

    Parameters
    ----------
    seeds : int
    task : RegressionTask
    layers, d, heads : int
        Heads of rank d / heads.
    """

    def __init__(self, seeds: int, task: RegressionTask, layers: int, d: int, heads: int) -> None:
        self.seeds, self.task = whole(seeds, "seeds", 1), task
        self.layers, self.d = whole(layers, "layers", 1), whole(d, "d", 1)
        if self.d % whole(heads, "heads", 1):
            raise ValueError(f"heads must divide d={d}, got {heads}")
        self.shape = AttentionShape(self.d, heads, self.d // heads, self.d // heads)

    def draw(self, generator: torch.Generator) -> Parameters:
        """The start of one model."""
        found = draw_linear(self.task.dims, self.d, "read", generator)
        found |= draw_linear(self.d, 1, "answer", generator)
        positions = (1, 2 * self.task.examples, self.d)
        found["positions"] = 0.02 * torch.randn(positions, generator=generator, dtype=torch.float64)
        for i in range(self.layers):
            found |= draw_attention(self.shape, f"{i}.attention", generator)
            found |= draw_linear(self.d, 4 * self.d, f"{i}.ff.up", generator)
            found |= draw_linear(4 * self.d, self.d, f"{i}.ff.down", generator)
        return found

    def __call__(self, parameters: Parameters, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Predicted answers at the input tokens, shape (models, sequences, examples)."""
        tokens = self.task.tokens(x, y)
        models, sequences, N, _ = tokens.shape
        h = linear(tokens.flatten(1, 2), parameters, "read").view(models, sequences, N, self.d)
        h = h + parameters["positions"]
        for i in range(self.layers):
            normal = F.layer_norm(h, (self.d,))
            h = h + attend(normal, parameters, f"{i}.attention", self.shape, causal=True)
            h = h + feed_forward(F.layer_norm(h, (self.d,)), parameters, f"{i}.ff")
        h = F.layer_norm(h, (self.d,))[:, :, ::2].flatten(1, 2)
        return linear(h, parameters, "answer").view(models, sequences, -1)


def fit_regression(
    decoder: BatchedDecoder,
    steps: int,
    run: Run,
    *,
    batch: int = 64,
    rate: float = 1e-3,
    stream: str = "icl",
    checkpoint: Checkpoint | None = None,
) -> np.ndarray:
    """Train all seeds together; mean squared error per dimension on fresh sequences, (seeds,).

    Parameters
    ----------
    decoder : BatchedDecoder
    steps : int
    run : Run
    batch : int
    rate : float
    stream : str
        Prefix of the random streams.
    checkpoint : Checkpoint, optional
    """
    task, seeds = decoder.task, decoder.seeds
    start = draw_models(run, f"{stream}.start", decoder.draw, seeds, torch.float32)

    def moved(drawn: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        return drawn[0].to(run.device), drawn[1].to(run.device)

    def loss(parameters: Parameters, drawn: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        error = decoder(parameters, *drawn) - drawn[1]
        return error.square().mean(dim=(1, 2)) / task.dims

    def batches(step: int, generator: torch.Generator | None):
        assert generator is not None
        return moved(task.draw(seeds, batch, generator))

    held_out = moved(task.draw(seeds, 512, run.torch_rng(f"{stream}.test")))
    found = train(
        start,
        loss,
        batches,
        steps,
        optimizer=partial(torch.optim.AdamW, lr=rate, betas=(0.9, 0.95)),
        schedule=warmup_cosine(steps),
        generator=run.torch_rng(f"{stream}.data"),
        measure=lambda parameters: {"mse": loss(parameters, held_out)},
        progress=None if run.scale == "ci" else progress_lines(stream),
        checkpoint=checkpoint,
    )
    return found.measured["mse"][-1].astype(float)
