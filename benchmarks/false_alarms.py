"""How often a true claim is called off: the statistical ledger over many seeds.

``python benchmarks/false_alarms.py --seeds 100 --workers 2`` verifies every statistical and trend
claim at ``ci`` scale once per seed, keeps the records (``--records``; a second call computes only
what is missing), prints a table and writes ``benchmarks/results/false_alarms.json``. A run is off
if the verdict of any claim is not the expected one; the book promises less than 1 % of such runs.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from scipy.stats import beta

import theorylab
from theorylab.records import Record

RESULT = Path(__file__).parent / "results" / "false_alarms.json"
RANDOM = ("statistical", "trend")
PROMISED = 0.01


def random_claims(selection: Sequence[str]) -> list[str]:
    """Claims whose verdict depends on a sample."""
    return [c.id for c in theorylab.claims(selection or None) if c.evidence in RANDOM]


def off_verdicts(records: Sequence[Record]) -> list[dict[str, object]]:
    """Claims of one run whose verdict is not the expected one."""
    return [
        {"claim": r.claim, "seed": r.seed, "verdict": str(r.verdict), "expected": str(r.expected)}
        for r in records
        if r.verdict != r.expected
    ]


def upper_bound(off: int, runs: int, confidence: float = 0.95) -> float:
    """Clopper-Pearson upper bound of the share of runs that are off."""
    return 1.0 if off == runs else float(beta.ppf(confidence, off + 1, runs - off))


def summary(claims: Sequence[str], runs: Sequence[Sequence[Record]]) -> dict[str, object]:
    found = [off_verdicts(records) for records in runs]
    off = sum(bool(rows) for rows in found)
    return {
        "title": "Share of runs with a true statistical claim called off",
        "claims": len(claims),
        "chapters": dict(Counter(name.split(".")[0] for name in claims)),
        "runs": len(runs),
        "runs_off": off,
        "upper_bound_95": round(upper_bound(off, len(runs)), 4),
        "promised": PROMISED,
        "off": [row for rows in found for row in rows],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("selection", nargs="*", help="claims, slugs or globs; all if omitted")
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--records", type=Path, default=Path("_build") / "false-alarms")
    given = options.parse_args()
    claims = random_claims(given.selection)
    runs = []
    for seed in range(given.seeds):
        runs.append(
            theorylab.verify(
                claims, seed=seed, workers=given.workers, records=given.records, resume=True
            )
        )
        for row in off_verdicts(runs[-1]):
            print(f"seed {seed}: {row['claim']} is {row['verdict']}", flush=True)
        print(f"{seed + 1} of {given.seeds} runs", flush=True)
    found = summary(claims, runs)
    RESULT.write_text(json.dumps(found, indent=2) + "\n")
    print(f"{found['runs_off']} of {found['runs']} runs off; 95 % bound {found['upper_bound_95']}")


if __name__ == "__main__":
    main()
