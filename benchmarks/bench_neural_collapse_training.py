"""Training many small networks: stacked in theorylab beside an eager PyTorch loop over networks.

``python benchmarks/bench_neural_collapse_training.py`` prints a table and writes
``benchmarks/results/neural_collapse_training.json``. The peer is what published scripts do: one
``torch.nn.Sequential`` at a time, autograd, ``torch.optim.SGD`` with weight decay, one thread.
Both sides start from the same weights, and their ends are compared.
"""

from __future__ import annotations

import numpy as np
import torch
from pairing import Result, Row, compared_clocks, report, seconds

from theorylab.neural_collapse import MLP, Images, Schedule, digits, relu, train

DIMS, LAM, RATE, STEPS, ROUNDS = (65, 24, 24, 24, 10), 0.03, 0.02, 200, 5


def sequential(net: MLP) -> torch.nn.Sequential:
    """The network as PyTorch modules, without biases."""
    layers: list[torch.nn.Module] = []
    for place, W in enumerate(net.weights):
        linear = torch.nn.Linear(W.shape[1], W.shape[0], bias=False, dtype=torch.float64)
        linear.weight.data = torch.tensor(W)
        layers.append(linear)
        if place < net.L1:
            layers.append(torch.nn.ReLU())
    return torch.nn.Sequential(*layers)


def eager(model: torch.nn.Sequential, images: Images) -> None:
    """Train one network."""
    X, Y = torch.tensor(images.X.T.copy()), torch.tensor(images.Y.T.copy())
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, weight_decay=LAM)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = 0.5 * ((model(X) - Y) ** 2).sum()
        loss.backward()
        optimizer.step()


def stacked(nets: int, images: Images) -> MLP:
    """Train all networks; the first of them."""
    bare = MLP(DIMS, 1, relu())
    found = train(bare, images.X, images.Y, LAM, Schedule(RATE, STEPS), seeds=nets)
    return found.final[0]


def start() -> torch.nn.Sequential:
    return sequential(MLP(DIMS, 1, relu()).initialised(np.random.default_rng(0)))


def check(images: Images) -> None:
    """Both sides end with the same weights."""
    model = start()
    eager(model, images)
    last = model[-1].weight.detach().numpy()
    np.testing.assert_allclose(stacked(1, images).weights[-1], last, rtol=1e-9, atol=1e-12)


def row(nets: int, images: Images, least: float | None) -> Row:
    """Median seconds per network and step of both, run in turn."""

    def peer() -> float:
        model = start()
        return seconds(lambda: eager(model, images)) / STEPS

    return compared_clocks(
        f"{nets} networks 65-24-24-24-10, 50 samples, one step of one",
        lambda: seconds(lambda: stacked(nets, images)) / STEPS / nets,
        peer,
        rounds=ROUNDS,
        least=least,
    )


def main() -> None:
    torch.set_num_threads(1)
    images = digits(5)
    check(images)
    cases = ((1, None), (5, None), (20, 15.0), (60, 15.0))
    report(
        "neural_collapse_training",
        Result(
            "Neural collapse: training, per network and step",
            "PyTorch autograd and SGD, one network at a time",
            torch.__version__,
            tuple(row(nets, images, least) for nets, least in cases),
            "ratio at least 15 for 20 networks or more",
        ),
    )


if __name__ == "__main__":
    main()
