"""The rules of items: against loops in float64 over toy spaces, and cases made by hand."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindspot.errors import InputError
from blindspot.studies.judgments import rules
from blindspot.studies.judgments.rules import Asked, Closeness, Made, Pool, Quartet, Reason, Rule
from blindspot.studies.judgments.types import NOT_ASKED, Query
from blindspot.texts import near_duplicate_key
from blindspot.types import Int64
from tests.support.judgment_slow import Slow
from tests.support.tables import each

LOG10, COUNT, NARROW = Rule.of(Closeness.LOG10), Rule.of(Closeness.COUNT), Rule(Closeness.LOG10, 0.02)


def toy(seed: int, n: int = 40, unknown: float = 0.1) -> Slow:
    """Random vectors of words, some of them near-duplicates, some without a count."""
    random = np.random.default_rng(seed)
    texts = [f"w{i}" if random.random() > 0.2 else f"W-{random.integers(i + 1)}" for i in range(n)]
    texts = [t if t not in texts[:i] else f"{t}x{i}" for i, t in enumerate(texts)]
    counts = 10 ** random.uniform(2, 4, n)
    counts[random.random(n) < unknown] = np.nan
    return Slow(texts, counts.tolist(), random.standard_normal((n, 5)))


def toys(seed: int, variants: int) -> list[Slow]:
    """One vocabulary in several spaces."""
    return [replace(toy(seed), vectors=toy(seed + v).vectors) for v in range(variants)]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([3, 5, 20]), st.sampled_from([LOG10, COUNT, NARROW]))
def test_intruders_are_those_that_loops_find(seed: int, start: int, rule: Rule) -> None:
    slow = toy(seed)
    pool = Pool.of(slow.texts, np.array(slow.counts))
    for query in range(0, 40, 9):
        near = rules.distinct(query, np.array(slow.ranked(query)), pool.copies)
        assert near.tolist() == slow.neighbors(query)
        assert rules.quartet(query, near, pool.counts, rule, start) == slow.intruder(query, rule, start)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_every_item_shows_four_different_things_with_its_own_intruder(seed: int, variants: int) -> None:
    spaces = toys(seed, variants)
    pool = Pool.of(spaces[0].texts, np.array(spaces[0].counts))
    queries = [0, 7, 14, 21]
    found = [[space.intruder(q, LOG10, 5) for space in spaces] for q in queries]
    asked = [Asked(Query(pool.texts[q]), q, "rare") for q in queries]
    made = rules.intruder_items(asked, found, pool)
    skipped = Counter(next(r.value for r in row if isinstance(r, Reason)) for row in found if Reason in map(type, row))
    assert made.skipped == skipped
    seen: dict[tuple[str, int], tuple[str, str]] = {}
    for place, item in enumerate(made.items):
        assert item.item_no == place
        assert item.k is None
        assert item.query.text in item.options
        assert list(item.options) == sorted(item.options)
        assert len({near_duplicate_key(o) for o in item.options}) == 4
        for variant, own in enumerate(item.own):
            if own != NOT_ASKED:
                assert (item.query.text, variant) not in seen, "a variant asks once per query"
                seen[item.query.text, variant] = (item.options[own], " ".join(item.options))
    for query, row in zip(queries, found, strict=True):
        if any(isinstance(one, Reason) for one in row):
            assert all((pool.texts[query], v) not in seen for v in range(variants))
            continue
        for variant, one in enumerate(row):
            assert isinstance(one, Quartet)
            intruder, shown = seen[pool.texts[query], variant]
            assert near_duplicate_key(intruder) == near_duplicate_key(pool.texts[one.intruder])
            assert all(near_duplicate_key(pool.texts[i]) in near_duplicate_key(shown) for i in one.neighbors)


# --- by hand


def hand(counts: list[float], texts: list[str] | None = None) -> tuple[Pool, Int64]:
    """Item 0 is the query; its neighbors are the others in their order."""
    names = texts or [f"w{i}" for i in range(len(counts))]
    return Pool.of(names, np.array(counts)), np.arange(1, len(counts))


def found_by_hand(counts: list[float], rule: Rule = LOG10, start: int = 100) -> Quartet | Reason:
    pool, ranked = hand(counts)
    return rules.quartet(0, rules.distinct(0, ranked, pool.copies), pool.counts, rule, start)


def test_the_intruder_is_the_first_that_qualifies_from_rank_100_on() -> None:
    """Ranks 1 to 99 all qualify and do not count; 100 does not, 101 has no count, 102 and 103 qualify."""
    alike, off = 1_000.0, 2_000.0
    counts = [alike, *[alike] * 99, off, math.nan, alike, alike]
    assert found_by_hand(counts) == Quartet((1, 2), 102)
    counts[100] = alike
    assert found_by_hand(counts) == Quartet((1, 2), 100), "rank 100 itself may be the intruder"
    assert found_by_hand(counts[:100]) is Reason.TOO_FEW, "99 neighbors"
    assert found_by_hand([*counts[:100], off]) is Reason.NO_INTRUDER


def test_the_mean_is_of_the_three_counts() -> None:
    """(100 + 200 + 900) / 3 = 400; log10 0.1 is a factor of 1.2589: 317.7 to 503.6."""
    three = [100.0, 200.0, 900.0]
    assert found_by_hand([*three, 317.0, 504.0, 503.0], start=3) == Quartet((1, 2), 5)
    assert found_by_hand([*three, 318.0], start=3) == Quartet((1, 2), 3)
    assert found_by_hand([*three, 901.0, 900.0], COUNT, start=3) == Quartet((1, 2), 4), "400 + 500, in"


def test_near_duplicates_are_left_out() -> None:
    """Of the query, of a neighbor, of the rank before; texts of signs alone are no near-duplicates of each other."""
    texts = ["dog", "Dog", "hound", "hound!", "cat", "dog's", "D O G", "!!", "??"]
    pool, ranked = hand([100.0] * 9, texts)
    assert [texts[i] for i in rules.distinct(0, ranked, pool.copies)] == ["hound", "cat", "dog's", "!!", "??"]


def test_one_encoder_without_an_intruder_skips_the_query_for_all() -> None:
    pool = Pool.of([f"w{i}" for i in range(12)], np.full(12, 100.0))
    asked = [Asked(Query("w0"), 0, "rare"), Asked(Query("w1"), 1, "rare"), Asked(Query("w2"), 2, "rare")]
    made = rules.intruder_items(
        asked,
        [
            [Quartet((3, 4), 9), Reason.NO_INTRUDER],
            [Reason.UNKNOWN, Reason.NO_INTRUDER],
            [Quartet((3, 4), 9), Quartet((4, 3), 9)],
        ],
        pool,
    )
    assert made.skipped == {"no intruder of like frequency": 1, "frequency unknown": 1}
    assert [(i.query.text, i.options, i.own) for i in made.items] == [("w2", ("w2", "w3", "w4", "w9"), (3, 3))]


def test_variants_that_show_the_same_four_share_an_item_each_with_its_own_intruder() -> None:
    pool = Pool.of(["query", "b", "c", "d", "D."], np.full(5, 100.0))
    asked = [Asked(Query("query"), 0, "rare")]
    quartets = [Quartet((1, 2), 3), Quartet((1, 3), 2), Quartet((2, 1), 4)]  # the third's intruder is a twin of "d"
    (item,) = rules.intruder_items(asked, [quartets], pool).items
    assert item.options == ("b", "c", "d", "query")
    assert [item.options[own] for own in item.own] == ["d", "c", "d"]


def compared(lists: list[list[int]], ranks: tuple[int, ...] = (1, 5, 50)) -> Made:
    pool = Pool.of([*"zyxwvut", "Z!"], np.full(8, 100.0))
    return rules.comparative_items([Asked(Query("q"), 0, "rare")], [[np.array(row) for row in lists]], ranks, pool)


def test_comparative_candidates_are_shown_once_and_count_for_all_who_gave_them() -> None:
    """At rank 1 y, y and x; at rank 5 t, t and t, which is no question; rank 50 nobody has."""
    made = compared([[1, 2, 3, 4, 6], [1, 3, 2, 5, 6], [2, 1, 3, 4, 6]])
    assert [(i.k, i.options, i.own) for i in made.items] == [(1, ("x", "y"), (1, 1, 0))]
    assert made.skipped == {"all variants give the same": 1, "too few neighbors": 1}


def test_comparative_candidates_that_are_near_duplicates_are_one() -> None:
    made = compared([[0], [7], [3]], (1,))
    assert [(i.options, i.own) for i in made.items] == [(("w", "z"), (1, 1, 0))]
    assert list(compared([[0], [7]], (1,)).skipped.values()) == [1]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans())
def test_comparative_items_are_the_kth_neighbors(seed: int, variants: int, alike: bool) -> None:
    spaces = [toy(seed)] * variants if alike else toys(seed, variants)
    pool = Pool.of(spaces[0].texts, np.array(spaces[0].counts))
    lists = [[np.array(space.neighbors(q)) for space in spaces] for q in (0, 9)]
    made = rules.comparative_items([Asked(Query(pool.texts[q]), q, "") for q in (0, 9)], lists, (1, 5, 39), pool)
    found = {(i.query.text, i.k): i for i in made.items}
    for query in (0, 9):
        for k in (1, 5):
            texts = [near_duplicate_key(pool.texts[near[k - 1]]) for near in lists[(0, 9).index(query)]]
            if len(set(texts)) == 1:
                assert (pool.texts[query], k) not in found
                continue
            item = found[pool.texts[query], k]
            assert [near_duplicate_key(item.options[own]) for own in item.own] == texts
            assert sorted(near_duplicate_key(o) for o in item.options) == sorted(set(texts))
    assert sum(made.skipped.values()) + len(made.items) == 6


def test_bands_of_words() -> None:
    """In a corpus of two billion words 4,999 occurrences are 2,499.5 in a billion."""
    counts = np.array([4_999.0, 5_000.0, 49_999.0, 50_000.0, np.nan])
    assert rules.bands_of_words(counts, 2e9, 2_500, 25_000) == ("rare", "medium", "medium", "frequent", "")


def test_bands_of_lengths() -> None:
    assert rules.bands_of_lengths(np.array([4.0, 5, 6, 7, 8, 9])) == ("short", "short", *["medium"] * 2, "long", "long")
    assert rules.bands_of_lengths(np.array([6.0, 6.0])) == ("medium", "medium")


@each("ranks", [(), (0, 1), (5, 5)])
def test_ranks_that_make_no_sense_are_refused(ranks: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="the ranks are"):
        rules.check_ranks(ranks)
