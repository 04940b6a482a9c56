"""The claims of the chapter; importing this package registers them, in the order of the book."""

# ruff: noqa: I001

from . import volumes
from . import networks
from . import bounds
from . import maxima

__all__ = ["bounds", "maxima", "networks", "volumes"]
