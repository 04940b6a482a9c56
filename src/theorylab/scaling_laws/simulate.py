"""One-pass gradient descent, many runs at once; and a sampler of its order parameters alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf as _erf
from math import sqrt
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from theorylab.gaussian import (
    ACTIVATIONS,
    ERF,
    RELU,
    activation_code,
    fill_kernels,
)

Seeds = Sequence[Any]


@dataclass(frozen=True, eq=False)
class Runs:
    """What was recorded of many runs.

    Attributes
    ----------
    steps : array of int, shape (records,)
    alpha : array, shape (records,)
        Steps per input dimension.
    eps_g : array, shape (runs, records)
        Generalisation error for Gaussian inputs of the given variances, from exact overlaps.
    covariance : array, shape (runs, records, K + M, K + M)
        Covariance of the fields, students first.
    """

    steps: np.ndarray
    alpha: np.ndarray
    eps_g: np.ndarray
    covariance: np.ndarray


# --- the same for both simulators ----------


def _outputs(K: int, M: int, cs: Any, ct: Any) -> np.ndarray:
    students = np.broadcast_to(sqrt(M) / K if cs is None else cs, (K,))
    teachers = np.broadcast_to(1 / sqrt(M) if ct is None else ct, (M,))
    return np.concatenate([-np.asarray(students, float), np.asarray(teachers, float)])


def _records(steps: int, record: ArrayLike) -> np.ndarray:
    marks = np.asarray(record, dtype=np.int64)
    if steps < 0:
        raise ValueError(f"steps must not be negative, got {steps}")
    if marks.ndim != 1 or marks.size == 0 or (np.diff(marks) <= 0).any():
        raise ValueError("record must be a non-empty increasing vector of step numbers")
    if marks[0] < 0 or marks[-1] > steps:
        raise ValueError(f"record must lie between 0 and {steps}, got {marks[0]} to {marks[-1]}")
    return marks


def _rate(eta: float) -> float:
    if not (np.isfinite(eta) and eta > 0):
        raise ValueError(f"eta must be finite and positive, got {eta}")
    return float(eta)


def _errors(covariance: np.ndarray, w: np.ndarray, act: str) -> np.ndarray:
    flat = covariance.reshape(-1, *covariance.shape[-2:])
    found = np.empty(len(flat))
    _fill_errors(flat, w, activation_code(act), found)
    return found.reshape(covariance.shape[:-2])


@njit(cache=True)
def _fill_errors(stack, w, activation, found):
    I2, G, H = np.empty_like(stack[0]), np.empty_like(stack[0]), np.empty_like(stack[0])
    for index in range(len(stack)):
        fill_kernels(stack[index], activation, I2, G, H)
        found[index] = 0.5 * np.sum(np.outer(w, w) * I2)


@njit(cache=True)
def _unit(x, activation):
    if activation == ERF:
        return _erf(x / 1.4142135623730951)
    return max(x, 0.0) if activation == RELU else x


@njit(cache=True)
def _slope(x, activation):
    if activation == ERF:
        return 0.7978845608028654 * np.exp(-0.5 * x * x)
    return (1.0 if x > 0 else 0.0) if activation == RELU else 1.0


@njit(cache=True)
def _pulls(fields, w, eta, activation, noise, out):
    """Write eta c_i delta g'(x_i) of all students into ``out``."""
    delta = noise
    for a in range(len(fields)):
        delta += w[a] * _unit(fields[a], activation)
    for i in range(len(out)):
        out[i] = -eta * w[i] * delta * _slope(fields[i], activation)


# --- descent ----------


@njit(cache=True, fastmath=True)
def _weighted_gram(W, lam, C):
    for a in range(len(W)):
        for b in range(a + 1):
            total = 0.0
            for d in range(len(lam)):
                total += W[a, d] * lam[d] * W[b, d]
            C[a, b] = C[b, a] = total / len(lam)


@njit(cache=True, fastmath=True)
def _fields(W, xi, fields):
    for a in range(len(W)):
        total = 0.0
        for d in range(len(xi)):
            total += W[a, d] * xi[d]
        fields[a] = total / np.sqrt(len(xi))


@njit(cache=True)
def _descend(rng, W, K, lam, inputs, w, eta, sigma, marks, activation, C):
    N, deviations = len(lam), np.sqrt(lam)
    fields, pulls, xi = np.empty(len(W)), np.empty(K), np.empty(N)
    place = 0
    for step in range(marks[-1] + 1):
        if step == marks[place]:
            _weighted_gram(W, lam, C[place])
            place += 1
            if place == len(marks):
                return
        if len(inputs):
            xi[:] = inputs[int(rng.random() * len(inputs))]
        else:
            for d in range(N):
                xi[d] = deviations[d] * rng.standard_normal()
        _fields(W, xi, fields)
        noise = sigma * rng.standard_normal() if sigma > 0 else 0.0
        _pulls(fields, w, eta, activation, noise, pulls)
        for i in range(K):
            push = pulls[i] / np.sqrt(N)
            for d in range(N):
                W[i, d] += push * xi[d]


def simulate_sgd(
    J: ArrayLike,
    B: ArrayLike,
    lam: ArrayLike,
    eta: float,
    steps: int,
    record: ArrayLike,
    act: str = "erf",
    seeds: Seeds = (0,),
    backend: str = "numpy",
    device: str = "cpu",
    dtype: Any = None,
    *,
    cs: Any = None,
    ct: Any = None,
    sigma2: float = 0.0,
    inputs: ArrayLike | None = None,
) -> Runs:
    r"""One-pass descent: :math:`J_i \mathrel{+}= \eta c^s_i\delta g'(x_i)\xi/\sqrt N`.

    Parameters
    ----------
    J, B : array, shape (K, N) or (runs, K, N), and the same with M
        Weights of students and teachers along the principal axes.
    lam : array, shape (N,)
        Variance of the inputs along each axis.
    eta : float
    steps : int
    record : array of int
        After how many steps the overlaps are recorded; 0 is the start.
    act : {"erf", "relu", "linear"}
    seeds : sequence
        One seed or seed sequence per run.
    backend : {"numpy", "torch"}
        Compiled loops, or all runs in lockstep on ``device`` with tensors of ``dtype``; the two
        draw different samples. The torch backend records overlaps in double precision.
    cs, ct : float or array, optional
        Output weights; by default those of ``Committee``.
    sigma2 : float
        Variance of the label noise.
    inputs : array, shape (samples, N), optional
        Draw inputs from these rows, with replacement, in place of Gaussian ones ("numpy" only).

    Returns
    -------
    Runs

    Raises
    ------
    ValueError
        For shapes that do not fit, an unknown backend, steps < 0, or eta that is not positive.
    """
    variances = np.asarray(lam, dtype=float)
    students, teachers = np.asarray(J, dtype=float), np.asarray(B, dtype=float)
    N, runs = variances.size, len(seeds)
    if students.shape[-1] != N or teachers.shape[-1] != N or runs == 0:
        raise ValueError(
            f"J and B must end in the {N} axes of lam, with at least one seed; got shapes "
            f"{students.shape}, {teachers.shape} and {runs} seeds"
        )
    if not np.isfinite(variances).all() or (variances < 0).any():
        raise ValueError("lam must be finite and non-negative")
    K, M = students.shape[-2], teachers.shape[-2]
    W = np.concatenate(
        [np.broadcast_to(students, (runs, K, N)), np.broadcast_to(teachers, (runs, M, N))], axis=1
    )
    marks, w = _records(steps, record), _outputs(K, M, cs, ct)
    rows = np.empty((0, N)) if inputs is None else np.ascontiguousarray(inputs, dtype=float)
    if rows.shape[1:] != (N,):
        raise ValueError(f"inputs must have {N} columns, got shape {rows.shape}")
    if backend == "numpy":
        covariance = np.empty((runs, marks.size, K + M, K + M))
        for run, seed in enumerate(seeds):
            rng, code = np.random.default_rng(seed), ACTIVATIONS[act]
            _descend(
                rng, W[run], K, variances, rows, w, _rate(eta), sqrt(sigma2), marks, code,
                covariance[run],
            )  # fmt: skip
    elif backend == "torch" and inputs is None:
        covariance = _descend_in_lockstep(
            W, K, variances, w, _rate(eta), sqrt(sigma2), marks, act, seeds, device, dtype
        )
    else:
        raise ValueError(f"backend must be 'numpy', or 'torch' without inputs; got {backend!r}")
    return Runs(marks, marks / N, _errors(covariance, w, act), covariance)


def _descend_in_lockstep(
    W: np.ndarray, K: int, lam: np.ndarray, w: np.ndarray, eta: float, sigma: float,
    marks: np.ndarray, act: str, seeds: Seeds, device: str, dtype: Any,
) -> np.ndarray:  # fmt: skip
    """All runs step by step with PyTorch; samples are drawn on the device."""
    import torch

    kind = torch.float64 if dtype is None else dtype
    state = np.random.SeedSequence(
        [int(np.random.default_rng(seed).integers(2**32)) for seed in seeds]
    ).generate_state(1, np.uint64)
    generator = torch.Generator(device=device).manual_seed(int(state[0]) >> 1)
    weights = torch.as_tensor(W, dtype=kind, device=device)
    deviations = torch.as_tensor(np.sqrt(lam), dtype=kind, device=device)
    outputs = torch.as_tensor(w, dtype=kind, device=device)
    recorded, (runs, _, N) = [], W.shape
    unit, slope = {
        "erf": (
            lambda x: torch.erf(x / sqrt(2)),
            lambda x: sqrt(2 / np.pi) * torch.exp(-x * x / 2),
        ),
        "relu": (torch.relu, lambda x: (x > 0).to(kind)),
        "linear": (lambda x: x, torch.ones_like),
    }[act]
    for step in range(int(marks[-1]) + 1):
        if step in marks:
            exact = weights.double() * deviations.double()
            recorded.append((exact @ exact.mT / N).cpu().numpy())
        shape = (runs, N + 1)
        draws = torch.randn(shape, generator=generator, dtype=kind, device=device)
        xi = draws[:, :N] * deviations
        fields = torch.einsum("sad,sd->sa", weights, xi) / sqrt(N)
        delta = unit(fields) @ outputs + sigma * draws[:, N]
        pulls = -eta * outputs[:K] * delta[:, None] * slope(fields[:, :K]) / sqrt(N)
        weights[:, :K] += pulls[:, :, None] * xi[:, None, :]
    return np.stack(recorded, axis=1)


# --- the order parameters alone ----------


@njit(cache=True)
def _cholesky(G, out):
    """Lower factor of a semidefinite matrix; a row without a remainder of its own ends at 0."""
    for i in range(len(G)):
        for j in range(i + 1):
            total = G[i, j]
            for q in range(j):
                total -= out[i, q] * out[j, q]
            if i == j:
                out[i, i] = np.sqrt(max(total, 0.0))
            else:
                out[i, j] = total / out[j, j] if out[j, j] > 1e-150 else 0.0


@njit(cache=True)
def _reduced(rng, grams, K, mult, lam, w, eta, sigma, marks, activation, C):
    L, P = len(lam), len(w)
    N = np.sum(mult)
    u, squares, factor = np.empty((L, P)), np.empty(L), np.zeros((P, P))
    fields, pulls, z = np.empty(P), np.empty(K), np.empty(P)
    place = 0
    for step in range(marks[-1] + 1):
        if step == marks[place]:
            C[place] = 0.0
            for k in range(L):
                C[place] += lam[k] / N * grams[k]
            place += 1
            if place == len(marks):
                return
        fields[:] = 0.0
        for k in range(L):
            _cholesky(grams[k], factor)
            squares[k] = rng.chisquare(mult[k] - P) if mult[k] > P else 0.0
            for a in range(P):
                z[a] = rng.standard_normal()
                squares[k] += z[a] * z[a]
            squares[k] *= lam[k] / N
            for a in range(P):
                total = 0.0
                for q in range(a + 1):
                    total += factor[a, q] * z[q]
                u[k, a] = np.sqrt(lam[k] / N) * total
                fields[a] += u[k, a]
        noise = sigma * rng.standard_normal() if sigma > 0 else 0.0
        _pulls(fields, w, eta, activation, noise, pulls)
        for k in range(L):
            for i in range(K):
                for b in range(P):
                    other = pulls[b] if b < K else 0.0
                    change = pulls[i] * u[k, b]
                    if b < K:
                        change += other * u[k, i] + pulls[i] * other * squares[k]
                    grams[k, i, b] += change
                    if b >= K:
                        grams[k, b, i] = grams[k, i, b]


def simulate_exact_reduced(
    grams: ArrayLike,
    mult: ArrayLike,
    lam: ArrayLike,
    eta: float,
    steps: int,
    record: ArrayLike,
    seeds: Seeds = (0,),
    *,
    K: int | None = None,
    act: str = "erf",
    cs: Any = None,
    ct: Any = None,
    sigma2: float = 0.0,
) -> Runs:
    r"""The order parameters of one-pass descent, with their exact law at any N.

    Within a block, the projections of an input on the weights are Gaussian given their Gram
    matrix, and the rest of its squared length is a chi-square variable. A step costs
    :math:`O(L(K+M)^3)`, whatever N.

    Parameters
    ----------
    grams : array, shape (L, P, P)
        Products :math:`W P_k W^\top` of all weights, students first; not divided by N.
    mult : array of int, shape (L,)
        Number of directions of each block.
    lam : array, shape (L,)
    eta, steps, record, act, seeds, cs, ct, sigma2
        As for ``simulate_sgd``.
    K : int, optional
        Number of students; half of the P units if left out.

    Returns
    -------
    Runs

    Raises
    ------
    ValueError
        If a block has fewer directions than units (its projections are then no free Gaussian
        vector), a Gram matrix is not positive semidefinite, or shapes do not fit.
    """
    start, counts = np.asarray(grams, dtype=float), np.asarray(mult, dtype=float)
    variances = np.asarray(lam, dtype=float)
    if start.ndim != 3 or start.shape[1] != start.shape[2]:
        raise ValueError(f"grams must have shape (L, P, P), got {start.shape}")
    L, P = start.shape[:2]
    if counts.shape != (L,) or variances.shape != (L,):
        raise ValueError(f"mult and lam must have {L} entries")
    if (counts < P).any():
        raise ValueError(f"every block needs at least {P} directions, got {int(counts.min())}")
    if np.linalg.eigvalsh(start)[:, 0].min() < -1e-10 * np.abs(start).max():
        raise ValueError("grams must be positive semidefinite in every block")
    students = P // 2 if K is None else K
    marks, w = _records(steps, record), _outputs(students, P - students, cs, ct)
    covariance = np.empty((len(seeds), marks.size, P, P))
    for run, seed in enumerate(seeds):
        rng = np.random.default_rng(seed)
        _reduced(
            rng, start.copy(), students, counts, variances, w, _rate(eta), sqrt(sigma2), marks,
            activation_code(act), covariance[run],
        )  # fmt: skip
    return Runs(marks, marks / counts.sum(), _errors(covariance, w, act), covariance)
