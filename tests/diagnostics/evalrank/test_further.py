"""Further right answers: ranks without texts of the same group, against a loop; near-duplicates among the misses."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from blindspot.cli import main
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostics.evalrank import further
from blindspot.diagnostics.evalrank.evidence import facts, read
from blindspot.diagnostics.evalrank.pairs import MeanScore
from blindspot.encoders.cache import EmbeddingCache
from blindspot.numerics.ranking.problem import TAU
from blindspot.numerics.ranking.ranks import expected_hit, expected_reciprocal_rank
from blindspot.runs.findings import Material
from blindspot.store.records import RunRecord
from blindspot.studies.findings import wording
from blindspot.texts import near_duplicate_key
from tests.support.pages import OpenApp, written
from tests.support.small_world import GramEncoder
from tests.support.tables import each
from tests.support.world import World

TOPICS = ("cards", "loans", "")
Row = tuple[str, str, str]


def rows_of_pairs() -> list[Row]:
    """Pairs of three topics, one of them unnamed; a query with two matches, a copy, and a text in two groups."""
    out = [
        (
            f"how do I get my {topic or 'money'} number {n}?",
            f"where do I get the {topic or 'money'} of number {n}",
            topic,
        )
        for n in range(12)
        for topic in TOPICS
    ]
    return [
        *out,
        (out[0][0], "get cards quickly", "cards"),
        (out[0][0].upper(), out[3][1], "cards"),
        ("loans for my cards", out[1][0], "cards"),
    ]


def write(path: Path, rows: Sequence[Row]) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("query", "match", "topic"), *rows])
    return f"file:{path}"


@pytest.fixture(scope="module")
def asked(module_world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str]:
    module_world.add(GramEncoder())
    return module_world, write(tmp_path_factory.mktemp("own") / "bank.csv", rows_of_pairs())


def by_group(world: World, run: RunRecord) -> Mapping[str, MeanScore]:
    pairs, rows = further.ranked_pairs(run, world.repository)
    return further.scores_by_group(run, pairs, rows, world.settings, world.repository)


def close(world: World, run: RunRecord) -> further.CloseMisses | None:
    pairs, rows = further.ranked_pairs(run, world.repository)
    return further.close_misses(run, pairs, rows, world.settings, world.repository)


def by_a_loop(world: World, run: RunRecord, rows: Sequence[Row], metric: str, among: str) -> tuple[float, float]:
    """MRR and Hits@1 by filtered ranks without texts of the same topic."""
    entry = find_dataset(run.plan.dataset)
    dataset = entry.load(entry.id, ())
    assert isinstance(dataset, PairSet)
    embedded = EmbeddingCache(world.settings.embeddings).read(run.plan.embedding_digest)
    assert embedded is not None
    matrix = np.asarray(embedded.matrix, dtype=np.float64)
    items, number = dataset.items, {text: n for n, text in enumerate(dataset.items)}

    def similarity(a: int, b: int) -> float:
        if metric == "l2":
            return 1 / (1 + float(np.linalg.norm(matrix[a] - matrix[b])))
        norm = float(np.linalg.norm(matrix[a]) * np.linalg.norm(matrix[b]))
        return float(matrix[a] @ matrix[b]) / norm if norm else 0.0

    candidates = set(range(len(items))) if among == "all" else {number[match] for _, match, _ in rows}
    greater, ties = [], []
    for query, match, topic in rows:
        out = {number[query], number[match]}
        out |= {number[m] for q, m, _ in rows if q == query}
        keys = {near_duplicate_key(query), near_duplicate_key(match)}
        out |= {n for n, text in enumerate(items) if near_duplicate_key(text) in keys}
        if topic:
            out |= {number[text] for q, m, t in rows if t == topic for text in (q, m)}
        target = similarity(number[query], number[match])
        others = [similarity(number[query], other) for other in candidates - out]
        greater.append(sum(s > target + TAU for s in others))
        ties.append(sum(target - TAU <= s <= target + TAU for s in others))
    g, t = np.array(greater), np.array(ties)
    return float(expected_reciprocal_rank(g, t).mean()), float(expected_hit(g, t, 1).mean())


@each(
    "metric, candidates",
    [("cos", "all"), ("l2", "all"), ("cos", "matches")],
)
def test_ranks_without_texts_of_the_same_group_are_those_of_a_loop(
    asked: tuple[World, str], metric: str, candidates: str
) -> None:
    world, dataset = asked
    params = {"metric": metric} | ({"candidates": candidates} if candidates != "all" else {})
    run = world.run("evalrank", "trigrams", dataset, **params)
    found = by_group(world, run)
    expected = by_a_loop(world, run, rows_of_pairs(), metric, candidates)
    assert list(found) == ["topic"]
    assert (found["topic"].mrr, found["topic"].hits_at_1) == pytest.approx(expected)
    assert found["topic"].mrr > run.metrics["mrr_filtered"]


def test_the_toolkit_s_protocol_is_not_ranked_again(asked: tuple[World, str]) -> None:
    world, dataset = asked
    run = world.run("evalrank", "trigrams", dataset, protocol="toolkit")
    assert by_group(world, run) == {}
    assert close(world, run) is None


def test_near_duplicates_among_the_misses_are_counted_and_said(
    asked: tuple[World, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world, dataset = asked
    run = world.run("evalrank", "trigrams", dataset)
    found = close(world, run)
    assert found is not None
    assert found.missed > 10
    assert found.are_many
    monkeypatch.setenv("BLINDSPOT_CACHE", str(world.cache))
    assert main(["run", "evalrank", "--encoder", "trigrams", "--dataset", dataset]) == 0
    said = capsys.readouterr().err
    assert f"of {found.missed} missed pairs" in said
    assert "without other texts of the same 'topic' MRR is" in said
    assert main(["runs", "trust", run.run_id, "--json"]) == 0
    assert '"about": "groups"' in capsys.readouterr().out


@each(
    "one, other, is_close",
    [
        ("Which ATM's accept my card?", "Which ATMs accept this card?", True),
        ("The WORD, quoted.", "the word quoted", True),
        ("a red car", "a blue bus", False),
        ("How do I open an account?", "Where can I close my loan?", False),
    ],
)
def test_near_duplicates_differ_by_few_letters(one: str, other: str, is_close: bool) -> None:
    assert further.are_close(one, other) == is_close
    assert further.are_close(other, one) == is_close
    a, b = near_duplicate_key(one), near_duplicate_key(other)
    assert (further.LETTERS * Levenshtein.distance(a, b) <= max(len(a), len(b))) == is_close


def test_where_misses_are_of_other_texts_nothing_is_said(world: World, tmp_path: Path) -> None:
    world.add(GramEncoder(constant=True))
    rows = [(f"{word * 3} {n}", f"{word} of {n * 977}", "") for n, word in enumerate("abcdefghijkl")]
    run = world.run("evalrank", "trigrams", write(tmp_path / "apart.csv", rows))
    assert further.warning(run, world.settings, world.repository) == ""
    catalog = world.run("evalrank", "trigrams", "demo-pairs")
    assert further.warning(catalog, world.settings, world.repository) == ""


def test_findings_and_the_page_say_it(asked: tuple[World, str], open_app: OpenApp) -> None:
    world, dataset = asked
    run = world.run("evalrank", "trigrams", dataset)
    material = Material((run,), (), world.repository, world.settings)
    (ranked,) = read(material)
    kinds = {found.kind: found for found in wording.findings(facts(ranked, material))}
    score = by_group(world, run)["topic"]
    assert f"{score.mrr:.3f} instead of" in kinds["same-own-column-1"].sentence
    assert "near-duplicates-missed" in kinds
    app = open_app(world.cache, "evalrank", data=dataset, view="trust")
    assert "is a near-duplicate of the query or the match" in written(app)
    assert any("of the same topic" in html.proto.body for html in app.get("html"))
