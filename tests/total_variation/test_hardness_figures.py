"""Every picture of the Ising and product halves draws, quickly, at small sizes."""

from __future__ import annotations

import networkx as nx
import pytest
from matplotlib.figure import Figure

from theorylab.total_variation.figures import (
    bounds_figure,
    bracket_figure,
    chain_figure,
    error_figure,
    gap_figure,
)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: chain_figure(nx.path_graph(3)),
        lambda: error_figure(n=3),
        lambda: gap_figure(vertices=3, spins=5),
        lambda: bracket_figure(sizes=(10, 20)),
        lambda: bounds_figure(n=10),
    ],
)
def test_pictures_draw(draw) -> None:
    found = draw()
    assert isinstance(found, Figure)
    assert all(axis.has_data() for axis in found.axes)
