"""The chapter's claims, by topic; importing this package registers them."""

from theorylab.total_variation.claims import mixtures, subcubes, models, ising, products  # noqa: I001 - book order

__all__ = ["ising", "mixtures", "models", "products", "subcubes"]
