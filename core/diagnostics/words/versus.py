"""A against B: the paired difference of analogies or cases, and the questions, words and cases only one gets right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from blindspot.diagnostics.words import analogy, cases, categorization
from blindspot.numerics.ranking.ranks import expected_hit
from blindspot.numerics.statistics import pairs as statistics
from blindspot.numerics.statistics.estimate import Unit
from blindspot.numerics.statistics.pairs import FEWEST, Dependence
from blindspot.runs.comparison import Change, Changes, Difference, largest
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.types import Int64


def difference_of_analogies(pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``.

    A question joins two pairs of words, and a pair is in many questions: questions that share one are not independent,
    just as pairs of texts that share a text.
    """
    entry = analogy.ENTRY
    ids = list(dict.fromkeys(run.run_id for pair in pairs for run in pair))
    asked = repository.items(entry, ids[:1], texts=True).set_index("item_no")
    rows = repository.items(entry, ids, texts=False)
    rows["hit"] = expected_hit(rows["greater"].to_numpy(), rows["ties"].to_numpy(), 1)
    wide = rows.pivot(index="item_no", columns="run_id", values="hit").dropna()
    known = Dependence.of(*word_pairs(asked.loc[wide.index]))
    if known.refusal:  # that sentence is about pairs of texts
        few = f"{len(wide):,} questions that share word pairs are worth fewer than {FEWEST + 1:.0f} independent ones"
        few += "; the page Words has a test over word pairs"
        known = replace(known, refusal=few)
    values = {run_id: wide[run_id].to_numpy(dtype=np.float64) for run_id in ids}
    both = [(values[a.run_id], values[b.run_id]) for a, b in pairs]
    p = statistics.p_values(np.column_stack([one - other for one, other in both]), known)
    flips = known.unit is not Unit.TEXTS
    return [
        Difference.of(
            entry,
            entry.headline,
            "Analogies answered right",
            statistics.share(one, known),
            statistics.share(other, known),
            statistics.difference(one, other, known),
            float(p[i]),
            "sign flips of groups of questions" if flips else "t of the dyadic-robust standard error",
            unit="groups of questions that share no word pair" if flips else "word pairs",
            wins=int(np.count_nonzero(one > other)),
            losses=int(np.count_nonzero(one < other)),
            address={"words_view": "analogies", "analogies_of": pairs[0][0].plan.dataset},
        )
        for i, (one, other) in enumerate(both)
    ]


def word_pairs(asked: pd.DataFrame) -> tuple[Int64, Int64]:
    """Numbers of the two pairs of words that each question joins, ``[m]`` each."""
    m = len(asked)
    names = [*zip(asked["a"], asked["b"], strict=True), *zip(asked["c"], asked["d"], strict=True)]
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    numbers = np.array([number[name] for name in names], dtype=np.int64)
    return numbers[:m], numbers[m:]


def changed_of_analogies(first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
    """See ``blindspot.runs.comparison.ChangesOf``. An item is a question, its score the chance of a right answer."""
    rows = repository.items(analogy.ENTRY, [first.run_id, second.run_id], texts=True)
    rows["hit"] = expected_hit(rows["greater"].to_numpy(), rows["ties"].to_numpy(), 1)
    a, b = (rows[rows["run_id"] == run.run_id].set_index("item_no") for run in (first, second))
    shared = a.index.intersection(b.index)
    a, b = a.loc[shared], b.loc[shared]
    gain = a["hit"].to_numpy(dtype=np.float64) - b["hit"].to_numpy(dtype=np.float64)
    found = []
    for place in np.concatenate(largest(gain, most)).tolist():
        one, other = a.iloc[place], b.iloc[place]
        texts = (("question", f"{one.a} is to {one.b} as {one.c} is to"), ("answer", str(one.d)))
        address = {"words_view": "analogies", "analogies_of": first.plan.dataset}
        said = [str(side.d if side.hit > 0 else side.predicted) for side in (one, other)]
        found.append(Change(int(shared[place]), texts, said[0], said[1], float(gain[place]), address))
    won, lost = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    return Changes("questions", "has the right answer", won, lost, len(gain) - won - lost, tuple(found))


def difference_of_categories(pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``: without a test, since one clustering has all words."""
    entry = categorization.ENTRY
    ids = list(dict.fromkeys(run.run_id for pair in pairs for run in pair))
    placed = _placed(ids, repository)
    found = []
    for a, b in pairs:
        one, other = (placed[run.run_id]["right"] for run in (a, b))
        shared = one.index.intersection(other.index)
        right = [side.loc[shared].to_numpy(dtype=np.bool_) for side in (one, other)]
        found.append(
            Difference.untested(
                entry,
                entry.headline,
                "Purity",
                a.metrics[entry.headline],
                b.metrics[entry.headline],
                len(shared),
                "words",
                "one clustering places all words at once, so that words are not independent",
                wins=int(np.count_nonzero(right[0] & ~right[1])),
                losses=int(np.count_nonzero(right[1] & ~right[0])),
                address={"words_view": "categories"},
            )
        )
    return found


def changed_of_categories(first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
    """See ``blindspot.runs.comparison.ChangesOf``. An item is a word, right if most of its cluster share its class."""
    placed = _placed([first.run_id, second.run_id], repository)
    a, b = placed[first.run_id], placed[second.run_id]
    shared = a.index.intersection(b.index)
    a, b = a.loc[shared], b.loc[shared]
    gain = a["right"].to_numpy(dtype=np.float64) - b["right"].to_numpy(dtype=np.float64)
    found = []
    for place in np.concatenate(largest(gain, most)).tolist():
        one, other = a.iloc[place], b.iloc[place]
        texts = (("word", str(one["word"])), ("class", str(one["classes"])))
        said = [f"among: {side['cluster_class']}" for side in (one, other)]
        address = {"words_view": "categories"}
        found.append(Change(int(shared[place]), texts, said[0], said[1], float(gain[place]), address))
    won, lost = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    return Changes("words", "has the word among its kind", won, lost, len(gain) - won - lost, tuple(found))


def difference_of_cases(pairs: Sequence[tuple[RunRecord, RunRecord]], repository: Repository) -> list[Difference]:
    """See ``blindspot.runs.comparison.DifferencesOf``, for the diagnostics of ``cases.KINDS``: over groups of cases."""
    kind = cases.KINDS[pairs[0][0].plan.diagnostic]
    entry = kind.entry
    rows = repository.items(entry, list(dict.fromkeys(run.run_id for pair in pairs for run in pair)), texts=True)
    right = rows.pivot(index="item_no", columns="run_id", values="hit").dropna()
    groups = rows.drop_duplicates("item_no").set_index("item_no")[kind.group].loc[right.index]
    known = kind.dependence(groups.tolist())
    both = [tuple(right[run.run_id].to_numpy(dtype=np.float64) for run in pair) for pair in pairs]
    p = statistics.p_values(np.column_stack([one - other for one, other in both]), known)
    return [
        Difference.of(
            entry,
            entry.headline,
            kind.title,
            statistics.share(one, known),
            statistics.share(other, known),
            statistics.difference(one, other, known),
            float(p[i]),
            f"sign flips of {kind.unit}",
            unit=str(kind.unit),
            wins=int(np.count_nonzero(one > other)),
            losses=int(np.count_nonzero(one < other)),
            address={"words_view": kind.view, f"{kind.view}_of": pairs[0][0].plan.dataset},
        )
        for i, (one, other) in enumerate(both)
    ]


def changed_of_cases(first: RunRecord, second: RunRecord, repository: Repository, most: int) -> Changes:
    """See ``blindspot.runs.comparison.ChangesOf``, for the diagnostics of ``cases.KINDS``."""
    kind = cases.KINDS[first.plan.diagnostic]
    rows = repository.items(kind.entry, [first.run_id, second.run_id], texts=True)
    a, b = (rows[rows["run_id"] == run.run_id].set_index("item_no") for run in (first, second))
    shared = a.index.intersection(b.index)
    a, b = a.loc[shared], b.loc[shared]
    gain = a["hit"].to_numpy(dtype=np.float64) - b["hit"].to_numpy(dtype=np.float64)
    found = []
    for place in np.concatenate(largest(gain, most)).tolist():
        said = [kind.answer(side.iloc[place]) for side in (a, b)]
        texts, address = kind.texts(a.iloc[place]), kind.address(first)
        found.append(Change(int(shared[place]), texts, said[0], said[1], float(gain[place]), address))
    won, lost = int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0))
    return Changes(kind.cases[1], "is right", won, lost, len(gain) - won - lost, tuple(found))


def _placed(run_ids: Sequence[str], repository: Repository) -> dict[str, pd.DataFrame]:
    """By run id a row per word: ``word``, ``classes`` in words, ``cluster_class``, and whether that is one of them."""
    rows = repository.items(categorization.ENTRY, run_ids, texts=True)
    rows["right"] = rows["class"] == rows["cluster_class"]
    found = rows.groupby(["run_id", "item_no"], sort=True).agg(
        word=("word", "first"),
        classes=("class", ", ".join),
        cluster_class=("cluster_class", "first"),
        right=("right", "max"),
    )
    return {str(run_id): own.droplevel("run_id") for run_id, own in found.groupby("run_id")}
