"""Sizes of exact networks, beside the code of Chen, Garudadri and Rao.

``python benchmarks/bench_dc_decomposition_networks.py CHECKOUT`` prints a table and writes
``benchmarks/results/dc_decomposition_networks.json``. CHECKOUT is a folder with the files of
https://github.com/kjason/CPWL2ReLUNetwork (commit 4ab7ca1); without it the sizes are compared with
the bound that its paper states, and nothing is written. Ours goes the whole way: decomposition,
network, and the proof that it equals the function (on all regions, or by algebra for medians of
five or more). The peer is handed the pieces, exactly, instead of searching them by sampling; it
builds in floating point and proves nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pairing import Measure, Result, Row, compared, report, skip

from theorylab.dc_decomposition import (
    CPWL,
    Complex,
    ReLUNet,
    chen_bound,
    dc_net,
    decompose,
    integrate,
    prove_by_algebra,
    prove_equal,
    share_neurons,
    two_moons_nets,
)
from theorylab.dc_decomposition.examples import order_statistic, random_arrangement
from theorylab.dc_decomposition.functions import regions
from theorylab.exact import Polyhedron

ROUNDS = 3
Form = tuple[Sequence[Any], Any]


@dataclass(frozen=True)
class Case:
    name: str
    f: CPWL
    least: float | None = None
    """Neurons of the bound over ours that are to be reached."""

    def __str__(self) -> str:
        return f"{self.name}: {self.f.pieces()} pieces, {self.f.affine_components()} affine maps"


@dataclass(frozen=True)
class Piece:
    """A convex region, its affine map, and a ball in it."""

    forms: list[Form]
    affine: Form
    centre: np.ndarray
    radius: float


def cases() -> list[Case]:
    arrangement = random_arrangement(np.random.default_rng(3), 4, 2)
    one_layer = integrate(arrangement, one_layer_weights(arrangement))
    trained = two_moons_nets()[1].net
    return [
        Case("median of 3 numbers", order_statistic(3, 2)),
        Case("median of 5 numbers", order_statistic(5, 3), least=8.0),
        Case("one hidden layer, 2 inputs, 4 neurons", one_layer),
        Case("trained net 2-4-3-1", Complex.from_network(trained)[1], least=8.0),
    ]


def one_layer_weights(arrangement: Any) -> list[int]:
    signs = {plane: (-1) ** k * (k + 1) for k, plane in enumerate(arrangement.hyperplanes)}
    return [signs[wall.eta, wall.beta] for wall in arrangement.walls]


def exact_net(f: CPWL) -> ReLUNet:
    """The network of the decomposition with the fewest pieces, proved equal to f."""
    best = min(decompose(f.complex, f), key=lambda dec: sum(dec.counts))
    net = share_neurons(dc_net(best))
    by_regions = net.n < 5
    proof = prove_equal(net, f) if by_regions else prove_by_algebra(net, *best.as_max())
    if not proof.holds:
        raise SystemExit("the network is not proved equal to the function")
    return net


def pieces(f: CPWL) -> list[Piece]:
    """Regions of f; where a region is not convex, its cells."""
    found = []
    for region in regions(f.complex, f.weights):
        cells = [f.complex.cells[k] for k in region]
        affine = f.pieces_on_cells[region[0]]
        hull = hull_of(cells)
        parts = [hull] if all_affine(f, hull, affine) else cells
        found += [piece(part, affine) for part in parts]
    return found


def hull_of(cells: Sequence[Polyhedron]) -> Polyhedron:
    generators = [
        [entry for cell in cells for entry in getattr(cell, kind)]
        for kind in ("points", "rays", "lines")
    ]
    return Polyhedron.from_generators(cells[0].n, *generators)


def all_affine(f: CPWL, part: Polyhedron, affine: Form) -> bool:
    """Whether f is the affine map on the whole part."""
    return all(
        own == affine or cell.intersection(part).dimension < part.n
        for cell, own in zip(f.complex.cells, f.pieces_on_cells, strict=True)
    )


def piece(part: Polyhedron, affine: Form) -> Piece:
    centre = np.array([float(x) for x in part.interior_point()])
    radius = min(
        (float(np.dot(a, centre) + b) / float(np.linalg.norm(a)) for a, b in part.inequalities),
        default=1.0,
    )
    return Piece(list(part.inequalities), affine, centre, radius / 2)


class Observed:
    """The function as the peer wants it: values of rows of points."""

    def __init__(self, found: Sequence[Piece], torch: Any) -> None:
        self.n = len(found[0].centre)
        self.found, self.torch = found, torch
        self.slopes = torch.tensor([[float(c) for c in p.affine[0]] for p in found])
        self.constants = torch.tensor([float(p.affine[1]) for p in found])

    def value(self, x: Any) -> Any:
        rows = x.reshape(-1, self.n)
        inside = self.torch.stack([self.depth(p, rows) for p in self.found])
        index = inside.argmax(dim=0)
        values = (self.slopes[index] * rows).sum(dim=1) + self.constants[index]
        return values.squeeze() if x.ndim == 1 else values

    def depth(self, p: Piece, rows: Any) -> Any:
        if not p.forms:
            return self.torch.full((len(rows),), float("inf"))
        normals = self.torch.tensor([[float(c) for c in a] for a, _ in p.forms])
        offsets = self.torch.tensor([float(b) for _, b in p.forms])
        return (rows @ normals.T + offsets).min(dim=1).values


def peer_net(found: Sequence[Piece]) -> tuple[Any, int]:
    """Build the peer's network; return it with the number of affine components it found."""
    import torch
    from cpwl import Pieces
    from relu_net import CPWLReLUNet

    given = Pieces()
    for number, p in enumerate(found):
        A = torch.tensor([[-float(c) for c in a] for a, _ in p.forms])
        b = torch.tensor([[float(c)] for _, c in p.forms])
        given.add(torch.tensor(p.centre), p.radius, A, b, number)
    return CPWLReLUNet(Observed(found, torch), given)


def row(case: Case) -> Row:
    f, found = case.f, pieces(case.f)
    bound = chen_bound(f.pieces(), f.affine_components())
    net, (peer, _) = exact_net(f), peer_net(found)
    check(peer, f)
    return compared(
        str(case),
        lambda: exact_net(f),
        lambda: peer_net(found),
        rounds=ROUNDS,
        window=0,
        ours_neurons=net.size,
        ours_layers=net.depth,
        bound_neurons=bound.neurons,
        bound_layers=bound.depth,
        peer_neurons=sum(peer.k[1:-1]),
        peer_layers=len(peer.k) - 2,
    )


def bound_measure(case: Case) -> Measure:
    """How many times our neurons fit into the bound."""
    neurons = chen_bound(case.f.pieces(), case.f.affine_components()).neurons
    size = exact_net(case.f).size
    name = f"neurons of the bound over ours, {case.name}"
    return Measure(name, neurons / size, case.least)


def peer_measure(case: Case, found: Row) -> Measure:
    """How many times our neurons fit into the peer's."""
    ratio = found.details["peer_neurons"] / found.details["ours_neurons"]
    return Measure(f"neurons of the peer over ours, {case.name}", ratio)


def check(peer: Any, f: CPWL) -> None:
    """The peer's network has the function's values at random points."""
    import torch

    points = np.random.default_rng(0).integers(-50, 51, (40, f.complex.n))
    expected = [float(f([int(c) for c in point])) for point in points]
    got = peer(torch.tensor(points, dtype=torch.double)).numpy()
    if not np.allclose(got, expected, rtol=1e-9, atol=1e-6):
        raise SystemExit("the peer's network has other values than the function")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", nargs="?", type=Path, help="folder of CPWL2ReLUNetwork")
    folder = parser.parse_args().checkout
    bounds = [bound_measure(case) for case in cases()]
    if folder is None or not (folder / "relu_net.py").exists():
        for measure in bounds:
            print(f"{measure.name}: {measure.value:.1f}")
        skip("CPWL2ReLUNetwork", "give the folder of a checkout; sizes are those beside its bound")
    sys.path.insert(0, str(folder))
    rows = [row(case) for case in cases()]
    beside_peer = [peer_measure(*pair) for pair in zip(cases(), rows, strict=True)]
    report(
        "dc_decomposition_networks",
        Result(
            "Decomposition polyhedra: networks for piecewise linear functions",
            "CPWL2ReLUNetwork (Chen, Garudadri, Rao 2022), given the exact pieces",
            "4ab7ca1",
            tuple(rows),
            "at most 1/8 of the bound on the median of 5 and the trained net",
            measures=(*bounds, *beside_peer),
        ),
    )


if __name__ == "__main__":
    main()
