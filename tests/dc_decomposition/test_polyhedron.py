from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.dc_decomposition import (
    CPWL,
    Certificate,
    Complex,
    Decomposition,
    DecompositionPolyhedron,
    EmptyDecomposition,
    decompose,
    direct_sum,
    integrate,
    pareto,
    reduce,
)
from theorylab.dc_decomposition.examples import (
    STAR,
    five_planes,
    linear,
    median_of_three,
    phi_terms,
    random_convex,
    random_fan,
    random_function,
    random_set_function,
    six_planes,
    standard_example,
    twisted_triangles,
)
from theorylab.dc_decomposition.faces import all_faces, decompositions_at
from theorylab.dc_decomposition.floating import float_generators
from theorylab.exact import BACKENDS, rank

seeds = st.integers(0, 2**32 - 1)


def polyhedron_of(f: CPWL) -> DecompositionPolyhedron:
    return DecompositionPolyhedron(f.complex, f)


def random_polyhedron(seed: int) -> DecompositionPolyhedron:
    rng = np.random.default_rng(seed)
    return polyhedron_of(random_function(random_fan(rng, int(rng.integers(4, 8))), rng))


def counts(f: CPWL) -> list[tuple[int, int]]:
    return sorted(dec.counts for dec in polyhedron_of(f).vertices())


def by_ray(dec: Decomposition) -> dict:
    rays = dec.f.complex.rays  # type: ignore[attr-defined]
    return {ray: w for ray, w in zip(rays, dec.w_g, strict=True) if w}


def test_the_two_vertices_of_the_standard_example() -> None:
    """w_f^+ plus the ray u = (-1,-1), or plus the two rays that span it."""
    _, f = standard_example()
    found = {dec.counts: by_ray(dec) for dec in polyhedron_of(f).vertices()}
    positive = {(1, 1): 2, (-1, 0): 1, (0, -1): 1}
    assert found == {
        (4, 3): positive | {(-1, -1): 1},
        (3, 4): positive | {(-1, 0): 2, (0, -1): 2},
    }
    three = next(d for d in polyhedron_of(f).vertices() if d.counts == (3, 4))
    doubled = CPWL.from_terms(f.complex, [(2, [linear((0, 0)), linear((1, 0)), linear((0, 1))])])
    assert three.g.weights == doubled.weights


def test_the_four_vertices_on_eight_rays() -> None:
    fan = Complex.from_fan2d([*STAR, (2, 1), (-2, -1)])
    hinge = (-1, [linear((0, 0)), linear((1, -2))])
    f = CPWL.from_terms(fan, [*phi_terms((1, 0), (0, 1)), hinge])
    assert counts(f) == [(3, 6), (4, 5), (4, 5), (5, 4)]


def test_the_median_has_one_vertex_with_three_and_three_pieces() -> None:
    _, f = median_of_three()
    (dec,) = polyhedron_of(f).vertices()
    assert dec.counts == (3, 3)
    for point in [(1, 2), (-3, 5), (Fraction(7, 3), -1)]:
        g, h = (
            max(sum(a * x for a, x in zip(slope, point, strict=True)) + b for slope, b in forms)
            for forms in dec.as_max()
        )
        assert g - h == sorted((0, *point))[1]


def test_one_dimension_always_has_the_one_vertex() -> None:
    points = Complex.from_arrangement([((1,), b) for b in (-2, 0, 3)])
    f = integrate(points, (2, -1, -3))
    (dec,) = polyhedron_of(f).vertices()
    assert dec.w_g == (2, 0, 0)
    assert dec.counts == (2, 3)


def test_six_planes_and_products() -> None:
    assert counts(six_planes()[1]) == [(9, 14), (11, 11), (12, 12), (14, 9)]
    fan, phi = standard_example()
    line = Complex.from_arrangement([((1,), 0)])
    total = direct_sum(Complex.product(fan, line), phi, integrate(line, [2]))
    assert counts(total) == [(6, 4), (8, 3)]


def test_four_dimensions_with_both_signs() -> None:
    """phi_3(x1,x2) -+ phi_3(x3,x4): the Pareto sets that the book prints."""
    fan = Complex.from_fan2d([*STAR, (2, 1), (-2, -1)])
    hinge = (-1, [linear((0, 0)), linear((1, -2))])
    phi3 = CPWL.from_terms(fan, [*phi_terms((1, 0), (0, 1)), hinge])
    both = Complex.product(fan, fan)
    minus, plus = direct_sum(both, phi3, -phi3), direct_sum(both, phi3, phi3)
    assert (len(both.cells), len(both.walls), both.weight_space.dim) == (64, 128, 12)
    assert sorted({d.counts for d in polyhedron_of(minus).pareto()}) == [
        (12, 30), (15, 24), (18, 18), (24, 15), (30, 12),
    ]  # fmt: skip
    assert sorted({d.counts for d in polyhedron_of(plus).pareto()}) == [
        (9, 36), (12, 30), (15, 24), (20, 20), (25, 16),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_three_backends_agree(seed: int) -> None:
    values = random_set_function(np.random.default_rng(seed), 4, 2)
    polyhedron = polyhedron_of(CPWL.from_set_function(4, values))
    lists = [polyhedron.vertices(backend) for backend in BACKENDS]
    assert lists[0] == lists[1] == lists[2]
    assert len(polyhedron.rays()) == 37
    assert len(polyhedron.hrep().rows) == 24
    assert polyhedron.dimension == polyhedron.dim == polyhedron.hrep().dim == 11


def test_floating_point_loses_rays() -> None:
    """The float cddlib finds every generator, but rounding turns rays into neither kind."""
    for seed in range(3):
        values = random_set_function(np.random.default_rng(seed), 4)
        polyhedron = polyhedron_of(CPWL.from_set_function(4, values))
        found = float_generators(polyhedron.hrep())
        assert found.vertices + found.rays + found.neither >= len(polyhedron.vertices()) + 37
        assert found.rays < 37


@settings(max_examples=25)
@given(seeds)
def test_vertices_are_irreducible_members_that_decompose(seed: int) -> None:
    polyhedron = random_polyhedron(seed)
    for dec in polyhedron.vertices():
        assert dec.g.is_convex()
        assert dec.h.is_convex()
        assert (dec.g - dec.h).pieces_on_cells == polyhedron.f.pieces_on_cells
        assert polyhedron.is_member(dec)
        assert polyhedron.is_vertex(dec)
        irreducible, proof = polyhedron.is_irreducible(dec)
        assert irreducible
        assert polyhedron.verify(proof, dec)
        assert polyhedron.counts(dec) == dec.counts == (dec.g.pieces(), dec.h.pieces())


@settings(max_examples=25)
@given(seeds)
def test_reduction_ends_in_a_vertex_with_no_more_pieces(seed: int) -> None:
    polyhedron = random_polyhedron(seed)
    extra = random_convex(polyhedron.complex, np.random.default_rng(seed))
    start = Decomposition(
        polyhedron.f,
        [w + r for w, r in zip(polyhedron.vertices()[-1].w_g, extra.weights, strict=True)],
    )
    reduced, proof = reduce(start)
    assert polyhedron.verify(proof, reduced)
    assert proof.kind == "irreducible"
    vertex = polyhedron.reduce(start)
    assert vertex in polyhedron.vertices()
    assert vertex.certificate is not None
    assert polyhedron.verify(vertex.certificate, vertex)
    for better, worse in ((reduced, start), (vertex, reduced)):
        assert all(a <= b for a, b in zip(better.counts, worse.counts, strict=True))
    if extra.pieces() > 1:
        irreducible, rest = polyhedron.is_irreducible(start)
        assert not irreducible
        assert polyhedron.verify(rest, start)
        assert polyhedron.common_part(start).is_convex()


@settings(max_examples=25)
@given(seeds)
def test_linear_programs_find_the_best_vertex_with_proof(seed: int) -> None:
    polyhedron = random_polyhedron(seed)
    rng = np.random.default_rng(seed)
    cost = [int(c) for c in rng.integers(0, 5, len(polyhedron.complex.walls))]
    found = polyhedron.lp_vertex(cost)
    vertices = polyhedron.vertices()
    assert found in vertices
    assert polyhedron.verify_optimal(found, cost)
    price = [sum(c * w for c, w in zip(cost, dec.w_g, strict=True)) for dec in vertices]
    assert min(price) == sum(c * w for c, w in zip(cost, found.w_g, strict=True))


@settings(max_examples=25)
@given(seeds)
def test_uniqueness_and_minima_against_enumeration(seed: int) -> None:
    polyhedron = random_polyhedron(seed)
    unique, minima = polyhedron.unique()
    vertices = polyhedron.vertices()
    assert unique == (len(vertices) == 1)
    assert minima == [min(column) for column in zip(*(d.w_g for d in vertices), strict=True)]


def test_lp_vertices_on_a_large_braid_fan() -> None:
    values = random_set_function(np.random.default_rng(1), 5)
    polyhedron = polyhedron_of(CPWL.from_set_function(5, values))
    assert len(polyhedron.hrep().rows) == 80
    found = polyhedron.lp_vertex()
    assert polyhedron.verify_optimal(found)
    assert polyhedron.is_vertex(found)
    assert polyhedron.is_irreducible(found)[0]


def test_membership() -> None:
    fan, f = standard_example()
    polyhedron = polyhedron_of(f)
    vertex = polyhedron.vertices()[0]
    assert polyhedron.is_member(vertex.g)
    assert polyhedron.is_member(vertex.w_g)
    assert not polyhedron.is_member([max(w, 0) for w in f.weights])
    assert not polyhedron.is_member([0] * len(fan.walls))
    too_small = [w - r for w, r in zip(vertex.w_g, polyhedron.rays()[0].weights, strict=True)]
    assert not polyhedron.is_member(too_small)
    lines = Complex.from_arrangement([((1, 0), 0), ((0, 1), 0), ((1, -1), 0)])
    moved = CPWL.from_terms(lines, [(2, [linear((0, 0)), linear((1, 0)), linear((0, 1))])])
    assert polyhedron.is_member(moved)


def test_functions_off_the_complex_are_refused() -> None:
    fan, f = standard_example()
    finer = Complex.from_arrangement([((1, 0), 0), ((0, 1), 0), ((1, -1), 0), ((1, 1), 0)])
    bent = CPWL.from_terms(finer, [(1, [linear((0, 0)), linear((1, 1))])])
    with pytest.raises(ValueError, match="not compatible"):
        DecompositionPolyhedron(fan, bent)
    with pytest.raises(ValueError, match="not compatible"):
        polyhedron_of(f).is_member(bent)
    on_finer = DecompositionPolyhedron(finer, f)
    assert {d.counts for d in on_finer.vertices()} >= {(3, 4), (4, 3)}


def test_decompositions_check_their_parts() -> None:
    _, f = standard_example()
    zero = [0] * 6
    with pytest.raises(ValueError, match="h is not convex"):
        Decomposition(f, zero)
    with pytest.raises(ValueError, match="not balanced"):
        Decomposition(f, [max(w, 0) for w in f.weights])
    down = [-r for r in polyhedron_of(f).rays()[0].weights]
    with pytest.raises(ValueError, match="g is not convex"):
        Decomposition(-random_convex(f.complex, np.random.default_rng(0)), down)
    with pytest.raises(TypeError, match="rationalise"):
        Decomposition(f, [0.5] * 6)
    with pytest.raises(ValueError, match="no member"):
        polyhedron_of(f).is_vertex(zero)
    with pytest.raises(TypeError, match="rationalise"):
        polyhedron_of(f).is_member([1.0] * 6)
    with pytest.raises(ValueError, match="6 are needed"):
        polyhedron_of(f).lp_vertex([1])


def test_equal_decompositions_are_one() -> None:
    _, f = standard_example()
    first, second = polyhedron_of(f).vertices()
    assert len({first, second, Decomposition(f, first.w_g)}) == 2
    assert first != second
    assert first != "first"
    assert tuple(g - w for g, w in zip(first.w_g, f.weights, strict=True)) == first.w_h


def test_costs_that_fall_without_bound_are_refused() -> None:
    _, f = standard_example()
    with pytest.raises(ValueError, match="unbounded below"):
        polyhedron_of(f).lp_vertex([-1] * 6)


def test_unknown_backends_are_refused() -> None:
    _, f = standard_example()
    with pytest.raises(ValueError, match="unknown backend"):
        polyhedron_of(f).vertices("qhull")


def test_affine_functions_decompose_trivially() -> None:
    fan = Complex.from_fan2d(STAR)
    affine = CPWL(fan, [((2, -1), 3)] * 6)
    (dec,) = polyhedron_of(affine).vertices()
    assert dec.counts == (1, 1)
    assert dec.as_max() == ([((0, 0), 0)], [((-2, 1), -3)])
    (only,) = decompose(fan, affine)
    assert only == dec


def empty_instance() -> DecompositionPolyhedron:
    complex = twisted_triangles()
    for vector in complex.weight_space.basis:
        polyhedron = polyhedron_of(integrate(complex, vector))
        if polyhedron.empty_certificate() is not None:
            return polyhedron
    raise AssertionError("some function must bend on a stiff wall")


def test_emptiness_is_proved_by_equal_multipliers_on_three_walls() -> None:
    polyhedron = empty_instance()
    proof = polyhedron.empty_certificate()
    assert proof is not None
    assert sorted(proof.vector) == [0] * 12 + [1] * 3
    assert polyhedron.verify(proof)
    assert polyhedron.dimension == -1
    for attempt in (
        polyhedron.vertices,
        polyhedron.unique,
        polyhedron.lp_vertex,
        polyhedron.pareto,
        lambda: decompose(polyhedron.complex, polyhedron.f),
    ):
        with pytest.raises(EmptyDecomposition, match="Farkas") as caught:
            attempt()
        assert polyhedron.verify(caught.value.certificate)
    assert isinstance(caught.value, ValueError)
    assert len(polyhedron.rays()) == 2


def test_the_stiff_walls_are_the_three_diagonals() -> None:
    """The proof sits on Ab, Bc, Ca: walls through A and b, B and c, C and a."""
    polyhedron = empty_instance()
    proof = polyhedron.empty_certificate()
    assert proof is not None
    stiff = [w for w, y in zip(polyhedron.complex.walls, proof.vector, strict=True) if y]
    ends = [((4, 0), (1, 2)), ((0, 4), (1, 1)), ((0, 0), (2, 1))]
    for p, q in ends:
        assert any(
            all(a * x + b * y == wall.beta for x, y in (p, q))
            for wall in stiff
            for a, b in [wall.eta]
        )


def test_tampered_certificates_are_noticed() -> None:
    polyhedron = empty_instance()
    proof = polyhedron.empty_certificate()
    assert proof is not None
    for k in range(len(proof.vector)):
        changed = list(proof.vector)
        changed[k] += 1
        assert not polyhedron.verify(Certificate("empty", tuple(changed)))
    assert not polyhedron.verify(Certificate("empty", tuple(-y for y in proof.vector)))

    _, f = standard_example()
    good = polyhedron_of(f)
    vertex = good.vertices()[0]
    _, irreducible = good.is_irreducible(vertex)
    zero = (Fraction(0),) * 6
    assert not good.verify(Certificate("irreducible", zero), vertex)
    assert not good.verify(Certificate("reducible", zero), vertex)
    assert not good.verify(Certificate("reducible", irreducible.vector), vertex)
    thick = Decomposition(
        f, [w + r for w, r in zip(vertex.w_g, good.rays()[0].weights, strict=True)]
    )
    assert not good.verify(irreducible, thick)
    with pytest.raises(ValueError, match="speaks about a g"):
        good.verify(irreducible)
    with pytest.raises(ValueError, match="cannot verify"):
        good.verify(Certificate("optimal", zero), vertex)
    with pytest.raises(ValueError, match="no optimality"):
        good.verify_optimal(vertex)


def test_a_wrong_vertex_does_not_pass_for_optimal() -> None:
    _, f = standard_example()
    polyhedron = polyhedron_of(f)
    best = polyhedron.lp_vertex()
    other = next(dec for dec in polyhedron.vertices() if dec != best)
    forged = Decomposition(f, other.w_g, best.certificate)
    assert polyhedron.verify_optimal(best)
    assert not polyhedron.verify_optimal(forged)
    assert not polyhedron.verify_optimal(best, [1, 2, 3, 4, 5, 6])


def test_pareto_keeps_ties_and_drops_the_dominated() -> None:
    _, f = six_planes()
    vertices = polyhedron_of(f).vertices()
    assert [dec.counts for dec in pareto(vertices)] == [(9, 14), (11, 11), (14, 9)]
    assert pareto([*vertices, *vertices[:1]])
    doubled = [dec for dec in vertices if dec.counts == (11, 11)] * 2
    assert len(pareto(doubled)) == 2
    assert pareto([]) == []


def test_faces_of_an_edge() -> None:
    """Four-ray fan: dimension 2, the polyhedron is a shifted quadrant with 4 faces."""
    fan = Complex.from_fan2d([(1, 0), (0, 1), (-1, 0), (0, -1)])
    polyhedron = polyhedron_of(integrate(fan, (1, -1, 1, -1)))
    faces = all_faces(polyhedron)
    assert sorted((len(f.vertices), len(f.rays)) for f in faces) == [(1, 0), (1, 1), (1, 1), (1, 2)]
    assert sum(face.is_vertex for face in faces) == 1
    assert sum(face.is_bounded for face in faces) == 1


def dimension_of(polyhedron: DecompositionPolyhedron, dec: Decomposition) -> int:
    """Dimension of the smallest face that contains the decomposition."""
    tight = [
        row.form
        for row, w in zip(polyhedron.space.rows, least_weights(polyhedron, dec), strict=True)
        if w == 0
    ]
    return polyhedron.dim - rank(tight, polyhedron.dim)


def least_weights(polyhedron: DecompositionPolyhedron, dec: Decomposition) -> list[Fraction]:
    """min(w_g, w_h) on the first wall of every row."""
    common = [min(g, h) for g, h in zip(dec.w_g, dec.w_h, strict=True)]
    return [common[row.walls[0]] for row in polyhedron.space.rows]


@settings(max_examples=10)
@given(seeds)
def test_euler_relation_of_the_faces(seed: int) -> None:
    """An unbounded pointed polyhedron: the alternating sum over its nonempty faces is 0."""
    polyhedron = random_polyhedron(seed)
    inside = [face.interior_point() for face in all_faces(polyhedron)]
    dims = [dimension_of(polyhedron, dec) for dec in decompositions_at(polyhedron, inside)]
    assert sum((-1) ** dim for dim in dims) == 0
    assert dims.count(polyhedron.dim) == 1


def test_five_planes() -> None:
    complex = five_planes()
    assert complex.weight_space.dim == 7
    assert len(complex.cells) == 18
