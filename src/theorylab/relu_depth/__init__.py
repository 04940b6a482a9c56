"""How many hidden layers does an exact maximum need, and which denominators pay for it?"""

from .ansatz import (
    Certificate,
    Column,
    NoRepresentation,
    solve_max,
    symmetrised_column,
    system,
    templates,
)
from .constructions import (
    Maximum,
    five_terms,
    max5_network,
    shallow_terms,
    tree_network,
)
from .denominators import forced_prime_certificate, orbit_system, proves_forced, q_denominator
from .hinges import Block, NormalForm, hinge_normal_form, symmetrised
from .newton import SupportSum, difference_witness, newton_pair, phi, refute
from .numberformats import common_denominator, exact_weights, stored_network
from .polytopes import (
    LatticePolytope,
    dilate,
    hull_union,
    minkowski,
    mixed_volume,
    normalized_volume,
    support,
    unit_simplex,
)
from .published import published_certificate
from .su import SUExpression, su_expr, su_random
from .theory import (
    DepthBounds,
    ceil_log,
    depth_bounds,
    forced_primes,
    join_divisor,
    mean_smallest_prime,
    smallest_prime_not_dividing,
)
from .triangulations import Flattened, flatten4, signed_simplices, triangulate
from .verifier import Verification, verify_certificate

__all__ = [
    "Block",
    "Certificate",
    "Column",
    "DepthBounds",
    "Flattened",
    "LatticePolytope",
    "Maximum",
    "NoRepresentation",
    "NormalForm",
    "SUExpression",
    "SupportSum",
    "Verification",
    "ceil_log",
    "common_denominator",
    "depth_bounds",
    "difference_witness",
    "dilate",
    "exact_weights",
    "five_terms",
    "flatten4",
    "forced_prime_certificate",
    "forced_primes",
    "hinge_normal_form",
    "hull_union",
    "join_divisor",
    "max5_network",
    "mean_smallest_prime",
    "minkowski",
    "mixed_volume",
    "newton_pair",
    "normalized_volume",
    "orbit_system",
    "phi",
    "proves_forced",
    "published_certificate",
    "q_denominator",
    "refute",
    "shallow_terms",
    "signed_simplices",
    "smallest_prime_not_dividing",
    "solve_max",
    "stored_network",
    "su_expr",
    "su_random",
    "support",
    "symmetrised",
    "symmetrised_column",
    "system",
    "templates",
    "tree_network",
    "triangulate",
    "unit_simplex",
    "verify_certificate",
]
