r"""Tasks: the same objects in different contexts, as exact matrices.

Columns are samples (object, context), context after context. An input is
:math:`x=[e_o;\,\alpha e_c]`; a target stacks one block that every context shares and C blocks of
which only the current context's is not zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.exact.rationals import rational

Floats = NDArray[np.float64]
Exact = NDArray[np.object_]
RING = ("0", "33/100", "66/100", "1", "1", "66/100", "33/100", "0")


@dataclass(frozen=True, eq=False)
class Data:
    """Inputs, shape (d, N), and targets, shape (q, N); columns are samples."""

    X: Floats
    Y: Floats

    @property
    def samples(self) -> int:
        """N."""
        return self.X.shape[1]

    @property
    def initial_loss(self) -> float:
        """Loss of the network that answers 0."""
        return 0.5 * float((self.Y**2).sum())


@dataclass(frozen=True, eq=False)
class Task(Data):
    """Inputs, targets and what they are made of.

    Attributes
    ----------
    X : array, shape (d, N)
        Inputs, one column per sample.
    Y : array, shape (q, N)
        Targets.
    C, P : int
        Contexts and objects; N = P C.
    blocks : tuple of array
        Target block of each context, shape (rows, P).
    common : array
        Target block that all contexts share.
    alpha : Fraction or float
        Strength of the context input.
    """

    C: int
    P: int
    blocks: tuple[NDArray[Any], ...]
    common: NDArray[Any]
    alpha: Fraction | float

    @property
    def identical_blocks(self) -> bool:
        """Whether every context has the common block."""
        return all(
            block.shape == self.common.shape and bool((block == self.common).all())
            for block in self.blocks
        )

    @property
    def exact_X(self) -> Exact:
        """Inputs as fractions; ``TypeError`` if the context strength was given as a float."""
        alpha = rational(self.alpha, "alpha")
        return _inputs(self.P, self.C, alpha)

    @property
    def exact_Y(self) -> Exact:
        """Targets as fractions; ``TypeError`` if a block was given in floats."""
        return _targets(exact_array(self.common, "common"), [exact_array(b) for b in self.blocks])

    def in_own_outputs(self) -> Task:
        """The task with its targets in an orthonormal basis of the space that they span.

        Losses and the norms of weights are the same for every network whose outgoing weights lie in
        that space. What a random start has outside of it is never driven and only decays, so
        training in fewer outputs is the same but for terms of the order of the start squared.
        """
        _, strengths, samples = np.linalg.svd(self.Y, full_matrices=False)
        rank = int((strengths > 1e-10 * strengths[0]).sum())
        return replace(self, Y=strengths[:rank, None] * samples[:rank])

    def contexts_of_samples(self) -> NDArray[np.int64]:
        """Context of each sample."""
        return np.repeat(np.arange(self.C), self.P)

    def sample_mask(self, contexts: Sequence[int]) -> NDArray[np.bool_]:
        """Which samples lie in one of these contexts."""
        wrong = [c for c in contexts if not 0 <= c < self.C]
        if wrong:
            raise ValueError(f"contexts are numbered 0..{self.C - 1}, got {wrong}")
        return np.isin(self.contexts_of_samples(), list(contexts))

    def object_inputs(self) -> NDArray[np.bool_]:
        """Which inputs name the object (the others name the context)."""
        return np.arange(self.P + self.C) < self.P


def exact_array(values: NDArray[Any] | Sequence[Any], name: str = "block") -> Exact:
    """Entries as fractions; floats are refused."""
    table = np.asarray(values)
    if table.ndim != 2:
        raise ValueError(f"{name} must be a matrix, got shape {table.shape}")
    if table.dtype.kind == "f":
        raise TypeError(f"{name} holds floats; give integers, Fractions or strings 'p/q'")
    exact = np.empty(table.shape, dtype=object)
    for place, entry in np.ndenumerate(table):
        exact[place] = rational(entry.item() if isinstance(entry, np.generic) else entry, name)
    return exact


def hierarchy(P: int) -> NDArray[np.int64]:
    """One row per node of the balanced binary tree with P leaves, shape (2P - 1, P), 0/1.

    Rows run from the root to the leaves.

    Raises
    ------
    ValueError
        If P is not a power of two.
    """
    if isinstance(P, bool) or not isinstance(P, (int, np.integer)) or P < 1 or P & (P - 1):
        raise ValueError(f"P must be a power of two, got {P!r}")
    rows = []
    size = int(P)
    while size >= 1:
        rows += [np.repeat(np.arange(P // size) == node, size) for node in range(P // size)]
        size //= 2
    return np.array(rows, dtype=np.int64)


def ring(P: int = 8) -> Exact:
    """Rows that shift cyclically over eight objects, shape (15, 8), as fractions.

    The block of the paper's second context: a constant row, then 8 + 6 rows, each shifted to the
    left by one more.
    """
    _only_eight(P, "ring")
    bump = np.array([Fraction(entry) for entry in RING], dtype=object)
    ones = np.array([Fraction(1)] * 8, dtype=object)
    return np.array([ones, *(np.roll(bump, -shift % 8) for shift in range(14))], dtype=object)


def cross(P: int = 8) -> NDArray[np.int64]:
    """The hierarchy with its pairs regrouped as {0,2}, {1,3}, {4,6}, {5,7}, shape (15, 8)."""
    _only_eight(P, "cross")
    table = hierarchy(8)
    for row, pair in zip(range(3, 7), ((0, 2), (1, 3), (4, 6), (5, 7)), strict=True):
        table[row] = np.isin(np.arange(8), pair)
    return table


def _only_eight(P: int, name: str) -> None:
    if P != 8:
        raise ValueError(f"the paper defines {name} for P = 8 only, got {P!r}")


def _strength(alpha: Any) -> Fraction | float:
    if isinstance(alpha, str):
        alpha = rational(alpha, "alpha")
    if isinstance(alpha, (float, np.floating)):
        alpha = float(alpha)
        if alpha.is_integer():
            alpha = Fraction(int(alpha))
    elif not isinstance(alpha, float):
        alpha = rational(alpha, "alpha")
    if not math.isfinite(alpha) or alpha <= 0:
        raise ValueError(f"alpha must be positive and finite, got {alpha}")
    return alpha


def _inputs(P: int, C: int, alpha: Fraction | float) -> Exact:
    X = np.full((P + C, P * C), Fraction(0), dtype=object)
    for c in range(C):
        for o in range(P):
            X[o, c * P + o] = Fraction(1)
            X[P + c, c * P + o] = alpha
    return X


def _targets(common: NDArray[Any], blocks: Sequence[NDArray[Any]]) -> NDArray[Any]:
    P = common.shape[1]
    rows = [np.hstack([common] * len(blocks))]
    for c, block in enumerate(blocks):
        zero = np.zeros((block.shape[0], P), dtype=np.int64)
        rows.append(np.hstack([block if c == place else zero for place in range(len(blocks))]))
    return np.vstack(rows)


def _block(values: Any, name: str) -> NDArray[Any]:
    table = np.asarray(values)
    if table.ndim != 2:
        raise ValueError(f"{name} must be a matrix, got shape {table.shape}")
    if not np.isfinite(table.astype(float)).all():
        raise ValueError(f"{name} holds NaN or infinite entries; drop those rows")
    return table


def context_task(
    blocks: Sequence[Any], common: Any | None = None, alpha: Any = Fraction(1)
) -> Task:
    r"""Task of P objects in C contexts.

    Parameters
    ----------
    blocks : sequence of matrices, each of shape (rows, P)
        Target block of every context, as integers, Fractions or floats.
    common : matrix, optional
        The block shared by all contexts; the first block if omitted.
    alpha : number or str
        Positive strength of the context input. A whole float counts as exact; any other float
        makes the exact routines refuse the task, so write ``"11/10"`` for 1.1.

    Raises
    ------
    ValueError
        If there is no context, the blocks have different numbers of objects, an entry is not
        finite, or alpha is not positive and finite.
    """
    tables = [_block(block, f"block {c}") for c, block in enumerate(blocks)]
    if not tables:
        raise ValueError("a task needs at least one context, got no blocks")
    shared = tables[0] if common is None else _block(common, "common")
    P, C = shared.shape[1], len(tables)
    for c, table in enumerate(tables):
        if table.shape[1] != P:
            raise ValueError(f"block {c} has {table.shape[1]} objects, the common block {P}")
    strength = _strength(alpha)
    X = _inputs(P, C, strength).astype(float)
    Y = _targets(shared, tables).astype(float)
    return Task(X, Y, C, P, tuple(tables), shared, strength)


def identical_task(contexts: int, objects: int = 8, alpha: Any = Fraction(1)) -> Task:
    """The context-number variant: the hierarchy in every block."""
    if contexts < 1:
        raise ValueError(f"a task needs at least one context, got {contexts}")
    return context_task([hierarchy(objects)] * contexts, alpha=alpha)


def main_task() -> Task:
    """The data set of the paper's main experiment: hierarchy, ring and cross."""
    return context_task([hierarchy(8), ring(8), cross(8)], common=hierarchy(8))


def xor_task() -> Data:
    r"""Inputs :math:`\{\pm1\}^2`, shape (2, 4), and their products, shape (1, 4)."""
    X = np.array([[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]])
    return Data(X, X[:1] * X[1:])


def property_table(
    table: str | NDArray[Any],
    groups: Sequence[Sequence[int]] | None = None,
    *,
    common: Sequence[int] | None = None,
    alpha: Any = Fraction(1),
) -> Task:
    """Task from a table of objects and properties: each group of properties is a context.

    Parameters
    ----------
    table : str or array, shape (objects, properties)
        A table without missing entries. ``"zoo"`` is the bundled one, every fifth animal, with
        its groups and its classes as the common block.
    groups : sequence of sequences of int
        Columns that make up the block of each context.
    common : sequence of int, optional
        Columns of the block that all contexts share; all columns if omitted.
    alpha : number or str
        Strength of the context input.

    Raises
    ------
    ValueError
        If an entry is missing (NaN), there are no groups, a column does not exist, or the name is
        unknown.
    """
    if isinstance(table, str):
        from theorylab.gated_linear.data import named_task

        return named_task(table)
    values = np.asarray(table)
    if values.ndim != 2:
        raise ValueError(
            f"a table has objects as rows and properties as columns; got {values.shape}"
        )
    missing = int((~np.isfinite(values.astype(float))).sum())
    if missing:
        raise ValueError(f"the table has {missing} missing entries; drop those rows or columns")
    if not groups:
        raise ValueError("groups must name the columns of at least one context")
    blocks = [_columns(values, group) for group in groups]
    every = range(values.shape[1]) if common is None else common
    return context_task(blocks, common=_columns(values, every), alpha=alpha)


def _columns(values: NDArray[Any], group: Sequence[int]) -> NDArray[Any]:
    wrong = [j for j in group if not 0 <= j < values.shape[1]]
    if wrong or not len(group):
        raise ValueError(
            f"a group needs columns within 0..{values.shape[1] - 1}, got {list(group)}"
        )
    return values[:, list(group)].T
