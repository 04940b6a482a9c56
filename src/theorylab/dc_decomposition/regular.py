"""Regular complexes: those on which some convex function kinks at every wall."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theorylab.exact import InequalitySystem, Optimum, Vector

from .complexes import Complex
from .functions import CPWL


@dataclass(frozen=True)
class Regularity:
    r"""Answer of the linear program :math:`\max\{\varepsilon\le1: w\in W,\ w\ge\varepsilon\}`.

    Attributes
    ----------
    optimum : Fraction
        1 if the complex is regular, 0 if not.
    witness : CPWL or None
        A convex function with weight at least 1 on every wall.
    certificate : tuple of Fraction
        If the complex is irregular: y >= 0, not zero, that annihilates all balanced weights;
        so a convex function kinks on no wall of its support.
    """

    optimum: Fraction
    witness: CPWL | None
    certificate: Vector

    @property
    def is_regular(self) -> bool:
        """Whether some convex function kinks on every wall."""
        return self.optimum > 0


def regularity(complex: Complex) -> Regularity:
    """Decide exactly whether the complex is regular, with a witness or a certificate."""
    space = complex.weight_space
    alive = {wall for row in space.rows for wall in row.walls}
    dead = [wall for wall in range(len(complex.walls)) if wall not in alive]
    if dead:
        return Regularity(Fraction(0), None, _unit(len(complex.walls), dead[0]))
    # Scales are at least 1, so the number of a row bounds the weights on its walls from below.
    system = InequalitySystem(
        [*((*row.form, -1) for row in space.rows), (0,) * space.dim + (-1,)],
        [0] * len(space.rows) + [-1],
        space.dim + 1,
    )
    answer = system.minimise((0,) * space.dim + (-1,))
    if not isinstance(answer, Optimum):
        raise ArithmeticError("the regularity program is bounded by 1 and has the solution 0")
    if answer.value < 0:
        witness = CPWL.unchecked(complex, space.weights_at(answer.x[:-1]))
        return Regularity(-answer.value, witness, ())
    y = [Fraction(0)] * len(complex.walls)
    for row, multiplier in zip(space.rows, answer.multipliers[:-1], strict=True):
        y[row.walls[0]] = multiplier / row.scales[0]
    return Regularity(Fraction(0), None, tuple(y))


def _unit(length: int, place: int) -> Vector:
    return tuple(Fraction(int(k == place)) for k in range(length))
