"""What each choice does to the score: every number against a loop over similarities."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.cli import main
from core.datasets.kinds.pairs import PairSet
from core.datasets.published.pairs import most_similar_quarter
from core.diagnostics.evalrank.definition import ENTRY
from core.diagnostics.evalrank.pairs import pair_table, rows_of_runs
from core.diagnostics.evalrank.trust import (
    Choice,
    PairTexts,
    as_toolkit,
    choices,
    other_protocol,
    other_support,
    score_of_run,
    with_first_items,
)
from core.encoders.cache import EmbeddingCache
from core.numerics.ranking.problem import TAU
from core.runs import pipeline
from core.runs.embeddings import EmbeddingsGone
from core.settings import Settings
from core.store.records import RunRecord
from core.store.repository import Repository
from core.texts import near_duplicate_key
from tests.conftest import make_settings
from tests.support.small_world import SMALL_PAIRS, GramEncoder, register_dataset, register_encoder

World = tuple[Settings, Repository, RunRecord]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    patch = pytest.MonkeyPatch()
    settings = make_settings(tmp_path_factory.mktemp("trust") / "cache")
    register_encoder(patch, GramEncoder())
    register_dataset(patch, SMALL_PAIRS)
    repository = Repository.at(settings.store)
    request = pipeline.request("evalrank", "trigrams", "none", "small-pairs", {}, settings)
    yield settings, repository, pipeline.run(request, settings, repository).record
    patch.undo()


def loop_ranks(matrix: np.ndarray, dataset: PairSet, filtered: bool) -> list[tuple[int, int]]:
    """Per pair, how many items are above the mate and how many are tied with it."""
    unit = [row / np.linalg.norm(row) if np.linalg.norm(row) else row for row in matrix.astype(np.float64)]
    pairs = list(zip(dataset.queries.tolist(), dataset.mates.tolist(), strict=True))
    out = []
    for query, mate in pairs:
        skip = {query, mate}
        if filtered:
            skip |= {m for q, m in pairs if q == query}
            keys = {near_duplicate_key(dataset.items[query]), near_duplicate_key(dataset.items[mate])} - {""}
            skip |= {i for i, text in enumerate(dataset.items) if near_duplicate_key(text) in keys}
        target = unit[query] @ unit[mate]
        others = [unit[query] @ row for i, row in enumerate(unit) if i not in skip]
        above = sum(s > target + TAU for s in others)
        out.append((above, sum(abs(s - target) <= TAU for s in others)))
    return out


def mean_score(ranks: list[tuple[int, int]]) -> tuple[float, float]:
    orders = [[1 + above + i for i in range(ties + 1)] for above, ties in ranks]
    return (
        float(np.mean([np.mean([1 / r for r in order]) for order in orders])),
        float(np.mean([np.mean([r == 1 for r in order]) for order in orders])),
    )


def found_by_name(world: World, filtered: bool) -> dict[tuple[str, str], Choice]:
    _, repository, run = world
    rows = rows_of_runs(ENTRY, [run.run_id], repository)[run.run_id]
    texts = PairTexts.of(rows, pair_table(ENTRY, [run.run_id], repository).frame)
    return {(c.about, c.way): c for c in choices(rows, texts, filtered=filtered)}


def embeddings(world: World) -> np.ndarray:
    settings, _, run = world
    embedded = EmbeddingCache(settings.embeddings).read(run.plan.embedding_digest)
    assert embedded is not None
    return np.asarray(embedded.matrix)


@pytest.mark.parametrize("filtered", [False, True])
def test_every_choice_is_what_a_loop_finds(world: World, filtered: bool) -> None:
    found = found_by_name(world, filtered)
    ranks = loop_ranks(embeddings(world), SMALL_PAIRS, filtered)
    pairs = list(zip(SMALL_PAIRS.queries.tolist(), SMALL_PAIRS.mates.tolist(), strict=True))
    items = SMALL_PAIRS.items
    assert any(ties for _, ties in ranks)
    twins = [q == m or "" != near_duplicate_key(items[q]) == near_duplicate_key(items[m]) for q, m in pairs]
    rivals = [any(other == q and mate not in (q, m) for other, mate in pairs) for q, m in pairs]
    expected = {
        ("ties", "optimistic"): [(above, 0) for above, _ in ranks],
        ("ties", "pessimistic"): [(above + ties, 0) for above, ties in ranks],
        ("ranks", "raw" if filtered else "filtered"): loop_ranks(embeddings(world), SMALL_PAIRS, not filtered),
        ("pairs", "without near-duplicates"): [r for r, out in zip(ranks, twins, strict=True) if not out],
        ("pairs", "without a text and itself"): [r for r, (q, m) in zip(ranks, pairs, strict=True) if q != m],
        ("pairs", "without rival mates"): [r for r, out in zip(ranks, rivals, strict=True) if not out],
    }
    shown = [c for c in found.values() if c.is_shown]
    assert len(shown) == 1
    assert (shown[0].score.mrr, shown[0].score.hits_at_1) == pytest.approx(mean_score(ranks))
    assert set(found) - {(shown[0].about, shown[0].way)} == set(expected)
    for name, kept in expected.items():
        score = found[name].score
        assert score.pairs == len(kept), name
        assert (score.mrr, score.hits_at_1) == pytest.approx(mean_score(kept)), name


def test_the_shown_score_is_the_stored_one(world: World) -> None:
    for filtered, suffix in ((False, ""), (True, "_filtered")):
        score = next(c.score for c in found_by_name(world, filtered).values() if c.is_shown)
        assert score.mrr == pytest.approx(world[2].metrics[f"mrr{suffix}"])
        assert score.hits_at_1 == pytest.approx(world[2].metrics[f"hits@1{suffix}"])


@pytest.mark.parametrize("first", [9, 12])
def test_fewer_candidates_are_ranked_as_a_loop_ranks_them(world: World, first: int) -> None:
    settings, repository, run = world
    rows = with_first_items(run, first, settings, repository, ENTRY)
    inside = (SMALL_PAIRS.queries < first) & (SMALL_PAIRS.mates < first)
    part = PairSet("part", SMALL_PAIRS.items[:first], SMALL_PAIRS.queries[inside], SMALL_PAIRS.mates[inside])
    assert rows.item_no.tolist() == np.flatnonzero(inside).tolist()
    for filtered in (False, True):
        expected = loop_ranks(embeddings(world)[:first], part, filtered)
        counts = rows.counts(filtered)
        assert list(zip(counts.greater.tolist(), counts.ties.tolist(), strict=True)) == expected


def test_all_candidates_give_the_stored_ranks(world: World) -> None:
    settings, repository, run = world
    again = with_first_items(run, len(SMALL_PAIRS.items), settings, repository, ENTRY)
    stored = rows_of_runs(ENTRY, [run.run_id], repository)[run.run_id]
    for filtered in (False, True):
        assert again.score(filtered) == stored.score(filtered)


def test_embeddings_that_are_gone_are_said_to_be(world: World, tmp_path: Path) -> None:
    settings, _, run = world
    shutil.copy(settings.store, tmp_path / "results.duckdb")
    elsewhere = make_settings(tmp_path)
    with pytest.raises(EmbeddingsGone, match="no longer in the cache"):
        with_first_items(run, 9, elsewhere, Repository.at(elsewhere.store), ENTRY)


def test_the_words_of_demo_words_come_first() -> None:
    """What ``core_texts`` of the catalog relies on: sets first, then what is added."""
    dataset = most_similar_quarter("x", [[("a", "b", 2.0), ("c", "d", 1.0), ("e", "e", 0.5), ("a", "f", 0.1)]], "azy")
    assert dataset.items == ("a", "b", "c", "d", "e", "f", "z", "y")


@pytest.mark.parametrize(
    ("asked", "done"),
    [("none", "center"), ("center", "center"), ("center+whiten:2", "center+whiten:2"), ("abtt:2", "center+abtt:2")],
)
def test_the_toolkit_centres_first(asked: str, done: str) -> None:
    assert as_toolkit(asked) == done


def test_the_other_protocol_is_found_among_stored_runs(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, repository: Repository
) -> None:
    register_encoder(monkeypatch, GramEncoder())
    register_dataset(monkeypatch, SMALL_PAIRS)

    def run(transform: str, protocol: str) -> RunRecord:
        params = {"protocol": protocol}
        request = pipeline.request("evalrank", "trigrams", transform, "small-pairs", params, settings)
        return pipeline.run(request, settings, repository).record

    none, center = run("none", "definition"), run("center", "definition")
    assert other_protocol(none, ENTRY, repository) is None
    toolkit = run("none", "toolkit")
    assert other_protocol(none, ENTRY, repository) == toolkit
    assert other_protocol(center, ENTRY, repository) == toolkit  # which centres, too
    assert other_protocol(toolkit, ENTRY, repository) == center
    assert score_of_run(toolkit, ENTRY, repository, filtered=False).mrr == pytest.approx(toolkit.metrics["mrr"])
    with pytest.raises(ValueError, match="by definition"):
        with_first_items(toolkit, 9, settings, repository, ENTRY)


def test_own_and_common_support_are_each_others_counterpart(
    tmp_path: Path, settings: Settings, repository: Repository
) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("query,mate\ncat,dog\ndog,cat\ncow,pig\nhen,owl\n")
    references = []
    for name, words in (("first", "cat dog cow pig"), ("second", "cat dog hen owl")):
        file = tmp_path / f"{name}.txt"
        file.write_text("".join(f"{word} {i}.5 {-i} 1\n" for i, word in enumerate(words.split())))
        references.append(f"vectors:{file}")

    def run(support: list[str]) -> RunRecord:
        request = pipeline.request("evalrank", references[0], "none", f"file:{pairs}", {}, settings, support)
        return pipeline.run(request, settings, repository).record

    own = run([])
    assert other_support(own, ENTRY, repository) is None
    common = run(references)
    assert (own.metrics["pairs"], common.metrics["pairs"]) == (3, 2)
    assert other_support(own, ENTRY, repository) == common
    assert other_support(common, ENTRY, repository) == own


def test_the_command_prints_the_same_choices(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, _, run = world
    monkeypatch.setenv("BLINDSPOT_CACHE", str(settings.cache))
    assert main(["runs", "trust", run.run_id, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["choices"]
    found = found_by_name(world, filtered=False)
    assert [(row["about"], row["way"]) for row in printed] == list(found)
    for row, choice in zip(printed, found.values(), strict=True):
        assert (row["mrr"], row["hits@1"]) == pytest.approx((choice.score.mrr, choice.score.hits_at_1))
        assert row["pairs"] == choice.score.pairs
    assert main(["runs", "trust", run.run_id, "--filtered"]) == 0
    assert "filtered ranks, ties expected" in capsys.readouterr().out
