r"""Two-coefficient estimators learned from the sample itself, and the safe default."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from theorylab.missing_mass.fingerprint import Fingerprint
from theorylab.missing_mass.kernels import (
    bagged_moments,
    natural_atoms,
    solve_two,
    two_term_moments,
)
from theorylab.missing_mass.linear import Linear
from theorylab.missing_mass.plugins import ewens_pitman, padded

LARGEST_WEIGHT = 0.75
HALVING_SIZE = 300


def two_term(fp: Fingerprint) -> Linear:
    r"""Minimiser of the plug-in MSE over :math:`c_1\Phi_1+c_2\Phi_2`, natural Good-Turing plug-in.

    One linear solve: what the paper's genetic search looks for, restricted to two terms.

    Parameters
    ----------
    fp : Fingerprint

    Returns
    -------
    Linear
    """
    values, multiplicities = natural_atoms(padded(fp), fp.n)
    return Linear(solve_two(two_term_moments(values, multiplicities, fp.n), fp.n))


def bag2(fp: Fingerprint, B: int = 10, seed: int = 0) -> Linear:
    r"""The two-term solve, with moments averaged over resampled plug-ins.

    B samples of size n are drawn from the plug-in and a plug-in is refitted to each; the moments
    of all B + 1 are averaged before solving, which shrinks the coefficients where the plug-in is
    uncertain.

    Parameters
    ----------
    fp : Fingerprint
    B : int
        Number of resamples; 0 gives ``two_term``.
    seed : int
        The resamples depend on it and on the fingerprint, hence not on the order of the data.

    Returns
    -------
    Linear
        Coefficients of ``Phi_1`` and ``Phi_2``.

    Raises
    ------
    ValueError
        If ``B`` or ``seed`` is negative.
    """
    if B < 0:
        raise ValueError(f"B must not be negative, got {B}")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed}")
    averaged = bagged_moments(padded(fp), fp.n, _uniforms(fp, B, seed))
    return Linear(solve_two(averaged, fp.n))


def _uniforms(fp: Fingerprint, B: int, seed: int) -> NDArray[np.float64]:
    """Uniforms of shape (B, n), an independent stream for each fingerprint."""
    key = np.random.SeedSequence([seed, *fp.orders, *fp.frequencies])
    return np.random.Generator(np.random.PCG64(key)).random((B, fp.n))


def shrunken_bag2(fp: Fingerprint, B: int = 10, seed: int = 0) -> Linear:
    r"""The safe default: a part of the correction that ``bag2`` makes to Good-Turing.

    .. math:: T = G + w\,(T_{\mathrm{BAG2}} - G), \qquad w = \frac{3/4}{1+n/300}

    Against Good-Turing's mean squared error, which falls like 1/n, the correction gains a
    constant fraction by itself, :math:`\alpha`, at the price of a variance :math:`\beta` and of a
    squared bias that does not fall, :math:`\gamma n`: the best weight is
    :math:`\alpha/(\beta+\gamma n)`. Both constants were fitted on the populations of
    ``training``, none of which is a benchmark of the paper.

    Parameters
    ----------
    fp : Fingerprint
    B, seed : int
        As for ``bag2``.

    Returns
    -------
    Linear
    """
    return shrink(bag2(fp, B, seed), fp.n, shrinkage(fp.n))


def shrink(formula: Linear, n: int, weight: float) -> Linear:
    r"""Good-Turing plus a part of a formula's correction, :math:`G + w\,(T - G)`.

    Parameters
    ----------
    formula : Linear
        T, for sample size n.
    n : int
    weight : float
        w; 1 gives T back, 0 gives Good-Turing.
    """
    coefficients = weight * formula.coefficients
    coefficients[0] += (1 - weight) / n
    return Linear(coefficients, weight * float(formula.c0))


def shrinkage(n: int) -> float:
    """Weight of the correction in ``shrunken_bag2`` at sample size n."""
    return LARGEST_WEIGHT / (1 + n / HALVING_SIZE)


METHODS: dict[str, Callable[[Fingerprint], float]] = {
    "auto": lambda fp: shrunken_bag2(fp).estimate(fp),
    "good-turing": lambda fp: fp.phi(1) / fp.n,
    "two-term": lambda fp: two_term(fp).estimate(fp),
    "bag2": lambda fp: bag2(fp).estimate(fp),
    "ewens-pitman": lambda fp: ewens_pitman(fp).mean(),
}


def estimate(fp: Fingerprint, method: str = "auto") -> float:
    """Estimate of the missing mass, between 0 and 1.

    Parameters
    ----------
    fp : Fingerprint
    method : str
        ``"auto"`` (``shrunken_bag2``), ``"good-turing"``, ``"two-term"``, ``"bag2"`` or
        ``"ewens-pitman"``.

    Returns
    -------
    float
        Cut to [0, 1]; the formulas themselves, which are not cut, are in ``Linear``.

    Raises
    ------
    ValueError
        If the method is unknown; the message names those there are.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; choose one of {', '.join(METHODS)}")
    return min(max(METHODS[method](fp), 0.0), 1.0)
