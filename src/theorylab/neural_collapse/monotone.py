"""Collapse behind a nonlinear layer: an inequality for monotone activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Scalar = Callable[[Array], Array]


def monotone_sides(W: Array, V: Array, z: tuple[Array, Array], activation: Scalar) -> Array:
    r"""Both sides of two inequalities between a pair of samples of one class.

    With :math:`h = \sigma(Vz)`, :math:`u = (W^\top)^+Vz`, :math:`q = (I-W^+W)Vz` and
    :math:`D = W^\top W - VV^\top`,

    .. math::
        \|h_1-h_2\| \le \|q_1-q_2\| + \sqrt{\|W(h_1-h_2)\|\,\|u_1-u_2\|}, \qquad
        \|q_1-q_2\| \le \sqrt{e_D}\,\|z_1-z_2\|

    for every non-decreasing 1-Lipschitz activation; :math:`e_D` is the largest eigenvalue of D
    on the kernel of W, negated.

    Parameters
    ----------
    W : array, shape (K, n)
    V : array, shape (n, k)
    z : pair of array, shape (k,)
    activation : callable

    Returns
    -------
    array, shape (2, 2)
        Rows: the inequalities; columns: left and right side.
    """
    p1, p2 = V @ z[0], V @ z[1]
    h = activation(p1) - activation(p2)
    p = p1 - p2
    _, _, right = np.linalg.svd(W)
    kernel = right[len(W) :]
    q = kernel @ p
    u = np.linalg.pinv(W.T) @ p
    e_D = max(float(np.linalg.eigvalsh(kernel @ V @ V.T @ kernel.T)[-1]), 0) if len(kernel) else 0
    norm = np.linalg.norm
    first = (norm(h), norm(q) + np.sqrt(norm(W @ h) * norm(u)))
    return np.array([first, (norm(q), np.sqrt(e_D) * norm(z[0] - z[1]))])


def random_sides(rng: np.random.Generator, count: int, activation: Scalar) -> Array:
    """Sides of the inequalities on random layers and samples, shape (count, 2, 2).

    Widths 1 to 5, at most as many outputs; half of the time the layers are nearly balanced, so
    that the kernel of W contributes little.
    """
    found = []
    for _ in range(count):
        n = int(rng.integers(1, 6))
        K = int(rng.integers(1, n + 1))
        W = rng.standard_normal((K, n)) * np.exp(rng.standard_normal((K, 1)))
        V = rng.standard_normal((n, 4))
        if rng.random() < 0.5:
            V = W.T @ rng.standard_normal((K, 4)) + 10 ** rng.uniform(-8, 0) * V
        z = rng.standard_normal(4)
        other = z + 10 ** rng.uniform(-2, 1) * rng.standard_normal(4)
        found.append(monotone_sides(W, V, (z, other), activation))
    return np.array(found)
