"""Phases of matched committees of error functions: the symmetric plateau and perfect learning."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq, root

from theorylab.gaussian import ERF, fill_fourth_moment, fill_kernels


@dataclass(frozen=True)
class PlateauState:
    """The symmetric fixed point: equal overlaps R with all teachers, Q on and C off the diagonal.

    ``eps_g`` is its generalisation error, ``a`` and ``b`` the slopes that govern the escape: a
    mode of eigenvalue :math:`\\lambda` relaxes with a and is driven with b by all modes.
    """

    R: float
    Q: float
    C: float
    eps_g: float
    a: float
    b: float


def _fields(M: int, R: float, Q: float, C: float) -> np.ndarray:
    """Covariance of the fields at a symmetric state with teachers of overlap 1."""
    students = np.full((M, M), C) + (Q - C) * np.eye(M)
    mixed = np.full((M, M), R)
    return np.block([[students, mixed], [mixed.T, np.eye(M)]])


def _kernels(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """I2, G and H without checks: a search may pass through matrices that are no covariances."""
    I2, G, H = (np.empty_like(covariance) for _ in range(3))
    fill_kernels(covariance, ERF, I2, G, H)
    return I2, G, H


def _matrices(covariance: np.ndarray, M: int, c: float) -> tuple[np.ndarray, np.ndarray]:
    """Drift matrices A and B of a matched committee with output weights c."""
    _, G, H = _kernels(covariance)
    A = np.diag(c * H[:M] @ np.repeat([-c, c], M)) - c * c * G[:M, :M]
    return A, c * c * G[:M, M:]


def _still(state: np.ndarray, M: int, eta: float, c: float) -> np.ndarray:
    """Velocities of R, Q and C at a symmetric state of isotropic inputs."""
    R, Q, C = state
    covariance = _fields(M, R, Q, C)
    A, B = _matrices(covariance, M, c)
    w = np.repeat([-c, c], M)
    V = np.zeros((M, M))
    if eta > 0:
        fill_fourth_moment(covariance, w, ERF, 0.0, V)
    students, mixed = covariance[:M, :M], covariance[:M, M:]
    velocity_R = A @ mixed + B
    velocity_Q = A @ students + B @ mixed.T
    velocity_Q = velocity_Q + velocity_Q.T + eta * V
    return np.array([velocity_R[0, 0], velocity_Q[0, 0], velocity_Q[0, min(1, M - 1)]])


def plateau(M: int, eta: float, c: float) -> PlateauState:
    r"""The symmetric fixed point of M students and M orthonormal teachers.

    It does not depend on the spectrum once its mean is 1 and all blocks have the same teacher
    overlaps, since the eigenvalue factors out of the velocity of a block.

    Parameters
    ----------
    M : int
        At least 2.
    eta : float
        Learning rate; 0 for the gradient flow.
    c : float
        Output weight of every unit.

    Raises
    ------
    ValueError
        If M is below 2, or there is no such fixed point at this learning rate.
    """
    if M < 2:
        raise ValueError(f"a plateau needs at least 2 hidden units, got M = {M}")
    state = np.array([1 / sqrt(M * (2 * M - 1)), 1 / (2 * M - 1), 1 / (2 * M - 1)])
    if eta > 0:
        # Slightly apart, so that Q and C are free to part; followed from small learning rates.
        for rate in np.linspace(0, eta, max(2, int(np.ceil(4 * eta)) + 1))[1:]:
            state = root(_still, state + np.array([0.0, 1e-3, 0.0]), args=(M, rate, c), tol=1e-14).x
    if np.abs(_still(state, M, eta, c)).max() > 1e-9 or state[1] < state[2] - 1e-9:
        raise ValueError(f"no symmetric plateau was found at learning rate {eta} with M = {M}")
    R, Q, C = map(float, state)
    covariance = _fields(M, R, Q, C)
    w = np.repeat([-c, c], M)
    A, _ = _matrices(covariance, M, c)
    error = 0.5 * float(w @ _kernels(covariance)[0] @ w)
    return PlateauState(R, Q, C, error, float(A[0, 0] - A[0, 1]), _response(covariance, M, c))


def _response(covariance: np.ndarray, M: int, c: float) -> float:
    """Slope of the drift along a specialising direction: sum zero over students and teachers."""
    direction = np.zeros_like(covariance)
    pattern = np.eye(M) - np.full((M, M), 1 / M)
    direction[:M, M:], direction[M:, :M] = pattern, pattern.T
    step = 1e-5

    def drift(sign: int) -> np.ndarray:
        A, B = _matrices(covariance + sign * step * direction, M, c)
        return A @ covariance[:M, M:] + B

    change = (drift(1) - drift(-1)) / (2 * step)
    return float(change[0, 0] - change[0, 1])


def escape_rate(lam: np.ndarray, p: np.ndarray, eta: float, a: float, b: float) -> float:
    r"""Growth rate of the specialising modes at the plateau.

    The largest root of :math:`1 = \eta b \langle \lambda^2 / (\gamma - \eta a \lambda) \rangle`.

    Parameters
    ----------
    lam, p : array, shape (L,)
    eta : float
        Learning rate; the time of a gradient flow has ``eta`` = 1.
    a, b : float
        Of the ``PlateauState``.
    """

    def excess(rate: float) -> float:
        return float(eta * b * (p @ (lam**2 / (rate - eta * a * lam))) - 1)

    second = float(p @ lam**2)
    if abs(a) < 1e-13:
        return eta * b * second
    pole = eta * max(a * lam.max(), 0.0)
    high = pole + eta * b * second + eta * b * lam.max() + 1e-12
    while excess(high) > 0:
        high *= 2
    found: Any = brentq(excess, pole + 1e-12 * high, high, xtol=1e-15)
    return float(found)


def specialised_matrices(M: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Drift :math:`\mathcal L` and noise :math:`\mathcal V` near perfect learning, for c = 1.

    They act on the second moments of the deviations of a student from its teacher, in its own
    direction and along another student's.

    Parameters
    ----------
    M : int
        Number of students and of orthonormal teachers.
    """
    first, second = 1 / pi, 2 / (pi * sqrt(3))
    m1, m3, m4 = sqrt(first), 0.5 * (2 / pi) ** 1.5, 4 / (pi**2 * sqrt(5))
    crossed = 2 * m1 * m3 + (M - 2) * first * second
    drift = np.array([[second, (M - 1) * first], [first, second + (M - 2) * first]])
    noise = np.array(
        [
            [
                m4 + (M - 1) * second**2,
                2 * (M - 1) * m1 * m3 + (M - 1) * (M - 2) * first * second,
            ],
            [
                crossed,
                2 * second**2 + 4 * (M - 2) * first * second + (M - 2) * (M - 3) * first**2,
            ],
        ]
    )
    return drift, noise


def specialised_threshold(M: int, c: float) -> float:
    r"""Learning rate below which perfect learning is linearly stable.

    :math:`c^2 \eta_c` is the least positive root of
    :math:`\det(2\mathcal L - \eta\mathcal V) = 0`; with one hidden unit of
    :math:`2 m_2 = \eta m_4`.

    Parameters
    ----------
    M : int
        Number of students and of orthonormal teachers.
    c : float
        Output weight of every unit.
    """
    drift, noise = specialised_matrices(M)
    if M == 1:
        return float(2 * drift[0, 0] / noise[0, 0]) / c**2
    rates = np.linalg.eigvals(np.linalg.solve(2 * drift, noise))
    return float(1 / rates.real[np.abs(rates.imag) < 1e-12].max()) / c**2
