"""Outlier detection: by hand, by the paper's definition with loops, with words that are missing, and its files."""

from __future__ import annotations

import ast
import csv
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.published.word_relations import Group, outliers, read_groups, read_own_groups
from blindspot.diagnostics.words.cases import OUTLIERS
from blindspot.diagnostics.words.outliers import ENTRY, compute, detect
from blindspot.encoders.catalog import resolve_encoder
from blindspot.errors import BlindspotError, DataCorrupt, InputError
from blindspot.runs import pipeline
from blindspot.runs.comparison import headline_tests
from blindspot.settings import ASSETS, Settings
from blindspot.types import CancelToken, Float64, no_progress
from tests.support.small_world import GramEncoder
from tests.support.world import World

GROUPS = [
    Group("walkers", ("walking", "walker", "walked"), ("mice", "talking")),
    Group("talkers", ("talking", "talker", "talked", "talks"), ("oslo",)),
    Group("pair", ("rome", "romes"), ("walks", "oslo")),
]
ODD = outliers("toy-outliers", GROUPS)


def compactness(vectors: Float64, rows: list[int]) -> float:
    """The paper's: the mean cosine of all ordered pairs of different words."""
    total, pairs = 0.0, 0
    for a, b in permutations(rows, 2):
        total += float(vectors[a] @ vectors[b]) / float(np.linalg.norm(vectors[a]) * np.linalg.norm(vectors[b]))
        pairs += 1
    return total / pairs


def reference(vectors: Float64, members: list[int], outlier: int) -> tuple[int, float]:
    """The word without which the others are most compact, and OP / n of the outlier; without ties."""
    words = [*members, outlier]
    left = {word: compactness(vectors, [other for other in words if other != word]) for word in words}
    order = sorted(words, key=lambda word: left[word])
    return order[-1], order.index(outlier) / len(members)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 7), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_it_is_that_of_the_paper(k: int, dimension: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(k + 3, dimension)) * rng.uniform(0.1, 9, size=(k + 3, 1))
    rows = [rng.permutation(k + 3)[: k + 1] for _ in range(5)]
    members = np.array([[*row[:-1], -1] for row in rows], dtype=np.int32)
    found = detect(vectors, members, np.array([row[-1] for row in rows], np.int32), no_progress, CancelToken(), 0.0)
    for i, row in enumerate(rows):
        picked, place = reference(vectors, row[:-1].tolist(), int(row[-1]))
        assert found.words[i] == k
        if k > 2:  # of three words, what is left without one is a pair: rounding may order equal pairs otherwise
            assert (found.picked[i], found.position[i]) == (picked, pytest.approx(place))
            assert found.right[i] == (picked == row[-1])


def test_by_hand() -> None:
    vectors = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    members = np.array([[0, 1, 2], [0, 1, -1], [1, 2, 3]], dtype=np.int32)
    found = detect(vectors, members, np.array([3, 3, 0], dtype=np.int32), no_progress, CancelToken())
    half = np.sqrt(0.5)
    assert found.picked.tolist() == [3, 3, 3]
    assert found.similarity == pytest.approx([half / 3, 0.0, (1 + half) / 3])
    assert found.lowest[2] == pytest.approx(half / 3)
    assert found.right.tolist() == [1.0, 1.0, 0.0]
    # In the third case 3 is odd; 0, 1 and 2 are then told by (1 + h) / 3, (1 + h) / 3 and 3h / 3.
    assert found.lower.tolist() == [0, 0, 1]
    assert found.ties.tolist() == [0, 0, 1]
    assert found.position == pytest.approx([1.0, 1.0, 1 - 1.5 / 3])


def test_without_a_direction_it_is_guessing() -> None:
    result = compute(np.zeros((len(ODD.items), 3)), ODD, {}, no_progress, CancelToken())
    assert result.metrics["accuracy"] == pytest.approx(result.metrics["chance"])
    assert result.metrics["chance"] == pytest.approx((2 / 4 + 1 / 5 + 2 / 3) / 5)
    assert result.metrics["opp"] == pytest.approx(0.5)
    assert (result.metrics["cases"], result.metrics["groups"], result.metrics["tied_cases"]) == (5, 3, 5)
    with pytest.raises(BlindspotError, match="NaN"):
        compute(np.full((len(ODD.items), 3), np.nan), ODD, {}, no_progress, CancelToken())


def test_a_word_without_a_vector_leaves_out_its_cases_and_one_of_the_group_all_of_them(world: World) -> None:
    lacks = GramEncoder("lacks", lacks=lambda text: text in {"mice", "romes"})
    world.add(ODD, GramEncoder(), lacks)
    run = world.run("outliers", "lacks", ODD.id)
    assert run.coverage == {
        "cases": 5, "cases_covered": 2, "items": len(ODD.items), "items_covered": len(ODD.items) - 2,
    }  # fmt: skip
    assert run.metrics["groups"] == 2
    rows = world.repository.items(ENTRY, [run.run_id], texts=True)
    assert rows["item_no"].tolist() == [1, 2]
    assert rows["outlier"].tolist() == ["talking", "oslo"]
    assert rows["group_name"].tolist() == ["walkers", "talkers"]
    assert rows["words"].tolist() == ["walking; walker; walked", "talking; talker; talked; talks"]
    request = replace(world.request("outliers", "trigrams", ODD.id), covered_by=("lacks",))
    common = pipeline.run(request, world.settings, world.repository).record
    assert common.metrics["cases"] == 2
    known_none = GramEncoder("none", lacks=lambda text: "l" in text or text == "romes")
    world.add(known_none)
    with pytest.raises(InputError, match="no case of 'toy-outliers' is left"):
        world.run("outliers", "none", ODD.id)


def test_two_runs_differ_over_groups(world: World) -> None:
    groups = [Group(f"{stem}ing", (f"{stem}ing", f"{stem}er", f"{stem}ed"), (stem[::-1],)) for stem in STEMS]
    world.add(outliers("many", groups), GramEncoder(), GramEncoder("blind", lacks=lambda _: False))
    first = world.run("outliers", "trigrams", "many")
    second = world.run("outliers", "random-projection", "many")
    (found,) = headline_tests(ENTRY, [(first, second)], world.repository)
    assert found.n == len(STEMS)
    assert found.value == pytest.approx(first.metrics["accuracy"] - second.metrics["accuracy"])
    rows = world.repository.items(ENTRY, [first.run_id], texts=True)
    estimate = OUTLIERS.share(rows["hit"].to_numpy(), rows)
    assert (estimate.units, estimate.value) == (len(STEMS), pytest.approx(first.metrics["accuracy"]))


STEMS = ("walk", "talk", "bark", "jump", "paint", "climb", "cook", "plant", "laugh")


def test_groups_that_say_nothing_are_refused() -> None:
    for group in (Group("g", ("a",), ("b",)), Group("g", ("a", "b"), ()), Group("g", ("a", "b"), ("b",))):
        with pytest.raises(DataCorrupt, match="the group 'g' has"):
            outliers("x", [group])
    for groups in ([], [Group("g", ("a", "b"), ("c",))] * 2):
        with pytest.raises(DataCorrupt, match="groups"):
            outliers("x", groups)
    assert outliers("x", [Group("g", ("a", "b", "a"), ("c", "c"))]).rows(0, 9) == [("g", "c", "a; b")]


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text(
        ",category,outliers,words\n0,Big_cats,\"['New_York', 'dog', '']\",\"['tiger', \"\"Père_David's deer\"\"]\"\n",
        "utf-8",
    )
    assert read_groups(path) == [Group("Big cats", ("tiger", "Père David's deer"), ("New York", "dog"))]
    for cell in ("tiger", "['tiger'", "7", "[7]", "__import__('os')"):
        path.write_text(f',category,outliers,words\n0,cats,"[\'dog\']","{cell}"\n', "utf-8")
        with pytest.raises(DataCorrupt, match="line 2: no lists of words"):
            read_groups(path)
    built_in = read_own_groups(ASSETS / "demo" / "outliers.tsv")
    assert {(len(group.words), len(group.outliers)) for group in built_in} == {(8, 6)}


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "cases", "repeated"), [("outliers-8-8-8", 64, 0), ("outliers-wikisem500", 2_812, 22)])
def test_the_files_and_minilm_on_them(shared_settings: Settings, name: str, cases: int, repeated: int) -> None:
    """Every word is in the file, and MiniLM's answers, those of 8-8-8 and of a part of WikiSem500, are the loop's."""
    entry = find_dataset(name)
    (file,) = entry.files
    data = fetch.load(entry, shared_settings)
    with fetch.local_path(file, shared_settings).open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    odd = [[w.replace("_", " ") for w in ast.literal_eval(row["outliers"]) if w] for row in rows]
    words = [[w.replace("_", " ") for w in ast.literal_eval(row["words"]) if w] for row in rows]
    assert sum(map(len, odd)) == cases == len(data.outliers) + repeated
    said = [word for group, outside in zip(words, odd, strict=True) for word in (*group, *outside)]
    assert list(data.items) == list(dict.fromkeys(said))
    few = [Group(str(i), tuple(words[i]), tuple(odd[i])) for i in range(8)]
    part = outliers("part", few)
    vectors = resolve_encoder("minilm", shared_settings).encode(list(part.items), CancelToken())
    found = detect(vectors, part.members, part.outliers, no_progress, CancelToken())
    slow = vectors.astype(np.float64)
    for case, outlier in enumerate(part.outliers.tolist()):
        members = [i for i in part.members[case].tolist() if i >= 0]
        assert (found.picked[case], found.position[case]) == reference(slow, members, outlier)
