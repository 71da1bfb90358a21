"""``python -m core runs``: what the store has, and what its runs say."""

from __future__ import annotations

import typer

from core.cli.runs import (
    compare,
    delete,
    frequency,
    kinds,
    list_,
    orderings,
    overlap,
    resembles,
    scores,
    sentences,
    show,
    trust,
)

app = typer.Typer(help="Runs in the store.", invoke_without_command=True)
app.callback()(list_.list_)
app.command("compare")(compare.compare)
app.command("scores")(scores.scores)
app.command("kinds")(kinds.kinds)
app.command("frequency")(frequency.frequency)
app.command("resembles")(resembles.resembles)
app.command("sentences")(sentences.sentences)
app.command("trust")(trust.trust)
app.command("overlap")(overlap.overlap)
app.command("orderings")(orderings.orderings)
app.command("show")(show.show)
app.command("delete")(delete.delete)
