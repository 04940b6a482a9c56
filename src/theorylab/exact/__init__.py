"""Exact rational linear algebra and polyhedra, shared by the chapters that prove things."""

from .matrices import independent_rows, null_space, rank, rref, solve
from .polyhedra import AffineForm, Polyhedron
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
    "AffineForm",
    "IntVector",
    "Polyhedron",
    "Rational",
    "Scalar",
    "Vector",
    "clear_denominators",
    "independent_rows",
    "null_space",
    "primitive",
    "rank",
    "rational",
    "rational_vector",
    "rref",
    "solve",
]
