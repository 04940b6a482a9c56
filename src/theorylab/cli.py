"""The ``theorylab`` command."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from theorylab import records as store
from theorylab import report
from theorylab._version import __version__
from theorylab.claims import (
    ChapterError,
    Claim,
    RegistrationError,
    UnknownClaimError,
    claims,
    find_claim,
)
from theorylab.run import SCALES, DeviceError, Run
from theorylab.schedulers import SchedulerError
from theorylab.verify import VerificationInterrupted, verify

OK, NOT_AS_EXPECTED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130
CI_TIMEOUT = 600.0

NO_SUCH_CLAIM = (UnknownClaimError, RegistrationError, ChapterError)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Put the claims of machine-learning theory papers to the test.",
)

SelectionArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Claim ids, slugs or globs; everything if omitted.", show_default=False),
]
RecordsOption = Annotated[Path, typer.Option("--records", help="Folder of the records.")]


def _fail(message: str) -> typer.Exit:
    print(f"theorylab: {message}", file=sys.stderr)
    return typer.Exit(WRONG_USAGE)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    pass


def _chosen(selection: Sequence[str] | None) -> list[Claim]:
    try:
        return claims(selection or None)
    except NO_SUCH_CLAIM as error:
        raise _fail(str(error)) from None


def _last_records(folder: Path) -> dict[str, store.Record]:
    """The newest record of each claim, from any run in the folder."""
    if not folder.is_dir():
        return {}
    paths = sorted(folder.rglob("*.json"), key=lambda path: path.stat().st_mtime)
    found = {}
    for path in paths:
        try:
            record = store.read_record(path)
        except store.BadRecordError as error:
            print(f"theorylab: {error}", file=sys.stderr)
            continue
        found[record.claim] = record
    return found


@app.command("list")
def list_claims(
    selection: SelectionArgument = None, records: RecordsOption = store.DEFAULT_FOLDER
) -> None:
    """Claims with their evidence, source and last verdict."""
    from rich.console import Console
    from rich.table import Table

    last = _last_records(records)
    table = Table("claim", "evidence", "source", "last verdict", box=None, pad_edge=False)
    for claim in _chosen(selection):
        record = last.get(claim.id)
        verdict = "-" if record is None else f"{record.verdict} ({record.scale})"
        table.add_row(claim.id, claim.evidence, str(claim.source), verdict)
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 160)
    console.print(table)


@app.command("show")
def show_claim(
    claim: Annotated[str, typer.Argument(help="Claim id.")],
    records: RecordsOption = store.DEFAULT_FOLDER,
) -> None:
    """Statement, check, controls and last record of one claim."""
    try:
        found = find_claim(claim)
    except NO_SUCH_CLAIM as error:
        raise _fail(str(error)) from None
    print(report.Card(found, _last_records(records).get(claim)))
    print(f"check: {found.check.__module__}.{found.check.__qualname__}")


@app.command("verify")
def verify_claims(
    selection: SelectionArgument = None,
    scale: Annotated[str, typer.Option(help="One of: " + ", ".join(SCALES) + ".")] = "ci",
    device: Annotated[str, typer.Option(help="PyTorch device name.")] = "cpu",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run.")] = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; by default one per core.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler.")] = None,
    records: RecordsOption = store.DEFAULT_FOLDER,
    resume: Annotated[bool, typer.Option("--resume", help="Compute only what is missing.")] = False,
    timeout: Annotated[
        float | None,
        typer.Option(help=f"Seconds for one claim; {CI_TIMEOUT:g} at ci scale, else none."),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML there.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write all records there.")] = None,
) -> None:
    """Compute claims with their controls.

    Exit status: 0 if every verdict is as expected, 1 if not, 2 on wrong usage, 130 on Ctrl-C.
    """
    if timeout is None and scale == "ci":
        timeout = CI_TIMEOUT
    try:
        found = verify(
            selection or None,
            scale,
            device,
            seed,
            workers=workers or _cores(),
            scheduler=scheduler,
            records=records,
            resume=resume,
            timeout=timeout,
            progress=True,
        )
    except VerificationInterrupted as interrupted:
        _tell_of_interrupt(interrupted, store.run_folder(records, Run(scale, device, seed)))
        _export(interrupted.records, junit, json)
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except (*NO_SUCH_CLAIM, DeviceError, SchedulerError, store.RecordsError, ValueError) as error:
        raise _fail(str(error)) from None
    print(report.Ledger(tuple(found)))
    exported = _export(found, junit, json)
    for record in found:
        if record.error:
            print(f"\n{record.claim}\n{record.error.strip()}", file=sys.stderr)
    everything_expected = all(record.as_expected for record in found)
    if not exported:
        raise typer.Exit(WRONG_USAGE)
    raise typer.Exit(OK if everything_expected else NOT_AS_EXPECTED)


def _cores() -> int:
    """Cores that this process may use, which in a container are fewer than the machine has."""
    from joblib import cpu_count

    return cpu_count()


def _tell_of_interrupt(interrupted: VerificationInterrupted, folder: Path) -> None:
    print(
        f"theorylab: {interrupted}; finished records are in {folder}; "
        "repeat the command with --resume to compute the rest",
        file=sys.stderr,
    )


def _export(found: Sequence[store.Record], junit: Path | None, json: Path | None) -> bool:
    """Write the requested files; a file that cannot be written is told of and the rest goes on."""
    texts = [(junit, report.to_junit), (json, report.to_json)]
    written = True
    for path, render in texts:
        if path is None:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            store.write_atomically(path, render(found))
        except OSError as error:
            print(f"theorylab: cannot write {path}: {error.strerror}", file=sys.stderr)
            written = False
    return written


@app.command()
def compare(
    records_a: Annotated[Path, typer.Argument(help="Records of the first run.")],
    records_b: Annotated[Path, typer.Argument(help="Records of the second run.")],
) -> None:
    """What changed between two runs; exit status 1 if anything did."""
    try:
        changes = store.compare(store.load_records(records_a), store.load_records(records_b))
    except store.RecordsError as error:
        raise _fail(str(error)) from None
    for change in changes:
        print(change)
    print("no differences" if not changes else f"{len(changes)} differences", file=sys.stderr)
    raise typer.Exit(NOT_AS_EXPECTED if changes else OK)


def main() -> None:
    """Entry point of the ``theorylab`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    warnings.formatwarning = lambda message, *_, **__: f"theorylab: {message}\n"
    app()
