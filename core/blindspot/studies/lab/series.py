"""Series: one model read in several ways, by layer or after one of several prompts, each against the model itself.

Each way is a model by a reference of its own (``minilm?layer=4``, ``minilm?prompt=query%3A%20``) and an ordinary run.
Middle layers are often better than the last one (Skean et al. 2025, arXiv 2502.02013); a model's place among others can
depend on the prompt alone (arXiv 2605.22544).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from blindspot.datasets.catalog import DatasetRef
from blindspot.diagnostic import Diagnostic
from blindspot.encoders.base import EncoderFamily
from blindspot.encoders.catalog import encoder_of, model_alone, variant_named
from blindspot.errors import InputError
from blindspot.names import current
from blindspot.numerics.statistics.compare import PairedTest
from blindspot.numerics.statistics.intervals import ALPHA, Interval
from blindspot.numerics.statistics.written import CHANGE, DIFFERENCE, SCORE, ci_in_words, number, p_in_cell
from blindspot.references import ModelRef
from blindspot.runs import requesting
from blindspot.runs.comparison import ends, headline_tests
from blindspot.runs.requests import RunRequest
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.size.grid import entry_of
from blindspot.texts import counted, in_sentence

OWN, NONE = "its own", "none"  # prompts
# Each published with a model: E5, BGE, Nomic Embed, E5-Mistral, EmbeddingGemma.
PROMPTS = (
    "query: ",
    "Represent this sentence for searching relevant passages: ",
    "classification: ",
    "Instruct: Retrieve semantically similar text.\nQuery: ",
    "task: sentence similarity | query: ",
)
_REPLACED = {"layer=": ("layer=",), "prompt=": ("prompt=", "query_prompt=", "document_prompt=")}


class By(StrEnum):
    """What differs along a series."""

    LAYER = "layer"
    PROMPT = "prompt"


@dataclass(frozen=True)
class Member:
    """A way to read a model: its reference, and what differs, for people: ``4``, ``“query: ”``."""

    reference: str
    label: str


@dataclass(frozen=True)
class Ways:
    """The ways to read a model; ``itself`` is the index of the model as it was named."""

    model: str
    members: tuple[Member, ...]
    itself: int


def ways(by: By, model: str, settings: Settings, prompts: Sequence[str] = ()) -> Ways:
    """All layers of a model, or all its prompts: its own, no prompt, ``PROMPTS`` and the given ones.

    Args:
        prompts: the reader's, each put before every text.

    Raises:
        InputError: it has no layers, or takes no prompts; or as ``encoder_of``.
    """
    alone = model_alone(model)
    return _layers(alone, settings) if by is By.LAYER else _prompts(alone, settings, prompts)


def _layers(model: ModelRef, settings: Settings) -> Ways:
    first = encoder_of(with_parameter(model, "layer=", "0"), settings)
    if not isinstance(first, EncoderFamily):
        raise InputError(f"'{model}' has no layers", expected="a transformer in a folder or of the hub")
    members = tuple(Member(s.identity.reference, str(layer)) for layer, s in enumerate(first.family))
    return Ways(model, members, len(members) - 1)


def _prompts(model: ModelRef, settings: Settings, prompts: Sequence[str]) -> Ways:
    encoder = encoder_of(model, settings)
    has_own = bool(encoder.identity.prompt or encoder.info.role_prompts)
    every = dict.fromkeys([*([""] if has_own else []), *PROMPTS, *prompts])
    members = [Member(model, OWN if has_own else NONE)]
    for prompt in every:
        prompted = with_parameter(model, "prompt=", prompt)
        if prompted == model:  # named with it
            continue
        encoder_of(prompted, settings)
        members.append(Member(prompted, f"“{' '.join(prompt.split())}”" if prompt else NONE))
    return Ways(model, tuple(members), 0)


def with_parameter(model: ModelRef, parameter: str, value: str) -> ModelRef:
    """A model with another parameter (``layer=``, ``pooling=``); raises ``InputError`` if it takes none."""
    if len(model.models) > 1:
        raise InputError(f"'{model}' is several models", expected="one model, such as dir:PATH")
    if model.startswith("python:"):
        raise InputError(f"'{model}' is an object of a program", expected="a model by reference, such as dir:PATH")
    start = model.find("?", model.find("#") + 1)  # after an address on the web, which can have one too
    head, query = (model[:start], model[start + 1 :]) if start >= 0 else (model, "")
    kept = [part for part in query.split("&") if part and not part.startswith(_REPLACED.get(parameter, (parameter,)))]
    return variant_named(f"{head}?{'&'.join([*kept, parameter + quote(value, safe='')])}").encoder


def requests_of(
    every: Sequence[Ways], dataset: DatasetRef, settings: Settings, diagnostic: str = "", params: Mapping[str, str] = {}
) -> tuple[Diagnostic, tuple[RunRequest, ...]]:
    """The diagnostic (the first that fits if none is named) and the runs of all models, in order; raises
    ``InputError``."""
    entry = entry_of(dataset, diagnostic)
    references = list(dict.fromkeys(member.reference for models in every for member in models.members))
    return entry, tuple(
        requesting.request(entry.id, reference, "none", dataset, dict(params), settings) for reference in references
    )


@dataclass(frozen=True)
class Point:
    """A way to read a model, and its score.

    Attributes:
        interval: 95% interval of the score; None where it has none.
        test: of the score minus the model's own; its interval holds for all points at once. None for the model itself.
    """

    member: Member
    run: RunRecord
    value: float
    interval: Interval | None
    test: PairedTest | None


@dataclass(frozen=True)
class Series:
    """A model's points, as far as they are computed; ``itself`` is among them."""

    model: str
    points: tuple[Point, ...]
    itself: Point
    direction: int  # 1 where more is better, -1 where less is

    @property
    def best(self) -> Point:
        return max(self.points, key=lambda point: self.direction * point.value)

    @property
    def worst(self) -> Point:
        return min(self.points, key=lambda point: self.direction * point.value)

    @property
    def spread(self) -> float:
        return abs(self.best.value - self.worst.value)

    @property
    def name(self) -> str:
        return current().model(self.model)


@dataclass(frozen=True)
class Places:
    """A model's place among all, 1 for the best: one more than the number of better ones.

    Attributes:
        own: each model as it is.
        highest: with its best prompt, the others with their worst.
        lowest: with its worst prompt, the others with their best.
    """

    own: int
    highest: int
    lowest: int


@dataclass(frozen=True)
class SeriesView:
    """Series of some models by one score."""

    by: By
    entry: Diagnostic
    score: str
    series: tuple[Series, ...]

    @property
    def title(self) -> str:
        """The score for people."""
        return self.entry.title_of(self.score)

    def places(self, series: Series) -> Places:
        """Where a model can come among all by the choice of prompts alone."""
        others = [other for other in self.series if other is not series]

        def place(value: float, of: Sequence[float]) -> int:
            return 1 + sum(series.direction * other > series.direction * value for other in of)

        return Places(
            place(series.itself.value, [other.itself.value for other in others]),
            place(series.best.value, [other.worst.value for other in others]),
            place(series.worst.value, [other.best.value for other in others]),
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row per point, for tables."""
        return [
            {
                "model": series.name,
                self.by.value: point.member.label,
                self.title: point.value,
                **ends(point.interval),
                "difference": None if point.test is None else point.value - series.itself.value,
                "p (corrected)": p_of_one(point.test, len(series.points) - 1),
            }
            for series in self.series
            for point in series.points
        ]

    @property
    def in_words(self) -> tuple[str, ...]:
        """A sentence per model, and in a series of prompts one about its place."""
        return tuple(sentence for series in self.series for sentence in self._sentences(series))

    def _sentences(self, series: Series) -> list[str]:
        best, tried, score = series.best, len(series.points) - 1, in_sentence(self.title)
        changed = sum(is_significant(point.test, tried) for point in series.points)
        if not tried:
            return [f"{series.name}: nothing to compare with is computed yet."]
        if self.by is By.LAYER:
            end = "highest" if series.direction > 0 else "lowest"
            if best.test is not None and best.test.interval is None:  # the best of many without a name
                beginning = (
                    f"{series.name}: the {end} {score} of {tried + 1} layers is {number(best.value, SCORE)}, that"
                )
                model_itself = f"of the last layer, the model itself, {number(series.itself.value, SCORE)}"
                return [f"{beginning} {model_itself}; {sure(best.test, tried)}."]
            what = f"{series.name}: {score} is {end} at layer {best.member.label}, {number(best.value, SCORE)}"
            if best.test is None:
                others = f"{changed} of {counted(tried, 'other layer')} differ{'s' * (changed == 1)} significantly"
                text = f"{what}, the last one, which is the model itself; {others} from it"
                return [f"{text}{f' after correction for {tried}' * (tried > 1)}."]
            gain = number(best.value - series.itself.value, CHANGE)
            return [f"{what}: {gain} over the last layer, the model itself ({sure(best.test, tried)})."]
        least, most = (_end(point, series.itself) for point in (series.worst, best))
        text = f"{series.name}: {score} is from {least} to {most}, a spread of {number(series.spread, SCORE)}"
        text = f"{text}; {changed} of {counted(tried, 'prompt')} change{'s' * (changed == 1)} it significantly"
        out = [f"{text} after correction for {tried}."]
        if len(self.series) > 1:
            ranks = self.places(series)
            out.append(
                f"Among {len(self.series)} models it is in place {ranks.own} where each is as it is, {ranks.highest} "
                f"with its best prompt and the others' worst, {ranks.lowest} with its worst and the others' best; "
                "differences between models are not tested here."
            )
        return out

    def as_json(self) -> dict[str, Any]:
        return {
            "by": self.by.value,
            "diagnostic": self.entry.id,
            "score": self.score,
            "answer": list(self.in_words),
            "models": [
                {
                    "model": series.model,
                    "itself": series.itself.member.reference,
                    "best": series.best.member.reference,
                    "worst": series.worst.member.reference,
                    "spread": series.spread,
                    **({"places": vars(self.places(series))} if self.by is By.PROMPT and len(self.series) > 1 else {}),
                    "points": [
                        {
                            self.by.value: point.member.label,
                            "reference": point.member.reference,
                            "run_id": point.run.run_id,
                            "value": point.value,
                            **ends(point.interval),
                            "difference": point.value - series.itself.value,
                            "p_corrected": corrected(point.test, len(series.points) - 1),
                        }
                        for point in series.points
                    ],
                }
                for series in self.series
            ],
        }


def series_view(
    by: By, entry: Diagnostic, every: Sequence[Ways], runs: Mapping[str, RunRecord], repository: Repository
) -> SeriesView:
    """The series of all models that are themselves computed.

    Args:
        runs: finished ones by reference, on the same items.
    """
    lines, score = [], entry.headline
    for members_of in every:
        if members_of.members[members_of.itself].reference not in runs:
            continue
        base = runs[members_of.members[members_of.itself].reference]
        score = entry.headline_of(base.metrics)
        others = [
            m for number, m in enumerate(members_of.members) if number != members_of.itself and m.reference in runs
        ]
        pairs = [(runs[member.reference], base) for member in others]
        tests = headline_tests(entry, pairs, repository, at_once=max(1, len(pairs)))
        by_reference = {member.reference: test for member, test in zip(others, tests, strict=True)}
        points = []
        for index, member in enumerate(members_of.members):
            test = by_reference.get(member.reference)
            if test is not None:
                points.append(Point(member, runs[member.reference], test.a, test.a_interval, test))
            elif index == members_of.itself:
                interval = tests[0].b_interval if tests else None
                points.append(Point(member, base, base.metrics[score], interval, None))
        declared = entry.declared(score)
        direction = -1 if declared is not None and declared.higher_is_better is False else 1
        lines.append(Series(members_of.model, tuple(points), next(p for p in points if p.test is None), direction))
    return SeriesView(by, entry, score, tuple(lines))


def _end(point: Point, itself: Point) -> str:
    """The best or the worst value, with its label and how far it changes the model, for all at once; unnamed if the
    change has no interval."""
    value = number(point.value, SCORE)
    if point.test is None:
        return f"{value} ({point.member.label})"
    if point.test.interval is None:
        return value
    sure = ci_in_words(point.test, CHANGE, of=DIFFERENCE)
    return f"{value} ({point.member.label}: {number(point.value - itself.value, CHANGE)}, {sure})"


# --- one of several changes


def corrected(test: PairedTest | None, tried: int) -> float | None:
    """The p-value of one of ``tried`` changes, corrected for all (Bonferroni); None without a test."""
    return None if test is None or test.p is None else min(1.0, test.p * tried)


def p_of_one(test: PairedTest | None, tried: int) -> str:
    """``corrected`` for a table."""
    return "itself" if test is None else p_in_cell(corrected(test, tried), test.p)


def is_significant(test: PairedTest | None, tried: int) -> bool:
    """Whether a change is significant after correction for the ``tried`` ones."""
    p = corrected(test, tried)
    return p is not None and p < ALPHA


def sure(test: PairedTest | None, tried: int) -> str:
    """Interval, for all ``tried`` changes at once, and test of one that was chosen among them."""
    interval = ci_in_words(test, CHANGE, of=DIFFERENCE)
    if test is None or test.p is None:
        return interval or f"not tested{f': {test.refusal}' if test is not None and test.refusal else ''}"
    verdict = "significant" if is_significant(test, tried) else "not significant"
    among = f" after correction for {tried:,} changes" if tried > 1 else ""
    return f"{interval}; {verdict}{among}" if interval else f"{verdict}{among}"
