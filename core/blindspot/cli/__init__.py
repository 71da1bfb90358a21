"""Commands of ``blindspot``.

Results go to stdout, progress and errors to stderr. Exit code 0: done, 2: bad input, 1: failure.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Annotated

import typer

import blindspot
from blindspot.cli import on_call
from blindspot.cli.on_call import Place
from blindspot.errors import BlindspotError, damaged, naming_extras, visible
from blindspot.names import Names, in_force

INTERRUPTED = 130  # what Typer returns after Ctrl-C; it swallows the exception

PROGRAM = "blindspot"
WARNED: ContextVar[list[str]] = ContextVar("WARNED")  # what this command has warned of, for its JSON

# In the order of the help.
COMMANDS = {
    "app": Place("blindspot.cli.serve", "serve"),
    "compare": Place("blindspot.cli.studies.compare", "compare_variants"),
    "encode": Place("blindspot.cli.space.encode", "encode"),
    "map": Place("blindspot.cli.space.maps", "make_map"),
    "findings": Place("blindspot.cli.studies.findings", "findings"),
    "report": Place("blindspot.cli.studies.report", "report"),
    "gate": Place("blindspot.cli.studies.gate", "gate"),
    "audit": Place("blindspot.cli.studies.gate", "audit_set"),
    "threshold": Place("blindspot.cli.studies.threshold", "threshold"),
    "size": Place("blindspot.cli.studies.size", "size"),
    "layers": Place("blindspot.cli.studies.series", "layers"),
    "prompts": Place("blindspot.cli.studies.series", "prompts"),
    "matched": Place("blindspot.cli.studies.series", "matched"),
    "repair": Place("blindspot.cli.studies.repair", "repair"),
    "languages": Place("blindspot.cli.studies.languages", "languages"),
    "evidence": Place("blindspot.cli.evidence", "evidence"),
    "published": Place("blindspot.cli.evidence", "published"),
    "hubs": Place("blindspot.cli.space.hubs", "hubs"),
    "sweep": Place("blindspot.cli.sweep", "sweep", help="HELP"),
    "try": Place("blindspot.cli.studies.sentence", "try_texts"),
    "neighbors": Place("blindspot.cli.space.neighbors", "neighbors_of"),
    "list": Place("blindspot.cli.catalogs", "list_catalogs"),
    "run": Place("blindspot.cli.run", "run"),
    "export": Place("blindspot.cli.export", "export"),
    "training-data": Place("blindspot.cli.studies.training_data", "training_data"),
    "check": Place("blindspot.cli.studies.check", "check"),
    "doctor": Place("blindspot.cli.doctor", "diagnose"),
    "bench": Place("blindspot.cli.bench", "bench"),
    "data": Place("blindspot.cli.data", "app"),
    "runs": Place("blindspot.cli.runs", "app"),
    "judge": Place("blindspot.cli.judge", "app"),
    "store": Place("blindspot.cli.store", "app"),
    "make": Place("blindspot.cli.studies.make", "app"),
}

app = typer.Typer(
    name=PROGRAM,
    cls=on_call.group(COMMANDS),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
    WARNED.set([])
    try:
        with naming_extras(), in_force(Names()):  # commands that print tables replace these with the store's
            code = app(args, prog_name=PROGRAM, standalone_mode=False)
    except BlindspotError as error:
        return _fail(str(error), error.exit_code, debug)
    except typer.TyperException as error:
        message = error.format_message()
        if not message:  # Typer has shown the help instead
            return error.exit_code
        context = getattr(error, "ctx", None)  # that of a command, where the command is known
        command = context.command_path if context else PROGRAM
        return _fail(f"{message.rstrip('.')}. See: {command} --help", error.exit_code, debug)
    except Exception as error:  # noqa: BLE001 - the last line of defense; --debug shows the traceback
        return _fail(_unexpected(error), 1, debug)
    if code == INTERRUPTED:
        return _fail("interrupted; embeddings made so far are kept: run the same command to continue", 1, debug)
    return code if isinstance(code, int) else 0


def _unexpected(error: Exception) -> str:
    if isinstance(error, ImportError):
        return str(damaged(error))
    from blindspot.files.writing import disk_error

    what = f"unexpected {type(error).__name__}: {error}; add --debug to see the traceback"
    return str(disk_error(error) or what)


def _fail(message: str, code: int, debug: bool) -> int:
    if debug and sys.exception():
        traceback.print_exc()
    print("error:", visible(" ".join(message.split())), file=sys.stderr)
    return code
