"""Certificates: every corruption is rejected, storage keeps them, strangers can check them."""

import ast
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theorylab.total_variation import (
    EchelonLayer,
    EquivalenceCertificate,
    ProductMixture,
    certificate_fault,
    certificates,
    check_equivalence,
    moment_pair,
    padded_moment_pair,
    split_pair,
    verify_certificate,
    verify_witness,
)
from theorylab.total_variation.claims.mixtures import corrupted
from theorylab.total_variation.generators import nudge
from theorylab.total_variation.published import proof_from_json, proof_to_json

PUBLISHED = Path(__file__).parents[2] / "chapters" / "certificates"


@pytest.fixture(scope="module")
def proof():
    P, Q = padded_moment_pair(6, 7, 3)
    return P, Q, check_equivalence(P, Q).certificate


def with_layer(certificate, number, **changes):
    layers = list(certificate.layers)
    layers[number] = replace(layers[number], **changes)
    return EquivalenceCertificate(tuple(layers))


def doubled(rows):
    return tuple(tuple(2 * value for value in row) for row in rows)


def test_verifier_imports_nothing_of_the_chapter():
    tree = ast.parse(Path(certificates.__file__).read_text())
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert not any("theorylab" in (name or ".") for name in imported)
    assert all(node.level == 0 for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))


def test_verifier_never_divides():
    tree = ast.parse(Path(certificates.__file__).read_text())
    divisions = (ast.Div, ast.FloorDiv, ast.Mod)
    assert not any(isinstance(getattr(node, "op", None), divisions) for node in ast.walk(tree))


@pytest.mark.parametrize("change", [F(1), F(-1, 3), F(1, 10**30)])
def test_every_single_entry_corruption_is_rejected(proof, change):
    P, Q, certificate = proof
    versions = corrupted(certificate, change)
    assert len(versions) > 100
    assert not any(verify_certificate(P, Q, version) for version in versions)


def test_corruptions_of_a_certificate_with_repeated_components_are_rejected():
    P = ProductMixture((F(1, 2), F(1, 2)), (((F(1, 3), F(2, 3)),),) * 2)
    Q = ProductMixture((1,), (((F(1, 3), F(2, 3)),),))
    certificate = check_equivalence(P, Q).certificate
    assert not any(verify_certificate(P, Q, v) for v in corrupted(certificate, F(-1)))
    assert certificate_fault(P, Q, with_layer(certificate, 0, pivots=(1,))) is not None


def test_wrong_pivots_and_starts_are_rejected(proof):
    P, Q, certificate = proof
    for number, layer in enumerate(certificate.layers):
        for t in range(len(layer.pivots)):
            for pivot in set(range(len(layer.rows[0]))) - {layer.pivots[t]}:
                pivots = (*layer.pivots[:t], pivot, *layer.pivots[t + 1 :])
                assert not verify_certificate(P, Q, with_layer(certificate, number, pivots=pivots))
        later = with_layer(certificate, number, start=layer.start + 1)
        assert not verify_certificate(P, Q, later)


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda c: EquivalenceCertificate(()), "do not cover"),
        (lambda c: EquivalenceCertificate(c.layers[1:]), "do not cover"),
        (lambda c: EquivalenceCertificate(c.layers[:-1]), "leaves the next layer"),
        (lambda c: EquivalenceCertificate((c.layers[0], *c.layers[2:])), "leaves the next layer"),
        (lambda c: EquivalenceCertificate((*c.layers, c.layers[-1])), "increasing order"),
        (lambda c: with_layer(c, 1, rows=c.layers[1].rows[:1]), "no matrix"),
        (lambda c: with_layer(c, 0, rows=((F(1),),)), "no matrix"),
        (lambda c: with_layer(c, 1, pivots=(0, 99)), "pivots outside"),
        (lambda c: with_layer(c, 1, pivots=c.layers[1].pivots[::-1]), "not increasing"),
        (lambda c: with_layer(c, 1, rows=c.layers[1].rows[::-1]), "not reduced"),
        (lambda c: with_layer(c, 1, rows=doubled(c.layers[1].rows)), "not reduced"),
        (lambda c: with_layer(c, 0, rows=((F(1), F(1), *[F(2)] * 5),)), "vector of ones"),
    ],
)
def test_the_fault_is_named(proof, spoil, fault):
    P, Q, certificate = proof
    assert fault in certificate_fault(P, Q, spoil(certificate))


def test_the_last_condition_is_checked():
    """All layers of a different pair are right; only the weights give it away."""
    P, _ = moment_pair(3)
    certificate = check_equivalence(P, P.permute((1, 0))).certificate
    assert verify_certificate(P, P.permute((1, 0)), certificate)
    relabelled = ProductMixture(P.weights, P.rows[::-1])
    assert "orthogonal" in certificate_fault(P, relabelled, certificate)
    assert "different spaces" in certificate_fault(P, P.marginal((0, 1)), certificate)


def test_one_probability_moved_by_1e_30_invalidates_the_certificate():
    P, Q = split_pair(np.random.default_rng(0), 8, 8, 16, 4)
    certificate = check_equivalence(P, Q).certificate
    i = next(i for i, weight in enumerate(Q.weights) if weight)
    source = next(a for a, value in enumerate(Q.rows[i][3]) if value)
    moved = nudge(Q, i, 3, F(1, 10**30), ((source + 1) % 4, source))
    assert verify_certificate(P, Q, certificate)
    assert not verify_certificate(P, moved, certificate)


def test_a_certificate_is_never_silently_something_else(proof):
    with pytest.raises(TypeError, match="EquivalenceCertificate"):
        verify_certificate(proof[0], proof[1], proof[2].to_json())


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_storage_keeps_certificates(seed):
    P, Q = split_pair(np.random.default_rng(seed), 2, 2, 5, 3)
    certificate = check_equivalence(P, Q).certificate
    assert EquivalenceCertificate.from_json(certificate.to_json()) == certificate


def test_storage_of_very_long_numbers():
    """Python itself refuses to print or read integers beyond 4300 digits."""
    layer = EchelonLayer(0, (0,), ((F(1), F(10**5000 + 1, 3**9000)),))
    certificate = EquivalenceCertificate((layer,))
    assert EquivalenceCertificate.from_json(certificate.to_json()) == certificate


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "other", "layers": []}',
        '{"format": "theorylab.total_variation/equivalence-1", "layers": [{"start": 0}]}',
        '{"format": "theorylab.total_variation/equivalence-1",'
        ' "layers": [{"start": 0, "pivots": [0], "rows": [["1/0"]]}]}',
        '{"format": "theorylab.total_variation/equivalence-1",'
        ' "layers": [{"start": 0, "pivots": [0], "rows": [[1.0]]}]}',
    ],
)
def test_malformed_storage_is_refused(text):
    with pytest.raises(ValueError, match="no equivalence certificate"):
        EquivalenceCertificate.from_json(text)


def test_witnesses_are_recomputed():
    P, Q = moment_pair(3)
    assert verify_witness(P, Q, (0, 1, 0))
    assert not verify_witness(P, P, (0, 1, 0))
    for outside in ((0, 1), (0, 1, 2), (-1, 0, 0), (0, 0, 0, 0)):
        assert not verify_witness(P, Q, outside)


def test_published_proofs_are_those_of_the_library_and_hold():
    for name in ("digits.json", "moments.json"):
        P, Q, certificate = proof_from_json((PUBLISHED / name).read_text())
        assert verify_certificate(P, Q, certificate)
        assert check_equivalence(P, Q).certificate == certificate
        assert proof_from_json(proof_to_json(P, Q, certificate)) == (P, Q, certificate)


def test_incomplete_documents_are_refused():
    with pytest.raises(ValueError, match="no Q, certificate"):
        proof_from_json('{"P": {}}')


@pytest.mark.parametrize("name", ["digits.json", "moments.json"])
def test_the_stand_alone_checker_agrees(name, tmp_path):
    def status(path):
        command = [sys.executable, "-I", str(PUBLISHED / "check_equivalence.py"), str(path)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert status(PUBLISHED / name) == 0
    document = json.loads((PUBLISHED / name).read_text())
    layer = document["certificate"]["layers"][-1]
    layer["rows"][0][-1] = str(F(layer["rows"][0][-1]) + F(1, 10**30))
    (tmp_path / "spoilt.json").write_text(json.dumps(document))
    assert status(tmp_path / "spoilt.json") == 1
