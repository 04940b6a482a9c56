"""The Gaussian integrals, and the hierarchy of moments that the spectrum closes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import asin, pi, sqrt

import numpy as np

from theorylab.claims import Source, claim
from theorylab.committee import Committee, Spectrum
from theorylab.findings import AllHold, AtMost, Equal, Finding
from theorylab.gaussian import ERF, fill_fourth_moment, kernels
from theorylab.run import Run
from theorylab.scaling_laws import enclosures
from theorylab.scaling_laws.hierarchy import annihilates, moment_error, vandermonde

DERIVED = Source("theorylab", "derived in the chapter")
QUADRUPLES = (
    (0, 0, 0, 0),
    (0, 0, 0, 1),
    (0, 1, 0, 0),
    (0, 1, 0, 1),
    (0, 1, 1, 2),
    (0, 1, 2, 2),
    (0, 1, 2, 3),
)
Quadruple = tuple[int, int, int, int]


def _covariances(run: Run) -> list[np.ndarray]:
    """Random covariances; of rank one, with opposite fields, with a zero, with huge variances."""
    rng = run.rng("covariances")
    weights = list(rng.standard_normal((run.pick(ci=12, paper=60), 4, 6)) / sqrt(6))
    line = np.outer([1.0, -1.0, 2.0, 0.5], np.eye(6)[0])
    opposite, silent, huge = weights[0].copy(), weights[1].copy(), weights[2].copy()
    opposite[1] = -opposite[0]
    silent[2] = 0
    huge[0] *= 1000
    return [W @ W.T for W in (*weights, line, opposite, silent, huge)]


def _distance(ball: object, value: float) -> float:
    """How far a number may be from the integral that a ball encloses."""
    return abs(float(ball.mid()) - value) + float(ball.rad())  # type: ignore[attr-defined]


def _worst_pair(stack: list[np.ndarray], enclose: Callable, formula: Callable) -> AtMost:
    pairs = [(0, 0), (0, 1), (1, 2), (3, 0)]
    return AtMost(
        max(_distance(enclose(C, a, b), formula(C, a, b)) for C in stack for a, b in pairs),
        1e-12,
        sizes={"covariances": len(stack)},
    )


def _fourth(C: np.ndarray, quadruple: Quadruple) -> float:
    """E[g'_i g'_j g_a g_b], read off the quadratic form that the library computes."""
    i, j, a, b = quadruple

    def form(w: np.ndarray) -> float:
        # Students of weight zero would hide the factor, so it is divided out.
        V = np.empty((2, 2))
        fill_fourth_moment(C, w, ERF, 0.0, V)
        return V[i, j] / (w[i] * w[j])

    # Polarisation with small base weights 1 on the students: the form is quadratic in w.
    base = np.array([1.0, 1.0, 0.0, 0.0])
    total = 0.0
    for sign_a in (1, -1):
        for sign_b in (1, -1):
            shift = np.zeros(4)
            shift[a] += 3.0 * sign_a
            shift[b] += 5.0 * sign_b
            total += sign_a * sign_b * form(base + shift)
    return total / (2 * 4 * 15)


def _worst_fourth(stack: list[np.ndarray], formula: Callable) -> AtMost:
    return AtMost(
        max(
            _distance(enclosures.erf_fourth(C, *q), formula(C, q))
            for C in stack
            for q in QUADRUPLES
        ),
        1e-12,
    )


def _entry(name: str, act: str) -> Callable:
    return lambda C, a, b: float(getattr(kernels(C, 1, act), name)[a, b])


def _moving(stack: list[np.ndarray]) -> list[np.ndarray]:
    """Those without a field of variance zero, where ReLU has no derivative, nor a huge one."""
    return [C for C in stack if C.diagonal().min() > 0 and C.max() < 1e4]


@claim(
    "scaling_laws.kernels",
    statement=r"""For jointly Gaussian fields the averages $E[gg]$, $E[g'g']$, $E[g''g]$ of erf
and ReLU units, and $E[g'_ig'_jg_ag_b]$ of erf units, are the elementary functions of the
covariance printed in the chapter: each lies within $10^{-12}$ of a rigorous enclosure of its
integral.""",
    source=DERIVED,
    evidence="certified",
)
def kernels_claim(run: Run) -> Finding:
    stack = _covariances(run)
    parts: dict[str, Finding] = {
        f"erf {name}": _worst_pair(stack, enclose, _entry(name, "erf"))
        for name, enclose in zip(
            ("I2", "G", "H"), (enclosures.erf_i2, enclosures.erf_g, enclosures.erf_h), strict=True
        )
    }
    parts["erf fourth moment"] = _worst_fourth(stack, _fourth)
    for name, enclose in zip(
        ("I2", "G", "H"), (enclosures.relu_i2, enclosures.relu_g, enclosures.relu_h), strict=True
    ):
        parts[f"relu {name}"] = _worst_pair(_moving(stack), enclose, _entry(name, "relu"))
    return AllHold(parts)


@kernels_claim.control("the variance of a field in place of one plus it")
def _(run: Run) -> Finding:
    return _worst_pair(
        _moving(_covariances(run)),
        enclosures.erf_i2,
        lambda C, a, b: 2 / pi * asin(np.clip(C[a, b] / sqrt(C[a, a] * C[b, b]), -1, 1)),
    )


@kernels_claim.control("a repeated field counted without its own noise")
def _(run: Run) -> Finding:
    def without(C: np.ndarray, quadruple: Quadruple) -> float:
        i, j, a, b = quadruple
        D = (1 + C[i, i]) * (1 + C[j, j]) - C[i, j] ** 2 if i != j else 1 + 2 * C[i, i]

        def tilted(x: int, y: int) -> float:
            if i == j:
                return C[x, y] - 2 * C[i, x] * C[i, y] / D
            along = (1 + C[j, j]) * C[i, x] * C[i, y] + (1 + C[i, i]) * C[j, x] * C[j, y]
            crossed = C[i, j] * (C[i, x] * C[j, y] + C[j, x] * C[i, y])
            return C[x, y] - (along - crossed) / D

        cosine = tilted(a, b) / sqrt(tilted(a, a) * tilted(b, b))
        return 4 / (pi**2 * sqrt(D)) * asin(np.clip(cosine, -1, 1))

    return _worst_fourth(_moving(_covariances(run)), without)


# --- closure ----------


def _rational_spectrum(run: Run) -> tuple[list[Fraction], list[Fraction], list[list[int]]]:
    """Distinct rational eigenvalues, a spectrum that repeats them, and integer vectors."""
    rng = run.rng("spectrum")
    distinct = sorted({Fraction(int(a), int(b)) for a, b in rng.integers(1, 12, (9, 2))})
    repeated = [lam for lam in distinct for _ in range(int(rng.integers(1, 4)))]
    vectors = rng.integers(1, 20, (8, len(repeated))).tolist()
    return distinct, repeated, vectors


def _learner(L: int) -> Committee:
    spectrum = Spectrum.power_law(L, 1.0)
    start = np.array([[0.3, 0.1], [0.05, 0.2]])
    return Committee(spectrum, np.eye(2), 2, 0.5).starting_at(start, 0.3 * np.eye(2))


def _parting(L: int, factor: float) -> AtMost:
    """Largest relative distance of the two curves; the first root is multiplied by ``factor``."""
    alpha, committee = np.linspace(0, 15, 16), _learner(L)
    roots = committee.spectrum.lam.copy()
    roots[0] *= factor
    blocks = committee.integrate(alpha, 1e-9, 1e-12).eps_g
    return AtMost(np.abs(moment_error(committee, alpha, roots) / blocks - 1).max(), 1e-6)


def _killed(run: Run, missing: int) -> Equal:
    distinct, repeated, vectors = _rational_spectrum(run)
    roots = distinct[missing:]
    return Equal(sum(annihilates(roots, repeated, vector) for vector in vectors), len(vectors))


@claim(
    "scaling_laws.closure",
    statement=r"""The moments $\langle\lambda^lR\rangle$, $\langle\lambda^lQ\rangle$ close at
$l=L$, the number of *distinct* eigenvalues: $\prod_k(\Sigma-\lambda_k)=0$ with repetitions
left out, and no polynomial of lower degree does it. The closed hierarchy and the flow of the
blocks give the same learning curve within $10^{-6}$ for $L\le4$.""",
    source=DERIVED,
    evidence="exact",
)
def closure(run: Run) -> Finding:
    distinct, repeated, vectors = _rational_spectrum(run)
    short = [
        annihilates([r for r in distinct if r != left_out], repeated, vector)
        for left_out in distinct
        for vector in vectors
    ]
    return AllHold(
        {
            "minimal polynomial": _killed(run, 0),
            "one root fewer": Equal(sum(short), 0),
            "Vandermonde determinant vanishes": Equal(int(vandermonde(distinct) == 0), 0),
            **{f"curves, L = {L}": _parting(L, 1.0) for L in (1, 2, 3, 4)},
        },
        sizes={"L": len(distinct), "N": len(repeated)},
    )


@closure.control("one eigenvalue off by 1 % in the polynomial")
def _(run: Run) -> Finding:
    return _parting(3, 1.01)


@closure.control("a polynomial of one degree less")
def _(run: Run) -> Finding:
    return _killed(run, 1)
