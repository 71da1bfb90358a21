"""Kinds of query, by hand and on stored runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.own_columns import OwnColumn
from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.item_scores import side_scores
from blindspot.diagnostics.retrieval.kinds import (
    MEASURES,
    NEGATED,
    PLAIN,
    Features,
    Kind,
    grouping,
    scores_by_kind,
)
from blindspot.diagnostics.retrieval.outcomes import Side, query_table
from blindspot.numerics.statistics.groups import Grouping, by_value, gains
from blindspot.texts import is_negated
from tests.support import retrieval_world as toy
from tests.support.commands import Command
from tests.support.pages import OpenApp, chart_named, table
from tests.support.small_world import GramEncoder
from tests.support.tables import each
from tests.support.world import World, small_world

DOCUMENTS = [
    "Apples grow on trees.",
    "Apples fall; trees do not.",
    "Boats float on water.",
    "Water is wet.",
]
QUERIES = {
    "apples trees": {0: 1, 2: 0},  # both words in the relevant document; rarest word in two documents
    "Will boats not float on apples or zeppelins?": {2: 1, 3: 2},  # two of four words in the first, none in the second
    "the of": {3: 1},  # stop words only
    "water": {0: 0},  # nothing relevant
}


def labels(groups: Grouping, queries: int) -> list[str | None]:
    return [next((g.label for g in groups.groups if g.inside[q]), None) for q in range(queries)]


def test_kinds_by_hand() -> None:
    data = toy.made("kinds", list(QUERIES), DOCUMENTS, list(QUERIES.values()))
    found = Features.of(data)
    assert found.length.tolist() == [2, 8, 2, 1]
    assert found.overlap == pytest.approx([1.0, 0.5, np.nan, np.nan], nan_ok=True)
    assert found.rarest == pytest.approx([2, 0, np.nan, 2], nan_ok=True)
    assert found.relevant.tolist() == [1, 2, 1, 0]
    assert found.negated.tolist() == [False, True, False, False]
    numbers = np.arange(4)
    by = {kind: labels(grouping(kind, found, numbers), 4) for kind in Kind}
    assert by[Kind.LENGTH] == ["up to 3", "over 5 to 10", "up to 3", "up to 3"]
    assert by[Kind.OVERLAP] == ["all words", "0.5 to 0.75", None, None]
    assert by[Kind.RARE] == ["2 to 5", "0", None, "2 to 5"]
    assert by[Kind.RELEVANT] == ["1", "2", "1", None]
    assert by[Kind.NEGATION] == [PLAIN, NEGATED, PLAIN, PLAIN]
    some = grouping(Kind.LENGTH, found, np.array([1, 3]))
    assert [(g.label, g.inside.tolist()) for g in some.groups] == [
        ("up to 3", [False, True]), ("over 5 to 10", [True, False])
    ]  # fmt: skip


@each(
    ("text", "expected"),
    [
        ("Which birds cannot fly?", True),
        ("Wings that DON'T flap", True),
        ("a sky without clouds", True),
        ("isn’t it", True),
        ("no sugar", True),
        ("a knot, a note, an important nook", False),
        ("", False),
    ],
)
def test_negations(text: str, expected: bool) -> None:
    assert is_negated(text) is expected


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with small_world(tmp_path_factory.mktemp("world")) as world:
        world.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1), toy.dataset())
        for name in ("trigrams", "letters"):
            world.run(ENTRY.id, name, toy.NAME)
            world.run(ENTRY.id, name, "demo-retrieval")
        yield world


def demo(world: World) -> RetrievalDataset:
    found = fetch.load(find_dataset("demo-retrieval"), world.settings)
    assert isinstance(found, RetrievalDataset)
    return found


def test_the_score_of_a_kind_is_the_mean_over_its_queries(made: World) -> None:
    a, b = (made.run(ENTRY.id, name, "demo-retrieval") for name in ("trigrams", "letters"))
    found = query_table(ENTRY, [a.run_id, b.run_id], made.repository)
    data = demo(made)
    features = Features.of(data)
    groupings = {str(kind): grouping(kind, features, found.numbers) for kind in Kind}
    for side in (Side(a.run_id), Side(b.run_id), Side(a.run_id, is_bm25=True)):
        for groups in groupings.values():
            for group, row in zip(groups.groups, scores_by_kind(groups, found, side), strict=True):
                rows = np.flatnonzero(group.inside).tolist()
                assert row["queries"] == len(rows)
                for measure in MEASURES:
                    values = found.scores(side, measure)
                    assert row[measure] == pytest.approx(sum(values[i] for i in rows) / len(rows))
    for one in gains(
        groupings, found.numbers, *(side_scores(found, Side(run.run_id))["ndcg@10"] for run in (a, b))
    ).tested:
        rows = np.flatnonzero(one.group.inside)
        difference = found.scores(Side(b.run_id), "ndcg@10")[rows] - found.scores(Side(a.run_id), "ndcg@10")[rows]
        assert one.test.value == pytest.approx(difference.mean())
        assert one.rows >= 20


def test_queries_are_grouped_by_a_column_of_their_file() -> None:
    column = OwnColumn("topic", ("a", "b"), np.array([0, 1, 1, 1], dtype=np.uint8))
    groups = by_value("query", column.name, column.groups(np.array([0, 2, 3])))
    assert [(g.label, g.inside.tolist()) for g in groups.groups] == [
        ("b", [False, True, True]),
        ("a", [True, False, False]),
    ]
    assert groups.axis == {"query": "topic"}


@pytest.mark.parametrize("kind", [Kind.OVERLAP, Kind.NEGATION])
def test_the_page_shows_a_kind(open_app: OpenApp, made: World, kind: Kind) -> None:
    app = open_app(
        made.cache, "retrieval", data="demo-retrieval", model=["trigrams~none", "letters~none"], view="kinds",
        query_kind=str(kind),
    )  # fmt: skip
    run = made.run(ENTRY.id, "trigrams", "demo-retrieval")
    found = query_table(ENTRY, [run.run_id], made.repository)
    groups = grouping(kind, Features.of(demo(made)), found.numbers)
    rows = table(app, "kind", "independent")
    assert rows["kind"].tolist() == [g.label for g in groups.groups]
    assert rows["queries"].tolist() == [int(g.inside.sum()) for g in groups.groups]
    assert chart_named(app, "retrieval_kinds")["data"]


def test_the_command_prints_each_kind_with_keyword_search_beside_it(
    made: World, blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made.run(ENTRY.id, "trigrams", "demo-retrieval")
    monkeypatch.setenv("BLINDSPOT_CACHE", str(made.cache))
    found = query_table(ENTRY, [run.run_id], made.repository)
    for kind in Kind:
        groups = grouping(kind, Features.of(demo(made)), found.numbers)
        printed = blindspot("runs", "kinds", run.run_id[:8], "--by", kind.replace(" ", "-"), "--json").json
        for name, is_bm25 in (("kinds", False), ("bm25", True)):
            wanted = scores_by_kind(groups, found, Side(run.run_id, is_bm25))
            wanted = [{n: None if v != v else v for n, v in row.items()} for row in wanted]
            assert printed[name] == wanted
    assert "ndcg@10" in blindspot("runs", "kinds", run.run_id).out
    refused = blindspot("runs", "kinds", run.run_id, "--by", "rare-word")
    assert refused.code == 2
    assert "rare-words" in refused.error
