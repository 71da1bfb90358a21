"""Kinds of pair, and the score on each: against loops over the pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blindspot.datasets.published.scored_pairs import scored_pairs
from blindspot.diagnostics.evalrank.definition import ENTRY
from blindspot.diagnostics.evalrank.kinds import LABELS, UNKNOWN, Kind, by_bands, grouping, scores_by_kind
from blindspot.diagnostics.evalrank.pairs import MeanScore, RunRows, pair_table, rows_of_runs
from blindspot.diagnostics.evalrank.sources import find_sources
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.numerics.statistics.groups import Group, Grouping
from blindspot.numerics.statistics.pairs import Dependence, share
from blindspot.texts import length
from tests.support.commands import Command
from tests.support.world import World

QUERIES = ["a b c d", "a b c d", "a b c d e f", "x y", "!!", "same text"]
MATCHES = ["e f g h", "a b", "a b c d e z", "x Y q r s t u v w", "??", "Same, text!"]


def labels(groups: Grouping, pair: int, side: str = "pair") -> list[str]:
    return [g.label for g in groups.groups if g.side == side and g.inside[pair]]


def test_pairs_are_sorted_by_the_words_they_share() -> None:
    groups = grouping(Kind.OVERLAP, QUERIES, MATCHES)
    found = [labels(groups, pair) for pair in range(6)]
    assert found == [["none"], ["0.5 to 0.75"], ["0.5 to 0.75"], ["under 0.25"], [], ["all words"]]
    assert groups.ordered


def test_pairs_are_sorted_by_length() -> None:
    groups = grouping(Kind.LENGTH, QUERIES, MATCHES)
    for pair, (query, match) in enumerate(zip(QUERIES, MATCHES, strict=True)):
        mean = (length(query) + length(match)) / 2
        assert labels(groups, pair) == ["up to 5" if mean <= 5 else "over 5 to 10"]
    assert "words" in groups.axis["pair"]


def test_single_words_are_as_long_as_they_have_letters() -> None:
    groups = grouping(Kind.LENGTH, ["cat", "automobile"], ["dog", "car"])
    assert "letters" in groups.axis["pair"]
    assert [labels(groups, 0), labels(groups, 1)] == [["up to 4"], ["over 6 to 8"]]  # means 3 and 6.5
    assert labels(grouping(Kind.LENGTH, ["automobile"], ["it"]), 0) == ["over 4 to 6"]  # its upper end is in


def test_query_and_match_have_a_frequency_each() -> None:
    groups = grouping(Kind.FREQUENCY, ["the", "zzyzx"], ["ulna", "of"])
    assert labels(groups, 0, "query") == labels(groups, 1, "match") == ["over 100"]
    assert labels(groups, 1, "query") == ["under 1"]
    assert list(groups.axis) == ["query", "match"]


def test_a_pair_of_several_sources_counts_in_each() -> None:
    scored = scored_pairs("s", {"one": [("a", "b", 1.0)], "two": [("b", "a", 2.0), ("c", "d", 1.0)], "three": []})
    texts = ["a", "d", "a"], ["b", "c", "c"]
    groups = grouping(Kind.SOURCE, *texts, find_sources(*texts, scored))
    assert [labels(groups, pair) for pair in range(3)] == [["one", "two"], ["two"], ["none of them"]]
    assert "three" not in [g.label for g in groups.groups]
    with pytest.raises(ValueError, match="sources"):
        grouping(Kind.SOURCE, *texts)


def small_rows(rng: np.random.Generator, m: int) -> RunRows:
    greater, ties = rng.integers(0, 4, m), rng.integers(0, 3, m)
    filtered = RankCounts(np.zeros(m), np.maximum(greater - 1, 0), ties)
    return RunRows(np.arange(m) * 2, RankCounts(np.zeros(m), greater, ties), filtered)


@pytest.mark.parametrize("filtered", [False, True])
def test_the_score_of_a_kind_is_the_mean_over_its_pairs(filtered: bool) -> None:
    rng = np.random.default_rng(3)
    m = 60
    queries, matches = rng.integers(0, 30, m), rng.integers(0, 30, m)
    texts = [" ".join(rng.choice(list("abcdefgh"), rng.integers(1, 7))) for _ in range(30)]
    q, t = [texts[i] for i in queries], [texts[i] for i in matches]
    rows = small_rows(rng, m - 10)  # the run did not rank the last ten
    by_overlap = grouping(Kind.OVERLAP, q, t)
    unranked = Group("overlap", "not ranked", np.arange(m) >= m - 10)
    groups = replace(by_overlap, groups=(*by_overlap.groups, unranked))
    found = scores_by_kind(groups, rows, np.arange(m) * 2, Dependence.of(queries, matches), filtered=filtered)
    assert found["pairs"].sum() == m - 10
    for group, row in zip(groups.groups, found.to_dict("records"), strict=True):
        reciprocal, hits, inside = [], [], []
        for pair in range(m - 10):
            if group.inside[pair]:
                g, ties = rows.counts(filtered).greater[pair], rows.counts(filtered).ties[pair]
                reciprocal.append(np.mean([1 / (1 + g + i) for i in range(ties + 1)]))
                hits.append(np.mean([1 + g + i <= 1 for i in range(ties + 1)]))
                inside.append(pair)
        assert row["pairs"] == len(inside)
        assert row["mrr"] == pytest.approx(np.mean(reciprocal) if inside else np.nan, nan_ok=True)
        assert row["hits@1"] == pytest.approx(np.mean(hits) if inside else np.nan, nan_ok=True)
        if not reciprocal:
            assert (row["independent"], np.isnan(row["mrr_low"])) == (0, True)
            continue
        known = share(np.array(reciprocal), Dependence.of(queries[inside], matches[inside]))
        low, high = (np.nan, np.nan) if known.interval is None else (known.low, known.high)
        assert row["mrr_low"] == pytest.approx(low, nan_ok=True)
        assert row["mrr_high"] == pytest.approx(high, nan_ok=True)
        assert row["independent"] == max(1, round(known.effective))


def test_no_pairs_have_no_score() -> None:
    assert np.isnan(MeanScore.of(np.array([]), np.array([])).mrr)


def test_the_command_prints_the_means_of_stored_rows(small: World, blindspot: Command) -> None:
    run = small.run("evalrank", "trigrams", "small-pairs")
    frame = pair_table(ENTRY, [run.run_id], small.repository).frame
    rows = rows_of_runs(ENTRY, [run.run_id], small.repository)[run.run_id]
    for by in ("overlap", "length", "frequency"):
        printed = blindspot("runs", "kinds", run.run_id[:6], "--by", by, "--json").json
        assert (printed["run_id"], printed["by"]) == (run.run_id, by)
        groups = grouping(Kind(by), frame["query"].tolist(), frame["match"].tolist())
        for group, kind in zip(groups.groups, printed["kinds"], strict=True):
            assert (kind["side"], kind["label"], kind["pairs"]) == (group.side, group.label, group.inside.sum())
            assert kind["mrr"] == pytest.approx(rows.reciprocal_ranks(False)[group.inside].mean())
            assert kind["mrr_filtered"] == pytest.approx(rows.reciprocal_ranks(True)[group.inside].mean())
            assert kind["hits@1_filtered"] == pytest.approx(rows.hits_at_1(True)[group.inside].mean())
    score = rows.score(filtered=False)
    assert score.mrr == pytest.approx(run.metrics["mrr"])
    assert score.hits_at_1 == pytest.approx(run.metrics["hits@1"])
    assert "hits@1_low" in blindspot("runs", "kinds", run.run_id).out
    refused = blindspot("runs", "kinds", run.run_id, "--by", "source")
    assert refused.code == 2
    assert "sources of the pairs of 'small-pairs'" in refused.error


# --- bands of frequency


def band(zipf: float) -> str:
    if np.isnan(zipf):
        return UNKNOWN
    return next(label for label, end in zip(LABELS[1:], (3, 4, 5, np.inf), strict=True) if zipf < end)


def test_every_pair_is_in_one_band_of_each_side_and_in_one_cell() -> None:
    rng = np.random.default_rng(0)
    queries, matches = rng.uniform(1.5, 7, 80), rng.choice([0.0, 3.0, 4.0, 5.0, np.nextafter(5.0, 0)], 80)
    queries[:5] = np.nan
    bands = by_bands(queries, matches)
    for pair in range(80):
        inside = [(g.side, g.label) for g in bands.sides.groups if g.inside[pair]]
        assert inside == [("query", band(queries[pair])), ("match", band(matches[pair]))]
        (cell,) = [i for i, g in enumerate(bands.cells.groups) if g.inside[pair]]
        query, match = bands.places[cell]
        assert (LABELS[query], LABELS[match]) == (band(queries[pair]), band(matches[pair]))
    assert len(bands.places) == len(set(bands.places)) == len(bands.cells.groups)
    assert all(g.inside.any() for g in (*bands.sides.groups, *bands.cells.groups))
    assert list(bands.sides.axis) == ["query", "match"]
