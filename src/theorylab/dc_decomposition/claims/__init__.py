"""The claims of the chapter, by topic."""

from . import families, fans, networks, polyhedra, regularity, submodular, weights

__all__ = ["families", "fans", "networks", "polyhedra", "regularity", "submodular", "weights"]
