"""Commands ``evidence`` and ``published``: correlations of intrinsic scores with tasks, and what papers found."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, settings_and_store
from blindspot.errors import BlindspotError
from blindspot.numerics.statistics.families import FEWEST_FAMILIES
from blindspot.numerics.statistics.written import interval, number
from blindspot.studies.evidence.beside import TABLES, beside
from blindspot.studies.evidence.correlation import FEWEST_VARIANTS, Cell, correlations
from blindspot.studies.evidence.scores import Downstream, Level, Outcome, score_table
from blindspot.studies.evidence.view import as_json as as_json_of
from blindspot.texts import counted


def evidence(
    level: Annotated[Level, typer.Option(help="scores of sentences or of words")] = Level.SENTENCE,
    classifier: Annotated[str, typer.Option(help="classifier trained on the embeddings")] = "logreg",
    outcome: Annotated[Outcome, typer.Option(help="score on the task")] = Outcome.ACCURACY,
    without_overlap: Annotated[
        bool, typer.Option("--without-overlap", help="leave out test texts that repeat or are also in the training set")
    ] = False,
    like_similarity: Annotated[
        bool, typer.Option("--with-pairs", help="include MRPC and SICK-E, which resemble similarity sets")
    ] = False,
    untransformed: Annotated[
        bool, typer.Option("--untransformed", help="leave out post-processed models, as in the paper's table 11")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Correlate (Spearman) every intrinsic score with every transfer task, over all models in the store.

    Intervals resample families of models; they need at least ten families.
    """
    downstream = Downstream(classifier, outcome, without_overlap)
    _, repository = settings_and_store()
    table = score_table(repository, downstream)
    table = table.at(level, like_similarity=like_similarity).comparable
    if untransformed:
        table = table.rows(variant.transform == "none" for variant in table.variants)
    if len(table.variants) < FEWEST_VARIANTS:
        have = counted(len(table.variants), "model has", "models have")
        raise BlindspotError(
            f"{have} both an intrinsic score of {level}s and a score on a task with the classifier {classifier}",
            expected=f"at least {FEWEST_VARIANTS}",
            remedy="compute them with: blindspot sweep evidence",
        )
    cells = correlations(table)
    if as_json:
        output.print_json(as_json_of(table, cells, level, downstream))
        return
    output.print_table(
        f"Spearman's ρ with {downstream.metric} ({classifier}) over {len(table.variants)} models of "
        f"{len(table.family_list)} families (in parentheses: models, families)",
        ["score", *(task.label for task in table.tasks)],
        [
            [evaluator.label, *(_written(cell) for cell in cells if cell.evaluator == evaluator)]
            for evaluator in table.evaluators
        ],
    )
    output.print_text("↓: lower is better, so the sign is flipped. –: too few models, or all scores equal.")
    if not any(cell.interval for cell in cells):
        output.print_text(
            f"No intervals: models of one family are not independent, and intervals need {FEWEST_FAMILIES} families."
        )


def published(
    table: Annotated[str, typer.Argument(help=f"{', '.join(TABLES)}; all if left out")] = "",
    as_json: AsJson = False,
) -> None:
    """Show published tables with the same scores of your stored models beside them."""
    settings, repository = settings_and_store()
    tables = [beside(name, repository) for name in ([table] if table else TABLES)]
    if as_json:
        output.print_json(
            tables[0].as_json() if table else {"tables": [published_table.as_json() for published_table in tables]}
        )
        return
    output.use_names(settings, repository, [])
    for published_table in tables:
        rows = published_table.in_words()
        output.print_table(
            f"{published_table.id}: {published_table.title} ({published_table.source})",
            list(rows[0]),
            [list(row.values()) for row in rows],
        )
        output.print_text(published_table.note)


def _written(cell: Cell) -> str:
    if cell.rho is None:
        return f"– ({cell.n}, {cell.families})"
    sure = f" [{interval(cell.interval)}]" if cell.interval else ""
    return f"{number(cell.rho)}{sure} ({cell.n}, {cell.families})"
