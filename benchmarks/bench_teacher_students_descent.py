"""Descent on the population loss beside a plain automatic-differentiation loop in PyTorch.

``python benchmarks/bench_teacher_students_descent.py`` prints a table and writes
``benchmarks/results/teacher_students_descent.json``. The peer writes the closed-form loss once and
lets PyTorch differentiate it, one start after the other or all starts in one tensor. Both sides
take the same steps from the same starts, on one thread; the last students are compared.
"""

from __future__ import annotations

from math import pi

import numpy as np
import torch
from pairing import Result, Row, compared, report

from theorylab.teacher_students import descend, draw_starts, orthonormal_teachers

ETA, D, STEPS = 0.2, 10, 100
CASES = ((2, 1), (4, 2), (6, 3))


def loss(W: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Sum over the starts of the closed form, shape of W (starts, m, d)."""
    Z = torch.cat([W, V.expand(len(W), *V.shape)], dim=1)
    signs = torch.ones(Z.shape[1], dtype=Z.dtype)
    signs[W.shape[1] :] = -1
    norms = Z.norm(dim=-1)
    sizes = norms[:, :, None] * norms[:, None, :]
    cosines = (Z @ Z.transpose(1, 2) / sizes).clamp(-1 + 1e-12, 1 - 1e-12)
    theta = torch.arccos(cosines)
    pairs = sizes * (theta.sin() + (pi - theta) * cosines) / (2 * pi)
    return 0.5 * torch.einsum("a,sab,b->", signs, pairs, signs)


def autograd(W0: np.ndarray, V: np.ndarray) -> np.ndarray:
    W, teachers = torch.tensor(W0, requires_grad=True), torch.tensor(V)
    for _ in range(STEPS):
        (slope,) = torch.autograd.grad(loss(W, teachers), W)
        with torch.no_grad():
            W -= ETA * slope
    return W.detach().numpy()


def row(m: int, k: int, starts: int, together: bool) -> Row:
    V = orthonormal_teachers(k, D)
    W0 = draw_starts(np.random.default_rng(0), V, m, starts, 0.1, 2.0)
    groups = [W0] if together else [W0[i : i + 1] for i in range(starts)]

    def ours() -> np.ndarray:
        return descend(W0, V, ETA, [STEPS]).W[:, 0]

    def peer() -> np.ndarray:
        return np.concatenate([autograd(group, V) for group in groups])

    gap = float(np.abs(ours() - peer()).max())
    how = "in one tensor" if together else "one by one"
    case = f"m = {m}, k = {k}, {starts} starts, peer {how}"
    return compared(case, ours, peer, rounds=5, least=None if together else 50.0, gap=gap)


def main() -> None:
    torch.set_num_threads(1)
    rows = [row(m, k, 4, together=False) for m, k in CASES]
    rows += [row(m, k, 64, together=True) for m, k in CASES]
    report(
        "teacher_students_descent",
        Result(
            "Teachers and students: 100 steps on the population loss",
            "a loop of automatic differentiation in PyTorch",
            torch.__version__,
            tuple(rows),
            "50 times one by one; none in one tensor",
        ),
    )


if __name__ == "__main__":
    main()
