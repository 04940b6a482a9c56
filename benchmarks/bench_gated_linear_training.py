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
import json
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

from theorylab.gated_linear import GatedNet, ReLUNet, Task, main_task, reln, train

RESULT = Path(__file__).parent / "results" / "gated_linear_training.json"
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


def comparison(checkout: Path, python: str) -> list[dict[str, object]]:
    rows = []
    full = main_task()
    for case, script in SCRIPTS.items():
        rounds = [
            (
                own_step(script, full),
                own_step(script, full.in_own_outputs()),
                peer_step(checkout, script, python),
            )
            for _ in range(ROUNDS)
        ]
        peer = median(times[2] for times in rounds)
        for place, name in enumerate((case, f"{case}, 24 outputs")):
            own = median(times[place] for times in rounds)
            ratio = median(times[2] / times[place] for times in rounds)
            row = {"case": name, "ours_s": own, "peer_s": peer, "ratio": ratio}
            rows.append({**row, "target": TARGETS[script]})
    return rows


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
        print("skipped: give a checkout of CAandL-Lab/make-haste-slowly and a Python with JAX")
        return
    one_core()
    rows = comparison(given.checkout, given.python)
    print(f"{'one step of':42}{'ours':>10}{'peer':>10}{'ratio':>8}{'target':>8}")
    for row in rows:
        own, peer = 1e3 * float(row["ours_s"]), 1e3 * float(row["peer_s"])  # type: ignore[arg-type]
        print(
            f"{row['case']:42}{own:7.2f} ms{peer:7.2f} ms{row['ratio']:7.1f}x{row['target']:7.0f}x"
        )
    result = {
        "title": "ReLU and gated networks: one step of training",
        "peer": "make-haste-slowly, the authors' scripts",
        "peer_version": f"JAX {version}",
        "rows": rows,
        "target": "4 and 10 times",
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
