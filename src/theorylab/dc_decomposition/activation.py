"""The activation complex of a ReLU network, and the network's own convex splitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from theorylab.exact import Polyhedron, Vector

from .complexes import Complex, glue
from .decomposition import Decomposition
from .functions import CPWL, AffineMap

if TYPE_CHECKING:
    from theorylab.exact import ReLUNet


@dataclass(frozen=True)
class _Region:
    """A cell and, on it, the affine maps of the convex parts g, h of every neuron g - h."""

    cell: Polyhedron
    convex: tuple[AffineMap, ...]
    concave: tuple[AffineMap, ...]


def activation_complex(net: ReLUNet) -> tuple[Complex, CPWL]:
    """Cells on which every neuron is affine and keeps its sign; and the function on them.

    Parameters
    ----------
    net : ReLUNet
        ``net.layers`` lists (matrix, vector) with rational entries; the last layer is affine
        with one row.

    Returns
    -------
    complex : Complex
    f : CPWL
    """
    regions = _regions(net)
    complex = glue(net.n, [region.cell for region in regions])
    outputs = [_difference(region.convex[0], region.concave[0]) for region in regions]
    return complex, CPWL(complex, outputs)


def layerwise_decomposition(net: ReLUNet) -> Decomposition:
    r"""Split the network layer by layer into convex parts.

    A neuron with pre-activation :math:`G-H`, both convex, has :math:`(G-H)^+=\max(G,H)-H`.
    """
    regions = _regions(net)
    complex = glue(net.n, [region.cell for region in regions])
    g = CPWL(complex, [region.convex[0] for region in regions])
    h = CPWL(complex, [region.concave[0] for region in regions])
    return Decomposition(g - h, g.weights)


def _regions(net: ReLUNet) -> list[_Region]:
    identity = [tuple(Fraction(int(i == j)) for j in range(net.n)) for i in range(net.n)]
    inputs = tuple((row, Fraction(0)) for row in identity)
    nothing = (((Fraction(0),) * net.n, Fraction(0)),) * net.n
    regions = [_Region(Polyhedron.universe(net.n), inputs, nothing)]
    for matrix, bias in net.layers[:-1]:
        regions = [
            part
            for region in regions
            for part in _split_by_signs(_affine_layer(region, matrix, bias))
        ]
    return [_affine_layer(region, *net.layers[-1]) for region in regions]


def _affine_layer(region: _Region, matrix: Sequence[Vector], bias: Vector) -> _Region:
    """Positive weights keep a part on its side, negative ones move it to the other."""
    n = region.cell.n
    convex, concave = [], []
    for row, constant in zip(matrix, bias, strict=True):
        up = [(abs(w), region.convex[k] if w > 0 else region.concave[k]) for k, w in enumerate(row)]
        down = [
            (abs(w), region.concave[k] if w > 0 else region.convex[k]) for k, w in enumerate(row)
        ]
        convex.append(_combination(up, constant, n))
        concave.append(_combination(down, Fraction(0), n))
    return _Region(region.cell, tuple(convex), tuple(concave))


def _combination(
    terms: Sequence[tuple[Fraction, AffineMap]], constant: Fraction, n: int
) -> AffineMap:
    slope = [Fraction(0)] * n
    for factor, (vector, offset) in terms:
        if factor:
            slope = [s + factor * a for s, a in zip(slope, vector, strict=True)]
            constant += factor * offset
    return tuple(slope), constant


def _difference(left: AffineMap, right: AffineMap) -> AffineMap:
    return tuple(a - c for a, c in zip(left[0], right[0], strict=True)), left[1] - right[1]


def _split_by_signs(region: _Region) -> list[_Region]:
    """Cut at the zero sets of all pre-activations; apply the ReLU on every part."""
    forms = [_difference(g, h) for g, h in zip(region.convex, region.concave, strict=True)]
    parts: list[tuple[Polyhedron, tuple[bool, ...]]] = [(region.cell, ())]
    for form in forms:
        parts = [
            (piece, (*signs, active)) for cell, signs in parts for piece, active in _cut(cell, form)
        ]
    return [
        _Region(
            cell,
            tuple(
                g if active else h
                for g, h, active in zip(region.convex, region.concave, signs, strict=True)
            ),
            region.concave,
        )
        for cell, signs in parts
    ]


def _cut(cell: Polyhedron, form: AffineMap) -> list[tuple[Polyhedron, bool]]:
    side = cell.side(form)
    if side:
        return [(cell, side > 0)]
    slope, constant = form
    opposite = tuple(-a for a in slope), -constant
    return [(cell.cut(form), True), (cell.cut(opposite), False)]
