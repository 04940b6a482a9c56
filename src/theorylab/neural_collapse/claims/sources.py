"""Where the chapter's claims come from, and how finely their numbers are shown."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theorylab.claims import Source

PAPER = "jacot2025wide"
DERIVED = Source("theorylab", "derived in the chapter")


def no_finer(values: ArrayLike, resolution: float) -> NDArray[Any]:
    """Values, with those below the resolution raised to it: smaller ones are rounding errors.

    A bound that holds for the raised values holds for the measured ones.
    """
    return np.maximum(values, resolution)
