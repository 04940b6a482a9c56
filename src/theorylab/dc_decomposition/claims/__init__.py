"""The claims of the chapter, by topic."""

from . import families, polyhedra, regularity, weights

__all__ = ["families", "polyhedra", "regularity", "weights"]
