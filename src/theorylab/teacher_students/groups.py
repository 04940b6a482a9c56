"""Which student follows which teacher, and how a group shares its teacher's norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorylab.teacher_students.theory import angles, joined

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Grouping:
    """Students sorted by their nearest teacher.

    Attributes
    ----------
    nearest : array of int, shape (..., m)
        Teacher of every student.
    angle : array, shape (..., m)
        Angle to it, radians.
    deviation : array, shape (..., m)
        Distance from its axis.
    norms : array, shape (..., m)
    k : int
        Number of teachers.
    """

    nearest: NDArray[np.int64]
    angle: Floats
    deviation: Floats
    norms: Floats
    k: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Students of every teacher, shape (..., k)."""
        return (self.nearest[..., :, None] == np.arange(self.k)).sum(-2)

    @property
    def sums(self) -> Floats:
        """Sum of the students' norms for every teacher, shape (..., k)."""
        member = self.nearest[..., :, None] == np.arange(self.k)
        return (self.norms[..., :, None] * member).sum(-2)

    @property
    def imbalance(self) -> Floats:
        """Largest over smallest norm within a group, the worst group, shape (...)."""
        member = self.nearest[..., :, None] == np.arange(self.k)
        norms = self.norms[..., :, None]
        largest = np.where(member, norms, 0.0).max(-2)
        smallest = np.where(member, norms, np.inf).min(-2)
        return np.maximum(largest / smallest, 1.0).max(-1)


def grouping(W: ArrayLike, V: ArrayLike) -> Grouping:
    """Sort students by their nearest teacher.

    Parameters
    ----------
    W : array, shape (..., m, d)
    V : array, shape (k, d)

    Raises
    ------
    ValueError
        If shapes do not fit or a neuron is zero.
    """
    Z = joined(W, V)
    m = np.asarray(W).shape[-2]
    between = angles(Z)[..., :m, m:]
    nearest = between.argmin(-1)
    norms = np.linalg.norm(Z[..., :m, :], axis=-1)
    angle = between.min(-1)
    return Grouping(nearest, angle, norms * np.sin(angle), norms, Z.shape[-2] - m)


def square_excess(W: ArrayLike, V: ArrayLike) -> Floats:
    r"""Relative excess of :math:`\sum\|w_i\|^2` over its least value for the same groups.

    A group of n students that carries the norm of its teacher has
    :math:`\sum \|w_i\|^2 \ge \|v\|^2/n`, with equality when all are equal.

    Returns
    -------
    array, shape (...)
    """
    found = grouping(W, V)
    lengths = np.linalg.norm(np.asarray(V, dtype=float), axis=-1)
    least = (lengths**2 / np.maximum(found.sizes, 1)).sum(-1)
    return (found.norms**2).sum(-1) / least - 1
