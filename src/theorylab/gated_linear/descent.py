r"""Training ReLU and gated linear networks by full-batch descent, many seeds at once.

The loss is :math:`\tfrac12\sum_i\|y_i-\hat y_i\|^2`, a sum over samples. PyTorch is loaded when
something is trained, not with this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from theorylab import training
from theorylab.gated_linear.tasks import Data, Task
from theorylab.gated_linear.theory import subset_size

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

if TYPE_CHECKING:
    import torch

    Parameters = dict[str, torch.Tensor]

BLOW_UP = 10.0
"""A loss this many times the initial one counts as divergence."""


# --- networks ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReLUNet:
    """Architecture and start of a ReLU network without biases.

    Parameters
    ----------
    widths : tuple of int
        Units of each hidden layer.
    std : float
        Standard deviation of the initial weights, in all layers.
    """

    widths: tuple[int, ...]
    std: float

    def __post_init__(self) -> None:
        if not self.widths or min(self.widths) < 1:
            raise ValueError(f"widths must be positive, one per hidden layer, got {self.widths}")
        _check_std(self.std)

    def draw(self, task: Data, generator: torch.Generator) -> Parameters:
        """Weights W1, W2, ... of one network."""
        import torch

        sizes = [task.X.shape[0], *self.widths, task.Y.shape[0]]
        return {
            f"W{layer + 1}": self.std
            * torch.randn(sizes[layer + 1], sizes[layer], dtype=torch.float64, generator=generator)
            for layer in range(len(sizes) - 1)
        }


@dataclass(frozen=True, eq=False)
class Pathway:
    """Units of a gated network that share their gates.

    Parameters
    ----------
    input_mask : array of bool, shape (d,)
        Inputs that they see.
    sample_mask : array of bool, shape (N,)
        Samples on which they are on.
    width : int
        How many they are.
    std : float
        Standard deviation of their initial weights, in both layers.
    """

    input_mask: Bools
    sample_mask: Bools
    width: int
    std: float

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"a pathway needs at least one unit, got width {self.width}")
        if not np.any(self.sample_mask) or not np.any(self.input_mask):
            raise ValueError("a pathway must be on for some sample and see some input")
        _check_std(self.std)

    @property
    def A0(self) -> float:
        """Strength of the balanced aligned pathway that it behaves like."""
        return self.width * self.std**2 / 2


def _check_std(std: float) -> None:
    if not (np.isfinite(std) and std > 0):
        raise ValueError(f"std must be positive and finite, got {std}")


@dataclass(frozen=True, eq=False)
class GatedNet:
    """A gated linear network with one hidden layer, made of pathways."""

    pathways: tuple[Pathway, ...]

    def __post_init__(self) -> None:
        if not self.pathways:
            raise ValueError("a gated network needs at least one pathway, got none")

    @property
    def gates(self) -> Bools:
        """Gate of every unit on every sample, shape (h, N)."""
        return np.repeat(
            [p.sample_mask for p in self.pathways], [p.width for p in self.pathways], axis=0
        )

    @property
    def mask(self) -> Bools:
        """Inputs that every unit sees, shape (h, d)."""
        return np.repeat(
            [p.input_mask for p in self.pathways], [p.width for p in self.pathways], axis=0
        )

    @property
    def common(self) -> Bools:
        """Units that are always on and see everything."""
        return np.array([g.all() and m.all() for g, m in zip(self.gates, self.mask, strict=True)])

    def draw(self, task: Data, generator: torch.Generator) -> Parameters:
        """Weights W1, W2 of one network; unseen inputs have weight 0."""
        import torch

        for pathway in self.pathways:
            _check_pathway(pathway, task)
        std = np.repeat([p.std for p in self.pathways], [p.width for p in self.pathways])
        scale = torch.as_tensor(std)
        h = len(std)
        W1 = torch.randn(h, task.X.shape[0], dtype=torch.float64, generator=generator)
        W2 = torch.randn(task.Y.shape[0], h, dtype=torch.float64, generator=generator)
        return {"W1": W1 * scale[:, None] * torch.as_tensor(self.mask), "W2": W2 * scale}


def _check_pathway(pathway: Pathway, task: Data) -> None:
    if np.shape(pathway.sample_mask) != (task.samples,):
        raise ValueError(
            f"sample_mask must have length {task.samples}, got {np.shape(pathway.sample_mask)}"
        )
    if np.shape(pathway.input_mask) != (len(task.X),):
        raise ValueError(
            f"input_mask must have length {len(task.X)}, got {np.shape(pathway.input_mask)}"
        )


def reln(
    task: Task,
    k: int | Sequence[Iterable[int]],
    width: int = 100,
    std: float = 1e-5,
    context_width: int | None = None,
    context_std: float | None = None,
) -> GatedNet:
    """The rectified linear network of a task: one common pathway and context pathways.

    Parameters
    ----------
    task : Task
    k : int or sequence of subsets
        All subsets of k contexts (the paper: C - 1), or the subsets themselves.
    width, std
        Of the common pathway.
    context_width, context_std
        Of each context pathway, which sees objects only; as the common one if omitted.
    """
    if isinstance(k, (int, np.integer)):
        chosen = list(combinations(range(task.C), subset_size(task.C, int(k))))
    else:
        chosen = [tuple(subset) for subset in k]
    everything = np.ones(len(task.X), dtype=bool)
    pathways = [Pathway(everything, np.ones(task.samples, dtype=bool), width, std)]
    for subset in chosen:
        mask = task.sample_mask(subset)
        pathways.append(
            Pathway(task.object_inputs(), mask, context_width or width, context_std or std)
        )
    return GatedNet(tuple(pathways))


# --- training ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What a training recorded.

    Attributes
    ----------
    steps : array of int, shape (T,)
        Steps at which losses were recorded.
    losses : array, shape (models, T)
    weights : tuple of arrays, shape (models, out, in)
        After the last step.
    start : tuple of arrays
        Before the first.
    gates : array of bool, shape (T, models, h, N)
        Gates of the first hidden layer at the recorded steps, where asked for; else empty.
    snapshots : tuple of arrays, shape (T, models, out, in)
        Weights at the recorded steps, where asked for; else empty.
    """

    steps: NDArray[np.int64]
    losses: Floats
    weights: tuple[Floats, ...]
    start: tuple[Floats, ...]
    gates: Bools = field(default_factory=lambda: np.zeros((0, 0, 0, 0), dtype=bool))
    snapshots: tuple[Floats, ...] = ()

    @property
    def mean_loss(self) -> Floats:
        """Mean over models."""
        return self.losses.mean(axis=0)


def train(
    net: ReLUNet | GatedNet,
    task: Data,
    lr: float,
    steps: int,
    *,
    seeds: Sequence[int],
    every: int = 10,
    record: Sequence[Literal["losses", "gates", "snapshots"]] = ("losses",),
    mode: Literal["relu", "gated", "replay"] | None = None,
    rule: Literal["joint", "staged"] = "joint",
    replay: Bools | None = None,
    start: Sequence[Floats] | None = None,
    device: str = "cpu",
    dtype: Literal["float64", "float32"] = "float64",
) -> Trajectory:
    r"""Full-batch descent of one network per seed, all at once.

    Parameters
    ----------
    net : ReLUNet or GatedNet
    task : Data
        A task, or any inputs with targets.
    lr, steps
        Learning rate of the summed loss, and number of updates.
    seeds : sequence of int
        One model each; the weights are drawn on the CPU in double precision.
    every : int
        Steps between two records.
    record : sequence of {"losses", "gates", "snapshots"}
    mode : {"relu", "gated", "replay"}, optional
        ``"replay"`` gives the units of a ReLU network the gates in ``replay``, one table per step
        or one for all; the network's own kind if omitted.
    rule : {"joint", "staged"}
        ``"staged"``: gated networks by the rule of the authors' code.
    replay : array of bool, shape (steps, models, h, N) or (models, h, N)
    start : sequence of arrays, shape (models, out, in), optional
        Weights to start from instead of drawn ones.
    device, dtype
        Where, and how precisely. Starts below 1e-6 want double precision.

    Returns
    -------
    Trajectory

    Raises
    ------
    ValueError
        If shapes do not fit, or the loss exceeds ten times its initial value; the message names
        the step.
    theorylab.training.DivergedError
        If a loss is NaN or infinite.
    """
    if not (np.isfinite(lr) and lr > 0):
        raise ValueError(f"lr must be positive and finite, got {lr}")
    import torch

    from theorylab.gated_linear.losses import gated_loss, layers_of, relu_gates_of

    kind = {"float64": torch.float64, "float32": torch.float32}[dtype]
    parameters = _drawn(net, task, seeds) if start is None else _given(start)
    parameters = {name: value.to(device, kind) for name, value in parameters.items()}
    first = tuple(value.cpu().double().numpy() for value in layers_of(parameters))
    place = partial(torch.as_tensor, dtype=kind, device=device)
    X, Y = place(task.X), place(task.Y)
    loss, batches = _objective(net, X, Y, place, mode, rule, replay)
    plain = loss if rule == "joint" else gated_loss
    parts = None if rule == "joint" else 4
    history = _History(every, BLOW_UP * task.initial_loss)

    def observed(current: Parameters, batch: Any) -> torch.Tensor:
        losses = loss(current, batch)
        if history.is_due():
            history.keep(losses if parts is None else plain(current, batch[:parts]))
        history.step += 1
        return losses

    def measure(current: Parameters) -> dict[str, torch.Tensor]:
        gates = {"gates": relu_gates_of(current, X)[0]} if "gates" in record else {}
        return gates | (current if "snapshots" in record else {})

    moments = list(range(0, steps + 1, every))
    with training.single_thread():
        trained = training.train(
            parameters,
            observed,
            batches,
            steps,
            optimizer=partial(torch.optim.SGD, lr=lr),
            measure=measure,
            at=moments if {*record} - {"losses"} else (),
        )
        if history.is_due():
            history.keep(plain(trained.parameters, batches(steps, None)[:parts]))
    return Trajectory(
        np.array(moments),
        torch.stack(history.losses, dim=-1).cpu().double().numpy(),
        tuple(value.cpu().double().numpy() for value in layers_of(trained.parameters)),
        first,
        trained.measured.get("gates", np.zeros((0, 0, 0, 0), dtype=bool)),
        tuple(
            np.asarray(trained.measured[name]) for name in parameters if name in trained.measured
        ),
    )


class _History:
    """Losses that descent computes anyway, kept at every so-maniest step."""

    def __init__(self, every: int, largest: float) -> None:
        self.every, self.largest, self.step = every, largest, 0
        self.losses: list[torch.Tensor] = []

    def is_due(self) -> bool:
        return self.step % self.every == 0

    def keep(self, losses: torch.Tensor) -> None:
        if bool((losses > self.largest).any()):
            raise ValueError(
                f"the loss exceeds {BLOW_UP:g} times its initial value at step {self.step}; "
                "lower lr"
            )
        self.losses.append(losses.detach())


def _drawn(net: ReLUNet | GatedNet, task: Data, seeds: Sequence[int]) -> Parameters:
    import torch

    drawn = [net.draw(task, torch.Generator().manual_seed(int(seed))) for seed in seeds]
    return training.stack(drawn)


def _given(start: Sequence[Floats]) -> Parameters:
    import torch

    return {f"W{layer + 1}": torch.as_tensor(W) for layer, W in enumerate(start)}


def _objective(
    net: ReLUNet | GatedNet,
    X: torch.Tensor,
    Y: torch.Tensor,
    place: Any,
    mode: str | None,
    rule: str,
    replay: Bools | None,
) -> tuple[training.Loss, training.Batches]:
    import torch

    from theorylab.gated_linear.losses import gated_loss, relu_loss, staged_loss

    kind = mode or ("relu" if isinstance(net, ReLUNet) else "gated")
    if kind == "relu":
        return relu_loss, training.full_batch((X, Y))
    if kind == "replay":
        if replay is None:
            raise ValueError("mode='replay' needs the gates to replay")
        return gated_loss, _replayed(X, Y, place, replay)
    if kind != "gated" or not isinstance(net, GatedNet):
        raise ValueError(f"mode must be 'relu', 'gated' (of a GatedNet) or 'replay', got {mode!r}")
    parts = (X, Y, place(net.gates), place(net.mask))
    if rule == "joint":
        return gated_loss, training.full_batch(parts)
    if rule != "staged":
        raise ValueError(f"rule must be 'joint' or 'staged', got {rule!r}")
    common = torch.as_tensor(net.common, device=X.device)
    return staged_loss, training.full_batch((*parts, common))


def _replayed(X: torch.Tensor, Y: torch.Tensor, place: Any, gates: Bools) -> training.Batches:
    if gates.ndim not in (3, 4):
        raise ValueError(f"replayed gates have 3 or 4 axes, got shape {gates.shape}")
    if gates.ndim == 3:
        return training.full_batch((X, Y, place(gates), None))
    last = len(gates) - 1
    return lambda step, generator: (X, Y, place(gates[min(step, last)]), None)
