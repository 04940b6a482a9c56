r"""Layers of attention heads on two orthonormal keys, and their exact errors.

With :math:`s=(x_1+x_2)/\sqrt2` and :math:`w=(x_1-x_2)/\sqrt2`, a head with weights
:math:`(1\pm t_h)/2` and scalar value :math:`a_h` contributes :math:`a_h(s+t_hw)/\sqrt2`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from theorylab.attention_rank.arguments import finite, whole
from theorylab.attention_rank.harmonics import energies, head_target
from theorylab.attention_rank.targets import Pairs, sphere

TILE = 512
"""Rows and columns of the Gram matrix that are made at a time, so that they stay in the cache."""
CUTOFF = 1e-10
"""Eigenvalues below this fraction of the largest are left out where heads repeat."""


@dataclass(frozen=True)
class OptimalValues:
    """Best scalar values of given heads; unpacks as ``values, mse, condition``.

    Attributes
    ----------
    values : array, shape (H,)
    mse : float
        Exact error of the layer with these values, up to rounding.
    condition : float
        Condition number of the normal equations, estimated from their Cholesky factor or taken
        from the eigenvalues that were kept.
    cutoff : float
        0 if nothing was left out, else the relative size below which eigenvalues were.
    """

    values: np.ndarray
    mse: float
    condition: float
    cutoff: float = 0.0

    def __iter__(self) -> Iterator[np.ndarray | float]:
        return iter((self.values, self.mse, self.condition))


def arcsine_gram(Q: np.ndarray, K: np.ndarray, shift: float = 0.0) -> np.ndarray:
    r"""Lower triangle of :math:`\tfrac4{\pi^2}\arcsin(QQ^T)\arcsin(KK^T)`, plus ``shift``.

    The upper triangle holds zeros and, next to the diagonal, scratch. Rows must be unit vectors
    for the arcsine law to be the correlation of the heads.
    """
    count = len(Q)
    gram = np.zeros((count, count))
    for i in range(0, count, TILE):
        rows = slice(i, i + TILE)
        for j in range(0, i + 1, TILE):
            block = _arcsine(Q[rows] @ Q[j : j + TILE].T)
            block *= _arcsine(K[rows] @ K[j : j + TILE].T)
            block *= 4 / np.pi**2
            gram[rows, j : j + TILE] = block + shift if shift else block
    return gram


def _arcsine(cosine: np.ndarray) -> np.ndarray:
    np.clip(cosine, -1.0, 1.0, out=cosine)
    return np.arcsin(cosine, out=cosine)


class RankOneHeads:
    r"""Hard heads of rank 1: :math:`t_h = \mathrm{sgn}(\langle q_h,y\rangle\langle k_h,w\rangle)`.

    Parameters
    ----------
    Q, K : array, shape (H, d)
        Query and key directions; normalised here.

    Raises
    ------
    ValueError
        If shapes differ, a number is not finite, or a row is zero.
    """

    def __init__(self, Q: np.ndarray, K: np.ndarray) -> None:
        self.Q, self.K = _unit_rows(Q, "Q"), _unit_rows(K, "K")
        if self.Q.shape != self.K.shape or self.Q.shape[1] < 2:
            raise ValueError(
                f"Q and K must have one shape (H, d) with d >= 2, got {self.Q.shape} and "
                f"{self.K.shape}"
            )

    def __len__(self) -> int:
        return len(self.Q)

    @property
    def d(self) -> int:
        """Dimension of keys and queries."""
        return self.Q.shape[1]

    def gram(self) -> np.ndarray:
        r"""Correlations :math:`E[t_ht_{h'}]`, shape (H, H), by the arcsine law twice."""
        lower = np.tril(arcsine_gram(self.Q, self.K))
        return lower + np.tril(lower, -1).T

    @cached_property
    def _target(self) -> np.ndarray:
        cosine = np.einsum("hd,hd->h", self.Q, self.K)
        return head_target(np.clip(cosine, -1, 1), self.d, 1e-6 if self.d < 5 else 1e-10)[0]

    def target(self) -> np.ndarray:
        r"""Correlations :math:`b_h = E[t_h\,\mathrm{sgn}\langle w,y\rangle]`, shape (H,)."""
        return self._target

    def mse(self, values: np.ndarray) -> float:
        r"""Exact error :math:`\tfrac12(1-\sum a)^2+\tfrac12(1-2a\cdot b+a^TCa)`."""
        a = finite(values, "values")
        if a.shape != (len(self),):
            raise ValueError(f"values must have shape ({len(self)},), got {a.shape}")
        quadratic = a @ self.gram() @ a
        return float(0.5 * (1 - a.sum()) ** 2 + 0.5 * (1 - 2 * a @ self.target() + quadratic))

    def optimal_values(self, ridge: float = 0.0) -> OptimalValues:
        r"""Best scalar values, from :math:`(C + 11^T)a = b + 1`; no sampling.

        .. math:: \mathrm{MSE} = 1 - \tfrac12 (1+b)^T (C+11^T)^{-1} (1+b).

        Parameters
        ----------
        ridge : float
            Added to the diagonal; the error stated is still the one without it.

        Returns
        -------
        OptimalValues
            By Cholesky; where heads repeat (or are antipodal in both directions), by eigenvalues
            above a cutoff, which is reported.
        """
        if not 0 <= ridge < np.inf:
            raise ValueError(f"ridge must be non-negative and finite, got {ridge}")
        right = 1 + self.target()
        matrix = arcsine_gram(self.Q, self.K, shift=1.0)
        matrix[np.diag_indices(len(self))] += ridge
        norm = _one_norm(matrix) if len(self) <= TILE else float(len(self)) * 2
        try:
            factor = linalg.cholesky(
                matrix.T, lower=False, overwrite_a=not ridge, check_finite=False
            )
        except linalg.LinAlgError:
            return self._by_eigenvalues(right, ridge)
        values = linalg.cho_solve((factor, False), right, check_finite=False)
        inverse, _ = linalg.get_lapack_funcs(["pocon"], (factor,))[0](factor, norm)
        condition = 1 / inverse if inverse > 0 else np.inf
        if condition > 1e14:
            return self._by_eigenvalues(right, ridge)
        mse = self.mse(values) if ridge else 1 - 0.5 * float(right @ values)
        return OptimalValues(values, mse, float(condition))

    def _by_eigenvalues(self, right: np.ndarray, ridge: float) -> OptimalValues:
        matrix = self.gram() + 1.0
        matrix[np.diag_indices(len(self))] += ridge
        eigenvalue, vector = linalg.eigh(matrix)
        kept = eigenvalue > CUTOFF * eigenvalue[-1]
        inner = vector[:, kept].T @ right
        values = vector[:, kept] @ (inner / eigenvalue[kept])
        condition = float(eigenvalue[-1] / eigenvalue[kept][0])
        mse = self.mse(values) if ridge else 1 - 0.5 * float(right @ values)
        return OptimalValues(values, mse, condition, CUTOFF)

    def outputs(self, pairs: Pairs, values: np.ndarray) -> np.ndarray:
        """The layer's outputs, token by token, shape (n, d)."""
        query = pairs.y @ self.Q.T
        first = query * (pairs.x1 @ self.K.T) >= query * (pairs.x2 @ self.K.T)
        weight = first @ values
        return weight[:, None] * pairs.x1 + (values.sum() - weight)[:, None] * pairs.x2


def _one_norm(lower: np.ndarray) -> float:
    triangle = np.tril(lower)
    whole_matrix = triangle + np.tril(triangle, -1).T
    return float(np.abs(whole_matrix).sum(axis=0).max())


def _unit_rows(rows: np.ndarray, name: str) -> np.ndarray:
    array = finite(rows, name)
    if array.ndim != 2:
        raise ValueError(f"{name} must have shape (H, d), got {array.shape}")
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    if not norms.all():
        raise ValueError(f"row {int((norms == 0).argmax())} of {name} is zero: it has no direction")
    return array / norms


def tilted_heads(d: int, H: int, rng: np.random.Generator) -> RankOneHeads:
    r"""Random heads :math:`k = cq+\sqrt{1-c^2}\,e` with c uniform on [-1, 1] and e unit.

    Parameters
    ----------
    d, H : int
    rng : numpy Generator
    """
    q, cosine, e = tilted_directions(d, H, rng)
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    return RankOneHeads(q, cosine * q + np.sqrt(1 - cosine**2) * e)


def tilted_directions(
    d: int, H: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Uniform q, uniform cosines, and a uniform point with its part along q taken away."""
    q, other = sphere(H, d, rng), sphere(H, d, rng)
    cosine = rng.uniform(-1, 1, (H, 1))
    return q, cosine, other - np.einsum("hd,hd->h", q, other)[:, None] * q


def independent_heads(d: int, H: int, rng: np.random.Generator) -> RankOneHeads:
    """Heads with independent uniform query and key directions."""
    return RankOneHeads(sphere(H, d, rng), sphere(H, d, rng))


def tied_heads(d: int, H: int, rng: np.random.Generator) -> RankOneHeads:
    """Heads whose key direction is their query direction, uniform."""
    q = sphere(H, d, rng)
    return RankOneHeads(q, q)


def optimal_mse_by_gradients(
    heads: RankOneHeads, *, device: str = "cpu", tile: int = 4096, tol: float = 1e-8
) -> float:
    """The error of the best scalar values without storing the Gram matrix (conjugate gradients).

    Parameters
    ----------
    heads : RankOneHeads
    device : str
        Where products with the Gram matrix are made, tile by tile; in double precision.
    tile : int
        Rows at a time; memory is H times this.
    tol : float
        Relative residual to stop at. Every iterate's error is that of real values: an upper
        bound on the best one.
    """
    import torch

    Q, K = (torch.as_tensor(side, device=device) for side in (heads.Q, heads.K))

    def product(vector: torch.Tensor) -> torch.Tensor:
        done = torch.empty_like(vector)
        for i in range(0, len(Q), tile):
            block = torch.asin((Q[i : i + tile] @ Q.T).clamp_(-1, 1))
            block *= torch.asin((K[i : i + tile] @ K.T).clamp_(-1, 1))
            done[i : i + tile] = block @ vector
        return 4 / np.pi**2 * done + vector.sum()

    right = torch.as_tensor(1 + heads.target(), device=device)
    values = _conjugate_gradients(product, right, tol)
    residual = right - product(values)
    return float(1 - 0.5 * (right @ values + values @ residual))


def _conjugate_gradients(product: Callable, right, tol: float):
    import torch

    values = torch.zeros_like(right)
    rest = right.clone()
    direction, square = rest.clone(), rest @ rest
    goal = tol**2 * square
    for _ in range(10 * len(right)):
        if square <= goal:
            break
        image = product(direction)
        step = square / (direction @ image)
        values += step * direction
        rest -= step * image
        before, square = square, rest @ rest
        direction = rest + square / before * direction
    return values


@dataclass(frozen=True)
class FallbackLayer:
    r"""H soft heads of rank d/H: together a linear function of :math:`\langle w,y\rangle`.

    Attributes
    ----------
    d, H : int
    delta : float
        Size of the scores; the error tends to :math:`\tfrac12(1-\eta_1^2)` as it vanishes.
    """

    d: int
    H: int
    delta: float

    def __call__(self, pairs: Pairs) -> np.ndarray:
        """Outputs, shape (n, d): each head a soft-max over its block of coordinates."""
        sign = np.where(np.arange(self.H) % 2 == 0, 1.0, -1.0)
        slope = self.d * float(energies(self.d).eigenvalues[0])
        value = 1 / self.H + sign * slope / self.delta
        blocks = (len(pairs.y), self.H, self.d // self.H)
        inner = np.einsum("nhr,nhr->nh", pairs.y.reshape(blocks), pairs.w.reshape(blocks))
        t = np.tanh(sign * self.delta * inner)
        weight = 0.5 * (1 + t) @ value
        rest = 0.5 * (1 - t) @ value
        return weight[:, None] * pairs.x1 + rest[:, None] * pairs.x2


def soft_fallback(d: int, H: int, delta: float = 1e-3) -> FallbackLayer:
    r"""Soft heads with H r = d that reach :math:`\tfrac12(1-\eta_1^2)`, for every even H.

    Block h of d/H coordinates has scores :math:`\pm\sqrt2\,\delta\langle y_h,x_h\rangle` and the
    value :math:`1/H \pm d\lambda_1/\delta`.

    Parameters
    ----------
    d, H : int
        H even, dividing d.
    delta : float
        Positive.
    """
    d, H = whole(d, "d", 2), whole(H, "H", 2)
    if d % H or H % 2:
        raise ValueError(f"H must be even and divide d={d}, got {H}")
    if not 0 < delta < np.inf:
        raise ValueError(f"delta must be positive and finite, got {delta}")
    return FallbackLayer(d, H, float(delta))


def squared_errors(outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Squared distance of each output from its target, shape (n,); not divided by d."""
    return np.square(outputs - targets).sum(axis=1)
