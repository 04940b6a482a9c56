"""Which gating is fastest: a question with an answer only among named competitors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, Equal, Finding
from theorylab.gated_linear.claims.experiments import EVERY, RATE, named_task, relu_runs, seeds_of
from theorylab.gated_linear.curves import first_passage
from theorylab.gated_linear.descent import ReLUNet, train
from theorylab.gated_linear.reductions import reduced_descent
from theorylab.gated_linear.theory import effective_start, race_constant
from theorylab.run import Run

RELN = "ReLN"


def fastest(times: Mapping[str, float], among: str) -> str:
    """Name of the fastest of some competitors.

    Parameters
    ----------
    times : mapping of str to float
        Time of each, at least two of them.
    among : str
        What set the competitors are taken from.

    Raises
    ------
    ValueError
        If the set is not named, or there is nothing to compare.
    """
    if not among.strip():
        raise ValueError("name the set of competitors: without it, being fastest means nothing")
    if len(times) < 2:
        raise ValueError(f"a race needs at least two competitors, got {list(times)}")
    return min(times, key=lambda name: times[name])


def _families(contexts: int) -> str:
    times = {
        RELN if k == contexts - 1 else f"k = {k}": float(race_constant(contexts, k))
        for k in range(1, contexts)
    }
    return fastest(times, among="families of k-subset pathways, equal small starts")


def _xor_networks() -> str:
    """Inverse squared strengths, exact integers: 2 and 4."""
    return fastest({RELN: 1 / 2, "two pathways": 1 / 4}, among="gated networks on XOR")


def _fixed_gatings(run: Run) -> str:
    """The prediction for the ReLN against the gates of one random start, kept for good."""
    width, std, steps = run.pick(ci=100, paper=500), 1e-5, 3000
    seeds = seeds_of(run, "fixed", 1)
    task = named_task(3).in_own_outputs()
    start = relu_runs(3, "1", width, std, EVERY, seeds, run.device).start
    frozen = train(
        ReLUNet((width,), std),
        task,
        RATE,
        steps,
        seeds=[0],
        mode="replay",
        replay=np.einsum("shd,dn->shn", start[0], task.X) > 0,
        start=start,
        device=run.device,
    )
    A0 = effective_start(width, std)
    curves = {
        RELN: reduced_descent(named_task(3), 2, A0, A0, RATE, steps, EVERY),
        "start": frozen.losses[0],
    }
    times = {name: _to_a_fifth(curve) for name, curve in curves.items()}
    return fastest(times, among="all fixed gatings of the units")


def _to_a_fifth(curve: np.ndarray) -> float:
    return float(first_passage(curve, [0.2 * curve[0]], EVERY)[0])


def _against_relu(run: Run) -> str:
    """The prediction for the ReLN against the ReLU networks, at a very small start."""
    width, std = run.pick(ci=100, paper=200), 1e-9
    seeds = seeds_of(run, "relu", run.pick(ci=2, paper=4))
    runs = relu_runs(3, "1", width, std, 8500, seeds, run.device)
    A0 = effective_start(width, std)
    predicted = reduced_descent(named_task(3), 2, A0, A0, RATE, 8500, EVERY)
    shares = [0.05 * predicted[0]]
    times = {
        RELN: float(first_passage(predicted, shares, EVERY)[0]),
        "ReLU": float(np.mean([first_passage(one, shares, EVERY)[0] for one in runs.losses])),
    }
    return fastest(times, among="the ReLN and the ReLU network, s = 1e-9")


SETS = ("context families", "XOR", "fixed gatings", "the ReLU network itself")


def _winners(run: Run) -> list[str]:
    families = {_families(contexts) for contexts in range(3, 11)}
    return ["/".join(sorted(families)), _xor_networks(), _fixed_gatings(run), _against_relu(run)]


@claim(
    "gated_linear.which-gating-is-fastest",
    statement=r"The rectified linear network wins the race among the families of $k$-subset "
    r"pathways ($C=3,\dots,10$). It does not win among all gated networks: on XOR two pathways "
    r"are faster, the gates that a ReLU network happens to start with, kept for good, reach a "
    r"fifth of $L(0)$ sooner, and from a very small start ($s=10^{-9}$) the ReLU network itself "
    r"reaches a twentieth sooner.",
    source=Source("theorylab", "derived in the chapter; the winner in jarvis2025haste"),
    evidence="exact",
    uses=["gated_linear.race", "gated_linear.xor", "gated_linear.small-init"],
)
def which_gating_is_fastest(run: Run) -> Finding:
    expected = (RELN, "two pathways", "start", "ReLU")
    return AllHold(
        {
            f"among {name}": Equal(found, predicted)
            for name, found, predicted in zip(SETS, _winners(run), expected, strict=True)
        }
    )


@which_gating_is_fastest.control("the rectified linear network wins among all of them")
def _(run: Run) -> Finding:
    return AllHold(
        {
            f"among {name}": Equal(found, RELN)
            for name, found in zip(SETS, _winners(run), strict=True)
        }
    )


@which_gating_is_fastest.control("a winner without a set of competitors is accepted")
def _(run: Run) -> Finding:
    try:
        fastest({RELN: 1.0, "two pathways": 2.0}, among="")
        raised = "none"
    except ValueError as error:
        raised = type(error).__name__
    return Equal(raised, "none")
