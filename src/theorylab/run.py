"""A run: scale, device and seed, and the named random streams derived from them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np

if TYPE_CHECKING:
    import torch

Scale = Literal["ci", "paper", "gpu"]
SCALES: tuple[str, ...] = get_args(Scale)
T = TypeVar("T")
_UNSET: Any = object()


class DeviceError(ValueError):
    """The device that was asked for does not exist here."""


def available_devices() -> list[str]:
    """Names of the devices that a run can use on this machine.

    Returns
    -------
    list of str
        ``"cpu"`` first, then ``"cuda:0"``, ... and ``"mps"`` where PyTorch finds them.
    """
    import torch

    cuda = [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    return ["cpu", *cuda, *(["mps"] if torch.backends.mps.is_available() else [])]


def check_device(device: str) -> str:
    """Return ``device`` when it exists, else raise; ``"cpu"`` is accepted without loading PyTorch.

    Raises
    ------
    DeviceError
        If there is no such device; the message names those that there are.
    """
    if device == "cpu":
        return device
    names = available_devices()
    if device in names or (device == "cuda" and "cuda:0" in names):
        return device
    raise DeviceError(f"no device {device!r} on this machine; use one of: {', '.join(names)}")


def forget_device_peak(device: str) -> None:
    """Start anew to look for the most memory that PyTorch allocates on a CUDA device."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.reset_peak_memory_stats(device)


def device_peak(device: str) -> int | None:
    """Most bytes that PyTorch held on a CUDA device since ``forget_device_peak``; else None."""
    if not device.startswith("cuda"):
        return None
    import torch

    return torch.cuda.max_memory_allocated(device)


@dataclass(frozen=True)
class Run:
    """Where and how large a claim is computed; the only source of randomness of a check.

    Parameters
    ----------
    scale : {"ci", "paper", "gpu"}
        Which of the sizes given to ``pick`` is used.
    device : str
        A PyTorch device name. NumPy work always stays on the CPU.
    seed : int
        Non-negative seed of the whole run.
    claim : str
        The claim that this run is handed to; part of the key of every random stream.

    Raises
    ------
    ValueError
        If the scale is unknown or the seed negative.

    Notes
    -----
    Every stream is keyed by ``(seed, claim, name)``, so what a claim draws does not depend on
    the order of claims, on the number of workers or on the selection. A control uses its claim's
    key: claim and control with the same stream name see the same draws.
    """

    scale: str = "ci"
    device: str = "cpu"
    seed: int = 0
    claim: str = ""

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(SCALES)}; got {self.scale!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ValueError(f"seed must be a non-negative integer; got {self.seed!r}")

    def for_claim(self, claim_id: str) -> Run:
        """The same run, with random streams keyed to ``claim_id``."""
        return replace(self, claim=claim_id)

    def pick(self, *, ci: T, paper: T = _UNSET, gpu: T = _UNSET) -> T:
        """The size for this run's scale; ``paper`` defaults to ``ci`` and ``gpu`` to ``paper``."""
        paper = ci if paper is _UNSET else paper
        gpu = paper if gpu is _UNSET else gpu
        return {"ci": ci, "paper": paper, "gpu": gpu}[self.scale]

    def seed_sequence(self, name: str) -> np.random.SeedSequence:
        """Seed of the named stream: SHA-256 of ``claim`` and ``name``, entropy-mixed with the seed.

        Parameters
        ----------
        name : str
            Name of the stream, unique within the claim.
        """
        digest = hashlib.sha256(f"{self.claim}\0{name}".encode()).digest()
        return np.random.SeedSequence([self.seed, *np.frombuffer(digest, dtype="<u4").tolist()])

    def rng(self, name: str) -> np.random.Generator:
        """NumPy generator (PCG64) of the named stream."""
        return np.random.Generator(np.random.PCG64(self.seed_sequence(name)))

    def torch_rng(self, name: str) -> torch.Generator:
        """PyTorch generator of the named stream, always on the CPU.

        Draw on the CPU and move the result: a CPU run and a GPU run then see the same data.
        """
        import torch

        state = int(self.seed_sequence(name).generate_state(1, np.uint64)[0]) >> 1
        return torch.Generator(device="cpu").manual_seed(state)

    @property
    def dtype(self) -> torch.dtype:
        """Floating-point type of tensors: double on the CPU, single on an accelerator."""
        import torch

        return torch.float64 if self.device == "cpu" else torch.float32

    def tensor(self, values: Any) -> torch.Tensor:
        """``values`` as a tensor of this run's dtype on this run's device."""
        import torch

        return torch.as_tensor(values, dtype=self.dtype).to(self.device)
