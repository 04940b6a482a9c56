"""The chapter's claims; importing this package registers them."""

from theorylab.missing_mass.claims import bias_limits, expectation

__all__ = ["bias_limits", "expectation"]
