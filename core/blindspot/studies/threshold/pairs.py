"""Pairs of texts with the similarities of models, and what makes two texts the same.

Scored pairs come from stored runs of *Similarity*; two texts are the same from a score on, the *cut*, which the reader
moves. Labeled pairs are the same if they have a certain label. Of labeled single texts, pairs are sampled. The latter
two have no stored similarities: they are computed from cached embeddings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from blindspot.datasets.kinds.labeled_texts import LabeledTexts
from blindspot.datasets.kinds.own_columns import OwnColumn, choices_of
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.similarity.pairs import SIDE_COLUMNS, ScoredTable, scored_table
from blindspot.diagnostics.similarity.view import are_reversed
from blindspot.errors import InputError
from blindspot.numerics.similarity import Similarity, similarity_of_pairs
from blindspot.numerics.statistics.correlations import DECIMALS
from blindspot.numerics.statistics.groups import SHARES, Group, Grouping, binned, by_value, up_to
from blindspot.numerics.thresholds.curves import LabeledPairs
from blindspot.runs.spaces import Space
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.studies.threshold.sampling import HARD, RANDOM, SAME, sample
from blindspot.texts import length, lexical_overlap, numbered
from blindspot.types import Bool, Float64, Int64, digest_of_strings
from blindspot.variants import Variant

USUAL_CUT = 0.8  # of the range of the scores: 4 on a scale from 0 to 5
LENGTH, OVERLAP, DOMAIN, KIND = "length", "shared words", "domain", "kind of pair"
WORDS = (5, 10, 15, 20, 30)
# Names of classes that say that two texts are the same, compared without case; the first that a dataset has wins.
SAME_NAMES = ("same", "paraphrase", "duplicate", "equivalent", "entailment", "match", "yes", "true", "1")


@dataclass(frozen=True, eq=False)
class Measured:
    """Pairs with similarities, ``[m]`` each.

    Attributes:
        dataset: its reference.
        numbers: of the pairs in the dataset; of sampled pairs, from 0.
        firsts, seconds: texts.
        similarity: by model; pairs for which one of them has no vector are left out.
        scores: people's, or None.
        labels: of labeled pairs, or kinds of sampled ones; or None.
        domains: names of the sets that the pairs come from.
        own: columns of the user's file.
        left_out: pairs without a similarity.
        digest: of all of this.
    """

    dataset: str
    numbers: Int64
    firsts: tuple[str, ...]
    seconds: tuple[str, ...]
    similarity: Mapping[Variant, Float64]
    scores: Float64 | None
    labels: tuple[str, ...] | None
    domains: tuple[str, ...]
    own: tuple[OwnColumn, ...]
    left_out: int
    digest: str

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def is_sampled(self) -> bool:
        return self.labels is not None and SAME in self.labels

    @property
    def classes(self) -> tuple[str, ...]:
        """Distinct labels, sorted; none for sampled pairs."""
        return () if self.is_sampled else tuple(sorted(set(self.labels or ())))

    @property
    def says_same(self) -> bool:
        """Whether its scores or labels are 0 and 1 and so say what is the same, with nothing to choose."""
        if self.scores is not None:
            return set(np.unique(self.scores).tolist()) == {0.0, 1.0}
        return self.classes == ("0", "1")

    @cached_property
    def ends(self) -> tuple[Int64, Int64]:
        """Numbers of each pair's texts."""
        firsts, seconds = numbered(self.firsts, self.seconds)
        return firsts, seconds

    def same(self, rule: Rule) -> Bool:
        """Which pairs are the same by a rule."""
        if self.scores is not None:
            if rule.cut is None:
                raise InputError("scored pairs need a cut", expected="the score from which on two texts are the same")
            return np.asarray(self.scores >= rule.cut)
        wanted = SAME if self.is_sampled else rule.label
        return np.array([label == wanted for label in self.labels or ()], dtype=np.bool_)

    def are_reversed(self, rule: Rule) -> bool:
        """Whether all models and shared words contradict what is the same; see ``similarity.view.are_reversed``."""
        if self.is_sampled:
            return False
        gold = self.same(rule).astype(np.float64) if self.scores is None else self.scores
        cells = (self.numbers, self.domains, gold, self.firsts, self.seconds)
        frame = pd.DataFrame(dict(zip(SIDE_COLUMNS, cells, strict=True)))
        table = ScoredTable(frame, {str(variant): values for variant, values in self.similarity.items()})
        return are_reversed(self.dataset, table)

    def labeled(self, variant: Variant, rule: Rule) -> LabeledPairs:
        """The pairs of one model; raises ``InputError`` if they allow no threshold."""
        return LabeledPairs(self.similarity[variant], self.same(rule), *self.ends)

    def usual_rule(self) -> Rule:
        """The rule before the reader chooses one."""
        if self.scores is not None:
            if self.says_same:
                return Rule(cut=1.0)
            low, high = (float(end(self.scores)) for end in (np.min, np.max)) if len(self) else (0.0, 0.0)
            return Rule(cut=round(low + USUAL_CUT * (high - low), 6))
        if self.is_sampled:
            return Rule(label=SAME)
        by_name = {label.casefold(): label for label in self.classes}
        name = next((by_name[name] for name in SAME_NAMES if name in by_name), None)
        return Rule(label=name or (self.classes[-1] if self.classes else ""))

    def rule_of(self, cut: float | None = None, label: str = "") -> Rule:
        """The rule for a given score or label; the usual rule if neither is given.

        Raises:
            InputError: it has no scores, or no such label.
        """
        if cut is not None:
            if self.scores is None:
                raise InputError(f"'{self.dataset}' has no scores to cut", expected="--cut with scored pairs only")
            return Rule(cut=cut)
        if label and label not in self.classes:
            labels = ", ".join(self.classes) or "none, since its pairs are sampled or scored"
            raise InputError(f"'{self.dataset}' has no label '{label}'", expected=f"one of: {labels}")
        return Rule(label=label) if label else self.usual_rule()

    def groupings(self) -> dict[str, Grouping]:
        """Ways to group the pairs, by name."""
        words = np.array([(length(a) + length(b)) / 2 for a, b in zip(self.firsts, self.seconds, strict=True)])
        groupings = {
            LENGTH: Grouping({"pair": "mean words of a text"}, True, binned("pair", words, up_to(*WORDS))),
            OVERLAP: Grouping(
                {"pair": "share of common words"},
                True,
                binned("pair", lexical_overlap(self.firsts, self.seconds), SHARES),
            ),
        }
        if len(set(self.domains)) > 1:
            groupings[DOMAIN] = _of_values(self.domains)
        if self.is_sampled:
            kinds = np.array(self.labels)
            groups = (
                Group("pair", name.split(", ")[1], kinds != other) for name, other in ((RANDOM, HARD), (HARD, RANDOM))
            )
            groupings[KIND] = Grouping({"pair": "different pairs that are"}, False, tuple(groups))
        for name, column in choices_of(self.own, list(groupings)).items():
            groupings[name] = _of_values([column.values[code] for code in column.codes.tolist()])
        return groupings


def _of_values(values: Sequence[str]) -> Grouping:
    cells = np.array(values, dtype=object)
    return by_value(
        "pair", "", ((value, np.asarray(cells == value, dtype=np.bool_)) for value in dict.fromkeys(values))
    )


@dataclass(frozen=True)
class Rule:
    """What makes two texts the same: a score from ``cut`` on, or the label."""

    cut: float | None = None
    label: str = ""

    @property
    def in_words(self) -> str:
        return f"score {self.cut:g} or more" if self.cut is not None else self.label


def of_runs(runs: Sequence[RunRecord], repository: Repository) -> Measured:
    """Stored similarities of runs of *Similarity* over one dataset, by different models."""
    table = scored_table(find_diagnostic("similarity"), [run.run_id for run in runs], repository)
    plan, frame = runs[0].plan, table.frame
    numbers = frame["item_no"].to_numpy(dtype=np.int64)
    return Measured(
        plan.dataset,
        numbers,
        tuple(frame["first"]),
        tuple(frame["second"]),
        {run.plan.variant: table.similarity[run.run_id] for run in runs},
        table.gold,
        None,
        tuple(frame["set_name"]),
        tuple(column.part(numbers) for column in repository.own_columns(plan.dataset, plan.dataset_digest)),
        runs[0].coverage["pairs"] - len(frame),
        digest_of_strings([plan.dataset, *table.similarity]),
    )


def of_spaces(dataset: LabeledTexts, spaces: Sequence[Space], metric: Similarity) -> Measured:
    """Similarities of labeled pairs, or of pairs sampled from single texts, from models' vectors.

    Raises:
        InputError: no pairs can be made of the texts.
    """
    items = dataset.items
    user_columns: tuple[OwnColumn, ...] = ()
    if dataset.has_pairs:
        firsts, seconds = dataset.firsts.astype(np.int64), dataset.seconds.astype(np.int64)
        labels = [dataset.classes[label] for label in dataset.labels.tolist()]
        user_columns = dataset.own_columns
    else:
        made = sample([items[i] for i in dataset.firsts.tolist()], dataset.labels)
        firsts, seconds = (dataset.firsts[rows].astype(np.int64) for rows in (made.firsts, made.seconds))
        labels = list(made.kinds)
    row_of = np.full(len(items), -1, dtype=np.int64)
    row_of[spaces[0].items] = np.arange(len(spaces[0].items))
    kept = np.flatnonzero((row_of[firsts] >= 0) & (row_of[seconds] >= 0)).astype(np.int64)
    a, b = row_of[firsts[kept]], row_of[seconds[kept]]
    return Measured(
        dataset.id,
        kept,
        tuple(items[i] for i in firsts[kept].tolist()),
        tuple(items[i] for i in seconds[kept].tolist()),
        {s.variant: np.round(similarity_of_pairs(s.vectors, a, b, metric), DECIMALS) for s in spaces},
        None,
        tuple(labels[i] for i in kept.tolist()),
        ("",) * len(kept),
        tuple(column.part(kept) for column in user_columns),
        len(firsts) - len(kept),
        digest_of_strings([dataset.id, dataset.content_digest, metric.value, *(space.digest for space in spaces)]),
    )
