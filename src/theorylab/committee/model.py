"""The order parameters of committees of Gaussian inputs with any covariance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from theorylab.committee import phases
from theorylab.committee.flow import (
    dense_jacobian,
    generalisation_error,
    moments,
    velocity,
)
from theorylab.committee.phases import PlateauState
from theorylab.committee.rosenbrock import integrate
from theorylab.committee.spectrum import Spectrum
from theorylab.committee.trajectory import Statistics, Trajectory
from theorylab.gaussian import RELU, activation_code

METHODS = ("structured", "BDF", "LSODA", "DOP853")
MOST_STEPS = 200_000


def _weights(values: ArrayLike | None, count: int, default: float, name: str) -> np.ndarray:
    array = np.full(count, default) if values is None else np.array(values, dtype=float)
    if array.ndim == 0:
        array = np.full(count, float(array))
    if array.shape != (count,) or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a number or {count} finite numbers; got {values!r}")
    return array


def _grams(values: ArrayLike, blocks: int, name: str) -> np.ndarray:
    """One symmetric positive semidefinite matrix per block."""
    array = np.array(values, dtype=float)
    if array.ndim == 2:
        array = np.repeat(array[None], blocks, axis=0)
    if array.ndim != 3 or len(array) != blocks or array.shape[1] != array.shape[2]:
        raise ValueError(
            f"{name} must be a square matrix or {blocks} of them, one per eigenvalue; "
            f"got shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinite entries")
    array = (array + np.swapaxes(array, 1, 2)) / 2
    _check_semidefinite(array, name)
    return array


def _check_semidefinite(grams: np.ndarray, name: str) -> None:
    eigenvalues = np.linalg.eigvalsh(grams)
    allowed = -1e-10 * np.maximum(eigenvalues[..., -1], 0) - 1e-300
    if (eigenvalues[..., 0] < allowed).any():
        raise ValueError(
            f"{name} must be positive semidefinite in every block; "
            f"least eigenvalue {eigenvalues.min():.3g}"
        )


@dataclass(frozen=True, eq=False)
class Committee:
    r"""Students that learn from teachers by one-pass gradient descent, as N grows.

    A step on the sample :math:`\xi` moves student i by
    :math:`\eta c^s_i \delta g'(x_i) \xi / \sqrt N` with :math:`\delta` the error of the output.
    With :math:`R_k`, :math:`Q_k`, :math:`T_k` the overlaps in the directions of eigenvalue
    :math:`\lambda_k`,

    .. math:: \dot R_k = \eta\lambda_k (A R_k + B T_k),\quad
        \dot Q_k = \eta\lambda_k (A Q_k + B R_k^\top + (\cdot)^\top) + \eta^2\lambda_k V.

    Parameters
    ----------
    spectrum : Spectrum
    T : array, shape (M, M) or (L, M, M)
        Overlaps among teachers, in all blocks or in each.
    K : int
        Number of students.
    eta : float
        Learning rate.
    cs, ct : float or array, optional
        Output weights of students, shape (K,), and teachers, shape (M,). By default
        :math:`\sqrt M / K` and :math:`1/\sqrt M`.
    act : {"erf", "relu", "linear"}
    sigma2 : float
        Variance of the label noise.
    gradient_flow : bool
        Drop the noise of the gradient (:math:`\eta\to0`). With ``eta`` = 1, time is
        :math:`\eta\alpha`. ReLU needs it.
    R0, Q0 : array, shape (L, K, M) and (L, K, K), optional
        Where an integration starts; see ``starting_at`` and ``from_weights``.

    Raises
    ------
    ValueError
        For shapes that do not fit, values that are not finite, Gram matrices with negative
        eigenvalues, a learning rate that is not positive, or ReLU without ``gradient_flow``.
    """

    spectrum: Spectrum
    T: np.ndarray
    K: int
    eta: float
    cs: Any = None
    ct: Any = None
    act: str = "erf"
    sigma2: float = 0.0
    gradient_flow: bool = False
    R0: Any = None
    Q0: Any = None

    def __post_init__(self) -> None:
        T = _grams(self.T, len(self.spectrum), "T")
        M = T.shape[-1]
        if self.K < 1 or M < 1:
            raise ValueError(f"K and the number of teachers must be positive, got {self.K}, {M}")
        if not (np.isfinite(self.eta) and self.eta > 0):
            raise ValueError(f"eta must be finite and positive, got {self.eta}")
        if not (np.isfinite(self.sigma2) and self.sigma2 >= 0):
            raise ValueError(f"sigma2 must be finite and non-negative, got {self.sigma2}")
        if activation_code(self.act) == RELU and not self.gradient_flow:
            raise ValueError(
                "the noise of ReLU gradients has no closed form: set gradient_flow=True and "
                "eta=1; time is then eta * alpha"
            )
        set_value = object.__setattr__
        set_value(self, "T", T)
        set_value(self, "cs", _weights(self.cs, self.K, sqrt(M) / self.K, "cs"))
        set_value(self, "ct", _weights(self.ct, M, 1 / sqrt(M), "ct"))
        if (self.R0 is None) != (self.Q0 is None):
            raise ValueError("give R0 and Q0 together")
        if self.R0 is not None:
            self._check_start()

    def _check_start(self) -> None:
        Q0 = _grams(self.Q0, len(self.spectrum), "Q0")
        R0 = np.array(self.R0, dtype=float)
        if R0.ndim == 2:
            R0 = np.repeat(R0[None], len(self.spectrum), axis=0)
        if R0.shape != (len(self.spectrum), self.K, self.M) or Q0.shape[-1] != self.K:
            raise ValueError(
                f"R0 and Q0 must have {len(self.spectrum)} blocks of shape {(self.K, self.M)} and "
                f"{(self.K, self.K)}; got shapes {R0.shape} and {Q0.shape}"
            )
        if not np.isfinite(R0).all():
            raise ValueError("R0 holds NaN or infinite entries")
        upper = np.concatenate([Q0, R0], axis=-1)
        lower = np.concatenate([np.swapaxes(R0, 1, 2), self.T], axis=-1)
        _check_semidefinite(np.concatenate([upper, lower], axis=-2), "the Gram matrix of R0 and Q0")
        variances = np.einsum("k,kii->i", self.spectrum.p * self.spectrum.lam, Q0)
        if activation_code(self.act) == RELU and (variances <= 0).any():
            raise ValueError("a ReLU student starts at the zero vector; start it elsewhere")
        object.__setattr__(self, "R0", R0)
        object.__setattr__(self, "Q0", Q0)

    @property
    def M(self) -> int:
        """Number of teachers."""
        return self.T.shape[-1]

    def starting_at(self, R: ArrayLike, Q: ArrayLike) -> Committee:
        """The same committee with these overlaps at the start; one block's serve for all."""
        return replace(self, R0=np.asarray(R, dtype=float), Q0=np.asarray(Q, dtype=float))

    def from_weights(self, J: ArrayLike, B: ArrayLike, labels: ArrayLike) -> Committee:
        """The same committee with the overlaps of weights, teachers' included.

        Parameters
        ----------
        J, B : array, shape (K, N) and (M, N)
            Weights of students and teachers along the principal axes of the inputs.
        labels : array of int, shape (N,)
            Which eigenvalue each axis has. The counts must agree with the fractions of the
            spectrum.
        """
        students, teachers = np.asarray(J, dtype=float), np.asarray(B, dtype=float)
        blocks = np.asarray(labels)
        if students.shape != (self.K, blocks.size) or teachers.shape != (self.M, blocks.size):
            raise ValueError(
                f"J and B must have shapes {(self.K, blocks.size)} and {(self.M, blocks.size)}; "
                f"got {students.shape} and {teachers.shape}"
            )
        counts = np.bincount(blocks, minlength=len(self.spectrum))
        if (
            counts.size > len(self.spectrum)
            or (np.abs(counts / blocks.size - self.spectrum.p) > 1e-9).any()
        ):
            raise ValueError("the counts of labels differ from the fractions p of the spectrum")
        W = np.concatenate([students, teachers])
        products = np.zeros((len(self.spectrum), len(W), len(W)))
        np.add.at(products, blocks, W.T[:, :, None] * W.T[:, None, :])
        products /= counts[:, None, None]
        K = self.K
        return replace(self, T=products[:, K:, K:], R0=products[:, :K, K:], Q0=products[:, :K, :K])

    # --- the flow --------------------------------------------------------------------------

    @property
    def _constants(self) -> Any:
        """What the compiled functions need besides the state."""
        weight = self.spectrum.p * self.spectrum.lam
        return (
            np.ascontiguousarray(self.spectrum.lam),
            np.ascontiguousarray(self.spectrum.p),
            np.ascontiguousarray(self.T),
            np.einsum("k,kmn->mn", weight, self.T),
            np.concatenate([-self.cs, self.ct]),
            float(self.eta),
            activation_code(self.act),
            float(self.sigma2),
            bool(self.gradient_flow),
        )

    def pack(self, R: ArrayLike, Q: ArrayLike) -> np.ndarray:
        """Overlaps as one state vector, block by block: R, then the upper triangle of Q."""
        L, rows = len(self.spectrum), np.triu_indices(self.K)
        R, Q = np.asarray(R, dtype=float), np.asarray(Q, dtype=float)
        flat = R.reshape(L, self.K * self.M)
        return np.concatenate([flat, Q[:, rows[0], rows[1]]], axis=1).ravel()

    def unpack(self, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Overlaps R (..., L, K, M) and Q (..., L, K, K) of state vectors (..., L n)."""
        states = np.asarray(y, dtype=float)
        L, K, M = len(self.spectrum), self.K, self.M
        states = states.reshape(*states.shape[:-1], L, K * M + K * (K + 1) // 2)
        Q = np.empty((*states.shape[:-1], K, K))
        rows, columns = np.triu_indices(K)
        Q[..., rows, columns] = Q[..., columns, rows] = states[..., K * M :]
        return states[..., : K * M].reshape(*states.shape[:-1], K, M), Q

    def _rows(self, y: ArrayLike) -> np.ndarray:
        state = np.ascontiguousarray(y, dtype=float)
        n = self.K * self.M + self.K * (self.K + 1) // 2
        if state.size != len(self.spectrum) * n:
            raise ValueError(f"a state has {len(self.spectrum) * n} entries, got {state.size}")
        return state.reshape(-1, n)

    def rhs(self, y: ArrayLike) -> np.ndarray:
        """Velocity of a state vector (see ``pack``)."""
        rows = self._rows(y)
        out = np.empty_like(rows)
        velocity(rows, *self._constants, out)  # pyright: ignore[reportCallIssue]
        return out.ravel()

    def jacobian(self, y: ArrayLike) -> np.ndarray:
        """Derivative of ``rhs``, shape (L n, L n)."""
        return dense_jacobian(self._rows(y), *self._constants)

    def error(self, y: ArrayLike) -> float:
        """Generalisation error of a state vector."""
        lam, p, _, T1, w, _, activation, _, _ = self._constants
        return float(
            generalisation_error(moments(self._rows(y), p * lam), T1, w, self.K, activation)
        )

    def integrate(
        self,
        alpha: ArrayLike,
        rtol: float = 1e-6,
        atol: float = 1e-9,
        method: str = "structured",
    ) -> Trajectory:
        r"""Follow the flow from the start at time 0.

        Parameters
        ----------
        alpha : array, shape (times,)
            Increasing, non-negative times at which the overlaps are wanted.
        rtol, atol : float
            Tolerances of one step, in every component.
        method : {"structured", "BDF", "LSODA", "DOP853"}
            The structured stiff integrator, or one of scipy's.

        Returns
        -------
        Trajectory
            Times that an overflow kept from being reached are left out; this is what happens
            beyond the critical learning rate, and ``stats.completed`` says so.

        Raises
        ------
        ValueError
            If there is no start, or the times, tolerances or method are not legal.
        """
        times = np.asarray(alpha, dtype=float)
        if self.R0 is None or self.Q0 is None:
            raise ValueError("no start: use from_weights(...) or starting_at(...) first")
        if times.ndim != 1 or times.size == 0 or not np.isfinite(times).all():
            raise ValueError("alpha must be a non-empty vector of finite times")
        if times[0] < 0 or (np.diff(times) <= 0).any():
            raise ValueError("alpha must increase from a non-negative time")
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
        if not (rtol > 0 and atol > 0):
            raise ValueError(f"tolerances must be positive, got {rtol} and {atol}")
        grid = times if times[0] == 0 else np.concatenate([[0.0], times])
        start = self.pack(self.R0, self.Q0)
        follow = self._structured if method == "structured" else self._scipy
        states, stats = follow(start, grid, rtol, atol, method)
        states = states[len(grid) - len(times) :]
        R, Q = self.unpack(states)
        errors = np.array([self.error(state) for state in states])
        return Trajectory(times[: len(states)], R, Q, errors, stats)

    def _structured(
        self, start: np.ndarray, grid: np.ndarray, rtol: float, atol: float, method: str
    ) -> tuple[np.ndarray, Statistics]:
        options = (grid, float(rtol), float(atol), MOST_STEPS)
        found, steps, rejected = integrate(
            self._rows(start),
            *self._constants,
            *options,  # pyright: ignore[reportCallIssue]
        )
        states = found.reshape(len(grid), -1)
        reached = np.isfinite(states).all(axis=1)
        return states[reached], Statistics(method, steps, rejected, bool(reached.all()))

    def _scipy(
        self, start: np.ndarray, grid: np.ndarray, rtol: float, atol: float, method: str
    ) -> tuple[np.ndarray, Statistics]:
        found = solve_ivp(
            lambda _, y: self.rhs(y),
            (0.0, grid[-1]),
            start,
            method=method,
            t_eval=grid,
            rtol=rtol,
            atol=atol,
        )
        return found.y.T, Statistics(method, int(found.nfev), 0, bool(found.success))

    # --- phases of matched committees --------------------------------------------------------

    def _common_weight(self) -> float:
        """The output weight of all units, for formulas that need them equal."""
        weights = np.concatenate([self.cs, self.ct])
        if self.K != self.M or np.ptp(weights) > 1e-12 * np.abs(weights).max():
            raise ValueError("needs as many students as teachers, with equal output weights")
        if self.act != "erf" or np.abs(self.T - np.eye(self.M)).max() > 1e-12:
            raise ValueError("needs erf units and orthonormal teachers (T = I) in every block")
        if abs(self.spectrum.mean - 1) > 1e-9:
            raise ValueError(f"needs a spectrum of mean 1, got {self.spectrum.mean}")
        if self.sigma2 > 0:
            raise ValueError("needs labels without noise")
        return float(weights[0])

    def plateau(self, eta: float | None = None) -> PlateauState:
        """The symmetric fixed point, at the committee's learning rate or at ``eta``.

        Raises
        ------
        ValueError
            If students and teachers do not match, or no such point exists.
        """
        rate = (0.0 if self.gradient_flow else self.eta) if eta is None else float(eta)
        return phases.plateau(self.M, rate, self._common_weight())

    def at_plateau(self) -> Committee:
        """The same committee started at its symmetric fixed point."""
        found = self.plateau()
        students = np.full((self.K, self.K), found.C) + (found.Q - found.C) * np.eye(self.K)
        return self.starting_at(np.full((self.K, self.M), found.R), students)

    def escape_rate(self) -> float:
        """Growth rate of the specialising modes at the plateau, per unit of alpha."""
        found = self.plateau()
        return phases.escape_rate(self.spectrum.lam, self.spectrum.p, self.eta, found.a, found.b)

    def specialised_threshold(self) -> float:
        """Learning rate below which perfect learning is linearly stable."""
        return phases.specialised_threshold(self.M, self._common_weight())
