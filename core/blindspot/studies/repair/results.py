"""Report of a repair: measures before and after, the verdict, and the file it is kept in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from blindspot.datasets.catalog import title_of
from blindspot.numerics.statistics.estimate import check_is_inside
from blindspot.numerics.statistics.intervals import ALPHA, Interval
from blindspot.numerics.statistics.tolerance import TOLERATED
from blindspot.numerics.statistics.written import SCORE, ci, number, p_in_cell, percent
from blindspot.texts import counted

VERSION = 2  # of the file
CHANCE = 0.5  # of an order of two


class Part(StrEnum):
    """What a measure says."""

    HELD_OUT = "held out"  # same kind of triplets as were trained on
    KINDS = "other kinds of change"
    DAMAGE = "damage"


class Worth(StrEnum):
    WORTH = "worth it"
    NOT_WORTH = "not worth it"
    OPEN = "undecided"


@dataclass(frozen=True)
class Ends:
    """A difference with its 95% interval; without ends where too little is independent, and ``refusal`` says why."""

    value: float
    low: float | None = None
    high: float | None = None
    refusal: str = ""

    def __post_init__(self) -> None:
        check_is_inside(self.value, self.interval)

    @property
    def interval(self) -> Interval | None:
        return None if self.low is None or self.high is None else Interval(self.low, self.high)

    @property
    def is_gain(self) -> bool:
        """Whether it is above zero by more than its interval."""
        return self.low is not None and self.low > 0

    def in_words(self, spec: str) -> str:
        """``+32.8 points (95% CI +12.9 to +52.8 points)``; ``spec`` is that of the scores."""
        return f"{number(self.value, f'+{spec}')}{ci(self.interval, f'+{spec}')}"


@dataclass(frozen=True)
class Measure:
    """A score under the model alone, the repair, and what it is compared with.

    Attributes:
        kind: of negatives, or "" for all; of damage the score's title.
        items: that the interval is over; ``unit``: what these are, in the plural.
        before, after: of the model alone, and of the repair.
        random, shuffled: means over the seeds; None where not measured.
        change: after less before.
        over_random, over_shuffled: after less these.
        p: of no change; None without a test. ``p_corrected``: after Holm over other kinds and damage.
        counts: whether a loss counts in the verdict.
    """

    part: Part
    dataset: str
    kind: str
    items: int
    unit: str
    before: float
    after: float
    change: Ends
    random: float | None = None
    shuffled: float | None = None
    over_random: Ends | None = None
    over_shuffled: Ends | None = None
    p: float | None = None
    p_corrected: float | None = None
    counts: bool = True

    @property
    def title(self) -> str:
        name = title_of(self.dataset)
        if self.part is Part.HELD_OUT:
            name = f"{name}, held out"
        return f"{name}: {self.kind}" if self.kind else name

    @property
    def spec(self) -> str:
        """Format of the score: triplets that are right and neighbors that are kept are shares."""
        return SCORE if self.part is Part.DAMAGE and self.counts else ".1%"

    @property
    def cells(self) -> dict[str, str | None]:
        """The scores and their changes for a table, None for what was not measured."""
        scores = {"before": self.before, "after": self.after, "random": self.random, "shuffled": self.shuffled}
        changes = {"change": self.change, "over random": self.over_random, "over shuffled": self.over_shuffled}
        return {
            **{name: None if value is None else number(value, self.spec) for name, value in scores.items()},
            **{name: None if change is None else change.in_words(self.spec) for name, change in changes.items()},
        }

    def loses(self, tolerated: float) -> bool:
        """Whether it is significantly lower than before, by more than is tolerated."""
        return self.p_corrected is not None and self.p_corrected < ALPHA and self.change.value < -tolerated

    def may_lose(self, tolerated: float) -> bool:
        """Whether a loss of more than is tolerated is not ruled out."""
        return self.change.low is None or self.change.low < -tolerated


@dataclass(frozen=True)
class Report:
    """A repair and what it does.

    Attributes:
        kinds: of negatives that it was trained on; all if empty.
        chain: the transform that applies it, ``repair:ID``.
        steps: of training, after which it was kept; ``moved``: how far it is from doing nothing.
        trained, stopped, tested: numbers of triplets.
        model_digest, data_digest, dataset_digest: of the model, the triplets and the dataset.
        measures: the held-out triplets as a whole come first.
        made: time, as ISO 8601.
    """

    encoder: str
    dataset: str
    method: str
    rank: int
    keep: float
    seed: int
    kinds: tuple[str, ...]
    chain: str
    dimension: int
    steps: int
    moved: float
    trained: int
    stopped: int
    tested: int
    components: int
    left_out: Mapping[str, int]
    measures: tuple[Measure, ...]
    tested_on: tuple[str, ...]
    not_tested: Mapping[str, str]
    model_digest: str
    data_digest: str
    dataset_digest: str
    seeds: Mapping[str, int] = field(default_factory=dict)
    warning: str = ""
    made: str = ""
    seconds: float = 0.0

    @property
    def held_out(self) -> Measure:
        return self.measures[0]

    def of(self, part: Part) -> list[Measure]:
        return [measure for measure in self.measures if measure.part is part]

    @property
    def rows(self) -> list[dict[str, object]]:
        """A row per measure, part by part, for tables."""
        return [
            {
                "measured on": measure.title,
                "n": f"{measure.items:,} {measure.unit}",
                **{name: cells[name] for name in ("before", "after", "change")},
                "p (Holm)": "" if measure.p_corrected is None else p_in_cell(measure.p_corrected, measure.p),
                **{name: cells[name] for name in ("over random", "over shuffled", "random", "shuffled")},
            }
            for part in Part
            for measure in self.of(part)
            for cells in [measure.cells]
        ]

    @property
    def gains(self) -> bool:
        """Whether more held-out triplets are right than under the model, random maps and shuffled labels."""
        first = self.held_out
        compared = (first.change, first.over_random, first.over_shuffled)
        return all(comparison is not None and comparison.is_gain for comparison in compared)

    def losing(self, tolerated: float = TOLERATED) -> list[Measure]:
        """Measures elsewhere that lose more than is tolerated, the largest loss first."""
        losing = [
            measure
            for measure in self.measures
            if measure.part is not Part.HELD_OUT and measure.counts and measure.loses(tolerated)
        ]
        return sorted(losing, key=lambda measure: measure.change.value)

    def unsure(self, tolerated: float = TOLERATED) -> list[Measure]:
        """Measures elsewhere of which a larger loss is neither shown nor ruled out."""
        elsewhere = [measure for measure in self.measures if measure.part is not Part.HELD_OUT and measure.counts]
        return [measure for measure in elsewhere if measure.may_lose(tolerated) and not measure.loses(tolerated)]

    def verdict(self, tolerated: float = TOLERATED) -> Worth:
        if not self.gains or self.losing(tolerated):
            return Worth.NOT_WORTH
        elsewhere = [measure for measure in self.measures if measure.part is not Part.HELD_OUT and measure.counts]
        return Worth.OPEN if self.unsure(tolerated) or not elsewhere else Worth.WORTH

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, **asdict(self)}

    def judged(self, tolerated: float) -> dict[str, Any]:
        """The file's content with the verdict and its reasons."""
        return {
            **self.to_json(),
            "verdict": self.verdict(tolerated),
            "tolerance": tolerated,
            "gains": self.gains,
            "answer": list(answer(self, tolerated)),
        }

    @classmethod
    def of_json(cls, facts: Mapping[str, Any]) -> Report:
        """Raises ``ValueError``, ``KeyError`` or ``TypeError`` for what is no report of this version."""
        content = dict(facts)
        if content.pop("version") != VERSION:
            raise ValueError("another version")
        measures = tuple(_measure(fields) for fields in content.pop("measures"))
        kinds, tested_on = (tuple(content.pop(name)) for name in ("kinds", "tested_on"))
        return cls(**content, measures=measures, kinds=kinds, tested_on=tested_on)


def _measure(facts: Mapping[str, Any]) -> Measure:
    content = dict(facts)
    for name in ("change", "over_random", "over_shuffled"):
        content[name] = None if content[name] is None else Ends(**content[name])
    return Measure(**{**content, "part": Part(content["part"])})


# --- in words


def answer(report: Report, tolerated: float = TOLERATED) -> tuple[str, ...]:
    """Sentences: the verdict and why, the gain against what it is compared with, and the damage."""
    verdict = report.verdict(tolerated)
    if not report.moved:
        return (
            f"{verdict.value.capitalize()}: nothing was learned that holds for other texts. Training only raised the "
            "loss on the triplets that decide when to stop, so the map leaves vectors as they are.",
            f"Of {report.held_out.items:,} held-out triplets {number(report.held_out.before, '.1%')} are right.",
        )
    return (_verdict(report, verdict, tolerated), *_gain(report), *_losses(report, tolerated))


def _verdict(report: Report, verdict: Worth, tolerated: float) -> str:
    title = verdict.value.capitalize()
    if verdict is Worth.WORTH:
        return f"{title}: more held-out triplets are right, and nothing measured loses more than {tolerated:g}."
    if not report.gains:
        return f"{title}: no gain is shown on held-out triplets."
    if losing := report.losing(tolerated):
        lose = f"{counted(len(losing), 'score')} elsewhere {'loses' if len(losing) == 1 else 'lose'}"
        return f"{title}: more held-out triplets are right, but {lose} more than {tolerated:g}."
    if not report.unsure(tolerated):
        return f"{title}: more held-out triplets are right; nothing else was measured."
    return (
        f"{title}: more held-out triplets are right, but a loss of more than {tolerated:g} elsewhere is not ruled out."
    )


def _gain(report: Report) -> list[str]:
    first = report.held_out
    out = [
        f"Of {first.items:,} held-out triplets {number(first.after, '.1%')} are right, {number(first.before, '.1%')} "
        f"before: {first.change.in_words(first.spec)}."
    ]
    if first.random is not None and first.shuffled is not None:
        out.append(
            f"Random maps of the same size get {number(first.random, '.1%')} right, training on shuffled labels "
            f"{number(first.shuffled, '.1%')}."
        )
        if first.before < CHANCE:
            both = ", and so is the repair" if first.after < CHANCE else ""
            out.append(
                f"The model alone is below chance (50%){both}. Anything that scrambles its vectors gains there, so "
                "only the gain over these two counts."
            )
    compared = (("random maps", first.over_random), ("shuffled labels", first.over_shuffled))
    gains = [f"{change.in_words(first.spec)} over {name}" for name, change in compared if change is not None]
    return [*out, f"The repair gains {' and '.join(gains)}."] if gains else out


def _losses(report: Report, tolerated: float) -> list[str]:
    kept = [
        f"{measure.title}, {percent(measure.after, 1)} ({percent(measure.random, 1)} under random maps)."
        for measure in report.measures
        if not measure.counts and measure.random is not None
    ]
    losing = report.losing(tolerated)
    if not losing:
        unsure = report.unsure(tolerated)
        return [f"Not ruled out: {_listed(unsure)}.", *kept] if unsure else kept
    return [f"Significant losses of more than {tolerated:g}: {_listed(losing)}.", *kept]


def _listed(measures: Sequence[Measure], most: int = 4) -> str:
    losses = [f"{measure.title} {measure.change.in_words(measure.spec)}" for measure in measures[:most]]
    more = len(measures) - most
    return "; ".join([*losses, f"{more} more"] if more > 0 else losses)
