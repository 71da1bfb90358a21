"""A against B: the paired difference of the headline share, and the orderings that one of two runs gets right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.datasets.kinds.minimal_pairs import subset_in_words
from blindspot.diagnostics.heros.definition import ACCURACY, ENTRY, picks, right_of
from blindspot.diagnostics.heros.dependence import name_of_test
from blindspot.diagnostics.heros.orderings import Cosines, Ordering, against_meaning, listed_orderings
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.pairs import mcnemar_by_units
from blindspot.runs.comparison import Change, Changes, Difference, ItemScores, largest
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Float64


def difference(pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``: of the order synonym over antonym, or of paraphrases found."""
    runs = {run.run_id: run for pair in pairs for run in pair}
    rows = repository.items(ENTRY, list(runs), texts=False)
    score = ENTRY.headline_of(pairs[0][0].metrics)
    cosines = {i: Cosines.of_rows(rows[rows["run_id"] == i]) for i in runs}
    outcomes = {i: _outcomes(of, score) for i, of in cosines.items()}
    known = cosines[pairs[0][0].run_id].dependence
    found = []
    for first, second in pairs:
        a, b = outcomes[first.run_id], outcomes[second.run_id]
        if score == ACCURACY:  # several that share the first place share the point
            label, test = "Right rewrite nearest of all", f"sign flips of {known.unit}"
            p = float(statistics.p_values((a - b)[:, np.newaxis], known)[0])
        else:
            near, _, far = score.partition(">")
            label = f"{_words(near).capitalize()} nearer than {_words(far)}"
            test, p = name_of_test(known), mcnemar_by_units(a, b, known).p_value
        found.append(
            Difference.of(
                ENTRY,
                score,
                label,
                statistics.share(a, known),
                statistics.share(b, known),
                statistics.difference(a, b, known),
                p,
                test,
                wins=int(np.count_nonzero(a > b)),
                losses=int(np.count_nonzero(a < b)),
                address={
                    "heros_view": "orderings",
                    "heros_a": str(first.plan.variant),
                    "heros_b": str(second.plan.variant),
                },
            )
        )
    return found


def _outcomes(cosines: Cosines, score: str) -> Float64:
    """Per original ``[n]`` what the score is the mean of."""
    if score == ACCURACY:
        return picks(cosines.values, cosines.subsets.index(right_of(cosines.subsets)))
    near, _, far = score.partition(">")
    return cosines.outcomes(Ordering(near, far))


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


def item_scores(run: RunRecord, repository: Repository) -> dict[str, ItemScores]:
    """See ``blindspot.runs.comparison.ItemScoresOf``; an item is an original."""
    rows = repository.items(ENTRY, [run.run_id], texts=True)
    cosines = Cosines.of_rows(rows)
    numbers = np.sort(rows["item_no"].unique()).astype(np.int64)
    texts = rows.drop_duplicates("item_no").set_index("item_no")["original"].loc[numbers.tolist()].tolist()
    names = [str(ordering) for ordering in listed_orderings(cosines.subsets)]
    names += [ACCURACY] if right_of(cosines.subsets) else []
    of = {name: _outcomes(cosines, name) for name in names if name in run.metrics}
    return {name: ItemScores(float(v.mean()), v, numbers, texts, cosines.dependence) for name, v in of.items()}
