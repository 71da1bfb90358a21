"""The ranking of a query has what the stored ranks count: on the real demo, and on pairs with every oddity."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from blindspot import cli
from blindspot.datasets import fetch
from blindspot.datasets.catalog import find_dataset
from blindspot.datasets.kinds.pairs import PairSet
from blindspot.diagnostic import find_diagnostic
from blindspot.diagnostics.evalrank.pairs import RankedItem, around_match, pair_table
from blindspot.errors import BlindspotError
from blindspot.numerics.ranking.problem import TAU, Relation
from blindspot.runs import pipeline, requesting
from blindspot.runs.embeddings import EmbeddingsGone
from blindspot.store.records import RunRecord
from tests.support.small_world import CAT, DOG, DOG_IS, DOG_THE, SMALL_PAIRS
from tests.support.world import World

ENTRY = find_diagnostic("evalrank")
ALL = 1_000_000
VARIANTS = [(transform, metric) for transform in ("none", "center") for metric in ("cos", "l2")]
VARIANTS += [("abtt:2", "cos"), ("center+whiten:4+normalize", "l2")]


@pytest.fixture(scope="module")
def demo_runs(demo: World) -> dict[tuple[str, str], RunRecord]:
    """The demo by MiniLM, for several transforms and both metrics."""
    return {(t, m): demo.run("evalrank", f"minilm~{t}", "demo-pairs", metric=m) for t, m in VARIANTS}


def check_against_stored(shown: list[RankedItem], row: pd.Series, dataset: PairSet, run: RunRecord) -> None:
    """All items of a query's ranking against the stored counts of the pair."""
    kinds = Counter(item.relation for item in shown)
    kept = Counter(item.relation for item in shown if not item.left_out)
    label = f"pair {row['item_no']} of {run.plan.variant} by {run.plan.params['metric']}"
    assert kinds[Relation.ABOVE] == row["greater"], label
    assert kinds[Relation.TIED] == row["ties"], label
    assert kept[Relation.ABOVE] == row["greater_filtered"], label
    assert kept[Relation.TIED] == row["ties_filtered"], label

    candidates = set(range(len(dataset.items))) - {row["query_no"]} | {row["match_no"]}
    assert {item.item_no for item in shown} == candidates
    assert [item.position for item in shown] == list(range(1, len(candidates) + 1))
    assert all(item.text == dataset.items[item.item_no] for item in shown)

    (match,) = (item for item in shown if item.relation is Relation.MATCH)
    assert match.item_no == row["match_no"]
    assert match.position == row["greater"] + 1
    assert match.similarity == pytest.approx(row["similarity"], abs=1e-12)
    assert match.left_out == ""
    values = np.array([item.similarity for item in shown])
    assert np.all(np.diff(values) <= TAU)  # falling; among the tied the match comes first
    order = [Relation.ABOVE, Relation.MATCH, Relation.TIED, Relation.BELOW]
    ranks = [order.index(item.relation) for item in shown]
    assert ranks == sorted(ranks)


@pytest.mark.heavy
@pytest.mark.parametrize(("transform", "metric"), VARIANTS)
def test_the_list_has_as_many_items_above_and_tied_as_the_store_says(
    demo_runs: dict[tuple[str, str], RunRecord], demo: World, transform: str, metric: str
) -> None:
    run = demo_runs[transform, metric]
    dataset = fetch.load(find_dataset("demo-pairs"), demo.settings)
    rows = demo.repository.items(ENTRY, [run.run_id], texts=True)
    assert len(rows) == 400
    for _, row in rows.iloc[::10].iterrows():
        shown = around_match(run, row["query_no"], row["match_no"], demo.settings, demo.repository, ALL, ALL)
        check_against_stored(shown, row, dataset, run)


@pytest.mark.parametrize(("transform", "metric"), VARIANTS)
def test_it_agrees_on_twins_self_pairs_and_texts_without_a_vector(small: World, transform: str, metric: str) -> None:
    run = small.run("evalrank", f"trigrams~{transform}", "small-pairs", metric=metric)
    rows = small.repository.items(ENTRY, [run.run_id], texts=True)
    assert len(rows) == len(SMALL_PAIRS.queries)
    assert rows["ties"].sum() > 0
    for _, row in rows.iterrows():
        shown = around_match(run, row["query_no"], row["match_no"], small.settings, small.repository, ALL, ALL)
        check_against_stored(shown, row, SMALL_PAIRS, run)


def test_it_says_why_filtered_ranks_leave_an_item_out(small: World) -> None:
    run = small.run("evalrank", "trigrams", "small-pairs")
    number = {text: i for i, text in enumerate(SMALL_PAIRS.items)}
    shown = around_match(run, number[DOG], number[DOG_IS], small.settings, small.repository, ALL, ALL)
    assert {item.text: item.left_out for item in shown if item.left_out} == {
        DOG_THE: "another match",
        "a DOG runs in the park!": "near-duplicate",
        "A dog is running,  in the park": "near-duplicate",
    }
    by_text = {item.text: item for item in shown}
    assert by_text["a DOG runs in the park!"].relation is Relation.ABOVE
    assert by_text["A dog is running,  in the park"].relation is Relation.TIED


def test_a_text_with_itself_stands_first_and_its_twins_are_tied(small: World) -> None:
    run = small.run("evalrank", "trigrams", "small-pairs")
    cat = SMALL_PAIRS.items.index(CAT)
    shown = around_match(run, cat, cat, small.settings, small.repository)
    assert shown[0].relation is Relation.MATCH
    assert shown[0].item_no == cat
    assert shown[0].similarity == pytest.approx(1.0)
    assert [(item.text, item.relation, item.left_out) for item in shown[1:3]] == [
        ("a cat sleeps on the SOFA", Relation.TIED, "near-duplicate"),
        ("A cat sleeps on the sofa!", Relation.TIED, "near-duplicate"),
    ]


def test_the_match_is_shown_however_low_it_stands(demo_runs: dict[tuple[str, str], RunRecord], demo: World) -> None:
    run = demo_runs["none", "cos"]
    rows = demo.repository.items(ENTRY, [run.run_id], texts=True)
    worst = rows.loc[rows["greater"].idxmax()]
    assert worst["greater"] > 4
    shown = around_match(run, worst["query_no"], worst["match_no"], demo.settings, demo.repository, limit=2, below=3)
    place = worst["greater"] + 1
    assert [item.position for item in shown] == [1, 2, place, place + 1, place + 2, place + 3]
    assert [item.relation for item in shown[:3]] == [Relation.ABOVE, Relation.ABOVE, Relation.MATCH]
    everything = around_match(run, worst["query_no"], worst["match_no"], demo.settings, demo.repository, ALL, ALL)
    assert shown == [everything[item.position - 1] for item in shown]


def test_without_the_embeddings_it_says_what_to_do_and_running_again_helps(small: World) -> None:
    run = small.run("evalrank", "trigrams~center", "small-pairs")
    number = {text: i for i, text in enumerate(SMALL_PAIRS.items)}
    arguments = (run, number[DOG], number[DOG_IS], small.settings, small.repository)
    before = around_match(*arguments)
    (small.settings.embeddings / f"{run.plan.embedding_digest}.npy").unlink()

    with pytest.raises(EmbeddingsGone, match=r"'trigrams' on 'small-pairs'.*run it again") as caught:
        around_match(*arguments)
    assert isinstance(caught.value, BlindspotError)

    again = pipeline.run(
        requesting.request_of(run, small.settings), small.settings, small.repository, keep_embeddings=True
    )
    assert not again.computed
    assert around_match(*arguments) == before


# --- the table of pairs


def test_the_pair_table_is_the_export_side_by_side(
    demo_runs: dict[tuple[str, str], RunRecord], demo: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [demo_runs["none", "cos"], demo_runs["center", "l2"]]
    table = pair_table(ENTRY, [run.run_id for run in runs], demo.repository)
    assert len(table.frame) == 400
    monkeypatch.setenv("BLINDSPOT_CACHE", str(demo.repository.database.path.parent))
    for run in runs:
        file = tmp_path / f"{run.run_id}.parquet"
        assert cli.main(["export", run.run_id, "--output", str(file)]) == 0
        exported = pd.read_parquet(file)
        for column in ("item_no", "query_no", "match_no", "query", "match"):
            assert table.frame[column].tolist() == exported[column].tolist()
        assert table.similarity(run.run_id).tolist() == exported["similarity"].tolist()
        assert table.counts(run.run_id, filtered=False)[1].tolist() == exported["ties"].tolist()
        raw = 1 + exported["greater"] + exported["ties"] / 2
        filtered = 1 + exported["greater_filtered"] + exported["ties_filtered"] / 2
        assert table.ranks(run.run_id, filtered=False).tolist() == raw.tolist()
        assert table.ranks(run.run_id, filtered=True).tolist() == filtered.tolist()
    first, second = (table.ranks(run.run_id, filtered=False) for run in runs)
    assert np.any(first != second)


def test_the_pair_table_tells_raw_from_filtered(small: World) -> None:
    run = small.run("evalrank", "trigrams", "small-pairs")
    table = pair_table(ENTRY, [run.run_id], small.repository)
    rows = small.repository.items(ENTRY, [run.run_id], texts=False)
    assert any(rows["greater"] > rows["greater_filtered"])
    assert any(rows["ties"] > rows["ties_filtered"])
    assert table.ranks(run.run_id, filtered=False).tolist() == (1 + rows["greater"] + rows["ties"] / 2).tolist()
    filtered = 1 + rows["greater_filtered"] + rows["ties_filtered"] / 2
    assert table.ranks(run.run_id, filtered=True).tolist() == filtered.tolist()
