"""Views of HEROS's runs, and the commands that print them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import astuple

import numpy as np
import pytest

from blindspot.diagnostics.heros import browsing, orderings
from blindspot.diagnostics.heros.browsing import Above, Filter
from blindspot.diagnostics.heros.definition import ENTRY, SUBSETS
from blindspot.diagnostics.heros.orderings import Cosines
from blindspot.diagnostics.heros.published import heros_profiles
from blindspot.diagnostics.heros.resemblance import resemblance
from blindspot.diagnostics.heros.view import orderings_view, sentences_view, spread_view
from tests.support.commands import Command
from tests.support.heros_world import HerosWorld, heros_world


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HerosWorld]:
    with heros_world(tmp_path_factory.mktemp("view")) as built:
        built.compute("six", "bigrams~none", "trigrams~none")
        built.compute("nameless", "bigrams~none")
        yield built


def test_the_command_prints_the_view_of_orderings(
    small: HerosWorld, blindspot: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLINDSPOT_CACHE", str(small.cache))
    run = small.runs["six", "bigrams~none"]
    rows, same = small.repository.items(ENTRY, [run.run_id], texts=False), small.repository.same_texts
    cosines = Cosines.of_rows(rows, same(run.plan.dataset_digest), list(SUBSETS))
    view = orderings_view(cosines)
    assert (len(view.rates), view.pairs) == (6, 15)
    printed = blindspot.json("runs", "orderings", run.run_id)
    assert printed == {k: printed[k] for k in ("run_id", "encoder", "transform", "dataset")} | view.as_json("bigrams")
    for row in printed["orderings"]:
        assert row["rate"] == pytest.approx(run.metrics[row["ordering"]])
        assert row["low"] == pytest.approx(run.metrics[f"{row['ordering']}_low"])
    matrix = printed["matrix"]["row_nearer_than_column"]
    assert [matrix[i][i] for i in range(6)] == [None] * 6
    lead = cosines.of("typo") - cosines.of("antonym")
    typo, antonym = cosines.subsets.index("typo"), cosines.subsets.index("antonym")
    assert matrix[typo][antonym] == sum(1.0 if one > 1e-6 else 0.5 * (abs(one) <= 1e-6) for one in lead) / len(lead)
    worst = orderings.worst(cosines)
    assert worst is not None
    assert printed["headline"]["rate"] == worst.rate.share.value
    out = blindspot.out("runs", "orderings", run.run_id)
    assert orderings.finding_in_words(worst, "bigrams") in out
    assert "6 of 15 pairs" in out
    assert blindspot.json("runs", "orderings", small.runs["nameless", "bigrams~none"].run_id)["headline"] is None


def test_sentences_are_kept_by_all_conditions_and_sorted(small: HerosWorld) -> None:
    runs = [small.runs["six", f"{name}~none"] for name in ("bigrams", "trigrams")]
    rows = small.repository.items(ENTRY, [run.run_id for run in runs], texts=True)
    found = browsing.sentences(rows, list(SUBSETS))
    also = found.numbers % 2 == 0
    view = sentences_view(found, runs, Filter(above=(Above("typo", "antonym"),)), also)
    cosine = found.cosine[runs[0].run_id]
    typo, antonym = cosine[:, found.column("typo")], cosine[:, found.column("antonym")]
    expected = [int(n) for n in found.numbers if also[n] and typo[n] - antonym[n] > 1e-6]
    assert 0 < len(expected) < also.sum()
    assert view.rows[browsing.NUMBER].tolist() == expected
    by_size = view.sorted_by(browsing.LARGEST, descending=True)
    sizes = by_size.rows[browsing.LARGEST].tolist()
    assert sizes == sorted(sizes, reverse=True)
    listed = by_size.as_json(top=2)
    assert (listed["originals"], listed["found"], len(listed["sentences"])) == (len(found.numbers), len(expected), 2)
    first = listed["sentences"][0]
    values = [one["similarity"] - one["similarity_against"] for one in first["rewrites"].values()]
    assert first["largest_difference"] == pytest.approx(max(map(abs, values)))


@pytest.mark.parametrize(("is_raw", "column"), [(False, "similarity"), (True, "cosine")])
def test_spreads_are_those_of_the_stored_rows(small: HerosWorld, is_raw: bool, column: str) -> None:
    runs = [small.runs["six", f"{name}~none"] for name in ("bigrams", "trigrams")]
    rows = small.repository.items(ENTRY, [run.run_id for run in runs], texts=False)
    found = spread_view(runs, rows, list(SUBSETS), is_raw=is_raw)
    assert [(one.variant, one.subset) for one in found] == [(run.plan.variant, s) for run in runs for s in SUBSETS]
    for one, run in zip(found, [run for run in runs for _ in SUBSETS], strict=True):
        values = rows[(rows["run_id"] == run.run_id) & (rows["subset"] == one.subset)][column]
        assert astuple(one.quantiles) == pytest.approx(np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]))
        assert (one.mean, one.n) == (pytest.approx(values.mean()), len(values))
        assert one.baseline == (run.metrics["cos_avg"] if is_raw else 0.0)


def test_a_resemblance_for_programs() -> None:
    minilm = next(one for one in heros_profiles() if one.model == "MiniLM L6 v2 (all)")
    found = resemblance(minilm.means).as_json()
    assert found["profile"] == minilm.means
    assert found["nearest"][0]["model"] == minilm.model
    assert found["guess"] == {"group": "all", "votes": 3, "voters": 3}
    accuracy = found["accuracy"]["leave_one_out"]
    assert (accuracy["right"], accuracy["n"]) == (44, 60)
    assert math.isclose(accuracy["share"], 44 / 60)
    assert accuracy["low"] < accuracy["share"] < accuracy["high"]
