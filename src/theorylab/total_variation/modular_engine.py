"""Engine modulo word-size primes in NumPy; the rational answer is reconstructed, then verified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm

import numpy as np
from flint import fmpz

from .certificates import EchelonLayer
from .layers import Proposal, StackedPair

_LARGEST_PRIME = 2**31 - 1
Residues = np.ndarray


@dataclass(frozen=True)
class ResidueLayer:
    """A layer space modulo a prime, in reduced row echelon form.

    Parameters
    ----------
    start : int
        Number of coordinates after which the layer is in force.
    pivots : tuple of int, shape (r,)
    rows : ndarray of int64, shape (r, K)
    """

    start: int
    pivots: tuple[int, ...]
    rows: Residues


@dataclass(frozen=True)
class ResidueChain:
    """All layer spaces modulo one prime.

    Parameters
    ----------
    prime : int
    layers : tuple of ResidueLayer
        Distinct layers.
    ranks : tuple of int
    found_after : int, optional
        Number of coordinates after which the layer is not orthogonal to the coefficients.
    """

    prime: int
    layers: tuple[ResidueLayer, ...]
    ranks: tuple[int, ...]
    found_after: int | None

    @property
    def profile(self) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Larger for luckier primes: a prime can only lower ranks and push pivots right."""
        pivots = tuple(tuple(-pivot for pivot in layer.pivots) for layer in self.layers)
        return self.ranks, pivots


class ResiduePair:
    """Coefficients and laws of a stacked pair as integers, ready to be taken modulo primes.

    Parameters
    ----------
    pair : StackedPair
    """

    def __init__(self, pair: StackedPair) -> None:
        values = list(pair.coefficients)
        self.sizes = pair.P.alphabet_sizes
        self.width = pair.width
        for j in range(pair.n_coordinates):
            values.extend(value for diagonal in pair.diagonals(j) for value in diagonal)
        self._numerators = _integers([value.numerator for value in values])
        denominators = _integers([value.denominator for value in values])
        self._denominators, self._which = np.unique(denominators, return_inverse=True)

    def modulo(self, prime: int) -> tuple[Residues, list[Residues]] | None:
        """Coefficients and, per coordinate, the diagonals; ``None`` if p divides a denominator."""
        denominators = [int(d) % prime for d in self._denominators]
        if 0 in denominators:
            return None
        inverses = np.array([pow(d, -1, prime) for d in denominators], dtype=np.int64)
        residues = (self._numerators % prime).astype(np.int64)
        residues = residues * inverses[self._which] % prime
        ends = np.cumsum([1, *self.sizes]) * self.width
        first, *rest = np.split(residues, ends[:-1])
        return first, [block.reshape(-1, self.width) for block in rest]


def _integers(values: list[int]) -> np.ndarray:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def primes_below(limit: int) -> Iterator[int]:
    """Primes from ``limit`` - 1 downwards."""
    return (number for number in range(limit - 1, 1, -1) if fmpz(number).is_prime())


def residue_chain(
    coefficients: Residues, diagonals: Sequence[Residues], prime: int, stop_early: bool
) -> ResidueChain:
    """The layer spaces modulo ``prime``: the whole of the work of one prime.

    Parameters
    ----------
    coefficients : ndarray of int64, shape (K,)
    diagonals : sequence of ndarray of int64, shape (q_j, K)
    prime : int
        Below 2**31, so that products of two residues fit into 63 bits.
    stop_early : bool
    """
    layer = ResidueLayer(0, (0,), np.ones((1, len(coefficients)), dtype=np.int64))
    layers, ranks, found_after = [layer], [1], None
    for j, letters in enumerate(diagonals):
        pivots, rows = _new_rows(layer, letters[:-1], prime)
        if pivots:
            layer = _joined(layer, pivots, rows, prime, j + 1)
            layers.append(layer)
        ranks.append(len(layer.pivots))
        if found_after is None and pivots and _is_seen(coefficients, rows, prime):
            found_after = j + 1
            if stop_early:
                break
    return ResidueChain(prime, tuple(layers), tuple(ranks), found_after)


def _is_seen(coefficients: Residues, rows: Residues, prime: int) -> bool:
    return bool(((rows * coefficients % prime).sum(axis=1) % prime).any())


def _new_rows(layer: ResidueLayer, letters: Residues, prime: int) -> tuple[list[int], Residues]:
    """Echelon form of the vectors ``D y - p_t y``, which vanish at all old pivots."""
    shifts = letters[:, None, :] - letters[:, list(layer.pivots), None]
    candidates = (shifts * layer.rows % prime).reshape(-1, layer.rows.shape[1])
    return _echelon(candidates[candidates.any(axis=1)], prime)


def _echelon(rows: Residues, prime: int) -> tuple[list[int], Residues]:
    """Reduced row echelon form modulo ``prime``; pivots in order of discovery."""
    pivots: list[int] = []
    found: list[Residues] = []
    while len(rows):
        columns = (rows != 0).argmax(axis=1)
        place = int(columns.argmin())
        pivot = int(columns[place])
        row = rows[place] * pow(int(rows[place, pivot]), -1, prime) % prime
        rows = (rows - rows[:, pivot, None] * row) % prime
        rows = rows[rows.any(axis=1)]
        found = [(old - old[pivot] * row) % prime for old in found]
        pivots.append(pivot)
        found.append(row)
    return pivots, np.array(found)


def _joined(
    layer: ResidueLayer, pivots: list[int], new: Residues, prime: int, start: int
) -> ResidueLayer:
    rows = layer.rows
    for pivot, row in zip(pivots, new, strict=True):
        rows = (rows - rows[:, pivot, None] * row) % prime
    all_pivots = np.array([*layer.pivots, *pivots])
    order = all_pivots.argsort()
    return ResidueLayer(
        start, tuple(all_pivots[order].tolist()), np.concatenate([rows, new])[order]
    )


def residue_prefix(
    chain: ResidueChain, coefficients: Residues, diagonals: Sequence[Residues]
) -> tuple[int, ...]:
    """A prefix whose marginal probabilities differ modulo the prime, hence differ."""
    if chain.found_after is None:
        raise ValueError("the chain found no difference")
    functional, letters = coefficients, []
    layers = list(chain.layers)
    for j in reversed(range(chain.found_after)):
        while layers[-1].start > j:
            layers.pop()
        images = diagonals[j] * functional % chain.prime
        values = (images[:, None, :] * layers[-1].rows % chain.prime).sum(axis=2) % chain.prime
        letter = int(values.any(axis=1).argmax())
        letters.append(letter)
        functional = images[letter]
    return tuple(reversed(letters))


def propose(pair: StackedPair, stop_early: bool) -> Iterator[Proposal]:
    """Work modulo primes until a proposal survives verification.

    Yields
    ------
    Proposal
        A differing prefix as soon as a prime shows one; else layers reconstructed from 2, 4,
        8, ... primes. A proposal that fails verification asks for the next; the last is made when
        the primes suffice for the longest numbers that can occur. With early exit and different
        mixtures the ranks are those modulo one prime.
    """
    residues = ResiduePair(pair)
    chains: list[ResidueChain] = []
    prefix, goal = None, 2
    for prime in primes_below(_LARGEST_PRIME + 1):
        reduced = residues.modulo(prime)
        if reduced is None:
            continue
        chain = residue_chain(*reduced, prime, stop_early)
        if chain.found_after is not None and prefix is None:
            prefix = residue_prefix(chain, *reduced)
        if chain.found_after is not None and stop_early:
            yield Proposal((), chain.ranks, prefix)
        chains = _luckiest(chains, chain)
        if len(chains) >= goal:
            goal *= 2
            layers = reconstruct_layers(chains)
            if layers is not None:
                yield Proposal(layers, chains[0].ranks, prefix)
            if len(chains) > sufficient_primes(pair, chains[0]):
                return


def sufficient_primes(pair: StackedPair, chain: ResidueChain) -> int:
    r"""Number of lucky primes from which every layer can be reconstructed.

    With :math:`E_i` the product of the common denominators of component i at the active
    coordinates, the entries of a layer are quotients of minors of a matrix whose column i holds
    integers up to :math:`E_i`, rescaled by two of the :math:`E_i`; so their parts stay below
    :math:`K! \prod_i E_i^2`.

    Parameters
    ----------
    pair : StackedPair
    chain : ResidueChain
        Modulo a lucky prime; tells the active coordinates.
    """
    active = [layer.start - 1 for layer in chain.layers[1:]]
    scales = (lcm(*(v.denominator for v in law)) for j in active for law in pair.rows_at(j))
    bits = pair.width * pair.width.bit_length() + 2 * sum(s.bit_length() for s in scales)
    return 2 + 2 * bits // (_LARGEST_PRIME.bit_length() - 1)


def _luckiest(chains: list[ResidueChain], new: ResidueChain) -> list[ResidueChain]:
    if not chains or new.profile > chains[0].profile:
        return [new]
    return [*chains, new] if new.profile == chains[0].profile else chains


def reconstruct_layers(chains: Sequence[ResidueChain]) -> tuple[EchelonLayer, ...] | None:
    """Rational layers from their residues, or ``None`` if the primes are too few.

    Parameters
    ----------
    chains : sequence of ResidueChain
        Of equal profile, modulo different primes.
    """
    lift = RationalLift([chain.prime for chain in chains])
    layers = []
    for versions in zip(*(chain.layers for chain in chains), strict=True):
        table = np.stack([version.rows for version in versions], axis=-1)
        rows = [[lift(tuple(entry)) for entry in row] for row in table.tolist()]
        if any(value is None for row in rows for value in row):
            return None
        frozen = tuple(tuple(value for value in row if value is not None) for row in rows)
        layers.append(EchelonLayer(versions[0].start, versions[0].pivots, frozen))
    return tuple(layers)


class RationalLift:
    """Chinese remaindering and rational reconstruction, remembered per residue vector.

    Parameters
    ----------
    primes : sequence of int
    """

    def __init__(self, primes: Sequence[int]) -> None:
        self.modulus = 1
        for prime in primes:
            self.modulus *= prime
        self._units = [
            self.modulus // prime * pow(self.modulus // prime, -1, prime) for prime in primes
        ]
        self._known: dict[tuple[int, ...], Fraction | None] = {}

    def __call__(self, residues: tuple[int, ...]) -> Fraction | None:
        """The fraction with these residues and the smallest parts, if there is one."""
        if residues not in self._known:
            value = sum(r * unit for r, unit in zip(residues, self._units, strict=True))
            self._known[residues] = rational_reconstruction(value % self.modulus, self.modulus)
        return self._known[residues]


def rational_reconstruction(value: int, modulus: int) -> Fraction | None:
    r"""The fraction u/v with :math:`u \equiv v \cdot \mathrm{value}` and both parts small.

    Parameters
    ----------
    value, modulus : int
        A residue and its modulus m.

    Returns
    -------
    Fraction or None
        With :math:`|u|, v \le \sqrt{m/2}`, unique if it exists; by the extended Euclidean
        algorithm stopped half-way.
    """
    bound = isqrt(modulus // 2)
    old, new = (modulus, 0), (value, 1)
    while new[0] > bound:
        quotient = old[0] // new[0]
        old, new = new, (old[0] - quotient * new[0], old[1] - quotient * new[1])
    numerator, denominator = new
    return Fraction(numerator, denominator) if 0 < abs(denominator) <= bound else None
