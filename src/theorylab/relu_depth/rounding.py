"""The published certificate for six numbers, and what rounding its coefficients costs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial

import numpy as np

from .ansatz import Certificate
from .hinges import Block, symmetrised

PUBLISHED_SIX = (
    (Fraction(1, 720), ((0, 1), (0, 1)), ((2, 3), (2, 3))),
    (Fraction(1, 360), ((0, 1), (0, 2)), ((0, 3), (4, 5))),
    (Fraction(-1, 1440), ((0, 1), (0, 2)), ((3, 4), (3, 5))),
    (Fraction(-1, 360), ((0, 1), (2, 3)), ((0, 2), (4, 5))),
)


def six_numbers(coefficients: Sequence[Fraction] | None = None) -> Certificate:
    """The published certificate for six numbers, with other coefficients if some are given."""
    own = [c for c, *_ in PUBLISHED_SIX]
    terms = zip(own if coefficients is None else coefficients, PUBLISHED_SIX, strict=True)
    return Certificate(6, tuple((c, Block(left, right)) for c, (_, left, right) in terms))


BITS = range(12, 61)


def rounded(bits: int) -> Certificate:
    """The certificate for six numbers with coefficients rounded to so many binary places."""
    scale = 2**bits
    return six_numbers([Fraction(round(c * scale), scale) for c, *_ in PUBLISHED_SIX])


def sup_errors(bits: Sequence[int], points: np.ndarray) -> np.ndarray:
    """Largest error on the points of each rounded certificate.

    Parameters
    ----------
    bits : sequence of int
    points : array (m, 6)
        In [-1, 1].
    """
    values = np.stack([_symmetrised_values(term, points) for term in _six_blocks()])
    errors = []
    for count in bits:
        difference = [
            float(r - c)
            for (r, _), (c, *_) in zip(rounded(count).terms, PUBLISHED_SIX, strict=True)
        ]
        errors.append(np.abs(np.array(difference) @ values).max())
    return np.array(errors)


def _six_blocks() -> list[Block]:
    return [block for _, block in six_numbers().terms]


def _symmetrised_values(block: Block, points: np.ndarray) -> np.ndarray:
    total = np.zeros(len(points))
    for count, member in symmetrised(block, 6):
        left, right = (
            np.sum([np.maximum(points[:, i], points[:, j]) for i, j in side], axis=0)
            for side in (member.left, member.right)
        )
        total += count * np.maximum(left, right)
    return total


def corners() -> np.ndarray:
    """Corners of the cube and centres of its faces."""
    axes = np.meshgrid(*[np.array([-1.0, 0.0, 1.0])] * 6, indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1)


def error_bounds(bits: Sequence[int]) -> list[float]:
    """Four coefficients, each off by half a unit, times 6! blocks of size at most 2."""
    return [4 * factorial(6) * 2 * 2.0 ** -(b + 1) for b in bits]
