"""Claims on networks as differences of support functions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from theorylab.claims import Source, claim
from theorylab.exact import ReLUNet
from theorylab.findings import AllHold, AtLeast, Equal, Finding
from theorylab.run import Run

from ..constructions import max5_network, tree_network
from ..newton import Join, newton_pair, phi, refute
from ..polytopes import LatticePolytope, hull_union, minkowski, normalized_volume, support
from ..samples import random_network, random_points, random_polytope

PAPER = "averkov2025expressiveness"


def _same_values(run: Run, join: Join = hull_union) -> Equal:
    """Values of random networks beside those of their pairs of polytopes."""
    rng, measured, predicted = run.rng("networks"), [], []
    for _ in range(run.pick(ci=20, paper=100)):
        net = random_network(rng, (4, 3, 3, 1))
        A, B = newton_pair(net, join)
        for x in random_points(rng, 20, 4, 50):
            measured.append(support(A, x) - support(B, x))
            predicted.append(int(net(x)))
    return Equal(measured, predicted)


def _witnesses(networks: Sequence[ReLUNet], targets: Sequence[int]) -> Equal:
    """Where networks differ from the maxima that they should be."""
    found = [refute(net, n) for net, n in zip(networks, targets, strict=True)]
    texts = ["none" if x is None else f"at {x}" for x in found]
    return Equal(texts, ["none"] * len(texts))


def with_changed_weight(net: ReLUNet) -> ReLUNet:
    """The network with 1 added to the first weight of its last hidden layer."""
    layers = list(net.layers)
    matrix, bias = layers[-2]
    first = (matrix[0][0] + 1, *matrix[0][1:])
    layers[-2] = ((first, *matrix[1:]), bias)
    return ReLUNet(layers)


@claim(
    "relu_depth.dictionary",
    statement=r"""A homogeneous network with $k$ hidden layers and integer weights is $f = h_A -
h_B$ with $A, B \in \mathrm{SU}^k$, found neuron by neuron; so it computes $F_n = \max(0, x_1,
\dots, x_n)$ if and only if $\Delta_n + B = A$. Networks are told from $F_n$ by an integer point,
or proved equal by comparing vertices.""",
    source=Source(PAPER, "Theorem 8, Corollary 9"),
    evidence="exact",
)
def dictionary(run: Run) -> Finding:
    sizes = range(1, run.pick(ci=6, paper=8))
    rng = run.rng("others")
    others = [random_network(rng, (4, 4, 4, 1)) for _ in range(10)]
    witnessed = [(net, x) for net in others if (x := refute(net, 4)) is not None]
    return AllHold(
        {
            "values": _same_values(run),
            "trees are maxima": _witnesses([tree_network(n) for n in sizes], list(sizes)),
            "two layers are a maximum": _witnesses([max5_network()], [4]),
            "random networks are not": Equal(len(witnessed), len(others)),
            "witnesses that fail": Equal(sum(net(x) == max(0, *x) for net, x in witnessed), 0),
        }
    )


@dictionary.control("a rectifier takes the Minkowski sum in place of the hull")
def _(run: Run) -> Finding:
    return _same_values(run, minkowski)


@dictionary.control("one weight of a tree changed")
def _(run: Run) -> Finding:
    return _witnesses([with_changed_weight(tree_network(n)) for n in (3, 4)], [3, 4])


def _sum_network(f: ReLUNet, g: ReLUNet, factor: int = 1) -> ReLUNet:
    """f + factor g, side by side; both of one depth."""
    layers = []
    for level, ((U, b), (V, c)) in enumerate(zip(f.layers, g.layers, strict=True)):
        if level == 0:
            rows = (*U, *V)
        elif level == f.depth:
            rows = ((*U[0], *(factor * w for w in V[0])),)
        else:
            rows = (
                *((*row, *(Fraction(0),) * len(V[0])) for row in U),
                *((*(Fraction(0),) * len(U[0]), *row) for row in V),
            )
        layers.append((rows, b if level == f.depth else (*b, *c)))
    return ReLUNet(layers)


def _volume_difference(A: LatticePolytope, B: LatticePolytope, d: int, p: int) -> int:
    return (normalized_volume(A, d) - normalized_volume(B, d)) % p


def _choices(run: Run, d: int, p: int, count: int) -> Equal:
    """The invariant after one more polytope is added to both A and B."""
    rng, before, after = run.rng(f"choices {d}"), [], []
    for _ in range(count):
        A, B, C = (random_polytope(rng, d) for _ in range(3))
        before.append(_volume_difference(A, B, d, p))
        after.append(_volume_difference(minkowski(A, C), minkowski(B, C), d, p))
    return Equal(after, before)


def _trees_of_linear_maps(run: Run, count: int) -> list[ReLUNet]:
    """The tree for F_4 after a linear map: the identity first, then random integer ones."""
    rng = run.rng("linear maps")
    maps = [np.eye(4, dtype=int), *(rng.integers(-2, 3, (4, 4)) for _ in range(count))]
    (first, bias), *others = tree_network(4).layers
    table = np.array([[int(w) for w in row] for row in first])
    return [ReLUNet([((table @ L).tolist(), bias), *others]) for L in maps]


@claim(
    "relu_depth.phi-invariant",
    statement=r"""For $d = p^t$ and homogeneous integer networks on $\mathbb R^d$, $\varphi_p(h_A
- h_B) = \mathrm{Vol}_d(A) - \mathrm{Vol}_d(B) \bmod p$ depends on the function alone, is
additive, vanishes for at most $t$ hidden layers, and is 1 on $F_d$.""",
    source=Source(PAPER, "Theorem 15 and the conclusion"),
    evidence="exact",
    uses=["relu_depth.dictionary", "relu_depth.su-k-divisible", "relu_depth.additive-mod-p"],
)
def phi_invariant(run: Run) -> Finding:
    rng = run.rng("summands")
    deep = [random_network(rng, (4, 2, 2, 2, 1), 1) for _ in range(8)]
    values = [phi(net, 2) for net in deep]
    sums = [phi(_sum_network(f, g, -1), 2) for f, g in zip(deep[::2], deep[1::2], strict=True)]
    shallow = [random_network(rng, (4, 5, 4, 1)) for _ in range(run.pick(ci=12, paper=40))]
    return AllHold(
        {
            "depends on the function alone": _choices(run, 4, 2, 12),
            "additive": Equal(
                sums, [(a - b) % 2 for a, b in zip(values[::2], values[1::2], strict=True)]
            ),
            "two layers": Equal([phi(net, 2) for net in shallow], [0] * len(shallow)),
            "neuron by neuron": Equal(
                [_volume_difference(*newton_pair(net), 4, 2) for net in shallow],
                [phi(net, 2) for net in shallow],
            ),
            "maxima": Equal(
                [phi(tree_network(n), p) for n, p in ((2, 2), (3, 3), (4, 2), (5, 5))], [1] * 4
            ),
        }
    )


@phi_invariant.control("three hidden layers on four inputs")
def _(run: Run) -> Finding:
    values = [phi(net, 2) for net in _trees_of_linear_maps(run, 10)]
    return Equal(values, [0] * len(values))


@phi_invariant.control("dimension 3 modulo 2: not well defined")
def _(run: Run) -> Finding:
    return _choices(run, 3, 2, 40)


def _odd_part_defect(values: dict[str, int]) -> int:
    """How far x -> f(x) - f(-x) is from additive at two points."""
    return abs(values["sum"] - values["x"] - values["y"])


def _odd_parts(net: ReLUNet, x: Sequence[int], y: Sequence[int]) -> dict[str, int]:
    def odd(point: Sequence[int]) -> int:
        return int(net(point) - net([-a for a in point]))

    both = [a + b for a, b in zip(x, y, strict=True)]
    return {"x": odd(x), "y": odd(y), "sum": odd(both)}


def _defects_of_maxima(sizes: Sequence[int]) -> AtLeast:
    """The odd part of F_n at the first and the last coordinate vector."""
    found = []
    for n in sizes:
        unit = np.eye(n, dtype=int).tolist()
        found.append(_odd_part_defect(_odd_parts(tree_network(n), unit[0], unit[-1])))
    return AtLeast(found, 1)


@claim(
    "relu_depth.two-layers-needed",
    statement=r"""One hidden layer does not compute $F_n$ for $n \ge 2$, whatever its real
weights: for a homogeneous network with one hidden layer $f(x) - f(-x)$ is linear, and for $F_n$
it is not.""",
    source=Source("mukherjee2017lower", "Proposition 2.2, as cited in the follow-up literature"),
    evidence="exact",
)
def two_layers_needed(run: Run) -> Finding:
    rng = run.rng("networks")
    defects = []
    for _ in range(run.pick(ci=40, paper=200)):
        net = random_network(rng, (3, 6, 1))
        x, y = random_points(rng, 2, 3, 9)
        defects.append(_odd_part_defect(_odd_parts(net, x, y)))
    return AllHold(
        {
            "one layer: the odd part is linear": Equal(defects, [0] * len(defects)),
            "the maximum: it is not": _defects_of_maxima(range(2, 9)),
        }
    )


@two_layers_needed.control("one input: the rectifier itself has one layer")
def _(run: Run) -> Finding:
    return _defects_of_maxima([1])


@two_layers_needed.control("two hidden layers")
def _(run: Run) -> Finding:
    rng, defects = run.rng("deeper networks"), []
    for _ in range(40):
        net = random_network(rng, (3, 4, 4, 1))
        x, y = random_points(rng, 2, 3, 9)
        defects.append(_odd_part_defect(_odd_parts(net, x, y)))
    return Equal(defects, [0] * len(defects))
