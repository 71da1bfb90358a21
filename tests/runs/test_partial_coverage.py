"""Encoders that lack some words: which items are ranked and compared, against a slow reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank import pairs as explore
from blindspot.diagnostics.evalrank.pairs import Relation, around_match
from blindspot.errors import InputError
from blindspot.runs import pipeline, requesting
from blindspot.runs.pipeline import RunOutcome
from blindspot.settings import Settings
from blindspot.store.repository import Repository
from tests.support.animals import ANIMALS, PAIRS, write_vectors
from tests.support.commands import Command
from tests.support.evalrank_reference import count
from tests.support.small_world import GramEncoder, register_encoder
from tests.support.world import World

ENTRY = find_diagnostic("evalrank")
Run = Callable[..., RunOutcome]


@pytest.fixture
def run(world: World) -> Run:
    """Runs EvalRank on the animals."""
    world.add(ANIMALS)

    def run(encoder: str, *, covered_by: tuple[str, ...] = (), **params: str) -> RunOutcome:
        request = requesting.request("evalrank", encoder, "none", "animals", params, world.settings, covered_by)
        return pipeline.run(request, world.settings, world.repository)

    return run


@pytest.fixture
def first(tmp_path: Path) -> str:
    """Knows all words of four pairs and of the background one."""
    return write_vectors(tmp_path / "first.txt", ["cat", "dog", "cow", "pig", "hen", "owl", "emu", "zebra"], 1)


@pytest.fixture
def second(tmp_path: Path) -> str:
    return write_vectors(tmp_path / "second.txt", ["dog", "cat", "hen", "fox", "ant", "yak", "emu"], 2)


def vectors_of(reference: str) -> dict[str, list[float]]:
    lines = Path(reference.partition(":")[2]).read_text().splitlines()
    return {line.split()[0]: [float(np.float32(x)) for x in line.split()[1:]] for line in lines}


@pytest.mark.parametrize("metric", ["cos", "l2"])
@pytest.mark.parametrize("common", [False, True])
def test_ranks_are_those_of_the_covered_items_alone(
    first: str, second: str, run: Run, repository: Repository, metric: str, common: bool
) -> None:
    outcome = run(first, covered_by=(second,) if common else (), metric=metric)
    known = vectors_of(first)
    covered = [w for w in ANIMALS.items if w in known and (not common or w in vectors_of(second))]
    vectors = [known.get(word, [math.nan] * 4) for word in ANIMALS.items]
    out = {i for i, word in enumerate(ANIMALS.items) if word not in covered}
    rows = repository.items(ENTRY, [outcome.record.run_id], texts=True)
    expected = [p for p, (q, m) in enumerate(zip(ANIMALS.queries, ANIMALS.matches, strict=True)) if not {q, m} & out]
    assert rows["item_no"].tolist() == expected
    for row in rows.to_dict("records"):
        reference = count(vectors, row["query_no"], row["match_no"], metric, out)
        assert (row["greater"], row["ties"]) == (reference.greater, reference.ties)
        assert row["similarity"] == pytest.approx(reference.similarity, abs=1e-12)
    coverage = {"pairs": 7, "pairs_covered": len(expected), "items": 12, "items_covered": len(covered)}
    assert outcome.record.coverage == coverage
    assert outcome.record.metrics["pairs"] == len(expected)
    assert outcome.record.metrics["background"] == len(covered)
    assert outcome.record.manifest["embeddings"]["encoded_now"] == len(ANIMALS.items)


def test_common_coverage_is_the_same_whoever_asks(
    first: str, second: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_encoder(monkeypatch, GramEncoder())
    everybody = (first, second, "trigrams")
    records = [run(e, covered_by=everybody).record for e in everybody]
    assert len({r.plan.covered_digest for r in records}) == 1
    assert [r.plan.own_covered for r in records] == [False] * 3
    assert {r.metrics["pairs"] for r in records} == {3.0}  # both ways of cat and dog, and cat with hen
    assert "trigrams" not in {name for r in records for name in r.plan.covered_by}, "covers everything"
    own = run("trigrams").record
    assert (own.metrics["pairs"], own.plan.covered_digest, own.plan.own_covered) == (7.0, "", True)
    assert not run(first, covered_by=everybody).computed


def test_a_coverage_that_leaves_nothing_out_is_the_same_run(
    run: Run, repository: Repository, tmp_path: Path, first: str
) -> None:
    more = write_vectors(tmp_path / "more.txt", [*ANIMALS.items], 3)
    own = run(first)
    again = run(first, covered_by=(more,))
    assert not again.computed
    assert again.record.run_id == own.record.run_id
    whole = run(more).record
    assert (whole.plan.covered_digest, whole.plan.own_covered) == ("", True)


def test_no_pair_left_is_said(run: Run, repository: Repository, tmp_path: Path, first: str) -> None:
    foreign = write_vectors(tmp_path / "foreign.txt", ["yak", "emu", "gnu"], 3)
    with pytest.raises(InputError, match="no pair of 'animals' can be ranked: 2 of 12 items"):
        run(foreign)
    with pytest.raises(InputError, match="all the encoders that are compared"):
        run(first, covered_by=(foreign,))
    assert repository.runs() == []


def test_the_drill_down_knows_the_covered_items_only(
    first: str, second: str, run: Run, settings: Settings, repository: Repository
) -> None:
    for covered_by in ((), (second,)):
        record = run(first, covered_by=covered_by).record
        rows = repository.items(ENTRY, [record.run_id], texts=True)
        assert len(rows)
        for row in rows.to_dict("records"):
            shown = around_match(record, row["query_no"], row["match_no"], settings, repository, 99, 99)
            assert len(shown) == record.metrics["background"] - 1
            assert all(item.text in vectors_of(first) for item in shown)
            assert sum(item.relation is Relation.ABOVE for item in shown) == row["greater"]


def test_pairs_that_one_run_ranked_and_another_did_not(
    first: str, second: str, run: Run, repository: Repository
) -> None:
    runs = [run(e).record for e in (first, second)]
    table = explore.pair_table(ENTRY, [r.run_id for r in runs], repository)
    texts = list(zip(table.frame["query"], table.frame["match"], strict=True))
    assert set(texts) == {PAIRS[i] for i in (0, 1, 2, 3, 4, 6)}
    by_second = dict(zip(texts, table.ranks(runs[1].run_id, filtered=False), strict=True))
    assert math.isnan(by_second["cow", "pig"])
    assert by_second["fox", "ant"] >= 1
    for record in runs:
        reciprocal = table.reciprocal_ranks(record.run_id, filtered=True)
        assert np.nanmean(reciprocal) == pytest.approx(record.metrics["mrr_filtered"])


def test_the_toolkit_ranks_everything(first: str, run: Run, repository: Repository) -> None:
    record = run(first, protocol="toolkit", metric="l2").record
    assert (record.metrics["pairs"], record.metrics["background"]) == (7.0, 12.0)
    assert record.coverage["items_covered"] == 7
    assert record.plan.covered_digest == ""
    known = vectors_of(first)
    mean = np.mean([*known.values()], axis=0)
    rows = np.float32([known.get(w, mean) for w in ANIMALS.items])
    for row in repository.items(ENTRY, [record.run_id], texts=True).to_dict("records"):
        one = 1 / (1 + np.linalg.norm(rows[row["query_no"]] - rows[row["match_no"]]))
        others = 1 / (1 + np.linalg.norm(rows - rows[row["query_no"]], axis=1))
        surely = np.count_nonzero(others > one + 1e-5)
        assert max(surely, 1) <= row["greater"] + 1 <= max(np.count_nonzero(others > one - 1e-5), 1)


@pytest.mark.usefixtures("run")
def test_the_command_line_compares_on_common_items_unless_told_otherwise(
    first: str, second: str, blindspot: Command
) -> None:
    command = ["run", "evalrank", "--encoder", first, "--encoder", second, "--dataset", "animals"]
    common = blindspot.json(*command)["runs"]
    assert [r["metrics"]["pairs"] for r in common] == [3, 3]
    assert common[0]["manifest"]["support"]["with"] == [second]
    own = blindspot.json(*command, "--support", "own")["runs"]
    assert [r["metrics"]["pairs"] for r in own] == [5, 4]
    said = blindspot.out(*command, "--support", "own")
    assert "5 of 7" in said
    assert "7 of 12" in said


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), min_size=12, max_size=12).map(np.array))
def test_the_part_has_the_texts_of_the_whole(covered: np.ndarray) -> None:
    part = ANIMALS.part(covered)
    assert part.dataset.items == tuple(w for w, c in zip(ANIMALS.items, covered, strict=True) if c)
    kept = [
        (part.dataset.items[q], part.dataset.items[m])
        for q, m in zip(part.dataset.queries, part.dataset.matches, strict=True)
    ]
    assert kept == [PAIRS[p] for p in part.rows]
    assert [p for p in PAIRS if {*p} <= {*part.dataset.items}] == kept
    assert (part.digest == "") == bool(covered.all())
