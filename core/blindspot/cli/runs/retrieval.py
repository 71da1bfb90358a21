"""Kinds of query of a retrieval run, for ``runs kinds``."""

from __future__ import annotations

from blindspot.cli.runs.by_kind import KindsFound, kind_named
from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import Diagnostic
from blindspot.diagnostics.retrieval.kinds import UNIT, Features, Kind, choices_of, grouping_by
from blindspot.diagnostics.retrieval.outcomes import query_table
from blindspot.diagnostics.retrieval.view import kinds_view
from blindspot.errors import InputError
from blindspot.numerics.statistics.groups import FEW
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

SHOWN = ("label", UNIT, "independent", "ndcg@10", "ndcg@10_low", "ndcg@10_high", "recall@100", "mrr@10", "hits@10")
NOTE = f"--json has more scores, and those of BM25. Means over fewer than {FEW} queries are unreliable."


def kinds_of_query(
    record: RunRecord, entry: Diagnostic, by: str, repository: Repository, settings: Settings
) -> KindsFound:
    """Scores by kind of query, or by an own column of the file; those of BM25 beside them."""

    def features() -> Features:
        dataset = fetch.load(find_dataset(record.plan.dataset), settings)
        if not isinstance(dataset, RetrievalDataset) or dataset.content_digest != record.plan.dataset_digest:
            raise InputError(
                f"'{record.plan.dataset}' has changed since run {record.run_id}", remedy="run it again, then ask again"
            )
        return Features.of(dataset)

    table = query_table(entry, [record.run_id], repository)
    own = choices_of(repository.own_columns(record.plan.dataset, record.plan.dataset_digest))
    groups = grouping_by(by if by in own else kind_named(by, Kind), own, features, table.numbers)
    rows, keywords = kinds_view(table, groups).values()
    return KindsFound(groups.axis, rows, SHOWN, NOTE, {"bm25": keywords})
