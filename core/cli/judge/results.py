"""``python -m core judge results``: what the votes on a set say."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from core.cli import output
from core.cli.options import AsJson
from core.datasets import catalog as datasets
from core.datasets import fetch
from core.encoders import catalog as encoders
from core.errors import InputError, unknown
from core.numerics.statistics.intervals import Interval
from core.runs import pipeline
from core.runs.pipeline import EncodeRequest
from core.runs.spaces import open_spaces
from core.settings import Settings
from core.store.repository import Repository
from core.studies.judgement import scoring, verdict
from core.studies.judgement.agreement import Agreement, agreement
from core.studies.judgement.automatic import Automatic, answer
from core.studies.judgement.scoring import By, Estimate, PairTest, Scores, VariantScore
from core.studies.judgement.store import Judgements
from core.studies.judgement.tallies import Tally, tally
from core.studies.judgement.types import ItemSet
from core.transforms.chain import TransformChain
from core.types import Variant


def results(
    items_of: Annotated[str, typer.Argument(metavar="SET", help="id of a set of items, or its beginning")],
    session: Annotated[str | None, typer.Option(help='votes of this session only; "" for those outside of any')] = None,
    reference: Annotated[
        str | None, typer.Option(help="encoder, or ENCODER~TRANSFORM, that an automatic rater goes by")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Precision or win ratio per variant with intervals, tests, agreement; an automatic rater beside."""
    settings = Settings.from_environment()
    store = Judgements.at(settings.store)
    items = store.find_set(store.named(items_of).set_id)
    if items is None:
        raise InputError(f"the set '{items_of}' was removed meanwhile", remedy="'python -m core judge list' lists sets")
    if session is not None:
        _check_session(store, items.set_id, session)
    counted = tally(items, store.votes(items.set_id, session))
    automatic = _automatic(items, reference, settings) if reference is not None else None
    found, tests, agreed = scoring.scores(counted), scoring.pair_tests(counted), agreement(counted)
    if as_json:
        output.print_json(_described(items, session, counted, found, tests, agreed, automatic))
        return
    _print(items, counted, found, tests, agreed, automatic)


def _check_session(store: Judgements, set_id: str, session: str) -> None:
    known = {s.name for s in store.sessions() if set_id in s.sets.values()} | set(store.sessions_with_votes(set_id))
    if session and session not in known:
        raise unknown("session", session, known - {""})


def _automatic(items: ItemSet, reference: str, settings: Settings) -> Automatic:
    asked = Variant.parse(reference)
    variant = Variant(encoders.canonical(asked.encoder), str(TransformChain.parse(asked.transform)))
    entry = datasets.find(str(items.manifest.get("dataset", "")))
    request = EncodeRequest(variant.encoder, entry.id)
    with output.progress(request.label) as progress:
        pipeline.encode(request, settings, Repository.at(settings.store), progress)
    (space,) = open_spaces([variant], fetch.load(entry, settings), settings)
    return answer(items, space)


# --- JSON: shares are fractions, what is undefined is null


def _described(
    items: ItemSet,
    session: str | None,
    counted: Tally,
    found: Scores,
    tests: tuple[PairTest, ...],
    agreed: Agreement | None,
    automatic: Automatic | None,
) -> dict[str, Any]:
    return {
        "set_id": items.set_id,
        "task": items.task.value,
        "title": items.title,
        "session": session,
        **_scores(found),
        "repeated": counted.repeated,
        "tests": [
            {
                "first": str(t.first),
                "second": str(t.second),
                "difference": t.difference,
                "interval": _interval(t.interval),
                "p": t.p_value,
                "p_holm": t.p_corrected,
                "compared": t.compared,
                "left_out": t.left_out,
                "queries": t.queries,
                "population": t.population.value,
                "why": t.refusal,
            }
            for t in tests
        ],
        "agreement": agreed
        and {
            "items": agreed.items,
            "observed": agreed.observed,
            "by_chance": agreed.by_chance,
            "kappa": agreed.kappa,
            "interval": _interval(agreed.interval),
        },
        "breakdown": {
            by.value: {group.name: _scores(group.scores) for group in scoring.breakdown(counted, by)}
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


def _scores(found: Scores) -> dict[str, Any]:
    return {
        "items": found.items,
        "queries": found.queries,
        "raters": found.raters,
        "votes": found.votes,
        "unknown": found.unknown,
        "population": found.population.value,
        "variants": [_score(s) for s in found.variants],
    }


def _score(score: VariantScore) -> dict[str, Any]:
    return {
        "variant": str(score.variant),
        verdict.MEASURE[score.task].replace(" ", "_"): _estimate(score.headline),
        "micro": _estimate(score.micro),
        "item_mean": _estimate(score.item_mean),
        "normalised": _estimate(score.normalised),
        "chance": score.chance,
        "own": score.own,
        "votes": score.votes,
        "items": score.items,
        "queries": score.queries,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "interval": _interval(estimate.interval), "why": estimate.refusal}


def _interval(interval: Interval | None) -> list[float] | None:
    return [interval.low, interval.high] if interval else None


# --- text


def _print(
    items: ItemSet,
    counted: Tally,
    found: Scores,
    tests: tuple[PairTest, ...],
    agreed: Agreement | None,
    automatic: Automatic | None,
) -> None:
    measure = verdict.MEASURE[items.task]
    beside = {s.variant: s.headline.value for s in automatic.scores.variants} if automatic else {}
    output.print_table(
        f"{items.title} ({items.set_id}, {items.task.value})",
        ["variant", measure, "95%", "guessing", "for its own", "votes", "items", *(["automatic"] if automatic else [])],
        [
            [
                s.variant.label,
                _percent(s.headline.value),
                _between(s.headline.interval),
                _percent(s.chance),
                f"{s.own:g}",
                f"{s.votes:,}",
                f"{s.items:,}",
                *([_percent(beside[s.variant])] if automatic else []),
            ]
            for s in found.variants
        ],
    )
    if tests:
        output.print_table(
            "Tests of the difference, clustered by queries and raters",
            ["A", "B", "A - B", "95%", "p, Holm", "p", "compared", "left out"],
            [
                [
                    t.first.label,
                    t.second.label,
                    "–" if t.difference is None else f"{100 * t.difference:+.1f}",
                    "–" if t.interval is None else f"{100 * t.interval.low:+.1f} to {100 * t.interval.high:+.1f}",
                    *("–" if p is None else f"{p:.2g}" for p in (t.p_corrected, t.p_value)),
                    f"{t.compared:,}",
                    f"{t.left_out:,}",
                ]
                for t in tests
            ],
        )
    output.print_text(
        f"{found.votes:,} votes of {found.raters:,} raters on {found.items:,} of {len(items.items):,} items; "
        f'{found.unknown:,} times "I don\'t know these words", left out'
        + (f"; {counted.repeated:,} second answers in another session, left out." if counted.repeated else ".")
    )
    if said := verdict.headline(found, tests, lambda v: v.label):
        output.print_text(said)
        output.print_text(verdict.intervals(found).removeprefix("Bars: "))
        output.print_text(verdict.agreement_in_words(agreed))
    if automatic:
        judged = "; it is itself judged here, and judges its own neighbours" if automatic.is_judged else ""
        output.print_text(
            f"Automatic rater: goes by {automatic.reference.label}{judged}; "
            f"{automatic.unanswered:,} items could not be answered."
        )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _between(interval: Interval | None) -> str:
    return "–" if interval is None else f"{interval.low:.1%} to {interval.high:.1%}"
