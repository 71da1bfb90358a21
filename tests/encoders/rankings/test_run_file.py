"""Scores of run files are those of trec_eval on the same file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.datasets.kinds.retrieval import RetrievalDataset
from blindspot.diagnostic import DiagnosticResult
from blindspot.diagnostics.retrieval.definition import ENTRY, column_of
from blindspot.encoders.rankings.run_file import RunFile
from blindspot.errors import InputError
from blindspot.types import CancelToken, no_progress
from tests.support import retrieval_world as toy
from tests.support.retrieval_world import TREC

MEASURES = {"ndcg_cut.10,100", "recall.10,100", "recip_rank", "map", "P.10", "success.1,3,5,10"}
Run = dict[str, dict[str, float]]


def scored(path: Path, data: RetrievalDataset, **params: str) -> DiagnosticResult:
    return ENTRY.rank(RunFile(path), data, ENTRY.check_params(params), no_progress, CancelToken())


def written(path: Path, run: Run) -> Path:
    lines = [f"{q} Q0 {d} 1 {score!r} mine\n" for q, found in run.items() for d, score in found.items()]
    path.write_text("".join(lines))
    return path


def by_trec_eval(data: RetrievalDataset, run: Run) -> dict[str, dict[str, float]]:
    """By query id of the dataset with judgments; 0 where the run has none, as with trec_eval -c."""
    qrels = {
        name: {data.document_ids[d]: int(g) for d, g in zip(*data.judgments_of(q), strict=True)}
        for q, name in enumerate(data.query_ids)
        if len(data.judgments_of(q)[0])
    }
    found = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    return {q: {name: found.get(q, {}).get(theirs, 0.0) for name, theirs in TREC.items()} for q in qrels}


def check(result: DiagnosticResult, data: RetrievalDataset, expected: dict[str, dict[str, float]]) -> None:
    assert result.item_numbers is not None
    assert [data.query_ids[i] for i in result.item_numbers.tolist()] == list(expected)
    rows = result.items.to_pandas()
    for name in TREC:
        theirs = [of_query[name] for of_query in expected.values()]
        assert rows[column_of(name)].tolist() == pytest.approx(theirs, abs=1e-9), name
        assert result.metrics[name] == pytest.approx(np.mean(theirs), abs=1e-9)


DATA = toy.dataset()
PAIRS = st.tuples(st.sampled_from([*DATA.query_ids, "q99"]), st.sampled_from(DATA.document_ids))


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(PAIRS, st.integers(-3, 3).map(lambda i: i / 3) | st.floats(-1e30, 1e30), min_size=1, max_size=300)
)
def test_in_its_order_scores_are_those_of_trec_eval(
    tmp_path_factory: pytest.TempPathFactory, given_scores: dict[tuple[str, str], float]
) -> None:
    run: Run = {}
    for (query, document), score in {("q0", "d0"): 1.0, **given_scores}.items():
        run.setdefault(query, {})[document] = score
    path = written(tmp_path_factory.mktemp("run") / "a.run", run)
    result = scored(path, DATA, ties="trec_eval")
    expected = by_trec_eval(DATA, run)
    check(result, DATA, expected)
    assert result.metrics["unranked"] == sum(q not in run for q in expected)
    assert result.metrics["ignored"] == ("q99" in run)


def deep_run(depth: int) -> Run:
    """Distinct scores for the first documents of a random order."""
    random = np.random.default_rng(depth)
    return {
        q: {DATA.document_ids[d]: float(s) for s, d in enumerate(random.permutation(len(DATA.document_ids))[:depth])}
        for q in DATA.query_ids[:12]
    }


@pytest.mark.parametrize("depth", [3, 20, 1_000])
def test_without_ties_expected_scores_are_those_of_trec_eval(tmp_path: Path, depth: int) -> None:
    run = deep_run(depth)
    result = scored(written(tmp_path / "a.run", run), DATA)
    check(result, DATA, by_trec_eval(DATA, run))
    top = json.loads(result.items["top"][0].as_py())
    assert [name for name, _ in top] == sorted(run["q0"], key=lambda d: -run["q0"][d])[:100]


def test_predictions_are_the_same_run(tmp_path: Path) -> None:
    run = deep_run(20)
    path = tmp_path / "Task_predictions.json"
    path.write_text(json.dumps({"mteb_model_meta": {}, "default": {"test": run}}))
    one, other = scored(path, DATA), scored(written(tmp_path / "a.run", run), DATA)
    assert one.metrics == other.metrics
    assert one.items.equals(other.items)


def test_what_is_not_retrieved_has_no_place(tmp_path: Path) -> None:
    judged = dict(zip(*(x.tolist() for x in DATA.judgments_of(0)), strict=True))
    relevant = next(d for d, grade in judged.items() if grade >= 1)
    name = DATA.document_ids[relevant]
    result = scored(written(tmp_path / "a.run", {"q0": {name: 1.0}}), DATA)
    row = result.items.to_pylist()[0]
    assert json.loads(row["top"]) == [[name, 1.0]]
    places = {document: (above, ties) for document, _, above, ties in json.loads(row["judged"])}
    assert places.pop(name) == (0, 0)
    assert set(places.values()) <= {(None, 0)}
    assert row["unjudged_10"] == 0
    assert [json.loads(row["top"]) for row in result.items.to_pylist()[1:]] == [[]] * (len(result.items) - 1)


def test_identity_is_the_content(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    digests = [RunFile(written(path, {"q0": {"d0": score}})).digest("") for score in (1.0, 1.0, 2.0)]
    assert digests[0] == digests[1] != digests[2]


def test_a_run_of_unjudged_queries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no document for the queries"):
        scored(written(tmp_path / "a.run", {"q9": {"d0": 1.0}}), DATA)


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path / "a.run", {"q0": {"d0": 1.0}})
    ranking = RunFile(path)
    written(path, {"q0": {"d0": 1.0, "d1": 0.5}})
    with pytest.raises(InputError, match="changed"):
        ranking.read(DATA)
