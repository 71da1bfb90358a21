"""Shares of each example in the accuracy, of Transfer or of Probing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer.outcomes import outcomes
from blindspot.numerics.statistics.compare import Item, ItemScores, Outcomes
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``Diagnostic.item_scores``; an item is an example that all of the runs tested."""
    entry = find_diagnostic(runs[0].plan.diagnostic)
    tested = outcomes(entry, [run.run_id for run in runs], repository)
    units = "" if tested.known.is_of_singles or len(tested.second) else "groups of same texts"

    def item(run: RunRecord, index: int) -> Item:
        two = (("second text", str(tested.second[index])),) if len(tested.second) else ()
        gold, predicted = tested.labels[index], tested.predicted[run.run_id][index]
        return Item(
            (("text", str(tested.first[index])), *two, ("class", tested.classes[gold])), tested.classes[predicted]
        )

    def score(run: RunRecord) -> ItemScores:
        return scores(
            entry,
            entry.headline,
            "Accuracy",
            tested.right(run.run_id).astype(np.float64),
            tested.numbers,
            tested.known,
            lambda: [str(text) for text in tested.first],
            statistic=Outcomes(),
            units=units,
            describe=partial(item, run),
        )

    return [{entry.headline: score(run)} for run in runs]
