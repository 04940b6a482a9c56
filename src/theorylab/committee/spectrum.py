"""Spectra of input covariances: distinct eigenvalues and the share of directions of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def _vector(values: ArrayLike, name: str) -> np.ndarray:
    array = np.array(values, dtype=float)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a non-empty vector; got shape {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"{name} must be finite and non-negative; got {array.min()} at least")
    array.setflags(write=False)
    return array


def check_exponent(beta: float) -> float:
    """Return ``beta`` when it is a legal exponent of a power-law spectrum.

    Raises
    ------
    ValueError
        If it is not finite and positive: the spectrum would not be summable.
    """
    if not (np.isfinite(beta) and beta > 0):
        raise ValueError(f"beta must be finite and positive, got {beta}")
    return float(beta)


@dataclass(frozen=True, eq=False)
class Spectrum:
    r"""Eigenvalues :math:`\lambda_k` on fractions :math:`p_k` of the directions.

    Parameters
    ----------
    lam : array, shape (L,)
        Non-negative eigenvalues. Zero is legal: that direction never moves and never counts.
    p : array, shape (L,), optional
        Fractions with sum 1; equal ones if left out.

    Raises
    ------
    ValueError
        If a value is negative or not finite, shapes differ, the fractions do not sum to 1 within
        1e-12, or all eigenvalues are zero.
    """

    lam: Any
    p: Any = None

    def __post_init__(self) -> None:
        lam = _vector(self.lam, "lam")
        p = _vector(np.full(lam.size, 1 / lam.size) if self.p is None else self.p, "p")
        if p.shape != lam.shape:
            raise ValueError(f"p must have one entry per eigenvalue: {lam.size}; got {p.size}")
        if abs(p.sum() - 1) > 1e-12:
            raise ValueError(f"p must sum to 1, its sum is {p.sum()}; divide by it")
        if not (p * lam).any():
            raise ValueError("all eigenvalues are 0: the inputs have no variance")
        object.__setattr__(self, "lam", lam)
        object.__setattr__(self, "p", p)

    def __len__(self) -> int:
        return self.lam.size

    def moment(self, order: float) -> float:
        r"""Mean :math:`\langle\lambda^l\rangle` over directions."""
        return float(self.p @ self.lam**order)

    @property
    def mean(self) -> float:
        r"""Mean variance :math:`\langle\lambda\rangle`."""
        return self.moment(1)

    @classmethod
    def power_law(cls, L: int, beta: float) -> Spectrum:
        r"""Equal fractions, :math:`\lambda_k\propto k^{-(1+\beta)}`, scaled to mean 1.

        Parameters
        ----------
        L : int
            Number of distinct eigenvalues.
        beta : float
            Positive.
        """
        if L < 1:
            raise ValueError(f"L must be at least 1, got {L}")
        lam = np.arange(1, L + 1, dtype=float) ** -(1 + check_exponent(beta))
        return cls(lam * (L / lam.sum()))

    @classmethod
    def isotropic(cls) -> Spectrum:
        """One eigenvalue, 1."""
        return cls(np.ones(1))

    @classmethod
    def log_binned(cls, L: int, beta: float, head: int = 40, per_decade: int = 24) -> Spectrum:
        r"""A power law of L eigenvalues in few blocks: the first ones exact, then bins.

        A bin :math:`a < k \le b` has its share of the directions and the mean of its eigenvalues
        by the midpoint rule, :math:`\int_{a+1/2}^{b+1/2} k^{-(1+\beta)} dk / (b - a)`.

        Parameters
        ----------
        L : int
            Number of eigenvalues, up to 10^12 or so.
        beta : float
        head : int
            How many of the largest eigenvalues stay alone.
        per_decade : int
            Bins per factor of ten beyond them.
        """
        check_exponent(beta)
        if min(L, head, per_decade) < 1:
            raise ValueError(
                f"L, head and per_decade must be positive, got {L}, {head}, {per_decade}"
            )
        if head >= L:
            return cls.power_law(L, beta)
        bins = int(np.ceil(per_decade * np.log10(L / head)))
        edges = np.unique(np.round(np.geomspace(head, L, bins + 1)))
        tail = np.diff(-((edges + 0.5) ** -beta)) / beta / np.diff(edges)
        lam = np.concatenate([np.arange(1.0, head + 1) ** -(1 + beta), tail])
        p = np.concatenate([np.ones(head), np.diff(edges)]) / L
        return cls(lam / (p @ lam), p / p.sum())

    @classmethod
    def from_data(cls, X: ArrayLike) -> Spectrum:
        """Variances along the principal axes of a data set, scaled to mean 1; zeros are dropped.

        Parameters
        ----------
        X : array, shape (samples, N)
            Centred here.
        """
        data = np.asarray(X, dtype=float)
        if data.ndim != 2 or len(data) < 2 or not np.isfinite(data).all():
            raise ValueError(f"X must be a finite matrix of samples; got shape {data.shape}")
        centred = data - data.mean(axis=0)
        variances = np.linalg.eigvalsh(centred.T @ centred / len(data))[::-1]
        if variances[0] <= 0:
            raise ValueError("X does not vary; a spectrum needs some variance")
        kept = variances[variances > 1e-12 * variances[0]]
        return cls(kept / kept.mean())
