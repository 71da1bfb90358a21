"""Commands on runs of HEROS: orderings of rewrites, their sentences, and similar published encoders."""

from __future__ import annotations

import math
from typing import Annotated, Any

import pandas as pd
import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson
from blindspot.cli.runs.finished import RunId, finished_run, named
from blindspot.datasets.catalog import title_of
from blindspot.diagnostics.heros import browsing, resemblance
from blindspot.diagnostics.heros.browsing import Above, Filter, Sentences, Where
from blindspot.diagnostics.heros.orderings import (
    Cosines,
    Finding,
    Rate,
    finding_in_words,
    listed_orderings,
    rate,
    win_rates,
)
from blindspot.diagnostics.heros.orderings import worst as worst_order
from blindspot.diagnostics.heros.published import SOURCE, SUBSETS
from blindspot.diagnostics.heros.resemblance import Accuracy, Resemblance
from blindspot.errors import InputError, unknown
from blindspot.numerics.statistics.written import interval, percent
from blindspot.runs.comparison import entry_of_both
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

HerosRunId = Annotated[str, typer.Argument(help="run id of heros, or its beginning")]
TOP = 10


def sentences(
    run_id: HerosRunId,
    nearer: Annotated[str | None, typer.Option(help="only originals whose rewrite of this subset ...")] = None,
    than: Annotated[str | None, typer.Option(help="... is nearer than the rewrite of this subset")] = None,
    against: Annotated[str | None, typer.Option(help="another run: show where the two disagree most")] = None,
    top: Annotated[int, typer.Option(min=1, help="number of originals to print")] = TOP,
    as_json: AsJson = False,
) -> None:
    """List originals of a HEROS run with the similarity of each rewrite.

    --nearer X --than Y keeps those whose rewrite X is nearer than Y, largest gap first; otherwise they are in the
    dataset's order. --against keeps those with that order in the first run but not in the other, largest difference of
    a rewrite's similarities first.
    """
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    first = repository.run(run_id)
    second = None if against is None else repository.run(against)
    if second is not None:
        entry_of_both(first, second)
    entry, _ = finished_run(first.run_id, repository, "heros")
    runs = [first] if second is None else [first, second]
    rows = repository.items(entry, [run.run_id for run in runs], texts=True)
    found = browsing.sentences(rows, list(dict.fromkeys(rows["subset"])))
    above = _above(found, nearer, than)
    b = None if second is None else second.run_id
    described = browsing.described(found, first.run_id, b, above)
    keep = browsing.kept(found, Filter(above=above, where=Where.A if b is None else Where.ONLY_A), first.run_id, b)
    order = browsing.LARGEST if b is not None else browsing.lead("A") if above else browsing.NUMBER
    listed = browsing.in_order(described[keep], order, descending=order != browsing.NUMBER)
    if as_json:
        output.print_json(_sentences_json(found, listed, runs, above, top))
        return
    output.use_names(settings, repository)
    _print(found, listed, runs, above, top)


def _above(found: Sentences, nearer: str | None, than: str | None) -> tuple[Above, ...]:
    """The requested order; empty if both are left out.

    Raises:
        InputError: one of the two is missing or not a subset of the dataset, or both are the same.
    """
    if nearer is None and than is None:
        return ()
    if nearer is None or than is None:
        raise InputError(
            "--nearer and --than need each other", expected="both, for example --nearer antonym --than synonym"
        )
    for subset in (nearer, than):
        if subset not in found.subsets:
            raise unknown("subset", subset, found.subsets)
    if nearer == than:
        raise InputError(f"--nearer and --than are both {nearer}", expected="two different subsets")
    return (Above(nearer, than),)


def _sentences_json(
    found: Sentences, listed: pd.DataFrame, runs: list[RunRecord], above: tuple[Above, ...], top: int
) -> dict[str, Any]:
    def rewrite(place: int, i: int) -> dict[str, Any]:
        names = ("similarity", "similarity_against")
        values = {name: float(found.similarity[run.run_id][place, i]) for name, run in zip(names, runs, strict=False)}
        return {"text": found.rewrites[place][i]} | values

    out = []
    for row in listed.head(top).to_dict("records"):
        place = found.place(int(row[browsing.NUMBER]))
        if place is None:
            raise RuntimeError(f"original {row[browsing.NUMBER]} is not in its own table")
        one: dict[str, Any] = {"item_no": int(row[browsing.NUMBER]), "original": row[browsing.ORIGINAL]}
        one["rewrites"] = {subset: rewrite(place, i) for i, subset in enumerate(found.subsets)}
        if len(runs) > 1:
            one["largest_difference"] = float(row[browsing.LARGEST])
            one["differs_most_in"] = row[browsing.DIFFERS_IN]
            one["orders_that_differ"] = float(row[browsing.TURNED])
        out.append(one)
    return {
        "run_id": runs[0].run_id,
        "against": runs[1].run_id if len(runs) > 1 else None,
        "dataset": runs[0].plan.dataset,
        "nearer": above[0].nearer if above else None,
        "than": above[0].farther if above else None,
        "originals": len(found.numbers),
        "found": len(listed),
        "sentences": out,
    }


def _print(found: Sentences, listed: pd.DataFrame, runs: list[RunRecord], above: tuple[Above, ...], top: int) -> None:
    total = len(found.numbers)
    labels = [run.plan.variant.label for run in runs]
    conditions = [f"{order} in {labels[0]}" + (f", not in {labels[1]}" if len(runs) > 1 else "") for order in above]
    share = f"{len(listed):,} of {total:,} originals ({len(listed) / total:.1%})"
    output.print_text(f"{share}: {'; '.join(conditions)}" if conditions else f"{total:,} originals")
    if listed.empty:
        return
    if len(runs) == 1:
        columns = {browsing.in_run("A", subset): subset for subset in found.subsets}
    else:
        columns = {name: name for name in (browsing.LARGEST, browsing.DIFFERS_IN, browsing.TURNED)}
    output.print_table(
        f"{' against '.join(labels)} on {title_of(runs[0].plan.dataset)}",
        ["no.", *columns.values(), "original"],
        [
            [row[browsing.NUMBER], *(_shown(row[name]) for name in columns), row[browsing.ORIGINAL]]
            for row in listed.head(top).to_dict("records")
        ],
    )
    if len(listed) > top:
        output.print_text(f"First {top:,} of {len(listed):,}; --top N prints more.")


def _shown(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "–" if math.isnan(value) else f"{value:.4g}"


SHOWN = 5  # nearest profiles in the table


def resembles(run_id: RunId, as_json: AsJson = False) -> None:
    """List the published profiles nearest to a HEROS run's, and the training group that they suggest."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    record = repository.run(run_id)
    found = resemblance.of_run(record, repository)
    if as_json:
        output.print_json({"run_id": record.run_id, "dataset": record.plan.dataset} | _resemblance_json(found))
        return
    output.use_names(settings, repository)
    where = title_of(record.plan.dataset)
    output.print_table(
        f"{record.plan.variant.label} on {where}: nearest of the 60 published profiles ({SOURCE})",
        ["published encoder", "training group", "distance", "mean difference", *SUBSETS],
        [
            (
                n.profile.model,
                n.profile.group,
                f"{n.distance:.4f}",
                f"{n.mean_difference:.4f}",
                *(f"{n.profile.means[subset]:.3f}" for subset in SUBSETS),
            )
            for n in found.neighbors[:SHOWN]
        ],
    )
    for sentence in resemblance.in_words(found, record.plan.variant.label):
        print(sentence)


def _resemblance_json(found: Resemblance) -> dict[str, Any]:
    trust = resemblance.published_reliability()
    vote = found.vote
    return {
        "profile": dict(zip(SUBSETS, found.means.tolist(), strict=True)),
        "nearest": [
            {
                "model": n.profile.model,
                "group": n.profile.group,
                "figure": n.profile.figure,
                "block": n.profile.block,
                "distance": n.distance,
                "mean_difference": n.mean_difference,
            }
            for n in found.neighbors
        ],
        "resembles_none": vote is None,
        "far": trust.far,
        "guess": None if vote is None else {"group": vote.group, "votes": vote.votes, "voters": vote.voters},
        "accuracy": {
            "leave_one_out": _accuracy(trust.leave_one_out),
            "nested": _accuracy(trust.nested),
            "leave_one_family_out": _accuracy(trust.leave_one_family_out),
            "majority": _accuracy(trust.majority) | {"group": trust.largest_group},
            "leave_one_out_by_votes": {str(votes): _accuracy(one) for votes, one in trust.by_votes.items()},
        },
    }


def _accuracy(accuracy: Accuracy) -> dict[str, Any]:
    interval = accuracy.interval
    return {
        "right": accuracy.right,
        "n": accuracy.n,
        "share": accuracy.share,
        "low": interval.low,
        "high": interval.high,
    }


def orderings(run_id: RunId, as_json: AsJson = False) -> None:
    """Print the share of originals of a HEROS run with each ordering, with 95% intervals, and of every two subsets."""
    settings = Settings.from_environment()
    repository = Repository.at(settings.store)
    entry, record = finished_run(run_id, repository, "heros")
    cosines = Cosines.of_rows(repository.items(entry, [record.run_id], texts=False))
    rates = [rate(cosines, ordering) for ordering in listed_orderings(cosines.subsets)]
    pairs = math.comb(len(cosines.subsets), 2)
    matrix = [[None if math.isnan(share) else float(share) for share in row] for row in win_rates(cosines)]
    worst = worst_order(cosines)
    variant = record.plan.variant
    if as_json:
        output.print_json(
            named(record)
            | {"dataset": record.plan.dataset, "originals": cosines.originals}
            | {"orderings": [_rate_json(r) for r in rates]}
            | {"matrix": {"subsets": list(cosines.subsets), "row_nearer_than_column": matrix}}
            | {"headline": None if worst is None else _finding_json(worst, variant.label)}
        )
        return
    output.use_names(settings, repository)
    title = f"{variant.label} on {title_of(record.plan.dataset)}"
    known = cosines.dependence
    groups = "" if known.is_of_singles else f" ({known.independent})"
    if rates:
        output.print_table(
            f"{title}: share of {cosines.originals:,} originals{groups} with this ordering, ties counting half",
            ["ordering", "share", "95% interval"],
            [[str(r.ordering), f"{r.share.value:.4f}", interval(r.share.interval, ".4f")] for r in rates],
        )
    output.print_table(
        f"{title}: percentage of originals with the row's rewrite nearer than the column's",
        ["", *cosines.subsets],
        [
            [subset, *("–" if share is None else percent(share, 1).removesuffix("%") for share in row)]
            for subset, row in zip(cosines.subsets, matrix, strict=True)
        ],
    )
    if len(rates) < pairs:
        output.print_text(f"The first table lists {len(rates)} of {pairs} pairs of subsets, the second has all.")
    if worst:
        output.print_text(finding_in_words(worst, variant.label))
    output.print_limits([record.plan.dataset])


def _rate_json(rate: Rate) -> dict[str, Any]:
    pair = {"ordering": str(rate.ordering), "near": rate.ordering.near, "far": rate.ordering.far}
    return pair | {"rate": rate.share.value, "low": rate.share.low, "high": rate.share.high}


def _finding_json(worst: Finding, variant: str) -> dict[str, Any]:
    said = {"reading": worst.reading.value, "text": finding_in_words(worst, variant)}
    return _rate_json(worst.rate) | {"out_of": worst.out_of} | said
