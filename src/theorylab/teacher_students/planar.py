r"""Loss and gradient in the plane by an exact quadrature over the angle, with enclosures.

In two dimensions :math:`x = \rho\,(\cos\varphi, \sin\varphi)` with :math:`E\rho^2 = 2`, so

.. math:: L = \frac1{2\pi}\int_0^{2\pi} D(\varphi)^2\,d\varphi, \qquad
    \nabla_w L = \frac1\pi\int_{w\cdot e(\varphi) > 0} D(\varphi)\,e(\varphi)\,d\varphi .

Between neighbouring directions in which a neuron switches on or off, D is one sinusoid, and the
integral is elementary. Everything is evaluated in ball arithmetic; no formula for an expectation
of two neurons is used. Since any two neurons span a plane and the loss is a sum over pairs,
formulas that hold here for all vectors hold in every dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from typing import NamedTuple

from flint import arb, ctx, fmpq

Vector = tuple[Fraction, Fraction]


class Planar(NamedTuple):
    """Enclosures of a loss and of the gradients of all students."""

    loss: arb
    gradients: list[tuple[arb, arb]]


class precision:
    """Context: ball arithmetic with so many bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        self.before, ctx.prec = ctx.prec, self.bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self.before


def planar_vectors(values: Sequence[Sequence[object]], name: str) -> list[Vector]:
    """Vectors of the plane as exact fractions, none zero.

    Raises
    ------
    TypeError
        If an entry is a float: the quadrature is exact, so are its inputs.
    ValueError
        If a vector is zero or not in the plane, or there is none.
    """
    found = []
    for value in values:
        if len(value) != 2:
            raise ValueError(f"{name} must hold vectors of the plane, got {value!r}")
        if any(isinstance(x, float) for x in value):
            raise TypeError(f"{name} must hold exact numbers, got {value!r}; use Fraction")
        pair = (Fraction(str(value[0])), Fraction(str(value[1])))
        if pair == (0, 0):
            raise ValueError(f"{name} holds the zero vector; drop it")
        found.append(pair)
    if not found:
        raise ValueError(f"{name} is empty")
    return found


def ball(x: Fraction) -> arb:
    """A fraction as a ball."""
    return arb(fmpq(x.numerator, x.denominator))


def _turn(a: Vector, b: Vector) -> Fraction:
    return a[0] * b[1] - a[1] * b[0]


def _dot(a: Vector, b: Vector) -> Fraction:
    return a[0] * b[0] + a[1] * b[1]


def _by_angle(a: Vector, b: Vector) -> int:
    """Order of directions by their angle in [0, 2 pi), decided exactly."""
    half = [v[1] < 0 or (v[1] == 0 and v[0] < 0) for v in (a, b)]
    if half[0] != half[1]:
        return 1 if half[0] else -1
    turn = _turn(a, b)
    return 0 if turn == 0 else (-1 if turn > 0 else 1)


def _switches(Z: Sequence[Vector]) -> list[Vector]:
    """Directions perpendicular to a neuron and the axes between, by angle, without repetition.

    The four axes are added so that no piece is wider than a quarter turn.
    """
    axes = [(Fraction(a), Fraction(b)) for a, b in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    normals = [n for x, y in Z for n in ((-y, x), (y, -x))]
    ordered = sorted([*axes, *normals], key=cmp_to_key(_by_angle))
    kept = [ordered[0]]
    for direction in ordered[1:]:
        if _by_angle(kept[-1], direction) != 0:
            kept.append(direction)
    return kept


def _angle(v: Vector) -> arb:
    return arb.atan2(ball(v[1]), ball(v[0]))


class _Piece(NamedTuple):
    """A range of angles: its middle direction and the integrals of cos^2, sin cos and sin^2."""

    middle: Vector
    cc: arb
    sc: arb
    ss: arb


def _piece(start: Vector, end: Vector) -> _Piece:
    """Integrals between two directions less than half a turn apart, without the angles' branch."""
    width = arb.atan2(ball(_turn(start, end)), ball(_dot(start, end)))
    cos2, sin2 = [], []
    for v in (start, end):
        square = _dot(v, v)
        cos2.append(ball((v[0] * v[0] - v[1] * v[1]) / square))
        sin2.append(ball(2 * v[0] * v[1] / square))
    along = (sin2[1] - sin2[0]) / 4
    across = (cos2[0] - cos2[1]) / 4
    scale = [Fraction(1) / max(abs(v[0]), abs(v[1])) for v in (start, end)]
    middle = (
        start[0] * scale[0] + end[0] * scale[1],
        start[1] * scale[0] + end[1] * scale[1],
    )
    return _Piece(middle, width / 2 + along, across, width / 2 - along)


def _pieces(Z: Sequence[Vector]) -> list[_Piece]:
    switches = _switches(Z)
    return [_piece(a, b) for a, b in pairwise([*switches, switches[0]])]


def quadrature(W: Sequence[Sequence[object]], V: Sequence[Sequence[object]]) -> Planar:
    """Enclose loss and gradients of ReLU students and teachers of the plane.

    Parameters
    ----------
    W, V : sequence of pairs of int or Fraction
        Students and teachers.

    Returns
    -------
    Planar
        Balls in the precision that is set; see ``precision``.
    """
    students, teachers = planar_vectors(W, "W"), planar_vectors(V, "V")
    signed = [(w, 1) for w in students] + [(v, -1) for v in teachers]
    loss = arb(0)
    gradients = [[arb(0), arb(0)] for _ in students]
    for piece in _pieces([z for z, _ in signed]):
        active = [(z, s) for z, s in signed if _dot(z, piece.middle) > 0]
        x, y = (sum((s * z[axis] for z, s in active), Fraction(0)) for axis in (0, 1))
        X, Y = ball(x), ball(y)
        first, second = X * piece.cc + Y * piece.sc, X * piece.sc + Y * piece.ss
        loss += X * first + Y * second
        for gradient, w in zip(gradients, students, strict=True):
            if _dot(w, piece.middle) > 0:
                gradient[0] += first
                gradient[1] += second
    pi = arb.pi()
    return Planar(loss / (2 * pi), [(a / pi, b / pi) for a, b in gradients])


def supplement(theta: arb) -> arb:
    """Angle of the wedge in which both of two neurons are active."""
    return arb.pi() - theta


def closed_form(
    W: Sequence[Sequence[object]],
    V: Sequence[Sequence[object]],
    wedge: Callable[[arb], arb] = supplement,
) -> Planar:
    r"""Enclose the closed forms themselves, for comparison with ``quadrature``.

    Parameters
    ----------
    W, V : sequence of pairs of int or Fraction
    wedge : callable
        From the angle between two neurons to that of the wedge where both are active; anything
        else than ``supplement`` plants an error.
    """
    students, teachers = planar_vectors(W, "W"), planar_vectors(V, "V")
    signed = [(w, 1) for w in students] + [(v, -1) for v in teachers]
    pi, loss, gradients = arb.pi(), arb(0), []
    for a, s in signed:
        for b, t in signed:
            sine, both = _sine_and_wedge(a, b, wedge)
            loss += s * t * (sine + both * ball(_dot(a, b)))
    for w in students:
        slope = [arb(0), arb(0)]
        for z, s in signed:
            sine, both = _sine_and_wedge(w, z, wedge)
            for axis in (0, 1):
                slope[axis] += s * (sine / ball(_dot(w, w)) * ball(w[axis]) + both * ball(z[axis]))
        gradients.append((slope[0] / (2 * pi), slope[1] / (2 * pi)))
    return Planar(loss / (4 * pi), gradients)


def _sine_and_wedge(a: Vector, b: Vector, wedge: Callable[[arb], arb]) -> tuple[arb, arb]:
    """The product of the norms with the sine of the angle, and the wedge."""
    sine = ball(abs(_turn(a, b)))
    return sine, wedge(arb.atan2(sine, ball(_dot(a, b))))
