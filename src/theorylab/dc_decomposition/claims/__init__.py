"""The claims of the chapter; importing this package registers them, in the order of the book."""

# ruff: noqa: I001

from . import weights
from . import polyhedra
from . import families
from . import fans
from . import submodular
from . import regularity
from . import networks

__all__ = ["families", "fans", "networks", "polyhedra", "regularity", "submodular", "weights"]
