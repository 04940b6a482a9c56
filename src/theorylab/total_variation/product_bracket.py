r"""A certified two-sided bracket of the total variation of product distributions.

The law of the likelihood ratio is carried through the coordinates as a list of atoms, cells of a
fixed grid of ratios. *Merging* the atoms of a cell coarsens the space: the distance can only
fall. *Splitting* an atom between the two neighbouring grid ratios, totals kept, refines it: the
distance can only rise. Both survive further coordinates, so one pass of each gives
:math:`L \le d_{TV} \le U` in :math:`O(n q m)` operations for m cells, with a gap of order
:math:`m^{-2}`.

Why the rounding is proved. Write u = 2^-53 and r = q/p - 1 for the *excess* of an atom.

*Where* an atom falls never needs to be right. Any way of merging is a coarsening, so the lower
pass is valid for every choice of cells, and only the totals matter. In the upper pass let
:math:`G_i(r)` be the expectation of :math:`\max(0, -r')` over the coordinates after i, started
from excess r: it is convex, non-increasing, 1-Lipschitz and at most 1. With masses m on grid
points g put :math:`\Phi_i = \sum_k m_k G_i(g_k)`; then :math:`\Phi_0 = d_{TV}` and
:math:`\Phi_n` is the upper bound. If step i moves every position by at most :math:`e`, and every
mass it computes is at least :math:`1 - Ku` times the exact one, then convexity gives
:math:`\Phi_i \ge (1 - Ku)(\Phi_{i-1} - \sum m\,p_a\,e)`, so

.. math:: d_{TV} \le \Phi_n \prod_i (1 - K_i u)^{-1} + \sum_i (\text{position error})_i\,
          \prod_{j<i}(1 - K_j u)^{-1}.

Positions are :math:`r' = r\rho_a + r_a` with :math:`\rho_a` and :math:`r_a` correctly rounded
from exact fractions, so :math:`e \le 3.01u\,|r|\rho_a + 2.01u\,|r_a|`, and the sum over atoms is
at most :math:`u(3.01\sum m|r| + 4.02\,d_i)`: an error relative to the distance, however small
that is. Cutting a position down to the largest grid point raises :math:`G`, and cutting it up to
-1 moves it towards the truth. In the lower pass the signed totals :math:`\delta = q - p` obey
:math:`\delta' = p\,\delta_a + \delta\,q_a`; their error in the sum norm grows per step by at most
:math:`2 d_i\theta + Ku(2 d_i + \|\delta\|_1)`, where :math:`\theta` is the relative error that
the masses p have by then. The counts K are taken from the number of terms that really fell into
one cell. Products below the range of doubles lose at most ``UNDERFLOW`` in all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theorylab.total_variation.product_bounds import hellinger_gap
from theorylab.total_variation.product_pairs import ProductPair, rounded_pair

Array = NDArray[np.float64]

UNIT = 2.0**-53
UNDERFLOW = 1e-290
SMALLEST_DISTANCE = 1e-270
LARGEST_RATIO = 10**300
LOG_RANGE = 40.0
FIRST_CELLS = 48
MOST_CELLS = 1 << 16


@dataclass(frozen=True)
class Bracket:
    """A certified interval for a total variation distance.

    Attributes
    ----------
    lower, upper : float
        Proved: ``lower <= d_TV <= upper``.
    cells : int
        Grid cells on either side of ratio 1.
    rounding : float
        How much of the width pays for rounding; the rest is discretisation.
    """

    lower: float
    upper: float
    cells: int
    rounding: float

    @property
    def width(self) -> float:
        """``upper - lower``."""
        return self.upper - self.lower

    @property
    def relative_width(self) -> float:
        """``(upper - lower) / lower``; 0 for a distance that is exactly 0."""
        if self.width == 0.0:
            return 0.0
        return self.width / self.lower if self.lower > 0.0 else inf


def tv_product_bracket(
    P: Any, Q: Any, *, rtol: float | None = None, cells: int | None = None
) -> Bracket:
    r"""Certified bracket :math:`L \le d_{TV}(P, Q) \le U` in time linear in n and in the cells.

    Parameters
    ----------
    P, Q : sequence of rows
        Row j holds the probabilities of the letters of coordinate j: exact numbers, or floats,
        which are read as the dyadic rationals that they are; the last letter of a row of floats
        takes up what its sum lacks to 1. The certificate is about these exact numbers.
    rtol : float, optional
        Refine until ``upper - lower <= rtol * lower``; 0.01 if neither option is given.
    cells : int, optional
        Use exactly this many grid cells on either side of ratio 1.

    Returns
    -------
    Bracket
        Where every coordinate distance is below ``SMALLEST_DISTANCE``, only the trivial interval
        :math:`[\max d_i, \sum d_i]`.

    Raises
    ------
    ValueError
        For rows that are no probabilities (NaN, infinite, negative, not summing to 1), different
        spaces, both options at once, ``rtol`` not positive or out of reach, ``cells < 1``.
    """
    if rtol is not None and cells is not None:
        raise ValueError(f"give rtol or cells, not both (got rtol={rtol}, cells={cells})")
    pair = rounded_pair(P, Q)
    if cells is not None:
        if cells < 1:
            raise ValueError(f"cells must be at least 1, got {cells}")
        return bracket_of(pair, cells)
    return _refine(pair, 0.01 if rtol is None else rtol)


def _refine(pair: ProductPair, rtol: float) -> Bracket:
    """More cells, by the inverse-square law of the gap, until it is small enough."""
    if not rtol > 0.0:
        raise ValueError(f"rtol must be positive, got {rtol}")
    cells = FIRST_CELLS
    found = bracket_of(pair, cells)
    while found.relative_width > rtol:
        growth = 1.1 * sqrt(found.relative_width / rtol)
        cells = ceil(cells * min(max(growth, 1.3), 8.0))
        if cells > MOST_CELLS or found.rounding > rtol * found.upper:
            raise ValueError(
                f"rtol={rtol} is out of reach: relative width {found.relative_width:.2g} with "
                f"{found.cells} cells; ask for a larger rtol, or give cells"
            )
        found = bracket_of(pair, cells)
    return found


def bracket_of(
    pair: ProductPair, cells: int, upper_pass: Callable[..., tuple[float, float]] | None = None
) -> Bracket:
    """Bracket of a checked pair; ``upper_pass`` replaces the splitting pass (for controls)."""
    if max(pair.marginal_distances, default=0) < SMALLEST_DISTANCE:
        return _marginal_bracket(pair, cells)
    letters = _Letters.of(pair)
    scale = 0.1 * max(float(pair.floats.distances.max()), hellinger_gap(pair.floats))
    grid = ratio_grid(scale, cells, letters.log_range())
    low, low_margin = merging_pass(letters, grid)
    high, high_margin = (upper_pass or splitting_pass)(letters, grid)
    largest = nextafter(float(pair.floats.distances.max()), 0.0)
    lower = max(nextafter(low - low_margin, -inf), largest)
    upper = min(nextafter(high + high_margin, inf), 1.0)
    return Bracket(lower, upper, cells, low_margin + high_margin)


def _marginal_bracket(pair: ProductPair, cells: int) -> Bracket:
    r""":math:`\max d_i \le d_{TV} \le \sum d_i`, where doubles end."""
    largest = float(max(pair.marginal_distances, default=Fraction(0)))
    total = sum(pair.marginal_distances, start=Fraction(0))
    if not total:
        return Bracket(0.0, 0.0, cells, 0.0)
    return Bracket(max(0.0, nextafter(largest, -inf)), nextafter(float(total), inf), cells, 0.0)


@dataclass(frozen=True, eq=False)
class _Letters:
    """The letters of each coordinate, as arrays of shape (n, letters).

    ``ratio`` is q/p and ``excess`` (q-p)/p, each rounded once from the exact fraction and cut at
    ``LARGEST_RATIO``; letters with p = 0 have ratio and excess 0 and are skipped by the upper
    pass, which follows the mass of P only.
    """

    p: Array
    q: Array
    difference: Array
    ratio: Array
    excess: Array
    distances: Array

    def log_range(self) -> float:
        """No finite likelihood ratio of a point lies further from 1 than this, in logarithm."""
        finite = self.excess > -1.0
        logs = np.abs(np.log1p(np.where(finite, self.excess, 0.0)))
        return min(LOG_RANGE, 1.01 * float(logs.max(axis=1).sum()))

    @classmethod
    def of(cls, pair: ProductPair) -> _Letters:
        tables = pair.floats
        ratio, excess = np.zeros_like(tables.p), np.zeros_like(tables.p)
        for j, (p_row, q_row) in enumerate(zip(pair.p, pair.q, strict=True)):
            for a, (p, q) in enumerate(zip(p_row, q_row, strict=True)):
                if p:
                    ratio[j, a], excess[j, a] = _rounded(q, p), _rounded(q - p, p)
        return cls(tables.p, tables.q, tables.difference, ratio, excess, tables.distances)


def _rounded(numerator: Fraction, denominator: Fraction) -> float:
    top = numerator.numerator * denominator.denominator
    bottom = numerator.denominator * denominator.numerator
    if abs(top) >= LARGEST_RATIO * bottom:
        return float(LARGEST_RATIO)
    return top / bottom


def ratio_grid(scale: float, cells: int, log_range: float = LOG_RANGE) -> Array:
    r"""Excesses :math:`e^{s_0 \sinh u} - 1` for equally spaced u, with -1 and 0 among them.

    Parameters
    ----------
    scale : float
        :math:`s_0 > 0`: the log-ratio at which equal spacing gives way to geometric growth.
    cells : int
        Cells on either side of 0.
    log_range : float
        Largest log-ratio on the grid, or ``scale`` if that is larger.
    """
    u = np.linspace(0.0, np.arcsinh(max(log_range, scale) / scale), cells + 1)[1:]
    steps = scale * np.sinh(u)
    return np.unique(np.concatenate(([-1.0, 0.0], np.expm1(-steps), np.expm1(steps))))


def merging_pass(letters: _Letters, grid: Array) -> tuple[float, float]:
    """Lower bound before rounding, and the rounding margin to subtract."""
    p, delta = np.ones(1), np.zeros(1)
    mass_error = delta_error = 0.0
    for p_a, q_a, delta_a, d in zip(
        letters.p, letters.q, letters.difference, letters.distances.tolist(), strict=True
    ):
        norm = float(np.abs(delta).sum())
        new_p = np.multiply.outer(p_a, p).ravel()
        new_delta = (np.multiply.outer(delta_a, p) + np.multiply.outer(q_a, delta)).ravel()
        p, delta, terms = _merge(new_p, new_delta, grid)
        operations = (terms + 5) * UNIT
        delta_error += mass_error * 2.02 * d + operations * 1.01 * (2.02 * d + norm)
        mass_error += 1.01 * operations
    total = float(np.abs(delta).sum())
    summation_error = 1.01 * (len(grid) + 2) * UNIT * total
    return 0.5 * total, 0.5 * (1.02 * delta_error + summation_error) + UNDERFLOW


def _merge(p: Array, delta: Array, grid: Array) -> tuple[Array, Array, int]:
    """Add up the atoms of each cell; also the largest number of atoms in one cell."""
    alive = (p > 0.0) | (delta != 0.0)
    p, delta = p[alive], delta[alive]
    with np.errstate(divide="ignore", over="ignore"):
        position = delta / p
    cell = np.searchsorted(grid, position, side="right") - 1
    np.maximum(cell, 0, out=cell)
    counts = np.bincount(cell)
    filled = counts > 0
    size = len(counts)
    return _sums(cell, p, size)[filled], _sums(cell, delta, size)[filled], int(counts.max())


def splitting_pass(letters: _Letters, grid: Array) -> tuple[float, float]:
    """Upper bound before rounding, and the rounding margin to add."""
    gaps = np.diff(grid)
    mass, excess = np.ones(1), np.zeros(1)
    mass_error = position_error = 0.0
    for p_a, ratio_a, excess_a, d in zip(
        letters.p, letters.ratio, letters.excess, letters.distances.tolist(), strict=True
    ):
        size = float(mass @ np.abs(excess))
        position_error += UNIT * (3.1 * size + 4.2 * d)
        new_mass = np.multiply.outer(p_a, mass).ravel()
        with np.errstate(over="ignore"):
            position = (np.multiply.outer(ratio_a, excess) + excess_a[:, None]).ravel()
        mass, excess, terms = _split(new_mass, position, grid, gaps)
        mass_error += (terms + 7) * UNIT
    total = float(mass @ np.maximum(0.0, -excess))
    growth = 1.02 * (mass_error + (len(grid) + 2) * UNIT)
    return total, growth * total + 1.02 * position_error + UNDERFLOW


def _split(mass: Array, position: Array, grid: Array, gaps: Array) -> tuple[Array, Array, int]:
    """Share each atom between the grid points around it, keeping both its totals."""
    alive = mass > 0.0
    mass, position = mass[alive], np.clip(position[alive], grid[0], grid[-1])
    below = np.minimum(np.searchsorted(grid, position, side="right") - 1, len(gaps) - 1)
    above_share = (position - grid[below]) / gaps[below]
    below_share = (grid[below + 1] - position) / gaps[below]
    counts = np.bincount(below, minlength=len(gaps))
    new = _sums(below, mass * below_share, len(grid))
    new[1:] += _sums(below, mass * above_share, len(gaps))
    filled = new > 0.0
    return new[filled], grid[filled], int(counts.max())


def _sums(cell: NDArray[np.intp], values: Array, size: int) -> Array:
    """Sums of ``values`` by cell, one term after the other."""
    return np.bincount(cell, values, minlength=size).astype(np.float64, copy=False)
