"""Claims on models of real data: exact verdicts, brackets, monotonicity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, AtLeast, AtMost, Equal, Finding
from theorylab.run import Run
from theorylab.stats import CONFIDENCE, mean_equals
from theorylab.total_variation.certificates import verify_certificate
from theorylab.total_variation.data import (
    BLANK,
    CROSS,
    NOUGHT,
    binary_digits,
    expanded,
    law_school_items,
    naive_bayes,
    tictactoe_boards,
)
from theorylab.total_variation.distances import (
    log_probabilities,
    sample_mixture,
    tv_exact_mixture,
    tv_mixture_lower,
    tv_mixture_mc,
    tv_mixture_upper,
)
from theorylab.total_variation.equivalence import check_equivalence
from theorylab.total_variation.generators import nudge
from theorylab.total_variation.latent_classes import fit_latent_classes
from theorylab.total_variation.mixtures import ProductMixture

DERIVED = Source("theorylab", "derived in the chapter")
EXPANDED_PIXELS = (10, 13, 18, 21, 27, 28, 35, 36, 42, 45)


def digit_places() -> list[tuple[int, int]]:
    """One pixel for each of the ten digit classes, at which its component is expanded."""
    return list(enumerate(EXPANDED_PIXELS))


def _verdicts(P: ProductMixture, Q: ProductMixture) -> Finding:
    """Verdict on (P, Q), and on Q with one probability moved by 1e-30."""
    result = check_equivalence(P, Q)
    moved = nudge(Q, 5, 30, Fraction(1, 10**30), (0, 1))
    words = [_word(P, Q), _word(P, moved)]
    if result.certificate is not None:
        words.append("accepted" if verify_certificate(P, Q, result.certificate) else "rejected")
        words.append("accepted" if verify_certificate(P, moved, result.certificate) else "rejected")
    return Equal(
        words,
        ["equal", "different", "accepted", "rejected"],
        sizes={"K": P.n_components + Q.n_components, "n": P.n_coordinates},
    )


def _word(P: ProductMixture, Q: ProductMixture) -> str:
    return "equal" if check_equivalence(P, Q).equal else "different"


def _digit_fit(labels: np.ndarray) -> ProductMixture:
    return naive_bayes(binary_digits()[0], labels, 2)


@claim(
    "total_variation.real-models",
    statement=r"""The naive Bayes model of the 8 × 8 digits (10 components on 64 bits, add-one
smoothing) has exactly rational parameters. Expanded ten times "one component → one per value of a
pixel" it has 20 components and is the same distribution: verdict equal, certificate accepted, at
most $K - 1 = 29$ active pixels and rank at most 20. With one probability moved by $10^{-30}$ it is
another one: verdict different, the old certificate rejected. This is about models, not about fit:
it holds for shuffled labels too.""",
    source=DERIVED,
    evidence="exact",
    uses=["total_variation.equiv-decides", "total_variation.equiv-certificate"],
)
def real_models(run: Run) -> Finding:
    _, labels = binary_digits()
    model = _digit_fit(labels)
    shuffled = _digit_fit(run.rng("labels").permutation(labels))
    result = check_equivalence(model, expanded(model, digit_places()))
    return AllHold(
        {
            "digits": _verdicts(model, expanded(model, digit_places())),
            "digits with shuffled labels": _verdicts(shuffled, expanded(shuffled, digit_places())),
            "active pixels": AtMost(len(result.active), 29),
            "rank": AtMost(result.ranks[-1], 20),
        }
    )


@real_models.control("the expanded model is fitted to shuffled labels")
def _(run: Run) -> Finding:
    _, labels = binary_digits()
    shuffled = _digit_fit(run.rng("labels").permutation(labels))
    return _verdicts(_digit_fit(labels), expanded(shuffled, digit_places()))


def _half_fits() -> tuple[ProductMixture, ProductMixture]:
    pixels, labels = binary_digits()
    return tuple(  # type: ignore[return-value]
        naive_bayes(pixels[start::2], labels[start::2], 2) for start in (0, 1)
    )


def _one_sided(left: ProductMixture, right: ProductMixture, draws: np.ndarray) -> np.ndarray:
    """Values of max(0, 1 - right(x)/left(x)), whose mean under ``left`` is the distance."""
    log_ratio = log_probabilities(right, draws) - log_probabilities(left, draws)
    return -np.expm1(np.minimum(log_ratio, 0.0))


def _side_difference(run: Run, second_source: int) -> Finding:
    """Distance estimated from P's draws minus the distance estimated from the other side's."""
    P, Q = _half_fits()
    N = run.pick(ci=40_000, paper=400_000)
    from_p = _one_sided(P, Q, sample_mixture(P, N, run.rng("draws of P")))
    source = (P, Q)[second_source]
    from_q = _one_sided(Q, P, sample_mixture(source, N, run.rng("draws of Q")))
    return mean_equals(from_p - from_q, 0, power_against=0.03)


@claim(
    "total_variation.real-refit",
    statement=r"""Naive Bayes fits to the even and to the odd rows of the digits are different
distributions. Their distance is $E_P\max(0, 1 - Q/P) = E_Q\max(0, 1 - P/Q)$, and it lies between
the exact distance of a 12-pixel marginal and the transport bound on components.""",
    source=DERIVED,
    evidence="statistical",
)
def real_refit(run: Run) -> Finding:
    P, Q = _half_fits()
    N = run.pick(ci=40_000, paper=400_000)
    estimate = tv_mixture_mc(P, Q, N, run.rng("midpoint"), confidence=CONFIDENCE)
    return AllHold(
        {
            "verdict": Equal(_word(P, Q), "different"),
            "both sides give the same mean": _side_difference(run, second_source=1),
            "marginal bound below the interval's end": AtMost(
                float(tv_mixture_lower(P, Q)), estimate.bernstein[1]
            ),
            "transport bound above the interval's start": AtLeast(
                float(tv_mixture_upper(P, Q)), estimate.bernstein[0]
            ),
        }
    )


@real_refit.control("both samples drawn from P")
def _(run: Run) -> Finding:
    return _side_difference(run, second_source=0)


def _merged_step_by_step(
    mixture: ProductMixture, partition: list[list[int]]
) -> list[ProductMixture]:
    steps = [mixture]
    for cell in range(mixture.n_coordinates):
        steps.append(steps[-1].coarsen(cell, partition))
    return steps


def _never_rises(partition_of_p: list[list[int]], partition_of_q: list[list[int]]) -> Finding:
    """Exact distances while the letters of one board cell after another are merged."""
    boards, won = tictactoe_boards()
    P = naive_bayes(boards, won, 3)
    Q = naive_bayes(boards, np.zeros_like(won), 3)
    sides = zip(
        _merged_step_by_step(P, partition_of_p),
        _merged_step_by_step(Q, partition_of_q),
        strict=True,
    )
    distances = [tv_exact_mixture(p, q) for p, q in sides]
    return AtMost(distances[1:], distances[:-1], sizes={"points": 3**9})


@claim(
    "total_variation.coarsening",
    statement=r"""Merging letters never raises the distance. Exactly so for two models of the 958
final tic-tac-toe boards on $3^9$ points, naive Bayes with the outcome as class and independent
cells, with nought and blank merged cell by cell.""",
    source=DERIVED,
    evidence="exact",
)
def coarsening(run: Run) -> Finding:
    crosses_only = [[CROSS], [BLANK, NOUGHT]]
    return _never_rises(crosses_only, crosses_only)


@coarsening.control("each model coarsened in its own way")
def _(run: Run) -> Finding:
    return _never_rises([[CROSS], [BLANK, NOUGHT]], [[CROSS, NOUGHT], [BLANK]])


def _fits(run: Run, classes: tuple[int, int]) -> tuple[ProductMixture, list[ProductMixture]]:
    items = law_school_items()
    first = fit_latent_classes(items, classes[0], run.rng("start 0")).model
    others = [
        fit_latent_classes(items, classes[1], run.rng(f"start {number}")).model
        for number in range(1, run.pick(ci=4, paper=16))
    ]
    return first, others


def _indistinguishable(first: ProductMixture, others: list[ProductMixture]) -> Finding:
    return AtMost([tv_exact_mixture(first, other) for other in others], Fraction(1, 10**12))


@claim(
    "total_variation.fitted-models",
    statement=r"""Two-class latent class fits to the five LSAT items from different random starts
agree to a total variation distance below $10^{-12}$, and yet, read as the doubles they are, they
are different distributions; a relabelled copy is equal. For fitted models the exact verdict needs
a distance beside it.""",
    source=DERIVED,
    evidence="exact",
    uses=["total_variation.equiv-decides"],
)
def fitted_models(run: Run) -> Finding:
    first, others = _fits(run, classes=(2, 2))
    verdicts = [_word(first, other) for other in others]
    return AllHold(
        {
            "distances": _indistinguishable(first, others),
            "fits that differ exactly": AtLeast(verdicts.count("different"), 1),
            "relabelled copy": Equal(_word(first, first.permute((1, 0))), "equal"),
        }
    )


@fitted_models.control("the other fits have three classes")
def _(run: Run) -> Finding:
    return _indistinguishable(*_fits(run, classes=(2, 3)))
