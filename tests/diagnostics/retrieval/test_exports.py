"""Hard negatives and TREC runs: by hand, and scored again by trec_eval."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest
import pytrec_eval

from blindspot.diagnostics.retrieval import exports
from blindspot.diagnostics.retrieval.definition import ENTRY
from blindspot.diagnostics.retrieval.exports import hard_negatives, outranking, trec_run
from blindspot.diagnostics.retrieval.outcomes import QueryTable, Side, lost, query_table
from blindspot.errors import InputError
from blindspot.settings import Settings
from tests.support import retrieval_world as toy
from tests.support.commands import Command
from tests.support.pages import OpenApp
from tests.support.small_world import GramEncoder
from tests.support.world import World

DATA = toy.made("hand", ["first", "second", "third", "fourth"], ["zero", "one", "two", "three"],
                [{2: 1, 1: 0}, {0: 2}, {3: 0}, {3: 1, 1: 2}])  # fmt: skip
TOPS = [
    [("d0", 0.9), ("d1", 0.8), ("d2", 0.7), ("d3", 0.6)],  # d0 unjudged and d1 irrelevant above d2
    [("d0", 0.9), ("d1", 0.8), ("d2", 0.7), ("d3", 0.6)],  # the relevant one is first
    [("d0", 0.9), ("d1", 0.8), ("d2", 0.7), ("d3", 0.6)],  # nothing is relevant
    [("d2", 0.9), ("d0", 0.5), ("d3", 0.5), ("d1", 0.4)],  # d0 is tied with d3, not above it
]
SIDE = Side("run")


def made_table(ids: list[str] | None = None, tops: list[list[tuple[str, float]]] | None = None) -> QueryTable:
    judged = [
        [(DATA.document_ids[d], int(g), 0, 0) for d, g in zip(*DATA.judgments_of(q), strict=True)] for q in range(4)
    ]
    about = pd.DataFrame(
        {"item_no": range(4), "query_id": ids or DATA.query_ids, "query": DATA.query_texts, "relevant": 1}
    )
    rows = pd.DataFrame({"top": [json.dumps(top) for top in tops or TOPS], "judged": [json.dumps(j) for j in judged]})
    return QueryTable(about, {"run": rows})


def test_hard_negatives_by_hand() -> None:
    found = hard_negatives(made_table(), SIDE, DATA)
    assert found[["query", "positive", "negative"]].to_numpy().tolist() == [
        ["first", "two", "zero"], ["first", "two", "one"], ["fourth", "three", "two"]
    ]  # fmt: skip
    assert found["judged"].tolist() == [False, True, False]
    assert found["negative_rank"].tolist() == [1, 2, 1]
    assert found["positive_rank"].tolist() == [3, 3, 3]
    assert hard_negatives(made_table(), SIDE, DATA, most=1)["negative"].tolist() == ["zero", "two"]


def test_a_relevant_document_beyond_the_list_has_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    tops = [[("d0", 0.9), ("d1", 0.8)], *TOPS[1:]]

    def first() -> pd.DataFrame:
        found = hard_negatives(made_table(tops=tops), SIDE, DATA)
        return found[found["query"] == "first"]

    assert first()["negative"].tolist() == ["zero", "one"]  # there is no more that was found
    monkeypatch.setattr(exports, "TOP", 2)
    assert first()["negative"].tolist() == ["zero"]  # the last one may tie with what the list lacks
    assert first()["positive_rank"].isna().all()
    assert outranking([], {"d1"}) == []


def test_keyword_search_does_not_find_what_shares_no_word_with_the_query() -> None:
    """Its zeros are no rows of a run, no hard negatives, in no top ten, and not unjudged."""
    tops = [
        [("d0", 0.9), ("d3", 0.0), ("d2", 0.0), ("d1", 0.0)],  # d2 is relevant and shares no word
        [("d0", 0.9), ("d1", 0.0), ("d2", 0.0), ("d3", 0.0)],
        [("d0", 0.0), ("d1", 0.0), ("d2", 0.0), ("d3", 0.0)],
        [("d2", 0.9), ("d1", 0.5), ("d3", 0.0), ("d0", 0.0)],
    ]
    plain = made_table()
    rows = plain.rows["run"].assign(bm25_top=[json.dumps(top) for top in tops])
    table, side = QueryTable(plain.about, {"run": rows}), Side("run", is_bm25=True)
    lines = [line.split()[:3:2] for line in trec_run(table, side, "x").splitlines()]
    assert lines == [["q0", "d0"], ["q1", "d0"], ["q3", "d2"], ["q3", "d1"]]
    negatives = hard_negatives(table, side, DATA)
    assert negatives[["query", "negative"]].to_numpy().tolist() == [["first", "zero"], ["fourth", "two"]]
    assert negatives["positive_rank"].isna().tolist() == [True, False]
    assert [sorted(top) for top in table.in_top_ten(side)] == [["d0"], ["d0"], [], ["d1", "d2"]]
    unjudged = table.unjudged(side)
    assert (unjudged.counts.tolist(), unjudged.shown, unjudged.share) == ([1, 0, 0, 1], 4, 0.5)
    seen = lost(table, SIDE, side)
    assert (seen.losing, seen.gaining, seen.first) == (2, 0, 1)  # queries 1 and 4 lose one; nothing comes first in 3
    assert seen.overlap == (1 / 4 + 1 / 4 + 0 + 2 / 4) / 4
    assert lost(table, side, side).overlap == 1


def test_a_document_that_the_dataset_lost_is_named() -> None:
    with pytest.raises(InputError, match="d9"):
        hard_negatives(made_table(tops=[[("d9", 0.9), ("d2", 0.8)], *TOPS[1:]]), SIDE, DATA)


def test_trec_run_by_hand() -> None:
    lines = trec_run(made_table(), SIDE, "my model").splitlines()
    assert lines[0] == "q0 Q0 d0 1 0.900000 my-model"
    assert len(lines) == 16
    with pytest.raises(InputError, match="a b"):
        trec_run(made_table(ids=["a b", "c", "d", "e"]), SIDE, "x")


@pytest.fixture(scope="module")
def made(module_world: World) -> World:
    module_world.add(GramEncoder("trigrams", 3), GramEncoder("letters", 1), toy.dataset())
    for name in ("trigrams", "letters"):
        module_world.run(ENTRY.id, name, toy.NAME, ties="trec_eval")
        module_world.run(ENTRY.id, name, toy.NAME)
    return module_world


@pytest.fixture
def settings(made: World) -> Settings:
    return made.settings


def parsed(text: str) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        query, _, document, _, score, _ = line.split(" ")
        out.setdefault(query, {})[document] = float(score)
    return out


def test_trec_eval_gives_an_exported_run_its_stored_scores(made: World) -> None:
    data = toy.dataset()
    qrels: Mapping[str, Mapping[str, int]] = {
        data.query_ids[q]: {data.document_ids[d]: int(g) for d, g in zip(*data.judgments_of(q), strict=True)}
        for q in range(len(data.queries))
        if len(data.judgments_of(q)[0])
    }
    run = made.run(ENTRY.id, "letters", toy.NAME, ties="trec_eval")
    found = query_table(ENTRY, [run.run_id], made.repository)
    for side in (Side(run.run_id), Side(run.run_id, is_bm25=True)):
        scores = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recip_rank"}).evaluate(
            parsed(trec_run(found, side, "x"))
        )
        for row, query in enumerate(found.about["query_id"]):
            assert scores[query]["ndcg_cut_10"] == pytest.approx(found.scores(side, "ndcg@10")[row], abs=1e-9)
            assert scores[query]["recip_rank"] == pytest.approx(found.scores(side, "mrr")[row], abs=1e-9)


def test_hard_negatives_of_a_run_are_above_its_first_relevant_document(made: World) -> None:
    run, data = made.run(ENTRY.id, "letters", toy.NAME), toy.dataset()
    found = query_table(ENTRY, [run.run_id], made.repository)
    rows = hard_negatives(found, Side(run.run_id), data, 100).groupby("query_id")["negative_id"].apply(list).to_dict()
    for row, query in enumerate(found.about["query_id"]):
        greater = [one.greater for one in found.judged(run.run_id, row) if one.grade >= 1]
        first = [document for document, _ in found.top(Side(run.run_id), row)][: min(greater, default=0)]
        assert rows.get(query, []) == first
    assert rows


def test_the_command_writes_both(made: World, blindspot: Command, tmp_path: Path) -> None:
    run = made.run(ENTRY.id, "letters", toy.NAME)
    found = query_table(ENTRY, [run.run_id], made.repository)
    expected = hard_negatives(found, Side(run.run_id), toy.dataset(), 2)
    for ending in (".jsonl", ".csv", ".parquet"):
        path = tmp_path / f"negatives{ending}"
        blindspot.out("export", run.run_id, "--format", "hard-negatives", "--most", "2", "--output", str(path))
        read = {".jsonl": lambda p: pd.read_json(p, lines=True), ".csv": pd.read_csv, ".parquet": pd.read_parquet}
        back = read[ending](path)
        assert back["negative"].tolist() == expected["negative"].tolist()
        assert list(back)[:3] == ["query", "positive", "negative"]
    path = tmp_path / "letters.run"
    blindspot.out("export", run.run_id, "--format", "trec-run", "--output", str(path))
    assert path.read_text() == trec_run(found, Side(run.run_id), "letters~none")
    refused = blindspot("export", run.run_id, "--format", "trec-run", "--output", str(tmp_path / "x.csv"))
    assert refused.code == 2


def test_the_page_offers_both(open_app: OpenApp, made: World) -> None:
    sides = {"a": "trigrams", "b": "letters"}
    address = {f"retrieval_{letter}": f"{name}~none" for letter, name in sides.items()}
    app = open_app(made.cache, "retrieval", data=toy.NAME, model=list(address.values()), view="queries",
                   **address)  # fmt: skip
    keys = " ".join(element.proto.id for element in app.get("download_button"))
    for letter, name in sides.items():
        run = made.run(ENTRY.id, name, toy.NAME)
        some = hard_negatives(query_table(ENTRY, [run.run_id], made.repository), Side(run.run_id), toy.dataset())
        assert f"trec_{letter}" in keys
        for ending in (".jsonl", ".csv", ".parquet"):
            assert (f"negatives_{letter}_download{ending}" in keys) == (len(some) > 0)
