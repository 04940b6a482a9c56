"""The chapter's pictures; each function returns a matplotlib figure."""

from __future__ import annotations

from theorylab.total_variation.ising_figures import chain_figure, error_figure, gap_figure
from theorylab.total_variation.mixture_figures import (
    cost_figure,
    digits_figure,
    failure_map_figure,
    moment_gap_figure,
    moving_node_picture,
    staircase_figure,
)
from theorylab.total_variation.product_figures import bounds_figure, bracket_figure

__all__ = [
    "bounds_figure",
    "bracket_figure",
    "chain_figure",
    "cost_figure",
    "digits_figure",
    "error_figure",
    "failure_map_figure",
    "gap_figure",
    "moment_gap_figure",
    "moving_node_picture",
    "staircase_figure",
]
