"""Trained networks: a classifier of real digits, and one that was taught a maximum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

WIDTHS = (64, 16, 12, 10)
FORMATS = ("float32", "float16", "bfloat16", "float8_e4m3fn")


def _mlp(widths: Sequence[int], generator: torch.Generator) -> torch.nn.Sequential:
    """Layers with He's initialisation from the generator given."""
    import torch

    layers: list[torch.nn.Module] = []
    for before, after in pairwise(widths):
        linear = torch.nn.Linear(before, after)
        with torch.no_grad():
            weights = torch.randn(after, before, generator=generator) * (2 / before) ** 0.5
            linear.weight.copy_(weights)
            linear.bias.zero_()
        layers += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def _train(
    model: torch.nn.Sequential, loss: Callable[[torch.nn.Sequential], torch.Tensor], steps: int
) -> None:
    import torch

    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimiser.zero_grad()
        loss(model).backward()
        optimiser.step()


def digits_classifier(
    generator: torch.Generator, steps: int = 150
) -> tuple[torch.nn.Sequential, float]:
    """A 64-16-12-10 classifier of scikit-learn's digits, and its accuracy on them."""
    import torch
    from sklearn.datasets import load_digits

    pixels, targets = load_digits(return_X_y=True)
    images = torch.tensor(pixels / 16, dtype=torch.float32)
    labels = torch.tensor(targets)
    model = _mlp(WIDTHS, generator)
    _train(model, lambda net: torch.nn.functional.cross_entropy(net(images), labels), steps)
    accuracy = (model(images).argmax(dim=1) == labels).double().mean()
    return model, float(accuracy)


def maximum_learner(
    generator: torch.Generator, n: int = 4, width: int = 6, steps: int = 200
) -> torch.nn.Sequential:
    """A network with two hidden layers that was taught F_n on Gaussian inputs."""
    import torch

    x = torch.randn(512, n, generator=generator)
    y = x.amax(dim=1).clamp(min=0)
    model = _mlp((n, width, width, 1), generator)
    _train(model, lambda net: ((net(x)[:, 0] - y) ** 2).mean(), steps)
    return model
