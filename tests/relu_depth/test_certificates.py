"""Denominators prime by prime, published certificates, the verifier against direct summation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from theorylab.relu_depth import (
    Block,
    Certificate,
    forced_prime_certificate,
    orbit_system,
    proves_forced,
    published_certificate,
    q_denominator,
    solve_max,
    verify_certificate,
)
from theorylab.relu_depth.denominators import generated
from theorylab.relu_depth.published import from_json, to_json


def brute_force_denominator(A, b, q, most=4):
    """Least e with q^e b an integer combination of the columns over Z_(q), by clearing units."""
    for e in range(most):
        for x in product(range(-6, 7), repeat=A.shape[1]):
            for unit in range(1, 6):
                if unit % q and (A @ np.array(x) == unit * q**e * b).all():
                    return e
    return None


@pytest.mark.parametrize(
    ("A", "b", "q", "e"),
    [
        ([[2]], [1], 2, 1),
        ([[2]], [1], 3, 0),
        ([[2, 3]], [1], 2, 0),
        ([[4, 6]], [1], 2, 1),
        ([[4, 0], [0, 2]], [1, 1], 2, 2),
        ([[2, 1], [0, 2]], [1, 1], 2, 2),
        ([[9, 3]], [1], 3, 1),
    ],
)
def test_denominators_of_small_systems(A, b, q, e):
    A, b = np.array(A), np.array(b)
    assert q_denominator(A, b, q)[0] == e
    assert brute_force_denominator(A, b, q) == e


def test_valuations_are_those_of_the_elementary_divisors():
    assert q_denominator(np.array([[2, 4], [4, 2]]), np.array([2, 2]), 2)[1] == (1, 1)
    assert q_denominator(np.array([[1, 0], [0, 8]]), np.array([1, 0]), 2)[1] == (0, 3)


def test_denominators_refuse_what_they_cannot_do():
    with pytest.raises(ValueError, match="rational span"):
        q_denominator(np.array([[1], [0]]), np.array([0, 1]), 2)
    with pytest.raises(ValueError, match="prime, got 4"):
        q_denominator(np.array([[1]]), np.array([1]), 4)
    with pytest.raises(ArithmeticError, match="precision"):
        q_denominator(np.array([[2**31]]), np.array([2**31]), 2)


def test_a_forced_prime_is_proved_and_an_unforced_one_is_not():
    A, b = np.array([[2, 4], [0, 2]]), np.array([1, 0])
    y = forced_prime_certificate(A, b, 2)
    assert y is not None
    assert proves_forced(y, A, b, 2)
    assert not proves_forced([0, 1], A, b, 2)
    assert forced_prime_certificate(A, b, 3) is None


def test_groups_are_generated():
    assert len(generated([(1, 2, 0)])) == 3
    assert len(generated([(1, 2, 3, 4, 0), (1, 0, 2, 3, 4)])) == 120
    with pytest.raises(ValueError, match="no permutation"):
        generated([(0, 0, 1)])
    with pytest.raises(ValueError, match="at least one generator"):
        generated([])
    with pytest.raises(ValueError, match="moves 3 numbers, n is 4"):
        orbit_system(4, 1, [(1, 2, 0)])


def test_a_column_of_the_trivial_group_is_one_block():
    """The system of n = 3, k = 1 without averaging: values at points, block by block."""
    equations = orbit_system(3, 1, [(0, 1, 2)])
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    assert equations.matrix.shape[1] == len(pairs) * (len(pairs) + 1) // 2
    assert equations.group_order == 1
    assert q_denominator(equations.matrix, equations.right, 2)[0] == 0


@pytest.mark.parametrize("n", [5, 6, 7])
def test_published_certificates_are_valid(n):
    stored = published_certificate(n)
    found = verify_certificate(stored)
    assert found
    assert found.linear == (*(0,) * (n - 1), 1)
    assert to_json(from_json(stored))["terms"] == [
        {**term, "left": tuple(map(tuple, term["left"])), "right": tuple(map(tuple, term["right"]))}
        for term in stored["terms"]
    ]


def test_a_published_certificate_is_the_maximum_at_points():
    """Direct summation over all permutations: the definition."""
    certificate = from_json(published_certificate(5))
    rng = np.random.default_rng(0)
    for x in rng.integers(-9, 10, (3, 5)).tolist():
        total = sum(
            (c * block([x[i] for i in sigma]) for c, block in certificate.terms
             for sigma in permutations(range(5))),
            Fraction(0),
        )  # fmt: skip
        assert total == max(x)


@pytest.mark.parametrize("n", [5, 6, 7])
def test_a_spoilt_certificate_is_not(n):
    certificate = from_json(published_certificate(n))
    for number in range(0, len(certificate.terms), 1 + len(certificate.terms) // 8):
        c, block = certificate.terms[number]
        terms = (
            *certificate.terms[:number],
            (c + Fraction(1, 10**9), block),
            *certificate.terms[number + 1 :],
        )
        assert not verify_certificate(replace(certificate, terms=terms))


def test_what_the_solver_finds_the_verifier_accepts():
    found = solve_max(4, 1 + 1)
    assert verify_certificate(found)


def test_the_verifier_refuses_what_is_no_certificate():
    with pytest.raises(ValueError, match=r"indices must lie in 0\.\.2"):
        verify_certificate(Certificate(3, ((Fraction(1), Block(((0, 3),), ((1, 1),))),)))
    uneven = {"n": 3, "terms": [{"coefficient": "1", "left": [[0, 1]], "right": []}]}
    with pytest.raises(ValueError, match="same number of pairs"):
        verify_certificate(uneven)
    with pytest.raises(ValueError, match="published for n in"):
        published_certificate(9)


def test_one_block_alone_leaves_its_hinge():
    found = verify_certificate(
        Certificate(3, ((Fraction(1), Block(((0, 0), (1, 1)), ((2, 2), (2, 2)))),))
    )
    assert not found
    assert found.hinges
