"""The same flow in moments of the overlaps, closed by the minimal polynomial of the covariance."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np
from scipy.integrate import solve_ivp

from theorylab.committee import Committee
from theorylab.committee.flow import coefficients
from theorylab.gaussian import activation_code


def annihilates(roots: list[Fraction], spectrum: list[Fraction], vector: list[int]) -> bool:
    """Whether the product of (Sigma - root) sends ``vector`` to zero, exactly."""
    found = [x * prod(lam - r for r in roots) for lam, x in zip(spectrum, vector, strict=True)]
    return not any(found)


def vandermonde(values: list[Fraction]) -> Fraction:
    """Determinant of the powers 0 to L - 1 of the values: zero iff two of them agree."""
    return prod((b - a for i, a in enumerate(values) for b in values[i + 1 :]), start=Fraction(1))


def moment_error(
    committee: Committee, alpha: np.ndarray, roots: np.ndarray | None = None
) -> np.ndarray:
    """Generalisation error from the L moments; never for more than eight eigenvalues.

    Parameters
    ----------
    committee : Committee
        With a start.
    alpha : array, shape (times,)
    roots : array, shape (L,), optional
        Roots of the polynomial that closes the hierarchy; the eigenvalues if left out.
    """
    lam, p = committee.spectrum.lam, committee.spectrum.p
    L, K, M = len(lam), committee.K, committee.M
    closing = -np.poly(lam if roots is None else roots)[:0:-1]
    powers = p * lam ** np.arange(L + 1)[:, None]
    T, spread = np.einsum("lk,kmn->lmn", powers, committee.T), powers.sum(axis=1)
    T = np.concatenate([T[:L], np.einsum("l,lmn->mn", closing, T[:L])[None]])
    spread[L] = closing @ spread[:L]
    R0 = np.einsum("lk,kij->lij", powers[:L], committee.R0)
    Q0 = np.einsum("lk,kij->lij", powers[:L], committee.Q0)
    w, upper = np.concatenate([-committee.cs, committee.ct]), np.triu_indices(K)
    A, B, V = np.empty((K, K)), np.empty((K, M)), np.empty((K, K))

    def raised(X: np.ndarray) -> np.ndarray:
        return np.concatenate([X[1:], np.tensordot(closing, X, 1)[None]])

    def fields(R: np.ndarray, Q: np.ndarray) -> np.ndarray:
        return np.concatenate([R.ravel(), Q[upper]])

    def speed(_: float, y: np.ndarray) -> np.ndarray:
        R, Q = y[: L * K * M].reshape(L, K, M), y[L * K * M :].reshape(L, K, K)
        R1, Q1 = raised(R), raised(Q)
        coefficients(
            fields(R1[0], Q1[0]), T[1], w, K, activation_code(committee.act),
            committee.sigma2, committee.gradient_flow, A, B, V,
        )  # fmt: skip
        drift = A @ Q1 + B @ np.swapaxes(R1, 1, 2)
        noise = committee.eta * spread[1:, None, None] * V
        moved = A @ R1 + B @ T[1:], drift + np.swapaxes(drift, 1, 2) + noise
        return committee.eta * np.concatenate([part.ravel() for part in moved])

    start = np.concatenate([R0.ravel(), Q0.ravel()])
    found = solve_ivp(
        speed, (0, alpha[-1]), start, method="DOP853", t_eval=alpha, rtol=1e-11, atol=1e-13
    ).y.T
    errors = []
    isotropic = Committee(
        type(committee.spectrum).isotropic(), T[1], K, committee.eta, committee.cs, committee.ct,
        committee.act, gradient_flow=committee.gradient_flow,
    )  # fmt: skip
    for y in found:
        R, Q = y[: L * K * M].reshape(L, K, M), y[L * K * M :].reshape(L, K, K)
        errors.append(isotropic.error(fields(raised(R)[0], raised(Q)[0])))
    return np.array(errors)
