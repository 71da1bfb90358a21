"""Filters, orders, areas and files of pairs, against loops over plain rows."""

from __future__ import annotations

import io
import math

import numpy as np
import pandas as pd
import pyarrow.csv
import pyarrow.parquet
import pytest

from blindspot.datasets.word_frequency import zipf_of
from blindspot.diagnostics.evalrank import browsing as pair_browsing
from blindspot.diagnostics.evalrank.browsing import NEED_B, Compared, Which
from blindspot.diagnostics.evalrank.pairs import PairTable, RunRows
from blindspot.files.export import as_file
from blindspot.numerics.ranking.problem import RankCounts
from blindspot.texts import lexical_overlap
from blindspot.variants import Variant
from tests.support.tables import each

RUNS = ("aa", "bb", "cc")
WORDS = "the a dog cat runs sleeps Dog not".split()
LEFT_OUT = 0.15  # share of pairs that a run did not rank


def make_table(seed: int, pairs: int = 40) -> PairTable:
    """Pairs as ``explore.pair_table`` gives them: ties, gaps in the numbers, pairs that a run did not rank."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 6))) for _ in range(2 * pairs)]
    queries, matches = np.arange(pairs), np.where(rng.random(pairs) < 0.1, np.arange(pairs), np.arange(pairs) + pairs)
    frame = pd.DataFrame(
        {
            "item_no": np.sort(rng.choice(3 * pairs, pairs, replace=False)),
            "query_no": queries,
            "match_no": matches,
            "query": [texts[i] for i in queries],
            "match": [texts[i] for i in matches],
        }
    )
    rows = {}
    for run in RUNS:
        greater, ties = rng.geometric(0.3, pairs) - 1, rng.integers(0, 3, pairs) * (rng.random(pairs) < 0.3)
        of_run, similarity = rng.random(pairs) >= LEFT_OUT, rng.random(pairs)
        raw, filtered = (
            RankCounts(similarity[of_run], above[of_run], ties[of_run])
            for above in (greater, np.maximum(greater - 1, 0))
        )
        rows[run] = RunRows(frame["item_no"].to_numpy()[of_run], raw, filtered)
    return PairTable(frame, rows)


def described(table: PairTable, b: str | None = "bb", *, filtered: bool = False) -> pd.DataFrame:
    features = pair_browsing.text_features(table.frame["query"].tolist(), table.frame["match"].tolist())
    return pair_browsing.described(table, features, RUNS, Compared("aa", b, filtered))


def keep(row: pd.Series, which: Which) -> bool:
    """What the filters mean, for one pair."""
    a, b = row["rank in A"], row.get("rank in B", math.nan)
    if which is Which.SELF:
        return bool(row["query_no"] == row["match_no"])
    if which is Which.TIED:
        return bool(row["ties in A"] > 0 or row.get("ties in B", 0) > 0)
    return {
        Which.ALL: True,
        Which.ONLY_A: a == 1 and b > 1,
        Which.ONLY_B: b == 1 and a > 1,
        Which.WORST: a > 1,
        Which.REGRESSIONS: b > a,
    }[which]


@pytest.mark.parametrize("filtered", [False, True])
def test_every_pair_is_described_by_its_stored_row(filtered: bool) -> None:
    table = make_table(0)
    frame = described(table, filtered=filtered)
    every = {run: table.ranks(run, filtered=filtered) for run in RUNS}
    reciprocal = {run: table.reciprocal_ranks(run, filtered=filtered) for run in RUNS}
    (_, ties), similarity = table.counts("aa", filtered=False), table.similarity("bb")
    assert len(frame) == len(table.frame)
    for place, (row, (_, stored)) in enumerate(zip(frame.to_dict("records"), table.frame.iterrows(), strict=True)):
        assert (row["pair"], row["query"], row["match"]) == (stored["item_no"], stored["query"], stored["match"])
        a, b = every["aa"][place], every["bb"][place]
        ranks = [rank for run in RUNS if not math.isnan(rank := every[run][place])]
        np.testing.assert_equal(row["worst rank"], max(ranks, default=math.nan))
        np.testing.assert_equal([row["rank in A"], row["rank in B"]], [a, b])
        np.testing.assert_equal(row["rank difference"], a - b)
        np.testing.assert_equal(row["1/rank difference"], reciprocal["bb"][place] - reciprocal["aa"][place])
        np.testing.assert_equal([row["similarity in B"], row["ties in A"]], [similarity[place], ties[place]])
        np.testing.assert_equal(row["overlap"], lexical_overlap([stored["query"]], [stored["match"]])[0])
        assert row["words in match"] == len(stored["match"].split())


@each("which, b", [(which, b) for which in Which for b in ("bb", None) if b or which not in NEED_B])
def test_filters_keep_what_a_loop_keeps(which: Which, b: str | None) -> None:
    seen = set()
    for seed in range(6):
        frame = described(make_table(seed), b)
        got = pair_browsing.kept(frame, which)
        assert got.tolist() == [keep(row, which) for _, row in frame.iterrows()]
        seen |= set(got.tolist())
    assert True in seen
    assert (False in seen) == (which is not Which.ALL)


@pytest.mark.parametrize("descending", [True, False])
def test_orders_are_those_of_a_plain_sort(descending: bool) -> None:
    frame = described(make_table(2, 60))
    names = pair_browsing.orders(frame)
    assert names[0] == "worst rank"
    assert {"rank difference", "similarity in B", "ties in A", "overlap", "query"} <= set(names)
    for name in names:
        rows = frame.to_dict("records")
        known = [row for row in rows if not (isinstance(row[name], float) and math.isnan(row[name]))]
        missing = [row for row in rows if row not in known]

        def value(row: dict, name: str = name) -> object:
            return row[name].casefold() if isinstance(row[name], str) else row[name]

        values = sorted({value(row) for row in known}, reverse=descending)
        expected = [row["pair"] for v in values for row in known if value(row) == v]  # equal ones: the dataset's order
        got = pair_browsing.in_order(frame, name, descending=descending)["pair"].tolist()
        assert got[: len(known)] == expected, name
        assert sorted(got[len(known) :]) == sorted(row["pair"] for row in missing), name


@each("wanted", ["", "dog", "DOG ", "not a", "nobody", ".*"])
def test_search_finds_what_stands_in_query_or_match(wanted: str) -> None:
    frame = described(make_table(3))
    expected = [
        wanted.lower() in q.lower() or wanted.lower() in m.lower()
        for q, m in zip(frame["query"], frame["match"], strict=True)
    ]
    assert pair_browsing.containing(frame, wanted).tolist() == expected


def test_frequency_is_there_for_words_alone() -> None:
    words = pair_browsing.text_features(["dog", "cat"], ["hound", "feline"])
    np.testing.assert_array_equal(words["frequency of match"], zipf_of(["hound", "feline"]))
    sentences = pair_browsing.text_features(["a dog"], ["a hound"])
    assert "frequency of match" not in sentences


def test_a_file_has_the_rows_of_the_table_in_its_order_with_the_stored_numbers() -> None:
    table = make_table(4)
    frame = described(table)
    found = pair_browsing.in_order(frame[pair_browsing.kept(frame, Which.WORST)], "rank in A", descending=True)
    variants = {"aa": Variant("x", "none"), "bb": Variant("y", "center")}
    out = pair_browsing.for_export(found, table, variants, ["overlap", "words in query"])
    assert out["item_no"].tolist() == found["pair"].tolist()
    for row in out.to_dict("records"):
        place = table.numbers.tolist().index(row["item_no"])
        one = table.frame.iloc[place]
        assert (row["query"], row["match_no"]) == (one["query"], one["match_no"])
        np.testing.assert_equal(row["rank x~none"], table.ranks("aa", filtered=False)[place])
        reciprocal = table.reciprocal_ranks("bb", filtered=True)[place]
        np.testing.assert_equal(row["filtered_reciprocal_rank y~center"], reciprocal)
        np.testing.assert_equal(row["ties y~center"], table.counts("bb", filtered=False)[1][place])
    for read, ending in ((pyarrow.csv.read_csv, ".csv"), (pyarrow.parquet.read_table, ".parquet")):
        again = read(io.BytesIO(as_file(out, ending))).to_pandas()
        pd.testing.assert_frame_equal(again, out, check_dtype=False)


def test_who_wins_a_pair_by_hand() -> None:
    """By 1/rank; right is rank 1, a tie for the first place is not; without a rank in one of the two it is neither."""
    described = pd.DataFrame(
        {"rank in A": [1, 2, 1, 1.5, 0.5, np.nan], "1/rank difference": [-0.5, 0.5, 0, 0, 0, np.nan]}
    )
    found = pair_browsing.outcomes(described).counts
    assert {outcome.value: count for outcome, count in found.items()} == {
        "won-by-a": 1,
        "won-by-b": 1,
        "both-wrong": 1,
        "both-right": 2,
    }
