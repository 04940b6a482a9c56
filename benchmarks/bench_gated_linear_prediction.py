"""A predicted loss curve beside the training it replaces.

``python benchmarks/bench_gated_linear_prediction.py`` prints two tables and writes
``benchmarks/results/gated_linear_prediction.json``. The peer is the training of a gated network
with 1600 units per pathway, here in PyTorch (8000 steps, timed on some of them): what one runs
without the reduction. The second table shows that a prediction costs the same for every width, and
grows with the number of different singular values only.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch

from theorylab.gated_linear import effective_start, identical_task, reduced_curve, reln, train

RESULT = Path(__file__).parent / "results" / "gated_linear_prediction.json"
RATE, STEPS, TIMED, WIDTH, STD = 1e-3, 8000, 60, 1600, 1e-5
CASES = ((3, 2), (4, 3))
ROUNDS = 3


def predict(contexts: int, k: int, objects: int = 8, width: int = WIDTH) -> float:
    task, A0 = identical_task(contexts, objects), effective_start(width, STD)
    start = perf_counter()
    reduced_curve(task, k, A0, A0, times=np.arange(0, STEPS + 1, 10) * RATE)
    return perf_counter() - start


def simulate(contexts: int, k: int) -> float:
    task = identical_task(contexts)
    net = reln(task, k, WIDTH, STD)
    start = perf_counter()
    train(net, task, RATE, TIMED, seeds=[0])
    return (perf_counter() - start) * STEPS / TIMED


def main() -> None:
    torch.set_num_threads(1)
    rows = []
    for contexts, k in CASES:
        predict(contexts, k)
        pairs = [(predict(contexts, k), simulate(contexts, k)) for _ in range(ROUNDS)]
        own, peer = median(a for a, _ in pairs), median(b for _, b in pairs)
        case = f"C = {contexts}, k = {k}, 1600 units per pathway"
        ratio = median(b / a for a, b in pairs)
        rows.append({"case": case, "ours_s": own, "peer_s": peer, "ratio": ratio})
        print(f"{case:42}{own:8.3f} s{peer:9.1f} s{ratio:9.0f}x")
    scaling = []
    for objects, width in ((8, 100), (8, 10_000), (32, 100), (128, 100)):
        own = median(predict(3, 2, objects, width) for _ in range(ROUNDS))
        scaling.append({"objects": objects, "width": width, "ours_s": own})
        print(f"P = {objects:4}, h = {width:6}: {own:.3f} s")
    result = {
        "title": "Gated networks: a predicted curve beside a simulated one",
        "peer": "training the network with 1600 units per pathway (PyTorch)",
        "peer_version": torch.__version__,
        "rows": rows,
        "scaling": scaling,
        "target": "50 times",
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
