"""Where the chapter's claims come from."""

from theorylab.claims import Source

PAPER = "jacot2025wide"
DERIVED = Source("theorylab", "derived in the chapter")
