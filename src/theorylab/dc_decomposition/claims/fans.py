"""Plane fans in closed form, and the local completion rule on them and beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from theorylab.claims import Source, claim
from theorylab.exact import primitive
from theorylab.findings import AllHold, AtLeast, AtMost, Equal, Finding
from theorylab.run import Run
from theorylab.stats import proportion_equals

from .. import counterexamples, flags
from ..complexes import Complex, PlaneFan
from ..decomposition import Decomposition
from ..examples import phi_terms, random_fan, random_function, standard_example
from ..fans import (
    compensating_vector,
    dominates,
    fan_of,
    kink_fan,
    local_rule,
    plane_fan_vertices,
    with_ray,
)
from ..flag_sampling import FlagSample, sample_flags
from ..functions import CPWL, integrate, transfer
from ..polyhedron import DecompositionPolyhedron

PAPER = "brandenburg2025decomposition"
OURS = Source("theorylab", "derived in the chapter")
ClosedForm = Callable[[PlaneFan, CPWL], list[Decomposition]]


# --- closed form ------------------------------------------------------------------------------


def _mirrored(rng: np.random.Generator, rays: int) -> CPWL:
    """A combination of absolute values of linear maps: its compensating vector is zero."""
    half = random_fan(rng, max(rays // 2, 3)).rays
    fan = Complex.from_fan2d(sorted({ray for x, y in half for ray in ((x, y), (-x, -y))}))
    signs = {ray: int(rng.integers(-3, 4)) for ray in fan.rays if ray > (0, 0)}
    return integrate(fan, [signs[max((x, y), (-x, -y))] for x, y in fan.rays])


def _plane_functions(run: Run) -> Iterator[CPWL]:
    """Random functions; with the ray through u added; with u = 0."""
    rng = run.rng("fans")
    trials, most = run.pick(ci=(300, 12), paper=(10_000, 40))
    for trial in range(trials):
        rays = int(rng.integers(4, most + 1))
        if trial % 3 == 2:
            yield _mirrored(rng, rays)
            continue
        f = random_function(fan := random_fan(rng, rays, most), rng)
        u = compensating_vector(fan, f)
        if trial % 3 == 1 and any(u):
            finer = with_ray(fan, u)
            f = transfer(f, finer)
        yield f


def _position(f: CPWL) -> str:
    """Where the compensating vector lies."""
    fan = fan_of(f)
    u = compensating_vector(fan, f)
    if not any(u):
        return "u = 0"
    return "u on a ray" if primitive(u)[0] in fan.rays else "u between rays"


def _predicted_counts(f: CPWL, vertex: Decomposition) -> tuple[int, int]:
    """Sizes of the unions of supports, 1 for the empty one."""
    rho = [w - max(x, 0) for w, x in zip(vertex.w_g, f.weights, strict=True)]
    g = sum(x > 0 or extra > 0 for x, extra in zip(f.weights, rho, strict=True))
    h = sum(x < 0 or extra > 0 for x, extra in zip(f.weights, rho, strict=True))
    return max(g, 1), max(h, 1)


def _closed_form(run: Run, closed_form: ClosedForm) -> Finding:
    """Vertices in closed form against two exact enumerations, with their counts and number."""
    same = by_cdd = counted = with_cdd = 0
    functions, positions, numbers, bounds = 0, Counter(), [], []
    for f in _plane_functions(run):
        fan = fan_of(f)
        polyhedron = DecompositionPolyhedron(fan, f)
        predicted, enumerated = closed_form(fan, f), polyhedron.vertices()
        same += {v.w_g for v in predicted} == {v.w_g for v in enumerated}
        counted += all(v.counts == _predicted_counts(f, v) for v in enumerated)
        if functions % 5 == 0:
            with_cdd += 1
            by_cdd += {v.w_g for v in polyhedron.vertices("cdd")} == {v.w_g for v in predicted}
        functions += 1
        positions[_position(f)] += 1
        if _position(f) == "u between rays":
            numbers.append(len(predicted))
            bounds.append(len(fan.rays) ** 2 // 4 - 1)
    return AllHold(
        {
            "vertices = enumeration by PPL": Equal(same, functions),
            "vertices = enumeration by cddlib": Equal(by_cdd, with_cdd),
            "piece counts": Equal(counted, functions),
            "vertices, u between rays": AtMost(numbers, bounds),
            "functions per position of u": AtLeast(
                [positions[p] for p in ("u = 0", "u on a ray", "u between rays")], functions // 6
            ),
        }
    )


@claim(
    "dc_decomposition.plane-fan",
    statement=(
        r"Let $\mathcal P$ be a complete fan in the plane with primitive rays $r_1,\dots,r_m$ and "
        r"$u=-\sum_kw_f^+(r_k)r_k$. The vertices of $\mathcal D_{\mathcal P}(f)$ are $w_f^++\rho$ "
        r"with $\rho=0$ if $u=0$; else $\rho$ is the multiple of one ray that equals $u$, or "
        r"$\rho_ir_i+\rho_jr_j=u$ for a pair with $u$ in the interior of its cone. Here "
        r"$q(g)=|\operatorname{supp}^+f\cup\operatorname{supp}\rho|$, $q(h)$ likewise (1 if "
        r"empty). For $u\neq0$ off the rays there are at most $\lfloor m^2/4\rfloor-1$ vertices."
    ),
    source=OURS,
    evidence="exact",
    uses=["dc_decomposition.polyhedron"],
)
def plane_fan(run: Run) -> Finding:
    return _closed_form(run, plane_fan_vertices)


def _with_neighbours_only(fan: PlaneFan, f: CPWL) -> list[Decomposition]:
    """The closed form restricted to one ray or two neighbouring ones."""
    count = len(fan.rays)
    kept = []
    for vertex in plane_fan_vertices(fan, f):
        used = [k for k, w in enumerate(vertex.w_g) if w > max(f.weights[k], 0)]
        gap = (used[-1] - used[0]) % count if used else 0
        if gap in (0, 1, count - 1):
            kept.append(vertex)
    return kept


@plane_fan.control("only neighbouring rays used")
def _(run: Run) -> Finding:
    return _closed_form(run, _with_neighbours_only)


def _turned(fan: PlaneFan) -> PlaneFan:
    """The fan with its first ray replaced by a nearby one."""
    first, second, *rest = fan.rays
    turned = tuple(100 * a + b for a, b in zip(first, second, strict=True))
    return Complex.from_fan2d([turned, second, *rest])


def _on_turned_fan(fan: PlaneFan, f: CPWL) -> list[Decomposition]:
    """The closed form on a fan with one ray turned; nothing if the function does not fit."""
    try:
        return plane_fan_vertices(_turned(fan), f)
    except ValueError:
        return []


@plane_fan.control("one ray turned a little")
def _(run: Run) -> Finding:
    return _closed_form(run, _on_turned_fan)


# --- the completion in the plane --------------------------------------------------------------


def _supports(f: CPWL) -> tuple[int, int]:
    return sum(w > 0 for w in f.weights), sum(w < 0 for w in f.weights)


def _least_pair(f: CPWL, u: Sequence[Fraction]) -> tuple[int, int]:
    """Predicted counts of the completion by the ray u: one more piece where u is no kink yet."""
    a, b = _supports(f)
    direction = primitive(u)[0]
    kink = dict(zip(fan_of(f).rays, f.weights, strict=True)).get(direction, Fraction(0))
    return a + (kink <= 0), b + (kink >= 0)


def _unbalanced_functions(run: Run) -> Iterator[CPWL]:
    """Conewise linear functions whose positive part is not balanced."""
    rng = run.rng("functions")
    found, wanted = 0, run.pick(ci=150, paper=5000)
    while found < wanted:
        fan = random_fan(rng, int(rng.integers(4, 10)))
        f = random_function(fan, rng)
        if any(compensating_vector(fan, f)):
            found += 1
            yield f


def _on_kink_fan(f: CPWL) -> int | None:
    """Least total over the fan of the kinks, None if that is no complete fan."""
    try:
        fan = kink_fan(f)
    except ValueError:
        return None
    return min(sum(v.counts) for v in DecompositionPolyhedron(fan, f).vertices())


Refinement = Callable[[PlaneFan, Sequence[Fraction]], PlaneFan]


def _completions(run: Run, refine: Refinement) -> Finding:
    """Least totals over the vertices, and the pair that the completion by u should have."""
    totals, bounds, attained, functions = [], [], 0, 0
    kink_totals, kink_bounds = [], []
    for f in _unbalanced_functions(run):
        functions += 1
        u = compensating_vector(fan := fan_of(f), f)
        pair = _least_pair(f, u)
        counts = [v.counts for v in DecompositionPolyhedron(refine(fan, u), f).vertices()]
        totals.append(min(map(sum, counts)))
        bounds.append(sum(pair))
        attained += pair in counts
        total = _on_kink_fan(f)
        if total is not None:
            kink_totals.append(total)
            kink_bounds.append(sum(pair))
    return AllHold(
        {
            "least totals": Equal(totals, bounds),
            "completion by u among the vertices": Equal(attained, functions),
            "least totals on the fan of the kinks": Equal(kink_totals, kink_bounds),
        }
    )


def _standard_pairs(refine: Refinement) -> list[tuple[int, int]]:
    """Counts of the vertices for the standard example."""
    fan, f = standard_example()
    own = kink_fan(f)
    finer = refine(own, compensating_vector(fan, f))
    return sorted(v.counts for v in DecompositionPolyhedron(finer, f).vertices())


@claim(
    "dc_decomposition.tran-wang-2d",
    statement=(
        r"Let $f$ be conewise linear on $\mathbb R^2$ with $a$ convex and $b$ concave kink rays "
        r"and $u\neq0$. Every decomposition over every complex has $q(g)+q(h)\ge a+b+2$, or "
        r"$\ge a+b+1$ if $u$ lies on a kink ray: $\rho=w_g-w_f^+\ge0$ sums to $u$, a ray of $\rho$ "
        r"costs two pieces off the kinks and one on them. Adding the ray $u$ to both parts attains "
        r"the bound; where the kinks form a complete fan, so does some vertex on it, possibly with "
        r"another pair."
    ),
    source=Source("tran2024minimal", "the conewise linear case on the plane"),
    evidence="exact",
    uses=["dc_decomposition.plane-fan"],
)
def tran_wang_2d(run: Run) -> Finding:
    return AllHold(
        {
            "random functions": _completions(run, with_ray),
            "standard example, its own fan": Equal(_standard_pairs(lambda fan, u: fan), [(3, 4)]),
            "standard example, with the ray u": Equal(_standard_pairs(with_ray), [(3, 4), (4, 3)]),
        }
    )


@tran_wang_2d.control("the ray u left out")
def _(run: Run) -> Finding:
    return _completions(run, lambda fan, u: fan)


@tran_wang_2d.control("the opposite ray added instead")
def _(run: Run) -> Finding:
    return _completions(run, lambda fan, u: with_ray(fan, [-entry for entry in u]))


@tran_wang_2d.control("the minimal decomposition of the standard example is unique")
def _(run: Run) -> Finding:
    return Equal(len(_standard_pairs(with_ray)), 1)


# --- the completion beyond the conewise plane -------------------------------------------------


def _rule_and_best(complex: Complex, f: CPWL) -> tuple[tuple[int, int], list[tuple[int, int]]]:
    """Counts of the local rule and of all vertices."""
    rule = local_rule(complex, f)
    if not isinstance(rule, Decomposition):
        raise ArithmeticError(f"the local rule gives no decomposition here: {rule}")
    vertices = DecompositionPolyhedron(rule.f.complex, f).vertices()
    return rule.counts, sorted({v.counts for v in vertices})


def _excess(complex: Complex, f: CPWL) -> int:
    """Pieces in total that the rule uses beyond the best vertex."""
    rule, counts = _rule_and_best(complex, f)
    return sum(rule) - min(map(sum, counts))


EXPECTED = {
    "prism": ((8, 3), [(6, 4), (8, 3)]),
    "crossing stars": ((12, 12), [(9, 14), (11, 11), (12, 12), (14, 9)]),
    "two centres": ((13, 14), [(11, 16), (13, 13), (13, 14), (16, 12)]),
}
BETTER = {"crossing stars": (11, 11), "two centres": (13, 13), "minus": (18, 18), "plus": (15, 24)}
EXPECTED_PRODUCTS = {
    "minus": ((20, 20), [(12, 30), (15, 24), (18, 18), (24, 15), (30, 12)]),
    "plus": ((16, 25), [(9, 36), (12, 30), (15, 24), (20, 20), (25, 16)]),
}


def _instances() -> dict[str, tuple[Complex, CPWL]]:
    return {
        "prism": counterexamples.prism(),
        "crossing stars": counterexamples.crossing_stars(),
        "two centres": counterexamples.two_centres(),
        "minus": counterexamples.product_of_stars(-1),
        "plus": counterexamples.product_of_stars(1),
    }


def _undominated(counts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return [pair for pair in counts if not any(dominates(other, pair) for other in counts)]


def _instance_counts() -> dict[str, Finding]:
    """Counts of the rule and of the vertices (of the Pareto set for the products)."""
    parts: dict[str, Finding] = {}
    for name, (complex, f) in _instances().items():
        rule, counts = _rule_and_best(complex, f)
        if name in EXPECTED:
            parts[name] = Equal((rule, counts), EXPECTED[name], sizes={"cells": len(complex.cells)})
        else:
            parts[f"product, {name}"] = Equal(
                (rule, _undominated(counts)),
                EXPECTED_PRODUCTS[name],
                sizes={"cells": len(complex.cells)},
            )
        if name in BETTER:
            improved = BETTER[name] in counts and dominates(BETTER[name], rule)
            parts[f"{name}: vertex {BETTER[name]} below the rule"] = Equal(int(improved), 1)
    return parts


def _forced_total() -> int:
    """Least 4 q(g) + 5 q(h) over the decompositions of minus the three-term star."""
    fan, f = counterexamples.three_terms()
    return min(4 * h + 5 * g for g, h in (v.counts for v in plane_fan_vertices(fan, f)))


def _excesses(instances: Sequence[tuple[Complex, CPWL]]) -> Finding:
    """The local rule is not minimal on any of the instances."""
    return AtLeast([_excess(complex, f) for complex, f in instances], 1)


@claim(
    "dc_decomposition.local-rule-fails",
    statement=(
        r"The local rule, which at every ridge completes the positive part by the one "
        r"half-hyperplane in direction $u$, is not minimal beyond conewise linear functions on the "
        r"plane. Exact instances, with $\varphi(x,y)=2\max(0,x,y)-\max(0,x)-\max(0,y)$ and "
        r"$\varphi_3(x,y)=\varphi(x,y)-\max(0,x-2y)$: $\varphi(x,y)+|t|$ (total 11 against 10, for "
        r"every decomposition that obeys the rule); $\varphi(-y,x+y+z)-\varphi(-x,-z)$ ($(12,12)$ "
        r"against $(11,11)$); "
        r"$\varphi_3(x_1,x_2)-\varphi_3(x_3,x_4)$ ($(20,20)$ against $(18,18)$, and at least 39 "
        r"against 36 for every decomposition that obeys the rule); a function with two centres on "
        r"$\mathbb R^2$ ($(13,14)$ against $(13,13)$)."
    ),
    source=Source(PAPER, "Proposition 4.1, for the rule as stated here"),
    evidence="exact",
    uses=["dc_decomposition.tran-wang-2d"],
)
def local_rule_fails(run: Run) -> Finding:
    return AllHold(
        {
            **_instance_counts(),
            "pieces beyond the best vertex": _excesses(list(_instances().values())),
            "least total forced by the rule, product": Equal(_forced_total(), 39),
        }
    )


@local_rule_fails.control("conewise linear functions on the plane")
def _(run: Run) -> Finding:
    return _excesses([(f.complex, f) for f in _unbalanced_functions(run)])


@local_rule_fails.control("a single star times a line without a kink")
def _(run: Run) -> Finding:
    planes = [((1, 0, 0), 0), ((0, 1, 0), 0), ((1, -1, 0), 0)]
    complex = Complex.from_arrangement(planes)
    return _excesses([(complex, CPWL.from_terms(complex, phi_terms((1, 0, 0), (0, 1, 0))))])


# --- random flags -----------------------------------------------------------------------------


def _flag_function(vectors: Sequence[tuple[int, ...]], sign: int) -> tuple[Complex, CPWL]:
    u1, v1, u2, v2 = vectors
    planes = [u1, v1, _minus(u1, v1), u2, v2, _minus(u2, v2)]
    complex = Complex.from_arrangement([(plane, 0) for plane in planes])
    return complex, CPWL.from_terms(complex, phi_terms(u1, v1) + phi_terms(u2, v2, sign))


def _minus(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a - b for a, b in zip(left, right, strict=True))


def _sector_pairs_checked() -> Finding:
    """For every pair of sectors: the four vertices, enumerated exactly, have the counts used."""
    agree = 0
    for first, second, _ in flags.sector_pairs():
        for sign in (1, -1):
            complex, f = _flag_function(flags.representative(first, second), sign)
            rule = local_rule(complex, f)
            found = [v.counts for v in DecompositionPolyhedron(complex, f).vertices()]
            counts = flags.vertex_counts(flags.sector_crossing(first, second), sign)
            local = isinstance(rule, Decomposition) and rule.counts == counts["local", "local"]
            agree += local and Counter(found) == Counter(counts.values())
    return Equal(agree, 72, note="36 pairs of sectors, two signs")


Coupling = Callable[[np.ndarray], np.ndarray]


def _independent(vectors: np.ndarray) -> np.ndarray:
    return vectors


def _close(vectors: np.ndarray) -> np.ndarray:
    """Each v replaced by u plus a little of v."""
    coupled = vectors.copy()
    coupled[1::2] = vectors[::2] + 0.3 * vectors[1::2]
    return coupled


def _flag_counts(run: Run, sign: int, couple: Coupling) -> FlagSample:
    """On how many random flags the rule is beaten, in each of the three senses."""
    total = run.pick(ci=200_000, paper=10_000_000, gpu=1_000_000_000)
    batch = min(total, 1_000_000)
    rng, counts = run.rng(f"flags {sign}"), np.zeros(3, dtype=np.int64)
    for _ in range(total // batch):
        vectors = couple(rng.standard_normal((4, 3, batch)))
        sample = sample_flags(vectors if run.device == "cpu" else run.tensor(vectors), sign)
        counts += [int(o.sum()) for o in (sample.dominated, sample.strictly, sample.total)]
    return FlagSample(*(int(count) for count in counts))


def _proportions(run: Run, couple: Coupling, sign_of_law: Callable[[int], int]) -> Finding:
    """Shares of random flags on which the local rule is beaten, against the exact law."""
    total = run.pick(ci=200_000, paper=10_000_000, gpu=1_000_000_000)
    distance = run.pick(ci=0.01, paper=0.001, gpu=0.0001)
    parts: dict[str, Finding] = {}
    for sign, names in ((-1, ("dominated", "strictly", "total")), (1, ("total",))):
        law, sample = flags.flag_law(sign_of_law(sign)), _flag_counts(run, sign, couple)
        for name in names:
            parts[f"sign {sign:+d}, {name}"] = proportion_equals(
                getattr(sample, name), getattr(law, name), trials=total, power_against=distance
            )
        if sign > 0:
            parts["sign +1, dominated"] = Equal(sample.dominated, int(law.dominated * total))
    return AllHold(parts)


def _law() -> Finding:
    minus, plus = flags.flag_law(-1), flags.flag_law(1)
    return Equal(
        [minus.dominated, minus.strictly, minus.total, plus.dominated, plus.total],
        [Fraction(3, 8), Fraction(1, 8), Fraction(3, 8), 0, Fraction(3, 4)],
    )


@claim(
    "dc_decomposition.random-flags",
    statement=(
        r"Let $f=\varphi(u_1x,v_1x)\pm\varphi(u_2x,v_2x)$ on $\mathbb R^3$ with independent "
        r"standard normal $u_i,v_i$ and $\varphi(x,y)=2\max(0,x,y)-\max(0,x)-\max(0,y)$. "
        r"With the sign $-$ the local rule is dominated by another "
        r"vertex with probability $3/8$, in both parts strictly with probability $1/8$; with the "
        r"sign $+$ it is never dominated, but its total is beaten with probability $3/4$."
    ),
    source=OURS,
    evidence="statistical",
    uses=["dc_decomposition.local-rule-fails"],
)
def random_flags(run: Run) -> Finding:
    return AllHold(
        {
            "exact law": _law(),
            "vertices per pair of sectors": _sector_pairs_checked(),
            "random flags": _proportions(run, _independent, lambda sign: sign),
        }
    )


@random_flags.control("v close to u: not independent")
def _(run: Run) -> Finding:
    return _proportions(run, _close, lambda sign: sign)


@random_flags.control("the law of the other sign")
def _(run: Run) -> Finding:
    return _proportions(run, _independent, lambda sign: -1)
