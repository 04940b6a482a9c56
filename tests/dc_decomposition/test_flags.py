from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from theorylab.dc_decomposition import (
    CPWL,
    Complex,
    DecompositionPolyhedron,
    flag_law,
    local_rule,
    sample_flags,
)
from theorylab.dc_decomposition.examples import phi_terms
from theorylab.dc_decomposition.flags import (
    SECTORS,
    pieces,
    representative,
    sector_crossing,
    sector_pairs,
    vertex_counts,
)


def flag(vectors, sign):
    u1, v1, u2, v2 = vectors
    difference = [tuple(a - b for a, b in zip(u, v, strict=True)) for u, v in ((u1, v1), (u2, v2))]
    complex = Complex.from_arrangement([(p, 0) for p in (u1, v1, u2, v2, *difference)])
    return complex, CPWL.from_terms(complex, phi_terms(u1, v1) + phi_terms(u2, v2, sign))


def test_exact_law() -> None:
    minus, plus = flag_law(-1), flag_law(1)
    assert (minus.dominated, minus.strictly) == (Fraction(3, 8), Fraction(1, 8))
    assert (plus.dominated, plus.strictly, plus.total) == (0, 0, Fraction(3, 4))


def test_probabilities_of_the_sectors() -> None:
    assert sum(p for _, p in SECTORS) == 1
    assert sum(p for *_, p in sector_pairs()) == 1
    angles = [np.degrees(np.arctan2(y, x)) % 360 for (x, y), _ in SECTORS]
    breaks = [0, 45, 90, 180, 225, 270, 360]
    for angle, low, high, (_, p) in zip(angles, breaks, breaks[1:], SECTORS, strict=False):
        assert low < angle < high
        assert p == Fraction(high - low, 360)


def test_pieces_by_euler() -> None:
    """Without a crossing: two fans of three half-planes that share their outer region."""
    assert pieces(3, 3, 0) == 3 + 2
    assert pieces(3, 3, 4) == 3 + 2 + 4 - 1


def test_two_crossing_planes_have_four_pieces() -> None:
    """Two half-planes at each axis make two planes; they cross in one line, that is twice."""
    assert pieces(2, 2, 2) == 4


@pytest.mark.parametrize("sign", [1, -1])
def test_integer_flags_against_exact_enumeration(sign) -> None:
    """Random integer flags: the sampler's verdicts from all vertices of the polyhedron."""
    rng = np.random.default_rng(7 + sign)
    for _ in range(12):
        vectors = rng.integers(-9, 10, (4, 3))
        exact = [tuple(int(c) for c in row) for row in vectors]
        try:
            complex, f = flag(exact, sign)
        except ValueError:
            continue
        if len(complex.cells) != 28:
            continue
        rule = local_rule(complex, f).counts
        others = [v.counts for v in DecompositionPolyhedron(complex, f).vertices()]
        assert len(others) == 4
        sample = sample_flags(vectors.astype(float)[:, :, None], sign)
        g, h = rule
        assert sample.dominated[0] == any(a <= g and b <= h and (a, b) != rule for a, b in others)
        assert sample.strictly[0] == any(a < g and b < h for a, b in others)
        assert sample.total[0] == any(a + b < g + h for a, b in others)


@pytest.mark.parametrize("pair", range(0, 36, 5))
@pytest.mark.parametrize("sign", [1, -1])
def test_representatives_of_sector_pairs(pair, sign) -> None:
    first, second, _ = list(sector_pairs())[pair]
    complex, f = flag(representative(first, second), sign)
    counts = vertex_counts(sector_crossing(first, second), sign)
    found = [v.counts for v in DecompositionPolyhedron(complex, f).vertices()]
    assert Counter(found) == Counter(counts.values())
    assert local_rule(complex, f).counts == counts["local", "local"]


@pytest.mark.parametrize("pair", range(36))
def test_axes_of_the_representatives_lie_in_their_sectors(pair) -> None:
    first, second, _ = list(sector_pairs())[pair]
    u1, v1, u2, v2 = (np.array(v) for v in representative(first, second))
    k1, k2 = np.cross(u1, v1), np.cross(u2, v2)
    for (p, q), (a, b) in (((u1 @ k2, v1 @ k2), first), ((u2 @ k1, v2 @ k1), second)):
        assert p * b == q * a
        assert p * a + q * b > 0


def test_the_sample_does_not_depend_on_scale_or_rotation() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((4, 3, 500))
    rotation, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    plain = sample_flags(vectors, -1)
    turned = sample_flags(3.7 * np.einsum("ij,kjn->kin", rotation, vectors), -1)
    assert (plain.dominated == turned.dominated).all()
    assert (plain.total == turned.total).all()


def test_tensors_give_what_arrays_give() -> None:
    torch = pytest.importorskip("torch")
    vectors = np.random.default_rng(5).standard_normal((4, 3, 300))
    ours, theirs = sample_flags(vectors, 1), sample_flags(torch.as_tensor(vectors), 1)
    assert (ours.total == theirs.total.numpy()).all()


@pytest.mark.parametrize("call", [flag_law, lambda sign: sample_flags(np.ones((4, 3, 1)), sign)])
def test_sign_must_be_a_sign(call) -> None:
    with pytest.raises(ValueError, match="sign"):
        call(0)


@pytest.mark.parametrize("shape", [(3, 3, 5), (4, 2, 5)])
def test_shapes_are_checked(shape) -> None:
    with pytest.raises(ValueError, match="shape"):
        sample_flags(np.ones(shape), 1)
