"""A against B: how much of either space is about frequency; neither more nor less is better, so nothing is tested."""

from __future__ import annotations

from collections.abc import Sequence

from blindspot.diagnostics.frequency.definition import ENTRY
from blindspot.runs.comparison import Difference
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def difference(
    pairs: Sequence[tuple[RunRecord, RunRecord]],
    repository: Repository,  # noqa: ARG001 - all is in the scores
) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``."""
    return [
        Difference.untested(
            ENTRY,
            ENTRY.headline,
            "Words told to be frequent or rare",
            a.metrics[ENTRY.headline],
            b.metrics[ENTRY.headline],
            int(a.coverage["items_covered"]),
            "words",
            "neither more nor less is better",
        )
        for a, b in pairs
    ]
