"""Claims on mixtures of product distributions: deciding, witnessing and certifying equality."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, Finding
from theorylab.run import Run
from theorylab.stats import proportion_at_most, proportion_equals
from theorylab.total_variation.baselines import (
    agree_as_automata,
    agree_on_marginals,
    agree_pointwise,
    naive_multiplications,
)
from theorylab.total_variation.certificates import (
    EquivalenceCertificate,
    verify_certificate,
    verify_witness,
)
from theorylab.total_variation.distances import difference_table, tv_exact_mixture
from theorylab.total_variation.equivalence import ENGINES, check_equivalence
from theorylab.total_variation.generators import (
    Pair,
    moment_pair,
    nudge,
    padded_moment_pair,
    parity_pair,
    split_pair,
)
from theorylab.total_variation.mixture_suite import SuitePair, mixture_suite
from theorylab.total_variation.mixtures import ProductMixture
from theorylab.total_variation.randomised import MERSENNE_61, identity_test, polynomial_values
from theorylab.total_variation.theory import (
    cubic_operation_bound,
    false_zero_bound,
    moment_false_zero_rate,
    moment_gap,
    moment_pointwise_gap,
    paper_operation_bound,
    quadratic_operation_bound,
)

PAPER = "bhattacharyya2025explorations"
DERIVED = Source("theorylab", "derived in the chapter")
Decide = Callable[[ProductMixture, ProductMixture], bool]


def _suite(run: Run) -> list[SuitePair]:
    return mixture_suite(run.rng("pairs"), run.pick(ci=300, paper=3000))


def _moment_pairs(orders: Iterable[int]) -> list[Pair]:
    return [moment_pair(n) for n in orders]


def _wrong_verdicts(pairs: Iterable[Pair], decide: Decide) -> Finding:
    """How often a decision contradicts the list of all probabilities."""
    found = [decide(P, Q) == (tv_exact_mixture(P, Q) == 0) for P, Q in pairs]
    return Equal(found.count(False), 0, sizes={"pairs": len(found)})


@claim(
    "total_variation.equiv-decides",
    statement=r"""For two mixtures of product distributions with rational parameters, over any
finite alphabets, the layer algorithm says "equal" if and only if $P(x) = Q(x)$ for every $x$.
Nothing is assumed about positivity, the numbers of components, or whether components repeat.""",
    source=Source(PAPER, "Theorem 1"),
    evidence="exact",
)
def equiv_decides(run: Run) -> Finding:
    suite = _suite(run)
    pairs = [(pair.P, pair.Q) for pair in suite]
    hidden = sum(
        pair.P.canonical() != pair.Q.canonical() and tv_exact_mixture(pair.P, pair.Q) == 0
        for pair in suite
    )
    nearly = sum(pair.kind == "nearly" and tv_exact_mixture(pair.P, pair.Q) > 0 for pair in suite)
    engines = {
        f"{name} engine: wrong verdicts": _wrong_verdicts(pairs, _decided_by(name))
        for name in ENGINES
    }
    return AllHold(
        {
            **engines,
            "share of pairs equal for no visible reason": AtLeast(
                Fraction(hidden, len(suite)), Fraction(3, 10)
            ),
            "share of pairs nearly equal": AtLeast(Fraction(nearly, len(suite)), Fraction(3, 10)),
        }
    )


def _decided_by(engine: str) -> Decide:
    return lambda P, Q: check_equivalence(P, Q, engine=engine).equal


@equiv_decides.control("the last coordinate is not read")
def _(run: Run) -> Finding:
    return _wrong_verdicts(_moment_pairs(range(2, 9)), _without_last_coordinate)


def _without_last_coordinate(P: ProductMixture, Q: ProductMixture) -> bool:
    read = range(P.n_coordinates - 1)
    return check_equivalence(P.marginal(read), Q.marginal(read)).equal


@equiv_decides.control("equality of all pairwise marginals taken for equality")
def _(run: Run) -> Finding:
    pairs = [parity_pair(4), *_moment_pairs(range(3, 7))]
    return _wrong_verdicts(pairs, lambda P, Q: agree_on_marginals(P, Q, 2))


@equiv_decides.control("probabilities compared within 1e-8")
def _(run: Run) -> Finding:
    return _wrong_verdicts(_moment_pairs((12, 13, 14)), agree_pointwise)


@equiv_decides.control("float automata compared with numpy.allclose")
def _(run: Run) -> Finding:
    return _wrong_verdicts(_moment_pairs((12, 13, 14)), agree_as_automata)


def _value_at(P: ProductMixture, Q: ProductMixture, x: Sequence[int]) -> Fraction:
    """P(x) - Q(x), looked up in the list of all points."""
    numerators, denominator = difference_table(P, Q)
    place = np.ravel_multi_index(tuple(x), P.alphabet_sizes) if len(x) else 0
    return Fraction(int(numerators[place]), denominator)


def _confirmed(offers: Sequence[tuple[Pair, Sequence[int]]]) -> Finding:
    """Witness strings that the verifier and the list of all probabilities confirm."""
    confirmed = sum(verify_witness(P, Q, x) and _value_at(P, Q, x) != 0 for (P, Q), x in offers)
    return Equal(confirmed, len(offers))


@claim(
    "total_variation.equiv-witness",
    statement=r"""If the mixtures differ, the algorithm returns a full string $x$ together with
the exact values $P(x) \ne Q(x)$: a differing prefix, extended letter by letter.""",
    source=Source(PAPER, "Theorem 1"),
    evidence="exact",
    uses=["total_variation.equiv-decides"],
)
def equiv_witness(run: Run) -> Finding:
    pairs = [(pair.P, pair.Q) for pair in _suite(run)]
    different = [(P, Q) for P, Q in pairs if tv_exact_mixture(P, Q) > 0]
    results = [check_equivalence(P, Q, engine=engine) for P, Q in different for engine in ENGINES]
    asked = [pair for pair in different for _ in ENGINES]
    values = [
        (result.p_value_at_witness or 0) - (result.q_value_at_witness or 0) for result in results
    ]
    offers = [
        (pair, result.witness)
        for pair, result in zip(asked, results, strict=True)
        if result.witness is not None
    ]
    return AllHold(
        {
            "pairs with a witness": Equal(len(offers), len(asked)),
            "witnesses confirmed": _confirmed(offers),
            "stated differences": Equal(values, [_value_at(*pair, x) for pair, x in offers]),
        }
    )


@equiv_witness.control("a string at which a sparse pair agrees is offered")
def _(run: Run) -> Finding:
    offers = []
    for pair in _suite(run):
        zeros = np.flatnonzero(difference_table(pair.P, pair.Q)[0] == 0)
        if len(zeros) and tv_exact_mixture(pair.P, pair.Q) > 0:
            x = np.unravel_index(int(zeros[0]), pair.P.alphabet_sizes)
            offers.append(((pair.P, pair.Q), [int(letter) for letter in x]))
    return _confirmed(offers)


Offer = tuple[ProductMixture, ProductMixture, EquivalenceCertificate]


def _equal_pairs(run: Run) -> list[Offer]:
    """Equal pairs with their certificates: from the suite, and one with 32 + 32 components."""
    pairs = [(pair.P, pair.Q) for pair in _suite(run) if pair.kind == "equal"]
    components, n = run.pick(ci=(16, 32), paper=(32, 64))
    large = split_pair(run.rng("large"), components // 2, components // 2, n, 4)
    found = []
    for P, Q in [*pairs, large]:
        certificate = check_equivalence(P, Q).certificate
        if certificate is not None:
            found.append((P, Q, certificate))
    return found


def _accepted(offers: Sequence[Offer]) -> Finding:
    return Equal(sum(verify_certificate(*offer) for offer in offers), len(offers))


def corrupted(
    certificate: EquivalenceCertificate, change: Fraction
) -> list[EquivalenceCertificate]:
    """All certificates that differ from the given one in one entry of one matrix."""
    versions = []
    for number, layer in enumerate(certificate.layers):
        for t, row in enumerate(layer.rows):
            for i, value in enumerate(row):
                changed = (*row[:i], value + change, *row[i + 1 :])
                rows = (*layer.rows[:t], changed, *layer.rows[t + 1 :])
                layers = list(certificate.layers)
                layers[number] = replace(layer, rows=rows)
                versions.append(EquivalenceCertificate(tuple(layers)))
    return versions


@claim(
    "total_variation.equiv-certificate",
    statement=r"""If $P = Q$, the reduced echelon bases $B_0, \dots, B_n$ of the layer spaces are
a certificate that a checker accepts by multiplications alone: $B_0 = (1, \dots, 1)$, every image
of a row of $B_{j-1}$ under $D_{j,a}$ is the combination of rows of $B_j$ that its pivot entries
name, and $B_n c = 0$. The certificate survives storage as JSON, and a change of any single matrix
entry is detected.""",
    source=DERIVED,
    evidence="exact",
    uses=["total_variation.equiv-decides"],
)
def equiv_certificate(run: Run) -> Finding:
    offers = _equal_pairs(run)
    stored = [
        (P, Q, EquivalenceCertificate.from_json(certificate.to_json()))
        for P, Q, certificate in offers
    ]
    spoilt = [
        (P, Q, version)
        for P, Q, certificate in offers[: -1 : run.pick(ci=3, paper=1)]
        for version in corrupted(certificate, Fraction(1, 10**30))
    ]
    return AllHold(
        {
            "accepted": _accepted(offers),
            "accepted after storage": _accepted(stored),
            "single-entry corruptions accepted": Equal(
                sum(verify_certificate(*offer) for offer in spoilt),
                0,
                sizes={"corruptions": len(spoilt)},
            ),
        }
    )


@equiv_certificate.control("one probability of Q moved by 1e-30")
def _(run: Run) -> Finding:
    return _accepted([(P, _moved(Q), certificate) for P, Q, certificate in _equal_pairs(run)])


def _moved(Q: ProductMixture) -> ProductMixture:
    """Q with 1e-30 of probability moved in a row of a component of positive weight."""
    i = next(i for i, weight in enumerate(Q.weights) if weight)
    j = next(j for j, row in enumerate(Q.rows[i]) if len(row) > 1)
    source = next(a for a, value in enumerate(Q.rows[i][j]) if value)
    target = (source + 1) % len(Q.rows[i][j])
    return nudge(Q, i, j, Fraction(1, 10**30), (target, source))


@equiv_certificate.control("the last layer is dropped")
def _(run: Run) -> Finding:
    return _accepted(
        [
            (P, Q, EquivalenceCertificate(certificate.layers[:-1]))
            for P, Q, certificate in _equal_pairs(run)
            if len(certificate.layers) > 1
        ]
    )


def _multiplications(P: ProductMixture, Q: ProductMixture) -> int:
    return check_equivalence(P, Q, engine="fraction").field_operations or 0


def _count(order: int, n: int, alphabet: int) -> int:
    return _multiplications(*padded_moment_pair(order, n, alphabet))


def _slope(sizes: Sequence[int], counts: Sequence[int]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(counts), 1)[0])


def _within_bounds(pairs: Sequence[Pair], count: Callable[..., int]) -> dict[str, Finding]:
    """Counts against the paper's order, the cubic bound and the bound for reduced bases."""
    counts = [count(P, Q) for P, Q in pairs]
    sizes = [
        (P.n_coordinates, P.n_components, Q.n_components, max(P.alphabet_sizes)) for P, Q in pairs
    ]
    return {
        "at most n k^4 |Σ|^4": AtMost(
            counts, [paper_operation_bound(n, max(k, m), q) for n, k, m, q in sizes]
        ),
        "at most n |Σ| K^3": AtMost(
            counts, [cubic_operation_bound(n, k + m, q) for n, k, m, q in sizes]
        ),
        "at most |Σ| K^2 (2n + K)": AtMost(
            counts, [quadratic_operation_bound(n, k + m, q) for n, k, m, q in sizes]
        ),
    }


@claim(
    "total_variation.equiv-cost",
    statement=r"""The algorithm needs $O(n k^4 |\Sigma|^4)$ field operations. One incremental
reduced echelon basis per layer needs at most $n|\Sigma|K^3$ multiplications, $K = k + \ell$, and
in fact at most $|\Sigma| K^2 (2n + K)$. On the padded moment family the count grows linearly in
$n$ and in $|\Sigma| - 1$ and quadratically in $K$; where every coordinate raises the rank, with
$n = K - 2$, its exponent in $K$ is near 3.""",
    source=Source(PAPER, "Theorem 1"),
    evidence="exact",
)
def equiv_cost(run: Run) -> Finding:
    lengths, alphabets = (12, 24, 48, 96), (2, 4, 8, 16, 32)
    stacked = run.pick(ci=(6, 10, 18, 34), paper=(6, 10, 18, 34, 66))
    n = 2 * stacked[-1]
    slopes = (
        _slope(lengths, [_count(9, length, 3) for length in lengths]),
        _slope(stacked, [_count(K - 1, n, 3) for K in stacked]),
        _slope([q - 1 for q in alphabets], [_count(9, 24, q) for q in alphabets]),
        _slope(stacked, [_count(K - 1, K - 2, 2) for K in stacked]),
    )
    splits = [split_pair(run.rng(f"splits {k}"), k, k, 12, 3) for k in (2, 4, 8)]
    return AllHold(
        {
            "exponents in n, K, |Σ|-1, and K with n = K-2": Close(slopes, (1, 2, 1, 3), atol=0.25),
            "the same, against those of an earlier prototype": Close(
                slopes, (1.03, 2.05, 0.98, 3.28), atol=0.1
            ),
            **_within_bounds([*_moment_family(), *splits], _multiplications),
        }
    )


def _moment_family() -> list[Pair]:
    return [padded_moment_pair(order, 24, q) for order in (5, 8, 12) for q in (3, 4)]


@equiv_cost.control("every candidate eliminated from scratch")
def _(run: Run) -> Finding:
    pairs = [padded_moment_pair(order, 24, q) for order, q in ((8, 3), (8, 4), (10, 3))]
    return AllHold(_within_bounds(pairs, naive_multiplications))


def _active_set_verdicts(pairs: Iterable[Pair], dropped: int) -> Finding:
    """How often the marginals on the active set, short of some elements, mislead."""
    wrong = []
    for P, Q in pairs:
        active = check_equivalence(P, Q, stop_early=False).active
        kept_sets = (
            [active]
            if dropped == 0
            else [[*active[:i], *active[i + 1 :]] for i in range(len(active))]
        )
        truth = tv_exact_mixture(P, Q) == 0
        wrong += [
            (tv_exact_mixture(P.marginal(kept), Q.marginal(kept)) == 0) != truth
            for kept in kept_sets
        ]
    return Equal(wrong.count(True), 0, sizes={"comparisons": len(wrong)})


@claim(
    "total_variation.k-minus-one",
    statement=r"""Let $S$ be the coordinates at which the rank of the layer spaces grows. Then
$|S| \le K - 1$ with $K = k + \ell$, and $P = Q$ if and only if their marginals on $S$ agree.
Hence agreement of all $(K-1)$-wise marginals implies equality, and $K - 1$ cannot be lowered:
moment pairs need all their $n = K - 1$ coordinates.""",
    source=DERIVED,
    evidence="exact",
    uses=["total_variation.equiv-decides"],
)
def k_minus_one(run: Run) -> Finding:
    pairs = [(pair.P, pair.Q) for pair in _suite(run)]
    sizes = [len(check_equivalence(P, Q, stop_early=False).active) for P, Q in pairs]
    orders = range(1, 9)
    needed = [
        len(check_equivalence(P, Q, stop_early=False).active) for P, Q in _moment_pairs(orders)
    ]
    return AllHold(
        {
            "wrong verdicts from the active set": _active_set_verdicts(pairs, dropped=0),
            "size of the active set": AtMost(
                sizes, [P.n_components + Q.n_components - 1 for P, Q in pairs]
            ),
            "active coordinates of moment pairs": Equal(needed, list(orders)),
        }
    )


@k_minus_one.control("one element of the active set of a moment pair left out")
def _(run: Run) -> Finding:
    return _active_set_verdicts(_moment_pairs(range(2, 8)), dropped=1)


def _closed_form(pairs: dict[tuple[int, Fraction], Pair]) -> dict[str, Finding]:
    """All differences and the distance of pairs given by (n, s), against the closed forms."""
    tables = [(key, *difference_table(P, Q)) for key, (P, Q) in pairs.items()]
    return {
        "smallest and largest |P(x) - Q(x)|": Equal(
            [
                [Fraction(int(f(np.abs(numerators))), denominator) for f in (np.min, np.max)]
                for _, numerators, denominator in tables
            ],
            [[moment_pointwise_gap(*key)] * 2 for key, *_ in tables],
        ),
        "distance": Equal(
            [tv_exact_mixture(P, Q) for P, Q in pairs.values()],
            [moment_gap(*key) for key in pairs],
        ),
    }


@claim(
    "total_variation.moment-gap",
    statement=r"""Give component $i = 0, \dots, n$ the weight $\binom ni 2^{1-n}$ and the law
$\mathrm{Bern}(\frac12 + s(\frac in - \frac12))^{\otimes n}$, $0 < s \le 1$; even $i$ form $P_n$,
odd $i$ form $Q_n$. All $(n-1)$-wise marginals agree, yet at every $x$
$|P_n(x) - Q_n(x)| = 2^{1-n} s^n n!/n^n$, so $d_{\mathrm{TV}}(P_n, Q_n) = s^n n!/n^n$.""",
    source=DERIVED,
    evidence="exact",
)
def moment_gap_claim(run: Run) -> Finding:
    scales = (Fraction(1), Fraction(1, 3))
    pairs = {(n, s): moment_pair(n, s) for n in range(2, 9) for s in scales}
    agreeing = [agree_on_marginals(*moment_pair(n), n - 1) for n in range(2, 9)]
    long = run.pick(ci=(20, 40, 60), paper=(20, 40, 60, 80))
    results = [check_equivalence(*moment_pair(n)) for n in long]
    gaps = [
        abs((result.p_value_at_witness or 0) - (result.q_value_at_witness or 0))
        for result in results
    ]
    return AllHold(
        {
            **_closed_form(pairs),
            "pairs whose (n-1)-wise marginals agree": Equal(agreeing.count(True), len(agreeing)),
            "differences at the witnesses of long pairs": Equal(
                gaps, [moment_pointwise_gap(n) for n in long], sizes={"n": long}
            ),
        }
    )


@moment_gap_claim.control("two unequal weights exchanged")
def _(run: Run) -> Finding:
    pairs = {(n, Fraction(1)): moment_pair(n) for n in range(4, 8)}
    exchanged = {
        key: (ProductMixture((P.weights[1], P.weights[0], *P.weights[2:]), P.rows), Q)
        for key, (P, Q) in pairs.items()
    }
    return AllHold(_closed_form(exchanged))


def _zero_rates(run: Run, same_letter: bool) -> dict[str, Finding]:
    """How often the test polynomial of a moment pair vanishes, against bound and exact rate."""
    n, prime, rounds = 8, 101, run.pick(ci=20_000, paper=1_000_000, gpu=5_000_000)
    shape = (rounds, 1 if same_letter else 2)
    rng = run.rng("points")
    points = [np.broadcast_to(rng.integers(prime, size=shape), (rounds, 2)) for _ in range(n)]
    zeros = polynomial_values(*moment_pair(n), prime, points, rounds) == 0
    return {
        "at most n/m": proportion_at_most(zeros, false_zero_bound(n, prime), power_against=0.02),
        "exactly 1 - (1 - 1/m)^n": proportion_equals(
            zeros, moment_false_zero_rate(n, prime), power_against=0.02
        ),
    }


@claim(
    "total_variation.equiv-randomised",
    statement=r"""Evaluate $\sum_i c_i \prod_j \sum_a p_i^{(j)}(a) z_{j,a}$ at independent uniform
$z_{j,a} \in \mathbb F_m$, for a prime $m$ that divides no denominator. If $P = Q$ it is 0 always;
if they differ modulo $m$ it is 0 with probability at most $n/m$. The bound is nearly attained by
moment pairs, whose rate is $1 - (1 - 1/m)^n$.""",
    source=Source("kiefer2011language", "identity testing; constants derived in the chapter"),
    evidence="statistical",
)
def equiv_randomised(run: Run) -> Finding:
    suite = _suite(run)
    equal = [pair for pair in suite if pair.kind == "equal"]
    rng = run.rng("identity tests")
    small = [identity_test(pair.P, pair.Q, 101, 1, rng).different for pair in equal]
    errors = [
        identity_test(pair.P, pair.Q, MERSENNE_61, 1, rng).different
        != (tv_exact_mixture(pair.P, pair.Q) > 0)
        for pair in suite
    ]
    return AllHold(
        {
            **_zero_rates(run, same_letter=False),
            "equal pairs called different": Equal(small.count(True), 0),
            "errors at m = 2^61 - 1": Equal(errors.count(True), 0, sizes={"pairs": len(suite)}),
        }
    )


@equiv_randomised.control("one value z for all letters of a coordinate")
def _(run: Run) -> Finding:
    return AllHold(_zero_rates(run, same_letter=True))
