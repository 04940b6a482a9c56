"""What the correlations of a task contain: modes, a linear remainder, commutators."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from theorylab.exact.matrices import independent_rows, rational_matrix
from theorylab.gated_linear.tasks import Task, hierarchy

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Mode:
    """A singular mode of a task.

    Attributes
    ----------
    kind : {"joint", "context", "object", "mixed"}
        What its input vector distinguishes.
    S, D : float
        Input-output strength, and input strength along the same right singular vector.
    mult : int
        Multiplicity.
    """

    kind: str
    S: float
    D: float
    mult: int


def task_modes(task: Task) -> list[Mode]:
    r"""Modes of :math:`\Sigma_{yx}=YX^\top` with the input strength of each, strongest first.

    D is the value of :math:`\Sigma_x=XX^\top` on the mode's own right singular vector. Sorting the
    spectra of both matrices and pairing them by rank gives other numbers as soon as the context
    strength lies below its critical value.
    """
    driving, inputs = task.Y @ task.X.T, task.X @ task.X.T
    found: list[Mode] = []
    for vector in _right_vectors(driving, inputs):
        S, D = float(np.linalg.norm(driving @ vector)), float(vector @ inputs @ vector)
        if 1e-9 * np.linalg.norm(driving) < S:
            _collect(found, Mode(_kind(vector, task.P), S, D, 1))
    return sorted(found, key=lambda mode: -mode.S)


def _right_vectors(driving: Floats, inputs: Floats) -> Floats:
    """Right singular vectors of ``driving``; eigenvectors of ``inputs`` too where they exist."""
    square = driving.T @ driving / np.linalg.norm(driving) ** 2
    scaled = inputs / np.linalg.norm(inputs)
    if np.linalg.norm(square @ scaled - scaled @ square) > 1e-12:
        return np.linalg.svd(driving)[2]
    return np.linalg.eigh(square + scaled / np.pi**3)[1].T


def _kind(vector: Floats, objects: int) -> str:
    o, c = vector[:objects], vector[objects:]
    small = 1e-7
    if np.ptp(o) < small and np.ptp(c) < small:
        return "joint"
    if np.abs(o).max() < small and abs(c.sum()) < small:
        return "context"
    return "object" if np.abs(c).max() < small and abs(o.sum()) < small else "mixed"


def _collect(found: list[Mode], mode: Mode) -> None:
    for place, known in enumerate(found):
        close = np.allclose((known.S, known.D), (mode.S, mode.D), rtol=1e-8)
        if known.kind == mode.kind and close:
            found[place] = Mode(known.kind, known.S, known.D, known.mult + 1)
            return
    found.append(mode)


def sorted_pairing(task: Task) -> list[tuple[float, float]]:
    """S and D by rank of the two spectra, as the authors' public code pairs them: a control."""
    S = np.linalg.svd(task.Y @ task.X.T, compute_uv=False)
    D = np.linalg.svd(task.X @ task.X.T, compute_uv=False)
    keep = 1e-9 * S[0] < S
    return [(float(s), float(d)) for s, d in zip(S[keep], D[: len(S)][keep], strict=True)]


def linear_residual(task: Task, exact: bool = True) -> Fraction | float:
    r"""Least loss of a linear network: :math:`\min_W\tfrac12\|Y-WX\|^2`.

    Parameters
    ----------
    task : Task
    exact : bool
        Rational least squares on independent rows of X (no pseudo-inverse), or floats.

    Raises
    ------
    TypeError
        If ``exact`` and the task was given in floats.
    """
    if not exact:
        solution = np.linalg.lstsq(task.X.T, task.Y.T, rcond=None)[0]
        return 0.5 * float(((task.Y - solution.T @ task.X) ** 2).sum())
    return residual_on(task.exact_X, task.exact_Y)


def residual_on(features: NDArray[Any], targets: NDArray[Any]) -> Fraction:
    r"""Exact least loss of a linear map of the features: :math:`\min_W\tfrac12\|Y-WF\|^2`.

    Parameters
    ----------
    features : array of int or Fraction, shape (f, N)
        Dependent rows are dropped.
    targets : array of int or Fraction, shape (q, N)
    """
    samples = targets.shape[1]
    rows = [list(row) for row in features]
    inputs = rational_matrix([rows[row] for row in independent_rows(rows, samples)], samples)
    outputs = rational_matrix([list(row) for row in targets], samples)
    driving = outputs * inputs.transpose()
    explained = (driving * (inputs * inputs.transpose()).inv()) * driving.transpose()
    total = (outputs * outputs.transpose()) - explained
    return sum((_fraction(total[i, i]) for i in range(total.nrows())), Fraction(0)) / 2


def nested_features(task: Task) -> list[NDArray[Any]]:
    """Features that a linear network learns one after the other on identical hierarchies.

    First the constant, then the contexts, then also the nodes of the tree, one level at a time.
    """
    context = np.array([task.sample_mask([c]).astype(int) for c in range(task.C)], dtype=object)
    tree = np.hstack([hierarchy(task.P)] * task.C).astype(object)
    levels = [np.vstack([context, tree[: (2 << level) - 1]]) for level in range(1, _depth(task.P))]
    return [np.ones((1, task.samples), dtype=object), context, *levels]


def _depth(objects: int) -> int:
    return objects.bit_length()


@dataclass(frozen=True)
class Commutator:
    r"""The commutator of :math:`\Sigma_x` and :math:`\Sigma_{yx}^\top\Sigma_{yx}`.

    Attributes
    ----------
    matrix : array
        Its entries.
    square : Fraction or float
        Sum of their squares; 0 exactly when the two matrices are mutually diagonalisable.
    relative : float
        Its Frobenius norm over that of the product :math:`\Sigma_x\Sigma_{yx}^\top\Sigma_{yx}`.
    """

    matrix: NDArray[Any]
    square: Fraction | float
    relative: float


def commutator(task: Task, exact: bool = True) -> Commutator:
    r"""Do the correlations of the task commute, as the paper's Assumption 2.1 asks?

    .. math:: [\Sigma_x,\ \Sigma_{yx}^\top\Sigma_{yx}], \quad
        \Sigma_x = XX^\top,\ \Sigma_{yx} = YX^\top

    Parameters
    ----------
    task : Task
    exact : bool
        Rational matrices, or floats.
    """
    inputs, square = _exact_correlations(task) if exact else _float_correlations(task)
    product = inputs @ square
    gap = product - product.T
    total = (gap * gap).sum()
    return Commutator(gap, total, float(np.sqrt(float(total) / float((product * product).sum()))))


def _float_correlations(task: Task) -> tuple[Floats, Floats]:
    driving = task.Y @ task.X.T
    return task.X @ task.X.T, driving.T @ driving


def _exact_correlations(task: Task) -> tuple[NDArray[Any], NDArray[Any]]:
    X, Y = _flint(task.exact_X), _flint(task.exact_Y)
    driving = Y * X.transpose()
    return _fractions(X * X.transpose()), _fractions(driving.transpose() * driving)


def _flint(table: NDArray[Any]) -> fmpq_mat:
    return rational_matrix([list(row) for row in table], table.shape[1])


def _fractions(matrix: fmpq_mat) -> NDArray[Any]:
    table = np.empty((matrix.nrows(), matrix.ncols()), dtype=object)
    for place in np.ndindex(table.shape):
        table[place] = _fraction(matrix[place])
    return table


def _fraction(entry: fmpq) -> Fraction:
    return Fraction(int(entry.p), int(entry.q))
