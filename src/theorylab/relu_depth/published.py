"""The certificates of the maxima of 5 to 8 numbers that the chapter publishes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from importlib.resources import files
from typing import Any

from .ansatz import Certificate
from .hinges import Block

SIZES = (5, 6, 7, 8)


def to_json(certificate: Certificate) -> dict[str, Any]:
    """The certificate as a JSON object; indices from 0."""
    return {
        "n": certificate.n,
        "says": "sum over terms of coefficient times the sum over all permutations of "
        "max(sum over left of max(x_i, x_j), sum over right of max(x_i, x_j)) is max(x)",
        "terms": [
            {"coefficient": str(c), "left": block.left, "right": block.right}
            for c, block in certificate.terms
        ],
    }


def from_json(stored: Mapping[str, Any]) -> Certificate:
    """Rebuild a certificate; it is not checked here."""
    terms = (
        (
            Fraction(term["coefficient"]),
            Block(tuple(map(tuple, term["left"])), tuple(map(tuple, term["right"]))),
        )
        for term in stored["terms"]
    )
    return Certificate(int(stored["n"]), tuple(terms))


def published_certificate(n: int) -> dict[str, Any]:
    """The JSON object that is published for the maximum of n numbers.

    Raises
    ------
    ValueError
        If there is none; ``solve_max`` finds one.
    """
    if n not in SIZES:
        raise ValueError(f"certificates are published for n in {SIZES}, got {n}; use solve_max")
    text = (
        files("theorylab.relu_depth")
        .joinpath("certificates", f"max{n}.json")
        .read_text(encoding="utf8")
    )
    return json.loads(text)
