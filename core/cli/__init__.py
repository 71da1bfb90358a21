"""Commands of ``blindspot``.

Results go to stdout, progress and errors to stderr. Exit code 0: done, 2: bad input, 1: failure.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

import blindspot
from blindspot.cli import app as app_command
from blindspot.cli import (
    bench,
    catalogs,
    data,
    doctor,
    evidence,
    export,
    judge,
    run,
    runs,
    sweep,
)
from blindspot.cli.space import encode, hubs, maps, neighbours
from blindspot.cli.studies import (
    check,
    compare,
    findings,
    gate,
    languages,
    make,
    repair,
    report,
    size,
    threshold,
    training_data,
)
from blindspot.errors import BlindspotError, naming_extras, visible
from blindspot.files.writing import disk_error
from blindspot.names import Names, in_force

INTERRUPTED = 130  # what Typer returns after Ctrl-C; it swallows the exception

PROGRAM = "blindspot"

app = typer.Typer(
    name=PROGRAM,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")
app.add_typer(runs.app, name="runs")
app.add_typer(judge.app, name="judge")
app.add_typer(make.app, name="make")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(blindspot.__version__)
        raise typer.Exit


@app.callback()
def _blindspot(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Blindspot shows what a word or sentence encoder gets wrong, pair by pair."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Every error becomes one line on stderr."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in args
    args = [a for a in args if a != "--debug"]
    try:
        with naming_extras(), in_force(Names()):  # commands that print tables replace these with the store's
            code = app(args, prog_name=PROGRAM, standalone_mode=False)
    except BlindspotError as error:
        return _fail(str(error), error.exit_code, debug)
    except typer.TyperException as error:
        message = error.format_message()
        if not message:  # Typer has shown the help instead
            return error.exit_code
        return _fail(f"{message} See: blindspot --help", error.exit_code, debug)
    except Exception as error:  # noqa: BLE001 - the last line of defense; --debug shows the traceback
        what = f"unexpected {type(error).__name__}: {error}; add --debug to see the traceback"
        return _fail(str(disk_error(error) or what), 1, debug)
    if code == INTERRUPTED:
        return _fail("interrupted; embeddings made so far are kept: run the same command to continue", 1, debug)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int, debug: bool) -> int:
    if debug and sys.exception():
        traceback.print_exc()
    print("error:", visible(" ".join(message.split())), file=sys.stderr)
    return code


app.command("app")(app_command.serve)
app.command("compare")(compare.compare_variants)
app.command("encode")(encode.encode)
app.command("map")(maps.make_map)
app.command("findings")(findings.findings)
app.command("report")(report.report)
app.command("gate")(gate.gate)
app.command("audit")(gate.audit_set)
app.command("threshold")(threshold.threshold)
app.command("size")(size.size)
app.command("repair")(repair.repair)
app.command("languages")(languages.languages)
app.command("evidence")(evidence.evidence)
app.command("hubs")(hubs.hubs)
app.command("sweep", help=sweep.HELP)(sweep.sweep)
app.command("neighbours")(neighbours.neighbours_of)
app.command("list")(catalogs.list_catalogs)
app.command("run")(run.run)
app.command("export")(export.export)
app.command("training-data")(training_data.training_data)
app.command("check")(check.check)
app.command("doctor")(doctor.diagnose)
app.command("bench")(bench.bench)
