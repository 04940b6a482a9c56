"""Product distributions: exact distance beside pyAgrum, certified bracket beside sampling.

``python benchmarks/bench_total_variation_products.py`` prints two tables and writes
``benchmarks/results/total_variation_products_exact.json`` and ``..._bracket.json``.

pyAgrum's ``ExactBNdistance`` has no total variation; it computes KL, Hellinger, Bhattacharyya and
Jensen-Shannon by enumeration, so the comparison is of one exact distance with another. Each side
runs with its own defaults; the first, cold run of each is thrown away.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from theorylab.total_variation import tv_product_bracket, tv_product_exact
from theorylab.total_variation.product_instances import Rows, near_coins
from theorylab.total_variation.product_pairs import rounded_pair
from theorylab.total_variation.product_sampling import CouplingSampler

try:
    import pyagrum
except ImportError:
    pyagrum = None

RESULTS = Path(__file__).parent / "results"
DRAWS = 200_000
RTOL = 0.01
WINDOW = 0.02


def seconds(task: Callable[[], object]) -> float:
    """Seconds of one call, averaged over as many as fit into ``WINDOW``."""
    start, calls = perf_counter(), 0
    while calls == 0 or perf_counter() - start < WINDOW:
        task()
        calls += 1
    return (perf_counter() - start) / calls


def alternating(ours: Callable, peer: Callable, rounds: int) -> tuple[float, float]:
    """Median seconds of both, run in turn; the first round is thrown away."""
    times = [(seconds(ours), seconds(peer)) for _ in range(rounds + 1)][1:]
    return median(own for own, _ in times), median(other for _, other in times)


def row(case: str, ours: Callable, peer: Callable, rounds: int) -> dict[str, object]:
    own, other = alternating(ours, peer, rounds)
    return {"case": case, "ours_s": own, "peer_s": other, "ratio": other / own}


def random_coins(rng: np.random.Generator, n: int) -> Rows:
    successes = [Fraction(int(k), 100) for k in rng.integers(1, 100, size=n)]
    return [(1 - p, p) for p in successes]


def network(law: Rows) -> object:
    """Independent binary variables as a Bayesian network without arcs."""
    found = pyagrum.BayesNet()
    for j, coin in enumerate(law):
        node = found.add(pyagrum.LabelizedVariable(f"x{j}", "", 2))
        found.cpt(node)[:] = [float(p) for p in coin]
    return found


def exact_rows() -> list[dict[str, object]]:
    rng, rows = np.random.default_rng(0), []
    for n, rounds in ((12, 15), (14, 15), (16, 11), (18, 5)):
        P, Q = random_coins(rng, n), random_coins(rng, n)
        nets = network(P), network(Q)
        rows.append(
            row(
                f"exact distance, {n} coins",
                lambda P=P, Q=Q: tv_product_exact(P, Q),
                lambda nets=nets: pyagrum.ExactBNdistance(*nets).compute(),
                rounds,
            )
        )
    return rows


def bracket_rows() -> list[dict[str, object]]:
    rng, rows = np.random.default_rng(0), []
    for n in (200, 1000):
        P, Q = near_coins(rng, n)
        sampler = CouplingSampler.of(rounded_pair(P, Q).floats)
        rows.append(
            row(
                f"{n} coins: bracket to {RTOL:.0%} | {DRAWS} draws",
                lambda P=P, Q=Q: tv_product_bracket(P, Q, rtol=RTOL),
                lambda sampler=sampler: sampler.estimate(DRAWS, rng),
                3,
            )
        )
    return rows


def report(name: str, result: dict[str, object]) -> None:
    print(f"\n{result['title']}  (peer: {result['peer']} {result['peer_version']})")
    for found in result["rows"]:
        print(
            f"  {found['case']:<44} ours {found['ours_s']:9.5f} s   "
            f"peer {found['peer_s']:9.5f} s   ratio {found['ratio']:8.1f}"
        )
    print(f"  target: {result['target']}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")


def main() -> None:
    report(
        "total_variation_products_bracket",
        {
            "title": "Certified bracket beside the coupling sampler",
            "peer": "coupling sampler of the same package",
            "peer_version": "",
            "rows": bracket_rows(),
            "target": "ratio at least 1 at 1000 coins",
        },
    )
    if pyagrum is None:
        print("\npyagrum is not installed: exact distances not compared (pip install pyagrum)")
        return
    report(
        "total_variation_products_exact",
        {
            "title": "Exact distance by meeting in the middle beside enumeration",
            "peer": "pyagrum ExactBNdistance",
            "peer_version": pyagrum.__version__,
            "rows": exact_rows(),
            "target": "ratio at least 200 at 16 coins",
        },
    )


if __name__ == "__main__":
    main()
