"""Product distributions: exact distance beside pyAgrum, certified bracket beside sampling.

``python benchmarks/bench_total_variation_products.py`` prints two tables and writes
``benchmarks/results/total_variation_products_exact.json`` and ``..._bracket.json``.

pyAgrum's ``ExactBNdistance`` has no total variation; it computes KL, Hellinger, Bhattacharyya and
Jensen-Shannon by enumeration, so the comparison is of one exact distance with another. Each side
runs with its own defaults; the first, cold run of each is thrown away.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from pairing import Result, Row, compared, report, skip

from theorylab.total_variation import tv_product_bracket, tv_product_exact
from theorylab.total_variation.product_instances import Rows, near_coins
from theorylab.total_variation.product_pairs import rounded_pair
from theorylab.total_variation.product_sampling import CouplingSampler

try:
    import pyagrum
except ImportError:
    pyagrum = None

DRAWS = 200_000
RTOL = 0.01


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


def exact_row(rng: np.random.Generator, n: int, rounds: int, least: float | None) -> Row:
    P, Q = random_coins(rng, n), random_coins(rng, n)
    nets = network(P), network(Q)
    return compared(
        f"exact distance, {n} coins",
        lambda: tv_product_exact(P, Q),
        lambda: pyagrum.ExactBNdistance(*nets).compute(),
        rounds=rounds,
        least=least,
    )


def exact_rows() -> list[Row]:
    rng = np.random.default_rng(0)
    cases = ((12, 15, None), (14, 15, None), (16, 11, 200.0), (18, 5, None))
    return [exact_row(rng, *case) for case in cases]


def bracket_row(rng: np.random.Generator, n: int, least: float | None) -> Row:
    P, Q = near_coins(rng, n)
    sampler = CouplingSampler.of(rounded_pair(P, Q).floats)
    return compared(
        f"{n} coins: bracket to {RTOL:.0%} | {DRAWS} draws",
        lambda: tv_product_bracket(P, Q, rtol=RTOL),
        lambda: sampler.estimate(DRAWS, rng),
        rounds=3,
        least=least,
    )


def bracket_rows() -> list[Row]:
    rng = np.random.default_rng(0)
    return [bracket_row(rng, *case) for case in ((200, None), (1000, 1.0))]


def main() -> None:
    report(
        "total_variation_products_bracket",
        Result(
            "Certified bracket beside the coupling sampler",
            "coupling sampler of the same package",
            "",
            tuple(bracket_rows()),
            "ratio at least 1 at 1000 coins",
        ),
    )
    if pyagrum is None:
        skip("pyagrum")
    report(
        "total_variation_products_exact",
        Result(
            "Exact distance by meeting in the middle beside enumeration",
            "pyagrum ExactBNdistance",
            pyagrum.__version__,
            tuple(exact_rows()),
            "ratio at least 200 at 16 coins",
        ),
    )


if __name__ == "__main__":
    main()
