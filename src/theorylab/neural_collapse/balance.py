r"""Balancedness :math:`D = W_{\ell+1}^\top W_{\ell+1} - W_\ell W_\ell^\top` and its exact law."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def balancedness(W_next: Array, W: Array, b: Array | None = None) -> Array:
    r"""Balancedness matrix of two neighbouring layers.

    .. math:: D = W_{\ell+1}^\top W_{\ell+1} - W_\ell W_\ell^\top \;(- b_\ell b_\ell^\top)

    Parameters
    ----------
    W_next : array, shape (m, n)
    W : array, shape (n, k)
    b : array, shape (n,), optional
        Bias of the lower layer.

    Returns
    -------
    array, shape (n, n)
        In the same kind of number.

    Raises
    ------
    ValueError
        If the layers do not follow each other.
    """
    if W_next.ndim != 2 or W.ndim != 2 or W_next.shape[1] != W.shape[0]:
        raise ValueError(f"layers of shapes {W.shape} and {W_next.shape} do not follow each other")
    D = W_next.T @ W_next - W @ W.T
    if b is None:
        return D
    if b.shape != W.shape[:1]:
        raise ValueError(f"the bias must have shape {W.shape[:1]}, got {b.shape}")
    return D - np.outer(b, b)


def balance_identity_residual(
    step_before: Sequence[Array],
    grads: Sequence[Array],
    step_after: Sequence[Array],
    lam: Any,
    eta: Any,
    *,
    power: int = 2,
) -> Array:
    r"""By how much one step of descent departs from the law of balancedness.

    .. math::
        D^{k+1} - (1-\eta\lambda)^2 D^k
        - \eta^2\bigl(G_{\ell+1}^\top G_{\ell+1} - G_\ell G_\ell^\top\bigr)

    It is the zero matrix where the lower layer is linear, for plain descent on any loss and batch.

    Parameters
    ----------
    step_before, grads, step_after : pair or triple of array
        Lower weights, upper weights, and optionally the bias of the lower layer: before the
        step, their gradients of the data loss, and after the step.
    lam, eta : number
        Weight decay and learning rate.
    power : int
        Of the factor :math:`1-\eta\lambda`; anything but 2 is wrong.

    Returns
    -------
    array, shape (n, n)
    """
    before, gradient, after = (_balance_of(layers) for layers in (step_before, grads, step_after))
    return after - (1 - eta * lam) ** power * before - eta**2 * gradient


def _balance_of(layers: Sequence[Array]) -> Array:
    lower, upper, *bias = layers
    return balancedness(upper, lower, *bias)


def relative_balancedness(W_next: Array, W: Array) -> float:
    r"""Spectral norm of D over that of the smaller of the two squared layers.

    .. math:: \|D\| / \min(\|W_{\ell+1}\|^2, \|W_\ell\|^2)
    """
    smaller = min(np.linalg.norm(W_next, 2), np.linalg.norm(W, 2)) ** 2
    if smaller == 0:
        raise ValueError("one of the layers is zero: relative balancedness is undefined")
    return float(np.linalg.norm(balancedness(W_next, W), 2) / smaller)


def head_imbalance(head: Sequence[Array]) -> float:
    r"""Largest spectral norm :math:`\varepsilon_2` of D over the neighbouring layers of a head."""
    return max(
        float(np.linalg.norm(balancedness(after, before), 2)) for before, after in pairwise(head)
    )


def negativity(preactivation: Array, activated: Array) -> float:
    r"""How nonlinear a layer acts: :math:`\|P - \sigma(P)\| / \|P\|` in spectral norms."""
    size = np.linalg.norm(preactivation, 2)
    if size == 0:
        raise ValueError("the preactivation is zero: negativity is undefined")
    return float(np.linalg.norm(preactivation - activated, 2) / size)
