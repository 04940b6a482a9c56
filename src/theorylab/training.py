"""Batched training: many models at once, stacked along a leading axis, on any device.

Seeds, widths and initialisations of one experiment are trained together: every parameter is a
tensor whose first axis counts the models, and the sum of the models' losses is descended. The
gradient of that sum with respect to one model's parameters is the gradient of its own loss, and
PyTorch's optimisers work elementwise, so the models never see each other.

What a loss needs to know of its models is a dictionary of tensors and a batch. Nothing here knows
what is measured, or why. PyTorch is imported when a function is called, not with this module.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import torch

    from theorylab.run import Run

    Parameters = dict[str, torch.Tensor]
    Loss = Callable[[Parameters, Any], torch.Tensor]
    Batches = Callable[[int, torch.Generator | None], Any]
    Measure = Callable[[Parameters], Mapping[str, torch.Tensor]]
    MakeOptimizer = Callable[[list[torch.Tensor]], torch.optim.Optimizer]

Progress = Callable[[int, int, float], None]
Schedule = Callable[[int], float]

CHECKPOINTS = Path(".theorylab") / "checkpoints"
FINITE_EVERY = 100
"""Steps between two looks at whether every loss is still finite."""


class DivergedError(ArithmeticError):
    """Models whose loss is NaN or infinite.

    Attributes
    ----------
    step : int
        At or shortly after which it happened.
    models : list of int
        Their places on the leading axis.
    """

    def __init__(self, step: int, models: list[int]) -> None:
        self.step, self.models = step, models
        super().__init__(
            f"the loss of model {', '.join(map(str, models))} is NaN or infinite at step {step}; "
            "lower the learning rate, or report the divergence: do not drop the models"
        )

    def __reduce__(self) -> Any:
        return DivergedError, (self.step, self.models)


# --- stacked parameters -----------------------------------------------------------------------


def stack(models: Sequence[Mapping[str, torch.Tensor]], pad: bool = False) -> Parameters:
    """Models of one architecture as one dictionary of tensors with a leading model axis.

    Parameters
    ----------
    models : sequence of mapping of str to tensor
        One mapping per model, all with the same names.
    pad : bool
        Fill smaller tensors with zeros, at the end of each axis, up to the largest shape. This
        stacks widths: a hidden unit whose ingoing and outgoing weights are zero keeps them for
        ever where the activation and its derivative at zero vanish (linear units: also).

    Returns
    -------
    dict of str to tensor, shape (models, ...)

    Raises
    ------
    ValueError
        If there is no model, names differ, or shapes differ and ``pad`` is false.
    """
    import torch

    if not models:
        raise ValueError("models is empty: give at least one model to train")
    names = list(models[0])
    for place, model in enumerate(models):
        if set(model) != set(names):
            raise ValueError(f"model {place} has parameters {sorted(model)}, model 0 {names}")
    stacked = {}
    for name in names:
        tensors = [model[name] for model in models]
        shapes = {tuple(tensor.shape) for tensor in tensors}
        if len({len(shape) for shape in shapes}) > 1 or (len(shapes) > 1 and not pad):
            raise ValueError(
                f"parameter {name!r} has shapes {sorted(shapes)}; stack equal shapes, or pad "
                "shapes of equal dimension with pad=True"
            )
        largest = [max(sizes) for sizes in zip(*shapes, strict=True)]
        stacked[name] = torch.stack([_padded(tensor, largest) for tensor in tensors])
    return stacked


def _padded(tensor: torch.Tensor, shape: list[int]) -> torch.Tensor:
    if list(tensor.shape) == shape:
        return tensor
    larger = tensor.new_zeros(shape)
    larger[tuple(slice(size) for size in tensor.shape)] = tensor
    return larger


def draw_models(
    run: Run,
    stream: str,
    draw: Callable[[torch.Generator], Mapping[str, torch.Tensor]],
    models: int,
    dtype: torch.dtype | None = None,
) -> Parameters:
    """Draw models one after the other on the CPU, stack them and move them to the run's device.

    Parameters
    ----------
    run : Run
    stream : str
        Name of the random stream.
    draw : callable
        From a CPU generator to the parameters of one model; draw in double precision, so that
        all devices start from the same numbers.
    models : int
        How many; model i does not depend on how many follow it.
    dtype : torch dtype, optional
        That of the run if omitted: double on the CPU, single on an accelerator.

    Returns
    -------
    dict of str to tensor, shape (models, ...)
    """
    generator = run.torch_rng(stream)
    stacked = stack([draw(generator) for _ in range(models)])
    kind = run.dtype if dtype is None else dtype
    return {name: value.to(device=run.device, dtype=kind) for name, value in stacked.items()}


def over_models(loss: Callable[[Parameters, Any], torch.Tensor]) -> Loss:
    """The loss of one model as a loss of stacked models that share their batch (``vmap``)."""
    import torch

    return torch.func.vmap(loss, in_dims=(0, None))


# --- batches ----------------------------------------------------------------------------------


def full_batch(data: Any) -> Batches:
    """The same data at every step: full-batch descent."""
    return lambda step, generator: data


def sampled(tensors: Sequence[torch.Tensor], size: int) -> Batches:
    """Batches drawn with replacement, the same for all models.

    Parameters
    ----------
    tensors : sequence of tensor, shape (n, ...)
        Inputs, targets, ...; on the device of the models.
    size : int
        Of a batch.
    """
    import torch

    count = _examples(tensors, size)

    def batch(step: int, generator: torch.Generator | None) -> tuple[torch.Tensor, ...]:
        chosen = torch.randint(count, (size,), generator=generator).to(tensors[0].device)
        return tuple(tensor[chosen] for tensor in tensors)

    return batch


def epochs(tensors: Sequence[torch.Tensor], size: int, seed: int) -> Batches:
    """Batches of a new permutation in each epoch, the same for all models.

    A remainder smaller than a batch is left out of its epoch. The permutation is a function of
    seed and epoch, so training resumes in the middle of one.

    Parameters
    ----------
    tensors : sequence of tensor, shape (n, ...)
    size : int
        At most n.
    seed : int
        Take it from the run: ``int(run.seed_sequence("order").generate_state(1)[0])``.
    """
    import torch

    count = _examples(tensors, size)
    if size > count:
        raise ValueError(f"size must be at most the number of examples {count}, got {size}")
    known: dict[int, torch.Tensor] = {}

    def order(epoch: int) -> torch.Tensor:
        if epoch not in known:
            known.clear()
            state = int.from_bytes(hashlib.sha256(f"{seed} {epoch}".encode()).digest()[:7], "big")
            generator = torch.Generator().manual_seed(state)
            known[epoch] = torch.randperm(count, generator=generator).to(tensors[0].device)
        return known[epoch]

    def batch(step: int, generator: torch.Generator | None) -> tuple[torch.Tensor, ...]:
        epoch, place = divmod(step, count // size)
        chosen = order(epoch)[place * size : (place + 1) * size]
        return tuple(tensor[chosen] for tensor in tensors)

    return batch


def _examples(tensors: Sequence[torch.Tensor], size: int) -> int:
    counts = {len(tensor) for tensor in tensors}
    if len(counts) != 1 or not all(counts):
        raise ValueError(f"tensors must have one number of examples in common, got {counts}")
    if size < 1:
        raise ValueError(f"size of a batch must be at least 1, got {size}")
    return counts.pop()


# --- learning rates and times -----------------------------------------------------------------


def warmup_cosine(steps: int, warmup: float = 0.05) -> Schedule:
    r"""Factor of the learning rate: linear rise, then half a cosine down to zero.

    Parameters
    ----------
    steps : int
        Length of the training.
    warmup : float
        Fraction of it that rises; in [0, 1).
    """
    if not 0 <= warmup < 1:
        raise ValueError(f"warmup is a fraction of the steps in [0, 1), got {warmup}")
    rise = int(warmup * steps)

    def factor(step: int) -> float:
        if step < rise:
            return (step + 1) / rise
        return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(steps - rise, 1)))

    return factor


def log_steps(steps: int, count: int) -> list[int]:
    """About ``count`` steps, evenly spaced on a logarithmic axis, with 0 and the last one."""
    if steps < 1 or count < 2:
        raise ValueError(f"need steps >= 1 and count >= 2, got {steps} and {count}")
    ratio = [math.exp(math.log(steps) * i / (count - 1)) for i in range(count)]
    return sorted({0, *(round(value) for value in ratio), steps})


@contextlib.contextmanager
def single_thread() -> Iterator[None]:
    """One PyTorch thread in the block: small models run faster, and sums add up in one order."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# --- checkpoints ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Checkpoint:
    """Where training saves its state, and how often.

    Parameters
    ----------
    path : Path
        File; its folder is made. Written to a temporary file first and moved into place.
    every : int
        Steps between two saves. The state after the last step is saved too.
    """

    path: Path
    every: int = 1000

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"every must be at least 1 step, got {self.every}")


@contextlib.contextmanager
def checkpoints(
    run: Run, name: str, every: int = 1000, folder: Path | None = None
) -> Iterator[Callable[[str], Checkpoint | None]]:
    """Checkpoints of one check: kept if it is interrupted, removed once it is done.

    At ``ci`` scale there are none. Otherwise, started again with the same scale, device, seed and
    code, the check finds the trainings it had finished, and resumes the one it was at.

    Parameters
    ----------
    run : Run
    name : str
        Of the check, unique within its claim.
    every : int
        Steps between two saves.
    folder : Path, optional
        ``.theorylab/checkpoints`` if omitted.

    Yields
    ------
    callable
        From the name of one training to its ``Checkpoint``, or to ``None`` at ``ci`` scale.
    """
    if run.scale == "ci":
        yield lambda training: None
        return
    from theorylab.records import code_fingerprint

    code = code_fingerprint(f"theorylab.{run.claim.partition('.')[0]}.claims")
    what = f"{run.claim}-{name}-{run.scale}-{run.device}-{run.seed}-{code}"
    place = (folder or CHECKPOINTS) / _file_name(what)
    yield lambda training: Checkpoint(place / f"{_file_name(training)}.pt", every)
    shutil.rmtree(place, ignore_errors=True)


def _file_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text)


def _save(state: dict[str, Any], path: Path) -> None:
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            torch.save(state, file)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise


def _load(path: Path, fingerprint: str) -> dict[str, Any]:
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        stored = state["fingerprint"]
    except Exception as error:
        raise ValueError(f"checkpoint {path} cannot be read; remove it: {error}") from error
    if stored != fingerprint:
        raise ValueError(
            f"checkpoint {path} belongs to another training (other start, optimiser, steps or "
            "random stream); remove it or give another path"
        )
    return state


def _fingerprint(
    parameters: Parameters,
    optimizer: torch.optim.Optimizer,
    moments: Sequence[int],
    generator: torch.Generator | None,
) -> str:
    """Hash of everything that decides the course of a training, but for the loss itself."""
    digest = hashlib.sha256(f"{optimizer!r} {list(moments)}".encode())
    for name, value in sorted(parameters.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    if generator is not None:
        digest.update(generator.get_state().numpy().tobytes())
    return digest.hexdigest()


# --- descent ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trained:
    """What came out of a training.

    Attributes
    ----------
    parameters : dict of str to tensor, shape (models, ...)
        After the last step, on the device they were trained on.
    steps : tuple of int
        At which something was measured: that many updates had been made.
    measured : dict of str to array, shape (len(steps), models, ...)
        What ``measure`` returned at these steps.
    """

    parameters: Parameters
    steps: tuple[int, ...] = ()
    measured: Mapping[str, np.ndarray] = field(default_factory=dict)


def train(
    parameters: Parameters,
    loss: Loss,
    batches: Batches,
    steps: int,
    *,
    optimizer: MakeOptimizer,
    schedule: Schedule | None = None,
    generator: torch.Generator | None = None,
    measure: Measure | None = None,
    at: Iterable[int] | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Trained:
    r"""Descend the losses of stacked models together.

    .. math:: \theta_{t+1} = \mathrm{step}\Bigl(\theta_t,
        \nabla_\theta \sum_{m} L_m(\theta_m; B_t)\Bigr),
        \qquad \nabla_{\theta_m} \sum_{m'} L_{m'} = \nabla_{\theta_m} L_m .

    Parameters
    ----------
    parameters : dict of str to tensor, shape (models, ...)
        The start; not changed.
    loss : callable
        From parameters and a batch to one loss per model, shape (models,).
    batches : callable
        From the step and ``generator`` to a batch: ``full_batch``, ``sampled``, ``epochs`` or a
        function that draws fresh data. Draw on the CPU and move.
    steps : int
        Number of updates; 0 measures the start.
    optimizer : callable
        From a list of tensors to a PyTorch optimiser that works elementwise, for example
        ``partial(torch.optim.SGD, lr=0.1, momentum=0.9)`` or ``partial(torch.optim.AdamW, ...)``.
    schedule : callable, optional
        From the step to the factor of the learning rate.
    generator : torch.Generator, optional
        For ``batches``; from ``run.torch_rng``. Its state is part of a checkpoint.
    measure : callable, optional
        From parameters to named tensors of shape (models, ...); called without gradients.
    at : iterable of int, optional
        Steps to measure at; first and last if omitted.
    progress : callable, optional
        Called with (step, steps, mean loss) at least every ``FINITE_EVERY`` steps; see
        ``progress_lines``.
    checkpoint : Checkpoint, optional
        Save there, and resume from there if the file exists. On the CPU the resumed training
        equals the uninterrupted one bit for bit.

    Returns
    -------
    Trained

    Raises
    ------
    DivergedError
        If losses become NaN or infinite; it names step and models.
    ValueError
        If the loss is not one number per model, a step to measure at lies outside [0, steps], or
        the checkpoint belongs to another training.
    """
    moments = _moments(steps, at)
    state = _Descent(parameters, optimizer, generator)
    fingerprint = _fingerprint(parameters, state.optimizer, [steps, *moments], generator)
    if checkpoint is not None and checkpoint.path.exists():
        state.restore(_load(checkpoint.path, fingerprint))
    while True:
        if measure is not None and state.step in moments:
            state.record(measure)
        if checkpoint is not None and (state.step % checkpoint.every == 0 or state.step == steps):
            _save({"fingerprint": fingerprint, **state.saved()}, checkpoint.path)
        if state.step >= steps:
            break
        looks = state.step % FINITE_EVERY == 0 or state.step == steps - 1
        losses = state.update(loss, batches, schedule)
        if looks:
            mean = _finite_mean(losses, state.step)
            if progress is not None:
                progress(state.step, steps, mean)
    state.check_finite()
    return state.result()


def _moments(steps: int, at: Iterable[int] | None) -> list[int]:
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
        raise ValueError(f"steps must be a non-negative integer, got {steps!r}")
    moments = sorted({0, steps} if at is None else set(at))
    outside = [step for step in moments if not 0 <= step <= steps]
    if outside:
        raise ValueError(f"cannot measure at step {outside[0]}: steps run from 0 to {steps}")
    return moments


def _finite_mean(losses: torch.Tensor, step: int) -> float:
    finite = losses.isfinite()
    if not bool(finite.all()):
        raise DivergedError(step, (~finite).nonzero().flatten().tolist())
    return float(losses.mean())


class _Descent:
    """The state of a training: parameters, optimiser, step and what has been measured."""

    def __init__(
        self,
        parameters: Parameters,
        optimizer: MakeOptimizer,
        generator: torch.Generator | None,
    ) -> None:
        sizes = {len(value) if value.ndim else 0 for value in parameters.values()}
        if len(sizes) != 1 or 0 in sizes:
            raise ValueError(
                "parameters must be tensors with one leading model axis in common, got sizes "
                f"{sorted(sizes)}; see stack"
            )
        self.models = sizes.pop()
        self.parameters = {
            name: value.detach().clone().requires_grad_() for name, value in parameters.items()
        }
        self.optimizer = optimizer(list(self.parameters.values()))
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.generator = generator
        self.step = 0
        self.steps: list[int] = []
        self.measured: dict[str, list[torch.Tensor]] = {}

    def update(self, loss: Loss, batches: Batches, schedule: Schedule | None) -> torch.Tensor:
        if schedule is not None:
            for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
                group["lr"] = rate * schedule(self.step)
        self.optimizer.zero_grad(set_to_none=True)
        losses = loss(self.parameters, batches(self.step, self.generator))
        if tuple(losses.shape) != (self.models,):
            raise ValueError(
                f"the loss must be one number per model, shape ({self.models},), got "
                f"{tuple(losses.shape)}"
            )
        losses.sum().backward()
        self.optimizer.step()
        self.step += 1
        return losses.detach()

    def record(self, measure: Measure) -> None:
        import torch

        if self.step in self.steps:
            return
        with torch.no_grad():
            found = measure(self._detached())
        for name, value in found.items():
            self.measured.setdefault(name, []).append(value.detach().cpu().clone())
        self.steps.append(self.step)

    def check_finite(self) -> None:
        """The last update came after the last look at the losses."""
        finite = [v.isfinite().flatten(1).all(dim=1) for v in self._detached().values()]
        broken = ~sum(finite[1:], start=finite[0].int()).eq(len(finite))
        if bool(broken.any()):
            raise DivergedError(self.step, broken.nonzero().flatten().tolist())

    def _detached(self) -> Parameters:
        return {name: value.detach() for name, value in self.parameters.items()}

    def saved(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "parameters": self._detached(),
            "optimizer": self.optimizer.state_dict(),
            "generator": None if self.generator is None else self.generator.get_state(),
            "steps": self.steps,
            "measured": self.measured,
        }

    def restore(self, state: dict[str, Any]) -> None:
        import torch

        with torch.no_grad():
            for name, value in state["parameters"].items():
                self.parameters[name].copy_(value)
        self.optimizer.load_state_dict(state["optimizer"])
        if self.generator is not None:
            self.generator.set_state(state["generator"])
        self.step, self.steps, self.measured = state["step"], state["steps"], state["measured"]

    def result(self) -> Trained:
        import torch

        measured = {name: torch.stack(rows).numpy() for name, rows in self.measured.items()}
        return Trained(self._detached(), tuple(self.steps), measured)


def progress_lines(label: str, seconds: float = 10.0) -> Progress:
    """Progress as lines on the error stream, at most one per ``seconds``, with the time left."""
    start = last = time.monotonic()
    first: int | None = None

    def tell(step: int, steps: int, loss: float) -> None:
        nonlocal last, first
        now = time.monotonic()
        first = step if first is None else first
        if now - last < seconds and step < steps:
            return
        last = now
        left = (now - start) / max(step - first, 1) * (steps - step)
        line = f"{label}: step {step}/{steps}, mean loss {loss:.4g}, {left:.0f} s left"
        print(line, file=sys.stderr, flush=True)

    return tell
