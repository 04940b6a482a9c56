"""The pictures draw what the library computes."""

import pytest

from theorylab.total_variation import figures
from theorylab.total_variation.claims.models import digit_places


@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures.staircase_figure(digit_places()),
        lambda: figures.failure_map_figure(range(0, 21, 5)),
        lambda: figures.moment_gap_figure(range(2, 16)),
        lambda: figures.cost_figure((6, 10)),
        lambda: figures.digits_figure(digit_places(), samples=200),
    ],
)
def test_pictures_are_drawn(draw, tmp_path):
    draw().savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_the_exact_method_never_errs_on_the_map():
    axes = figures.failure_map_figure(range(0, 21, 4)).axes
    for axis in axes:
        grid = axis.collections[0].get_array().reshape(6, -1)
        assert not grid[0].any()
    assert axes[0].collections[0].get_array().reshape(6, -1)[1:].any(axis=1).all()


def test_the_slider_shows_one_equal_position():
    names = [trace.name for trace in figures.moving_node_picture().figure.data]
    assert sum(name.startswith("equal") for name in names) == 1
    assert len(names) == 25
