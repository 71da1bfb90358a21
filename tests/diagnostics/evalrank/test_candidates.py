"""Candidates: all texts, or those that are a match of some query; what runs of before are, and other queries above."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.pairs import pair_set
from blindspot.diagnostics.evalrank import what_if
from blindspot.diagnostics.evalrank.definition import ENTRY, compute
from blindspot.diagnostics.evalrank.outranking import Pairs, first_ranked, only_queries, queries_above
from blindspot.diagnostics.evalrank.pairs import Relation, around_match, pair_table, rows_of_runs
from blindspot.diagnostics.evalrank.toolkit import rank_pairs_as_toolkit
from blindspot.diagnostics.evalrank.trust import other_candidates, other_protocol, with_first_items
from blindspot.encoders.cache import EmbeddingCache
from blindspot.errors import InputError
from blindspot.numerics.ranking.ranks import Exclusions
from blindspot.numerics.similarity import Similarity
from blindspot.runs import pipeline, requesting
from blindspot.runs.comparison import compare_runs
from blindspot.store.records import RunRecord
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken, Float32, no_progress
from tests.support import evalrank_reference as reference
from tests.support.commands import Command
from tests.support.question_passages import PAIRS, write
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

ALL_PLACES = 99
TEXTS = ("a", "A", "b", "B ", "ab", "c", "?", "d")


@st.composite
def datasets(draw: st.DrawFn) -> PairSet:
    """Pairs of few texts, some near-duplicates; queries that are a match and others, several matches, self pairs."""
    text = st.sampled_from(TEXTS)
    pairs = draw(st.lists(st.tuples(text, text), min_size=1, max_size=8))
    return pair_set("drawn", pairs, draw(st.lists(text, max_size=len(TEXTS))))


def pairs_of(dataset: PairSet) -> list[tuple[int, int]]:
    return list(zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True))


def by_loop(matrix: Float32, dataset: PairSet, metric: str, *, filtered: bool) -> list[reference.ReferenceCount]:
    """Counts of every pair where only matches compete."""
    vectors, pairs = matrix.astype(np.float64).tolist(), pairs_of(dataset)
    no_match = set(range(len(dataset.items))) - {match for _, match in pairs}
    out = []
    for query, match in pairs:
        also = reference.filtered_out(dataset.items, pairs, query, match) if filtered else set()
        out.append(reference.count(vectors, query, match, metric, no_match | also))
    return out


@given(dataset=datasets(), metric=st.sampled_from(Similarity), seed=st.integers(0, 2**32 - 1), data=st.data())
@hypothesis_settings(max_examples=60, deadline=None)
def test_ranks_among_matches_equal_the_float64_loop(
    dataset: PairSet, metric: Similarity, seed: int, data: st.DataObject
) -> None:
    matrix = np.random.default_rng(seed).standard_normal((len(dataset.items), 4)).astype(np.float32)
    if data.draw(st.booleans()):
        matrix = np.round(matrix)  # many ties, and zero vectors
    raw, filtered = (by_loop(matrix, dataset, metric.value, filtered=f) for f in (False, True))
    assume(not any(count.borderline for count in raw))
    params = {"metric": metric.value, "protocol": "definition", "candidates": "matches"}
    found = compute(matrix, dataset, params, no_progress, CancelToken())
    for way, counts in (("", raw), ("_filtered", filtered)):
        assert found.items[f"greater{way}"].to_pylist() == [count.greater for count in counts]
        assert found.items[f"ties{way}"].to_pylist() == [count.ties for count in counts]
    assert found.items["similarity"].to_pylist() == pytest.approx([count.similarity for count in raw], abs=1e-12)
    assert found.metrics["background"] == len(set(dataset.matches.tolist()))
    every = compute(matrix, dataset, params | {"candidates": "all"}, no_progress, CancelToken())
    named = {"metric": metric.value, "protocol": "definition"}
    before = compute(matrix, dataset, named, no_progress, CancelToken())
    assert before.metrics == every.metrics, "a run that does not name candidates has all"
    assert before.items.equals(every.items)


def test_by_hand_other_queries_and_background_do_not_compete() -> None:
    """On a line: query 0, other query 1, background 2, match 3, the other match 5."""
    dataset = PairSet("line", ("x", "x2", "b", "y", "y2"), np.int32([0, 1]), np.int32([3, 4]))
    line = np.float32([[0], [1], [2], [3], [5]])
    params = {"metric": "l2", "protocol": "definition"}
    ranks = {
        name: compute(line, dataset, params | {"candidates": name}, no_progress, CancelToken()).items
        for name in ("all", "matches")
    }
    # From 0: 1 and 2 are nearer than 3. From 1: 0, 2 and 3 are nearer than 5; of these only 3 is a match.
    assert ranks["all"]["greater"].to_pylist() == [2, 3]
    assert ranks["matches"]["greater"].to_pylist() == [0, 1]


@pytest.mark.parametrize("metric", Similarity)
def test_the_toolkit_counts_the_query_and_matches_only(metric: Similarity) -> None:
    random = np.random.default_rng(3)
    matrix = random.standard_normal((12, 3))
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    queries, matches = np.int32([0, 1, 2, 5, 5]), np.int32([5, 6, 7, 0, 5])
    among = np.zeros(12, dtype=np.bool_)
    among[matches] = True
    nothing = Exclusions(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    raw, _, itself = rank_pairs_as_toolkit(matrix, queries, matches, metric, nothing, no_progress, CancelToken(), among)
    similarity = reference.SIMILARITIES[metric.value]
    for place, (query, match) in enumerate(zip(queries.tolist(), matches.tolist(), strict=True)):
        x = matrix[query].tolist()
        one = similarity(x, matrix[match].tolist())
        others = {*matches.tolist(), query} - {match}
        above = sum(similarity(x, matrix[j].tolist()) > one for j in others) + bool(itself[place])
        assert raw.greater[place] == max(above, 1) - 1


# --- identity


IDS = {  # computed before there was a choice of candidates
    ("trigrams", "none", ()): "65439ea6025d3524",
    ("trigrams", "center", (("metric", "l2"),)): "f9f61aa5008c39c8",
    ("trigrams", "none", (("protocol", "toolkit"),)): "0aa4a1777901fc40",
    ("bigrams", "none", ()): "c57c2bd8768aef36",
    ("trigrams", "none", ("common",)): "81c787909baa45fd",
    ("trigrams", "center", ("fit_on",)): "0f87e6b847a0da4d",
}


def test_ids_of_runs_among_all_texts_are_those_of_before(world: World) -> None:
    world.add(SMALL_PAIRS, GramEncoder(), GramEncoder("bigrams", 2, lacks=lambda text: "sofa" in text))
    found = {}
    for encoder, transform, asked in IDS:
        params = dict(one for one in asked if isinstance(one, tuple))
        covered_by = ["bigrams"] if "common" in asked else []
        fit_on = "demo-pairs" if "fit_on" in asked else ""
        ids = set()
        for named in ({}, {"candidates": "all"}):  # naming the default changes nothing
            request = requesting.request(
                "evalrank", encoder, transform, "small-pairs", params | named, world.settings, covered_by, fit_on
            )
            assert "candidates" not in dict(request.params)
            ids.add(pipeline.run(request, world.settings, world.repository).record.run_id)
        (found[encoder, transform, asked],) = ids
    assert found == IDS
    other = world.run("evalrank", "trigrams", "small-pairs", candidates="matches")
    assert other.run_id not in IDS.values()
    assert other.plan.params == {"metric": "cos", "protocol": "definition", "candidates": "matches"}
    again = requesting.request_of(other, world.settings)
    assert pipeline.run(again, world.settings, world.repository).record.run_id == other.run_id


def test_an_unknown_kind_of_candidates_is_refused(small: World) -> None:
    with pytest.raises(InputError, match="candidates"):
        small.request("evalrank", "trigrams", "small-pairs", candidates="background")


# --- what is shown of a run among matches


@pytest.fixture
def among(small: World) -> RunRecord:
    return small.run("evalrank", "trigrams", "small-pairs", candidates="matches")


def test_texts_around_a_match_are_matches(small: World, among: RunRecord) -> None:
    table = pair_table(ENTRY, [among.run_id], small.repository)
    matches = set(SMALL_PAIRS.matches.tolist())
    counts = zip(*table.counts(among.run_id, filtered=False), strict=True)
    for row, counted in zip(table.frame.to_dict("records"), counts, strict=True):
        found = around_match(among, row["query_no"], row["match_no"], small.settings, small.repository, 99, ALL_PLACES)
        assert {item.item_no for item in found} == matches - ({row["query_no"]} - {row["match_no"]})
        above = sum(item.relation is Relation.ABOVE for item in found)
        tied = sum(item.relation is Relation.TIED for item in found)
        assert (above, tied) == counted


def test_first_ranked_texts_are_matches(small: World, among: RunRecord) -> None:
    rows = small.repository.items(ENTRY, [among.run_id], texts=True)
    numbers, query_no, match_no = (rows[name].to_numpy(np.int64) for name in ("item_no", "query_no", "match_no"))
    pairs = Pairs(numbers, query_no, match_no, rows["query"].tolist(), rows["match"].tolist())
    missed = np.flatnonzero(rows["greater_filtered"].to_numpy() > 0)
    found = first_ranked(among, pairs, missed, small.settings, small.repository)
    assert found is not None
    assert len(found.places) > 0
    assert found.background == len(set(match_no.tolist()))
    assert set(found.items.tolist()) <= {*match_no.tolist(), -1}


def test_what_if_ranks_among_the_same(small: World, among: RunRecord) -> None:
    base = what_if.basis(among, ENTRY, small.repository)
    stored = small.run("evalrank", "trigrams~center", "small-pairs", candidates="matches")
    rows = rows_of_runs(ENTRY, [stored.run_id], small.repository)[stored.run_id]
    found = what_if.what_if(base, TransformChain.parse("center"), Similarity.COS, small.settings)
    for own, kept in ((found.raw.after, rows.raw), (found.filtered.after, rows.filtered)):
        assert own.greater.tolist() == kept.greater.tolist()
        assert own.ties.tolist() == kept.ties.tolist()


def test_fewer_texts_are_matches_only(small: World, among: RunRecord) -> None:
    rows = with_first_items(among, len(SMALL_PAIRS.items), small.settings, small.repository, ENTRY)
    stored = rows_of_runs(ENTRY, [among.run_id], small.repository)[among.run_id]
    assert rows.filtered.greater.tolist() == stored.filtered.greater.tolist()


def test_counterparts_have_the_same_candidates_or_the_other(small: World, among: RunRecord) -> None:
    assert other_candidates(among, ENTRY, small.repository) is None
    every = small.run("evalrank", "trigrams", "small-pairs")
    assert other_candidates(among, ENTRY, small.repository) == every
    assert other_candidates(every, ENTRY, small.repository) == among
    toolkit = small.run("evalrank", "trigrams", "small-pairs", protocol="toolkit")
    assert other_protocol(every, ENTRY, small.repository) == toolkit
    assert other_protocol(among, ENTRY, small.repository) is None
    assert other_candidates(toolkit, ENTRY, small.repository) is None
    with pytest.raises(InputError, match="candidates"):
        compare_runs(every, among, small.repository)


# --- questions and passages


@pytest.fixture
def questions(world: World, tmp_path: Path) -> str:
    world.add(GramEncoder())
    return write(tmp_path)


def test_other_queries_above_are_counted_as_a_loop_counts_them(world: World, questions: str) -> None:
    run = world.run("evalrank", "trigrams", questions)
    frame = pair_table(ENTRY, [run.run_id], world.repository).frame
    query_no, match_no = (frame[name].to_numpy(dtype=np.int64) for name in ("query_no", "match_no"))
    embedded = EmbeddingCache(world.settings.embeddings).read(run.plan.embedding_digest)
    assert embedded is not None
    vectors = embedded.matrix.astype(np.float64).tolist()
    above = 0
    for query, match in zip(query_no.tolist(), match_no.tolist(), strict=True):
        own = reference.cosine(vectors[query], vectors[match])
        others = set(query_no.tolist()) - {query}
        above += any(reference.cosine(vectors[query], vectors[j]) > own + reference.TAU for j in others)
    found = queries_above(run, query_no, match_no, world.settings, world.repository)
    assert (found.pairs, found.above) == (len(PAIRS), above)
    assert above > len(PAIRS) / 2, "questions resemble questions"
    matches = world.run("evalrank", "trigrams", questions, candidates="matches")
    assert matches.metrics["hits@1"] > run.metrics["hits@1"]
    assert (run.metrics["background"], matches.metrics["background"]) == (2 * len(PAIRS), len(PAIRS))
    toolkit = replace(run, plan=replace(run.plan, params={**run.plan.params, "protocol": "toolkit"}))
    with pytest.raises(ValueError, match="by definition"):
        queries_above(toolkit, query_no, match_no, world.settings, world.repository)


def test_many_pairs_are_sampled_evenly(world: World, questions: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = world.run("evalrank", "trigrams", questions)
    monkeypatch.setattr("blindspot.diagnostics.evalrank.outranking.PRODUCTS", 1)
    monkeypatch.setattr("blindspot.diagnostics.evalrank.outranking.FEWEST", 4)
    frame = pair_table(ENTRY, [run.run_id], world.repository).frame
    numbers = (frame[name].to_numpy(dtype=np.int64) for name in ("query_no", "match_no"))
    assert queries_above(run, *numbers, world.settings, world.repository).pairs == 4


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8))
def test_only_queries_are_no_match_where_no_pair_is_reversed(pairs: list[tuple[int, int]]) -> None:
    query, match = np.array(pairs, dtype=np.int64).T
    reversed_too = any((b, a) in pairs for a, b in pairs if a != b)
    expected = [] if reversed_too else sorted({q for q, _ in pairs} - {m for _, m in pairs})
    assert only_queries(query, match).tolist() == expected


def test_the_command_line_takes_candidates_and_shows_both(
    world: World, questions: str, monkeypatch: pytest.MonkeyPatch, blindspot: Command
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(world.cache))
    asked = ("run", "evalrank", "--encoder", "trigrams", "--dataset", questions)
    (every,) = blindspot.json(*asked)["runs"]
    (among,) = blindspot.json(*asked, "--candidates", "matches")["runs"]
    (again,) = blindspot.json(*asked, "--candidates", "all")["runs"]
    assert every["params"] == {"metric": "cos", "protocol": "definition"}
    assert among["params"] == every["params"] | {"candidates": "matches"}
    assert again["run_id"] == every["run_id"] != among["run_id"]
    assert (every["computed"], again["computed"]) == (True, False)
    for run, other, way in ((every, among, "matches"), (among, every, "all")):
        choices = blindspot.json("runs", "trust", run["run_id"])["choices"]
        (found,) = [choice for choice in choices if choice["about"] == "candidates"]
        assert found["way"] == way
        assert found["hits@1"] == pytest.approx(other["metrics"]["hits@1"])
    assert blindspot("runs", "compare", every["run_id"], among["run_id"]).code == 2
