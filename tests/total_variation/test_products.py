"""Exact total variation of products: three methods, one value, one event."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theorylab.total_variation import tv_product_exact
from theorylab.total_variation.products import POINT_LIMIT
from theorylab.total_variation.theory_products import identical_coins_tv

METHODS = ("enumeration", "grouped", "meet")


@st.composite
def rows(draw, letters: int) -> tuple[F, ...]:
    weights = draw(st.lists(st.integers(0, 6), min_size=letters, max_size=letters))
    weights[draw(st.integers(0, letters - 1))] += 1
    return tuple(F(w, sum(weights)) for w in weights)


@st.composite
def pairs(draw, coordinates: int = 5):
    """Two products, often nearly equal, sometimes hugely apart in scale."""
    sizes = draw(st.lists(st.integers(1, 3), max_size=coordinates))
    p = [draw(rows(size)) for size in sizes]
    far = [draw(rows(size)) for size in sizes]
    share = F(1, 10 ** draw(st.sampled_from([0, 0, 1, 9, 18, 400])))
    q = [
        tuple((1 - share) * a + share * b for a, b in zip(row, other, strict=True))
        for row, other in zip(p, far, strict=True)
    ]
    return (p, q) if draw(st.booleans()) else (q, p)


def brute_force(P, Q) -> F:
    """Half the sum of |P - Q|, straight from the definition."""
    total = F(0)
    for x in product(*(range(len(row)) for row in P)):
        p = prod((row[a] for row, a in zip(P, x, strict=True)), start=F(1))
        q = prod((row[a] for row, a in zip(Q, x, strict=True)), start=F(1))
        total += abs(p - q)
    return total / 2


@given(pairs())
def test_all_methods_agree_with_the_definition(pair) -> None:
    truth = brute_force(*pair)
    for method in (*METHODS, "auto"):
        assert tv_product_exact(*pair, method).value == truth


@given(pairs(coordinates=4))
def test_the_event_attains_the_distance(pair) -> None:
    P, Q = pair
    value, event = tv_product_exact(P, Q)
    gain = F(0)
    for x in product(*(range(len(row)) for row in P)):
        if event(x):
            gain += prod((row[a] for row, a in zip(P, x, strict=True)), start=F(1))
            gain -= prod((row[a] for row, a in zip(Q, x, strict=True)), start=F(1))
    assert gain == value


@given(pairs())
def test_it_is_symmetric_and_falls_when_a_coordinate_is_dropped(pair) -> None:
    P, Q = pair
    value = tv_product_exact(P, Q).value
    assert tv_product_exact(Q, P).value == value
    assert 0 <= tv_product_exact(P[1:], Q[1:]).value <= value <= 1


@pytest.mark.parametrize("method", METHODS)
def test_by_hand(method: str) -> None:
    """Two coins, 1/2 against 3/4: P - Q is 3/16, 1/16, 1/16, -5/16."""
    P, Q = [(F(1, 2), F(1, 2))] * 2, [(F(1, 4), F(3, 4))] * 2
    assert tv_product_exact(P, Q, method).value == F(5, 16)


def test_many_equal_coins_are_counted_together() -> None:
    """Values of the dossier, and the binomial sum."""
    half, other = [(F(1, 2), F(1, 2))], [("0.47", "0.53")]
    for n, expected in ((200, 0.3284543362606912), (1000, 0.6574323670653628)):
        value = tv_product_exact(half * n, other * n).value
        assert float(value) == expected
        assert value == identical_coins_tv(n, F(1, 2), F(53, 100))


def test_equal_letters_of_one_row_are_merged_by_ratio() -> None:
    """Three letters, two of the same ratio: the same as a coin."""
    P, Q = [(F(1, 4), F(1, 4), F(1, 2))] * 30, [(F(1, 8), F(1, 8), F(3, 4))] * 30
    assert tv_product_exact(P, Q, "grouped").value == identical_coins_tv(30, F(1, 2), F(1, 4))


def test_many_ties_are_settled_exactly() -> None:
    """Ratios p/q and q/p alternate, so most half-points tie with their mirror images."""
    a, b = (F(1, 3), F(2, 3)), (F(2, 3), F(1, 3))
    P, Q = [a, b] * 6, [b, a] * 6
    assert tv_product_exact(P, Q, "meet").value == identical_coins_tv(12, F(1, 3), F(2, 3))


def test_differences_far_below_double_precision_are_seen() -> None:
    tiny = F(1, 10**40)
    P = [(F(1, 2), F(1, 2))] * 14
    Q = [(F(1, 2) - tiny * k, F(1, 2) + tiny * k) for k in range(1, 15)]
    value = tv_product_exact(P, Q, "meet").value
    assert 0 < value == tv_product_exact(P, Q, "enumeration").value < 20 * 14 * tiny


def test_equal_laws_and_the_empty_space_are_at_distance_zero() -> None:
    P = [(F(1, 3), F(2, 3))] * 3
    assert tv_product_exact(P, P).value == 0
    value, event = tv_product_exact([], [])
    assert value == 0
    assert not event(())


def test_disjoint_supports_are_at_distance_one() -> None:
    assert tv_product_exact([(1, 0)] * 3, [(1, 0), (0, 1), (1, 0)]).value == 1


def test_too_many_states_are_refused_with_the_remedy() -> None:
    P = [(F(1, k), 1 - F(1, k)) for k in range(2, 60)]
    Q = [(F(1, k + 1), 1 - F(1, k + 1)) for k in range(2, 60)]
    for method in (*METHODS, "auto"):
        with pytest.raises(ValueError, match=f"more than {POINT_LIMIT}; use tv_product_bracket"):
            tv_product_exact(P, Q, method)


def test_unknown_methods_and_floats_are_refused() -> None:
    coin = [(F(1, 2), F(1, 2))]
    with pytest.raises(ValueError, match="method must be auto, enumeration, grouped, meet"):
        tv_product_exact(coin, coin, "guess")
    with pytest.raises(TypeError, match="float"):
        tv_product_exact([(0.5, 0.5)], coin)


@pytest.mark.parametrize("x", [(0,), (0, 2), (-1, 0), (0, 0, 0)])
def test_the_event_refuses_what_is_no_point(x: tuple[int, ...]) -> None:
    _, event = tv_product_exact([(F(1, 2), F(1, 2))] * 2, [(F(1, 3), F(2, 3))] * 2)
    with pytest.raises(ValueError, match="no point of the space"):
        event(x)
