"""Certificates of equality, witnesses of difference, and their verification.

This module is meant to be trusted on its own: it imports nothing else of the chapter, it solves
nothing, and it only multiplies, adds and compares rational numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any, Protocol

from flint import fmpq, fmpz

FORMAT = "theorylab.total_variation/equivalence-1"
_SparseRow = dict[int, fmpq]


class Mixture(Protocol):
    """What verification reads of a mixture: exact weights and rows."""

    @property
    def weights(self) -> Sequence[Fraction]: ...

    @property
    def rows(self) -> Sequence[Sequence[Sequence[Fraction]]]: ...


@dataclass(frozen=True)
class EchelonLayer:
    """Basis of one layer space in reduced row echelon form.

    Parameters
    ----------
    start : int
        The layer is in force from here on: after this many coordinates were read.
    pivots : tuple of int, shape (r,)
        Pivot columns, increasing.
    rows : tuple of tuples of Fraction, shape (r, K)
        Basis over the stacked components, those of P first.
    """

    start: int
    pivots: tuple[int, ...]
    rows: tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class EquivalenceCertificate:
    """Proof that two mixtures are the same distribution.

    Parameters
    ----------
    layers : tuple of EchelonLayer
        The distinct layer spaces in order; a layer equal to the one before is not repeated.
    """

    layers: tuple[EchelonLayer, ...]

    def to_json(self) -> str:
        """The certificate as JSON with fractions written ``"numerator/denominator"``."""
        layers = [
            {
                "start": layer.start,
                "pivots": list(layer.pivots),
                "rows": [[_text(value) for value in row] for row in layer.rows],
            }
            for layer in self.layers
        ]
        return json.dumps({"format": FORMAT, "layers": layers})

    @classmethod
    def from_json(cls, text: str) -> EquivalenceCertificate:
        """The certificate that ``to_json`` wrote.

        Raises
        ------
        ValueError
            If the text is no certificate of this format.
        """
        try:
            stored = json.loads(text)
            if stored["format"] != FORMAT:
                raise ValueError(f"format is {stored['format']!r}, expected {FORMAT!r}")
            return cls(tuple(_layer_from_json(layer) for layer in stored["layers"]))
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise ValueError(f"text is no equivalence certificate: {error}") from error


def _text(value: Fraction) -> str:
    """Through flint, because Python refuses to print integers beyond 4300 digits."""
    return str(fmpq(value.numerator, value.denominator))


def _parsed(text: str) -> Fraction:
    numerator, _, denominator = text.partition("/")
    return Fraction(int(fmpz(numerator)), int(fmpz(denominator or "1")))


def _layer_from_json(layer: dict[str, Any]) -> EchelonLayer:
    rows = tuple(tuple(_parsed(value) for value in row) for row in layer["rows"])
    return EchelonLayer(int(layer["start"]), tuple(int(p) for p in layer["pivots"]), rows)


def verify_certificate(P: Mixture, Q: Mixture, certificate: EquivalenceCertificate) -> bool:
    r"""Whether the certificate proves that P and Q are the same distribution.

    With :math:`D_{j,a} = \mathrm{diag}_i\,p_i^{(j)}(a)` over the stacked components and
    :math:`c = (w, -v)`, the layers :math:`B_0, \dots, B_n` are accepted if

    1. every :math:`B_j` is the identity on its pivots and zero to the left of them,
    2. :math:`B_0 = (1, \dots, 1)`,
    3. :math:`z = z[\mathrm{piv}_j]\,B_j` for :math:`z = D_{j,a}y`, for all j, letters a and
       rows y of :math:`B_{j-1}`,
    4. :math:`B_n c = 0`.

    By induction on prefixes the row space of :math:`B_n` contains all vectors
    :math:`(\prod_j p_i^{(j)}(x_j))_i`, so (4) says :math:`P(x) = Q(x)` for all x. Only
    multiplications, additions and comparisons of rationals are used; nothing is solved.

    Parameters
    ----------
    P, Q : mixture
        With ``weights`` and ``rows`` of exact rationals.
    certificate : EquivalenceCertificate
    """
    return certificate_fault(P, Q, certificate) is None


def certificate_fault(P: Mixture, Q: Mixture, certificate: EquivalenceCertificate) -> str | None:
    """Why the certificate proves nothing, in words; ``None`` if it is a proof.

    Parameters are those of ``verify_certificate``.
    """
    return layers_fault(P, Q, certificate) or _last_layer_fault(P, Q, certificate)


def layers_fault(P: Mixture, Q: Mixture, certificate: EquivalenceCertificate) -> str | None:
    """Why conditions (1) to (3) of ``verify_certificate`` fail, in words, or ``None``.

    They alone say that the layers contain all prefix vectors, whether or not P equals Q.
    """
    if not isinstance(certificate, EquivalenceCertificate):
        raise TypeError(f"expected an EquivalenceCertificate, got {type(certificate).__name__}")
    components = [*P.rows, *Q.rows]
    if len({tuple(len(row) for row in component) for component in components}) != 1:
        return "the mixtures live on different spaces"
    return (
        _shape_fault(certificate, len(components), len(components[0]))
        or _echelon_fault(certificate)
        or _first_layer_fault(certificate)
        or _step_fault(components, certificate)
    )


def _shape_fault(certificate: EquivalenceCertificate, width: int, length: int) -> str | None:
    starts = [layer.start for layer in certificate.layers]
    if not starts or starts[0] != 0 or starts[-1] > length:
        return f"layers start at {starts}, which do not cover coordinates 0..{length}"
    if any(a >= b for a, b in pairwise(starts)):
        return f"layers start at {starts}, not in increasing order"
    for layer in certificate.layers:
        if len(layer.pivots) != len(layer.rows) or any(len(row) != width for row in layer.rows):
            return f"layer {layer.start} is no matrix of {len(layer.pivots)} x {width} entries"
        if any(not 0 <= pivot < width for pivot in layer.pivots):
            return f"layer {layer.start} has pivots outside 0..{width - 1}"
    return None


def _echelon_fault(certificate: EquivalenceCertificate) -> str | None:
    for layer in certificate.layers:
        if list(layer.pivots) != sorted(set(layer.pivots)):
            return f"layer {layer.start}: pivots are not increasing"
        for pivot, row in zip(layer.pivots, layer.rows, strict=True):
            if any(row[p] != (p == pivot) for p in layer.pivots) or any(row[:pivot]):
                return f"layer {layer.start}: the row of pivot {pivot} is not reduced"
    return None


def _first_layer_fault(certificate: EquivalenceCertificate) -> str | None:
    first = certificate.layers[0]
    if len(first.rows) != 1 or any(value != 1 for value in first.rows[0]):
        return "layer 0 is not spanned by the vector of ones"
    return None


def _sparse(values: Sequence[Fraction]) -> _SparseRow:
    return {i: fmpq(v.numerator, v.denominator) for i, v in enumerate(values) if v}


def _steps(
    certificate: EquivalenceCertificate, length: int
) -> Iterator[tuple[int, list[_SparseRow], dict[int, _SparseRow]]]:
    """For every coordinate the rows before it, and the rows after it by pivot."""
    layers = iter(certificate.layers)
    upcoming = next(layers, None)
    after: dict[int, _SparseRow] = {}
    for read in range(length + 1):
        before = list(after.values())
        if upcoming is not None and upcoming.start == read:
            sparse_rows = (_sparse(row) for row in upcoming.rows)
            after = dict(zip(upcoming.pivots, sparse_rows, strict=True))
            upcoming = next(layers, None)
        if read:
            yield read - 1, before, after


def _step_fault(
    components: Sequence[Sequence[Sequence[Fraction]]], certificate: EquivalenceCertificate
) -> str | None:
    length = len(components[0])
    for j, before, after in _steps(certificate, length):
        for letter in range(len(components[0][j])):
            diagonal = _sparse([component[j][letter] for component in components])
            if not all(_image_is_inside(diagonal, row, after) for row in before):
                return f"coordinate {j}, letter {letter}: an image leaves the next layer"
    return None


def _image_is_inside(diagonal: _SparseRow, row: _SparseRow, basis: dict[int, _SparseRow]) -> bool:
    """Whether ``z = D y`` equals the combination of basis rows that its pivot entries name."""
    image = {i: diagonal[i] * value for i, value in row.items() if i in diagonal}
    rest = dict(image)
    for pivot, coefficient in image.items():
        for i, value in basis.get(pivot, {}).items():
            rest[i] = rest.get(i, 0) - coefficient * value
    return not any(rest.values())


def _last_layer_fault(P: Mixture, Q: Mixture, certificate: EquivalenceCertificate) -> str | None:
    coefficients = [*P.weights, *(-weight for weight in Q.weights)]
    for row in certificate.layers[-1].rows:
        if sum(c * value for c, value in zip(coefficients, row, strict=True) if value):
            return "the last layer is not orthogonal to the weights"
    return None


def string_probability(mixture: Mixture, x: Sequence[int]) -> Fraction:
    r"""Exact probability :math:`\sum_i w_i \prod_j p_i^{(j)}(x_j)` of the string x."""
    total = Fraction(0)
    for weight, rows in zip(mixture.weights, mixture.rows, strict=True):
        factors = [weight, *(row[letter] for row, letter in zip(rows, x, strict=True))]
        numerator = prod(factor.numerator for factor in factors)
        total += Fraction(numerator, prod(factor.denominator for factor in factors))
    return total


def verify_witness(P: Mixture, Q: Mixture, x: Sequence[int]) -> bool:
    """Whether the string x proves that P and Q differ: its two exact probabilities do.

    Parameters
    ----------
    P, Q : mixture
        With ``weights`` and ``rows`` of exact rationals.
    x : sequence of int, shape (n,)
        Letters; a string outside the space proves nothing.
    """
    sizes = [len(row) for row in P.rows[0]]
    if len(x) != len(sizes) or any(not 0 <= a < q for a, q in zip(x, sizes, strict=True)):
        return False
    return string_probability(P, x) != string_probability(Q, x)
