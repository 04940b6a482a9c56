"""Neural collapse: metrics, certified bounds, and training of networks with linear heads."""

from .balance import (
    balance_identity_residual,
    balancedness,
    head_imbalance,
    negativity,
    relative_balancedness,
)
from .certificates import Bound, HeadCertificates, head_certificates, network_certificates
from .class_statistics import ClassStats
from .data import Images, digits, mnist, one_hot
from .descent import Schedule, TrainedNets, descent_path, gradient_norm, polish, train
from .heads import Head, random_head
from .large_step import LargeStepBounds, large_lr_bounds, ntk
from .metrics import Decisions, decisions, nc1, nc2, nc3, nc4
from .monotone import monotone_sides
from .networks import (
    MLP,
    Activation,
    Pass,
    decay_from_pytorch,
    forward,
    loss_and_grads,
    relu,
    smooth_leaky,
)
from .small_networks import graph_network, uncollapsed_fixed_point
from .theory import (
    NearOptimalBounds,
    collapse_cost,
    graph_beats_collapse,
    graph_cost,
    near_optimal_bounds,
)
from .two_phase import TwoPhase, two_phase_constants
from .unconstrained import Optimum, ufm_optimum

__all__ = [
    "MLP",
    "Activation",
    "Bound",
    "ClassStats",
    "Decisions",
    "Head",
    "HeadCertificates",
    "Images",
    "LargeStepBounds",
    "NearOptimalBounds",
    "Optimum",
    "Pass",
    "Schedule",
    "TrainedNets",
    "TwoPhase",
    "balance_identity_residual",
    "balancedness",
    "collapse_cost",
    "decay_from_pytorch",
    "decisions",
    "descent_path",
    "digits",
    "forward",
    "gradient_norm",
    "graph_beats_collapse",
    "graph_cost",
    "graph_network",
    "head_certificates",
    "head_imbalance",
    "large_lr_bounds",
    "loss_and_grads",
    "mnist",
    "monotone_sides",
    "nc1",
    "nc2",
    "nc3",
    "nc4",
    "near_optimal_bounds",
    "negativity",
    "network_certificates",
    "ntk",
    "one_hot",
    "polish",
    "random_head",
    "relative_balancedness",
    "relu",
    "smooth_leaky",
    "train",
    "two_phase_constants",
    "ufm_optimum",
    "uncollapsed_fixed_point",
]
