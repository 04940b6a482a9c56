"""How small a bias can be made, uniformly in the population, and how small it cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import cos, factorial, pi, prod

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Close, Equal, Finding
from theorylab.missing_mass import theory
from theorylab.missing_mass.enumeration import (
    GeneratingFunctions,
    count_vectors,
    expectation,
    mass,
    outcomes,
)
from theorylab.missing_mass.fingerprint import Population
from theorylab.missing_mass.linear import Linear, chebyshev, minimal_bias, with_residue
from theorylab.missing_mass.sampling import random_distribution
from theorylab.run import Run

Distribution = tuple[Fraction, ...]
Exponents = tuple[int, ...]

DERIVED = Source("theorylab", "derived in the chapter")
SKEWED = (Fraction(9, 10), Fraction(1, 10))


def _distributions(run: Run, count: int) -> list[Distribution]:
    rng = run.rng("distributions")
    return [random_distribution(rng, 8) for _ in range(count)]


def _measured_bias(estimator: Linear, p: Distribution, n: int) -> Fraction:
    """Expected estimate minus expected missing mass, by generating functions."""
    functions = GeneratingFunctions(p, n)
    expected = sum(
        (c * functions.expected_frequency(k) for k, c in enumerate(estimator.c, start=1) if c),
        start=Fraction(estimator.c0),
    )
    return Fraction(expected) - functions.expected_mass(0)


# --- truncation ----------------------------------------------------------------------------


def _truncation_pairs(run: Run) -> Iterator[tuple[Fraction, Fraction]]:
    rng, largest = run.rng("sizes"), run.pick(ci=20, paper=60)
    for p in _distributions(run, 60):
        n = int(rng.integers(1, largest + 1))
        functions = GeneratingFunctions(p, n)
        partial, missing = Fraction(0), functions.expected_mass(0)
        coefficients = minimal_bias(n).c
        for K in range(1, n + 1):
            partial += Fraction(coefficients[K - 1]) * functions.expected_frequency(K)
            yield partial - missing, Fraction(theory.truncated_bias(p, n, K))


def _bound_touched_once(n: int, K: int) -> tuple[int, int, int]:
    r"""Number of roots in [0, 1] of bound - x^K (1-x)^(n-K), and its signs at the ends.

    Counted by Sturm's theorem in exact arithmetic. One root, in the inside, of a polynomial that
    is positive at both ends means that the bound holds on [0, 1] if the root is double, which
    the maximum at K/n makes it.
    """
    import sympy

    x = sympy.symbols("x")
    bound = sympy.Rational(*theory.truncated_bias_bound(n, K).as_integer_ratio())
    gap = sympy.Poly(bound - x**K * (1 - x) ** (n - K), x, domain="QQ")
    double = gap.gcd(gap.diff(x)).eval(sympy.Rational(K, n)) == 0
    ends = [Fraction(str(gap.eval(end))) for end in (0, 1)]
    return int(gap.count_roots(0, 1)), sum(end > 0 for end in ends), int(double)


def _attained() -> Equal:
    cases = [(n, K) for n in range(2, 13) for K in range(1, n + 1) if n % K == 0]
    measured = [abs(_measured_bias(minimal_bias(n, K), _flat(n // K), n)) for n, K in cases]
    return Equal(measured, [theory.truncated_bias_bound(n, K) for n, K in cases])


def _flat(classes: int) -> Distribution:
    return (Fraction(1, classes),) * classes


def _worst_against_two_to_minus_n(run: Run, terms_for: dict[int, int]) -> AtMost:
    """Largest |bias B_K| * 2^n over random distributions and a skewed one."""
    worst = max(
        2**n * abs(_measured_bias(minimal_bias(n, K), p, n))
        for n, K in terms_for.items()
        for p in (*_distributions(run, 20), SKEWED, _flat(2))
    )
    return AtMost(worst, 1)


@claim(
    "missing_mass.truncation",
    statement=r"""The minimal-bias estimator stopped after $K$ terms has
$\mathrm{bias}(B_K)=-(-1)^K\sum_xp_x^{K+1}(1-p_x)^{n-K}$, hence, whatever $p$,
$|\mathrm{bias}(B_K)|\le(\frac Kn)^K(1-\frac Kn)^{n-K}$, attained by the uniform on $n/K$ classes
where that is a whole number. With $K=n/2$ the bias is at most $2^{-n}$ *uniformly in $p$*.""",
    source=DERIVED,
    evidence="exact",
    uses=["missing_mass.identity"],
)
def truncation(run: Run) -> Finding:
    equal = [a == b for a, b in _truncation_pairs(run)]
    inner = [(n, K) for n in (2, 5, 9, 14, 20) for K in range(1, n)]
    return AllHold(
        {
            "bias for every K": Equal(sum(equal), len(equal)),
            "bound touched once, at K/n": Equal(
                [_bound_touched_once(n, K) for n, K in inner], [(1, 2, 1)] * len(inner)
            ),
            "attained by the uniform": _attained(),
            "2^n times the worst bias at K = n/2": _worst_against_two_to_minus_n(
                run, {n: n // 2 for n in (2, 4, 10, 16, 20)}
            ),
        }
    )


@truncation.control("not truncated: K = n")
def _(run: Run) -> Finding:
    return _worst_against_two_to_minus_n(run, {n: n for n in (2, 4, 10, 16, 20)})


# --- no-unbiased-estimator -----------------------------------------------------------------


def _monomials(classes: int, degree: int) -> list[Exponents]:
    return list(count_vectors(degree, classes))


def _expected_mass_form(classes: int, n: int) -> dict[Exponents, Fraction]:
    r"""Coefficients of :math:`\sum_x p_x (e_1 - p_x)^n`, degree n + 1 on the simplex."""
    form: dict[Exponents, Fraction] = {}
    for x in range(classes):
        for others in count_vectors(n, classes - 1) if classes > 1 else []:
            exponents = (*others[:x], 1, *others[x:])
            ways = factorial(n) // prod(factorial(c) for c in others)
            form[exponents] = form.get(exponents, Fraction(0)) + ways
    return form


def _unbiased_estimator(classes: int, n: int, draws: int) -> dict[Exponents, Fraction] | None:
    r"""A function of the counts of ``draws`` draws that is unbiased for E M(n), if there is one.

    The expectation of h over draws is the form :math:`\sum_c h(c) \binom{m}{c} p^c`; times the
    right power of :math:`e_1 = \sum p_x` it has to equal that of the expected missing mass. A
    linear system, solved over the rationals.
    """
    from theorylab.exact.matrices import solve

    degree = max(draws, n + 1)
    unknowns = _monomials(classes, draws)
    equations = {exponents: row for row, exponents in enumerate(_monomials(classes, degree))}
    matrix = [[Fraction(0)] * len(unknowns) for _ in equations]
    for column, counts in enumerate(unknowns):
        ways = factorial(draws) // prod(factorial(c) for c in counts)
        for extra in count_vectors(degree - draws, classes):
            more = factorial(degree - draws) // prod(factorial(c) for c in extra)
            target = tuple(a + b for a, b in zip(counts, extra, strict=True))
            matrix[equations[target]][column] += ways * more
    right = [Fraction(0)] * len(equations)
    for exponents, value in _times_total(_expected_mass_form(classes, n), degree - n - 1).items():
        right[equations[exponents]] = value
    found = solve(matrix, right, len(unknowns))
    return None if found is None else dict(zip(unknowns, map(Fraction, found), strict=True))


def _times_total(form: dict[Exponents, Fraction], power: int) -> dict[Exponents, Fraction]:
    """A form times a power of the sum of the variables."""
    for _ in range(power):
        product: dict[Exponents, Fraction] = {}
        for exponents, value in form.items():
            for x in range(len(exponents)):
                raised = (*exponents[:x], exponents[x] + 1, *exponents[x + 1 :])
                product[raised] = product.get(raised, Fraction(0)) + value
        form = product
    return form


def _exists(classes: int, n: int, draws: int) -> int:
    return int(_unbiased_estimator(classes, n, draws) is not None)


def _residue_terms(classes: int, n: int) -> int:
    r"""Number of terms of :math:`\sum p_x(e_1-p_x)^n - (-1)^n \sum p_x^{n+1}` modulo e_1.

    Zero says that the paper's remainder is the residue; sympy divides.
    """
    import sympy

    p = sympy.symbols(f"p1:{classes + 1}")
    total = sum(p)
    form = sum(x * (total - x) ** n for x in p) - (-1) ** n * sum(x ** (n + 1) for x in p)
    _, residue = sympy.reduced(sympy.expand(form), [total], *p)
    return len(sympy.Poly(residue, *p).terms()) if residue != 0 else 0


def _mean_error_of_found(n: int) -> Fraction:
    """Bias, at two classes and even n, of the unbiased estimator that the system yields."""
    found = _unbiased_estimator(2, n, n)
    assert found is not None
    p = (Fraction(2, 7), Fraction(5, 7))
    return expectation(outcomes(p, n), lambda counts: found[counts] - mass(p, counts))


def _none_exists(sizes: Sequence[tuple[int, int]], more_draws: int = 0) -> Equal:
    """How many of the problems (classes, n) have an unbiased estimator, against none."""
    return Equal(sum(_exists(classes, n, n + more_draws) for classes, n in sizes), 0)


THREE_CLASSES = tuple((3, n) for n in range(1, 9))


@claim(
    "missing_mass.no-unbiased-estimator",
    statement=r"""For $S\ge3$ classes, even if $S$ is known, no function whatever of $n\ge1$ i.i.d.
draws is unbiased for $\mathbb E M(n)$: with $e_1=\sum_xp_x$, unbiasedness asks that $e_1$ divide
$\sum_xp_x(e_1-p_x)^n\equiv(-1)^n\sum_xp_x^{n+1}\pmod{e_1}$, which is not zero. The paper's
remainder is precisely this residue. For $S=2$ it vanishes when $n$ is even, and there unbiased
estimators exist.""",
    source=DERIVED,
    evidence="exact",
    uses=["missing_mass.identity"],
)
def no_unbiased_estimator(run: Run) -> Finding:
    two_classes = [(2, n) for n in range(1, 9)]
    more_classes = [(4, n) for n in range(1, 6)] + [(5, n) for n in range(1, 4)]
    return AllHold(
        {
            "three classes, n = 1..8": _none_exists(THREE_CLASSES),
            "four and five classes": _none_exists(more_classes),
            "two classes: exactly the odd n have none": Equal(
                [1 - _exists(*size, size[1]) for size in two_classes],
                [int(theory.no_unbiased_estimator(*size)) for size in two_classes],
            ),
            "the residue is the remainder": Equal(
                [_residue_terms(s, n) for s, n in (*THREE_CLASSES, (2, 4), (4, 3))], [0] * 10
            ),
            "bias of the estimator found for S = 2, n = 4": Equal(_mean_error_of_found(4), 0),
        }
    )


@no_unbiased_estimator.control("two classes")
def _(run: Run) -> Finding:
    return _none_exists([(2, n) for n in range(1, 9)])


@no_unbiased_estimator.control("one draw more than the missing mass refers to (Robbins)")
def _(run: Run) -> Finding:
    return _none_exists(THREE_CLASSES[:5], more_draws=1)


# --- chebyshev -----------------------------------------------------------------------------

FIRST_COEFFICIENTS = (0.1249962, -0.0355824, 0.0167994, -0.0099483)


def _extremal_points(degree: int) -> list[Fraction]:
    """Rational neighbours of the extremal points of the Chebyshev polynomial on [0, 1]."""
    points = [(1 + cos(pi * j / degree)) / 2 for j in range(degree + 1)]
    return [Fraction(round(x * 10**9), 10**9) for x in points]


def _hard_distributions(n: int) -> list[Distribution]:
    """(a, (1-a)/2, (1-a)/2) at the extremal points inside (0, 1)."""
    inside = [a for a in _extremal_points(n + 1) if 0 < a < 1]
    return [(a, (1 - a) / 2, (1 - a) / 2) for a in inside]


def _linear_bias(estimator: Linear, p: Distribution, n: int) -> Fraction:
    """Bias from the definition of E Phi_k and E M; the sum runs over the coefficients."""
    population = Population(p)
    expected = sum(
        (c * theory.expected_frequency(population, n, k) for k, c in enumerate(estimator.c, 1)),
        start=Fraction(0),
    )
    return Fraction(expected - theory.expected_mass(population, n))


def _within_bound(run: Run, polynomial_for: dict[int, Linear]) -> AtMost:
    """Largest |bias| / 2^(1-2n) of the estimators over random and hard distributions."""
    worst = max(
        abs(_linear_bias(estimator, p, n)) / theory.chebyshev_bias_bound(n)
        for n, estimator in polynomial_for.items()
        for p in (*_distributions(run, 60), *_hard_distributions(n), SKEWED)
    )
    return AtMost(worst, 1)


def _certified_floor(n: int) -> Fraction:
    r"""Exact lower bound on the worst-case |bias| of any function of n draws.

    A divided difference over n + 2 points a annihilates all polynomials of degree n, so also
    whatever the estimator contributes on (a, (1-a)/2, (1-a)/2); of the bias only E M remains.
    """
    points = _extremal_points(n + 1)
    weights = [1 / prod((a - b for b in points if b != a), start=Fraction(1)) for a in points]
    for degree in range(n + 1):
        if sum((w * a**degree for w, a in zip(weights, points, strict=True)), Fraction(0)):
            raise ArithmeticError(f"the divided difference does not annihilate a^{degree}")
    seen = sum(
        (w * _three_class_mass(a, n) for w, a in zip(weights, points, strict=True)), Fraction(0)
    )
    return abs(seen) / sum((abs(w) for w in weights), Fraction(0))


def _three_class_mass(a: Fraction, n: int) -> Fraction:
    return a * (1 - a) ** n + (1 - a) * ((1 + a) / 2) ** n


def _coefficients_of_eight() -> AllHold:
    estimator = chebyshev(8)
    return AllHold(
        {
            "first four": Close(estimator.coefficients[:4], FIRST_COEFFICIENTS, atol=5e-8),
            "last, against -1 for B": Equal(estimator.c[-1], Fraction(-1, 2**15)),
        }
    )


@claim(
    "missing_mass.chebyshev",
    statement=r"""Let $\tau$ be the monic Chebyshev polynomial of degree $n$ on $[0,1]$. The linear
estimator with $\sum_kc_k\binom nkq^k(1-q)^{n-k}=q(1-q)^n-(-1)^nq\,\tau(q)$ has bias
$-(-1)^n\sum_xp_x\tau(p_x)$, at most $2^{1-2n}$ in absolute value *for every distribution*. No
function of the $n$ draws does better than $(1-2^{-n})\,2^{-2n-1}$ in the worst case over three
classes or more, so it is optimal within a factor of about 4.""",
    source=DERIVED,
    evidence="exact",
    uses=["missing_mass.no-unbiased-estimator"],
)
def bounded_bias(run: Run) -> Finding:
    sizes = (1, 2, 3, 5, 8, 13, 20, run.pick(ci=30, paper=60))
    estimators = {n: chebyshev(n) for n in sizes}
    biases = [
        _linear_bias(estimator, p, n) == theory.chebyshev_bias(p, n)
        for n, estimator in estimators.items()
        for p in _distributions(run, 20)
    ]
    floors = {n: _certified_floor(n) for n in range(1, 13)}
    almost_one = Fraction(999_999, 1_000_000)
    return AllHold(
        {
            "coefficients for n = 8": _coefficients_of_eight(),
            "bias is the Chebyshev sum": Equal(sum(biases), len(biases)),
            "worst bias in units of 2^(1-2n)": _within_bound(run, estimators),
            "certified floor in units of (1-2^-n) 2^(-2n-1)": AtLeast(
                [floor / theory.bias_lower_bound(n) for n, floor in floors.items()], almost_one
            ),
            "bound over certified floor": AtMost(
                [theory.chebyshev_bias_bound(n) / floor for n, floor in floors.items()],
                [4 / (1 - Fraction(1, 2**n)) / almost_one for n in floors],
            ),
        },
        sizes={"largest n": max(sizes)},
    )


@bounded_bias.control("Chebyshev's polynomial replaced by the monomial: minimal bias again")
def _(run: Run) -> Finding:
    sizes = (2, 3, 5, 8, 13, 20)
    return _within_bound(
        run, {n: with_residue(n, [Fraction(0)] * n + [Fraction(1)]) for n in sizes}
    )
