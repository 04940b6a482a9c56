"""Runs: sizes, devices, and random streams that depend on seed, claim and name only."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from theorylab import run as run_module
from theorylab.run import SCALES, DeviceError, Run, available_devices, check_device

names = st.text(max_size=8)
seeds = st.integers(0, 2**70)


def first_draw(run: Run, name: str) -> int:
    return int(run.rng(name).integers(2**63))


@given(seeds, names, names)
def test_a_stream_is_fixed_by_seed_claim_and_name(seed, claim_id, name):
    one, two = (Run(seed=seed).for_claim(claim_id) for _ in range(2))
    one.rng("something else").normal(size=3)
    assert first_draw(one, name) == first_draw(two, name)
    assert torch.equal(
        torch.rand(3, generator=one.torch_rng(name)), torch.rand(3, generator=two.torch_rng(name))
    )


@given(st.lists(st.tuples(seeds, names, names), min_size=2, max_size=6, unique=True))
def test_streams_of_another_seed_claim_or_name_differ(keys):
    runs = [(Run(seed=seed).for_claim(claim_id), name) for seed, claim_id, name in keys]
    assert len({first_draw(run, name) for run, name in runs}) == len(keys)
    assert len({run.torch_rng(name).initial_seed() for run, name in runs}) == len(keys)


def test_claim_and_name_are_kept_apart():
    """``("ab", "c")`` and ``("a", "bc")`` would be one key if they were only joined."""
    assert first_draw(Run(claim="ab"), "c") != first_draw(Run(claim="a"), "bc")


def test_streams_are_the_same_on_every_machine_and_in_every_version():
    """PCG64 of SHA-256("steady.drawn\\0draw") and seed 1, computed by hand beside the library."""
    import hashlib

    words = np.frombuffer(hashlib.sha256(b"steady.drawn\0draw").digest(), dtype="<u4")
    sequence = np.random.SeedSequence([1, *map(int, words)])
    expected = np.random.Generator(np.random.PCG64(sequence)).normal(size=4)
    found = Run(seed=1, claim="steady.drawn").rng("draw").normal(size=4)
    assert found.tolist() == expected.tolist()


def test_numpy_and_torch_streams_look_uniform_together():
    """Streams of consecutive seeds and similar names share nothing: correlations are those of
    independent draws, within five standard deviations."""
    draws = [Run(seed=s, claim="c").rng(f"n{i}").normal(size=2000) for s in (0, 1) for i in (0, 1)]
    generators = [Run(seed=s, claim="c").torch_rng("n") for s in (0, 1)]
    draws += [torch.randn(2000, generator=g, dtype=torch.float64).numpy() for g in generators]
    off_diagonal = np.corrcoef(draws)[np.triu_indices(len(draws), 1)]
    assert abs(off_diagonal).max() < 5 / np.sqrt(2000)


def test_a_torch_stream_draws_on_the_cpu():
    assert Run(device="cuda").torch_rng("x").device == torch.device("cpu")


@pytest.mark.parametrize(
    ("scale", "sizes", "expected"),
    [
        ("ci", {"ci": 1}, 1),
        ("paper", {"ci": 1}, 1),
        ("gpu", {"ci": 1}, 1),
        ("paper", {"ci": 1, "paper": 2}, 2),
        ("gpu", {"ci": 1, "paper": 2}, 2),
        ("gpu", {"ci": 1, "gpu": 3}, 3),
        ("paper", {"ci": 1, "gpu": 3}, 1),
        ("gpu", {"ci": 1, "paper": 2, "gpu": 3}, 3),
        ("ci", {"ci": 1, "paper": 2, "gpu": 3}, 1),
        ("paper", {"ci": 1, "paper": None}, None),
    ],
)
def test_pick_falls_back_to_the_next_smaller_scale(scale, sizes, expected):
    assert Run(scale).pick(**sizes) == expected


@pytest.mark.parametrize("scale", ["CI", "", "big", None])
def test_an_unknown_scale_is_told_with_the_known_ones(scale):
    with pytest.raises(ValueError, match="scale must be one of ci, paper, gpu; got"):
        Run(scale)
    assert SCALES == ("ci", "paper", "gpu")


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
def test_a_seed_is_a_non_negative_integer(seed):
    with pytest.raises(ValueError, match="seed must be a non-negative integer; got"):
        Run(seed=seed)


def test_a_run_cannot_be_changed():
    with pytest.raises(AttributeError):
        Run().seed = 3  # type: ignore[misc]


def test_the_devices_are_those_that_torch_has():
    devices = available_devices()
    assert devices[0] == "cpu"
    assert sum(name.startswith("cuda") for name in devices) == torch.cuda.device_count()


@pytest.mark.parametrize("device", ["cuda:99", "gpu", "", "CPU", "tpu"])
def test_an_unknown_device_is_told_with_those_there_are(device):
    with pytest.raises(DeviceError, match=f"no device '{device}' on this machine; use one of: cpu"):
        check_device(device)


def test_a_device_that_is_there_is_accepted(monkeypatch):
    monkeypatch.setattr(run_module, "available_devices", lambda: ["cpu", "cuda:0", "cuda:1"])
    assert [check_device(d) for d in ("cpu", "cuda", "cuda:1")] == ["cpu", "cuda", "cuda:1"]
    with pytest.raises(DeviceError, match="use one of: cpu, cuda:0, cuda:1"):
        check_device("cuda:2")


def test_tensors_are_double_on_the_cpu_and_single_on_an_accelerator():
    tensor = Run().tensor(np.arange(3))
    assert (tensor.dtype, tensor.device.type) == (torch.float64, "cpu")
    assert tensor.tolist() == [0, 1, 2]
    assert Run(device="cuda").dtype is torch.float32
    assert Run(device="meta").tensor([1.0]).device.type == "meta"
