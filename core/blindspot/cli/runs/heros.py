"""Commands on runs of HEROS: orderings of rewrites, their sentences, and similar published encoders."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, RunId, finished_run, named, settings_and_store
from blindspot.datasets.catalog import title_of
from blindspot.diagnostics.heros import browsing, resemblance
from blindspot.diagnostics.heros.browsing import Above, Filter, Sentences, Where
from blindspot.diagnostics.heros.orderings import Cosines, finding_in_words
from blindspot.diagnostics.heros.published import SOURCE, SUBSETS
from blindspot.diagnostics.heros.view import orderings_view, sentences_view
from blindspot.errors import InputError, unknown
from blindspot.numerics.statistics.written import SCORE, interval, number, percent
from blindspot.runs.comparison import entry_of_both

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
    settings, repository = settings_and_store()
    runs = [repository.run(selected) for selected in (run_id, against) if selected is not None]
    if len(runs) > 1:
        entry_of_both(*runs)
    entry, _ = finished_run(runs[0].run_id, repository, "heros")
    rows = repository.items(entry, [run.run_id for run in runs], texts=True)
    sentences_found = browsing.sentences(rows, list(dict.fromkeys(rows["subset"])))
    above = _above(sentences_found, nearer, than)
    order = browsing.LARGEST if len(runs) > 1 else browsing.lead("A") if above else browsing.NUMBER
    view = sentences_view(sentences_found, runs, Filter(above=above, where=Where.ONLY_A))
    view = view.sorted_by(order, descending=order != browsing.NUMBER)
    if as_json:
        output.print_json(view.as_json(top))
        return
    output.use_names(settings, repository)
    labels, total, listed = [run.plan.variant.label for run in runs], len(sentences_found.numbers), view.rows
    where = f"in {labels[0]}" + (f", not in {labels[1]}" if len(runs) > 1 else "")
    share = f"{len(listed):,} of {total:,} originals ({percent(len(listed) / total, 1)})"
    output.print_text(f"{share}: {above[0]} {where}" if above else f"{total:,} originals")
    if listed.empty:
        return
    columns = {browsing.in_run("A", subset): subset for subset in sentences_found.subsets}
    if len(runs) > 1:
        columns = {name: name for name in browsing.DIFFERENCES}
    output.print_table(
        f"{' against '.join(labels)} on {title_of(runs[0].plan.dataset)}",
        ["no.", *columns.values(), "original"],
        [
            [row[browsing.NUMBER], *(output.cell(row[name], ".4g") for name in columns), row[browsing.ORIGINAL]]
            for row in listed.head(top).to_dict("records")
        ],
    )
    if len(listed) > top:
        output.print_text(f"First {top:,} of {len(listed):,}; --top N prints more.")


def _above(sentences_found: Sentences, nearer: str | None, than: str | None) -> tuple[Above, ...]:
    """The order that the options ask for; empty if both are left out.

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
        if subset not in sentences_found.subsets:
            raise unknown("subset", subset, sentences_found.subsets)
    if nearer == than:
        raise InputError(f"--nearer and --than are both {nearer}", expected="two different subsets")
    return (Above(nearer, than),)


SHOWN = 5  # nearest profiles in the table


def resembles(run_id: RunId, as_json: AsJson = False) -> None:
    """List the published profiles nearest to a HEROS run's, and the training group that they suggest."""
    settings, repository = settings_and_store()
    record = repository.run(run_id)
    resemblance_view = resemblance.of_run(record, repository)
    if as_json:
        output.print_json({"run_id": record.run_id, "dataset": record.plan.dataset} | resemblance_view.as_json())
        return
    output.use_names(settings, repository)
    where = title_of(record.plan.dataset)
    rows = [
        {"published encoder": n.profile.model, "training group": n.profile.group}
        | {"distance": number(n.distance, SCORE), "mean difference": number(n.mean_difference, SCORE)}
        | {subset: number(n.profile.means[subset], SCORE) for subset in SUBSETS}
        for n in resemblance_view.neighbors[:SHOWN]
    ]
    title = f"{record.plan.variant.label} on {where}: nearest of the 60 published profiles ({SOURCE})"
    output.print_rows(title, rows)
    output.print_text(*resemblance.in_words(resemblance_view, record.plan.variant.label))


def orderings(run_id: RunId, as_json: AsJson = False) -> None:
    """Print the share of originals of a HEROS run with each ordering, with 95% intervals, and of every two subsets."""
    settings, repository = settings_and_store()
    entry, record = finished_run(run_id, repository, "heros")
    rows = repository.items(entry, [record.run_id], texts=False)
    view = orderings_view(Cosines.of_rows(rows, repository.same_texts(record.plan.dataset_digest)))
    variant, cosines = record.plan.variant, view.cosines
    if as_json:
        output.print_json(named(record) | {"dataset": record.plan.dataset} | view.as_json(variant.label))
        return
    output.use_names(settings, repository)
    title = f"{variant.label} on {title_of(record.plan.dataset)}"
    dependence = cosines.dependence
    groups = "" if dependence.is_of_singles else f" ({dependence.independent})"
    if view.rates:
        output.print_rows(
            f"{title}: share of {cosines.originals:,} originals{groups} with this ordering, ties counting half",
            [
                {
                    "ordering": r.ordering,
                    "share": percent(r.share.value, 1),
                    "95% interval": interval(r.share.interval, ".1%"),
                }
                for r in view.rates
            ],
        )
    output.print_table(
        f"{title}: percentage of originals with the row's rewrite nearer than the column's",
        ["", *cosines.subsets],
        [
            [subset, *("–" if math.isnan(share) else percent(share, 1).removesuffix("%") for share in row)]
            for subset, row in zip(cosines.subsets, view.matrix.tolist(), strict=True)
        ],
    )
    if len(view.rates) < view.pairs:
        output.print_text(
            f"The first table lists {len(view.rates)} of {view.pairs} pairs of subsets, the second has all."
        )
    if view.worst:
        output.print_text(finding_in_words(view.worst, variant.label))
    output.print_limits([record.plan.dataset])
