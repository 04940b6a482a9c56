r"""The order-parameter flow of a committee, compiled, with the parts of its Jacobian.

The state has one row per eigenvalue: the overlaps R (K, M) of students and teachers, then the
upper triangle of the overlaps Q (K, K) among students. All rows see each other only through the
covariance of the fields, a sum over rows; the Jacobian is therefore a matrix of n x n blocks on
the diagonal plus one of rank n.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from theorylab.gaussian import RELU, fill_fourth_moment, fill_kernels


@njit(cache=True)
def _covariance(m, T1, K):
    """Covariance of the fields from the moments m (n,) of the rows and that of the teachers."""
    M = len(T1)
    C = np.empty((K + M, K + M))
    position = 0
    for i in range(K):
        for n in range(M):
            C[i, K + n] = C[K + n, i] = m[position]
            position += 1
    for i in range(K):
        for j in range(i, K):
            C[i, j] = C[j, i] = m[position]
            position += 1
    C[K:, K:] = T1
    return C


@njit(cache=True)
def coefficients(m, T1, w, K, activation, noise, flow, A, B, V):
    """Write the matrices A (K, K), B (K, M) and V (K, K) of the flow at the moments m."""
    M = len(T1)
    C = _covariance(m, T1, K)
    I2, G, H = np.empty_like(C), np.empty_like(C), np.empty_like(C)
    fill_kernels(C, activation, I2, G, H)
    for i in range(K):
        for j in range(K):
            A[i, j] = -w[i] * w[j] * G[i, j]
        for b in range(K + M):
            A[i, i] -= w[i] * w[b] * H[i, b]
        for n in range(M):
            B[i, n] = -w[i] * w[K + n] * G[i, K + n]
    if flow:
        V[:] = 0.0
    else:
        fill_fourth_moment(C, w, activation, noise, V)


@njit(cache=True)
def generalisation_error(m, T1, w, K, activation):
    """Half the mean squared difference of the outputs."""
    C = _covariance(m, T1, K)
    I2, G, H = np.empty_like(C), np.empty_like(C), np.empty_like(C)
    fill_kernels(C, activation, I2, G, H)
    return 0.5 * np.sum(np.outer(w, w) * I2)


@njit(cache=True)
def moments(Y, weight):
    """Sum of the rows of Y (L, n) with the weights (L,)."""
    m = np.zeros(Y.shape[1])
    for k in range(len(Y)):
        for q in range(Y.shape[1]):
            m[q] += weight[k] * Y[k, q]
    return m


@njit(cache=True)
def _apply(A, B, V, y, T, rate, eta, out):
    """Write the velocity of one row: linear in (A, B, V), so it serves their derivatives too."""
    K, M = B.shape
    start = K * M
    for i in range(K):
        for n in range(M):
            total = 0.0
            for j in range(K):
                total += A[i, j] * y[j * M + n]
            for other in range(M):
                total += B[i, other] * T[other, n]
            out[i * M + n] = rate * total
    position = start
    for i in range(K):
        for j in range(i, K):
            total = eta * V[i, j]
            for h in range(K):
                total += A[i, h] * y[_place(h, j, K, start)] + A[j, h] * y[_place(h, i, K, start)]
            for n in range(M):
                total += B[i, n] * y[j * M + n] + B[j, n] * y[i * M + n]
            out[position] = rate * total
            position += 1


@njit(cache=True)
def _place(i, j, K, start):
    """Where Q_ij stands in a row."""
    if i > j:
        i, j = j, i
    return start + i * K - i * (i - 1) // 2 + (j - i)


@njit(cache=True)
def velocity(Y, lam, p, T, T1, w, eta, activation, noise, flow, out):
    """Write the velocities of all rows."""
    K = len(w) - len(T1)
    A, B, V = np.empty((K, K)), np.empty((K, len(T1))), np.empty((K, K))
    coefficients(moments(Y, p * lam), T1, w, K, activation, noise, flow, A, B, V)
    for k in range(len(Y)):
        _apply(A, B, V, Y[k], T[k], eta * lam[k], eta, out[k])


@njit(cache=True)
def _step_length(m, T1, K, activation):
    """Step of the central differences: kernels of ReLU bend near parallel fields, others not."""
    if activation != RELU:
        return 1e-6
    C = _covariance(m, T1, K)
    margin = 1.0
    for a in range(K):
        for b in range(len(C)):
            if a != b and C[a, a] * C[b, b] > 0:
                margin = min(margin, 1 - C[a, b] ** 2 / (C[a, a] * C[b, b]))
    return max(1e-5 * margin, 1e-13)


@njit(cache=True)
def derivatives(m, T1, w, K, activation, noise, flow, dA, dB, dV):
    """Write the derivatives of A, B and V with respect to each moment (first axis)."""
    A, B, V = np.empty_like(dA[0]), np.empty_like(dB[0]), np.empty_like(dV[0])
    step = _step_length(m, T1, K, activation)
    for q in range(len(m)):
        width = step * max(1.0, abs(m[q])) if activation != RELU else step * abs(m[q]) + 1e-15
        shifted = m.copy()
        shifted[q] = m[q] + width
        above = shifted[q]
        coefficients(shifted, T1, w, K, activation, noise, flow, dA[q], dB[q], dV[q])
        shifted[q] = m[q] - width
        coefficients(shifted, T1, w, K, activation, noise, flow, A, B, V)
        width = above - shifted[q]
        dA[q] = (dA[q] - A) / width
        dB[q] = (dB[q] - B) / width
        dV[q] = (dV[q] - V) / width


@njit(cache=True)
def couplings(Y, lam, T, eta, dA, dB, dV, U):
    """Write how the velocity of each row responds to the moments: U (L, n, n), columns last."""
    column = np.empty(Y.shape[1])
    for k in range(len(Y)):
        for q in range(Y.shape[1]):
            _apply(dA[q], dB[q], dV[q], Y[k], T[k], eta * lam[k], eta, column)
            U[k, :, q] = column


@njit(cache=True)
def quadratic_part(A):
    """The map Q -> A Q + Q A^T on upper triangles, shape (K(K+1)/2, K(K+1)/2)."""
    K = len(A)
    size = K * (K + 1) // 2
    S = np.zeros((size, size))
    row = 0
    for i in range(K):
        for j in range(i, K):
            for h in range(K):
                S[row, _place(h, j, K, 0)] += A[i, h]
                S[row, _place(h, i, K, 0)] += A[j, h]
            row += 1
    return S


@njit(cache=True)
def dense_jacobian(Y, lam, p, T, T1, w, eta, activation, noise, flow):
    """The whole Jacobian, shape (L n, L n): for small L, and to test the structured solver."""
    L, n = Y.shape
    M = len(T1)
    K = len(w) - M
    A, B, V = np.empty((K, K)), np.empty((K, M)), np.empty((K, K))
    m = moments(Y, p * lam)
    coefficients(m, T1, w, K, activation, noise, flow, A, B, V)
    dA, dB, dV = np.empty((n, K, K)), np.empty((n, K, M)), np.empty((n, K, K))
    derivatives(m, T1, w, K, activation, noise, flow, dA, dB, dV)
    U = np.empty((L, n, n))
    couplings(Y, lam, T, eta, dA, dB, dV, U)
    J = np.empty((L * n, L * n))
    unit, column, zero = np.zeros(n), np.empty(n), np.zeros((K, K))
    nothing = np.zeros((M, M))
    for k in range(L):
        for other in range(L):
            J[k * n : (k + 1) * n, other * n : (other + 1) * n] = U[k] * (p[other] * lam[other])
        for q in range(n):
            unit[q] = 1.0
            _apply(A, B, zero, unit, nothing, eta * lam[k], eta, column)
            unit[q] = 0.0
            J[k * n : (k + 1) * n, k * n + q] += column
    return J
