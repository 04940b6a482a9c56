"""The chapter's claims; importing this package registers them, in the order of the book."""

# ruff: noqa: I001

from theorylab.gated_linear.claims import gating
from theorylab.gated_linear.claims import correlations
from theorylab.gated_linear.claims import linear
from theorylab.gated_linear.claims import imitation
from theorylab.gated_linear.claims import racing
from theorylab.gated_linear.claims import selectivity
from theorylab.gated_linear.claims import warm_up
from theorylab.gated_linear.claims import winners
from theorylab.gated_linear.claims import animals

__all__ = [
    "animals",
    "correlations",
    "gating",
    "imitation",
    "linear",
    "racing",
    "selectivity",
    "warm_up",
    "winners",
]
