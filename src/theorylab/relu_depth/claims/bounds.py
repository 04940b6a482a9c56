"""Claims on how many hidden layers a maximum needs, by the weights that are allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, log, prod
from typing import Any

import numpy as np
from flint import arb

from theorylab.claims import Source, claim
from theorylab.exact import ReLUNet
from theorylab.findings import AllHold, AtLeast, AtMost, Equal, Finding
from theorylab.run import Run

from ..constructions import (
    Maximum,
    five_terms,
    hidden_layers,
    max5_network,
    shallow_terms,
    tree_network,
)
from ..data import FORMATS, digits_classifier, maximum_learner
from ..newton import refute
from ..numberformats import common_denominator, exact_weights, stored_network
from ..polytopes import LatticePolytope, dilate, minkowski
from ..samples import random_network, random_points
from ..theory import (
    ceil_log,
    depth_bounds,
    forced_primes,
    mean_smallest_prime,
    smallest_prime_not_dividing,
)
from ..triangulations import SignedSimplices, flatten4, is_signed_sum, signed_simplices
from ..triangulations import top_cells_only as cells_alone

PAPER = "averkov2025expressiveness"
SUBDIVIDED = "bakaev2026better"
DERIVED = Source("theorylab", "derived in the chapter")
LEAST_PRIMES = {
    **dict.fromkeys((1, 3), 2),
    **dict.fromkeys((2, 4, 8, 10, 16, 256), 3),
    **dict.fromkeys((6, 12), 5),
    **dict.fromkeys((30, 60, 360), 7),
    210: 11,
    2310: 13,
    30030: 17,
    510510: 19,
}
Prime = Callable[[int], int]


def _two_among_the_weights(N: int) -> int:
    """The prime 2, whatever N: what the conjecture of 2021 amounts to."""
    return 2


def _known_networks() -> list[tuple[int, int, int]]:
    """(n, N, hidden layers) of networks for F_n whose weights are N-ary fractions."""
    trees = [(n, 1, tree_network(n).depth) for n in (1, 2, 3, 4, 7, 8)]
    dyadic = [(m - 1, 2, hidden_layers(shallow_terms(m))) for m in (8, 11)]
    return [*trees, (4, 2, max5_network().depth), (4, 10, max5_network().depth), *dyadic]


def _respect(prime: Prime) -> AtLeast:
    """Layers of the networks that we have, beside the bound for their weights."""
    known = _known_networks()
    bounds = [ceil_log(prime(N), n + 1) for n, N, _ in known]
    return AtLeast([layers for *_, layers in known], bounds)


def _is_power_of_two(value: int) -> bool:
    return value & (value - 1) == 0


def _one_output(layers: Sequence[tuple[list, list]]) -> ReLUNet:
    """The first output of a stored network, weights as the fractions they are."""
    exact: list[Any] = [
        (
            [[Fraction(w) for w in row] for row in matrix],
            [Fraction(b) for b in bias],
        )
        for matrix, bias in layers
    ]
    (matrix, bias) = exact[-1]
    return ReLUNet([*exact[:-1], (matrix[:1], bias[:1])])


def _stored_digits(run: Run) -> Finding:
    """A classifier of digits in four float types: dyadic, and integer after one factor."""
    import torch

    model, accuracy = digits_classifier(run.torch_rng("digits"))
    denominators = [
        common_denominator([w for w, _ in stored_network(model, getattr(torch, name))])
        for name in FORMATS
    ]
    net = _one_output(stored_network(model, torch.bfloat16))
    M, integer = net.clear_denominators()
    points = random_points(run.rng("images"), 3, 64, 16)
    return AllHold(
        {
            "accuracy, in tenths": AtLeast(Fraction(int(10 * accuracy), 10), Fraction(9, 10)),
            "denominators are powers of two": Equal(
                sum(not _is_power_of_two(M) for M in denominators), 0
            ),
            "integer weights": Equal(common_denominator([m for m, _ in integer.layers]), 1),
            "the function times a power of M": Equal(
                [integer(point) - M**3 * net(point) for point in points], [Fraction(0)] * 3
            ),
        }
    )


def _taught(run: Run) -> Finding:
    """Networks taught F_4 with weights rounded to 27ths: how many are refuted, how many wrongly."""
    networks = []
    for number in range(run.pick(ci=3, paper=10)):
        model = maximum_learner(run.torch_rng(f"learner {number}"))
        rounded: list[Any] = [
            ([[Fraction(round(27 * w), 27) for w in row] for row in matrix], [0] * len(bias))
            for matrix, bias in stored_network(model)
        ]
        networks.append(ReLUNet(rounded))
    found = [(net, x) for net in networks if (x := refute(net, 4)) is not None]
    return AllHold(
        {
            "refuted": Equal(len(found), len(networks)),
            "witnesses that fail": Equal(sum(net(x) == max(0, *x) for net, x in found), 0),
        }
    )


@claim(
    "relu_depth.lower-bound",
    statement=r"""If all weights are $N$-ary fractions $z/N^t$ and the prime $p$ does not divide
$N$, a network for $F_n$ has at least $\lceil\log_p(n+1)\rceil$ hidden layers, whatever its width
and its biases. In particular binary and decimal weights, hence all floating-point numbers, need
$\lceil\log_3(n+1)\rceil$, in exact arithmetic.""",
    source=Source(PAPER, "Theorem 2, Corollary 3, Lemma 16"),
    evidence="exact",
    uses=["relu_depth.phi-invariant"],
)
def lower_bound(run: Run) -> Finding:
    powers = [(p, k) for p in (2, 3, 5, 7) for k in (1, 5, 20, 40)]
    return AllHold(
        {
            "least primes": Equal(
                [smallest_prime_not_dividing(N) for N in LEAST_PRIMES], list(LEAST_PRIMES.values())
            ),
            "networks that we have": _respect(smallest_prime_not_dividing),
            "logarithms at powers": Equal(
                [(ceil_log(p, p**k), ceil_log(p, p**k + 1)) for p, k in powers],
                [(k, k + 1) for _, k in powers],
            ),
            "stored digits classifiers": _stored_digits(run),
            "ten logits": Equal(depth_bounds(9, 2).lower, 3),
            "two layers with odd denominators": _taught(run),
            "forced primes, two layers, 10^4": Equal(
                (len(forced_primes(10**4, 2)), prod(forced_primes(10**4, 2)).bit_length()),
                (25, 121),
            ),
        }
    )


@lower_bound.control("p = 2 although N is even")
def _(run: Run) -> Finding:
    return _respect(_two_among_the_weights)


@lower_bound.control("logarithms in floating point, rounded up")
def _(run: Run) -> Finding:
    powers = [(p, k) for p in (2, 3, 5, 7) for k in (1, 5, 20, 40)]
    return Equal([ceil(log(p**k) / log(p)) for p, k in powers], [k for _, k in powers])


@claim(
    "relu_depth.conjecture",
    statement=r"""Conjecture of 2021: with real weights, $F_n$ needs $\lceil\log_2(n+1)\rceil$
hidden layers. (For integer weights it is a theorem.)""",
    source=Source("hertrich2021towards", "conjecture, as cited by the paper"),
    evidence="exact",
    expected="refuted",
    uses=["relu_depth.max5-two-layers"],
)
def conjecture(run: Run) -> Finding:
    return AtLeast(max5_network().depth, ceil_log(2, 5))


@conjecture.control("eleven numbers, binary fractions")
def _(run: Run) -> Finding:
    return AtLeast(hidden_layers(shallow_terms(11)), ceil_log(2, 11))


@conjecture.positive_control("integer weights: the trees")
def _(run: Run) -> Finding:
    sizes = range(1, 9)
    return AtLeast([tree_network(n).depth for n in sizes], [ceil_log(2, n + 1) for n in sizes])


def least_primes(limit: int) -> np.ndarray:
    """p(N) for N = 0..limit (entry 0 is 0), by multiples of the primorials."""
    found = np.zeros(limit + 1, dtype=np.int64)
    found[1:] = 2
    primorial, p = 2, 3
    while primorial <= limit:
        found[primorial::primorial] = p
        primorial *= p
        p = smallest_prime_not_dividing(primorial)
    return found


def _extremal(limit: int) -> list[int]:
    """For each value of p(N) the least N from 3 on: there ln ln N / ln p(N) is least."""
    values = least_primes(limit)
    return [3 + int(np.argmax(values[3:] == p)) for p in sorted(set(values[3:].tolist()))]


def _ratio(N: int) -> arb:
    return arb(N).log().log() / arb(smallest_prime_not_dividing(N)).log()


def _lower(value: arb) -> Fraction:
    """A rational number certainly below an enclosure."""
    mantissa, exponent = value.lower().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _constant_holds(limit: int, constant: Fraction | None) -> AtLeast:
    """The ratio at its extremal N above a constant; the sharp one if none is given."""
    extremal = _extremal(limit)
    if constant is None:
        sharp = _ratio(3)
        return AtLeast([_lower(_ratio(N) - sharp) for N in extremal if N != 3], 0)
    return AtLeast([_lower(_ratio(N)) for N in extremal], constant)


@claim(
    "relu_depth.lnln-constant",
    statement=r"""For all $n, N \ge 3$ a network for $F_n$ with $N$-ary weights has at least $C\ln
n/\ln\ln N$ hidden layers. The best constant is $C = \ln\ln 3/\ln 2 = 0.1356\ldots$, attained at
$N = 3$; the check compares $\ln\ln N/\ln p(N)$ for all $N$ up to a limit. The mean of $p(N)$ is
$\sum_i (p_i-1)/(p_1\cdots p_{i-1}) = 2.92005\ldots$""",
    source=Source(PAPER, "Theorem 4; the constant and the mean are derived in the chapter"),
    evidence="exact",
    uses=["relu_depth.lower-bound"],
)
def lnln_constant(run: Run) -> Finding:
    limit = run.pick(ci=10**6, paper=10**8)
    values = least_primes(limit)
    checked = range(1, 2000)
    counts = Counter(values[1 : 10**6 + 1].tolist())
    mean = Fraction(int(values[1:].sum()), limit)
    return AllHold(
        {
            "the sieve": Equal(
                values[1:2000].tolist(), [smallest_prime_not_dividing(N) for N in checked]
            ),
            "least at N = 3": _constant_holds(limit, None),
            "counts up to 10^6": Equal(
                [counts[p] for p in (2, 3, 5, 7, 11, 13, 17, 19)],
                [500000, 333334, 133333, 28572, 4329, 399, 32, 1],
            ),
            "mean up to the limit": AtMost(abs(mean - mean_smallest_prime()), Fraction(100, limit)),
        }
    )


@lnln_constant.control("C = 0.2")
def _(run: Run) -> Finding:
    return _constant_holds(run.pick(ci=10**6, paper=10**8), Fraction(1, 5))


def _hierarchy(largest: int, exponent: Callable[[int], int]) -> Equal:
    """(n, k) for which F_(3^k) does not fit or does not separate 2k from k layers."""
    bad = 0
    for n in range(3, largest + 1):
        for k in range(1, exponent(n) + 1):
            bounds = depth_bounds(3**k, 10)
            bad += not (3**k <= n and bounds.theorem2 > k and ceil_log(2, 3**k + 1) <= 2 * k)
    return Equal(bad, 0)


def _floor_log3(n: int) -> int:
    return ceil_log(3, n + 1) - 1


def _flattened_networks(run: Run, simplices: Callable) -> Finding:
    """Deep networks on four inputs from simplices of at most five vertices."""
    rng, wrong, sizes = run.rng("deep networks"), 0, []
    for _ in range(run.pick(ci=6, paper=40)):
        net = random_network(rng, (4, 4, 2, 2, 1))
        flat = flatten4(net, run.rng("triangulations"), simplices)
        sizes.append(flat.size)
        for x in random_points(rng, 20, 4, 50):
            wrong += flat([Fraction(a) for a in x]) != net(x)
    return AllHold({"wrong values": Equal(wrong, 0), "vertices of a simplex": AtMost(sizes, 5)})


def _proved_sums(run: Run, simplices: Callable[..., SignedSimplices]) -> Equal:
    """Polytopes that their signed simplices do not add up to, vertex by vertex."""
    rng, wrong = run.rng("polytopes"), 0
    for d, count in ((2, 6), (3, 4)):
        for _ in range(count):
            P = LatticePolytope(random_points(rng, d + 4, d, 3))
            wrong += not is_signed_sum(P, simplices(P, rng))
    return Equal(wrong, 0)


@claim(
    "relu_depth.hierarchy-2k",
    statement=r"""For $1 \le k \le \lfloor\log_3 n\rfloor$ some function of $n$ variables has a
network with decimal weights and $2k$ hidden layers but none with $k$: $F_{3^k}$. With the ceiling
in place of the floor this fails at $n = 4$, $k = 2$: every homogeneous decimal network on four
inputs, of any depth, is a signed sum of maxima of at most five linear functions, hence has two
hidden layers.""",
    source=Source(PAPER, "Corollary 17, its range corrected"),
    evidence="exact",
    uses=["relu_depth.lower-bound", "relu_depth.max5-two-layers"],
)
def hierarchy_2k(run: Run) -> Finding:
    return AllHold(
        {
            "range with the floor": _hierarchy(run.pick(ci=3000, paper=10**4), _floor_log3),
            "deep networks flattened": _flattened_networks(run, signed_simplices),
            "signed sums proved": _proved_sums(run, signed_simplices),
        }
    )


@hierarchy_2k.control("range with the ceiling, as printed")
def _(run: Run) -> Finding:
    return _hierarchy(run.pick(ci=3000, paper=10**4), lambda n: ceil_log(3, n))


@hierarchy_2k.control("simplices between the cells left out")
def _(run: Run) -> Finding:
    return _proved_sums(run, cells_alone)


def _simplex(m: int) -> LatticePolytope:
    return LatticePolytope([[int(i == j) for j in range(m)] for i in range(m)])


def _identity(terms: Sequence[tuple[int, Maximum]]) -> Finding:
    """P_1 + ... + P_4 + Q beside 2 Δ + R_13 + ... + R_24, as polytopes."""
    left = minkowski(*(term.polytope() for sign, term in terms if sign > 0))
    others = (term.polytope() for sign, term in terms if sign < 0)
    right = minkowski(dilate(_simplex(5), 2), *others)
    return AllHold(
        {
            "vertices": Equal(left.vertices, right.vertices),
            "volumes": Equal((left.volume(), right.volume()), (5056, 5056)),
            "number of vertices": Equal((len(left.vertices), len(right.vertices)), (37, 37)),
        }
    )


@claim(
    "relu_depth.max5-two-layers",
    statement=r"""Two hidden layers compute the maximum of five numbers, with weights in
$\frac12\mathbb Z$: $2\max_5 = P_1+P_2+P_3+P_4+Q-R_{13}-R_{14}-R_{23}-R_{24}$, where each term is
a maximum of at most three sums that one hidden layer knows.""",
    source=Source(SUBDIVIDED, "equation (2), Proposition 3"),
    evidence="exact",
    uses=["relu_depth.dictionary"],
)
def max5_two_layers(run: Run) -> Finding:
    net = max5_network()
    terms = five_terms()
    witness = refute(net, 4)
    weights = exact_weights([matrix for matrix, _ in net.layers])
    return AllHold(
        {
            "identity of polytopes": _identity(terms),
            "the network is F_4": Equal("none" if witness is None else str(witness), "none"),
            "hidden layers": Equal(net.depth, 2),
            "denominator of the weights": Equal(common_denominator(list(weights)), 2),
            "volumes are even": Equal(
                [P.volume() % 2 for _, term in terms if (P := term.polytope()).dim == 4],
                [0] * 4,
            ),
        }
    )


@max5_two_layers.control("Q in place of R_24")
def _(run: Run) -> Finding:
    terms = five_terms()
    return _identity([*terms[:-1], (-1, terms[4][1])])


@max5_two_layers.control("one weight of the network changed")
def _(run: Run) -> Finding:
    terms = five_terms()
    net = max5_network([(2 * terms[0][0], terms[0][1]), *terms[1:]])
    witness = refute(net, 4)
    return Equal("none" if witness is None else "differs", "none")


def _maxima(run: Run, sizes: Sequence[int], drop: int = 0) -> Equal:
    """Maxima of random rational points beside the signed sums of smaller maxima."""
    measured, predicted = [], []
    for m in sizes:
        terms = shallow_terms(m)[drop:]
        for x in random_points(run.rng(f"points {m}"), 12, m, 1000):
            point = [Fraction(a, 7) for a in x]
            measured.append(sum((c * term(point) for c, term in terms), Fraction(0)))
            predicted.append(max(point))
    return Equal(measured, predicted)


@claim(
    "relu_depth.upper-bounds",
    statement=r"""Trees compute $F_n$ with integer weights and $\lceil\log_2(n+1)\rceil$ hidden
layers, which is best possible for every odd $N$. With binary fractions the maximum of $3^j+2$
numbers has $j+1$ hidden layers, so that the maximum of ten or eleven numbers has exactly three,
and of five exactly two.""",
    source=Source(SUBDIVIDED, "Claims 5 to 7, Theorem 1"),
    evidence="exact",
    uses=["relu_depth.max5-two-layers", "relu_depth.lower-bound"],
)
def upper_bounds(run: Run) -> Finding:
    odd = [depth_bounds(n, N) for n in range(1, 40) for N in (1, 3, 7, 15, 105)]
    table = [depth_bounds(m - 1, 10) for m in (2, 3, 5, 6, 9, 10, 11, 12, 27, 28, 29)]
    return AllHold(
        {
            "signed sums of smaller maxima": _maxima(run, (5, 8, 11)),
            "hidden layers for 8 and 11": Equal(
                [hidden_layers(shallow_terms(m)) for m in (8, 11)], [3, 3]
            ),
            "odd bases: both bounds agree": Equal(sum(not b.is_exact for b in odd), 0),
            "decimal table": Equal(
                [(b.lower, b.upper) for b in table],
                [
                    *((1, 1), (2, 2), (2, 2), (2, 3), (2, 3), (3, 3), (3, 3)),
                    *((3, 4), (3, 4), (4, 4), (4, 4)),
                ],
            ),
        }
    )


@upper_bounds.control("one term of the sum left out")
def _(run: Run) -> Finding:
    return _maxima(run, (8,), drop=1)


@upper_bounds.control("two hidden layers for ten numbers with decimal weights")
def _(run: Run) -> Finding:
    return AtMost(depth_bounds(9, 10).lower, 2)
