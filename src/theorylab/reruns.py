"""The run that is meant where none is named: the book's own, or one that the environment names.

So the pages of the book, which call ``verify`` with nothing but a selection, can be built again at
another scale, on another device or with another seed, without a change to any of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from theorylab.claims import Claim
from theorylab.run import Run

FOLDER_VARIABLE = "THEORYLAB_RECORDS"
SCALE_VARIABLE = "THEORYLAB_SCALE"
DEVICE_VARIABLE = "THEORYLAB_DEVICE"
SEED_VARIABLE = "THEORYLAB_SEED"
CHAPTERS_VARIABLE = "THEORYLAB_CHAPTERS"


def run_meant(
    chosen: Iterable[Claim],
    scale: str | None = None,
    device: str | None = None,
    seed: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Run:
    """The run of a verification.

    Parameters
    ----------
    chosen : iterable of Claim
    scale, device, seed : optional
        What the caller names goes first.
    environment : mapping, optional
        The environment variables ``THEORYLAB_SCALE``, ``THEORYLAB_DEVICE`` and ``THEORYLAB_SEED``
        name what the caller leaves open. If ``THEORYLAB_CHAPTERS`` lists slugs, they do so for
        claims of these chapters only.

    Returns
    -------
    Run
        Scale ``ci``, device ``cpu`` and seed 0 where nobody says otherwise.

    Raises
    ------
    ValueError
        If a variable holds no scale or no seed; the message names it.
    """
    named = os.environ if environment is None else environment
    listed = named.get(CHAPTERS_VARIABLE, "").split()
    if listed and not {claim.slug for claim in chosen} <= set(listed):
        named = {}
    return Run(
        named.get(SCALE_VARIABLE) or "ci" if scale is None else scale,
        named.get(DEVICE_VARIABLE) or "cpu" if device is None else device,
        _seed(named.get(SEED_VARIABLE) or "0") if seed is None else seed,
    )


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{SEED_VARIABLE} must be a non-negative integer; got {text!r}")
    return int(text)
