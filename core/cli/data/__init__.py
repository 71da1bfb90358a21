"""``python -m core data``: datasets, the catalog's and a user's own."""

from __future__ import annotations

import typer

from core.cli.data import fetch, list_, overlap, remove, show, verify

app = typer.Typer(help="Datasets: what there is, download, verify.", no_args_is_help=True)
app.command("overlap")(overlap.overlap)
app.command("show")(show.show)
app.command("list")(list_.list_)
app.command("fetch")(fetch.fetch)
app.command("verify")(verify.verify)
app.command("remove")(remove.remove)
