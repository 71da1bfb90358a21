"""Effects of each choice on the score: every number against a loop over similarities."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.pairs import pair_table, rows_of_runs
from blindspot.diagnostics.evalrank.trust import (
    Choice,
    as_toolkit,
    choices,
    other_coverage,
    other_protocol,
    pairs_of,
    with_first_items,
)
from blindspot.encoders.cache import EmbeddingCache
from blindspot.numerics.ranking.problem import TAU
from blindspot.runs import pipeline, requesting
from blindspot.runs.embeddings import EmbeddingsGone
from blindspot.settings import Settings
from blindspot.store.records import RunRecord
from blindspot.store.repository import Repository
from blindspot.texts import near_duplicate_key
from tests.conftest import make_settings
from tests.support.small_world import SMALL_PAIRS, GramEncoder
from tests.support.tables import each
from tests.support.world import World


@pytest.fixture(scope="module")
def stored(module_world: World) -> tuple[World, RunRecord]:
    module_world.add(GramEncoder(), SMALL_PAIRS)
    return module_world, module_world.run("evalrank", "trigrams", "small-pairs")


Stored = tuple[World, RunRecord]


def loop_ranks(matrix: np.ndarray, dataset: PairSet, filtered: bool) -> list[tuple[int, int]]:
    """Per pair, how many items are above the match and how many are tied with it."""
    unit = [row / np.linalg.norm(row) if np.linalg.norm(row) else row for row in matrix.astype(np.float64)]
    pairs = list(zip(dataset.queries.tolist(), dataset.matches.tolist(), strict=True))
    out = []
    for query, match in pairs:
        skip = {query, match}
        if filtered:
            skip |= {m for q, m in pairs if q == query}
            keys = {near_duplicate_key(dataset.items[query]), near_duplicate_key(dataset.items[match])} - {""}
            skip |= {i for i, text in enumerate(dataset.items) if near_duplicate_key(text) in keys}
        target = unit[query] @ unit[match]
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


def found_by_name(stored: Stored, filtered: bool) -> dict[tuple[str, str], Choice]:
    world, run = stored
    repository = world.repository
    rows = rows_of_runs(ENTRY, [run.run_id], repository)[run.run_id]
    texts = pairs_of(rows, pair_table(ENTRY, [run.run_id], repository).frame)
    return {(c.about, c.way): c for c in choices(rows, texts, filtered=filtered)}


def embeddings(stored: Stored) -> np.ndarray:
    world, run = stored
    settings = world.settings
    embedded = EmbeddingCache(settings.embeddings).read(run.plan.embedding_digest)
    assert embedded is not None
    return np.asarray(embedded.matrix)


@pytest.mark.parametrize("filtered", [False, True])
def test_every_choice_is_what_a_loop_finds(stored: Stored, filtered: bool) -> None:
    found = found_by_name(stored, filtered)
    ranks = loop_ranks(embeddings(stored), SMALL_PAIRS, filtered)
    pairs = list(zip(SMALL_PAIRS.queries.tolist(), SMALL_PAIRS.matches.tolist(), strict=True))
    items = SMALL_PAIRS.items
    assert any(ties for _, ties in ranks)
    copies = [q == m or "" != near_duplicate_key(items[q]) == near_duplicate_key(items[m]) for q, m in pairs]
    rivals = [any(other == q and match not in (q, m) for other, match in pairs) for q, m in pairs]
    expected = {
        ("ties", "optimistic"): [(above, 0) for above, _ in ranks],
        ("ties", "pessimistic"): [(above + ties, 0) for above, ties in ranks],
        ("ranks", "raw" if filtered else "filtered"): loop_ranks(embeddings(stored), SMALL_PAIRS, not filtered),
        ("pairs", "without near-duplicates"): [r for r, out in zip(ranks, copies, strict=True) if not out],
        ("pairs", "without a text and itself"): [r for r, (q, m) in zip(ranks, pairs, strict=True) if q != m],
        ("pairs", "without rival matches"): [r for r, out in zip(ranks, rivals, strict=True) if not out],
    }
    shown = [c for c in found.values() if c.is_shown]
    assert len(shown) == 1
    assert (shown[0].score.mrr, shown[0].score.hits_at_1) == pytest.approx(mean_score(ranks))
    assert set(found) - {(shown[0].about, shown[0].way)} == set(expected)
    for name, kept in expected.items():
        score = found[name].score
        assert score.pairs == len(kept), name
        assert (score.mrr, score.hits_at_1) == pytest.approx(mean_score(kept)), name


@pytest.mark.parametrize("first", [9, 12, len(SMALL_PAIRS.items)])
def test_fewer_candidates_are_ranked_as_a_loop_ranks_them(stored: Stored, first: int) -> None:
    world, run = stored
    settings, repository = world.settings, world.repository
    rows = with_first_items(run, first, settings, repository, ENTRY)
    inside = (SMALL_PAIRS.queries < first) & (SMALL_PAIRS.matches < first)
    part = PairSet("part", SMALL_PAIRS.items[:first], SMALL_PAIRS.queries[inside], SMALL_PAIRS.matches[inside])
    assert rows.item_no.tolist() == np.flatnonzero(inside).tolist()
    for filtered in (False, True):
        expected = loop_ranks(embeddings(stored)[:first], part, filtered)
        counts = rows.counts(filtered)
        assert list(zip(counts.greater.tolist(), counts.ties.tolist(), strict=True)) == expected


def test_embeddings_that_are_gone_are_said_to_be(stored: Stored, tmp_path: Path) -> None:
    world, run = stored
    settings = world.settings
    shutil.copy(settings.store, tmp_path / "results.duckdb")
    elsewhere = make_settings(tmp_path)
    with pytest.raises(EmbeddingsGone):
        with_first_items(run, 9, elsewhere, Repository.at(elsewhere.store), ENTRY)


@each(
    ("asked", "done"),
    [("none", "center"), ("center", "center"), ("center+whiten:2", "center+whiten:2"), ("abtt:2", "center+abtt:2")],
)
def test_the_toolkit_centres_first(asked: str, done: str) -> None:
    assert as_toolkit(asked) == done


def test_the_other_protocol_is_found_among_stored_runs(world: World) -> None:
    world.add(GramEncoder(), SMALL_PAIRS)
    repository = world.repository

    def run(transform: str, protocol: str) -> RunRecord:
        return world.run("evalrank", f"trigrams~{transform}", "small-pairs", protocol=protocol)

    none, center = run("none", "definition"), run("center", "definition")
    assert other_protocol(none, ENTRY, repository) is None
    toolkit = run("none", "toolkit")
    assert other_protocol(none, ENTRY, repository) == toolkit
    assert other_protocol(center, ENTRY, repository) == toolkit  # which centres, too
    assert other_protocol(toolkit, ENTRY, repository) == center
    with pytest.raises(ValueError, match="by definition"):
        with_first_items(toolkit, 9, world.settings, repository, ENTRY)


def test_own_and_common_coverage_are_each_others_counterpart(
    tmp_path: Path, settings: Settings, repository: Repository
) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("query,match\ncat,dog\ndog,cat\ncow,pig\nhen,owl\n")
    references = []
    for name, words in (("first", "cat dog cow pig"), ("second", "cat dog hen owl")):
        file = tmp_path / f"{name}.txt"
        file.write_text("".join(f"{word} {i}.5 {-i} 1\n" for i, word in enumerate(words.split())))
        references.append(f"vectors:{file}")

    def run(covered_by: list[str]) -> RunRecord:
        request = requesting.request("evalrank", references[0], "none", f"file:{pairs}", {}, settings, covered_by)
        return pipeline.run(request, settings, repository).record

    own = run([])
    assert other_coverage(own, ENTRY, repository) is None
    common = run(references)
    assert (own.metrics["pairs"], common.metrics["pairs"]) == (3, 2)
    assert other_coverage(own, ENTRY, repository) == common
    assert other_coverage(common, ENTRY, repository) == own
