"""Shares of each original in the scores of HEROS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
import pandas as pd

from blindspot.datasets.kinds.minimal_pairs import subset_in_words
from blindspot.diagnostics.heros.definition import ACCURACY, ENTRY, Meaning, meaning_of, picks, right_of
from blindspot.diagnostics.heros.orderings import Cosines, Ordering, listed_orderings
from blindspot.numerics.statistics.compare import Item, ItemScores, Outcomes
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import first_upper
from blindspot.types import Float64, Int64


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``Diagnostic.item_scores``; an item is an original."""
    rows = repository.items(ENTRY, [run.run_id for run in runs], texts=False)
    rows_of_runs = [rows[rows["run_id"] == run.run_id] for run in runs]
    same_texts = repository.same_texts(runs[0].plan.dataset_digest)
    cosines = [Cosines.of_rows(rows, same_texts) for rows in rows_of_runs]
    dependence = cosines[0].dependence
    out = []
    for run, of_run, of in zip(runs, rows_of_runs, cosines, strict=True):
        numbers = np.sort(of_run["item_no"].unique()).astype(np.int64)
        out.append(
            _scores(
                run, of, numbers, dependence if len(numbers) == len(dependence.groups) else of.dependence, repository
            )
        )
    return out


def _scores(
    run: RunRecord, of: Cosines, numbers: Int64, dependence: Dependence, repository: Repository
) -> dict[str, ItemScores]:
    @cache
    def texts() -> pd.DataFrame:
        """A row per original: itself and its rewrites."""
        rows = repository.items(ENTRY, [run.run_id], texts=True)
        rewrites = rows.pivot(index="item_no", columns="subset", values="rewrite")
        rewrites[_ORIGINAL] = rows.groupby("item_no")["original"].first()
        return pd.DataFrame(rewrites.loc[numbers.tolist()])

    def originals() -> list[str]:
        column: list[str] = texts()[_ORIGINAL].tolist()
        return column

    def describe(subsets: Sequence[str], describe_item: Callable[[int], str]) -> Callable[[int], Item]:
        def item(index: int) -> Item:
            row = texts().iloc[index]
            rewrites = ((subset_in_words(subset), str(row[subset])) for subset in subsets)
            return Item((("original", str(row[_ORIGINAL])), *rewrites), describe_item(index))

        return item

    scores_here = {}
    for ordering in listed_orderings(of.subsets):
        near, far = ordering.near, ordering.far
        outcomes = of.outcomes(ordering)
        is_right = meaning_of(near) is Meaning.KEPT and meaning_of(far) is Meaning.CHANGED
        scores_here[str(ordering)] = scores(
            ENTRY,
            str(ordering),
            f"{first_upper(subset_in_words(near))} nearer than {subset_in_words(far)}",
            outcomes,
            numbers,
            dependence,
            originals,
            statistic=Outcomes(),
            higher_is_better=True if is_right else None,
            describe=describe((near, far), partial(_nearer, outcomes, ordering)),
        )
    if right := right_of(of.subsets):  # several that tie for first place share it
        parts = picks(of.values, of.subsets.index(right))
        scores_here[ACCURACY] = scores(
            ENTRY,
            ACCURACY,
            "Right rewrite nearest of all",
            parts,
            numbers,
            dependence,
            originals,
            family=ACCURACY,
            describe=describe(of.subsets, partial(_nearest, of)),
        )
    return scores_here


_ORIGINAL = " original"  # no subset has a space at its beginning


def _nearer(outcomes: Float64, ordering: Ordering, index: int) -> str:
    if outcomes[index] == 0.5:
        return "tie"
    return f"{subset_in_words(ordering.near if outcomes[index] else ordering.far)} nearer"


def _nearest(of: Cosines, index: int) -> str:
    return f"{subset_in_words(of.subsets[int(of.values[index].argmax())])} nearest"
