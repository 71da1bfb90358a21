"""Command ``languages``: how well a model finds translations, language by language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from blindspot.cli import output
from blindspot.cli.options import TRANSFORM_HELP, AsJson
from blindspot.datasets.published.tatoeba import BOTH, PARALLEL
from blindspot.datasets.published.tatoeba.languages import ENGLISH
from blindspot.datasets.published.tatoeba.languages import languages as all_languages
from blindspot.errors import BlindspotError, DataMissing
from blindspot.numerics.similarity import Similarity
from blindspot.numerics.statistics.written import interval
from blindspot.runs import pipeline
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.languages.findings import findings
from blindspot.studies.languages.pooled import Bias, Nearest, biases, not_pooled, pool_of
from blindspot.studies.languages.scores import (
    DEFAULT,
    FROM,
    TO,
    USUAL,
    By,
    Score,
    answer,
    cells_of,
    grouped,
    scores_of,
    sets_named,
)

ALL = "all"
SAID = 5  # findings in words; the table has all
LANGUAGES_HELP = f"ISO 639-3 codes or names, separated by commas, or {ALL}; default: {', '.join(USUAL[DEFAULT])}"


def languages(
    *,
    encoder: Annotated[str, typer.Option(help="model, such as minilm")],
    languages: Annotated[str, typer.Option(help=LANGUAGES_HELP)] = "",
    data: Annotated[str, typer.Option(help=f"sentences: {' or '.join(PARALLEL)}")] = DEFAULT,
    transform: Annotated[str, typer.Option(help=TRANSFORM_HELP)] = "none",
    metric: Annotated[Similarity, typer.Option(help="similarity")] = Similarity.COS,
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
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    sets = sets_named(data)
    asked = [one for part in languages.split(",") if (one := part.strip())]
    chosen = sets.languages(() if asked == [ALL] else asked or USUAL[sets.family.id])
    if pooled and transform != "none":
        raise not_pooled()
    cells = cells_of(sets, chosen, encoder, settings, transform=transform, metric=metric)
    runs: dict[Any, RunRecord] = {}
    failed: dict[str, BlindspotError] = {}
    try:
        with output.progress("languages") as progress:
            for number, cell in enumerate(cells, 1):
                progress.title = f"{number} of {len(cells)}: {cell.request.label}"
                if cell.language.code in failed:
                    continue
                try:
                    runs[cell.request] = pipeline.run(cell.request, settings, repository, progress).record
                except DataMissing:
                    raise
                except BlindspotError as error:
                    failed[cell.language.code] = error
    except KeyboardInterrupt:
        raise BlindspotError(
            f"interrupted; {len(runs)} of {len(cells)} runs are done", remedy="run the same command to continue"
        ) from None
    scores = scores_of(cells, runs, repository)
    if not scores:
        raise next(iter(failed.values()))
    output.warn([f"{all_languages()[code].name} is left out: {error}" for code, error in failed.items()])
    found: list[Bias] = []
    if pooled:
        with output.progress("pool") as progress:
            found = biases(pool_of(scores, settings, repository), metric, progress=progress)
    if as_json:
        output.print_json(_fields(scores, found, failed, by))
        return
    output.use_names(settings, repository, [encoder])
    _print(scores, found, by)


def _print(scores: Sequence[Score], found: Sequence[Bias], by: By) -> None:
    at = {(score.language.code, score.direction): score for score in scores}
    rows = []
    for group in grouped(scores, by):
        for language in group.languages:
            both = [at.get((language.code, way)) for way in BOTH]
            known = next(one for one in both if one)
            pairs = f"{known.pairs:,}" if known.covered == known.pairs else f"{known.covered:,} of {known.pairs:,}"
            cells = [cell for score in both for cell in _accuracy(score)]
            rows.append([language.name, language.code, language.kin, language.script, pairs, *cells])
    label = scores[0].run.plan.variant.label
    output.print_table(
        f"Accuracy of {label}: is the nearest sentence the translation?",
        ["language", "code", "family", "script", "pairs", "into English", "95% CI", "from English", "95% CI"],
        rows,
    )
    if by is not By.NONE:
        output.print_table(
            f"Means by {by}",
            [str(by), "languages", "into English", "from English"],
            [
                [group.name, str(len(group.languages)), *(f"{group.means[way]:.3f}" for way in BOTH)]
                for group in grouped(scores, by)
                if len(group.means) == len(BOTH)
            ],
        )
    output.print_text(answer(scores))
    if found:
        output.print_table(
            "Nearest sentence in a pool of all these languages",
            ["queries in", "queries", *(str(kind) for kind in Nearest), "own, 95% CI", "own of the wrong", "expected"],
            [_bias_row(bias) for bias in found],
        )
        worst = sorted(findings(found, scores), key=lambda one: -one.severity)
        for finding in worst[:SAID]:
            output.print_text(finding.said())


def _accuracy(score: Score | None) -> list[str]:
    if score is None:
        return ["–", "–"]
    return [f"{score.accuracy.value:.3f}", interval(score.accuracy.interval, ".3f")]


def _bias_row(bias: Bias) -> list[str]:
    return [
        _name(bias.language),
        f"{bias.queries:,}",
        *(f"{bias.shares[kind]:.1%}" for kind in Nearest),
        interval(bias.own, ".1%"),
        "–" if bias.own_among_wrong is None else f"{bias.own_among_wrong:.0%}",
        f"{bias.expected:.0%}",
    ]


def _name(code: str) -> str:
    return "English" if code == ENGLISH else all_languages()[code].name


def _fields(
    scores: Sequence[Score], found: Sequence[Bias], failed: dict[str, BlindspotError], by: By
) -> dict[str, Any]:
    return {
        "model": str(scores[0].run.plan.variant),
        "answer": answer(scores),
        "scores": [
            {
                "language": score.language.code,
                "name": score.language.name,
                "family": score.language.family,
                "branch": score.language.branch,
                "scripts": list(score.language.scripts),
                "direction": {FROM: "into English", TO: "from English"}[score.direction],
                "dataset": score.run.plan.dataset,
                "run_id": score.run.run_id,
                "pairs": score.pairs,
                "pairs_covered": score.covered,
                "accuracy": score.accuracy.value,
                "accuracy_low": score.accuracy.interval.low if score.accuracy.interval else None,
                "accuracy_high": score.accuracy.interval.high if score.accuracy.interval else None,
                "accuracy_filtered": score.filtered,
                "mrr": score.mrr.value,
                "mrr_low": score.mrr.interval.low if score.mrr.interval else None,
                "mrr_high": score.mrr.interval.high if score.mrr.interval else None,
            }
            for score in scores
        ],
        "groups": [
            {
                "group": group.name,
                "languages": [language.code for language in group.languages],
                "into English": group.means.get(FROM),
                "from English": group.means.get(TO),
            }
            for group in grouped(scores, by)
        ],
        "pooled": [
            {
                "language": bias.language,
                "queries": bias.queries,
                "nearest": {str(kind): bias.shares[kind] for kind in Nearest},
                "own_low": bias.own.low,
                "own_high": bias.own.high,
                "own_among_wrong": bias.own_among_wrong,
                "expected": bias.expected,
                "p": bias.p,
            }
            for bias in found
        ],
        "findings": [
            {"id": one.id, "level": one.level, "sentence": one.said(), "value": one.value, "p": one.p, "test": one.test}
            for one in findings(found, scores)
        ],
        "left_out": [{"language": code, "error": str(error)} for code, error in failed.items()],
    }
