"""Reasons for a document's rank, by hand; below the documents on the page, with the map of its words."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.exports import outranking
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, query_table
from blindspot.diagnostics.retrieval.reasons import TopTens, in_words
from tests.support import retrieval_world as toy
from tests.support.pages import OpenApp
from tests.support.small_world import GramEncoder
from tests.support.tables import each
from tests.support.world import World

SIDE = Side("run")


def tens(tops: list[list[str]], documents: int) -> TopTens:
    about = pd.DataFrame({"item_no": range(len(tops)), "query_id": "q", "query": "x", "relevant": 1})
    rows = pd.DataFrame({"top": [json.dumps([(document, 0.5) for document in top]) for top in tops]})
    return TopTens.of(QueryTable(about, {"run": rows}), SIDE, documents)


def test_top_tens_are_counted_and_hubs_marked() -> None:
    eleven = [f"d{i}" for i in range(11)]
    found = tens([eleven, ["d0"], ["d0", "d10"]], 100)
    assert (found.counts["d0"], found.counts["d9"], found.counts["d10"]) == (3, 1, 1)  # d10 is eleventh once
    assert (found.queries, found.mean) == (3, 0.13)
    assert found.is_hub("d0")  # 3 is more than ten times the mean
    assert not found.is_hub("d1")
    assert not found.is_hub("never")


@each(
    ("query", "text", "unread", "expected"),
    [
        (
            "fly like birds",
            "Birds, and birds that fly.",
            0,
            ["2 of 3 query words", "5 words long", "in 1 of 3 top tens"],
        ),
        ("birds", "They cannot fly.", 0, ["0 of 1 query word", "has a negation, unlike the query"]),
        ("not birds", "Birds.", 1, ["1 of 1 query word", "no negation, unlike the query", "last 1 token not read"]),
        ("not birds", "Not.", 0, ["0 of 1 query word", "1 word long"]),
    ],
)
def test_a_line_by_hand(query: str, text: str, unread: int, expected: list[str]) -> None:
    said = in_words(query, "d1", text, tens([["d0", "d1"], ["d0"], ["d0", "d2"]], 10), unread)
    assert [part for part in expected if part not in said] == []
    assert ("negation" in said) == ("negation" in str(expected))
    assert ("not read" in said) == bool(unread)
    assert "hub" not in said


@pytest.fixture(scope="module")
def made(module_world: World) -> World:
    module_world.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1), toy.dataset())
    for name in ("trigrams", "letters"):
        module_world.run(ENTRY.id, name, toy.NAME)
    return module_world


def test_the_page_says_why_documents_outrank_the_first_relevant_one(open_app: OpenApp, made: World) -> None:
    runs = [made.run(ENTRY.id, name, toy.NAME) for name in ("trigrams", "letters")]
    found = query_table(ENTRY, [run.run_id for run in runs], made.repository)
    data, sides = toy.dataset(), [Side(run.run_id) for run in runs]

    def above(side: Side, row: int) -> int:
        relevant = {one.document for one in found.judged(side.run_id, row) if one.grade >= 1}
        return len(outranking(found.top(side, row), relevant)[:10])

    counts = [[above(side, row) for side in sides] for row in range(len(found))]
    row = int(np.argmax([sum(both) for both in counts]))
    assert sum(counts[row]) > 0
    number = int(found.numbers[row])
    address = {"view": "queries", "a": "trigrams~none", "b": "letters~none"}
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=["trigrams~none", "letters~none"], item=str(number),
                   why="true", **address)  # fmt: skip
    shown = [str(element.proto.body) for element in app.get("html") if "<table" in str(element.proto.body)]
    for html, count, side in zip(shown, counts[row], sides, strict=False):
        relevant = {one.document for one in found.judged(side.run_id, row) if one.grade >= 1}
        in_ten = any(document in relevant for document, _ in found.top(side, row)[:10])
        assert html.count(" query word") == (count + in_ten if count else 0)
    chosen = app.selectbox(key="why_document")
    best = next(side for side, count in zip(sides, counts[row], strict=True) if count)
    assert chosen.value == found.top(best, row)[0][0]
    assert not app.exception
    other = str(next(int(n) for n in found.numbers if n != number and n != 8))
    app.number_input(key="item").set_value(int(other)).run()
    assert not app.exception
    assert app.selectbox(key="why_document").value in data.document_ids
