r"""The classical splitting of a piecewise linear function by whole hyperplanes."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from .complexes import Complex
from .decomposition import Decomposition
from .functions import CPWL, transfer
from .walls import Hyperplane, canonical_hyperplane


def hyperplane_splitting(f: CPWL) -> Decomposition:
    r"""Make f convex by a kink along the whole hyperplane of every concave wall.

    .. math:: h=\sum_{w_f(\sigma)<0}|w_f(\sigma)|\,(\eta_\sigma x-\beta_\sigma)^+,\qquad g=f+h

    Parameters
    ----------
    f : CPWL

    Returns
    -------
    Decomposition
        On the arrangement of all hyperplanes on which f has a kink; usually far from minimal.

    Raises
    ------
    ValueError
        If f is affine: there is no hyperplane.
    """
    concave: dict[Hyperplane, Fraction] = defaultdict(Fraction)
    for wall, weight in zip(f.complex.walls, f.weights, strict=True):
        if weight:
            concave[canonical_hyperplane(wall.eta, wall.beta)] += max(-weight, Fraction(0))
    if not concave:
        raise ValueError("the function is affine: there is nothing to split")
    arrangement = Complex.from_arrangement(list(concave))
    on_arrangement = transfer(f, arrangement)
    w_g = [
        weight + concave[canonical_hyperplane(wall.eta, wall.beta)]
        for wall, weight in zip(arrangement.walls, on_arrangement.weights, strict=True)
    ]
    return Decomposition(on_arrangement, w_g)
