"""The chapter's claims, by topic; importing this package registers them."""

from theorylab.total_variation.claims import ising, products

__all__ = ["ising", "products"]
