"""Commands ``runs``: the runs in the store, and details of a diagnostic's runs."""

from __future__ import annotations

import typer

from blindspot.cli.runs import evalrank, heros, kinds, packs, stored

app = typer.Typer(help="Runs in the store.", invoke_without_command=True)
app.callback()(stored.list_runs)
app.command("compare")(stored.compare)
app.command("scores")(evalrank.scores)
app.command("kinds")(kinds.kinds)
app.command("resembles")(heros.resembles)
app.command("sentences")(heros.sentences)
app.command("trust")(evalrank.trust)
app.command("overlap")(evalrank.overlap)
app.command("orderings")(heros.orderings)
app.command("show")(stored.show)
app.command("delete")(stored.delete)
app.command("import")(packs.import_)
app.command("export")(packs.export)
