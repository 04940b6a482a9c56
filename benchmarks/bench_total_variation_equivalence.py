"""Equivalence of mixtures: exact verdict with verified certificate beside float automata.

``python benchmarks/bench_total_variation_equivalence.py`` prints three tables and writes
``benchmarks/results/total_variation_equivalence.json``, ``..._modular.json`` and
``..._verifier.json``.

The peer, genlm-grammar's ``Simple.counterexample``, decides the equivalence of weighted automata
in floating point. It gets the mixtures as automata, built beforehand; our time starts from the
two ``ProductMixture`` objects. A verdict that contradicts the exact one is marked.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version

import numpy as np
from pairing import Measure, Result, Row, Task, compared, report, skip

from theorylab.total_variation import (
    ProductMixture,
    check_equivalence,
    moment_pair,
    split_pair,
    verify_certificate,
)
from theorylab.total_variation.flint_engine import propose
from theorylab.total_variation.layers import StackedPair
from theorylab.total_variation.modular_engine import ResiduePair, residue_chain

try:
    from genlm.grammar.wfsa.field_wfsa import Simple
except ImportError:
    Simple = None

PRIME = 2**31 - 1
SIZES = ((8, 20, 3, 9), (16, 40, 4, 5), (32, 64, 4, 3))
Pair = tuple[ProductMixture, ProductMixture]


def target_of(pair: Pair, least: float) -> float | None:
    """The ratio to reach, which is stated for 32+32 components only."""
    return least if pair[0].n_components == 32 else None


def equal_pairs() -> list[tuple[str, Pair, int]]:
    rng = np.random.default_rng(0)
    return [
        (f"{k}+{k} components, n={n}, q={q}", split_pair(rng, k // 2, k // 2, n, q), rounds)
        for k, n, q, rounds in SIZES
    ]


def different_pairs() -> list[tuple[str, Pair, int]]:
    pairs = [(f"moment pair, n={n}", moment_pair(n), 3) for n in (12, 13, 14, 20)]
    for n in (30, 60):
        coins = tuple(
            ProductMixture((1,), (((1 - p, p),) * n,)) for p in (Fraction(1, 2), Fraction(11, 20))
        )
        pairs.append((f"coins 0.50 and 0.55, n={n}", coins, 3))
    return pairs


def automaton(mixture: ProductMixture) -> object:
    """One state per component and number of letters read."""
    k, n = mixture.n_components, mixture.n_coordinates
    start, stop = np.zeros(k * (n + 1)), np.zeros(k * (n + 1))
    arcs = {a: np.zeros((len(start), len(start))) for a in range(max(mixture.alphabet_sizes))}
    for i, rows in enumerate(mixture.rows):
        first = i * (n + 1)
        start[first], stop[first + n] = float(mixture.weights[i]), 1.0
        for j, row in enumerate(rows):
            for a, value in enumerate(row):
                arcs[a][first + j, first + j + 1] = float(value)
    return Simple(start, arcs, stop)


def beside_peer(case: str, pair: Pair, rounds: int, ours: Task, least: float) -> Row:
    left, right = (automaton(side) for side in pair)
    return compared(
        case,
        ours,
        lambda: left.counterexample(right),
        rounds=rounds,
        window=0,
        least=target_of(pair, least),
        exact_equal=check_equivalence(*pair).equal,
        peer_equal=left.counterexample(right) is None,
    )


def verdict_rows() -> list[Row]:
    return [
        beside_peer(case, pair, rounds, lambda pair=pair: check_equivalence(*pair), 10.0)
        for case, pair, rounds in [*equal_pairs(), *different_pairs()]
    ]


def wrong_verdicts(rows: list[Row]) -> tuple[Measure, Measure]:
    """How often each side is wrong on pairs whose equality is known from how they were made."""
    equal = {case for case, _, _ in equal_pairs()}
    ours, peer = (
        sum(found.details[side] != (found.case in equal) for found in rows)
        for side in ("exact_equal", "peer_equal")
    )
    return (
        Measure("wrong verdicts of ours", ours, most=0),
        Measure("wrong verdicts of the peer", peer),
    )


def modular_core(pair: Pair) -> object:
    """Residues and all layer spaces modulo one prime."""
    coefficients, diagonals = ResiduePair(StackedPair(*pair)).modulo(PRIME)
    return residue_chain(coefficients, diagonals, PRIME, True)


def modular_rows() -> list[Row]:
    return [
        beside_peer(case, pair, rounds, lambda pair=pair: modular_core(pair), 100.0)
        for case, pair, rounds in equal_pairs()
    ]


def verifier_rows() -> list[Row]:
    rows = []
    for case, pair, rounds in equal_pairs():
        certificate = check_equivalence(*pair).certificate
        found = compared(
            case,
            lambda pair=pair, proof=certificate: verify_certificate(*pair, proof),
            lambda pair=pair: next(propose(StackedPair(*pair), True)),
            rounds=2 * rounds,
            window=0,
        )
        rows.append(replace(found, least=target_of(pair, 1.0)))
    return rows


def main() -> None:
    report(
        "total_variation_equivalence_verifier",
        Result(
            "Verifier beside the FLINT solver",
            "solver of the same package",
            "",
            tuple(verifier_rows()),
            "ratio at least 1 at 32+32 components",
        ),
    )
    if Simple is None:
        skip("genlm-grammar", "pip install genlm-grammar")
    peer = ("genlm-grammar field_wfsa", version("genlm-grammar"))
    rows = verdict_rows()
    report(
        "total_variation_equivalence",
        Result(
            "Exact verdict with verified certificate or witness beside float automata",
            *peer,
            tuple(rows),
            "ratio at least 10 at 32+32 components, and right where the peer is wrong",
            measures=wrong_verdicts(rows),
        ),
    )
    report(
        "total_variation_equivalence_modular",
        Result(
            "Layer spaces modulo one prime beside float automata",
            *peer,
            tuple(modular_rows()),
            "ratio at least 100 at 32+32 components",
        ),
    )


if __name__ == "__main__":
    main()
