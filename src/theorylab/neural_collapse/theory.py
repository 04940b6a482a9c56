r"""Predictions: closed forms and bounds in terms of a few scalars, without any network.

Notation: :math:`R = Z_L - Y`, :math:`\varepsilon_1 = \|R\|_F`; :math:`W` is the last layer with
singular values :math:`s_1 \ge \dots \ge s_K`; N samples in K equal classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.optimize import minimize_scalar


def label_spread(N: int, K: int) -> float:
    r"""Norm :math:`\sqrt{N(K-1)/K}` of centred one-hot labels of K equal classes."""
    return math.sqrt(N * (K - 1) / K)


def nc1_bound(
    s1: float,
    sK: float,
    within_residual: float,
    leak: float,
    between_residual: float,
    spread: float,
) -> float:
    r"""Bound on NC1 from the parts of the residual and the leak into the kernel of W.

    .. math::
        \frac{s_1^2\bigl[(\|RQ_\perp\|_F/s_K)^2 + \mathrm{leak}\bigr]}
        {(\mathrm{spread} - \|RQ_B\|_F)^2}

    Parameters
    ----------
    s1, sK : float
        Extreme singular values of the last layer.
    within_residual, between_residual : float
        Norms of the residual minus its class means, and of its centred class means.
    leak : float
        Bound on the squared norm of the features' within-class part in the kernel of W.
    spread : float
        ``label_spread(N, K)``.

    Returns
    -------
    float
        Infinite where the residual exceeds the spread of the labels, or W is rank-deficient.
    """
    if between_residual >= spread or sK <= 0:
        return math.inf
    return s1**2 * ((within_residual / sK) ** 2 + leak) / (spread - between_residual) ** 2


def nc1_prior_bound(
    r: float, eps1: float, eps2: float, n: int, N: int, K: int, power: int = 4
) -> float:
    r"""Bound on NC1 from norms alone: the shape of the paper's theorem, with derived constants.

    .. math::
        \frac{r^4}{N}\cdot
        \frac{\bigl(\varepsilon_1/(\sqrt{N/K}-\varepsilon_1)\bigr)^2 + n\,\varepsilon_2}
        {\bigl(\sqrt{(K-1)/K}-\varepsilon_1/\sqrt N\bigr)^2}

    Parameters
    ----------
    r : float
        Largest spectral norm among the head's layers and the features of its last two.
    eps1, eps2 : float
        Training error and imbalance.
    n : int
        Width of the last hidden layer.
    N, K : int
    power : int
        Of r; any less than 4 is wrong.
    """
    if eps1 >= min(math.sqrt(N / K), label_spread(N, K)):
        return math.inf
    error = (eps1 / (math.sqrt(N / K) - eps1)) ** 2
    gap = math.sqrt((K - 1) / K) - eps1 / math.sqrt(N)
    return r**power / N * (error + n * eps2) / gap**2


def kappa_bound(s1_head: float, sK_head: float, defect: float, exponent: float) -> float:
    r"""Condition number of the last layer from that of the whole linear part.

    .. math:: \Bigl(\frac{s_1(\Pi)^2+\Delta}{s_K(\Pi)^2-\Delta}\Bigr)^{1/(2L_2)}

    Parameters
    ----------
    s1_head, sK_head : float
        Extreme singular values of the product of the linear layers.
    defect : float
        :math:`\Delta`.
    exponent : float
        :math:`1/(2L_2)`.
    """
    if defect >= sK_head**2:
        return math.inf
    return ((s1_head**2 + defect) / (sK_head**2 - defect)) ** exponent


def power_defect(layer_norms: Sequence[float], tails: Sequence[float], D: Sequence[float]) -> float:
    r"""The defect :math:`\Delta` with :math:`|s_i(W_L)^{2L_2} - s_i(\Pi)^2| \le \Delta`.

    .. math::
        \Delta = \sum_{j=0}^{L_2-2}(j+1)\max(\|W_{m+j}\|, \|W_{m+j+1}\|)^{2j}\,
        \|W_{L:m+j+1}\|^2\,\|D_{m+j}\|

    Parameters
    ----------
    layer_norms : sequence of float, length L2
        Spectral norms of the linear layers, first to last.
    tails : sequence of float, length L2 - 1
        Spectral norms of the products of all layers from the second, third, ... on.
    D : sequence of float, length L2 - 1
        Spectral norms of the balancedness matrices.
    """
    return sum(
        (j + 1) * max(layer_norms[j], layer_norms[j + 1]) ** (2 * j) * tails[j] ** 2 * D[j]
        for j in range(len(D))
    )


def nc2_bound(kappa: float, s1: float, e: float, N: int, K: int) -> float:
    r"""Condition number of the class means, :math:`(\kappa+\delta s_1)/(1-\delta s_1)`.

    Parameters
    ----------
    kappa, s1 : float
        Condition number and norm of the last layer.
    e : float
        Bound on :math:`\|H - W^+Y\|_F`; :math:`\delta = e\sqrt{K/N}`.
    N, K : int
    """
    shift = e * math.sqrt(K / N) * s1
    return math.inf if shift >= 1 else (kappa + shift) / (1 - shift)


def nc3_bound(kappa: float, s1: float, eps1: float, e: float, N: int) -> float:
    r"""Lower bound on the mean cosine between features and rows of the last layer.

    .. math::
        \frac1a\Bigl(1-\frac{\varepsilon_1}{\sqrt N}-\frac{s_1e}{a\sqrt N}\Bigr),
        \qquad a = \tfrac12(\kappa + 1/\kappa)

    For exact interpolation and balance this is :math:`2\kappa/(\kappa^2+1)`, by Kantorovich's
    inequality. Negative values say nothing.
    """
    a = (kappa + 1 / kappa) / 2
    return (1 - eps1 / math.sqrt(N) - s1 * e / (a * math.sqrt(N))) / a


def imbalance_envelope(
    start: float, lam: float, eta: float, forcing: Sequence[float]
) -> list[float]:
    r"""Bound on the imbalance along descent, by its recursion.

    .. math:: d_{k+1} = (1-\eta\lambda)^2 d_k + \eta^2 f_k

    Parameters
    ----------
    start : float
        :math:`\|D(0)\|`.
    lam, eta : float
    forcing : sequence of float
        The larger squared norm of the two layers' gradients at every step.

    Returns
    -------
    list of float, one longer than ``forcing``
    """
    bounds = [start]
    for f in forcing:
        bounds.append((1 - eta * lam) ** 2 * bounds[-1] + eta**2 * f)
    return bounds


@dataclass(frozen=True)
class NearOptimalBounds:
    """Bounds on the condition number of the last layer near a minimum; see ``near_optimal_bounds``.

    Attributes
    ----------
    admissible_loss : float
        The regularised loss up to which they hold.
    direct, posterior, prior : float
        Each at most the next.
    """

    admissible_loss: float
    direct: float
    posterior: float
    prior: float


def near_optimal_bounds(
    c: float,
    K: int,
    L1: int,
    L2: int,
    x_op: float,
    z_op: float,
    sK_Y: float,
    eps1: float,
    nonlin_sq: float,
    lam: float = 1.0,
) -> NearOptimalBounds:
    r"""How well conditioned a balanced head of small regularised loss must be.

    If nonlinear weights of squared norm c give :math:`Z_{L_1} = Y`, and
    :math:`C_\lambda(\theta) \le \frac\lambda2(c + KL_2)`, then with
    :math:`a = \|\theta_{\mathrm{nonlin}}\|^2` and
    :math:`\beta = (s_K(Y)-\varepsilon_1)/\|Z_{L_1}\|`

    .. math::
        \kappa(W_L)^2 \le \frac{K + (c-a)/L_2 - (K-1)\beta^{2/L_2}}{\beta^{2/L_2}}
        \le \Bigl[e^{(c-a)/(2L_2)}\beta^{-K/L_2}\Bigr]^2
        \le \Bigl[e^{(c-L_1K+L_1K\log K)/(2L_2)}
        \Bigl(\tfrac{\|X\|}{s_K(Y)-\varepsilon_1}\Bigr)^{K/L_2}\Bigr]^2 .

    Parameters
    ----------
    c : float
        Squared norm of an explicit nonlinear fit.
    K, L1, L2 : int
    x_op, z_op : float
        Spectral norms of the input and of the head's input.
    sK_Y : float
        :math:`\sqrt{N/K}`.
    eps1 : float
        Training error, below ``sK_Y``.
    nonlin_sq : float
        a.
    lam : float
        Weight decay; only the admissible loss depends on it.

    Raises
    ------
    ValueError
        If ``eps1`` is not below ``sK_Y``, or a size is not positive.
    """
    if not 0 <= eps1 < sK_Y:
        raise ValueError(f"eps1 must lie in [0, sK_Y = {sK_Y}), got {eps1}: nothing is fitted")
    if min(K, L2) < 1 or L1 < 0 or min(x_op, z_op) <= 0:
        raise ValueError("K, L2 and the norms must be positive and L1 non-negative")
    root = (s := (sK_Y - eps1) / z_op) ** (2 / L2)
    direct = math.sqrt(max(K + (c - nonlin_sq) / L2 - (K - 1) * root, 0.0) / root)
    posterior = math.exp((c - nonlin_sq) / (2 * L2)) * s ** (-K / L2)
    exponent = (c - L1 * K + L1 * K * math.log(K)) / (2 * L2)
    prior = math.exp(exponent) * (x_op / (sK_Y - eps1)) ** (K / L2)
    return NearOptimalBounds(lam / 2 * (c + K * L2), direct, posterior, prior)


def balanced_ntk_bound(kappa: float, sK: float, fitted: float, L2: int) -> float:
    r"""Least spectral norm of the linear part's kernel for a balanced head.

    .. math:: \frac{(s_K(Y)-\varepsilon_1)^2}{s_K(W_L)^2}\cdot\sum_{j<L_2}\kappa^{2j}

    Parameters
    ----------
    kappa, sK : float
        Condition number and K-th singular value of the last layer.
    fitted : float
        :math:`s_K(Y) - \varepsilon_1`.
    L2 : int
    """
    return (fitted / sK) ** 2 * sum(kappa ** (2 * j) for j in range(L2))


def stationary_nc1_bound(kappa: float, eps1: float, N: int, K: int) -> float:
    r"""Bound on NC1 at a stationary point of the regularised loss.

    .. math:: \kappa^2\varepsilon_1^2/(\sqrt{N(K-1)/K}-\varepsilon_1)^2
    """
    spread = label_spread(N, K)
    return math.inf if eps1 >= spread else (kappa * eps1 / (spread - eps1)) ** 2


def collapse_cost(q: int, K: int, n: int, lam: float) -> float:
    r"""Regularised loss of a collapsed deep ReLU unconstrained-features model, at its best scale.

    The network of q factors with all features on K orthogonal rays costs
    :math:`\min_\tau \frac12N(\tau-1)^2 + \frac{\lambda q}2(K^{q-1}N)^{1/q}\tau^{2/q}`.

    Parameters
    ----------
    q : int
        Factors, features included.
    K, n : int
        Classes and samples per class.
    lam : float
    """
    return _scaled_cost(K ** (q - 1) * K * n, q, K * n, lam)


def graph_cost(q: int, r: int, n: int, lam: float) -> float:
    r"""Regularised loss of the complete-graph construction, at its best scale.

    Classes are the :math:`K=\binom r2` edges; the bracket of ``collapse_cost`` becomes
    :math:`K^2r^{q-2}N/2`.

    Parameters
    ----------
    q : int
    r : int
        Vertices, at least 4.
    n : int
    lam : float
    """
    K = math.comb(r, 2)
    return _scaled_cost(K**2 * r ** (q - 2) * K * n / 2, q, K * n, lam)


def _scaled_cost(product: float, q: int, N: int, lam: float) -> float:
    weight = lam * q / 2 * product ** (1 / q)
    found = minimize_scalar(
        lambda t: N / 2 * (t - 1) ** 2 + weight * t ** (2 / q),
        bounds=(0.5, 1.0),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return float(min(found.fun, N / 2))


def graph_beats_collapse(q: int, r: int) -> bool:
    r"""Whether :math:`r^{q-2} < 2K^{q-3}`, in integers: the graph construction is cheaper."""
    return r ** (q - 2) < 2 * math.comb(r, 2) ** (q - 3)
