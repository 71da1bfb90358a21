"""Views of stored words, cases and phrases, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.words.cases import EVENTS, OUTLIERS
from blindspot.diagnostics.words.categorization import placed
from blindspot.diagnostics.words.view import case_groups, case_shares, clusters_view, phrase_kinds


def test_outliers_by_group() -> None:
    rows = pd.DataFrame({"group_name": ["b", "b", "a"], "hit": [1.0, 0.0, 0.5], "opp": [1.0, 0.5, 0.75]})
    rows = rows.assign(outlier=["x", "y", "z"], words=["v; w", "v; w", "t; u"])
    shares = case_shares(OUTLIERS, rows)
    assert {name: one.value for name, one in shares.items()} == {
        "all: accuracy": 0.5,
        "all: outlier position": pytest.approx(0.75),
    }
    assert all(one.units == 2 for one in shares.values()), "groups, not cases"
    assert case_groups(OUTLIERS, rows).reset_index().to_numpy().tolist() == [["b", 2, 0.5, 0.75], ["a", 1, 0.5, 0.75]]


def test_events_without_another_patient_are_left_out_of_fillers() -> None:
    columns = ("hit", "hit_verb", "hit_agent", "hit_fillers", "fillers")
    rows = pd.DataFrame([(1.0, 1.0, 0.0, 1.0, 2), (0.0, 1.0, 0.5, np.nan, 0)], columns=columns)
    rows = rows.assign(verb=["x", "y"], agent=["v", "w"])
    assert [one.value for one in case_shares(EVENTS, rows).values()] == [0.5, 1.0, 0.25, 1.0]
    assert len(case_shares(EVENTS, rows[1:])) == 3
    assert list(case_groups(EVENTS, rows)) == ["cases", "right"]


def test_words_by_cluster_and_class() -> None:
    rows = pd.DataFrame(
        [(0, "bass", "fish", 1, "fish"), (0, "bass", "music", 1, "fish"), (1, "cod", "fish", 1, "fish"),
         (2, "lute", "music", 1, "fish"), (3, "drum", "music", 0, "music")],
        columns=["item_no", "word", "class", "cluster", "cluster_class"],
    )  # fmt: skip
    view = clusters_view(rows)
    assert view.classes == ("fish", "music")
    assert sorted(zip(view.order.tolist(), view.counts.tolist(), strict=True)) == [(0, [0, 1]), (1, [2, 2])]
    words = placed(rows)
    assert words["right"].tolist() == [True, True, False, True]
    assert words["classes"].tolist() == ["fish, music", "fish", "music", "music"]


def test_phrases_by_kind_the_most_frequent_first() -> None:
    tags = {"tags": ["B-NP I-NP B-VP", "B-NP B-PP"], "predicted": ["B-NP I-NP B-NP", "B-NP O"]}
    rows = pd.DataFrame({"sentence": ["one two three", "four five"], **tags})
    every, nouns, *others = phrase_kinds(rows)
    assert (every.kind, every.phrases, every.found, every.right) == ("all phrases", 4, 3, 2)
    assert every.f1.value == pytest.approx(4 / 7)
    assert (every.precision, every.recall) == (pytest.approx(2 / 3), 0.5)
    assert (nouns.kind, nouns.phrases, nouns.found, nouns.right) == ("NP", 2, 3, 2)
    assert {(one.kind, one.precision, one.recall) for one in others} == {("PP", None, 0.0), ("VP", None, 0.0)}
