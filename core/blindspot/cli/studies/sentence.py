"""Command ``try``: a sentence and its rewrites, or a few lines, as some models see them."""

from __future__ import annotations

from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, Transforms, settings_and_store, variants_of
from blindspot.datasets.perturbations import making
from blindspot.numerics.statistics.written import CHANGE, SCORE, number, percent
from blindspot.runs.own_scale import DATASET
from blindspot.runs.requests import EncodeRequest
from blindspot.studies.sentence.asking import MOST_LINES, MOST_MODELS, check, check_models, try_sentence
from blindspot.studies.sentence.view import Compared, Disagreement, Judged, LinesView, Rewrite, SentenceView
from blindspot.texts import counted

WORDS_SHOWN = 5  # that contribute most


def try_texts(
    texts: Annotated[
        list[str], typer.Argument(help=f"a sentence to rewrite, or two to {MOST_LINES} to compare with each other")
    ],
    encoder: Annotated[list[str], typer.Option(help=f"encoder reference; repeat for several, at most {MOST_MODELS}")],
    transform: Transforms = None,
    seed: Annotated[int, typer.Option(help="of what rules draw, as of `blindspot make minimal-pairs`")] = making.SEED,
    as_json: AsJson = False,
) -> None:
    """Try a sentence: which rewrites of it does each model take for the same? Several are compared with each other.

    Rules rewrite it, as `blindspot make minimal-pairs` does: some keep the meaning, others change it. Transforms are
    fitted on built-in sentences, which also tell where unrelated sentences and paraphrases lie in each model. Your text
    is not stored.
    """
    settings, repository = settings_and_store()
    check(texts)
    variants = variants_of(encoder, transform)
    check_models(variants)
    references = list(dict.fromkeys(variant.encoder for variant in variants))
    output.announce([EncodeRequest(reference, DATASET) for reference in references], settings)
    if not as_json:
        output.use_names(settings, repository, references)
    view = try_sentence(variants, texts, settings, seed=seed)
    if as_json:
        output.print_json(view.as_json())
    elif isinstance(view, SentenceView):
        _print_sentence(view)
    else:
        _print_lines(view)


def _print_sentence(view: SentenceView) -> None:
    for model in view.models:
        output.print_text(f"{model.label}: {model.said}", *_notes(model))
    groups = (
        ("Keeps the meaning", view.group(keeps=True)),
        ("Changes the meaning", view.group(keeps=False)),
        ("Padding and position, not counted", view.group(keeps=True, is_counted=False)),
    )
    for title, rewrites in groups:
        if rewrites:
            rows = [_row(rewrite) for rewrite in rewrites]
            output.print_table(title, ["rule", "rewrite", *(model.label for model in view.models)], rows)
    if view.passed_over:
        output.print_text(f"Not applied: {view.passed_in_words()}.")


def _row(rewrite: Rewrite) -> tuple[str, ...]:
    numbers = (
        _number(value) + " ▲" * above + " cut off" * cut
        for value, above, cut in zip(rewrite.similarities, rewrite.above, rewrite.cut, strict=True)
    )
    text = rewrite.text.replace("\n", "⏎").replace("\t", "⇥")
    return rewrite.name, text if rewrite.is_counted else rewrite.change, *numbers


def _number(value: float | None) -> str:
    return "–" if value is None else number(value, SCORE)


def _notes(model: Judged | Compared) -> list[str]:
    none = "No scale of its own: it has vectors for too few of the built-in sentences."
    return [f"  {note}" for note in (*model.notes, model.scale.in_words() if model.scale else none)]


def _print_lines(view: LinesView) -> None:
    numbers = [str(number) for number in range(1, len(view.lines) + 1)]
    for model in view.models:
        rows = [
            (number, line, *map(_number, row))
            for number, line, row in zip(numbers, view.lines, model.similarities, strict=True)
        ]
        output.print_table(model.label, ["", "line", *numbers], rows)
        output.print_text(*_notes(model))
        if model.why_not:
            output.print_text(f"  {model.why_not}")
        if model.contributions is not None:
            for words, values in zip(model.contributions.words, model.contributions.of_words, strict=True):
                order = sorted(range(len(words)), key=lambda i: -abs(values[i]))[:WORDS_SHOWN]
                most = ", ".join(f"{words[i].text} {number(values[i], CHANGE)}" for i in order)
                output.print_text(f"  What words contribute most: {most}")
    if view.disagreements:
        title = f"{counted(len(view.disagreements), 'pair')} that two models see most differently"
        columns = ["lines", "nearer in", "similarity", "of the way", "than in", "similarity", "of the way"]
        output.print_table(title, columns, [_disagreement(view, disagreement) for disagreement in view.disagreements])
        output.print_text("Of the way from unrelated sentences (0%) to paraphrases (100%), on each model's own scale.")


def _disagreement(view: LinesView, disagreement: Disagreement) -> tuple[str, ...]:
    sides = []
    for model, similarity, rank in zip(
        disagreement.models, disagreement.similarities, disagreement.places, strict=True
    ):
        sides += [view.models[model].label, number(similarity, SCORE), percent(rank)]
    return f"{disagreement.lines[0] + 1} and {disagreement.lines[1] + 1}", *sides
