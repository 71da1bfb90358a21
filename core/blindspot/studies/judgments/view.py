"""View of a set's votes: the same on the page and by the command ``judge results``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.intervals import Interval
from blindspot.numerics.statistics.written import p_in_cell
from blindspot.studies.judgments import scoring, verdict
from blindspot.studies.judgments.agreement import Agreement, agreement
from blindspot.studies.judgments.automatic import Automatic
from blindspot.studies.judgments.scoring import By, Group, PairTest, Scores, VariantScore
from blindspot.studies.judgments.tallies import Tally
from blindspot.studies.judgments.types import ItemSet
from blindspot.variants import Variant


@dataclass(frozen=True)
class ShareRow:
    """A model's shares of the votes of a group of items.

    Attributes:
        group: "" for all items.
        low, high: 95% interval of ``value``; None if there is none. Without votes, people's shares are None.
        automatic: what the automatic rater says; None if it was not asked.
        own: votes for the model's own option.
    """

    group: str
    variant: Variant
    value: float | None
    low: float | None
    high: float | None
    chance: float | None
    item_mean: float | None
    normalised: float | None
    micro: float | None
    automatic: float | None
    own: float
    votes: int
    items: int


@dataclass(frozen=True, eq=False)
class Results:
    """What people's votes say about a set's models.

    Attributes:
        tally: the votes that count.
        tests: of every two models.
        agreement: None if no item has two votes.
    """

    tally: Tally
    scores: Scores
    tests: tuple[PairTest, ...]
    agreement: Agreement | None

    def breakdown(self, by: By) -> tuple[Group, ...]:
        return scoring.breakdown(self.tally, by)

    def as_json(self, items: ItemSet, session: str | None, automatic: Automatic | None = None) -> dict[str, Any]:
        """The results as JSON: shares are fractions, undefined values None."""
        return {
            "set_id": items.set_id,
            "task": items.task,
            "title": items.title,
            "session": session,
            **_scores(self.scores),
            "repeated": self.tally.repeated,
            "tests": [
                {
                    "first": str(t.first),
                    "second": str(t.second),
                    "difference": t.difference,
                    "interval": _ends(t.interval),
                    "p": t.p_value,
                    "p_holm": t.p_corrected,
                    "compared": t.compared,
                    "left_out": t.left_out,
                    "queries": t.queries,
                    "population": t.population,
                    "why": t.refusal,
                }
                for t in self.tests
            ],
            "agreement": self.agreement and vars(self.agreement) | {"interval": _ends(self.agreement.interval)},
            "breakdown": {
                by: {group.name: _scores(group.scores) for group in self.breakdown(by)}
                for by in By
                if scoring.groups(items.items, by)
            },
            "automatic": automatic
            and {
                "reference": str(automatic.reference),
                "is_judged": automatic.is_judged,
                "unanswered": automatic.unanswered,
                "variants": [_score(s) for s in automatic.scores.variants],
            },
        }


def results_view(tally: Tally) -> Results:
    return Results(tally, scoring.scores(tally), scoring.pair_tests(tally), agreement(tally))


def share_rows(groups: Mapping[str, Scores], automatic: Automatic | None = None) -> list[ShareRow]:
    """A row per group and model; the group "" is of all items."""
    beside = {s.variant: s.value for s in automatic.scores.variants} if automatic else {}
    return [
        ShareRow(
            group,
            s.variant,
            s.value,
            s.headline.low if s.headline else None,
            s.headline.high if s.headline else None,
            s.chance,
            s.item_mean.value if s.item_mean else None,
            s.normalised.value if s.normalised else None,
            s.micro.value if s.micro else None,
            beside.get(s.variant),
            s.own,
            s.votes,
            s.items,
        )
        for group, scores in groups.items()
        for s in scores.variants
    ]


def rows_of_tests(tests: Sequence[PairTest], name: Callable[[Variant], str]) -> list[dict[str, object]]:
    """A row per test, for tables; a column of reasons only if a test lacks a verdict."""
    lacking = any(t.refusal for t in tests)
    return [
        {
            "A": name(t.first),
            "B": name(t.second),
            "A − B": t.difference,
            "from": t.interval.low if t.interval else None,
            "to": t.interval.high if t.interval else None,
            "p, Holm": p_in_cell(t.p_corrected, t.p_value),
            "p": p_in_cell(t.p_value),
            "compared": t.compared,
            "left out": t.left_out,
            **({"no verdict": t.refusal} if lacking else {}),
        }
        for t in tests
    ]


def _scores(scores: Scores) -> dict[str, Any]:
    named = ("items", "queries", "raters", "votes", "unknown", "population")
    return {name: getattr(scores, name) for name in named} | {"variants": [_score(s) for s in scores.variants]}


def _score(score: VariantScore) -> dict[str, Any]:
    return {
        "variant": str(score.variant),
        verdict.MEASURE[score.task].replace(" ", "_"): _estimate(score.headline),
        **{name: _estimate(getattr(score, name)) for name in ("micro", "item_mean", "normalised")},
        **{name: getattr(score, name) for name in ("chance", "own", "votes", "items", "queries")},
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any]:
    if estimate is None:
        return {"value": None, "interval": None, "why": ""}
    independent = {"unit": estimate.unit, "units": estimate.units}
    return {"value": estimate.value, "interval": _ends(estimate.interval), "why": estimate.refusal, **independent}


def _ends(interval: Interval | None) -> list[float] | None:
    return [interval.low, interval.high] if interval else None
