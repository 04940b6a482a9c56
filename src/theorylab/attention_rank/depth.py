"""Two layers vote: rank-1 heads elect a position, one head reads it; and when votes split."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from theorylab.attention_rank.arguments import finite, whole
from theorylab.attention_rank.targets import Pairs, sphere


@dataclass(frozen=True)
class Votes:
    """What a two-layer network does on n inputs.

    Attributes
    ----------
    picks : bool array, shape (n, H)
        Attention of layer 1: whether a head looks at the first key (else at the second).
    votes : array, shape (n,)
        What layer 1 writes: the sum of the positions that were looked at.
    attention : array, shape (n, 2)
        Attention of layer 2 over the two keys.
    outputs : array, shape (n, d)
    """

    picks: np.ndarray
    votes: np.ndarray
    attention: np.ndarray
    outputs: np.ndarray


class TwoLayerVote:
    """H tied rank-1 hard heads, then one rank-1 hard head; each key carries a position +1 or -1.

    Layer 1, head h: score of key i is the product of the components of query and key along its
    direction; its value is the position. Layer 2: the score of key i is its position times the
    sum of the votes; its value is the key. Equal scores share the weight.

    Parameters
    ----------
    d, H : int
    rng : numpy Generator
        Draws the H uniform directions.
    positions : pair of float
        Of the first and the second key; (0, 0) blinds layer 2.
    """

    def __init__(
        self,
        d: int,
        H: int,
        rng: np.random.Generator,
        positions: tuple[float, float] = (1.0, -1.0),
    ) -> None:
        self.directions = sphere(whole(H, "H", 1), whole(d, "d", 2), rng)
        self.positions = finite(positions, "positions")
        if self.positions.shape != (2,):
            raise ValueError(f"positions must be two numbers, got {positions!r}")

    def __call__(self, pairs: Pairs) -> Votes:
        """Run both layers, token by token."""
        if pairs.y.shape[1] != self.directions.shape[1]:
            raise ValueError(
                f"inputs have dimension {pairs.y.shape[1]}, the heads {self.directions.shape[1]}"
            )
        query = pairs.y @ self.directions.T
        picks = query * (pairs.x1 @ self.directions.T) >= query * (pairs.x2 @ self.directions.T)
        votes = np.where(picks, self.positions[0], self.positions[1]).sum(axis=1)
        scores = votes[:, None] * self.positions
        best = scores == scores.max(axis=1, keepdims=True)
        attention = best / best.sum(axis=1, keepdims=True)
        outputs = attention[:, :1] * pairs.x1 + attention[:, 1:] * pairs.x2
        return Votes(picks, votes, attention, outputs)


def vote_errors(
    d: int, H: int, n: int, rng: np.random.Generator, positions: tuple[float, float] = (1.0, -1.0)
) -> np.ndarray:
    """Squared errors of n inputs, each with directions of its own, shape (n,).

    Fresh directions for every input make the errors independent draws of the expectation that
    ``vote_mse`` speaks of.
    """
    from theorylab.attention_rank.targets import orthonormal_pair

    errors = np.empty(whole(n, "n", 1))
    pairs = orthonormal_pair(d, n, rng)
    for i in range(n):
        one = Pairs(pairs.x1[i : i + 1], pairs.x2[i : i + 1], pairs.y[i : i + 1])
        found = TwoLayerVote(d, H, rng, positions)(one)
        errors[i] = np.square(found.outputs - one.target).sum()
    return errors


# --- many keys --------------------------------------------------------------------------------


def plurality(X: np.ndarray, Y: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Key with the most votes of tied rank-1 hard heads, the first one on a tie.

    Parameters
    ----------
    X : array, shape (n, N, d)
        Keys of n sequences.
    Y : array, shape (n, d)
        Their queries.
    directions : array, shape (H, d)

    Returns
    -------
    int array, shape (n,)
    """
    X, Y, directions = finite(X, "X"), finite(Y, "Y"), finite(directions, "directions")
    if X.ndim != 3 or Y.shape != (X.shape[0], X.shape[2]) or directions.shape[1:] != Y.shape[1:]:
        raise ValueError(
            f"X, Y and directions must have shapes (n, N, d), (n, d), (H, d); got {X.shape}, "
            f"{Y.shape}, {directions.shape}"
        )
    winners = np.empty(len(X), dtype=int)
    for i, (keys, query) in enumerate(zip(X, Y, strict=True)):
        side = np.sign(directions @ query)[:, None]
        picks = (side * (directions @ keys.T)).argmax(axis=1)
        winners[i] = np.bincount(picks, minlength=len(keys)).argmax()
    return winners


TOUCHING = 1e-9
"""How far probabilities may be from summing to 1 before polygons are taken to touch."""


def orthonormal_keys(n: int, N: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """n sequences of N orthonormal keys, uniform, shape (n, N, d)."""
    if d < N:
        raise ValueError(f"at most d={d} keys can be orthonormal, got N={N}")
    gauss = rng.standard_normal((whole(n, "n", 1), d, whole(N, "N", 1)))
    return np.linalg.qr(gauss)[0].transpose(0, 2, 1)


def pick_probabilities_3d(keys: np.ndarray, y: np.ndarray) -> np.ndarray:
    r"""How often each key is picked by a tied rank-1 hard head with a uniform direction, d = 3.

    A direction q with :math:`\langle q,y\rangle\ge0` picks key i where
    :math:`\langle q,x_i-x_j\rangle\ge0` for all j: a spherical polygon, whose area is
    :math:`2\pi` less the sum of its exterior angles.

    Parameters
    ----------
    keys : array, shape (N, 3)
        N of at least 2, distinct.
    y : array, shape (3,)

    Returns
    -------
    array, shape (N,)
        Twice the solid angles over the whole, :math:`4\pi`; they sum to 1.

    Raises
    ------
    ValueError
        If keys repeat, y is 0, or the planes are in special position: three through one axis, or
        two the same.
    """
    keys, y = finite(keys, "keys"), finite(y, "y")
    if keys.ndim != 2 or keys.shape[1] != 3 or y.shape != (3,) or len(keys) < 2:
        raise ValueError(f"need keys (N, 3), N >= 2, and y (3,); got {keys.shape} and {y.shape}")
    areas = []
    for i in range(len(keys)):
        others = keys[i] - np.delete(keys, i, axis=0)
        if not np.abs(others).max(axis=1).all() or not y.any():
            raise ValueError("keys must be distinct and y not zero")
        areas.append(_polygon_area(np.vstack([y, others])))
    shares = np.array(areas) / (2 * np.pi)
    if shares.min() < -TOUCHING or abs(shares.sum() - 1) > TOUCHING:
        raise ValueError(
            "three of y and the differences of keys lie in one plane, or two on one line: the "
            "polygons touch in corners of no area; move a key a little"
        )
    return shares


def _polygon_area(normals: np.ndarray) -> float:
    """Area of the part of the unit sphere on the positive side of all planes."""
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    exterior, corners = 0.0, 0
    for a, b in itertools.combinations(range(len(normals)), 2):
        axis = np.cross(normals[a], normals[b])
        length = np.linalg.norm(axis)
        if length < 1e-12:
            continue
        rest = np.delete(normals, [a, b], axis=0)
        for corner in (axis / length, -axis / length):
            if (rest @ corner >= 0).all():
                exterior += np.arctan2(length, normals[a] @ normals[b])
                corners += 1
    return float(2 * np.pi - exterior) if corners else 0.0
