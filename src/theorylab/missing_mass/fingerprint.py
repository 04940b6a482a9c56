"""What a sample leaves behind (its fingerprint) and what it is drawn from (a population)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum
from numbers import Rational

import numpy as np
from numpy.typing import ArrayLike, NDArray

SUM_TOLERANCE = 1e-12


def _whole_numbers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """One-dimensional array of non-negative integers, or an error that says what is wrong."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: need at least one observation")
    if array.dtype.kind not in "iu":
        numbers = np.asarray(array, dtype=float)
        wrong = numbers[~(np.isfinite(numbers) & (numbers == np.floor(numbers)))]
        if wrong.size:
            raise ValueError(f"{name} must hold whole numbers, got {wrong[0]}")
        array = numbers
    array = array.astype(np.int64)
    if array.min() < 0:
        raise ValueError(f"{name} must not be negative, got {array.min()}")
    return array


@dataclass(frozen=True)
class Fingerprint:
    r"""Frequencies of frequencies of a sample.

    .. math:: \Phi_k = \#\{x : N_x = k\}, \qquad \sum_k k\,\Phi_k = n

    Build it with ``from_counts``, ``from_sample`` or ``from_phi``.

    Attributes
    ----------
    orders : tuple of int
        The ``k >= 1`` with ``Phi_k > 0``, increasing.
    frequencies : tuple of int
        The matching ``Phi_k``.
    """

    orders: tuple[int, ...]
    frequencies: tuple[int, ...]

    @classmethod
    def from_counts(cls, counts: ArrayLike) -> Fingerprint:
        """From one count per class; classes counted zero times are dropped.

        Raises
        ------
        ValueError
            If a count is negative, fractional or not finite, if the array is not
            one-dimensional, or if nothing was observed.
        """
        return cls._from_tally(np.bincount(_whole_numbers(counts, "counts")))

    @classmethod
    def from_sample(cls, sample: Iterable[object]) -> Fingerprint:
        """From the observations themselves: any sequence of hashable labels."""
        tally: dict[object, int] = {}
        for label in sample:
            tally[label] = tally.get(label, 0) + 1
        if not tally:
            raise ValueError("sample is empty: need at least one observation")
        return cls.from_counts(list(tally.values()))

    @classmethod
    def from_phi(cls, phi: Mapping[int, int] | ArrayLike) -> Fingerprint:
        """From ``{k: Phi_k}``, or from the array ``[Phi_1, Phi_2, ...]``."""
        if not isinstance(phi, Mapping):
            frequencies = _whole_numbers(phi, "phi")
            return cls._from_tally(np.concatenate(([0], frequencies)))
        orders = _whole_numbers(list(phi.keys()), "the orders of phi")
        frequencies = _whole_numbers(list(phi.values()), "phi")
        if orders.min() < 1:
            raise ValueError("phi must not name order 0: unseen classes are not observed")
        pairs = sorted((int(k), int(m)) for k, m in zip(orders, frequencies, strict=True) if m)
        return cls._nonempty(tuple(k for k, _ in pairs), tuple(m for _, m in pairs))

    @classmethod
    def _from_tally(cls, tally: NDArray[np.int64]) -> Fingerprint:
        orders = np.flatnonzero(tally)
        orders = orders[orders > 0]
        return cls._nonempty(tuple(orders.tolist()), tuple(tally[orders].tolist()))

    @classmethod
    def _nonempty(cls, orders: tuple[int, ...], frequencies: tuple[int, ...]) -> Fingerprint:
        if not orders:
            raise ValueError("the sample size n is 0: need at least one observation")
        return cls(orders, frequencies)

    @cached_property
    def n(self) -> int:
        """Sample size."""
        return sum(k * m for k, m in zip(self.orders, self.frequencies, strict=True))

    @property
    def distinct(self) -> int:
        """Number of different classes in the sample."""
        return sum(self.frequencies)

    @property
    def largest(self) -> int:
        """Largest count in the sample."""
        return self.orders[-1]

    def phi(self, k: int) -> int:
        """Number of classes seen exactly ``k >= 1`` times."""
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}: unseen classes are not observed")
        return self._by_order.get(k, 0)

    def vector(self, length: int) -> NDArray[np.int64]:
        """``[Phi_1, ..., Phi_length]`` as int64."""
        if length < 1:
            raise ValueError(f"length must be at least 1, got {length}")
        return np.array([self._by_order.get(k, 0) for k in range(1, length + 1)], dtype=np.int64)

    def counts(self) -> NDArray[np.int64]:
        """One count per seen class, increasing."""
        return np.repeat(
            np.array(self.orders, dtype=np.int64), np.array(self.frequencies, dtype=np.int64)
        )

    @cached_property
    def _by_order(self) -> dict[int, int]:
        return dict(zip(self.orders, self.frequencies, strict=True))


class Population:
    r"""A distribution over classes, kept as different probabilities and how often each occurs.

    Parameters
    ----------
    p : sequence of Fraction or of float
        One probability per class; classes of probability zero are dropped. The population is
        *exact* when every entry is rational (``int`` or ``Fraction``), else it is held in
        double precision.

    Attributes
    ----------
    values : numpy.ndarray, shape (D,)
        The different probabilities, increasing (dtype object for exact populations).
    multiplicities : numpy.ndarray, shape (D,)
        How many classes have each of them.

    Raises
    ------
    ValueError
        If empty, not one-dimensional, negative, not finite, or not summing to one (exactly for
        rationals, within 1e-12 for floats).
    """

    values: NDArray
    multiplicities: NDArray

    def __init__(self, p: Sequence[Fraction] | ArrayLike) -> None:
        array = p if isinstance(p, np.ndarray) else np.array(p, dtype=_entry_type(p))
        if array.ndim != 1:
            raise ValueError(f"p must be one-dimensional, got shape {array.shape}")
        if array.dtype == object and not all(isinstance(x, Rational) for x in array):
            array = array.astype(float)
        values, multiplicities = np.unique(array, return_counts=True)
        self._set(values, multiplicities)

    @classmethod
    def from_atoms(cls, values: ArrayLike, multiplicities: ArrayLike) -> Population:
        """From different probabilities and their multiplicities.

        Multiplicities need not be whole: a mixing measure that stands for an expected number of
        classes is a population for every moment, only not one to sample from.
        """
        population = cls.__new__(cls)
        population._set(np.asarray(values), np.asarray(multiplicities))
        return population

    @classmethod
    def from_weights(cls, weights: Sequence[int] | Sequence[Fraction] | ArrayLike) -> Population:
        """Proportional to positive weights; exact when these are whole numbers or Fractions."""
        entries = list(weights)  # type: ignore[arg-type]
        if not entries:
            raise ValueError("weights is empty: need at least one class")
        if all(isinstance(w, (Rational, np.integer)) for w in entries):
            total = sum((Fraction(w) for w in entries), start=Fraction(0))
            if total <= 0:
                raise ValueError(f"weights must have a positive sum, got {total}")
            return cls([Fraction(w) / total for w in entries])
        floats = np.asarray(entries, dtype=float)
        total = fsum(floats)
        if not total > 0:
            raise ValueError(f"weights must have a positive sum, got {total}")
        return cls(floats / total)

    def _set(self, values: NDArray, multiplicities: NDArray) -> None:
        """Validate, drop empty atoms, freeze."""
        if values.shape != multiplicities.shape or values.ndim != 1:
            raise ValueError(
                f"values and multiplicities must be one-dimensional and of equal length, "
                f"got shapes {values.shape} and {multiplicities.shape}"
            )
        if values.dtype != object:
            values = values.astype(float, copy=False)
            if not np.isfinite(values).all():
                raise ValueError("p must be finite")
        if not np.isfinite(multiplicities.astype(float)).all() or (multiplicities < 0).any():
            raise ValueError("multiplicities must be finite and not negative")
        kept = (values != 0) & (multiplicities != 0)
        values, multiplicities = values[kept], multiplicities[kept]
        if values.size == 0:
            raise ValueError("p is empty: need at least one class of positive probability")
        if (values < 0).any():
            raise ValueError(f"p must not be negative, got {values.min()}")
        _check_total(values, multiplicities)
        for array in (values, multiplicities):
            array.flags.writeable = False
        self.values, self.multiplicities = values, multiplicities

    @property
    def exact(self) -> bool:
        """Whether all probabilities are Fractions."""
        return self.values.dtype == object

    @property
    def size(self) -> int | float:
        """Number of classes S (an expected number when multiplicities are not whole)."""
        total = self.multiplicities.sum()
        return float(total) if self.multiplicities.dtype.kind == "f" else int(total)

    @property
    def p_max(self) -> Fraction | float:
        """Largest probability of a class."""
        return max(self.values.tolist())

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """The different probabilities in double precision, shape (D,)."""
        return self.values.astype(float)

    def atoms(self) -> list[tuple[Fraction, int]]:
        """``(probability, multiplicity)`` pairs of an exact population.

        Raises
        ------
        TypeError
            If the population holds floats.
        """
        if not self.exact:
            raise TypeError("an exact result needs a population of Fractions, this one has floats")
        return [
            (Fraction(u), int(m)) for u, m in zip(self.values, self.multiplicities, strict=True)
        ]

    def probabilities(self) -> NDArray:
        """One entry per class, in increasing order.

        Raises
        ------
        ValueError
            If the multiplicities are not whole numbers.
        """
        whole = self.multiplicities.astype(np.int64)
        if (whole != self.multiplicities).any():
            raise ValueError("multiplicities are not whole: this population has no list of classes")
        return np.repeat(self.values, whole)

    def __repr__(self) -> str:
        return f"Population(S={self.size}, D={self.values.size}, p_max={float(self.p_max):.6g})"


def as_population(p: Population | Sequence[Fraction] | ArrayLike) -> Population:
    """``p`` itself if it is a population, else the population with these probabilities."""
    return p if isinstance(p, Population) else Population(p)


def _entry_type(p: Sequence[Fraction] | ArrayLike) -> type:
    """Keep rationals as objects, turn everything else into floats."""
    entries = np.array(p, dtype=object).ravel()
    return object if all(isinstance(x, Rational) for x in entries) else float


def _check_total(values: NDArray, multiplicities: NDArray) -> None:
    if values.dtype == object:
        weights = zip(values, multiplicities.tolist(), strict=True)
        total = sum((Fraction(u) * Fraction(m) for u, m in weights), start=Fraction(0))
        if total != 1:
            raise ValueError(f"p must sum to exactly 1, got {total}")
        return
    total = float(values @ multiplicities)
    if abs(total - 1) > SUM_TOLERANCE:
        raise ValueError(f"p must sum to 1 within {SUM_TOLERANCE}, got {total!r}; normalise it")


def uniform(size: int) -> Population:
    """All ``size`` classes equally likely (exact)."""
    _check_size(size, 1)
    return Population.from_atoms(np.array([Fraction(1, size)]), np.array([size]))


def half(size: int) -> Population:
    """Half of the classes (rounded down) three times as likely as the rest (exact)."""
    _check_size(size, 2)
    heavy = size // 2
    unit = Fraction(1, 2 * heavy + size)
    return Population.from_atoms(np.array([unit, 3 * unit]), np.array([size - heavy, heavy]))


def zipf(size: int) -> Population:
    """Probability of class i proportional to 1/i (exact)."""
    _check_size(size, 1)
    return Population.from_weights([Fraction(1, i) for i in range(1, size + 1)])


def zipfhalf(size: int) -> Population:
    """Probability of class i proportional to 1/sqrt(i) (floats)."""
    _check_size(size, 1)
    return Population.from_weights(np.arange(1, size + 1) ** -0.5)


def dirichlet(size: int, concentration: float, rng: np.random.Generator) -> Population:
    """Probabilities drawn from the symmetric Dirichlet distribution (floats)."""
    _check_size(size, 1)
    if not concentration > 0:
        raise ValueError(f"concentration must be positive, got {concentration}")
    return Population.from_weights(rng.dirichlet(np.full(size, concentration)))


def _check_size(size: int, least: int) -> None:
    if size < least:
        raise ValueError(f"size must be at least {least}, got {size}")


FIXED_BENCHMARKS: tuple[str, ...] = ("uniform", "half", "zipf", "zipfhalf")
BENCHMARKS: tuple[str, ...] = (*FIXED_BENCHMARKS, "diri", "dirihalf")


def benchmark_population(
    name: str, size: int, rng: np.random.Generator | None = None
) -> Population:
    """One of the six populations of the paper's experiments.

    Parameters
    ----------
    name : str
        ``uniform``, ``half``, ``zipf``, ``zipfhalf``, ``diri`` (Dirichlet 1) or ``dirihalf``
        (Dirichlet 1/2).
    size : int
        Number S of classes.
    rng : numpy.random.Generator, optional
        Needed by ``diri`` and ``dirihalf``, which draw a new p at every call.

    Raises
    ------
    ValueError
        If the name is unknown, or randomness is needed and missing.
    """
    fixed: dict[str, Callable[[int], Population]] = {
        "uniform": uniform,
        "half": half,
        "zipf": zipf,
        "zipfhalf": zipfhalf,
    }
    concentrations = {"diri": 1.0, "dirihalf": 0.5}
    if name in fixed:
        return fixed[name](size)
    if name not in concentrations:
        raise ValueError(f"unknown population {name!r}; choose one of {', '.join(BENCHMARKS)}")
    if rng is None:
        raise ValueError(f"population {name!r} is random: pass rng")
    return dirichlet(size, concentrations[name], rng)
