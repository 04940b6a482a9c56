"""Exact equivalence and hardness of total variation distance between succinct distributions."""

from .certificates import (
    EchelonLayer,
    EquivalenceCertificate,
    certificate_fault,
    verify_certificate,
    verify_witness,
)
from .distances import (
    MonteCarloDistance,
    tv_exact_mixture,
    tv_mixture_lower,
    tv_mixture_mc,
    tv_mixture_upper,
)
from .equivalence import EquivalenceResult, check_equivalence
from .generators import moment_pair, padded_moment_pair, parity_pair, split_pair
from .ising import RationalIsing, ising_tv_exact, ising_tv_float, tilt_tv
from .ising_oracles import EliminationOracle, EnumerationOracle, PerturbedOracle, TVOracle
from .ising_reduction import (
    GapInstance,
    TVChain,
    antiferromagnet,
    cut_spectrum_from_tv,
    gap_instance,
    max_cut_from_tv,
    partition_function_from_tv,
    tilt_factor,
    tv_chain,
)
from .mixtures import ProductMixture
from .product_bounds import ProductBounds, tv_product_bounds
from .product_bracket import Bracket, tv_product_bracket
from .product_sampling import SampledDistance, tv_product_fpras
from .products import ExactDistance, tv_product_exact
from .randomised import IdentityTest, identity_test
from .subcubes import dnf_excess, dnf_pair, tv_subcubes
from .subset_products import subset_products_from_tv

__all__ = [
    "Bracket",
    "EchelonLayer",
    "EliminationOracle",
    "EnumerationOracle",
    "EquivalenceCertificate",
    "EquivalenceResult",
    "ExactDistance",
    "GapInstance",
    "IdentityTest",
    "MonteCarloDistance",
    "PerturbedOracle",
    "ProductBounds",
    "ProductMixture",
    "RationalIsing",
    "SampledDistance",
    "TVChain",
    "TVOracle",
    "antiferromagnet",
    "certificate_fault",
    "check_equivalence",
    "cut_spectrum_from_tv",
    "dnf_excess",
    "dnf_pair",
    "gap_instance",
    "identity_test",
    "ising_tv_exact",
    "ising_tv_float",
    "max_cut_from_tv",
    "moment_pair",
    "padded_moment_pair",
    "parity_pair",
    "partition_function_from_tv",
    "split_pair",
    "subset_products_from_tv",
    "tilt_factor",
    "tilt_tv",
    "tv_chain",
    "tv_exact_mixture",
    "tv_mixture_lower",
    "tv_mixture_mc",
    "tv_mixture_upper",
    "tv_product_bounds",
    "tv_product_bracket",
    "tv_product_exact",
    "tv_product_fpras",
    "tv_subcubes",
    "verify_certificate",
    "verify_witness",
]
