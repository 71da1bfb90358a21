"""Command ``languages``: how well a model finds translations, language by language."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.computing import one_by_one
from blindspot.cli.options import TRANSFORM_HELP, AsJson, Metric, settings_and_store
from blindspot.datasets.published.tatoeba import BOTH, PARALLEL
from blindspot.datasets.published.tatoeba.languages import name_of
from blindspot.errors import DataMissing
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import interval, percent
from blindspot.runs.computing import parted
from blindspot.studies.languages.pooled import Bias, Nearest, biases, not_pooled, pool_of
from blindspot.studies.languages.scores import DEFAULT, DIRECTIONS, USUAL, By, Score, cells_of, scores_of, sets_named
from blindspot.studies.languages.view import LanguagesView, languages_view

ALL = "all"
SAID = 5  # findings in words; the table has all
LANGUAGES_HELP = f"ISO 639-3 codes or names, separated by commas, or {ALL}; default: {', '.join(USUAL[DEFAULT])}"


def languages(
    *,
    encoder: Annotated[str, typer.Option(help="model, such as minilm")],
    languages: Annotated[str, typer.Option(help=LANGUAGES_HELP)] = "",
    data: Annotated[str, typer.Option(help=f"sentences: {' or '.join(PARALLEL)}")] = DEFAULT,
    transform: Annotated[str, typer.Option(help=TRANSFORM_HELP)] = "none",
    metric: Metric = Similarity.COS,
    by: Annotated[By, typer.Option(help="group languages")] = By.NONE,
    pooled: Annotated[
        bool, typer.Option("--pooled", help="also all languages as candidates at once: does the language win?")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find how well a model matches sentences with their translations, into and from English, per language.

    Each language and direction is an ordinary run of EvalRank among the sentences of one language, which is kept: after
    an interruption, run the same command to continue.
    """
    settings, repository = settings_and_store()
    sets = sets_named(data)
    asked = [language for part in languages.split(",") if (language := part.strip())]
    chosen = sets.languages(() if asked == [ALL] else asked or USUAL[sets.family.id])
    if pooled and transform != "none":
        raise not_pooled()
    cells = cells_of(sets, chosen, encoder, settings, transform=transform, metric=metric)
    done, unfinished = parted(one_by_one([cell.request for cell in cells], settings, repository))
    runs = {result.request: result.outcome.record for result in done}
    failed = {result.request: result.error for result in unfinished}
    for error in failed.values():
        if isinstance(error, DataMissing) or not runs:
            raise error
    errors = {cell.language.code: str(failed[cell.request]) for cell in cells if cell.request in failed}
    output.warn([f"{name_of(code)} is left out: {error}" for code, error in errors.items()])
    scores = scores_of(cells, runs, repository)
    biases_found: list[Bias] = []
    if pooled:
        with output.progress("pool") as progress:
            biases_found = biases(pool_of(scores, settings, repository), metric, progress=progress)
    view = languages_view(scores, by, biases_found)
    if as_json:
        output.print_json(view.as_json(errors))
        return
    output.use_names(settings, repository, [encoder])
    _print(view, by)


def _print(view: LanguagesView, by: By) -> None:
    at = {(score.language.code, score.direction): score for score in view.scores}
    rows = []
    for group in view.groups:
        for language in group.languages:
            both = [at.get((language.code, way)) for way in BOTH]
            side = next(side for side in both if side)
            pairs = f"{side.pairs:,}" if side.covered == side.pairs else f"{side.covered:,} of {side.pairs:,}"
            cells = [cell for score in both for cell in _accuracy(score)]
            rows.append([language.name, language.code, language.kin, language.script, pairs, *cells])
    ways = list(DIRECTIONS.values())
    output.print_table(
        f"Accuracy of {view.scores[0].run.plan.variant.label}: is the nearest sentence the translation?",
        ["language", "code", "family", "script", "pairs", *(heading for way in ways for heading in (way, "95% CI"))],
        rows,
    )
    if by is not By.NONE:
        output.print_table(
            f"Means by {by}",
            [str(by), "languages", *ways],
            [
                [group.name, str(len(group.languages)), *(percent(group.means[way], 1) for way in BOTH)]
                for group in view.groups
                if len(group.means) == len(BOTH)
            ],
        )
    output.print_text(view.answer)
    if view.biases:
        output.print_rows(
            "Nearest sentence in a pool of all these languages", [_bias_row(bias) for bias in view.biases]
        )
        output.print_text(*(finding.said() for finding in view.worst_first[:SAID]))


def _accuracy(score: Score | None) -> list[str]:
    if score is None:
        return ["–", "–"]
    return [percent(score.accuracy.value, 1), interval(score.accuracy.interval, ".1%")]


def _bias_row(bias: Bias) -> dict[str, str]:
    return {
        "queries in": name_of(bias.language),
        "queries": f"{bias.queries:,}",
        **{str(kind): percent(bias.shares[kind], 1) for kind in Nearest},
        "own, 95% CI": interval(bias.own, ".1%"),
        "own of the wrong": "–" if bias.own_among_wrong is None else percent(bias.own_among_wrong),
        "expected": percent(bias.expected),
    }
