"""One step of training beside the authors' public scripts, on one core.

``python benchmarks/bench_gated_linear_training.py CHECKOUT [--python EXE]`` needs a checkout of
``CAandL-Lab/make-haste-slowly`` and an interpreter with JAX (``benchmarks/requirements.txt``). It
prints a table and writes ``benchmarks/results/gated_linear_training.json``. The scripts of
``3_context_diff`` are run as they are, but for the number of epochs; what a run costs beyond its
epochs (imports, compilation) is taken out by running two lengths. Processor time is compared. Their
loops record the loss at every epoch and, for the gated network, the singular values of its modules;
ours records the loss. The rows with 24 outputs
train the same network with its targets in an orthonormal basis of the space they span.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time

from pairing import Result, Row, in_turn, report, skip

from theorylab.gated_linear import GatedNet, ReLUNet, Task, main_task, reln, train

SCRIPTS = {"ReLU network, 700 units": "relu.py", "gated network, 7 x 100 units": "gdln.py"}
TARGETS = {"relu.py": 4.0, "gdln.py": 10.0}
SHORT, LONG = 101, 951
ROUNDS = 3
SUBSETS = ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2))
RATE = 1e-3


def one_core() -> int:
    """Pin this process, and so its children, to one core."""
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    os.environ |= {"OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "MPLBACKEND": "Agg"}
    return core


def with_epochs(source: str, epochs: int) -> str:
    changed, count = re.subn(r"(?m)^(\s+num_epochs = )\d+", rf"\g<1>{epochs}", source)
    if count != 1:
        raise ValueError(f"the script sets num_epochs {count} times; another version?")
    return changed


def peer_seconds(checkout: Path, script: str, python: str, epochs: int) -> float:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(checkout / "3_context_diff", Path(place) / "run"))
        for name in ("losses", "mds", "svs", "plots"):
            (folder / name).mkdir(exist_ok=True)
        file = folder / script
        file.write_text(with_epochs(file.read_text(), epochs))
        start = children_seconds()
        subprocess.run([python, script], cwd=folder, check=True, capture_output=True)
        return children_seconds() - start


def children_seconds() -> float:
    """Processor time of all children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peer_step(checkout: Path, script: str, python: str) -> float:
    times = [peer_seconds(checkout, script, python, epochs) for epochs in (SHORT, LONG)]
    return (times[1] - times[0]) / (LONG - SHORT)


def own_net(script: str) -> ReLUNet | GatedNet:
    if script == "relu.py":
        return ReLUNet((700,), 0.005 / 700)
    return reln(main_task(), SUBSETS, 100, 0.005 / 700, context_std=0.01 / 700)


def own_step(script: str, task: Task) -> float:
    net = own_net(script)
    train(net, task, RATE, 20, seeds=[0], every=1)
    start = process_time()
    train(net, task, RATE, LONG, seeds=[0], every=1)
    return (process_time() - start) / LONG


def rows(case: str, checkout: Path, python: str) -> tuple[Row, Row]:
    """The script beside ours with all outputs, and beside ours with 24; one run of it for both."""
    script, full = SCRIPTS[case], main_task()
    own, reduced, peer = map(
        median,
        in_turn(
            lambda: own_step(script, full),
            lambda: own_step(script, full.in_own_outputs()),
            lambda: peer_step(checkout, script, python),
            rounds=ROUNDS,
        ),
    )
    least = TARGETS[script]
    return Row.of(case, own, peer, least), Row.of(f"{case}, 24 outputs", reduced, peer, least)


def jax_version(python: str) -> str:
    asked = [python, "-c", "import jax; print(jax.__version__)"]
    found = subprocess.run(asked, capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, nargs="?", help="make-haste-slowly")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with JAX")
    given = parser.parse_args()
    version = jax_version(given.python)
    if given.checkout is None or not (given.checkout / "3_context_diff").is_dir() or not version:
        skip("make-haste-slowly with JAX", "give a checkout and --python")
    one_core()
    report(
        "gated_linear_training",
        Result(
            "ReLU and gated networks: one step of training",
            "make-haste-slowly, the authors' scripts",
            f"JAX {version}",
            tuple(row for case in SCRIPTS for row in rows(case, given.checkout, given.python)),
            "4 and 10 times",
        ),
    )


if __name__ == "__main__":
    main()
