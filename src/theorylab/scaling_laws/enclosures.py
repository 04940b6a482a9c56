"""Rigorous enclosures of the Gaussian integrals, by ball arithmetic and never by their formulas.

A factor g'(z) of the error function is a Gaussian density: it changes the covariance and leaves an
integral over at most two fields, and a conditional mean takes one of these away. What remains is
an integral over the line, which ``acb.integral`` encloses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from flint import acb, arb, ctx

PRECISION = 64
CUT = 9
"""Beyond it a standard normal has probability below 3e-19."""

Matrix = Sequence[Sequence[arb]]


def _exact(C: np.ndarray) -> list[list[arb]]:
    """The floats of C as exact balls."""
    ctx.prec = PRECISION
    return [[arb(float(entry)) for entry in row] for row in C]


def _line(integrand: Callable[[acb], acb], low: arb, high: arb) -> arb:
    return acb.integral(lambda z, _: integrand(z), acb(low), acb(high)).real


def _half_line(integrand: Callable[[acb], acb]) -> arb:
    """Twice the integral of integrand(z) phi(z) over z > 0; |integrand| at most 1 beyond CUT."""
    root = (2 * arb.pi()).sqrt()
    inside = _line(lambda z: integrand(z) * (-z * z / 2).exp() / root, arb(0), arb(CUT))
    tail = (arb(CUT) / arb(2).sqrt()).erfc()
    return 2 * inside + arb(0, float(tail.mid()) * 1.01)


def _tilt(C: Matrix, i: int, j: int) -> tuple[arb, list[list[arb]]]:
    """Factor and covariance after the weight exp(-(z_i^2 + z_j^2) / 2)."""
    size = range(len(C))
    if i == j:
        D = 1 + 2 * C[i][i]
        changed = [[C[a][b] - 2 * C[i][a] * C[i][b] / D for b in size] for a in size]
        return 1 / D.sqrt(), changed
    di, dj = 1 + C[i][i], 1 + C[j][j]
    D = di * dj - C[i][j] * C[i][j]

    def taken(a: int, b: int) -> arb:
        straight = dj * C[i][a] * C[i][b] + di * C[j][a] * C[j][b]
        return (straight - C[i][j] * (C[i][a] * C[j][b] + C[j][a] * C[i][b])) / D

    return 1 / D.sqrt(), [[C[a][b] - taken(a, b) for b in size] for a in size]


def _product_of_errors(variance: arb, other: arb, covariance: arb) -> arb:
    """E[g(X) g(Y)] of the error function, integrated over X."""
    if variance.contains(0):
        return arb(0)
    rest = other - covariance * covariance / variance
    deviation, root = variance.sqrt(), arb(2).sqrt()
    slope = covariance / deviation / (1 + rest).sqrt()
    return _half_line(
        lambda z: acb(z * deviation / root).erf() * acb(z * slope / root).erf()  # type: ignore[union-attr]
    )


def erf_i2(C: np.ndarray, a: int, b: int) -> arb:
    """E[g(z_a) g(z_b)]."""
    balls = _exact(C)
    return _product_of_errors(balls[a][a], balls[b][b], balls[a][b])


def erf_g(C: np.ndarray, a: int, b: int) -> arb:
    """E[g'(z_a) g'(z_b)]."""
    factor, _ = _tilt(_exact(C), a, b)
    return 2 / arb.pi() * factor


def erf_h(C: np.ndarray, a: int, b: int) -> arb:
    """E[g''(z_a) g(z_b)] = -E[z_a g'(z_a) g(z_b)]."""
    balls = _exact(C)
    D = 1 + balls[a][a]
    variance = balls[b][b] - balls[a][b] * balls[a][b] / D
    covariance = balls[a][b] / D
    if variance.contains(0):
        return arb(0)
    deviation, root = variance.sqrt(), arb(2).sqrt()
    # The mean of z_a given z_b is covariance / variance times z_b; scaled to stay below 1.
    integral = _half_line(lambda z: z / CUT / CUT * acb(z * deviation / root).erf())
    return -(2 / arb.pi()).sqrt() / D.sqrt() * covariance / deviation * CUT * CUT * integral


def erf_fourth(C: np.ndarray, i: int, j: int, a: int, b: int) -> arb:
    """E[g'(z_i) g'(z_j) g(z_a) g(z_b)]."""
    factor, changed = _tilt(_exact(C), i, j)
    return 2 / arb.pi() * factor * _product_of_errors(changed[a][a], changed[b][b], changed[a][b])


def _angle(balls: Matrix, a: int, b: int) -> arb:
    determinant = balls[a][a] * balls[b][b] - balls[a][b] * balls[a][b]
    sine = arb(0) if a == b or not determinant > 0 else determinant.sqrt()
    return arb.atan2(sine, balls[a][b])


def relu_i2(C: np.ndarray, a: int, b: int) -> arb:
    """E[(z_a)_+ (z_b)_+], integrated over the angle."""
    balls = _exact(C)
    if balls[a][a].contains(0) or balls[b][b].contains(0):
        return arb(0)
    angle = _angle(balls, a, b)
    half = arb.pi() / 2
    integral = _line(lambda z: z.cos() * (z - angle).cos(), angle - half, half)
    return (balls[a][a] * balls[b][b]).sqrt() / arb.pi() * integral


def relu_g(C: np.ndarray, a: int, b: int) -> arb:
    """P(z_a > 0, z_b > 0), the share of the angles."""
    angle = _angle(_exact(C), a, b)
    half = arb.pi() / 2
    return _line(lambda z: acb(1), angle - half, half) / (2 * arb.pi())


def relu_h(C: np.ndarray, a: int, b: int) -> arb:
    """Density of z_a at 0 times E[(z_b)_+ given z_a = 0]."""
    balls = _exact(C)
    rest = balls[b][b] - balls[a][b] * balls[a][b] / balls[a][a]
    deviation = arb(0) if a == b or not rest > 0 else rest.sqrt()
    mean = _half_line(lambda z: z / CUT / CUT) * CUT * CUT / 2
    return deviation * mean / (2 * arb.pi() * balls[a][a]).sqrt()
