"""Where the claims come from, and how samples of errors are averaged before they are tested."""

from __future__ import annotations

import numpy as np

from theorylab.claims import Source

PAPER = "amsel2025quality"
DERIVED = Source("theorylab", "derived in the chapter")
BATCH = 50


def batch_means(values: np.ndarray) -> np.ndarray:
    """Means of ``BATCH`` neighbouring values: nearly normal, as a Student test wants them."""
    whole = len(values) // BATCH * BATCH
    return values[:whole].reshape(-1, BATCH).mean(axis=1)
