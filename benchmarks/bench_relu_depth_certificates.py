"""Certificates of the maximum of n numbers: verifying, solving, and the invariant modulo p.

``python benchmarks/bench_relu_depth_certificates.py`` prints a table and writes
``benchmarks/results/relu_depth_certificates.json``.

The peer is the definition: every block summed over all n! permutations, on the chamber of sorted
coordinates, in plain Python. Where that takes minutes it is timed on some of the blocks and scaled.
Times of the solver are processor times: the target is for one core of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
from pairing import Measure, Result, compared_clocks, grown, report, seconds

from theorylab.relu_depth import hinge_normal_form, phi, published_certificate, verify_certificate
from theorylab.relu_depth.ansatz import Certificate, solve_max
from theorylab.relu_depth.hinges import Block
from theorylab.relu_depth.published import from_json
from theorylab.relu_depth.samples import random_network

SOLVE_SECONDS = 90.0


def summed(certificate: Certificate) -> bool:
    """Whether all hinges cancel when each block is added up permutation by permutation."""
    n = certificate.n
    hinges: Counter[tuple[int, ...]] = Counter()
    linear = [Fraction(0)] * n
    for coefficient, block in certificate.terms:
        for sigma in permutations(range(n)):
            moved = Block(
                tuple((sigma[i], sigma[j]) for i, j in block.left),
                tuple((sigma[i], sigma[j]) for i, j in block.right),
            )
            form = hinge_normal_form([(coefficient, moved)], range(n))
            hinges.update(form.hinges)
            linear = [a + b for a, b in zip(linear, form.linear, strict=True)]
    return not any(hinges.values()) and linear == [0] * (n - 1) + [1]


def summation_seconds(certificate: Certificate, terms: int) -> float:
    """Seconds of the summation, measured on some of the terms and scaled to all."""
    part = Certificate(certificate.n, certificate.terms[:terms])
    start = time.perf_counter()
    summed(part)
    return (time.perf_counter() - start) * len(certificate.terms) / len(part.terms)


def main() -> None:
    rows = []
    for n, terms in ((5, 7), (6, 7), (7, 4), (8, 1)):
        certificate = from_json(published_certificate(n))
        assert verify_certificate(certificate)
        if n < 7:
            assert summed(certificate)
        rows.append(
            compared_clocks(
                f"n={n}, {len(certificate.terms)} templates",
                lambda c=certificate: seconds(lambda: verify_certificate(c), 0.05),
                lambda c=certificate, terms=terms: summation_seconds(c, terms),
                rounds=2,
                least=20.0 if n == 8 else None,
                summed_terms=terms,
            )
        )
    rng = np.random.default_rng(0)
    nets = [random_network(rng, (4, 8, width, 1), 1) for width in (4, 8, 16, 32)]
    growth = grown(
        "invariant of two hidden layers, in the width of the second",
        [(f"width {net.hidden[1]}", net.hidden[1], lambda net=net: phi(net, 2)) for net in nets],
        rounds=3,
        most=1.3,
    )
    start = time.process_time()
    assert verify_certificate(solve_max(8))
    share = (time.process_time() - start) / SOLVE_SECONDS
    measures = (Measure("part used of 90 s to solve and verify eight numbers", share, most=1.0),)
    title = "Certificates of the maximum of n numbers"
    target = "20 at n=8; phi linear in the width; n=8 solved and verified in 90 s"
    peer = "summation over all permutations"
    result = Result(title, peer, "", tuple(rows), target, (growth,), measures)
    report("relu_depth_certificates", result)


if __name__ == "__main__":
    main()
