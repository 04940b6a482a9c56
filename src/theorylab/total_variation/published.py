"""Proofs of equality as files that travel with both mixtures and are checked without this book."""

from __future__ import annotations

import json

from theorylab.total_variation.certificates import EquivalenceCertificate
from theorylab.total_variation.mixtures import ProductMixture

Proof = tuple[ProductMixture, ProductMixture, EquivalenceCertificate]


def proof_to_json(P: ProductMixture, Q: ProductMixture, certificate: EquivalenceCertificate) -> str:
    """Both mixtures and the certificate as one JSON document, fractions written out.

    Parameters
    ----------
    P, Q : ProductMixture
    certificate : EquivalenceCertificate
        Of ``P == Q``; it is not checked here.
    """
    return json.dumps(
        {
            "P": json.loads(P.to_json()),
            "Q": json.loads(Q.to_json()),
            "certificate": json.loads(certificate.to_json()),
        }
    )


def proof_from_json(text: str) -> Proof:
    """The mixtures and the certificate that ``proof_to_json`` wrote.

    Raises
    ------
    ValueError
        If a part is missing or malformed.
    """
    stored = json.loads(text)
    missing = {"P", "Q", "certificate"} - set(stored)
    if missing:
        raise ValueError(f"the document has no {', '.join(sorted(missing))}")
    P, Q = (ProductMixture.from_json(json.dumps(stored[name])) for name in ("P", "Q"))
    return P, Q, EquivalenceCertificate.from_json(json.dumps(stored["certificate"]))
