"""A chapter whose last claim has no control."""

from __future__ import annotations

from theorylab.claims import Source, claim
from theorylab.findings import Equal, Finding
from theorylab.run import Run


@claim("bare.controlled", statement="It has one.", source=Source("toy"), evidence="exact")
def controlled(run: Run) -> Finding:
    return Equal(1, 1)


@controlled.control("broken")
def _(run: Run) -> Finding:
    return Equal(1, 2)


@claim("bare.uncontrolled", statement="It has none.", source=Source("toy"), evidence="exact")
def uncontrolled(run: Run) -> Finding:
    return Equal(1, 1)


@uncontrolled.positive_control("where it holds, which proves nothing")
def _(run: Run) -> Finding:
    return Equal(2, 2)
