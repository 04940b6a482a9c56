"""Functions and weights: the balancing condition, and convexity as a sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np
from flint import fmpz_mat

from theorylab.claims import Source, claim
from theorylab.exact import clear_denominators, rank
from theorylab.findings import AllHold, AtLeast, Equal, Finding
from theorylab.run import Run

from .. import theory
from ..balancing import cycle_rows, ridge_rows, weight_space
from ..complexes import Complex
from ..examples import (
    median_of_three,
    moment_arrangement,
    random_arrangement,
    random_convex,
    random_fan,
    random_function,
    six_planes,
    twisted_triangles,
)
from ..functions import CPWL, AffineMap, integrate, integrate_along_tree
from ..walls import Ridge

Change = Callable[[Complex], Complex]


def _zoo(run: Run) -> dict[str, tuple[Complex, tuple[int, int, int]]]:
    """Complexes with their predicted numbers of cells, walls and dimensions."""
    zoo: dict[str, tuple[Complex, tuple[int, int, int]]] = {
        "median": (median_of_three()[0], (6, 6, theory.plane_fan_dimension(6))),
        "six planes": (six_planes()[0], (28, 48, 8)),
    }
    for n in run.pick(ci=(3, 4, 5), paper=(3, 4, 5)):
        zoo[f"braid {n}"] = Complex.braid(n), theory.braid_shape(n)
    for planes, n in run.pick(ci=((5, 2), (6, 3)), paper=((9, 2), (8, 3), (7, 4))):
        walls = planes * theory.arrangement_cells(planes - 1, n - 1)
        shape = theory.arrangement_cells(planes, n), walls, planes
        zoo[f"{planes} planes in dimension {n}"] = moment_arrangement(planes, n), shape
    return zoo


def _ranks(complex: Complex) -> tuple[int, int, int]:
    """Ranks of the ridge equations, of the cycle equations and of both together."""
    walls = len(complex.walls)
    ridges, cycles = ridge_rows(complex), cycle_rows(complex)
    return rank(ridges, walls), rank(cycles, walls), rank(ridges + cycles, walls)


def _spaces(run: Run, change: Change) -> dict[str, Finding]:
    findings: dict[str, Finding] = {}
    for name, (complex, (cells, walls, dim)) in _zoo(run).items():
        changed = change(complex)
        measured = len(complex.cells), len(complex.walls), *_ranks(changed)
        findings[name] = Equal(
            (*measured, weight_space(changed).dim),
            (cells, walls, walls - dim, walls - dim, walls - dim, dim),
            sizes={"ridges": len(complex.ridges)},
        )
    return findings


def _is_accepted(complex: Complex, w: Sequence[int | Fraction]) -> bool:
    try:
        integrate(complex, w)
    except ValueError:
        return False
    return True


def _closes_all_cycles(complex: Complex, w: Sequence[int | Fraction]) -> bool:
    return all(sum(a * x for a, x in zip(row, w, strict=True)) == 0 for row in cycle_rows(complex))


def _tampered(w: Sequence[Fraction], rng: np.random.Generator) -> list[Fraction]:
    """One weight changed by one."""
    changed = list(w)
    changed[int(rng.integers(len(changed)))] += 1
    return changed


def _acceptance(run: Run) -> Finding:
    """Balanced vectors are accepted and tampered ones refused, as the cycles of cells say."""
    rng = run.rng("vectors")
    measured, predicted = 0, 0
    trials = run.pick(ci=10, paper=100)
    complexes = [median_of_three()[0], six_planes()[0], Complex.braid(4)]
    for complex in complexes:
        for _ in range(trials):
            good = random_function(complex, rng).weights
            for w in (good, _tampered(good, rng)):
                measured += _is_accepted(complex, w)
                predicted += _closes_all_cycles(complex, w)
    return AllHold(
        {
            "accepted": Equal(measured, predicted, sizes={"vectors": 2 * trials * len(complexes)}),
            "balanced ones": Equal(predicted, trials * len(complexes)),
        }
    )


@claim(
    "dc_decomposition.balance",
    statement=(
        r"A vector of weights on the walls of a complete polyhedral complex $\mathcal P$ belongs "
        r"to a compatible continuous piecewise linear function, unique up to an affine one, if and "
        r"only if it is balanced at every ridge: $\sum_{\sigma\supset\tau}\pm w(\sigma)\eta_\sigma"
        r"=0$. Hence $\overline{\mathcal V}_{\mathcal P}\cong W_{\mathcal P}$."
    ),
    source=Source("brandenburg2025decomposition", "Lemma 3.2"),
    evidence="exact",
)
def balance(run: Run) -> Finding:
    return AllHold({**_spaces(run, lambda complex: complex), "vectors": _acceptance(run)})


def _with_ridges(complex: Complex, ridges: Sequence[Ridge]) -> Complex:
    return Complex(complex.n, complex.cells, complex.walls, ridges)


@balance.control("one ridge dropped")
def _(run: Run) -> Finding:
    return AllHold(_spaces(run, lambda complex: _with_ridges(complex, complex.ridges[1:])))


@balance.control("one crossing counted with the wrong sign")
def _(run: Run) -> Finding:
    def reversed_crossing(complex: Complex) -> Complex:
        (wall, sign), *rest = complex.ridges[0].cycle
        return _with_ridges(
            complex, [replace(complex.ridges[0], cycle=((wall, -sign), *rest)), *complex.ridges[1:]]
        )

    return AllHold(_spaces(run, reversed_crossing))


@balance.control("weights (1,0,0,0) on the fan of the two axes")
def _(run: Run) -> Finding:
    fan = Complex.from_fan2d([(1, 0), (0, 1), (-1, 0), (0, -1)])
    return Equal(int(_is_accepted(fan, (1, 0, 0, 0))), 1)


def passes_maximum_test(complex: Complex, pieces: Sequence[AffineMap]) -> bool:
    r"""Tell whether :math:`\ell_P\ge\ell_Q` on P for all cells P, Q: convexity from its definition.

    Exact, from the points, rays and lines of the cells.
    """
    cleared = [clear_denominators((*slope, constant)) for slope, constant in pieces]
    common = lcm(*(denominator for _, denominator in cleared))
    rows = [[entry * (common // d) for entry in entries] for entries, d in cleared]
    forms = fmpz_mat(rows).transpose()
    for number, cell in enumerate(complex.cells):
        values = fmpz_mat([list(row) for row in cell.homogeneous_generators]) * forms
        if any(row[number] < max(row) for row in values.tolist()):
            return False
    return True


def _complexes(run: Run, rng: np.random.Generator) -> list[Complex]:
    fans = [random_fan(rng, int(rng.integers(4, 9))) for _ in range(run.pick(ci=8, paper=80))]
    lines = [random_arrangement(rng, 4, 2) for _ in range(run.pick(ci=4, paper=20))]
    planes = [random_arrangement(rng, 4, 3, central=True) for _ in range(run.pick(ci=4, paper=20))]
    fixed = [Complex.braid(3), Complex.braid(4), six_planes()[0], twisted_triangles()]
    return [*fans, *lines, *planes, *fixed]


def _sample(run: Run) -> list[CPWL]:
    """On every complex as many functions that are convex by construction as random ones."""
    rng = run.rng("functions")
    functions = []
    for complex in _complexes(run, rng):
        for _ in range(run.pick(ci=6, paper=20)):
            functions.append(random_convex(complex, rng))
            functions.append(random_convex(complex, rng) + random_function(complex, rng))
    return functions


def _agreement(cases: Sequence[tuple[bool, bool]]) -> Equal:
    """How often the sign test and the maximum test say the same."""
    return Equal(sum(by_sign == by_maximum for by_sign, by_maximum in cases), len(cases))


def _unbalanced(run: Run) -> list[tuple[Complex, list[int]]]:
    """Nonnegative weights on plane fans that violate the balancing condition."""
    rng = run.rng("unbalanced")
    found: list[tuple[Complex, list[int]]] = []
    while len(found) < 60:
        fan = random_fan(rng, int(rng.integers(4, 9)))
        w = [int(entry) for entry in rng.integers(0, 4, len(fan.walls))]
        if any(sum(x * ray[k] for x, ray in zip(w, fan.rays, strict=True)) for k in range(2)):
            found.append((fan, w))
    return found


@claim(
    "dc_decomposition.convex-sign",
    statement=(
        r"A function $f$ compatible with $\mathcal P$ is convex if and only if $w_f(\sigma)\ge0$ "
        r"on every wall."
    ),
    source=Source("brandenburg2025decomposition", "Proposition 3.3"),
    evidence="exact",
    uses=["dc_decomposition.balance"],
)
def convex_sign(run: Run) -> Finding:
    cases = [
        (f.is_convex(), passes_maximum_test(f.complex, f.pieces_on_cells)) for f in _sample(run)
    ]
    nonconvex = sum(not by_maximum for _, by_maximum in cases)
    unbalanced = _unbalanced(run)
    refused = sum(not _is_accepted(fan, w) for fan, w in unbalanced)
    return AllHold(
        {
            "sign test = maximum test": _agreement(cases),
            "nonconvex among them": AtLeast(nonconvex, len(cases) // 3),
            "convex among them": AtLeast(len(cases) - nonconvex, len(cases) // 3),
            "unbalanced weights refused": Equal(refused, len(unbalanced)),
        }
    )


@convex_sign.control("nonnegative but unbalanced weights, summed along a tree of cells")
def _(run: Run) -> Finding:
    return _agreement(
        [
            (min(w) >= 0, passes_maximum_test(fan, integrate_along_tree(fan, w)))
            for fan, w in _unbalanced(run)
        ]
    )


@convex_sign.control("normals pointing the wrong way on every other wall")
def _(run: Run) -> Finding:
    cases = []
    for f in _sample(run):
        signed = [w * (-1) ** k for k, w in enumerate(f.weights)]
        cases.append((min(signed) >= 0, passes_maximum_test(f.complex, f.pieces_on_cells)))
    return _agreement(cases)
