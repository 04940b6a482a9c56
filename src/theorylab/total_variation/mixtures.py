"""Mixtures of product distributions with exact rational parameters."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theorylab.numbers import exact

Row = tuple[Fraction, ...]
_FLOAT_REMEDY = (
    "exact arithmetic needs int or Fraction; use ProductMixture.from_floats(..., exact=True) to "
    "read doubles as the dyadic rationals they are, or from_decimal_strings for decimals"
)
_CUBE_ROWS = {
    "0": (Fraction(1), Fraction(0)),
    "1": (Fraction(0), Fraction(1)),
    "*": (Fraction(1, 2), Fraction(1, 2)),
}


def _fraction(value: Any, name: str) -> Fraction:
    if type(value) is Fraction:
        return value
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            raise ValueError(f"{name} is {value!r}; probabilities must be finite")
        raise TypeError(f"{name} is the float {value!r}; {_FLOAT_REMEDY}")
    try:
        return Fraction(exact(value, name))
    except TypeError:
        raise TypeError(
            f"{name} is {value!r} of type {type(value).__name__}; {_FLOAT_REMEDY}"
        ) from None


def _probability_vector(values: Iterable[Any], name: str) -> Row:
    vector = tuple(_fraction(value, f"{name}[{i}]") for i, value in enumerate(values))
    if not vector:
        raise ValueError(f"{name} is empty; at least one probability is needed")
    for i, value in enumerate(vector):
        if value < 0:
            raise ValueError(f"{name}[{i}] is {value}, negative; probabilities must be >= 0")
    common = math.lcm(*(value.denominator for value in vector))
    if sum(value.numerator * (common // value.denominator) for value in vector) != common:
        raise ValueError(f"{name} sums to {sum(vector)} instead of 1; normalise it exactly")
    return vector


@dataclass(frozen=True)
class ProductMixture:
    r"""A finite mixture of product distributions over arbitrary finite alphabets.

    .. math:: P(x) = \sum_{i=1}^{k} w_i \prod_{j=1}^{n} p_i^{(j)}(x_j)

    Parameters
    ----------
    weights : sequence of int or Fraction, shape (k,)
        Mixing weights w; zeros are allowed.
    rows : nested sequence of int or Fraction
        ``rows[i][j]`` is the law of coordinate j in component i, over the letters
        0, 1, ... of alphabet j. Alphabets may differ and may have one letter. No coordinates at
        all (n = 0) is the trivial space.

    Raises
    ------
    TypeError
        If a float stands where exactness is promised; the message names the remedy.
    ValueError
        If a vector is empty, has a negative or non-finite entry, does not sum to one, or if
        components live on different spaces.
    """

    weights: tuple[Fraction, ...]
    rows: tuple[tuple[Row, ...], ...]

    def __post_init__(self) -> None:
        weights = _probability_vector(self.weights, "weights")
        rows = tuple(
            tuple(_probability_vector(row, f"rows[{i}][{j}]") for j, row in enumerate(component))
            for i, component in enumerate(self.rows)
        )
        if len(rows) != len(weights):
            raise ValueError(f"{len(weights)} weights but {len(rows)} components in rows")
        first = tuple(len(row) for row in rows[0])
        for i, component in enumerate(rows):
            sizes = tuple(len(row) for row in component)
            if sizes != first:
                raise ValueError(
                    f"rows[{i}] has alphabet sizes {_short(sizes)}, rows[0] has {_short(first)}; "
                    "all components must live on the same space"
                )
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "rows", rows)

    @classmethod
    def _of_valid(cls, weights: Row, rows: tuple[tuple[Row, ...], ...]) -> ProductMixture:
        """A mixture made of vectors that were validated before."""
        mixture = object.__new__(cls)
        object.__setattr__(mixture, "weights", weights)
        object.__setattr__(mixture, "rows", rows)
        return mixture

    @property
    def n_components(self) -> int:
        """Number k of components."""
        return len(self.weights)

    @property
    def n_coordinates(self) -> int:
        """Number n of coordinates."""
        return len(self.rows[0])

    @property
    def alphabet_sizes(self) -> tuple[int, ...]:
        """Number of letters of every coordinate."""
        return tuple(len(row) for row in self.rows[0])

    @classmethod
    def from_counts(cls, counts: Any, alpha: Fraction | int = 1) -> ProductMixture:
        r"""Naive Bayes model fitted to counts with additive smoothing; exactly rational.

        .. math:: w_i = N_i / N, \qquad p_i^{(j)}(a) = (c_{ija} + \alpha)/(N_i + \alpha|\Sigma_j|)

        Parameters
        ----------
        counts : nested sequence of int
            ``counts[i][j][a]`` observations of letter a at coordinate j in class i; for every i
            the sum over letters is the same number N_i at every coordinate.
        alpha : Fraction or int
            Smoothing, at least 0.

        Raises
        ------
        ValueError
            If counts are negative or their totals differ between coordinates, if alpha is
            negative, or if a class without observations is left unsmoothed.
        """
        smoothing = _fraction(alpha, "alpha")
        if smoothing < 0:
            raise ValueError(f"alpha is {smoothing}; smoothing must be >= 0")
        totals = [_class_total(component, i) for i, component in enumerate(counts)]
        if sum(totals) == 0:
            raise ValueError("counts are all zero; a model cannot be fitted to no observations")
        rows = [
            [_smoothed(row, smoothing, f"counts[{i}][{j}]") for j, row in enumerate(component)]
            for i, component in enumerate(counts)
        ]
        return cls(tuple(Fraction(total, sum(totals)) for total in totals), _nested(rows))

    @classmethod
    def from_floats(cls, weights: Any, rows: Any, *, exact: bool = True) -> ProductMixture:
        """Read doubles as the dyadic rationals they are.

        The last entry of every vector is replaced by one minus the others, because rounded
        probabilities seldom sum to one exactly; put a letter of large probability last.

        Parameters
        ----------
        weights : sequence of float
        rows : nested sequence of float
        exact : bool
            Must be True: it says that the caller means the dyadic values.

        Raises
        ------
        ValueError
            If an entry is negative or not finite, if a vector is further than 1e-9 from summing
            to one, if the last entry would become negative, or if ``exact`` is False.
        """
        if not exact:
            raise ValueError(
                "exact=False: there is no inexact mixture; round to rationals yourself, for "
                "example with Fraction(x).limit_denominator(), or use from_decimal_strings"
            )
        return cls(
            _dyadic(weights, "weights"),
            tuple(
                tuple(_dyadic(row, f"rows[{i}][{j}]") for j, row in enumerate(component))
                for i, component in enumerate(rows)
            ),
        )

    @classmethod
    def from_decimal_strings(cls, weights: Iterable[str], rows: Any) -> ProductMixture:
        """Read strings such as ``"0.3"``, ``"1e-30"`` or ``"1/3"`` exactly."""
        return cls(
            _parsed(weights, "weights"),
            tuple(
                tuple(_parsed(row, f"rows[{i}][{j}]") for j, row in enumerate(component))
                for i, component in enumerate(rows)
            ),
        )

    @classmethod
    def from_subcubes(cls, weights: Any, cubes: Sequence[str]) -> ProductMixture:
        """Mixture of uniform laws on Boolean subcubes.

        Parameters
        ----------
        weights : sequence of int or Fraction
        cubes : sequence of str
            Of equal length over ``"0"``, ``"1"`` (fixed bits) and ``"*"`` (free bits).
        """
        for i, cube in enumerate(cubes):
            if set(cube) - set(_CUBE_ROWS):
                raise ValueError(f"cubes[{i}] is {cube!r}; only the characters 0, 1, * may occur")
        return cls(weights, tuple(tuple(_CUBE_ROWS[c] for c in cube) for cube in cubes))

    def probability(self, x: Sequence[int]) -> Fraction:
        """Exact probability of the string ``x`` of letters, shape (n,)."""
        sizes = self.alphabet_sizes
        if len(x) != len(sizes):
            raise ValueError(f"x has {len(x)} letters, the space has {len(sizes)} coordinates")
        for j, (letter, size) in enumerate(zip(x, sizes, strict=True)):
            if not 0 <= letter < size:
                raise ValueError(f"x[{j}] is {letter}, outside the alphabet 0..{size - 1}")
        return sum((self._term(i, x) for i in range(len(self.weights))), Fraction(0))

    def _term(self, i: int, x: Sequence[int]) -> Fraction:
        factors = [self.weights[i], *(row[a] for row, a in zip(self.rows[i], x, strict=True))]
        numerator = math.prod(factor.numerator for factor in factors)
        return Fraction(numerator, math.prod(factor.denominator for factor in factors))

    def marginal(self, coordinates: Sequence[int]) -> ProductMixture:
        """Law of the given coordinates, in the given order.

        Parameters
        ----------
        coordinates : sequence of int
            Distinct; none at all gives the trivial space.
        """
        chosen = [_index(j, self.n_coordinates, "coordinates") for j in coordinates]
        if len(set(chosen)) != len(chosen):
            raise ValueError(f"coordinates {_short(chosen)} contain a repetition")
        return self._of_valid(
            self.weights, tuple(tuple(rows[j] for j in chosen) for rows in self.rows)
        )

    def split(self, i: int, j: int, shift: Sequence[Any], share: Fraction | int) -> ProductMixture:
        r"""The same law with component i split in two that differ at coordinate j only.

        .. math:: w\,r = \lambda w\,(r + \varepsilon)
                  + (1-\lambda) w\,\bigl(r - \tfrac{\lambda}{1-\lambda}\varepsilon\bigr)

        Parameters
        ----------
        i, j : int
            Component and coordinate.
        shift : sequence of int or Fraction
            :math:`\varepsilon`, summing to 0, small enough for both rows to be non-negative.
        share : Fraction
            :math:`\lambda` in (0, 1).
        """
        i, j = _index(i, self.n_components, "i"), _index(j, self.n_coordinates, "j")
        part = _fraction(share, "share")
        if not 0 < part < 1:
            raise ValueError(f"share is {part}; it must lie strictly between 0 and 1")
        epsilon = [_fraction(value, "shift") for value in shift]
        row = self.rows[i][j]
        if len(epsilon) != len(row) or sum(epsilon) != 0:
            raise ValueError(f"shift must have {len(row)} entries that sum to 0, got {shift}")
        up = tuple(r + e for r, e in zip(row, epsilon, strict=True))
        down = tuple(r - part / (1 - part) * e for r, e in zip(row, epsilon, strict=True))
        weight = self.weights[i]
        return self._replacing(i, j, [(part * weight, up), ((1 - part) * weight, down)])

    def expand(self, i: int, j: int) -> ProductMixture:
        """The same law with component i replaced by one component per possible letter of j."""
        i, j = _index(i, self.n_components, "i"), _index(j, self.n_coordinates, "j")
        row = self.rows[i][j]
        points = [
            (self.weights[i] * value, tuple(Fraction(int(a == b)) for b in range(len(row))))
            for a, value in enumerate(row)
            if value
        ]
        return self._replacing(i, j, points)

    def replace_row(self, i: int, j: int, row: Sequence[Any]) -> ProductMixture:
        """Another mixture: component i has the law ``row`` at coordinate j."""
        i, j = _index(i, self.n_components, "i"), _index(j, self.n_coordinates, "j")
        if len(row) != self.alphabet_sizes[j]:
            raise ValueError(f"row has {len(row)} entries, alphabet {j} {self.alphabet_sizes[j]}")
        return self._replacing(i, j, [(self.weights[i], row)])

    def _replacing(
        self, i: int, j: int, parts: Sequence[tuple[Fraction, Sequence[Any]]]
    ) -> ProductMixture:
        """Component i in parts whose weights add up to its own and which differ at j only."""
        rows = self.rows[i]
        new = tuple(
            (*rows[:j], _probability_vector(row, f"row {j} of component {i}"), *rows[j + 1 :])
            for _, row in parts
        )
        weights = (*self.weights[:i], *(weight for weight, _ in parts), *self.weights[i + 1 :])
        return self._of_valid(weights, (*self.rows[:i], *new, *self.rows[i + 1 :]))

    def permute(self, order: Sequence[int]) -> ProductMixture:
        """The same law with its components listed in another order (a permutation of 0..k-1)."""
        if sorted(order) != list(range(self.n_components)):
            raise ValueError(
                f"order {_short(order)} is no permutation of 0..{self.n_components - 1}"
            )
        return self._of_valid(
            tuple(self.weights[i] for i in order), tuple(self.rows[i] for i in order)
        )

    def coarsen(self, j: int, partition: Sequence[Sequence[int]]) -> ProductMixture:
        """Law after letters of coordinate j are merged; ``partition`` lists the new letters."""
        j = _index(j, self.n_coordinates, "j")
        letters = sorted(letter for block in partition for letter in block)
        if letters != list(range(self.alphabet_sizes[j])) or not all(partition):
            raise ValueError(
                f"partition {partition} does not divide the letters 0..{self.alphabet_sizes[j] - 1}"
            )
        rows = [
            (
                *rows[:j],
                tuple(sum(rows[j][a] for a in block) for block in partition),
                *rows[j + 1 :],
            )
            for rows in self.rows
        ]
        return ProductMixture(self.weights, _nested(rows))

    def canonical(self) -> ProductMixture:
        """The same law without zero weights and repeated components, sorted by component.

        Two mixtures with the same canonical form are equal; the converse does not hold.
        """
        merged: dict[tuple[Row, ...], Fraction] = {}
        for weight, rows in zip(self.weights, self.rows, strict=True):
            if weight:
                merged[rows] = merged.get(rows, Fraction(0)) + weight
        order = sorted(merged)
        return ProductMixture(tuple(merged[rows] for rows in order), tuple(order))

    def to_json(self) -> str:
        """The mixture as JSON with fractions written ``"numerator/denominator"``."""
        rows = [[[str(value) for value in row] for row in component] for component in self.rows]
        return json.dumps({"weights": [str(weight) for weight in self.weights], "rows": rows})

    @classmethod
    def from_json(cls, text: str) -> ProductMixture:
        """The mixture that ``to_json`` wrote."""
        stored = json.loads(text)
        return cls.from_decimal_strings(stored["weights"], stored["rows"])


def require_same_space(P: ProductMixture, Q: ProductMixture) -> None:
    """Raise ``ValueError`` unless both mixtures live on the same space."""
    for name, mixture in (("P", P), ("Q", Q)):
        if not isinstance(mixture, ProductMixture):
            raise TypeError(f"{name} must be a ProductMixture, got {type(mixture).__name__}")
    if P.alphabet_sizes != Q.alphabet_sizes:
        raise ValueError(
            f"P has alphabet sizes {_short(P.alphabet_sizes)}, Q has {_short(Q.alphabet_sizes)}; "
            "the distance is defined on a common space"
        )


def _short(values: Sequence[Any]) -> str:
    shown = ", ".join(str(value) for value in values[:8])
    return f"({shown}, ... {len(values)} in all)" if len(values) > 8 else f"({shown})"


def _nested(rows: Iterable[Iterable[Any]]) -> tuple:
    return tuple(tuple(component) for component in rows)


def _index(value: int, size: int, name: str) -> int:
    if not 0 <= value < size:
        raise ValueError(f"{name} is {value}; it must lie in 0..{size - 1}")
    return int(value)


def _class_total(component: Any, i: int) -> int:
    sums = {sum(int(exact(count, f"counts[{i}]")) for count in row) for row in component}
    if len(sums) != 1:
        raise ValueError(
            f"counts[{i}] has totals {sorted(sums)} at its coordinates; every coordinate of a "
            "class must count the same observations"
        )
    return sums.pop()


def _smoothed(row: Any, alpha: Fraction, name: str) -> Row:
    counts = [int(exact(count, name)) for count in row]
    if min(counts) < 0:
        raise ValueError(f"{name} contains {min(counts)}; counts must be >= 0")
    total = sum(counts) + alpha * len(counts)
    if total == 0:
        raise ValueError(f"{name} has no observations and alpha is 0; smooth or drop the class")
    return tuple((count + alpha) / total for count in counts)


def _dyadic(values: Any, name: str) -> Row:
    floats = [float(value) for value in values]
    if not floats:
        raise ValueError(f"{name} is empty; at least one probability is needed")
    for i, value in enumerate(floats):
        if not math.isfinite(value) or value < 0:
            raise ValueError(f"{name}[{i}] is {value!r}; probabilities must be finite and >= 0")
    head = [Fraction(value) for value in floats[:-1]]
    last = 1 - sum(head, Fraction(0))
    if abs(last - Fraction(floats[-1])) > Fraction(1, 10**9):
        raise ValueError(f"{name} sums to {math.fsum(floats)!r} instead of 1")
    if last < 0:
        raise ValueError(
            f"{name}: one minus the other entries is {float(last):.3g} < 0; put an entry of "
            "larger probability last"
        )
    return (*head, last)


def _parsed(values: Iterable[str], name: str) -> Row:
    vector = []
    for i, text in enumerate(values):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{i}] is {text!r}; from_decimal_strings reads strings")
        try:
            vector.append(Fraction(text))
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"{name}[{i}] is {text!r}, which is no decimal or fraction") from None
    return tuple(vector)
