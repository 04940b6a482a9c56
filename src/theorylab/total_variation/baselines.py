"""Other ways to compare two mixtures, which the chapter shows to fail or to cost more."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np

from .distances import difference_table
from .fraction_engine import EchelonBasis
from .layers import StackedPair
from .mixtures import ProductMixture, require_same_space


def agree_on_marginals(P: ProductMixture, Q: ProductMixture, order: int) -> bool:
    """Whether all marginals on ``order`` coordinates agree exactly, by listing."""
    require_same_space(P, Q)
    subsets = combinations(range(P.n_coordinates), order)
    return all(not difference_table(P.marginal(S), Q.marginal(S))[0].any() for S in subsets)


def agree_pointwise(P: ProductMixture, Q: ProductMixture, atol: float = 1e-8) -> bool:
    """Whether all probabilities agree within an absolute tolerance, by listing."""
    numerators, denominator = difference_table(P, Q)
    return int(np.abs(numerators).max(initial=0)) / denominator <= atol


def agree_by_svd(P: ProductMixture, Q: ProductMixture, tolerance: float) -> bool:
    """The layer algorithm in floating point, with numerical ranks.

    Orthonormal bases of the layer spaces come from singular value decompositions; singular
    values and inner products with the (normalised) coefficients count as zero when at most
    ``tolerance``.
    """
    weights, diagonals = _float_pair(P, Q)
    weights = weights / np.linalg.norm(weights)
    basis = np.full((1, len(weights)), len(weights) ** -0.5)
    for letters in diagonals:
        images = (letters[:, None, :] * basis).reshape(-1, len(weights))
        _, sizes, directions = np.linalg.svd(np.vstack([basis, images]), full_matrices=False)
        basis = directions[sizes > tolerance]
        if np.abs(basis @ weights).max() > tolerance:
            return False
    return True


def agree_as_automata(P: ProductMixture, Q: ProductMixture) -> bool:
    """Equivalence of float weighted automata with ``numpy.allclose``, after Kiefer (2020).

    Backward Gram-Schmidt over words, as ``genlm-grammar`` 0.2.0 does it on general automata, with
    every comparison at ``allclose``'s relative tolerance 1e-5 and absolute tolerance 1e-8. The
    states of one coordinate are kept together, which leaves the arithmetic as it is.
    """
    weights, diagonals = _float_pair(P, Q)
    k, n = P.n_components, P.n_coordinates
    bases = [[] for _ in range(n)] + [[np.ones(len(weights))]]
    worklist = [(n, np.ones(len(weights)))]
    while worklist:
        j, vector = worklist.pop()
        for letter in diagonals[j - 1]:
            image = letter * vector
            if j == 1 and not np.allclose(weights[:k] @ image[:k], -(weights[k:] @ image[k:])):
                return False
            rest = _orthogonal_part(image, bases[j - 1])
            if not np.allclose(image - rest, image):
                bases[j - 1].append(rest)
                worklist += [(j - 1, image)] * (j > 1)
    return True


def _orthogonal_part(vector: np.ndarray, basis: list[np.ndarray]) -> np.ndarray:
    for direction in basis:
        vector = vector - (direction @ vector) / (direction @ direction) * direction
    return vector


def _float_pair(P: ProductMixture, Q: ProductMixture) -> tuple[np.ndarray, list[np.ndarray]]:
    require_same_space(P, Q)
    pair = StackedPair(P, Q)
    diagonals = [
        np.array([[float(value) for value in diagonal] for diagonal in pair.diagonals(j)])
        for j in range(pair.n_coordinates)
    ]
    return np.array([float(value) for value in pair.coefficients]), diagonals


def naive_multiplications(P: ProductMixture, Q: ProductMixture) -> int:
    """Field multiplications when every candidate is tested by an elimination from scratch.

    The basis vectors are kept as they came, and for every candidate :math:`D_{j,a}y` all of them
    and the candidate are brought to echelon form anew. Counted as in the ``fraction`` engine.
    """
    require_same_space(P, Q)
    pair = StackedPair(P, Q)
    vectors: list[list[Fraction]] = [[Fraction(1)] * pair.width]
    count = 0
    for j in range(pair.n_coordinates):
        for diagonal in pair.diagonals(j)[:-1]:
            for vector in list(vectors):
                candidate = [d * y for d, y in zip(diagonal, vector, strict=True)]
                is_new, work = _eliminated_anew(vectors, candidate)
                count += pair.width + work
                vectors += [candidate] * is_new
    return count


def _eliminated_anew(vectors: list[list[Fraction]], candidate: list[Fraction]) -> tuple[bool, int]:
    basis = EchelonBasis(vectors[0])
    for vector in vectors[1:]:
        basis.insert(vector)
    return basis.insert(candidate) is not None, basis.multiplications
