"""Training several seeds at once: batched layers beside a loop over PyTorch and x-transformers.

``python benchmarks/bench_attention_rank_training.py`` prints two tables and writes
``benchmarks/results/attention_rank_training_loop.json`` and ``..._xtransformers.json``. A step is
forward, backward and AdamW for every seed, on one thread. The loop is the style of the authors'
code: one ``torch.nn.MultiheadAttention`` encoder and one optimiser per seed. x-transformers gets
one encoder per seed, too, with the same widths.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

import torch
from pairing import Result, Row, compared, report, skip
from torch import nn

from theorylab.attention_rank.train import BatchedEncoder, FarthestTask
from theorylab.run import Run
from theorylab.training import draw_models

try:
    from x_transformers import Encoder
except ImportError:
    Encoder = None

CASES = {  # seeds, d, N, heads, ff, batch, and the ratio to reach
    (5, 16, 8, 1, 64, 64): 2.0,
    (5, 16, 8, 4, 64, 64): 2.0,
    (16, 8, 4, 2, 32, 48): None,
    (1, 64, 16, 4, 2048, 64): 0.95,
}
FIVE_SEEDS = tuple(CASES)[:2]
ADAM = {"lr": 1e-3, "betas": (0.9, 0.95)}
Maker = Callable[[int, int, int], nn.Module]


class LoopEncoder(nn.Module):
    """One post-norm layer as in the authors' repository: unit vectors times a learned scalar."""

    def __init__(self, d: int, heads: int, ff: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(d, heads, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(d, ff), nn.ReLU(), nn.Linear(ff, d))
        self.scales = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(x, x, x, need_weights=False)[0]
        x = nn.functional.normalize(x, dim=-1) * self.scales[0]
        x = x + self.feed_forward(x)
        return nn.functional.normalize(x, dim=-1) * self.scales[1]


def batched_step(case: tuple[int, ...]) -> Callable[[], None]:
    seeds, d, N, heads, ff, batch = case
    encoder = BatchedEncoder(seeds, d, heads, d // heads, d // heads, ff)
    parameters = draw_models(Run(), "start", encoder.draw, seeds, torch.float32)
    parameters = {name: value.requires_grad_() for name, value in parameters.items()}
    optimizer = torch.optim.AdamW(list(parameters.values()), **ADAM)
    task = FarthestTask(d, N)
    points = task.draw(seeds, batch, torch.Generator().manual_seed(0))
    answers = task.answers(points)

    def step() -> None:
        optimizer.zero_grad()
        error = encoder(parameters, points) - answers
        error.square().sum(dim=-1).mean(dim=(1, 2)).sum().backward()
        optimizer.step()

    return step


def looped_step(case: tuple[int, ...], make: Maker) -> Callable[[], None]:
    seeds, d, N, heads, ff, batch = case
    models = [make(d, heads, ff) for _ in range(seeds)]
    optimizers = [torch.optim.AdamW(model.parameters(), **ADAM) for model in models]
    task = FarthestTask(d, N)
    points = task.draw(seeds, batch, torch.Generator().manual_seed(0))
    answers = task.answers(points)

    def step() -> None:
        for model, optimizer, x, y in zip(models, optimizers, points, answers, strict=True):
            optimizer.zero_grad()
            (model(x) - y).square().sum(dim=-1).mean().backward()
            optimizer.step()

    return step


def x_transformers_encoder(d: int, heads: int, ff: int) -> nn.Module:
    return Encoder(dim=d, depth=1, heads=heads, attn_dim_head=d // heads, ff_mult=ff / d)


def row(case: tuple[int, ...], make: Maker, least: float | None) -> Row:
    name = "seeds={}, d={}, N={}, H={}, ff={}, batch={}".format(*case)
    ours, peer = batched_step(case), looped_step(case, make)
    return compared(name, ours, peer, rounds=9, window=0.15, least=least)


def main() -> None:
    torch.set_num_threads(1)
    title = "One training step of several seeds"
    report(
        "attention_rank_training_loop",
        Result(
            title,
            "torch.nn.MultiheadAttention, one model per seed",
            torch.__version__,
            tuple(row(case, LoopEncoder, least) for case, least in CASES.items()),
            "at least 2 for five seeds at d = 16, at least 0.95 where compute-bound",
        ),
    )
    if Encoder is None:
        skip("x-transformers")
    report(
        "attention_rank_training_xtransformers",
        Result(
            title,
            "x-transformers",
            version("x-transformers"),
            tuple(row(case, x_transformers_encoder, 2.0) for case in FIVE_SEEDS),
            "at least 2",
        ),
    )


if __name__ == "__main__":
    main()
