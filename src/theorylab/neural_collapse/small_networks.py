"""Networks made by hand that bound what the theorems can say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.neural_collapse.networks import MLP, forward, relu

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Labelled:
    """A network with its data, in one kind of number.

    Attributes
    ----------
    net : MLP
    X, Y : array
    labels : array of int
    """

    net: MLP
    X: Any
    Y: Any
    labels: NDArray[np.int64]


def uncollapsed_fixed_point(v: Fraction, K: int, m: int) -> Labelled:
    r"""One rectified and one linear layer at rest without collapse, in exact numbers.

    Orthonormal inputs :math:`X = I_{Km}`, :math:`W_1 = vI`, :math:`W_2 = vE` with the class
    indicator E. It is stationary for :math:`\lambda = 1 - v^2`.

    Parameters
    ----------
    v : Fraction
        In (0, 1).
    K, m : int
        Classes, and samples per class.
    """
    if not 0 < v < 1:
        raise ValueError(f"v must lie in (0, 1), got {v}")
    N = K * m
    labels = np.repeat(np.arange(K), m)
    X = rational(np.eye(N, dtype=int))
    E = rational(np.eye(K, dtype=int)[:, labels])
    net = MLP((N, N, K), 1, relu(), (v * X, v * E))
    return Labelled(net, X, E, labels)


def rational(matrix: Any) -> NDArray[Any]:
    """Integers as an object array of fractions."""
    return np.vectorize(Fraction, otypes=[object])(matrix)


def rational_nc1(H: NDArray[Any], labels: NDArray[np.int64]) -> Fraction:
    r""":math:`\mathrm{tr}\,\Sigma_W/\mathrm{tr}\,\Sigma_B` of equal classes in exact numbers.

    Parameters
    ----------
    H : array of Fraction, shape (d, N)
    labels : array of int, shape (N,)
    """
    K, N = int(labels.max()) + 1, len(labels)
    means = H @ rational(np.eye(K, dtype=int)[labels]) * Fraction(K, N)
    within = ((H - means[:, labels]) ** 2).sum() / Fraction(N)
    centred = means - (means.sum(axis=1) / Fraction(K))[:, None]
    between = (centred**2).sum() / Fraction(K)
    if between == 0:
        raise ValueError("the class means are equal: NC1 is undefined")
    return Fraction(within) / Fraction(between)


def perturbed(start: Labelled, rng: np.random.Generator, count: int) -> Labelled:
    """A stack of float networks around the fixed point, in the region it attracts.

    Off-diagonal entries of the first layer in [-0.05, 0), its diagonal off by up to a tenth, the
    second layer off by Gaussian noise of size 0.05.
    """
    first, second = (np.asarray(W, dtype=float) for W in start.net.weights)
    N = len(first)
    off = -rng.uniform(1e-6, 0.05, (count, N, N)) * (1 - np.eye(N))
    diagonal = first * (1 + rng.uniform(-0.1, 0.1, (count, N, 1)))
    noisy = second + 0.05 * rng.standard_normal((count, *second.shape))
    X, Y = np.asarray(start.X, dtype=float), np.asarray(start.Y, dtype=float)
    return Labelled(start.net.with_weights((diagonal + off, noisy)), X, Y, start.labels)


def with_linear_layer(start: Labelled, rng: np.random.Generator) -> Labelled:
    """The same networks with a square linear layer, near the identity, before the last."""
    first, last = start.net.weights
    N = first.shape[-1]
    middle = np.eye(N) + 0.05 * rng.standard_normal((len(first), N, N))
    K = last.shape[-2]
    net = MLP((N, N, N, K), 1, relu(), (first, middle, last))
    return Labelled(net, start.X, start.Y, start.labels)


def balanced_layers(v: float, K: int, m: int) -> Labelled:
    r"""The data of ``uncollapsed_fixed_point`` under matrix balance: :math:`W_1 = W_2^\top W_2`."""
    labels = np.repeat(np.arange(K), m)
    E = np.eye(K)[:, labels]
    return Labelled(
        MLP((K * m, K * m, K), 1, relu(), (v * E.T @ E / math.sqrt(m), v * E)),
        np.eye(K * m),
        E,
        labels,
    )


def incidence(r: int) -> NDArray[np.int64]:
    """Vertex-edge incidence matrix of the complete graph, shape (r, r (r - 1) / 2)."""
    if r < 3:
        raise ValueError(f"r must be at least 3, got {r}")
    edges = [(i, j) for i in range(r) for j in range(i + 1, r)]
    B = np.zeros((r, len(edges)), dtype=int)
    for column, edge in enumerate(edges):
        B[list(edge), column] = 1
    return B


def graph_network(q: int, r: int, n: int, scale: float) -> Labelled:
    r"""The complete-graph solution of the deep rectified unconstrained-features model.

    Features are the incidence vectors of the edges, then identities, then
    :math:`B^\top - \frac12 11^\top`, whose rectified image is the identity, then the last layer.
    All q factors have the same norm and the outputs are ``scale`` times the labels.

    Parameters
    ----------
    q : int
        Factors, features included; at least 3.
    r, n : int
        Vertices, and samples per class.
    scale : float
        Positive.
    """
    if q < 3:
        raise ValueError(f"q must be at least 3, got {q}")
    B = incidence(r)
    K = B.shape[1]
    labels = np.repeat(np.arange(K), n)
    factors = [B[:, labels], *[np.eye(r)] * (q - 3), B.T - 0.5, np.eye(K)]
    return _equalised(factors, labels, scale)


def collapsed_network(q: int, K: int, n: int, scale: float) -> Labelled:
    """The collapsed solution: every factor carries the classes on K orthogonal axes."""
    labels = np.repeat(np.arange(K), n)
    return _equalised([np.eye(K)[:, labels], *[np.eye(K)] * (q - 1)], labels, scale)


def _equalised(factors: list[Array], labels: NDArray[np.int64], scale: float) -> Labelled:
    norms = [float(np.linalg.norm(F)) for F in factors]
    common = (scale * math.prod(norms)) ** (1 / len(factors))
    X, *weights = [F * common / norm for F, norm in zip(factors, norms, strict=True)]
    dims = (len(X), *(len(W) for W in weights))
    net = MLP(dims, len(weights) - 1, relu(), weights)
    return Labelled(net, X, np.eye(dims[-1])[:, labels], labels)


def factor_loss(made: Labelled, lam: float) -> float:
    """Regularised loss in which the features decay like the weights."""
    R = forward(made.net, made.X).features[-1] - made.Y
    return float((R**2).sum() + lam * (made.net.squared_norm + (made.X**2).sum())) / 2
