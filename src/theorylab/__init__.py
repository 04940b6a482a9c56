"""theorylab: claims of machine-learning theory papers as executable, falsifiable objects."""

from theorylab._version import __version__
from theorylab.claims import Claim, Source, claim, claims
from theorylab.report import ledger, show
from theorylab.run import Run
from theorylab.verify import verify

__all__ = ["Claim", "Run", "Source", "__version__", "claim", "claims", "ledger", "show", "verify"]
