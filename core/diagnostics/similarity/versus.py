"""A against B: the paired difference of Spearman's rho, and the pairs that only one of two runs misjudges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from blindspot.diagnostics.similarity.definition import ENTRY, NAMES
from blindspot.diagnostics.similarity.pairs import Fit, fitted, scored_table
from blindspot.numerics.statistics.association import spearman
from blindspot.numerics.statistics.correlations import spearman_influences
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.pairs import Dependence, change, correlation, p_of_change
from blindspot.runs.comparison import Change, Changes, Difference, ItemScores, largest
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Float64

MISJUDGED = 0.25  # of the scale that people used: off by more than this


def difference(pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``: over all pairs of the dataset at once."""
    ids = list(dict.fromkeys(run.run_id for pair in pairs for run in pair))
    table = scored_table(ENTRY, ids, repository)
    known = Dependence.of(*table.ends)
    gold = table.gold

    @cache
    def of(run_id: str) -> tuple[Estimate, Float64]:
        predicted = table.similarity[run_id]
        moved = spearman_influences(predicted, gold)
        return correlation(spearman(predicted, gold).value, moved, known), moved

    found = []
    for first, second in pairs:
        (a, one), (b, other) = of(first.run_id), of(second.run_id)
        estimate = change(a.value - b.value, one - other, known)
        p = p_of_change(a.value - b.value, one - other, known)
        test = f"t of the paired difference of correlations, {known.method}"
        address = {"similarity_view": "pairs"} | _sides(first, second)
        found.append(Difference.of(ENTRY, "spearman", NAMES["spearman"], a, b, estimate, p, test, address=address))
    return found


def _sides(first: RunRecord, second: RunRecord) -> dict[str, str]:
    """Of the page's address."""
    return {"sim_a": str(first.plan.variant), "sim_b": str(second.plan.variant)}


def changed(first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
    """See ``blindspot.runs.comparison.ChangesOf``.

    An item is a pair, misjudged where the fitted score is off by more than ``MISJUDGED`` of the scale that people used;
    its score is 1 less the share that it is off by. What both misjudge, or neither, is alike.
    """
    table = scored_table(ENTRY, [first.run_id, second.run_id], repository)
    gold, frame = table.gold, table.frame
    scale = float(np.ptp(gold))
    similarity = [table.similarity[run.run_id] for run in (first, second)]
    fits = [fitted(one, gold, Fit.MONOTONE) for one in similarity]
    off = [np.abs(one - gold) / scale for one in fits]
    wrong = [one > MISJUDGED for one in off]
    gain = np.where(wrong[0] != wrong[1], off[1] - off[0], 0.0)
    rows = []
    for place in np.concatenate(largest(gain, most)).tolist():
        number = int(frame["item_no"].iloc[place])
        texts = (("first text", frame["first"].iloc[place]), ("second text", frame["second"].iloc[place]))
        said = [f"{one[place]:.2f} (people: {gold[place]:.2f})" for one in fits]
        address = {"similarity_view": "pairs", "pair": str(number)} | _sides(first, second)
        rows.append(Change(number, texts, said[0], said[1], float(gain[place]), address))
    won, lost = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    won_by = "agrees with people, and the other is off by more than a quarter of the scale,"
    return Changes("pairs", won_by, won, lost, len(gain) - won - lost, tuple(rows))


def item_scores(run: RunRecord, repository: Repository) -> dict[str, ItemScores]:
    """See ``blindspot.runs.comparison.ItemScoresOf``; an item is a pair, with its influence on Spearman's rho."""
    table = scored_table(ENTRY, [run.run_id], repository)
    predicted, gold = table.similarity[run.run_id], table.gold
    moved = spearman_influences(predicted, gold)
    frame = table.frame
    numbers = frame["item_no"].to_numpy(dtype=np.int64)
    texts = [f"{first} ↔ {second}" for first, second in zip(frame["first"], frame["second"], strict=True)]
    rho = spearman(predicted, gold).value
    return {"spearman": ItemScores(rho, moved, numbers, texts, Dependence.of(*table.ends), is_mean=False)}
