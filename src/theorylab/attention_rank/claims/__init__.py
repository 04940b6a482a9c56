"""The chapter's claims; importing this package registers them, in the order of the book."""

# ruff: noqa: I001

from theorylab.attention_rank.claims import retrieval
from theorylab.attention_rank.claims import bounds
from theorylab.attention_rank.claims import heads
from theorylab.attention_rank.claims import depth
from theorylab.attention_rank.claims import training
from theorylab.attention_rank.claims import real

__all__ = ["bounds", "depth", "heads", "real", "retrieval", "training"]
