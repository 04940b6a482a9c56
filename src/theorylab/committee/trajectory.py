"""What an integration of the order-parameter flow returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Statistics:
    """How an integration went: its method, accepted steps, rejected ones, and whether it ended.

    ``completed`` is false where the overlaps overflowed: a learning rate beyond the threshold.
    """

    method: str
    steps: int
    rejected: int
    completed: bool


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Order parameters over time.

    Attributes
    ----------
    alpha : array, shape (times,)
        Samples per input dimension.
    R : array, shape (times, L, K, M)
        Overlaps of students and teachers in each block.
    Q : array, shape (times, L, K, K)
        Overlaps among students.
    eps_g : array, shape (times,)
        Generalisation error. Its absolute noise is about 1e-16.
    stats : Statistics
    """

    alpha: np.ndarray
    R: np.ndarray
    Q: np.ndarray
    eps_g: np.ndarray
    stats: Statistics

    def least_gram_eigenvalue(self, T: np.ndarray) -> float:
        """Least eigenvalue of the block Gram matrices of students and teachers, over all times.

        Not below zero for overlaps of vectors; what lies below measures the integration error.

        Parameters
        ----------
        T : array, shape (L, M, M)
            Overlaps among teachers.
        """
        teachers = np.broadcast_to(T, (len(self.alpha), *T.shape))
        upper = np.concatenate([self.Q, self.R], axis=-1)
        lower = np.concatenate([np.swapaxes(self.R, -1, -2), teachers], axis=-1)
        grams = np.concatenate([upper, lower], axis=-2)
        return float(np.linalg.eigvalsh(grams)[..., 0].min())
