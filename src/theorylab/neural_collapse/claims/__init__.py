"""The chapter's claims, by topic; importing this package registers them."""

from theorylab.neural_collapse.claims import balance, heads, phases, conditioning, limits, depth  # noqa: I001 - book order

__all__ = ["balance", "conditioning", "depth", "heads", "limits", "phases"]
