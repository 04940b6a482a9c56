r"""Closed forms: singular values of the tasks, sigmoids, plateaus, starts and race constants.

Time is :math:`t = \eta\cdot\text{steps}` for the loss :math:`\tfrac12\sum_i\|y_i-\hat y_i\|^2`, a
sum over samples; S and D are likewise sums over samples.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from typing import Literal, NamedTuple, overload

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
XOR_START = 0.33
"""Factor c of the effective start c h s²/2 of a ReLU network on XOR (Monte Carlo, derived)."""


class HierarchyMode(NamedTuple):
    """Squared singular value of a hierarchy, how often it occurs, and its depth in the tree."""

    square: int
    multiplicity: int
    depth: int


def _at_least(value: int, least: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def _positive(value: float, name: str) -> float:
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return float(value)


def subset_size(contexts: int, k: int) -> int:
    """Check that k contexts can share a pathway without being all of them."""
    contexts = _at_least(contexts, 2, "the number of contexts")
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= contexts - 1:
        raise ValueError(f"k must lie in 1..{contexts - 1} for {contexts} contexts, got {k!r}")
    return int(k)


def tree_depth(objects: int) -> int:
    """Number of splits of a balanced binary tree with this many leaves.

    Raises
    ------
    ValueError
        If ``objects`` is not a power of two.
    """
    objects = _at_least(objects, 1, "the number of objects P")
    if objects & (objects - 1):
        raise ValueError(
            f"P must be a power of two, got {objects}; try {1 << objects.bit_length()}"
        )
    return objects.bit_length() - 1


def hierarchy_modes(objects: int) -> list[HierarchyMode]:
    r"""Squared singular values of the hierarchy with P leaves, largest first.

    .. math:: h_0^2 = 2P-1, \qquad
        h^2 = P/2^{\ell-1}-1 \ \text{with multiplicity}\ 2^{\ell-1}, \quad \ell = 1..\log_2 P .
    """
    depth = tree_depth(objects)
    below = [
        HierarchyMode((objects >> (level - 1)) - 1, 1 << (level - 1), level)
        for level in range(1, depth + 1)
    ]
    return [HierarchyMode(2 * objects - 1, 1, 0), *below]


def joint_strength(h0: float, contexts: int, objects: int, alpha: float = 1) -> tuple[float, float]:
    r"""S and D of the joint mode.

    .. math:: S = h_0\sqrt{(C+1)(C+\alpha^2P)}, \quad D = C+\alpha^2 P .
    """
    D = contexts + alpha**2 * objects
    return h0 * math.sqrt((contexts + 1) * D), D


def context_strength(h0: float, objects: int, alpha: float = 1) -> tuple[float, float]:
    r"""S and D of each of the C - 1 context differences: :math:`h_0\alpha\sqrt P,\ \alpha^2P`."""
    return h0 * alpha * math.sqrt(objects), alpha**2 * objects


def object_strength(h: float, contexts: int) -> tuple[float, float]:
    r"""S and D of an object mode: :math:`h\sqrt{C(C+1)},\ C`."""
    return h * math.sqrt(contexts * (contexts + 1)), contexts


def critical_alpha(contexts: int, objects: int) -> float:
    r"""Context strength above which context differences are learned before the first object mode.

    .. math:: \alpha^* = \frac{h_1}{h_0}\sqrt{C(C+1)/P}
    """
    modes = hierarchy_modes(objects)
    if len(modes) < 2:
        raise ValueError("P = 1 has no object mode, so no critical context strength")
    ratio = Fraction(modes[1].square * contexts * (contexts + 1), modes[0].square * objects)
    return math.sqrt(ratio)


def sigmoid_mode(t: ArrayLike, S: float, D: float, A0: float, depth: int = 2) -> Floats:
    r"""Strength of one mode of a balanced linear network at time t.

    Solves :math:`\dot A = L A^{2-2/L}(S-DA)`. For two layers

    .. math:: A(t) = \frac{A_0S}{DA_0(1-x)+Sx}, \qquad x = e^{-2St},

    which at S = 0 is the algebraic decay :math:`A_0/(1+2DA_0t)`.

    Parameters
    ----------
    t : array
        Times, non-negative.
    S, D : float
        Input-output and input strength of the mode; D positive.
    A0 : float
        Positive start; above the fixed point S/D it decays.
    depth : int
        Number of weight matrices; beyond 2 the equation is integrated numerically.

    Raises
    ------
    ValueError
        If D or A0 is not positive, S is negative, or a time is negative.
    """
    times = np.asarray(t, dtype=float)
    if not np.isfinite(times).all() or (times < 0).any():
        raise ValueError("times must be finite and non-negative")
    D, A0 = _positive(D, "D"), _positive(A0, "A0")
    if not (math.isfinite(S) and S >= 0):
        raise ValueError(f"S must be non-negative, got {S}; flip the sign of a singular vector")
    if _at_least(depth, 1, "depth") != 2:
        return _deep_mode(times, S, D, A0, depth)
    if S == 0:
        return A0 / (1 + 2 * D * A0 * times)
    x = np.exp(-2 * S * times)
    return A0 * S / (D * A0 * -np.expm1(-2 * S * times) + S * x)


def _deep_mode(times: Floats, S: float, D: float, A0: float, depth: int) -> Floats:
    """The mode equation for any depth, integrated for the logarithm of A."""
    from scipy.integrate import solve_ivp

    power = 1 - 2 / depth

    def rate(_: float, log_a: Floats) -> Floats:
        a = np.exp(log_a)
        return depth * a**power * (S - D * a)

    ordered, place = np.unique(np.append(0.0, times.ravel()), return_inverse=True)
    end = max(float(ordered[-1]), 1e-12)
    found = solve_ivp(rate, (0, end), [math.log(A0)], "LSODA", ordered, rtol=1e-10, atol=1e-12)
    return np.exp(found.y[0])[place[1:]].reshape(times.shape)


def sigmoid_time(A: float, S: float, D: float, A0: float) -> float:
    r"""Time at which a two-layer mode reaches A; the inverse of ``sigmoid_mode``.

    .. math:: t = \frac1{2S}\ln\frac{A(S-DA_0)}{A_0(S-DA)}

    Raises
    ------
    ValueError
        If A does not lie between A0 and the fixed point S/D.
    """
    A, S, D, A0 = (
        _positive(v, n) for v, n in zip((A, S, D, A0), ("A", "S", "D", "A0"), strict=True)
    )
    inside = A0 <= A < S / D or S / D < A <= A0
    if not inside:
        raise ValueError(f"A = {A} is never reached from A0 = {A0}: the mode ends at {S / D}")
    return math.log(A * (S - D * A0) / (A0 * (S - D * A))) / (2 * S)


def step_rate(S: float, lr: float) -> float:
    r"""Exponential rate, per unit of time, that steps of finite size give a weak mode.

    .. math:: 2\ln(1+\eta S)/\eta \quad\text{instead of}\quad 2S
    """
    return 2 * math.log1p(_positive(lr, "lr") * S) / lr


def effective_start(width: int, std: float, kind: str = "gated") -> float:
    r"""Start :math:`A_0` of a balanced aligned pathway that a wide random one behaves like.

    :math:`hs^2/2` for a gated linear pathway, and half of it for the joint mode of a ReLU network,
    where about half of what the weights carry is lost while units align (on XOR: 0.33 of it).

    Parameters
    ----------
    width : int
        Units of the pathway.
    std : float
        Standard deviation of the initial weights in both layers.
    kind : {"gated", "relu", "xor"}
    """
    factors = {"gated": 1.0, "relu": 0.5, "xor": XOR_START}
    if kind not in factors:
        raise ValueError(f"kind must be one of {', '.join(factors)}; got {kind!r}")
    return factors[kind] * _at_least(width, 1, "width") * _positive(std, "std") ** 2 / 2


class Plateaus(NamedTuple):
    """Loss of the identical-block task at the start, and what each part of it is worth."""

    start: Fraction
    joint: Fraction
    contexts: Fraction
    objects: tuple[Fraction, ...]
    remainder: Fraction


def plateaus(objects: int, contexts: int) -> Plateaus:
    r"""Exact levels of the loss for identical hierarchical blocks.

    .. math:: L(0) = C\sum_j h_j^2, \quad
        \tfrac12h_0^2(C+1),\ \tfrac12h_0^2(C-1),\ \tfrac12h_j^2(C+1), \quad
        \tfrac12(C-1)\sum_{j\ge1}h_j^2

    Returns
    -------
    Plateaus
        Start; gain of the joint mode, of all context differences, of each level of object modes
        (multiplicities included); and what no linear network can learn.
    """
    modes, C = hierarchy_modes(objects), _at_least(contexts, 1, "the number of contexts")
    first, rest = modes[0], modes[1:]
    return Plateaus(
        start=Fraction(C * sum(mode.square * mode.multiplicity for mode in modes)),
        joint=Fraction(first.square * (C + 1), 2),
        contexts=Fraction(first.square * (C - 1), 2),
        objects=tuple(Fraction(m.square * m.multiplicity * (C + 1), 2) for m in rest),
        remainder=Fraction((C - 1) * sum(m.square * m.multiplicity for m in rest), 2),
    )


def linear_staircase(objects: int, contexts: int) -> list[Fraction]:
    """Losses at which a linear network dwells: joint mode, contexts, then a tree level a step."""
    found = plateaus(objects, contexts)
    levels = [found.start, found.start - found.joint]
    levels.append(levels[-1] - found.contexts)
    for gain in found.objects:
        levels.append(levels[-1] - gain)
    return levels


def whole_level_staircase(objects: int, contexts: int) -> list[Fraction]:
    """Losses left when whole tree levels are learned, linear and nonlinear part together."""
    found = plateaus(objects, contexts)
    levels = [found.start, found.start - found.joint]
    levels.append(levels[-1] - found.contexts)
    for mode in hierarchy_modes(objects)[1:]:
        levels.append(levels[-1] - contexts * mode.square * mode.multiplicity)
    return levels


class PathwayConstants(NamedTuple):
    """Strengths of one object mode of the k-subset pathways, in units of its singular value h."""

    early_rate: float
    late_rate: float
    overlap: Fraction
    D: int


def pathway_constants(contexts: int, k: int) -> PathwayConstants:
    r"""Rates of the family of all k-subset pathways on a task of C identical blocks.

    Before the common pathway has learned the mode a pathway grows at :math:`h\sqrt{k(k+1)}`; after
    it at :math:`S_k = h\sqrt{k(C-k)/C}`, against an input strength
    :math:`D_k = \binom{C-2}{k-1}` that contains all overlaps.

    Returns
    -------
    PathwayConstants
        ``overlap`` is the cosine of the output vectors of two pathways that share all but one
        context, and for k = 1 of two single contexts.

    Raises
    ------
    ValueError
        If k does not lie in 1..C-1.
    """
    k, C = subset_size(contexts, k), contexts
    shared = Fraction(k - 1) - Fraction(k * k, C)
    own = Fraction(k) - Fraction(k * k, C)
    return PathwayConstants(
        early_rate=math.sqrt(k * (k + 1)),
        late_rate=math.sqrt(k * (C - k) / C),
        overlap=shared / own,
        D=comb(C - 2, k - 1),
    )


class CertifiedInterval(NamedTuple):
    """Exact rational bounds on a number."""

    low: Fraction
    high: Fraction


@overload
def race_constant(contexts: int, k: int, certify: Literal[False] = False) -> float: ...


@overload
def race_constant(contexts: int, k: int, certify: Literal[True]) -> CertifiedInterval: ...


def race_constant(contexts: int, k: int, certify: bool = False) -> float | CertifiedInterval:
    r"""Half-time of a mode on k-subset pathways, in units of :math:`\ln(1/A_0)/(2h)`.

    .. math:: \tau_k(C) = \frac1{\sqrt{C(C+1)}}
        + \frac{1-\sqrt{k(k+1)/(C(C+1))}}{\sqrt{k(C-k)/C}}

    in the limit of small equal starts: the common pathway finishes first, and until then the
    pathway grows at its early rate.

    Parameters
    ----------
    contexts, k : int
        1 <= k <= C - 1.
    certify : bool
        Return exact rational bounds from ball arithmetic instead of a float.

    Returns
    -------
    float or CertifiedInterval
    """
    k = subset_size(contexts, k)
    return _certified_race(contexts, k) if certify else float(_race(contexts, k))


def _race(C: int, k: int) -> float:
    common = math.sqrt(C * (C + 1))
    return 1 / common + (1 - math.sqrt(k * (k + 1)) / common) / math.sqrt(k * (C - k) / C)


def _certified_race(C: int, k: int) -> CertifiedInterval:
    before = ctx.prec
    ctx.prec = 128
    try:
        common = arb(C * (C + 1)).sqrt()
        late = (arb(k * (C - k)) / C).sqrt()
        value = 1 / common + (1 - arb(k * (k + 1)).sqrt() / common) / late
        low, high = value.lower().fmpq(), value.upper().fmpq()
    finally:
        ctx.prec = before
    return CertifiedInterval(Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q)))


def tied_race_constant(contexts: int, k: int) -> float:
    r"""The race constant without what happens before the common pathway has finished.

    .. math:: \frac1{\sqrt{C(C+1)}} + \frac1{\sqrt{k(C-k)/C}}

    Equal for k = 1 and k = C - 1: a control, for the whole advantage lies in the early phase.
    """
    k = subset_size(contexts, k)
    late = math.sqrt(k * (contexts - k) / contexts)
    return 1 / math.sqrt(contexts * (contexts + 1)) + 1 / late


def common_time(contexts: int, h: float, A0: float) -> float:
    r"""Half-time of an object mode in the common pathway, :math:`\ln(A_\infty/A_0-1)/(2S)`."""
    S, D = object_strength(_positive(h, "h"), contexts)
    return math.log(S / (D * _positive(A0, "A0")) - 1) / (2 * S)


def arrival_time(
    contexts: int, k: int, h: float, A0: float, A0_context: float | None = None
) -> float:
    r"""Half-time of an object mode on the k-subset pathways, for a finite start.

    .. math:: T_k = T_c + \frac{\ln(m/B-1)}{2S_k}, \quad m = S_k/D_k, \quad
        B = A_0^x e^{2h\sqrt{k(k+1)}T_c}\frac{(1+\cos\theta)^2}4, \quad
        \cos\theta = \sqrt{\frac{C-k}{C(k+1)}} .

    Parameters
    ----------
    contexts, k : int
    h : float
        Singular value of the mode.
    A0 : float
        Start of the common pathway.
    A0_context : float, optional
        Start of each context pathway; that of the common one if omitted.

    Returns
    -------
    float
        Time; divide by the learning rate for steps.
    """
    constants = pathway_constants(contexts, k)
    grown = _handed_over(contexts, k, h, A0, A0 if A0_context is None else A0_context)
    late = h * constants.late_rate
    half = late / constants.D
    if grown >= half:
        raise ValueError(
            f"the start A0 = {A0} is too large: the pathway is done before the common one"
        )
    return common_time(contexts, h, A0) + math.log(half / grown - 1) / (2 * late)


def _handed_over(contexts: int, k: int, h: float, A0: float, A0_context: float) -> float:
    """Strength of a pathway, in its late direction, when the common pathway finishes."""
    cosine = math.sqrt((contexts - k) / (contexts * (k + 1)))
    early = h * math.sqrt(k * (k + 1))
    growth = math.exp(2 * early * common_time(contexts, h, A0))
    return _positive(A0_context, "A0_context") * growth * (1 + cosine) ** 2 / 4


def arrival_without_early_phase(contexts: int, k: int, h: float, A0: float) -> float:
    """The same, had the pathway kept its start until the common one finished: a control."""
    constants = pathway_constants(contexts, k)
    late = h * constants.late_rate
    return common_time(contexts, h, A0) + math.log(late / (constants.D * A0) - 1) / (2 * late)


def xor_curve(t: ArrayLike, A0: float, pathways: int, lr: float | None = None) -> Floats:
    r"""Loss of a gated network on XOR, :math:`x\in\{\pm1\}^2`, :math:`y=x_1x_2`.

    Four pathways, one per sample: :math:`S=\sqrt2, D=2, L=2(1-\sqrt2A)^2`. Two pathways, one per
    value of :math:`x_2`: :math:`S=2, D=2, L=2(1-A)^2`.

    Parameters
    ----------
    t : array
        Times.
    A0 : float
        Start of each pathway.
    pathways : {2, 4}
    lr : float, optional
        Learning rate, for the rate of finite steps; the flow of vanishing steps if omitted.
    """
    if pathways not in (2, 4):
        raise ValueError(f"pathways must be 2 or 4, got {pathways!r}")
    S, gain = (2.0, 1.0) if pathways == 2 else (math.sqrt(2), math.sqrt(2))
    return 2 * (1 - gain * stepped_mode(t, S, 2.0, A0, lr)) ** 2


def stepped_mode(t: ArrayLike, S: float, D: float, A0: float, lr: float | None = None) -> Floats:
    """``sigmoid_mode`` with the rate of finite steps, the fixed point S/D kept."""
    if lr is None or S == 0:
        return sigmoid_mode(t, S, D, A0)
    ratio = step_rate(S, lr) / (2 * S)
    return sigmoid_mode(np.asarray(t, dtype=float) * ratio, S, D, A0)
