"""The linear estimator of least mean squared error, with a certificate that it is the least."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theorylab.missing_mass.linear import Linear
from theorylab.missing_mass.moments import Moments

RANK_TOLERANCE = 1e-13
REGULARISATION = 1e-12
EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Certified:
    r"""A linear estimator with a bound that no other one of its class can beat.

    Attributes
    ----------
    c : numpy.ndarray, shape (K,)
        Coefficients of ``Phi_1..Phi_K``.
    c0 : float
        Constant term (0 without intercept).
    value : float
        Its mean squared error under the moments.
    lower_bound : float
        Dual bound: every estimator of the class has at least this mean squared error.
    cond : float
        Condition number of the second moments scaled to unit diagonal.
    radius : float
        The bound is proved for all estimators whose coefficients, scaled by
        ``sqrt(diag(A))``, have at most this norm; infinite unless A is singular to rounding.
    """

    c: NDArray[np.float64]
    c0: float
    value: float
    lower_bound: float
    cond: float
    radius: float

    @property
    def linear(self) -> Linear:
        """The estimator itself."""
        return Linear(self.c, self.c0)


@dataclass(frozen=True, eq=False)
class _Minimum:
    x: NDArray[np.float64]
    value: float
    lower_bound: float
    cond: float
    radius: float


def optimal(mom: Moments, K: int, c1_fixed: bool = False, intercept: bool = False) -> Certified:
    r"""Minimise :math:`c^\top A c - 2b^\top c + E M^2` over linear estimators.

    Parameters
    ----------
    mom : Moments
        Moments of the population, or of a plug-in for it.
    K : int
        Frequencies ``Phi_1..Phi_K`` may be used.
    c1_fixed : bool
        Keep ``n c_1 = 1``, that is unbiasedness to first order for rare classes.
    intercept : bool
        Allow a constant term.

    Returns
    -------
    Certified
        The minimiser and a lower bound on the minimum by convex duality.

    Raises
    ------
    ValueError
        If K is not covered by the moments, or if their second moments are not positive
        semidefinite (then they are no moments at all).
    """
    if not 1 <= K <= mom.K:
        raise ValueError(f"K must be between 1 and {mom.K}, the moments' own K, got {K}")
    A, b, constant = _quadratic(mom, K)
    fixed = np.zeros(K + 1)
    free = np.ones(K + 1, dtype=bool)
    free[0] = intercept
    if c1_fixed:
        fixed[1], free[1] = 1.0 / mom.n, False
    constant += float(fixed @ A @ fixed - 2 * b @ fixed)
    best = _minimise(A[np.ix_(free, free)], (b - A @ fixed)[free], constant)
    x = fixed.copy()
    x[free] = best.x
    return Certified(x[1:], float(x[0]), best.value, best.lower_bound, best.cond, best.radius)


def exact_optimal(mom: Moments, K: int, intercept: bool = False) -> tuple[Linear, Fraction]:
    r"""The minimiser and its mean squared error as Fractions.

    Since A is the matrix of second moments of a population it is positive semidefinite and b
    lies in its range; any solution of Ay = b attains the global minimum
    :math:`E M^2 - b^\top y`. The value is its own certificate.

    Parameters
    ----------
    mom : Moments
        From ``exact_moments``.
    K : int
        Frequencies ``Phi_1..Phi_K`` may be used.
    intercept : bool
        Allow a constant term.

    Raises
    ------
    TypeError
        If the moments hold floats.
    ValueError
        If K is not covered, or the moments are inconsistent.
    """
    from theorylab.exact.matrices import solve

    if not 1 <= K <= mom.K:
        raise ValueError(f"K must be between 1 and {mom.K}, the moments' own K, got {K}")
    if mom.f.dtype != object:
        raise TypeError("an exact optimum needs exact moments: use exact_moments")
    first = 0 if intercept else 1
    A = [[Fraction(1), *mom.f[:K]]] + [[mom.f[k], *mom.second[k, :K]] for k in range(K)]
    b = [mom.EM, *mom.cross[:K]]
    rows, right = [row[first:] for row in A[first:]], b[first:]
    y = solve(rows, right, len(right))
    if y is None:
        raise ValueError("the cross moments are not in the range of the second moments")
    value = mom.EM2 - sum((Fraction(s) * t for s, t in zip(right, y, strict=True)), Fraction(0))
    c0 = Fraction(y[0]) if intercept else Fraction(0)
    return Linear([Fraction(c) for c in y[1 - first :]], c0), Fraction(value)


def _quadratic(mom: Moments, K: int) -> tuple[NDArray, NDArray, float]:
    """Quadratic form over ``(1, Phi_1..Phi_K)`` in double precision."""
    A = np.empty((K + 1, K + 1))
    A[0, 0] = 1.0
    A[0, 1:] = A[1:, 0] = mom.f[:K].astype(float)
    A[1:, 1:] = mom.second[:K, :K].astype(float)
    b = np.concatenate(([float(mom.EM)], mom.cross[:K].astype(float)))
    return A, b, float(mom.EM2)


def _minimise(A: NDArray, b: NDArray, constant: float) -> _Minimum:
    """Minimise x'Ax - 2b'x + constant, rank-aware, on columns scaled to unit diagonal."""
    x = np.zeros(len(b))
    # A frequency that underflowed to E Phi_k^2 = 0 is never observed: its coefficient is moot.
    seen = np.diag(A) > 0
    if not seen.any():
        return _Minimum(x, constant, constant, 1.0, np.inf)
    scale = np.sqrt(np.diag(A)[seen])
    scaled_A = A[np.ix_(seen, seen)] / np.outer(scale, scale)
    scaled_b = b[seen] / scale
    eigenvalues, vectors = np.linalg.eigh(scaled_A)
    rounding = len(scale) * EPSILON * eigenvalues[-1]
    if eigenvalues[0] < -max(REGULARISATION, rounding):
        raise ValueError(
            f"the second moments are not positive semidefinite: smallest scaled eigenvalue "
            f"{eigenvalues[0]:.3g}; check that they are moments of one population"
        )
    kept = eigenvalues > RANK_TOLERANCE * eigenvalues[-1]
    y = vectors[:, kept] @ ((vectors[:, kept].T @ scaled_b) / eigenvalues[kept])
    x[seen] = y / scale
    value = float(constant + y @ scaled_A @ y - 2 * scaled_b @ y)
    bound, radius = _dual_bound(scaled_A, scaled_b, constant, y, float(eigenvalues[0] - rounding))
    cond = float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else np.inf
    return _Minimum(x, value, bound, cond, radius)


def _dual_bound(
    A: NDArray, b: NDArray, constant: float, y: NDArray, curvature: float
) -> tuple[float, float]:
    r"""Lower bound on z'Az - 2b'z + constant, and the norm of z up to which it is proved.

    With r = Ay - b and A - curvature I >= 0, every z = y + d has
    value(z) = constant - b'y + y'r + 2d'r + d'Ad >= constant - b'y + y'r - |r|^2 / curvature.
    If A is singular to rounding, A + eps I takes its place at the price eps |z|^2.
    """
    radius, price = np.inf, 0.0
    if curvature <= RANK_TOLERANCE:
        radius = 10.0 * max(1.0, float(np.linalg.norm(y)))
        price = REGULARISATION * radius**2
        A = A + REGULARISATION * np.eye(len(b))
        curvature = max(curvature + REGULARISATION, REGULARISATION / 2)
        y = np.linalg.solve(A, b)
    r = A @ y - b
    magnitude = abs(constant) + np.abs(b) @ np.abs(y) + np.abs(y) @ np.abs(A) @ np.abs(y)
    rounding = (len(b) + 3) * EPSILON * magnitude
    residual = float(np.linalg.norm(r)) + (len(b) + 3) * EPSILON * float(
        np.linalg.norm(np.abs(A) @ np.abs(y) + np.abs(b))
    )
    bound = constant - b @ y + y @ r - residual**2 / curvature - price - rounding
    return float(bound), radius
