"""Predictions: the linear law in closed form, finite-size means, thresholds, plateau and escape."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import asin, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gamma, gammaincc, zeta

from theorylab.committee.phases import specialised_threshold
from theorylab.committee.spectrum import Spectrum, check_exponent

__all__ = [
    "corrected_constant",
    "escape_time",
    "eta_c_mean_square",
    "eta_c_ode",
    "feature_floor",
    "feature_tail",
    "learning_curve_exponent",
    "limit_threshold",
    "linear_mean_finite",
    "linear_ode",
    "mean_matrix_step",
    "plateau_height",
    "plateau_overlaps",
    "power_law_bracket",
    "power_law_sum",
    "specialised_error",
    "specialised_threshold",
]


def _rate(eta: Any) -> Any:
    if not eta > 0 or not float(eta) < float("inf"):
        raise ValueError(f"eta must be finite and positive, got {eta}")
    return eta


def _eigenvalues(lam: ArrayLike) -> np.ndarray:
    values = np.asarray(lam, dtype=float)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"lam must be a non-empty vector, got shape {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ValueError("lam must hold finite, non-negative eigenvalues, not all of them zero")
    return values


def _whole(count: int, name: str) -> int:
    if isinstance(count, bool) or int(count) != count or count < 0:
        raise ValueError(f"{name} must be a non-negative integer, got {count}")
    return int(count)


# --- the linear network ----------


def linear_ode(
    spectrum: Spectrum, w0: ArrayLike, eta: float, alpha: ArrayLike, sigma2: float = 0.0
) -> np.ndarray:
    r"""Generalisation error of a linear student as N grows, at all times by one diagonalisation.

    .. math:: \dot w_k = -2\eta\lambda_k w_k + \eta^2\lambda_k(\langle\lambda w\rangle+\sigma^2),
        \qquad \epsilon_g = \tfrac12 \langle\lambda w\rangle .

    Parameters
    ----------
    spectrum : Spectrum
    w0 : float or array, shape (L,)
        Mean squared deviation from the teacher at the start, per direction.
    eta : float
        Learning rate (for a committee: times the sum of the squared output weights).
    alpha : array, shape (times,)
        Samples per input dimension.
    sigma2 : float
        Variance of the label noise.

    Returns
    -------
    array, shape (times,)
    """
    lam, root = spectrum.lam, np.sqrt(spectrum.p)
    start = np.broadcast_to(np.asarray(w0, dtype=float), lam.shape) * root
    times = np.asarray(alpha, dtype=float)
    if not np.isfinite(times).all() or (times < 0).any():
        raise ValueError("alpha must be finite and non-negative")
    u = lam * root
    rates, modes = np.linalg.eigh(-2 * _rate(eta) * np.diag(lam) + eta**2 * np.outer(u, u))
    growth = np.multiply.outer(times, rates)
    forced = times[:, None] * _exprel(growth) * (modes.T @ u * eta**2 * sigma2)
    return 0.5 * (np.exp(growth) * (modes.T @ start) + forced) @ (modes.T @ u)


def _exprel(x: np.ndarray) -> np.ndarray:
    """(exp(x) - 1) / x, one at zero."""
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, np.expm1(safe) / safe)


def linear_mean_finite(
    lam: Any,
    v2: Any,
    eta: Any,
    steps: int,
    exact: bool = False,
    sigma2: Any = 0,
    trained: int | None = None,
) -> Any:
    r"""Mean generalisation error of one-pass descent at every finite N, after each step.

    .. math:: c_i \leftarrow c_i\Big(1-\tfrac{2\eta\lambda_i}{N}+\tfrac{2\eta^2\lambda_i^2}{N^2}
        \Big) + \tfrac{\eta^2}{N^2}\lambda_i\Big(\sum_j\lambda_jc_j+N\sigma^2\Big),\qquad
        E\epsilon_g=\tfrac1{2N}\sum_i\lambda_ic_i .

    Parameters
    ----------
    lam : sequence, length N
        Variance along each principal axis, with repetitions.
    v2 : sequence, length N
        Squared deviation from the teacher along each axis at the start.
    eta : number
    steps : int
    exact : bool
        Compute in fractions; all numbers must then be integers or ``Fraction``.
    sigma2 : number
        Variance of the label noise.
    trained : int, optional
        Train only the first so many coordinates; all if left out.

    Returns
    -------
    array of float, or list of Fraction, length steps + 1

    Raises
    ------
    TypeError
        If ``exact`` and a float was given.
    ValueError
        If lengths differ, eigenvalues are negative, or steps is negative.
    """
    steps, N = _whole(steps, "steps"), len(lam)
    if len(v2) != N:
        raise ValueError(f"lam and v2 must have the same length, got {N} and {len(v2)}")
    if exact:
        numbers = [*lam, *v2, eta, sigma2]
        if any(not isinstance(x, (int, Fraction)) or isinstance(x, bool) for x in numbers):
            raise TypeError("exact=True needs integers or Fractions; convert floats yourself")
        spread = np.array([Fraction(x) for x in lam], dtype=object)
        c = np.array([Fraction(x) for x in v2], dtype=object)
        eta, sigma2, half = Fraction(eta), Fraction(sigma2), Fraction(1, 2)
    else:
        spread, c, half = _eigenvalues(lam), np.asarray(v2, dtype=float), 0.5
    _rate(eta)
    pull = eta * spread / N
    kept, gain = 1 - 2 * pull + 2 * pull * pull, eta * pull / N
    if trained is not None:
        kept[_whole(trained, "trained") :] = 1
        gain[trained:] = 0
    errors = [half * (spread @ c) / N]
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(steps):
            c = kept * c + gain * (2 * N * errors[-1] + N * sigma2)
            errors.append(half * (spread @ c) / N)
    return errors if exact else np.array(errors)


def mean_matrix_step(C: np.ndarray, lam: np.ndarray, eta: Any) -> np.ndarray:
    r"""One step of the whole second moment of the deviation, off-diagonal entries included.

    .. math:: C - \tfrac\eta N(\Sigma C + C\Sigma)
        + \tfrac{\eta^2}{N^2}(2\Sigma C\Sigma + \Sigma\,\mathrm{tr}\,\Sigma C)
    """
    N = len(lam)
    left, right = lam[:, None] * C, C * lam[None, :]
    trace = sum((lam * np.diagonal(C)).tolist())
    twice = lam[:, None] * C * lam[None, :]
    share = eta / N if isinstance(eta, float) else Fraction(eta) / N
    return C - share * (left + right) + share * share * (2 * twice + np.diag(lam) * trace)


def eta_c_ode(lam: ArrayLike, p: ArrayLike | None = None) -> float:
    r"""Stability threshold of the linear flow, :math:`2/\langle\lambda\rangle`.

    Parameters
    ----------
    lam, p : array, shape (L,)
        As for ``Spectrum``.
    """
    return 2 / Spectrum(_eigenvalues(lam), p).mean


def eta_c_mean_square(lam: ArrayLike) -> float:
    r"""Learning rate up to which the mean squared deviation of one-pass descent converges.

    The root below :math:`N/\lambda_1` of
    :math:`\frac{\eta}{2N}\sum_j \frac{\lambda_j}{1-\eta\lambda_j/N} = 1`; exact at every N.

    Parameters
    ----------
    lam : array, shape (N,)
        One eigenvalue per axis, with repetitions.
    """
    share = _eigenvalues(lam) / np.size(lam)
    return _root_of_loss(lambda eta: 0.5 * eta * np.sum(share / (1 - eta * share)), share.max())


def _root_of_loss(loss: Callable[[float], float], largest: float) -> float:
    end = (1 - 1e-15) / largest
    found: Any = brentq(lambda eta: loss(eta) - 1, 1e-12 * end, end, xtol=1e-14)
    return float(found)


def limit_threshold(beta: float, head: int = 200_000) -> float:
    r"""The same threshold as N grows with one eigenvalue of the power law per direction.

    .. math:: \tfrac\eta2\sum_j\frac{\kappa_j}{1-\eta\kappa_j}=1,\qquad
        \kappa_j=j^{-(1+\beta)}/\zeta(1+\beta)

    Parameters
    ----------
    beta : float
    head : int
        Terms that are summed; the rest is its integral by the midpoint rule.
    """
    total = zeta(1 + check_exponent(beta))
    kappa = np.arange(1, head + 1, dtype=float) ** -(1 + beta) / total
    tail = (head + 0.5) ** -beta / beta / total
    return _root_of_loss(
        lambda eta: 0.5 * eta * (np.sum(kappa / (1 - eta * kappa)) + tail), kappa[0]
    )


# --- power laws ----------


def learning_curve_exponent(beta: float) -> float:
    r"""The exponent :math:`\beta/(1+\beta)` of the learning curve."""
    return check_exponent(beta) / (1 + beta)


def _truncated_zeta(L: int, exponent: float) -> float:
    return float(zeta(exponent) - zeta(exponent, L + 1))


def power_law_sum(
    beta: float, L: int, eta: float, alpha: ArrayLike, sigma_J: float = 0.0
) -> np.ndarray:
    r"""Small-learning-rate error F of a linear student, the sum over eigenvalues itself.

    .. math:: F=\frac{(1+\sigma_J^2)\lambda_+}{2L}\sum_{k\le L}k^{-(1+\beta)}
        e^{-2\eta\lambda_+\alpha k^{-(1+\beta)}}
    """
    k = np.arange(1, L + 1, dtype=float) ** -(1 + check_exponent(beta))
    top = L / k.sum()
    times = np.atleast_1d(np.asarray(alpha, dtype=float))
    sums = np.array([k @ np.exp(-2 * _rate(eta) * top * t * k) for t in times])
    return (1 + sigma_J**2) * top / (2 * L) * sums


def power_law_bracket(
    beta: float, L: int, eta: float, alpha: ArrayLike, sigma_J: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    r"""Rigorous bounds on F by incomplete gamma functions, without the sum.

    With :math:`s=\beta/(1+\beta)` and :math:`x=2\eta\lambda_+\alpha`,

    .. math:: F = \frac{(1+\sigma_J^2)\lambda_+}{2L}
        \Big[\frac{\Gamma(s,xL^{-(1+\beta)})-\Gamma(s,x)}{(1+\beta)x^s}+r\Big],\qquad
        |r|\le\max_{L^{-(1+\beta)}\le u\le1}ue^{-xu},

    since a sum over a unimodal function differs from its integral by at most its maximum, which
    is :math:`1/(ex)` in the window :math:`1\le x\le L^{1+\beta}`.

    Parameters
    ----------
    beta : float
    L : int
        Number of eigenvalues.
    eta : float
        Learning rate, small: the noise of the gradient is left out.
    alpha : array, shape (times,)
        Positive.
    sigma_J : float
        Standard deviation of the student's weights at the start.

    Returns
    -------
    low, high : array, shape (times,)
    """
    check_exponent(beta)
    if L < 1:
        raise ValueError(f"L must be at least 1, got {L}")
    times = np.atleast_1d(np.asarray(alpha, dtype=float))
    if not (np.isfinite(times).all() and (times > 0).all()):
        raise ValueError("alpha must be finite and positive")
    s, total = learning_curve_exponent(beta), _truncated_zeta(L, 1 + beta)
    x, smallest = 2 * _rate(eta) * L / total * times, float(L) ** -(1 + beta)
    integral = gamma(s) * (gammaincc(s, x * smallest) - gammaincc(s, x)) / ((1 + beta) * x**s)
    peak = np.clip(1 / x, smallest, 1.0)
    most, scale = peak * np.exp(-x * peak), (1 + sigma_J**2) / (2 * total)
    return scale * (integral - most), scale * (integral + most)


def window(beta: float, L: int, eta: float) -> tuple[float, float]:
    r"""Times between which F is near its power law: :math:`1\le x\le L^{1+\beta}`."""
    start = _truncated_zeta(L, 1 + check_exponent(beta)) / (2 * _rate(eta) * L)
    return start, start * float(L) ** (1 + beta)


def prefactor_law(beta: float, L: int, eta: float, alpha: ArrayLike) -> np.ndarray:
    r"""The power law itself,
    :math:`\frac{\Gamma(s)}{2(1+\beta)\zeta_L^{1/(1+\beta)}}(2\eta L\alpha)^{-s}`."""
    s, total = learning_curve_exponent(beta), _truncated_zeta(L, 1 + beta)
    prefactor = gamma(s) / (2 * (1 + beta) * total ** (1 / (1 + beta)))
    return prefactor * (2 * eta * L * np.asarray(alpha, dtype=float)) ** -s


def corrected_constant(beta: float, L: int) -> float:
    r"""Half the variance that a spectrum cut at L lacks,
    :math:`\frac12 (L+\frac12)^{-\beta}/(\beta\zeta_L)`."""
    return 0.5 * (L + 0.5) ** -check_exponent(beta) / (beta * _truncated_zeta(L, 1 + beta))


# --- trained features ----------


def feature_floor(lam: Any, trained: int, eta: Any, exact: bool = True) -> Any:
    r"""Error that remains when only the largest-variance coordinates are trained from zero.

    With :math:`r = \frac1N\sum_{k>N_l}\lambda_k`: at every finite N,

    .. math:: 2N\epsilon_\infty = \frac{Nr}{1-\sum_{k\le N_l}
        \frac{\eta\lambda_k/N}{2(1-\eta\lambda_k/N)}},

    and as N grows :math:`\epsilon_\infty = \frac{r/2}{1-\frac\eta2(1-r)}` for variances of
    mean 1.

    Parameters
    ----------
    lam : sequence, length N
        Variances of the coordinates in the order of training: the first ``trained`` are trained.
        Integers and Fractions are computed exactly.
    trained : int
        Number of trained coordinates, from 0 to N.
    eta : number
    exact : bool
        The formula of finite N; else its limit.

    Raises
    ------
    ValueError
        If ``trained`` is out of range, or the learning rate so large that nothing converges.
    """
    trained, N = _whole(trained, "trained"), len(lam)
    if trained > N:
        raise ValueError(f"trained must lie between 0 and the {N} coordinates, got {trained}")
    _eigenvalues([float(x) for x in lam])
    _rate(eta)
    frozen = sum(lam[trained:])
    if not exact:
        r = frozen / N
        return r / 2 / (1 - eta / 2 * (1 - r))
    shares = [eta * x / N for x in lam[:trained]]
    if any(share >= 1 for share in shares):
        raise ValueError(f"eta = {eta} is beyond the threshold N / lam_1: nothing converges")
    fed_back = sum(share / (2 * (1 - share)) for share in shares)
    if fed_back >= 1:
        raise ValueError(f"eta = {eta} is beyond the mean-square threshold: nothing converges")
    return frozen / (2 * N * (1 - fed_back))


def feature_tail(beta: float, trained: ArrayLike, L: int) -> tuple[np.ndarray, np.ndarray]:
    """Integral bounds on the share r of variance beyond the trained coordinates."""
    n, total = np.asarray(trained, dtype=float), _truncated_zeta(L, 1 + check_exponent(beta))
    end = (L + 1.0) ** -beta, float(L) ** -beta
    low = ((n + 1) ** -beta - end[0]) / (beta * total)
    high = (n**-beta - end[1]) / (beta * total)
    return low, high


# --- plateau and specialisation ----------


def plateau_overlaps(M: int) -> tuple[float, float]:
    r"""Overlaps :math:`R^*=1/\sqrt{M(2M-1)}` and :math:`Q^*=1/(2M-1)` of the plateau."""
    return 1 / sqrt(M * (2 * M - 1)), 1 / (2 * M - 1)


def plateau_height(M: int, c: float) -> float:
    r"""Error of the plateau at small learning rates,
    :math:`c^2M[\frac16-\frac M\pi\arcsin\frac1{2M}]`."""
    return c * c * M * (1 / 6 - M / pi * asin(1 / (2 * M)))


def escape_time(M: int, c: float, eta: float, spectrum: Spectrum) -> float:
    r"""Time constant of the escape from the plateau at small learning rates.

    .. math:: \tau^{-1} = \eta c^2\frac2\pi\frac{M}{\sqrt{2M-1}(2M+1)^{3/2}}
        \langle\lambda^2\rangle

    Parameters
    ----------
    M : int
        Number of students and of teachers, at least 2.
    c : float
        Output weight of every unit.
    eta : float
    spectrum : Spectrum
        Of mean 1.
    """
    if M < 2:
        raise ValueError(f"a plateau needs at least 2 hidden units, got M = {M}")
    slope = 2 / pi * M / (sqrt(2 * M - 1) * (2 * M + 1) ** 1.5)
    return 1 / (_rate(eta) * c * c * slope * spectrum.moment(2))


def specialised_rates(M: int) -> tuple[float, float]:
    r"""Stiffness :math:`g_s` of the shared deviation, and :math:`g_a` of the M - 1 others."""
    return 2 / pi * (1 / sqrt(3) + (M - 1) / 2), 2 / pi * (1 / sqrt(3) - 1 / 2)


def specialised_error(
    M: int, c: float, eta: float, spectrum: Spectrum, alpha: ArrayLike
) -> np.ndarray:
    r"""Error after specialisation at small learning rates.

    .. math:: \tfrac{c^2}2\big\langle\lambda\big[g_se^{-2\eta c^2g_s\lambda\alpha}
        +(M-1)g_ae^{-2\eta c^2g_a\lambda\alpha}\big]\big\rangle
    """
    shared, apart = specialised_rates(M)
    times = np.multiply.outer(np.asarray(alpha, dtype=float), spectrum.lam)

    def decay(g: float) -> np.ndarray:
        return g * np.exp(-2 * _rate(eta) * c * c * g * times) @ (spectrum.p * spectrum.lam)

    return c * c / 2 * (decay(shared) + (M - 1) * decay(apart))
