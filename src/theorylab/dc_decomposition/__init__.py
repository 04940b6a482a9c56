"""Decomposition polyhedra: all ways to write a piecewise linear function as convex minus convex."""

from .activation import layerwise_decomposition
from .complexes import (
    ArrangementComplex,
    BraidComplex,
    BraidWall,
    Complex,
    PlaneFan,
    ProductComplex,
    Ridge,
    Wall,
)
from .functions import CPWL, integrate, weights
from .polyhedron import (
    Certificate,
    Decomposition,
    DecompositionPolyhedron,
    EmptyDecomposition,
    HRepresentation,
    decompose,
    pareto,
    reduce,
)
from .regularity import Regularity, regularity
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
    "integrate",
    "layerwise_decomposition",
    "pareto",
    "reduce",
    "regularity",
    "weight_space",
    "weights",
]
