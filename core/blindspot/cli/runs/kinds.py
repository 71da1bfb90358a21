"""Command ``runs kinds``: a run's scores by kind of pair or query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import pandas as pd
import typer

from blindspot.cli import output
from blindspot.cli.options import AsJson, RunId, finished_run, settings_and_store
from blindspot.cli.runs.evalrank import scored_pairs
from blindspot.datasets import fetch
from blindspot.datasets.catalog import DATASETS, SOURCES, title_of
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.evalrank import kinds as pairs
from blindspot.diagnostics.evalrank.definition import ENTRY as EVALRANK
from blindspot.diagnostics.evalrank.pairs import pair_table
from blindspot.diagnostics.evalrank.sources import PairSources, find_sources
from blindspot.diagnostics.evalrank.view import kinds_view as of_pairs_view
from blindspot.diagnostics.retrieval import kinds as queries
from blindspot.diagnostics.retrieval.definition import ENTRY as RETRIEVAL
from blindspot.diagnostics.retrieval.outcomes import query_table
from blindspot.diagnostics.retrieval.view import kinds_view as of_queries_view
from blindspot.errors import InputError, unknown
from blindspot.numerics.statistics.groups import FEW
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

KINDS: Mapping[str, Sequence[str]] = {
    "evalrank": list(pairs.Kind),
    "retrieval": [kind.replace(" ", "-") for kind in queries.Kind],
}
_HELP = (
    f"grouping, of pairs: {', '.join(KINDS['evalrank'])}; of queries: {', '.join(KINDS['retrieval'])}, or a column of "
    "your own file"
)


@dataclass(frozen=True)
class _Scores:
    """Scores by kind.

    Attributes:
        axis: how the kinds of each side differ, in words.
        rows: a record per kind, with NaN for a missing value.
        shown: the columns of the printed table; JSON has all.
        note: below the table.
        beside: further rankings by name, with records of the same columns.
    """

    axis: Mapping[str, str]
    rows: Sequence[Mapping[Any, Any]]
    shown: Sequence[str]
    note: str
    beside: Mapping[str, Sequence[Mapping[Any, Any]]] = field(default_factory=dict)


def kinds(
    run_id: RunId, by: Annotated[str, typer.Option(help=_HELP)] = pairs.Kind.OVERLAP, as_json: AsJson = False
) -> None:
    """Print the scores of a run of EvalRank or Retrieval by kind of pair or query, with 95% intervals."""
    settings, repository = settings_and_store()
    entry, record = finished_run(run_id, repository, *KINDS)
    columns = repository.own_columns(record.plan.dataset, record.plan.dataset_digest)
    of_pairs = entry is EVALRANK
    user_columns = (pairs if of_pairs else queries).choices_of(columns)
    kind = by if by in user_columns else by.replace("-", " ")
    if by not in user_columns and kind.replace(" ", "-") not in KINDS[entry.id]:
        raise unknown("grouping", by, [*KINDS[entry.id], *user_columns])
    view = (_of_pairs if of_pairs else _of_queries)(record, kind, user_columns, repository, settings)
    rows = _known(view.rows)
    if as_json:
        beside = {name: _known(others) for name, others in view.beside.items()}
        output.print_json({"run_id": record.run_id, "by": by, "axis": dict(view.axis), "kinds": rows, **beside})
        return
    output.use_names(settings, repository)
    output.print_table(
        f"{record.plan.variant.label} on {title_of(record.plan.dataset)}, by {'; '.join(view.axis.values())}",
        view.shown,
        [[output.cell(row[name]) for name in view.shown] for row in rows],
    )
    print(view.note)
    output.print_limits([record.plan.dataset])


def _known(rows: Sequence[Mapping[Any, Any]]) -> list[dict[Any, Any]]:
    """The records with None for NaN."""
    return [
        {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in rows
    ]


def _of_pairs(
    record: RunRecord, kind: str, user_columns: Mapping[str, OwnColumn], repository: Repository, settings: Settings
) -> _Scores:
    """MRR and Hits@1, raw and filtered."""
    table = pair_table(EVALRANK, [record.run_id], repository)
    of_sources = kind == pairs.Kind.SOURCE and kind not in user_columns
    sources = _sources(record, table.frame, settings) if of_sources else None
    groups = pairs.group_pairs(kind, table.frame, user_columns.get(kind), sources)
    raw, filtered = (of_pairs_view(table, groups, filtered=filtered)[record.run_id] for filtered in (False, True))
    both = raw.merge(filtered.drop(columns=["pairs", "independent"]), on=["side", "label"], suffixes=("", "_filtered"))
    note = f"Raw ranks; --json has the filtered ones too. Means over fewer than {FEW} pairs are unreliable."
    return _Scores(groups.axis, both.to_dict("records"), list(raw.columns), note)


def _sources(record: RunRecord, frame: pd.DataFrame, settings: Settings) -> PairSources:
    """The source sets of the pairs; ``InputError`` if the dataset has no known sources."""
    dataset = DATASETS.get(record.plan.dataset)
    if dataset is None or not dataset.sources:
        sources = ", ".join(d.id for d in DATASETS.values() if d.sources)
        raise InputError(f"the sources of the pairs of '{record.plan.dataset}' are unknown", expected=sources)
    scored = scored_pairs(SOURCES[dataset.sources], settings)
    return find_sources(frame["query"].tolist(), frame["match"].tolist(), scored)


def _of_queries(
    record: RunRecord, kind: str, user_columns: Mapping[str, OwnColumn], repository: Repository, settings: Settings
) -> _Scores:
    """Scores of queries, with BM25's beside them."""

    def features() -> queries.Features:
        dataset = fetch.load(record.plan.dataset.entry(), settings)
        if not isinstance(dataset, RetrievalDataset) or dataset.content_digest != record.plan.dataset_digest:
            raise InputError(
                f"'{record.plan.dataset}' has changed since run {record.run_id}", remedy="run it again, then ask again"
            )
        return queries.Features.of(dataset)

    table = query_table(RETRIEVAL, [record.run_id], repository)
    groups = queries.grouping_by(kind, user_columns, features, table.numbers)
    rows, keywords = of_queries_view(table, groups).values()
    shown = ["label", queries.UNIT, "independent", "ndcg@10", "ndcg@10_low", "ndcg@10_high"]
    note = f"--json has more scores, and those of BM25. Means over fewer than {FEW} queries are unreliable."
    return _Scores(groups.axis, rows, [*shown, "recall@100", "mrr@10", "hits@10"], note, {"bm25": keywords})
