r"""Closed forms: soft-max at finite temperature, hard heads in blocks, tied heads, votes.

All are one-dimensional integrals over :math:`t=\langle w,y\rangle`, whose density is
:math:`c_d(1-t^2)^{(d-3)/2}`, or over the angle :math:`\theta = \arcsin|t|`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import bdtr, expit

from theorylab.attention_rank.arguments import whole
from theorylab.attention_rank.bounds import density_at_zero
from theorylab.attention_rank.harmonics import energies

NODES = 64
"""Gauss-Legendre nodes in each panel."""


@lru_cache(maxsize=8)
def _gauss(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(count)


def _panels(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss-Legendre quadrature on neighbouring panels."""
    node, weight = _gauss(NODES)
    half = np.diff(edges)[:, None] / 2
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    return (middle + half * node).ravel(), (half * weight).ravel()


def _angles(d: int, width: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Nodes :math:`\theta = \arcsin|t|` and probabilities; panels double from ``width`` on."""
    first = min(width, 1 / math.sqrt(d), 0.5) / 4
    doublings = math.ceil(math.log2(math.pi / 2 / first))
    edges = np.concatenate([[0.0], first * 2.0 ** np.arange(doublings), [math.pi / 2]])
    theta, weight = _panels(np.unique(edges))
    density = 2 * density_at_zero(d) * np.cos(theta) ** (d - 2)
    return theta, weight * density


def softmax_mse(d: int, tau: float) -> float:
    r"""Error of one full-rank soft-max head with logits :math:`\tau\langle x_i,y\rangle`.

    .. math:: \mathrm{MSE}(\tau) = 4c_d\int_0^1 (1-t^2)^{(d-3)/2}
        \bigl(1+e^{\sqrt2\,\tau t}\bigr)^{-2}\,dt .

    Two orthonormal keys in d dimensions and an independent uniform query.

    Parameters
    ----------
    d : int
        At least 2.
    tau : float
        Inverse temperature, non-negative.
    """
    d = whole(d, "d", 2)
    if not 0 <= tau < math.inf:
        raise ValueError(f"tau must be non-negative and finite, got {tau}")
    theta, probability = _angles(d, 1 / (1 + tau))
    wrong = expit(-math.sqrt(2) * tau * np.sin(theta))
    return float(2 * probability @ wrong**2)


def softmax_asymptote(d: int, tau: float) -> float:
    r"""Leading term :math:`2\sqrt2\,c_d(\ln 2-\tfrac12)/\tau` of ``softmax_mse``."""
    return 2 * math.sqrt(2) * density_at_zero(d) * (math.log(2) - 0.5) / tau


def projector_correlation(d: int, r: int) -> float:
    r"""Correlation of a hard head of rank r, Q K' a projector, with the target.

    .. math:: \beta_{d,r} = E\Bigl[\tfrac2\pi \arcsin\sqrt B\Bigr], \qquad
        B \sim \mathrm{Beta}\bigl(\tfrac r2, \tfrac{d-r}2\bigr).

    Parameters
    ----------
    d, r : int
        1 <= r <= d; the value is 1 for r = d and 1/2 for r = d/2.
    """
    d, r = whole(d, "d", 2), whole(r, "r", 1)
    if r > d:
        raise ValueError(f"r must be at most d={d}, got {r}")
    if r == d:
        return 1.0
    theta, weight = _panels(np.linspace(0, math.pi / 2, 65))
    with np.errstate(divide="ignore"):
        log_density = (r - 1) * np.log(np.sin(theta)) + (d - r - 1) * np.log(np.cos(theta))
    density = weight * np.exp(log_density - log_density.max())
    return float(density @ theta / density.sum() * 2 / math.pi)


def projector_mse(d: int, r: int) -> float:
    r"""Error :math:`1-(1+\beta)^2/4` of one projector head of rank r with its best scalar value."""
    return 1 - (1 + projector_correlation(d, r)) ** 2 / 4


def block_budget(d: int, H: int) -> float:
    r"""Error of H hard heads on disjoint blocks of d/H coordinates: the fixed budget H r = d.

    .. math:: \mathrm{MSE} = 1 - \frac{H(1+\beta_{d,d/H})^2}{2(1+H)} ,

    with the best common scalar value.

    Raises
    ------
    ValueError
        If H does not divide d.
    """
    d, H = whole(d, "d", 2), whole(H, "H", 1)
    if d % H:
        raise ValueError(f"H must divide d={d} to split it into blocks, got {H}")
    return 1 - H * (1 + projector_correlation(d, d // H)) ** 2 / (2 * (1 + H))


def tied_floor(d: int) -> float:
    r"""Least error of any number of tied rank-1 hard heads (q = k) with scalar values.

    .. math:: \mathrm{MSE} \ge 1 - \frac{(1+m_1)^2}{2(1+m_2)}, \qquad
        m_i = E\Bigl[\bigl(\tfrac2\pi\arcsin|t|\bigr)^i\Bigr].
    """
    theta, probability = _angles(whole(d, "d", 2), 1.0)
    share = 2 * theta / math.pi
    first, second = probability @ share, probability @ share**2
    return float(1 - (1 + first) ** 2 / (2 * (1 + second)))


def fallback_mse(d: int) -> float:
    r"""Limit :math:`\tfrac12(1-\eta_1^2)` of soft heads that together compute a linear function."""
    return float(energies(whole(d, "d", 2)).tails[0]) / 2


def vote_mse(d: int, H: int) -> float:
    r"""Error of two layers: H tied rank-1 heads vote, one head reads the majority.

    .. math:: \mathrm{MSE} = 2E_t\bigl[P(\mathrm{Bin}(H, p_t) < H/2)
        + \tfrac14 P(\mathrm{Bin}(H,p_t)=H/2)\bigr],
        \qquad p_t = \tfrac12 + \tfrac1\pi\arcsin|t| .

    The expectation is over keys, query and the random directions; some fixed directions do at
    least as well. On a tie the midpoint is returned.

    Parameters
    ----------
    d : int
    H : int
        Any size; the cost does not depend on it.
    """
    d, H = whole(d, "d", 2), whole(H, "H", 1)
    theta, probability = _angles(d, 1 / math.sqrt(H))
    chance = 0.5 + theta / math.pi
    below = bdtr((H - 1) // 2, H, chance)
    if H % 2:
        return float(2 * probability @ below)
    with_ties = bdtr(H // 2, H, chance)
    return float(2 * probability @ (0.75 * below + 0.25 * with_ties))


def vote_asymptote(d: int, H: int) -> float:
    r"""Leading term :math:`c_d\sqrt{2\pi/H}` of ``vote_mse``."""
    return density_at_zero(d) * math.sqrt(2 * math.pi / H)
