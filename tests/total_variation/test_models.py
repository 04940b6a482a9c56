"""Real data and fitted models: known facts of the data sets, exact statements about the models."""

from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_digits

from theorylab.total_variation import check_equivalence, tv_exact_mixture
from theorylab.total_variation.claims.models import digit_places
from theorylab.total_variation.data import (
    BLANK,
    CROSS,
    NOUGHT,
    binary_digits,
    class_counts,
    expanded,
    has_line,
    law_school_items,
    naive_bayes,
    tictactoe_boards,
)
from theorylab.total_variation.latent_classes import fit_latent_classes


def test_tictactoe_boards_are_those_of_the_literature():
    boards, won = tictactoe_boards()
    assert boards.shape == (958, 9)
    assert won.sum() == 626
    crosses, noughts = ((boards == mark).sum(axis=1) for mark in (CROSS, NOUGHT))
    assert set((crosses - noughts).tolist()) == {0, 1}
    drawn = [b for b in boards if not has_line(b, CROSS) and not has_line(b, NOUGHT)]
    assert len(drawn) == 16
    assert all(BLANK not in board for board in drawn)


def test_digits():
    pixels, labels = binary_digits()
    assert pixels.shape == (1797, 64)
    assert set(np.unique(pixels)) == {0, 1}
    greys = load_digits().images.reshape(-1, 64)
    assert pixels.sum() == np.isin(greys, range(8, 17)).sum()
    model = naive_bayes(pixels, labels, 2)
    assert model.weights == tuple(F(int((labels == d).sum()), 1797) for d in range(10))
    count = int(pixels[labels == 3, 20].sum())
    assert model.rows[3][20][1] == F(count + 1, int((labels == 3).sum()) + 2)


def test_expanded_digits_are_the_same_distribution():
    pixels, labels = binary_digits()
    model = naive_bayes(pixels, labels, 2)
    bigger = expanded(model, digit_places())
    assert bigger.n_components == 20
    result = check_equivalence(model, bigger)
    assert result.equal
    assert result.ranks[-1] == 20
    assert set(result.active) == {0, 1, 2, 3} | {pixel for _, pixel in digit_places()}
    fewer = [pixel for _, pixel in digit_places()]
    rest = [j for j in range(64) if j not in fewer]
    order = fewer + rest
    first = check_equivalence(model.marginal(order), bigger.marginal(order))
    assert first.active == tuple(range(10))


def test_law_school_items():
    items = law_school_items()
    assert items.shape == (1000, 5)
    assert items.sum(axis=0).tolist() == [828, 658, 772, 606, 843]


def test_class_counts():
    points = np.array([[0, 1], [0, 0], [1, 2]])
    assert class_counts(points, np.array([0, 0, 1]), [2, 3]) == [
        [[2, 0], [1, 1, 0]],
        [[0, 1], [0, 0, 1]],
    ]


def test_one_latent_class_is_the_smoothed_mean():
    items = law_school_items()
    fit = fit_latent_classes(items, 1, np.random.default_rng(0), smoothing=1.0, iterations=3)
    expected = (items.sum(axis=0) + 1) / 1002
    assert [float(row[1]) for row in fit.model.rows[0]] == pytest.approx(expected)


def test_iterations_never_lower_the_objective():
    items = law_school_items()
    objectives = [
        fit_latent_classes(items, 2, np.random.default_rng(1), iterations=steps).objective
        for steps in (1, 2, 5, 20, 100, 400)
    ]
    assert all(a <= b + 1e-9 for a, b in pairwise(objectives))


def test_fits_from_two_starts_agree_but_are_not_equal():
    items = law_school_items()
    one, two = (fit_latent_classes(items, 2, np.random.default_rng(s)) for s in (0, 1))
    assert one.objective == pytest.approx(two.objective, abs=1e-8)
    assert tv_exact_mixture(one.model, two.model) < F(1, 10**12)


@pytest.mark.parametrize(("classes", "smoothing"), [(0, 0.5), (2, 0.0)])
def test_fit_arguments(classes, smoothing):
    with pytest.raises(ValueError, match="classes >= 1"):
        fit_latent_classes(law_school_items(), classes, np.random.default_rng(0), smoothing)
