"""Shares of each pair in Spearman's rho, and the pairs that only one of two runs misjudges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blindspot.diagnostics.similarity.definition import ENTRY, NAMES
from blindspot.diagnostics.similarity.pairs import Fit, fitted, scored_table
from blindspot.numerics.statistics.association import spearman
from blindspot.numerics.statistics.compare import Correlation, ItemScores
from blindspot.numerics.statistics.correlations import spearman_influences
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.comparison import Change, Changes, largest
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository

MISJUDGED = 0.25  # of the scale that people used: off by more than this


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


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``blindspot.runs.comparison.ItemScoresOf``; an item is a pair, with its influence on Spearman's rho."""
    table = scored_table(ENTRY, [run.run_id for run in runs], repository)
    gold, frame = table.gold, table.frame
    numbers = frame["item_no"].to_numpy(dtype=np.int64)
    known = Dependence.of(*table.ends)

    def texts() -> list[str]:
        return [f"{first} ↔ {second}" for first, second in zip(frame["first"], frame["second"], strict=True)]

    def score(run: RunRecord) -> ItemScores:
        predicted = table.similarity[run.run_id]
        rho, moved = spearman(predicted, gold).value, spearman_influences(predicted, gold)
        name = "spearman"
        return scores(ENTRY, name, NAMES[name], moved, numbers, known, texts, value=rho, statistic=Correlation())

    return [{"spearman": score(run)} for run in runs]
