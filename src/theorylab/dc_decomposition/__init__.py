"""Decomposition polyhedra: all ways to write a piecewise linear function as convex minus convex."""

from .activation import layerwise_decomposition
from .complexes import (
    ArrangementComplex,
    BraidComplex,
    Complex,
    PlaneFan,
    ProductComplex,
)
from .decomposition import Certificate, Decomposition, EmptyDecomposition, pareto
from .functions import CPWL, integrate, weights
from .polyhedron import DecompositionPolyhedron, HRepresentation, decompose, reduce
from .regularity import Regularity, regularity
from .sums import direct_sum
from .walls import BraidWall, Ridge, Wall
from .weight_space import WeightSpace, weight_space

__all__ = [
    "CPWL",
    "ArrangementComplex",
    "BraidComplex",
    "BraidWall",
    "Certificate",
    "Complex",
    "Decomposition",
    "DecompositionPolyhedron",
    "EmptyDecomposition",
    "HRepresentation",
    "PlaneFan",
    "ProductComplex",
    "Regularity",
    "Ridge",
    "Wall",
    "WeightSpace",
    "decompose",
    "direct_sum",
    "integrate",
    "layerwise_decomposition",
    "pareto",
    "reduce",
    "regularity",
    "weight_space",
    "weights",
]
