"""Command ``training-data``: triplets and scored pairs from what a model got wrong, to train it with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, RunId, datasets_named, settings_and_store
from blindspot.files.writing import check_new_folder
from blindspot.runs.training_data import examples, files, making
from blindspot.runs.training_data.from_run import Made, Wishes, make

Folder = Annotated[Path, typer.Option("--output", help="folder to write; a new or an empty one")]
Negatives = Annotated[int, typer.Option(min=1, max=30, help="columns of negatives in a row of triplets")]
HeldOut = Annotated[float, typer.Option(min=0.01, max=0.9, help="share to hold out")]
LeaveOut = Annotated[
    list[str] | None,
    typer.Option(
        help="dataset whose texts must not be trained on, beside all that models were evaluated on here; repeat for "
        "several"
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(help="dataset whose texts may be trained on although models were evaluated on it; repeatable"),
]
SplitSeed = Annotated[int, typer.Option(help="of the split")]


def training_data(
    *,
    run_id: RunId,
    out: Folder,
    margin: Annotated[
        float,
        typer.Option(min=0.0, help="largest lead of the positive over the negative; 0: only what the model gets wrong"),
    ] = examples.WRONG,
    kind: Annotated[
        list[str] | None, typer.Option(help="kind of negatives to take, such as antonym; repeat for several")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="negatives per anchor and positive, at most")] = examples.MOST,
    negatives: Negatives = 1,
    held_out: HeldOut = making.HELD_OUT,
    leave_out: LeaveOut = None,
    allow: Allow = None,
    seed: SplitSeed = making.SEED,
    as_json: AsJson = False,
) -> None:
    """Write what a model got wrong in a run as training data: triplets, scored pairs, and a script that trains.

    Of EvalRank, HEROS and retrieval. Near-duplicates of texts that models are evaluated on are left out, and what is
    held out shares no text with the rest. The files are read by `datasets` and taken by sentence-transformers.
    """
    check_new_folder(out)
    settings, repository = settings_and_store()
    run = repository.run(run_id)
    wishes = Wishes(
        margin,
        most,
        negatives,
        tuple(kind or ()),
        held_out,
        datasets_named(leave_out),
        datasets_named(allow),
        seed,
    )
    report(make(run, wishes, settings, repository), out, as_json=as_json)


def report(training_files: Made, out: Path, *, as_json: bool) -> None:
    """Write the files, and print what was made."""
    files.write(out, training_files.files)
    if training_files.warning:
        output.warn([training_files.warning])
    if as_json:
        output.print_json(
            {
                "folder": str(out),
                "train": len(training_files.data.train),
                "held_out": len(training_files.data.held_out),
                "components": training_files.data.components,
                "left_out": dict(training_files.data.left_out),
            }
        )
        return
    output.print_text(*files.in_words(training_files.data))
    output.print_text(f"Written to {out}; train with: python {out / 'train.py'}")
