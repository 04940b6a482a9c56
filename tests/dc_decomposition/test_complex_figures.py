from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from theorylab.dc_decomposition import CPWL, Complex, DecompositionPolyhedron, integrate
from theorylab.dc_decomposition.complex_figures import (
    affine_text,
    anchored,
    clipped_corners,
    median_figure,
    polyhedron_figure,
    twisted_figure,
)
from theorylab.dc_decomposition.examples import median_of_three, standard_example
from theorylab.dc_decomposition.functions import count_regions, regions
from theorylab.dc_decomposition.interactive import edge_view


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        (((0, 0), 0), "$0$"),
        (((1, -1), 0), "$x-y$"),
        (((-2, Fraction(1, 2)), -3), "$-2x+1/2y-3$"),
        (((0, 0), 5), "$5$"),
    ],
)
def test_affine_maps_as_text(piece: tuple, text: str) -> None:
    assert affine_text(piece, ("x", "y")) == text


def test_cells_are_clipped_in_order() -> None:
    quadrant = Complex.from_fan2d([(1, 0), (0, 1), (-1, -1)]).cells[0]
    corners = clipped_corners(quadrant, (-1, 2, -1, 2))
    turns = [
        (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
        for a, b, c in zip(
            corners, corners[1:] + corners[:1], corners[2:] + corners[:2], strict=True
        )
    ]
    assert set(corners) == {(0, 0), (2, 0), (2, 2), (0, 2)}
    assert min(turns) > 0
    assert clipped_corners(quadrant, (-3, -2, -3, -2)) == []


def test_regions_partition_the_cells() -> None:
    _, f = median_of_three()
    (dec,) = DecompositionPolyhedron(f.complex, f).vertices()
    classes = regions(f.complex, dec.w_g)
    assert len(classes) == count_regions(f.complex, dec.w_g) == 3
    assert sorted(cell for region in classes for cell in region) == list(range(6))
    for region in classes:
        assert len({dec.g.pieces_on_cells[cell] for cell in region}) == 1


def test_anchored_parts_still_differ_by_f() -> None:
    _, f = median_of_three()
    (dec,) = DecompositionPolyhedron(f.complex, f).vertices()
    g, h = anchored(dec, (-1, -2))
    assert (g - h).pieces_on_cells == f.pieces_on_cells
    assert set(h.pieces_on_cells) == {((0, 0), 0), ((1, 0), 0), ((0, 1), 0)}


def test_the_median_picture_shows_kinks_and_counts() -> None:
    panels = median_figure().axes
    assert [axes.get_title(loc="left") for axes in panels] == [
        "$f$: 6 pieces",
        "$g$: 3 pieces",
        "$h$: 3 pieces",
    ]
    dashed = [sum(line.get_linestyle() == "--" for line in axes.lines) for axes in panels]
    assert dashed == [3, 0, 0]


def test_the_slice_marks_both_vertices() -> None:
    (axes,) = polyhedron_figure().axes
    assert {text.get_text().strip() for text in axes.texts} == {"4 + 3 pieces", "3 + 4 pieces"}


def test_three_walls_are_thick() -> None:
    (axes,) = twisted_figure().axes
    assert sum(line.get_linewidth() > 3 for line in axes.lines) == 3


def test_on_every_slider_step_the_parts_differ_by_f() -> None:
    fan, f = standard_example()
    first, second = DecompositionPolyhedron(fan, f).vertices()
    view = edge_view(first, second, steps=4)
    (slider,) = view.figure.layout.sliders
    assert len(slider.steps) == 5
    for step in slider.steps:
        z = step.args[0]["z"]
        assert len(z) == 9
        assert np.allclose(np.array(z[0]), np.array(z[3]) - np.array(z[6]))
    assert slider.steps[0].label != slider.steps[-1].label
    assert "(vertex)" in slider.steps[0].label
    assert len(view._repr_mimebundle_()["text/html"]) < 200_000


def test_views_of_different_things_are_refused() -> None:
    fan, f = standard_example()
    first, second = DecompositionPolyhedron(fan, f).vertices()
    other = DecompositionPolyhedron(fan, CPWL(fan, f.pieces_on_cells)).vertices()[0]
    with pytest.raises(ValueError, match="one and the same"):
        edge_view(first, other)
    with pytest.raises(ValueError, match="at least one step"):
        edge_view(first, second, steps=0)
    braid = Complex.braid(3)
    zero = DecompositionPolyhedron(braid, integrate(braid, [0] * 6)).vertices()[0]
    with pytest.raises(ValueError, match="plane"):
        edge_view(zero, zero)
