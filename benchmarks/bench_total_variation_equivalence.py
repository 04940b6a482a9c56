"""Equivalence of mixtures: exact verdict with verified certificate beside float automata.

``python benchmarks/bench_total_variation_equivalence.py`` prints three tables and writes
``benchmarks/results/total_variation_equivalence.json``, ``..._modular.json`` and
``..._verifier.json``.

The peer, genlm-grammar's ``Simple.counterexample``, decides the equivalence of weighted automata
in floating point. It gets the mixtures as automata, built beforehand; our time starts from the
two ``ProductMixture`` objects. A verdict that contradicts the exact one is marked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

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

RESULTS = Path(__file__).parent / "results"
PRIME = 2**31 - 1
SIZES = ((8, 20, 3, 9), (16, 40, 4, 5), (32, 64, 4, 3))
Pair = tuple[ProductMixture, ProductMixture]
Row = dict[str, object]


def seconds(task: Callable[[], object]) -> float:
    start = perf_counter()
    task()
    return perf_counter() - start


def timed(case: str, ours: Callable, peer: Callable, rounds: int) -> Row:
    """Median seconds of both, run in turn; the first round is thrown away."""
    times = [(seconds(ours), seconds(peer)) for _ in range(rounds + 1)][1:]
    own, other = (median(side) for side in zip(*times, strict=True))
    return {"case": case, "ours_s": own, "peer_s": other, "ratio": other / own}


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


def beside_peer(case: str, pair: Pair, rounds: int, ours: Callable) -> Row:
    left, right = (automaton(side) for side in pair)
    row = timed(case, ours, lambda: left.counterexample(right), rounds)
    exact = check_equivalence(*pair).equal
    verdicts = {"exact_equal": exact, "peer_equal": left.counterexample(right) is None}
    return {**row, **verdicts}


def verdict_rows() -> list[Row]:
    return [
        beside_peer(case, pair, rounds, lambda pair=pair: check_equivalence(*pair))
        for case, pair, rounds in [*equal_pairs(), *different_pairs()]
    ]


def modular_core(pair: Pair) -> object:
    """Residues and all layer spaces modulo one prime."""
    coefficients, diagonals = ResiduePair(StackedPair(*pair)).modulo(PRIME)
    return residue_chain(coefficients, diagonals, PRIME, True)


def modular_rows() -> list[Row]:
    return [
        beside_peer(case, pair, rounds, lambda pair=pair: modular_core(pair))
        for case, pair, rounds in equal_pairs()
    ]


def verifier_rows() -> list[Row]:
    rows = []
    for case, pair, rounds in equal_pairs():
        certificate = check_equivalence(*pair).certificate
        rows.append(
            timed(
                case,
                lambda pair=pair, proof=certificate: verify_certificate(*pair, proof),
                lambda pair=pair: next(propose(StackedPair(*pair), True)),
                2 * rounds,
            )
        )
    return rows


def report(
    name: str, title: str, peer: str, peer_version: str, rows: list[Row], target: str
) -> None:
    print(f"\n{title}  (peer: {peer} {peer_version})")
    for row in rows:
        wrong = row.get("exact_equal") != row.get("peer_equal")
        print(
            f"  {row['case']:<34} ours {row['ours_s']:8.4f} s   peer {row['peer_s']:8.4f} s   "
            f"ratio {row['ratio']:8.1f}{'   peer is wrong' if wrong else ''}"
        )
    print(f"  target: {target}")
    result = {
        "title": title,
        "peer": peer,
        "peer_version": peer_version,
        "rows": rows,
        "target": target,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")


def main() -> None:
    report(
        "total_variation_equivalence_verifier",
        "Verifier beside the FLINT solver",
        "solver of the same package",
        "",
        verifier_rows(),
        "ratio at least 1 at 32+32 components",
    )
    if Simple is None:
        print("\ngenlm-grammar is not installed: verdicts not compared (pip install genlm-grammar)")
        return
    peer = ("genlm-grammar field_wfsa", version("genlm-grammar"))
    report(
        "total_variation_equivalence",
        "Exact verdict with verified certificate or witness beside float automata",
        *peer,
        verdict_rows(),
        "ratio at least 10 at 32+32 components, and right where the peer is wrong",
    )
    report(
        "total_variation_equivalence_modular",
        "Layer spaces modulo one prime beside float automata",
        *peer,
        modular_rows(),
        "ratio at least 100 at 32+32 components",
    )


if __name__ == "__main__":
    main()
