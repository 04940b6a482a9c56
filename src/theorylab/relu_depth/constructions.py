r"""Networks that compute a maximum, exactly: trees, and the two-hidden-layer maximum of five."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from theorylab.exact import ReLUNet
from theorylab.exact.networks import SharedWiring, Signal

from .polytopes import LatticePolytope, hull_union, minkowski
from .theory import ceil_log

Form = tuple[int, ...]
HALF = Fraction(1, 2)
SPLIT = (((0, 1), (2, 3)), ((2, 3), (0, 1)))
"""Pairs (a, b) and (c, d) of the formula for i in {a, b}, indices from 0."""


def tree_network(n: int) -> ReLUNet:
    r"""The binary tree for :math:`F_n`: integer weights, :math:`\lceil\log_2(n+1)\rceil` layers."""
    if n < 1:
        raise ValueError(f"n must be positive, got {n}")
    wiring = SharedWiring(n)
    players = [Signal(0, {}), *(_coordinate(i) for i in range(n))]
    return wiring.net(wiring.tournament(players))


def _coordinate(i: int) -> Signal:
    return Signal(0, {i: Fraction(1)})


@dataclass(frozen=True)
class Maximum:
    """A maximum of sums of maxima of two linear forms; a form alone is written twice.

    Attributes
    ----------
    loose : tuple of forms
        Linear arguments.
    groups : tuple of (pair of forms, pair of forms)
        Each stands for max(u, v) + max(s, t).
    """

    loose: tuple[Form, ...]
    groups: tuple[tuple[tuple[Form, Form], tuple[Form, Form]], ...] = ()

    def __call__(self, x: Sequence[int | Fraction]) -> int | Fraction:
        """Value at a point."""
        linear = [_dot(form, x) for form in self.loose]
        sums = [sum(max(_dot(u, x), _dot(v, x)) for u, v in group) for group in self.groups]
        return max([*linear, *sums])

    @property
    def arguments(self) -> int:
        """How many numbers the outer maximum compares."""
        return len(self.loose) + len(self.groups)

    def polytope(self) -> LatticePolytope:
        """The polytope whose support function this is."""
        points = [LatticePolytope([form]) for form in self.loose]
        sums = [minkowski(*(LatticePolytope(pair) for pair in group)) for group in self.groups]
        return hull_union(*points, *sums)

    def doubled(self) -> Maximum:
        """Twice the function."""
        return Maximum(
            tuple(_twice(form) for form in self.loose),
            tuple(
                tuple((_twice(u), _twice(v)) for u, v in group)  # type: ignore[misc]
                for group in self.groups
            ),
        )

    def canonical(self) -> Maximum:
        """The same function with its arguments in a fixed order."""
        groups = (tuple(sorted(tuple(sorted(pair)) for pair in group)) for group in self.groups)
        return Maximum(tuple(sorted(set(self.loose))), tuple(sorted(set(groups))))  # type: ignore[arg-type]


def _dot(form: Form, x: Sequence[int | Fraction]) -> int | Fraction:
    return sum(a * b for a, b in zip(form, x, strict=True) if a)


def _twice(form: Form) -> Form:
    return tuple(2 * a for a in form)


def _plus(u: Form, v: Form) -> Form:
    return tuple(a + b for a, b in zip(u, v, strict=True))


def reduced(term: Maximum) -> list[tuple[int, Maximum]]:
    r"""Twice a maximum with at least four loose arguments as a signed sum of smaller ones.

    The formula of Bakaev et al. for five numbers, the fifth being all other arguments:

    .. math:: 2\max_5 = P_1+P_2+P_3+P_4+Q-R_{13}-R_{14}-R_{23}-R_{24}

    Every term has three loose arguments less, or four, and at most one group more.
    """
    if len(term.loose) < 4:
        raise ValueError(f"the formula takes four loose arguments, the term has {len(term.loose)}")
    x, rest = term.loose[:4], Maximum(term.loose[4:], term.groups).doubled()
    zero = (0,) * len(x[0])
    between = ((_plus(x[0], x[1]), _plus(x[2], x[3])), (zero, zero))
    found = []
    for (a, b), (c, d) in SPLIT:
        for i in (a, b):
            group = ((x[i], x[c]), (x[i], x[d]))
            found.append((1, _with(rest, [_plus(x[a], x[b])], [group])))
    found.append((1, _with(rest, [], [between])))
    found += [(-1, _with(rest, [_plus(x[a], x[b])], [between])) for a in (0, 1) for b in (2, 3)]
    return found


def _with(rest: Maximum, loose: list[Form], groups: list) -> Maximum:
    return Maximum((*rest.loose, *loose), (*rest.groups, *groups))


def five_terms() -> list[tuple[int, Maximum]]:
    """The nine terms of twice the maximum of five numbers."""
    return reduced(Maximum(tuple(_unit(i, 5) for i in range(5))))


def _unit(i: int, m: int) -> Form:
    return tuple(int(i == j) for j in range(m))


def shallow_terms(m: int) -> list[tuple[Fraction, Maximum]]:
    r"""The maximum of m numbers as a signed sum of maxima of fewer sums of pairs.

    Applied until fewer than four loose arguments are left; for :math:`m = 3^j+2` every term has at
    most :math:`3^{j-1}+2` arguments, which a network knows after one hidden layer. The weights
    are binary fractions.
    """
    if m < 2:
        raise ValueError(f"a maximum takes at least 2 numbers, got {m}")
    pending = Counter({Maximum(tuple(_unit(i, m) for i in range(m))): Fraction(1)})
    done: Counter[Maximum] = Counter()
    while pending:
        term, factor = pending.popitem()
        if len(term.loose) < 4:
            done[term] += factor  # type: ignore[assignment]
            continue
        for sign, smaller in reduced(term):
            pending[smaller.canonical()] += sign * factor * HALF  # type: ignore[assignment]
    return [(c, term) for term, c in sorted(done.items(), key=_order) if c]  # type: ignore[misc]


def _order(item: tuple[Maximum, object]) -> tuple:
    return item[0].loose, item[0].groups


def comparators(terms: Sequence[tuple[object, Maximum]]) -> set[tuple[Form, Form]]:
    """Distinct comparisons of two forms in the first layer."""
    pairs = (pair for _, term in terms for group in term.groups for pair in group)
    return {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}


def shapes(terms: Sequence[tuple[object, Maximum]]) -> Mapping[tuple[int, int], int]:
    """How many terms have how many (groups, loose arguments)."""
    return Counter((len(term.groups), len(term.loose)) for _, term in terms)


def hidden_layers(terms: Sequence[tuple[object, Maximum]]) -> int:
    """Layers of the network: one for the groups, then those of the outer maxima."""
    most = max(term.arguments for _, term in terms)
    return 1 + (ceil_log(2, most) if most < 4 else 1 + ceil_log(3, most - 2))


def max5_network(terms: Sequence[tuple[int, Maximum]] | None = None) -> ReLUNet:
    r"""The two-hidden-layer network for :math:`F_4`, weights in halves.

    Inputs are the first four numbers, the fifth is 0. The first layer compares the linear arguments
    of every term and the pairs in its groups, the second one compares both results; what these
    comparisons leave over is summed and carried by two neurons.

    Parameters
    ----------
    terms : sequence of (sign, Maximum), optional
        Those of the formula if omitted; at most two loose arguments and one group each.
    """
    wiring = SharedWiring(4)
    tops, rest = Signal(2, {}), Signal(1, {})
    for sign, term in five_terms() if terms is None else terms:
        inner = _larger(wiring, *(_linear(form) for form in term.loose))
        for group in term.groups:
            parts = [_larger(wiring, _linear(u), _linear(v)) for u, v in group]
            total = parts[0].plus(parts[1])
            tops = tops.plus(wiring.relu(inner.minus(total)), sign * HALF)
            rest = rest.plus(total, sign * HALF)
    return wiring.net(tops.plus(wiring.carry(rest)))


def _linear(form: Form) -> Signal:
    """The form on the first four numbers, where the fifth is 0."""
    return Signal(0, {i: Fraction(a) for i, a in enumerate(form[:4]) if a})


def _larger(wiring: SharedWiring, u: Signal, v: Signal | None = None) -> Signal:
    """The larger of one or two linear forms, one layer up; equal forms are carried."""
    if v is None or u == v:
        return wiring.carry(u)
    return wiring.relu(u.minus(v)).plus(wiring.carry(v))
