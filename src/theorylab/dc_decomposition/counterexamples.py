r"""Functions on which the local completion rule is not minimal.

All are built from :math:`\varphi(a,b)=2\max(0,a,b)-\max(0,a)-\max(0,b)` and
:math:`\varphi_3(a,b)=\varphi(a,b)-\max(0,a-2b)`.
"""

from __future__ import annotations

from fractions import Fraction

from .complexes import Complex, PlaneFan
from .examples import STAR, IntForm, linear, phi_terms, six_planes
from .functions import CPWL, Term

Instance = tuple[Complex, CPWL]


def phi3_terms(u: IntForm, v: IntForm, factor: int = 1) -> list[Term]:
    r"""Terms of :math:`\varphi_3(u,v)`, times ``factor``."""
    wedge = tuple(a - 2 * b for a, b in zip(u, v, strict=True))
    zero = linear((0,) * len(u))
    return [*phi_terms(u, v, factor), (-factor, [zero, linear(wedge)])]


def three_terms() -> tuple[PlaneFan, CPWL]:
    r"""The function :math:`\varphi_3(x,y)` on its eight rays: four vertices."""
    fan = Complex.from_fan2d([*STAR, (2, 1), (-2, -1)])
    return fan, CPWL.from_terms(fan, phi3_terms((1, 0), (0, 1)))


def prism() -> Instance:
    r"""In 3-space: :math:`\varphi(x,y)+|t|`. The rule costs 11 pieces, 10 are enough."""
    planes = [((1, 0, 0), 0), ((0, 1, 0), 0), ((1, -1, 0), 0), ((0, 0, 1), 0)]
    complex = Complex.from_arrangement(planes)
    modulus = (Fraction(1), [linear((0, 0, 1)), linear((0, 0, -1))])
    return complex, CPWL.from_terms(complex, [*phi_terms((1, 0, 0), (0, 1, 0)), modulus])


def crossing_stars() -> Instance:
    r"""In 3-space: :math:`\varphi(-y,x+y+z)-\varphi(-x,-z)`; worse in both parts."""
    return six_planes()


def product_of_stars(sign: int = -1) -> Instance:
    r"""In 4-space: :math:`\varphi_3(x_1,x_2)\pm\varphi_3(x_3,x_4)`.

    Raises
    ------
    ValueError
        If ``sign`` is neither 1 nor -1.
    """
    if sign not in (1, -1):
        raise ValueError(f"sign must be 1 or -1, got {sign}")
    lines = ((1, 0), (0, 1), (1, -1), (1, -2))
    first = [((a, b, 0, 0), 0) for a, b in lines]
    second = [((0, 0, a, b), 0) for a, b in lines]
    complex = Complex.from_arrangement(first + second)
    left = phi3_terms((1, 0, 0, 0), (0, 1, 0, 0))
    return complex, CPWL.from_terms(complex, left + phi3_terms((0, 0, 1, 0), (0, 0, 0, 1), sign))


def two_centres() -> Instance:
    r"""In the plane, not conewise: stars at the origin and at (30, -20), and two more lines.

    .. math:: \varphi(x,y)+(-x-y-5)^+-\varphi(x-30,y+20)-(-x-y+5)^+
    """
    complex = Complex.from_arrangement(
        [
            *(((1, 0), 0), ((0, 1), 0), ((1, -1), 0), ((1, 1), -5)),
            *(((1, 0), 30), ((0, 1), -20), ((1, -1), 50), ((1, 1), 5)),
        ]
    )
    zero = linear((0, 0))
    terms = [*phi_terms((1, 0), (0, 1)), *_shifted_star()]
    terms += [(1, [zero, ((-1, -1), -5)]), (-1, [zero, ((-1, -1), 5)])]
    return complex, CPWL.from_terms(complex, terms)


def _shifted_star() -> list[Term]:
    zero, a, b = linear((0, 0)), ((1, 0), -30), ((0, 1), 20)
    return [(-2, [zero, a, b]), (1, [zero, a]), (1, [zero, b])]
