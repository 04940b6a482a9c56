"""Second ways to the harmonic quantities, by integration: what the recursions are held against."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from theorylab.attention_rank.arguments import cosines, whole
from theorylab.attention_rank.harmonics import ExactPi


def legendre_coefficients(d: int, degree: int) -> list[Fraction]:
    """Coefficients of the Legendre polynomial in d dimensions, from the constant on."""
    before, now = [Fraction(1)], [Fraction(0), Fraction(1)]
    if degree == 0:
        return before
    for k in range(1, degree):
        raised = [Fraction(0), *(Fraction(2 * k + d - 2, k + d - 2) * c for c in now)]
        for i, c in enumerate(before):
            raised[i] -= Fraction(k, k + d - 2) * c
        before, now = now, raised
    return now


def sign_moment(d: int, degree: int) -> ExactPi:
    r"""The eigenvalue of the sign by symbolic integration, monomial by monomial.

    .. math:: E[\mathrm{sgn}(t)\,t^m] = \frac{\Gamma(d/2)\,\Gamma((m+1)/2)}
        {\sqrt\pi\,\Gamma((m+d)/2)}, \qquad m\ \text{odd}.
    """
    import sympy

    d, degree = whole(d, "d", 2), whole(degree, "degree", 0)
    total, power = Fraction(0), 1 - d % 2
    for m, coefficient in enumerate(legendre_coefficients(d, degree)):
        if m % 2 == 0 or coefficient == 0:
            continue
        half = sympy.Rational(1, 2)
        moment = sympy.gamma(d * half) * sympy.gamma((m + 1) * half)
        moment /= sympy.sqrt(sympy.pi) * sympy.gamma((m + d) * half)
        rational = sympy.nsimplify(moment * sympy.pi**power)
        total += coefficient * Fraction(int(rational.p), int(rational.q))
    return ExactPi(total, power)


def head_target_by_quadrature(c: np.ndarray, d: int, nodes: int = 400) -> np.ndarray:
    r"""Correlation b(c) of a rank-1 hard head with the target as a two-dimensional integral.

    With y integrated out, :math:`b = E_w[\tfrac2\pi\arcsin\langle q,w\rangle\,
    \mathrm{sgn}\langle k,w\rangle]`; the components of w in the plane of q and k are
    :math:`\sin\psi\,(\cos\varphi,\sin\varphi)` with density
    :math:`(d-2)\sin\psi\cos^{d-3}\psi\,d\psi\,d\varphi/2\pi`.

    Parameters
    ----------
    c : array
        Cosines.
    d : int
        At least 4.
    nodes : int
        Of each Gauss-Legendre rule.
    """
    d, c = whole(d, "d", 4), cosines(c, "c")
    node, weight = np.polynomial.legendre.leggauss(nodes)
    psi, psi_weight = (node + 1) * math.pi / 4, weight * math.pi / 4
    radial = psi_weight * (d - 2) * np.sin(psi) * np.cos(psi) ** (d - 3)
    values = []
    for alpha in np.arccos(c).ravel():
        total = 0.0
        for low, high in ((alpha - math.pi / 2, 0.0), (0.0, alpha + math.pi / 2)):
            phi = (low + high) / 2 + (high - low) / 2 * node
            inner = np.arcsin(np.sin(psi)[:, None] * np.cos(phi))
            total += float(radial @ inner @ weight) * (high - low) / 2
        values.append(total * 2 / math.pi / math.pi)
    return np.array(values).reshape(c.shape)
