"""From "the mixtures differ" to a full string at which they do.

Magnitudes are followed in ball arithmetic: a ball that excludes zero proves that a number is not
zero, at a cost that does not grow with the length of the exact fraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

from flint import arb, ctx, fmpq

from .certificates import EchelonLayer
from .layers import StackedPair, layer_after

T = TypeVar("T")
_FIRST_PRECISION = 128


class _Undecided(Exception):
    """Every candidate's ball contains zero: more bits are needed."""


def _at_rising_precision(search: Callable[[], T]) -> T:
    """Run a search that is known to have an answer, doubling the precision until it finds it."""
    bits = _FIRST_PRECISION
    while True:
        with ctx.workprec(bits):
            try:
                return search()
            except _Undecided:
                bits *= 2


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _balls(values: Sequence[Fraction]) -> list[arb]:
    return [_ball(value) for value in values]


def _total(values: Iterable[arb]) -> arb:
    total = arb(0)
    for value in values:
        total += value
    return total


def _product(left: Sequence[arb], right: Sequence[arb]) -> list[arb]:
    return [a * b for a, b in zip(left, right, strict=True)]


def differing_prefix(
    pair: StackedPair, layers: Sequence[EchelonLayer], length: int
) -> tuple[int, ...]:
    r"""A string of the first ``length`` coordinates whose marginal probabilities differ.

    The functional :math:`f = c` does not vanish on :math:`U_{length}`. Going backwards, some
    letter a keeps :math:`D_{j,a} f` nonzero on :math:`U_{j-1}`, because
    :math:`U_j = \sum_a D_{j,a} U_{j-1}`.

    Parameters
    ----------
    pair : StackedPair
    layers : sequence of EchelonLayer
        Layer spaces up to ``length``.
    length : int
        Number of coordinates after which the layer is not orthogonal to the coefficients.
    """
    return _at_rising_precision(lambda: _backward_letters(pair, layers, length))


def _backward_letters(
    pair: StackedPair, layers: Sequence[EchelonLayer], length: int
) -> tuple[int, ...]:
    functional = _balls(pair.coefficients)
    layer, rows = None, []
    letters: list[int] = []
    for j in reversed(range(length)):
        if layer_after(layers, j) is not layer:
            layer = layer_after(layers, j)
            rows = [{i: _ball(v) for i, v in enumerate(row) if v} for row in layer.rows]
        letter, functional = _nonzero_image(functional, pair.diagonals(j), rows)
        letters.append(letter)
    return tuple(reversed(letters))


def _nonzero_image(
    functional: list[arb],
    diagonals: Sequence[Sequence[Fraction]],
    rows: Sequence[dict[int, arb]],
) -> tuple[int, list[arb]]:
    for letter, diagonal in enumerate(diagonals):
        image = _product(functional, _balls(diagonal))
        for row in rows:
            if not _total(image[i] * value for i, value in row.items()).contains(0):
                return letter, image
    raise _Undecided


def extend_witness(pair: StackedPair, prefix: Sequence[int]) -> tuple[int, ...]:
    r"""Extend a differing prefix to a full string, keeping the letter of largest difference.

    The differences of the one-letter extensions add up to that of the prefix, so one of them is
    not zero. Cost :math:`O(n |\Sigma| K)`.

    Parameters
    ----------
    pair : StackedPair
    prefix : sequence of int
        With different marginal probabilities under P and Q.
    """
    return _at_rising_precision(lambda: _forward_letters(pair, prefix))


def _forward_letters(pair: StackedPair, prefix: Sequence[int]) -> tuple[int, ...]:
    terms = _balls(pair.coefficients)
    letters = list(prefix)
    for j, letter in enumerate(prefix):
        terms = _product(terms, _balls([row[letter] for row in pair.rows_at(j)]))
    for j in range(len(prefix), pair.n_coordinates):
        extensions = [_product(terms, _balls(diagonal)) for diagonal in pair.diagonals(j)]
        letter = _largest_difference([_total(terms) for terms in extensions])
        letters.append(letter)
        terms = extensions[letter]
    return tuple(letters)


def _largest_difference(differences: Sequence[arb]) -> int:
    sizes = {a: difference.abs_lower() for a, difference in enumerate(differences)}
    letter = max(sizes, key=lambda a: sizes[a].mid())
    if differences[letter].contains(0):
        raise _Undecided
    return letter
