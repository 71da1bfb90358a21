"""EvalRank by role: queries' vectors as queries, candidates' as documents, in scores and wherever pages rank again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.datasets.published.pairs import pair_set
from blindspot.diagnostics.evalrank import reasons, what_if
from blindspot.diagnostics.evalrank.definition import ENTRY, candidates_of, compute, exclusions_of, rank
from blindspot.diagnostics.evalrank.outranking import Pairs, first_ranked, queries_above
from blindspot.diagnostics.evalrank.pairs import around_match, rows_of_runs
from blindspot.diagnostics.evalrank.trust import with_first_items
from blindspot.numerics.ranking.gpu import rank_pairs_on
from blindspot.numerics.similarity import Similarity
from blindspot.runs.embeddings import embedded_of
from blindspot.store.records import RunRecord
from blindspot.transforms.chain import TransformChain
from blindspot.types import CancelToken, Float32, no_progress
from tests.support import evalrank_reference as reference
from tests.support.asking import ASK, TELL, AskingEncoder
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.world import World

TEXTS = ("a", "A", "b", "B ", "ab", "c", "?", "d")


@st.composite
def datasets(draw: st.DrawFn) -> PairSet:
    """Pairs of few texts: texts in both roles, several matches, repeated and self pairs, near-duplicates."""
    text = st.sampled_from(TEXTS)
    pairs = draw(st.lists(st.tuples(text, text), min_size=1, max_size=8))
    return pair_set("drawn", pairs, draw(st.lists(text, max_size=len(TEXTS))))


def by_loop(
    documents: Float32, queries: Float32, dataset: PairSet, metric: str, *, matches_only: bool, filtered: bool
) -> list[reference.ReferenceCount]:
    """Counts of every pair: its query's vector ``queries[asking]`` against those of all candidates as documents."""
    pairs = list(zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True))
    asking = sorted({query for query, _ in pairs})
    n = len(dataset.items)
    out = []
    for query, match in pairs:
        vectors = [*documents.astype(np.float64).tolist(), queries[asking.index(query)].astype(np.float64).tolist()]
        left_out = {query} - {match}
        if matches_only:
            left_out |= set(range(n)) - {other for _, other in pairs}
        if filtered:
            left_out |= reference.filtered_out(dataset.items, pairs, query, match)
        out.append(reference.count(vectors, n, match, metric, left_out))
    return out


@given(
    dataset=datasets(),
    metric=st.sampled_from(Similarity),
    seed=st.integers(0, 2**32 - 1),
    matches_only=st.booleans(),
    is_rounded=st.booleans(),
)
@hypothesis_settings(max_examples=80, deadline=None)
def test_ranks_by_role_equal_the_float64_loop(
    dataset: PairSet, metric: Similarity, seed: int, matches_only: bool, is_rounded: bool
) -> None:
    n, q = len(dataset.items), len(dataset.asking)
    matrix = np.random.default_rng(seed).standard_normal((n + q, 4)).astype(np.float32)
    if is_rounded:
        matrix = np.round(matrix)  # many ties, and zero vectors
    raw, filtered = (
        by_loop(matrix[:n], matrix[n:], dataset, metric.value, matches_only=matches_only, filtered=f)
        for f in (False, True)
    )
    assume(not any(count.borderline for count in raw))
    params = {"metric": metric.value, "protocol": "definition", "candidates": "matches" if matches_only else "all"}
    found = compute(matrix, dataset, params, no_progress, CancelToken())
    for way, counts in (("", raw), ("_filtered", filtered)):
        assert found.items[f"greater{way}"].to_pylist() == [count.greater for count in counts]
        assert found.items[f"ties{way}"].to_pylist() == [count.ties for count in counts]
    assert found.items["similarity"].to_pylist() == pytest.approx([count.similarity for count in raw], abs=1e-12)
    among = candidates_of(dataset, params)
    on_device = rank(
        dataset,
        matrix,
        metric,
        among,
        exclusions_of(dataset).among(among),
        no_progress,
        CancelToken(),
        partial(rank_pairs_on, "cpu"),
    )
    for counts, ours in zip((raw, filtered), on_device, strict=True):
        assert ours.greater.tolist() == [count.greater for count in counts]
        assert ours.ties.tolist() == [count.ties for count in counts]
    alike = compute(matrix[:n], dataset, params, no_progress, CancelToken())
    twice = compute(np.concatenate([matrix[:n], matrix[dataset.asking]]), dataset, params, no_progress, CancelToken())
    assert twice.items.equals(alike.items), "with the same vectors in both roles, nothing changes"
    assert twice.metrics == alike.metrics


def test_by_hand_a_text_is_another_one_as_a_query() -> None:
    """On a line. As documents: x 0, y 3, z 5. As queries: x 4, y 1. Pairs: x with y, y with x, y with itself."""
    dataset = PairSet("line", ("x", "y", "z"), np.int32([0, 1, 1]), np.int32([1, 0, 1]))
    line = np.float32([[0], [3], [5], [4], [1]])
    found = compute(line, dataset, {"metric": "l2", "protocol": "definition"}, no_progress, CancelToken()).items
    # From 4: y (3) and z (5) are equally near. From 1: x (0) is nearest, y (3) no candidate; itself is behind x.
    assert found["greater"].to_pylist() == [0, 0, 1]
    assert found["ties"].to_pylist() == [1, 0, 0]
    assert found["greater_filtered"].to_pylist() == [0, 0, 0], "x is another match of y"


# --- runs, and what pages compute from their embeddings


@pytest.fixture
def run(world: World) -> RunRecord:
    world.add(SMALL_PAIRS, AskingEncoder(), GramEncoder())
    return world.run("evalrank", "asking", SMALL_PAIRS.id)


def by_role(world: World, run: RunRecord) -> tuple[Float32, Float32]:
    """All items as documents, and those that ask as queries, encoded by themselves."""
    del world, run
    encoder, items = AskingEncoder(), SMALL_PAIRS.items
    asked = [items[number] for number in sorted(set(SMALL_PAIRS.queries.tolist()))]
    return (
        encoder.prompted(TELL).encode(items, CancelToken()),
        encoder.prompted(ASK).encode(asked, CancelToken()),
    )


def test_a_run_has_both_roles_and_says_so(world: World, run: RunRecord) -> None:
    documents, queries = by_role(world, run)
    matrix = embedded_of(run, world.settings).matrix
    np.testing.assert_array_equal(matrix, np.concatenate([documents, queries]))
    facts = run.manifest["encoder"]
    assert facts["prompts"] == {"query": ASK, "document": TELL}
    assert run.manifest["embeddings"]["truncated_share"] is None, "this encoder does not count"
    rows = rows_of_runs(ENTRY, [run.run_id], world.repository)[run.run_id]
    expected = by_loop(documents, queries, SMALL_PAIRS, "cos", matches_only=False, filtered=False)
    assert rows.raw.greater.tolist() == [count.greater for count in expected]
    assert rows.raw.ties.tolist() == [count.ties for count in expected]
    assert run.coverage["items"] == len(SMALL_PAIRS.items)
    alike = world.run("geometry", "asking", SMALL_PAIRS.id)
    assert "prompts" not in alike.manifest["encoder"], "its texts have one role"
    toolkit = world.run("evalrank", "asking", SMALL_PAIRS.id, protocol="toolkit")
    assert "prompts" not in toolkit.manifest["encoder"], "the toolkit knows no roles"
    assert len(embedded_of(toolkit, world.settings).matrix) == len(SMALL_PAIRS.items)


@pytest.mark.parametrize(
    ("variant", "candidates"),
    [
        ("asking", "all"),
        pytest.param("asking", "matches", marks=pytest.mark.heavy),
        pytest.param("asking~center", "matches", marks=pytest.mark.heavy),
        pytest.param("asking~abtt:1", "all", marks=pytest.mark.heavy),
        ("asking~int8-docs", "matches"),
        pytest.param("trigrams~center+binary-docs", "all", marks=pytest.mark.heavy),
    ],
)
def test_whatever_ranks_again_ranks_alike(world: World, run: RunRecord, variant: str, candidates: str) -> None:
    run = world.run("evalrank", variant, SMALL_PAIRS.id, candidates=candidates)
    settings, repository = world.settings, world.repository
    rows = rows_of_runs(ENTRY, [run.run_id], repository)[run.run_id]
    table = repository.items(ENTRY, [run.run_id], texts=True).sort_values("item_no")
    for pair, greater, similarity in zip(
        table.itertuples(), rows.raw.greater.tolist(), rows.raw.similarity.tolist(), strict=True
    ):
        shown = around_match(run, pair.query_no, pair.match_no, settings, repository)
        (match,) = [item for item in shown if item.item_no == pair.match_no]
        assert match.position == greater + 1
        assert match.similarity == pytest.approx(similarity, abs=1e-6)
        assert all(item.item_no != pair.query_no for item in shown if item is not match)
    basis = what_if.basis(run, ENTRY, repository)
    again = what_if.what_if(basis, run.plan.variant.chain, Similarity.COS, settings)
    fewer = with_first_items(run, len(SMALL_PAIRS.items), settings, repository, ENTRY)
    for found in (again.raw.after, fewer.raw):
        assert found.greater.tolist() == rows.raw.greater.tolist()
        assert found.ties.tolist() == rows.raw.ties.tolist()
    for found in (again.filtered.after, fewer.filtered):
        assert found.greater.tolist() == rows.filtered.greater.tolist()
    numbers = {name: table[name].to_numpy(np.int64) for name in ("item_no", "query_no", "match_no")}
    pairs = Pairs(*numbers.values(), list(table["query"]), list(table["match"]))
    missed = np.flatnonzero(rows.filtered.greater > 0).astype(np.int64)
    found = first_ranked(run, pairs, missed, settings, repository)
    assert found is not None
    for place, item in zip(found.places.tolist(), found.items.tolist(), strict=True):
        assert item not in (-1, pairs.query_no[place], pairs.match_no[place])
        above = around_match(run, pairs.query_no[place], pairs.match_no[place], settings, repository)
        first = next(one.similarity for one in above if not one.left_out)
        assert [one.similarity for one in above if one.item_no == item] == [pytest.approx(first, abs=1e-6)]


def test_hubs_and_other_queries_are_counted_by_role(world: World, run: RunRecord) -> None:
    documents, queries = by_role(world, run)
    asking = np.unique(SMALL_PAIRS.queries).astype(np.int64)
    hubs = reasons.occurrences(run, asking, world.settings, world.repository)
    expected = np.zeros(len(documents), dtype=np.int64)
    k = min(reasons.K, len(documents) - 1)
    for item, query in zip(asking.tolist(), queries.tolist(), strict=True):
        near = [reference.cosine(query, document.tolist()) for document in documents]
        near[item] = -np.inf
        kth = sorted(near)[-k]
        expected += np.array([value > kth + 1e-6 for value in near])
    assert (hubs.counts >= expected).all()
    assert hubs.counts.sum() == k * len(asking)
    query_no, match_no = (numbers.astype(np.int64) for numbers in (SMALL_PAIRS.queries, SMALL_PAIRS.matches))
    assert queries_above(run, query_no, match_no, world.settings, world.repository).above == 0, "all pairs are mutual"


def test_queries_above_a_match_are_those_of_the_loop(world: World) -> None:
    texts = [("who runs in the park", "a dog runs"), ("who sleeps in the park", "a cat"), ("where is the park", "dog")]
    data = pair_set("apart", texts, ["the end"])
    world.add(data, AskingEncoder())
    run = world.run("evalrank", "asking", data.id)
    encoder = AskingEncoder()
    documents = encoder.prompted(TELL).encode(data.items, CancelToken())
    above = 0
    for query, match in zip(data.queries.tolist(), data.matches.tolist(), strict=True):
        asked = encoder.prompted(ASK).encode([data.items[query]], CancelToken())[0].tolist()
        near = [reference.cosine(asked, document.tolist()) for document in documents]
        above += any(near[j] > near[match] + 1e-6 for j in set(data.queries.tolist()) - {query})
    numbers = data.queries.astype(np.int64), data.matches.astype(np.int64)
    assert queries_above(run, *numbers, world.settings, world.repository).above == above > 0


@pytest.mark.parametrize("transform", ["none", "center"])
def test_a_part_of_the_texts_keeps_both_roles(world: World, transform: str) -> None:
    """Beside a model that lacks some texts."""
    world.add(SMALL_PAIRS, AskingEncoder(), GramEncoder("partial", 2, lacks=lambda text: "sofa" in text.casefold()))
    request = replace(world.request("evalrank", f"asking~{transform}", SMALL_PAIRS.id), covered_by=("partial",))
    from blindspot.runs import pipeline

    run = pipeline.run(request, world.settings, world.repository).record
    kept = [i for i, text in enumerate(SMALL_PAIRS.items) if "sofa" not in text.casefold()]
    pairs = [(q, m) for q, m in zip(SMALL_PAIRS.queries.tolist(), SMALL_PAIRS.matches.tolist(), strict=True)]
    pairs = [(kept.index(q), kept.index(m)) for q, m in pairs if q in kept and m in kept]
    part = PairSet(
        "part",
        tuple(SMALL_PAIRS.items[i] for i in kept),
        np.array([q for q, _ in pairs], dtype=np.int32),
        np.array([m for _, m in pairs], dtype=np.int32),
    )
    encoder = AskingEncoder()
    documents = encoder.prompted(TELL).encode(part.items, CancelToken())
    queries = encoder.prompted(ASK).encode([part.items[i] for i in sorted({q for q, _ in pairs})], CancelToken())
    if transform == "center":
        mean = np.concatenate([documents, queries]).astype(np.float64).mean(axis=0)
        documents, queries = (np.float32(rows - mean) for rows in (documents, queries))
    expected = by_loop(documents, queries, part, "cos", matches_only=False, filtered=False)
    rows = rows_of_runs(ENTRY, [run.run_id], world.repository)[run.run_id]
    assert rows.raw.greater.tolist() == [count.greater for count in expected]
    again = what_if.what_if(
        what_if.basis(run, ENTRY, world.repository), TransformChain.parse(transform), Similarity.COS, world.settings
    )
    assert again.raw.after.greater.tolist() == rows.raw.greater.tolist()
    query, match = (kept[i] for i in pairs[0])
    shown = around_match(run, query, match, world.settings, world.repository)
    assert [item.position for item in shown if item.item_no == match] == [expected[0].greater + 1]


def test_a_transform_fitted_elsewhere_is_fitted_on_documents(world: World, run: RunRecord) -> None:
    held_out = world.run("evalrank", "asking~center", SMALL_PAIRS.id, fit_on="demo-pairs")
    assert held_out.manifest["encoder"]["prompts"] == {"query": ASK, "document": TELL}
    assert held_out.run_id != run.run_id
