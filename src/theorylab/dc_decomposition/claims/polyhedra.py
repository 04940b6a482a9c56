"""The polyhedron itself: its description, bounded faces, vertices and uniqueness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from theorylab.claims import Source, claim
from theorylab.exact import Polyhedron, generators
from theorylab.findings import AllHold, Equal, Finding
from theorylab.run import Run

from ..complexes import Complex
from ..decomposition import Decomposition, pareto
from ..examples import (
    five_planes,
    linear,
    median_of_three,
    random_arrangement,
    random_fan,
    random_function,
    random_set_function,
    six_planes,
    standard_example,
)
from ..faces import Face, all_faces, decompositions_at
from ..functions import CPWL, transfer
from ..polyhedron import DecompositionPolyhedron, HRepresentation
from ..regular import regularity

PAPER = "brandenburg2025decomposition"
Describe = Callable[[DecompositionPolyhedron], HRepresentation]


def _instances(run: Run, fans: int, braid3: int, braid4: int, planes: int) -> list[CPWL]:
    """Random functions on plane fans, braid fans and central arrangements in 3-space."""
    rng = run.rng("instances")
    found = [random_function(random_fan(rng, int(rng.integers(4, 8))), rng) for _ in range(fans)]
    for n, count in ((3, braid3), (4, braid4)):
        fan = Complex.braid(n)
        found += [
            CPWL.from_set_function(n, random_set_function(rng, n), complex=fan)
            for _ in range(count)
        ]
    for _ in range(planes):
        found.append(random_function(random_arrangement(rng, 5, 3, central=True), rng))
    return found


def _as_set(hrep: HRepresentation, n: int) -> Polyhedron:
    return Polyhedron.from_inequalities(
        n, [(row, -bound) for row, bound in zip(hrep.rows, hrep.bounds, strict=True)]
    )


def _cone(polyhedron: DecompositionPolyhedron) -> Polyhedron:
    """The cone of convex functions, spanned by its extreme rays."""
    rows = polyhedron.hrep().rows
    found = generators(rows, [0] * len(rows), polyhedron.dim)
    return Polyhedron.from_generators(polyhedron.dim, found.vertices, found.rays)


def _recession_cone(polyhedron: Polyhedron) -> Polyhedron:
    origin = (Fraction(0),) * polyhedron.n
    return Polyhedron.from_generators(polyhedron.n, [origin], polyhedron.rays, polyhedron.lines)


def _descriptions(run: Run, describe: Describe) -> Finding:
    """Compare the inequalities with the intersection of the cone and the shifted cone."""
    sizes = run.pick(ci=(60, 20, 3, 10), paper=(600, 200, 40, 100))
    polyhedra = [DecompositionPolyhedron(f.complex, f) for f in _instances(run, *sizes)]
    equal = recession = full = pointed = 0
    for polyhedron in polyhedra:
        described = _as_set(describe(polyhedron), polyhedron.dim)
        cone = _cone(polyhedron)
        shift = polyhedron.space.coordinates(polyhedron.f.weights) or []
        equal += described == cone.intersection(cone.translate(shift))
        recession += not described.is_empty() and _recession_cone(described) == cone
        full += described.dimension == polyhedron.dim
        pointed += not described.is_empty() and not described.lines
    regular = sum(regularity(polyhedron.complex).is_regular for polyhedron in polyhedra)
    total = len(polyhedra)
    return AllHold(
        {
            "inequalities = cone met with shifted cone": Equal(equal, total),
            "recession cone = convex functions": Equal(recession, total),
            "regular complexes": Equal(regular, total),
            "nonempty of full dimension": Equal(full, total),
            "pointed": Equal(pointed, total),
            "rays on median, braid 3, braid 4": Equal(_ray_counts(), (5, 5, 37)),
        }
    )


def _ray_counts() -> list[int]:
    complexes = [median_of_three()[0], Complex.braid(3), Complex.braid(4)]
    return [len(DecompositionPolyhedron(c, _zero(c)).rays()) for c in complexes]


def _zero(complex: Complex) -> CPWL:
    return CPWL(complex, [((0,) * complex.n, 0)] * len(complex.cells))


@claim(
    "dc_decomposition.polyhedron",
    statement=(
        r"With $w_f^+=\max(w_f,0)$, the decompositions $f=g-h$ into convex functions on "
        r"$\mathcal P$ are $\mathcal D_{\mathcal P}(f)=\overline{\mathcal V}^+_{\mathcal P}\cap"
        r"(\overline{\mathcal V}^+_{\mathcal P}+f)=\{w\in W_{\mathcal P}:w\ge w_f^+\}$, a pointed "
        r"polyhedron with recession cone $\overline{\mathcal V}^+_{\mathcal P}$ whenever it is not "
        r"empty. If $\mathcal P$ is regular, it is not empty, of dimension $\dim W_{\mathcal P}$."
    ),
    source=Source(PAPER, "Theorem 3.5"),
    evidence="exact",
    uses=["dc_decomposition.balance", "dc_decomposition.convex-sign"],
)
def polyhedron(run: Run) -> Finding:
    return _descriptions(run, DecompositionPolyhedron.hrep)


@polyhedron.control("one inequality turned round")
def _(run: Run) -> Finding:
    def turned(polyhedron: DecompositionPolyhedron) -> HRepresentation:
        hrep = polyhedron.hrep()
        first = tuple(-a for a in hrep.rows[0])
        return HRepresentation((first, *hrep.rows[1:]), (-hrep.bounds[0], *hrep.bounds[1:]))

    return _descriptions(run, turned)


@polyhedron.control("positive part forgotten: w >= w_f in place of w >= max(w_f, 0)")
def _(run: Run) -> Finding:
    def unclipped(polyhedron: DecompositionPolyhedron) -> HRepresentation:
        values = polyhedron.space.row_values(polyhedron.f.weights)
        return HRepresentation(polyhedron.hrep().rows, tuple(values))

    return _descriptions(run, unclipped)


@polyhedron.control("f + max(0, x+y), which kinks off the complex")
def _(run: Run) -> Finding:
    fan, _ = standard_example()
    finer = Complex.from_arrangement([((1, 0), 0), ((0, 1), 0), ((1, -1), 0), ((1, 1), 0)])
    bent = CPWL.from_terms(finer, [(1, [linear((0, 0)), linear((1, 1))])])
    try:
        accepted = len(DecompositionPolyhedron(fan, bent).vertices()) > 0
    except ValueError:
        accepted = False
    return Equal(int(accepted), 1)


@dataclass(frozen=True)
class _Sampled:
    """A face of a decomposition polyhedron with a relative interior point."""

    polyhedron: DecompositionPolyhedron
    face: Face
    inside: Decomposition


def _faces(run: Run) -> list[_Sampled]:
    """All faces of the polyhedra of random functions."""
    fans, braid3, planes = run.pick(ci=(40, 20, 5), paper=(700, 300, 40))
    functions = _instances(run, fans, braid3, 0, 0)
    arrangement = five_planes()
    rng = run.rng("planes")
    functions += [random_function(arrangement, rng, 1) for _ in range(planes)]
    found = []
    for f in functions:
        polyhedron = DecompositionPolyhedron(f.complex, f)
        faces = all_faces(polyhedron)
        inside = decompositions_at(polyhedron, [face.interior_point() for face in faces])
        found += [_Sampled(polyhedron, face, dec) for face, dec in zip(faces, inside, strict=True)]
    return found


def _proved(case: _Sampled, dec: Decomposition) -> tuple[bool, bool]:
    """The verdict on irreducibility, and whether its certificate checks."""
    irreducible, certificate = case.polyhedron.is_irreducible(dec)
    return irreducible, case.polyhedron.verify(certificate, dec)


def _irreducibility(cases: Sequence[_Sampled], decompositions: Sequence[Decomposition]) -> Finding:
    answers = [_proved(case, dec) for case, dec in zip(cases, decompositions, strict=True)]
    agree = sum(
        irreducible == case.face.is_bounded
        for case, (irreducible, _) in zip(cases, answers, strict=True)
    )
    bounded = sum(case.face.is_bounded for case in cases)
    return AllHold(
        {
            "LP value 0 exactly on bounded faces": Equal(agree, len(cases)),
            "certificates that check": Equal(sum(proof for _, proof in answers), len(cases)),
        },
        sizes={"faces": len(cases), "bounded faces": bounded},
    )


@claim(
    "dc_decomposition.irreducible-bounded",
    statement=(
        r"A decomposition $(g,h)$ is irreducible (no convex function that is not affine can be "
        r"subtracted from both parts) if and only if it lies in a bounded face of "
        r"$\mathcal D_{\mathcal P}(f)$, and if and only if $\max\{\sum_\sigma r(\sigma):r\in "
        r"W_{\mathcal P},0\le r\le\min(w_g,w_h)\}=0$."
    ),
    source=Source(PAPER, "abstract"),
    evidence="exact",
    uses=["dc_decomposition.polyhedron"],
)
def irreducible_bounded(run: Run) -> Finding:
    cases = _faces(run)
    return _irreducibility(cases, [case.inside for case in cases])


@irreducible_bounded.control("a small convex function added to both parts")
def _(run: Run) -> Finding:
    cases = [case for case in _faces(run) if case.face.is_bounded]
    thickened = [_thicken(case) for case in cases]
    return _irreducibility(cases, thickened)


def _thicken(case: _Sampled) -> Decomposition:
    ray = case.polyhedron.rays()[0].weights
    w_g = [w + r / 1000 for w, r in zip(case.inside.w_g, ray, strict=True)]
    return Decomposition(case.inside.f, w_g)


@irreducible_bounded.control("r bounded by w_g alone, so that the LP value is the sum of w_g")
def _(run: Run) -> Finding:
    cases = _faces(run)
    agree = sum((sum(case.inside.w_g) == 0) == case.face.is_bounded for case in cases)
    return Equal(agree, len(cases))


def _dominated(case: _Sampled) -> bool:
    """Whether a vertex of the face has no more pieces in either part, and fewer in one."""
    q_g, q_h = case.inside.counts
    return any(
        a <= q_g and b <= q_h and (a, b) != (q_g, q_h)
        for a, b in (v.counts for v in decompositions_at(case.polyhedron, case.face.vertices))
    )


def _vertices_of_six_planes() -> list[Decomposition]:
    complex, f = six_planes()
    return DecompositionPolyhedron(complex, f).vertices()


@claim(
    "dc_decomposition.minimal-vertex",
    statement=(
        r"Every decomposition with Pareto-minimal numbers of pieces $(q(g),q(h))$ on $\mathcal P$ "
        r"is a vertex of $\mathcal D_{\mathcal P}(f)$: every other point of a face has more pieces "
        r"than a vertex of that face. A decomposition is a vertex if and only if only $0\in "
        r"W_{\mathcal P}$ vanishes where $\min(w_g,w_h)=0$. A vertex need not be minimal."
    ),
    source=Source(PAPER, "Theorem 3.13"),
    evidence="exact",
    uses=["dc_decomposition.polyhedron", "dc_decomposition.irreducible-bounded"],
)
def minimal_vertex(run: Run) -> Finding:
    cases = _faces(run)
    by_rank = [case.polyhedron.is_vertex(case.inside) for case in cases]
    others = [case for case in cases if not case.face.is_vertex]
    agree = sum(a == case.face.is_vertex for a, case in zip(by_rank, cases, strict=True))
    counts = [dec.counts for dec in _vertices_of_six_planes()]
    minimal = [dec.counts for dec in pareto(_vertices_of_six_planes())]
    return AllHold(
        {
            "rank test = vertex list": Equal(agree, len(cases)),
            "other points dominated": Equal(sum(map(_dominated, others)), len(others)),
            "vertices of the six planes": Equal(
                sorted(counts), ((9, 14), (11, 11), (12, 12), (14, 9))
            ),
            "minimal among them": Equal(minimal, ((9, 14), (11, 11), (14, 9))),
        },
        sizes={"faces": len(cases), "faces that are no vertex": len(others)},
    )


@minimal_vertex.control("midpoint of an edge taken for a vertex")
def _(run: Run) -> Finding:
    complex, f = standard_example()
    polyhedron = DecompositionPolyhedron(complex, f)
    first, second = polyhedron.vertices()
    middle = Decomposition(f, [(a + b) / 2 for a, b in zip(first.w_g, second.w_g, strict=True)])
    return Equal(int(polyhedron.is_vertex(middle)), 1, note=f"its pieces: {middle.counts}")


@minimal_vertex.control("the converse: every vertex is minimal")
def _(run: Run) -> Finding:
    vertices = _vertices_of_six_planes()
    return Equal(len(pareto(vertices)), len(vertices))


def _uniqueness_instances(run: Run) -> list[DecompositionPolyhedron]:
    fans, braid3, planes = run.pick(ci=(30, 15, 15), paper=(600, 200, 200))
    functions = _instances(run, fans, braid3, 0, planes)
    return [DecompositionPolyhedron(f.complex, f) for f in functions]


def _uniqueness(
    polyhedra: Sequence[DecompositionPolyhedron],
    criterion: Callable[[DecompositionPolyhedron], bool],
) -> Finding:
    """Compare a criterion with full enumeration."""
    truth = [len(polyhedron.vertices()) == 1 for polyhedron in polyhedra]
    agree = sum(criterion(p) == single for p, single in zip(polyhedra, truth, strict=True))
    return Equal(agree, len(polyhedra), sizes={"with one vertex": sum(truth)})


def _least_weights(polyhedra: Sequence[DecompositionPolyhedron]) -> Finding:
    """Where the vertex is unique, the minima are its weights."""
    single = [(p, p.unique()[1]) for p in polyhedra if p.unique()[0]]
    equal = sum(list(p.vertices()[0].w_g) == minima for p, minima in single)
    return Equal(equal, len(single))


def _positive(f: CPWL) -> list[Fraction]:
    return [max(w, Fraction(0)) for w in f.weights]


def _balanced_functions(run: Run) -> list[CPWL]:
    """Random functions whose positive part is balanced: kinks constant on every hyperplane."""
    rng = run.rng("hyperplane functions")
    found = []
    for _ in range(run.pick(ci=15, paper=100)):
        arrangement = random_arrangement(rng, int(rng.integers(3, 6)), int(rng.integers(2, 4)))
        factors = {plane: int(rng.integers(-3, 4)) for plane in arrangement.hyperplanes}
        w = [factors[wall.eta, wall.beta] for wall in arrangement.walls]
        found.append(CPWL.from_weights(arrangement, w))
    return found


def _refined(f: CPWL, rng: np.random.Generator) -> CPWL:
    """The same function on the arrangement with one more random hyperplane."""
    planes = list(f.complex.hyperplanes)  # type: ignore[attr-defined]
    while True:
        normal = tuple(int(entry) for entry in rng.integers(-3, 4, f.complex.n))
        try:
            finer = Complex.from_arrangement([*planes, (normal, int(rng.integers(-3, 4)))])
        except ValueError:
            continue
        return transfer(f, finer)


def _only_vertex(f: CPWL) -> tuple[int, tuple[int, int]]:
    """Whether w_f^+ is the only vertex and the polyhedron is it plus the cone; its counts."""
    polyhedron = DecompositionPolyhedron(f.complex, f)
    vertices = polyhedron.vertices()
    apex = polyhedron.space.coordinates(_positive(f))
    shifted = apex is not None and _cone(polyhedron).translate(apex) == polyhedron.as_polyhedron()
    only = len(vertices) == 1 and list(vertices[0].w_g) == _positive(f) and shifted
    return int(only), vertices[0].counts


@claim(
    "dc_decomposition.unique",
    statement=(
        r"(a) If $w_f^+$ is balanced, it is the only vertex, $\mathcal D_{\mathcal P}(f)=w_f^++"
        r"\overline{\mathcal V}^+_{\mathcal P}$, and on every refinement of $\mathcal P$ the "
        r"minimal decomposition is the same. (b) $\mathcal D_{\mathcal P}(f)$ has one vertex "
        r"if and only if the vector of the least weights $\min_{w\in\mathcal D}w(\sigma)$ is "
        r"balanced; it is then that vertex."
    ),
    source=Source(PAPER, "Theorem 3.18; (b) derived in the chapter"),
    evidence="exact",
    uses=["dc_decomposition.polyhedron", "dc_decomposition.minimal-vertex"],
)
def unique(run: Run) -> Finding:
    balanced = [(f, *_only_vertex(f)) for f in _balanced_functions(run)]
    rng = run.rng("refinements")
    finer = [_only_vertex(_refined(f, rng)) for f, _, _ in balanced]
    polyhedra = _uniqueness_instances(run)
    return AllHold(
        {
            "balanced positive part: the only vertex": Equal(
                sum(only for _, only, _ in balanced), len(balanced)
            ),
            "the same on a refinement": Equal(finer, [(1, counts) for _, _, counts in balanced]),
            "balanced minima = one vertex": _uniqueness(polyhedra, lambda p: p.unique()[0]),
            "minima = vertex": _least_weights(polyhedra),
        }
    )


@unique.control("the function 2max(0,x,y)-max(0,x)-max(0,y), claimed to have one vertex")
def _(run: Run) -> Finding:
    complex, f = standard_example()
    return _uniqueness([DecompositionPolyhedron(complex, f)], lambda _: True)


@unique.control("uniqueness judged by solving one linear program twice")
def _(run: Run) -> Finding:
    return _uniqueness(_uniqueness_instances(run), lambda p: p.lp_vertex() == p.lp_vertex())
