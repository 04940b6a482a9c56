"""What the theory assumes of the data, and the exact levels of the loss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from theorylab.claims import Source, claim
from theorylab.findings import AllHold, Equal, Finding
from theorylab.gated_linear.data import zoo_task, zoo_whole_table
from theorylab.gated_linear.modes import commutator, linear_residual, nested_features, residual_on
from theorylab.gated_linear.tasks import Task, context_task, identical_task, main_task
from theorylab.gated_linear.theory import linear_staircase, plateaus
from theorylab.run import Run

STRENGTHS = ("1", "1/2", "11/10", "27/20")


def _commutes(task: Task) -> Finding:
    found = commutator(task)
    note = f"relative Frobenius norm {found.relative:.3f}"
    return Equal(found.square, 0, sizes={"C": task.C, "P": task.P}, note=note)


def _identical(run: Run) -> Finding:
    return AllHold(
        {
            f"C = {C}, α = {alpha}": _commutes(identical_task(C, run.pick(ci=8, paper=16), alpha))
            for C in run.pick(ci=(2, 3, 5), paper=(2, 3, 4, 5, 6, 8))
            for alpha in STRENGTHS
        }
    )


@claim(
    "gated_linear.assumption",
    statement=r"The first half of Assumption 2.1: $\Sigma_x=XX^\top$ commutes with "
    r"$\Sigma_{yx}^\top\Sigma_{yx}$, $\Sigma_{yx}=YX^\top$, so that both are diagonal in one "
    r"basis. On tasks with the hierarchy in every block this holds for every number of contexts "
    r"and every strength $\alpha$ of the context input.",
    source=Source("jarvis2025haste", "Assumption 2.1"),
    evidence="exact",
)
def assumption(run: Run) -> Finding:
    return _identical(run)


@assumption.control("hierarchy, ring and cross: the data of the paper's main experiment")
def _(run: Run) -> Finding:
    return _commutes(main_task())


@assumption.control("twenty-one animals, three groups of properties")
def _(run: Run) -> Finding:
    return _commutes(zoo_task())


@claim(
    "gated_linear.assumption-on-main-data",
    statement=r"Assumption 2.1 holds for the data of the paper's main experiment: hierarchy, ring "
    r"and cross over the same eight objects.",
    source=Source("jarvis2025haste", "Assumption 2.1 and the data set of Figure 3"),
    evidence="exact",
    expected="refuted",
)
def assumption_on_main_data(run: Run) -> Finding:
    return _commutes(main_task())


@assumption_on_main_data.control("the table of animals in every block")
def _(run: Run) -> Finding:
    return _commutes(zoo_whole_table())


@assumption_on_main_data.positive_control("the hierarchy in every block")
def _(run: Run) -> Finding:
    return _commutes(identical_task(3))


def _levels(task: Task) -> list[Fraction]:
    """Initial loss and the exact least losses of linear maps of more and more features."""
    Y = task.exact_Y
    return [(Y * Y).sum() / 2, *(residual_on(f, Y) for f in nested_features(task))]


def _staircases(measured: Task, objects: int, contexts: int) -> Finding:
    levels = _levels(measured)
    sizes = {"P": objects, "C": contexts}
    return AllHold(
        {
            "levels": Equal(levels, linear_staircase(objects, contexts), sizes=sizes),
            "left for nonlinear pathways": Equal(
                linear_residual(measured), plateaus(objects, contexts).remainder
            ),
        }
    )


@claim(
    "gated_linear.plateaus",
    statement=r"With the hierarchy in all blocks, $h_0^2=2P-1$ and $h_j^2$ its other squared "
    r"singular values: $L(0)=C\sum_jh_j^2$; a linear network gains $\tfrac12h_0^2(C+1)$ from the "
    r"joint mode, $\tfrac12h_0^2(C-1)$ from the contexts, $\tfrac12h_j^2(C+1)$ from each object "
    r"mode, and leaves exactly $\tfrac12(C-1)\sum_{j\ge1}h_j^2$ to nonlinear pathways. For $P=8$, "
    r"$C=3$ the loss goes through $96, 66, 51, 37, 25, 17$.",
    source=Source("theorylab", "derived in the chapter"),
    evidence="exact",
)
def plateau_levels(run: Run) -> Finding:
    cases = run.pick(
        ci=((2, 2), (4, 5), (8, 3), (8, 4), (16, 3)), paper=((8, 3), (16, 6), (32, 10))
    )
    parts = {f"P = {P}, C = {C}": _staircases(identical_task(C, P), P, C) for P, C in cases}
    known = Equal(linear_staircase(8, 3), (96, 66, 51, 37, 25, 17))
    return AllHold({**parts, "P = 8, C = 3 in figures": known})


@plateau_levels.control("one context fewer")
def _(run: Run) -> Finding:
    return _staircases(identical_task(2), 8, 3)


@plateau_levels.control("one label is changed")
def _(run: Run) -> Finding:
    task = identical_task(3)
    blocks = [np.array(block) for block in task.blocks]
    blocks[1][4, 2] = 0
    return _staircases(context_task(blocks, common=task.common), 8, 3)
