r"""A stiff integrator that uses the structure of the committee's Jacobian.

RODAS4 (Hairer and Wanner, 1996): linearly implicit, six stages, order 4 with an embedded order 3,
stiffly accurate and L-stable. A stage solves :math:`(\frac{1}{h\gamma} I - J) x = r` with J block
diagonal plus low rank: each block is triangular (students' overlaps with teachers first), the
rest is the Woodbury identity. The cost of a step is linear in the number of eigenvalues.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from theorylab.committee.flow import (
    coefficients,
    couplings,
    derivatives,
    moments,
    quadratic_part,
    velocity,
)

GAMMA = 0.25
STAGES = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [1.544, 0.0, 0.0, 0.0, 0.0],
        [0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0],
        [3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0],
    ]
)
MEMORY = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [-5.6688, 0.0, 0.0, 0.0, 0.0],
        [-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0],
        [-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0],
        [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160, 0.0],
        [
            8.083246795921522,
            -7.981132988064893,
            -31.52159432874371,
            16.31930543123136,
            -6.058818238834054,
        ],
    ]
)


@njit(cache=True)
def _factor(W):
    """LU with partial pivoting, in place; returns the row exchanges."""
    n = len(W)
    exchanged = np.empty(n, np.int64)
    for c in range(n):
        best = c
        for r in range(c + 1, n):
            if abs(W[r, c]) > abs(W[best, c]):
                best = r
        exchanged[c] = best
        if best != c:
            for q in range(n):
                W[c, q], W[best, q] = W[best, q], W[c, q]
        for r in range(c + 1, n):
            W[r, c] /= W[c, c]
            for q in range(c + 1, n):
                W[r, q] -= W[r, c] * W[c, q]
    return exchanged


@njit(cache=True)
def _substitute(W, exchanged, x):
    """Solve with the factors of ``_factor``, in place."""
    n = len(W)
    for r in range(n):
        x[r], x[exchanged[r]] = x[exchanged[r]], x[r]
        for q in range(r):
            x[r] -= W[r, q] * x[q]
    for r in range(n - 1, -1, -1):
        for q in range(r + 1, n):
            x[r] -= W[r, q] * x[q]
        x[r] /= W[r, r]


@njit(cache=True)
def _shifted_factors(shift, rates, matrix):
    """Factors of shift I - rate * matrix for all rates."""
    n = len(matrix)
    W, exchanged = np.empty((len(rates), n, n)), np.empty((len(rates), n), np.int64)
    for k in range(len(rates)):
        W[k] = -rates[k] * matrix
        for q in range(n):
            W[k, q, q] += shift
        exchanged[k] = _factor(W[k])
    return W, exchanged


@njit(cache=True)
def _solve_block(x, rate, B, linear, linear_rows, quadratic, quadratic_rows, column):
    """Solve one diagonal block in place: R first, then Q, which R drives."""
    K, M = B.shape
    for n in range(M):
        for i in range(K):
            column[i] = x[i * M + n]
        _substitute(linear, linear_rows, column)
        for i in range(K):
            x[i * M + n] = column[i]
    position = K * M
    for i in range(K):
        for j in range(i, K):
            total = 0.0
            for n in range(M):
                total += B[i, n] * x[j * M + n] + B[j, n] * x[i * M + n]
            x[position] += rate * total
            position += 1
    _substitute(quadratic, quadratic_rows, x[K * M :])


@njit(cache=True)
def _factor_system(step, rates, weight, A, B, U):
    """Factors of the blocks and of the Woodbury system; U becomes the blocks' answer to it."""
    n = U.shape[1]
    shift = 1 / (step * GAMMA)
    linear, linear_rows = _shifted_factors(shift, rates, A)
    quadratic, quadratic_rows = _shifted_factors(shift, rates, quadratic_part(A))
    system, row, column = np.eye(n), np.empty(n), np.empty(len(A))
    for k in range(len(rates)):
        for q in range(n):
            row[:] = U[k, :, q]
            _solve_block(
                row,
                rates[k],
                B,
                linear[k],
                linear_rows[k],
                quadratic[k],
                quadratic_rows[k],
                column,
            )
            for r in range(n):
                U[k, r, q] = row[r]
                system[r, q] -= weight[k] * row[r]
    return linear, linear_rows, quadratic, quadratic_rows, system, _factor(system)


@njit(cache=True)
def _solve(right, rates, weight, B, U, factors):
    """Solve one stage in place: all blocks, then what they do to each other."""
    linear, linear_rows, quadratic, quadratic_rows, system, system_rows = factors
    column = np.empty(len(B))
    for k in range(len(rates)):
        _solve_block(
            right[k],
            rates[k],
            B,
            linear[k],
            linear_rows[k],
            quadratic[k],
            quadratic_rows[k],
            column,
        )
    response = moments(right, weight)
    _substitute(system, system_rows, response)
    for k in range(len(rates)):
        for r in range(right.shape[1]):
            for q in range(right.shape[1]):
                right[k, r] += U[k, r, q] * response[q]


@njit(cache=True)
def _attempt(y, first, step, lam, p, T, T1, w, eta, activation, noise, flow, drift):
    """One step: the new state and the estimate of its error."""
    A, B, dA, dB, dV = drift
    n = y.shape[1]
    U = np.empty((len(y), n, n))
    couplings(y, lam, T, eta, dA, dB, dV, U)
    rates, weight = eta * lam, p * lam
    factors = _factor_system(step, rates, weight, A, B, U)
    stages, inside = np.empty((6, len(y), n)), y.copy()
    for s in range(6):
        if s == 0:
            stages[s] = first
        else:
            inside[:] = y
            for earlier in range(s):
                if STAGES[s, earlier] != 0.0:
                    inside += STAGES[s, earlier] * stages[earlier]
            velocity(inside, lam, p, T, T1, w, eta, activation, noise, flow, stages[s])
        for earlier in range(s):
            stages[s] += MEMORY[s, earlier] / step * stages[earlier]
        _solve(stages[s], rates, weight, B, U, factors)
    return inside + stages[5], stages[5]


@njit(cache=True)
def _drift(y, lam, p, T1, w, activation, noise, flow):
    """The matrices A and B at a state, and how A, B and V change with the moments."""
    n, M = y.shape[1], len(T1)
    K = len(w) - M
    A, B, V = np.empty((K, K)), np.empty((K, M)), np.empty((K, K))
    dA, dB, dV = np.empty((n, K, K)), np.empty((n, K, M)), np.empty((n, K, K))
    m = moments(y, p * lam)
    coefficients(m, T1, w, K, activation, noise, flow, A, B, V)
    derivatives(m, T1, w, K, activation, noise, flow, dA, dB, dV)
    return A, B, dA, dB, dV


@njit(cache=True)
def integrate(Y, lam, p, T, T1, w, eta, activation, noise, flow, times, rtol, atol, most_steps):
    """Integrate from ``times[0]``; states at all times, and counts of steps and rejections.

    States that were not reached (an overflow, or too many steps) are left NaN.
    """
    states = np.full((len(times), *Y.shape), np.nan)
    states[0] = Y
    y, t, first = Y.copy(), times[0], np.empty_like(Y)
    velocity(y, lam, p, T, T1, w, eta, activation, noise, flow, first)
    drift = _drift(y, lam, p, T1, w, activation, noise, flow)
    h = 1e-3 * _time_scale(y, first)
    steps = rejected = 0
    just_rejected = False
    for output in range(1, len(times)):
        while t < times[output]:
            if steps + rejected >= most_steps or not h > 1e-14 * abs(t):
                return states, steps, rejected
            last = h >= times[output] - t
            step = times[output] - t if last else h
            after, estimate = _attempt(
                y, first, step, lam, p, T, T1, w, eta, activation, noise, flow, drift
            )
            error = _error(estimate, y, after, rtol, atol)
            if error > 1.0:
                rejected += 1
                just_rejected = True
                h = step * (max(0.2, 0.9 * error**-0.25) if error < 1e12 else 0.2)
                continue
            t, y = (times[output] if last else t + step), after
            velocity(y, lam, p, T, T1, w, eta, activation, noise, flow, first)
            drift = _drift(y, lam, p, T1, w, activation, noise, flow)
            steps += 1
            growth = min(1.0 if just_rejected else 6.0, max(0.2, 0.9 * (error + 1e-12) ** -0.25))
            h = max(h, step * growth) if last else step * growth
            just_rejected = False
        states[output] = y
    return states, steps, rejected


@njit(cache=True)
def _time_scale(y, speed):
    """Time in which the fastest component moves by about its own size."""
    fastest = 1e-300
    for k in range(len(y)):
        for q in range(y.shape[1]):
            fastest = max(fastest, abs(speed[k, q]) / (abs(y[k, q]) + 1e-2))
    return 1.0 / fastest


@njit(cache=True)
def _error(estimate, before, after, rtol, atol):
    """Largest error in units of its tolerance; infinite for anything that is not a number."""
    worst = 0.0
    for k in range(len(before)):
        for q in range(before.shape[1]):
            if not np.isfinite(after[k, q]):
                return np.inf
            allowed = atol + rtol * max(abs(before[k, q]), abs(after[k, q]))
            worst = max(worst, abs(estimate[k, q]) / allowed)
    return worst
