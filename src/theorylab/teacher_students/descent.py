"""Gradient descent on the population loss, many starts at once.

``descend`` is compiled and walks the starts one after the other; ``descend_on`` steps them all
together as tensors, for an accelerator. Both record the students at chosen steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from theorylab.gaussian import activation_code, fill_kernels
from theorylab.teacher_students.theory import signed_weights, vectors

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Course:
    """Students on their way.

    Attributes
    ----------
    steps : array of int, shape (records,)
    W : array, shape (starts, records, m, d)
        Students at these steps.
    V : array, shape (k, d)
        Teachers.
    eta : float
        Step size.
    """

    steps: NDArray[np.int64]
    W: Floats
    V: Floats
    eta: float

    @property
    def time(self) -> Floats:
        """Step size times steps, shape (records,)."""
        return self.eta * self.steps.astype(float)


def record_steps(last: int, count: int) -> NDArray[np.int64]:
    """About ``count`` steps, evenly spaced on a logarithmic axis, with 0 and the last one."""
    if last < 1 or count < 2:
        raise ValueError(f"need last >= 1 and count >= 2, got {last} and {count}")
    return np.unique(np.r_[0, np.geomspace(1, last, count).round().astype(np.int64)])


def orthonormal_teachers(k: int, d: int) -> Floats:
    """The first k unit vectors, shape (k, d)."""
    if not 1 <= k <= d:
        raise ValueError(f"need 1 <= k <= d orthonormal teachers, got k={k}, d={d}")
    return np.eye(k, d)


def draw_starts(
    rng: np.random.Generator, V: ArrayLike, m: int, starts: int, size: float, alignment: float = 0.0
) -> Floats:
    """Small random students.

    Parameters
    ----------
    rng : Generator
    V : array, shape (k, d)
        Teachers.
    m : int
        Students of each start.
    starts : int
    size : float
        Root mean square norm of the random part.
    alignment : float
        Student i gets this multiple of ``size`` along teacher i modulo k: 0 is a fully random
        start, 2 a start on its teacher's side (weak recovery).

    Returns
    -------
    array, shape (starts, m, d)
    """
    teachers = vectors(V, "V")
    if m < 1 or starts < 1:
        raise ValueError(f"need m >= 1 and starts >= 1, got {m} and {starts}")
    if not size > 0:
        raise ValueError(f"size must be positive, got {size}: ReLU has no gradient at zero")
    k, d = teachers.shape
    units = teachers / np.linalg.norm(teachers, axis=1, keepdims=True)
    random = rng.standard_normal((starts, m, d)) / np.sqrt(d)
    return size * (random + alignment * units[np.arange(m) % k])


@njit(cache=True)
def _gram(Z, C):
    for a in range(len(Z)):
        for b in range(a + 1):
            total = 0.0
            for q in range(Z.shape[1]):
                total += Z[a, q] * Z[b, q]
            C[a, b] = C[b, a] = total


@njit(cache=True)
def _slope(Z, weights, G, H, i, out):
    """Gradient of the loss in neuron i; loops, because temporary arrays would cost the most."""
    own = 0.0
    out[:] = 0.0
    for a in range(len(Z)):
        own += weights[a] * H[i, a]
        for q in range(Z.shape[1]):
            out[q] += weights[a] * G[i, a] * Z[a, q]
    for q in range(Z.shape[1]):
        out[q] = weights[i] * (out[q] + own * Z[i, q])


@njit(cache=True)
def _walk(Z, m, weights, eta, record, activation, found):
    """Move the first m rows of Z downhill, writing them to ``found`` at the recorded steps."""
    size, d = Z.shape
    C, I2 = np.empty((size, size)), np.empty((size, size))
    G, H = np.empty((size, size)), np.empty((size, size))
    slopes = np.empty((m, d))
    place = 0
    for step in range(record[-1] + 1):
        if step == record[place]:
            found[place] = Z[:m]
            place += 1
        if place == len(record):
            return
        _gram(Z, C)
        fill_kernels(C, activation, I2, G, H)
        for i in range(m):
            _slope(Z, weights, G, H, i, slopes[i])
        Z[:m] -= eta * slopes


def _checked(
    W0: ArrayLike, V: ArrayLike, eta: float, record: Sequence[int] | NDArray[np.int64]
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    starts, teachers = vectors(W0, "W0"), vectors(V, "V")
    if starts.ndim != 3 or teachers.ndim != 2 or starts.shape[-1] != teachers.shape[-1]:
        raise ValueError(
            f"need W0 of shape (starts, m, d) and V of shape (k, d), got {starts.shape} and "
            f"{teachers.shape}"
        )
    if not (np.isfinite(eta) and eta > 0):
        raise ValueError(f"eta must be finite and positive, got {eta}")
    steps = np.asarray(record, dtype=np.int64)
    if steps.ndim != 1 or steps.size == 0 or steps[0] < 0 or (np.diff(steps) <= 0).any():
        raise ValueError("record must hold ascending steps, none negative; see record_steps")
    return starts, teachers, steps


def descend(
    W0: ArrayLike,
    V: ArrayLike,
    eta: float,
    record: Sequence[int] | NDArray[np.int64],
    act: str = "relu",
    cs: ArrayLike | None = None,
    ct: ArrayLike | None = None,
) -> Course:
    """Gradient descent on the population loss from every start.

    Parameters
    ----------
    W0 : array, shape (starts, m, d)
    V : array, shape (k, d)
    eta : float
        Step size.
    record : sequence of int
        Ascending steps at which the students are kept; the last one ends the descent.
    act : {"relu", "erf", "linear"}
    cs, ct : array, shape (m,) and (k,), optional
        Output weights, fixed; ones if omitted.

    Returns
    -------
    Course

    Raises
    ------
    ValueError
        If shapes do not fit, an entry is not finite, a ReLU student starts at zero, the step is
        not positive, or ``record`` does not ascend.
    """
    starts, teachers, steps = _checked(W0, V, eta, record)
    code, m = activation_code(act), starts.shape[1]
    if act == "relu" and (np.linalg.norm(starts, axis=-1) == 0).any():
        raise ValueError("a ReLU student starts at zero, where it has no gradient; see draw_starts")
    weights = signed_weights(m, len(teachers), cs, ct)
    found = np.empty((len(starts), len(steps), *starts.shape[1:]))
    for start, course in zip(starts, found, strict=True):
        _walk(np.concatenate([start, teachers]), m, weights, float(eta), steps, code, course)
    return Course(steps, found, teachers, float(eta))


def descend_on(
    W0: ArrayLike,
    V: ArrayLike,
    eta: float,
    record: Sequence[int] | NDArray[np.int64],
    device: str = "cpu",
) -> Course:
    """``descend`` for ReLU and unit weights, all starts in step, in double precision on a device.

    Worth its overhead for many starts at once: every step is a handful of operations on tensors
    of shape (starts, m, m + k).
    """
    import torch

    starts, teachers, steps = _checked(W0, V, eta, record)
    W = torch.as_tensor(starts, dtype=torch.float64).to(device)
    fixed = torch.as_tensor(teachers, dtype=torch.float64).to(device)
    fixed = fixed.expand(len(W), *fixed.shape)
    found = []
    for step in range(int(steps[-1]) + 1):
        if step == steps[len(found)]:
            found.append(W.cpu().numpy().copy())
        if len(found) < len(steps):
            W = W - eta * _relu_slopes(W, fixed)
    return Course(steps, np.stack(found, axis=1), teachers, float(eta))


def _relu_slopes(W: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Gradients of all starts, shape (starts, m, d)."""
    import torch

    m = W.shape[1]
    Z = torch.cat([W, V], dim=1)
    norms = Z.norm(dim=-1, keepdim=True)
    units = Z / norms
    gaps = (units[:, :m, None] - units[:, None]).norm(dim=-1)
    sums = (units[:, :m, None] + units[:, None]).norm(dim=-1)
    theta = 2 * torch.atan2(gaps, sums)
    signs = torch.ones(Z.shape[1], dtype=Z.dtype, device=Z.device)
    signs[m:] = -1
    along_itself = (theta.sin() * (signs * norms[..., 0])[:, None, :]).sum(-1, keepdim=True)
    return (((pi - theta) * signs) @ Z + along_itself * units[:, :m]) / (2 * pi)
