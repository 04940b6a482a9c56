"""Which complexes carry enough convex functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from theorylab.claims import Source, claim
from theorylab.exact import ReLUNet
from theorylab.findings import AllHold, Equal, Finding
from theorylab.run import Run

from ..activation import layerwise_decomposition
from ..complexes import Complex
from ..examples import random_function, twisted_triangles
from ..functions import CPWL
from ..polyhedron import DecompositionPolyhedron
from ..regular import regularity


def _stiff_walls(complex: Complex) -> list[int]:
    """Walls on which no convex function kinks."""
    zero = CPWL(complex, [((0,) * complex.n, 0)] * len(complex.cells))
    rays = [ray.weights for ray in DecompositionPolyhedron(complex, zero).rays()]
    return [wall for wall in range(len(complex.walls)) if not any(ray[wall] for ray in rays)]


def _shape(complex: Complex) -> list[int]:
    """Cells, walls, ridges, dimension, optimum of the regularity program, rays, stiff walls."""
    zero = CPWL(complex, [((0,) * complex.n, 0)] * len(complex.cells))
    return [
        len(complex.cells),
        len(complex.walls),
        len(complex.ridges),
        complex.weight_space.dim,
        int(regularity(complex).optimum),
        len(DecompositionPolyhedron(complex, zero).rays()),
        len(_stiff_walls(complex)),
    ]


def _functions(run: Run, complex: Complex) -> list[CPWL]:
    rng = run.rng("functions")
    return [random_function(complex, rng, 2) for _ in range(run.pick(ci=60, paper=1000))]


def _emptiness(run: Run, complex: Complex) -> dict[str, Finding]:
    """A function has a decomposition exactly if it does not bend on a stiff wall."""
    stiff = _stiff_walls(complex)
    functions = _functions(run, complex)
    bends = [any(f.weights[wall] for wall in stiff) for f in functions]
    proofs = [DecompositionPolyhedron(complex, f).empty_certificate() for f in functions]
    empty = [proof is not None for proof in proofs]
    checked = [
        DecompositionPolyhedron(complex, f).verify(proof)
        and [wall for wall, y in enumerate(proof.vector) if y] == stiff
        for f, proof in zip(functions, proofs, strict=True)
        if proof is not None
    ]
    return {
        "empty = bends on a stiff wall": Equal(
            sum(a == b for a, b in zip(empty, bends, strict=True)), len(functions)
        ),
        "Farkas vectors that check": Equal(sum(checked), sum(bends)),
        "equal multipliers on the stiff walls": Equal(
            sum(p is not None and sorted(set(p.vector)) == [0, 1] for p in proofs), sum(bends)
        ),
    }


def _irregular(run: Run, complex: Complex) -> dict[str, Finding]:
    return {
        "cells, walls, ridges, dimension, optimum, rays, stiff walls": Equal(
            _shape(complex), (10, 15, 6, 4, 0, 2, 3)
        ),
        **_emptiness(run, complex),
    }


def _random_nets(run: Run) -> list[ReLUNet]:
    rng = run.rng("nets")
    inputs = run.pick(ci=2, paper=3)
    return [_random_net(rng, inputs) for _ in range(run.pick(ci=200, paper=10_000))]


def _random_net(rng: np.random.Generator, inputs: int) -> ReLUNet:
    """One or two hidden layers of two to four neurons, small integer weights."""
    hidden = [int(width) for width in rng.integers(2, 5, int(rng.integers(1, 3)))]
    widths = [inputs, *hidden, 1]
    layers = [
        (rng.integers(-3, 4, (b, a)).tolist(), rng.integers(-3, 4, b).tolist())
        for a, b in pairwise(widths)
    ]
    return ReLUNet(layers)


def _networks(nets: Sequence[ReLUNet], split: Callable[[ReLUNet], CPWL]) -> dict[str, Finding]:
    regular = member = 0
    for net in nets:
        complex, f = Complex.from_network(net)
        regular += regularity(complex).is_regular
        member += DecompositionPolyhedron(complex, f).is_member(split(net))
    return {
        "networks with a regular complex": Equal(regular, len(nets)),
        "layerwise splittings in the polyhedron": Equal(member, len(nets)),
    }


def _convex_part(net: ReLUNet) -> CPWL:
    return layerwise_decomposition(net).g


@claim(
    "dc_decomposition.regularity",
    statement=(
        r"(a) $\mathcal D_{\mathcal P}(f)\ne\emptyset$ for all $f\in\mathcal V_{\mathcal P}$ if "
        r"and only if every wall on which some compatible function bends carries a kink of a "
        r"convex one. On the twisted triangles three walls do not, and the vector $y=1$ on them, "
        r"$y^\top w=0$ on $W_{\mathcal P}$, proves $\mathcal D_{\mathcal P}(f)=\emptyset$ for "
        r"every $f$ that bends there. (b) The activation complex of any ReLU network is regular, "
        r"and the layerwise splitting lies in $\mathcal D_{\mathcal P}(f)$."
    ),
    source=Source("theorylab", "derived in the chapter"),
    evidence="exact",
    uses=["dc_decomposition.polyhedron"],
)
def regular_complexes(run: Run) -> Finding:
    return AllHold(
        {
            **_irregular(run, twisted_triangles()),
            **_networks(_random_nets(run), _convex_part),
        }
    )


@regular_complexes.control("the diagonal Ab replaced by aB, which undoes the twist")
def _(run: Run) -> Finding:
    return AllHold(_irregular(run, twisted_triangles("aB")))


@regular_complexes.control("networks whose concave part is taken for the convex one")
def _(run: Run) -> Finding:
    nets = _random_nets(run)[:40]
    return AllHold(_networks(nets, lambda net: layerwise_decomposition(net).h))
