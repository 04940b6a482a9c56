"""Spectra of real heads and retrieval curves."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from theorylab.attention_rank import qk_spectra, retrieval_curve
from theorylab.attention_rank.real import (
    MissingModelError,
    digits,
    energy_rank,
    entropy_rank,
    minilm_file,
    numerical_rank,
    participation_ratio,
    read_safetensors,
    stable_rank,
    stored_spectra,
    stored_token_curve,
    whitened,
)

QUERY, KEY = (f"encoder.layer.{{}}.attention.self.{side}.weight" for side in ("query", "key"))


def weights(layers=2, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return {
        name.format(i): rng.standard_normal((d, d)) for i in range(layers) for name in (QUERY, KEY)
    }


def test_spectra_are_singular_values_of_the_products():
    found = qk_spectra(weights(), heads=3)
    assert found.shape == (6, 4)
    w = weights()
    product = w[QUERY.format(1)][4:8].T @ w[KEY.format(1)][4:8]
    assert np.allclose(found[4], np.linalg.svd(product, compute_uv=False)[:4])


def test_layers_are_in_numerical_order():
    w = weights(layers=11)
    found = qk_spectra(w, heads=1)
    direct = np.linalg.svd(w[QUERY.format(10)].T @ w[KEY.format(10)], compute_uv=False)
    assert np.allclose(found[10], direct)


def test_ranks_of_simple_spectra():
    flat, steep = np.ones((1, 4)), np.array([[1.0, 0, 0, 0]])
    for rank in (numerical_rank, entropy_rank, stable_rank):
        assert rank(flat)[0] == pytest.approx(4)
        assert rank(steep)[0] == pytest.approx(1)
    assert energy_rank(flat).tolist() == [4]
    assert energy_rank(np.array([[3.0, 1.0, 0.1]]), 0.85).tolist() == [1]
    assert energy_rank(np.array([[3.0, 1.0, 0.1]]), 0.95).tolist() == [2]


def test_stored_spectra_give_the_numbers_of_the_dossier():
    spectra = stored_spectra()
    assert spectra.shape == (72, 32)
    assert (np.diff(spectra, axis=1) <= 0).all()
    assert (numerical_rank(spectra) == 32).all()
    assert round(float(entropy_rank(spectra).mean()), 1) == 30.3
    assert round(float(stable_rank(spectra).mean()), 1) == 11.9
    assert round(float(energy_rank(spectra).mean()), 1) == 24.2


def test_stored_spectra_are_those_of_the_package():
    try:
        path = minilm_file()
    except MissingModelError as missing:
        pytest.skip(str(missing))
    assert np.allclose(qk_spectra(read_safetensors(path)), stored_spectra(), rtol=1e-5)


def test_retrieval_on_the_digits():
    curve = retrieval_curve(digits(), [1, 2, 4, 8, 16, 32, 64], 16, np.random.default_rng(0), 4000)
    known = [0.12, 0.25, 0.52, 0.74, 0.89, 0.97, 1]
    assert np.abs(curve.accuracy - known).max() < 5 * 0.5 / 4000**0.5
    assert curve.accuracy[-1] == 1
    assert participation_ratio(digits()) == pytest.approx(12.8, abs=0.3)


def test_one_key_is_always_found():
    X = np.random.default_rng(1).standard_normal((10, 4))
    assert retrieval_curve(X, [1, 4], 1, np.random.default_rng(2), 50).accuracy.tolist() == [1, 1]


def test_whitened_features_are_isotropic():
    white = whitened(digits())
    assert white.shape == (1797, 61)
    assert np.allclose(white.T @ white / len(white), np.eye(61), atol=1e-8)


def test_safetensors_are_read(tmp_path):
    values = np.arange(6, dtype="<f4").reshape(2, 3)
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "b": {"dtype": "BF16", "shape": [1], "data_offsets": [24, 26]},
    }
    text = json.dumps(header).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + values.tobytes() + b"\0\0")
    found = read_safetensors(path)
    assert list(found) == ["a"]
    assert np.array_equal(found["a"], values)


def test_the_stored_curve_rises_to_one():
    stored = stored_token_curve()
    assert stored["ranks"][-1] == 384
    assert stored["accuracy"] == sorted(stored["accuracy"])
    assert stored["accuracy"][-1] == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: qk_spectra({}), "weights of a BERT encoder"),
        (lambda: qk_spectra(weights(), heads=5), "dividing d"),
        (lambda: qk_spectra({k: v * np.nan for k, v in weights().items()}, 3), "NaN"),
        (lambda: retrieval_curve(np.eye(4), [5], 2, np.random.default_rng(0)), "1 to d=4"),
        (lambda: retrieval_curve(np.eye(4), [], 2, np.random.default_rng(0)), "1 to d=4"),
        (lambda: retrieval_curve(np.eye(4), [1], 4, np.random.default_rng(0)), "more than N=4"),
        (lambda: retrieval_curve(np.zeros((9, 4)), [1], 2, np.random.default_rng(0)), "zero rows"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
