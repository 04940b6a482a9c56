"""Continuous piecewise linear functions on a complex, and their weights on the walls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from theorylab.exact import (
    Polyhedron,
    Rational,
    Scalar,
    Vector,
    clear_denominators,
    rational,
    rational_vector,
)

from .balancing import RowNumbers
from .complexes import BraidComplex, Complex
from .merging import classes
from .walls import Affine, Ridge

AffineMap = tuple[Vector, Fraction]
Term = tuple[Scalar, Sequence[Affine]]


class CPWL:
    r"""A continuous function that is affine on every cell of a complex.

    Parameters
    ----------
    complex : Complex
        The complex :math:`\mathcal P`.
    pieces : sequence of (vector, scalar)
        One affine map :math:`x\mapsto a\cdot x+b` per maximal cell, in the order of
        ``complex.cells``; checked on every wall.

    Raises
    ------
    ValueError
        If the number of pieces is wrong or two neighbours disagree on their wall.
    TypeError
        For floats unless ``rationalise`` is given.
    """

    def __init__(
        self, complex: Complex, pieces: Sequence[Affine], *, rationalise: bool | int = False
    ) -> None:
        if len(pieces) != len(complex.cells):
            raise ValueError(
                f"{len(complex.cells)} affine maps are needed, one per cell, got {len(pieces)}"
            )
        checked = [
            affine_map(piece, complex.n, f"piece {number}", rationalise=rationalise)
            for number, piece in enumerate(pieces)
        ]
        self._complex = complex
        self._pieces: list[AffineMap] | None = checked
        self._weights = _kinks(complex, checked)

    @classmethod
    def unchecked(cls, complex: Complex, weights: Sequence[Fraction]) -> CPWL:
        """Build from weights that are known to be balanced; pieces are integrated when needed."""
        function = cls.__new__(cls)
        function._complex = complex
        function._pieces = None
        function._weights = tuple(weights)
        return function

    @classmethod
    def from_weights(cls, complex: Complex, w: Sequence[Scalar]) -> CPWL:
        """The function with these balanced weights that vanishes on cell 0; see ``integrate``."""
        return integrate(complex, w)

    @classmethod
    def from_terms(
        cls, complex: Complex, terms: Sequence[Term], *, rationalise: bool | int = False
    ) -> CPWL:
        r"""Return :math:`\sum_t c_t\max_i(a_{ti}\cdot x+b_{ti})` on the complex.

        Raises
        ------
        ValueError
            If the sum is not affine on some cell (the complex does not carry its kinks).
        """
        checked = [
            (
                rational(coefficient, f"coefficient of term {t}", rationalise=rationalise),
                [
                    affine_map(form, complex.n, f"term {t}", rationalise=rationalise)
                    for form in forms
                ],
            )
            for t, (coefficient, forms) in enumerate(terms)
        ]
        if any(not forms for _, forms in checked):
            raise ValueError("a term needs at least one affine map, got an empty list")
        pieces = [_sum_on_cell(number, cell, checked) for number, cell in enumerate(complex.cells)]
        return cls(complex, pieces)

    @classmethod
    def from_set_function(
        cls,
        n: int,
        values: Mapping[frozenset[int], Scalar],
        *,
        complex: BraidComplex | None = None,
        rationalise: bool | int = False,
    ) -> CPWL:
        r"""Lovász extension of a set function on ``{0, ..., n-1}``, on the braid fan.

        On :math:`x_{\pi_1}\ge\dots\ge x_{\pi_n}` it is
        :math:`\sum_k x_{\pi_k}(F(\{\pi_1..\pi_k\})-F(\{\pi_1..\pi_{k-1}\}))`.

        Raises
        ------
        ValueError
            If a subset is missing, a key is no subset, or ``F(empty set)`` is not 0.
        """
        table = _checked_set_function(n, values, rationalise)
        fan = Complex.braid(n) if complex is None else complex
        if fan.n != n:
            raise ValueError(f"the set function has {n} elements, the braid fan {fan.n}")
        return cls(fan, [(_chain_increments(order, table), Fraction(0)) for order in fan.orders])

    @property
    def complex(self) -> Complex:
        """The complex that carries the function."""
        return self._complex

    @property
    def pieces_on_cells(self) -> list[AffineMap]:
        """The affine map of every cell; for an integrated function that of cell 0 is zero."""
        if self._pieces is None:
            self._pieces = integrate_along_tree(self._complex, self._weights)
        return self._pieces

    @cached_property
    def row_numbers(self) -> RowNumbers:
        """Numbers on the rows of the weight space, as integers over a common denominator."""
        return clear_denominators(self._complex.weight_space.row_values(self._weights))

    @property
    def weights(self) -> list[Fraction]:
        r"""Weights :math:`w_f(\sigma)`, one per wall: positive for a convex kink."""
        return list(self._weights)

    def pieces(self) -> int:
        """Number of connected regions on which the function is affine.

        Cells are joined across walls without a kink. For convex functions (and whenever the
        regions are convex) this is the least number of maximal cells of a compatible complex.
        """
        return count_regions(self._complex, self._weights)

    def affine_components(self) -> int:
        """Number of distinct affine maps."""
        return len(set(self.pieces_on_cells))

    def is_convex(self) -> bool:
        """Tell whether no wall has a negative weight."""
        return all(weight >= 0 for weight in self._weights)

    def __call__(self, point: Sequence[Scalar]) -> Fraction:
        """Value at a rational point."""
        x = rational_vector(point, self._complex.n, "point")
        for cell, (slope, constant) in zip(self._complex.cells, self.pieces_on_cells, strict=True):
            if cell.contains(x):
                return sum((a * b for a, b in zip(slope, x, strict=True)), constant)
        raise ValueError(f"no cell contains {point}: the complex does not cover the space")

    def _combine(self, other: CPWL, sign: int) -> CPWL:
        if other._complex is not self._complex:
            raise ValueError("the functions live on different complexes; build both on one")
        pieces = [
            (tuple(x + sign * y for x, y in zip(a, c, strict=True)), b + sign * d)
            for (a, b), (c, d) in zip(self.pieces_on_cells, other.pieces_on_cells, strict=True)
        ]
        return CPWL(self._complex, pieces)

    def __add__(self, other: CPWL) -> CPWL:
        return self._combine(other, 1)

    def __sub__(self, other: CPWL) -> CPWL:
        return self._combine(other, -1)

    def __mul__(self, factor: Scalar) -> CPWL:
        c = rational(factor, "factor")
        pieces = [(tuple(c * x for x in a), c * b) for a, b in self.pieces_on_cells]
        return CPWL(self._complex, pieces)

    __rmul__ = __mul__

    def __neg__(self) -> CPWL:
        return self * -1

    def __repr__(self) -> str:
        return f"CPWL({self._complex!r}, {self.pieces()} pieces)"


def affine_map(
    form: object, n: int, name: str = "affine map", *, rationalise: bool | int = False
) -> AffineMap:
    """Return the affine map ``(vector, scalar)`` with fractions, checked."""
    if not isinstance(form, Sequence) or isinstance(form, str) or len(form) != 2:
        raise TypeError(f"{name} must be a pair (vector, scalar), got {form!r}")
    vector = rational_vector(form[0], n, name, rationalise=rationalise)
    return vector, rational(form[1], name, rationalise=rationalise)


def weights(complex: Complex, f: CPWL | Sequence[Affine]) -> list[Fraction]:
    r"""Return the weight :math:`w_f(\sigma)` of every wall.

    .. math:: \ell_Q-\ell_P=w_f(\sigma)\,(\eta\cdot x-\beta)

    Parameters
    ----------
    complex : Complex
    f : CPWL or sequence of (vector, scalar)
        The function, or one affine map per cell.

    Raises
    ------
    ValueError
        If the affine maps of two neighbours disagree on their wall, or ``f`` lives on another
        complex.
    """
    if isinstance(f, CPWL):
        if f.complex is not complex:
            f = transfer(f, complex)
        return f.weights
    return CPWL(complex, f).weights


def integrate(complex: Complex, w: Sequence[Scalar]) -> CPWL:
    """Return the function with these weights that vanishes on cell 0.

    Raises
    ------
    ValueError
        If the weights are not balanced at some ridge: no function has them, and summing along a
        tree of cells would silently give one that jumps.
    """
    vector = rational_vector(w, len(complex.walls), "weights")
    ridge = unbalanced_ridge(complex, vector)
    if ridge is not None:
        raise ValueError(
            f"the weights are not balanced around ridge {ridge}: "
            f"the jump is {imbalance(complex, complex.ridges[ridge], vector)}"
        )
    return CPWL.unchecked(complex, vector)


def imbalance(complex: Complex, ridge: Ridge, w: Sequence[Rational]) -> Vector:
    r"""Return :math:`\sum_\sigma\pm w(\sigma)\,\eta_\sigma` around the ridge."""
    total = [Fraction(0)] * complex.n
    for index, sign in ridge.cycle:
        factor = sign * w[index]
        if factor:
            for k, entry in enumerate(complex.walls[index].eta):
                if entry:
                    total[k] += factor * entry
    return tuple(total)


def unbalanced_ridge(complex: Complex, w: Sequence[Rational]) -> int | None:
    """Return the index of the first ridge where the weights are not balanced, or None."""
    integers, _ = clear_denominators(w)
    normals = [wall.eta for wall in complex.walls]
    for number, ridge in enumerate(complex.ridges):
        total = [0] * complex.n
        for index, sign in ridge.cycle:
            factor = sign * integers[index]
            if factor:
                total = [t + factor * e for t, e in zip(total, normals[index], strict=True)]
        if any(total):
            return number
    return None


def transfer(f: CPWL, complex: Complex) -> CPWL:
    """Return the same function on another complex that carries all its kinks.

    Raises
    ------
    ValueError
        If the function is not affine on some cell of the other complex.
    """
    if f.complex.n != complex.n:
        raise ValueError(f"the function has {f.complex.n} variables, the complex {complex.n}")
    pieces = []
    for number, cell in enumerate(complex.cells):
        found = {
            piece
            for source, piece in zip(f.complex.cells, f.pieces_on_cells, strict=True)
            if cell.intersection(source).dimension == complex.n
        }
        if len(found) != 1:
            raise ValueError(
                f"not compatible: the function has {len(found)} affine maps on cell {number}"
            )
        pieces.append(found.pop())
    return CPWL(complex, pieces)


def regions(complex: Complex, w: Iterable[Rational]) -> list[list[int]]:
    """Return the classes of cells joined across walls of weight zero."""
    flat = [wall for wall, weight in zip(complex.walls, w, strict=True) if not weight]
    return classes(len(complex.cells), [(wall.P, wall.Q) for wall in flat])


def count_regions(complex: Complex, w: Iterable[Rational]) -> int:
    """Return the number of classes of cells joined across walls of weight zero."""
    return len(regions(complex, w))


def _kinks(complex: Complex, pieces: Sequence[AffineMap]) -> tuple[Fraction, ...]:
    found = []
    for number, wall in enumerate(complex.walls):
        (a, b), (c, d) = pieces[wall.P], pieces[wall.Q]
        pivot = next(k for k, entry in enumerate(wall.eta) if entry)
        weight = (c[pivot] - a[pivot]) / wall.eta[pivot]
        slopes_agree = all(y - x == weight * e for x, y, e in zip(a, c, wall.eta, strict=True))
        if not slopes_agree or d - b != -weight * wall.beta:
            raise ValueError(
                f"not continuous: the pieces of cells {wall.P} and {wall.Q} "
                f"disagree on wall {number}"
            )
        found.append(weight)
    return tuple(found)


def integrate_along_tree(complex: Complex, w: Sequence[Rational]) -> list[AffineMap]:
    """Sum the jumps along the spanning tree of cells, starting with 0 on cell 0.

    Only for balanced weights do the maps fit together on the walls outside the tree; see
    ``integrate``, which checks.
    """
    pieces: list[AffineMap] = [((Fraction(0),) * complex.n, Fraction(0))] * len(complex.cells)
    for index, parent, child in complex.spanning_tree:
        wall = complex.walls[index]
        jump = w[index] if parent == wall.P else -w[index]
        slope, constant = pieces[parent]
        if jump:
            slope = tuple(a + jump * e if e else a for a, e in zip(slope, wall.eta, strict=True))
            constant -= jump * wall.beta
        pieces[child] = slope, constant
    return pieces


def _difference(left: AffineMap, right: AffineMap) -> AffineMap:
    return tuple(a - c for a, c in zip(left[0], right[0], strict=True)), left[1] - right[1]


def _value(form: AffineMap, point: Vector) -> Fraction:
    return sum((a * x for a, x in zip(form[0], point, strict=True)), form[1])


def _sum_on_cell(
    number: int, cell: Polyhedron, terms: Sequence[tuple[Fraction, list[AffineMap]]]
) -> AffineMap:
    """Add the terms on one cell; where a single term kinks inside, compare the parts exactly."""
    maps = {_sum_of_winners(part, terms) for part in _parts(cell, terms)}
    if len(maps) != 1:
        raise ValueError(
            f"not compatible: the function has {len(maps)} affine maps on cell {number}; "
            "refine the complex so that it carries every kink"
        )
    return maps.pop()


def _parts(cell: Polyhedron, terms: Sequence[tuple[Fraction, list[AffineMap]]]) -> list[Polyhedron]:
    """Cut the cell until on every part each term has a single winning affine map."""
    parts = [cell]
    for _, forms in terms:
        refined = []
        for part in parts:
            refined += _winning_parts(part, forms)
        parts = refined
    return parts


def _winning_parts(part: Polyhedron, forms: Sequence[AffineMap]) -> list[Polyhedron]:
    centre = part.interior_point()
    winner = max(forms, key=lambda form: _value(form, centre))
    if all(part.is_nonnegative(_difference(winner, form)) for form in forms):
        return [part]
    parts = []
    for index, form in enumerate(forms):
        if form in forms[:index]:
            continue
        region = part
        for other in forms:
            if other != form:
                region = region.cut(_difference(form, other))
        if region.dimension == part.n:
            parts.append(region)
    return parts


def _sum_of_winners(
    part: Polyhedron, terms: Sequence[tuple[Fraction, list[AffineMap]]]
) -> AffineMap:
    centre = part.interior_point()
    slope, constant = [Fraction(0)] * part.n, Fraction(0)
    for coefficient, forms in terms:
        a, b = max(forms, key=lambda form: _value(form, centre))
        slope = [s + coefficient * entry for s, entry in zip(slope, a, strict=True)]
        constant += coefficient * b
    return tuple(slope), constant


def _checked_set_function(
    n: int, values: Mapping[frozenset[int], Scalar], rationalise: bool | int
) -> dict[frozenset[int], Fraction]:
    table = {
        frozenset(key): rational(value, f"F({sorted(key)})", rationalise=rationalise)
        for key, value in values.items()
    }
    subsets = {frozenset(s) for size in range(n + 1) for s in combinations(range(n), size)}
    missing, foreign = subsets - table.keys(), table.keys() - subsets
    if missing:
        raise ValueError(
            f"the set function misses {len(missing)} subsets, e.g. {set(min(missing, key=sorted))}"
        )
    if foreign:
        raise ValueError(f"{set(foreign.pop())} is no subset of 0..{n - 1}")
    if table[frozenset()] != 0:
        raise ValueError(f"F(empty set) must be 0, got {table[frozenset()]}")
    return table


def _chain_increments(order: Sequence[int], table: Mapping[frozenset[int], Fraction]) -> Vector:
    slope = [Fraction(0)] * len(order)
    before: frozenset[int] = frozenset()
    for element in order:
        after = before | {element}
        slope[element] = table[after] - table[before]
        before = after
    return tuple(slope)
