"""Networks: size against depth for convex functions, signed simplices, differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from theorylab.claims import Source, claim
from theorylab.exact import ReLUNet
from theorylab.findings import AllHold, AtMost, Equal, Finding
from theorylab.run import Run

from .. import sizes
from ..complexes import Complex
from ..data import two_moons_nets
from ..decomposition import Decomposition
from ..examples import median_of_three
from ..functions import CPWL
from ..networks import (
    convex_net,
    dc_net,
    group_terms,
    share_neurons,
    signed_sum_net,
)
from ..paraboloids import (
    IN_PLANE,
    IN_SPACE,
    ON_LINE,
    THIN_QUADRILATERAL,
    grid,
    random_points,
    tangents,
)
from ..polyhedron import decompose
from ..proofs import prove_by_algebra, prove_equal, prove_maximum
from ..simplices import Affine, Simplex, dependence_recursion, signed_simplices

PAPER = "brandenburg2025decomposition"
OURS = Source("theorylab", "derived in the chapter")
Maps = Sequence[Affine]
Terms = dict[Simplex, int]
Builder = Callable[[Maps, int, int], ReLUNet]
Change = Callable[[Terms], Terms]


def _unchanged(terms: Terms) -> Terms:
    return terms


def _without_one(terms: Terms) -> Terms:
    """The sum without its last max-term."""
    return dict(list(terms.items())[:-1])


def _with_one_sign_flipped(terms: Terms) -> Terms:
    *rest, (last, sign) = terms.items()
    return {**dict(rest), last: -sign}


# --- convex functions -------------------------------------------------------------------------


def _groups(maps: Maps, group: int) -> list[Maps]:
    return [maps[start : start + group] for start in range(0, len(maps), group)]


def _naive_size(maps: Maps, n: int, group: int) -> int:
    """Size if every max-term of every group had a tree of its own."""
    arities = [[len(term) for term in group_terms(part, n)] for part in _groups(maps, group)]
    return sum(sizes.side_by_side_widths(arities))


def _trade_off(build: Builder) -> Finding:
    """Nets between the tree and the shallow one: equality on all cells, depths and sizes."""
    parts: dict[str, Finding] = {}
    depths, neurons, naive, bounds = [], [], [], []
    for points, groups in ((ON_LINE, (1, 3, 6)), (IN_PLANE, (1, 3, 5, 10)), (IN_SPACE, (1, 4, 8))):
        n, maps = len(points[0]), tangents(points)
        for group in groups:
            net = build(maps, n, group)
            proof = prove_maximum(net, maps)
            parts[f"n={n}, s={group}: mismatches"] = Equal(
                len(proof.mismatches), 0, sizes={"regions": proof.regions, "neurons": net.size}
            )
            depths.append((net.depth, sizes.grouped_depth(len(maps), group, n)))
            neurons.append(net.size)
            naive.append(_naive_size(maps, n, group))
            bounds.append(sizes.grouped_size_bound(len(maps), group, n))
    measured, predicted = zip(*depths, strict=True)
    parts["hidden layers"] = Equal(measured, predicted)
    parts["neurons, against separate trees"] = AtMost(neurons, naive)
    parts["separate trees, against the bound"] = AtMost(naive, bounds)
    return AllHold(parts)


@claim(
    "dc_decomposition.nn-convex",
    statement=(
        r"Let $f$ be the maximum of $k$ affine maps on $\mathbb R^n$, each the strict maximum "
        r"somewhere. For every group size $s$, with $r=\lceil k/s\rceil$, $f$ is computed exactly "
        r"by a rational ReLU network with $\lceil\log_2\min(s,n+1)\rceil+\lceil\log_2r\rceil$ "
        r"hidden layers and $O_n(r\,s^{n+1})$ neurons: between the tournament tree ($s=1$) and the "
        r"shallow network ($s=k$)."
    ),
    source=Source(PAPER, "Theorem 6.3"),
    evidence="exact",
    uses=["dc_decomposition.nn-signed-simplices"],
)
def nn_convex(run: Run) -> Finding:
    return _trade_off(convex_net)


def _changed_when_shallow(change: Change) -> Builder:
    def build(maps: Maps, n: int, group: int) -> ReLUNet:
        if group < len(maps):
            return convex_net(maps, n, group)
        return signed_sum_net(maps, change(signed_simplices(maps, n)), n)

    return build


@nn_convex.control("one max-term of the shallow networks dropped")
def _(run: Run) -> Finding:
    return _trade_off(_changed_when_shallow(_without_one))


@nn_convex.control("one sign of the shallow networks flipped")
def _(run: Run) -> Finding:
    return _trade_off(_changed_when_shallow(_with_one_sign_flipped))


# --- signed simplices -------------------------------------------------------------------------


Instances = Sequence[tuple[int, list[Affine]]]


def _instances(run: Run) -> Instances:
    """Tangents at random points in one to four dimensions, and at grids."""
    rng = run.rng("points")
    small = ((1, 8), (2, 12), (2, 24), (3, 12), (4, 9))
    large = ((1, 40), (2, 12), (2, 60), (3, 24), (4, 16))
    found = [
        (n, tangents(random_points(rng, count, n, 30)))
        for n, count in run.pick(ci=small, paper=large)
        for _ in range(run.pick(ci=3, paper=20))
    ]
    return [*found, (2, tangents(grid(2, 2))), (2, tangents(grid(3, 2))), (3, tangents(grid(2, 3)))]


SEVENTHS = 7


def _wrong_at(terms: Terms, maps: Maps, numerators: Sequence[Sequence[int]], unit: int) -> int:
    """At how many of the points ``numerators / unit`` the sum differs from the maximum.

    The maps have integer entries, so all values are integers over the same unit.
    """
    integers = [([int(c) for c in a], int(b)) for a, b in maps]
    wrong = 0
    for point in numerators:
        values = [sum(c * x for c, x in zip(a, point, strict=True)) + unit * b for a, b in integers]
        total = sum(sign * max(values[index] for index in term) for term, sign in terms.items())
        wrong += total != max(values)
    return wrong


def _spots(rng: np.random.Generator, n: int) -> list[list[int]]:
    return rng.integers(-300, 301, (200, n)).tolist()


def _identities(run: Run, instances: Instances, change: Change) -> dict[str, Finding]:
    """The identity against a second derivation, in the plane on all cells, and at points."""
    rng = run.rng("spots")
    agree = wrong = mismatches = regions = unproved = 0
    arities, signs = [], set()
    for n, maps in instances:
        terms = change(signed_simplices(maps, n))
        agree += terms == dependence_recursion(maps, n)
        wrong += _wrong_at(terms, maps, _spots(rng, n), SEVENTHS)
        arities.append(max(map(len, terms)) - n)
        signs |= {abs(sign) for sign in terms.values()}
        net = signed_sum_net(maps, terms, n)
        if n <= 2 and len(maps) <= 12:
            proof = prove_maximum(net, maps)
            mismatches += len(proof.mismatches)
            regions += proof.regions
        unproved += not prove_by_algebra(net, maps, groups=[maps]).holds
    return {
        "same terms as the recursion": Equal(agree, len(instances)),
        "wrong values at random points": Equal(wrong, 0, sizes={"points": 200 * len(instances)}),
        "mismatching regions (n at most 2, k at most 12)": Equal(
            mismatches, 0, sizes={"regions": regions}
        ),
        "networks not proved by algebra": Equal(unproved, 0),
        "maps in a term, beyond n": AtMost(arities, 1),
        "absolute coefficients": Equal(sorted(signs), [1]),
    }


def _hull_points(maps: Maps) -> int:
    """Number of gradients on the boundary of their convex hull, in the plane, by turning."""
    points = [(int(a[0]), int(a[1])) for a, _ in maps]
    return sum(not _surrounded(p, points) for p in points)


def _surrounded(p: tuple[int, int], points: Sequence[tuple[int, int]]) -> bool:
    """Tell whether p is interior: no half-plane through p holds all other points."""
    others = [(x - p[0], y - p[1]) for x, y in points if (x, y) != p]
    return all(
        any(a * d - b * c > 0 for c, d in others) and any(a * d - b * c < 0 for c, d in others)
        for a, b in others
    )


def _numbers(run: Run) -> dict[str, Finding]:
    """Numbers of terms on the line and in the plane against the closed forms."""
    measured, predicted = [], []
    for n, maps in _instances(run):
        if n == 1:
            predicted.append(sizes.interior_simplices_on_line(len(maps)))
        elif n == 2:
            predicted.append(sizes.interior_simplices_in_plane(len(maps), _hull_points(maps)))
        else:
            continue
        measured.append(len(signed_simplices(maps, n)))
    return {"numbers of terms": Equal(measured, predicted)}


def _quadrilateral(diagonal: tuple[int, int]) -> tuple[int, list[tuple[int, int]]]:
    """Mismatching regions for a choice of diagonal, and the grid points where it is wrong."""
    maps, (i, j) = tangents(THIN_QUADRILATERAL), diagonal
    terms: Terms = {frozenset({i, j, k}): 1 for k in range(4) if k not in diagonal}
    terms[frozenset(diagonal)] = -1
    points = [(x, y) for x in range(-20, 21) for y in range(-20, 21)]
    wrong = [p for p in points if _wrong_at(terms, maps, [p], 1)]
    return len(prove_maximum(signed_sum_net(maps, terms, 2), maps).mismatches), wrong


@claim(
    "dc_decomposition.nn-signed-simplices",
    statement=(
        r"Let $f=\max_i(\langle a_i,x\rangle+b_i)$ on $\mathbb R^n$, every map being the strict "
        r"maximum somewhere. Over the simplices $\sigma$ of the regular triangulation of the $a_i$ "
        r"lifted by $b_i$ (upper hull) that are interior to the convex hull, of dimension $m$: "
        r"$$f=\sum_\sigma(-1)^{m-\dim\sigma}\max_{i\in\sigma}\ell_i.$$ All coefficients are "
        r"$\pm1$, no term has more than $n+1$ maps, and there are $2k-3$ terms for $n=1$ and "
        r"$6k-5-4H$ for $n=2$ ($H$ gradients on the boundary of the hull)."
    ),
    source=OURS,
    evidence="exact",
)
def nn_signed_simplices(run: Run) -> Finding:
    mismatches, wrong = _quadrilateral((1, 3))
    _, wrong_elsewhere = _quadrilateral((0, 2))
    return AllHold(
        {
            **_identities(run, _instances(run), _unchanged),
            **_numbers(run),
            "thin quadrilateral: mismatches": Equal(mismatches, 0),
            "thin quadrilateral: wrong grid points": Equal(len(wrong), 0),
            "its other diagonal: all wrong grid points": Equal(
                wrong_elsewhere, [(2, 4), (3, 3), (3, 4)], sizes={"grid points": 41**2}
            ),
        }
    )


@nn_signed_simplices.control("the other diagonal of a thin quadrilateral")
def _(run: Run) -> Finding:
    mismatches, wrong = _quadrilateral((0, 2))
    return AllHold({"mismatches": Equal(mismatches, 0), "wrong grid points": Equal(len(wrong), 0)})


@nn_signed_simplices.control("one max-term dropped")
def _(run: Run) -> Finding:
    return AllHold(_identities(run, _instances(run)[::3], _without_one))


@nn_signed_simplices.control("one sign flipped")
def _(run: Run) -> Finding:
    return AllHold(_identities(run, _instances(run)[::3], _with_one_sign_flipped))


# --- differences ------------------------------------------------------------------------------


def _sums_of_largest(n: int, k: int) -> list[Affine]:
    """Affine maps of the sum of the k largest of n numbers."""
    return [
        (tuple(Fraction(int(i in chosen)) for i in range(n)), Fraction(0))
        for chosen in combinations(range(n), k)
    ]


class _Median:
    """The median of n numbers (n odd) as the difference of two sums of largest."""

    def __init__(self, n: int) -> None:
        self.n, self.half = n, (n + 1) // 2

    def as_max(self) -> tuple[list[Affine], list[Affine]]:
        return _sums_of_largest(self.n, self.half), _sums_of_largest(self.n, self.half - 1)

    @property
    def pieces(self) -> int:
        return self.half * len(_sums_of_largest(self.n, self.half))


def _decomposed(run: Run) -> dict[str, tuple[CPWL, Decomposition]]:
    """Functions on planes of cells, each with its decomposition of least total."""
    cases: dict[str, tuple[Complex, CPWL]] = {"median of three": median_of_three()}
    for trained in two_moons_nets():
        name = f"trained net {trained.hidden}, seed {trained.seed}"
        cases[name] = Complex.from_network(trained.net)
    return {
        name: (f, min(decompose(complex, f), key=lambda dec: sum(dec.counts)))
        for name, (complex, f) in cases.items()
    }


def _exactness(run: Run, build: Callable[[Decomposition], ReLUNet]) -> dict[str, Finding]:
    """Equality on all cells, and the widths of the two trees side by side."""
    parts: dict[str, Finding] = {}
    for name, (f, decomposition) in _decomposed(run).items():
        net = build(decomposition)
        for kind, candidate in (("", net), (", neurons shared", share_neurons(net))):
            proof = prove_equal(candidate, f)
            parts[f"{name}{kind}: mismatches"] = Equal(
                len(proof.mismatches),
                0,
                sizes={"regions": proof.regions, "neurons": candidate.size},
            )
        parts[f"{name}: widths"] = Equal(net.hidden, sizes.dc_widths(*decomposition.counts))
    return parts


def _against_chen(run: Run) -> dict[str, Finding]:
    """Medians proved by algebra, and all sizes against the general bound of the literature."""
    neurons, depths, bounds, unproved = [], [], [], 0
    for n in run.pick(ci=(3, 5, 7, 9), paper=(3, 5, 7, 9, 11)):
        median = _Median(n)
        net = dc_net(median)
        unproved += not prove_by_algebra(net, *median.as_max()).holds
        neurons.append(net.size)
        depths.append(net.depth)
        bounds.append(sizes.chen_bound(median.pieces, n))
    for f, decomposition in _decomposed(run).values():
        net = dc_net(decomposition)
        neurons.append(net.size)
        depths.append(net.depth)
        bounds.append(sizes.chen_bound(f.pieces(), f.affine_components()))
    return {
        "medians not proved by algebra": Equal(unproved, 0),
        "neurons against the general bound": AtMost(neurons, [b.neurons for b in bounds]),
        "layers against the general bound": AtMost(depths, [b.depth for b in bounds]),
    }


@claim(
    "dc_decomposition.nn-nonconvex",
    statement=(
        r"A function with a decomposition of $(q_g,q_h)$ pieces is computed exactly by a rational "
        r"ReLU network with $\lceil\log_2\max(q_g,q_h)\rceil$ hidden layers, as wide as the two "
        r"tournament trees side by side: "
        r"$T(q_g)+T(q_h)$ neurons plus two for each layer by which one tree is shallower, with "
        r"$T(k)=\sum_i3\lfloor k_i/2\rfloor+2(k_i\bmod2)$, $k_0=k$, $k_{i+1}=\lceil k_i/2\rceil$. "
        r"On medians and trained networks this is smaller than the general bound of Chen, "
        r"Garudadri and Rao."
    ),
    source=Source(PAPER, "Corollary 6.4"),
    evidence="exact",
    uses=["dc_decomposition.order-statistics", "dc_decomposition.minimal-vertex"],
)
def nn_nonconvex(run: Run) -> Finding:
    return AllHold({**_exactness(run, dc_net), **_against_chen(run)})


class _Without:
    """A decomposition of which one affine map of g is forgotten."""

    def __init__(self, decomposition: Decomposition) -> None:
        self.decomposition = decomposition

    def as_max(self) -> tuple[list[Affine], list[Affine]]:
        g, h = self.decomposition.as_max()
        return (g[:-1] or g), h


@nn_nonconvex.control("one affine map of g deleted")
def _(run: Run) -> Finding:
    return AllHold(_exactness(run, lambda decomposition: dc_net(_Without(decomposition))))


def _nudged(decomposition: Decomposition) -> ReLUNet:
    """The network with a billionth added to the first bias."""
    (matrix, (first, *others)), *layers = dc_net(decomposition).layers
    return ReLUNet([(matrix, (first + Fraction(1, 10**9), *others)), *layers])


@nn_nonconvex.control("a billionth added to one bias")
def _(run: Run) -> Finding:
    return AllHold(_exactness(run, _nudged))
