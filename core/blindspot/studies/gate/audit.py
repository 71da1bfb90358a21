"""Audit of a golden set: is it worth gating on?

What can make a gate blind: rows that say the same twice, labels that contradict each other, texts that the models were
trained on, questions that need no model to answer, and too few independent items to see a drop.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from blindspot.datasets.kinds.base import Dataset
from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.datasets.kinds.minimal_pairs import MinimalPairSet
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.kinds.retrieval import RELEVANT, RetrievalDataset
from blindspot.datasets.kinds.scored_pairs import ScoredPairs
from blindspot.datasets.training_overlap import TrainingSet, compared
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import Dependence
from blindspot.numerics.statistics.tolerance import Drop, drop
from blindspot.numerics.statistics.written import SCORE, number, percent

ENOUGH = 1_000  # items that stand for any number of them
CHANGING = (0.05, 0.2)  # shares of items that a re-training changes, for or against: few and many
EASY = 0.95  # score from which a baseline without a model leaves nothing to measure
CEILING = 0.99  # share of the highest possible score from which a model leaves nothing to measure


@dataclass(frozen=True)
class Reached:
    """The score of a baseline that needs no trained model."""

    name: str
    value: float


@dataclass(frozen=True)
class Visible:
    """What the set can show if a re-training changes a share of its items.

    Attributes:
        changing: the share.
        drop: the smallest drop that is found; None if none is.
        items: how many let a model as good as the old one pass in four cases of five; None if the tolerance is 0.
    """

    changing: float
    drop: float | None
    items: int | None


@dataclass(frozen=True)
class Audit:
    """What is known about a golden set.

    Attributes:
        rows: its pairs, queries, originals or examples; ``effective``: how many independent ones they are worth;
            ``independent``: the same in words.
        refusal: why no gate can decide; "" if one can.
        repeated: rows that say the same about the same texts as an earlier row, near-duplicates included.
        contradicting: groups of rows that say different things about the same texts.
        tied: how many rows or documents are tied, and in words how; 0 and "" for kinds of data without ties.
        seen: number of rows with all their texts in a training set, by its name.
        score: the score that a gate would decide by; ``reached`` are the baselines' values of it.
    """

    rows: int
    effective: int
    independent: str
    refusal: str
    repeated: int
    contradicting: int
    tied: tuple[int, str]
    seen: tuple[tuple[str, int], ...]
    score: str
    reached: tuple[Reached, ...]
    visible: tuple[Visible, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"warnings": list(self.warnings)}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the set less worth gating on, the worst first."""
        out = [f"No gate on it can decide: {self.refusal}."] if self.refusal else []
        out += [
            f"{count:,} of {self.rows:,} rows are in the training set {name}." for name, count in self.seen if count
        ]
        out += [
            f"{score.name} reaches {number(score.value, SCORE)} in {self.score} without a trained model: the set "
            "hardly tests one."
            for score in self.reached
            if score.value >= EASY
        ]
        few = [power for power in self.visible if power.items is not None and power.items > self.effective]
        if few and not self.refusal:
            out.append(
                f"A model as good as the old one that changes {percent(few[0].changing)} of the items is mostly "
                f"undecided: that takes {few[0].items:,} independent items, or a larger tolerance."
            )
        if self.contradicting:
            out.append(f"{self.contradicting:,} groups of rows say different things of the same texts.")
        if self.repeated:
            out.append(f"{self.repeated:,} of {self.rows:,} rows repeat an earlier one.")
        return tuple(out)


def audited(
    dataset: Dataset,
    training: Iterable[TrainingSet],
    score: str,
    reached: Sequence[Reached],
    dependence: Dependence,
    tolerance: float,
    alpha: float,
) -> Audit:
    """The audit of a set; ``dependence`` tells what is independent among its evaluated rows."""
    rows = rows_of(dataset)
    answers: dict[tuple[str, ...], set[object]] = {}
    for row in rows:
        answers.setdefault(tuple(compared(text) for text in row.texts), set()).add(row.says)
    seen = [
        (known_texts.name, sum(all(compared(text) in known_texts.texts for text in row.texts) for row in rows))
        for known_texts in training
    ]
    return Audit(
        len(rows),
        round(dependence.effective),
        dependence.independent,
        dependence.refusal,
        len(rows) - sum(len(labels) for labels in answers.values()),
        sum(len(labels) > 1 for labels in answers.values()),
        _tied(dataset),
        tuple(seen),
        score,
        tuple(reached),
        visible_drops(dependence, tolerance, alpha),
    )


@dataclass(frozen=True)
class Row:
    """A row of a dataset: its texts, and what it says about them."""

    texts: tuple[str, ...]
    says: object = None


def rows_of(dataset: Dataset) -> list[Row]:
    """Pairs, scored pairs, queries with their relevant documents, originals with their rewrites, or labeled texts."""
    items = dataset.items
    if isinstance(dataset, PairSet):
        return [Row((items[q], items[m])) for q, m in zip(dataset.queries, dataset.matches, strict=True)]
    if isinstance(dataset, ScoredPairs):
        of = zip(dataset.firsts, dataset.seconds, dataset.scores.tolist(), strict=True)
        return [Row((items[a], items[b]), score) for a, b, score in of]
    if isinstance(dataset, RetrievalDataset):
        relevant = [
            frozenset(documents[grades >= RELEVANT].tolist())
            for documents, grades in (dataset.judgments_of(query) for query in range(len(dataset.queries)))
        ]
        return [Row((items[q],), documents) for q, documents in zip(dataset.queries, relevant, strict=True)]
    if isinstance(dataset, MinimalPairSet):
        of_rewrites = zip(*dataset.rewrites.values(), strict=True)
        return [
            Row((items[original],), tuple(items[rewrite] for rewrite in rewrites))
            for original, rewrites in zip(dataset.originals, of_rewrites, strict=True)
        ]
    if isinstance(dataset, LabeledTexts):
        sides = [side for side in (dataset.firsts, dataset.seconds) if len(side)]
        texts = zip(*([items[i] for i in side] for side in sides), strict=True)
        return [Row(row, label) for row, label in zip(texts, dataset.labels.tolist(), strict=True)]
    raise TypeError(f"{dataset.id} is a {dataset.kind}")


def _tied(dataset: Dataset) -> tuple[int, str]:
    if isinstance(dataset, ScoredPairs):
        counts = Counter(dataset.scores.tolist())
        return sum(count for count in counts.values() if count > 1), "pairs have the score of another pair"
    if isinstance(dataset, RetrievalDataset):
        return dataset.counts.same_documents, "documents have the text of another document"
    if isinstance(dataset, PairSet):
        return dataset.counts.several_matches, "queries have several matches, of which one can be first"
    return 0, ""


def visible_drops(dependence: Dependence, tolerance: float, alpha: float) -> tuple[Visible, ...]:
    """What the set can show of a drop in the share of right answers, for each share of items in ``CHANGING``.

    Half of the items that change are right before, the other half after, so that there is no drop on average.
    """
    n = max(round(dependence.effective), 1)
    return tuple(
        Visible(
            changing,
            None if dependence.refusal else _as_good(n, changing, tolerance, alpha).visible,
            _as_good(ENOUGH, changing, tolerance, alpha).needed,
        )
        for changing in CHANGING
    )


def _as_good(n: int, changing: float, tolerance: float, alpha: float) -> Drop:
    """The drop of a model as good as the old one, which changes a share of ``n`` independent items."""
    half = max(1, math.floor(n * changing / 2))
    lost = np.zeros(n)
    lost[:half], lost[half : 2 * half] = 1.0, -1.0
    return drop(0.0, lost, Dependence.of_groups(np.arange(n), Unit.EXAMPLES), tolerance, alpha, 1.0, is_mean=True)


def why_easy(score: str, value: float, lowest: float, highest: float, reached: Iterable[Reached]) -> str:
    """Why a pass would say little: a clause about the score of the old model or of a baseline; "" if it would say more.

    Args:
        value: of the old model; any model's is from ``lowest`` to ``highest``.
    """
    if value >= lowest + CEILING * (highest - lowest):
        reached_score = f"{number(value, SCORE)} of at most {highest:g}"
        return f"{score} of the old model is {reached_score}, which a worse one may reach, too"
    easy = max(
        (score for score in reached if score.value >= EASY), key=lambda by_encoder: by_encoder.value, default=None
    )
    return f"{easy.name} reaches {number(easy.value, SCORE)} in {score} without a trained model" if easy else ""
