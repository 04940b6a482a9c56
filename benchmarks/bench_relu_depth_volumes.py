"""Exact volumes of lattice polytopes beside PyNormaliz, and how they grow.

``python benchmarks/bench_relu_depth_volumes.py`` prints a table and writes
``benchmarks/results/relu_depth_volumes.json``.

PyNormaliz runs in a process of its own, since it can abort on large coordinates; it is timed there,
without the start of the process. Both sides compute the normalised volume from the points.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from pairing import Measure, Result, compared_clocks, grown, report, seconds, skip
from scipy.spatial import ConvexHull

from theorylab.relu_depth import LatticePolytope, hull_union
from theorylab.relu_depth.samples import random_zonotope

PEER = """
import json, sys, time
from PyNormaliz import Cone
for line in sys.stdin:
    points = json.loads(line)
    start = time.perf_counter()
    volume = Cone(vertices=[[*p, 1] for p in points]).Volume()
    print(json.dumps([time.perf_counter() - start, str(volume)]), flush=True)
"""
ABORT = 3 * 10**8
Points = list[list[int]]


class Peer:
    """PyNormaliz in another process, which is started anew when it has aborted."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, points: Points) -> tuple[float, int] | None:
        """Seconds and volume, or None if the process died."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", PEER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(points), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            self._process.wait()
            return None
        found, volume = json.loads(answer)
        return found, int(volume)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def points_of(count: int, d: int, size: int) -> Points:
    return np.random.default_rng(d).integers(-size, size + 1, (count, d)).tolist()


def cube(d: int) -> Points:
    return [[(i >> j) & 1 for j in range(d)] for i in range(2**d)]


def join(d: int) -> Points:
    rng = np.random.default_rng(d)
    both = hull_union(*(random_zonotope(rng, d, 5, 1) for _ in range(2)))
    return [list(vertex) for vertex in both.vertices]


def clock_of(peer: Peer, points: Points) -> Callable[[], float]:
    def read() -> float:
        answer = peer(points)
        assert answer is not None, "PyNormaliz aborted on a case that is to be timed"
        return answer[0]

    return read


def volume(points: Points) -> int:
    return LatticePolytope(points).volume()


def cases() -> list[tuple[str, Points, float | None]]:
    return [
        ("cube, d=6", cube(6), None),
        ("40 random points, d=4", points_of(40, 4, 4), 1 / 5),
        ("40 random points, d=6", points_of(40, 6, 4), 1 / 5),
        ("22 random points, d=9", points_of(22, 9, 4), None),
        ("join of two zonotopes, d=8", join(8), 1 / 20),
        ("join of two zonotopes, d=9", join(9), 1 / 20),
    ]


def wrong(peer: Peer, size: int, count: int = 20) -> tuple[int, int, int]:
    """Of random 4-polytopes: differences to the peer, its aborts, wrong rounded float volumes."""
    rng, differ, aborts, floats = np.random.default_rng(size % 1000), 0, 0, 0
    for _ in range(count):
        points = rng.integers(-size, size + 1, (12, 4)).tolist()
        ours, answer = volume(points), peer(points)
        aborts += answer is None
        differ += answer is not None and answer[1] != ours
        floats += round(24 * ConvexHull(points).volume) != ours
    return differ, aborts, floats


def main() -> None:
    if importlib.util.find_spec("PyNormaliz") is None:
        skip("PyNormaliz")
    peer = Peer()
    rows = []
    for name, points, least in cases():
        answer = peer(points)
        assert answer is not None, f"PyNormaliz aborted on {name}"
        assert answer[1] == volume(points), name
        clocks = (
            (lambda points=points: seconds(lambda: volume(points), 0.05)),
            clock_of(peer, points),
        )
        rows.append(compared_clocks(name, *clocks, rounds=3, least=least, points=len(points)))
    sizes = [10**3, 10**5, ABORT]
    found = {size: wrong(peer, size) for size in sizes}
    peer.close()
    growths = (
        grown(
            "random points in dimension 4, in their number",
            [
                (f"{m} points", m, lambda m=m: volume(points_of(m, 4, 50)))
                for m in (20, 40, 80, 160)
            ],
            rounds=3,
            most=2.5,
        ),
        grown(
            "twenty random points, in the dimension",
            [(f"d={d}", d, lambda d=d: volume(points_of(20, d, 50))) for d in (2, 3, 4, 5, 6, 7)],
            rounds=3,
        ),
    )
    measures = (
        Measure("volumes that differ", sum(differ for differ, *_ in found.values()), most=0),
        *(Measure(f"aborts of the peer, coordinates to {s:.0e}", found[s][1]) for s in sizes),
        *(Measure(f"wrong float volumes (SciPy), to {s:.0e}", found[s][2]) for s in sizes),
    )
    title = "Exact volumes of lattice polytopes"
    target = "at least 1/5 on random points up to d=6, 1/20 on joins; never a wrong volume"
    found_version = version("PyNormaliz")
    report(
        "relu_depth_volumes",
        Result(title, "PyNormaliz", found_version, tuple(rows), target, growths, measures),
    )


if __name__ == "__main__":
    main()
