"""Where a certified number or a formula does not decide, it says so."""

from __future__ import annotations

import numpy as np
import pytest

from theorylab.attention_rank import heads_needed, lower_bound, pick_probabilities_3d


@pytest.mark.parametrize(("d", "eps"), [(128, 0.15 / 128**0.5), (4096, 0.04), (64, 0.005)])
def test_more_heads_than_the_summed_degrees_decide_are_refused(d, eps):
    with pytest.raises(ValueError, match="does not decide there"):
        heads_needed(d, 1, eps)


def test_heads_that_see_all_keys_are_bounded_for_the_sign_only():
    with pytest.raises(ValueError, match="for the sign only"):
        lower_bound(4, 1, 1, "generalised", [0, 0, 0, 1])


def _on_a_circle(angle):
    return [np.cos(angle), np.sin(angle), 0.0]


@pytest.mark.parametrize(
    ("keys", "y"),
    [
        ([_on_a_circle(a) for a in (0.3, 1.4, 2.9)], _on_a_circle(0.7)),
        ([[1, 0, 0], [-1, 0, 0]], [1, 0, 0]),
        ([[1, 0, 0], [-1, 0, 0], [0, 1, 0]], [0, 1, 0]),
    ],
)
def test_keys_in_special_position_are_refused(keys, y):
    with pytest.raises(ValueError, match="in one plane"):
        pick_probabilities_3d(np.array(keys, dtype=float), np.array(y, dtype=float))
