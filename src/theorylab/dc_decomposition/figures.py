"""The chapter's pictures; every function returns a figure."""

from __future__ import annotations

from .complex_figures import median_figure, polyhedron_figure, twisted_figure
from .interactive import edge_view

__all__ = ["edge_view", "median_figure", "polyhedron_figure", "twisted_figure"]
