"""The chapter's pictures; every function returns a figure."""

from __future__ import annotations

from .complex_figures import median_figure, polyhedron_figure, twisted_figure
from .interactive import edge_view
from .network_figures import (
    flags_figure,
    size_depth_figure,
    sphere_figure,
    staircase_figure,
    trained_figure,
)

__all__ = [
    "edge_view",
    "flags_figure",
    "median_figure",
    "polyhedron_figure",
    "size_depth_figure",
    "sphere_figure",
    "staircase_figure",
    "trained_figure",
    "twisted_figure",
]
