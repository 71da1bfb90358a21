"""Shares of each original in the scores of HEROS, and the orderings that one of two runs gets right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from blindspot.datasets.kinds.minimal_pairs import subset_in_words
from blindspot.diagnostics.heros.definition import ACCURACY, ENTRY, Meaning, meaning_of, picks, right_of
from blindspot.diagnostics.heros.orderings import Cosines, Ordering, against_meaning, listed_orderings
from blindspot.numerics.statistics.compare import ItemScores, Outcomes
from blindspot.runs.comparison import Change, Changes, largest
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Int64


def changed(first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
    """See ``blindspot.runs.comparison.ChangesOf``.

    An item is an original with a rewrite that keeps the meaning and one that changes it; its score is 1 where the kept
    one is nearer, 1/2 at a tie. Of equal gains, those with the largest change of the cosines' distance come first.
    """
    rows = repository.items(ENTRY, [first.run_id, second.run_id], texts=True)
    one, other = (rows[rows["run_id"] == run.run_id] for run in (first, second))
    a = Cosines.of_rows(one)
    b = Cosines.of_rows(other, a.subsets)
    orderings = [Ordering(o.far, o.near) for o in against_meaning(a.subsets)]
    if not orderings:
        return Changes("orderings", "has the right order", 0, 0, 0, ())
    gain = np.stack([a.outcomes(o) - b.outcomes(o) for o in orderings], axis=1)
    margin = np.stack([(a.of(o.near) - a.of(o.far)) - (b.of(o.near) - b.of(o.far)) for o in orderings], axis=1)
    # Cosines differ by 4 at most in this: far less than the step from one outcome to the next.
    places = largest((gain + np.where(gain != 0, margin, 0.0) / 100).ravel(), most)
    numbers = np.sort(one["item_no"].unique())
    texts = one.set_index(["item_no", "subset"])[["original", "rewrite"]]
    sides = {"sent_a": str(first.plan.variant), "sent_b": str(second.plan.variant)}
    found = []
    for place in np.concatenate(places).tolist():
        row, column = divmod(place, len(orderings))
        ordering, number = orderings[column], int(numbers[row])
        original, near = texts.loc[(number, ordering.near)]
        said = (
            ("original", original),
            (_words(ordering.near), near),
            (_words(ordering.far), texts.loc[(number, ordering.far)]["rewrite"]),
        )
        words = [_nearer(float(side.outcomes(ordering)[row]), ordering) for side in (a, b)]
        address = {"heros_view": "sentences", "original_no": str(number), **sides}
        found.append(Change(number, said, words[0], words[1], float(gain[row, column]), address))
    won, lost = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    return Changes("orderings", "has the right order", won, lost, gain.size - won - lost, tuple(found))


def _nearer(outcome: float, ordering: Ordering) -> str:
    return "tie" if outcome == 0.5 else f"{_words(ordering.near if outcome else ordering.far)} nearer"


def _words(subset: str) -> str:
    return subset_in_words(subset)


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``blindspot.runs.comparison.ItemScoresOf``; an item is an original."""
    rows = repository.items(ENTRY, [run.run_id for run in runs], texts=False)
    own = [rows[rows["run_id"] == run.run_id] for run in runs]
    cosines = [Cosines.of_rows(one) for one in own]
    known = cosines[0].dependence

    def texts(run: RunRecord, numbers: Int64) -> list[str]:
        one = repository.items(ENTRY, [run.run_id], texts=True).drop_duplicates("item_no").set_index("item_no")
        originals: list[str] = one["original"].loc[numbers.tolist()].tolist()
        return originals

    out = []
    for run, rows_of_run, of in zip(runs, own, cosines, strict=True):
        numbers = np.sort(rows_of_run["item_no"].unique()).astype(np.int64)
        dependence = known if len(numbers) == len(known.groups) else of.dependence
        place = (numbers, dependence, partial(texts, run, numbers))
        found = {}
        for ordering in listed_orderings(of.subsets):
            is_right = meaning_of(ordering.near) is Meaning.KEPT and meaning_of(ordering.far) is Meaning.CHANGED
            found[str(ordering)] = scores(
                ENTRY,
                str(ordering),
                f"{_words(ordering.near).capitalize()} nearer than {_words(ordering.far)}",
                of.outcomes(ordering),
                *place,
                statistic=Outcomes(),
                higher_is_better=True if is_right else None,
            )
        if right := right_of(of.subsets):  # several that share the first place share it
            parts = picks(of.values, of.subsets.index(right))
            found[ACCURACY] = scores(ENTRY, ACCURACY, "Right rewrite nearest of all", parts, *place, family=ACCURACY)
        out.append(found)
    return out
