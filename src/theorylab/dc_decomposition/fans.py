r"""Decompositions at a ridge: the closed form on plane fans, and the local completion rule.

The weights of the convex part exceed :math:`w_f^+` by some :math:`\rho\ge0` that must make up for
the imbalance of :math:`w_f^+`. On a plane fan this reads :math:`\sum_k\rho_kr_k=u` with the
compensating vector u, so all vertices can be written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from theorylab.exact import IntVector, Vector, primitive

from .complexes import Complex, PlaneFan
from .decomposition import Decomposition
from .functions import CPWL, imbalance, transfer, unbalanced_ridge
from .walls import Ridge


@dataclass(frozen=True)
class NotBalanced:
    """The local rule gives no convex function on the complex.

    Attributes
    ----------
    ridge : int
        Index of a ridge where the completed weights are not balanced.
    imbalance : tuple of Fraction
        What is left of the sum of signed normals around it.
    """

    ridge: int
    imbalance: Vector


def compensating_vector(fan: PlaneFan, f: CPWL) -> Vector:
    r"""Return :math:`u=-\sum_kw_f^+(r_k)\,r_k`; zero exactly if :math:`w_f^+` is balanced."""
    w = _on(fan, f).weights
    return tuple(
        -sum(
            (max(x, Fraction(0)) * ray[k] for x, ray in zip(w, fan.rays, strict=True)), Fraction(0)
        )
        for k in range(2)
    )


def plane_fan_vertices(complex: PlaneFan, f: CPWL) -> list[Decomposition]:
    r"""Return the vertices of the decomposition polyhedron of a plane fan, without enumeration.

    They are :math:`w_f^++\rho` where :math:`\rho` represents u by one ray or by two:

    - nothing, if u = 0,
    - the ray through u, if there is one,
    - :math:`\rho_ir_i+\rho_jr_j=u` for every pair with u in the interior of its cone.

    Parameters
    ----------
    complex : PlaneFan
    f : CPWL
        A function compatible with the fan.

    Returns
    -------
    list of Decomposition
        In no particular order; quadratic in the number of rays.

    Raises
    ------
    TypeError
        If the complex is not a plane fan.
    ValueError
        If ``f`` is not compatible with it.
    """
    if not isinstance(complex, PlaneFan):
        raise TypeError(f"the closed form needs a plane fan, got {complex!r}")
    on_fan = _on(complex, f)
    u = compensating_vector(complex, on_fan)
    positive = [max(weight, Fraction(0)) for weight in on_fan.weights]
    return [
        Decomposition(on_fan, [w + rho.get(k, 0) for k, w in enumerate(positive)])
        for rho in _representations(u, complex.rays)
    ]


def _on(complex: Complex, f: CPWL) -> CPWL:
    return f if f.complex is complex else transfer(f, complex)


def _cross(left: Sequence[Fraction | int], right: Sequence[Fraction | int]) -> Fraction:
    return Fraction(left[0] * right[1] - left[1] * right[0])


def _representations(u: Vector, rays: Sequence[IntVector]) -> list[dict[int, Fraction]]:
    """The basic nonnegative solutions of sum rho_k r_k = u."""
    if not any(u):
        return [{}]
    direction, length = primitive(u)
    found = [{k: length} for k, ray in enumerate(rays) if ray == direction]
    right = [k for k, ray in enumerate(rays) if _cross(ray, u) > 0]
    left = [k for k, ray in enumerate(rays) if _cross(ray, u) < 0]
    for i in right:
        for j in left:
            area = _cross(rays[i], rays[j])
            if area > 0:
                found.append({i: _cross(u, rays[j]) / area, j: _cross(rays[i], u) / area})
    return found


def with_ray(fan: PlaneFan, ray: Sequence[Fraction | int]) -> PlaneFan:
    """Return the fan with one more ray; the same fan if the ray is there already."""
    direction = primitive(ray)[0]
    return fan if direction in fan.rays else Complex.from_fan2d([*fan.rays, direction])


def fan_of(f: CPWL) -> PlaneFan:
    """Return the plane fan on which the function lives; ``TypeError`` if it lives elsewhere."""
    if not isinstance(f.complex, PlaneFan):
        raise TypeError(f"need a function on a plane fan, got one on {f.complex!r}")
    return f.complex


def kink_fan(f: CPWL) -> PlaneFan:
    """Return the fan of the rays where a function on a plane fan has a kink.

    Raises
    ------
    ValueError
        If they do not form a complete fan with strictly convex cones.
    TypeError
        If the function does not live on a plane fan.
    """
    fan = fan_of(f)
    kinks = [ray for ray, weight in zip(fan.rays, f.weights, strict=True) if weight]
    return Complex.from_fan2d(kinks)


def local_rule(complex: Complex, f: CPWL) -> Decomposition | NotBalanced:
    """Complete the positive part at every ridge by one straight half-hyperplane.

    Where the positive parts of the weights are not balanced around a ridge, the missing normal is
    that of one half-hyperplane beginning at the ridge. It is given the weight that it lacks and
    goes straight on across simple crossings.

    Parameters
    ----------
    complex : Complex
        It must contain the half-hyperplanes; a plane fan is refined by the missing ray instead.
    f : CPWL
        A function compatible with the complex.

    Returns
    -------
    Decomposition or NotBalanced
        The latter if a half-hyperplane is missing, two ridges ask different weights of one, or
        the result is not balanced. The decomposition of a plane fan may live on the refined fan.
    """
    on_complex = _on(complex, f)
    if isinstance(complex, PlaneFan):
        u = compensating_vector(complex, on_complex)
        if any(u):
            complex = with_ray(complex, u)
            on_complex = _on(complex, on_complex)
    positive = [max(weight, Fraction(0)) for weight in on_complex.weights]
    completion = _completion(complex, positive)
    if isinstance(completion, NotBalanced):
        return completion
    class_of = complex.weight_space.class_of
    w = [weight + completion.get(class_of[k], 0) for k, weight in enumerate(positive)]
    ridge = unbalanced_ridge(complex, w)
    if ridge is not None:
        return NotBalanced(ridge, imbalance(complex, complex.ridges[ridge], w))
    return Decomposition(on_complex, w)


def _completion(complex: Complex, w: Sequence[Fraction]) -> Mapping[int, Fraction] | NotBalanced:
    """Weight to be added to each class of walls that continue each other straight."""
    class_of = complex.weight_space.class_of
    asked: dict[int, Fraction] = {}
    for number, ridge in enumerate(complex.ridges):
        missing = imbalance(complex, ridge, w)
        if not any(missing):
            continue
        wall = _wall_towards(complex, ridge, missing)
        if wall is None:
            return NotBalanced(number, missing)
        index, weight = wall
        if asked.setdefault(class_of[index], weight) != weight:
            return NotBalanced(number, missing)
    return asked


def _wall_towards(complex: Complex, ridge: Ridge, missing: Vector) -> tuple[int, Fraction] | None:
    """The wall at the ridge whose signed normal is opposite to ``missing``, and the factor."""
    direction, length = primitive([-entry for entry in missing])
    for index, sign in ridge.cycle:
        if tuple(sign * entry for entry in complex.walls[index].eta) == direction:
            return index, length
    return None


def dominates(left: Sequence[int], right: Sequence[int]) -> bool:
    """Tell whether the counts ``left`` are nowhere larger than ``right`` and not the same."""
    return all(a <= b for a, b in zip(left, right, strict=True)) and tuple(left) != tuple(right)
