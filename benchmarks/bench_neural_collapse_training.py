"""Training many small networks: stacked in theorylab beside an eager PyTorch loop over networks.

``python benchmarks/bench_neural_collapse_training.py`` prints a table and writes
``benchmarks/results/neural_collapse_training.json``. The peer is what published scripts do: one
``torch.nn.Sequential`` at a time, autograd, ``torch.optim.SGD`` with weight decay, one thread.
Both sides start from the same weights, and their ends are compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch

from theorylab.neural_collapse import MLP, Images, Schedule, digits, relu, train

RESULT = Path(__file__).parent / "results" / "neural_collapse_training.json"
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


def eager(model: torch.nn.Sequential, images: Images) -> float:
    """Train one network; seconds per step."""
    X, Y = torch.tensor(images.X.T.copy()), torch.tensor(images.Y.T.copy())
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, weight_decay=LAM)
    start = perf_counter()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = 0.5 * ((model(X) - Y) ** 2).sum()
        loss.backward()
        optimizer.step()
    return (perf_counter() - start) / STEPS


def row(nets: int, images: Images) -> dict[str, object]:
    """Median seconds per network and step of both, run in turn."""
    bare = MLP(DIMS, 1, relu())
    times = []
    for _ in range(ROUNDS + 1):
        start = perf_counter()
        found = train(bare, images.X, images.Y, LAM, Schedule(RATE, STEPS), seeds=nets)
        own = (perf_counter() - start) / STEPS / nets
        model = sequential(bare.initialised(np.random.default_rng(0)))
        times.append((own, eager(model, images)))
        np.testing.assert_allclose(
            found.final[0].weights[-1], model[-1].weight.detach().numpy(), rtol=1e-9, atol=1e-12
        )
    ours, theirs = (median(pair[side] for pair in times[1:]) for side in (0, 1))
    return {
        "case": f"{nets} networks 65-24-24-24-10, 50 samples, one step of one",
        "ours_s": ours,
        "peer_s": theirs,
        "ratio": theirs / ours,
    }


def main() -> None:
    torch.set_num_threads(1)
    images = digits(5)
    found = [row(nets, images) for nets in (1, 5, 20, 60)]
    print(f"{'case':58} {'ours':>9} {'eager':>9} {'eager/ours':>11}")
    for r in found:
        print(f"{r['case']:58} {r['ours_s']:9.1e} {r['peer_s']:9.1e} {r['ratio']:11.1f}")
    report = {
        "title": "Neural collapse: training, per network and step",
        "peer": "PyTorch autograd and SGD, one network at a time",
        "peer_version": torch.__version__,
        "rows": found,
        "target": "ratio at least 15 for 20 networks or more",
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
