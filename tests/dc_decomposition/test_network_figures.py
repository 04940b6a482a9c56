from __future__ import annotations

import numpy as np
import pytest

from theorylab.dc_decomposition import DecompositionPolyhedron, local_rule
from theorylab.dc_decomposition.counterexamples import crossing_stars
from theorylab.dc_decomposition.network_figures import (
    crossings,
    flags_figure,
    pareto_counts,
    size_depth_figure,
    sphere_figure,
    sphere_map,
    spiral,
    staircase_figure,
    trained_figure,
)


def title(axes) -> str:
    return axes.get_title(loc="left")


def test_staircase_has_the_pareto_points_of_iris() -> None:
    (axes,) = staircase_figure("iris").axes
    front = next(line for line in axes.lines if line.get_marker() == "o")
    expected = [(13, 16), (14, 14), (15, 12), (16, 11), (17, 10), (19, 9)]
    assert [tuple(pair) for pair in front.get_xydata()] == expected
    square = next(line for line in axes.lines if line.get_marker() == "s")
    assert square.get_xydata().tolist() == [[24, 24]]


def test_pareto_counts() -> None:
    assert pareto_counts([(3, 3), (1, 5), (2, 5), (3, 2), (1, 5)]) == [(1, 5), (3, 2)]


def test_one_crossing_less_in_each_part() -> None:
    complex, f = crossing_stars()
    rule = local_rule(complex, f)
    better = next(v for v in DecompositionPolyhedron(complex, f).vertices() if v.counts == (11, 11))
    assert [len(crossings(complex, w)) for w in (rule.w_g, rule.w_h)] == [7, 7]
    assert [len(crossings(complex, w)) for w in (better.w_g, better.w_h)] == [6, 6]


def test_sphere_titles() -> None:
    assert [title(axes) for axes in sphere_figure().axes] == [
        "rule: $g$ has 12 pieces, 7 crossings",
        "rule: $h$ has 12 pieces, 7 crossings",
        "better: $g$ has 11 pieces, 6 crossings",
        "better: $h$ has 11 pieces, 6 crossings",
    ]


def test_map_of_the_sphere_has_equal_area() -> None:
    """Uniform directions fill the disk of radius 2 uniformly: squared radii are uniform."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((20_000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    squared = (sphere_map(points) ** 2).sum(axis=1)
    assert squared.max() <= 4 + 1e-9
    for quantile in (0.25, 0.5, 0.75):
        assert np.quantile(squared, quantile) == pytest.approx(4 * quantile, abs=0.06)


def test_flags_show_the_exact_law() -> None:
    (axes,) = flags_figure(batches=20, size=200).axes
    lines = sorted(float(line.get_xdata()[0]) for line in axes.lines)
    assert lines == [1 / 8, 3 / 8, 3 / 4]
    assert {text.get_text() for text in axes.texts} == {"$1/8$", "$3/8$", "$3/4$"}


def test_size_against_depth_shows_both_ends() -> None:
    (axes,) = size_depth_figure(12).axes
    ends = {line.get_label(): line.get_xydata()[0] for line in axes.lines}
    assert ends["tree, s=1"][0] == 4
    assert ends["shallow, s=12"][0] == 2
    assert ends["tree, s=1"][1] == 3 * 6 + 3 * 3 + 5 + 3


def test_spiral_points_are_distinct() -> None:
    assert len(set(spiral(100))) == 100


def test_trained_network_panels() -> None:
    titles = [title(axes) for axes in trained_figure(0).axes]
    assert titles == [
        "$f$: 22 pieces",
        "best $g$: 12 pieces",
        "best $h$: 14 pieces",
        "",
        "classical $g$: 49 pieces",
        "classical $h$: 33 pieces",
    ]
