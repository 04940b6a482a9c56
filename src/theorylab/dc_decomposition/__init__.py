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
from .data import TrainedNet, mutual_information, tariff, two_moons_nets
from .decomposition import Certificate, Decomposition, EmptyDecomposition, pareto
from .fans import (
    NotBalanced,
    compensating_vector,
    dominates,
    kink_fan,
    local_rule,
    plane_fan_vertices,
    with_ray,
)
from .flag_sampling import FlagSample, sample_flags
from .flags import FlagLaw, flag_law
from .functions import CPWL, integrate, weights
from .networks import (
    RedundantMapsWarning,
    ReLUNet,
    convex_net,
    dc_net,
    grouped_max,
    max_tree,
    shallow_max,
    share_neurons,
    signed_sum_net,
)
from .open_size import OpenSizeRow, open_size_table
from .paraboloids import tangents
from .polyhedron import DecompositionPolyhedron, HRepresentation, decompose, reduce
from .proofs import (
    AlgebraicProof,
    Proof,
    prove_by_algebra,
    prove_equal,
    prove_maximum,
    prove_on_cells,
)
from .regular import Regularity, regularity
from .simplices import dependence_recursion, essential_maps, signed_simplices, upper_triangulation
from .sizes import NetworkSize, chen_bound, tree_size
from .splittings import hyperplane_splitting
from .submodular import (
    SubmodularDecompositions,
    SubmodularPair,
    base_vertices,
    count_base_vertices,
    entropy_pair,
    is_submodular,
    set_function,
    strict_baseline,
)
from .sums import direct_sum
from .walls import BraidWall, Ridge, Wall

__all__ = [
    "CPWL",
    "AlgebraicProof",
    "ArrangementComplex",
    "BraidComplex",
    "BraidWall",
    "Certificate",
    "Complex",
    "Decomposition",
    "DecompositionPolyhedron",
    "EmptyDecomposition",
    "FlagLaw",
    "FlagSample",
    "HRepresentation",
    "NetworkSize",
    "NotBalanced",
    "OpenSizeRow",
    "PlaneFan",
    "ProductComplex",
    "Proof",
    "ReLUNet",
    "RedundantMapsWarning",
    "Regularity",
    "Ridge",
    "SubmodularDecompositions",
    "SubmodularPair",
    "TrainedNet",
    "Wall",
    "WeightSpace",
    "base_vertices",
    "chen_bound",
    "compensating_vector",
    "convex_net",
    "count_base_vertices",
    "dc_net",
    "decompose",
    "dependence_recursion",
    "direct_sum",
    "dominates",
    "entropy_pair",
    "essential_maps",
    "flag_law",
    "grouped_max",
    "hyperplane_splitting",
    "integrate",
    "is_submodular",
    "kink_fan",
    "layerwise_decomposition",
    "local_rule",
    "max_tree",
    "mutual_information",
    "open_size_table",
    "pareto",
    "plane_fan_vertices",
    "prove_by_algebra",
    "prove_equal",
    "prove_maximum",
    "prove_on_cells",
    "reduce",
    "regularity",
    "sample_flags",
    "set_function",
    "shallow_max",
    "share_neurons",
    "signed_simplices",
    "signed_sum_net",
    "strict_baseline",
    "tangents",
    "tariff",
    "tree_size",
    "two_moons_nets",
    "upper_triangulation",
    "weight_space",
    "weights",
    "with_ray",
]
