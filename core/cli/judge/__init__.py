"""``python -m core judge``: items for people to judge, their votes, what these say."""

from __future__ import annotations

import typer

from core.cli.judge import export, import_, list_, make, remove, results

app = typer.Typer(no_args_is_help=True, help="Intruder test and comparative task: items, votes, results.")
app.command("make")(make.make)
app.command("results")(results.results)
app.command("export")(export.export)
app.command("import")(import_.import_)
app.command("remove")(remove.remove)
app.command("list")(list_.list_)
