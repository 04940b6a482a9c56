"""Batched training: stacked models never see each other, and resuming changes nothing."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import torch

from theorylab.run import Run
from theorylab.training import (
    Checkpoint,
    DivergedError,
    checkpoints,
    draw_models,
    epochs,
    full_batch,
    log_steps,
    over_models,
    progress_lines,
    sampled,
    single_thread,
    stack,
    train,
    warmup_cosine,
)

RUN = Run(claim="core.training")
SGD = partial(torch.optim.SGD, lr=0.1)


def draw(generator):
    return {
        "W": torch.randn(5, 3, generator=generator, dtype=torch.float64),
        "v": torch.randn(5, generator=generator, dtype=torch.float64),
    }


def data(n=12):
    generator = RUN.torch_rng("data")
    x = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    return x, x.sum(dim=1).sin()


def network_loss(model, batch):
    x, y = batch
    return ((torch.tanh(x @ model["W"].T) @ model["v"] - y) ** 2).mean()


def quadratic(parameters, batch):
    return (parameters["w"] ** 2).sum(dim=1) / 2


def only(models, i):
    return {name: value[i : i + 1] for name, value in models.items()}


OPTIMIZERS = {
    "sgd": partial(torch.optim.SGD, lr=0.1),
    "momentum": partial(torch.optim.SGD, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adam": partial(torch.optim.Adam, lr=0.01),
    "adamw": partial(torch.optim.AdamW, lr=0.01, betas=(0.9, 0.95)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_model_trained_among_others_is_the_model_trained_alone(name):
    models = draw_models(RUN, "start", draw, 4)
    settle = partial(
        train,
        loss=over_models(network_loss),
        batches=full_batch(data()),
        steps=30,
        optimizer=OPTIMIZERS[name],
        schedule=warmup_cosine(30),
    )
    together = settle(models)
    for i in range(4):
        alone = settle(only(models, i))
        for key in models:
            torch.testing.assert_close(
                together.parameters[key][i], alone.parameters[key][0], rtol=1e-12, atol=1e-13
            )


def test_descent_on_a_quadratic_is_the_closed_form():
    start = {"w": torch.tensor([[1.0, -2.0], [3.0, 0.5]], dtype=torch.float64)}
    found = train(
        start,
        quadratic,
        full_batch(None),
        7,
        optimizer=SGD,
        measure=lambda p: {"w": p["w"]},
        at=range(8),
    )
    expected = np.stack([0.9**t * start["w"].numpy() for t in range(8)])
    np.testing.assert_allclose(found.measured["w"], expected, rtol=1e-13)
    assert found.steps == tuple(range(8))
    assert start["w"][0, 0] == 1.0  # the start is left alone


def test_the_schedule_multiplies_the_rate():
    start = {"w": torch.ones(1, 1, dtype=torch.float64)}
    rates = [0.5, 1.0, 0.0, 2.0]
    found = train(
        start, quadratic, full_batch(None), 4, optimizer=SGD, schedule=lambda step: rates[step]
    )
    expected = np.prod([1 - 0.1 * rate for rate in rates])
    assert float(found.parameters["w"]) == pytest.approx(expected, rel=1e-14)


def test_warmup_rises_and_the_cosine_ends_at_zero():
    factor = warmup_cosine(100, 0.1)
    assert [factor(i) for i in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert factor(10) == 1.0
    assert factor(55) == pytest.approx(0.5)
    assert factor(100) == pytest.approx(0.0)


class Stopped(Exception):
    pass


def interrupted_at(step):
    """A batch source that breaks once, at the given step."""
    draw_batch, fuse = sampled(data(), 4), [True]

    def batches(now, generator):
        if now == step and fuse:
            fuse.clear()
            raise Stopped
        return draw_batch(now, generator)

    return batches


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("stop", [3, 20, 37])
def test_resuming_is_bit_identical(tmp_path, name, stop):
    models = draw_models(RUN, "start", draw, 3)
    settle = partial(
        train,
        models,
        over_models(network_loss),
        steps=40,
        optimizer=OPTIMIZERS[name],
        schedule=warmup_cosine(40),
        measure=lambda p: {"v": p["v"]},
        at=[0, 10, 25, 40],
    )
    whole = settle(batches=sampled(data(), 4), generator=RUN.torch_rng("batches"))
    saved = Checkpoint(tmp_path / "deep" / "state.pt", every=7)
    batches = interrupted_at(stop)
    with pytest.raises(Stopped):
        settle(batches=batches, generator=RUN.torch_rng("batches"), checkpoint=saved)
    resumed = settle(batches=batches, generator=RUN.torch_rng("batches"), checkpoint=saved)
    for key, value in whole.parameters.items():
        assert torch.equal(value, resumed.parameters[key])
    np.testing.assert_array_equal(whole.measured["v"], resumed.measured["v"])
    assert resumed.steps == whole.steps == (0, 10, 25, 40)
    assert [path.name for path in saved.path.parent.iterdir()] == [
        "state.pt"
    ]  # nothing half-written


def test_a_finished_training_is_read_back(tmp_path):
    saved = Checkpoint(tmp_path / "state.pt")
    start = {"w": torch.ones(2, 1, dtype=torch.float64)}
    settle = partial(train, start, quadratic, steps=5, optimizer=SGD, checkpoint=saved)
    first = settle(batches=full_batch(None))

    def refuse(step, generator):
        raise AssertionError("nothing is left to compute")

    assert torch.equal(settle(batches=refuse).parameters["w"], first.parameters["w"])


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    saved = Checkpoint(tmp_path / "state.pt")
    start = {"w": torch.ones(2, 1)}
    train(start, quadratic, full_batch(None), 5, optimizer=SGD, checkpoint=saved)
    for other, steps, rate in [
        ({"w": torch.zeros(2, 1)}, 5, 0.1),
        (start, 6, 0.1),
        (start, 5, 0.2),
    ]:
        with pytest.raises(ValueError, match="another training"):
            train(
                other,
                quadratic,
                full_batch(None),
                steps,
                optimizer=partial(torch.optim.SGD, lr=rate),
                checkpoint=saved,
            )


def test_a_broken_checkpoint_is_named(tmp_path):
    path = tmp_path / "state.pt"
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(ValueError, match=r"state\.pt cannot be read"):
        train(
            {"w": torch.ones(1, 1)},
            quadratic,
            full_batch(None),
            1,
            optimizer=SGD,
            checkpoint=Checkpoint(path),
        )


def test_divergence_names_the_models_and_the_step():
    start = {"w": torch.tensor([[1.0], [0.0], [2.0]], dtype=torch.float64)}
    with pytest.raises(DivergedError, match="model 0, 2") as caught:
        train(
            start,
            lambda p, batch: (p["w"] ** 4).sum(dim=1),
            full_batch(None),
            1000,
            optimizer=partial(torch.optim.SGD, lr=10.0),
        )
    assert caught.value.models == [0, 2]
    assert pickle.loads(pickle.dumps(caught.value)).step == caught.value.step


def test_an_infinite_last_update_is_noticed():
    start = {"w": torch.tensor([[1e10], [0.0]])}
    steep = partial(torch.optim.SGD, lr=1e30)
    with pytest.raises(DivergedError) as caught:
        train(start, quadratic, full_batch(None), 1, optimizer=steep)
    assert caught.value.models == [0]


def test_models_are_drawn_one_after_the_other():
    few, many = draw_models(RUN, "start", draw, 2), draw_models(RUN, "start", draw, 5)
    assert all(torch.equal(few[name], many[name][:2]) for name in few)
    assert few["W"].dtype == torch.float64
    single = draw_models(RUN, "start", draw, 2, dtype=torch.float32)
    assert single["W"].dtype == torch.float32
    assert torch.equal(single["W"], few["W"].float())


def test_padded_widths_train_like_their_unpadded_selves():
    generator = RUN.torch_rng("widths")

    def network(width):
        return {
            "W": torch.randn(width, 3, generator=generator, dtype=torch.float64),
            "v": torch.randn(width, generator=generator, dtype=torch.float64),
        }

    models = [network(width) for width in (2, 5)]
    padded = stack(models, pad=True)
    assert padded["W"].shape == (2, 5, 3)
    settle = partial(
        train,
        loss=over_models(network_loss),
        batches=full_batch(data()),
        steps=20,
        optimizer=OPTIMIZERS["momentum"],
    )
    found, alone = settle(padded), settle(stack(models[:1]))
    torch.testing.assert_close(found.parameters["W"][0, :2], alone.parameters["W"][0])
    assert not found.parameters["W"][0, 2:].any()


def test_an_epoch_shows_every_example_once_and_can_be_entered_anywhere():
    numbers = torch.arange(10)
    batches = epochs([numbers], 5, seed=3)
    seen = [torch.cat([batches(2 * e, None)[0], batches(2 * e + 1, None)[0]]) for e in range(3)]
    assert all(torch.equal(part.sort().values, numbers) for part in seen)
    assert not torch.equal(seen[0], seen[1])
    assert torch.equal(epochs([numbers], 5, seed=3)(5, None)[0], seen[2][5:])
    assert not torch.equal(epochs([numbers], 5, seed=4)(5, None)[0], seen[2][5:])


def test_log_steps():
    assert log_steps(1000, 4) == [0, 1, 10, 100, 1000]
    assert log_steps(3, 9) == [0, 1, 2, 3]


def test_checkpoints_are_kept_until_the_check_is_done(tmp_path):
    run = Run(scale="paper", claim="missing_mass.toy")
    start = {"w": torch.ones(1, 1)}
    settle = partial(train, start, quadratic, full_batch(None), 3, optimizer=SGD)

    def interrupted():
        with checkpoints(run, "check", folder=tmp_path) as place:
            settle(checkpoint=place("arm H=1"))
            raise Stopped

    with pytest.raises(Stopped):
        interrupted()
    assert len(list(tmp_path.rglob("*.pt"))) == 1
    with checkpoints(run, "check", folder=tmp_path) as place:
        assert place("arm H=1").path.exists()
        settle(checkpoint=place("arm H=1"))
    assert not list(tmp_path.rglob("*.pt"))
    with checkpoints(Run(claim="missing_mass.toy"), "check", folder=tmp_path) as place:
        assert place("arm H=1") is None


def test_progress(capsys):
    train(
        {"w": torch.ones(1, 1)},
        quadratic,
        full_batch(None),
        250,
        optimizer=SGD,
        progress=progress_lines("toy", seconds=0.0),
    )
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("toy: step 250/250, mean loss ")
    assert len(lines) == 4  # after steps 1, 101, 201 and the last


def test_threads_are_restored():
    before = torch.get_num_threads()
    with single_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


W = torch.ones(2, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stack([]), "models is empty"),
        (lambda: stack([{"w": W}, {"v": W}]), "model 1 has parameters"),
        (lambda: stack([{"w": W}, {"w": torch.ones(3, 1)}]), "pad=True"),
        (lambda: stack([{"w": W}, {"w": torch.ones(3)}], pad=True), "equal dimension"),
        (lambda: sampled([W, torch.ones(3)], 1), "number of examples in common"),
        (lambda: sampled([W], 0), "at least 1"),
        (lambda: epochs([W], 3, seed=0), "at most the number of examples 2"),
        (lambda: warmup_cosine(10, 1.0), r"\[0, 1\)"),
        (lambda: log_steps(0, 3), "steps >= 1"),
        (lambda: Checkpoint("x", 0), "at least 1 step"),
        (lambda: train({"w": W}, quadratic, full_batch(None), -1, optimizer=SGD), "non-negative"),
        (
            lambda: train({"w": W}, quadratic, full_batch(None), 2, optimizer=SGD, at=[3]),
            "cannot measure at step 3",
        ),
        (
            lambda: train({"w": W, "v": torch.ones(3)}, quadratic, None, 1, optimizer=SGD),
            "leading model axis",
        ),
        (
            lambda: train({"w": W}, lambda p, b: p["w"].sum(), full_batch(None), 1, optimizer=SGD),
            "one number per model",
        ),
    ],
)
def test_wrong_use_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_importing_the_module_does_not_load_torch():
    code = "import sys, theorylab, theorylab.training; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_a_gpu_follows_the_double_precision_reference():
    gpu = Run(device="cuda", claim="core.training")
    settle = partial(train, loss=over_models(network_loss), steps=20, optimizer=SGD)
    reference = settle(draw_models(RUN, "start", draw, 3), batches=full_batch(data()))
    batch = tuple(gpu.tensor(value) for value in data())
    found = settle(draw_models(gpu, "start", draw, 3), batches=full_batch(batch))
    torch.testing.assert_close(
        found.parameters["W"].cpu().double(), reference.parameters["W"], rtol=1e-4, atol=1e-5
    )
