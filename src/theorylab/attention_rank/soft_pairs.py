"""Soft-max heads with value matrices, trained on two orthonormal keys: an attack on the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from theorylab.run import Run
from theorylab.training import draw_models, single_thread, train, warmup_cosine

Parameters = dict[str, torch.Tensor]


@dataclass(frozen=True)
class SoftPairLayer:
    """H soft-max heads of rank r with arbitrary value matrices.

    Attributes
    ----------
    d, r, H : int
    """

    d: int
    r: int
    H: int

    def draw(self, generator: torch.Generator) -> Parameters:
        """Queries, keys and values of one layer."""
        shape = (self.H, self.d, self.r)
        Q, K = (torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(2))
        identity = torch.eye(self.d, dtype=torch.float64).expand(self.H, -1, -1) / self.H
        return {"Q": Q, "K": K, "V": identity.clone()}

    def __call__(self, parameters: Parameters, w: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Differences of the two attention weights, shape (models, n, H)."""
        query = torch.einsum("mnd,mhdr->mnhr", y, parameters["Q"])
        key = torch.einsum("mnd,mhdr->mnhr", w, parameters["K"])
        return torch.tanh((query * key).sum(dim=-1))

    def errors(self, parameters: Parameters, batch: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Squared errors, shape (models, n)."""
        s, w, y = batch
        t = self(parameters, w, y)
        along_s = torch.einsum("mnd,mhed->mne", s, parameters["V"])
        mixed = torch.einsum("mnh,mhed->mned", t, parameters["V"])
        output = along_s + torch.einsum("mned,mnd->mne", mixed, w)
        target = s + torch.sign((w * y).sum(dim=-1, keepdim=True)) * w
        return (output - target).square().sum(dim=-1) / 2


def draw_pairs(
    models: int, n: int, d: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sum and difference directions of orthonormal keys, and queries, each (models, n, d)."""
    gauss = torch.randn(3, models, n, d, generator=generator, dtype=torch.float64)
    s, w, y = torch.nn.functional.normalize(gauss, dim=-1)
    w = torch.nn.functional.normalize(w - (w * s).sum(dim=-1, keepdim=True) * s, dim=-1)
    return s, w, y


def attack(
    layer: SoftPairLayer, run: Run, *, restarts: int, steps: int, batch: int, evaluated: int
) -> np.ndarray:
    """Squared errors of the best of several trained layers on fresh inputs, shape (evaluated,).

    Parameters
    ----------
    layer : SoftPairLayer
    run : Run
    restarts : int
        Layers that are trained; the best one is chosen on other data.
    steps, batch : int
    evaluated : int
        Fresh inputs.
    """
    name = f"{layer.d}-{layer.r}-{layer.H}"
    start = draw_models(run, f"start {name}", layer.draw, restarts, torch.float64)

    def on_device(batch: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        return tuple(part.to(run.device) for part in batch)

    def batches(step: int, generator: torch.Generator | None) -> tuple[torch.Tensor, ...]:
        assert generator is not None
        return on_device(draw_pairs(restarts, batch, layer.d, generator))

    with single_thread():
        found = train(
            start,
            lambda parameters, pairs: layer.errors(parameters, pairs).mean(dim=1),
            batches,
            steps,
            optimizer=partial(torch.optim.Adam, lr=0.02),
            schedule=warmup_cosine(steps),
            generator=run.torch_rng(f"data {name}"),
        )
        with torch.no_grad():
            choosing = on_device(draw_pairs(restarts, 20_000, layer.d, run.torch_rng("choice")))
            best = int(layer.errors(found.parameters, choosing).mean(dim=1).argmin())
            chosen = {key: value[best : best + 1] for key, value in found.parameters.items()}
            fresh = on_device(draw_pairs(1, evaluated, layer.d, run.torch_rng("fresh")))
            return layer.errors(chosen, fresh)[0].cpu().numpy()
