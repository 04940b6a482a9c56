"""Batched encoders: the same function as PyTorch's own modules, seed by seed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from theorylab.attention_rank import BatchedEncoder, FarthestTask, fit
from theorylab.attention_rank.icl import BatchedDecoder, RegressionTask, fit_regression
from theorylab.attention_rank.layers import AttentionShape, _fused, _short, attend
from theorylab.attention_rank.soft_pairs import SoftPairLayer, attack, draw_pairs
from theorylab.attention_rank.train import angle_to_identity, score_matrices
from theorylab.run import Run
from theorylab.training import draw_models

RUN = Run(claim="attention_rank.tests")


def reference(parameters, model, d, heads):
    """One model as PyTorch's modules, in double precision."""
    p = {name: value[model] for name, value in parameters.items()}
    attention = torch.nn.MultiheadAttention(d, heads, batch_first=True, dtype=torch.float64)
    up = torch.nn.Linear(d, p["0.ff.up.weight"].shape[1], dtype=torch.float64)
    down = torch.nn.Linear(up.out_features, d, dtype=torch.float64)
    with torch.no_grad():
        attention.in_proj_weight.copy_(p["0.attention.in.weight"].T)
        attention.in_proj_bias.copy_(p["0.attention.in.bias"][0])
        attention.out_proj.weight.copy_(p["0.attention.out.weight"].T)
        attention.out_proj.bias.copy_(p["0.attention.out.bias"][0])
        for part, name in ((up, "0.ff.up"), (down, "0.ff.down")):
            part.weight.copy_(p[f"{name}.weight"].T)
            part.bias.copy_(p[f"{name}.bias"][0])

    def forward(x):
        x = x + attention(x, x, x, need_weights=False)[0]
        x = x / x.norm(dim=-1, keepdim=True) * p["0.attention.norm"]
        x = x + down(torch.relu(up(x)))
        return x / x.norm(dim=-1, keepdim=True) * p["0.ff.norm"]

    return forward


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_the_encoder_is_that_of_pytorch(heads):
    encoder = BatchedEncoder(3, 8, heads, 8 // heads, 8 // heads, 16)
    parameters = draw_models(RUN, "start", encoder.draw, 3)
    generator = RUN.torch_rng("perturbation")
    parameters = {
        name: value + 0.1 * torch.randn(value.shape, generator=generator, dtype=value.dtype)
        for name, value in parameters.items()
    }
    x = FarthestTask(8, 5).draw(3, 7, RUN.torch_rng("x")).double()
    found = encoder(parameters, x)
    for model in range(3):
        expected = reference(parameters, model, 8, heads)(x[model])
        torch.testing.assert_close(found[model], expected, rtol=1e-10, atol=1e-12)


def test_two_kernels_of_attention_agree():
    q, k, v = torch.randn(3, 10, 4, 6, 5, dtype=torch.float64)
    torch.testing.assert_close(_short(q, k, v), _fused(q, k, v, False))


def test_causal_attention_does_not_look_ahead():
    shape = AttentionShape(6, 2, 3, 3)
    from theorylab.attention_rank.layers import draw_attention

    parameters = draw_models(RUN, "causal", lambda g: draw_attention(shape, "a", g), 2)
    x = torch.randn(2, 3, 5, 6, dtype=torch.float64)
    changed = x.clone()
    changed[:, :, 3:] += 1
    before, after = (attend(v, parameters, "a", shape, causal=True) for v in (x, changed))
    torch.testing.assert_close(before[:, :, :3], after[:, :, :3])
    assert not torch.allclose(before[:, :, 3:], after[:, :, 3:])


def test_answers_by_brute_force():
    task = FarthestTask(3, 5)
    points = task.draw(2, 4, RUN.torch_rng("points"))
    answers = task.answers(points)
    for m in range(2):
        for s in range(4):
            rows = points[m, s]
            for i in range(5):
                far = max((j for j in range(5) if j != i), key=lambda j: -(rows[i] @ rows[j]))
                assert torch.equal(answers[m, s, i], rows[far])
    seen = FarthestTask(3, 5, coordinates=1).answers(points)[0, 0]
    first = points[0, 0, :, 0]
    low, high = points[0, 0, first.argmin()], points[0, 0, first.argmax()]
    assert torch.equal(seen[first.argmax()], low)
    assert torch.equal(seen[first.argmin()], high)


def test_training_lowers_the_error_and_is_reproducible():
    encoder = BatchedEncoder(2, 4, 1, 4, 4, 8)
    first, again = (fit(encoder, FarthestTask(4, 3), 150, RUN, batch=32) for _ in range(2))
    assert (first.mse < first.curves[0]).all()
    assert np.array_equal(first.mse, again.mse)
    assert first.hash == again.hash
    assert first.steps == (0, 150)
    other = fit(encoder, FarthestTask(4, 3), 150, Run(seed=1, claim=RUN.claim), batch=32)
    assert not np.array_equal(first.mse, other.mse)


def test_score_matrices_and_angles():
    assert angle_to_identity(np.eye(3)) == pytest.approx(0)
    assert angle_to_identity(-2 * np.eye(3)) == pytest.approx(180)
    encoder = BatchedEncoder(1, 4, 2, 1, 4, 4, width=2)
    found = fit(encoder, FarthestTask(4, 3), 1, RUN, batch=4)
    scores = score_matrices(found, encoder)
    assert scores.shape == (1, 4, 4, 4)
    assert all(np.linalg.matrix_rank(m) == 1 for m in scores[0])


def test_layers_on_pairs():
    s, w, y = draw_pairs(2, 500, 4, RUN.torch_rng("pairs"))
    for side in (s, w, y):
        assert torch.allclose(side.norm(dim=-1), torch.ones(2, 500, dtype=torch.float64))
    assert float((s * w).sum(dim=-1).abs().max()) < 1e-12
    layer = SoftPairLayer(4, 2, 1)
    parameters = draw_models(RUN, "soft", layer.draw, 2)
    x1, x2 = (s + w) / 2**0.5, (s - w) / 2**0.5
    scores = [torch.einsum("mnd,mhdr,mher,mne->mnh", y, parameters["Q"], parameters["K"], x)
              for x in (x1, x2)]  # fmt: skip
    # The difference of two soft-max weights is the tanh of half the difference of the scores.
    weights = torch.softmax(2**0.5 * torch.cat(scores, dim=-1), dim=-1)
    expected = weights[..., :1] - weights[..., 1:]
    torch.testing.assert_close(layer(parameters, w, y), expected)
    nearer = torch.where(((x1 - x2) * y).sum(dim=-1, keepdim=True) >= 0, x1, x2)
    output = torch.einsum("mnd,mhed->mne", weights[..., :1] * x1 + weights[..., 1:] * x2,
                          parameters["V"])  # fmt: skip
    torch.testing.assert_close(
        layer.errors(parameters, (s, w, y)), (output - nearer).square().sum(dim=-1)
    )


def test_an_attack_improves_on_the_average():
    errors = attack(SoftPairLayer(4, 4, 1), RUN, restarts=1, steps=150, batch=64, evaluated=2000)
    assert errors.shape == (2000,)
    assert errors.mean() < 0.2


def test_regression_tokens_and_training():
    task = RegressionTask(3, 4)
    x, y = task.draw(2, 5, RUN.torch_rng("icl"))
    tokens = task.tokens(x, y)
    assert tokens.shape == (2, 5, 8, 3)
    assert torch.equal(tokens[:, :, ::2], x)
    assert torch.equal(tokens[:, :, 1::2, 0], y)
    assert not tokens[:, :, 1::2, 1:].any()
    decoder = BatchedDecoder(2, task, layers=1, d=8, heads=2)
    parameters = draw_models(RUN, "decoder", decoder.draw, 2, torch.float32)
    changed = y.clone()
    changed[:, :, 2:] += 5
    before, after = (decoder(parameters, x, v) for v in (y, changed))
    torch.testing.assert_close(before[:, :, :3], after[:, :, :3])  # answers come after questions
    assert fit_regression(decoder, 5, RUN, batch=4).shape == (2,)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: FarthestTask(4, 1), ValueError, "N must be at least 2"),
        (lambda: FarthestTask(4, 3, 5), ValueError, "1 to d=4"),
        (lambda: BatchedEncoder(0, 4, 1, 4, 4, 4), ValueError, "seeds must be at least 1"),
        (lambda: BatchedEncoder(1, 4, 1.0, 4, 4, 4), TypeError, "heads must be an integer"),
        (
            lambda: fit(BatchedEncoder(1, 4, 1, 4, 4, 4), FarthestTask(5, 3), 1, RUN),
            ValueError,
            "make them equal",
        ),
        (lambda: BatchedDecoder(1, RegressionTask(), 1, 8, 3), ValueError, "must divide d=8"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_a_gpu_follows_the_reference():
    encoder = BatchedEncoder(2, 8, 2, 4, 4, 16)
    gpu = Run(device="cuda", claim=RUN.claim)
    here, there = (fit(encoder, FarthestTask(8, 4), 50, run, batch=32) for run in (RUN, gpu))
    assert np.allclose(here.mse, there.mse, rtol=0.02)
