r"""Plug-ins: populations, or posteriors over populations, guessed from one fingerprint.

An estimator that is tuned to a population has to be tuned to one of these, since the population
itself is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls, root_scalar
from scipy.special import betainc, gammaln, logsumexp
from scipy.stats import binom

from theorylab.missing_mass.fingerprint import Fingerprint, Population
from theorylab.missing_mass.kernels import natural_atoms

LEAST_ORDER, LARGEST_ORDER = 3, 30
SMALLEST_RATE = 0.02
MASS_WEIGHT = 30.0
SIGMAS = np.linspace(0.0, 0.95, 20)
THETA_POINTS = 40
ALPHAS = np.geomspace(0.1, 100.0, 16)
CLASS_POINTS = 40
NEGLIGIBLE_WEIGHT = 1e-12


def padded(fp: Fingerprint) -> NDArray[np.int64]:
    """``phi`` as the dense array of length ``n + 2`` that the compiled kernels read."""
    phi = np.zeros(fp.n + 2, dtype=np.int64)
    phi[list(fp.orders)] = fp.frequencies
    return phi


def natural_good_turing(fp: Fingerprint) -> Population:
    r"""The plug-in that the paper's search is run on.

    Unseen classes number :math:`\hat f_0 = \lceil \frac{n-1}{n}\Phi_1^2/(2\Phi_2) \rceil`
    (:math:`\Phi_1(\Phi_1-1)/2` in place of the quotient if :math:`\Phi_2=0`). A class seen k times
    gets

    .. math:: \frac kn \text{ if } k > \Phi_{k+1}, \qquad
        \frac{\Phi_{k+1}+1}{\Phi_k}\,\frac{k+1}{n} \text{ otherwise,}

    with :math:`\hat f_0` in the place of :math:`\Phi_0`; then everything is divided by the total.

    Parameters
    ----------
    fp : Fingerprint

    Returns
    -------
    Population
        The empirical distribution if :math:`\hat f_0 = 0`.
    """
    return Population.from_atoms(*natural_atoms(padded(fp), fp.n))


def moment_matched(fp: Fingerprint, grid: int = 60) -> Population:
    r"""A plug-in that reproduces the small frequencies of frequencies of its sample.

    Non-negative multiplicities :math:`m_j` on a logarithmic grid of probabilities
    :math:`\lambda_j/n` minimise

    .. math:: \sum_{k\le k_c} \frac{(f_k(m)-\Phi_k)^2}{\Phi_k+1}
        + 900\,n\,\Bigl(\sum_j m_j\lambda_j/n - \sum_{k\le k_c} k\Phi_k/n\Bigr)^2 ,

    where :math:`k_c` is the first k with :math:`\Phi_k<2`, at least 3 and at most 30; classes
    seen more often keep their empirical probability.

    Parameters
    ----------
    fp : Fingerprint
    grid : int
        Number of grid points, at least 2.

    Returns
    -------
    Population
        Multiplicities are real: expected numbers of classes.

    Raises
    ------
    ValueError
        If ``grid < 2``.
    """
    if grid < 2:
        raise ValueError(f"grid must have at least 2 points, got {grid}")
    n, cut = fp.n, _cut(fp)
    rates = np.geomspace(SMALLEST_RATE, cut + 2.5 * np.sqrt(cut) + 1, grid)
    small = np.unique(np.minimum(rates / n, 1.0))
    seen_small = fp.vector(cut)
    kept = [(k / n, m) for k, m in zip(fp.orders, fp.frequencies, strict=True) if k > cut]
    remaining_mass = float(np.arange(1, cut + 1) @ seen_small) / n
    multiplicities = _fit(small, seen_small, remaining_mass, n)
    values = np.concatenate((small, [u for u, _ in kept]))
    weights = np.concatenate((multiplicities, [m for _, m in kept]))
    return Population.from_atoms(values / (values @ weights), weights)


def _cut(fp: Fingerprint) -> int:
    """First order that fewer than two classes have, within the allowed range."""
    first = next(k for k in range(1, fp.largest + 2) if fp.phi(k) < 2)
    return min(max(first, LEAST_ORDER), LARGEST_ORDER)


def _fit(probabilities: NDArray, frequencies: NDArray, mass: float, n: int) -> NDArray[np.float64]:
    """Non-negative least squares for the multiplicities of ``probabilities``."""
    orders = np.arange(1, len(frequencies) + 1)[:, None]
    scale = np.sqrt(frequencies + 1.0)
    mass_weight = MASS_WEIGHT * np.sqrt(n)
    design = np.vstack(
        (binom.pmf(orders, n, probabilities) / scale[:, None], mass_weight * probabilities)
    )
    target = np.append(frequencies / scale, mass_weight * mass)
    # Columns differ by orders of magnitude; scaled to unit length the solver stays accurate.
    lengths = np.linalg.norm(design, axis=0)
    solution, _ = nnls(design / lengths, target)
    return solution / lengths


@dataclass(frozen=True)
class EwensPitmanPosterior:
    r"""Posterior of the missing mass under the two-parameter (Ewens-Pitman) model.

    Given the parameters, :math:`M \sim \mathrm{Beta}(\theta+\sigma D,\; n-\sigma D)` for a sample
    of size n with D different classes; the posterior is a mixture of these.

    Attributes
    ----------
    weights : numpy.ndarray, shape (G,)
        Posterior probabilities of the grid points.
    missing, seen : numpy.ndarray, shape (G,)
        The two parameters of the Beta distribution at each grid point; ``missing`` is 0 where
        the model has no class left to discover.
    """

    weights: NDArray[np.float64]
    missing: NDArray[np.float64]
    seen: NDArray[np.float64]

    def mean(self) -> float:
        r"""Posterior mean, :math:`\sum_g w_g(\theta_g+\sigma_g D)/(\theta_g+n)`."""
        return float(self.weights @ (self.missing / (self.missing + self.seen)))

    def cdf(self, mass: float) -> float:
        """Posterior probability that the missing mass is at most ``mass``."""
        possible = self.missing > 0
        below = betainc(self.missing[possible], self.seen[possible], mass)
        return float(self.weights[possible] @ below + self.weights[~possible].sum())

    def quantile(self, probability: float) -> float:
        """Smallest mass that the posterior does not exceed with this probability.

        Raises
        ------
        ValueError
            If ``probability`` is not inside (0, 1).
        """
        if not 0 < probability < 1:
            raise ValueError(f"probability must lie in (0, 1), got {probability}")
        if self.cdf(0.0) >= probability:
            return 0.0
        found = root_scalar(
            lambda mass: self.cdf(mass) - probability, bracket=(0.0, 1.0), xtol=1e-10
        )
        return float(found.root)


def ewens_pitman(fp: Fingerprint) -> EwensPitmanPosterior:
    r"""Posterior over the Ewens-Pitman partition model, on a grid of its parameters.

    The probability of a partition with counts :math:`N_1..N_D` is

    .. math:: \frac{\prod_{i=1}^{D-1}(\theta+i\sigma)}{(\theta+1)_{n-1}}
        \prod_{x}(1-\sigma)_{N_x-1} .

    Half of the prior goes to :math:`0\le\sigma\le0.95` with :math:`\theta` log-uniform, half to
    :math:`\sigma=-\alpha<0`, :math:`\theta=m\alpha`: a symmetric Dirichlet(:math:`\alpha`) on
    m classes, with :math:`\alpha` and the number of classes beyond D log-uniform.

    Parameters
    ----------
    fp : Fingerprint

    Returns
    -------
    EwensPitmanPosterior
    """
    infinite = _infinite_models(fp)
    finite = _finite_models(fp)
    sigma, theta = np.concatenate((infinite, finite), axis=1)
    log_prior = np.repeat(
        -np.log([infinite.shape[1], finite.shape[1]]), [infinite.shape[1], finite.shape[1]]
    )
    log_weight = log_prior + _log_partition_probability(fp, sigma, theta)
    kept = log_weight > log_weight.max() + np.log(NEGLIGIBLE_WEIGHT)
    sigma, theta, log_weight = sigma[kept], theta[kept], log_weight[kept]
    missing = theta + sigma * fp.distinct
    # theta = m alpha and sigma = -alpha leave exactly 0 when all m classes were seen
    missing[np.abs(missing) < 1e-9 * theta] = 0.0
    weights = np.exp(log_weight - np.asarray(logsumexp(log_weight)))
    return EwensPitmanPosterior(weights, missing, fp.n - sigma * fp.distinct)


def _infinite_models(fp: Fingerprint) -> NDArray[np.float64]:
    thetas = np.geomspace(0.05, 20.0 * max(fp.n, fp.distinct), THETA_POINTS)
    sigma, theta = np.meshgrid(SIGMAS, thetas)
    return np.stack((sigma.ravel(), theta.ravel()))


def _finite_models(fp: Fingerprint) -> NDArray[np.float64]:
    """Numbers of classes from those seen to a hundred times as many."""
    beyond = np.round(np.geomspace(1.0, 100.0 * fp.distinct, CLASS_POINTS)) - 1.0
    alpha, classes = np.meshgrid(ALPHAS, fp.distinct + np.unique(beyond))
    return np.stack((-alpha.ravel(), (alpha * classes).ravel()))


def _log_partition_probability(
    fp: Fingerprint, sigma: NDArray, theta: NDArray
) -> NDArray[np.float64]:
    new_classes = _log_rising(fp.distinct, sigma, theta)
    orders = np.array(fp.orders)[:, None]
    per_class = np.subtract(gammaln(orders - sigma), gammaln(1.0 - sigma))
    repeats = np.array(fp.frequencies) @ per_class
    return new_classes + repeats - np.subtract(gammaln(theta + fp.n), gammaln(theta + 1.0))


def _log_rising(distinct: int, sigma: NDArray, theta: NDArray) -> NDArray[np.float64]:
    r"""Logarithm of :math:`\prod_{i=1}^{D-1}(\theta+i\sigma)`, which is positive on the grid."""
    result = (distinct - 1) * np.log(theta)
    up, down = sigma > 0, sigma < 0
    ratio = theta[up] / sigma[up]
    result[up] = (distinct - 1) * np.log(sigma[up]) + gammaln(ratio + distinct) - gammaln(ratio + 1)
    classes = np.round(-theta[down] / sigma[down])
    result[down] = (
        (distinct - 1) * np.log(-sigma[down]) + gammaln(classes) - gammaln(classes - distinct + 1)
    )
    return result
