"""Real inputs: trained networks with frozen rational weights, tables, a tariff.

The file ``two_moons.json`` holds networks trained on scikit-learn's two-moons data. Weights of a
trained network depend on the versions of the libraries, so they are kept. They were made once,
with scikit-learn 1.9.1, for each shape of hidden layers and each seed by::

    X, y = make_moons(200, noise=0.1, random_state=0)
    net = MLPRegressor(hidden, solver="lbfgs", alpha=1e-3, max_iter=2000, random_state=seed)
    net.fit(X, 2 * y - 1)

and every weight was rounded to eighths. The file states how many of the 200 points the sign of
the rounded network gets right.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any

import numpy as np

from theorylab.exact import ReLUNet

from .complexes import ArrangementComplex, Complex
from .functions import CPWL, AffineMap
from .submodular import SubmodularPair, entropy_pair

TABLES = ("iris", "wine", "digits")


@dataclass(frozen=True)
class TrainedNet:
    """A network trained on two moons.

    Attributes
    ----------
    hidden : tuple of int
        Widths of the hidden layers.
    seed : int
        Seed of the training.
    correct : int
        How many of the 200 training points have the sign of their label.
    net : ReLUNet
    """

    hidden: tuple[int, ...]
    seed: int
    correct: int
    net: ReLUNet


def two_moons_nets() -> list[TrainedNet]:
    """Return the trained networks: hidden layers (4, 3) with seeds 0, 1, 2, and (4,)."""
    text = (
        files("theorylab.dc_decomposition").joinpath("two_moons.json").read_text(encoding="utf-8")
    )
    return [_trained(stored) for stored in json.loads(text)]


def _trained(stored: dict[str, Any]) -> TrainedNet:
    unit = Fraction(1, stored["denominator"])
    layers = [
        (
            tuple(tuple(w * unit for w in row) for row in layer["weights"]),
            tuple(b * unit for b in layer["biases"]),
        )
        for layer in stored["layers"]
    ]
    return TrainedNet(
        tuple(stored["hidden"]), stored["seed"], stored["correct_of_200"], ReLUNet(layers)
    )


def _cut(columns: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """Number of the quantiles that are not above the value."""
    quantiles = np.quantile(columns, shares, axis=0)
    return np.column_stack(
        [
            np.searchsorted(quantiles[:, k], columns[:, k], side="right")
            for k in range(columns.shape[1])
        ]
    )


def mutual_information(table: str) -> SubmodularPair:
    """Return the mutual information between four features and the label of a table.

    Parameters
    ----------
    table : {"iris", "wine", "digits"}
        - iris: all four features, cut at their tertiles; label: species.
        - wine: the first four features, cut at their medians; label: cultivar.
        - digits: whether pixels 18, 20, 28, 36 exceed 8; label: parity of the digit.

    Returns
    -------
    SubmodularPair
        The textbook pair, entropy minus conditional entropy; see ``entropy_pair``.

    Raises
    ------
    ValueError
        For another name.
    """
    from sklearn.datasets import load_digits, load_iris, load_wine

    if table not in TABLES:
        raise ValueError(f"table must be one of {', '.join(TABLES)}, got {table!r}")
    data: np.ndarray
    labels: np.ndarray
    if table == "iris":
        data, labels = load_iris(return_X_y=True)  # pyright: ignore[reportAssignmentType]
        return entropy_pair(_cut(data, (1 / 3, 2 / 3)), labels)
    if table == "wine":
        data, labels = load_wine(return_X_y=True)  # pyright: ignore[reportAssignmentType]
        return entropy_pair(_cut(data[:, :4], (1 / 2,)), labels)
    data, labels = load_digits(return_X_y=True)  # pyright: ignore[reportAssignmentType]
    return entropy_pair((data[:, [18, 20, 28, 36]] > 8).astype(int), labels % 2)


def tariff() -> tuple[ArrangementComplex, CPWL]:
    r"""Return a yearly electricity bill, the cheaper of two contracts, on its complex.

    For :math:`x` kWh and a peak of :math:`y` kW,

    .. math:: \min\{120+0.30\,x,\ \ 300+0.22\,x+3\,(y-20)^+\}.

    The first contract charges the energy only; the second has a higher base price, cheaper
    energy, and a surcharge on peaks above 20 kW. Volume discounts are concave, surcharges convex.
    """
    energy, base = _charge("0.30", 0, 120), _charge("0.22", 0, 300)
    surcharged = _charge("0.22", 3, 240)
    lines = [((0, 1), 20), *(_tie(energy, contract) for contract in (base, surcharged))]
    complex = Complex.from_arrangement(lines)
    pieces = [
        min(energy, max(base, surcharged, key=_at(point)), key=_at(point))
        for point in complex.interior_points
    ]
    return complex, CPWL(complex, pieces)


def _charge(per_kwh: str, per_kw: int, base: int) -> AffineMap:
    return (Fraction(per_kwh), Fraction(per_kw)), Fraction(base)


def _tie(left: AffineMap, right: AffineMap) -> AffineMap:
    """The line where two charges are equal."""
    return tuple(a - b for a, b in zip(left[0], right[0], strict=True)), right[1] - left[1]


def _at(point: Sequence[Fraction]) -> Any:
    def value(charge: AffineMap) -> Fraction:
        return sum((a * x for a, x in zip(charge[0], point, strict=True)), charge[1])

    return value
