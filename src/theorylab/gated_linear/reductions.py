r"""Width-free reductions: loss curves of gated networks without a network, and without a fit.

A wide pathway with small random weights behaves as a balanced one whose singular vectors are those
of its own correlation. What remains is a handful of numbers per mode; they do not depend on the
width, nor on the number of modes that share a singular value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from theorylab.gated_linear.tasks import Data, Task, hierarchy
from theorylab.gated_linear.theory import hierarchy_modes, subset_size

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
EVEN_SPLIT = "even-split"


@dataclass(frozen=True)
class Reduction:
    """A system of ordinary differential equations with its start and its loss.

    Attributes
    ----------
    start : array, shape (n,)
    field : callable
        Time derivative of the state.
    loss : callable
        Loss of a state.
    smallest : float
        Smallest strength at the start; sets the absolute tolerance.
    """

    start: Floats
    field: Callable[[Floats], Floats]
    loss: Callable[[Floats], float]
    smallest: float

    def states(self, times: ArrayLike) -> Floats:
        """States of gradient flow at the given times, shape (times, n); adaptive, DOP853."""
        moments = _increasing(times)
        if moments[-1] == 0:
            return np.repeat(self.start[None], len(moments), axis=0)
        found = solve_ivp(
            lambda _, state: self.field(state),
            (0.0, float(moments[-1])),
            self.start,
            "DOP853",
            moments,
            rtol=1e-7,
            atol=1e-6 * self.smallest,
        )
        return found.y.T

    def flow(self, times: ArrayLike) -> Floats:
        """Loss of gradient flow at the given times."""
        return np.array([self.loss(state) for state in self.states(times)])

    def descent(self, lr: float, steps: int, every: int = 1) -> Floats:
        """Loss of gradient descent with steps of finite size, at steps 0, every, 2 every, ..."""
        if not lr > 0 or steps < 0 or every < 1:
            raise ValueError(
                f"need lr > 0, steps >= 0 and every >= 1, got {lr}, {steps} and {every}"
            )
        state = self.start.copy()
        losses = [self.loss(state)]
        for step in range(1, steps + 1):
            state = state + lr * self.field(state)
            if step % every == 0:
                losses.append(self.loss(state))
        if not np.isfinite(losses[-1]) or losses[-1] > 10 * losses[0]:
            raise ValueError(
                f"descent with rate {lr} diverged within {steps} steps; lower the rate"
            )
        return np.array(losses)


def _increasing(times: ArrayLike) -> Floats:
    moments = np.atleast_1d(np.asarray(times, dtype=float))
    if moments.size == 0 or not np.isfinite(moments).all() or (moments < 0).any():
        raise ValueError("times must be finite, non-negative and at least one")
    if (np.diff(moments) < 0).any():
        raise ValueError("times must be in increasing order")
    return moments


def _start(value: float, name: str) -> float:
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return float(value)


# --- any data ---------------------------------------------------------------------------------


class Start(Protocol):
    """What a reduction needs to know of a pathway: masks, and the strength that it starts from."""

    @property
    def input_mask(self) -> Bools:
        """Inputs that it sees."""
        ...

    @property
    def sample_mask(self) -> Bools:
        """Samples on which it is on."""
        ...

    @property
    def A0(self) -> float:
        """Strength of every mode at the start."""
        ...


@dataclass(frozen=True, eq=False)
class Aligned:
    """A pathway at its balanced aligned start.

    Parameters
    ----------
    input_mask : array of bool, shape (d,)
        Inputs that it sees.
    sample_mask : array of bool, shape (N,)
        Samples on which it is on.
    A0 : float
        Strength of every mode at the start.
    """

    input_mask: Bools
    sample_mask: Bools
    A0: float


def aligned_factors(pathway: Start, X: Floats, Y: Floats) -> tuple[Floats, Floats]:
    r"""Weights :math:`\sqrt{A_0}V^\top` and :math:`\sqrt{A_0}U` for the SVD of its correlation."""
    A0 = _start(pathway.A0, "A0")
    U, s, V = np.linalg.svd(
        (Y * pathway.sample_mask) @ (X * pathway.sample_mask).T * pathway.input_mask,
        full_matrices=False,
    )
    rank = int((s > 1e-10 * max(s[0], 1e-300)).sum())
    return np.sqrt(A0) * V[:rank], np.sqrt(A0) * U[:, :rank]


def general_reduction(task: Data, pathways: Sequence[Start]) -> Reduction:
    """Joint descent of pathways of minimal width on any data.

    Parameters
    ----------
    task : Data
    pathways : sequence of Start
        Pathways with their masks and starts.

    Returns
    -------
    Reduction
        Exact for the balanced aligned start; nothing is assumed of the data.
    """
    return _of_data(task.X, task.Y, pathways)


def reduced_general(task: Data, pathways: Sequence[Start], times: ArrayLike) -> Floats:
    """Loss of gradient flow of pathways of minimal width on any data, at the given times."""
    return general_reduction(task, pathways).flow(times)


def _of_data(X: Floats, Y: Floats, pathways: Sequence[Start]) -> Reduction:
    if not pathways:
        raise ValueError("a reduction needs at least one pathway, got none")
    for pathway in pathways:
        _check_masks(pathway, X)
    pairs = [aligned_factors(pathway, X, Y) for pathway in pathways]
    W1, W2 = np.vstack([a for a, _ in pairs]), np.hstack([b for _, b in pairs])
    ranks = [len(a) for a, _ in pairs]
    gates = np.repeat([np.asarray(p.sample_mask, float) for p in pathways], ranks, axis=0)
    masks = np.repeat([np.asarray(p.input_mask, float) for p in pathways], ranks, axis=0)
    cut = W1.size

    def split(state: Floats) -> tuple[Floats, Floats]:
        return state[:cut].reshape(W1.shape), state[cut:].reshape(W2.shape)

    def field(state: Floats) -> Floats:
        w1, w2 = split(state)
        hidden = (w1 @ X) * gates
        error = Y - w2 @ hidden
        first = ((w2.T @ error) * gates) @ X.T * masks
        return np.concatenate([first.ravel(), (error @ hidden.T).ravel()])

    def loss(state: Floats) -> float:
        w1, w2 = split(state)
        return 0.5 * float(((Y - w2 @ ((w1 @ X) * gates)) ** 2).sum())

    smallest = np.sqrt(min(p.A0 for p in pathways))
    return Reduction(np.concatenate([W1.ravel(), W2.ravel()]), field, loss, float(smallest))


def _check_masks(pathway: Start, X: Floats) -> None:
    for mask, length, name in (
        (pathway.input_mask, X.shape[0], "input_mask"),
        (pathway.sample_mask, X.shape[1], "sample_mask"),
    ):
        if np.shape(mask) != (length,) or not np.any(mask):
            raise ValueError(f"{name} must have length {length} and be on somewhere")


def family(
    task: Task, k: int | Iterable[int], A0_common: float, A0_context: float | str = EVEN_SPLIT
) -> list[Aligned]:
    """The common pathway and all k-subset pathways of a task, at their aligned starts.

    Parameters
    ----------
    task : Task
    k : int or iterable of int
        Contexts that share a pathway; several values for several families at once, none for the
        common pathway alone.
    A0_common : float
    A0_context : float or "even-split"
        Start of each context pathway; ``"even-split"`` shares the common one's start out among
        them.
    """
    sizes = _families(task.C, k)
    share = _context_start(task.C, sizes, A0_common, A0_context)
    everywhere = np.ones(task.samples, dtype=bool)
    made = [Aligned(np.ones(len(task.X), dtype=bool), everywhere, A0_common)]
    return made + [
        Aligned(task.object_inputs(), task.sample_mask(chosen), share)
        for size in sizes
        for chosen in combinations(range(task.C), size)
    ]


def _families(contexts: int, k: int | Iterable[int]) -> tuple[int, ...]:
    sizes = (k,) if isinstance(k, (int, np.integer)) else tuple(k)
    return tuple(subset_size(contexts, size) for size in sizes)


def _context_start(
    contexts: int, sizes: Sequence[int], A0_common: float, A0_context: float | str
) -> float:
    _start(A0_common, "A0_common")
    if isinstance(A0_context, str):
        if A0_context != EVEN_SPLIT:
            raise ValueError(f"A0_context must be a number or {EVEN_SPLIT!r}, got {A0_context!r}")
        return A0_common / max(sum(comb(contexts, size) for size in sizes), 1)
    return _start(A0_context, "A0_context")


# --- identical blocks -------------------------------------------------------------------------


def object_mode(
    contexts: int, sizes: Sequence[int], h: Floats, A0_common: float, A0_context: float
) -> Reduction:
    r"""Exact scalar reduction of object modes under joint descent, for identical blocks.

    State, for each singular value in ``h``: w, a₀, a₁ of the common pathway (input, common block,
    own-context block), then w, p, q, r of a pathway of each size in ``sizes`` (input, common block,
    own-context blocks of its contexts, other blocks). With :math:`n_1=\binom{C-1}{k-1}`,
    :math:`n_2=\binom{C-2}{k-2}`,

    .. math:: e_c = h-wa_0-\sum n_1w_kp, \quad e_s = h-wa_1-\sum n_1w_kq, \quad
        e_d = -wa_1-\sum w_k(n_2q+(n_1-n_2)r),

    the loss is :math:`\tfrac12C(e_c^2+e_s^2+(C-1)e_d^2)`.

    Returns
    -------
    Reduction
        Its loss is an array, one entry per singular value.
    """
    C, modes = contexts, len(h)
    n1 = np.array([comb(C - 1, k - 1) for k in sizes], dtype=float)
    n2 = np.array([comb(C - 2, k - 2) if k >= 2 else 0 for k in sizes], dtype=float)
    ks = np.array(sizes, dtype=float)
    shape = (3 + 4 * len(sizes), modes)

    def errors(state: Floats) -> tuple[Floats, Floats, Floats]:
        w, a0, a1 = state[:3]
        wk, p, q, r = state[3:].reshape(len(sizes), 4, modes).transpose(1, 0, 2)
        e_c = h - w * a0 - n1 @ (wk * p)
        e_s = h - w * a1 - n1 @ (wk * q)
        e_d = -w * a1 - n2 @ (wk * q) - (n1 - n2) @ (wk * r)
        return e_c, e_s, e_d

    def field(flat: Floats) -> Floats:
        state = flat.reshape(shape)
        w, a0, a1 = state[:3]
        wk, p, q, r = state[3:].reshape(len(sizes), 4, modes).transpose(1, 0, 2)
        e_c, e_s, e_d = errors(state)
        b, g = e_s + (C - 1) * e_d, e_s + (ks[:, None] - 1) * e_d
        common = np.array([C * (a0 * e_c + a1 * b), C * w * e_c, w * b])
        k = ks[:, None]
        context = np.array(
            [k * (p * e_c + q * g + (C - k) * r * e_d), k * wk * e_c, wk * g, k * wk * e_d]
        )
        return np.concatenate([common.ravel(), context.transpose(1, 0, 2).ravel()])

    def loss(flat: Floats) -> Floats:
        e_c, e_s, e_d = errors(flat.reshape(shape))
        return 0.5 * C * (e_c**2 + e_s**2 + (C - 1) * e_d**2)

    root, root_x = np.sqrt(A0_common), np.sqrt(A0_context)
    start = [root, root * C / np.sqrt(C * C + C), root / np.sqrt(C * C + C)]
    for k in sizes:
        start += [root_x, root_x * k / np.sqrt(k * k + k), root_x / np.sqrt(k * k + k), 0.0]
    flat = np.repeat(np.array(start)[:, None], modes, axis=1).ravel()
    return Reduction(flat, field, loss, min(root, root_x))  # type: ignore[arg-type]


def _mean_samples(
    task: Task, sizes: Sequence[int], A0_common: float, A0_context: float
) -> Reduction:
    r"""Mode 0: the same gated network on one mean sample per context.

    :math:`x_c=[1;\alpha\sqrt Pe_c]`, :math:`y_c=h_0[1;e_c]`; context pathways see the first input.
    """
    C = task.C
    h0 = np.sqrt(hierarchy_modes(task.P)[0].square)
    X = np.vstack([np.ones(C), float(task.alpha) * np.sqrt(task.P) * np.eye(C)])
    Y = h0 * np.vstack([np.ones(C), np.eye(C)])
    first = np.arange(C + 1) == 0
    pathways = [Aligned(np.ones(C + 1, dtype=bool), np.ones(C, dtype=bool), A0_common)]
    pathways += [
        Aligned(first, np.isin(np.arange(C), chosen), A0_context)
        for size in sizes
        for chosen in combinations(range(C), size)
    ]
    return _of_data(X, Y, pathways)


@dataclass(frozen=True)
class ModeReductions:
    """The reductions of a task of identical hierarchical blocks: mode 0, and all object modes.

    Attributes
    ----------
    mean : Reduction
        Mode 0.
    modes : Reduction
        One object mode per distinct singular value.
    multiplicities : array
    """

    mean: Reduction
    modes: Reduction
    multiplicities: Floats

    def flow(self, times: ArrayLike) -> Floats:
        """Total loss of gradient flow."""
        objects = np.array([self.modes.loss(s) for s in self.modes.states(times)])
        return self.mean.flow(times) + objects @ self.multiplicities

    def mode_losses(self, times: ArrayLike) -> Floats:
        """Loss in one object mode of each level, shape (times, levels)."""
        return np.array([self.modes.loss(state) for state in self.modes.states(times)])

    def descent(self, lr: float, steps: int, every: int = 1) -> Floats:
        """Total loss of gradient descent at steps 0, every, 2 every, ..."""
        total = Reduction(
            self.modes.start,
            self.modes.field,
            lambda state: float(self.modes.loss(state) @ self.multiplicities),
            self.modes.smallest,
        )
        return self.mean.descent(lr, steps, every) + total.descent(lr, steps, every)


def mode_reductions(
    task: Task,
    k: int | Iterable[int],
    A0_common: float,
    A0_context: float | str = EVEN_SPLIT,
) -> ModeReductions:
    """Reductions of a task whose blocks are all the hierarchy.

    Raises
    ------
    ValueError
        If the blocks differ (use ``general_reduction``), k lies outside 1..C-1, or a start is not
        positive.
    """
    if not task.identical_blocks or not np.array_equal(
        np.asarray(task.common, dtype=float), hierarchy(task.P)
    ):
        raise ValueError("the blocks must all be the hierarchy; use general_reduction for others")
    sizes = _families(task.C, k)
    share = _context_start(task.C, sizes, A0_common, A0_context)
    levels = hierarchy_modes(task.P)[1:]
    h = np.sqrt([float(level.square) for level in levels])
    return ModeReductions(
        _mean_samples(task, sizes, A0_common, share),
        object_mode(task.C, sizes, h, A0_common, share),
        np.array([float(level.multiplicity) for level in levels]),
    )


def reduced_curve(
    task: Task,
    k: int | Iterable[int],
    A0_common: float,
    A0_context: float | str = EVEN_SPLIT,
    times: ArrayLike = (0.0,),
) -> Floats:
    """Loss of the imitating network under gradient flow, at the given times.

    The scalar reduction for identical hierarchical blocks, the general one for all other tasks; no
    number is fitted.

    Parameters
    ----------
    task : Task
    k : int or iterable of int
        Contexts that share a pathway.
    A0_common : float
        Start of the common pathway: ``effective_start``.
    A0_context : float or "even-split"
    times : array
        Learning rate times steps, in increasing order.
    """
    return _reduction(task, k, A0_common, A0_context).flow(times)


def reduced_descent(
    task: Task,
    k: int | Iterable[int],
    A0_common: float,
    A0_context: float | str,
    lr: float,
    steps: int,
    every: int = 1,
) -> Floats:
    """The same curve under descent with a finite learning rate, at steps 0, every, 2 every, ..."""
    return _reduction(task, k, A0_common, A0_context).descent(lr, steps, every)


def _reduction(
    task: Task, k: int | Iterable[int], A0_common: float, A0_context: float | str
) -> ModeReductions | Reduction:
    same = task.identical_blocks and np.array_equal(
        np.asarray(task.common, dtype=float), _tree_or_nothing(task.P)
    )
    if same:
        return mode_reductions(task, k, A0_common, A0_context)
    return general_reduction(task, family(task, k, A0_common, A0_context))


def _tree_or_nothing(objects: int) -> Floats:
    return np.zeros(0) if objects & (objects - 1) else np.asarray(hierarchy(objects), float)
