"""The exact claims: verdicts, controls, independence of the seed, and the words they use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from theorylab.claims import claims
from theorylab.verify import verify

EXACT = (
    *("identity", "remainder-rate", "rate-not-uniform", "good-turing-bias"),
    *("truncation", "no-unbiased-estimator", "chebyshev"),
    *("moments", "minimal-bias-variance", "convex", "rao-blackwell", "gain-is-shrinkage"),
    *("frozen-is-not-risk", "headline-as-risk"),
)


@pytest.mark.parametrize("name", EXACT)
def test_the_verdict_is_the_expected_one(name: str) -> None:
    (record,) = verify(f"missing_mass.{name}", progress=False)
    assert record.verdict == record.expected


@pytest.mark.parametrize("name", ["rate-not-uniform", "rao-blackwell", "truncation", "convex"])
def test_random_instances_of_another_seed_say_the_same(name: str) -> None:
    (record,) = verify(f"missing_mass.{name}", seed=20_261_130, progress=False)
    assert record.verdict == record.expected


def test_every_exact_claim_is_registered_with_a_control() -> None:
    found = {c.id: c for c in claims("missing_mass")}
    for name in EXACT:
        assert any(not control.must_hold for control in found[f"missing_mass.{name}"].controls)
        assert found[f"missing_mass.{name}"].statement.count("$") % 2 == 0


def test_claims_rest_on_claims_that_exist() -> None:
    found = {c.id: c for c in claims("missing_mass")}
    assert all(used in found for c in found.values() for used in c.uses)


def test_importing_the_package_loads_no_heavy_library() -> None:
    code = (
        "import sys, theorylab.missing_mass; "
        "print(*sorted({'sympy', 'cvxpy', 'torch', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_independent_classes_overstate_the_error_by_22_percent() -> None:
    """The control of ``moments`` errs by as much as the omitted coupling explains."""
    (record,) = verify("missing_mass.moments", progress=False)
    (control,) = record.controls
    assert "1.219 times" in control.finding.note


def test_on_its_own_sample_the_frozen_rule_scores_exactly_like_good_turing() -> None:
    (record,) = verify("missing_mass.frozen-is-not-risk", progress=False)
    (control,) = record.controls
    measured = {name: leaf.measured for name, leaf in control.finding.leaves()}
    assert measured == pytest.approx(dict.fromkeys(measured, 1.0), abs=1e-12)
