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
from .weight_space import WeightSpace, weight_space

__all__ = [
    "CPWL",
    "ArrangementComplex",
    "BraidComplex",
    "BraidWall",
    "Complex",
    "PlaneFan",
    "ProductComplex",
    "Ridge",
    "Wall",
    "WeightSpace",
    "integrate",
    "weight_space",
    "weights",
]
