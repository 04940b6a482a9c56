"""Exact rational linear algebra and polyhedra, shared by the chapters that prove things."""

from .enumeration import BACKENDS, Generators, generators
from .matrices import independent_rows, null_space, rank, rref, solve
from .networks import ReLUNet
from .polyhedra import AffineForm, Polyhedron
from .programs import InequalitySystem, Infeasible, Optimum, Unbounded
from .rationals import (
    IntVector,
    Rational,
    Scalar,
    Vector,
    clear_denominators,
    primitive,
    rational,
    rational_vector,
)

__all__ = [
    "BACKENDS",
    "AffineForm",
    "Generators",
    "InequalitySystem",
    "Infeasible",
    "IntVector",
    "Optimum",
    "Polyhedron",
    "Rational",
    "ReLUNet",
    "Scalar",
    "Unbounded",
    "Vector",
    "clear_denominators",
    "generators",
    "independent_rows",
    "null_space",
    "primitive",
    "rank",
    "rational",
    "rational_vector",
    "rref",
    "solve",
]
