"""Decomposition polyhedra: all ways to write a piecewise linear function as convex minus convex."""

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
    "Ridge",
    "Wall",
    "WeightSpace",
    "decompose",
    "integrate",
    "pareto",
    "reduce",
    "weight_space",
    "weights",
]
