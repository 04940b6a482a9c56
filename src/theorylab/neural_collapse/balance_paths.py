"""Imbalance of neighbouring layers along a descent, beside what its recursion allows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.neural_collapse.balance import balancedness
from theorylab.neural_collapse.data import Images
from theorylab.neural_collapse.descent import descent_path
from theorylab.neural_collapse.networks import MLP
from theorylab.neural_collapse.theory import imbalance_envelope

Array = NDArray[Any]


def _norm(matrix: Array) -> float:
    return float(np.linalg.norm(matrix, 2))


@dataclass(frozen=True)
class BalancePath:
    """Imbalance of one pair of layers along a descent.

    Attributes
    ----------
    times : array
    imbalance : array
        Spectral norm of D.
    envelope : array
        What the recursion allows.
    """

    times: Array
    imbalance: Array
    envelope: Array


def balance_paths(
    net: MLP, images: Images, lam: float, rate: float, time: float, samples: int = 100
) -> list[BalancePath]:
    """Imbalance of all neighbouring layers along plain descent, about ``samples`` times.

    Parameters
    ----------
    net : MLP
        At its start.
    images : Images
    lam, rate, time : float
        Weight decay, learning rate, and steps times rate.
    samples : int
    """
    steps = round(time / rate)
    every = max(steps // samples, 1)
    seen: list[list[float]] = []
    forcing: list[list[float]] = []
    for step, (before, G, _) in enumerate(
        descent_path(net, images.X, images.Y, lam, rate, steps + 1)
    ):
        if step % every == 0:
            seen.append([_norm(balancedness(b, a)) for a, b in pairwise(before.weights)])
        sizes = [_norm(g) ** 2 for g in G]
        forcing.append([max(pair) for pair in pairwise(sizes)])
    times = rate * every * np.arange(len(seen))
    paths = []
    for pair in range(net.layers - 1):
        D = np.array([row[pair] for row in seen])
        bound = imbalance_envelope(D[0], lam, rate, [row[pair] for row in forcing])
        paths.append(BalancePath(times, D, np.array(bound[:-1:every][: len(D)])))
    return paths
