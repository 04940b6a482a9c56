"""The chapter's claims; importing this package registers them, in the order of the book."""

# ruff: noqa: I001

from theorylab.missing_mass.claims import expectation
from theorylab.missing_mass.claims import bias_limits
from theorylab.missing_mass.claims import risk
from theorylab.missing_mass.claims import optimum
from theorylab.missing_mass.claims import frozen
from theorylab.missing_mass.claims import protocol
from theorylab.missing_mass.claims import search
from theorylab.missing_mass.claims import data

__all__ = [
    "bias_limits",
    "data",
    "expectation",
    "frozen",
    "optimum",
    "protocol",
    "risk",
    "search",
]
