"""The ledger of the chapter, and its quick claims at another seed."""

from __future__ import annotations

import pytest

import theorylab

IDS = (
    *("full-rank-exact", "softmax-temperature", "energy-exact", "one-layer-lower-bound"),
    *("heads-growth", "tightness", "random-features", "hard-head-closed-forms"),
    *("biased-exponential", "depth-vote", "long-sequences", "trained-attack"),
    *("transformer-order", "qk-not-value-rank", "icl-heads", "real-heads"),
)
QUICK = ("tightness", "biased-exponential", "long-sequences", "icl-heads")


def test_every_claim_of_the_ledger_is_there():
    found = theorylab.claims("attention_rank")
    assert [claim.id.split(".")[1] for claim in found] == list(IDS)
    assert all(claim.controls for claim in found)
    known = {claim.id for claim in found}
    assert all(set(claim.uses) <= known for claim in found)


@pytest.mark.parametrize("name", QUICK)
def test_verdicts_at_another_seed(name):
    [record] = theorylab.verify(f"attention_rank.{name}", seed=11)
    assert record.verdict == record.expected, record.error
