"""The equivalence engines against enumeration, known values and each other."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.total_variation import (
    ProductMixture,
    check_equivalence,
    modular_engine,
    moment_pair,
    padded_moment_pair,
    parity_pair,
    split_pair,
    tv_exact_mixture,
    verify_certificate,
    verify_witness,
)
from theorylab.total_variation.equivalence import ENGINES
from theorylab.total_variation.generators import nudge, random_mixture
from theorylab.total_variation.layers import StackedPair
from theorylab.total_variation.mixture_suite import mixture_suite
from theorylab.total_variation.modular_engine import (
    RationalLift,
    ResiduePair,
    primes_below,
    rational_reconstruction,
    residue_chain,
    sufficient_primes,
)
from theorylab.total_variation.theory import moment_pointwise_gap

HALF = F(1, 2)
engines = pytest.mark.parametrize("engine", list(ENGINES))


def coins(p, n: int) -> ProductMixture:
    return ProductMixture((1,), (((1 - F(p), F(p)),) * n,))


@st.composite
def pairs(draw):
    """Small pairs on a common space: mixed alphabets, zeros, duplicates, idle components."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=0, max_size=4))

    def law(size):
        parts = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(any))
        return tuple(F(part, sum(parts)) for part in parts)

    def mixture():
        k = draw(st.integers(1, 3))
        rows = [tuple(law(size) for size in sizes) for _ in range(k)]
        if draw(st.booleans()):
            rows.append(rows[0])
        return ProductMixture(law(len(rows)), tuple(rows))

    P = mixture()
    Q = P.permute(list(reversed(range(P.n_components)))) if draw(st.booleans()) else mixture()
    return P, Q


@engines
@settings(max_examples=80)
@given(pairs())
def test_verdict_agrees_with_enumeration(engine, pair):
    P, Q = pair
    result = check_equivalence(P, Q, engine=engine)
    assert result.equal == (tv_exact_mixture(P, Q) == 0)
    if result.equal:
        assert result.witness is None
        assert verify_certificate(P, Q, result.certificate)
    else:
        assert result.certificate is None
        assert result.p_value_at_witness == P.probability(result.witness)
        assert result.q_value_at_witness == Q.probability(result.witness)
        assert verify_witness(P, Q, result.witness)


def test_engines_agree_on_everything_they_compute():
    for pair in mixture_suite(np.random.default_rng(3), 60):
        results = [
            check_equivalence(pair.P, pair.Q, engine=engine, stop_early=False) for engine in ENGINES
        ]
        first = results[0]
        for other in results[1:]:
            assert other.equal == first.equal
            assert other.certificate == first.certificate
            assert other.ranks == first.ranks
            assert other.active == first.active
            assert other.max_bits == first.max_bits


def test_the_papers_sanity_example():
    P = ProductMixture((HALF, HALF), (((F(1, 3), F(2, 3)),), ((F(2, 3), F(1, 3)),)))
    assert check_equivalence(P, coins(HALF, 1)).equal
    assert not check_equivalence(P, coins(F(51, 100), 1)).equal


@engines
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 20])
def test_moment_pairs_differ_by_the_closed_form_and_need_every_coordinate(engine, n):
    P, Q = moment_pair(n)
    result = check_equivalence(P, Q, engine=engine, stop_early=False)
    assert abs(result.p_value_at_witness - result.q_value_at_witness) == moment_pointwise_gap(n)
    assert result.active == tuple(range(n))
    assert result.ranks == tuple(range(1, n + 2))
    shortened = [side.marginal(range(n - 1)) for side in (P, Q)]
    assert check_equivalence(*shortened, engine=engine).equal


@pytest.mark.parametrize(("n", "bits"), [(20, 26), (40, 55), (60, 88)])
def test_bits_of_the_echelon_rows_of_moment_pairs(n, bits):
    shortened = [side.marginal(range(n - 1)) for side in moment_pair(n)]
    assert check_equivalence(*shortened).max_bits == bits


@engines
def test_parity_pair(engine):
    result = check_equivalence(*parity_pair(4), engine=engine)
    assert not result.equal
    assert abs(result.p_value_at_witness - result.q_value_at_witness) == F(1, 8)


@engines
def test_trivial_spaces_are_equal(engine):
    P, Q = ProductMixture((1,), ((),)), ProductMixture((HALF, HALF), ((), ()))
    result = check_equivalence(P, Q, engine=engine)
    assert result.equal
    assert result.ranks == (1,)
    one_letter = ProductMixture((1,), (((1,), (1,)),))
    assert check_equivalence(one_letter, one_letter, engine=engine).active == ()


@engines
def test_zero_weight_components_do_not_count(engine):
    P = ProductMixture((1, 0), (((HALF, HALF),), ((1, 0),)))
    assert check_equivalence(P, coins(HALF, 1), engine=engine).equal


@engines
def test_early_exit_stops_at_the_first_differing_layer(engine):
    first_bit = (F(1, 3), F(2, 3))
    P = ProductMixture((1,), ((first_bit,) + ((HALF, HALF),) * 9,))
    result = check_equivalence(P, coins(HALF, 10), engine=engine)
    assert len(result.ranks) == 2
    whole = check_equivalence(P, coins(HALF, 10), engine=engine, stop_early=False)
    assert len(whole.ranks) == 11
    assert whole.active == (0,)


def test_a_float_is_not_its_decimal():
    """3/10 and the double 0.3 differ by 1.1e-17, and so do the coins."""
    result = check_equivalence(coins(F(3, 10), 4), coins(F(0.3), 4))
    assert not result.equal


@engines
def test_a_difference_of_1e_30_in_one_row_is_found(engine):
    P, Q = split_pair(np.random.default_rng(5), 4, 4, 12, 3)
    assert check_equivalence(P, Q, engine=engine).equal
    i = next(i for i, weight in enumerate(Q.weights) if weight)
    source = next(a for a, value in enumerate(Q.rows[i][7]) if value)
    moved = nudge(Q, i, 7, F(1, 10**30), ((source + 1) % 3, source))
    assert not check_equivalence(P, moved, engine=engine).equal


def test_certificate_can_be_left_out_but_is_checked_all_the_same():
    P, Q = padded_moment_pair(5, 6)
    result = check_equivalence(P, Q, certificate=False)
    assert result.equal
    assert result.certificate is None


def test_only_the_reference_engine_counts():
    P, Q = padded_moment_pair(8, 24, 3)
    assert check_equivalence(P, Q, engine="fraction").field_operations == 6606
    assert check_equivalence(P, Q, engine="flint").field_operations is None


def test_bad_arguments():
    with pytest.raises(ValueError, match="engine is 'sympy'"):
        check_equivalence(coins(HALF, 1), coins(HALF, 1), engine="sympy")
    with pytest.raises(ValueError, match="P has alphabet sizes"):
        check_equivalence(coins(HALF, 1), coins(HALF, 2))
    with pytest.raises(TypeError, match="Q must be a ProductMixture"):
        check_equivalence(coins(HALF, 1), [0.5, 0.5])


def test_long_strings_and_many_components_fit_into_memory():
    import tracemalloc

    P, Q = split_pair(np.random.default_rng(0), 8, 8, 500, 2)
    tracemalloc.start()
    result = check_equivalence(P, Q)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.equal
    assert len(result.active) <= 31
    assert peak < 50 * 2**20


def test_a_difference_at_the_end_of_a_long_string_is_found_by_all_fast_engines():
    rng = np.random.default_rng(1)
    P, Q = split_pair(rng, 4, 4, 1500, 2)
    i = next(i for i, weight in enumerate(Q.weights) if weight)
    source = next(a for a, value in enumerate(Q.rows[i][1490]) if value)
    moved = nudge(Q, i, 1490, F(1, 10**30), (1 - source, source))
    for engine in ("flint", "modular"):
        result = check_equivalence(P, moved, engine=engine)
        assert not result.equal
        assert len(result.ranks) == 1492
        assert verify_witness(P, moved, result.witness)


@pytest.mark.parametrize("value", [F(0), F(1), F(-3, 7), F(1234567, 7654321), F(-(10**9), 3)])
def test_rational_reconstruction_inverts_reduction(value):
    primes = [p for p, _ in zip(primes_below(2**31), range(3), strict=False)]
    residues = tuple(value.numerator * pow(value.denominator, -1, p) % p for p in primes)
    lift = RationalLift(primes)
    assert lift(residues) == value
    assert lift(residues) == value


def test_reconstruction_fails_rather_than_guess_when_parts_are_too_long():
    prime = next(primes_below(2**31))
    value = F(10**9, 999999937)
    residue = value.numerator * pow(value.denominator, -1, prime) % prime
    found = rational_reconstruction(residue, prime)
    assert found is None or max(abs(found.numerator), found.denominator) <= 2**15


def test_primes_are_prime_and_fall():
    found = [p for p, _ in zip(primes_below(100), range(5), strict=False)]
    assert found == [97, 89, 83, 79, 73]


def test_a_prime_that_divides_a_denominator_is_skipped():
    prime = next(primes_below(2**31))
    P = ProductMixture((1,), (((F(1, prime), 1 - F(1, prime)),),))
    Q = ProductMixture((1,), (((F(2, prime), 1 - F(2, prime)),),))
    assert ResiduePair(StackedPair(P, Q)).modulo(prime) is None
    assert not check_equivalence(P, Q, engine="modular").equal
    assert check_equivalence(P, P, engine="modular").equal


def test_a_difference_that_vanishes_modulo_the_first_primes_is_still_found():
    first, second = (p for p, _ in zip(primes_below(2**31), range(2), strict=False))
    big = first * second
    P, Q = coins(F(1, 3), 2), coins(F(1, 3) + F(big, 3 * 10**40), 2)
    for prime in (first, second):
        coefficients, diagonals = ResiduePair(StackedPair(P, Q)).modulo(prime)
        assert residue_chain(coefficients, diagonals, prime, True).found_after is None
    result = check_equivalence(P, Q, engine="modular")
    assert not result.equal
    assert verify_witness(P, Q, result.witness)


def test_unlucky_primes_are_outvoted():
    """Two rows agree modulo the first prime only; the rank is lost there, not in the answer."""
    prime = next(primes_below(2**31))
    near = F(1, 3) + F(prime, 3 * 10**12)
    rows = (((F(2, 3), F(1, 3)),), ((1 - near, near),))
    P, Q = ProductMixture((HALF, HALF), rows), ProductMixture((HALF, HALF), rows[::-1])
    assert check_equivalence(P, Q, engine="modular").ranks == (1, 2)


def test_a_prime_that_moves_a_pivot_is_outvoted():
    """The first two components agree modulo one prime: same rank there, a later pivot."""
    unlucky, good = (p for p, _ in zip(primes_below(2**31), range(2), strict=False))
    near = F(1, 3) + F(unlucky, 3 * 10**12)
    rows = tuple(((1 - p, p),) for p in (F(1, 3), near, F(1, 5)))
    thirds = (F(1, 3),) * 3
    P, Q = ProductMixture(thirds, rows), ProductMixture(thirds, rows[::-1])
    residues = ResiduePair(StackedPair(P, Q))
    moved, right = (
        residue_chain(*residues.modulo(prime), prime, False) for prime in (unlucky, good)
    )
    assert moved.ranks == right.ranks == (1, 2)
    assert [layer.pivots for layer in moved.layers] == [(0,), (0, 2)]
    assert [layer.pivots for layer in right.layers] == [(0,), (0, 1)]
    assert right.profile > moved.profile
    assert check_equivalence(P, Q, engine="modular").certificate.layers == (
        check_equivalence(P, Q, engine="fraction").certificate.layers
    )


def test_random_unrelated_pairs_are_different():
    rng = np.random.default_rng(2)
    for _ in range(20):
        P, Q = (random_mixture(rng, 3, (3, 3, 2)) for _ in range(2))
        assert check_equivalence(P, Q).equal == (tv_exact_mixture(P, Q) == 0)


def test_the_modular_engine_gives_up_rather_than_search_for_ever(monkeypatch):
    """Were no proposal ever verified, the primes would still run out."""
    P, Q = padded_moment_pair(5, 6)
    pair = StackedPair(P, Q)
    assert len(list(modular_engine.propose(pair, True))) >= 1
    monkeypatch.setattr("theorylab.total_variation.equivalence.certificate_fault", lambda *_: "no")
    for engine in ENGINES:
        with pytest.raises(ArithmeticError, match="no proposal"):
            check_equivalence(P, Q, engine=engine)


@pytest.mark.parametrize("seed", range(5))
def test_the_stated_number_of_primes_suffices(seed):
    P, Q = split_pair(np.random.default_rng(seed), 3, 3, 6, 3)
    pair = StackedPair(P, Q)
    residues = ResiduePair(pair)
    prime = next(primes_below(2**31))
    needed = sufficient_primes(pair, residue_chain(*residues.modulo(prime), prime, True))
    bits = check_equivalence(P, Q).max_bits
    assert 30 * needed >= 2 * bits + 1
