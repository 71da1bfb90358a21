"""Shares of each example in the accuracy, and the examples that only one of two runs classifies right.

The runs are of Transfer or of Probing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.transfer.outcomes import outcomes
from blindspot.numerics.statistics.compare import ItemScores, Outcomes
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.outcomes import Outcome
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.comparison import Change, Changes, largest
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository


def _sides(a: RunRecord, b: RunRecord) -> dict[str, str]:
    """Of the page's address."""
    return {"transfer_a": str(a.plan.variant), "transfer_b": str(b.plan.variant)}


def changed(first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
    """See ``blindspot.runs.comparison.ChangesOf``.

    An item is a tested example, its score 1 where its class is found. What the loser was surest of comes first.
    """
    a, b = first.run_id, second.run_id
    tested = outcomes(find_diagnostic(first.plan.diagnostic), [a, b], repository)
    right = [tested.right(run_id) for run_id in (a, b)]
    gain = right[0].astype(np.float64) - right[1].astype(np.float64)
    sure = np.where(right[0], tested.probability[b], tested.probability[a])  # 0 to 1, of the wrong class
    found = []
    for place in np.concatenate(largest(gain * (1 + sure), most)).tolist():
        texts = [("text", tested.first[place])]
        if len(tested.second):
            texts.append(("second text", tested.second[place]))
        texts.append(("class", tested.classes[tested.labels[place]]))
        said = [tested.classes[tested.predicted[run_id][place]] for run_id in (a, b)]
        address = {
            "transfer_view": "items",
            **_sides(first, second),
            "outcome": str(Outcome.BROKEN if gain[place] > 0 else Outcome.FIXED),
            "example": str(int(tested.numbers[place])),
        }
        found.append(Change(int(tested.numbers[place]), tuple(texts), said[0], said[1], float(gain[place]), address))
    won, lost = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    return Changes("examples", "finds the right class", won, lost, len(gain) - won - lost, tuple(found))


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``blindspot.runs.comparison.ItemScoresOf``; an item is an example that all of the runs tested."""
    entry = find_diagnostic(runs[0].plan.diagnostic)
    tested = outcomes(entry, [run.run_id for run in runs], repository)
    order = np.argsort(tested.numbers)
    known = Dependence.of_groups(np.asarray(tested.groups)[order], Unit.EXAMPLES)
    numbers = np.asarray(tested.numbers, dtype=np.int64)[order]

    def texts() -> list[str]:
        return [str(tested.first[place]) for place in order.tolist()]

    def score(run: RunRecord) -> ItemScores:
        right = tested.right(run.run_id).astype(np.float64)[order]
        units = "" if known.is_of_singles else "groups of same texts"
        return scores(
            entry, entry.headline, "Accuracy", right, numbers, known, texts, statistic=Outcomes(), units=units
        )

    return [{entry.headline: score(run)} for run in runs]
