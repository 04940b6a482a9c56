"""Exact equivalence of two mixtures of product distributions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from . import flint_engine, fraction_engine, modular_engine
from .certificates import (
    EchelonLayer,
    EquivalenceCertificate,
    certificate_fault,
    layers_fault,
    string_probability,
    verify_witness,
)
from .layers import Proposal, StackedPair
from .mixtures import ProductMixture, require_same_space
from .witnesses import extend_witness

Engine = Callable[[StackedPair, bool], Iterator[Proposal]]
ENGINES: dict[str, Engine] = {
    "fraction": fraction_engine.propose,
    "flint": flint_engine.propose,
    "modular": modular_engine.propose,
}
_AUTO = "flint"


@dataclass(frozen=True)
class EquivalenceResult:
    """Verdict on a pair of mixtures, with its proof.

    Attributes
    ----------
    equal : bool
        True only if a certificate was accepted by ``verify_certificate``; False only if the two
        exact probabilities at ``witness`` differ.
    witness : tuple of int, optional
        A full string at which the mixtures differ.
    p_value_at_witness, q_value_at_witness : Fraction, optional
        Exact probabilities of the witness.
    certificate : EquivalenceCertificate, optional
        If the mixtures are equal and it was asked for.
    active : tuple of int
        Coordinates at which the rank grows, among those that were read.
    ranks : tuple of int
        Ranks of the layer spaces after 0, 1, ... coordinates; early exit cuts them short.
    field_operations : int, optional
        Field multiplications; only the ``fraction`` engine counts them.
    max_bits : int, optional
        Longest numerator or denominator of the echelon bases, where they were computed.
    engine : str
        The engine that was used.
    """

    equal: bool
    witness: tuple[int, ...] | None
    p_value_at_witness: Fraction | None
    q_value_at_witness: Fraction | None
    certificate: EquivalenceCertificate | None
    active: tuple[int, ...]
    ranks: tuple[int, ...]
    field_operations: int | None
    max_bits: int | None
    engine: str


def check_equivalence(
    P: ProductMixture,
    Q: ProductMixture,
    *,
    engine: str = "auto",
    certificate: bool = True,
    stop_early: bool = True,
) -> EquivalenceResult:
    r"""Decide exactly whether two mixtures are the same distribution.

    With the stacked components' diagonal matrices :math:`D_{j,a}` and the signed weights c,

    .. math:: U_0 = \mathrm{span}(\mathbf 1), \quad U_j = \textstyle\sum_a D_{j,a} U_{j-1},
              \qquad P = Q \iff c \perp U_n.

    Parameters
    ----------
    P, Q : ProductMixture
        On the same space; nothing else is assumed (zero weights, repeated components, alphabets
        of different sizes and of size one are fine).
    engine : {"auto", "fraction", "flint", "modular"}
        Arithmetic of the solver. All engines only propose: a verdict is returned after its
        certificate or witness has been checked exactly.
    certificate : bool
        Attach the certificate to an "equal" result (it is checked in any case).
    stop_early : bool
        Stop at the first differing layer; False computes all ranks and the whole active set.

    Returns
    -------
    EquivalenceResult

    Raises
    ------
    ValueError
        If the spaces differ or the engine is unknown.

    References
    ----------
    Bhattacharyya et al., "Computational Explorations of Total Variation Distance", ICLR 2025,
    Theorem 1; Tzeng, SIAM J. Comput. 21 (1992).
    """
    require_same_space(P, Q)
    name = _AUTO if engine == "auto" else engine
    if name not in ENGINES:
        raise ValueError(f"engine is {engine!r}; use auto, {', '.join(ENGINES)}")
    for proposal in ENGINES[name](StackedPair(P, Q), stop_early):
        result = _verified(StackedPair(P, Q), proposal, name, stop_early)
        if result is not None:
            return result if certificate else _without_certificate(result)
    raise ArithmeticError(f"no proposal of the {name} engine could be verified")


def _verified(
    pair: StackedPair, proposal: Proposal, engine: str, stop_early: bool
) -> EquivalenceResult | None:
    """The result that a proposal claims, or ``None`` if its proof does not check."""
    layers = EquivalenceCertificate(proposal.layers)
    if proposal.prefix is None:
        if certificate_fault(pair.P, pair.Q, layers) is not None:
            return None
        return _result(proposal, engine, layers, None, None, None)
    if not stop_early and layers_fault(pair.P, pair.Q, layers) is not None:
        return None
    read = range(len(proposal.prefix))
    if not verify_witness(pair.P.marginal(read), pair.Q.marginal(read), proposal.prefix):
        return None
    witness = extend_witness(pair, proposal.prefix)
    p, q = (string_probability(mixture, witness) for mixture in (pair.P, pair.Q))
    return _result(proposal, engine, None, witness, p, q) if p != q else None


def _result(
    proposal: Proposal,
    engine: str,
    certificate: EquivalenceCertificate | None,
    witness: tuple[int, ...] | None,
    p: Fraction | None,
    q: Fraction | None,
) -> EquivalenceResult:
    return EquivalenceResult(
        equal=witness is None,
        witness=witness,
        p_value_at_witness=p,
        q_value_at_witness=q,
        certificate=certificate,
        active=proposal.active,
        ranks=proposal.ranks,
        field_operations=proposal.field_operations,
        max_bits=_longest(proposal.layers),
        engine=engine,
    )


def _without_certificate(result: EquivalenceResult) -> EquivalenceResult:
    from dataclasses import replace

    return replace(result, certificate=None)


def _longest(layers: tuple[EchelonLayer, ...]) -> int | None:
    parts = (
        max(value.numerator.bit_length(), value.denominator.bit_length())
        for layer in layers
        for row in layer.rows
        for value in row
    )
    return max(parts, default=None)
