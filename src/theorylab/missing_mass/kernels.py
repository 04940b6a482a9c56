r"""Compiled inner loops of the estimators that learn two coefficients from one sample.

A fingerprint enters as a dense integer array ``phi`` of length ``n + 2`` with ``phi[k]`` classes
seen ``k`` times, a population as *atoms*: distinct probabilities with their multiplicities.
Everything here is a pure function of its arguments; uniforms are drawn by the caller.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SMALLEST_REMAINDER = 1e-15
"""Below this, ``1 - p_x - p_y`` is rounding of an exact zero."""

TINY_DETERMINANT = 1e-12
"""Relative determinant below which two coefficients cannot be told apart."""


@njit(cache=True)
def unseen_classes(phi: np.ndarray, n: int) -> int:
    """Chao's lower bound on the number of unseen classes, rounded up in integer arithmetic."""
    if phi[2] > 0:
        numerator, denominator = (n - 1) * phi[1] * phi[1], 2 * n * phi[2]
    else:
        numerator, denominator = (n - 1) * phi[1] * (phi[1] - 1), 2 * n
    return -(-numerator // denominator)


@njit(cache=True)
def natural_atoms(phi: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Atoms of the natural Good-Turing plug-in; the group of unseen classes, if any, comes first.

    Returns
    -------
    values : float array, shape (atoms,)
        Probabilities; together with the multiplicities they sum to one.
    multiplicities : float array, shape (atoms,)
        Whole numbers.
    """
    unseen = unseen_classes(phi, n)
    atoms = 1 if unseen > 0 else 0
    for k in range(1, n + 1):
        if phi[k] > 0:
            atoms += 1
    values, multiplicities = np.empty(atoms), np.empty(atoms)
    filled = 0
    if unseen > 0:
        values[0], multiplicities[0] = (phi[1] + 1) / (unseen * n), unseen
        filled = 1
    for k in range(1, n + 1):
        if phi[k] > 0:
            if unseen == 0 or k > phi[k + 1]:
                values[filled] = k / n
            else:
                values[filled] = (phi[k + 1] + 1) / phi[k] * (k + 1) / n
            multiplicities[filled] = phi[k]
            filled += 1
    return values / np.sum(values * multiplicities), multiplicities


@njit(cache=True)
def _power(remainder: float, exponent: int) -> float:
    """``remainder ** exponent`` with the convention 0^0 = 1; zero for negative exponents.

    A negative exponent marks a term of the multinomial that does not exist.
    """
    if exponent < 0:
        return 0.0
    if exponent == 0:
        return 1.0
    if remainder <= SMALLEST_REMAINDER:
        return 0.0
    return np.exp(exponent * np.log(remainder))


@njit(cache=True)
def two_term_moments(values: np.ndarray, multiplicities: np.ndarray, n: int) -> np.ndarray:
    r"""Second moments of :math:`\Phi_1, \Phi_2` and their cross moments with the missing mass.

    Returns
    -------
    float array, shape (5,)
        :math:`E\Phi_1^2,\; E\Phi_1\Phi_2,\; E\Phi_2^2,\; EM\Phi_1,\; EM\Phi_2`.
    """
    pairs = n * (n - 1.0)
    out = np.zeros(5)
    for a in range(len(values)):
        u, m = values[a], multiplicities[a]
        out[0] += m * n * u * _power(1 - u, n - 1)
        out[2] += m * pairs / 2 * u * u * _power(1 - u, n - 2)
        for b in range(a + 1):
            v = values[b]
            # ordered pairs of distinct classes, half of them because the sums below are symmetric
            weight = m * multiplicities[b] if b < a else m * (m - 1) / 2
            remainder = 1 - u - v
            fourth = _power(remainder, n - 4)
            # powers n-3 .. n-1 from n-4 by multiplication, except where n-4 does not exist
            third = fourth * remainder if n > 4 else _power(remainder, n - 3)
            second = third * remainder if n > 3 else _power(remainder, n - 2)
            first = second * remainder if n > 2 else _power(remainder, n - 1)
            uv = u * v
            out[0] += 2 * weight * pairs * uv * second
            out[1] += weight * pairs * (n - 2) / 2 * uv * (u + v) * third
            out[2] += 2 * weight * pairs * (n - 2) * (n - 3) / 4 * uv * uv * fourth
            out[3] += 2 * weight * n * uv * first
            out[4] += weight * pairs / 2 * uv * (u + v) * second
    return out


@njit(cache=True)
def solve_two(moments: np.ndarray, n: int) -> tuple[float, float]:
    """Minimiser of the quadratic MSE over ``c1 Phi_1 + c2 Phi_2``.

    Where the two cannot be told apart only the first is used, and Good-Turing's ``1 / n`` where
    even that carries no information.
    """
    a11, a12, a22, b1, b2 = moments
    if a11 <= 0:
        return 1.0 / n, 0.0
    determinant = a11 * a22 - a12 * a12
    if determinant <= TINY_DETERMINANT * a11 * a22:
        return b1 / a11, 0.0
    return (a22 * b1 - a12 * b2) / determinant, (a11 * b2 - a12 * b1) / determinant


@njit(cache=True)
def resampled_fingerprint(
    values: np.ndarray, multiplicities: np.ndarray, uniforms: np.ndarray, phi: np.ndarray
) -> None:
    """Overwrite ``phi`` with the fingerprint of one draw per uniform from the given atoms.

    One uniform picks the group by its cumulative mass and, by its position inside the group, the
    class; ``phi`` must have two more entries than there are uniforms.
    """
    edges = np.cumsum(values * multiplicities)
    starts = np.cumsum(multiplicities) - multiplicities
    counts = np.zeros(int(np.sum(multiplicities)), dtype=np.int64)
    phi[:] = 0
    last = len(values) - 1
    for uniform in uniforms:
        group = min(np.searchsorted(edges, uniform, side="right"), last)
        below = edges[group] - values[group] * multiplicities[group]
        inside = min(max(int((uniform - below) / values[group]), 0), int(multiplicities[group]) - 1)
        label = int(starts[group]) + inside
        phi[counts[label]] -= 1
        counts[label] += 1
        phi[counts[label]] += 1
    phi[0] = 0


@njit(cache=True)
def bagged_moments(phi: np.ndarray, n: int, uniforms: np.ndarray) -> np.ndarray:
    """Two-term moments averaged over the plug-in and plug-ins refitted to resamples from it.

    Parameters
    ----------
    phi : int array, shape (n + 2,)
    n : int
    uniforms : float array, shape (resamples, n)

    Returns
    -------
    float array, shape (5,)
        In the order of ``two_term_moments``.
    """
    values, multiplicities = natural_atoms(phi, n)
    total = two_term_moments(values, multiplicities, n)
    resample = np.empty_like(phi)
    for row in uniforms:
        resampled_fingerprint(values, multiplicities, row, resample)
        refitted_values, refitted_multiplicities = natural_atoms(resample, n)
        total += two_term_moments(refitted_values, refitted_multiplicities, n)
    return total / (len(uniforms) + 1)
