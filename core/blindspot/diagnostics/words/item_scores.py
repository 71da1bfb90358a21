"""Shares of each question, word and case in the scores of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from blindspot.diagnostics.words import analogy, cases, categorization
from blindspot.numerics.ranking.ranks import expected_hit
from blindspot.numerics.statistics.against import change_against, of_ends
from blindspot.numerics.statistics.compare import Item, ItemScores, Mean
from blindspot.numerics.statistics.estimate import Estimate, Unit
from blindspot.numerics.statistics.intervals import LEVEL, level_of_each
from blindspot.numerics.statistics.pairs import Dependence, bounded
from blindspot.runs.comparison import item_scores as scores
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import numbered
from blindspot.types import Float64, Int64


@dataclass(frozen=True, eq=False)
class OfWordPairs(Mean):
    """A mean over questions, each of which joins two pairs of words. Pairs are independent; each is in many questions.

    Attributes:
        left, right: ``[m]`` numbers of each question's pairs of words.
    """

    left: Int64 = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    right: Int64 = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def estimate(self, scores: ItemScores, at_once: int = 1) -> Estimate:
        moved, dependence = of_ends(scores.parts, self.left, self.right)
        return bounded(scores.value, moved, dependence, dependence.units, level_of_each(at_once))

    def difference(self, a: ItemScores, b: ItemScores, at_once: int = 1) -> Estimate:
        return self._change(a, b, level_of_each(at_once))[0]

    def p_values(self, of: Sequence[tuple[ItemScores, ItemScores]]) -> Float64:
        return np.array([self._change(a, b)[1] for a, b in of])

    def _change(self, a: ItemScores, b: ItemScores, level: float = LEVEL) -> tuple[Estimate, float]:
        apart = a.parts - b.parts
        return change_against(float(apart.mean()), *of_ends(apart, self.left, self.right), level=level)

    def test(self, dependence: Dependence, units: str) -> str:  # noqa: ARG002
        return f"t of the paired difference over {units}"

    def among(self, places: Int64) -> OfWordPairs:
        return OfWordPairs(self.most, self.left[places], self.right[places])


def scores_of_analogies(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``Diagnostic.item_scores``; an item is a question that all of the runs answered."""
    entry = analogy.ENTRY
    ids = [run.run_id for run in runs]
    asked = repository.items(entry, ids[:1], texts=True).set_index("item_no")
    rows = repository.items(entry, ids, texts=False)
    rows["hit"] = expected_hit(rows["greater"].to_numpy(), rows["ties"].to_numpy(), 1)
    wide = rows.pivot(index="item_no", columns="run_id", values="hit").dropna()
    asked = asked.loc[wide.index]
    ends = word_pairs(asked)
    dependence, statistic = Dependence.of(*ends), OfWordPairs(1.0, *ends)
    numbers = wide.index.to_numpy(dtype=np.int64)

    def texts() -> list[str]:
        return [f"{row.a} is to {row.b} as {row.c} is to {row.d}" for row in asked.itertuples()]

    answers = rows.pivot(index="item_no", columns="run_id", values="predicted").loc[wide.index]

    def item(run_id: str, index: int) -> Item:
        question = asked.iloc[index]
        answer = question["d"] if wide[run_id].iloc[index] > 0 else answers[run_id].iloc[index]
        return Item(
            (("question", f"{question.a} is to {question.b} as {question.c} is to"), ("answer", str(question.d))),
            str(answer),
        )

    def score(run_id: str) -> ItemScores:
        return scores(
            entry,
            entry.headline,
            "Analogies answered right",
            wide[run_id].to_numpy(dtype=np.float64),
            numbers,
            dependence,
            texts,
            statistic=statistic,
            units="word pairs",
            describe=partial(item, run_id),
        )

    return [{entry.headline: score(run_id)} for run_id in ids]


def word_pairs(asked: pd.DataFrame) -> tuple[Int64, Int64]:
    """Numbers of the two pairs of words that each question joins, ``[m]`` each."""
    words = asked[list("abcd")].fillna("")
    left, right = numbered(words["a"] + " : " + words["b"], words["c"] + " : " + words["d"])
    return left, right


def scores_of_categories(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``Diagnostic.item_scores``; an item is a word, in the first of its classes, which are independent."""
    entry = categorization.ENTRY
    rows = repository.items(entry, [run.run_id for run in runs], texts=True)
    of_runs = {str(run_id): categorization.placed(run_rows) for run_id, run_rows in rows.groupby("run_id")}

    def item(run_rows: pd.DataFrame, index: int) -> Item:
        row = run_rows.iloc[index]
        return Item((("word", str(row["word"])), ("class", str(row["classes"]))), f"among: {row['cluster_class']}")

    def score(run: RunRecord) -> ItemScores:
        run_rows = of_runs[run.run_id]
        right = run_rows["right"].to_numpy(dtype=np.float64)
        dependence = by_class(run_rows["class"])
        numbers, texts = run_rows.index.to_numpy(dtype=np.int64), run_rows["word"].tolist
        return scores(
            entry,
            entry.headline,
            "Purity",
            right,
            numbers,
            dependence,
            texts,
            value=run.metrics[entry.headline],
            describe=partial(item, run_rows),
        )

    return [{entry.headline: score(run)} for run in runs]


def by_class(classes: Iterable[str]) -> Dependence:
    """Dependence of words by their classes ``[m]``: one clustering places the words of a class together or apart."""
    return Dependence.of_texts(classes, unit=Unit.CLASSES)


def scores_of_cases(runs: Sequence[RunRecord], repository: Repository) -> list[dict[str, ItemScores]]:
    """See ``Diagnostic.item_scores``, for the diagnostics of ``cases.KINDS``.

    An item is a case that all of the runs have.
    """
    kind = cases.KINDS[runs[0].plan.diagnostic]
    entry = kind.entry
    rows = repository.items(entry, [run.run_id for run in runs], texts=True)
    right = rows.pivot(index="item_no", columns="run_id", values="hit").dropna()
    about = rows.drop_duplicates("item_no").set_index("item_no").loc[right.index]
    dependence, numbers = kind.dependence(about), right.index.to_numpy(dtype=np.int64)
    units = kind.units[dependence.unit is Unit.TEXTS]

    def texts() -> list[str]:
        return ["; ".join(text for _, text in kind.texts(row)) for _, row in about.iterrows()]

    def item(run_rows: pd.DataFrame, index: int) -> Item:
        row = run_rows.loc[numbers[index]]
        return Item(kind.texts(row), kind.answer(row))

    def score(run: RunRecord) -> ItemScores:
        values = right[run.run_id].to_numpy(dtype=np.float64)
        describe = partial(item, rows[rows["run_id"] == run.run_id].set_index("item_no"))
        return scores(
            entry, entry.headline, kind.title, values, numbers, dependence, texts, units=units, describe=describe
        )

    return [{entry.headline: score(run)} for run in runs]
