"""View of a sentence or of some lines: the same on the page, by the command and to programs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from blindspot.datasets.perturbations import making
from blindspot.datasets.perturbations.making import Made
from blindspot.datasets.perturbations.rules import RULES
from blindspot.runs.own_scale import Scale
from blindspot.texts import counted, listed
from blindspot.transforms.contributions import Contributions
from blindspot.types import Float64
from blindspot.variants import Variant

TOLERANCE = 1e-6  # of similarities: a text's vectors differ by 1e-7 between batches
# They put other sentences around it, whose words say more about a vector than a change of the sentence does.
APART = ("padding", "position")  # kinds that are not counted
MOST_DISAGREED = 5  # pairs of lines
MOST_UNKNOWN = 8  # words without a vector that are named
_AROUND = re.compile(r"^\W+|\W+$")  # a word: punctuation
IN_OTHER_LANGUAGES = [rule.name for rule in RULES.values() if not rule.is_english]


@dataclass(frozen=True, eq=False)
class Answer:
    """A model's vectors of some texts.

    Attributes:
        units: ``[n, d] float64`` of length 1, NaN for a text without a vector.
        cut: which texts are longer than the model reads.
        scale: None where the model has vectors for too few of the built-in sentences.
        unknown: per text its words without a vector; only of word vectors.
    """

    variant: Variant
    units: Float64
    cut: tuple[bool, ...]
    scale: Scale | None
    unknown: tuple[tuple[str, ...], ...]

    def similarities(self) -> Float64:
        """``[n, n]`` cosines, the diagonal 1."""
        similarities: Float64 = np.clip(self.units @ self.units.T, -1.0, 1.0)
        np.fill_diagonal(similarities, np.where(np.isnan(similarities.diagonal()), np.nan, 1.0))
        return similarities


@dataclass(frozen=True)
class Rewrite:
    """A rewrite of the sentence by a rule.

    Attributes:
        keeps: whether it means the same.
        is_counted: not one of ``APART``.
        change: in words.
        similarities: per model its cosine with the sentence; None without a vector.
        above: per model, whether it changes the meaning and is more similar than the least similar that keeps it.
        cut: per model, whether it is longer than the model reads.
    """

    rule: str
    kind: str
    keeps: bool
    is_counted: bool
    text: str
    change: str
    similarities: tuple[float | None, ...]
    above: tuple[bool, ...]
    cut: tuple[bool, ...]

    @property
    def name(self) -> str:
        return self.rule.replace("_", " ")


@dataclass(frozen=True)
class Judged:
    """What a model makes of the rewrites.

    Attributes:
        said: in a sentence, without the model's name.
        above: of ``changing`` rewrites that change the meaning.
        lowest: similarity of the least similar rewrite that keeps it, and ``lowest_rule`` which one that is.
        notes: what of the sentence does not count.
    """

    model: str
    transform: str
    said: str
    above: int
    changing: int
    lowest: float | None
    lowest_rule: str
    scale: Scale | None
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return Variant(self.model, self.transform).label


@dataclass(frozen=True)
class PassedOver:
    """Rules that do not apply for one reason."""

    why: str
    rules: tuple[str, ...]


@dataclass(frozen=True)
class SentenceView:
    """A sentence and its rewrites, as some models see them.

    Attributes:
        rewrites: those that keep the meaning, then those that change it; each the most similar first by the first
            model.
    """

    text: str
    seed: int
    models: tuple[Judged, ...]
    rewrites: tuple[Rewrite, ...] = field(repr=False)
    passed_over: tuple[PassedOver, ...] = field(repr=False)

    def group(self, *, keeps: bool, is_counted: bool = True) -> list[Rewrite]:
        return [
            rewrite
            for rewrite in self.rewrites
            if rewrite.is_counted is is_counted and (not is_counted or rewrite.keeps is keeps)
        ]

    def passed_in_words(self) -> str:
        """Which rules do not apply and why, in one line; "" where all do."""
        return "; ".join(f"{listed([rule.replace('_', ' ') for rule in p.rules])}: {p.why}" for p in self.passed_over)

    def as_json(self) -> dict[str, Any]:
        return {"kind": "sentence", **asdict(self)}


@dataclass(frozen=True)
class Disagreement:
    """Two lines that two models place most differently between unrelated sentences (0) and paraphrases (1).

    Attributes:
        lines: their numbers, from 0.
        models: numbers of the models, the one that has them nearer first; ``similarities`` and ``places`` likewise.
    """

    lines: tuple[int, int]
    models: tuple[int, int]
    similarities: tuple[float, float]
    places: tuple[float, float]


@dataclass(frozen=True)
class Compared:
    """A model's similarities of all lines.

    Attributes:
        similarities: ``[n][n]``; None without a vector.
        contributions: of two lines' words; None of more, and where ``why_not`` says why there are none.
    """

    model: str
    transform: str
    similarities: tuple[tuple[float | None, ...], ...]
    scale: Scale | None
    notes: tuple[str, ...] = ()
    contributions: Contributions | None = field(default=None, repr=False, compare=False)
    why_not: str = ""

    @property
    def label(self) -> str:
        return Variant(self.model, self.transform).label


@dataclass(frozen=True)
class LinesView:
    """Some lines, as some models see them; ``disagreements``, the largest first, of three lines or more."""

    lines: tuple[str, ...]
    models: tuple[Compared, ...]
    disagreements: tuple[Disagreement, ...]

    def as_json(self) -> dict[str, Any]:
        models = [
            {
                "model": model.model,
                "transform": model.transform,
                "similarities": model.similarities,
                "scale": None if model.scale is None else asdict(model.scale),
                "notes": model.notes,
                "contributions": None if model.contributions is None else _contributions(model.contributions),
                "why_no_contributions": model.why_not,
            }
            for model in self.models
        ]
        return {
            "kind": "lines",
            "lines": self.lines,
            "models": models,
            "disagreements": [asdict(disagreement) for disagreement in self.disagreements],
        }


View = SentenceView | LinesView
Explained = Contributions | str  # a string says why there are none


def texts_of(made: Made, *, with_apart: bool = True) -> tuple[str, ...]:
    """The sentence and its rewrites, those that are counted first."""
    return (*made.texts, *(p.rewrite for p in _ordered(made) if with_apart or p.rule.kind not in APART))


def _ordered(made: Made) -> list[making.Proposal]:
    return sorted(made.proposals, key=lambda proposal: proposal.rule.kind in APART)


def sentence_view(made: Made, answers: Sequence[Answer]) -> SentenceView:
    """The view of a sentence; ``answers`` are about ``texts_of(made)``, or its beginning."""
    proposals = _ordered(made)[: len(answers[0].units) - 1]
    columns = [answer.similarities()[0, 1:] for answer in answers]
    counted_ = [proposal.rule.kind not in APART for proposal in proposals]
    lowest = [_lowest(column, proposals, counted_) for column in columns]
    rewrites = []
    for row, proposal in enumerate(proposals):
        values = tuple(_known(column[row]) for column in columns)
        above = tuple(
            counted_[row] and not proposal.rule.keeps and _is_above(value, None if low is None else low[0])
            for value, low in zip(values, lowest, strict=True)
        )
        rule = proposal.rule
        cut = tuple(answer.cut[row + 1] for answer in answers)
        rewrites.append(
            Rewrite(
                rule.name, rule.kind, rule.keeps, counted_[row], proposal.rewrite, proposal.said, values, above, cut
            )
        )
    rewrites.sort(key=lambda rewrite: (not rewrite.is_counted, not rewrite.keeps, -_first(rewrite.similarities)))
    judged = [_judged(i, answer, lowest[i], rewrites) for i, answer in enumerate(answers)]
    return SentenceView(made.texts[0], made.seed, tuple(judged), tuple(rewrites), _passed_over(made))


def _lowest(
    column: Float64, proposals: Sequence[making.Proposal], counted_: Sequence[bool]
) -> tuple[float, str] | None:
    rejected_values = [
        (float(value), proposal.rule.name)
        for value, proposal, counts in zip(column, proposals, counted_, strict=True)
        if counts and proposal.rule.keeps and not math.isnan(value)
    ]
    return min(rejected_values, default=None)


def _is_above(value: float | None, lowest: float | None) -> bool:
    return value is not None and lowest is not None and value > lowest + TOLERANCE


def _first(values: Sequence[float | None]) -> float:
    return -math.inf if values[0] is None else values[0]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _judged(number: int, answer: Answer, lowest: tuple[float, str] | None, rewrites: Sequence[Rewrite]) -> Judged:
    changing = [
        rewrite
        for rewrite in rewrites
        if rewrite.is_counted and not rewrite.keeps and rewrite.similarities[number] is not None
    ]
    above = [rewrite for rewrite in changing if rewrite.above[number]]
    low, rule = lowest or (None, "")
    sentence = _said(number, changing, above, low, rule.replace("_", " "))
    variant = answer.variant
    notes = ["The sentence is longer than the model reads; the rest does not count."] * answer.cut[0]
    notes += _of_unknown(answer.unknown[: 1 + sum(rewrite.is_counted for rewrite in rewrites)])
    if np.isnan(answer.units[0]).any():
        sentence, notes = "It has no vector for this sentence: it knows none of its words.", []
    return Judged(
        variant.encoder, variant.transform, sentence, len(above), len(changing), low, rule, answer.scale, tuple(notes)
    )


def _said(number: int, changing: Sequence[Rewrite], above: Sequence[Rewrite], low: float | None, rule: str) -> str:
    if not changing:
        return "No rule that changes the meaning applies to this sentence, so there is nothing to count."
    if low is None:
        return "No rule that keeps the meaning applies to this sentence, so there is nothing to compare with."
    least = f"the least similar one that keeps it ({rule}, {low:.3f})"
    if not above:
        if len(changing) == 1:
            return f"The one rewrite that changes the meaning is not more similar to the sentence than {least}."
        return f"None of {len(changing)} rewrites that change the meaning is more similar to the sentence than {least}."
    best = max(above, key=lambda rewrite: rewrite.similarities[number] or 0.0)
    what = f"{len(above)} of {counted(len(changing), 'rewrite')} that {'changes' if len(changing) == 1 else 'change'}"
    verb = "is" if len(above) == 1 else "are"
    upto = f"{best.name}, {best.similarities[number]:.3f}"
    return f"{what} the meaning {verb} more similar to the sentence ({upto}) than {least}."


def _passed_over(made: Made) -> tuple[PassedOver, ...]:
    by_why: dict[str, list[str]] = {}
    for skip in made.skipped:
        names = by_why.setdefault(skip.why, [])
        if skip.rule.kind not in names:
            names.append(skip.rule.kind)
    return tuple(PassedOver(why, tuple(names)) for why, names in by_why.items())


def lines_view(lines: Sequence[str], answers: Sequence[Answer], explained: Sequence[Explained] = ()) -> LinesView:
    """The view of two lines or more; ``explained`` are the contributions per model, of two lines."""
    matrices = [answer.similarities() for answer in answers]
    models = []
    for number, (answer, matrix) in enumerate(zip(answers, matrices, strict=True)):
        why = explained[number] if explained else None
        rows = tuple(tuple(_known(value) for value in row) for row in matrix.tolist())
        models.append(
            Compared(
                answer.variant.encoder,
                answer.variant.transform,
                rows,
                answer.scale,
                _notes_of_lines(answer),
                why if isinstance(why, Contributions) else None,
                why if isinstance(why, str) else "",
            )
        )
    return LinesView(tuple(lines), tuple(models), _disagreements(matrices, answers))


def _notes_of_lines(answer: Answer) -> tuple[str, ...]:
    notes = []
    if cut := [str(i) for i, is_cut in enumerate(answer.cut, 1) if is_cut]:
        notes.append(f"Longer than the model reads, so that the rest does not count: line {listed(cut)}.")
    if without := [str(i + 1) for i in np.flatnonzero(np.isnan(answer.units).any(axis=1))]:
        notes.append(f"No vector, since it knows none of the words: line {listed(without)}.")
    both = zip(answer.unknown, answer.units, strict=True)
    return (*notes, *_of_unknown([words for words, vector in both if not np.isnan(vector).any()]))


def _of_unknown(of_texts: Iterable[Sequence[str]]) -> list[str]:
    """What is said of words without a vector: a rewrite that changes only these has similarity 1."""
    words: dict[str, str] = {}
    for written in (written for of_text in of_texts for written in of_text):
        if word := _AROUND.sub("", written):
            words.setdefault(word.casefold(), word)
    named = [f"“{word[:40]}”" for word in list(words.values())[:MOST_UNKNOWN]]
    if more := len(words) - len(named):
        named.append(f"{more} more")
    return [f"It has no vector for {listed(named)}: such words do not count."] * bool(words)


def _disagreements(matrices: Sequence[Float64], answers: Sequence[Answer]) -> tuple[Disagreement, ...]:
    if len(answers) < 2 or len(matrices[0]) < 3:
        return ()
    disagreements = []
    for i, j in combinations(range(len(matrices[0])), 2):
        places = [
            (answer.scale.place(float(matrix[i, j])), number)
            for number, (matrix, answer) in enumerate(zip(matrices, answers, strict=True))
            if answer.scale is not None and not math.isnan(matrix[i, j])
        ]
        places = [pair for pair in places if not math.isnan(pair[0])]
        if len(places) < 2:
            continue
        (low, a), (high, b) = min(places), max(places)
        if high - low > TOLERANCE:
            values = float(matrices[b][i, j]), float(matrices[a][i, j])
            disagreements.append(Disagreement((i, j), (b, a), values, (high, low)))
    disagreements.sort(key=lambda disagreement: disagreement.places[1] - disagreement.places[0])
    return tuple(disagreements[:MOST_DISAGREED])


def _contributions(contributions: Contributions) -> dict[str, Any]:
    def row(values: Float64) -> list[float | None]:
        return [_known(value) for value in values.tolist()]

    return {
        "way": contributions.way.value,
        "cosine": contributions.cosine,
        "words": [[token.text for token in words] for words in contributions.words],
        "of_words": [row(values) for values in contributions.of_words],
        "cells": [row(values) for values in contributions.cells],
    }
