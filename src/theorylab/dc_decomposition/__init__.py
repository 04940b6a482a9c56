"""Decomposition polyhedra: all ways to write a piecewise linear function as convex minus convex."""

from .activation import layerwise_decomposition
from .balancing import WeightSpace, weight_space
from .complexes import (
    ArrangementComplex,
    BraidComplex,
    Complex,
    PlaneFan,
    ProductComplex,
)
from .decomposition import Certificate, Decomposition, EmptyDecomposition, pareto
from .fans import NotBalanced, local_rule, plane_fan_vertices
from .functions import CPWL, integrate, weights
from .networks import ReLUNet, convex_net, dc_net, grouped_max, max_tree, shallow_max
from .polyhedron import DecompositionPolyhedron, HRepresentation, decompose, reduce
from .proofs import Proof, prove_equal
from .regular import Regularity, regularity
from .simplices import signed_simplices
from .sums import direct_sum
from .walls import BraidWall, Ridge, Wall

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
    "NotBalanced",
    "PlaneFan",
    "ProductComplex",
    "Proof",
    "ReLUNet",
    "Regularity",
    "Ridge",
    "Wall",
    "WeightSpace",
    "convex_net",
    "dc_net",
    "decompose",
    "direct_sum",
    "grouped_max",
    "integrate",
    "layerwise_decomposition",
    "local_rule",
    "max_tree",
    "pareto",
    "plane_fan_vertices",
    "prove_equal",
    "reduce",
    "regularity",
    "shallow_max",
    "signed_simplices",
    "weight_space",
    "weights",
]
