"""Shares of each sentence in F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from blindspot.diagnostics.words.chunking.answers import answers, as_found, sums_of
from blindspot.diagnostics.words.chunking.definition import ENTRY
from blindspot.diagnostics.words.chunking.scoring import dependence_of, difference_of, estimate_of, f1, of_sentences
from blindspot.numerics.statistics.compare import Item, ItemScores, Mean
from blindspot.numerics.statistics.estimate import Estimate
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Float64


@dataclass(frozen=True)
class F1(Mean):
    """F1 of all phrases from each sentence's counts ``[s, 3]``; a bootstrap, and approximate randomization."""

    def value(self, parts: Float64, before: float) -> float:  # noqa: ARG002 - it is that of the parts
        return float(f1(parts.sum(axis=0)))

    def estimate(self, scores: ItemScores, at_once: int = 1) -> Estimate:
        return estimate_of(scores.parts, scores.known, at_once)

    def difference(self, a: ItemScores, b: ItemScores, at_once: int = 1) -> Estimate:
        return difference_of(a.parts, b.parts, a.known, at_once)[0]

    def p_values(self, of: Sequence[tuple[ItemScores, ItemScores]]) -> Float64:
        return np.array([difference_of(a.parts, b.parts, a.known)[1] for a, b in of])

    def gain(self, a: ItemScores, b: ItemScores) -> Float64:
        return np.asarray(of_sentences(a.parts) - of_sentences(b.parts))

    def test(self, dependence: Dependence, units: str) -> str:  # noqa: ARG002
        return "approximate randomization over sentences"


def item_scores(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``Diagnostic.item_scores``; an item is a tested sentence."""
    rows = answers([run.run_id for run in runs], repository)
    first = rows[runs[0].run_id]
    dependence = dependence_of(first["sentence"])

    def item(run_rows: pd.DataFrame, index: int) -> Item:
        answer = as_found(run_rows.iloc[[index]]).iloc[0]
        texts = (("sentence", str(run_rows["sentence"].iloc[index])), ("phrases", str(answer["given"])))
        return Item(texts, str(answer["found"]))

    def score(run: RunRecord) -> ItemScores:
        run_rows = rows[run.run_id]
        sums, numbers = sums_of(run_rows).astype(np.float64), run_rows.index.to_numpy(dtype=np.int64)
        of = dependence if len(numbers) == len(first) else dependence_of(run_rows["sentence"])
        value, name = float(f1(sums.sum(axis=0))), ENTRY.headline
        return scores(
            ENTRY,
            name,
            "F1 of phrases",
            sums,
            numbers,
            of,
            run_rows["sentence"].tolist,
            value=value,
            statistic=F1(),
            describe=partial(item, run_rows),
        )

    return [{ENTRY.headline: score(run)} for run in runs]
